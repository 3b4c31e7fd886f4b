// class: budget-memory | profile: strict mem=64 | must: stopped: memory or RangeError or stopped: time or stopped: cpu
const t = new EventTarget();
for (;;) t.addEventListener("x", () => {});
