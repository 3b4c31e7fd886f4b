// class: budget-memory | profile: strict mem=64 | must: stopped: memory or RangeError or stopped: time or stopped: cpu
let b = new Blob(["x".repeat(1 << 20)]);
for (;;) b = new Blob([b, b]);
