// class: budget-memory | profile: strict mem=64 | must: stopped: memory or RangeError or stopped: time or stopped: cpu or exception
const zlib = await import("node:zlib");
let b = zlib.gzipSync(Buffer.alloc(1 << 24));
for (let i = 0; i < 2; i++) b = zlib.gzipSync(Buffer.concat(Array(64).fill(zlib.gunzipSync(b).length > 0 ? b : b)));
let n = 0;
for (let i = 0; i < 100; i++) n += zlib.gunzipSync(zlib.gunzipSync(b)).length;
return n;
