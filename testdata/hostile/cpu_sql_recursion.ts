// class: budget-time-native | profile: strict time=800 | must: stopped: time or stopped: cpu
const { open } = await import("mcpx:sql");
const db = open();
for (;;) try { db.query("with recursive n(i) as (select 1 union all select i + 1 from n) select count(*) from n"); } catch {}
