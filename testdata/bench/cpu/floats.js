// Numbers with fractions, in objects.
function work() {
  const bodies = [];
  for (let i = 0; i < 5; i++) bodies.push({ x: i, y: i * 0.5, z: -i, vx: 0.1 * i, vy: 0.2, vz: -0.1, mass: 1 + i });
  for (let step = 0; step < 6000; step++) {
    for (let i = 0; i < bodies.length; i++) {
      const a = bodies[i];
      for (let j = i + 1; j < bodies.length; j++) {
        const b = bodies[j];
        const dx = a.x - b.x, dy = a.y - b.y, dz = a.z - b.z;
        const d = dx * dx + dy * dy + dz * dz + 0.01;
        const f = 0.001 / (d * Math.sqrt(d));
        a.vx -= dx * b.mass * f;
        a.vy -= dy * b.mass * f;
        a.vz -= dz * b.mass * f;
        b.vx += dx * a.mass * f;
        b.vy += dy * a.mass * f;
        b.vz += dz * a.mass * f;
      }
    }
    for (const b of bodies) {
      b.x += 0.001 * b.vx;
      b.y += 0.001 * b.vy;
      b.z += 0.001 * b.vz;
    }
  }
  return bodies.map((b) => b.x.toFixed(6)).join();
}

const start = performance.now();
const sum = work();
console.log(JSON.stringify([sum, performance.now() - start]));
