// Integers of any size.
function work() {
  let a = 0n, b = 1n;
  for (let i = 0; i < 6000; i++) [a, b] = [b, a + b];
  let f = 1n;
  for (let i = 2n; i < 900n; i++) f *= i;
  return String(b % 1000000007n) + String(f % (2n ** 127n - 1n));
}

const start = performance.now();
const sum = work();
console.log(JSON.stringify([sum, performance.now() - start]));
