// Each operation is written once, as a generator that yields what it asks of the host:
// it is then run in the three ways that Node offers.
(function (native, kit) {
  const { defineProperty, assign, keys } = Object;
  const { apply } = Reflect;
  const Promise = globalThis.Promise, then = Promise.prototype.then;
  const { URL, Date, Number, BigInt, Symbol, Error, RangeError, TypeError, Uint8Array } = globalThis;
  const promisified = Symbol.for("nodejs.util.promisify.custom");
  const chain = (promise, done, failed) => apply(then, promise, [done, failed]);

  // Constants.

  const constants = assign(Object.create(null), {
    UV_FS_SYMLINK_DIR: 1, UV_FS_SYMLINK_JUNCTION: 2, O_RDONLY: 0, O_WRONLY: 1, O_RDWR: 2,
    UV_DIRENT_UNKNOWN: 0, UV_DIRENT_FILE: 1, UV_DIRENT_DIR: 2, UV_DIRENT_LINK: 3, UV_DIRENT_FIFO: 4,
    UV_DIRENT_SOCKET: 5, UV_DIRENT_CHAR: 6, UV_DIRENT_BLOCK: 7,
    EXTENSIONLESS_FORMAT_JAVASCRIPT: 0, EXTENSIONLESS_FORMAT_WASM: 1,
    S_IFMT: 0o170000, S_IFREG: 0o100000, S_IFDIR: 0o40000, S_IFCHR: 0o20000, S_IFBLK: 0o60000,
    S_IFIFO: 0o10000, S_IFLNK: 0o120000, S_IFSOCK: 0o140000,
    O_CREAT: 64, O_EXCL: 128, UV_FS_O_FILEMAP: 0, O_NOCTTY: 256, O_TRUNC: 512, O_APPEND: 1024,
    O_DIRECTORY: 65536, O_NOATIME: 262144, O_NOFOLLOW: 131072, O_SYNC: 1052672, O_DSYNC: 4096,
    O_DIRECT: 16384, O_NONBLOCK: 2048,
    S_IRWXU: 448, S_IRUSR: 256, S_IWUSR: 128, S_IXUSR: 64, S_IRWXG: 56, S_IRGRP: 32, S_IWGRP: 16,
    S_IXGRP: 8, S_IRWXO: 7, S_IROTH: 4, S_IWOTH: 2, S_IXOTH: 1, F_OK: 0, R_OK: 4, W_OK: 2, X_OK: 1,
    UV_FS_COPYFILE_EXCL: 1, COPYFILE_EXCL: 1, UV_FS_COPYFILE_FICLONE: 2, COPYFILE_FICLONE: 2,
    UV_FS_COPYFILE_FICLONE_FORCE: 4, COPYFILE_FICLONE_FORCE: 4,
  });
  const C = assign({}, constants);
  const flagNames = {
    r: 0, rs: C.O_SYNC, sr: C.O_SYNC, "r+": 2, "rs+": 2 | C.O_SYNC, "sr+": 2 | C.O_SYNC,
    w: 0o1101, wx: 0o1301, xw: 0o1301, "w+": 0o1102, "wx+": 0o1302, "xw+": 0o1302,
    a: 0o2101, ax: 0o2301, xa: 0o2301, as: 0o2101 | C.O_SYNC, sa: 0o2101 | C.O_SYNC,
    "a+": 0o2102, "ax+": 0o2302, "xa+": 0o2302, "as+": 0o2102 | C.O_SYNC, "sa+": 0o2102 | C.O_SYNC,
  };
  const flagWords = [
    [C.O_CREAT, "create"], [C.O_EXCL, "exclusive"], [C.O_TRUNC, "truncate"], [C.O_APPEND, "append"],
    [C.O_SYNC, "sync"], [C.O_DIRECTORY, "directory"], [C.O_NOFOLLOW, "noFollow"],
  ];
  const types = { unknown: 0, file: 1, directory: 2, link: 3, fifo: 4, socket: 5, character: 6, block: 7 };

  // Errors.

  const system = {
    E2BIG: [7, "argument list too long"], EACCES: [13, "permission denied"], EAGAIN: [11, "resource temporarily unavailable"],
    EBADF: [9, "bad file descriptor"], EBUSY: [16, "resource busy or locked"], EEXIST: [17, "file already exists"],
    EFBIG: [27, "file too large"], EINVAL: [22, "invalid argument"], EIO: [5, "i/o error"],
    EISDIR: [21, "illegal operation on a directory"], ELOOP: [40, "too many symbolic links encountered"],
    EMFILE: [24, "too many open files"], EMLINK: [31, "too many links"], ENAMETOOLONG: [36, "name too long"],
    ENFILE: [23, "file table overflow"], ENODEV: [19, "no such device"], ENOENT: [2, "no such file or directory"],
    ENOMEM: [12, "not enough memory"], ENOSPC: [28, "no space left on device"], ENOSYS: [38, "function not implemented"],
    ENOTDIR: [20, "not a directory"], ENOTEMPTY: [39, "directory not empty"], ENOTSUP: [95, "operation not supported on socket"],
    ENXIO: [6, "no such device or address"], EPERM: [1, "operation not permitted"], EPIPE: [32, "broken pipe"],
    EROFS: [30, "read-only file system"], ESPIPE: [29, "invalid seek"], ETXTBSY: [26, "text file is busy"],
    EXDEV: [18, "cross-device link not permitted"],
  };

  // failure is what a script sees of an error of the host. The place is that of the call.
  function failure(error, syscall, path, dest) {
    const code = error.code;
    if (typeof code !== "string" || !(code in system)) return error;
    const [errno, text] = system[code];
    let message = `${code}: ${text}, ${syscall}`;
    if (path !== undefined) message += ` '${path}'`;
    if (dest !== undefined) message += ` -> '${dest}'`;
    const made = new Error(message);
    const stack = typeof error.stack === "string" ? error.stack.search(/\n\s+at /) : -1;
    kit.hidden(made, "stack", `Error: ${message}${stack < 0 ? "" : error.stack.slice(stack)}`);
    made.errno = -errno;
    made.code = code;
    made.syscall = syscall;
    if (path !== undefined) made.path = path;
    if (dest !== undefined) made.dest = dest;
    return made;
  }

  class SystemError extends Error {}
  kit.hidden(SystemError.prototype, "name", "SystemError");

  // refused is an error that Node finds itself, before it asks the system.
  function refused(code, reason, syscall, name, errno, message, path) {
    const made = new SystemError(`${reason}: ${syscall} returned ${name} (${message}) ${path}`);
    made.code = code;
    made.info = { code: name, message, path, syscall, errno };
    made.errno = errno;
    made.syscall = syscall;
    made.path = path;
    return made;
  }

  function unavailable(name) {
    return kit.coded(Error, "ERR_FEATURE_UNAVAILABLE_ON_PLATFORM", `fs.${name} is not available: a script cannot ${unavailable.reasons[name.replace(/Sync$/, "")]}`);
  }
  unavailable.reasons = {
    chmod: "change the mode of a file", fchmod: "change the mode of a file", lchmod: "change the mode of a file",
    chown: "change the owner of a file", fchown: "change the owner of a file", lchown: "change the owner of a file",
    utimes: "change the times of a file", futimes: "change the times of a file", lutimes: "change the times of a file",
    link: "make links", symlink: "make links", statfs: "ask about file systems",
    watch: "wait for changes of files; ask again with stat instead", watchFile: "wait for changes of files; ask again with stat instead",
  };

  // Arguments.

  function pathOf(value, name = "path") {
    let path = value;
    if (typeof path === "object" && path !== null && typeof path.href === "string" && typeof path.protocol === "string" && path instanceof URL) {
      path = native.require("node:url").fileURLToPath(path);
    }
    if (path instanceof Uint8Array) path = native.decode(path, "utf8");
    if (typeof path !== "string") throw kit.invalidType(name, "of type string or an instance of Buffer or URL", value);
    if (path.includes("\0")) throw native.invalidValue(name, value, "must be a string, Uint8Array, or URL without null bytes");
    return path;
  }

  function integer(value, name, low, high) {
    if (typeof value !== "number") throw kit.invalidType(name, "of type number", value);
    if (!Number.isInteger(value)) throw native.outOfRange(name, "an integer", value);
    if (value < low || value > high) throw native.outOfRange(name, `>= ${low} && <= ${high}`, value);
    return value;
  }

  const maxSafe = Number.MAX_SAFE_INTEGER;
  const fdOf = (value) => integer(value, "fd", 0, 2147483647);
  const isFd = (value) => typeof value === "number" && value >>> 0 === value || value instanceof Number;

  // target is what readFile and its like are given: a descriptor, a FileHandle or a path.
  function target(value) {
    if (value !== null && typeof value === "object" && handles.has(value)) return { fd: handleOf(value).fd };
    if (typeof value === "number" && Number.isInteger(value)) return { fd: fdOf(value) };
    return device(pathOf(value));
  }

  const devices = { __proto__: null, "/dev/stdin": 0, "/dev/stdout": 1, "/dev/stderr": 2, "/dev/fd/0": 0, "/dev/fd/1": 1, "/dev/fd/2": 2 };

  // device tells a path that is another name of a standard stream.
  const device = (path) => path in devices ? { fd: devices[path] } : { path };

  function flagsOf(value, fallback = "r") {
    let flags = value ?? fallback;
    if (typeof flags === "number") integer(flags, "flags", -2147483648, 2147483647);
    else {
      if (typeof flags !== "string" || !Object.hasOwn(flagNames, flags)) throw native.invalidValue("flags", value, "is invalid");
      flags = flagNames[flags];
    }
    const words = [["read"], ["write"], ["read", "write"], ["read", "write"]][flags & 3];
    for (const [bits, word] of flagWords) if ((flags & bits) === bits) words.push(word);
    return words;
  }

  function modeOf(value, name, fallback) {
    let mode = value ?? fallback;
    if (mode === undefined) return undefined;
    if (typeof mode === "string") {
      if (!/^[0-7]+$/.test(mode)) throw native.invalidValue(name, mode, "must be a 32-bit unsigned integer or an octal string");
      mode = parseInt(mode, 8);
    }
    return integer(mode, name, 0, 4294967295);
  }

  function encodingOf(value) {
    if (value === undefined || value === null || value === "buffer") return value ?? undefined;
    if (typeof value !== "string" || native.known(value) === undefined) throw native.invalidValue("encoding", value, "is invalid encoding");
    return value;
  }

  // optionsOf reads options that may be the name of an encoding.
  function optionsOf(value, defaults = {}) {
    if (value === undefined || value === null || typeof value === "function") return defaults;
    if (typeof value === "string") value = { encoding: value };
    if (typeof value !== "object") throw kit.invalidType("options", "one of type string or object", value);
    encodingOf(value.encoding);
    if (value.signal !== undefined) aborted(value.signal);
    return assign({}, defaults, value);
  }

  function aborted(signal) {
    if (signal === null || typeof signal !== "object" || !("aborted" in signal)) {
      throw kit.invalidType("options.signal", "an instance of AbortSignal", signal);
    }
    if (!signal.aborted) return;
    const e = new Error("The operation was aborted", { cause: signal.reason });
    e.code = "ABORT_ERR";
    kit.hidden(e, "name", "AbortError");
    throw e;
  }

  function objectOf(value, name = "options") {
    if (value === undefined || value === null) return {};
    if (typeof value !== "object") throw kit.invalidType(name, "of type object", value);
    return value;
  }

  function truth(options, name, fallback = false) {
    const value = options[name];
    if (value === undefined) return fallback;
    if (typeof value !== "boolean") throw kit.invalidType(`options.${name}`, "of type boolean", value);
    return value;
  }

  const shown = (text, encoding) => encoding === "buffer" ? native.encode(text, "utf8") : encoding && encoding !== "utf8" && encoding !== "utf-8" ? native.decode(native.encode(text, "utf8"), encoding) : text;

  // dataOf reads what is to be written.
  function dataOf(value, encoding, name = "data") {
    if (typeof value === "string") return native.encode(value, encoding || "utf8");
    if (native.isView(value)) return value;
    throw kit.invalidType(name, "of type string or an instance of Buffer, TypedArray, or DataView", value);
  }

  function positionOf(value) {
    if (value === undefined || value === null) return undefined;
    if (typeof value === "bigint") value = Number(value);
    integer(value, "position", -1, maxSafe);
    return value < 0 ? undefined : value;
  }

  // Asking. A request is [op, head, bytes, start, end]; its answer is [head, bytes].

  function* ask(request, syscall, path, dest) {
    try {
      return yield request;
    } catch (error) {
      throw failure(error, syscall, path, dest);
    }
  }

  const bad = (syscall) => failure({ code: "EBADF" }, syscall);
  let inputEnded = false;

  // readSome reads the next bytes of a descriptor, none at the end.
  function* readSome(fd, max, position) {
    if (fd === 0) {
      if (inputEnded) return native.encode("", "utf8");
      const [head, bytes] = yield* ask(["stdin", { max }], "read");
      inputEnded = Boolean(head.end);
      return bytes;
    }
    if (fd < 3) throw bad("read");
    return (yield* ask(["fs.read", { fd, max, position }], "read"))[1];
  }

  function* writeAll(fd, bytes, start, end, position) {
    if (fd === 0) throw bad("write");
    if (fd < 3) return native.output(fd, bytes, start, end);
    const size = 4 << 20;
    let at = start ?? 0;
    const stop = end ?? native.length(bytes);
    do {
      const next = Math.min(at + size, stop);
      yield* ask(["fs.write", { fd, position }, bytes, at, next], "write");
      if (position !== undefined) position += next - at;
      at = next;
    } while (at < stop);
  }

  const chunk = 1 << 20;

  function* readRest(fd) {
    const parts = [];
    for (;;) {
      const part = yield* readSome(fd, chunk);
      if (part.length === 0) return parts.length === 1 ? parts[0] : native.join(parts);
      parts.push(part);
    }
  }

  // Stats and entries of folders.

  const kinds = {
    isDirectory: [C.S_IFDIR, "directory"], isFile: [C.S_IFREG, "file"], isBlockDevice: [C.S_IFBLK, "block"],
    isCharacterDevice: [C.S_IFCHR, "character"], isSymbolicLink: [C.S_IFLNK, "link"], isFIFO: [C.S_IFIFO, "fifo"],
    isSocket: [C.S_IFSOCK, "socket"],
  };

  function StatsBase(dev, mode, nlink, uid, gid, rdev, blksize, ino, size, blocks) {
    assign(this, { dev, mode, nlink, uid, gid, rdev, blksize, ino, size, blocks });
  }
  function Stats(dev, mode, nlink, uid, gid, rdev, blksize, ino, size, blocks, atimeMs, mtimeMs, ctimeMs, birthtimeMs) {
    apply(StatsBase, this, [dev, mode, nlink, uid, gid, rdev, blksize, ino, size, blocks]);
    assign(this, { atimeMs, mtimeMs, ctimeMs, birthtimeMs });
    dates(this);
  }
  function BigIntStats() {}
  for (const Class of [Stats, BigIntStats]) {
    Object.setPrototypeOf(Class.prototype, StatsBase.prototype);
    Object.setPrototypeOf(Class, StatsBase);
  }
  for (const name of keys(kinds)) {
    const method = { [name]() { return (Number(this.mode) & C.S_IFMT) === kinds[name][0]; } }[name];
    StatsBase.prototype[name] = method;
  }

  const times = ["atime", "mtime", "ctime", "birthtime"];
  function dates(stats) {
    for (const name of times) stats[name] = new Date(Number(stats[`${name}Ms`]) + 0.5);
  }

  const integers = ["dev", "mode", "nlink", "uid", "gid", "rdev", "blksize", "ino", "size", "blocks"];
  function statsOf(stat, bigint) {
    if (bigint) {
      const made = new BigIntStats();
      for (const name of integers) made[name] = BigInt(stat[name] ?? "0");
      for (const name of times) made[`${name}Ms`] = BigInt(stat[name] ?? "0") / 1000000n;
      for (const name of times) made[`${name}Ns`] = BigInt(stat[name] ?? "0");
      dates(made);
      return made;
    }
    const ms = (text = "0") => {
      const n = BigInt(text);
      return Number(n / 1000000n) + Number(n % 1000000n) / 1e6;
    };
    return new Stats(...integers.map((name) => Number(stat[name] ?? "0")), ...times.map((name) => ms(stat[name])));
  }

  const direntType = Symbol("type");
  class Dirent {
    constructor(name, type, path) {
      this.name = name;
      this.parentPath = path;
      this.path = path;
      this[direntType] = type;
    }
  }
  for (const name of keys(kinds)) {
    const type = types[kinds[name][1]];
    kit.hidden(Dirent.prototype, name, { [name]() { return this[direntType] === type; } }[name]);
  }

  const separator = "/";
  const below = (folder, name) => folder === "" || folder.endsWith(separator) ? folder + name : folder + separator + name;

  // listing returns pairs of names and types of a folder.
  function* listing(path, syscall = "scandir") {
    const flat = native.entries((yield* ask(["fs.readdir", { path }], syscall, path))[1]);
    const list = [];
    for (let i = 0; i < flat.length; i += 2) list.push([flat[i], flat[i + 1]]);
    return list;
  }

  function* statOf(path, follow, syscall) {
    return (yield* ask(["fs.stat", { path, follow }], syscall, path))[0].stat;
  }

  // Operations.

  function* stat(path, options, follow, syscall) {
    path = pathOf(path);
    options = objectOf(options);
    const bigint = Boolean(options.bigint);
    try {
      return statsOf(yield* statOf(path, follow, syscall), bigint);
    } catch (error) {
      if (options.throwIfNoEntry === false && (error.code === "ENOENT" || error.code === "ENOTDIR")) return undefined;
      throw error;
    }
  }

  function* writeFile(file, data, options, flag, fallback) {
    options = optionsOf(options, { encoding: "utf8", mode: 0o666, flag });
    const to = target(file);
    const bytes = yield* content(data, options.encoding, fallback);
    if (to.fd !== undefined) {
      yield* writeAll(to.fd, bytes);
      return;
    }
    const head = { path: to.path, flags: flagsOf(options.flag, flag), mode: modeOf(options.mode, "mode", 0o666) };
    if (native.length(bytes) <= 16 << 20) {
      yield* ask(["fs.writeFile", head, bytes], "open", to.path);
      return;
    }
    // What is longer is written in pieces.
    const { fd } = (yield* ask(["fs.open", head], "open", to.path))[0];
    try {
      yield* writeAll(fd, bytes);
    } finally {
      yield* ask(["fs.close", { fd }], "close");
    }
  }

  // content is what writeFile is given: for promises also something to iterate over.
  function* content(data, encoding, iterable) {
    if (!iterable || data === null || typeof data !== "object" || native.isView(data)) return dataOf(data, encoding);
    const sync = data[Symbol.iterator], async = data[Symbol.asyncIterator];
    if (typeof sync !== "function" && typeof async !== "function") return dataOf(data, encoding);
    const parts = [];
    const iterator = apply(typeof async === "function" ? async : sync, data, []);
    for (;;) {
      const step = yield { wait: iterator.next() };
      if (step.done) return native.join(parts);
      const value = yield { wait: step.value };
      parts.push(dataOf(value, encoding));
    }
  }

  // slice reads the arguments of read and write that say which part of a buffer is meant.
  function slice(buffer, offset, length, position) {
    if (offset !== null && typeof offset === "object") ({ offset, length, position } = offset);
    const size = native.length(buffer);
    offset ??= 0;
    integer(offset, "offset", 0, maxSafe);
    length ??= size - offset;
    return { offset, length, position, size };
  }

  function* read(fd, buffer, offset, length, position) {
    fd = fdOf(fd);
    if (!native.isView(buffer)) throw kit.invalidType("buffer", "an instance of Buffer, TypedArray, or DataView", buffer);
    if (length === undefined && position === undefined && offset !== undefined) objectOf(offset);
    const part = slice(buffer, offset, length, position);
    integer(part.length, "length", -2147483648, 2147483647);
    if (part.length === 0) return 0;
    if (part.size === 0) throw native.invalidValue("buffer", buffer, "is empty and cannot be written");
    if (part.offset < 0 || part.offset > part.size) throw native.outOfRange("offset", `>= 0 && <= ${part.size}`, part.offset);
    if (part.length < 0) throw native.outOfRange("length", ">= 0", part.length);
    if (part.offset + part.length > part.size) throw native.outOfRange("length", `<= ${part.size - part.offset}`, part.length);
    const bytes = yield* readSome(fd, Math.min(part.length, 4 << 20), positionOf(part.position));
    return native.fill(buffer, part.offset, bytes);
  }

  function* write(fd, buffer, offset, length, position) {
    fd = fdOf(fd);
    if (typeof buffer === "string") {
      const encoding = encodingOf(typeof length === "string" ? length : undefined);
      const bytes = native.encode(buffer, encoding ?? "utf8");
      yield* writeAll(fd, bytes, 0, bytes.length, positionOf(typeof offset === "number" ? offset : undefined));
      return bytes.length;
    }
    if (!native.isView(buffer)) dataOf(buffer, undefined, "buffer");
    const part = slice(buffer, offset, length, position);
    if (part.offset > part.size) throw native.outOfRange("offset", `<= ${part.size}`, part.offset);
    integer(part.length, "length", -2147483648, 2147483647);
    if (part.length > part.size - part.offset) throw native.outOfRange("length", `<= ${part.size - part.offset}`, part.length);
    if (part.length < 0) throw native.outOfRange("length", ">= 0", part.length);
    yield* writeAll(fd, buffer, part.offset, part.offset + part.length, positionOf(part.position));
    return part.length;
  }

  function views(buffers) {
    if (!Array.isArray(buffers) || !buffers.every((b) => native.isView(b))) {
      throw kit.invalidType("buffers", "an ArrayBufferView[]", buffers);
    }
    return buffers;
  }

  function copyPaths(src, dest) {
    return [pathOf(src, "src"), pathOf(dest, "dest")];
  }

  function cpOptions(options) {
    if (options !== undefined && (options === null || typeof options !== "object")) throw kit.invalidType("options", "of type object", options);
    options = objectOf(options);
    const checked = {
      recursive: truth(options, "recursive"), force: truth(options, "force", true), errorOnExist: truth(options, "errorOnExist"),
      dereference: truth(options, "dereference"), filter: options.filter,
    };
    for (const name of ["preserveTimestamps", "verbatimSymlinks"]) truth(options, name);
    if (checked.filter !== undefined && typeof checked.filter !== "function") throw kit.invalidType("options.filter", "of type function", checked.filter);
    return checked;
  }

  function* cp(src, dest, options) {
    options = cpOptions(options);
    [src, dest] = copyPaths(src, dest);
    const from = native.resolved(src), to = native.resolved(dest);
    const found = yield* statOf(src, options.dereference, options.dereference ? "stat" : "lstat");
    if (from === to) throw refused("ERR_FS_CP_EINVAL", "Invalid src or dest", "cp", "EINVAL", 22, "src and dest cannot be the same", dest);
    const folder = (Number(found.mode) & C.S_IFMT) === C.S_IFDIR;
    if (folder && to.startsWith(below(from, ""))) {
      throw refused("ERR_FS_CP_EINVAL", "Invalid src or dest", "cp", "EINVAL", 22, `cannot copy ${src} to a subdirectory of self ${dest}`, dest);
    }
    if (options.filter && !(yield { wait: options.filter(src, dest) })) return;
    if (folder && !options.recursive) {
      throw refused("ERR_FS_EISDIR", "Path is a directory", "cp", "EISDIR", 22, `${src} is a directory (not copied)`, src);
    }
    if (folder) {
      yield* copyTree(src, dest, [identity(found)], options);
      return;
    }
    try {
      yield* copyOne(src, dest, options);
    } catch (error) {
      // The folders above may be missing; they need not be granted if they are not.
      const parent = dest.replace(/[^/]*\/*$/, "");
      if (error.code !== "ENOENT" || parent === "" || parent === separator) throw error;
      yield* ask(["fs.mkdir", { path: parent, recursive: true, mode: 0o777 }], "mkdir", parent);
      yield* copyOne(src, dest, options);
    }
  }

  const deepest = 256; // folders within each other
  const identity = ({ dev, ino }) => `${dev} ${ino}`;

  // copyTree copies a folder. above are the folders that it is in, and itself: a link to
  // one of them has no end.
  function* copyTree(src, dest, above, options) {
    if (above.length > deepest) throw failure({ code: "ENAMETOOLONG" }, "cp", src, dest);
    yield* ask(["fs.mkdir", { path: dest, recursive: true, mode: 0o777 }], "mkdir", dest);
    for (const [name, type] of yield* listing(src)) {
      const from = below(src, name), to = below(dest, name);
      if (options.filter && !(yield { wait: options.filter(from, to) })) continue;
      if (type === "file") {
        yield* copyOne(from, to, options);
        continue;
      }
      const found = yield* statOf(from, true, "stat");
      if ((Number(found.mode) & C.S_IFMT) !== C.S_IFDIR) {
        yield* copyOne(from, to, options);
        continue;
      }
      const id = identity(found);
      if (found.ino !== "0" && above.includes(id)) throw failure({ code: "ELOOP" }, "cp", from, to);
      yield* copyTree(from, to, [...above, id], options);
    }
  }

  function* copyOne(src, dest, options) {
    try {
      yield* ask(["fs.copyFile", { path: src, dest, exclusive: !options.force }], "copyfile", src, dest);
    } catch (error) {
      if (error.code !== "EEXIST") throw error;
      if (options.errorOnExist) {
        throw refused("ERR_FS_CP_EEXIST", "Target already exists", "cp", "EEXIST", 17, `${dest} already exists`, dest);
      }
    }
  }

  function* readdir(path, options) {
    options = optionsOf(options);
    path = pathOf(path);
    const encoding = encodingOf(options.encoding);
    const found = [];
    const pending = [[path, ""]];
    for (let next; (next = pending.shift()) !== undefined;) {
      const [folder, prefix] = next;
      for (const [name, type] of yield* listing(folder)) {
        found.push(options.withFileTypes ? new Dirent(shown(name, encoding), types[type] ?? 0, folder) : shown(prefix + name, encoding));
        if (options.recursive && type === "directory") pending.push([below(folder, name), `${prefix}${name}${separator}`]);
      }
    }
    return found;
  }

  const operations = {
    * appendFile(path, data, options) { yield* writeFile(path, data, options, "a", this === promises); },
    * access(path, mode) {
      path = pathOf(path);
      mode ??= 0;
      if (typeof mode !== "number") throw kit.invalidType("mode", "of type number", mode);
      if (!(Number.isInteger(mode) && mode >= 0 && mode <= 7)) {
        throw kit.coded(RangeError, "ERR_OUT_OF_RANGE", "mode is out of range: >= 0 && <= 7");
      }
      yield* ask(["fs.access", { path, mode }], "access", path);
    },
    * close(fd) {
      fd = fdOf(fd);
      if (fd > 2) yield* ask(["fs.close", { fd }], "close");
    },
    * copyFile(src, dest, mode) {
      [src, dest] = copyPaths(src, dest);
      mode = mode === undefined || mode === null ? 0 : integer(mode, "mode", 0, 7);
      yield* ask(["fs.copyFile", { path: src, dest, exclusive: (mode & 1) === 1 }], "copyfile", src, dest);
    },
    cp,
    * fdatasync(fd) { yield* ask(["fs.sync", { fd: fdOf(fd) }], "fdatasync"); },
    * fsync(fd) { yield* ask(["fs.sync", { fd: fdOf(fd) }], "fsync"); },
    * fstat(fd, options) {
      fd = fdOf(fd);
      options = objectOf(options);
      if (fd < 3) return statsOf({ mode: String(C.S_IFIFO | 0o600), nlink: "1", blksize: "4096" }, options.bigint);
      return statsOf((yield* ask(["fs.stat", { fd, follow: true }], "fstat"))[0].stat, options.bigint);
    },
    * ftruncate(fd, len) {
      fd = fdOf(fd);
      const size = len === undefined || len === null ? 0 : Math.max(0, integer(len, "len", -maxSafe, maxSafe));
      yield* ask(["fs.truncate", { fd, size }], "ftruncate");
    },
    * lstat(path, options) { return yield* stat(path, options, false, "lstat"); },
    * stat(path, options) { return yield* stat(path, options, true, "stat"); },
    * mkdir(path, options) {
      path = pathOf(path);
      let recursive = false, mode = options;
      if (options !== null && typeof options === "object") {
        recursive = truth(options, "recursive");
        mode = options.mode;
      }
      mode = modeOf(mode, "mode", 0o777);
      const { first } = (yield* ask(["fs.mkdir", { path, recursive, mode }], "mkdir", path))[0];
      return recursive ? first : undefined;
    },
    * mkdtemp(prefix, options) {
      const { encoding } = optionsOf(options);
      prefix = pathOf(prefix, "prefix");
      return shown((yield* ask(["fs.mkdtemp", { prefix }], "mkdtemp", `${prefix}XXXXXX`))[0].path, encoding);
    },
    * open(path, flags, mode) {
      const to = target(path);
      const words = flagsOf(flags);
      mode = modeOf(mode, "mode", 0o666);
      if (to.path === undefined) return to.fd;
      return (yield* ask(["fs.open", { path: to.path, flags: words, mode }], "open", to.path))[0].fd;
    },
    * opendir(path, options) {
      path = pathOf(path);
      options = optionsOf(options);
      return new Dir(path, yield* operations.readdir(path, { encoding: options.encoding, recursive: options.recursive, withFileTypes: true }));
    },
    readdir,
    read,
    * readv(fd, buffers, position) {
      fd = fdOf(fd);
      let total = 0, at = positionOf(typeof position === "number" ? position : undefined);
      for (const buffer of views(buffers)) {
        const wanted = native.length(buffer);
        if (wanted === 0) continue;
        const n = yield* read(fd, buffer, 0, wanted, at);
        total += n;
        if (at !== undefined) at += n;
        if (n < wanted) break;
      }
      return total;
    },
    * readFile(path, options) {
      options = optionsOf(options, { flag: "r" });
      const from = target(path);
      let bytes;
      if (from.fd !== undefined) bytes = yield* readRest(from.fd);
      else {
        const head = { path: from.path, flags: flagsOf(options.flag) };
        try {
          bytes = (yield ["fs.readFile", head])[1];
        } catch (error) {
          throw error.code === "EISDIR" ? failure(error, "read") : failure(error, "open", from.path);
        }
      }
      return options.encoding && options.encoding !== "buffer" ? native.decode(bytes, options.encoding) : bytes;
    },
    * readlink(path, options) {
      const { encoding } = optionsOf(options);
      path = pathOf(path, "oldPath");
      return shown((yield* ask(["fs.readlink", { path }], "readlink", path))[0].path, encoding);
    },
    * realpath(path, options) {
      const { encoding } = optionsOf(options);
      path = pathOf(path);
      // Node looks at each part of the absolute path; the promise has the system do it.
      const [syscall, name] = this === promises || this === native ? ["realpath", path] : ["lstat", native.resolved(path)];
      return shown((yield* ask(["fs.realpath", { path }], syscall, name))[0].path, encoding);
    },
    * rename(oldPath, newPath) {
      const path = pathOf(oldPath, "oldPath"), dest = pathOf(newPath, "newPath");
      yield* ask(["fs.rename", { path, dest }], "rename", path, dest);
    },
    * rm(path, options) {
      path = pathOf(path);
      if (options !== undefined && (options === null || typeof options !== "object")) throw kit.invalidType("options", "of type object", options);
      options = objectOf(options);
      const recursive = truth(options, "recursive"), force = truth(options, "force");
      try {
        yield ["fs.rm", { path, recursive, force }];
      } catch (error) {
        if (error.code === "EISDIR" || error.code === "ENOTEMPTY" && !recursive) {
          throw refused("ERR_FS_EISDIR", "Path is a directory", "rm", "EISDIR", 21, "is a directory", path);
        }
        throw failure(error, error.code === "ENOENT" ? "lstat" : "rm", path);
      }
    },
    * rmdir(path, options) {
      path = pathOf(path);
      if (objectOf(options).recursive) {
        const found = yield* statOf(path, false, "lstat");
        if ((Number(found.mode) & C.S_IFMT) !== C.S_IFDIR) throw failure({ code: "ENOTDIR" }, "rmdir", path);
        yield* ask(["fs.rm", { path, recursive: true, force: false }], "rmdir", path);
      } else yield* ask(["fs.rmdir", { path }], "rmdir", path);
    },
    * truncate(path, len) {
      if (typeof path === "number") return yield* operations.ftruncate(path, len);
      path = pathOf(path);
      const size = len === undefined || len === null ? 0 : Math.max(0, integer(len, "len", -maxSafe, maxSafe));
      yield* ask(["fs.truncate", { path, size }], "open", path);
    },
    * unlink(path) {
      path = pathOf(path);
      yield* ask(["fs.unlink", { path }], "unlink", path);
    },
    * writeFile(path, data, options) { yield* writeFile(path, data, options, "w", this === promises); },
    write,
    * writev(fd, buffers, position) {
      fd = fdOf(fd);
      const all = native.join(views(buffers));
      yield* writeAll(fd, all, 0, all.length, positionOf(typeof position === "number" ? position : undefined));
      return all.length;
    },
  };

  // The three ways.

  // now runs an operation and waits for the host each time.
  function now(g) {
    let step = g.next();
    while (!step.done) {
      let answer;
      try {
        if (step.value.wait !== undefined) answer = settled(step.value.wait);
        else answer = native.call(...step.value);
      } catch (error) {
        step = g.throw(error);
        continue;
      }
      step = g.next(answer);
    }
    return step.value;
  }

  function settled(value) {
    if (value !== null && typeof value === "object" && typeof value.then === "function") {
      throw native.invalidValue("options.filter", value, "must not return a promise here");
    }
    return value;
  }

  // advance runs an operation that waits for promises. An error of the first step, which
  // is one of the arguments, is thrown.
  function advance(g, done, failed, signal) {
    const go = (step) => {
      if (signal !== undefined) {
        try {
          aborted(signal);
        } catch (error) {
          return failed(error);
        }
      }
      if (step.done) return done(step.value);
      const waits = step.value.wait !== undefined ? new Promise((resolve) => resolve(step.value.wait)) : native.ask(...step.value);
      chain(waits, (v) => resume("next", v), (e) => resume("throw", e));
    };
    const resume = (method, value) => {
      let step;
      try {
        step = g[method](value);
      } catch (error) {
        return failed(error);
      }
      go(step);
    };
    go(g.next());
  }

  const later = (g, signal) => new Promise((resolve, reject) => advance(g, resolve, reject, signal));
  const signalOf = (args) => {
    const last = args[args.length - 1];
    return last !== null && typeof last === "object" && !native.isView(last) && last.signal ? last.signal : undefined;
  };

  function named(fn, name, length) {
    defineProperty(fn, "name", { value: name, configurable: true });
    defineProperty(fn, "length", { value: length, configurable: true });
    return fn;
  }

  const fs = {}, promises = {};

  // callbackOf takes the callback off a list of arguments, so many of which come before
  // it at least.
  function callbackOf(args, least = 1) {
    const cb = args.length > least ? args[args.length - 1] : undefined;
    if (typeof cb !== "function") throw kit.invalidType("cb", "of type function", cb);
    args.pop();
    return cb;
  }

  // back calls a callback when what runs now has returned.
  const back = (cb, ...values) => native.tick(() => cb(...values));

  // Lengths of the three functions, where they differ from Node's usual 1 more with a
  // callback than without.
  const lengths = {
    appendFile: [4, 3, 3], access: [3, 2, 1], close: [1, 1], copyFile: [4, 3, 3], cp: [4, 3, 3], fdatasync: [2, 1],
    fstat: [1, 1], fsync: [2, 1], ftruncate: [1, 1], lstat: [1, 1, 1], mkdir: [3, 2, 2], mkdtemp: [3, 2, 2],
    open: [4, 3, 3], readdir: [3, 2, 2], read: [6, 5], readv: [4, 3], readFile: [3, 2, 2], readlink: [3, 2, 2],
    realpath: [3, 2, 2], rename: [3, 2, 2], rm: [3, 2, 2], rmdir: [3, 2, 2], stat: [1, 1, 1], truncate: [3, 2, 1],
    unlink: [2, 1, 1], writeFile: [4, 3, 3], write: [6, 5], writev: [4, 3], opendir: [3, 2, 3],
  };
  const nothing = new Set(["appendFile", "access", "close", "copyFile", "cp", "fdatasync", "fsync", "ftruncate", "rename", "rm", "rmdir", "truncate", "unlink", "writeFile"]);
  const least = { stat: 2, lstat: 2, fstat: 2, rename: 2, copyFile: 2, cp: 2, writeFile: 2, appendFile: 2, readv: 2, writev: 2, write: 2 };
  const withBuffer = { read: "bytesRead", readv: "bytesRead", write: "bytesWritten", writev: "bytesWritten" };

  function publish(name) {
    const operation = operations[name];
    const [callback, sync, promise] = lengths[name];
    fs[name] = named(function (...args) {
      // The callback may be left out where Node lets it be.
      const cb = name === "close" && args.length < 2 ? () => {} : callbackOf(args, typeof args[1] === "function" ? 1 : least[name]);
      if (name === "read" && args[1] !== undefined && !native.isView(args[1]) && typeof args[1] === "object") args = spread(args);
      else if (name === "read" && args.length === 1) args[1] = native.require("node:buffer").Buffer.alloc(16384);
      advance(apply(operation, fs, args), (value) => {
        if (nothing.has(name) || name === "mkdir" && value === undefined) back(cb, null);
        else if (name in withBuffer) back(cb, null, value, args[1]);
        else back(cb, null, value);
      }, (error) => name in withBuffer ? back(cb, error, 0, args[1]) : back(cb, error), signalOf(args));
    }, name, callback);
    fs[`${name}Sync`] = named((...args) => now(apply(operation, fs, args)), `${name}Sync`, sync);
    if (promise !== undefined) {
      promises[name] = named((...args) => later(apply(operation, promises, args), signalOf(args)), name, promise);
    }
    if (name in withBuffer) {
      const [count, many] = [withBuffer[name], name.endsWith("v") ? "buffers" : "buffer"];
      kit.hidden(fs[name], promisified, named((...args) => {
        if (name === "read" && args[1] !== undefined && !native.isView(args[1]) && typeof args[1] === "object") args = spread(args);
        return chain(later(apply(operation, fs, args)), (n) => ({ [count]: n, [many]: args[1] }));
      }, name, callback - 1));
    }
  }

  // spread turns read(fd, { buffer, offset, … }) into the longer form.
  function spread([fd, options]) {
    const { buffer = native.require("node:buffer").Buffer.alloc(16384), offset, length, position } = options;
    return [fd, buffer, offset, length, position];
  }

  for (const name of keys(lengths)) publish(name);

  for (const [name, arity] of [["realpath", 3], ["realpathSync", 2]]) {
    fs[name].native = name === "realpath" ? named((path, ...rest) => {
      const cb = callbackOf(rest);
      advance(apply(operations.realpath, native, [path, ...rest]), (v) => back(cb, null, v), (e) => back(cb, e));
    }, "", arity) : named((path, options) => now(apply(operations.realpath, native, [path, options])), "", arity);
  }

  // existsSync answers, as Node's does, whatever is wrong with the path; a path that the
  // script may not see is an error all the same, since no is not known to be the answer.
  function* exists(path) {
    try {
      path = pathOf(path);
    } catch {
      return false;
    }
    try {
      yield ["fs.access", { path, mode: 0 }];
      return true;
    } catch (error) {
      if (typeof error.code === "string" && error.code in system) return false;
      throw error;
    }
  }
  fs.existsSync = named((path) => now(exists(path)), "existsSync", 1);
  fs.exists = named((path, cb) => {
    if (typeof cb !== "function") throw kit.invalidType("cb", "of type function", cb);
    advance(exists(path), (v) => back(cb, v), (e) => native.tick(() => { throw e; }));
  }, "exists", 2);
  kit.hidden(fs.exists, promisified, named((path) => later(exists(path)), "exists", 1));

  // What there is not.
  const missing = {
    chmod: [3, 2, 2], chown: [4, 3, 3], fchmod: [3, 2], fchown: [4, 3], futimes: [4, 3], lchown: [4, 3, 3], link: [3, 2, 2],
    lutimes: [4, 3, 3], statfs: [1, 1, 1], symlink: [4, 3, 3], utimes: [4, 3, 3],
  };
  for (const name of keys(missing)) {
    const [callback, sync, promise] = missing[name];
    fs[name] = named((...args) => {
      const cb = callbackOf(args);
      back(cb, unavailable(name));
    }, name, callback);
    fs[`${name}Sync`] = named(() => { throw unavailable(`${name}Sync`); }, `${name}Sync`, sync);
    if (promise !== undefined) promises[name] = named(() => new Promise((_, reject) => reject(unavailable(name))), name, promise);
  }
  promises.lchmod = named(() => new Promise((_, reject) => reject(unavailable("lchmod"))), "lchmod", 2);
  for (const [name, arity] of [["watch", 3], ["watchFile", 3]]) fs[name] = named(() => { throw unavailable(name); }, name, arity);
  fs.unwatchFile = named(() => {}, "unwatchFile", 2);
  promises.watch = named(() => { throw unavailable("watch"); }, "_watch", 1);
  fs.lchmod = fs.lchmodSync = undefined;

  fs._toUnixTimestamp = named((time, name = "time") => {
    if (typeof time === "string" && +time == time) return +time;
    if (Number.isFinite(time)) return time < 0 ? Date.now() / 1000 : time;
    if (time instanceof Date) return time.getTime() / 1000;
    throw kit.invalidType(name, "an instance of Date or an Time in seconds", time);
  }, "toUnixTimestamp", 1);

  // Folders that are read entry by entry.

  class Dir {
    #path; #entries; #at = 0; #closed = false;
    constructor(path, entries, options) { // the last for its length, which is Node's
      this.#path = path;
      this.#entries = entries;
    }
    get path() { return this.#path; }
    #check() {
      if (this.#closed) throw kit.coded(Error, "ERR_DIR_CLOSED", "Directory handle was closed");
    }
    readSync() {
      this.#check();
      return this.#at < this.#entries.length ? this.#entries[this.#at++] : null;
    }
    read(callback) {
      if (callback === undefined) return new Promise((resolve) => resolve(this.readSync()));
      if (typeof callback !== "function") throw kit.invalidType("callback", "of type function", callback);
      const entry = this.readSync();
      back(callback, null, entry);
    }
    closeSync() {
      this.#check();
      this.#closed = true;
    }
    close(callback) {
      if (callback === undefined) return new Promise((resolve) => resolve(this.closeSync()));
      if (typeof callback !== "function") throw kit.invalidType("callback", "of type function", callback);
      this.closeSync();
      back(callback, null);
    }
    entries() {
      const dir = this;
      const done = { value: undefined, done: true };
      return {
        next: () => new Promise((resolve) => {
          if (dir.#closed) return resolve(done);
          const entry = dir.readSync();
          if (entry === null) dir.closeSync();
          resolve(entry === null ? done : { value: entry, done: false });
        }),
        return: (value) => new Promise((resolve) => {
          dir.#closed = true;
          resolve({ value, done: true });
        }),
        [Symbol.asyncIterator]() { return this; },
      };
    }
  }
  kit.hidden(Dir.prototype, Symbol.asyncIterator, Dir.prototype.entries);

  // Handles of promises.

  const handles = new WeakMap();
  let FileHandle;
  function handleOf(value, syscall = "read") {
    const state = handles.get(value);
    if (state === undefined) throw kit.invalidThis("FileHandle");
    if (state.fd < 0) throw assign(kit.coded(Error, "EBADF", "file closed"), { syscall });
    return state;
  }

  function newHandle(fd) {
    FileHandle ??= makeFileHandle();
    const handle = new FileHandle();
    handles.set(handle, { fd, closing: undefined });
    return handle;
  }

  function makeFileHandle() {
    const EventEmitter = native.require("node:events");
    // on runs an operation on the descriptor of a handle.
    const on = (handle, name, ...args) => new Promise((resolve, reject) => {
      const { fd } = handleOf(handle, name);
      advance(apply(operations[name], promises, [fd, ...args]), resolve, reject, signalOf(args));
    });
    class FileHandle extends EventEmitter {
      get fd() { return handles.get(this)?.fd ?? -1; }
      appendFile(data, options) { return on(this, "writeFile", data, options); }
      chmod() { return promises.chmod(); }
      chown() { return promises.chown(); }
      utimes() { return promises.utimes(); }
      datasync() { return on(this, "fdatasync"); }
      sync() { return on(this, "fsync"); }
      read(buffer, offset, length, position) {
        if (buffer === undefined || buffer !== null && typeof buffer === "object" && !native.isView(buffer)) {
          [, buffer, offset, length, position] = spread([0, buffer ?? {}]);
        }
        return chain(on(this, "read", buffer, offset, length, position), (bytesRead) => ({ __proto__: null, bytesRead, buffer }));
      }
      readv(buffers, position) { return chain(on(this, "readv", buffers, position), (bytesRead) => ({ __proto__: null, bytesRead, buffers })); }
      readFile(options) { return on(this, "readFile", options); }
      readLines(options) {
        return native.require("node:readline").createInterface({ input: this.createReadStream(options), crlfDelay: Infinity });
      }
      stat(options) { return on(this, "fstat", options); }
      truncate(len = 0) { return on(this, "ftruncate", len); }
      write(buffer, offset, length, position) {
        return chain(on(this, "write", buffer, offset, length, position), (bytesWritten) => ({ __proto__: null, bytesWritten, buffer }));
      }
      writev(buffers, position) { return chain(on(this, "writev", buffers, position), (bytesWritten) => ({ __proto__: null, bytesWritten, buffers })); }
      writeFile(data, options) { return on(this, "writeFile", data, options); }
      createReadStream(options) { return new (streams().ReadStream)(undefined, assign({}, optionsOf(options), { fd: this })); }
      createWriteStream(options) { return new (streams().WriteStream)(undefined, assign({}, optionsOf(options), { fd: this })); }
    }
    const readableWebStream = named(function () {
      const handle = this;
      const ReadableStream = native.global("ReadableStream");
      return new ReadableStream({
        type: "bytes",
        pull(controller) {
          const buffer = new Uint8Array(65536);
          return chain(on(handle, "read", buffer, 0, buffer.length), (n) => {
            if (n === 0) {
              controller.close();
              controller.byobRequest?.respond(0);
            } else controller.enqueue(buffer.subarray(0, n));
          });
        },
      });
    }, "readableWebStream", 0);
    const close = named(function () {
      const state = handles.get(this);
      if (state === undefined) throw kit.invalidThis("FileHandle");
      if (state.fd < 0) return state.closing ?? new Promise((resolve) => resolve());
      const { fd } = state;
      state.fd = -1;
      state.closing = chain(later(operations.close(fd)), () => { this.emit("close"); });
      return state.closing;
    }, "close", 0);
    kit.hidden(FileHandle.prototype, "close", close);
    kit.hidden(FileHandle.prototype, Symbol.asyncDispose, named(function () { return this.close(); }, "[Symbol.asyncDispose]", 0));
    kit.hidden(FileHandle.prototype, "readableWebStream", readableWebStream);
    return FileHandle;
  }

  const openFd = operations.open;
  promises.open = named((path, flags, mode) => chain(later(openFd(path, flags, mode)), newHandle), "open", 3);

  // Streams, once node:stream is wanted.

  let made;
  function streams() {
    made ??= makeStreams();
    return made;
  }

  function makeStreams() {
    const { Readable, Writable } = native.require("node:stream");

    // begin reads the arguments of both streams, before there is one: what it returns
    // becomes properties of the stream.
    function begin(path, options, flags) {
      const begun = { fd: null };
      if (options.fd === undefined || options.fd === null) assign(begun, device(pathOf(path)));
      else if (typeof options.fd === "object" && handles.has(options.fd)) begun.fd = handleOf(options.fd).fd;
      else begun.fd = fdOf(options.fd);
      begun.flags = options.flags === undefined ? flags : options.flags;
      begun.mode = modeOf(options.mode, "mode", 0o666);
      const bound = (name) => {
        if (options[name] !== undefined) integer(options[name], name, 0, maxSafe);
        return options[name];
      };
      begun.start = bound("start");
      begun.end = options.end === Infinity ? Infinity : bound("end") ?? Infinity;
      if (begun.start !== undefined && begun.start > begun.end) {
        throw native.outOfRange("start", `<= "end" (here: ${begun.end})`, begun.start);
      }
      begun.pos = begun.start;
      return begun;
    }

    // held keeps the handle behind a stream, which it closes.
    function held(stream, options) {
      if (options.fd !== undefined && options.fd !== null && typeof options.fd === "object") kit.hidden(stream, "handle", options.fd);
    }

    function construct(stream, done) {
      if (stream.fd !== null) return done();
      advance(operations.open(stream.path, stream.flags, stream.mode), (fd) => {
        stream.fd = fd;
        done();
        stream.emit("open", fd);
        stream.emit("ready");
      }, done);
    }

    function shut(stream, error, done) {
      const fd = stream.fd;
      if (fd === null || !stream.autoClose) return done(error);
      if (stream.handle !== undefined) {
        chain(stream.handle.close(), () => done(error), (e) => done(error || e));
        return;
      }
      stream.fd = null;
      advance(operations.close(fd), () => done(error), (e) => done(error || e));
    }

    const streamOptions = (options) => {
      if (options.signal !== undefined && (options.signal === null || typeof options.signal !== "object")) aborted(options.signal);
      return assign({}, options, { autoDestroy: options.autoClose === undefined ? true : options.autoClose, read: undefined, write: undefined, construct: undefined });
    };

    class ReadStream extends Readable {
      constructor(path, options) {
        options = optionsOf(options);
        const begun = begin(path, options, "r");
        super(assign(streamOptions(options), { highWaterMark: options.highWaterMark ?? 65536 }));
        this.autoClose = options.autoClose ?? true;
        assign(this, begun, { bytesRead: 0 });
        held(this, options);
      }
      _construct(done) { construct(this, done); }
      _read(n) {
        const left = this.pos === undefined ? this.end === Infinity ? n : this.end - this.bytesRead + 1 : this.end - this.pos + 1;
        const max = Math.min(n, left, 4 << 20);
        if (max <= 0) {
          this.push(null);
          return;
        }
        advance(readSome(this.fd, max, this.pos), (bytes) => {
          if (this.pos !== undefined) this.pos += bytes.length;
          this.bytesRead += bytes.length;
          this.push(bytes.length === 0 ? null : bytes);
        }, (error) => this.destroy(error));
      }
      _destroy(error, done) { shut(this, error, done); }
      close(done) { ended(this, done); }
      get pending() { return this.fd === null; }
    }

    class WriteStream extends Writable {
      constructor(path, options) {
        options = optionsOf(options);
        const { end, ...begun } = begin(path, options, "w"); // end is a method of this one
        super(assign(streamOptions(options), { decodeStrings: true, defaultEncoding: options.encoding ?? "utf8" }));
        this.autoClose = options.autoClose ?? true;
        assign(this, begun, { bytesWritten: 0 });
        held(this, options);
        if (options.encoding) this.setDefaultEncoding(options.encoding);
      }
      _construct(done) { construct(this, done); }
      _write(chunk, encoding, done) {
        advance(writeAll(this.fd, chunk, 0, chunk.length, this.pos), () => {
          if (this.pos !== undefined) this.pos += chunk.length;
          this.bytesWritten += chunk.length;
          done();
        }, done);
      }
      _destroy(error, done) { shut(this, error, done); }
      close(done) {
        if (typeof done === "function") {
          if (this.closed) {
            back(done);
            return;
          }
          this.on("close", () => done());
        }
        if (!this.autoClose) this.on("finish", () => this.destroy());
        this.end();
      }
      get pending() { return this.fd === null; }
    }
    kit.hidden(WriteStream.prototype, "destroySoon", WriteStream.prototype.end);

    function ended(stream, done) {
      if (typeof done === "function") {
        if (stream.closed) {
          back(done);
          return;
        }
        stream.on("close", () => done());
      }
      stream.destroy();
    }
    // They can be called without new, as in Node.
    const callable = (Class) => {
      const fn = function (path, options) { return Reflect.construct(Class, [path, options], new.target ?? Class); };
      fn.prototype = Class.prototype;
      kit.hidden(Class.prototype, "constructor", fn);
      Object.setPrototypeOf(fn, Object.getPrototypeOf(Class));
      return named(fn, Class.name, 2);
    };
    return { ReadStream: callable(ReadStream), WriteStream: callable(WriteStream) };
  }

  fs.createReadStream = named((path, options) => new (streams().ReadStream)(path, options), "createReadStream", 2);
  fs.createWriteStream = named((path, options) => new (streams().WriteStream)(path, options), "createWriteStream", 2);
  for (const [name, of] of [["ReadStream", "ReadStream"], ["WriteStream", "WriteStream"], ["FileReadStream", "ReadStream"], ["FileWriteStream", "WriteStream"]]) {
    const settle = (value) => defineProperty(fs, name, { value, writable: true, enumerable: true, configurable: true });
    defineProperty(fs, name, {
      get() { settle(streams()[of]); return fs[name]; }, set: settle, enumerable: true, configurable: true,
    });
  }

  fs.openAsBlob = named((path, options) => chain(later(operations.readFile(path)), (bytes) => {
    const Blob = native.global("Blob");
    return new Blob([bytes], { type: objectOf(options).type ?? "" });
  }), "openAsBlob", 1);

  assign(fs, { Dirent, Stats, Dir, F_OK: 0, R_OK: 4, W_OK: 2, X_OK: 1, constants });
  promises.constants = constants;
  // Not only when it is read: a default import has to have it.
  fs.promises = promises;
  return fs;
})
