(function ({ define, tag, replace, isObject }, { hold, held, watch }) {
  // A symbol can be held weakly unless Symbol.for would find it again.
  function holdable(value) {
    return isObject(value) || (typeof value === "symbol" && Symbol.keyFor(value) === undefined);
  }

  class WeakRef {
    #target;
    constructor(target) {
      if (!holdable(target)) throw new TypeError("WeakRef: target must be an object");
      this.#target = typeof target === "symbol" ? target : hold(target);
    }
    deref() {
      const target = this.#target;
      return typeof target === "symbol" ? target : held(target);
    }
  }
  tag(WeakRef.prototype, "WeakRef");

  class FinalizationRegistry {
    #cleanup;
    #cells = new Map();
    #tokens = new WeakMap();
    #last = 0;

    constructor(cleanup) {
      if (typeof cleanup !== "function") throw new TypeError("FinalizationRegistry: cleanup must be callable");
      this.#cleanup = cleanup;
    }

    register(target, value, token) {
      if (!holdable(target)) throw new TypeError("FinalizationRegistry.prototype.register: invalid target");
      if (target === value) throw new TypeError("FinalizationRegistry.prototype.register: target and holdings must not be same");
      if (token !== undefined && !holdable(token)) throw new TypeError("Invalid unregister token");
      const cell = ++this.#last;
      this.#cells.set(cell, value);
      if (token !== undefined) {
        const cells = this.#tokens.get(token);
        if (cells === undefined) this.#tokens.set(token, [cell]);
        else cells.push(cell);
      }
      if (typeof target === "symbol") return;
      watch(target, () => {
        if (!this.#cells.has(cell)) return;
        const value = this.#cells.get(cell);
        this.#cells.delete(cell);
        (0, this.#cleanup)(value);
      });
    }

    unregister(token) {
      if (!holdable(token)) throw new TypeError("Invalid unregisterToken");
      const cells = this.#tokens.get(token);
      if (cells === undefined) return false;
      this.#tokens.delete(token);
      let some = false;
      for (const cell of cells) some = this.#cells.delete(cell) || some;
      return some;
    }
  }
  Object.defineProperty(FinalizationRegistry.prototype.register, "length", { value: 2 });
  tag(FinalizationRegistry.prototype, "FinalizationRegistry");
  define(globalThis, { WeakRef, FinalizationRegistry });
})
