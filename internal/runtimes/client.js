// What a script finds on another runtime: the globals that mcpx gives, over a socket.
const mcpx$given = JSON.parse(mcpx$text);
const mcpx$socket = await new Promise((resolve, reject) => {
  const s = mcpx$net.connect({ host: "127.0.0.1", port: mcpx$given.port }, () => resolve(s));
  s.once("error", reject);
});
const mcpx$state = { pending: new Map(), next: 0, ended: false, left: "" };
const mcpx$send = (m, args) => mcpx$socket.write(JSON.stringify(m).slice(0, -1) + (args === undefined ? "" : ',"args":' + args) + "}\n");
mcpx$socket.setEncoding("utf8");
mcpx$socket.setNoDelay(true);
mcpx$socket.on("data", (text) => {
  const lines = (mcpx$state.left + text).split("\n");
  mcpx$state.left = lines.pop();
  for (const line of lines) {
    const m = JSON.parse(line);
    const p = mcpx$state.pending.get(m.id);
    if (!p) continue;
    mcpx$state.pending.delete(m.id);
    if (mcpx$state.pending.size === 0) mcpx$socket.unref();
    if (m.error) p.reject(mcpx$error(m.error)); else p.resolve(m.value);
  }
});
const mcpx$gone = () => {
  for (const p of mcpx$state.pending.values()) p.reject(new Error("mcpx is gone"));
  mcpx$state.pending.clear();
};
mcpx$socket.on("error", mcpx$gone);
mcpx$socket.on("close", mcpx$gone);
mcpx$send({ token: mcpx$given.token });
mcpx$socket.unref();

const mcpx$ask = (op, head, args) => new Promise((resolve, reject) => {
  const id = ++mcpx$state.next;
  mcpx$state.pending.set(id, { resolve, reject });
  mcpx$socket.ref();
  mcpx$send({ id, op, ...head }, args);
});
const mcpx$hidden = (o, members) => {
  for (const [name, value] of Object.entries(members)) {
    if (!Object.hasOwn(o, name)) Object.defineProperty(o, name, { value, enumerable: false, configurable: true, writable: true });
  }
  return o;
};
const mcpx$error = (e) => {
  const error = new Error(e.message);
  Object.assign(mcpx$hidden(error, { name: e.name, kind: e.kind }), e.details ?? {});
  if (e.hint) error.hint = e.hint;
  mcpx$hidden(error, { mcpx$kind: e.kind });
  return error;
};
const mcpx$arguments = (args) => {
  if (args === undefined) return undefined;
  if (args === null || typeof args !== "object" || Array.isArray(args)) throw new TypeError("a tool takes one object with its arguments");
  return JSON.stringify(args, (_, v) => typeof v === "bigint" ? JSON.rawJSON ? JSON.rawJSON(String(v)) : Number(v) : v);
};
const mcpx$raw = async (server, tool, args) => mcpx$ask("call", { server, tool }, mcpx$arguments(args));
const mcpx$call = async (server, tool, args) => {
  const a = await mcpx$raw(server, tool, args);
  const { result } = a;
  const members = { raw: result, content: result.content, structuredContent: result.structuredContent, text: a.text };
  if (a.isError) {
    const error = mcpx$error({ kind: "tool", name: "ToolError", message: a.text || `the tool ${server}.${tool} failed` });
    throw Object.assign(error, { server, tool, content: result.content, structuredContent: result.structuredContent, raw: result, diagnostics: a.diagnostics });
  }
  if (a.isText) return a.text;
  const value = a.value;
  return value !== null && typeof value === "object" ? mcpx$hidden(value, { ...members, toString: () => a.text ?? JSON.stringify(value) }) : value;
};
const mcpx$safe = (name) => typeof name === "symbol" || name === "then" || name === "toJSON";
const mcpx$listing = () => { throw new Error("the names of tools are not listed on another runtime: search(words) finds them"); };
const mcpx$namespaces = new Map();
const mcpx$namespace = (ns) => {
  if (!mcpx$namespaces.has(ns)) {
    const made = Object.create(null);
    mcpx$namespaces.set(ns, new Proxy(made, {
      get(_, tool) {
        if (mcpx$safe(tool)) return undefined;
        return made[tool] ??= Object.assign((args) => mcpx$call(ns, tool, args), { raw: async (args) => (await mcpx$raw(ns, tool, args)).result });
      },
      has: (_, tool) => !mcpx$safe(tool),
      ownKeys: mcpx$listing,
    }));
  }
  return mcpx$namespaces.get(ns);
};
const mcpx$names = mcpx$given.namespaces;
const mcpx$globals = {
  tools: new Proxy(Object.create(null), {
    get: (_, ns) => mcpx$safe(ns) ? undefined : mcpx$namespace(ns),
    has: (_, ns) => mcpx$names.includes(ns),
    ownKeys: () => mcpx$names,
    getOwnPropertyDescriptor: (_, ns) => mcpx$names.includes(ns) ? { value: mcpx$namespace(ns), enumerable: true, configurable: true } : undefined,
  }),
  search: (words, options) => mcpx$ask("search", { head: { words: String(words), ...options } }),
  describe: (name) => mcpx$ask("describe", { head: { name: String(name) } }),
  emit: (value) => {
    const text = JSON.stringify(value);
    if (text === undefined) throw new TypeError("what is emitted must be JSON");
    if (mcpx$given.text) mcpx$process.stdout.write(text + "\n"); else mcpx$send({ op: "emit", value: JSON.parse(text) });
  },
  progress: (done, total, message) => mcpx$send({ op: "progress", head: { done: Number(done), total: total ?? undefined, message } }),
  artifact: async (name, data) => {
    let head = { name: String(name) };
    if (data && typeof data === "object" && typeof data.path === "string") head.path = data.path;
    else if (data && data.type === "resource" && data.resource) {
      head.mime = data.resource.mimeType;
      data = data.resource.blob === undefined ? data.resource.text : mcpx$buffer.Buffer.from(data.resource.blob, "base64");
    } else if (data && (data.type === "image" || data.type === "audio")) {
      head.mime = data.mimeType;
      data = mcpx$buffer.Buffer.from(data.data, "base64");
    }
    let body;
    if (!head.path) {
      if (typeof data === "string") body = mcpx$buffer.Buffer.from(data);
      else if (ArrayBuffer.isView(data)) body = mcpx$buffer.Buffer.from(data.buffer, data.byteOffset, data.byteLength);
      else if (data instanceof ArrayBuffer) body = mcpx$buffer.Buffer.from(data);
      else throw new TypeError("an artifact is made of text, bytes, { path }, or an image, audio or resource block");
    }
    return mcpx$ask("artifact", { head, body: body?.toString("base64") });
  },
  input: (name) => {
    if (name !== undefined) throw new Error("artifacts cannot be read on another runtime: input() reads standard input");
    return mcpx$state.input ??= mcpx$input();
  },
  onElicit: () => { throw new Error("questions cannot be answered by a script on another runtime"); },
};
const mcpx$input = () => {
  if (!mcpx$given.stdin) throw mcpx$error({ kind: "denied", name: "DeniedError", message: "denied: stdin: outside the run's grants", hint: "allow it with --permissions=tools" });
  const chunks = [];
  if (typeof Deno !== "undefined") {
    for (const chunk = new Uint8Array(65536); ;) {
      const n = Deno.stdin.readSync(chunk);
      if (n === null) break;
      chunks.push(mcpx$buffer.Buffer.from(chunk.slice(0, n)));
    }
  } else {
    for (const chunk = mcpx$buffer.Buffer.alloc(65536); ;) {
      let n;
      try { n = mcpx$fs.readSync(0, chunk); } catch (e) {
        if (e.code === "EAGAIN") { Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5); continue; }
        if (e.code === "EOF") break;
        throw e;
      }
      if (n === 0) break;
      chunks.push(mcpx$buffer.Buffer.from(chunk.subarray(0, n)));
    }
  }
  return mcpx$buffer.Buffer.concat(chunks).toString("utf8").replace(/^\uFEFF/, "");
};
const mcpx$log = (level) => (...words) => void mcpx$process.stderr.write((level === "log" ? "" : level + ": ") + mcpx$util.format(...words) + "\n");
mcpx$globals.log = Object.assign(mcpx$log("log"), { debug: mcpx$log("debug"), info: mcpx$log("info"), warn: mcpx$log("warn"), error: mcpx$log("error") });
for (const [name, value] of Object.entries(mcpx$globals)) Object.defineProperty(globalThis, name, { value, writable: true, configurable: true });
for (const ns of mcpx$names) {
  if (!(ns in globalThis)) Object.defineProperty(globalThis, ns, { value: mcpx$namespace(ns), writable: true, configurable: true });
}

const mcpx$leave = (code) => {
  mcpx$state.ended = true;
  mcpx$process.exit(code);
};
const mcpx$described = (e, depth = 0) => {
  if (!(e instanceof Error) && !(e && typeof e === "object" && "message" in e && "stack" in e)) {
    return { name: "", message: typeof e === "string" ? e : mcpx$util.inspect(e), stack: "" };
  }
  const of = { name: String(e.name), message: String(e.message), stack: String(e.stack), kind: e.mcpx$kind, code: e.code === undefined ? undefined : String(e.code), hint: e.hint };
  if (e.cause !== undefined && depth < 8) of.cause = mcpx$described(e.cause, depth + 1);
  return of;
};
const mcpx$fail = (e) => {
  if (mcpx$state.ended) return;
  mcpx$state.ended = true;
  const leave = () => mcpx$leave(1);
  mcpx$ask("failed", { error: mcpx$described(e) }).then(leave, leave); // once it was heard
};
mcpx$process.on("uncaughtException", mcpx$fail);
mcpx$process.on("unhandledRejection", mcpx$fail);
const mcpx$exit = mcpx$process.exit.bind(mcpx$process);
mcpx$process.argv.splice(1, 1, mcpx$given.script);
mcpx$process.on("exit", (code) => {
  if (!mcpx$state.ended && !mcpx$state.exits && !code) mcpx$process.exitCode = 13;
});
mcpx$process.exit = (code) => {
  mcpx$state.exits = true;
  mcpx$exit(code);
};
let mcpx$exported;
const mcpx$run = async () => {
  let value = await mcpx$program((exports) => { mcpx$exported = exports; }, (name) => mcpx$modules[name]);
  let start;
  if (mcpx$given.starts) [start, value] = [value, undefined];
  const final = value !== undefined;
  if (!final && mcpx$exported && "default" in mcpx$exported) {
    value = mcpx$exported.default;
    start = typeof value === "function" ? value : undefined;
  }
  if (!final && start) value = await start(...mcpx$given.args);
  else value = await value;
  const text = JSON.stringify(value, (_, v) => typeof v === "bigint" ? String(v) : v);
  mcpx$state.exits = true;
  await mcpx$ask("value", { value: text === undefined ? undefined : JSON.parse(text) });
  if (final) mcpx$leave(mcpx$process.exitCode ?? 0);
};
mcpx$run().catch(mcpx$fail);
