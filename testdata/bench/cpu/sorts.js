// Sorting numbers and records.
function work() {
  const n = 60000;
  const numbers = Array.from({ length: n }, (_, i) => (i * 7919) % 60013).sort((a, b) => a - b);
  const rows = Array.from({ length: n / 3 }, (_, i) => ({ k: (i * 31) % 1009, name: "n" + (i % 97) }));
  rows.sort((a, b) => a.k - b.k || (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
  return numbers[1234] + rows[500].k;
}

const start = performance.now();
const sum = work();
console.log(JSON.stringify([sum, performance.now() - start]));
