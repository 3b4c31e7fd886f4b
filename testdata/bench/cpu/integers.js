// A sieve over bytes.
function work() {
  const n = 600000;
  const composite = new Uint8Array(n + 1);
  let count = 0;
  for (let i = 2; i <= n; i++) {
    if (composite[i]) continue;
    count++;
    for (let j = i * 2; j <= n; j += i) composite[j] = 1;
  }
  return count;
}

const start = performance.now();
const sum = work();
console.log(JSON.stringify([sum, performance.now() - start]));
