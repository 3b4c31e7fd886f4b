// map, filter, reduce, destructuring and spreads.
function work() {
  let sum = 0;
  for (let round = 0; round < 12; round++) {
    const rows = Array.from({ length: 8000 }, (_, id) => ({ id, group: id % 10, tags: ["a", "b"] }));
    const out = rows
      .filter(({ group }) => group !== 3)
      .map(({ id, ...rest }) => ({ ...rest, key: id * 2 }))
      .reduce((m, { group, key }) => ((m[group] = (m[group] ?? 0) + key), m), {});
    sum += Object.values(out).reduce((a, b) => a + b, 0);
  }
  return sum;
}

const start = performance.now();
const sum = work();
console.log(JSON.stringify([sum, performance.now() - start]));
