// class: budget-time-native | profile: strict time=800 | must: stopped: time or stopped: cpu or ok: 0
const { generateKeyPairSync } = await import("node:crypto");
for (let i = 0; i < 50; i++) generateKeyPairSync("rsa", { modulusLength: 4096 });
return 0;
