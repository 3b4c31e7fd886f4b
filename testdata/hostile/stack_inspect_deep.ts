// class: stack-native | profile: strict time=4000 | must: RangeError or stopped: stack or stopped: memory or stopped: time or stopped: cpu or ok: true or stopped: output
const { inspect, isDeepStrictEqual } = await import("node:util");
let v: any = 1, w: any = 1;
for (let i = 0; i < 1_000_000; i++) { v = { v }; w = { v: w }; }
return inspect(v, { depth: Infinity }).length > 0 && isDeepStrictEqual(v, w);
