// class: tools | profile: tools=probe.echo time=1500 | must: stopped: time or stopped: cpu or stopped: calls or ok: 0
await Promise.all(Array.from({ length: 50_000 }, () => describe("probe.echo")));
for (let i = 0; i < 50_000; i++) search("echo " + i);
return 0;
