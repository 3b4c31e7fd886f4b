(function ({ define, tag, isObject, shown }) {
  const { create, defineProperty, getPrototypeOf, setPrototypeOf } = Object;
  const call = Reflect.apply;
  const iteratorSymbol = Symbol.iterator;
  const prototype = getPrototypeOf(getPrototypeOf([][iteratorSymbol]()));

  function Iterator() {
    if (new.target === undefined) throw new TypeError("Constructor Iterator requires 'new'");
    if (new.target === Iterator) throw new TypeError("Abstract class Iterator not directly constructable");
  }
  defineProperty(Iterator, "prototype", { value: prototype, writable: false });
  define(globalThis, { Iterator });

  // Two properties that can be assigned on heirs, and not on the prototype itself.
  for (const [key, value] of [["constructor", Iterator], [Symbol.toStringTag, "Iterator"]]) {
    const accessor = {
      get [key]() {
        return value;
      },
      set [key](v) {
        if (!isObject(this)) throw new TypeError("Iterator.prototype property set on a value that is no object");
        if (this === prototype) throw new TypeError("Cannot assign to a property of Iterator.prototype");
        defineProperty(this, key, { value: v, writable: true, enumerable: true, configurable: true });
      },
    };
    define(prototype, accessor);
  }

  // What an iterator is made of: itself and its next.
  function direct(iterator) {
    return { iterator, next: iterator.next };
  }

  function step(source) {
    const result = call(source.next, source.iterator, []);
    if (!isObject(result)) throw new TypeError(`Iterator result ${shown(result)} is not an object`);
    return result;
  }

  function close(iterator) {
    const finish = iterator.return;
    if (finish === undefined || finish === null) return;
    const result = call(finish, iterator, []);
    if (!isObject(result)) throw new TypeError(`${shown(result)} is not an object`);
  }

  // closed closes an iterator because of an error, which is the one to be seen.
  function closed(iterator, error) {
    try {
      close(iterator);
    } catch {}
    return error;
  }

  function receiver(value, name) {
    if (!isObject(value)) throw new TypeError(`Iterator.prototype.${name} called on non-object`);
    return value;
  }

  function callable(self, value) {
    if (typeof value !== "function") throw closed(self, new TypeError(`${shown(value)} is not a function`));
    return value;
  }

  function count(self, value) {
    let n;
    try {
      n = Number(value);
    } catch (e) {
      throw closed(self, e);
    }
    if (n !== n) throw closed(self, new RangeError(`${shown(value)} must be positive`));
    n = Math.trunc(n);
    if (n < 0) throw closed(self, new RangeError(`${shown(value)} must be positive`));
    return n;
  }

  // flattened is the iterator of a value that is to be iterated over or is an iterator.
  function flattened(value, strings) {
    if (!isObject(value) && !(strings && typeof value === "string")) throw new TypeError(`${shown(value)} is not an object`);
    const iterate = value[iteratorSymbol];
    if (iterate === undefined || iterate === null) return direct(value);
    const iterator = call(iterate, value, []);
    if (!isObject(iterator)) throw new TypeError(`${shown(iterator)} is not an object`);
    return direct(iterator);
  }

  // A helper is what the methods return: pull gives the next result, or nothing at the
  // end, and shut closes what is below.
  class Helper {
    #pull;
    #shut;
    #running = false;

    constructor(pull, shut) {
      this.#pull = pull;
      this.#shut = shut;
    }

    next() {
      if (this.#running) throw new TypeError("Generator is already running");
      const pull = this.#pull;
      if (pull === undefined) return { value: undefined, done: true };
      this.#running = true;
      let ended = true;
      try {
        const result = pull();
        if (result === undefined) return { value: undefined, done: true };
        ended = false;
        return { value: result.value, done: false };
      } finally {
        this.#running = false;
        if (ended) this.#pull = this.#shut = undefined;
      }
    }

    return() {
      if (this.#running) throw new TypeError("Generator is already running");
      const shut = this.#shut;
      this.#pull = this.#shut = undefined;
      if (shut !== undefined) {
        this.#running = true;
        try {
          shut();
        } finally {
          this.#running = false;
        }
      }
      return { value: undefined, done: true };
    }
  }
  delete Helper.prototype.constructor;
  setPrototypeOf(Helper.prototype, prototype);
  tag(Helper.prototype, "Iterator Helper");

  // lazily makes a helper over self. each is given a value and its index, and returns a
  // result, or nothing to go on with the next value.
  function lazily(self, each) {
    const source = direct(self);
    let index = 0;
    return new Helper(
      () => {
        for (;;) {
          const result = step(source);
          if (result.done) return undefined;
          const { value } = result;
          try {
            const out = each(value, index++);
            if (out !== undefined) return out;
          } catch (e) {
            throw closed(self, e);
          }
        }
      },
      () => close(self),
    );
  }

  // eagerly calls each with all values. What each returns, but for undefined, is the
  // result at once.
  function eagerly(self, each) {
    const source = direct(self);
    for (let index = 0; ; index++) {
      const result = step(source);
      if (result.done) return undefined;
      const { value } = result;
      let out;
      try {
        out = each(value, index);
      } catch (e) {
        throw closed(self, e);
      }
      if (out !== undefined) {
        close(self);
        return out;
      }
    }
  }

  const members = {
    reduce(reducer, ...initial) {
      receiver(this, "reduce");
      callable(this, reducer);
      let sum, first = initial.length === 0;
      if (!first) sum = initial[0];
      eagerly(this, (value, index) => {
        if (first) {
          first = false;
          sum = value;
        } else {
          sum = reducer(sum, value, index);
        }
      });
      if (first) throw new TypeError("Reduce of a done iterator with no initial value");
      return sum;
    },
    toArray() {
      const source = direct(receiver(this, "toArray"));
      const out = [];
      for (;;) {
        const result = step(source);
        if (result.done) return out;
        out[out.length] = result.value;
      }
    },
    forEach(callback) {
      receiver(this, "forEach");
      callable(this, callback);
      eagerly(this, (value, index) => void callback(value, index));
    },
    some(predicate) {
      receiver(this, "some");
      callable(this, predicate);
      return eagerly(this, (value, index) => (predicate(value, index) ? true : undefined)) ?? false;
    },
    every(predicate) {
      receiver(this, "every");
      callable(this, predicate);
      return eagerly(this, (value, index) => (predicate(value, index) ? undefined : false)) ?? true;
    },
    find(predicate) {
      receiver(this, "find");
      callable(this, predicate);
      return eagerly(this, (value, index) => (predicate(value, index) ? { value } : undefined))?.value;
    },
    map(mapper) {
      receiver(this, "map");
      callable(this, mapper);
      return lazily(this, (value, index) => ({ value: mapper(value, index) }));
    },
    filter(predicate) {
      receiver(this, "filter");
      callable(this, predicate);
      return lazily(this, (value, index) => (predicate(value, index) ? { value } : undefined));
    },
    take(limit) {
      receiver(this, "take");
      let left = count(this, limit);
      const source = direct(this);
      return new Helper(
        () => {
          if (left === 0) {
            close(this);
            return undefined;
          }
          left--;
          const result = step(source);
          return result.done ? undefined : { value: result.value };
        },
        () => close(this),
      );
    },
    drop(limit) {
      receiver(this, "drop");
      let left = count(this, limit);
      const source = direct(this);
      return new Helper(
        () => {
          for (;;) {
            const result = step(source);
            if (result.done) return undefined;
            if (left === 0) return { value: result.value };
            left--;
          }
        },
        () => close(this),
      );
    },
    flatMap(mapper) {
      receiver(this, "flatMap");
      callable(this, mapper);
      const source = direct(this);
      let inner, index = 0;
      return new Helper(
        () => {
          for (;;) {
            if (inner === undefined) {
              const result = step(source);
              if (result.done) return undefined;
              const { value } = result;
              try {
                inner = flattened(mapper(value, index++), false);
              } catch (e) {
                throw closed(this, e);
              }
            }
            try {
              const result = step(inner);
              if (!result.done) return { value: result.value };
            } catch (e) {
              throw closed(this, e);
            }
            inner = undefined;
          }
        },
        () => {
          if (inner !== undefined) {
            try {
              close(inner.iterator);
            } catch (e) {
              throw closed(this, e);
            }
          }
          close(this);
        },
      );
    },
    [Symbol.dispose]() {
      const finish = this.return;
      if (finish !== undefined && finish !== null) call(finish, this, []);
    },
  };
  defineProperty(members.reduce, "length", { value: 1 });
  define(prototype, members);

  // wrapped makes an Iterator of one that is not.
  class Wrapped {
    #source;

    constructor(source) {
      this.#source = source;
    }

    next() {
      const { iterator, next } = this.#source;
      return call(next, iterator, []);
    }

    return() {
      const { iterator } = this.#source;
      const finish = iterator.return;
      if (finish === undefined) return { value: undefined, done: true };
      return call(finish, iterator, []);
    }
  }
  delete Wrapped.prototype.constructor;
  setPrototypeOf(Wrapped.prototype, prototype);

  define(Iterator, {
    from(value) {
      const source = flattened(value, true);
      for (let p = getPrototypeOf(source.iterator); p !== null; p = getPrototypeOf(p)) {
        if (p === prototype) return source.iterator;
      }
      return new Wrapped(source);
    },
    concat(...items) {
      const sources = [];
      for (let i = 0; i < items.length; i++) {
        const item = items[i];
        if (!isObject(item)) throw new TypeError(`${shown(item)} is not an object`);
        const open = item[iteratorSymbol];
        if (typeof open !== "function") throw new TypeError(`${shown(item)} is not iterable`);
        sources[i] = { item, open };
      }
      let index = 0, inner;
      return new Helper(
        () => {
          for (;;) {
            if (inner === undefined) {
              if (index === sources.length) return undefined;
              const { item, open } = sources[index++];
              const iterator = call(open, item, []);
              if (!isObject(iterator)) throw new TypeError(`${shown(iterator)} is not an object`);
              inner = direct(iterator);
            }
            const result = step(inner);
            if (!result.done) return { value: result.value };
            inner = undefined;
          }
        },
        () => {
          if (inner !== undefined) close(inner.iterator);
        },
      );
    },
  });
  defineProperty(Iterator.concat, "length", { value: 0 });
})
