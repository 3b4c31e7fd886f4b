(function (native, kit) {
  const { webidl, inspected, hidden } = kit;
  const { isView } = ArrayBuffer;
  const { parse, stringify } = JSON;
  const noop = () => {};
  const isObject = (v) => v !== null && (typeof v === "object" || typeof v === "function");
  const isBuffer = (v) => v instanceof ArrayBuffer;
  const kDisturbed = Symbol.for("nodejs.stream.disturbed");
  const tagged = (v, ...tags) => isObject(v) && tags.includes(v[Symbol.toStringTag]);

  function needed(where, n, given) {
    if (given < n) throw new TypeError(`${where}: ${n} argument${n > 1 ? "s" : ""} required, but${given ? " only" : ""} ${given} found.`);
  }

  function dictionary(where, value) {
    if (value === undefined || value === null) return {};
    if (!isObject(value)) throw new TypeError(`${where}: Expected ${String(value)} to be one of: Null, Undefined, Object.`);
    return value;
  }

  // Headers

  const token = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;

  // byteString is a value as text of one byte a character.
  function byteString(value) {
    const text = `${value}`;
    const i = text.search(/[^\u0000-\u00ff]/);
    if (i >= 0) {
      throw new TypeError(`Cannot convert argument to a ByteString because the character at index ${i} has a value of ${text.charCodeAt(i)} which is greater than 255.`);
    }
    return text;
  }

  const trimmed = (value) => value.replace(/^[\t\n\r ]+|[\t\n\r ]+$/g, "");

  function checkedName(where, name) {
    name = byteString(name);
    if (!token.test(name)) throw new TypeError(`${where}: "${name}" is an invalid header name.`);
    return name;
  }

  function checkedValue(where, value) {
    value = trimmed(byteString(value));
    if (/[\0\r\n]/.test(value)) throw new TypeError(`${where}: "${value}" is an invalid header value.`);
    return value;
  }

  // What Headers hold: lists of values by lower-case name, and the name as first written.
  let listOf; // undefined for anything else

  class Headers {
    #list = { byName: new Map(), sorted: undefined, immutable: false };
    static { listOf = (o) => isObject(o) && #list in o ? o.#list : undefined; }
    constructor(init = undefined) {
      if (init !== undefined) fill(this.#list, init);
    }
    append(name, value) {
      const list = headerList(this);
      needed("Headers.append", 2, arguments.length);
      name = checkedName("Headers.append", name);
      value = checkedValue("Headers.append", value);
      mutable(list);
      append(list, name, value);
    }
    delete(name) {
      const list = headerList(this);
      needed("Headers.delete", 1, arguments.length);
      name = checkedName("Headers.delete", name);
      mutable(list);
      list.byName.delete(name.toLowerCase());
      list.sorted = undefined;
    }
    get(name) {
      const list = headerList(this);
      needed("Headers.get", 1, arguments.length);
      return getHeader(list, checkedName("Headers.get", name));
    }
    has(name) {
      const list = headerList(this);
      needed("Headers.has", 1, arguments.length);
      return list.byName.has(checkedName("Headers.has", name).toLowerCase());
    }
    set(name, value) {
      const list = headerList(this);
      needed("Headers.set", 2, arguments.length);
      name = checkedName("Headers.set", name);
      value = checkedValue("Headers.set", value);
      mutable(list);
      setHeader(list, name, value);
    }
    getSetCookie() { return [...headerList(this).byName.get("set-cookie")?.values ?? []]; }
  }
  kit.pairs(Headers, (o, i) => sorted(headerList(o))[i]);
  Object.defineProperty(Headers, "length", { value: 0 });
  webidl(Headers);
  inspected(Headers, (o) => {
    const shown = {};
    for (const { name, values } of listOf(o).byName.values()) shown[name] = values.join(", ");
    return shown;
  });

  function headerList(o) {
    const list = listOf(o);
    if (list === undefined) throw kit.coded(TypeError, "ERR_INVALID_THIS", "Illegal invocation");
    return list;
  }

  function mutable(list) {
    if (list.immutable) throw new TypeError("immutable");
  }

  function append(list, name, value) {
    const key = name.toLowerCase();
    const present = list.byName.get(key);
    if (present === undefined) list.byName.set(key, { name, values: [value] });
    else present.values.push(value);
    list.sorted = undefined;
  }

  function setHeader(list, name, value) {
    list.byName.set(name.toLowerCase(), { name, values: [value] });
    list.sorted = undefined;
  }

  function getHeader(list, name) {
    const present = list.byName.get(name.toLowerCase());
    return present === undefined ? null : present.values.join(", ");
  }

  // sorted lists names and values in the order of iteration.
  function sorted(list) {
    if (list.sorted === undefined) {
      list.sorted = [];
      for (const key of [...list.byName.keys()].sort()) {
        const { values } = list.byName.get(key);
        if (key === "set-cookie") for (const value of values) list.sorted.push([key, value]);
        else list.sorted.push([key, values.join(", ")]);
      }
    }
    return list.sorted;
  }

  function fill(list, init) {
    const where = "Headers.append";
    const add = (name, value) => append(list, checkedName(where, name), checkedValue(where, value));
    if (!isObject(init)) {
      throw new TypeError("Headers constructor: Argument 1 could not be converted to one of: sequence<sequence<ByteString>>, record<ByteString, ByteString>.");
    }
    if (typeof init[Symbol.iterator] === "function") {
      for (const pair of [...init]) {
        const both = [...pair];
        if (both.length !== 2) throw new TypeError(`Headers constructor: expected name/value pair to be length 2, found ${both.length}.`);
        add(both[0], both[1]);
      }
      return;
    }
    for (const name of Reflect.ownKeys(init)) {
      if (typeof name === "symbol") throw new TypeError("Headers constructor: Key is a symbol, which cannot be converted to a ByteString.");
      if (Object.getOwnPropertyDescriptor(init, name)?.enumerable) add(name, init[name]);
    }
  }

  function newHeaders(pairs, immutable) {
    const headers = new Headers();
    const list = listOf(headers);
    for (const [name, value] of pairs) append(list, name, value);
    list.immutable = immutable;
    return headers;
  }

  // Bodies. A body is one of: bytes; a blob or form, which become bytes when they are
  // needed; an exchange, whose bytes the host has; a stream. It becomes a stream when
  // a script asks for that.

  function bodyOf(init, where) {
    const body = { bytes: undefined, blob: undefined, form: undefined, exchange: undefined, stream: undefined, used: false };
    let type = null;
    if (isView(init) || isBuffer(init)) {
      body.bytes = native.copy(init);
    } else if (tagged(init, "Blob", "File")) {
      body.blob = init;
      type = init.type || null;
    } else if (tagged(init, "FormData")) {
      body.form = { entries: [...init], boundary: `----formdata-mcpx-${String(Math.random()).slice(2, 14).padStart(12, "0")}` };
      type = `multipart/form-data; boundary=${body.form.boundary}`;
    } else if (tagged(init, "URLSearchParams")) {
      body.bytes = native.utf8(String(init));
      type = "application/x-www-form-urlencoded;charset=UTF-8";
    } else if (tagged(init, "ReadableStream")) {
      if (init.locked || init[kDisturbed]) throw new TypeError("Response body object should not be disturbed or locked");
      body.stream = init;
    } else if (isObject(init) && typeof init[Symbol.asyncIterator] === "function") {
      body.stream = ReadableStream.from(init);
    } else {
      if (typeof init === "symbol") throw new TypeError(`${where}: body is a symbol, which cannot be converted to a DOMString.`);
      body.bytes = native.utf8(`${init}`);
      type = "text/plain;charset=UTF-8";
    }
    return { body, type };
  }

  // remote is the body of a response, whose bytes the host has.
  function remote(exchange) {
    return { bytes: undefined, blob: undefined, form: undefined, exchange, stream: undefined, used: false };
  }

  // content returns the bytes of a body that is no stream, or a promise of them.
  function content(body) {
    if (body.bytes !== undefined) return body.bytes;
    if (body.blob !== undefined) return body.blob.arrayBuffer().then((b) => new Uint8Array(b));
    if (body.form !== undefined) return encodeForm(body.form);
    return body.exchange.readAll();
  }

  const isUsed = (body) => body !== null && (body.used || body.stream !== undefined && body.stream[kDisturbed]);
  const isUnusable = (body) => isUsed(body) || body !== null && body.stream !== undefined && body.stream.locked;

  function streamOf(body) {
    if (body.stream !== undefined) return body.stream;
    if (body.used) {
      body.stream = new ReadableStream({ type: "bytes" });
      body.stream.getReader();
      return body.stream;
    }
    const { exchange } = body;
    if (exchange !== undefined) {
      body.stream = new ReadableStream({
        type: "bytes",
        start(controller) { exchange.onabort = (reason) => controller.error(reason); },
        async pull(controller) {
          const chunk = await exchange.read();
          if (chunk !== undefined) {
            controller.enqueue(chunk);
            return;
          }
          controller.close();
          controller.byobRequest?.respond(0);
        },
        cancel() { exchange.close(); },
      });
      return body.stream;
    }
    body.stream = new ReadableStream({
      type: "bytes",
      async pull(controller) {
        const bytes = await content(body);
        if (bytes.byteLength > 0) controller.enqueue(bytes.slice());
        controller.close();
        controller.byobRequest?.respond(0);
      },
    });
    return body.stream;
  }

  // consume reads a body to its end.
  async function consume(body) {
    if (body === null) return native.utf8("");
    if (isUnusable(body)) throw new TypeError("Body is unusable: Body has already been read");
    if (body.stream === undefined) {
      body.used = true;
      return content(body);
    }
    const reader = body.stream.getReader();
    const chunks = [];
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return native.join(chunks);
      if (!(value instanceof Uint8Array)) {
        const e = new TypeError("Received non-Uint8Array chunk");
        reader.cancel(e).catch(noop);
        throw e;
      }
      chunks.push(value);
    }
  }

  // copyOf makes a body that can be read besides another one.
  function copyOf(body) {
    if (body === null) return null;
    if (body.stream === undefined && body.exchange === undefined) return { ...body };
    const [one, other] = streamOf(body).tee();
    body.stream = one;
    return { ...body, exchange: undefined, stream: other };
  }

  // mixin gives a class what can be done with a body. part returns what it has: the body
  // and the type of its content.
  function mixin(Class, part) {
    const members = {
      get body() {
        const { body } = part(this);
        return body === null ? null : streamOf(body);
      },
      get bodyUsed() { return isUsed(part(this).body); },
    };
    const own = Object.getOwnPropertyDescriptors(members);
    Object.defineProperties(Class.prototype, own);
    const methods = {
      async arrayBuffer() {
        const { body } = part(this);
        const bytes = await consume(body);
        return bytes === body?.bytes || bytes.byteLength !== bytes.buffer.byteLength ? bytes.slice().buffer : bytes.buffer;
      },
      async blob() {
        const { body, headers } = part(this);
        const bytes = await consume(body);
        return new Blob([bytes], { type: native.mime(getHeader(headers, "content-type") ?? "") });
      },
      async bytes() {
        const { body } = part(this);
        const bytes = await consume(body);
        return bytes === body?.bytes ? bytes.slice() : bytes;
      },
      async formData() {
        const { body, headers } = part(this);
        const type = getHeader(headers, "content-type") ?? "";
        const essence = type.split(";")[0].trim().toLowerCase();
        if (essence !== "multipart/form-data" && essence !== "application/x-www-form-urlencoded") {
          if (isUnusable(body)) throw new TypeError("Body is unusable: Body has already been read");
          throw new TypeError('Content-Type was not one of "multipart/form-data" or "application/x-www-form-urlencoded".');
        }
        const bytes = await consume(body);
        const form = new FormData();
        if (essence === "application/x-www-form-urlencoded") {
          for (const [name, value] of new URLSearchParams(native.text(bytes))) form.append(name, value);
          return form;
        }
        for (const { name, filename, type: contentType, bytes: value } of native.parseForm(bytes, type)) {
          if (filename === undefined) form.append(name, native.text(value));
          else form.append(name, new File([value], filename, { type: contentType }));
        }
        return form;
      },
      async json() {
        const bytes = await consume(part(this).body);
        const value = native.parse(bytes);
        return value === undefined ? parse(native.text(bytes)) : value; // which throws
      },
      async text() { return native.text(await consume(part(this).body)); },
    };
    for (const name of Object.keys(methods)) hidden(Class.prototype, name, methods[name]);
  }

  async function encodeForm({ entries, boundary }) {
    const escaped = (s) => s.replace(/\n/g, "%0A").replace(/\r/g, "%0D").replace(/"/g, "%22");
    const lines = (s) => s.replace(/\r?\n|\r/g, "\r\n");
    const parts = [];
    for (const [name, value] of entries) {
      const head = `--${boundary}\r\nContent-Disposition: form-data; name="${escaped(lines(name))}"`;
      if (typeof value === "string") {
        parts.push(`${head}\r\n\r\n${lines(value)}\r\n`);
      } else {
        parts.push(`${head}; filename="${escaped(value.name)}"\r\nContent-Type: ${value.type || "application/octet-stream"}\r\n\r\n`);
        parts.push(new Uint8Array(await value.arrayBuffer()), "\r\n");
      }
    }
    parts.push(`--${boundary}--\r\n`);
    return native.join(parts);
  }

  // Response

  const secret = {};
  const nullStatus = [101, 204, 205, 304];
  let responseOf;

  class Response {
    #r;
    static { responseOf = (o) => isObject(o) && #r in o ? o.#r : undefined; }
    constructor(body = null, init = undefined) {
      if (body === secret) {
        this.#r = init;
        return;
      }
      init = dictionary("Response constructor", init);
      const { status = 200, statusText = "", headers } = init;
      this.#r = newResponse(status, statusText, headers);
      if (body !== null && body !== undefined) setBody(this.#r, body);
    }
    get type() { return response(this).type; }
    get url() { return response(this).url; }
    get redirected() { return response(this).redirected; }
    get status() { return response(this).status; }
    get ok() { const { status } = response(this); return status >= 200 && status <= 299; }
    get statusText() { return response(this).statusText; }
    get headers() { return response(this).headers; }
    clone() {
      const r = response(this);
      if (isUnusable(r.body)) throw new TypeError("Response.clone: Body has already been consumed.");
      const list = listOf(r.headers);
      const headers = newHeaders([], list.immutable);
      for (const [key, { name, values }] of list.byName) listOf(headers).byName.set(key, { name, values: [...values] });
      return new Response(secret, { ...r, headers, body: copyOf(r.body) });
    }
    static error() {
      return new Response(secret, { type: "error", url: "", redirected: false, status: 0, statusText: "", headers: newHeaders([], true), body: null });
    }
    static json(data, init = undefined) {
      needed("Response.json", 1, arguments.length);
      const text = stringify(data);
      if (text === undefined) throw new TypeError("Value is not JSON serializable");
      const { status = 200, statusText = "", headers } = dictionary("Response.json", init);
      const r = newResponse(status, statusText, headers);
      setBody(r, text, "application/json");
      return new Response(secret, r);
    }
    static redirect(url, status = 302) {
      needed("Response.redirect", 1, arguments.length);
      const to = parsed(url);
      status = Math.trunc(+status);
      if (![301, 302, 303, 307, 308].includes(status)) throw new RangeError(`Invalid status code ${status}`);
      const r = newResponse(status, "", undefined);
      append(listOf(r.headers), "location", to.href);
      listOf(r.headers).immutable = true;
      return new Response(secret, r);
    }
  }
  Object.defineProperty(Response, "length", { value: 0 });
  mixin(Response, (o) => {
    const { body, headers } = response(o);
    return { body, headers: listOf(headers) };
  });
  webidl(Response);
  inspected(Response, (o) => ({
    status: o.status, statusText: o.statusText, headers: o.headers, body: o.body, bodyUsed: o.bodyUsed, ok: o.ok,
    redirected: o.redirected, type: o.type, url: o.url,
  }));

  function response(o) {
    const r = responseOf(o);
    if (r === undefined) throw kit.coded(TypeError, "ERR_INVALID_THIS", "Illegal invocation");
    return r;
  }

  function newResponse(status, statusText, headers) {
    status = Math.trunc(+status);
    if (!(status >= 200 && status <= 599)) throw new RangeError('init["status"] must be in the range of 200 to 599, inclusive.');
    statusText = byteString(statusText);
    if (/[^\t\u0020-\u007e\u0080-\u00ff]/.test(statusText)) throw new TypeError("Invalid statusText");
    return { type: "default", url: "", redirected: false, status, statusText, headers: new Headers(headers ?? undefined), body: null };
  }

  function setBody(r, init, as = undefined) {
    if (nullStatus.includes(r.status)) throw new TypeError(`Response constructor: Invalid response status code ${r.status}`);
    const { body, type } = bodyOf(init, "Response constructor");
    r.body = body;
    addType(r.headers, as ?? type);
  }

  function addType(headers, type) {
    const list = listOf(headers);
    if (type !== null && !list.byName.has("content-type")) append(list, "content-type", type);
  }

  function parsed(url) {
    try {
      return new URL(`${url}`);
    } catch (cause) {
      throw new TypeError(`Failed to parse URL from ${url}`, { cause });
    }
  }

  // Request

  const words = {
    referrerPolicy: ["", "no-referrer", "no-referrer-when-downgrade", "same-origin", "origin", "strict-origin", "origin-when-cross-origin", "strict-origin-when-cross-origin", "unsafe-url"],
    mode: ["navigate", "same-origin", "no-cors", "cors"],
    credentials: ["omit", "same-origin", "include"],
    cache: ["default", "no-store", "reload", "no-cache", "force-cache", "only-if-cached"],
    redirect: ["follow", "manual", "error"],
    duplex: ["half"],
  };
  const defaults = {
    method: "GET", referrer: "about:client", referrerPolicy: "", mode: "cors", credentials: "same-origin", cache: "default",
    redirect: "follow", integrity: "", keepalive: false,
  };
  let requestOf;

  class Request {
    #q;
    static { requestOf = (o) => isObject(o) && #q in o ? o.#q : undefined; }
    constructor(input, init = undefined) {
      if (input === secret) {
        this.#q = init;
        return;
      }
      needed("Request constructor", 1, arguments.length);
      init = dictionary("Request constructor", init);
      const base = requestOf(input);
      const q = this.#q = base === undefined ? { ...defaults, url: parsed(input).href, headers: undefined, signal: undefined, body: null } : { ...base };
      if (base === undefined) {
        const url = new URL(q.url);
        if (url.username !== "" || url.password !== "") throw new TypeError(`Request cannot be constructed from a URL that includes credentials: ${input}`);
      }
      if (init.method !== undefined) q.method = checkedMethod(init.method);
      for (const name of Object.keys(words)) {
        if (init[name] === undefined) continue;
        const value = `${init[name]}`;
        if (!words[name].includes(value)) throw new TypeError(`Request constructor: ${value} is not an accepted type. Expected one of ${words[name].join(", ")}.`);
        q[name] = value;
      }
      if (q.mode === "navigate") throw new TypeError("Request constructor: invalid request mode navigate.");
      for (const name of ["referrer", "integrity"]) if (init[name] !== undefined) q[name] = `${init[name]}`;
      if (init.keepalive !== undefined) q.keepalive = !!init.keepalive;
      const { signal = base?.signal } = init;
      if (signal !== undefined && signal !== null && !tagged(signal, "AbortSignal")) throw new TypeError("Failed to construct 'Request': member signal is not of type AbortSignal.");
      q.signal = undefined;
      q.follows = signal ?? undefined;
      q.headers = new Headers();
      const source = init.headers ?? base?.headers;
      if (source !== undefined) fill(listOf(q.headers), source);
      const given = init.body ?? null;
      const has = given !== null || base !== undefined && base.body !== null;
      if (has && (q.method === "GET" || q.method === "HEAD")) throw new TypeError("Request with GET/HEAD method cannot have body.");
      if (given !== null) {
        if (init.keepalive && tagged(given, "ReadableStream")) throw new TypeError("keepalive");
        const { body, type } = bodyOf(given, "Request constructor");
        if (body.stream !== undefined && init.duplex === undefined) throw new TypeError("RequestInit: duplex option is required when sending a body.");
        q.body = body;
        addType(q.headers, type);
      } else if (base !== undefined && base.body !== null) {
        if (isUnusable(base.body)) throw new TypeError("Cannot construct a Request with a Request object that has already been used.");
        q.body = { ...base.body };
        base.body.used = true;
        if (base.body.stream !== undefined) {
          q.body.stream = base.body.stream.pipeThrough(new TransformStream());
        }
      }
    }
    get method() { return request(this).method; }
    get url() { return request(this).url; }
    get headers() { return request(this).headers; }
    get destination() { request(this); return ""; }
    get referrer() { return request(this).referrer; }
    get referrerPolicy() { return request(this).referrerPolicy; }
    get mode() { return request(this).mode; }
    get credentials() { return request(this).credentials; }
    get cache() { return request(this).cache; }
    get redirect() { return request(this).redirect; }
    get integrity() { return request(this).integrity; }
    get keepalive() { return request(this).keepalive; }
    get isReloadNavigation() { request(this); return false; }
    get isHistoryNavigation() { request(this); return false; }
    get signal() {
      const q = request(this);
      return q.signal ??= q.follows === undefined ? new AbortController().signal : AbortSignal.any([q.follows]);
    }
    get duplex() { request(this); return "half"; }
    clone() {
      const q = request(this);
      if (isUnusable(q.body)) throw new TypeError("unusable");
      const headers = newHeaders([], false);
      for (const [key, { name, values }] of listOf(q.headers).byName) listOf(headers).byName.set(key, { name, values: [...values] });
      return new Request(secret, { ...q, headers, signal: undefined, follows: q.signal ?? q.follows, body: copyOf(q.body) });
    }
  }
  Object.defineProperty(Request, "length", { value: 1 });
  mixin(Request, (o) => {
    const { body, headers } = request(o);
    return { body, headers: listOf(headers) };
  });
  webidl(Request);
  inspected(Request, (o) => ({
    method: o.method, url: o.url, headers: o.headers, destination: o.destination, referrer: o.referrer, referrerPolicy: o.referrerPolicy,
    mode: o.mode, credentials: o.credentials, cache: o.cache, redirect: o.redirect, integrity: o.integrity, keepalive: o.keepalive,
    isReloadNavigation: o.isReloadNavigation, isHistoryNavigation: o.isHistoryNavigation, signal: o.signal,
  }));

  function request(o) {
    const q = requestOf(o);
    if (q === undefined) throw kit.coded(TypeError, "ERR_INVALID_THIS", "Illegal invocation");
    return q;
  }

  function checkedMethod(value) {
    const method = byteString(value);
    const upper = method.toUpperCase();
    if (!token.test(method)) throw new TypeError(`'${method}' is not a valid HTTP method.`);
    if (["CONNECT", "TRACE", "TRACK"].includes(upper)) throw new TypeError(`'${method}' HTTP method is unsupported.`);
    return ["DELETE", "GET", "HEAD", "OPTIONS", "POST", "PUT"].includes(upper) ? upper : method;
  }

  // fetch

  // failed is the error of a request that the network did not answer, as Node has it. Its
  // frames are those of the cause, which the host's answer brought.
  function failed(cause) {
    const e = new TypeError("fetch failed", { cause });
    const frames = typeof cause.stack === "string" ? cause.stack.indexOf("\n\tat ") : -1;
    if (frames >= 0) hidden(e, "stack", `TypeError: fetch failed${cause.stack.slice(frames)}`);
    return e;
  }

  const asFailure = (e) => isObject(e) && e.kind === "unavailable" ? failed(e) : e;

  // An exchange is one request and its response at the host.
  class Exchange {
    constructor(signal) {
      this.host = native.exchange();
      this.signal = signal;
      this.onabort = noop;
      this.over = false;
      this.aborted = undefined;
      if (signal !== undefined) {
        this.abort = () => {
          this.close();
          this.onabort(signal.reason);
          this.rejectAborted(signal.reason);
        };
        this.aborted = new Promise((resolve, reject) => { this.rejectAborted = reject; });
        this.aborted.catch(noop);
        signal.addEventListener("abort", this.abort);
      }
    }
    // await settles as promise does, or with the reason of the signal.
    async await(promise) {
      try {
        return await (this.aborted === undefined ? promise : Promise.race([promise, this.aborted]));
      } catch (e) {
        this.close();
        throw this.signal?.aborted ? this.signal.reason : asFailure(e);
      }
    }
    end() {
      this.over = true;
      this.signal?.removeEventListener("abort", this.abort);
    }
    close() {
      if (this.over) return;
      this.end();
      this.host.close();
    }
    async read() {
      const chunk = await this.await(this.host.read());
      if (chunk === undefined) this.end();
      return chunk;
    }
    async readAll() {
      const bytes = await this.await(this.host.readAll());
      this.end();
      return bytes;
    }
    // send hands over a stream, piece by piece.
    async send(stream) {
      const reader = stream.getReader();
      this.onabort = (reason) => { reader.cancel(reason).catch(noop); };
      try {
        for (;;) {
          const { value, done } = await reader.read();
          if (done) break;
          if (!(value instanceof Uint8Array)) throw new TypeError("Received non-Uint8Array chunk");
          if (await this.host.write(value, false)) {
            reader.cancel().catch(noop);
            return;
          }
        }
        await this.host.write(undefined, true);
      } catch (e) {
        reader.cancel(e).catch(noop);
        throw e;
      }
    }
  }

  async function start(q) {
    const signal = q.signal ?? q.follows;
    if (signal?.aborted) {
      q.body?.stream?.cancel(signal.reason).catch(noop);
      throw signal.reason;
    }
    const url = new URL(q.url);
    const scheme = url.protocol;
    if (scheme === "data:") return dataResponse(q.url);
    if (scheme !== "http:" && scheme !== "https:") {
      throw new TypeError("fetch failed", { cause: new Error(scheme === "about:" ? "about scheme is not supported" : "unknown scheme") });
    }
    const { body } = q;
    const pairs = sorted(listOf(q.headers)).map(([name, value]) => [name, value]);
    if (!listOf(q.headers).byName.has("accept")) pairs.push(["accept", "*/*"]);
    url.hash = "";
    const head = { url: url.href, method: q.method, headers: pairs, redirect: q.redirect, stream: body?.stream !== undefined };
    let bytes;
    if (body !== null && body.stream === undefined) {
      body.used = true;
      bytes = body.bytes ?? await content(body);
      if (signal?.aborted) throw signal.reason;
    }
    const exchange = new Exchange(signal);
    let answer;
    if (head.stream) {
      body.used = true;
      await exchange.await(exchange.host.open(head));
      const sending = exchange.send(body.stream);
      answer = await exchange.await(Promise.race([exchange.host.head(), sending.then(() => new Promise(noop))]));
      exchange.onabort = noop;
    } else {
      answer = await exchange.await(exchange.host.open(head, bytes));
    }
    if (answer.end) exchange.end();
    const empty = q.method === "HEAD" || nullStatus.includes(answer.status);
    if (empty) exchange.close();
    return new Response(secret, {
      type: "basic", url: answer.url, redirected: answer.redirected, status: answer.status, statusText: answer.statusText,
      headers: newHeaders(answer.headers, true), body: empty ? null : remote(exchange),
    });
  }

  function dataResponse(url) {
    const data = native.dataURL(url);
    if (data === undefined) throw new TypeError("fetch failed", { cause: new Error("failed to fetch the data URL") });
    const { body } = bodyOf(data.bytes, "fetch");
    return new Response(secret, {
      type: "basic", url: url.split("#")[0], redirected: false, status: 200, statusText: "OK",
      headers: newHeaders([["content-type", data.type]], true), body,
    });
  }

  function fetch(input, init = undefined) {
    try {
      return start(request(new Request(input, init)));
    } catch (e) {
      return Promise.reject(e);
    }
  }

  return { Headers, Request, Response, fetch };
})
