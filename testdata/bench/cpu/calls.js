// Calls of functions.
function fib(n) {
  return n < 2 ? n : fib(n - 1) + fib(n - 2);
}
function work() {
  return fib(27);
}

const start = performance.now();
const sum = work();
console.log(JSON.stringify([sum, performance.now() - start]));
