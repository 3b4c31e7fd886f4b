// class: tools-argument | profile: tools=probe.echo mem=64 time=4000 | must: RangeError or stopped: stack or ToolError or TypeError or stopped: memory or stopped: time or stopped: cpu or stopped: output or exception or ok: 1
let v: any = 1;
for (let i = 0; i < 100_000; i++) v = { v };
await H.tool("probe.echo", { v });
return 1;
