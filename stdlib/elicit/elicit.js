(function ({ listen, next, answer, fail }) {
  let handler = null;
  let reading = false;

  // Every question is handled by itself: one that takes its time holds up no other.
  async function handle(id, question, fn) {
    try {
      answer(id, fn === null ? undefined : await fn(question));
    } catch (e) {
      fail(id, e);
    }
  }

  async function read() {
    for (;;) {
      let id, question;
      try {
        [id, question] = await next();
      } catch {
        reading = false; // the host has none any more
        return;
      }
      handle(id, question, handler);
    }
  }

  return {
    set(fn) {
      listen(fn !== null);
      handler = fn;
      if (fn !== null && !reading) {
        reading = true;
        read();
      }
    },
  };
})
