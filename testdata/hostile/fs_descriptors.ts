// class: fs-write | profile: read=$PROBE_DIR/root | must: ok: []
const fs = await import("node:fs");
const got: string[] = [];
const fd = fs.openSync("ok.txt", "r");
const tries: Record<string, () => unknown> = {
  write: () => fs.writeSync(fd, "x"), truncate: () => fs.ftruncateSync(fd, 0), chmod: () => fs.fchmodSync(fd, 0o777),
  low: () => fs.readSync(5, Buffer.alloc(1)), negative: () => fs.closeSync(-1), huge: () => fs.readSync(2 ** 31, Buffer.alloc(1)),
  link: () => fs.symlinkSync("/etc/passwd", "l"), hard: () => fs.linkSync("ok.txt", "h"), watch: () => fs.watch("."),
  up: () => fs.readdirSync(".."), copy: () => fs.copyFileSync("ok.txt", "copy"), stream: () => fs.writeFileSync("new", "x"),
};
for (const [name, f] of Object.entries(tries)) { try { f(); got.push(name); } catch {} }
fs.closeSync(fd);
try { fs.readSync(fd, Buffer.alloc(1)); got.push("closed"); } catch {}
return got;
