// A client of the TypeScript SDK v1, which tries a server and prints what it saw as JSON:
//   node client-v1.mjs stdio COMMAND ARGS… | http URL TOKEN
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { tried } from "./tried.mjs";

const [kind, target, ...rest] = process.argv.slice(2);
const transport = kind === "stdio"
  ? new StdioClientTransport({ command: target, args: rest, stderr: "inherit", env: process.env })
  : new StreamableHTTPClientTransport(new URL(target), { requestInit: { headers: { Authorization: `Bearer ${rest[0]}` } } });
const client = new Client({ name: "peer-v1", version: "1" }, { capabilities: {} });
await client.connect(transport);
await tried(client, transport.protocolVersion ?? client.getServerVersion().name,
  (request, options) => client.callTool(request, undefined, options));
if (kind === "http") await transport.terminateSession();
await client.close();
