// class: budget-memory | profile: strict mem=64 | must: stopped: memory or RangeError or stopped: time or stopped: cpu
const e = new TextEncoder(), all: any[] = [];
for (;;) all.push(e.encode("é".repeat(1 << 20)));
