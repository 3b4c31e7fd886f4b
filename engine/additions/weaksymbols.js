// Symbols as keys of WeakMap and members of WeakSet. They are few and small, and are
// kept for as long as the collection lives.
(function ({ replace, isObject }) {
  const { get: getState, set: setState } = WeakMap.prototype;
  const call = Reflect.apply;
  const states = new WeakMap();

  function symbols(collection) {
    return call(getState, states, [collection]);
  }

  function usable(value, what) {
    if (Symbol.keyFor(value) !== undefined) throw new TypeError(`Invalid value used ${what}`);
  }

  for (const [prototype, add, what] of [[WeakMap.prototype, "set", "as weak map key"], [WeakSet.prototype, "add", "in weak set"]]) {
    for (const name of ["has", "delete", "get"]) {
      if (!(name in prototype)) continue;
      replace(prototype, name, (before) => ({
        [name](value) {
          if (typeof value !== "symbol") return before(this, arguments);
          before(this, [{}]); // is this one of ours at all?
          const own = symbols(this);
          return own === undefined ? (name === "get" ? undefined : false) : own[name](value);
        },
      }));
    }
    replace(prototype, add, (before) => ({
      [add](value, ...rest) {
        if (typeof value !== "symbol") {
          if (isObject(value)) return before(this, [value, ...rest]);
          before(this, [{}, undefined]);
          throw new TypeError(`Invalid value used ${what}`);
        }
        before(this, [{}, undefined]);
        usable(value, what);
        let own = symbols(this);
        if (own === undefined) call(setState, states, [this, (own = new Map())]);
        own.set(value, rest[0]);
        return this;
      },
    }));
  }
})
