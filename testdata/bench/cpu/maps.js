// Words counted in maps and plain objects.
function work() {
  const counts = new Map(), plain = {};
  for (let i = 0; i < 150000; i++) {
    const word = "w" + ((i * 7919) % 5003);
    counts.set(word, (counts.get(word) ?? 0) + 1);
    plain[word] = (plain[word] ?? 0) + 1;
  }
  return [...counts].filter(([w, n]) => plain[w] === n && n > 29).length;
}

const start = performance.now();
const sum = work();
console.log(JSON.stringify([sum, performance.now() - start]));
