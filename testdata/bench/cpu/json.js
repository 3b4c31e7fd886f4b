// JSON out and in.
function work() {
  const rows = Array.from({ length: 3000 }, (_, i) => ({ id: i, name: "item " + i, open: i % 2 === 0, ratio: i / 7, labels: ["bug", "help"], owner: { login: "someone", id: i * 31 } }));
  let n = 0;
  for (let i = 0; i < 6; i++) n += JSON.parse(JSON.stringify(rows)).length + JSON.stringify(rows, null, 2).length;
  return n;
}

const start = performance.now();
const sum = work();
console.log(JSON.stringify([sum, performance.now() - start]));
