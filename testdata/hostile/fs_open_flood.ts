// class: fs-size | profile: read=$PROBE_DIR/root time=4000 | must: exception
const fs = await import("node:fs");
for (;;) fs.openSync("ok.txt", "r");
