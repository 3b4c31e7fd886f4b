// class: budget-memory | profile: strict mem=64 time=4000 | must: stopped: memory or RangeError or stopped: time or stopped: cpu or ok: true or SyntaxError or exception
const { parse } = await import("mcpx:csv");
return (parse(('"' + "x,".repeat(1 << 20) + '"\n').repeat(8)) as any[]).length >= 0;
