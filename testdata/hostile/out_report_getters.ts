// class: error-rendering | profile: strict time=800 | must: stopped: time or stopped: cpu or exception
class E extends Error { get name(): string { for (;;); } }
throw new E("x");
