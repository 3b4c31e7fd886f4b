(function (native, kit) {
  const illegal = Symbol("constructor");
  const details = new WeakMap();
  const observers = new Set();
  let entries = [];

  class PerformanceEntry {
    #name; #type; #start; #duration;
    constructor(key, name, type, start, duration) {
      if (key !== illegal) throw kit.illegalConstructor();
      this.#name = name;
      this.#type = type;
      this.#start = start;
      this.#duration = duration;
    }
    get name() { return this.#name; }
    get entryType() { return this.#type; }
    get startTime() { return this.#start; }
    get duration() { return this.#duration; }
    toJSON() {
      return { name: this.#name, entryType: this.#type, startTime: this.#start, duration: this.#duration };
    }
  }

  class PerformanceMark extends PerformanceEntry {
    constructor(name, options = {}) {
      if (arguments.length === 0) throw kit.missing("name");
      options = kit.dictionary(options, "options");
      const start = options.startTime ?? native.now();
      if (typeof start !== "number") throw kit.invalidType("startTime", "of type number", start);
      if (start < 0) throw kit.coded(TypeError, "ERR_PERFORMANCE_INVALID_TIMESTAMP", `${start} is not a valid timestamp`);
      super(illegal, `${name}`, "mark", start, 0);
      details.set(this, copied(options.detail));
    }
    get detail() { return details.get(this); }
    toJSON() { return { ...super.toJSON(), detail: this.detail }; }
  }

  class PerformanceMeasure extends PerformanceEntry {
    constructor(key, name, start, duration, detail) {
      super(key, name, "measure", start, duration);
      details.set(this, copied(detail));
    }
    get detail() { return details.get(this); }
    toJSON() { return { ...super.toJSON(), detail: this.detail }; }
  }

  function copied(detail) {
    if (detail === undefined || detail === null) return null;
    const clone = globalThis.structuredClone;
    return typeof clone === "function" ? clone(detail) : detail;
  }

  for (const Class of [PerformanceEntry, PerformanceMark, PerformanceMeasure]) {
    kit.webidl(Class);
    kit.inspected(Class, (e) => e.toJSON());
  }

  // timeOf is a moment that a measure starts or ends at: a number, or the name of a mark.
  function timeOf(mark) {
    if (typeof mark === "number") {
      if (mark < 0) throw kit.coded(TypeError, "ERR_PERFORMANCE_INVALID_TIMESTAMP", `${mark} is not a valid timestamp`);
      return mark;
    }
    for (let i = entries.length - 1; i >= 0; i--) {
      if (entries[i].entryType === "mark" && entries[i].name === `${mark}`) return entries[i].startTime;
    }
    const message = `The "${mark}" performance mark has not been set`;
    const DOMException = globalThis.DOMException;
    throw typeof DOMException === "function" ? new DOMException(message, "SyntaxError") : new SyntaxError(message);
  }

  function record(entry) {
    // entries stay in the order of their start.
    let at = entries.length;
    while (at > 0 && entries[at - 1].startTime > entry.startTime) at--;
    entries.splice(at, 0, entry);
    for (const o of observers) o.take(entry);
    return entry;
  }

  function select(name, type) {
    return entries.filter((e) => (name === undefined || e.name === name) && (type === undefined || e.entryType === type));
  }

  function clear(type, name) {
    entries = entries.filter((e) => e.entryType !== type || (name !== undefined && e.name !== `${name}`));
  }

  class Performance {
    constructor(key) {
      if (key !== illegal) throw kit.illegalConstructor();
    }
    clearMarks(name) { clear("mark", name); }
    clearMeasures(name) { clear("measure", name); }
    getEntries() { return entries.slice(); }
    getEntriesByName(name, type) {
      if (arguments.length === 0) throw kit.missing("name");
      return select(`${name}`, type);
    }
    getEntriesByType(type) {
      if (arguments.length === 0) throw kit.missing("type");
      return select(undefined, `${type}`);
    }
    mark(name, options = {}) {
      if (arguments.length === 0) throw kit.missing("name");
      return record(new PerformanceMark(name, options));
    }
    measure(name, startOrOptions = {}, endMark) {
      if (arguments.length === 0) throw kit.missing("name");
      const options = startOrOptions !== null && typeof startOrOptions === "object" ? startOrOptions : { start: startOrOptions };
      const { duration, detail } = options;
      if (options !== startOrOptions || endMark === undefined) {
        if (options.start !== undefined && options.end !== undefined && duration !== undefined) {
          throw kit.coded(TypeError, "ERR_PERFORMANCE_MEASURE_INVALID_OPTIONS", "Must not have options.start, options.end, and options.duration specified");
        }
      } else if (Object.keys(options).length > 0) {
        throw kit.coded(TypeError, "ERR_PERFORMANCE_MEASURE_INVALID_OPTIONS", "endMark must not be specified");
      }
      const last = endMark !== undefined ? endMark : options.end;
      let end, start;
      if (last !== undefined) end = timeOf(last);
      else if (options.start !== undefined && duration !== undefined) end = timeOf(options.start) + timeOf(duration);
      else end = native.now();
      if (options.start !== undefined) start = timeOf(options.start);
      else if (duration !== undefined && last !== undefined) start = end - timeOf(duration);
      else start = 0;
      return record(new PerformanceMeasure(illegal, `${name}`, start, end - start, detail));
    }
    now() { return native.now(); }
    get timeOrigin() { return native.origin(); }
    get nodeTiming() {
      return { name: "node", entryType: "node", startTime: 0, duration: native.now(), nodeStart: 0, v8Start: 0, bootstrapComplete: 0, environment: 0, loopStart: 0, loopExit: -1, idleTime: 0 };
    }
    timerify(fn) {
      if (typeof fn !== "function") throw kit.invalidType("fn", "of type function", fn);
      const timed = function (...args) {
        const start = native.now();
        const done = () => {
          const entry = new PerformanceEntry(illegal, fn.name, "function", start, native.now() - start);
          for (const o of observers) o.take(entry);
        };
        const result = new.target ? Reflect.construct(fn, args, fn) : Reflect.apply(fn, this, args);
        if (!new.target && result !== null && typeof result?.finally === "function") return result.finally(done);
        done();
        return result;
      };
      Object.defineProperties(timed, {
        name: { value: `timerified ${fn.name}`, configurable: true },
        length: { value: fn.length, configurable: true },
      });
      return timed;
    }
    toJSON() { return { timeOrigin: this.timeOrigin, nodeTiming: this.nodeTiming }; }
  }
  kit.webidl(Performance);
  kit.inspected(Performance, (p) => ({ timeOrigin: p.timeOrigin }));

  class PerformanceObserverEntryList {
    #list;
    constructor(key, list) {
      if (key !== illegal) throw kit.illegalConstructor();
      this.#list = list;
    }
    getEntries() { return this.#list.slice(); }
    getEntriesByType(type) { return this.#list.filter((e) => e.entryType === `${type}`); }
    getEntriesByName(name, type) { return this.#list.filter((e) => e.name === `${name}` && (type === undefined || e.entryType === type)); }
  }

  const supported = Object.freeze(["function", "mark", "measure"]);

  class PerformanceObserver {
    #callback; #watch; #queue = []; #scheduled = false;
    constructor(callback) {
      if (typeof callback !== "function") throw kit.invalidType("callback", "of type function", callback);
      this.#callback = callback;
      const observer = this;
      this.#watch = {
        types: new Set(),
        take(entry) {
          if (!this.types.has(entry.entryType)) return;
          observer.#queue.push(entry);
          if (observer.#scheduled) return;
          observer.#scheduled = true;
          native.later(() => {
            observer.#scheduled = false;
            const list = observer.takeRecords();
            if (list.length > 0) observer.#callback.call(observer, new PerformanceObserverEntryList(illegal, list), observer);
          });
        },
      };
    }
    static get supportedEntryTypes() { return supported; }
    observe(options = {}) {
      options = kit.dictionary(options, "options");
      const { entryTypes, type, buffered } = options;
      if (entryTypes === undefined && type === undefined) throw kit.missing("options.entryTypes", "options.type");
      if (entryTypes !== undefined) {
        if (!Array.isArray(entryTypes)) throw kit.invalidType("options.entryTypes", "an instance of string[]", entryTypes);
        this.#watch.types = new Set(entryTypes.filter((t) => supported.includes(t)));
      } else {
        if (!supported.includes(type)) return;
        this.#watch.types.add(type);
        if (buffered) for (const e of select(undefined, type)) this.#watch.take(e);
      }
      if (this.#watch.types.size > 0) observers.add(this.#watch);
      else this.disconnect();
    }
    disconnect() {
      observers.delete(this.#watch);
      this.#watch.types.clear();
      this.#queue = [];
    }
    takeRecords() {
      const list = this.#queue;
      this.#queue = [];
      return list;
    }
  }

  return {
    Performance, PerformanceEntry, PerformanceMark, PerformanceMeasure, PerformanceObserver, PerformanceObserverEntryList,
    performance: new Performance(illegal),
  };
})
