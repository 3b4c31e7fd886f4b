// class: budget-time | profile: strict time=800 | must: stopped: time or stopped: cpu or ok: null
process.on("exit", () => { for (;;); });
