// class: budget-memory | profile: strict mem=64 | must: stopped: memory or RangeError or stopped: time or stopped: cpu
const { randomBytes } = await import("node:crypto");
return randomBytes(2 ** 31 - 1).length;
