// class: fs-escape | profile: read=$PROBE_DIR/root time=4000 | must: ok: true
// Whatever a script may do with files, a database does nothing with them.
const { open } = await import("mcpx:sql");
const db = open();
const reached: string[] = [];
for (const sql of ["attach '/etc/passwd' as x", "attach 'file:/etc/passwd?mode=ro' as x", "vacuum into '/tmp/mcpx-hostile.db'", "select load_extension('/x.so')",
  "pragma temp_store_directory = '/tmp'", "select readfile('/etc/passwd')", "create virtual table x using csv(filename = '/etc/passwd')"]) {
  try { db.exec(sql); reached.push(sql); } catch {}
}
return reached.length === 0;
