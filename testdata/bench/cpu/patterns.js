// Regular expressions.
function work() {
  const log = Array.from({ length: 6000 }, (_, i) => `2026-11-${String((i % 28) + 1).padStart(2, "0")} [${i % 3 ? "info" : "warn"}] user${i % 50}@example.com took ${i % 900}ms`).join("\n");
  let sum = 0;
  for (const m of log.matchAll(/^(\d{4})-(\d\d)-(\d\d) \[(\w+)\] (\S+?)@\S+ took (\d+)ms$/gm)) sum += Number(m[6]) + m[4].length;
  sum += log.replace(/user(\d+)/g, (_, n) => "u" + n * 2).length;
  return sum + (log.match(/\bwarn\b/g) ?? []).length;
}

const start = performance.now();
const sum = work();
console.log(JSON.stringify([sum, performance.now() - start]));
