// class: stack-native | profile: strict time=4000 | must: RangeError or stopped: stack or stopped: memory or stopped: time or stopped: cpu or SyntaxError or exception
const { parse } = await import("mcpx:yaml");
return JSON.stringify(parse("[".repeat(1_000_000))).length;
