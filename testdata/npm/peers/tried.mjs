// What both clients try: to list tools, to call those that are there, and one that is not.
export async function tried(client, protocol, callTool) {
  const saw = { protocol, tools: (await client.listTools()).tools.map((t) => t.name), results: {}, progress: 0 };
  const call = async (name, args) => {
    try {
      const r = await callTool({ name, arguments: args }, { onprogress: () => saw.progress++, timeout: 20000 });
      saw.results[name] = { text: (r.content ?? []).map((c) => c.text ?? c.type).join("|"), isError: r.isError ?? false };
    } catch (e) {
      saw.results[name] = { error: String(e.message) };
    }
  };
  const args = {
    mcpx_exec: { code: "progress(1); await new Promise((r) => setTimeout(r, 300)); progress(2); return 6 * 7" },
    demo__echo: { message: "hi" }, echo: { message: "hi" }, nope: {},
  };
  for (const name of Object.keys(args)) if (name === "nope" || saw.tools.includes(name)) await call(name, args[name]);
  console.log(JSON.stringify(saw));
}
