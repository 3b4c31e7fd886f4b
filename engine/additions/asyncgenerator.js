// What an async generator looks like: esbuild makes one of an ordinary generator, as an
// object with the methods of its own.
(function ({ define, tag }) {
  const { create, defineProperty, getOwnPropertyDescriptor } = Object;
  const inner = new WeakMap();
  const { get, set } = WeakMap.prototype;
  const call = Reflect.apply;

  const asyncIterator = {};
  define(asyncIterator, {
    [Symbol.asyncIterator]() {
      return this;
    },
    async [Symbol.asyncDispose]() {
      const finish = this.return;
      if (finish !== undefined) await call(finish, this, []);
    },
  });
  const prototype = create(asyncIterator);

  function target(self, name) {
    const it = call(get, inner, [self]);
    if (it === undefined) throw new TypeError(`${name} method called on incompatible receiver ${String(self)}`);
    return it;
  }
  define(prototype, {
    next(value) {
      return target(this, "next").next(value);
    },
    return(value) {
      return target(this, "return").return(value);
    },
    throw(error) {
      return target(this, "throw").throw(error);
    },
  });
  tag(prototype, "AsyncGenerator");

  return (make) => (self, args, generator) => {
    const it = create(prototype);
    call(set, inner, [it, make(self, args, generator)]);
    return it;
  };
})
