(function (native, kit) {
  const files = native.files();
  const { JSON, ArrayBuffer, Uint8Array, Set, SyntaxError } = globalThis;

  const parentOf = (path) => path.replace(/[^/]*\/*$/, "");

  // made writes a file and makes the folders above it if that is what is missing.
  async function made(path, write) {
    try {
      await write();
    } catch (error) {
      const parent = typeof path === "string" ? parentOf(path) : "";
      if (error.code !== "ENOENT" || parent === "") throw error;
      await files.mkdir(parent, { recursive: true });
      await write();
    }
  }

  async function readText(path) {
    return (await files.readFile(path, "utf8")).replace(/^\uFEFF/, "");
  }

  async function readBytes(path) {
    return await files.readFile(path);
  }

  async function readJSON(path) {
    const text = await readText(path);
    try {
      return JSON.parse(text);
    } catch (error) {
      throw new SyntaxError(`${path}: ${error.message}`, { cause: error });
    }
  }

  async function readLines(path) {
    const text = await readText(path);
    if (text === "") return [];
    return (text.endsWith("\n") ? text.slice(0, -1) : text).split("\n").map((line) => line.endsWith("\r") ? line.slice(0, -1) : line);
  }

  async function writeText(path, text) {
    if (typeof text !== "string") throw kit.invalidType("text", "of type string", text);
    await made(path, () => files.writeFile(path, text));
  }

  async function writeBytes(path, bytes) {
    if (bytes instanceof ArrayBuffer) bytes = new Uint8Array(bytes);
    if (!ArrayBuffer.isView(bytes)) throw kit.invalidType("bytes", "an instance of ArrayBuffer or ArrayBufferView", bytes);
    await made(path, () => files.writeFile(path, bytes));
  }

  async function writeJSON(path, value, indent = 2) {
    const text = JSON.stringify(value, undefined, indent);
    if (text === undefined) throw kit.invalidType("value", "a value that JSON has", value);
    await made(path, () => files.writeFile(path, `${text}\n`));
  }

  async function appendText(path, text) {
    if (typeof text !== "string") throw kit.invalidType("text", "of type string", text);
    await made(path, () => files.appendFile(path, text));
  }

  const kindOf = (entry) => entry.isDirectory() ? "directory" : entry.isFile() ? "file" : entry.isSymbolicLink() ? "link" : "other";
  const below = (folder, name) => folder === "" || folder.endsWith("/") ? folder + name : `${folder}/${name}`;

  async function list(path = ".") {
    const entries = await files.readdir(path, { withFileTypes: true });
    return entries.map((entry) => ({ name: entry.name, path: path === "." ? entry.name : below(String(path), entry.name), type: kindOf(entry) }));
  }

  async function glob(pattern, options = {}) {
    const patterns = Array.isArray(pattern) ? pattern : [pattern];
    if (options === null || typeof options !== "object") throw kit.invalidType("options", "of type object", options);
    const { cwd = "", folders = false } = options;
    const found = new Set();
    for (const one of patterns) {
      const matcher = native.matcher(one);
      const pending = [""];
      for (let folder; (folder = pending.pop()) !== undefined;) {
        let entries;
        const at = below(cwd, matcher.base + folder) || ".";
        try {
          entries = await files.readdir(at, { withFileTypes: true });
        } catch (error) {
          if (error.code === "ENOENT" || error.code === "ENOTDIR") continue;
          throw error;
        }
        for (const entry of entries) {
          const name = below(folder, entry.name), directory = entry.isDirectory();
          if (matcher.matches(name) && (folders || !directory)) found.add(matcher.base + name);
          if (directory && matcher.enters(name)) pending.push(name);
        }
      }
    }
    return [...found].sort();
  }

  async function exists(path) {
    try {
      await files.access(path);
      return true;
    } catch (error) {
      if (typeof error.errno === "number") return false;
      throw error;
    }
  }

  async function stat(path) {
    const s = await files.stat(path);
    return { type: kindOf(s), size: s.size, modified: s.mtime };
  }

  async function makeDir(path) {
    await files.mkdir(path, { recursive: true });
  }

  async function copy(from, to) {
    await made(to, () => files.cp(from, to, { recursive: true }));
  }

  async function move(from, to) {
    await made(to, () => files.rename(from, to));
  }

  async function remove(path) {
    await files.rm(path, { recursive: true, force: true });
  }

  return { readText, readBytes, readJSON, readLines, writeText, writeBytes, writeJSON, appendText, list, glob, exists, stat, makeDir, copy, move, remove };
})
