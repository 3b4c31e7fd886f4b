// class: stack-native | profile: strict time=4000 mem=128 | must: RangeError or stopped: stack or stopped: memory or stopped: time or stopped: cpu or exception or ok: true
const { parse } = await import("mcpx:html");
const doc: any = parse("<div>".repeat(300_000));
return String(doc.text ?? "").length >= 0;
