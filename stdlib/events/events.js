(function (native, kit) {
  const { ownKeys, apply } = Reflect;
  const kCapture = Symbol("kCapture");
  const kShape = Symbol("shapeMode");
  const errorMonitor = Symbol("events.errorMonitor");
  const captureRejectionSymbol = Symbol.for("nodejs.rejection");

  let defaultMaxListeners = 10;
  let captureRejections = false;

  // Listeners of one event are kept as one function, or as an array that is replaced
  // and never changed, so that emit can walk it while listeners come and go.

  function EventEmitter(options) {
    EventEmitter.init.call(this, options);
  }

  function init(options) {
    if (this._events === undefined || this._events === Object.getPrototypeOf(this)._events) {
      this._events = { __proto__: null };
      this._eventsCount = 0;
    }
    this._maxListeners = this._maxListeners || undefined;
    this[kShape] = false;
    if (options && options.captureRejections) {
      if (typeof options.captureRejections !== "boolean") {
        throw kit.invalidType("options.captureRejections", "of type boolean", options.captureRejections);
      }
      this[kCapture] = options.captureRejections;
    } else {
      this[kCapture] = captureRejections;
    }
  }

  function checkListener(listener) {
    if (typeof listener !== "function") throw kit.invalidType("listener", "of type function", listener);
  }

  function checkCount(n, name) {
    if (typeof n !== "number") throw kit.invalidType(name, "of type number", n);
    if (!(n >= 0)) {
      throw kit.coded(RangeError, "ERR_OUT_OF_RANGE", `The value of "${name}" is out of range. It must be >= 0. Received ${native.inspect(n)}`);
    }
  }

  function limitOf(emitter) {
    return emitter._maxListeners === undefined ? defaultMaxListeners : emitter._maxListeners;
  }

  function add(emitter, type, listener, first) {
    checkListener(listener);
    let events = emitter._events;
    if (events === undefined) {
      events = emitter._events = { __proto__: null };
      emitter._eventsCount = 0;
    } else if (events.newListener !== undefined) {
      emitter.emit("newListener", type, listener.listener === undefined ? listener : listener.listener);
      events = emitter._events;
    }
    const present = events[type];
    if (present === undefined) {
      events[type] = listener;
      emitter._eventsCount++;
      return emitter;
    }
    let list;
    if (typeof present === "function") {
      list = first ? [listener, present] : [present, listener];
    } else {
      list = first ? [listener, ...present] : [...present, listener];
      if (present.warned) warned(list);
    }
    events[type] = list;
    const limit = limitOf(emitter);
    if (limit > 0 && list.length > limit && !list.warned) {
      warned(list);
      const name = typeof type === "symbol" ? type.toString() : String(type);
      const w = new Error(
        `Possible EventEmitter memory leak detected. ${list.length} ${name} listeners added to ${native.inspect(emitter, { depth: -1 })}. ` +
        `MaxListeners is ${limit}. Use emitter.setMaxListeners() to increase limit`);
      w.name = "MaxListenersExceededWarning";
      w.emitter = emitter;
      w.type = type;
      w.count = list.length;
      native.warn(w);
    }
    return emitter;
  }

  function warned(list) {
    Object.defineProperty(list, "warned", { value: true, enumerable: false, configurable: true, writable: true });
  }

  function single(emitter, type, listener) {
    const state = { fired: false, wrapped: undefined };
    const wrapped = function () {
      if (state.fired) return undefined;
      emitter.removeListener(type, wrapped);
      state.fired = true;
      return apply(listener, emitter, arguments);
    };
    Object.defineProperty(wrapped, "name", { value: "bound onceWrapper", configurable: true });
    wrapped.listener = listener;
    return wrapped;
  }

  function matches(candidate, listener) {
    return candidate === listener || candidate.listener === listener;
  }

  // rejected handles the promise that a listener returned, if the emitter captures.
  function watch(emitter, result, type, args) {
    if (result === undefined || result === null || typeof result.then !== "function") return;
    const then = result.then;
    apply(then, result, [undefined, (reason) => {
      native.tick(() => {
        if (typeof emitter[captureRejectionSymbol] === "function") {
          emitter[captureRejectionSymbol](reason, type, ...args);
          return;
        }
        const before = emitter[kCapture];
        try {
          emitter[kCapture] = false;
          emitter.emit("error", reason);
        } finally {
          emitter[kCapture] = before;
        }
      });
    }]);
  }

  function unhandled(emitter, args) {
    const [reason] = args;
    if (reason instanceof Error) return reason;
    let shown;
    try {
      shown = native.inspect(reason);
    } catch {
      shown = reason;
    }
    const e = kit.coded(Error, "ERR_UNHANDLED_ERROR", `Unhandled error. (${shown})`);
    e.context = reason;
    return e;
  }

  const methods = {
    setMaxListeners(n) {
      checkCount(n, "setMaxListeners");
      this._maxListeners = n;
      return this;
    },
    getMaxListeners() {
      return limitOf(this);
    },
    emit(type, ...args) {
      const events = this._events;
      if (type === "error") {
        if (events !== undefined && events[errorMonitor] !== undefined) this.emit(errorMonitor, ...args);
        if (events === undefined || events.error === undefined) throw unhandled(this, args);
      }
      const handler = events === undefined ? undefined : events[type];
      if (handler === undefined) return false;
      const capture = this[kCapture] === true;
      if (typeof handler === "function") {
        const result = apply(handler, this, args);
        if (capture) watch(this, result, type, args);
        return true;
      }
      for (let i = 0; i < handler.length; i++) {
        const result = apply(handler[i], this, args);
        if (capture) watch(this, result, type, args);
      }
      return true;
    },
    addListener(type, listener) {
      return add(this, type, listener, false);
    },
    on: undefined,
    prependListener(type, listener) {
      return add(this, type, listener, true);
    },
    once(type, listener) {
      checkListener(listener);
      return this.on(type, single(this, type, listener));
    },
    prependOnceListener(type, listener) {
      checkListener(listener);
      return this.prependListener(type, single(this, type, listener));
    },
    removeListener(type, listener) {
      checkListener(listener);
      const events = this._events;
      const list = events === undefined ? undefined : events[type];
      if (list === undefined) return this;
      let removed;
      if (typeof list === "function") {
        if (!matches(list, listener)) return this;
        removed = list;
        forget(this, type);
      } else {
        let at = list.length - 1;
        while (at >= 0 && !matches(list[at], listener)) at--;
        if (at < 0) return this;
        removed = list[at];
        const rest = list.filter((_, i) => i !== at);
        if (list.warned) warned(rest);
        events[type] = rest.length === 1 ? rest[0] : rest;
      }
      if (events.removeListener !== undefined) this.emit("removeListener", type, removed.listener || listener);
      return this;
    },
    off: undefined,
    removeAllListeners(type) {
      const events = this._events;
      if (events === undefined) return this;
      if (events.removeListener === undefined) {
        if (arguments.length === 0) {
          this._events = { __proto__: null };
          this._eventsCount = 0;
        } else if (events[type] !== undefined) {
          forget(this, type);
        }
        return this;
      }
      if (arguments.length === 0) {
        for (const key of ownKeys(events)) {
          if (key !== "removeListener") this.removeAllListeners(key);
        }
        this.removeAllListeners("removeListener");
        this._events = { __proto__: null };
        this._eventsCount = 0;
        return this;
      }
      const list = events[type];
      if (typeof list === "function") {
        this.removeListener(type, list);
      } else if (list !== undefined) {
        for (let i = list.length - 1; i >= 0; i--) this.removeListener(type, list[i]);
      }
      return this;
    },
    listeners(type) {
      return rawListeners(this, type).map((l) => l.listener || l);
    },
    rawListeners(type) {
      return rawListeners(this, type);
    },
    listenerCount(type, listener) {
      const list = rawListeners(this, type);
      if (listener === undefined || listener === null) return list.length;
      return list.filter((l) => matches(l, listener)).length;
    },
    eventNames() {
      return this._eventsCount > 0 ? ownKeys(this._events) : [];
    },
  };

  function forget(emitter, type) {
    if (--emitter._eventsCount === 0) emitter._events = { __proto__: null, ...rest(emitter._events, type) };
    else delete emitter._events[type];
  }

  // rest is empty unless the script changed _events itself.
  function rest(events, type) {
    const { [type]: _, ...others } = events;
    return others;
  }

  function rawListeners(emitter, type) {
    const events = emitter._events;
    const list = events === undefined ? undefined : events[type];
    if (list === undefined) return [];
    return typeof list === "function" ? [list] : [...list];
  }

  methods.on = methods.addListener;
  methods.off = methods.removeListener;
  const prototype = EventEmitter.prototype;
  prototype._events = undefined;
  prototype._eventsCount = 0;
  prototype._maxListeners = undefined;
  // Methods of an object literal cannot be called with new; those of a function can, and
  // nothing depends on it.
  for (const name of Object.keys(methods)) prototype[name] = methods[name];
  Object.defineProperty(prototype, kCapture, { value: false, writable: true, enumerable: false });

  // What waits and iterates.

  function abortError(signal) {
    const e = new Error("The operation was aborted", { cause: signal.reason });
    e.name = "AbortError";
    e.code = "ABORT_ERR";
    return e;
  }

  function checkSignal(signal, name) {
    if (signal !== undefined && (signal === null || typeof signal !== "object" || !("aborted" in signal))) {
      throw kit.invalidType(name, "an instance of AbortSignal", signal);
    }
  }

  function checkOptions(options) {
    if (options === undefined) return {};
    if (options === null || typeof options !== "object" || Array.isArray(options)) throw kit.invalidType("options", "of type object", options);
    return options;
  }

  function isTarget(x) {
    return x !== null && typeof x === "object" && typeof x.addEventListener === "function";
  }

  function isEmitter(x) {
    return x !== null && (typeof x === "object" || typeof x === "function") && typeof x.on === "function";
  }

  // listen and unlisten work on emitters and on event targets.
  function listen(emitter, name, listener, flags) {
    if (isEmitter(emitter)) {
      if (flags && flags.once) emitter.once(name, listener);
      else emitter.on(name, listener);
    } else if (isTarget(emitter)) {
      emitter.addEventListener(name, listener, flags);
    } else {
      throw kit.invalidType("emitter", "an instance of EventEmitter", emitter);
    }
  }

  function unlisten(emitter, name, listener) {
    if (typeof emitter.removeListener === "function") emitter.removeListener(name, listener);
    else if (isTarget(emitter)) emitter.removeEventListener(name, listener);
    else throw kit.invalidType("emitter", "an instance of EventEmitter", emitter);
  }

  async function once(emitter, name, options = {}) {
    const { signal } = checkOptions(options);
    checkSignal(signal, "options.signal");
    if (signal && signal.aborted) throw abortError(signal);
    return new Promise((resolve, reject) => {
      const clean = () => {
        unlisten(emitter, name, resolved);
        if (failed !== undefined) unlisten(emitter, "error", failed);
        if (signal) signal.removeEventListener("abort", aborted);
      };
      const resolved = (...args) => {
        clean();
        resolve(args);
      };
      let failed;
      if (name !== "error" && typeof emitter?.once === "function") {
        failed = (error) => {
          clean();
          reject(error);
        };
      }
      const aborted = () => {
        clean();
        reject(abortError(signal));
      };
      listen(emitter, name, resolved, { once: true });
      if (failed !== undefined) emitter.once("error", failed);
      if (signal) signal.addEventListener("abort", aborted, { once: true });
    });
  }

  const AsyncIterator = Symbol.asyncIterator;

  function on(emitter, event, options = {}) {
    options = checkOptions(options);
    const { signal } = options;
    checkSignal(signal, "options.signal");
    if (signal && signal.aborted) throw abortError(signal);
    const high = watermark(options, "highWaterMark", Number.MAX_SAFE_INTEGER);
    const low = watermark(options, "lowWaterMark", 1);

    const values = [];
    const waiting = [];
    let paused = false, finished = false, error;

    const value = (args) => {
      if (waiting.length > 0) {
        waiting.shift().resolve({ value: args, done: false });
        return;
      }
      values.push(args);
      if (!paused && values.length > high) {
        paused = true;
        emitter.pause();
      }
    };
    const onEvent = (...args) => value(args);
    const onError = (e) => {
      if (waiting.length > 0) waiting.shift().reject(e);
      else error = { e };
      iterator.return();
    };
    const onAbort = () => onError(abortError(signal));
    const close = () => {
      finished = true;
      for (const clean of cleaning.splice(0)) clean();
      while (waiting.length > 0) waiting.shift().resolve({ value: undefined, done: true });
      return Promise.resolve({ value: undefined, done: true });
    };
    const cleaning = [];
    const attach = (target, name, listener) => {
      listen(target, name, listener);
      cleaning.push(() => unlisten(target, name, listener));
    };

    const iterator = {
      next() {
        if (values.length > 0) {
          const next = values.shift();
          if (paused && values.length < low) {
            paused = false;
            emitter.resume();
          }
          return Promise.resolve({ value: next, done: false });
        }
        if (error !== undefined) {
          const { e } = error;
          error = undefined;
          return Promise.reject(e);
        }
        if (finished) return close();
        return new Promise((resolve, reject) => waiting.push({ resolve, reject }));
      },
      return() {
        return close();
      },
      throw(e) {
        if (!(e instanceof Error)) throw kit.invalidType("EventEmitter.AsyncIterator", "an instance of Error", e);
        onError(e);
      },
      [AsyncIterator]() {
        return this;
      },
    };

    attach(emitter, event, onEvent);
    if (event !== "error" && typeof emitter.on === "function") attach(emitter, "error", onError);
    for (const name of options.close || []) attach(emitter, name, close);
    if (signal) {
      signal.addEventListener("abort", onAbort, { once: true });
      cleaning.push(() => signal.removeEventListener("abort", onAbort));
    }
    return iterator;
  }

  function watermark(options, name, fallback) {
    const n = options[name];
    if (n === undefined) return fallback;
    if (!Number.isInteger(n)) throw kit.invalidType(`options.${name}`, "of type number", n);
    if (n < 1) {
      throw kit.coded(RangeError, "ERR_OUT_OF_RANGE", `The value of "options.${name}" is out of range. It must be >= 1. Received ${n}`);
    }
    return n;
  }

  function getEventListeners(emitterOrTarget, type) {
    if (emitterOrTarget !== null && typeof emitterOrTarget?.listeners === "function") return emitterOrTarget.listeners(type);
    if (isTarget(emitterOrTarget)) return native.targetListeners(emitterOrTarget, type);
    throw kit.invalidType("emitter", "an instance of EventEmitter or EventTarget", emitterOrTarget);
  }

  function getMaxListeners(emitterOrTarget) {
    if (typeof emitterOrTarget?.getMaxListeners === "function") return limitOf(emitterOrTarget);
    if (isTarget(emitterOrTarget)) return targetLimits.has(emitterOrTarget) ? targetLimits.get(emitterOrTarget) : defaultMaxListeners;
    throw kit.invalidType("emitter", "an instance of EventEmitter or EventTarget", emitterOrTarget);
  }

  const targetLimits = new WeakMap();

  function setMaxListeners(n = defaultMaxListeners, ...eventTargets) {
    checkCount(n, "setMaxListeners");
    if (eventTargets.length === 0) {
      defaultMaxListeners = n;
      return;
    }
    for (const target of eventTargets) {
      if (isTarget(target)) targetLimits.set(target, n);
      else if (typeof target?.setMaxListeners === "function") target.setMaxListeners(n);
      else throw kit.invalidType("eventTargets", "an instance of EventEmitter or EventTarget", target);
    }
  }

  function addAbortListener(signal, listener) {
    if (signal === undefined) throw kit.invalidType("signal", "an instance of AbortSignal", signal);
    checkSignal(signal, "signal");
    checkListener(listener);
    let remove;
    if (signal.aborted) {
      native.microtask(() => listener());
    } else {
      signal.addEventListener("abort", listener, { once: true });
      remove = () => signal.removeEventListener("abort", listener);
    }
    return { [Symbol.dispose]() { remove?.(); } };
  }

  Object.assign(EventEmitter, { addAbortListener, once, on, getEventListeners, getMaxListeners, EventEmitter, usingDomains: false, captureRejectionSymbol });
  Object.defineProperties(EventEmitter, {
    captureRejections: {
      get: () => prototype[kCapture],
      set(value) {
        if (typeof value !== "boolean") throw kit.invalidType("EventEmitter.captureRejections", "of type boolean", value);
        captureRejections = value;
        prototype[kCapture] = value;
      },
      enumerable: true,
    },
    defaultMaxListeners: {
      get: () => defaultMaxListeners,
      set(n) {
        checkCount(n, "defaultMaxListeners");
        defaultMaxListeners = n;
      },
      enumerable: true,
    },
  });
  Object.assign(EventEmitter, {
    errorMonitor,
    setMaxListeners,
    init,
    listenerCount: (emitter, type) =>
      typeof emitter.listenerCount === "function" ? emitter.listenerCount(type) : prototype.listenerCount.call(emitter, type),
  });
  return EventEmitter;
})
