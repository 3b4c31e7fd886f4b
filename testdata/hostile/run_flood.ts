// class: run | profile: run=/bin/sleep time=1500 | must: stopped: time or exception or ok: 0 or stopped: output
const { spawn } = await import("node:child_process");
for (let i = 0; i < 1000; i++) spawn("/bin/sleep", ["60"], { stdio: "ignore" });
await new Promise((r) => setTimeout(r, 60_000));
return 0;
