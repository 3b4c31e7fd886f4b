// class: budget-memory-native | profile: strict mem=64 time=8000 | must: stopped: memory
const { open } = await import("mcpx:sql");
const all = [];
for (;;) try { const db = open(); db.exec("create table t (a)"); all.push(db); } catch {}
