// A server of the TypeScript SDK v2 that speaks both eras over standard streams, with a tool
// that asks: by input_required in the modern era, by elicitation/create before.
import { McpServer, acceptedContent, inputRequired } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { z } from "zod";

serveStdio(() => {
  const server = new McpServer({ name: "dual", version: "1.0.0" }, { capabilities: { tools: {} } });
  server.registerTool("echo", { inputSchema: z.object({ text: z.string() }) }, async ({ text }) => ({ content: [{ type: "text", text }] }));
  server.registerTool("ask", { inputSchema: z.object({ text: z.string() }) }, async ({ text }, context) => {
    const shape = z.object({ name: z.string() });
    const given = acceptedContent(context.mcpReq.inputResponses, "who", shape);
    if (given) return { content: [{ type: "text", text: `${text} ${given.name}` }] };
    return inputRequired({ inputRequests: { who: inputRequired.elicit({ message: "who?", requestedSchema: shape }) } });
  });
  return server;
});
