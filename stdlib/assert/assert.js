(function (native, kit) {
  const { inspect, diff, shown } = native;
  const { apply } = Reflect;

  const headings = {
    deepStrictEqual: "Expected values to be strictly deep-equal:",
    strictEqual: "Expected values to be strictly equal:",
    deepEqual: "Expected values to be loosely deep-equal:",
    notDeepStrictEqual: 'Expected "actual" not to be strictly deep-equal to:',
    notStrictEqual: 'Expected "actual" to be strictly unequal to:',
    notSameObject: 'Expected "actual" not to be reference-equal to "expected":',
    notDeepEqual: 'Expected "actual" not to be loosely deep-equal to:',
  };

  const isObject = (v) => v !== null && (typeof v === "object" || typeof v === "function");
  const cut = (text, length) => (text.length > length ? `${text.slice(0, length - 3)}...` : text);

  // describe words what is wrong about two values.
  function describe({ operator, actual, expected, message }) {
    switch (operator) {
      case "deepStrictEqual":
      case "strictEqual":
        return diff(actual, expected, operator, message === undefined ? headings[operator] : message);
      case "notDeepStrictEqual":
      case "notStrictEqual": {
        const heading = operator === "notStrictEqual" && isObject(actual) ? headings.notSameObject : headings[operator];
        const lines = shown(actual).split("\n");
        if (lines.length > 50) lines.splice(46, lines.length, "...");
        if (lines.length > 1) return `${heading}\n\n${lines.join("\n")}\n`;
        return `${heading}${lines[0].length > 5 ? "\n\n" : " "}${lines[0]}`;
      }
    }
    const left = shown(actual), right = shown(expected);
    if (operator === "notDeepEqual" && left === right) return cut(`${headings.notDeepEqual}\n\n${left}`, 1024);
    if (operator === "deepEqual") return `${headings.deepEqual}\n\n${cut(left, 512)}\n\nshould loosely deep-equal\n\n${cut(right, 512)}`;
    if (operator === "notDeepEqual") return `${headings.notDeepEqual}\n\n${cut(left, 512)}\n\nshould not loosely deep-equal\n\n${cut(right, 512)}`;
    return `${cut(left, 512)} ${operator} ${cut(right, 512)}`;
  }

  class AssertionError extends Error {
    constructor(options) {
      if (!isObject(options) || Array.isArray(options)) throw kit.invalidType("options", "of type object", options);
      const { message, operator, actual, expected, stackStartFn, details } = options;
      const given = message !== undefined && message !== null;
      const compares = operator === "deepStrictEqual" || operator === "strictEqual";
      super(given && !compares ? String(message) : describe({ operator, actual, expected, message: message ? String(message) : undefined }));
      this.generatedMessage = !message;
      kit.hidden(this, "name", "AssertionError");
      this.code = "ERR_ASSERTION";
      if (details) {
        this.actual = undefined;
        this.expected = undefined;
        this.operator = undefined;
        for (let i = 0; i < details.length; i++) {
          this[`message ${i}`] = details[i].message;
          this[`actual ${i}`] = details[i].actual;
          this[`expected ${i}`] = details[i].expected;
          this[`operator ${i}`] = details[i].operator;
        }
      } else {
        this.actual = actual;
        this.expected = expected;
        this.operator = operator;
      }
      native.label(this, `AssertionError [ERR_ASSERTION]: ${this.message}`);
    }
    toString() {
      return `${this.name} [${this.code}]: ${this.message}`;
    }
  }

  function fail(options) {
    if (options.message instanceof Error) throw options.message;
    throw new AssertionError(options);
  }

  function isTrue(fn, args) {
    const [value, message] = args;
    if (value) return;
    if (message instanceof Error) throw message;
    let text = message, generated = false;
    if (args.length === 0) {
      generated = true;
      text = "No value argument passed to `assert.ok()`";
    } else if (message === undefined || message === null) {
      generated = true;
      text = native.expression();
    }
    const e = new AssertionError({ actual: value, expected: true, message: text, operator: "==" });
    e.generatedMessage = generated;
    throw e;
  }

  // both makes sure that the two values of a comparison were given.
  function both(args) {
    if (args.length < 2) throw kit.coded(TypeError, "ERR_MISSING_ARGS", 'The "actual" and "expected" arguments must be specified');
  }

  function comparison(name, holds, operator = name) {
    const check = {
      [name](actual, expected, message) {
        both(arguments);
        if (!holds(actual, expected)) fail({ actual, expected, message, operator });
      },
    };
    return check[name];
  }

  const looselySame = (a, b) => a == b || (a !== a && b !== b);
  const checks = {
    equal: comparison("equal", looselySame, "=="),
    notEqual: comparison("notEqual", (a, b) => !looselySame(a, b), "!="),
    deepEqual: comparison("deepEqual", (a, b) => native.deep(a, b, false)),
    notDeepEqual: comparison("notDeepEqual", (a, b) => !native.deep(a, b, false)),
    deepStrictEqual: comparison("deepStrictEqual", (a, b) => native.deep(a, b, true)),
    notDeepStrictEqual: comparison("notDeepStrictEqual", (a, b) => !native.deep(a, b, true)),
    strictEqual: comparison("strictEqual", Object.is),
    notStrictEqual: comparison("notStrictEqual", (a, b) => !Object.is(a, b)),
  };

  // Comparison is what the parts of an error that count are shown as.
  class Comparison {
    constructor(object, keys, actual) {
      for (const key of keys) {
        if (!(key in object)) continue;
        if (actual !== undefined && typeof actual[key] === "string" && object[key] instanceof RegExp && object[key].exec(actual[key]) !== null) {
          this[key] = actual[key];
        } else {
          this[key] = object[key];
        }
      }
    }
  }

  // properties holds the properties of what was thrown against those that are expected.
  function properties(actual, expected, message, operator) {
    const keys = Object.keys(expected);
    if (expected instanceof Error) keys.push("name", "message");
    else if (keys.length === 0) {
      throw kit.coded(TypeError, "ERR_INVALID_ARG_VALUE", `The argument 'error' may not be an empty object. Received ${inspect(expected)}`);
    }
    for (const key of keys) {
      if (typeof actual[key] === "string" && expected[key] instanceof RegExp && expected[key].exec(actual[key]) !== null) continue;
      if (key in actual && native.deep(actual[key], expected[key], true)) continue;
      if (message !== undefined) fail({ actual, expected, message, operator });
      const e = new AssertionError({
        actual: new Comparison(actual, keys),
        expected: new Comparison(expected, keys, actual),
        operator: "deepStrictEqual",
      });
      e.actual = actual;
      e.expected = expected;
      e.operator = operator;
      throw e;
    }
  }

  // matches holds what was thrown against what a caller expects.
  function matches(actual, expected, message, operator) {
    if (typeof expected !== "function") {
      if (expected instanceof RegExp) {
        const text = String(actual);
        if (expected.exec(text) !== null) return;
        failed(`The input did not match the regular expression ${inspect(expected)}. Input:\n\n${inspect(text)}\n`);
      }
      if (typeof actual !== "object" || actual === null) {
        const e = new AssertionError({ actual, expected, message, operator: "deepStrictEqual" });
        e.operator = operator;
        throw e;
      }
      properties(actual, expected, message, operator);
      return;
    }
    if (expected.prototype !== undefined && actual instanceof expected) return;
    if (Object.prototype.isPrototypeOf.call(Error, expected)) {
      let text = `The error is expected to be an instance of "${expected.name}". Received `;
      text += actual instanceof Error ? `"${actual.constructor?.name || actual.name}"` : `"${inspect(actual, { depth: -1 })}"`;
      if (actual instanceof Error) text += `\n\nError message:\n\n${actual.message}`;
      failed(text);
    }
    const result = apply(expected, {}, [actual]);
    if (result === true) return;
    const name = expected.name ? `"${expected.name}" ` : "";
    let text = `The ${name}validation function is expected to return "true". Received ${inspect(result)}`;
    if (actual instanceof Error) text += `\n\nCaught error:\n\n${actual}`;
    failed(text);

    function failed(generated) {
      const e = new AssertionError({ actual, expected, message: message === undefined ? generated : message, operator });
      e.generatedMessage = message === undefined;
      throw message instanceof Error ? message : e;
    }
  }

  const nothing = Symbol("nothing thrown");

  function thrownBy(fn) {
    if (typeof fn !== "function") throw kit.invalidType("fn", "of type function", fn);
    try {
      fn();
    } catch (e) {
      return e;
    }
    return nothing;
  }

  const isPromise = (v) => native.isPromise(v) || (isObject(v) && typeof v.then === "function" && typeof v.catch === "function");

  async function rejectedBy(promiseFn) {
    let promise = promiseFn;
    if (typeof promiseFn === "function") {
      promise = promiseFn();
      if (!isPromise(promise)) {
        const what = native.received(promise).replace(/^Received /, "");
        throw kit.coded(TypeError, "ERR_INVALID_RETURN_VALUE", `Expected instance of Promise to be returned from the "promiseFn" function but got ${what}.`);
      }
    } else if (!isPromise(promiseFn)) {
      throw kit.invalidType("promiseFn", "of type function or an instance of Promise", promiseFn);
    }
    try {
      await promise;
    } catch (e) {
      return e;
    }
    return nothing;
  }

  function expects(operator, actual, error, message) {
    if (typeof error === "string") {
      if (arguments.length === 4) throw kit.invalidType("error", "of type function or an instance of Error, RegExp, or Object", error);
      if (isObject(actual) ? actual.message === error : actual === error) {
        const what = isObject(actual) ? `error message "${actual.message}"` : `error "${actual}"`;
        throw kit.coded(TypeError, "ERR_AMBIGUOUS_ARGUMENT", `The "error/message" argument is ambiguous. The ${what} is identical to the message.`);
      }
      message = error;
      error = undefined;
    } else if (error !== undefined && error !== null && !isObject(error)) {
      throw kit.invalidType("error", "of type function or an instance of Error, RegExp, or Object", error);
    }
    if (actual === nothing) {
      let details = error?.name ? ` (${error.name})` : "";
      details += message ? `: ${message}` : ".";
      const kind = operator === "rejects" ? "rejection" : "exception";
      fail({ actual: undefined, expected: error, operator, message: message instanceof Error ? message : `Missing expected ${kind}${details}` });
    }
    if (error) matches(actual, error, message, operator);
  }

  function expectsNone(operator, actual, error, message) {
    if (actual === nothing) return;
    if (typeof error === "string") {
      message = error;
      error = undefined;
    }
    if (!error || suits(actual, error)) {
      const details = message ? `: ${message}` : ".";
      const kind = operator === "doesNotReject" ? "rejection" : "exception";
      fail({ actual, expected: error, operator, message: `Got unwanted ${kind}${details}\nActual message: "${actual && actual.message}"` });
    }
    throw actual;
  }

  function suits(actual, expected) {
    if (typeof expected !== "function") {
      if (expected instanceof RegExp) return expected.exec(String(actual)) !== null;
      throw kit.invalidType("expected", "of type function or an instance of RegExp", expected);
    }
    if (expected.prototype !== undefined && actual instanceof expected) return true;
    if (Object.prototype.isPrototypeOf.call(Error, expected)) return false;
    return apply(expected, {}, [actual]) === true;
  }

  function regexpCheck(string, regexp, message, name, wanted) {
    if (!(regexp instanceof RegExp)) throw kit.invalidType("regexp", "an instance of RegExp", regexp);
    if (typeof string === "string" && (regexp.exec(string) !== null) === wanted) return;
    if (message instanceof Error) throw message;
    let text = message;
    if (message === undefined || message === null) {
      if (typeof string !== "string") text = `The "string" argument must be of type string. ${native.received(string)}`;
      else {
        const relation = wanted ? "The input did not match the regular expression " : "The input was expected to not match the regular expression ";
        text = `${relation}${inspect(regexp)}. Input:\n\n${inspect(string)}\n`;
      }
    }
    const e = new AssertionError({ actual: string, expected: regexp, message: text, operator: name });
    e.generatedMessage = message === undefined || message === null;
    throw e;
  }

  const others = {
    fail(actual, expected, message, operator) {
      const n = arguments.length;
      if (n <= 1) {
        if (actual instanceof Error) throw actual;
        const e = new AssertionError({ message: actual === undefined ? "Failed" : actual, operator: "fail" });
        e.generatedMessage = actual === undefined;
        throw e;
      }
      if (message instanceof Error) throw message;
      fail({ actual, expected, operator: n === 2 || operator === undefined ? "!=" : operator, message });
    },
    throws(fn, ...expected) {
      expects("throws", thrownBy(fn), ...expected);
    },
    async rejects(promiseFn, ...expected) {
      expects("rejects", await rejectedBy(promiseFn), ...expected);
    },
    doesNotThrow(fn, ...expected) {
      expectsNone("doesNotThrow", thrownBy(fn), ...expected);
    },
    async doesNotReject(fn, ...expected) {
      expectsNone("doesNotReject", await rejectedBy(fn), ...expected);
    },
    ifError(err) {
      if (err === null || err === undefined) return;
      let message = "ifError got unwanted exception: ";
      if (typeof err === "object" && typeof err.message === "string") {
        message += err.message.length === 0 && err.constructor ? err.constructor.name : err.message;
      } else {
        message += inspect(err);
      }
      const e = new AssertionError({ actual: err, expected: null, operator: "ifError", message });
      e.generatedMessage = false;
      throw e;
    },
    match(string, regexp, message) {
      regexpCheck(string, regexp, message, "match", true);
    },
    doesNotMatch(string, regexp, message) {
      regexpCheck(string, regexp, message, "doesNotMatch", false);
    },
  };

  function ok(...args) {
    isTrue(ok, args);
  }
  function strict(...args) {
    isTrue(strict, args);
  }
  const { fail: failure, throws, rejects, doesNotThrow, doesNotReject, ifError, match, doesNotMatch } = others;
  const assert = ok;
  Object.assign(assert, {
    fail: failure, AssertionError, ok,
    ...checks,
    throws, rejects, doesNotThrow, doesNotReject, ifError, match, doesNotMatch,
  });
  Object.assign(strict, assert, {
    equal: checks.strictEqual, deepEqual: checks.deepStrictEqual,
    notEqual: checks.notStrictEqual, notDeepEqual: checks.notDeepStrictEqual,
  });
  strict.strict = strict;
  assert.strict = strict;
  return assert;
})
