(function () {
  // each calls fn with every chunk of a stream.
  async function each(stream, fn) {
    const isAsync = typeof stream[Symbol.asyncIterator] === "function";
    const it = isAsync ? stream[Symbol.asyncIterator]() : stream[Symbol.iterator]();
    for (;;) {
      const { value, done } = await it.next();
      if (done) return;
      fn(value);
    }
  }

  async function parts(stream) {
    const list = [];
    await each(stream, (chunk) => { list.push(chunk); });
    return list;
  }

  async function blob(stream) { return new Blob(await parts(stream)); }

  async function arrayBuffer(stream) { return (await blob(stream)).arrayBuffer(); }

  async function buffer(stream) { return Buffer.from(await arrayBuffer(stream)); }

  async function text(stream) {
    const decoder = new TextDecoder();
    let result = "";
    await each(stream, (chunk) => {
      result += typeof chunk === "string" ? chunk : decoder.decode(chunk, { stream: true });
    });
    return result + decoder.decode();
  }

  async function json(stream) { return JSON.parse(await text(stream)); }

  return { arrayBuffer, blob, buffer, text, json };
})
