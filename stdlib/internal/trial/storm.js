// Calls everything that can be reached from roots with arguments that make no sense. What
// it throws is of no interest; that the runtime lives on is.
const bad = [
  undefined, null, 0, -1, 1.5, NaN, Infinity, 2 ** 31, 2 ** 53, "", "x", "utf8", "hex", "sha256", "aes-256-gcm", "\ud800", "é".repeat(50), 10n, -(2n ** 70n),
  true, Symbol("s"), {}, [], [1, [2]], { length: 1e4 }, { length: -1 }, () => {}, () => { throw new Error("mine") }, new Proxy({}, {}), new Proxy(new Uint8Array(3), {}),
  new Uint8Array(3), new Uint16Array(2), new Float64Array(1), new DataView(new ArrayBuffer(4)), new ArrayBuffer(5), new Date(0), /x/,
  { valueOf() { throw new RangeError("no value") } }, { toString() { return "text" } }, { get name() { throw new Error("no name") } },
  { name: "AES-GCM", iv: new Uint8Array(12), length: 256, hash: "SHA-256" }, { [Symbol.iterator]: 5 }, Object.create(null), new Map([[1, 2]]),
  { key: "x", format: "jwk" }, { kty: "RSA", n: "AA", e: "AQAB" }, { toJSON() { return this } },
];
const below = (n) => (seed = (seed * 1103515245 + 12345) & 0x7fffffff) % n;
const any = (list) => list[below(list.length)];
const functions = [], seen = new Set();
const visit = (o, depth) => {
  if (o === null || typeof o !== "object" && typeof o !== "function" || seen.has(o) || depth > 3) return;
  seen.add(o);
  for (const key of Reflect.ownKeys(o)) {
    const d = Object.getOwnPropertyDescriptor(o, key);
    for (const v of [d.value, d.get, d.set]) {
      if (typeof v === "function") functions.push([v, o]);
      visit(v, depth + 1);
    }
  }
};
for (const root of roots) visit(root, 0);
const pending = [];
for (let round = 0; round < 8; round++) {
  for (const [fn, owner] of functions) {
    const args = Array.from({ length: below(6) }, () => any(bad));
    const self = any([owner, any(instances), any(instances), any(bad)]);
    try {
      const v = below(5) === 0 ? Reflect.construct(fn, args) : Reflect.apply(fn, self, args);
      if (typeof v?.then === "function") pending.push(v.then(() => {}, () => {}));
      if (typeof v?.on === "function") v.on("error", () => {});
    } catch {}
  }
}
await Promise.all(pending);
console.log(functions.length > 0);
