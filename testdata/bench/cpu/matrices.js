// Arrays of arrays of numbers.
function work() {
  const n = 90;
  const make = (f) => Array.from({ length: n }, (_, i) => Array.from({ length: n }, (_, j) => f(i, j)));
  const a = make((i, j) => (i * j) % 7), b = make((i, j) => (i + j) % 5);
  const c = make(() => 0);
  for (let i = 0; i < n; i++) {
    for (let j = 0; j < n; j++) {
      let s = 0;
      for (let k = 0; k < n; k++) s += a[i][k] * b[k][j];
      c[i][j] = s;
    }
  }
  return c.flat().reduce((x, y) => x + y, 0);
}

const start = performance.now();
const sum = work();
console.log(JSON.stringify([sum, performance.now() - start]));
