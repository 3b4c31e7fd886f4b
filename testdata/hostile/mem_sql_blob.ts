// class: budget-memory-native | profile: strict mem=64 time=8000 | must: stopped: memory or RangeError
const { open } = await import("mcpx:sql");
const db = open();
return db.query("select length(group_concat(hex(zeroblob(100000000)))) n")[0].n;
