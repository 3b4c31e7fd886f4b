// class: budget-time-native | profile: strict time=800 | must: stopped: time or stopped: cpu
for (;;) new Intl.DateTimeFormat("de", { dateStyle: "full", timeZone: "Asia/Kolkata" }).format(new Date());
