(function (native, kit) {
  const { EventTarget, MessageEvent, Event, DOMException } = globalThis;
  const { webidl } = kit;

  // handler gives a class the attribute onTYPE, which is a listener at the place where it
  // was first set.
  function handler(Class, type, then) {
    const handlers = new WeakMap();
    const name = `on${type}`;
    const { get, set } = Object.getOwnPropertyDescriptor({
      get [name]() { return handlers.get(this)?.value ?? null; },
      set [name](value) {
        const usable = typeof value === "function";
        let entry = handlers.get(this);
        if (entry === undefined) {
          if (!usable) return;
          entry = { listener: (event) => entry.value?.call(this, event) };
          handlers.set(this, entry);
          this.addEventListener(type, entry.listener);
        }
        entry.value = usable ? value : null;
        if (usable) then(this);
      },
    }, name);
    Object.defineProperty(Class.prototype, name, { get, set, enumerable: true, configurable: true });
  }

  // A port's state: the other end, what has arrived, whether it is delivered.
  const secret = {};
  let stateOf;

  class MessagePort extends EventTarget {
    #state = { other: null, queue: [], started: false, closed: false, scheduled: false, refs: true, wrapped: new Map() };
    static { stateOf = (p) => p !== null && typeof p === "object" && #state in p ? p.#state : undefined; }
    constructor(key) {
      if (key !== secret) throw kit.illegalConstructor();
      super();
    }
    postMessage(message, transfer = undefined) {
      if (arguments.length === 0) throw kit.missing("message");
      const s = port(this);
      const list = transferList(transfer);
      const ports = list.filter((o) => stateOf(o) !== undefined);
      if (ports.includes(this)) throw new DOMException("Transfer list contains source port", "DataCloneError");
      if (ports.some((p) => stateOf(p).closed)) throw new DOMException("MessagePort in transfer list is already detached", "DataCloneError");
      const successors = ports.map(() => new MessagePort(secret));
      const data = native.clone(message, list, ports, successors);
      ports.forEach((p, i) => succeed(p, successors[i]));
      const other = s.other;
      if (other === null || ports.includes(other)) return;
      deliver(other, { data, ports: successors });
    }
    start() { begin(this); }
    close() {
      const s = port(this);
      if (s.closed) return;
      const other = s.other;
      s.closed = true;
      s.other = null;
      native.later(() => this.dispatchEvent(new Event("close")));
      if (other !== null) other.close();
    }
    ref() { port(this).refs = true; }
    unref() { port(this).refs = false; }
    hasRef() { const s = port(this); return s.refs && s.started && !s.closed; }
    on(type, listener) { return listen(this, type, listener, false); }
    once(type, listener) { return listen(this, type, listener, true); }
    addListener(type, listener) { return listen(this, type, listener, false); }
    off(type, listener) {
      const s = port(this);
      const wrapped = s.wrapped.get(listener);
      if (wrapped !== undefined) this.removeEventListener(type, wrapped);
      s.wrapped.delete(listener);
      return this;
    }
    removeListener(type, listener) { return this.off(type, listener); }
  }
  webidl(MessagePort);
  handler(MessagePort, "message", begin);
  handler(MessagePort, "messageerror", () => {});

  function port(p) {
    const s = stateOf(p);
    if (s === undefined) throw kit.invalidThis("MessagePort");
    return s;
  }

  function transferList(transfer) {
    if (transfer === undefined || transfer === null) return [];
    const list = typeof transfer[Symbol.iterator] === "function" ? transfer : transfer.transfer;
    return list === undefined || list === null ? [] : [...list];
  }

  // succeed moves what a port has to another object.
  function succeed(p, successor) {
    const s = stateOf(p);
    const t = stateOf(successor);
    t.other = s.other;
    t.queue = s.queue;
    if (t.other !== null) stateOf(t.other).other = successor;
    s.other = null;
    s.queue = [];
    s.closed = true;
  }

  // listen adds a listener as Node's event emitters have them: it gets the message itself.
  function listen(p, type, listener, once) {
    const wrapped = (event) => {
      if (once) port(p).wrapped.delete(listener);
      listener.call(p, event instanceof MessageEvent ? event.data : undefined);
    };
    port(p).wrapped.set(listener, wrapped);
    p.addEventListener(type, wrapped, { once });
    if (type === "message") begin(p);
    return p;
  }

  function begin(p) {
    const s = port(p);
    s.started = true;
    schedule(p, s);
  }

  function deliver(p, message) {
    const s = stateOf(p);
    s.queue.push(message);
    schedule(p, s);
  }

  function schedule(p, s) {
    if (!s.started || s.scheduled || s.queue.length === 0) return;
    s.scheduled = true;
    native.later(() => {
      s.scheduled = false;
      const message = s.queue.shift();
      if (message === undefined) return;
      schedule(p, s);
      p.dispatchEvent(new MessageEvent("message", message));
    });
  }

  class MessageChannel {
    #port1 = new MessagePort(secret);
    #port2 = new MessagePort(secret);
    constructor() {
      stateOf(this.#port1).other = this.#port2;
      stateOf(this.#port2).other = this.#port1;
    }
    get port1() { return this.#port1; }
    get port2() { return this.#port2; }
  }
  webidl(MessageChannel);

  const channels = new Map(); // sets of channels that are open, by name

  class BroadcastChannel extends EventTarget {
    #name;
    #open = true;
    constructor(name) {
      if (arguments.length === 0) throw kit.missing("name");
      super();
      this.#name = `${name}`;
      if (!channels.has(this.#name)) channels.set(this.#name, new Set());
      channels.get(this.#name).add(this);
    }
    get name() { return this.#name; }
    postMessage(message) {
      if (arguments.length === 0) throw kit.missing("message");
      if (!this.#open) throw new DOMException("BroadcastChannel is closed.", "InvalidStateError");
      for (const other of channels.get(this.#name)) {
        if (other === this) continue;
        const data = native.clone(message, [], [], []);
        native.later(() => {
          if (other.#open) other.dispatchEvent(new MessageEvent("message", { data }));
        });
      }
    }
    close() {
      this.#open = false;
      channels.get(this.#name)?.delete(this);
    }
    ref() { return this; }
    unref() { return this; }
  }
  webidl(BroadcastChannel);
  handler(BroadcastChannel, "message", () => {});
  handler(BroadcastChannel, "messageerror", () => {});

  return { MessageChannel, MessagePort, BroadcastChannel };
})
