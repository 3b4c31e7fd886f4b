// class: budget-memory | profile: strict mem=64 | must: stopped: memory or RangeError or stopped: time or stopped: cpu
const s = new ReadableStream({ start(c) { for (;;) c.enqueue(new Uint8Array(1 << 20)); } });
return s.locked;
