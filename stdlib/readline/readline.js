(function (native, kit) {
  const EventEmitter = native.events();
  const lineEnd = /\r\n|\n|\r|\u2028|\u2029/;

  function usedAfterClose() {
    return kit.coded(Error, "ERR_USE_AFTER_CLOSE", "readline was closed");
  }

  function abortError(signal) {
    const e = new Error("The operation was aborted", { cause: signal.reason });
    e.name = "AbortError";
    e.code = "ABORT_ERR";
    return e;
  }

  // Lines reads a stream line by line. A terminal behind it edits lines itself, before
  // they get here.
  class Lines extends EventEmitter {
    #decoder = new TextDecoder();
    #rest = "";
    #sawReturn = false;
    #prompt = "> ";
    #before = "";
    #answer = undefined;

    constructor(input, output, completer, terminal) {
      super();
      let prompt, signal;
      if (input?.input) ({ input, output, completer, terminal, prompt, signal } = input);
      if (typeof input?.on !== "function") throw kit.invalidType("input", "an instance of Stream", input);
      if (signal !== undefined && (signal === null || typeof signal !== "object" || !("aborted" in signal))) {
        throw kit.invalidType("options.signal", "an instance of AbortSignal", signal);
      }
      this.input = input;
      this.output = output ?? undefined;
      this.completer = completer;
      this.terminal = false;
      this.line = "";
      this.closed = false;
      this.paused = false;
      if (prompt !== undefined) this.#prompt = `${prompt}`;
      const onData = (chunk) => this.#take(chunk);
      const onEnd = () => {
        this.#rest += this.#decoder.decode();
        if (this.#rest !== "") {
          const line = this.#rest;
          this.#rest = "";
          this.#deliver(line);
        }
        this.close();
      };
      const onError = (error) => this.emit("error", error);
      input.on("data", onData);
      input.on("end", onEnd);
      input.on("error", onError);
      this.once("close", () => {
        input.removeListener("data", onData);
        input.removeListener("end", onEnd);
        input.removeListener("error", onError);
      });
      if (signal) {
        if (signal.aborted) native.tick(() => this.close());
        else {
          const aborted = () => this.close();
          signal.addEventListener("abort", aborted, { once: true });
          this.once("close", () => signal.removeEventListener("abort", aborted));
        }
      }
      input.resume();
    }

    #take(chunk) {
      let text = typeof chunk === "string" ? chunk : this.#decoder.decode(chunk, { stream: true });
      if (text === "") return;
      if (this.#sawReturn && text[0] === "\n") text = text.slice(1);
      this.#sawReturn = text.endsWith("\r");
      const lines = text.split(lineEnd);
      lines[0] = this.#rest + lines[0];
      this.#rest = lines.pop();
      for (const line of lines) this.#deliver(line);
    }

    #deliver(line) {
      if (this.#answer === undefined) {
        this.emit("line", line);
        return;
      }
      const answer = this.#answer;
      this.#answer = undefined;
      this.setPrompt(this.#before);
      answer(line);
    }

    get cursor() { return 0; }
    get columns() { return this.output?.columns; }
    getCursorPos() { return { rows: 0, cols: 0 }; }
    setPrompt(prompt) { this.#prompt = `${prompt}`; }
    getPrompt() { return this.#prompt; }

    prompt() {
      if (this.closed) throw usedAfterClose();
      if (this.paused) this.resume();
      this.output?.write(this.#prompt);
    }

    ask(query, answer) {
      if (this.closed) throw usedAfterClose();
      if (this.#answer !== undefined) {
        this.prompt();
        return;
      }
      this.#before = this.#prompt;
      this.setPrompt(query);
      this.#answer = answer;
      this.prompt();
    }

    forget() {
      this.#answer = undefined;
      this.setPrompt(this.#before);
    }

    pause() {
      if (this.paused) return undefined;
      this.input.pause();
      this.paused = true;
      this.emit("pause");
      return this;
    }

    resume() {
      if (!this.paused) return undefined;
      this.input.resume();
      this.paused = false;
      this.emit("resume");
      return this;
    }

    write(data) {
      if (this.paused) this.resume();
      if (data !== undefined && data !== null) this.#take(typeof data === "string" || ArrayBuffer.isView(data) ? data : `${data}`);
    }

    close() {
      if (this.closed) return;
      this.pause();
      this.closed = true;
      this.emit("close");
    }

    [Symbol.asyncIterator]() {
      if (this.closed) {
        return { next: async () => ({ value: undefined, done: true }), [Symbol.asyncIterator]() { return this; } };
      }
      const events = EventEmitter.on(this, "line", { close: ["close"] });
      return {
        async next() {
          const { value, done } = await events.next();
          return done ? { value: undefined, done } : { value: value[0], done };
        },
        return(value) {
          events.return();
          return Promise.resolve({ value, done: true });
        },
        [Symbol.asyncIterator]() { return this; },
      };
    }
  }

  class Interface extends Lines {
    question(query, options, callback) {
      callback = typeof options === "function" ? options : callback;
      if (options === null || typeof options !== "object") options = {};
      const { signal } = options;
      if (signal?.aborted) return;
      if (typeof callback !== "function") return;
      if (signal) {
        const aborted = () => this.forget();
        signal.addEventListener("abort", aborted, { once: true });
        const answer = callback;
        callback = (line) => {
          signal.removeEventListener("abort", aborted);
          answer(line);
        };
      }
      this.ask(query, callback);
    }
  }
  Object.defineProperty(Interface.prototype.question, Symbol.for("nodejs.util.promisify.custom"), {
    value(query, options) {
      return asked(this, query, options);
    },
  });

  // asked is a question whose answer is a promise.
  function asked(lines, query, options) {
    return new Promise((resolve, reject) => {
      const signal = options?.signal;
      if (signal?.aborted) {
        reject(abortError(signal));
        return;
      }
      const aborted = () => {
        lines.forget();
        reject(abortError(signal));
      };
      signal?.addEventListener("abort", aborted, { once: true });
      lines.ask(query, (line) => {
        signal?.removeEventListener("abort", aborted);
        resolve(line);
      });
    });
  }

  class PromiseInterface extends Lines {
    question(query, options) {
      return asked(this, query, options);
    }
  }
  Object.defineProperty(PromiseInterface, "name", { value: "Interface", configurable: true });

  function checkCallback(callback) {
    if (callback !== undefined && typeof callback !== "function") throw kit.invalidType("callback", "of type function", callback);
  }

  // control writes what moves the cursor of a terminal.
  function control(stream, sequence, callback) {
    checkCallback(callback);
    if (stream === null || stream === undefined || sequence === "") {
      if (callback) native.tick(() => callback(null));
      return true;
    }
    return stream.write(sequence, callback);
  }

  const moved = (n, back, forth) => (n < 0 ? `\x1b[${-n}${back}` : n > 0 ? `\x1b[${n}${forth}` : "");

  return {
    Interface,
    clearLine: function clearLine(stream, direction, callback) {
      return control(stream, direction < 0 ? "\x1b[1K" : direction > 0 ? "\x1b[0K" : "\x1b[2K", callback);
    },
    clearScreenDown: function clearScreenDown(stream, callback) {
      return control(stream, "\x1b[0J", callback);
    },
    createInterface: function createInterface(input, output, completer, terminal) {
      return new Interface(input, output, completer, terminal);
    },
    cursorTo: function cursorTo(stream, x, y, callback) {
      if (typeof y === "function") {
        callback = y;
        y = undefined;
      }
      checkCallback(callback);
      for (const [name, n] of [["x", x], ["y", y]]) {
        if (Number.isNaN(n)) throw kit.coded(TypeError, "ERR_INVALID_ARG_VALUE", `The argument '${name}' is invalid. Received NaN`);
      }
      if (typeof x !== "number" && typeof y !== "number") return control(undefined, "", callback);
      if (typeof x !== "number") throw kit.coded(TypeError, "ERR_INVALID_CURSOR_POS", "Cannot set cursor row without setting its column");
      return control(stream, typeof y === "number" ? `\x1b[${y + 1};${x + 1}H` : `\x1b[${x + 1}G`, callback);
    },
    moveCursor: function moveCursor(stream, dx, dy, callback) {
      return control(stream, moved(dx, "D", "C") + moved(dy, "A", "B"), callback);
    },
    promises: {
      Interface: PromiseInterface,
      createInterface: function createInterface(input, output, completer, terminal) {
        return new PromiseInterface(input, output, completer, terminal);
      },
    },
  };
})
