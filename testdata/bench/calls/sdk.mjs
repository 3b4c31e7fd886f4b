// The client of the official TypeScript SDK: node sdk.mjs CALLS WIDTH, with the server in SERVER.
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { load } from "./load.mjs";

const { command, args, env } = JSON.parse(process.env.SERVER);
const client = new Client({ name: "bench", version: "1" });
await client.connect(new StdioClientTransport({ command, args, env, stderr: "inherit" }));
await load(async (message) => (await client.callTool({ name: "echo", arguments: { message } })).content[0].text);
await client.close();
