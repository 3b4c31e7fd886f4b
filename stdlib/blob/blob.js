(function (native, kit) {
  const { webidl, inspected } = kit;
  const { isView } = ArrayBuffer;
  const pieceSize = 64 * 1024;

  const isBuffer = (v) => Object.prototype.toString.call(v) === "[object ArrayBuffer]" && v instanceof ArrayBuffer;
  const scalar = (v) => native.scalar(`${v}`);

  // Blob

  let bytesOf; // of a blob, undefined for anything else
  const secret = {};

  function typeOf(value) {
    const text = `${value}`;
    return /[^\u0020-\u007e]/.test(text) ? "" : text.toLowerCase();
  }

  // partsOf lists what a blob is made of, as texts and bytes.
  function partsOf(sources, transparent) {
    if (sources === null || typeof sources !== "object" && typeof sources !== "function" || typeof sources[Symbol.iterator] !== "function") {
      throw kit.coded(TypeError, "ERR_INVALID_ARG_TYPE", `The "sources" argument must be a sequence. ${kit.received(sources)}`);
    }
    const parts = [];
    for (const part of [...sources]) {
      if (isView(part) || isBuffer(part)) parts.push(part);
      else if (bytesOf(part) !== undefined) parts.push(bytesOf(part));
      else parts.push(transparent ? `${part}` : `${part}`.replace(/\r\n?|\n/g, "\n"));
    }
    return parts;
  }

  class Blob {
    #bytes;
    #type = "";
    static { bytesOf = (o) => o !== null && typeof o === "object" && #bytes in o ? o.#bytes : undefined; }
    constructor(sources = undefined, options = undefined, bytes = undefined) {
      if (sources === secret) {
        this.#type = options;
        this.#bytes = bytes;
        return;
      }
      if (options !== undefined && options !== null && typeof options !== "object" && typeof options !== "function") {
        throw kit.coded(TypeError, "ERR_INVALID_ARG_TYPE", `The "options" argument must be a dictionary. ${kit.received(options)}`);
      }
      const { type = "", endings = "transparent" } = options ?? {};
      if (endings !== "transparent" && endings !== "native") {
        throw kit.coded(TypeError, "ERR_INVALID_ARG_VALUE", `The property 'options.endings' is invalid. Received '${endings}'`);
      }
      this.#bytes = native.join(sources === undefined ? [] : partsOf(sources, endings === "transparent"));
      this.#type = typeOf(type);
    }
    get type() { own(this); return this.#type; }
    get size() { return own(this).byteLength; }
    slice(start = 0, end = undefined, contentType = "") {
      const bytes = own(this);
      return new Blob(secret, typeOf(contentType), bytes.subarray(start, end));
    }
    async arrayBuffer() { return own(this).slice().buffer; }
    async bytes() { return own(this).slice(); }
    async text() { return native.text(own(this)); }
    stream() {
      const bytes = own(this);
      let at = 0;
      return new ReadableStream({ type: "bytes", pull(controller) {
        if (at < bytes.byteLength) {
          controller.enqueue(bytes.slice(at, at + pieceSize));
          at += pieceSize;
        }
        if (at >= bytes.byteLength) {
          controller.close();
          controller.byobRequest?.respond(0);
        }
      } });
    }
  }
  Object.defineProperty(Blob, "length", { value: 0 });
  webidl(Blob);
  inspected(Blob, (b) => ({ size: b.size, type: b.type }));

  function own(blob) {
    const bytes = bytesOf(blob);
    if (bytes === undefined) throw kit.invalidThis("Blob");
    return bytes;
  }

  let isFile;

  class File extends Blob {
    #name;
    #lastModified;
    static { isFile = (o) => o !== null && typeof o === "object" && #name in o; }
    constructor(fileBits, fileName, options = undefined) {
      if (arguments.length < 2) throw kit.missing("fileBits", "fileName");
      super(fileBits, options);
      this.#name = scalar(fileName);
      const { lastModified } = options ?? {};
      this.#lastModified = lastModified === undefined ? Date.now() : Math.trunc(+lastModified) || 0;
    }
    get name() { return theFile(this).#name; }
    get lastModified() { return theFile(this).#lastModified; }
  }
  webidl(File);
  inspected(File, (f) => ({ size: f.size, type: f.type, name: f.name, lastModified: f.lastModified }));

  function theFile(o) {
    if (!isFile(o)) throw kit.invalidThis("File");
    return o;
  }

  // FormData

  let entriesOf;

  class FormData {
    #entries = [];
    static { entriesOf = (o) => o !== null && typeof o === "object" && #entries in o ? o.#entries : undefined; }
    constructor(form = undefined) {
      if (form !== undefined) {
        throw new TypeError("FormData constructor: Argument 1 could not be converted to: undefined.");
      }
    }
    append(name, value, filename = undefined) {
      const entries = theEntries(this, "append", 2, arguments.length);
      entries.push(entry("append", name, value, filename, arguments.length > 2));
    }
    delete(name) {
      const entries = theEntries(this, "delete", 1, arguments.length);
      name = scalar(name);
      const rest = entries.filter((e) => e[0] !== name);
      entries.length = 0;
      entries.push(...rest);
    }
    get(name) {
      const entries = theEntries(this, "get", 1, arguments.length);
      name = scalar(name);
      const found = entries.find((e) => e[0] === name);
      return found === undefined ? null : found[1];
    }
    getAll(name) {
      const entries = theEntries(this, "getAll", 1, arguments.length);
      name = scalar(name);
      return entries.filter((e) => e[0] === name).map((e) => e[1]);
    }
    has(name) {
      const entries = theEntries(this, "has", 1, arguments.length);
      name = scalar(name);
      return entries.some((e) => e[0] === name);
    }
    set(name, value, filename = undefined) {
      const entries = theEntries(this, "set", 2, arguments.length);
      const made = entry("set", name, value, filename, arguments.length > 2);
      const at = entries.findIndex((e) => e[0] === made[0]);
      if (at < 0) {
        entries.push(made);
        return;
      }
      const rest = entries.filter((e, i) => i < at || e[0] !== made[0]);
      rest.splice(at, 0, made);
      entries.length = 0;
      entries.push(...rest);
    }
  }
  kit.pairs(FormData, (o, i) => theEntries(o)[i]);
  webidl(FormData);
  for (const [name, length] of [["append", 2], ["set", 2]]) Object.defineProperty(FormData.prototype[name], "length", { value: length });
  inspected(FormData, (o) => {
    const shown = {};
    for (const [name, value] of entriesOf(o)) {
      if (!Object.hasOwn(shown, name)) shown[name] = value;
      else if (Array.isArray(shown[name])) shown[name].push(value);
      else shown[name] = [shown[name], value];
    }
    return shown;
  });

  function theEntries(o, method, needed = 0, given = 0) {
    const entries = entriesOf(o);
    if (entries === undefined) throw new TypeError("Illegal invocation");
    if (given < needed) {
      throw new TypeError(`FormData.${method}: ${needed} argument${needed > 1 ? "s" : ""} required, but${given ? " only" : ""} ${given} found.`);
    }
    return entries;
  }

  function entry(method, name, value, filename, named) {
    name = scalar(name);
    if (bytesOf(value) === undefined) {
      if (named) throw new TypeError(`Failed to execute '${method}' on 'FormData': parameter 2 is not of type 'Blob'`);
      return [name, scalar(value)];
    }
    if (!isFile(value)) value = new File([value], named ? filename : "blob", { type: value.type });
    else if (named) value = new File([value], filename, { type: value.type, lastModified: value.lastModified });
    return [name, value];
  }

  return { Blob, File, FormData };
})
