// Generators and iterators.
function* range(n) {
  for (let i = 0; i < n; i++) yield i;
}
function* squares(it) {
  for (const x of it) yield x * x;
}
function work() {
  let sum = 0;
  for (const x of squares(range(100000))) sum += x % 7;
  return sum;
}

const start = performance.now();
const sum = work();
console.log(JSON.stringify([sum, performance.now() - start]));
