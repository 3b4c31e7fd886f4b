// class: budget-time-native | profile: strict time=800 | must: stopped: time or stopped: cpu or stopped: memory
const c = new Intl.Collator("sv");
for (;;) Array.from({ length: 50_000 }, (_, i) => String(i * 7919 % 50_000)).sort(c.compare);
