(function (native, kit) {
  const { setTimeout, clearTimeout, setInterval, clearInterval, setImmediate, clearImmediate } = native.timers();

  function abortError(signal) {
    const e = new Error("The operation was aborted", { cause: signal.reason });
    e.name = "AbortError";
    e.code = "ABORT_ERR";
    return e;
  }

  function check(options) {
    if (options === null || typeof options !== "object") throw kit.invalidType("options", "of type object", options);
    const { signal, ref = true } = options;
    if (signal !== undefined && (signal === null || typeof signal !== "object" || !("aborted" in signal))) {
      throw kit.invalidType("options.signal", "an instance of AbortSignal", signal);
    }
    if (typeof ref !== "boolean") throw kit.invalidType("options.ref", "of type boolean", ref);
    return { signal, ref };
  }

  function checkDelay(delay) {
    if (delay !== undefined && typeof delay !== "number") throw kit.invalidType("delay", "of type number", delay);
  }

  // once waits for what start sets going and stop takes back.
  function once(value, options, start, stop) {
    let signal, ref;
    try {
      ({ signal, ref } = check(options));
    } catch (e) {
      return Promise.reject(e);
    }
    if (signal?.aborted) return Promise.reject(abortError(signal));
    return new Promise((resolve, reject) => {
      const aborted = () => {
        stop(timer);
        reject(abortError(signal));
      };
      const timer = start(() => {
        signal?.removeEventListener("abort", aborted);
        resolve(value);
      });
      if (!ref) timer.unref();
      signal?.addEventListener("abort", aborted, { once: true });
    });
  }

  const api = {
    setTimeout(delay, value, options = {}) {
      try {
        checkDelay(delay);
      } catch (e) {
        return Promise.reject(e);
      }
      return once(value, options, (done) => setTimeout(done, delay), clearTimeout);
    },
    setImmediate(value, options = {}) {
      return once(value, options, (done) => setImmediate(done), clearImmediate);
    },
    // setInterval iterates: a value for each time that passed, also those that nobody
    // waited for.
    setInterval(delay, value, options = {}) {
      checkDelay(delay);
      const { signal, ref } = check(options);
      let timer, missed = 0, wake, failure, over = false;
      const stop = () => {
        over = true;
        clearInterval(timer);
        signal?.removeEventListener("abort", aborted);
      };
      const aborted = () => {
        stop();
        failure = abortError(signal);
        wake?.();
      };
      const begin = () => {
        if (timer !== undefined || over) return;
        if (signal?.aborted) {
          over = true;
          failure = abortError(signal);
          return;
        }
        timer = setInterval(() => {
          missed++;
          wake?.();
        }, delay);
        if (!ref) timer.unref();
        signal?.addEventListener("abort", aborted, { once: true });
      };
      return {
        async next() {
          begin();
          while (missed === 0 && !over) await new Promise((resolve) => { wake = resolve; });
          wake = undefined;
          if (missed > 0) {
            missed--;
            return { value, done: false };
          }
          if (failure !== undefined) {
            const e = failure;
            failure = undefined;
            throw e;
          }
          return { value: undefined, done: true };
        },
        async return(result) {
          stop();
          missed = 0;
          wake?.();
          return { value: result, done: true };
        },
        async throw(error) {
          stop();
          throw error;
        },
        [Symbol.asyncIterator]() { return this; },
      };
    },
  };

  class Scheduler {
    constructor(key) {
      if (key !== illegal) throw kit.illegalConstructor();
    }
    yield() { return api.setImmediate(); }
    wait(delay, options) { return api.setTimeout(delay, undefined, { signal: options?.signal }); }
  }
  const illegal = Symbol("constructor");
  api.scheduler = new Scheduler(illegal);
  return api;
})
