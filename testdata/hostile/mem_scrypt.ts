// class: budget-memory | profile: strict mem=64 | must: stopped: memory or RangeError or stopped: time or stopped: cpu or exception or TypeError or stopped: output
const { scryptSync } = await import("node:crypto");
return scryptSync("p", "s", 64, { N: 2 ** 20, r: 32, p: 1, maxmem: 2 ** 40 }).length;
