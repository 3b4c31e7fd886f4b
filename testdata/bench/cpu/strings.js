// Text: split, replace, join, templates.
function work() {
  let total = 0;
  const text = "The quick brown fox jumps over the lazy dog. ".repeat(400);
  for (let i = 0; i < 12; i++) {
    const words = text.split(" ").map((w) => w.toLowerCase().replace(".", ""));
    const line = words.map((w, j) => `${j}:${w.padStart(6)}`).join("|");
    total += line.length + line.indexOf("lazy") + [...line.slice(0, 5000)].filter((c) => c === "o").length;
  }
  return total;
}

const start = performance.now();
const sum = work();
console.log(JSON.stringify([sum, performance.now() - start]));
