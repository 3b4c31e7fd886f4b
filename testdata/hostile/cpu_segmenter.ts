// class: budget-time-native | profile: strict time=800 mem=128 | must: stopped: time or stopped: cpu or stopped: memory
const s = new Intl.Segmenter("en", { granularity: "word" });
for (;;) [...s.segment("word ".repeat(100_000))];
