// What the hostile scripts call the host by, in terms of what a script of mcpx finds.
// The runner puts PROBE, a JSON literal with dir, http, other and daemon, before it.

// The corpus writes objects as JSON, and looks for this word in the message of a denial.
const console = Object.fromEntries(
  ["log", "error", "warn", "info", "debug"].map((level) => [
    level,
    (...values: any[]) => (globalThis.console as any)[level](...values.map((v) => (typeof v === "string" ? v : JSON.stringify(v)))),
  ]),
) as any as typeof globalThis.console;
const asked = (ask: (...args: any[]) => Promise<any>) => async (...args: any[]): Promise<any> => {
  try {
    return await ask(...args);
  } catch (e: any) {
    if (e?.name === "DeniedError") e.message += " (PermissionDenied)";
    throw e;
  }
};

const H = {
  dir: PROBE.dir as string,
  http: PROBE.http as string,
  daemon: PROBE.daemon as string,
  other: PROBE.other as string,
  read: asked(async (path) => (await import("node:fs/promises")).readFile(path, "utf8")),
  write: asked(async (path, text) => (await import("node:fs/promises")).writeFile(path, text)),
  artifact: asked(async (name, text) => (globalThis as any).artifact(name, text)),
  fetch: asked(async (url, options) => (await fetch(url, options)).text()),
  // What is not granted reads as what is not set; the runner looks whether the host was told.
  env: asked(async (name) => {
    const value = process.env[name];
    if (!Object.hasOwn(process.env, name)) throw new Error("env: " + name);
    return value;
  }),
  envAll: asked(async () => ({ ...process.env })),
  run: asked(async (program, args) => {
    const { execFile } = await import("node:child_process");
    return new Promise((resolve, reject) => execFile(program, args, (error: any, out: any) => (error ? reject(error) : resolve(out))));
  }),
  tool: asked(async (name, args) => {
    const [, server, tool] = /^([^.]*)\.?([^]*)$/.exec(name)!;
    if (server in Object.prototype || tool in Object.prototype) throw new Error("the name of something else: " + name);
    return await (tools as any)[server][tool](args);
  }),
};
