// What the web kept of older times.
(function ({ define, callable }) {
  const { defineProperty, getOwnPropertyDescriptor, getPrototypeOf } = Object;

  function lookup(object, key, kind) {
    for (let o = Object(object); o !== null; o = getPrototypeOf(o)) {
      const descriptor = getOwnPropertyDescriptor(o, key);
      if (descriptor !== undefined) return descriptor[kind];
    }
    return undefined;
  }

  define(Object.prototype, {
    __defineGetter__(key, get) {
      defineProperty(this, key, { get: callable(get), enumerable: true, configurable: true });
    },
    __defineSetter__(key, set) {
      defineProperty(this, key, { set: callable(set), enumerable: true, configurable: true });
    },
    __lookupGetter__(key) {
      return lookup(this, key, "get");
    },
    __lookupSetter__(key) {
      return lookup(this, key, "set");
    },
  });

  define(Date.prototype, {
    getYear() {
      return this.getFullYear() - 1900;
    },
    setYear(year) {
      year = Number(year);
      if (year !== year) return this.setTime(NaN);
      const whole = Math.trunc(year);
      return this.setFullYear(whole >= 0 && whole <= 99 ? whole + 1900 : year);
    },
    toGMTString: Date.prototype.toUTCString,
  });

  const html = (tag, attribute) =>
    attribute === undefined
      ? { [tag[0]]() { return `<${tag[1]}>${this}</${tag[1]}>`; } }
      : { [tag[0]](value) { return `<${tag[1]} ${attribute}="${`${value}`.replaceAll('"', "&quot;")}">${this}</${tag[1]}>`; } };
  for (const pair of [["big", "big"], ["blink", "blink"], ["bold", "b"], ["fixed", "tt"], ["italics", "i"], ["small", "small"], ["strike", "strike"], ["sub", "sub"], ["sup", "sup"]]) {
    define(String.prototype, html(pair));
  }
  define(String.prototype, html(["anchor", "a"], "name"));
  define(String.prototype, html(["fontcolor", "font"], "color"));
  define(String.prototype, html(["fontsize", "font"], "size"));
  define(String.prototype, html(["link", "a"], "href"));
})
