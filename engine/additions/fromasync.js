(function ({ define, isObject, shown }) {
  const { defineProperty } = Object;
  const call = Reflect.apply;

  function isConstructor(value) {
    if (typeof value !== "function") return false;
    try {
      Reflect.construct(Object, [], value);
      return true;
    } catch {
      return false;
    }
  }

  function method(object, key) {
    const value = object[key];
    if (value === undefined || value === null) return undefined;
    if (typeof value !== "function") throw new TypeError(`${shown(value)} is not a function`);
    return value;
  }

  function put(target, index, value) {
    defineProperty(target, index, { value, writable: true, enumerable: true, configurable: true });
  }

  define(Array, {
    async fromAsync(items, mapper = undefined, self = undefined) {
      if (mapper !== undefined && typeof mapper !== "function") throw new TypeError(`${shown(mapper)} is not a function`);
      const asynchronous = method(items, Symbol.asyncIterator);
      const iterate = asynchronous ?? method(items, Symbol.iterator);
      const construct = isConstructor(this);
      if (iterate === undefined) {
        const source = Object(items);
        const length = Math.min(Math.max(Math.trunc(Number(source.length)) || 0, 0), Number.MAX_SAFE_INTEGER);
        const target = construct ? new this(length) : new Array(length);
        for (let i = 0; i < length; i++) {
          let value = await source[i];
          if (mapper !== undefined) value = await call(mapper, self, [value, i]);
          put(target, i, value);
        }
        target.length = length;
        return target;
      }
      const target = construct ? new this() : [];
      const iterator = call(iterate, items, []);
      const { next } = iterator;
      for (let i = 0; ; i++) {
        let result = call(next, iterator, []);
        if (asynchronous !== undefined) result = await result;
        if (!isObject(result)) throw new TypeError(`Iterator result ${shown(result)} is not an object`);
        if (result.done) {
          if (asynchronous === undefined) await undefined;
          target.length = i;
          return target;
        }
        try {
          let { value } = result;
          if (asynchronous === undefined) value = await value;
          if (mapper !== undefined) value = await call(mapper, self, [value, i]);
          put(target, i, value);
        } catch (e) {
          try {
            const close = method(iterator, "return");
            if (close !== undefined) await call(close, iterator, []);
          } catch {}
          throw e;
        }
      }
    },
  });
})
