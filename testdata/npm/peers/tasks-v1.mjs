// A client of the TypeScript SDK v1, which has calls made as tasks and prints what it saw as
// JSON:
//   node tasks-v1.mjs stdio COMMAND ARGS… | http URL TOKEN
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { CallToolResultSchema, CreateTaskResultSchema, ElicitRequestSchema, TaskStatusNotificationSchema } from "@modelcontextprotocol/sdk/types.js";

const [kind, target, ...rest] = process.argv.slice(2);
const transport = kind === "stdio"
  ? new StdioClientTransport({ command: target, args: rest, stderr: "inherit", env: process.env })
  : new StreamableHTTPClientTransport(new URL(target), { requestInit: { headers: { Authorization: `Bearer ${rest[0]}` } } });
const client = new Client({ name: "tasks-v1", version: "1" }, {
  capabilities: { elicitation: {} }, enforceStrictCapabilities: true, defaultTaskPollInterval: 50,
});
const saw = { statuses: [], related: [], results: {} };
client.setRequestHandler(ElicitRequestSchema, request => {
  saw.related.push(request.params._meta?.["io.modelcontextprotocol/related-task"]?.taskId ?? "");
  return { action: "accept", content: { answer: "blue" } };
});
client.setNotificationHandler(TaskStatusNotificationSchema, n => { saw.statuses.push(n.params.status); });
await client.connect(transport);
const tools = (await client.listTools()).tools;
saw.support = Object.fromEntries(tools.map(t => [t.name, t.execution?.taskSupport ?? "forbidden"]));
const tasks = client.experimental.tasks;

const stream = async (name, args) => {
  const seen = [];
  for await (const m of tasks.callToolStream({ name, arguments: args }, CallToolResultSchema, { task: { ttl: 60000 } })) {
    switch (m.type) {
      case "taskCreated": seen.push("created"); saw.id = m.task.taskId; break;
      case "taskStatus": if (seen.at(-1) !== m.task.status) seen.push(m.task.status); break;
      case "result": seen.push("result: " + m.result.content.map(c => c.text).join("|")); break;
      case "error": seen.push("error: " + m.error.message);
    }
  }
  return seen;
};
saw.results.exec = await stream("mcpx_exec", { code: "await new Promise(r => setTimeout(r, 300)); return 6 * 7" });
saw.results.call = await stream("mcpx_call", { server: "demo", tool: "echo", arguments: { message: "hi" } });
saw.results.asks = await stream("mcpx_exec", { code: `return await tools.demo.ask({ question: "Which colour?" })` });
saw.asked = saw.id;
saw.listed = (await tasks.listTasks()).tasks.length;

const created = await client.request(
  { method: "tools/call", params: { name: "mcpx_exec", arguments: { code: "for (;;) await new Promise(r => setTimeout(r, 50))" } } },
  CreateTaskResultSchema, { task: { ttl: 60000 } });
saw.cancelled = (await tasks.cancelTask(created.task.taskId)).status;
saw.after = (await tasks.getTask(created.task.taskId)).status;
saw.gone = await tasks.getTask("none").then(() => "there", e => e.code);
console.log(JSON.stringify(saw));
if (kind === "http") await transport.terminateSession();
await client.close();
