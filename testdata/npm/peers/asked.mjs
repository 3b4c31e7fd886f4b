// A client of either TypeScript SDK that can be asked. It calls the tools that ask, tell and
// tell how far they are, reads, subscribes, and prints what it saw as JSON:
//   node asked.mjs v1|legacy|auto|2026-07-28 stdio COMMAND ARGS… | http URL TOKEN
// v1 is the SDK of that version; the others are eras of v2.
import * as v1 from "@modelcontextprotocol/sdk/client/index.js";
import * as v1stdio from "@modelcontextprotocol/sdk/client/stdio.js";
import * as v1http from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import * as types from "@modelcontextprotocol/sdk/types.js";
import * as v2 from "@modelcontextprotocol/client";
import * as v2stdio from "@modelcontextprotocol/client/stdio";

const [era, kind, target, ...rest] = process.argv.slice(2);
const old = era === "v1";
const Stdio = (old ? v1stdio : v2stdio).StdioClientTransport;
const HTTP = (old ? v1http : v2).StreamableHTTPClientTransport;
const transport = kind === "stdio"
  ? new Stdio({ command: target, args: rest, stderr: "inherit", env: process.env })
  : new HTTP(new URL(target), { requestInit: { headers: { Authorization: `Bearer ${rest[0]}` } } });
const client = new (old ? v1 : v2).Client({ name: "asked", version: "1" }, {
  capabilities: { elicitation: { form: {}, url: {} }, sampling: {}, roots: {} },
  ...(old ? {} : { versionNegotiation: { mode: era.startsWith("20") ? { pin: era } : era } }),
});

const saw = { protocol: "", tools: 0, resources: 0, prompts: 0, results: {}, events: {} };
const note = (what) => { saw.events[what] = (saw.events[what] ?? 0) + 1; };
const answers = {
  "elicitation/create": [types.ElicitRequestSchema, (r) => r.params.mode === "url" ? { action: "accept" } : {
    action: "accept",
    content: filled(r.params.requestedSchema?.properties),
  }],
  "sampling/createMessage": [types.CreateMessageRequestSchema, () => ({ model: "m", role: "assistant", content: { type: "text", text: "sampled" } })],
  "roots/list": [types.ListRootsRequestSchema, () => ({ roots: [{ uri: "file:///tmp", name: "tmp" }] })],
};
// What a person would fill in.
function filled(properties = {}) {
  return Object.fromEntries(Object.entries(properties).map(([key, schema]) => [key,
    schema.default ?? schema.enum?.[0] ?? { boolean: true, integer: 7, number: 7, array: [] }[schema.type] ?? "Ann"]));
}
for (const [method, [schema, answer]] of Object.entries(answers)) {
  client.setRequestHandler(old ? schema : method, async (r) => { note(method); return answer(r); });
}
const told = {
  "notifications/message": types.LoggingMessageNotificationSchema,
  "notifications/resources/updated": types.ResourceUpdatedNotificationSchema,
};
for (const [method, schema] of Object.entries(told)) client.setNotificationHandler(old ? schema : method, () => note(method));

await client.connect(transport);
saw.protocol = old ? types.LATEST_PROTOCOL_VERSION : client.getNegotiatedProtocolVersion();
const tools = (await client.listTools()).tools.map((t) => t.name);
saw.tools = tools.length;

const options = { onprogress: () => note("progress"), timeout: 30000 };
const calls = {
  // the test server of the Go SDK
  test_simple_text: {}, test_tool_with_progress: {}, test_tool_with_logging: {},
  ...(saw.protocol < "2026" ? { test_sampling: { prompt: "p" }, test_elicitation: { message: "m" } } : {
    test_input_required_result_elicitation: {}, test_input_required_result_sampling: {}, test_input_required_result_list_roots: {},
    test_input_required_result_multiple_inputs: {}, test_input_required_result_multi_round: {}, test_input_required_result_request_state: {},
  }),
  // server-everything
  echo: { message: "hi", text: "hi" }, "trigger-elicitation-request": {}, "trigger-sampling-request": { prompt: "p", maxTokens: 5 },
  "get-roots-list": {}, "trigger-long-running-operation": { duration: 1, steps: 3 },
  // server-v2
  ask: { text: "hi" },
};
if (client.getServerCapabilities()?.logging && saw.protocol < "2026") {
  try { await client.setLoggingLevel("debug"); } catch (e) { saw.results.setLevel = "error: " + e.message; }
}
for (const [name, args] of Object.entries(calls)) {
  if (!tools.includes(name)) continue;
  try {
    const request = { name, arguments: args };
    const r = await (old ? client.callTool(request, undefined, options) : client.callTool(request, options));
    saw.results[name] = (r.isError ? "is error: " : "") + (r.content ?? []).map((c) => c.text ?? c.type).join("|");
  } catch (e) {
    saw.results[name] = "error: " + String(e.message);
  }
}
const has = client.getServerCapabilities() ?? {};
if (has.resources) saw.resources = (await client.listResources()).resources.length;
if (has.prompts) saw.prompts = (await client.listPrompts()).prompts.length;
if (saw.protocol < "2026" && has.resources?.subscribe && saw.resources === 3) {
  await client.subscribeResource({ uri: "test://watched-resource" });
  for (let i = 0; i < 300 && !saw.events["notifications/resources/updated"]; i++) await new Promise((r) => setTimeout(r, 100));
}
console.log(JSON.stringify(saw));
if (old && kind === "http") await transport.terminateSession();
await client.close();
process.exit(0);
