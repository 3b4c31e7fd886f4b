// The Streams Standard of the Web. What the objects of scripts stand for is held in plain
// records, which only this text sees: s a readable stream, w a writable one, c the
// controller of either, r a reader or writer. The functions follow the algorithms of the
// standard, and so does their order.
(function (native, kit) {
  const { webidl, inspected, hidden } = kit;
  const ThePromise = Promise;
  const { isView } = ArrayBuffer;

  const noop = () => {};
  const resolved = (v) => ThePromise.resolve(v);
  const rejected = (e) => ThePromise.reject(e);
  const isObject = (v) => v !== null && (typeof v === "object" || typeof v === "function");

  function handled(promise) {
    promise.then(undefined, noop);
    return promise;
  }

  function deferred() {
    const d = { pending: true };
    d.promise = new ThePromise((resolve, reject) => {
      d.resolve = (v) => { d.pending = false; resolve(v); };
      d.reject = (e) => { d.pending = false; reject(e); };
    });
    return d;
  }

  function failed(e) {
    const d = deferred();
    d.reject(e);
    handled(d.promise);
    return d;
  }

  function done() {
    const d = deferred();
    d.resolve();
    return d;
  }

  // attempt calls a function and returns a promise of its result.
  function attempt(fn, self, ...args) {
    try {
      return resolved(fn.apply(self, args));
    } catch (e) {
      return rejected(e);
    }
  }

  const invalid = (message) => kit.coded(TypeError, "ERR_INVALID_STATE", `Invalid state: ${message}`);

  function optionsOf(value, name) {
    if (value === undefined || value === null) return {};
    if (!isObject(value)) throw kit.invalidType(name, "of type object", value);
    return value;
  }

  // method takes a function of an underlying source, sink or transformer.
  function method(object, name, of) {
    const fn = object[name];
    if (fn === undefined) return undefined;
    if (typeof fn !== "function") throw kit.invalidType(`${of}.${name}`, "of type function", fn);
    return (...args) => fn.apply(object, args);
  }

  function highWaterMark(strategy, fallback) {
    const value = strategy.highWaterMark;
    if (value === undefined) return fallback;
    const n = +value;
    if (!(n >= 0)) throw kit.coded(RangeError, "ERR_INVALID_ARG_VALUE", `The property 'strategy.highWaterMark' is invalid. Received ${String(value)}`);
    return n;
  }

  function sizeOf(strategy) {
    const size = strategy.size;
    if (size === undefined) return () => 1;
    if (typeof size !== "function") throw kit.invalidType("strategy.size", "of type function", size);
    return (chunk) => size(chunk);
  }

  // A queue with the sum of the sizes of what is in it.
  const newQueue = () => ({ list: [], head: 0, size: 0 });
  const count = (q) => q.list.length - q.head;
  const first = (q) => q.list[q.head];

  function push(q, entry, size = 0) {
    q.list.push(entry);
    q.size += size;
  }

  function shift(q, size = 0) {
    const entry = q.list[q.head];
    q.list[q.head++] = undefined;
    q.size = Math.max(q.size - size, 0);
    if (q.head === q.list.length || q.head > 1000 && q.head * 2 > q.list.length) {
      q.list = q.list.slice(q.head);
      q.head = 0;
    }
    return entry;
  }

  function reset(q) {
    const rest = q.list.slice(q.head);
    q.list = [];
    q.head = q.size = 0;
    return rest;
  }

  function checkedSize(size) {
    const n = +size;
    if (!(n >= 0) || n === Infinity) throw kit.coded(RangeError, "ERR_INVALID_ARG_VALUE", `The argument 'size' is invalid. Received ${String(size)}`);
    return n;
  }

  // Readable streams

  const secret = {}; // lets this text construct what scripts may not
  let readable, defaultReader, byobReader, defaultController, byteController, byobRequest;

  const checked = (of, name) => (o) => {
    const state = of(o);
    if (state === undefined) throw kit.invalidThis(name);
    return state;
  };

  function newReadable() {
    return { state: "readable", reader: undefined, stored: undefined, disturbed: false, controller: undefined, end: undefined };
  }

  function closeReadable(s) {
    s.state = "closed";
    s.end?.resolve();
    const r = s.reader;
    if (r === undefined) return;
    r.closed.resolve();
    if (!r.byob) for (const q of reset(r.requests)) q.close();
  }

  function errorReadable(s, e) {
    s.state = "errored";
    s.stored = e;
    s.end?.reject(e);
    const r = s.reader;
    if (r === undefined) return;
    r.closed.reject(e);
    handled(r.closed.promise);
    for (const q of reset(r.requests)) q.error(e);
  }

  function cancelReadable(s, reason) {
    s.disturbed = true;
    if (s.state === "closed") return resolved();
    if (s.state === "errored") return rejected(s.stored);
    closeReadable(s);
    const r = s.reader;
    if (r !== undefined && r.byob) for (const q of reset(r.requests)) q.close();
    return s.controller.cancelSteps(reason).then(noop);
  }

  function attach(s, byob) {
    if (s.reader !== undefined) throw invalid("ReadableStream is locked");
    if (byob && !s.controller.byte) throw kit.coded(TypeError, "ERR_INVALID_ARG_VALUE", "The argument 'stream' must be a byte stream");
    const r = { s, byob, requests: newQueue(), closed: undefined };
    s.reader = r;
    r.closed = s.state === "readable" ? deferred() : s.state === "closed" ? done() : failed(s.stored);
    return r;
  }

  function release(r) {
    const { s } = r;
    if (s === undefined) return;
    const e = invalid("Reader released");
    if (s.state === "readable") {
      r.closed.reject(e);
      handled(r.closed.promise);
    } else {
      r.closed = failed(e);
    }
    s.controller.releaseSteps();
    s.reader = undefined;
    r.s = undefined;
    const rest = reset(r.requests);
    if (rest.length === 0) return;
    const releasing = invalid("Releasing reader");
    for (const q of rest) q.error(releasing);
  }

  function read(r, q) {
    const { s } = r;
    s.disturbed = true;
    if (s.state === "closed") q.close();
    else if (s.state === "errored") q.error(s.stored);
    else s.controller.pullSteps(q);
  }

  // pending is a read whose result is a promise.
  function pending() {
    const d = deferred();
    return {
      promise: d.promise,
      chunk: (value) => d.resolve({ value, done: false }),
      close: (value) => d.resolve({ value, done: true }),
      error: (e) => d.reject(e),
    };
  }

  // Controllers of both kinds of readable streams

  const accepts = (c) => !c.closing && c.s.state === "readable";
  const waiting = (s) => s.reader !== undefined && count(s.reader.requests) > 0;

  function desired(c) {
    if (c.s.state === "errored") return null;
    return c.s.state === "closed" ? 0 : c.hwm - c.queue.size;
  }

  function pullIfNeeded(c) {
    if (!accepts(c) || !c.started || !(waiting(c.s) || desired(c) > 0)) return;
    if (c.pulling) {
      c.again = true;
      return;
    }
    c.pulling = true;
    c.pull().then(() => {
      c.pulling = false;
      if (c.again) {
        c.again = false;
        pullIfNeeded(c);
      }
    }, (e) => fail(c, e));
  }

  function clear(c) {
    c.pull = c.cancel = c.size = undefined;
  }

  function fail(c, e) {
    if (c.s.state !== "readable") return;
    if (c.byte) dropPullIntos(c);
    reset(c.queue);
    clear(c);
    errorReadable(c.s, e);
  }

  function setUp(s, c, source) {
    Object.assign(c, { s, queue: newQueue(), started: false, closing: false, pulling: false, again: false });
    c.pull = source.pull === undefined ? resolved : () => attempt(source.pull, undefined, c.object);
    c.cancel = source.cancel === undefined ? resolved : (reason) => attempt(source.cancel, undefined, reason);
    s.controller = c;
    const start = source.start === undefined ? undefined : source.start(c.object);
    resolved(start).then(() => {
      c.started = true;
      pullIfNeeded(c);
    }, (e) => fail(c, e));
  }

  function setUpDefault(s, source, hwm, size) {
    const c = { byte: false, hwm, size };
    c.object = new ReadableStreamDefaultController(secret, c);
    c.cancelSteps = (reason) => {
      reset(c.queue);
      const result = c.cancel(reason);
      clear(c);
      return result;
    };
    c.pullSteps = (q) => {
      if (count(c.queue) === 0) {
        push(s.reader.requests, q);
        pullIfNeeded(c);
        return;
      }
      const { chunk, size: n } = first(c.queue);
      shift(c.queue, n);
      if (c.closing && count(c.queue) === 0) {
        clear(c);
        closeReadable(s);
      } else {
        pullIfNeeded(c);
      }
      q.chunk(chunk);
    };
    c.releaseSteps = noop;
    setUp(s, c, source);
    return c;
  }

  function closeDefault(c) {
    if (!accepts(c)) return;
    c.closing = true;
    if (count(c.queue) === 0) {
      clear(c);
      closeReadable(c.s);
    }
  }

  function enqueueDefault(c, chunk) {
    if (!accepts(c)) return;
    if (waiting(c.s)) {
      shift(c.s.reader.requests).chunk(chunk);
    } else {
      try {
        const size = checkedSize(c.size(chunk));
        push(c.queue, { chunk, size }, size);
      } catch (e) {
        fail(c, e);
        throw e;
      }
    }
    pullIfNeeded(c);
  }

  // Byte streams. What a BYOB reader asks for is a descriptor: a piece of a buffer and how
  // much of it is filled.

  function setUpByte(s, source, hwm, allocate) {
    const c = { byte: true, hwm, pullIntos: [], request: null };
    c.object = new ReadableByteStreamController(secret, c);
    c.cancelSteps = (reason) => {
      dropPullIntos(c);
      reset(c.queue);
      const result = c.cancel(reason);
      clear(c);
      return result;
    };
    c.pullSteps = (q) => {
      if (c.queue.size > 0) {
        q.chunk(takeBytes(c));
        return;
      }
      if (allocate !== undefined) {
        try {
          c.pullIntos.push({
            buffer: new ArrayBuffer(allocate), offset: 0, length: allocate, filled: 0, least: 1, element: 1, View: Uint8Array, reader: "default",
          });
        } catch (e) {
          q.error(e);
          return;
        }
      }
      push(s.reader.requests, q);
      pullIfNeeded(c);
    };
    c.releaseSteps = () => {
      if (c.pullIntos.length > 0) {
        c.pullIntos[0].reader = "none";
        c.pullIntos.length = 1;
      }
    };
    setUp(s, c, source);
    return c;
  }

  function takeBytes(c) {
    const { buffer, offset, length } = first(c.queue);
    shift(c.queue, length);
    drained(c);
    return new Uint8Array(buffer, offset, length);
  }

  function drained(c) {
    if (c.queue.size === 0 && c.closing) {
      clear(c);
      closeReadable(c.s);
    } else {
      pullIfNeeded(c);
    }
  }

  function dropPullIntos(c) {
    dropRequest(c);
    c.pullIntos = [];
  }

  function dropRequest(c) {
    if (c.request === null) return;
    c.request.controller = undefined;
    c.request.view = null;
    c.request = null;
  }

  function closeByte(c) {
    if (!accepts(c)) return;
    if (c.queue.size > 0) {
      c.closing = true;
      return;
    }
    if (c.pullIntos.length > 0 && c.pullIntos[0].filled % c.pullIntos[0].element !== 0) {
      const e = invalid("Partial read");
      fail(c, e);
      throw e;
    }
    clear(c);
    closeReadable(c.s);
  }

  function enqueueByte(c, view) {
    if (!accepts(c)) return;
    const offset = view.byteOffset;
    const length = view.byteLength;
    const buffer = native.move(view.buffer);
    if (c.pullIntos.length > 0) {
      const d = c.pullIntos[0];
      dropRequest(c);
      d.buffer = native.move(d.buffer);
      if (d.reader === "none") requeue(c, d);
    }
    const r = c.s.reader;
    if (r !== undefined && !r.byob) {
      while (count(r.requests) > 0 && c.queue.size > 0) shift(r.requests).chunk(takeBytes(c));
      if (count(r.requests) === 0) {
        push(c.queue, { buffer, offset, length }, length);
      } else {
        c.pullIntos.shift();
        shift(r.requests).chunk(new Uint8Array(buffer, offset, length));
      }
    } else {
      push(c.queue, { buffer, offset, length }, length);
      if (r !== undefined) fulfil(c);
    }
    pullIfNeeded(c);
  }

  // requeue keeps what a reader that has gone was given in part.
  function requeue(c, d) {
    if (d.filled > 0) push(c.queue, { buffer: d.buffer.slice(d.offset, d.offset + d.filled), offset: 0, length: d.filled }, d.filled);
    c.pullIntos.shift();
  }

  // fill copies from the queue to d, and reports whether that is enough for the reader.
  function fill(c, d) {
    const most = Math.min(c.queue.size, d.length - d.filled);
    const aligned = d.filled + most - (d.filled + most) % d.element;
    const ready = aligned >= d.least;
    let rest = ready ? aligned - d.filled : most;
    while (rest > 0) {
      const head = first(c.queue);
      const n = Math.min(rest, head.length);
      new Uint8Array(d.buffer, d.offset + d.filled, n).set(new Uint8Array(head.buffer, head.offset, n));
      if (n === head.length) {
        shift(c.queue, n);
      } else {
        head.offset += n;
        head.length -= n;
        c.queue.size -= n;
      }
      d.filled += n;
      rest -= n;
    }
    return ready;
  }

  // fulfil answers the BYOB reads that the queue suffices for.
  function fulfil(c) {
    const ready = [];
    while (c.pullIntos.length > 0 && c.queue.size > 0) {
      if (!fill(c, c.pullIntos[0])) break;
      ready.push(c.pullIntos.shift());
    }
    for (const d of ready) commit(c.s, d);
  }

  function commit(s, d) {
    const closed = s.state === "closed";
    const view = new d.View(native.move(d.buffer), d.offset, d.filled / d.element);
    const q = shift(s.reader.requests);
    if (closed) q.close(view);
    else q.chunk(view);
  }

  function pullInto(c, view, min, q) {
    const element = view.BYTES_PER_ELEMENT ?? 1;
    const { byteOffset: offset, byteLength: length } = view;
    const View = view.BYTES_PER_ELEMENT === undefined ? DataView : Object.getPrototypeOf(view).constructor;
    let buffer;
    try {
      buffer = native.move(view.buffer);
    } catch (e) {
      q.error(e);
      return;
    }
    const d = { buffer, offset, length, filled: 0, least: min * element, element, View: viewClasses.has(View) ? View : Uint8Array, reader: "byob" };
    const { s } = c;
    if (c.pullIntos.length > 0) {
      c.pullIntos.push(d);
      push(s.reader.requests, q);
      return;
    }
    if (s.state === "closed") {
      q.close(new d.View(buffer, offset, 0));
      return;
    }
    if (c.queue.size > 0) {
      if (fill(c, d)) {
        drained(c);
        q.chunk(new d.View(native.move(d.buffer), d.offset, d.filled / d.element));
        return;
      }
      if (c.closing) {
        const e = invalid("ReadableStream closed");
        fail(c, e);
        q.error(e);
        return;
      }
    }
    c.pullIntos.push(d);
    push(s.reader.requests, q);
    pullIfNeeded(c);
  }

  const viewClasses = new Set([
    Int8Array, Uint8Array, Uint8ClampedArray, Int16Array, Uint16Array, Int32Array, Uint32Array, Float32Array, Float64Array,
    typeof BigInt64Array === "function" ? BigInt64Array : DataView, typeof BigUint64Array === "function" ? BigUint64Array : DataView, DataView,
  ]);

  // respond says that n bytes of the first descriptor are filled, in buffer.
  function respond(c, n, buffer) {
    const d = c.pullIntos[0];
    const closed = c.s.state === "closed";
    if (closed ? n !== 0 : n === 0) throw closed ? invalid("bytesWritten must be 0 for a closed stream") : invalid("bytesWritten must not be 0");
    if (d.filled + n > d.length) throw kit.coded(RangeError, "ERR_INVALID_ARG_VALUE", `The argument 'bytesWritten' is too large. Received ${n}`);
    d.buffer = native.move(buffer);
    dropRequest(c);
    if (closed) {
      if (d.reader === "none") c.pullIntos.shift();
      const r = c.s.reader;
      if (r !== undefined && r.byob) while (count(r.requests) > 0 && c.pullIntos.length > 0) commit(c.s, c.pullIntos.shift());
      return;
    }
    d.filled += n;
    if (d.reader === "none") {
      requeue(c, d);
      answer(c);
    } else if (d.filled >= d.least) {
      c.pullIntos.shift();
      const rest = d.filled % d.element;
      if (rest > 0) {
        const end = d.offset + d.filled;
        push(c.queue, { buffer: d.buffer.slice(end - rest, end), offset: 0, length: rest }, rest);
        d.filled -= rest;
      }
      if (d.reader === "default") {
        const q = shift(c.s.reader.requests);
        q.chunk(new Uint8Array(d.buffer, d.offset, d.filled));
        fulfil(c);
      } else {
        commit(c.s, d);
        fulfil(c);
      }
    }
    pullIfNeeded(c);
  }

  // answer gives the queue to whoever reads.
  function answer(c) {
    const r = c.s.reader;
    if (r === undefined) return;
    if (r.byob) fulfil(c);
    else while (count(r.requests) > 0 && c.queue.size > 0) shift(r.requests).chunk(takeBytes(c));
  }

  // The classes

  class ReadableStream {
    #s = newReadable();
    static { readable = (o) => isObject(o) && #s in o ? o.#s : undefined; }
    constructor(source = undefined, strategy = undefined) {
      if (source === secret) return;
      if (source === null) throw kit.invalidType("source", "an object", source);
      const from = source === undefined ? {} : optionsOf(source, "source");
      const how = optionsOf(strategy, "strategy");
      const { type } = from;
      if (type !== undefined && `${type}` !== "bytes") {
        throw kit.coded(TypeError, "ERR_INVALID_ARG_VALUE", `The property 'source.type' is invalid. Received ${JSON.stringify(`${type}`)}`);
      }
      const algorithms = {
        start: method(from, "start", "source"), pull: method(from, "pull", "source"), cancel: method(from, "cancel", "source"),
      };
      if (type === undefined) {
        const size = sizeOf(how);
        setUpDefault(this.#s, algorithms, highWaterMark(how, 1), size);
        return;
      }
      if (how.size !== undefined) throw kit.coded(RangeError, "ERR_INVALID_ARG_VALUE", "The property 'strategy.size' is invalid for a byte stream");
      let allocate = from.autoAllocateChunkSize;
      if (allocate !== undefined) {
        allocate = +allocate;
        if (!(allocate > 0 && Number.isInteger(allocate))) throw kit.coded(TypeError, "ERR_INVALID_ARG_VALUE", `The property 'source.autoAllocateChunkSize' is invalid. Received ${allocate}`);
      }
      setUpByte(this.#s, algorithms, highWaterMark(how, 0), allocate);
    }
    get locked() { return theReadable(this).reader !== undefined; }
    cancel(reason = undefined) {
      const s = readable(this);
      if (s === undefined) return rejected(kit.invalidThis("ReadableStream"));
      if (s.reader !== undefined) return rejected(invalid("ReadableStream is locked"));
      return cancelReadable(s, reason);
    }
    getReader(options = undefined) {
      theReadable(this);
      const { mode } = optionsOf(options, "options");
      if (mode === undefined) return new ReadableStreamDefaultReader(this);
      if (`${mode}` !== "byob") throw kit.coded(TypeError, "ERR_INVALID_ARG_VALUE", `The property 'options.mode' is invalid. Received ${kit.received(mode)}`);
      return new ReadableStreamBYOBReader(this);
    }
    pipeThrough(transform, options = undefined) {
      const s = theReadable(this);
      const to = transform?.readable;
      if (readable(to) === undefined) throw kit.invalidType("transform.readable", "an instance of ReadableStream", to);
      const w = writable(transform.writable);
      if (w === undefined) throw kit.invalidType("transform.writable", "an instance of WritableStream", transform.writable);
      const how = pipeOptions(options);
      if (s.reader !== undefined) throw invalid("The ReadableStream is locked");
      if (w.writer !== undefined) throw invalid("The WritableStream is locked");
      handled(pipe(s, w, how));
      return to;
    }
    pipeTo(destination, options = undefined) {
      try {
        const s = theReadable(this);
        const w = writable(destination);
        if (w === undefined) throw kit.invalidType("destination", "an instance of WritableStream", destination);
        const how = pipeOptions(options);
        if (s.reader !== undefined) throw invalid("The ReadableStream is locked");
        if (w.writer !== undefined) throw invalid("The WritableStream is locked");
        return pipe(s, w, how);
      } catch (e) {
        return rejected(e);
      }
    }
    tee() { return tee(theReadable(this)); }
    values(options = undefined) {
      const s = theReadable(this);
      const { preventCancel } = optionsOf(options, "options");
      return iterate(attach(s, false), !!preventCancel);
    }
    static from(iterable) { return from(iterable); }
  }
  const theReadable = checked((o) => readable(o), "ReadableStream");
  webidl(ReadableStream);
  hidden(ReadableStream.prototype, Symbol.asyncIterator, ReadableStream.prototype.values);
  inspected(ReadableStream, (o) => ({ locked: o.locked, state: readable(o).state, supportsBYOB: readable(o).controller.byte }));
  // Whether something was read or cancelled: what consumes bodies, and node:stream, ask.
  Object.defineProperty(ReadableStream.prototype, Symbol.for("nodejs.stream.disturbed"), {
    get() { return theReadable(this).disturbed; }, configurable: true,
  });
  endOf(ReadableStream, theReadable);

  // endOf shows node:stream the promise of the end of a stream.
  function endOf(Class, of) {
    Object.defineProperty(Class.prototype, Symbol.for("nodejs.webstream.isClosedPromise"), {
      get() {
        const s = of(this);
        if (s.end === undefined) {
          s.end = s.state === "closed" ? done() : s.state === "errored" ? failed(s.stored) : deferred();
          handled(s.end.promise);
        }
        return s.end;
      },
      configurable: true,
    });
  }

  // makeReadable is a stream of ours.
  function makeReadable(source, hwm = 1, size = () => 1) {
    const object = new ReadableStream(secret);
    setUpDefault(readable(object), source, hwm, size);
    return object;
  }

  class ReadableStreamDefaultReader {
    #r;
    static { defaultReader = (o) => isObject(o) && #r in o ? o.#r : undefined; }
    constructor(stream) {
      const s = readable(stream);
      if (s === undefined) throw kit.invalidType("stream", "an instance of ReadableStream", stream);
      this.#r = attach(s, false);
    }
    get closed() { return readerClosed(defaultReader(this), "ReadableStreamDefaultReader"); }
    read() {
      const r = defaultReader(this);
      if (r === undefined) return rejected(kit.invalidThis("ReadableStreamDefaultReader"));
      if (r.s === undefined) return rejected(invalid("The reader is not attached to a stream"));
      const q = pending();
      read(r, q);
      return q.promise;
    }
    cancel(reason = undefined) { return cancelReader(defaultReader(this), "ReadableStreamDefaultReader", reason); }
    releaseLock() { release(checkedReader(defaultReader(this), "ReadableStreamDefaultReader")); }
  }
  webidl(ReadableStreamDefaultReader);

  class ReadableStreamBYOBReader {
    #r;
    static { byobReader = (o) => isObject(o) && #r in o ? o.#r : undefined; }
    constructor(stream) {
      const s = readable(stream);
      if (s === undefined) throw kit.invalidType("stream", "an instance of ReadableStream", stream);
      this.#r = attach(s, true);
    }
    get closed() { return readerClosed(byobReader(this), "ReadableStreamBYOBReader"); }
    read(view, options = undefined) {
      try {
        const r = checkedReader(byobReader(this), "ReadableStreamBYOBReader");
        if (!isView(view)) throw kit.invalidType("view", "an instance of Buffer, TypedArray, or DataView", view);
        const length = view.length ?? view.byteLength;
        if (view.byteLength === 0 || view.buffer.byteLength === 0) throw invalid("View or Viewed ArrayBuffer is zero-length or detached");
        const { min = 1 } = optionsOf(options, "options");
        if (!(min >= 1)) throw kit.coded(TypeError, "ERR_INVALID_ARG_VALUE", `The property 'options.min' is invalid. Received ${String(min)}`);
        if (min > length) throw kit.coded(RangeError, "ERR_OUT_OF_RANGE", `The value of "options.min" is out of range. Received ${String(min)}`);
        if (r.s === undefined) throw invalid("The reader is not attached to a stream");
        const q = pending();
        const { s } = r;
        s.disturbed = true;
        if (s.state === "errored") q.error(s.stored);
        else pullInto(s.controller, view, Math.trunc(min), q);
        return q.promise;
      } catch (e) {
        return rejected(e);
      }
    }
    cancel(reason = undefined) { return cancelReader(byobReader(this), "ReadableStreamBYOBReader", reason); }
    releaseLock() { release(checkedReader(byobReader(this), "ReadableStreamBYOBReader")); }
  }
  webidl(ReadableStreamBYOBReader);

  function checkedReader(r, name) {
    if (r === undefined) throw kit.invalidThis(name);
    return r;
  }

  function readerClosed(r, name) {
    return r === undefined ? rejected(kit.invalidThis(name)) : r.closed.promise;
  }

  function cancelReader(r, name, reason) {
    if (r === undefined) return rejected(kit.invalidThis(name));
    if (r.s === undefined) return rejected(invalid("The reader is not attached to a stream"));
    return cancelReadable(r.s, reason);
  }

  class ReadableStreamDefaultController {
    #c;
    static { defaultController = (o) => isObject(o) && #c in o ? o.#c : undefined; }
    constructor(key, c) {
      if (key !== secret) throw kit.illegalConstructor();
      this.#c = c;
    }
    get desiredSize() { return desired(theDefaultController(this)); }
    close() {
      const c = theDefaultController(this);
      if (!accepts(c)) throw invalid("Controller is already closed");
      closeDefault(c);
    }
    enqueue(chunk = undefined) {
      const c = theDefaultController(this);
      if (!accepts(c)) throw invalid("Controller is already closed");
      enqueueDefault(c, chunk);
    }
    error(e = undefined) { fail(theDefaultController(this), e); }
  }
  const theDefaultController = checked((o) => defaultController(o), "ReadableStreamDefaultController");
  webidl(ReadableStreamDefaultController);

  class ReadableByteStreamController {
    #c;
    static { byteController = (o) => isObject(o) && #c in o ? o.#c : undefined; }
    constructor(key, c) {
      if (key !== secret) throw kit.illegalConstructor();
      this.#c = c;
    }
    get byobRequest() {
      const c = theByteController(this);
      if (c.request === null && c.pullIntos.length > 0) {
        const d = c.pullIntos[0];
        c.request = { controller: c, view: new Uint8Array(d.buffer, d.offset + d.filled, d.length - d.filled) };
        c.request.object = new ReadableStreamBYOBRequest(secret, c.request);
      }
      return c.request === null ? null : c.request.object;
    }
    get desiredSize() { return desired(theByteController(this)); }
    close() {
      const c = theByteController(this);
      if (!accepts(c)) throw invalid("Controller is already closed");
      closeByte(c);
    }
    enqueue(chunk) {
      const c = theByteController(this);
      if (!isView(chunk)) throw kit.invalidType("chunk", "an instance of Buffer, TypedArray, or DataView", chunk);
      if (chunk.byteLength === 0) throw invalid("chunk ArrayBuffer is zero-length or detached");
      if (!accepts(c)) throw invalid("Controller is already closed");
      enqueueByte(c, chunk);
    }
    error(e = undefined) { fail(theByteController(this), e); }
  }
  const theByteController = checked((o) => byteController(o), "ReadableByteStreamController");
  webidl(ReadableByteStreamController);

  class ReadableStreamBYOBRequest {
    #q;
    static { byobRequest = (o) => isObject(o) && #q in o ? o.#q : undefined; }
    constructor(key, q) {
      if (key !== secret) throw kit.illegalConstructor();
      this.#q = q;
    }
    get view() { return theByobRequest(this).view; }
    respond(bytesWritten) {
      const q = theByobRequest(this);
      if (q.controller === undefined) throw invalid("This BYOB request has been invalidated");
      const n = +bytesWritten;
      if (!(n >= 0)) throw kit.invalidType("bytesWritten", "a positive number", bytesWritten);
      respond(q.controller, Math.trunc(n), q.view.buffer);
    }
    respondWithNewView(view) {
      const q = theByobRequest(this);
      if (!isView(view)) throw kit.invalidType("view", "an instance of Buffer, TypedArray, or DataView", view);
      const c = q.controller;
      if (c === undefined) throw invalid("This BYOB request has been invalidated");
      const d = c.pullIntos[0];
      if (d.offset + d.filled !== view.byteOffset || d.buffer.byteLength !== view.buffer.byteLength) {
        throw kit.coded(RangeError, "ERR_INVALID_ARG_VALUE", "The argument 'view' does not fit the request");
      }
      respond(c, view.byteLength, view.buffer);
    }
  }
  const theByobRequest = checked((o) => byobRequest(o), "ReadableStreamBYOBRequest");
  webidl(ReadableStreamBYOBRequest);

  // Iteration

  const asyncIteratorPrototype = {};
  hidden(asyncIteratorPrototype, Symbol.asyncIterator, { [Symbol.asyncIterator]() { return this; } }[Symbol.asyncIterator]);
  const iterators = new WeakMap();
  const iteratorPrototype = Object.create(asyncIteratorPrototype);
  Object.assign(iteratorPrototype, {
    next() { return step(this, (it) => it.next()); },
    return(value = undefined) { return step(this, (it) => it.return(value)); },
  });

  // step does one thing after another.
  function step(object, fn) {
    const it = iterators.get(object);
    if (it === undefined) return rejected(kit.invalidThis("ReadableStreamAsyncIterator"));
    const next = () => fn(it);
    const result = it.ongoing === undefined ? next() : it.ongoing.then(next, next);
    it.ongoing = result;
    const settled = () => { if (it.ongoing === result) it.ongoing = undefined; };
    result.then(settled, settled);
    return result;
  }

  function iterate(r, preventCancel) {
    const object = Object.create(iteratorPrototype);
    let finished = false;
    iterators.set(object, {
      ongoing: undefined,
      next() {
        if (finished) return resolved({ done: true, value: undefined });
        const d = deferred();
        read(r, {
          chunk: (value) => d.resolve({ value, done: false }),
          close: () => {
            finished = true;
            release(r);
            d.resolve({ done: true, value: undefined });
          },
          error: (e) => {
            finished = true;
            release(r);
            d.reject(e);
          },
        });
        return d.promise;
      },
      return(value) {
        if (finished) return resolved({ done: true, value });
        finished = true;
        if (r.s === undefined) return rejected(invalid("The reader is not bound to a ReadableStream"));
        const result = preventCancel ? resolved() : cancelReadable(r.s, value);
        release(r);
        return result.then(() => ({ done: true, value }));
      },
    });
    return object;
  }

  function from(iterable) {
    const open = iterable?.[Symbol.asyncIterator] ?? iterable?.[Symbol.iterator];
    if (typeof open !== "function") {
      throw kit.coded(TypeError, "ERR_ARG_NOT_ITERABLE", `${describe(iterable)} must be iterable`);
    }
    const asynchronous = typeof iterable[Symbol.asyncIterator] === "function";
    const iterator = open.call(iterable);
    const { next } = iterator;
    let c;
    const object = makeReadable({
      start: (controller) => { c = defaultController(controller); },
      pull: async () => {
        const result = await next.call(iterator);
        if (!isObject(result)) throw kit.coded(TypeError, "ERR_INVALID_STATE", "Invalid state: The promise or result returned by the iterator is not an object");
        if (result.done) closeDefault(c);
        else enqueueDefault(c, asynchronous ? result.value : await result.value);
      },
      cancel: async (reason) => {
        const end = iterator.return;
        if (end === undefined || end === null) return;
        const result = await end.call(iterator, reason);
        if (!isObject(result)) throw kit.coded(TypeError, "ERR_INVALID_STATE", "Invalid state: iterator.return() fulfilled with a value that is no object");
      },
    }, 0);
    return object;
  }

  function describe(v) {
    return typeof v === "object" || typeof v === "function" ? "The argument" : String(v);
  }

  // tee copies bytes, so that each branch owns what it reads.
  function tee(s) {
    const r = attach(s, false);
    const bytes = s.controller.byte;
    let reading = false, again = false, cancelled = [false, false], reasons = [undefined, undefined];
    const cancelling = deferred();
    const branches = [];
    const each = (fn) => branches.forEach((b, i) => { if (!cancelled[i]) fn(readable(b).controller, i); });
    const pull = () => {
      if (reading) {
        again = true;
        return resolved();
      }
      reading = true;
      read(r, {
        chunk: (value) => resolved().then(() => {
          again = false;
          each((c, i) => {
            if (!bytes) enqueueDefault(c, value);
            else enqueueByte(c, i === 0 && !cancelled[1] ? value.slice() : value);
          });
          reading = false;
          if (again) pull();
        }),
        close: () => {
          reading = false;
          each((c) => bytes ? finishByte(c) : closeDefault(c));
          if (!cancelled[0] || !cancelled[1]) cancelling.resolve();
        },
        error: () => { reading = false; },
      });
      return resolved();
    };
    const cancel = (i) => (reason) => {
      cancelled[i] = true;
      reasons[i] = reason;
      if (cancelled[0] && cancelled[1]) cancelling.resolve(cancelReadable(s, reasons));
      return cancelling.promise;
    };
    for (const i of [0, 1]) {
      const source = { pull, cancel: cancel(i) };
      if (bytes) {
        const object = new ReadableStream(secret);
        setUpByte(readable(object), source, 0, undefined);
        branches.push(object);
      } else {
        branches.push(makeReadable(source));
      }
    }
    r.closed.promise.then(undefined, (e) => {
      for (const b of branches) fail(readable(b).controller, e);
      if (!cancelled[0] || !cancelled[1]) cancelling.resolve();
    });
    return branches;
  }

  // finishByte closes a byte stream and answers the reads that wait for a buffer.
  function finishByte(c) {
    closeByte(c);
    if (c.pullIntos.length > 0) respond(c, 0, c.pullIntos[0].buffer);
  }

  // Pipes

  function pipeOptions(options) {
    const { preventAbort, preventCancel, preventClose, signal } = optionsOf(options, "options");
    if (signal !== undefined && !(isObject(signal) && typeof signal.aborted === "boolean" && typeof signal.addEventListener === "function")) {
      throw kit.invalidType("options.signal", "an instance of AbortSignal", signal);
    }
    return { preventAbort: !!preventAbort, preventCancel: !!preventCancel, preventClose: !!preventClose, signal };
  }

  function pipe(s, w, { preventAbort, preventCancel, preventClose, signal }) {
    const reader = attach(s, false);
    const writer = lock(w);
    s.disturbed = true;
    let ending = false;
    let current = resolved();
    return new ThePromise((resolve, reject) => {
      const finalize = (isError, e) => {
        unlock(writer);
        release(reader);
        if (signal !== undefined) signal.removeEventListener("abort", onAbort);
        if (isError) reject(e);
        else resolve();
      };
      const settled = () => {
        const last = current;
        return last.then(noop, noop).then(() => last === current ? undefined : settled());
      };
      // end shuts the pipe down once what was read is written.
      const end = (action, isError, e) => {
        if (ending) return;
        ending = true;
        const act = () => {
          if (action === undefined) finalize(isError, e);
          else action().then(() => finalize(isError, e), (other) => finalize(true, other));
        };
        if (w.state === "writable" && !closingOrClosed(w)) settled().then(act);
        else act();
      };
      const onAbort = () => {
        const { reason } = signal;
        end(() => ThePromise.all([
          preventAbort || w.state !== "writable" ? undefined : abortWritable(w, reason),
          preventCancel || s.state !== "readable" ? undefined : cancelReadable(s, reason),
        ]), true, reason);
      };
      if (signal !== undefined) {
        if (signal.aborted) {
          onAbort();
          return;
        }
        signal.addEventListener("abort", onAbort);
      }
      const failing = (state, stored, closed, fn) => {
        if (state === "errored") fn(stored);
        else closed.then(undefined, fn);
      };
      failing(s.state, s.stored, reader.closed.promise, (e) => {
        end(preventAbort ? undefined : () => abortWritable(w, e), true, e);
      });
      failing(w.state, w.stored, writer.closed.promise, (e) => {
        end(preventCancel ? undefined : () => cancelReadable(s, e), true, e);
      });
      const finished = () => end(preventClose ? undefined : () => finish(writer), false);
      if (s.state === "closed") finished();
      else reader.closed.promise.then(finished, noop);
      if (closingOrClosed(w) || w.state === "closed") {
        const e = invalid("Destination WritableStream is closed");
        end(preventCancel ? undefined : () => cancelReadable(s, e), true, e);
      }
      const move = () => {
        if (ending) return;
        writer.ready.promise.then(() => {
          if (ending) return;
          read(reader, {
            chunk: (value) => {
              current = handled(write(writer, value));
              move();
            },
            close: noop,
            error: noop,
          });
        }, noop);
      };
      move();
    });
  }

  // finish closes what a pipe writes to.
  function finish(r) {
    const { w } = r;
    if (closingOrClosed(w) || w.state === "closed") return resolved();
    if (w.state === "errored") return rejected(w.stored);
    return closeWritable(w);
  }

  // Writable streams

  let writable, writerOf, writableController;

  function newWritable() {
    return {
      state: "writable", stored: undefined, writer: undefined, controller: undefined, writes: newQueue(),
      writing: undefined, closeRequest: undefined, closing: undefined, aborting: undefined, backpressure: false, end: undefined,
    };
  }

  const closingOrClosed = (w) => w.closeRequest !== undefined || w.closing !== undefined;

  function lock(w) {
    if (w.writer !== undefined) throw invalid("WritableStream is locked");
    const r = { w, ready: undefined, closed: undefined };
    w.writer = r;
    if (w.state === "writable") {
      r.ready = !closingOrClosed(w) && w.backpressure ? deferred() : done();
      r.closed = deferred();
    } else if (w.state === "erroring") {
      r.ready = failed(w.stored);
      r.closed = deferred();
    } else if (w.state === "closed") {
      r.ready = done();
      r.closed = done();
    } else {
      r.ready = failed(w.stored);
      r.closed = failed(w.stored);
    }
    handled(r.closed.promise);
    return r;
  }

  function unlock(r) {
    if (r.w === undefined) return;
    const e = invalid("Writer has been released");
    rejectReady(r, e);
    if (r.closed.pending) r.closed.reject(e);
    else r.closed = failed(e);
    handled(r.closed.promise);
    r.w.writer = undefined;
    r.w = undefined;
  }

  function rejectReady(r, e) {
    if (r.ready.pending) r.ready.reject(e);
    else r.ready = failed(e);
    handled(r.ready.promise);
  }

  function abortWritable(w, reason) {
    if (w.state === "closed" || w.state === "errored") return resolved();
    w.controller.abortSignal.abort(reason);
    if (w.state === "closed" || w.state === "errored") return resolved();
    if (w.aborting !== undefined) return w.aborting.promise;
    const was = w.state === "erroring";
    const d = w.aborting = Object.assign(deferred(), { reason: was ? undefined : reason, was });
    if (!was) startErroring(w, reason);
    return d.promise;
  }

  function closeWritable(w) {
    if (w.state === "closed" || w.state === "errored") return rejected(invalid(`WritableStream is ${w.state}`));
    if (closingOrClosed(w)) return rejected(invalid("Failure closing WritableStream"));
    const d = w.closeRequest = deferred();
    if (w.writer !== undefined && w.backpressure && w.state === "writable") w.writer.ready.resolve();
    push(w.controller.queue, { close: true }, 0);
    advance(w.controller);
    return d.promise;
  }

  function write(r, chunk) {
    const { w } = r;
    const c = w.controller;
    let size = 1;
    try {
      size = c.size === undefined ? 1 : c.size(chunk);
    } catch (e) {
      failWritable(c, e);
    }
    if (w !== r.w) return rejected(invalid("Mismatched WritableStreams"));
    if (w.state === "errored") return rejected(w.stored);
    if (closingOrClosed(w) || w.state === "closed") return rejected(invalid("WritableStream is closed"));
    if (w.state === "erroring") return rejected(w.stored);
    const d = deferred();
    push(w.writes, d);
    try {
      size = checkedSize(size);
      push(c.queue, { chunk, size }, size);
    } catch (e) {
      failWritable(c, e);
      return d.promise;
    }
    if (!closingOrClosed(w) && w.state === "writable") setBackpressure(w, room(c) <= 0);
    advance(c);
    return d.promise;
  }

  const room = (c) => c.hwm - c.queue.size;

  function setBackpressure(w, on) {
    if (w.writer !== undefined && on !== w.backpressure) {
      if (on) w.writer.ready = deferred();
      else w.writer.ready.resolve();
    }
    w.backpressure = on;
  }

  function failWritable(c, e) {
    if (c.w.state === "writable") {
      clearWritable(c);
      startErroring(c.w, e);
    }
  }

  function clearWritable(c) {
    c.write = c.close = c.abort = c.size = undefined;
  }

  function startErroring(w, e) {
    w.state = "erroring";
    w.stored = e;
    if (w.writer !== undefined) rejectReady(w.writer, e);
    if (w.writing === undefined && w.closing === undefined && w.controller.started) finishErroring(w);
  }

  function finishErroring(w) {
    w.state = "errored";
    const c = w.controller;
    reset(c.queue);
    for (const d of reset(w.writes)) d.reject(w.stored);
    const { aborting } = w;
    if (aborting === undefined) {
      rejectClose(w);
      return;
    }
    w.aborting = undefined;
    if (aborting.was) {
      aborting.reject(w.stored);
      rejectClose(w);
      return;
    }
    const abort = c.abort;
    clearWritable(c);
    (abort === undefined ? resolved() : abort(aborting.reason)).then(() => {
      aborting.resolve();
      rejectClose(w);
    }, (e) => {
      aborting.reject(e);
      rejectClose(w);
    });
  }

  function rejectClose(w) {
    w.end?.reject(w.stored);
    if (w.closeRequest !== undefined) {
      w.closeRequest.reject(w.stored);
      w.closeRequest = undefined;
    }
    if (w.writer !== undefined) {
      w.writer.closed.reject(w.stored);
      handled(w.writer.closed.promise);
    }
  }

  // advance hands the next chunk to the sink.
  function advance(c) {
    const { w } = c;
    if (!c.started || w.writing !== undefined) return;
    if (w.state === "erroring") {
      finishErroring(w);
      return;
    }
    if (count(c.queue) === 0 || w.closing !== undefined) return;
    const entry = first(c.queue);
    if (entry.close) {
      w.closing = w.closeRequest;
      w.closeRequest = undefined;
      shift(c.queue);
      const result = c.close();
      clearWritable(c);
      result.then(() => closed(w), (e) => {
        w.closing.reject(e);
        w.closing = undefined;
        if (w.aborting !== undefined) {
          w.aborting.reject(e);
          w.aborting = undefined;
        }
        rejection(w, e);
      });
      return;
    }
    w.writing = shift(w.writes);
    c.write(entry.chunk).then(() => {
      w.writing.resolve();
      w.writing = undefined;
      const { state } = w;
      shift(c.queue, entry.size);
      if (!closingOrClosed(w) && state === "writable") setBackpressure(w, room(c) <= 0);
      advance(c);
    }, (e) => {
      if (w.state === "writable") clearWritable(c);
      w.writing.reject(e);
      w.writing = undefined;
      rejection(w, e);
    });
  }

  function closed(w) {
    w.closing.resolve();
    w.closing = undefined;
    if (w.state === "erroring") {
      w.stored = undefined;
      if (w.aborting !== undefined) {
        w.aborting.resolve();
        w.aborting = undefined;
      }
    }
    w.state = "closed";
    w.end?.resolve();
    if (w.writer !== undefined) w.writer.closed.resolve();
  }

  function rejection(w, e) {
    if (w.state === "writable") startErroring(w, e);
    else if (w.state === "erroring") finishErroring(w);
  }

  function setUpWritable(w, sink, hwm, size) {
    const c = { w, queue: newQueue(), started: false, hwm, size };
    // A signal costs the module of events, so it is made when it is asked for.
    c.abortSignal = {
      controller: undefined, aborted: false, reason: undefined,
      get() {
        if (this.controller === undefined) {
          this.controller = new AbortController();
          if (this.aborted) this.controller.abort(this.reason);
        }
        return this.controller.signal;
      },
      abort(reason) {
        if (this.aborted) return;
        this.aborted = true;
        this.reason = reason;
        if (this.controller !== undefined) this.controller.abort(reason);
      },
    };
    c.object = new WritableStreamDefaultController(secret, c);
    c.write = sink.write === undefined ? resolved : (chunk) => attempt(sink.write, undefined, chunk, c.object);
    c.close = sink.close === undefined ? resolved : () => attempt(sink.close, undefined);
    c.abort = sink.abort === undefined ? resolved : (reason) => attempt(sink.abort, undefined, reason);
    w.controller = c;
    setBackpressure(w, room(c) <= 0);
    const start = sink.start === undefined ? undefined : sink.start(c.object);
    resolved(start).then(() => {
      c.started = true;
      advance(c);
    }, (e) => {
      c.started = true;
      rejection(w, e);
    });
  }

  class WritableStream {
    #w = newWritable();
    static { writable = (o) => isObject(o) && #w in o ? o.#w : undefined; }
    constructor(sink = undefined, strategy = undefined) {
      if (sink === secret) return;
      if (sink === null) throw kit.invalidType("sink", "an object", sink);
      const to = sink === undefined ? {} : optionsOf(sink, "sink");
      const how = optionsOf(strategy, "strategy");
      if (to.type !== undefined) throw kit.coded(RangeError, "ERR_INVALID_ARG_VALUE", `The property 'sink.type' is invalid. Received ${kit.received(to.type)}`);
      const algorithms = {
        start: method(to, "start", "sink"), write: method(to, "write", "sink"), close: method(to, "close", "sink"), abort: method(to, "abort", "sink"),
      };
      const size = sizeOf(how);
      setUpWritable(this.#w, algorithms, highWaterMark(how, 1), size);
    }
    get locked() { return theWritable(this).writer !== undefined; }
    abort(reason = undefined) {
      const w = writable(this);
      if (w === undefined) return rejected(kit.invalidThis("WritableStream"));
      if (w.writer !== undefined) return rejected(invalid("WritableStream is locked"));
      return abortWritable(w, reason);
    }
    close() {
      const w = writable(this);
      if (w === undefined) return rejected(kit.invalidThis("WritableStream"));
      if (w.writer !== undefined) return rejected(invalid("WritableStream is locked"));
      if (closingOrClosed(w)) return rejected(invalid("Failure closing WritableStream"));
      return closeWritable(w);
    }
    getWriter() { return new WritableStreamDefaultWriter(this); }
  }
  const theWritable = checked((o) => writable(o), "WritableStream");
  webidl(WritableStream);
  endOf(WritableStream, theWritable);
  inspected(WritableStream, (o) => ({ locked: o.locked, state: writable(o).state }));

  class WritableStreamDefaultWriter {
    #r;
    static { writerOf = (o) => isObject(o) && #r in o ? o.#r : undefined; }
    constructor(stream) {
      const w = writable(stream);
      if (w === undefined) throw kit.invalidType("stream", "an instance of WritableStream", stream);
      this.#r = lock(w);
    }
    get closed() { return writerPromise(writerOf(this), "closed"); }
    get ready() { return writerPromise(writerOf(this), "ready"); }
    get desiredSize() {
      const { w } = theWriter(this);
      if (w === undefined) throw invalid("Writer is not bound to a WritableStream");
      if (w.state === "errored" || w.state === "erroring") return null;
      return w.state === "closed" ? 0 : room(w.controller);
    }
    abort(reason = undefined) { return withWriter(writerOf(this), (r) => abortWritable(r.w, reason)); }
    close() {
      return withWriter(writerOf(this), (r) => closingOrClosed(r.w) ? rejected(invalid("Failure to close WritableStream")) : closeWritable(r.w));
    }
    releaseLock() { unlock(theWriter(this)); }
    write(chunk = undefined) { return withWriter(writerOf(this), (r) => write(r, chunk)); }
  }
  const theWriter = checked((o) => writerOf(o), "WritableStreamDefaultWriter");
  webidl(WritableStreamDefaultWriter);

  function writerPromise(r, name) {
    return r === undefined ? rejected(kit.invalidThis("WritableStreamDefaultWriter")) : r[name].promise;
  }

  function withWriter(r, fn) {
    if (r === undefined) return rejected(kit.invalidThis("WritableStreamDefaultWriter"));
    if (r.w === undefined) return rejected(invalid("Writer is not bound to a WritableStream"));
    return fn(r);
  }

  class WritableStreamDefaultController {
    #c;
    static { writableController = (o) => isObject(o) && #c in o ? o.#c : undefined; }
    constructor(key, c) {
      if (key !== secret) throw kit.illegalConstructor();
      this.#c = c;
    }
    get signal() { return theWritableController(this).abortSignal.get(); }
    error(e = undefined) { failWritable(theWritableController(this), e); }
  }
  const theWritableController = checked((o) => writableController(o), "WritableStreamDefaultController");
  webidl(WritableStreamDefaultController);

  // Transform streams

  let transformOf, transformController;

  class TransformStream {
    #t;
    static { transformOf = (o) => isObject(o) && #t in o ? o.#t : undefined; }
    constructor(transformer = undefined, writableStrategy = undefined, readableStrategy = undefined) {
      if (transformer === null) throw kit.invalidType("transformer", "an object", transformer);
      const by = transformer === undefined ? {} : optionsOf(transformer, "transformer");
      const to = optionsOf(readableStrategy, "readableStrategy");
      const at = optionsOf(writableStrategy, "writableStrategy");
      for (const name of ["readableType", "writableType"]) {
        if (by[name] !== undefined) throw kit.coded(RangeError, "ERR_INVALID_ARG_VALUE", `The property 'transformer.${name}' is invalid. Received ${kit.received(by[name])}`);
      }
      const algorithms = {};
      for (const name of ["start", "transform", "flush", "cancel"]) algorithms[name] = method(by, name, "transformer");
      this.#t = newTransform(algorithms, highWaterMark(at, 1), sizeOf(at), highWaterMark(to, 0), sizeOf(to));
    }
    get readable() { return theTransform(this).readable; }
    get writable() { return theTransform(this).writable; }
  }
  const theTransform = checked((o) => transformOf(o), "TransformStream");
  webidl(TransformStream);
  inspected(TransformStream, (o) => ({ readable: o.readable, writable: o.writable, backpressure: transformOf(o).backpressure }));

  // newTransform makes both ends. What is written waits until the other end wants more.
  function newTransform(by, writableMark, writableSize, readableMark, readableSize) {
    const t = { readable: undefined, writable: undefined, backpressure: undefined, change: deferred(), ending: undefined };
    const started = deferred();
    t.object = new TransformStreamDefaultController(secret, t);
    t.transform = by.transform === undefined
      ? async (chunk) => { emit(t, chunk); }
      : (chunk) => attempt(by.transform, undefined, chunk, t.object);
    t.flush = () => by.flush === undefined ? resolved() : attempt(by.flush, undefined, t.object);
    t.cancel = (reason) => by.cancel === undefined ? resolved() : attempt(by.cancel, undefined, reason);
    t.writable = new WritableStream(secret);
    t.readable = new ReadableStream(secret);
    setUpWritable(writable(t.writable), {
      start: () => started.promise,
      write: async (chunk) => {
        if (t.backpressure) {
          await t.change.promise;
          const w = writable(t.writable);
          if (w.state === "erroring") throw w.stored;
        }
        try {
          await t.transform(chunk);
        } catch (e) {
          failTransform(t, e);
          throw e;
        }
      },
      abort: (reason) => once(t, () => t.cancel(reason).then(() => {
        const s = readable(t.readable);
        if (s.state === "errored") throw s.stored;
        fail(s.controller, reason);
      }, (e) => {
        fail(readable(t.readable).controller, e);
        throw e;
      })),
      close: () => once(t, () => t.flush().then(() => {
        const s = readable(t.readable);
        if (s.state === "errored") throw s.stored;
        closeDefault(s.controller);
      }, (e) => {
        fail(readable(t.readable).controller, e);
        throw e;
      })),
    }, writableMark, writableSize);
    setUpDefault(readable(t.readable), {
      start: () => started.promise,
      pull: () => {
        setTransformBackpressure(t, false);
        return t.change.promise;
      },
      cancel: (reason) => once(t, () => t.cancel(reason).then(() => {
        const w = writable(t.writable);
        if (w.state === "errored") throw w.stored;
        failWritable(w.controller, reason);
        unblock(t);
      }, (e) => {
        failWritable(writable(t.writable).controller, e);
        unblock(t);
        throw e;
      })),
    }, readableMark, readableSize);
    setTransformBackpressure(t, true);
    started.resolve(by.start === undefined ? undefined : by.start(t.object));
    return t;
  }

  // once is for ways to end of which the first one counts.
  function once(t, fn) {
    if (t.ending === undefined) t.ending = fn();
    return t.ending;
  }

  function setTransformBackpressure(t, on) {
    if (t.backpressure === on) return;
    t.change.resolve();
    t.change = deferred();
    t.backpressure = on;
  }

  function unblock(t) {
    if (t.backpressure) setTransformBackpressure(t, false);
  }

  function emit(t, chunk) {
    const s = readable(t.readable);
    const c = s.controller;
    if (!accepts(c)) throw invalid("Controller is already closed");
    try {
      enqueueDefault(c, chunk);
    } catch (e) {
      failWritable(writable(t.writable).controller, e);
      unblock(t);
      throw s.stored;
    }
    const full = !(waiting(s) || desired(c) > 0);
    if (full !== t.backpressure) setTransformBackpressure(t, true);
  }

  function failTransform(t, e) {
    fail(readable(t.readable).controller, e);
    failWritable(writable(t.writable).controller, e);
    unblock(t);
  }

  class TransformStreamDefaultController {
    #t;
    static { transformController = (o) => isObject(o) && #t in o ? o.#t : undefined; }
    constructor(key, t) {
      if (key !== secret) throw kit.illegalConstructor();
      this.#t = t;
    }
    get desiredSize() { return desired(readable(theTransformController(this).readable).controller); }
    enqueue(chunk = undefined) { emit(theTransformController(this), chunk); }
    error(reason = undefined) { failTransform(theTransformController(this), reason); }
    terminate() {
      const t = theTransformController(this);
      closeDefault(readable(t.readable).controller);
      failWritable(writable(t.writable).controller, invalid("TransformStream has been terminated"));
      unblock(t);
    }
  }
  const theTransformController = checked((o) => transformController(o), "TransformStreamDefaultController");
  webidl(TransformStreamDefaultController);

  // Strategies

  function strategy(name, size) {
    const marks = new WeakMap();
    const own = (o) => {
      if (!marks.has(o)) throw kit.invalidThis(name);
      return marks.get(o);
    };
    const Class = { [name]: class {
      constructor(init) {
        if (!isObject(init)) throw kit.invalidType("init", "of type object", init);
        if (init.highWaterMark === undefined) throw kit.coded(TypeError, "ERR_MISSING_OPTION", "options.highWaterMark is required");
        marks.set(this, +init.highWaterMark);
      }
      get highWaterMark() { return own(this); }
      get size() { own(this); return size; }
    } }[name];
    webidl(Class);
    inspected(Class, (o) => ({ highWaterMark: own(o) }));
    return Class;
  }
  const ByteLengthQueuingStrategy = strategy("ByteLengthQueuingStrategy", { size: (chunk) => chunk.byteLength }.size);
  const CountQueuingStrategy = strategy("CountQueuingStrategy", { size: () => 1 }.size);

  // Streams of text and of compressed bytes

  // paired makes a class whose instances have both ends of a transform. make returns the
  // transformer, and what else the instance shows.
  function paired(name, make, shown = []) {
    const states = new WeakMap();
    const own = (o) => {
      const state = states.get(o);
      if (state === undefined) throw kit.invalidThis(name);
      return state;
    };
    const Class = { [name]: class {
      constructor(...args) {
        const made = make(...args);
        const t = newTransform(made, 1, () => 1, 0, () => 1);
        states.set(this, { t, shows: made });
      }
      get readable() { return own(this).t.readable; }
      get writable() { return own(this).t.writable; }
    } }[name];
    for (const member of shown) {
      Object.defineProperty(Class.prototype, member, {
        ...Object.getOwnPropertyDescriptor({ get [member]() { return own(this).shows[member]; } }, member), enumerable: true,
      });
    }
    Object.defineProperty(Class, "length", { value: 0 });
    webidl(Class);
    inspected(Class, (o) => {
      const members = {};
      for (const member of [...shown, "readable", "writable"]) members[member] = o[member];
      return members;
    });
    return Class;
  }

  const TextEncoderStream = paired("TextEncoderStream", () => {
    const encoder = new TextEncoder();
    let high = ""; // half of a pair that the last chunk ended with
    return {
      encoding: "utf-8",
      transform(chunk, c) {
        let text = high + `${chunk}`;
        high = "";
        const last = text.charCodeAt(text.length - 1);
        if (last >= 0xd800 && last <= 0xdbff) {
          high = text[text.length - 1];
          text = text.slice(0, -1);
        }
        if (text !== "") c.enqueue(encoder.encode(text));
      },
      flush(c) {
        if (high !== "") c.enqueue(encoder.encode("\ufffd"));
      },
    };
  }, ["encoding"]);

  const TextDecoderStream = paired("TextDecoderStream", (encoding = "utf-8", options = {}) => {
    const decoder = new TextDecoder(encoding, options);
    return {
      encoding: decoder.encoding, fatal: decoder.fatal, ignoreBOM: decoder.ignoreBOM,
      transform(chunk, c) {
        const text = decoder.decode(chunk, { stream: true });
        if (text !== "") c.enqueue(text);
      },
      flush(c) {
        const text = decoder.decode();
        if (text !== "") c.enqueue(text);
      },
    };
  }, ["encoding", "fatal", "ignoreBOM"]);

  // codec passes bytes through a native function, which takes the next bytes, undefined
  // after the last of them, or null to go on. It does a bounded amount of work and returns
  // a piece, null if there is more to do before the next one, or undefined if it is done.
  function codec(open) {
    return (format) => {
      const name = `${format}`;
      if (!["gzip", "deflate", "deflate-raw"].includes(name)) {
        throw kit.coded(TypeError, "ERR_INVALID_ARG_VALUE", `The argument 'format' is invalid. Received ${typeof format === "string" ? `'${format}'` : name}`);
      }
      const pass = open(name);
      const drain = (bytes, c) => {
        for (let piece = pass(bytes); piece !== undefined; piece = pass(null)) {
          if (piece !== null) c.enqueue(piece);
        }
      };
      return {
        transform(chunk, c) {
          if (!isView(chunk) && !(chunk instanceof ArrayBuffer)) throw kit.invalidType("chunk", "an instance of ArrayBuffer, Buffer, TypedArray, or DataView", chunk);
          drain(chunk, c);
        },
        flush(c) { drain(undefined, c); },
      };
    };
  }
  const CompressionStream = paired("CompressionStream", codec(native.compressor));
  const DecompressionStream = paired("DecompressionStream", codec(native.decompressor));

  return {
    ReadableStream, ReadableStreamDefaultReader, ReadableStreamBYOBReader, ReadableStreamBYOBRequest,
    ReadableStreamDefaultController, ReadableByteStreamController,
    WritableStream, WritableStreamDefaultWriter, WritableStreamDefaultController,
    TransformStream, TransformStreamDefaultController, ByteLengthQueuingStrategy, CountQueuingStrategy,
    TextEncoderStream, TextDecoderStream, CompressionStream, DecompressionStream,
  };
})
