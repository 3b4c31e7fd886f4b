// class: budget-memory | profile: strict mem=64 | must: stopped: memory or RangeError or stopped: time or stopped: cpu
let b = Buffer.alloc(1 << 20);
for (;;) b = Buffer.concat([b, b]);
