// class: budget-memory-native | profile: strict mem=64 time=8000 | must: stopped: memory
// The memory of a database is not that of the engine.
const { open } = await import("mcpx:sql");
const db = open();
db.exec("create table t (a)");
for (;;) try { db.run("insert into t values (zeroblob(1000000))"); } catch {}
