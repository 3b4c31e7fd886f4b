(function (native) {
  const inspectSymbol = Symbol.for("nodejs.util.inspect.custom");
  const { defineProperty, getOwnPropertyDescriptor, getOwnPropertyNames } = Object;

  const kit = {
    throwLater: native.throwLater,
    received: native.received,

    // hidden defines a property that enumeration does not show.
    hidden(object, name, value, writable = true) {
      defineProperty(object, name, { value, writable, enumerable: false, configurable: true });
    },

    // webidl makes of a class what an interface of the Web is: its members can be
    // enumerated, and instances name it.
    webidl(Class, tag = Class.name) {
      for (const name of getOwnPropertyNames(Class.prototype)) {
        if (name !== "constructor") defineProperty(Class.prototype, name, { enumerable: true });
      }
      for (const name of getOwnPropertyNames(Class)) {
        if (typeof getOwnPropertyDescriptor(Class, name).value === "function") defineProperty(Class, name, { enumerable: true });
      }
      kit.hidden(Class.prototype, Symbol.toStringTag, tag, false);
    },

    // constants defines numbers on a class and its prototype.
    constants(Class, values) {
      for (const name of Object.keys(values)) {
        const constant = { value: values[name], writable: false, enumerable: true, configurable: false };
        defineProperty(Class, name, constant);
        defineProperty(Class.prototype, name, constant);
      }
    },

    // inspected says how console shows instances: as an object with what members returns.
    inspected(Class, members) {
      kit.hidden(Class.prototype, inspectSymbol, function (depth, options, inspect) {
        const name = this.constructor && this.constructor.name || Class.name;
        if (depth !== null && depth < 0) return `[${name}]`;
        const inner = Object.assign({}, options, { depth: options.depth == null ? null : options.depth - 1 });
        return `${name} ${inspect(members(this), inner)}`;
      });
    },

    // coded makes an error with a code, as Node writes them.
    coded(Constructor, code, message) {
      const e = new Constructor(message);
      const stack = e.stack;
      const head = `${e.name}: ${message}`;
      if (typeof stack === "string" && stack.startsWith(head)) {
        kit.hidden(e, "stack", `${e.name} [${code}]${stack.slice(e.name.length)}`);
      }
      e.code = code;
      return e;
    },

    invalidType(name, expected, value) {
      const kind = name.includes(".") ? "property" : "argument";
      return kit.coded(TypeError, "ERR_INVALID_ARG_TYPE", `The "${name}" ${kind} must be ${expected}. ${native.received(value)}`);
    },

    invalidThis(name) {
      return kit.coded(TypeError, "ERR_INVALID_THIS", `Value of "this" must be of type ${name}`);
    },

    illegalConstructor() {
      return kit.coded(TypeError, "ERR_ILLEGAL_CONSTRUCTOR", "Illegal constructor");
    },

    missing(...names) {
      const list = names.map((n) => `"${n}"`).join(" and ");
      return kit.coded(TypeError, "ERR_MISSING_ARGS", `The ${list} argument${names.length > 1 ? "s" : ""} must be specified`);
    },

    // iteration makes iterators of one kind. Each is made of a function that returns the
    // next result, undefined after the last.
    iteration(tag) {
      const base = Object.getPrototypeOf(Object.getPrototypeOf([][Symbol.iterator]()));
      const steps = new WeakMap();
      const prototype = Object.create(base);
      const { next } = { next() {
        const step = steps.get(this);
        if (step === undefined) throw kit.invalidThis(tag);
        const value = step();
        return value === undefined ? { value: undefined, done: true } : { value: value[0], done: false };
      } };
      defineProperty(prototype, "next", { value: next, writable: true, enumerable: true, configurable: true });
      kit.hidden(prototype, Symbol.toStringTag, tag, false);
      return (step) => {
        const it = Object.create(prototype);
        steps.set(it, step);
        return it;
      };
    },

    // pairs gives a class what a list of names and values has. list(o, i) returns the pair
    // at i, undefined after the last, so that changes on the way are seen.
    pairs(Class, list) {
      const make = kit.iteration(`${Class.name} Iterator`);
      const over = (o, of) => {
        let i = 0;
        list(o, 0);
        return make(() => {
          const pair = list(o, i++);
          return pair === undefined ? undefined : [of(pair)];
        });
      };
      const members = {
        keys() { return over(this, (p) => p[0]); },
        values() { return over(this, (p) => p[1]); },
        entries() { return over(this, (p) => [p[0], p[1]]); },
        forEach(callback, thisArg = undefined) {
          if (typeof callback !== "function") {
            throw new TypeError(`Failed to execute 'forEach' on '${Class.name}': parameter 1 is not of type 'Function'.`);
          }
          for (let i = 0, pair; (pair = list(this, i)) !== undefined; i++) callback.call(thisArg, pair[1], pair[0], this);
        },
      };
      for (const name of Object.keys(members)) kit.hidden(Class.prototype, name, members[name]);
      kit.hidden(Class.prototype, Symbol.iterator, members.entries);
    },

    // dictionary reads an argument that is an object of options or nothing.
    dictionary(value, name) {
      if (value === undefined || value === null) return {};
      if (typeof value !== "object" && typeof value !== "function") throw kit.invalidType(name, "of type object", value);
      return value;
    },
  };
  return kit;
})
