(function ({ define, tag, isObject, shown }) {
  const { defineProperty } = Object;
  const { dispose, asyncDispose } = Symbol;
  const call = Reflect.apply;

  function SuppressedError(error, suppressed, message) {
    const args = message === undefined ? [] : [message];
    const e = Reflect.construct(Error, args, new.target ?? SuppressedError);
    define(e, { error, suppressed });
    return e;
  }
  SuppressedError.prototype = Object.create(Error.prototype);
  define(SuppressedError.prototype, { constructor: SuppressedError, message: "", name: "SuppressedError" });
  defineProperty(SuppressedError, "prototype", { writable: false, enumerable: false });
  Object.setPrototypeOf(SuppressedError, Error);
  define(globalThis, { SuppressedError });

  // disposer is the function that disposes of a value.
  function disposer(value, asynchronous) {
    if (!isObject(value)) throw new TypeError(`${shown(value)} is not an object`);
    let method = asynchronous ? value[asyncDispose] : undefined;
    if (method !== undefined && method !== null) {
      if (typeof method !== "function") throw new TypeError("Symbol.asyncDispose is not a function");
      return () => call(method, value, []);
    }
    method = value[dispose];
    if (typeof method !== "function") {
      throw new TypeError(asynchronous ? "Object not async disposable" : "Object not disposable");
    }
    return () => void call(method, value, []);
  }

  // Failure collects what disposers throw.
  class Failure {
    failed = false;
    error;
    add(error) {
      this.error = this.failed ? new SuppressedError(error, this.error, "An error was suppressed during disposal.") : error;
      this.failed = true;
    }
    throw() {
      if (this.failed) throw this.error;
    }
  }

  function stack(name, asynchronous, members) {
    return {
      get disposed() {
        return members(this).list === undefined;
      },
      use(value) {
        const list = pending(members(this));
        if (value !== undefined && value !== null) list[list.length] = disposer(value, asynchronous);
        else if (asynchronous) list[list.length] = () => {};
        return value;
      },
      adopt(value, onDispose) {
        const list = pending(members(this));
        if (typeof onDispose !== "function") throw new TypeError(`${shown(onDispose)} is not a function`);
        list[list.length] = () => onDispose(value);
        return value;
      },
      defer(onDispose) {
        const list = pending(members(this));
        if (typeof onDispose !== "function") throw new TypeError(`${shown(onDispose)} is not a function`);
        list[list.length] = () => onDispose();
      },
    };

    function pending(state) {
      if (state.list === undefined) throw new ReferenceError(`Cannot use a disposed ${name}`);
      return state.list;
    }
  }

  function taken(state) {
    const { list } = state;
    state.list = undefined;
    return list ?? [];
  }

  class DisposableStack {
    #state = { list: [] };
    static of(self) {
      return self.#state;
    }
    dispose() {
      const failure = new Failure();
      const list = taken(this.#state);
      for (let i = list.length - 1; i >= 0; i--) {
        try {
          list[i]();
        } catch (e) {
          failure.add(e);
        }
      }
      failure.throw();
    }
    move() {
      if (this.#state.list === undefined) throw new ReferenceError("Cannot move elements from a disposed stack!");
      const next = new DisposableStack();
      next.#state.list = taken(this.#state);
      return next;
    }
  }

  class AsyncDisposableStack {
    #state = { list: [] };
    static of(self) {
      return self.#state;
    }
    async disposeAsync() {
      const failure = new Failure();
      const list = taken(this.#state);
      for (let i = list.length - 1; i >= 0; i--) {
        try {
          await list[i]();
        } catch (e) {
          failure.add(e);
        }
      }
      failure.throw();
    }
    move() {
      if (this.#state.list === undefined) throw new ReferenceError("Cannot move elements from a disposed stack!");
      const next = new AsyncDisposableStack();
      next.#state.list = taken(this.#state);
      return next;
    }
  }

  for (const [Stack, asynchronous, symbol, method] of [
    [DisposableStack, false, dispose, "dispose"],
    [AsyncDisposableStack, true, asyncDispose, "disposeAsync"],
  ]) {
    const { of, name } = Stack;
    delete Stack.of;
    define(Stack.prototype, stack(name, asynchronous, of));
    define(Stack.prototype, { [symbol]: Stack.prototype[method] });
    tag(Stack.prototype, name);
  }
  define(globalThis, { DisposableStack, AsyncDisposableStack });
})
