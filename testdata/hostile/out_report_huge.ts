// class: error-rendering | profile: strict time=4000 mem=128 | must: exception or stopped: memory or stopped: output
const e: any = new Error("x".repeat(8 << 20));
e.detail = "y".repeat(8 << 20);
throw e;
