(function (native, kit) {
  const { hidden, webidl, inspected, constants } = kit;

  // DOMException

  const legacy = [
    "", "IndexSizeError", "DOMStringSizeError", "HierarchyRequestError", "WrongDocumentError", "InvalidCharacterError",
    "NoDataAllowedError", "NoModificationAllowedError", "NotFoundError", "NotSupportedError", "InUseAttributeError",
    "InvalidStateError", "SyntaxError", "InvalidModificationError", "NamespaceError", "InvalidAccessError",
    "ValidationError", "TypeMismatchError", "SecurityError", "NetworkError", "AbortError", "URLMismatchError",
    "QuotaExceededError", "TimeoutError", "InvalidNodeTypeError", "DataCloneError",
  ];
  const codes = new Map(legacy.map((name, code) => [name, code]));

  class DOMException extends Error {
    #message;
    #name;
    constructor(message = "", options = "Error") {
      super();
      this.#message = `${message}`;
      if (options !== null && typeof options === "object") {
        const { name } = options;
        this.#name = name === undefined ? "Error" : `${name}`;
        if ("cause" in options) hidden(this, "cause", options.cause);
      } else {
        this.#name = `${options}`;
      }
    }
    static #check(e) {
      if (e === null || typeof e !== "object" || !(#name in e)) throw kit.invalidThis("DOMException");
      return e;
    }
    get name() { return DOMException.#check(this).#name; }
    get message() { return DOMException.#check(this).#message; }
    get code() { return codes.get(DOMException.#check(this).#name) ?? 0; }
  }
  webidl(DOMException);
  const numbers = {};
  legacy.forEach((name, code) => {
    const words = name.replace("Error", "").replace("InUse", "Inuse").replace("URL", "Url").replace(/([a-z])([A-Z])/g, "$1_$2");
    if (code) numbers[`${words.toUpperCase()}_ERR`] = code;
  });
  constants(DOMException, numbers);

  // Event

  let stateOf; // of an event, undefined for anything else

  class Event {
    #state;
    static {
      stateOf = (e) => e !== null && typeof e === "object" && #state in e ? e.#state : undefined;
    }
    constructor(type, options = undefined) {
      if (arguments.length === 0) throw kit.missing("type");
      const { bubbles, cancelable, composed } = kit.dictionary(options, "options");
      this.#state = {
        type: `${type}`, bubbles: !!bubbles, cancelable: !!cancelable, composed: !!composed, time: native.now(),
        target: null, current: null, prevented: false, stopped: false, cut: false, dispatching: false, passive: false,
      };
    }
    get type() { return own(this).type; }
    get target() { return own(this).target; }
    get srcElement() { return own(this).target; }
    get currentTarget() { return own(this).current; }
    get eventPhase() { return own(this).dispatching ? 2 : 0; }
    get bubbles() { return own(this).bubbles; }
    get cancelable() { return own(this).cancelable; }
    get composed() { return own(this).composed; }
    get defaultPrevented() { return own(this).prevented; }
    get returnValue() { return !own(this).prevented; }
    set returnValue(v) { if (!v) prevent(own(this)); }
    get cancelBubble() { return own(this).stopped; }
    set cancelBubble(v) { if (v) own(this).stopped = true; }
    get timeStamp() { return own(this).time; }
    get isTrusted() { return !!own(this).trusted; }
    composedPath() { const s = own(this); return s.dispatching ? [s.current] : []; }
    preventDefault() { prevent(own(this)); }
    stopPropagation() { own(this).stopped = true; }
    stopImmediatePropagation() { const s = own(this); s.stopped = s.cut = true; }
    initEvent(type, bubbles = false, cancelable = false) {
      if (arguments.length === 0) throw kit.missing("type");
      const s = own(this);
      if (s.dispatching) return;
      s.type = `${type}`;
      s.bubbles = !!bubbles;
      s.cancelable = !!cancelable;
      s.prevented = s.stopped = s.cut = false;
    }
  }
  webidl(Event);
  constants(Event, { NONE: 0, CAPTURING_PHASE: 1, AT_TARGET: 2, BUBBLING_PHASE: 3 });
  inspected(Event, (e) => ({ type: e.type, defaultPrevented: e.defaultPrevented, cancelable: e.cancelable, timeStamp: e.timeStamp }));

  function own(event) {
    const s = stateOf(event);
    if (s === undefined) throw kit.invalidThis("Event");
    return s;
  }

  function prevent(s) {
    if (s.cancelable && !s.passive) s.prevented = true;
  }

  class CustomEvent extends Event {
    #detail;
    constructor(type, options = undefined) {
      if (arguments.length === 0) throw kit.missing("type");
      super(type, options);
      this.#detail = options?.detail ?? null;
    }
    get detail() { return this.#detail; }
    initCustomEvent(type, bubbles = false, cancelable = false, detail = null) {
      if (own(this).dispatching) return;
      this.initEvent(type, bubbles, cancelable);
      this.#detail = detail;
    }
  }
  webidl(CustomEvent);

  class MessageEvent extends Event {
    #of;
    constructor(type, options = undefined) {
      if (arguments.length === 0) throw kit.missing("type");
      super(type, options);
      const { data = null, origin = "", lastEventId = "", source = null, ports = [] } = options ?? {};
      this.#of = { data, origin: `${origin}`, lastEventId: `${lastEventId}`, source, ports: Object.freeze([...ports]) };
    }
    get data() { return this.#of.data; }
    get origin() { return this.#of.origin; }
    get lastEventId() { return this.#of.lastEventId; }
    get source() { return this.#of.source; }
    get ports() { return this.#of.ports; }
  }
  webidl(MessageEvent);

  class ErrorEvent extends Event {
    #of;
    constructor(type, options = undefined) {
      if (arguments.length === 0) throw kit.missing("type");
      super(type, options);
      const { message = "", filename = "", lineno = 0, colno = 0, error } = options ?? {};
      this.#of = { message: `${message}`, filename: `${filename}`, lineno: lineno >>> 0, colno: colno >>> 0, error };
    }
    get message() { return this.#of.message; }
    get filename() { return this.#of.filename; }
    get lineno() { return this.#of.lineno; }
    get colno() { return this.#of.colno; }
    get error() { return this.#of.error; }
  }
  webidl(ErrorEvent);

  // EventTarget

  let listenersOf; // of a target: lists of records by type; undefined for anything else

  class EventTarget {
    #listeners = new Map();
    static {
      listenersOf = (t) => t !== null && typeof t === "object" && #listeners in t ? t.#listeners : undefined;
    }
    addEventListener(type, listener, options = undefined) {
      const listeners = target(this);
      if (arguments.length < 2) throw kit.missing("type", "listener");
      const { capture, once, passive, signal } = flags(options);
      if (signal !== undefined) {
        if (signalOf(signal) === undefined) throw kit.invalidType("options.signal", "an instance of AbortSignal", signal);
      }
      if (!callable(listener)) return;
      if (signal?.aborted) return;
      type = `${type}`;
      let list = listeners.get(type);
      if (list?.some((r) => r.callback === listener && r.capture === capture)) return;
      if (list === undefined) listeners.set(type, list = []);
      const record = { callback: listener, capture, once, passive, removed: false };
      list.push(record);
      if (signal !== undefined) {
        const remove = () => discard(this, type, record);
        follow(signal, remove);
        record.signal = signal;
        record.unfollow = remove;
      }
    }
    removeEventListener(type, listener, options = undefined) {
      const listeners = target(this);
      if (arguments.length < 2) throw kit.missing("type", "listener");
      if (!callable(listener)) return;
      const { capture } = flags(options);
      type = `${type}`;
      const record = listeners.get(type)?.find((r) => r.callback === listener && r.capture === capture);
      if (record !== undefined) discard(this, type, record);
    }
    dispatchEvent(event) {
      target(this);
      if (arguments.length === 0) throw kit.missing("event");
      const s = stateOf(event);
      if (s === undefined) throw kit.invalidType("event", "an instance of Event", event);
      if (s.dispatching) throw kit.coded(Error, "ERR_EVENT_RECURSION", `The event "${s.type}" is already being dispatched`);
      dispatch(this, event);
      return !s.prevented;
    }
  }
  webidl(EventTarget);
  inspected(EventTarget, () => ({}));

  function target(t) {
    const listeners = listenersOf(t);
    if (listeners === undefined) throw kit.invalidThis("EventTarget");
    return listeners;
  }

  function flags(options) {
    if (options === undefined || options === null) return { capture: false, once: false, passive: false };
    if (typeof options === "boolean") return { capture: options, once: false, passive: false };
    if (typeof options !== "object" && typeof options !== "function") throw kit.invalidType("options", "of type object", options);
    const { capture, once, passive, signal } = options;
    return { capture: !!capture, once: !!once, passive: !!passive, signal };
  }

  // callable says whether there is something to call; anything that could not be is an error.
  function callable(listener) {
    if (typeof listener === "function" || typeof listener === "object" && listener !== null) return true;
    if (listener === undefined || listener === null) return false;
    throw kit.invalidType("listener", "an instance of EventListener", listener);
  }

  function discard(t, type, record) {
    if (record.removed) return;
    record.removed = true;
    const listeners = listenersOf(t);
    const list = listeners.get(type);
    const i = list.indexOf(record);
    if (list.length === 1) listeners.delete(type);
    else listeners.set(type, list.filter((_, j) => j !== i)); // a dispatch may walk the list
    if (record.signal !== undefined) unfollow(record.signal, record.unfollow);
  }

  function dispatch(t, event) {
    const s = stateOf(event);
    s.target = s.current = t;
    s.dispatching = true;
    const list = listenersOf(t).get(s.type);
    for (const record of list === undefined ? [] : [...list]) {
      if (record.removed) continue;
      if (record.once) discard(t, s.type, record);
      s.passive = record.passive;
      call(t, record.callback, event);
      s.passive = false;
      if (s.cut) break;
    }
    s.current = null;
    s.dispatching = s.stopped = s.cut = false;
  }

  // call calls a listener. What it throws is nobody's to catch, and ends the run.
  function call(t, callback, event) {
    try {
      let result;
      if (typeof callback === "function") {
        result = callback.call(t, event);
      } else {
        const { handleEvent } = callback;
        if (typeof handleEvent === "function") result = handleEvent.call(callback, event);
      }
      if (result !== null && typeof result === "object" && typeof result.then === "function") {
        result.then(undefined, (e) => kit.throwLater(() => { throw e; }));
      }
    } catch (e) {
      kit.throwLater(() => { throw e; });
    }
  }

  // handler gives a class the attribute onTYPE.
  function handler(Class, type) {
    const handlers = new WeakMap();
    const name = `on${type}`;
    const accessors = {
      get [name]() { return handlers.get(this)?.value ?? null; },
      set [name](value) {
        target(this);
        const listeners = listenersOf(this);
        const old = handlers.get(this);
        const usable = typeof value === "function" || typeof value === "object" && value !== null;
        if (!usable) {
          if (old !== undefined) {
            discard(this, type, old.record);
            handlers.delete(this);
          }
          return;
        }
        if (old !== undefined) {
          old.value = value;
          return;
        }
        const entry = { value };
        const callback = function (event) {
          if (typeof entry.value === "function") return entry.value.call(this, event);
        };
        entry.record = { callback, capture: false, once: false, passive: false, removed: false };
        handlers.set(this, entry);
        let list = listeners.get(type);
        if (list === undefined) listeners.set(type, list = []);
        list.push(entry.record);
        },
    };
    const { get, set } = Object.getOwnPropertyDescriptor(accessors, name);
    Object.defineProperty(Class.prototype, name, { get, set, enumerable: true, configurable: true });
  }

  // AbortSignal

  let signalOf; // the state of a signal, undefined for anything else
  const secret = {};

  class AbortSignal extends EventTarget {
    #state;
    static {
      signalOf = (s) => s !== null && typeof s === "object" && #state in s ? s.#state : undefined;
    }
    constructor(key) {
      if (key !== secret) throw kit.illegalConstructor();
      super();
      this.#state = { aborted: false, reason: undefined, followers: new Set(), dependents: new Set(), sources: null };
    }
    get aborted() { return signal(this).aborted; }
    get reason() { return signal(this).reason; }
    throwIfAborted() {
      const s = signal(this);
      if (s.aborted) throw s.reason;
    }
    static abort(reason = new DOMException("This operation was aborted", "AbortError")) {
      const s = new AbortSignal(secret);
      const state = signalOf(s);
      state.aborted = true;
      state.reason = reason;
      return s;
    }
    static timeout(delay) {
      if (typeof delay !== "number") throw kit.invalidType("delay", "of type number", delay);
      if (!(delay >= 0 && delay <= Number.MAX_SAFE_INTEGER && Math.trunc(delay) === delay)) {
        throw kit.coded(RangeError, "ERR_OUT_OF_RANGE", `The value of "delay" is out of range. It must be ${Number.isInteger(delay) ? ">= 0 && <= 4294967295" : "an integer"}. Received ${delay}`);
      }
      const s = new AbortSignal(secret);
      native.timeout(delay, () => abort(s, new DOMException("The operation was aborted due to timeout", "TimeoutError")));
      return s;
    }
    static any(signals) {
      if (signals === null || typeof signals !== "object" || typeof signals[Symbol.iterator] !== "function") {
        throw kit.invalidType("signals", "an instance of Array", signals);
      }
      const list = [...signals];
      list.forEach((s, i) => {
        if (signalOf(s) === undefined) throw kit.invalidType(`signals[${i}]`, "an instance of AbortSignal", s);
      });
      const result = new AbortSignal(secret);
      const state = signalOf(result);
      const first = list.find((s) => signalOf(s).aborted);
      if (first !== undefined) {
        state.aborted = true;
        state.reason = signalOf(first).reason;
        return result;
      }
      state.sources = new Set();
      for (const s of list) {
        for (const source of signalOf(s).sources ?? [s]) {
          state.sources.add(source);
          signalOf(source).dependents.add(result);
        }
      }
      return result;
    }
  }
  webidl(AbortSignal);
  handler(AbortSignal, "abort");
  inspected(AbortSignal, (s) => ({ aborted: s.aborted }));

  function signal(s) {
    const state = signalOf(s);
    if (state === undefined) throw kit.invalidThis("AbortSignal");
    return state;
  }

  function abort(s, reason) {
    const state = signalOf(s);
    if (state.aborted) return;
    const all = [s];
    state.aborted = true;
    state.reason = reason;
    for (const dependent of state.dependents) {
      const d = signalOf(dependent);
      if (d.aborted) continue;
      d.aborted = true;
      d.reason = reason;
      all.push(dependent);
    }
    for (const each of all) {
      const { followers, dependents } = signalOf(each);
      for (const run of [...followers]) run();
      followers.clear();
      dependents.clear();
      const event = new Event("abort");
      stateOf(event).trusted = true;
      dispatch(each, event);
    }
  }

  // follow calls run before the event of s.
  function follow(s, run) { signalOf(s).followers.add(run); }
  function unfollow(s, run) { signalOf(s).followers.delete(run); }

  class AbortController {
    #signal = new AbortSignal(secret);
    get signal() { return this.#signal; }
    abort(reason = new DOMException("This operation was aborted", "AbortError")) { abort(this.#signal, reason); }
  }
  webidl(AbortController);
  inspected(AbortController, (c) => ({ signal: c.signal }));

  function reportError(e) {
    if (arguments.length === 0) throw kit.missing("e");
    kit.throwLater(() => { throw e; });
  }

  return { Event, EventTarget, CustomEvent, MessageEvent, ErrorEvent, AbortSignal, AbortController, DOMException, reportError };
})
