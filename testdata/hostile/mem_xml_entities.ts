// class: budget-memory | profile: strict mem=64 | must: stopped: memory or RangeError or stopped: time or stopped: cpu or SyntaxError or exception or ok: true
const { parse } = await import("mcpx:xml");
let dtd = '<!DOCTYPE x [<!ENTITY a0 "lol">';
for (let i = 1; i < 12; i++) dtd += `<!ENTITY a${i} "${("&a" + (i - 1) + ";").repeat(10)}">`;
return JSON.stringify(parse(dtd + ']><x>&a11;</x>')).length < 1e6;
