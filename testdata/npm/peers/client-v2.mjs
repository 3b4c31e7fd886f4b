// A client of the TypeScript SDK v2, which tries a server and prints what it saw as JSON:
//   node client-v2.mjs legacy|auto|2026-07-28 stdio COMMAND ARGS… | http URL TOKEN
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { tried } from "./tried.mjs";

const [era, kind, target, ...rest] = process.argv.slice(2);
const transport = kind === "stdio"
  ? new StdioClientTransport({ command: target, args: rest, stderr: "inherit", env: process.env })
  : new StreamableHTTPClientTransport(new URL(target), { requestInit: { headers: { Authorization: `Bearer ${rest[0]}` } } });
const client = new Client({ name: "peer-v2", version: "1" }, {
  capabilities: {},
  versionNegotiation: { mode: era.startsWith("20") ? { pin: era } : era },
});
await client.connect(transport);
await tried(client, client.getNegotiatedProtocolVersion(), (request, options) => client.callTool(request, options));
await client.close();
