// class: budget-time-native | profile: strict time=800 | must: stopped: time or stopped: cpu or RangeError
const { pbkdf2Sync } = await import("node:crypto");
return pbkdf2Sync("p", "s", 2 ** 31 - 1, 64, "sha512").length;
