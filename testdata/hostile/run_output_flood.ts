// class: budget-memory | profile: run=/usr/bin/yes mem=64 time=2000 | must: stopped: memory or RangeError or stopped: time or stopped: cpu or exception or stopped: output
const { execSync, execFileSync } = await import("node:child_process");
return execFileSync("/usr/bin/yes", { maxBuffer: Infinity }).length;
