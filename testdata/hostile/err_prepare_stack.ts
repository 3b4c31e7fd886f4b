// class: error-rendering | profile: strict time=800 | must: stopped: time or stopped: cpu or exception
(Error as any).prepareStackTrace = () => { for (;;); };
throw new Error("x");
