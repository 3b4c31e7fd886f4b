// What all clients do: one call, then so many calls, so many at a time. Prints, as JSON, how
// many were answered rightly and how many milliseconds they took; without any, "hello". Then
// it may have to stay for some milliseconds, so that somebody can look at its memory.
export async function load(echo) {
  const [calls, width, hold] = process.argv.slice(2).map(Number);
  let right = 0;
  const judge = async (message) => {
    const answer = await echo(message);
    if (answer === message) right++;
  };
  await judge("hello");
  if (calls === 0) {
    console.log(right === 1 ? "hello" : "wrong");
    return;
  }
  let next = (right = 0);
  const start = performance.now();
  await Promise.all(Array.from({ length: width }, async () => {
    while (next < calls) await judge("message " + next++);
  }));
  console.log(JSON.stringify({ right, ms: performance.now() - start }));
  if (hold) await new Promise((resolve) => setTimeout(resolve, hold));
}
