// class: budget-time-native | profile: strict time=800 mem=128 | must: stopped: time or stopped: cpu
// One step of SQLite's machine that takes for ever: nothing in it looks at the clock.
const { open } = await import("mcpx:sql");
return open().query("select instr(?, ?) x", "a".repeat(4_000_000), "a".repeat(2_000_000) + "b");
