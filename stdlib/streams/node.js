// Streams as Node 20 has them. The order of events is theirs: what Node does in a tick of
// its own is a tick here. Constructors are functions, because old packages call them on
// objects of their own.
(function (native, kit) {
  const EE = native.require("node:events");
  const { hidden, coded } = kit;
  const tick = (fn, ...args) => native.tick(() => fn(...args));
  const { isInteger, isNaN } = Number;
  const noop = () => {};

  const kDestroy = Symbol("kDestroy");
  const kConstruct = Symbol("kConstruct");
  const kDestroyed = Symbol("kDestroyed");
  const kCallback = Symbol("kCallback");
  const kDisturbed = Symbol.for("nodejs.stream.disturbed");
  const kRejection = Symbol.for("nodejs.rejection");

  // Errors

  const error = (code, message) => coded(Error, code, message);
  const unimplemented = (name) => error("ERR_METHOD_NOT_IMPLEMENTED", `The ${name} method is not implemented`);
  const destroyedError = (name) => error("ERR_STREAM_DESTROYED", `Cannot call ${name} after a stream was destroyed`);
  const premature = () => error("ERR_STREAM_PREMATURE_CLOSE", "Premature close");
  const invalidChunk = (chunk) => kit.invalidType("chunk", "of type string or an instance of Buffer, TypedArray, or DataView", chunk);

  function abortError(signal) {
    const e = new Error("The operation was aborted", signal === undefined ? undefined : { cause: signal.reason });
    hidden(e, "name", "AbortError");
    e.code = "ABORT_ERR";
    return e;
  }

  function checkFunction(fn, name) {
    if (typeof fn !== "function") throw kit.invalidType(name, name === "fn" ? "of type function or an instance of AsyncFunction" : "of type function", fn);
  }

  function checkSignal(signal, name = "options.signal") {
    if (signal === undefined) return;
    if (signal === null || typeof signal !== "object" || !("aborted" in signal)) throw kit.invalidType(name, "an instance of AbortSignal", signal);
  }

  // once calls fn the first time only.
  function once(fn) {
    let called = false;
    return function (...args) {
      if (called) return;
      called = true;
      fn.apply(this, args);
    };
  }

  // Bytes

  const isBytes = ArrayBuffer.isView;

  function bufferOf(bytes) {
    return Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  // High water marks

  let byteMark = 16 * 1024;
  let objectMark = 16;

  function getDefaultHighWaterMark(objectMode) {
    return objectMode ? objectMark : byteMark;
  }

  function setDefaultHighWaterMark(objectMode, value) {
    if (!isInteger(value) || value < 0) throw coded(RangeError, "ERR_OUT_OF_RANGE", `The value of "value" is out of range. It must be an integer. Received ${String(value)}`);
    if (objectMode) objectMark = value;
    else byteMark = value;
  }

  function markOf(objectMode, options, duplexKey, isDuplex) {
    const given = options?.highWaterMark ?? (isDuplex ? options?.[duplexKey] : null);
    if (given === null || given === undefined) return getDefaultHighWaterMark(objectMode);
    if (!isInteger(given) || given < 0) {
      const name = isDuplex && (options.highWaterMark === null || options.highWaterMark === undefined) ? `options.${duplexKey}` : "options.highWaterMark";
      throw coded(TypeError, "ERR_INVALID_ARG_VALUE", `The property '${name}' is invalid. Received ${typeof given === "string" ? `'${given}'` : String(given)}`);
    }
    return Math.floor(given);
  }

  // What streams are, by what they have

  const isReadableNode = (o, strict = false) => !!(o && typeof o.pipe === "function" && typeof o.on === "function" &&
    (!strict || typeof o.pause === "function" && typeof o.resume === "function") &&
    (!o._writableState || o._readableState?.readable !== false) && (!o._writableState || o._readableState));
  const isWritableNode = (o) => !!(o && typeof o.write === "function" && typeof o.on === "function" && (!o._readableState || o._writableState?.writable !== false));
  const isNode = (o) => !!(o && (o._readableState || o._writableState || typeof o.write === "function" && typeof o.on === "function" || typeof o.pipe === "function" && typeof o.on === "function"));
  const isWeb = (o, name) => o !== null && typeof o === "object" && Object.prototype.toString.call(o) === `[object ${name}]`;
  const isReadableWeb = (o) => isWeb(o, "ReadableStream");
  const isWritableWeb = (o) => isWeb(o, "WritableStream");
  const isTransformWeb = (o) => isWeb(o, "TransformStream") || o !== null && typeof o === "object" && isReadableWeb(o.readable) && isWritableWeb(o.writable);
  const isIterable = (o) => o !== null && o !== undefined && (typeof o[Symbol.asyncIterator] === "function" || typeof o[Symbol.iterator] === "function");

  function isDestroyed(stream) {
    if (!isNode(stream)) return null;
    const s = stream._writableState || stream._readableState;
    return !!(stream.destroyed || stream[kDestroyed] || s?.destroyed);
  }

  function isWritableEnded(stream) {
    if (!isWritableNode(stream)) return null;
    if (stream.writableEnded === true) return true;
    const w = stream._writableState;
    return w?.errored ? false : typeof w?.ended === "boolean" ? w.ended : null;
  }

  function isWritableFinished(stream, strict) {
    if (!isWritableNode(stream)) return null;
    if (stream.writableFinished === true) return true;
    const w = stream._writableState;
    if (w?.errored) return false;
    return typeof w?.finished === "boolean" ? !!(w.finished || strict === false && w.ended === true && w.length === 0) : null;
  }

  function isReadableFinished(stream, strict) {
    if (!isReadableNode(stream)) return null;
    const r = stream._readableState;
    if (r?.errored) return false;
    return typeof r?.endEmitted === "boolean" ? !!(r.endEmitted || strict === false && r.ended === true && r.length === 0) : null;
  }

  function isReadable(stream) {
    if (isReadableWeb(stream)) return !stream[kDisturbed] || stream.locked;
    if (typeof stream?.readable !== "boolean") return null;
    return isDestroyed(stream) ? false : isReadableNode(stream) && stream.readable && !isReadableFinished(stream);
  }

  function isWritable(stream) {
    if (typeof stream?.writable !== "boolean") return null;
    return isDestroyed(stream) ? false : isWritableNode(stream) && stream.writable && !isWritableEnded(stream);
  }

  const isDisturbed = (stream) => !!(stream && (stream[kDisturbed] ?? (stream.readableDidRead || stream.readableAborted)));
  const isErrored = (stream) => !!(stream && (stream.errored ?? stream.readableErrored ?? stream.writableErrored ?? stream._readableState?.errored ?? stream._writableState?.errored));

  function isClosed(stream) {
    if (!isNode(stream)) return null;
    if (typeof stream.closed === "boolean") return stream.closed;
    return stream._writableState?.closed ?? stream._readableState?.closed ?? null;
  }

  // isStdio says whether a stream is standard output or error, which a pipe does not end.
  const isStdio = (o) => !!o._isStdio || o.fd === 1 || o.fd === 2;

  // Destruction

  function markErrored(stream, e) {
    if (!e) return;
    for (const s of [stream._writableState, stream._readableState]) {
      if (s && !s.errored) s.errored = e;
    }
  }

  function destroy(e, cb) {
    const r = this._readableState;
    const w = this._writableState;
    const s = w || r;
    if (w?.destroyed || r?.destroyed) {
      if (typeof cb === "function") cb();
      return this;
    }
    markErrored(this, e);
    if (w) w.destroyed = true;
    if (r) r.destroyed = true;
    if (!s.constructed) this.once(kDestroy, (other) => tearDown(this, other || e, cb));
    else tearDown(this, e, cb);
    return this;
  }

  function tearDown(stream, e, cb) {
    const done = once((other) => {
      markErrored(stream, other);
      if (stream._writableState) stream._writableState.closed = true;
      if (stream._readableState) stream._readableState.closed = true;
      if (typeof cb === "function") cb(other);
      tick(() => {
        if (other) emitError(stream, other);
        emitClose(stream);
      });
    });
    try {
      stream._destroy(e || null, done);
    } catch (other) {
      done(other);
    }
  }

  function emitError(stream, e) {
    const r = stream._readableState;
    const w = stream._writableState;
    if (w?.errorEmitted || r?.errorEmitted) return;
    if (w) w.errorEmitted = true;
    if (r) r.errorEmitted = true;
    stream.emit("error", e);
  }

  function emitClose(stream) {
    const r = stream._readableState;
    const w = stream._writableState;
    if (w) w.closeEmitted = true;
    if (r) r.closeEmitted = true;
    if (w?.emitClose || r?.emitClose) stream.emit("close");
  }

  function errorOrDestroy(stream, e, sync) {
    const r = stream._readableState;
    const w = stream._writableState;
    if (w?.destroyed || r?.destroyed) return;
    if (r?.autoDestroy || w?.autoDestroy) {
      stream.destroy(e);
    } else if (e) {
      markErrored(stream, e);
      if (sync) tick(emitError, stream, e);
      else emitError(stream, e);
    }
  }

  // construct runs _construct before anything else happens.
  function construct(stream, cb) {
    if (typeof stream._construct !== "function") return;
    const r = stream._readableState;
    const w = stream._writableState;
    if (r) r.constructed = false;
    if (w) w.constructed = false;
    stream.once(kConstruct, cb);
    if (stream.listenerCount(kConstruct) > 1) return;
    tick(() => {
      let called = false;
      const done = (e) => {
        if (called) {
          errorOrDestroy(stream, e ?? error("ERR_MULTIPLE_CALLBACK", "Callback called multiple times"));
          return;
        }
        called = true;
        if (r) r.constructed = true;
        if (w) w.constructed = true;
        if ((w || r).destroyed) stream.emit(kDestroy, e);
        else if (e) errorOrDestroy(stream, e, true);
        else tick(() => stream.emit(kConstruct));
      };
      try {
        stream._construct((e) => tick(done, e));
      } catch (e) {
        tick(done, e);
      }
    });
  }

  function destroyer(stream, e) {
    if (!stream || isDestroyed(stream)) return;
    if (!e && !isReadableFinished(stream) && isReadableNode(stream) && !isWritableFinished(stream)) e = e === null ? e : abortError();
    if (typeof stream.destroy === "function") stream.destroy(e);
    else if (typeof stream.close === "function") stream.close();
    if (!stream.destroyed) stream[kDestroyed] = true;
  }

  // The base of all streams

  function Stream(options) { EE.call(this, options); }
  Object.setPrototypeOf(Stream.prototype, EE.prototype);
  Object.setPrototypeOf(Stream, EE);

  function prependListener(emitter, event, fn) {
    if (typeof emitter.prependListener === "function") emitter.prependListener(event, fn);
    else emitter.on(event, fn);
  }

  // pipe of a stream that is neither of Node's classes
  Stream.prototype.pipe = function (dest, options) {
    const source = this;
    const ondata = (chunk) => { if (dest.writable && dest.write(chunk) === false) source.pause?.(); };
    const ondrain = () => { if (source.readable) source.resume?.(); };
    let ended = false;
    const onend = () => {
      if (!ended) {
        ended = true;
        dest.end();
      }
    };
    const onerror = function (e) {
      cleanup();
      if (this.listenerCount("error") === 0) this.emit("error", e);
    };
    const cleanup = () => {
      source.off("data", ondata).off("end", onend).off("error", onerror).off("end", cleanup).off("close", cleanup);
      dest.off("drain", ondrain).off("error", onerror).off("close", cleanup);
    };
    source.on("data", ondata);
    dest.on("drain", ondrain);
    if (!isStdio(dest) && options?.end !== false) source.on("end", onend);
    prependListener(source, "error", onerror);
    prependListener(dest, "error", onerror);
    source.on("end", cleanup);
    source.on("close", cleanup);
    dest.on("close", cleanup);
    dest.emit("pipe", source);
    return dest;
  };

  // Readable

  // Chunks is what a stream has read and not given out.
  class Chunks {
    constructor() {
      this.list = [];
      this.head = 0;
    }
    get length() { return this.list.length - this.head; }
    push(chunk) { this.list.push(chunk); }
    unshift(chunk) {
      if (this.head > 0) this.list[--this.head] = chunk;
      else this.list.unshift(chunk);
    }
    first() { return this.list[this.head]; }
    shift() {
      const chunk = this.list[this.head];
      this.list[this.head++] = undefined;
      if (this.head === this.list.length || this.head > 1000 && this.head * 2 > this.list.length) {
        this.list = this.list.slice(this.head);
        this.head = 0;
      }
      return chunk;
    }
    clear() {
      this.list = [];
      this.head = 0;
    }
    *[Symbol.iterator]() {
      for (let i = this.head; i < this.list.length; i++) yield this.list[i];
    }
  }

  function ReadableState(options, isDuplex) {
    this.objectMode = !!(options?.objectMode || isDuplex && options?.readableObjectMode);
    this.highWaterMark = markOf(this.objectMode, options, "readableHighWaterMark", isDuplex);
    this.buffer = new Chunks();
    this.length = 0;
    this.pipes = [];
    this.flowing = null;
    this.ended = this.endEmitted = this.reading = false;
    this.constructed = true;
    this.sync = true;
    this.needReadable = this.emittedReadable = this.readableListening = this.resumeScheduled = this.errorEmitted = false;
    this.paused = null;
    this.emitClose = options?.emitClose !== false;
    this.autoDestroy = options?.autoDestroy !== false;
    this.destroyed = false;
    this.errored = null;
    this.closed = this.closeEmitted = false;
    this.defaultEncoding = options?.defaultEncoding || "utf8";
    this.awaitDrainWriters = null;
    this.multiAwaitDrain = this.readingMore = this.dataEmitted = false;
    this.decoder = this.encoding = null;
    if (options?.encoding) setDecoder(this, options.encoding);
  }

  function setDecoder(state, encoding) {
    const { StringDecoder } = native.require("node:string_decoder");
    state.decoder = new StringDecoder(encoding);
    state.encoding = state.decoder.encoding;
  }

  function Readable(options) {
    if (!(this instanceof Readable)) return new Readable(options);
    const isDuplex = this instanceof Duplex;
    this._readableState = new ReadableState(options, isDuplex);
    if (options) {
      if (typeof options.read === "function") this._read = options.read;
      if (typeof options.destroy === "function") this._destroy = options.destroy;
      if (typeof options.construct === "function") this._construct = options.construct;
      if (options.signal && !isDuplex) addAbortSignal(options.signal, this);
    }
    Stream.call(this, options);
    construct(this, () => {
      if (this._readableState.needReadable) maybeReadMore(this, this._readableState);
    });
  }
  Object.setPrototypeOf(Readable.prototype, Stream.prototype);
  Object.setPrototypeOf(Readable, Stream);

  Readable.prototype.destroy = destroy;
  Readable.prototype._undestroy = function () {};
  Readable.prototype._destroy = function (e, cb) { cb(e); };
  Readable.prototype[kRejection] = function (e) { this.destroy(e); };
  Readable.prototype.push = function (chunk, encoding) { return addChunk(this, chunk, encoding, false); };
  Readable.prototype.unshift = function (chunk, encoding) { return addChunk(this, chunk, encoding, true); };
  Readable.prototype.isPaused = function () {
    const s = this._readableState;
    return s.paused === true || s.flowing === false;
  };

  function addChunk(stream, chunk, encoding, front) {
    const s = stream._readableState;
    if (!s.objectMode) {
      if (typeof chunk === "string") {
        encoding = encoding || s.defaultEncoding;
        if (s.encoding !== encoding) {
          if (front && s.encoding) {
            chunk = Buffer.from(chunk, encoding).toString(s.encoding);
          } else {
            chunk = Buffer.from(chunk, encoding);
            encoding = "";
          }
        }
      } else if (isBytes(chunk)) {
        chunk = bufferOf(chunk);
        encoding = "";
      } else if (chunk !== null && chunk !== undefined) {
        errorOrDestroy(stream, invalidChunk(chunk));
        return false;
      }
    }
    if (chunk === null) {
      s.reading = false;
      endOfInput(stream, s);
    } else if (s.objectMode || chunk && chunk.length > 0) {
      if (front) {
        if (s.endEmitted) errorOrDestroy(stream, error("ERR_STREAM_UNSHIFT_AFTER_END_EVENT", "stream.unshift() after end event"));
        else if (s.destroyed || s.errored) return false;
        else store(stream, s, chunk, true);
      } else if (s.ended) {
        errorOrDestroy(stream, error("ERR_STREAM_PUSH_AFTER_EOF", "stream.push() after EOF"));
      } else if (s.destroyed || s.errored) {
        return false;
      } else {
        s.reading = false;
        if (s.decoder && !encoding) {
          chunk = s.decoder.write(chunk);
          if (s.objectMode || chunk.length !== 0) store(stream, s, chunk, false);
          else maybeReadMore(stream, s);
        } else {
          store(stream, s, chunk, false);
        }
      }
    } else if (!front) {
      s.reading = false;
      maybeReadMore(stream, s);
    }
    return !s.ended && (s.length < s.highWaterMark || s.length === 0);
  }

  function store(stream, s, chunk, front) {
    if (s.flowing && s.length === 0 && !s.sync && stream.listenerCount("data") > 0) {
      if (s.multiAwaitDrain) s.awaitDrainWriters.clear();
      else s.awaitDrainWriters = null;
      s.dataEmitted = true;
      stream.emit("data", chunk);
    } else {
      s.length += s.objectMode ? 1 : chunk.length;
      if (front) s.buffer.unshift(chunk);
      else s.buffer.push(chunk);
      if (s.needReadable) emitReadable(stream);
    }
    maybeReadMore(stream, s);
  }

  Readable.prototype.setEncoding = function (encoding) {
    const s = this._readableState;
    setDecoder(s, encoding);
    let content = "";
    for (const chunk of s.buffer) content += s.decoder.write(chunk);
    s.buffer.clear();
    if (content !== "") s.buffer.push(content);
    s.length = content.length;
    return this;
  };

  const largestMark = 0x40000000;

  function largerMark(n) {
    if (n > largestMark) throw coded(RangeError, "ERR_OUT_OF_RANGE", `The value of "size" is out of range. It must be <= 1GiB. Received ${n}`);
    let mark = 1;
    while (mark < n) mark *= 2;
    return mark;
  }

  function amount(n, s) {
    if (n <= 0 || s.length === 0 && s.ended) return 0;
    if (s.objectMode) return 1;
    if (isNaN(n)) return s.flowing && s.length ? s.buffer.first().length : s.length;
    if (n <= s.length) return n;
    return s.ended ? s.length : 0;
  }

  Readable.prototype.read = function (n) {
    if (n === undefined) n = NaN;
    else if (!isInteger(n)) n = parseInt(n, 10);
    const s = this._readableState;
    const wanted = n;
    if (n > s.highWaterMark) s.highWaterMark = largerMark(n);
    if (n !== 0) s.emittedReadable = false;
    if (n === 0 && s.needReadable && ((s.highWaterMark !== 0 ? s.length >= s.highWaterMark : s.length > 0) || s.ended)) {
      if (s.length === 0 && s.ended) endReadable(this);
      else emitReadable(this);
      return null;
    }
    n = amount(n, s);
    if (n === 0 && s.ended) {
      if (s.length === 0) endReadable(this);
      return null;
    }
    const more = s.needReadable || s.length === 0 || s.length - n < s.highWaterMark;
    if (more && !s.ended && !s.reading && !s.destroyed && !s.errored && s.constructed) {
      s.reading = true;
      s.sync = true;
      if (s.length === 0) s.needReadable = true;
      try {
        this._read(s.highWaterMark);
      } catch (e) {
        errorOrDestroy(this, e);
      }
      s.sync = false;
      if (!s.reading) n = amount(wanted, s);
    }
    const chunk = n > 0 ? takeChunk(n, s) : null;
    if (chunk === null) {
      s.needReadable = s.length <= s.highWaterMark;
      n = 0;
    } else {
      s.length -= n;
      if (s.multiAwaitDrain) s.awaitDrainWriters.clear();
      else s.awaitDrainWriters = null;
    }
    if (s.length === 0) {
      if (!s.ended) s.needReadable = true;
      if (wanted !== n && s.ended) endReadable(this);
    }
    if (chunk !== null && !s.errorEmitted && !s.closeEmitted) {
      s.dataEmitted = true;
      this.emit("data", chunk);
    }
    return chunk;
  };

  // takeChunk takes n bytes or characters, or one object.
  function takeChunk(n, s) {
    if (s.length === 0) return null;
    if (s.objectMode) return s.buffer.shift();
    const { buffer } = s;
    if (!n || n >= s.length) {
      let all;
      if (buffer.length === 1) all = buffer.first();
      else all = s.decoder ? [...buffer].join("") : Buffer.concat([...buffer], s.length);
      buffer.clear();
      return all;
    }
    if (n === buffer.first().length) return buffer.shift();
    const parts = [];
    while (n > 0) {
      const chunk = buffer.first();
      if (n >= chunk.length) {
        parts.push(buffer.shift());
        n -= chunk.length;
      } else {
        parts.push(chunk.slice(0, n));
        buffer.shift();
        buffer.unshift(chunk.slice(n));
        n = 0;
      }
    }
    if (parts.length === 1) return parts[0];
    return s.decoder ? parts.join("") : Buffer.concat(parts);
  }

  function endOfInput(stream, s) {
    if (s.ended) return;
    if (s.decoder) {
      const rest = s.decoder.end();
      if (rest && rest.length) {
        s.buffer.push(rest);
        s.length += s.objectMode ? 1 : rest.length;
      }
    }
    s.ended = true;
    if (s.sync) {
      emitReadable(stream);
    } else {
      s.needReadable = false;
      s.emittedReadable = true;
      emitReadableNow(stream);
    }
  }

  function emitReadable(stream) {
    const s = stream._readableState;
    s.needReadable = false;
    if (s.emittedReadable) return;
    s.emittedReadable = true;
    tick(emitReadableNow, stream);
  }

  function emitReadableNow(stream) {
    const s = stream._readableState;
    if (!s.destroyed && !s.errored && (s.length || s.ended)) {
      stream.emit("readable");
      s.emittedReadable = false;
    }
    s.needReadable = !s.flowing && !s.ended && s.length <= s.highWaterMark;
    flow(stream);
  }

  function maybeReadMore(stream, s) {
    if (s.readingMore || !s.constructed) return;
    s.readingMore = true;
    tick(() => {
      while (!s.reading && !s.ended && (s.length < s.highWaterMark || s.flowing && s.length === 0)) {
        const { length } = s;
        stream.read(0);
        if (length === s.length) break;
      }
      s.readingMore = false;
    });
  }

  Readable.prototype._read = function () { throw unimplemented("_read()"); };

  Readable.prototype.pipe = function (dest, options) {
    const source = this;
    const s = this._readableState;
    if (s.pipes.length === 1 && !s.multiAwaitDrain) {
      s.multiAwaitDrain = true;
      s.awaitDrainWriters = new Set(s.awaitDrainWriters ? [s.awaitDrainWriters] : []);
    }
    s.pipes.push(dest);
    const atEnd = options?.end !== false && !isStdio(dest) ? onend : unpipe;
    if (s.endEmitted) tick(atEnd);
    else source.once("end", atEnd);
    dest.on("unpipe", onunpipe);
    let ondrain;
    let clean = false;
    source.on("data", ondata);
    prependListener(dest, "error", onerror);
    dest.once("close", onclose);
    dest.once("finish", onfinish);
    dest.emit("pipe", source);
    if (dest.writableNeedDrain === true) pause();
    else if (!s.flowing) source.resume();
    return dest;

    function onend() { dest.end(); }
    function unpipe() { source.unpipe(dest); }
    function onunpipe(readable, info) {
      if (readable === source && info && info.hasUnpiped === false) {
        info.hasUnpiped = true;
        cleanup();
      }
    }
    function cleanup() {
      dest.removeListener("close", onclose);
      dest.removeListener("finish", onfinish);
      if (ondrain) dest.removeListener("drain", ondrain);
      dest.removeListener("error", onerror);
      dest.removeListener("unpipe", onunpipe);
      source.removeListener("end", onend);
      source.removeListener("end", unpipe);
      source.removeListener("data", ondata);
      clean = true;
      if (ondrain && s.awaitDrainWriters && (!dest._writableState || dest._writableState.needDrain)) ondrain();
    }
    function pause() {
      if (!clean) {
        if (s.pipes.length === 1 && s.pipes[0] === dest) {
          s.awaitDrainWriters = dest;
          s.multiAwaitDrain = false;
        } else if (s.pipes.length > 1 && s.pipes.includes(dest)) {
          s.awaitDrainWriters.add(dest);
        }
        source.pause();
      }
      if (!ondrain) {
        ondrain = () => {
          if (s.awaitDrainWriters === dest) s.awaitDrainWriters = null;
          else if (s.multiAwaitDrain) s.awaitDrainWriters.delete(dest);
          if ((!s.awaitDrainWriters || s.awaitDrainWriters.size === 0) && source.listenerCount("data")) source.resume();
        };
        dest.on("drain", ondrain);
      }
    }
    function ondata(chunk) {
      if (dest.write(chunk) === false) pause();
    }
    function onerror(e) {
      unpipe();
      dest.removeListener("error", onerror);
      if (dest.listenerCount("error") === 0) {
        const state = dest._writableState || dest._readableState;
        if (state && !state.errorEmitted) errorOrDestroy(dest, e);
        else dest.emit("error", e);
      }
    }
    function onclose() {
      dest.removeListener("finish", onfinish);
      unpipe();
    }
    function onfinish() {
      dest.removeListener("close", onclose);
      unpipe();
    }
  };

  Readable.prototype.unpipe = function (dest) {
    const s = this._readableState;
    if (s.pipes.length === 0) return this;
    if (!dest) {
      const all = s.pipes;
      s.pipes = [];
      this.pause();
      for (const each of all) each.emit("unpipe", this, { hasUnpiped: false });
      return this;
    }
    const i = s.pipes.indexOf(dest);
    if (i === -1) return this;
    s.pipes.splice(i, 1);
    if (s.pipes.length === 0) this.pause();
    dest.emit("unpipe", this, { hasUnpiped: false });
    return this;
  };

  Readable.prototype.on = function (event, fn) {
    const result = Stream.prototype.on.call(this, event, fn);
    const s = this._readableState;
    if (event === "data") {
      s.readableListening = this.listenerCount("readable") > 0;
      if (s.flowing !== false) this.resume();
    } else if (event === "readable" && !s.endEmitted && !s.readableListening) {
      s.readableListening = s.needReadable = true;
      s.flowing = false;
      s.emittedReadable = false;
      if (s.length) emitReadable(this);
      else if (!s.reading) tick(() => this.read(0));
    }
    return result;
  };
  Readable.prototype.addListener = Readable.prototype.on;

  Readable.prototype.removeListener = function (event, fn) {
    const result = Stream.prototype.removeListener.call(this, event, fn);
    if (event === "readable") tick(stillListening, this);
    return result;
  };
  Readable.prototype.off = Readable.prototype.removeListener;

  Readable.prototype.removeAllListeners = function (...events) {
    const result = Stream.prototype.removeAllListeners.apply(this, events);
    if (events.length === 0 || events[0] === "readable") tick(stillListening, this);
    return result;
  };

  function stillListening(stream) {
    const s = stream._readableState;
    s.readableListening = stream.listenerCount("readable") > 0;
    if (s.resumeScheduled && s.paused === false) s.flowing = true;
    else if (stream.listenerCount("data") > 0) stream.resume();
    else if (!s.readableListening) s.flowing = null;
  }

  Readable.prototype.resume = function () {
    const s = this._readableState;
    if (!s.flowing) {
      s.flowing = !s.readableListening;
      if (!s.resumeScheduled) {
        s.resumeScheduled = true;
        tick(() => {
          if (!s.reading) this.read(0);
          s.resumeScheduled = false;
          this.emit("resume");
          flow(this);
          if (s.flowing && !s.reading) this.read(0);
        });
      }
    }
    s.paused = false;
    return this;
  };

  Readable.prototype.pause = function () {
    const s = this._readableState;
    if (s.flowing !== false) {
      s.flowing = false;
      this.emit("pause");
    }
    s.paused = true;
    return this;
  };

  function flow(stream) {
    const s = stream._readableState;
    while (s.flowing && stream.read() !== null);
  }

  Readable.prototype.wrap = function (old) {
    let paused = false;
    old.on("data", (chunk) => {
      if (!this.push(chunk) && old.pause) {
        paused = true;
        old.pause();
      }
    });
    old.on("end", () => this.push(null));
    old.on("error", (e) => errorOrDestroy(this, e));
    old.on("close", () => destroyer(this));
    old.on("destroy", () => destroyer(this));
    this._read = () => {
      if (paused && old.resume) {
        paused = false;
        old.resume();
      }
    };
    return this;
  };

  function endReadable(stream) {
    const s = stream._readableState;
    if (s.endEmitted) return;
    s.ended = true;
    tick(() => {
      if (s.errored || s.closeEmitted || s.endEmitted || s.length !== 0) return;
      s.endEmitted = true;
      stream.emit("end");
      if (stream.writable && stream.allowHalfOpen === false) {
        tick(() => {
          if (stream.writable && !stream.writableEnded && !stream.destroyed) stream.end();
        });
      } else if (s.autoDestroy) {
        const w = stream._writableState;
        if (!w || w.autoDestroy && (w.finished || w.writable === false)) stream.destroy();
      }
    });
  }

  function accessors(Class, members) {
    for (const name of Object.keys(members)) {
      const [get, set] = members[name];
      const named = Object.getOwnPropertyDescriptor({ get [name]() { return get(this); }, set [name](v) { set?.(this, v); } }, name);
      Object.defineProperty(Class.prototype, name, { get: named.get, set: set && named.set, enumerable: false, configurable: true });
    }
  }

  accessors(Readable, {
    readable: [(o) => {
      const r = o._readableState;
      return !!r && r.readable !== false && !r.destroyed && !r.errorEmitted && !r.endEmitted;
    }, (o, v) => { if (o._readableState) o._readableState.readable = !!v; }],
    readableDidRead: [(o) => o._readableState.dataEmitted],
    readableAborted: [(o) => !!(o._readableState.readable !== false && (o._readableState.destroyed || o._readableState.errored) && !o._readableState.endEmitted)],
    readableHighWaterMark: [(o) => o._readableState.highWaterMark],
    readableBuffer: [(o) => o._readableState?.buffer],
    readableFlowing: [(o) => o._readableState.flowing, (o, v) => { if (o._readableState) o._readableState.flowing = v; }],
    readableLength: [(o) => o._readableState.length],
    readableObjectMode: [(o) => o._readableState ? o._readableState.objectMode : false],
    readableEncoding: [(o) => o._readableState ? o._readableState.encoding : null],
    readableEnded: [(o) => o._readableState ? o._readableState.endEmitted : false],
    errored: [(o) => o._readableState ? o._readableState.errored : null],
    closed: [(o) => o._readableState ? o._readableState.closed : false],
    destroyed: [(o) => o._readableState ? o._readableState.destroyed : false, (o, v) => { if (o._readableState) o._readableState.destroyed = v; }],
  });

  // Iteration

  const asyncIteratorPrototype = { [Symbol.asyncIterator]() { return this; } };

  // iterator makes an object whose methods run one after another, as those of an async
  // generator do.
  function iterator({ next, finish, fail }) {
    let last; // what is under way
    let over = false;
    const inTurn = (fn) => {
      const result = last === undefined ? fn() : last.then(fn, fn);
      last = result;
      const settled = () => { if (last === result) last = undefined; };
      result.then(settled, settled);
      return result;
    };
    return Object.assign(Object.create(asyncIteratorPrototype), {
      next: () => inTurn(async () => {
        if (over) return { value: undefined, done: true };
        let result;
        try {
          result = await next();
        } catch (e) {
          over = true;
          throw e;
        }
        if (result.done) over = true;
        return result;
      }),
      return: (value) => inTurn(async () => {
        if (!over) {
          over = true;
          await finish();
        }
        return { value, done: true };
      }),
      throw: (e) => inTurn(async () => {
        if (!over) {
          over = true;
          await (fail ?? finish)(e);
        }
        throw e;
      }),
    });
  }

  function chunksOf(stream, { destroyOnReturn = true } = {}) {
    let wake = noop;
    let failure; // undefined until the end, null if that was a good one
    const onreadable = () => wake();
    let cleanup;
    let started = false;
    const start = () => {
      started = true;
      stream.on("readable", onreadable);
      cleanup = eos(stream, { writable: false }, (e) => {
        failure = e ? e : null;
        wake();
      });
    };
    const finish = (destroying) => {
      if (started && !destroying) {
        stream.off("readable", onreadable);
        cleanup();
      } else {
        destroyer(stream, null);
      }
    };
    return iterator({
      async next() {
        if (!started) start();
        for (;;) {
          const chunk = stream.destroyed ? null : stream.read();
          if (chunk !== null) return { value: chunk, done: false };
          if (failure) {
            finish(stream._readableState?.autoDestroy !== false);
            throw failure;
          }
          if (failure === null) {
            finish(stream._readableState?.autoDestroy !== false);
            return { value: undefined, done: true };
          }
          await new Promise((resolve) => { wake = resolve; });
          wake = noop;
        }
      },
      async finish() {
        finish(destroyOnReturn && (failure === undefined || stream._readableState?.autoDestroy));
      },
      async fail(e) {
        destroyer(stream, e ?? null);
      },
    });
  }

  Readable.prototype[Symbol.asyncIterator] = function () { return chunksOf(this); };
  Readable.prototype.iterator = function (options) {
    if (options !== undefined && (options === null || typeof options !== "object")) throw kit.invalidType("options", "of type object", options);
    return chunksOf(this, options);
  };

  // Writable

  function WritableState(options, isDuplex) {
    this.objectMode = !!(options?.objectMode || isDuplex && options?.writableObjectMode);
    this.highWaterMark = markOf(this.objectMode, options, "writableHighWaterMark", isDuplex);
    this.finalCalled = this.needDrain = this.ending = this.ended = this.finished = this.destroyed = false;
    this.decodeStrings = options?.decodeStrings !== false;
    this.defaultEncoding = options?.defaultEncoding || "utf8";
    this.length = 0;
    this.writing = false;
    this.corked = 0;
    this.sync = true;
    this.bufferProcessing = false;
    this.writecb = null;
    this.writelen = 0;
    this.afterWrite = null;
    this.buffered = [];
    this.bufferedIndex = 0;
    this.pendingcb = 0;
    this.constructed = true;
    this.prefinished = this.errorEmitted = false;
    this.emitClose = options?.emitClose !== false;
    this.autoDestroy = options?.autoDestroy !== false;
    this.errored = null;
    this.closed = this.closeEmitted = false;
    this.onFinished = [];
  }

  function Writable(options) {
    const isDuplex = this instanceof Duplex;
    if (!isDuplex && !(this instanceof Writable)) return new Writable(options);
    this._writableState = new WritableState(options, isDuplex);
    if (options) {
      if (typeof options.write === "function") this._write = options.write;
      if (typeof options.writev === "function") this._writev = options.writev;
      if (typeof options.destroy === "function") this._destroy = options.destroy;
      if (typeof options.final === "function") this._final = options.final;
      if (typeof options.construct === "function") this._construct = options.construct;
      if (options.signal) addAbortSignal(options.signal, this);
    }
    Stream.call(this, options);
    construct(this, () => {
      const w = this._writableState;
      if (!w.writing) clearBuffer(this, w);
      finishMaybe(this, w);
    });
  }
  Object.setPrototypeOf(Writable.prototype, Stream.prototype);
  Object.setPrototypeOf(Writable, Stream);
  Object.defineProperty(Writable, Symbol.hasInstance, {
    value: Object.getOwnPropertyDescriptor({ [Symbol.hasInstance](object) {
      if (Function.prototype[Symbol.hasInstance].call(this, object)) return true;
      return this === Writable && !!object && object._writableState instanceof WritableState;
    } }, Symbol.hasInstance).value,
  });

  Writable.prototype.pipe = function () {
    errorOrDestroy(this, error("ERR_STREAM_CANNOT_PIPE", "Cannot pipe, not readable"));
  };

  function writeChunk(stream, chunk, encoding, cb) {
    const w = stream._writableState;
    if (typeof encoding === "function") {
      cb = encoding;
      encoding = w.defaultEncoding;
    } else {
      if (!encoding) encoding = w.defaultEncoding;
      else if (encoding !== "buffer" && !Buffer.isEncoding(encoding)) throw coded(TypeError, "ERR_UNKNOWN_ENCODING", `Unknown encoding: ${encoding}`);
      if (typeof cb !== "function") cb = noop;
    }
    if (chunk === null) throw coded(TypeError, "ERR_STREAM_NULL_VALUES", "May not write null values to stream");
    if (!w.objectMode) {
      if (typeof chunk === "string") {
        if (w.decodeStrings) {
          chunk = Buffer.from(chunk, encoding);
          encoding = "buffer";
        }
      } else if (isBytes(chunk)) {
        chunk = bufferOf(chunk);
        encoding = "buffer";
      } else {
        throw invalidChunk(chunk);
      }
    }
    let e;
    if (w.ending) e = error("ERR_STREAM_WRITE_AFTER_END", "write after end");
    else if (w.destroyed) e = destroyedError("write");
    if (e) {
      tick(cb, e);
      errorOrDestroy(stream, e, true);
      return e;
    }
    w.pendingcb++;
    const size = w.objectMode ? 1 : chunk.length;
    w.length += size;
    const room = w.length < w.highWaterMark;
    if (!room) w.needDrain = true;
    if (w.writing || w.corked || w.errored || !w.constructed) {
      w.buffered.push({ chunk, encoding, callback: cb });
    } else {
      handOver(stream, w, size, cb, () => stream._write(chunk, encoding, (er) => written(stream, er)));
    }
    return room && !w.errored && !w.destroyed;
  }

  function handOver(stream, w, size, cb, write) {
    w.writelen = size;
    w.writecb = cb;
    w.writing = true;
    w.sync = true;
    if (w.destroyed) written(stream, destroyedError("write"));
    else write();
    w.sync = false;
  }

  Writable.prototype.write = function (chunk, encoding, cb) { return writeChunk(this, chunk, encoding, cb) === true; };

  Writable.prototype.cork = function () { this._writableState.corked++; };

  Writable.prototype.uncork = function () {
    const w = this._writableState;
    if (w.corked) {
      w.corked--;
      if (!w.writing) clearBuffer(this, w);
    }
  };

  Writable.prototype.setDefaultEncoding = function (encoding) {
    if (typeof encoding === "string") encoding = encoding.toLowerCase();
    if (!Buffer.isEncoding(encoding)) throw coded(TypeError, "ERR_UNKNOWN_ENCODING", `Unknown encoding: ${encoding}`);
    this._writableState.defaultEncoding = encoding;
    return this;
  };

  // written is told that the sink is done with a chunk.
  function written(stream, e) {
    const w = stream._writableState;
    const { sync, writecb: cb } = w;
    if (typeof cb !== "function") {
      errorOrDestroy(stream, error("ERR_MULTIPLE_CALLBACK", "Callback called multiple times"));
      return;
    }
    w.writing = false;
    w.writecb = null;
    w.length -= w.writelen;
    w.writelen = 0;
    if (e) {
      markErrored(stream, e);
      const failed = () => {
        w.pendingcb--;
        cb(e);
        dropBuffer(w);
        errorOrDestroy(stream, e);
      };
      if (sync) tick(failed);
      else failed();
      return;
    }
    if (w.buffered.length > w.bufferedIndex) clearBuffer(stream, w);
    if (!sync) {
      afterWrite(stream, w, 1, cb);
    } else if (w.afterWrite !== null && w.afterWrite.cb === cb) {
      w.afterWrite.count++;
    } else {
      const info = w.afterWrite = { count: 1, cb };
      tick(() => {
        w.afterWrite = null;
        afterWrite(stream, w, info.count, info.cb);
      });
    }
  }

  function afterWrite(stream, w, count, cb) {
    if (!w.ending && !stream.destroyed && w.length === 0 && w.needDrain) {
      w.needDrain = false;
      stream.emit("drain");
    }
    while (count-- > 0) {
      w.pendingcb--;
      cb(null);
    }
    if (w.destroyed) dropBuffer(w);
    finishMaybe(stream, w);
  }

  // dropBuffer tells the writers of what will not be written.
  function dropBuffer(w) {
    if (w.writing) return;
    for (let i = w.bufferedIndex; i < w.buffered.length; i++) {
      const { chunk, callback } = w.buffered[i];
      w.length -= w.objectMode ? 1 : chunk.length;
      callback(w.errored ?? destroyedError("write"));
    }
    const waiting = w.onFinished;
    w.onFinished = [];
    for (const cb of waiting) cb(w.errored ?? destroyedError("end"));
    resetBuffer(w);
  }

  function resetBuffer(w) {
    w.buffered = [];
    w.bufferedIndex = 0;
  }

  function clearBuffer(stream, w) {
    if (w.corked || w.bufferProcessing || w.destroyed || !w.constructed) return;
    const { buffered, objectMode } = w;
    const count = buffered.length - w.bufferedIndex;
    if (count === 0) return;
    w.bufferProcessing = true;
    if (count > 1 && stream._writev) {
      w.pendingcb -= count - 1;
      const chunks = buffered.slice(w.bufferedIndex);
      const done = (e) => { for (const { callback } of chunks) callback(e); };
      const size = w.length;
      handOver(stream, w, size, done, () => stream._writev(chunks, (e) => written(stream, e)));
      resetBuffer(w);
    } else {
      do {
        const { chunk, encoding, callback } = buffered[w.bufferedIndex];
        buffered[w.bufferedIndex++] = null;
        handOver(stream, w, objectMode ? 1 : chunk.length, callback, () => stream._write(chunk, encoding, (e) => written(stream, e)));
      } while (w.bufferedIndex < buffered.length && !w.writing);
      if (w.bufferedIndex === buffered.length) {
        resetBuffer(w);
      } else if (w.bufferedIndex > 256) {
        w.buffered = buffered.slice(w.bufferedIndex);
        w.bufferedIndex = 0;
      }
    }
    w.bufferProcessing = false;
  }

  Writable.prototype._write = function (chunk, encoding, cb) {
    if (this._writev) this._writev([{ chunk, encoding }], cb);
    else throw unimplemented("_write()");
  };
  Writable.prototype._writev = null;

  Writable.prototype.end = function (chunk, encoding, cb) {
    const w = this._writableState;
    if (typeof chunk === "function") {
      cb = chunk;
      chunk = encoding = null;
    } else if (typeof encoding === "function") {
      cb = encoding;
      encoding = null;
    }
    let e;
    if (chunk !== null && chunk !== undefined) {
      const result = writeChunk(this, chunk, encoding);
      if (result instanceof Error) e = result;
    }
    if (w.corked) {
      w.corked = 1;
      this.uncork();
    }
    if (e === undefined) {
      if (!w.errored && !w.ending) {
        w.ending = true;
        finishMaybe(this, w, true);
        w.ended = true;
      } else if (w.finished) {
        e = error("ERR_STREAM_ALREADY_FINISHED", "Cannot call end after a stream was finished");
      } else if (w.destroyed) {
        e = destroyedError("end");
      }
    }
    if (typeof cb === "function") {
      if (e) tick(cb, e);
      else if (w.errored) tick(cb, w.errored);
      else if (w.finished) tick(cb);
      else w.onFinished.push(cb);
    }
    return this;
  };

  function canFinish(w) {
    return w.ending && !w.destroyed && w.constructed && w.length === 0 && !w.errored && w.buffered.length === 0 &&
      !w.finished && !w.writing && !w.errorEmitted && !w.closeEmitted;
  }

  function prefinish(stream, w) {
    if (w.prefinished || w.finalCalled) return;
    if (typeof stream._final !== "function" || w.destroyed) {
      w.prefinished = true;
      stream.emit("prefinish");
      return;
    }
    w.finalCalled = true;
    let called = false;
    const done = (e) => {
      if (called) {
        errorOrDestroy(stream, e ?? error("ERR_MULTIPLE_CALLBACK", "Callback called multiple times"));
        return;
      }
      called = true;
      w.pendingcb--;
      if (e) {
        const waiting = w.onFinished;
        w.onFinished = [];
        for (const cb of waiting) cb(e);
        errorOrDestroy(stream, e, w.sync);
      } else if (canFinish(w)) {
        w.prefinished = true;
        stream.emit("prefinish");
        w.pendingcb++;
        tick(finish, stream, w);
      }
    };
    w.sync = true;
    w.pendingcb++;
    try {
      stream._final(done);
    } catch (e) {
      done(e);
    }
    w.sync = false;
  }

  function finishMaybe(stream, w, sync) {
    if (!canFinish(w)) return;
    prefinish(stream, w);
    if (w.pendingcb !== 0) return;
    if (sync) {
      w.pendingcb++;
      tick(() => {
        if (canFinish(w)) finish(stream, w);
        else w.pendingcb--;
      });
    } else if (canFinish(w)) {
      w.pendingcb++;
      finish(stream, w);
    }
  }

  function finish(stream, w) {
    w.pendingcb--;
    w.finished = true;
    const waiting = w.onFinished;
    w.onFinished = [];
    for (const cb of waiting) cb(null);
    stream.emit("finish");
    if (w.autoDestroy) {
      const r = stream._readableState;
      if (!r || r.autoDestroy && (r.endEmitted || r.readable === false)) stream.destroy();
    }
  }

  Writable.prototype.destroy = function (e, cb) {
    const w = this._writableState;
    if (!w.destroyed && (w.bufferedIndex < w.buffered.length || w.onFinished.length)) tick(dropBuffer, w);
    destroy.call(this, e, cb);
    return this;
  };
  Writable.prototype._undestroy = function () {};
  Writable.prototype._destroy = function (e, cb) { cb(e); };
  Writable.prototype[kRejection] = function (e) { this.destroy(e); };

  const writableAccessors = {
    closed: [(o) => o._writableState ? o._writableState.closed : false],
    destroyed: [(o) => o._writableState ? o._writableState.destroyed : false, (o, v) => { if (o._writableState) o._writableState.destroyed = v; }],
    writable: [(o) => {
      const w = o._writableState;
      return !!w && w.writable !== false && !w.destroyed && !w.errored && !w.ending && !w.ended;
    }, (o, v) => { if (o._writableState) o._writableState.writable = !!v; }],
    writableFinished: [(o) => o._writableState ? o._writableState.finished : false],
    writableObjectMode: [(o) => o._writableState ? o._writableState.objectMode : false],
    writableBuffer: [(o) => o._writableState && o._writableState.buffered.slice(o._writableState.bufferedIndex)],
    writableEnded: [(o) => o._writableState ? o._writableState.ending : false],
    writableNeedDrain: [(o) => {
      const w = o._writableState;
      return !!w && !w.destroyed && !w.ending && w.needDrain;
    }],
    writableHighWaterMark: [(o) => o._writableState?.highWaterMark],
    writableCorked: [(o) => o._writableState ? o._writableState.corked : 0],
    writableLength: [(o) => o._writableState?.length],
    errored: [(o) => o._writableState ? o._writableState.errored : null],
    writableAborted: [(o) => !!(o._writableState.writable !== false && (o._writableState.destroyed || o._writableState.errored) && !o._writableState.finished)],
  };
  accessors(Writable, writableAccessors);

  // Duplex, Transform, PassThrough

  function Duplex(options) {
    if (!(this instanceof Duplex)) return new Duplex(options);
    Readable.call(this, options);
    Writable.call(this, options);
    this.allowHalfOpen = options?.allowHalfOpen !== false;
    if (options) {
      if (options.readable === false) {
        this._readableState.readable = false;
        this._readableState.ended = true;
        this._readableState.endEmitted = true;
      }
      if (options.writable === false) {
        this._writableState.writable = false;
        this._writableState.ending = true;
        this._writableState.ended = true;
        this._writableState.finished = true;
      }
    }
  }
  Object.setPrototypeOf(Duplex.prototype, Readable.prototype);
  Object.setPrototypeOf(Duplex, Readable);
  for (const name of Object.keys(Writable.prototype)) {
    if (!Duplex.prototype[name]) Duplex.prototype[name] = Writable.prototype[name];
  }
  Duplex.prototype.write = Writable.prototype.write;
  Duplex.prototype.destroy = Writable.prototype.destroy;
  accessors(Duplex, {
    ...writableAccessors,
    closed: [(o) => !!(o._readableState?.closed && o._writableState?.closed)],
    errored: [(o) => o._readableState?.errored ?? o._writableState?.errored ?? null],
    destroyed: [(o) => o._readableState === undefined || o._writableState === undefined ? false : o._readableState.destroyed && o._writableState.destroyed, (o, v) => {
      if (o._readableState && o._writableState) o._readableState.destroyed = o._writableState.destroyed = v;
    }],
  });

  function Transform(options) {
    if (!(this instanceof Transform)) return new Transform(options);
    const readableMark = options ? markOf(!!(options.readableObjectMode || options.objectMode), options, "readableHighWaterMark", true) : null;
    if (readableMark === 0) {
      options = { ...options, highWaterMark: null, readableHighWaterMark: readableMark, writableHighWaterMark: options.writableHighWaterMark || 0 };
    }
    Duplex.call(this, options);
    this._readableState.sync = false;
    this[kCallback] = null;
    if (options) {
      if (typeof options.transform === "function") this._transform = options.transform;
      if (typeof options.flush === "function") this._flush = options.flush;
    }
    this.on("prefinish", function () {
      if (this._final !== flush) flush.call(this);
    });
  }
  Object.setPrototypeOf(Transform.prototype, Duplex.prototype);
  Object.setPrototypeOf(Transform, Duplex);

  function flush(cb) {
    const end = (e, data) => {
      if (e) {
        if (cb) cb(e);
        else this.destroy(e);
        return;
      }
      if (data !== null && data !== undefined) this.push(data);
      this.push(null);
      if (cb) cb();
    };
    if (typeof this._flush === "function" && !this.destroyed) this._flush(end);
    else end();
  }
  Transform.prototype._final = flush;
  Transform.prototype._transform = function () { throw unimplemented("_transform()"); };
  Transform.prototype._write = function (chunk, encoding, cb) {
    const r = this._readableState;
    const w = this._writableState;
    const { length } = r;
    this._transform(chunk, encoding, (e, value) => {
      if (e) {
        cb(e);
        return;
      }
      if (value !== null && value !== undefined) this.push(value);
      if (w.ended || length === r.length || r.length < r.highWaterMark) cb();
      else this[kCallback] = cb;
    });
  };
  Transform.prototype._read = function () {
    const cb = this[kCallback];
    if (cb) {
      this[kCallback] = null;
      cb();
    }
  };

  function PassThrough(options) {
    if (!(this instanceof PassThrough)) return new PassThrough(options);
    Transform.call(this, options);
  }
  Object.setPrototypeOf(PassThrough.prototype, Transform.prototype);
  Object.setPrototypeOf(PassThrough, Transform);
  PassThrough.prototype._transform = function (chunk, encoding, cb) { cb(null, chunk); };

  // finished

  function eos(stream, options, callback) {
    if (typeof options === "function") {
      callback = options;
      options = {};
    } else if (options === null || options === undefined) {
      options = {};
    } else if (typeof options !== "object") {
      throw kit.invalidType("options", "of type object", options);
    }
    checkFunction(callback, "callback");
    checkSignal(options.signal);
    callback = once(callback);
    if (isReadableWeb(stream) || isWritableWeb(stream)) return eosWeb(stream, options, callback);
    if (!isNode(stream)) throw kit.invalidType("stream", "an instance of ReadableStream, WritableStream, or Stream", stream);
    const readable = options.readable ?? isReadableNode(stream);
    const writable = options.writable ?? isWritableNode(stream);
    const r = stream._readableState;
    const w = stream._writableState;
    // Whether close will come, by what the stream says of itself.
    const willClose = !!(w?.autoDestroy && w.emitClose && w.closed === false || r?.autoDestroy && r.emitClose && r.closed === false) &&
      isReadableNode(stream) === readable && isWritableNode(stream) === writable;
    let closes = willClose;
    let writableFinished = isWritableFinished(stream, false);
    let readableFinished = isReadableFinished(stream, false);
    const onfinish = () => {
      writableFinished = true;
      if (stream.destroyed) closes = false;
      if (closes && (!stream.readable || readable)) return;
      if (!readable || readableFinished) callback.call(stream);
    };
    const onend = () => {
      readableFinished = true;
      if (stream.destroyed) closes = false;
      if (closes && (!stream.writable || writable)) return;
      if (!writable || writableFinished) callback.call(stream);
    };
    const onerror = (e) => callback.call(stream, e);
    let closed = isClosed(stream);
    const onclose = () => {
      closed = true;
      const e = stream._writableState?.errored || stream._readableState?.errored;
      if (e && typeof e !== "boolean") return callback.call(stream, e);
      if (readable && !readableFinished && isReadableNode(stream, true) && !isReadableFinished(stream, false)) return callback.call(stream, premature());
      if (writable && !writableFinished && !isWritableFinished(stream, false)) return callback.call(stream, premature());
      callback.call(stream);
    };
    stream.on("end", onend);
    stream.on("finish", onfinish);
    if (options.error !== false) stream.on("error", onerror);
    stream.on("close", onclose);
    if (closed) tick(onclose);
    else if (w?.errorEmitted || r?.errorEmitted) {
      if (!closes) tick(onclose);
    } else if (!readable && (!closes || isReadable(stream)) && (writableFinished || isWritable(stream) === false)) {
      tick(onclose);
    } else if (!writable && (!closes || isWritable(stream)) && (readableFinished || isReadable(stream) === false)) {
      tick(onclose);
    }
    const cleanup = () => {
      callback = noop;
      stream.removeListener("end", onend);
      stream.removeListener("finish", onfinish);
      stream.removeListener("error", onerror);
      stream.removeListener("close", onclose);
    };
    if (options.signal && !closed) {
      const abort = () => {
        const end = callback;
        cleanup();
        end.call(stream, abortError(options.signal));
      };
      if (options.signal.aborted) {
        tick(abort);
      } else {
        const original = callback;
        options.signal.addEventListener("abort", abort);
        callback = once((...args) => {
          options.signal.removeEventListener("abort", abort);
          original.apply(stream, args);
        });
      }
    }
    return cleanup;
  }

  // A stream of the Web has the promise of its end under a symbol.
  const kClosed = Symbol.for("nodejs.webstream.isClosedPromise");

  function eosWeb(stream, options, callback) {
    let stopped = false;
    const done = (e) => { if (!stopped) tick(() => callback.call(stream, e)); };
    if (options.signal) {
      const abort = () => done(abortError(options.signal));
      if (options.signal.aborted) abort();
      else options.signal.addEventListener("abort", abort);
    }
    stream[kClosed].promise.then(() => done(), done);
    return () => { stopped = true; };
  }

  // addAbortSignal

  function addAbortSignal(signal, stream) {
    checkSignal(signal, "signal");
    if (!isNode(stream) && !isReadableWeb(stream) && !isWritableWeb(stream)) throw kit.invalidType("stream", "an instance of ReadableStream, WritableStream, or Stream", stream);
    const abort = isNode(stream)
      ? () => stream.destroy(abortError(signal))
      : () => (isReadableWeb(stream) ? stream.cancel(abortError(signal)) : stream.abort(abortError(signal))).then(noop, noop);
    if (signal.aborted) {
      abort();
    } else {
      signal.addEventListener("abort", abort);
      if (isNode(stream)) tick(() => eos(stream, () => signal.removeEventListener("abort", abort)));
    }
    return stream;
  }

  // from

  function from(Class, iterable, options) {
    if (typeof iterable === "string" || isBytes(iterable)) {
      return new Class({ objectMode: true, ...options, read() {
        this.push(iterable);
        this.push(null);
      } });
    }
    if (!isIterable(iterable)) throw kit.invalidType("iterable", "an instance of Iterable", iterable);
    const isAsync = typeof iterable[Symbol.asyncIterator] === "function";
    const it = isAsync ? iterable[Symbol.asyncIterator]() : iterable[Symbol.iterator]();
    const stream = new Class({ objectMode: true, highWaterMark: 1, ...options });
    let reading = false;
    stream._read = function () {
      if (!reading) {
        reading = true;
        next();
      }
    };
    stream._destroy = function (e, cb) {
      close(e).then(() => tick(cb, e), (other) => tick(cb, other || e));
    };
    async function close(e) {
      const hadError = e !== undefined && e !== null;
      if (hadError && typeof it.throw === "function") {
        const { value, done } = await it.throw(e);
        await value;
        if (done) return;
      }
      if (typeof it.return === "function") {
        const { value } = await it.return();
        await value;
      }
    }
    async function next() {
      for (;;) {
        try {
          const { value, done } = isAsync ? await it.next() : it.next();
          if (done) {
            stream.push(null);
          } else {
            const chunk = value && typeof value.then === "function" ? await value : value;
            if (chunk === null) {
              reading = false;
              throw coded(TypeError, "ERR_STREAM_NULL_VALUES", "May not write null values to stream");
            }
            if (stream.push(chunk)) continue;
            reading = false;
          }
        } catch (e) {
          stream.destroy(e);
        }
        break;
      }
    }
    return stream;
  }

  Readable.from = function (iterable, options) { return from(Readable, iterable, options); };
  Readable.wrap = function (src, options) {
    return new Readable({ objectMode: src.readableObjectMode ?? src.objectMode ?? true, ...options, destroy(e, cb) {
      destroyer(src, e);
      cb(e);
    } }).wrap(src);
  };
  Readable.ReadableState = ReadableState;
  Writable.WritableState = WritableState;

  // A Duplex of two ends

  function joined(readable, writable, options) {
    const d = new Duplex({
      readableObjectMode: !!readable?.readableObjectMode, writableObjectMode: !!writable?.writableObjectMode, ...options,
      readable: !!readable, writable: !!writable,
    });
    let onfinish;
    let ondrain;
    if (writable) {
      eos(writable, (e) => {
        if (e) destroyer(readable, e);
        const cb = onfinish;
        onfinish = undefined;
        if (cb) cb(e);
        else if (e) d.destroy(e);
      });
      d._write = (chunk, encoding, cb) => {
        if (writable.write(chunk, encoding)) cb();
        else ondrain = cb;
      };
      d._final = (cb) => {
        onfinish = cb;
        writable.end();
      };
      writable.on("drain", () => {
        const cb = ondrain;
        ondrain = undefined;
        if (cb) cb();
      });
    }
    if (readable) {
      let wake;
      eos(readable, (e) => {
        if (e) {
          destroyer(writable, e);
          d.destroy(e);
        }
      });
      readable.on("readable", () => {
        const fn = wake;
        wake = undefined;
        if (fn) fn();
      });
      readable.on("end", () => d.push(null));
      d._read = () => {
        for (;;) {
          const chunk = readable.read();
          if (chunk === null) {
            wake = d._read;
            return;
          }
          if (!d.push(chunk)) return;
        }
      };
    }
    d._destroy = (e, cb) => {
      onfinish = undefined;
      destroyer(writable, e);
      destroyer(readable, e);
      cb(e);
    };
    return d;
  }

  // fromFunction is a Duplex whose written chunks are what fn iterates over.
  function fromFunction(fn) {
    let wake = noop;
    const pending = [];
    const ac = new AbortController();
    const input = iterator({
      async next() {
        while (pending.length === 0) await new Promise((resolve) => { wake = resolve; });
        const { chunk, done, cb } = pending.shift();
        tick(cb);
        if (ac.signal.aborted) throw abortError(ac.signal);
        return done ? { value: undefined, done: true } : { value: chunk, done: false };
      },
      async finish() {},
    });
    const give = (entry) => {
      pending.push(entry);
      wake();
    };
    const sink = {
      write(chunk, encoding, cb) { give({ chunk, done: false, cb }); },
      final(cb) { give({ done: true, cb }); },
    };
    const result = fn(input, { signal: ac.signal });
    if (isIterable(result)) return from(Duplex, result, { objectMode: true, ...sink });
    if (typeof result?.then !== "function") throw coded(TypeError, "ERR_INVALID_RETURN_VALUE", "Expected Iterable, AsyncIterable or AsyncFunction to be returned from the \"body\" function");
    const d = new Duplex({ objectMode: true, readable: false, ...sink, final(cb) {
      give({ done: true, cb: noop });
      result.then((v) => {
        if (v !== null && v !== undefined) throw coded(TypeError, "ERR_INVALID_RETURN_VALUE", "Expected nully to be returned from the \"body\" function");
        tick(cb, null);
      }).catch((e) => tick(cb, e));
    } });
    result.then(undefined, (e) => destroyer(d, e));
    return d;
  }

  Duplex.from = function (body) {
    if (body instanceof Duplex) return body;
    if (isReadableNode(body)) return joined(body, undefined);
    if (isWritableNode(body)) return joined(undefined, body);
    if (isReadableWeb(body)) return joined(Readable.fromWeb(body), undefined);
    if (isWritableWeb(body)) return joined(undefined, Writable.fromWeb(body));
    if (typeof body === "function") return fromFunction(body);
    if (isWeb(body, "Blob")) return Duplex.from(body.stream());
    if (isIterable(body) || typeof body === "string") return from(Duplex, body, { objectMode: true, writable: false });
    if (body !== null && typeof body === "object") {
      if (isReadableWeb(body.readable) && isWritableWeb(body.writable)) return Duplex.fromWeb(body);
      if (typeof body.writable === "object" || typeof body.readable === "object") {
        const side = (o, isEnd) => o === undefined ? undefined : isEnd(o) ? o : Duplex.from(o);
        return joined(side(body.readable, isReadableNode), side(body.writable, isWritableNode));
      }
      if (typeof body.then === "function") {
        const d = new Duplex({ objectMode: true, writable: false, read() {} });
        body.then((v) => {
          if (v !== null && v !== undefined) d.push(v);
          d.push(null);
        }, (e) => destroyer(d, e));
        return d;
      }
    }
    throw kit.invalidType("body", "of type function or an instance of Blob, ReadableStream, WritableStream, Stream, Iterable, AsyncIterable, or Promise or { readable, writable } pair", body);
  };

  // pipeline

  function pipeline(...streams) {
    const callback = streams.pop();
    checkFunction(callback, "streams[stream.length - 1]");
    return connect(streams, once(callback));
  }

  // outputOf is what can be read from a part of a pipeline.
  const outputOf = (part) => isTransformWeb(part) ? part.readable : part;

  function connect(streams, callback, options = {}) {
    if (streams.length === 1 && Array.isArray(streams[0])) streams = streams[0];
    if (streams.length < 2) throw coded(TypeError, "ERR_MISSING_ARGS", 'The "streams" argument must be specified');
    checkSignal(options.signal);
    const ac = new AbortController();
    const last = streams.length - 1;
    let failure;
    let value;
    let running = 0;
    const destroys = [];
    const finishOne = (e, final) => {
      if (e && (!failure || failure.code === "ERR_STREAM_PREMATURE_CLOSE")) failure = e;
      if (!failure && !final) return;
      while (destroys.length > 0) destroys.shift()(failure);
      options.signal?.removeEventListener("abort", abort);
      ac.abort();
      if (final) {
        if (!failure) lastCleanup.forEach((fn) => fn());
        tick(callback, failure, value);
      }
    };
    const finish = (e) => finishOne(e, --running === 0);
    const abort = () => finishOne(abortError(options.signal), false);
    const lastCleanup = [];
    if (options.signal) {
      if (options.signal.aborted) tick(abort);
      else options.signal.addEventListener("abort", abort);
    }
    // guard destroys a stream when the pipeline fails.
    const guard = (stream, reading, writing) => {
      let done = false;
      stream.on("close", () => { done = true; });
      eos(stream, { readable: reading, writable: writing }, (e) => { done = !e; });
      destroys.push((e) => {
        if (done) return;
        done = true;
        destroyer(stream, e || error("ERR_STREAM_DESTROYED", "Cannot call pipe after a stream was destroyed"));
      });
    };
    let ret;
    streams.forEach((stream, i) => {
      const reading = i < last;
      const writing = i > 0;
      // Standard output stays open, for whatever is written next.
      const end = (reading || options.end !== false) && !isStdio(stream);
      if (isNode(stream)) {
        if (end) guard(stream, reading, writing);
        // An error that comes after the end of the pipeline has nobody else to go to.
        const onerror = (e) => { if (e && e.name !== "AbortError" && e.code !== "ERR_STREAM_PREMATURE_CLOSE") finishOne(e, false); };
        stream.on("error", onerror);
        if (isReadable(stream) && i === last) lastCleanup.push(() => stream.removeListener("error", onerror));
      }
      if (i === 0) {
        if (typeof stream === "function") {
          ret = stream({ signal: ac.signal });
          if (!isIterable(ret)) throw coded(TypeError, "ERR_INVALID_RETURN_VALUE", "Expected Iterable, AsyncIterable or Stream to be returned from the \"source\" function");
        } else if (isIterable(stream) || isReadableNode(stream) || isTransformWeb(stream)) {
          ret = stream;
        } else {
          ret = Duplex.from(stream);
        }
        return;
      }
      if (typeof stream === "function") {
        ret = stream(outputOf(ret), { signal: ac.signal });
        if (reading) {
          if (!isIterable(ret)) throw coded(TypeError, "ERR_INVALID_RETURN_VALUE", `Expected AsyncIterable to be returned from the "transform[${i - 1}]" function`);
          return;
        }
        if (isIterable(ret)) {
          const through = new PassThrough({ objectMode: true });
          running++;
          pumpTo(ret, through, finish, { end: true });
          ret = through;
          guard(through, false, true);
          return;
        }
        if (typeof ret?.then !== "function") throw coded(TypeError, "ERR_INVALID_RETURN_VALUE", `Expected AsyncIterable or Promise to be returned from the "destination" function`);
        const through = new PassThrough({ objectMode: true });
        running++;
        ret.then((v) => {
          value = v;
          if (v !== null && v !== undefined) through.write(v);
          if (end) through.end();
          tick(finish);
        }, (e) => {
          through.destroy(e);
          tick(finish, e);
        });
        ret = through;
        guard(through, false, true);
        return;
      }
      if (isNode(stream)) {
        if (isReadableNode(ret)) {
          running += 2;
          pipeTo(ret, stream, finish, { end });
        } else {
          running++;
          pumpTo(outputOf(ret), stream, finish, { end });
        }
        ret = stream;
        return;
      }
      if (isTransformWeb(stream) || isWritableWeb(stream)) {
        running++;
        const sink = isWritableWeb(stream) ? stream : stream.writable;
        pumpToWeb(outputOf(ret), sink, finish, { end });
        ret = stream;
        return;
      }
      const next = Duplex.from(stream);
      running++;
      pumpTo(outputOf(ret), next, finish, { end });
      ret = next;
    });
    return ret;
  }

  // pipeTo pipes one stream of Node into another, and reports the end of both.
  function pipeTo(source, dest, finish, { end }) {
    let ended = false;
    dest.on("close", () => { if (!ended) finish(premature()); });
    source.pipe(dest, { end: false });
    if (end) {
      const endDest = () => {
        ended = true;
        dest.end();
      };
      if (isReadableFinished(source)) tick(endDest);
      else source.once("end", endDest);
    } else {
      finish();
    }
    eos(source, { readable: true, writable: false }, (e) => {
      const r = source._readableState;
      if (e && e.code === "ERR_STREAM_PREMATURE_CLOSE" && r && r.ended && !r.errored && !r.errorEmitted) {
        source.once("end", finish).once("error", finish);
      } else {
        finish(e);
      }
    });
    eos(dest, { readable: false, writable: true }, finish);
  }

  // pumpTo writes what an iterable yields to a stream of Node.
  async function pumpTo(iterable, dest, finish, { end }) {
    let failure;
    let resume = null;
    const wake = (e) => {
      if (e) failure = e;
      const fn = resume;
      resume = null;
      if (fn) fn();
    };
    const room = () => new Promise((resolve, reject) => {
      if (failure) {
        reject(failure);
        return;
      }
      resume = () => failure ? reject(failure) : resolve();
    });
    dest.on("drain", wake);
    const cleanup = eos(dest, { readable: false }, wake);
    try {
      if (dest.writableNeedDrain) await room();
      await each(iterable, async (chunk) => {
        if (!dest.write(chunk)) await room();
      });
      if (end) {
        dest.end();
        await room();
      }
      finish();
    } catch (e) {
      finish(failure && failure !== e && e?.name === "AbortError" ? failure : e);
    } finally {
      cleanup();
      dest.off("drain", wake);
    }
  }

  async function pumpToWeb(iterable, sink, finish, { end }) {
    const writer = sink.getWriter();
    try {
      await each(iterable, async (chunk) => {
        await writer.ready;
        writer.write(chunk).catch(noop);
      });
      await writer.ready;
      if (end) await writer.close();
      finish();
    } catch (e) {
      try {
        await writer.abort(e);
        finish(e);
      } catch (other) {
        finish(other);
      }
    }
  }

  // each is for await: it closes the iterator if fn throws.
  async function each(iterable, fn) {
    const isAsync = typeof iterable[Symbol.asyncIterator] === "function";
    const it = isAsync ? iterable[Symbol.asyncIterator]() : iterable[Symbol.iterator]();
    for (;;) {
      const { value, done } = await it.next();
      if (done) return;
      try {
        if (await fn(isAsync ? value : await value) === stop) break;
      } catch (e) {
        try {
          await it.return?.();
        } catch {
          // the first error counts
        }
        throw e;
      }
    }
    await it.return?.();
  }
  const stop = {};

  // compose makes one Duplex of several streams.
  function compose(...streams) {
    if (streams.length === 0) throw coded(TypeError, "ERR_MISSING_ARGS", 'The "streams" argument must be specified');
    const all = streams.map((s, i) => isNode(s) ? s : typeof s === "function" || isTransformWeb(s) || i < streams.length ? Duplex.from(s) : s);
    if (all.length === 1) return all[0];
    const head = all[0];
    const tail = all[all.length - 1];
    const d = joined(isReadableNode(tail) && isReadable(tail) !== false ? tail : undefined, isWritableNode(head) && isWritable(head) !== false ? head : undefined);
    connect(all, (e) => { if (e) d.destroy(e); });
    return d;
  }

  // Promises

  const promises = {
    finished: function finished(stream, options) {
      let cleaning = false;
      if (options?.cleanup !== undefined) {
        if (typeof options.cleanup !== "boolean") throw kit.invalidType("cleanup", "of type boolean", options.cleanup);
        cleaning = options.cleanup;
      }
      return new Promise((resolve, reject) => {
        const cleanup = eos(stream, options, (e) => {
          if (cleaning) cleanup();
          if (e) reject(e);
          else resolve();
        });
      });
    },
    pipeline: function pipeline(...streams) {
      return new Promise((resolve, reject) => {
        let options;
        const last = streams[streams.length - 1];
        if (last !== null && typeof last === "object" && !isNode(last) && !isIterable(last) && !isReadableWeb(last) && !isWritableWeb(last) && !isTransformWeb(last)) {
          options = streams.pop();
        }
        connect(streams, (e, value) => {
          if (e) reject(e);
          else resolve(value);
        }, options);
      });
    },
  };
  Object.defineProperty(promises.finished, "length", { value: 2 });

  // Operators

  // derived is a stream of what step makes of the chunks of another. step(chunk, index)
  // returns what is to be pushed, stop, or skip.
  const skip = {};

  function operator(name, fn) {
    hidden(Readable.prototype, name, fn);
    Object.defineProperty(fn, "name", { value: name });
  }

  function operatorOptions(options) {
    if (options !== undefined && options !== null && typeof options !== "object") throw kit.invalidType("options", "of type object", options);
    checkSignal(options?.signal);
    const concurrency = options?.concurrency === undefined ? 1 : Math.floor(options.concurrency);
    if (!(concurrency >= 1)) throw coded(RangeError, "ERR_OUT_OF_RANGE", `The value of "concurrency" is out of range. It must be >= 1. Received ${String(options.concurrency)}`);
    return { signal: options?.signal, concurrency };
  }

  // mapped iterates over what fn makes of chunks, up to concurrency of them at a time.
  function mapped(stream, fn, options) {
    const { signal, concurrency } = operatorOptions(options);
    const ac = new AbortController();
    const inner = signal === undefined ? ac.signal : AbortSignal.any([signal, ac.signal]);
    const source = chunksOf(stream);
    const running = [];
    let ended = false;
    const start = async () => {
      if (inner.aborted) throw abortError(inner);
      const { value, done } = await source.next();
      if (done) {
        ended = true;
        return skip;
      }
      return fn(value, { signal: inner });
    };
    return iterator({
      async next() {
        for (;;) {
          if (signal?.aborted) throw abortError(signal);
          while (!ended && running.length < concurrency) {
            const p = start();
            p.catch(noop);
            running.push(p);
          }
          if (running.length === 0) return { value: undefined, done: true };
          let value;
          try {
            value = await running.shift();
          } catch (e) {
            ac.abort();
            destroyer(stream, e);
            throw e;
          }
          if (value !== skip) return { value, done: false };
          if (ended && running.length === 0) return { value: undefined, done: true };
        }
      },
      async finish() {
        ac.abort();
        await source.return();
      },
    });
  }

  const derive = (iterable) => Readable.from(iterable, { objectMode: true });

  operator("map", function (fn, options) {
    checkFunction(fn, "fn");
    return derive(mapped(this, fn, options));
  });
  operator("filter", function (fn, options) {
    checkFunction(fn, "fn");
    return derive(mapped(this, async (v, o) => await fn(v, o) ? v : skip, options));
  });
  operator("forEach", async function (fn, options) {
    checkFunction(fn, "fn");
    await each(mapped(this, async (v, o) => { await fn(v, o); }, options), noop);
  });
  operator("toArray", async function (options) {
    const { signal } = operatorOptions(options);
    const list = [];
    await each(chunksOf(this), async (v) => {
      if (signal?.aborted) throw abortError(signal);
      list.push(v);
    });
    return list;
  });
  operator("find", async function (fn, options) {
    checkFunction(fn, "fn");
    let found;
    await each(mapped(this, async (v, o) => await fn(v, o) ? v : skip, options), async (v) => {
      found = v;
      return stop;
    });
    return found;
  });
  operator("some", async function (fn, options) {
    checkFunction(fn, "fn");
    let found = false;
    await each(mapped(this, async (v, o) => await fn(v, o) ? true : skip, options), async () => {
      found = true;
      return stop;
    });
    return found;
  });
  operator("every", async function (fn, options) {
    checkFunction(fn, "fn");
    let all = true;
    await each(mapped(this, async (v, o) => await fn(v, o) ? skip : false, options), async () => {
      all = false;
      return stop;
    });
    return all;
  });
  operator("flatMap", function (fn, options) {
    checkFunction(fn, "fn");
    const outer = mapped(this, fn, options);
    let inner;
    return derive(iterator({
      async next() {
        for (;;) {
          if (inner !== undefined) {
            const { value, done } = await inner.next();
            if (!done) return { value: await value, done: false };
            inner = undefined;
          }
          const { value, done } = await outer.next();
          if (done) return { value: undefined, done: true };
          if (!isIterable(value)) throw kit.invalidType("iterable", "an instance of Iterable", value);
          inner = value[Symbol.asyncIterator]?.() ?? value[Symbol.iterator]();
        }
      },
      async finish() { await outer.return(); },
    }));
  });

  function checkCount(n) {
    n = Number(n);
    if (isNaN(n)) return 0;
    if (n < 0) throw coded(RangeError, "ERR_OUT_OF_RANGE", `The value of "number" is out of range. It must be >= 0. Received ${n}`);
    return n;
  }

  operator("drop", function (count, options) {
    const { signal } = operatorOptions(options);
    let n = checkCount(count);
    const source = chunksOf(this);
    return derive(iterator({
      async next() {
        for (;;) {
          if (signal?.aborted) throw abortError(signal);
          const result = await source.next();
          if (result.done || n-- <= 0) return result;
        }
      },
      async finish() { await source.return(); },
    }));
  });
  operator("take", function (count, options) {
    const { signal } = operatorOptions(options);
    let n = checkCount(count);
    const source = chunksOf(this);
    return derive(iterator({
      async next() {
        if (signal?.aborted) throw abortError(signal);
        if (n-- > 0) {
          const result = await source.next();
          if (!result.done) return result;
        }
        await source.return();
        return { value: undefined, done: true };
      },
      async finish() { await source.return(); },
    }));
  });
  operator("asIndexedPairs", function (options) {
    let i = 0;
    return derive(mapped(this, (v) => [i++, v], options));
  });
  operator("reduce", async function (fn, ...rest) {
    checkFunction(fn, "reducer");
    const [initial, options] = rest;
    const { signal } = operatorOptions(options);
    let has = rest.length > 0;
    let result = initial;
    await each(chunksOf(this), async (v) => {
      if (signal?.aborted) throw abortError(signal);
      if (has) {
        result = await fn(result, v, { signal });
      } else {
        has = true;
        result = v;
      }
    });
    if (!has) {
      throw coded(TypeError, "ERR_MISSING_ARGS", "Reduce of an empty stream requires an initial value");
    }
    return result;
  });
  operator("compose", function (stream, options) {
    const composed = compose(this, stream);
    if (options?.signal) addAbortSignal(options.signal, composed);
    return composed;
  });

  // Streams of the Web

  Readable.fromWeb = function (stream, options = {}) {
    if (!isReadableWeb(stream)) throw kit.invalidType("readableStream", "an instance of ReadableStream", stream);
    const { encoding, highWaterMark, objectMode = false, signal } = options;
    const reader = stream.getReader();
    let closed = false;
    const readable = new Readable({ objectMode, encoding, highWaterMark, signal, read() {
      reader.read().then(({ done, value }) => {
        readable.push(done ? null : value);
      }, (e) => destroyer(readable, e));
    }, destroy(e, cb) {
      const done = () => tick(cb, e);
      if (closed) done();
      else reader.cancel(e ?? undefined).then(done, done);
    } });
    reader.closed.then(() => { closed = true; }, (e) => {
      closed = true;
      destroyer(readable, e);
    });
    return readable;
  };

  Readable.toWeb = function (stream, options = {}) {
    if (!isReadableNode(stream)) throw kit.invalidType("streamReadable", "an stream.Readable", stream);
    const objectMode = stream.readableObjectMode;
    if (isDestroyed(stream) || isReadable(stream) === false) {
      const empty = new ReadableStream();
      empty.cancel();
      return empty;
    }
    const mark = stream.readableHighWaterMark;
    const strategy = options?.strategy ?? (objectMode ? new CountQueuingStrategy({ highWaterMark: mark }) : { highWaterMark: mark });
    let controller;
    let ended = false;
    stream.pause();
    const cleanup = eos(stream, { writable: false }, (e) => {
      if (e?.code === "ERR_STREAM_PREMATURE_CLOSE") e = abortError();
      cleanup();
      stream.on("error", noop);
      if (ended) return;
      ended = true;
      if (e) controller.error(e);
      else controller.close();
    });
    stream.on("data", (chunk) => {
      if (ended) return;
      if (Buffer.isBuffer(chunk) && !objectMode) chunk = new Uint8Array(chunk);
      controller.enqueue(chunk);
      if (controller.desiredSize <= 0) stream.pause();
    });
    return new ReadableStream({
      start(c) { controller = c; stream.pause(); },
      pull() { stream.resume(); },
      cancel(reason) {
        ended = true;
        destroyer(stream, reason ?? null);
      },
    }, strategy);
  };

  Writable.fromWeb = function (stream, options = {}) {
    if (!isWritableWeb(stream)) throw kit.invalidType("writableStream", "an instance of WritableStream", stream);
    const { highWaterMark, decodeStrings = true, objectMode = false, signal } = options;
    const writer = stream.getWriter();
    let closed = false;
    const writable = new Writable({ highWaterMark, objectMode, decodeStrings, signal, write(chunk, encoding, cb) {
      writer.ready.then(() => writer.write(chunk)).then(() => tick(cb), (e) => tick(cb, e));
    }, destroy(e, cb) {
      const done = () => tick(cb, e);
      if (closed) done();
      else if (e !== null && e !== undefined) writer.abort(e).then(done, done);
      else writer.close().then(done, done);
    }, final(cb) {
      if (closed) tick(cb);
      else writer.close().then(() => tick(cb), (e) => tick(cb, e));
    } });
    writer.closed.then(() => {
      closed = true;
      if (!isWritableEnded(writable)) destroyer(writable, premature());
    }, (e) => {
      closed = true;
      destroyer(writable, e);
    });
    return writable;
  };

  Writable.toWeb = function (stream) {
    if (!isWritableNode(stream)) throw kit.invalidType("streamWritable", "an stream.Writable", stream);
    if (isDestroyed(stream) || isWritable(stream) === false) {
      const shut = new WritableStream();
      shut.close();
      return shut;
    }
    const mark = stream.writableHighWaterMark;
    const strategy = stream.writableObjectMode ? new CountQueuingStrategy({ highWaterMark: mark }) : { highWaterMark: mark };
    let controller;
    let full;
    let closing;
    stream.on("drain", () => {
      full?.resolve();
      full = undefined;
    });
    const wait = () => {
      const d = {};
      d.promise = new Promise((resolve, reject) => {
        d.resolve = resolve;
        d.reject = reject;
      });
      d.promise.catch(noop);
      return d;
    };
    const cleanup = eos(stream, { readable: false }, (e) => {
      if (e?.code === "ERR_STREAM_PREMATURE_CLOSE") e = abortError();
      cleanup();
      stream.on("error", noop);
      if (e) {
        full?.reject(e);
        closing?.reject(e);
        controller.error(e);
      } else {
        full?.resolve();
        if (closing) closing.resolve();
        else controller.error(abortError());
      }
    });
    return new WritableStream({
      start(c) { controller = c; },
      write(chunk) {
        if (stream.writableNeedDrain || !stream.write(chunk)) {
          full = wait();
          return full.promise;
        }
      },
      abort(reason) { destroyer(stream, reason ?? null); },
      close() {
        if (isWritableFinished(stream)) return undefined;
        closing = wait();
        stream.end();
        return closing.promise;
      },
    }, strategy);
  };

  Duplex.fromWeb = function (pair, options = {}) {
    if (!isTransformWeb(pair) && !(isReadableWeb(pair?.readable) && isWritableWeb(pair?.writable))) throw kit.invalidType("pair", "of type object", pair);
    return joined(Readable.fromWeb(pair.readable, options), Writable.fromWeb(pair.writable, options), { readableObjectMode: !!options.objectMode, writableObjectMode: !!options.objectMode });
  };

  Duplex.toWeb = function (duplex) {
    if (!isReadableNode(duplex) && !isWritableNode(duplex)) throw kit.invalidType("duplex", "an stream.Duplex", duplex);
    return { readable: Readable.toWeb(duplex), writable: Writable.toWeb(duplex) };
  };

  function finished(stream, options, callback) { return eos(stream, options, callback); }

  const promisify = Symbol.for("nodejs.util.promisify.custom");
  hidden(pipeline, promisify, promises.pipeline);
  hidden(finished, promisify, promises.finished);

  Object.assign(Stream, {
    isDestroyed, isDisturbed, isErrored, isReadable, isWritable, Readable, Writable, Duplex, Transform, PassThrough, pipeline, addAbortSignal,
    finished, destroy: destroyer, compose, setDefaultHighWaterMark, getDefaultHighWaterMark,
  });
  Object.defineProperty(Stream, "promises", { value: promises, enumerable: true, configurable: true });
  Stream.Stream = Stream;
  hidden(Stream, "_isUint8Array", isBytes);
  hidden(Stream, "_uint8ArrayToBuffer", bufferOf);
  return Stream;
})
