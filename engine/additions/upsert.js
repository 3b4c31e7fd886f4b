(function ({ define, callable }) {
  const call = Reflect.apply;
  for (const { prototype } of [Map, WeakMap]) {
    const { get, set, has } = prototype;
    define(prototype, {
      getOrInsert(key, value) {
        if (call(has, this, [key])) return call(get, this, [key]);
        call(set, this, [key, value]);
        return value;
      },
      getOrInsertComputed(key, callback) {
        const known = call(has, this, [key]);
        callable(callback);
        if (known) return call(get, this, [key]);
        if (key === 0) key = 0; // never -0
        const value = callback(key);
        call(set, this, [key, value]);
        return value;
      },
    });
  }
})
