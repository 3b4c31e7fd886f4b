// mcporter as a library: node mcporter.mjs CALLS WIDTH, with the server in SERVER.
import { createRuntime } from "mcporter";
import { load } from "./load.mjs";

const { command, args, env } = JSON.parse(process.env.SERVER);
const runtime = await createRuntime({
  servers: [{ name: "s", command: { kind: "stdio", command, args, cwd: process.cwd() }, env, source: { kind: "local", path: "none" } }],
});
await load(async (message) => (await runtime.callTool("s", "echo", { args: { message } })).content[0].text);
await runtime.close();
