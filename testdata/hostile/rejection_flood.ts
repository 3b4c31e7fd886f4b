// class: budget-time | profile: strict time=800 mem=64 | must: stopped: memory or RangeError or stopped: time or stopped: cpu or exception or stopped: deadlock
process.on("unhandledRejection", () => { for (let i = 0; i < 100; i++) Promise.reject(i); });
Promise.reject(1);
await new Promise((r) => setTimeout(r, 5000));
