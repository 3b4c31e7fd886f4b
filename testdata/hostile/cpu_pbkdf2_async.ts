// class: budget-time-native | profile: strict time=800 | must: stopped: time or stopped: cpu or RangeError
const { pbkdf2 } = await import("node:crypto");
return await new Promise((ok, no) => pbkdf2("p", "s", 2 ** 31 - 1, 64, "sha512", (e: any, k: any) => (e ? no(e) : ok(k.length))));
