// class: import | profile: strict | must: ok: []
const got: string[] = [];
const m: any = await import("node:module");
const req = m.createRequire("/etc/x.js");
for (const name of ["/etc/hostname", "/etc/passwd", "./passwd", "node:vm", "node:worker_threads", "node:net", "node:inspector", "node:cluster", "node:http", "node:v8"]) {
  try { req(name); got.push(name); } catch {}
  try { await import(name); got.push(name); } catch {}
}
const p: any = process;
for (const name of ["binding", "dlopen", "_linkedBinding", "kill", "setuid", "chdir"]) {
  try { if (typeof p[name] === "function") { p[name]("/"); got.push(name); } } catch {}
}
return got;
