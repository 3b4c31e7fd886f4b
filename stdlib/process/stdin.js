(function (native) {
  const { Readable } = native.stream();

  // ReadStream asks for input only when it is read, and keeps the run alive only while
  // somebody waits for the answer.
  class ReadStream extends Readable {
    #pending = false;
    #wanted = true;

    constructor() {
      super({ highWaterMark: 65536, autoDestroy: true });
      this.fd = 0;
      this.isRaw = false;
      this.on("pause", () => native.release());
      this.on("resume", () => { if (this.#pending && this.#wanted) native.hold(); });
    }

    _read() {
      if (this.#wanted) native.hold();
      if (this.#pending) return;
      this.#pending = true;
      native.read().then((chunk) => {
        this.#pending = false;
        native.release();
        this.push(chunk);
      }, (error) => {
        this.#pending = false;
        native.release();
        this.destroy(error);
      });
    }

    _destroy(error, done) {
      native.release();
      done(error);
    }

    ref() {
      this.#wanted = true;
      if (this.#pending) native.hold();
      return this;
    }

    unref() {
      this.#wanted = false;
      native.release();
      return this;
    }

    setRawMode(mode) {
      this.isRaw = Boolean(mode);
      return this;
    }
  }
  return { stdin: new ReadStream() };
})
