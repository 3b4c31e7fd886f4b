// class: budget-memory | profile: strict mem=64 | must: stopped: memory or RangeError or stopped: time or stopped: cpu or ok: true or exception or TypeError
const table: any = await import("mcpx:table");
const f = table.table ?? table.format ?? table.default ?? Object.values(table).find((v) => typeof v === "function");
const rows = Array.from({ length: 50_000 }, (_, i) => ({ a: i, b: "x".repeat(i) }));
return String(f(rows)).length > 0;
