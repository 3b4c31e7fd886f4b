// class: budget-memory | profile: strict mem=64 | must: stopped: memory or RangeError or stopped: time or stopped: cpu or SyntaxError or exception or ok: true
const { parse } = await import("mcpx:yaml");
let text = "a0: &a0 [x,x,x,x,x,x,x,x,x]\n";
for (let i = 1; i < 12; i++) text += `a${i}: &a${i} [${Array(9).fill("*a" + (i - 1)).join()}]\n`;
return JSON.stringify(parse(text)).length > 0;
