// class: stack-native | profile: strict time=4000 | must: RangeError or stopped: stack or stopped: memory or stopped: time or stopped: cpu or exception
let v: any = 1;
for (let i = 0; i < 2_000_000; i++) v = [v];
structuredClone(v);
console.log(v);
return 1;
