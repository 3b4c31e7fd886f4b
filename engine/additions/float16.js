// Numbers of 16 bits. Float16Array is a proxy over the bits, as no other object lets its
// elements be seen as numbers that they are not.
(function ({ define, tag, isObject }, { toBits, fromBits, round }) {
  define(Math, {
    f16round(x) {
      return round(Number(x));
    },
  });
  const { getUint16, setUint16 } = DataView.prototype;
  const { apply, construct, get, set, has, ownKeys, getOwnPropertyDescriptor, defineProperty, deleteProperty } = Reflect;
  define(DataView.prototype, {
    getFloat16(byteOffset, littleEndian) {
      return fromBits(apply(getUint16, this, [byteOffset, littleEndian]));
    },
    setFloat16(byteOffset, value, littleEndian) {
      apply(setUint16, this, [byteOffset, toBits(Number(value)), littleEndian]);
    },
  });
  Object.defineProperty(DataView.prototype.getFloat16, "length", { value: 1 });
  Object.defineProperty(DataView.prototype.setFloat16, "length", { value: 2 });

  const TypedArray = Object.getPrototypeOf(Uint16Array);
  const bits = new WeakMap(); // proxy, or what it stands for → Uint16Array

  // index is the number of an element that a key names, or -1 of one that cannot be.
  function index(key) {
    if (typeof key !== "string") return undefined;
    const n = Number(key);
    if (String(n) !== key && key !== "-0") return undefined;
    return Number.isInteger(n) && n >= 0 && key !== "-0" ? n : -1;
  }

  const handler = {
    get(target, key, receiver) {
      const i = index(key);
      if (i !== undefined) return i >= 0 && i < target.length ? fromBits(target[i]) : undefined;
      return get(target, key, receiver);
    },
    set(target, key, value, receiver) {
      const i = index(key);
      if (i === undefined) return set(target, key, value, receiver);
      value = toBits(Number(value));
      if (i >= 0 && i < target.length) target[i] = value;
      return true;
    },
    has(target, key) {
      const i = index(key);
      return i === undefined ? has(target, key) : i >= 0 && i < target.length;
    },
    getOwnPropertyDescriptor(target, key) {
      const descriptor = getOwnPropertyDescriptor(target, key);
      if (descriptor !== undefined && index(key) !== undefined) descriptor.value = fromBits(descriptor.value);
      return descriptor;
    },
    defineProperty(target, key, descriptor) {
      const i = index(key);
      if (i === undefined) return defineProperty(target, key, descriptor);
      if (i < 0 || i >= target.length || "get" in descriptor || "set" in descriptor) return false;
      if ("value" in descriptor) target[i] = toBits(Number(descriptor.value));
      return true;
    },
    deleteProperty(target, key) {
      const i = index(key);
      return i === undefined ? deleteProperty(target, key) : !(i >= 0 && i < target.length);
    },
    ownKeys(target) {
      return ownKeys(target);
    },
  };

  function wrap(array, newTarget) {
    Object.setPrototypeOf(array, newTarget.prototype);
    const proxy = new Proxy(array, handler);
    bits.set(proxy, array);
    bits.set(array, array);
    return proxy;
  }

  function bitsOf(self) {
    const array = bits.get(self);
    if (array === undefined) throw new TypeError("this is not a typed array.");
    return array;
  }

  function Float16Array(source, byteOffset, length) {
    if (new.target === undefined) throw new TypeError("Constructor Float16Array requires 'new'");
    if (!isObject(source)) return wrap(construct(Uint16Array, source === undefined ? [] : [source]), new.target);
    if (source instanceof ArrayBuffer) {
      if (byteOffset % 2) throw new RangeError("start offset of Float16Array should be a multiple of 2");
      return wrap(construct(Uint16Array, length === undefined ? (byteOffset === undefined ? [source] : [source, byteOffset]) : [source, byteOffset, length]), new.target);
    }
    const values = Array.from(source);
    const array = new Uint16Array(values.length);
    for (let i = 0; i < values.length; i++) array[i] = toBits(Number(values[i]));
    return wrap(array, new.target);
  }
  Object.defineProperty(Float16Array, "length", { value: 3 });
  Object.setPrototypeOf(Float16Array, TypedArray);
  const prototype = Object.create(TypedArray.prototype);
  Object.defineProperty(Float16Array, "prototype", { value: prototype, writable: false });
  define(prototype, { constructor: Float16Array });
  for (const object of [Float16Array, prototype]) Object.defineProperty(object, "BYTES_PER_ELEMENT", { value: 2 });
  define(globalThis, { Float16Array });

  // The accessors and methods of typed arrays look inside, where a proxy has nothing.
  for (const name of ["buffer", "byteLength", "byteOffset", "length"]) {
    const { get } = Object.getOwnPropertyDescriptor(TypedArray.prototype, name);
    const accessor = { get [name]() { return apply(get, bitsOf(this), []); } };
    Object.defineProperty(prototype, name, { ...Object.getOwnPropertyDescriptor(accessor, name), enumerable: false });
  }
  tag(prototype, "Float16Array");

  const same = ["at", "every", "find", "findIndex", "findLast", "findLastIndex", "forEach", "includes", "indexOf", "join",
    "lastIndexOf", "reduce", "reduceRight", "reverse", "some", "keys", "entries", "values", "copyWithin", "toString", "toLocaleString"];
  const list = Array.prototype;
  for (const name of same) define(prototype, { [name]: list[name] });
  define(prototype, { [Symbol.iterator]: prototype.values });

  function position(value, length) {
    const n = Math.trunc(Number(value)) || 0;
    return n < 0 ? Math.max(length + n, 0) : Math.min(n, length);
  }

  // made is what a method returns that makes a list of the numbers.
  function made(self, values) {
    bitsOf(self);
    const Constructor = self.constructor ?? Float16Array;
    return new Constructor(values);
  }

  define(prototype, {
    fill(value, start, end) {
      apply(list.fill, this, [Number(value), start, end]);
      return this;
    },
    filter(predicate, self) {
      return made(this, apply(list.filter, Array.from(this), [(v, i) => apply(predicate, self, [v, i, this])]));
    },
    map(mapper, self) {
      return made(this, apply(list.map, Array.from(this), [(v, i) => apply(mapper, self, [v, i, this])]));
    },
    slice(start, end) {
      return made(this, apply(list.slice, Array.from(this), [start, end]));
    },
    sort(compare) {
      const sorted = Array.from(this).sort(compare ?? ((a, b) => (a === b ? (Object.is(a, -0) ? -1 : Object.is(b, -0) ? 1 : 0) : b !== b || a < b ? -1 : 1)));
      for (let i = 0; i < sorted.length; i++) this[i] = sorted[i];
      return this;
    },
    subarray(start, end = this.length) {
      const { length } = this;
      const from = position(start, length);
      return new (this.constructor ?? Float16Array)(this.buffer, this.byteOffset + 2 * from, Math.max(position(end, length) - from, 0));
    },
    set(source, offset = 0) {
      const values = Array.from(source);
      if (offset < 0 || values.length + offset > this.length) throw new RangeError("offset is out of bounds");
      for (let i = 0; i < values.length; i++) this[i + offset] = values[i];
    },
    toReversed() {
      return new Float16Array(Array.from(this).reverse());
    },
    toSorted(compare) {
      return new Float16Array(this).sort(compare);
    },
    with(position, value) {
      const copy = new Float16Array(this);
      const i = position < 0 ? this.length + position : position;
      if (!(i >= 0 && i < this.length)) throw new RangeError("Invalid typed array index");
      copy[i] = value;
      return copy;
    },
  });
})
