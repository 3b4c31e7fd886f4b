// class: budget-memory | profile: strict mem=64 | must: stopped: memory or RangeError or stopped: time or stopped: cpu or ok: 2147483648
const zlib = await import("node:zlib");
const parts: any[] = [];
const small = zlib.brotliCompressSync(Buffer.alloc(1 << 24));
for (let i = 0; i < 128; i++) parts.push(zlib.brotliDecompressSync(small));
return parts.reduce((n, p) => n + p.length, 0);
