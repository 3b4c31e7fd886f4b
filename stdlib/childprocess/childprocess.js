(function (native, kit) {
  const { assign, keys, defineProperty } = Object;
  const { apply } = Reflect;
  const { Promise, Error, TypeError, RangeError, Number, Symbol, Array } = globalThis;
  const then = Promise.prototype.then;
  const chain = (promise, done, failed) => apply(then, promise, [done, failed]);
  const promisified = Symbol.for("nodejs.util.promisify.custom");

  const signals = {
    SIGHUP: 1, SIGINT: 2, SIGQUIT: 3, SIGILL: 4, SIGTRAP: 5, SIGABRT: 6, SIGIOT: 6, SIGBUS: 7, SIGFPE: 8, SIGKILL: 9,
    SIGUSR1: 10, SIGSEGV: 11, SIGUSR2: 12, SIGPIPE: 13, SIGALRM: 14, SIGTERM: 15, SIGSTKFLT: 16, SIGCHLD: 17, SIGCONT: 18,
    SIGSTOP: 19, SIGTSTP: 20, SIGTTIN: 21, SIGTTOU: 22, SIGURG: 23, SIGXCPU: 24, SIGXFSZ: 25, SIGVTALRM: 26, SIGPROF: 27,
    SIGWINCH: 28, SIGIO: 29, SIGPOLL: 29, SIGPWR: 30, SIGSYS: 31,
  };
  const errnos = { ENOENT: -2, EACCES: -13, EPERM: -1, E2BIG: -7, ENOTDIR: -20, ENOEXEC: -8, ELOOP: -40, EMFILE: -24, EAGAIN: -11, ENOMEM: -12, EPIPE: -32, EBADF: -9, EIO: -5, EINVAL: -22, EISDIR: -21, ENFILE: -23, ETXTBSY: -26, ENAMETOOLONG: -36, ETIMEDOUT: -110, ENOBUFS: -105 };

  // Arguments.

  function text(value, name) {
    if (typeof value !== "string") throw kit.invalidType(name, "of type string", value);
    if (value.includes("\0")) throw native.invalidValue(name, value, "must be a string without null bytes");
    return value;
  }

  function signalOf(value, name = "killSignal") {
    if (typeof value === "number") {
      if (value === 0) return 0;
      const found = keys(signals).find((s) => signals[s] === value);
      if (found !== undefined) return found;
    } else if (typeof value === "string") {
      const upper = value.toUpperCase();
      if (Object.hasOwn(signals, upper)) return upper;
    } else throw kit.invalidType(name, "one of type string or number", value);
    throw kit.coded(TypeError, "ERR_UNKNOWN_SIGNAL", `Unknown signal: ${value}`);
  }

  function pathOf(value, name) {
    if (value === undefined || value === null) return undefined;
    let path = value;
    if (typeof path === "object" && path instanceof globalThis.URL) path = native.require("node:url").fileURLToPath(path);
    if (path instanceof globalThis.Uint8Array) path = native.decode(path, "utf8");
    if (typeof path !== "string") throw kit.invalidType(name, "of type string or an instance of Buffer or URL", value);
    return text(path, name);
  }

  function object(value, name) {
    if (value === null || typeof value !== "object") throw kit.invalidType(name, "of type object", value);
    return value;
  }

  // split tells the arguments from the options, where both may be left out.
  function split(args, options) {
    if (Array.isArray(args)) return [args.map(String), options];
    if (args === undefined || args === null) return [[], options];
    if (typeof args !== "object") throw kit.invalidType("args", "of type object", args);
    return [[], args];
  }

  const optional = (options, name, type) => {
    const value = options[name];
    if (value !== undefined && value !== null && typeof value !== type) throw kit.invalidType(`options.${name}`, `of type ${type}`, value);
    return value;
  };

  // request reads the arguments of spawn and its like into what the host is asked.
  function request(file, args, options) {
    text(file, "file");
    if (file === "") throw native.invalidValue("file", file, "cannot be empty");
    [args, options] = split(args, options);
    options = options === undefined ? {} : object(options, "options");
    args.forEach((a, i) => text(a, `args[${i}]`));
    const cwd = pathOf(options.cwd, "options.cwd");
    optional(options, "detached", "boolean");
    optional(options, "argv0", "string");
    optional(options, "windowsHide", "boolean");
    for (const name of ["uid", "gid"]) {
      if (options[name] !== undefined && options[name] !== null) {
        throw kit.coded(Error, "ERR_FEATURE_UNAVAILABLE_ON_PLATFORM", `options.${name} is not available: a program runs as the user of mcpx`);
      }
    }
    const { shell } = options;
    if (shell !== undefined && shell !== null && typeof shell !== "boolean" && typeof shell !== "string") {
      throw kit.invalidType("options.shell", "one of type boolean or string", shell);
    }
    if (shell) {
      args = ["-c", [file, ...args].join(" ")];
      file = typeof shell === "string" ? shell : "/bin/sh";
    }
    const env = {};
    const given = options.env ?? native.environment();
    for (const name in given) {
      if (given[name] !== undefined) env[text(name, "options.env")] = text(`${given[name]}`, `options.env['${name}']`);
    }
    const argv0 = options.argv0 ?? file;
    return { head: { file, args, argv0, cwd, env, inherit: !options.env }, options, spawnargs: [argv0, ...args] };
  }

  // plumbing says for each of the first three streams what it is: a pipe, nothing, or the
  // number of one of the run's own.
  function plumbing(stdio, fallback = "pipe") {
    let list = stdio ?? fallback;
    if (typeof list === "string") {
      if (!["pipe", "overlapped", "ignore", "inherit"].includes(list)) throw native.invalidValue("stdio", stdio, "is invalid");
      list = [list, list, list];
    }
    if (!Array.isArray(list)) throw native.invalidValue("stdio", stdio, "is invalid");
    return Array.from({ length: Math.max(3, list.length) }, (_, i) => {
      const one = list[i];
      if (one === "pipe" || one === "overlapped" || (one === undefined || one === null) && i < 3) {
        if (i > 2) throw kit.coded(Error, "ERR_FEATURE_UNAVAILABLE_ON_PLATFORM", "a program has no pipes but its three standard streams here");
        return "pipe";
      }
      if (one === "ignore" || one === undefined || one === null) return "ignore";
      if (one === "ipc") throw kit.coded(Error, "ERR_FEATURE_UNAVAILABLE_ON_PLATFORM", "messages between processes are not available");
      const fd = one === "inherit" ? i : typeof one === "number" ? one : typeof one === "object" ? one.fd : undefined;
      if (fd === 0 && i === 0 || (fd === 1 || fd === 2) && i > 0) return fd;
      if (typeof fd === "number" && one !== "inherit") {
        throw kit.coded(Error, "ERR_FEATURE_UNAVAILABLE_ON_PLATFORM", "a program can only inherit the standard streams of the script");
      }
      throw native.invalidValue("stdio", one, "is invalid");
    });
  }

  const piped = (pipes) => ({ stdin: pipes[0] !== "ignore", stdout: pipes[1] !== "ignore", stderr: pipes[2] !== "ignore" });

  function timeoutOf(value) {
    if (value === undefined || value === null) return 0;
    if (!(Number.isInteger(value) && value >= 0)) throw native.outOfRange("timeout", "an unsigned integer", value);
    return value;
  }

  function maxBufferOf(value, fallback) {
    if (value === undefined || value === null) return fallback;
    if (typeof value !== "number" || value < 0) throw native.outOfRange("options.maxBuffer", "a positive number", value);
    return value;
  }

  // failure is what a script sees of an error of the host, or undefined if it is to see
  // that itself.
  function failure(error, syscall, path, spawnargs) {
    const { code } = error;
    if (typeof code !== "string" || !Object.hasOwn(errnos, code)) return undefined;
    const made = new Error(`${syscall} ${code}`);
    const stack = typeof error.stack === "string" ? error.stack.indexOf("\n\tat ") : -1;
    if (stack >= 0) kit.hidden(made, "stack", `Error: ${made.message}${error.stack.slice(stack)}`);
    made.errno = errnos[code];
    made.code = code;
    made.syscall = syscall;
    if (path !== undefined) assign(made, { path, spawnargs });
    return made;
  }

  function abortError(signal) {
    const e = new Error("The operation was aborted", { cause: signal.reason });
    e.code = "ABORT_ERR";
    kit.hidden(e, "name", "AbortError");
    return e;
  }

  function checkSignal(signal) {
    if (signal !== undefined && (signal === null || typeof signal !== "object" || !("aborted" in signal))) {
      throw kit.invalidType("options.signal", "an instance of AbortSignal", signal);
    }
  }

  // A program that runs.

  const states = new WeakMap();
  let classes;
  const family = () => classes ??= makeClasses();

  function makeClasses() {
    const EventEmitter = native.require("node:events");
    const { Readable, Writable } = native.require("node:stream");

    class ChildProcess extends EventEmitter {
      constructor() {
        super();
        assign(this, { connected: false, signalCode: null, exitCode: null, killed: false, spawnfile: null, spawnargs: undefined, pid: undefined });
      }
      kill(signal = "SIGTERM") {
        const name = signalOf(signal === null ? "SIGTERM" : signal, "signal");
        const state = states.get(this);
        if (state === undefined || state.ended) return false;
        const sent = native.kill(state.id, name === 0 ? "0" : name);
        if (sent && name !== 0) this.killed = true;
        return sent;
      }
      ref() {
        const state = states.get(this);
        if (state !== undefined && !state.closed) state.release ??= native.hold();
      }
      unref() {
        const state = states.get(this);
        state?.release?.();
        if (state !== undefined) state.release = undefined;
      }
      [Symbol.dispose ?? Symbol("dispose")]() {
        if (!this.killed) this.kill();
      }
    }

    class Output extends Readable {
      #id; #stream; #over = false;
      constructor(id, stream) {
        super({ highWaterMark: 65536 });
        this.#id = id;
        this.#stream = stream;
      }
      _read() {
        if (this.#over) return;
        chain(native.read(this.#id, this.#stream), ([bytes, end]) => {
          if (this.destroyed) return;
          if (bytes.length > 0) this.push(bytes);
          if (end) {
            this.#over = true;
            this.push(null);
          }
        }, (error) => this.destroy(error));
      }
    }

    class Input extends Writable {
      #id;
      constructor(id) {
        super({ decodeStrings: true });
        this.#id = id;
      }
      _write(chunk, encoding, done) { this.#send(chunk, false, done); }
      _final(done) { this.#send(native.encode("", "utf8"), true, () => done()); }
      _destroy(error, done) {
        // A program whose input is given up sees its end.
        if (!this.writableFinished) this.#send(native.encode("", "utf8"), true, () => {});
        done(error);
      }
      #send(chunk, end, done) {
        chain(native.write(this.#id, chunk, end), () => done(), (error) => done(failure(error, "write") ?? error));
      }
    }
    for (const Class of [Output, Input]) defineProperty(Class, "name", { value: "Socket", configurable: true });
    return { ChildProcess, Output, Input };
  }

  // spawn starts a program at once, so that its pid is known and a refusal is thrown.
  function spawn(file, args, options) {
    const { head, options: o, spawnargs } = request(file, args, options);
    const pipes = plumbing(o.stdio);
    const timeout = timeoutOf(o.timeout);
    const killSignal = signalOf(o.killSignal ?? "SIGTERM");
    checkSignal(o.signal);
    const { ChildProcess, Output, Input } = family();
    const child = new ChildProcess();
    child.spawnfile = head.file;
    child.spawnargs = spawnargs;
    let started;
    try {
      started = native.start(assign(head, piped(pipes)));
    } catch (error) {
      const seen = failure(error, `spawn ${head.file}`, head.file, head.args);
      if (seen === undefined) throw error;
      stillborn(child, pipes, seen);
      return child;
    }
    child.pid = started.pid;
    const state = { id: started.id, ended: false, closed: false, open: 1, release: native.hold() };
    states.set(child, state);
    const closed = () => {
      if (--state.open > 0) return;
      state.closed = true;
      state.release?.();
      child.emit("close", child.exitCode, child.signalCode);
    };

    child.stdin = pipes[0] === "pipe" ? new Input(state.id) : null;
    if (pipes[0] === 0) inherit(state);
    for (const [i, name] of [[1, "stdout"], [2, "stderr"]]) {
      child[name] = null;
      if (pipes[i] === "ignore") continue;
      state.open++;
      if (pipes[i] === "pipe") {
        child[name] = new Output(state.id, i);
        child[name].on("close", closed);
      } else show(state, i, pipes[i], closed);
    }
    child.stdio = [child.stdin, child.stdout, child.stderr];

    const undo = [];
    const stop = (error) => {
      try {
        if (!child.kill(killSignal)) return;
      } catch (e) {
        error = e;
      }
      if (error !== undefined) child.emit("error", error);
    };
    if (timeout > 0) undo.push(native.later(() => stop(), timeout));
    if (o.signal !== undefined) {
      const { signal } = o;
      const abort = () => stop(abortError(signal));
      if (signal.aborted) native.tick(abort);
      else {
        signal.addEventListener("abort", abort, { once: true });
        undo.push(() => signal.removeEventListener("abort", abort));
      }
    }

    native.tick(() => child.emit("spawn"));
    chain(native.wait(state.id), ([code, signal]) => {
      state.ended = true;
      undo.forEach((fn) => fn());
      child.exitCode = code;
      child.signalCode = signal;
      child.stdin?.destroy();
      native.tick(() => {
        child.emit("exit", code, signal);
        // What nobody reads is read now, so that the end comes.
        for (const stream of [child.stdout, child.stderr]) {
          if (stream !== null && stream.readable && stream.readableFlowing === null && stream.listenerCount("readable") === 0) stream.resume();
        }
        closed();
      });
    }, (error) => {
      state.ended = true;
      undo.forEach((fn) => fn());
      state.release?.();
      native.tick(() => child.emit("error", error));
    });
    return child;
  }

  // stillborn lets a child that could not be started say so, as Node does.
  function stillborn(child, pipes, error) {
    const { Readable, Writable } = native.require("node:stream");
    const empty = (i) => pipes[i] !== "pipe" ? null : i === 0 ? new Writable({ write: (c, e, done) => done() }) : new Readable({ read() { this.push(null); } });
    child.stdin = empty(0);
    child.stdout = empty(1);
    child.stderr = empty(2);
    child.stdio = [child.stdin, child.stdout, child.stderr];
    child.exitCode = error.errno;
    native.tick(() => {
      child.stdin?.destroy();
      child.stdout?.resume();
      child.stderr?.resume();
      child.emit("error", error);
      native.tick(() => child.emit("close", error.errno, null));
    });
  }

  // show writes what a program writes to the run's own output.
  function show(state, stream, fd, closed) {
    chain(native.read(state.id, stream), ([bytes, end]) => {
      native.output(fd, bytes);
      if (end) closed();
      else show(state, stream, fd, closed);
    }, () => closed());
  }

  // inherit hands the run's input on while the program runs.
  function inherit(state) {
    chain(native.input(), ([bytes, end]) => {
      if (state.ended) return;
      chain(native.write(state.id, bytes, end), () => { if (!end) inherit(state); }, () => {});
    }, () => chain(native.write(state.id, native.encode("", "utf8"), true), () => {}, () => {}));
  }

  // With a callback.

  const isText = (encoding) => typeof encoding === "string" && encoding !== "buffer";

  function execFile(file, args, options, callback) {
    if (typeof args === "function") [args, options, callback] = [[], {}, args];
    else if (args !== null && args !== undefined && typeof args === "object" && !Array.isArray(args)) [args, options, callback] = [[], args, options];
    else if (args !== null && args !== undefined && !Array.isArray(args)) throw kit.invalidType("args", "of type object", args);
    if (typeof options === "function") [options, callback] = [{}, options];
    if (callback !== undefined && callback !== null && typeof callback !== "function") throw kit.invalidType("callback", "of type function", callback);
    options = assign({ encoding: "utf8", timeout: 0, maxBuffer: 1024 * 1024, killSignal: "SIGTERM", shell: false }, options ?? {});
    const most = maxBufferOf(options.maxBuffer, 1024 * 1024);
    const timeout = timeoutOf(options.timeout);
    const killSignal = signalOf(options.killSignal);
    const child = spawn(file, args ?? [], assign({}, options, { timeout: undefined, stdio: undefined, killSignal }));
    const parts = [[], []], sizes = [0, 0];
    let killed = false, failed = null, over = false, clear;
    let cmd = file;
    if (args?.length > 0) cmd += ` ${args.join(" ")}`;
    const encoding = options.encoding;
    const output = (i) => isText(encoding) ? native.decode(native.join(parts[i]), encoding) : native.join(parts[i]);

    function done(code, signal) {
      if (over) return;
      over = true;
      clear?.();
      if (!callback) return;
      const stdout = output(0), stderr = output(1);
      if (!failed && code === 0 && signal === null) return callback(null, stdout, stderr);
      if (!failed) {
        const message = `Command failed: ${cmd}\n${isText(encoding) ? stderr : native.decode(stderr, "utf8")}`;
        failed = new Error(message);
        assign(failed, { code, killed: child.killed || killed, signal });
      }
      failed.cmd = cmd;
      callback(failed, stdout, stderr);
    }
    const stop = () => {
      child.stdout?.destroy();
      child.stderr?.destroy();
      killed = true;
      try {
        child.kill(killSignal);
      } catch (error) {
        failed ??= error;
        done();
      }
    };
    if (timeout > 0) clear = native.later(stop, timeout);
    for (const [i, name] of [[0, "stdout"], [1, "stderr"]]) {
      child[name]?.on("data", (bytes) => {
        const room = most - sizes[i];
        sizes[i] += bytes.length;
        if (bytes.length <= room) return parts[i].push(bytes);
        parts[i].push(bytes.subarray(0, Math.max(room, 0)));
        failed ??= kit.coded(RangeError, "ERR_CHILD_PROCESS_STDIO_MAXBUFFER", `${name} maxBuffer length exceeded`);
        stop();
      });
    }
    child.on("close", done);
    child.on("error", (error) => {
      failed = error;
      child.stdout?.destroy();
      child.stderr?.destroy();
      done();
    });
    return child;
  }

  function normal(command, options, callback) {
    text(command, "command");
    if (typeof options === "function") [options, callback] = [undefined, options];
    options = assign({}, options ?? {});
    options.shell = typeof options.shell === "string" ? options.shell : true;
    return [command, options, callback];
  }

  function exec(command, options, callback) {
    [command, options, callback] = normal(command, options, callback);
    return execFile(command, options, callback);
  }

  function promising(start) {
    return (...args) => {
      let resolve, reject;
      const promise = new Promise((ok, no) => { resolve = ok; reject = no; });
      promise.child = start(...args, (error, stdout, stderr) => {
        if (error) reject(assign(error, { stdout, stderr }));
        else resolve({ stdout, stderr });
      });
      return promise;
    };
  }
  for (const fn of [exec, execFile]) {
    kit.hidden(fn, promisified, defineProperty(promising(fn), "name", { value: fn.name, configurable: true }));
  }

  // To the end.

  function spawnSync(file, args, options) {
    const { head, options: o } = request(file, args, options);
    const timeout = timeoutOf(o.timeout);
    const most = maxBufferOf(o.maxBuffer, 1024 * 1024);
    const killSignal = signalOf(o.killSignal ?? "SIGTERM");
    const pipes = plumbing(o.stdio);
    let input = pipes[0] === 0 ? true : undefined;
    if (o.input !== undefined && o.input !== null) {
      input = typeof o.input === "string" ? native.encode(o.input, isText(o.encoding) ? o.encoding : "utf8") : native.bytes(o.input);
      if (input === undefined) throw kit.invalidType("options.stdio[0]", "of type string or an instance of Buffer, TypedArray, or DataView", o.input);
      pipes[0] = "pipe";
    }
    const fail = (code, error) => failure(error ?? { code }, `spawnSync ${head.file}`, head.file, head.args);
    let ended;
    try {
      ended = native.sync(assign({}, head, piped(pipes)), input, {
        timeout, killSignal, maxBuffer: most,
        showStdout: typeof pipes[1] === "number" ? pipes[1] : undefined, showStderr: typeof pipes[2] === "number" ? pipes[2] : undefined,
      });
    } catch (error) {
      const seen = fail(undefined, error);
      if (seen === undefined) throw error;
      return { error: seen, status: null, signal: null, output: null, pid: 0, stdout: null, stderr: null };
    }
    const shown = (i, bytes) => pipes[i] !== "pipe" ? null : isText(o.encoding) ? native.decode(bytes, o.encoding) : bytes;
    const output = [null, shown(1, ended.stdout), shown(2, ended.stderr)];
    const result = { status: ended.code, signal: ended.signal, output, pid: ended.pid, stdout: output[1], stderr: output[2] };
    return ended.failed === undefined ? result : { error: fail(ended.failed), ...result };
  }

  // checked returns the output of a program that ended well, and throws what else happened.
  function checked(result, options, inherits, command) {
    if (inherits && result.stderr !== null && result.stderr.length > 0) {
      native.output(2, typeof result.stderr === "string" ? native.encode(result.stderr, "utf8") : result.stderr);
    }
    if (result.error) throw assign(result.error, result);
    if (result.status === 0) return result.stdout;
    let message = `Command failed: ${command}`;
    if (result.stderr !== null && result.stderr.length > 0) {
      message += `\n${typeof result.stderr === "string" ? result.stderr : native.decode(result.stderr, "utf8")}`;
    }
    throw assign(new Error(message), result);
  }

  function execFileSync(file, args, options) {
    [args, options] = split(args, options);
    const result = spawnSync(file, args, options);
    return checked(result, options, !options?.stdio, [file, ...args].join(" "));
  }

  function execSync(command, options) {
    [command, options] = normal(command, options);
    const result = spawnSync(command, options);
    return checked(result, options, !options.stdio, command);
  }

  function fork(modulePath) {
    if (modulePath === undefined || pathOf(modulePath, "modulePath") === undefined) throw kit.invalidType("modulePath", "of type string or an instance of Buffer or URL", modulePath);
    throw kit.coded(Error, "ERR_FEATURE_UNAVAILABLE_ON_PLATFORM", "child_process.fork is not available: a script cannot start another script with messages between them; use spawn");
  }

  const exports = { exec, execFile, execFileSync, execSync, fork, spawn, spawnSync };
  const settle = (value) => defineProperty(exports, "ChildProcess", { value, writable: true, enumerable: true, configurable: true });
  defineProperty(exports, "ChildProcess", {
    get() { settle(family().ChildProcess); return exports.ChildProcess; }, set: settle, enumerable: true, configurable: true,
  });
  return exports;
})
