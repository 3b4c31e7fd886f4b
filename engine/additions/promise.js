(function ({ define, isObject, replace }, { iterable: checked }) {
  const call = Reflect.apply;

  // The error that goja rejects with has no message.
  replace(Promise, "any", () => ({
    any(iterable) {
      if (!isObject(this)) throw new TypeError("Promise.any called on non-object");
      return new this((resolve, reject) => {
        const settle = this.resolve;
        if (typeof settle !== "function") throw new TypeError("Promise resolve or reject function is not callable");
        const errors = [];
        let index = 0;
        let left = 1;
        const done = () => {
          if (--left === 0) reject(new AggregateError(errors, "All promises were rejected"));
        };
        for (const value of checked(iterable)) {
          const at = index++;
          let called = false;
          errors[at] = undefined;
          left++;
          call(settle, this, [value]).then(resolve, (error) => {
            if (called) return;
            called = true;
            errors[at] = error;
            done();
          });
        }
        done();
      });
    },
  }));
  define(Promise, {
    withResolvers() {
      let resolve, reject;
      const promise = new this((a, b) => {
        resolve = a;
        reject = b;
      });
      return { promise, resolve, reject };
    },
    try(callback, ...args) {
      if (!isObject(this)) throw new TypeError("Promise.try called on non-object");
      return new this((resolve) => resolve(callback(...args)));
    },
  });
})
