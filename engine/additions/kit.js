// What the other texts share.
(function () {
  const { defineProperty, getOwnPropertyDescriptor } = Object;
  const { apply, ownKeys } = Reflect;

  return {
    // define gives target the members of an object, as built-ins have them: not
    // enumerable. What target has already stays.
    define(target, members) {
      for (const key of ownKeys(members)) {
        if (getOwnPropertyDescriptor(target, key) !== undefined) continue;
        const descriptor = getOwnPropertyDescriptor(members, key);
        descriptor.enumerable = false;
        defineProperty(target, key, descriptor);
      }
    },

    // tag names the instances of a class.
    tag(prototype, value) {
      defineProperty(prototype, Symbol.toStringTag, { value, writable: false, enumerable: false, configurable: true });
    },

    // replace puts a function in the place of the one that target has. It is given that
    // one as a function of this and an array of arguments.
    replace(target, key, make) {
      const before = target[key];
      const members = make((self, args) => apply(before, self, args));
      const descriptor = getOwnPropertyDescriptor(target, key);
      descriptor.value = members[key];
      defineProperty(target, key, descriptor);
    },

    isObject(value) {
      return (typeof value === "object" && value !== null) || typeof value === "function";
    },

    callable(value) {
      if (typeof value !== "function") throw new TypeError(`${shown(value)} is not a function`);
      return value;
    },

    shown,
  };

  // shown is a value as messages of errors name it.
  function shown(value) {
    switch (typeof value) {
      case "string":
        return `"${value}"`;
      case "symbol":
        return String(value);
      case "function":
        return value.name || "function";
      case "object":
        return value === null ? "null" : Array.isArray(value) ? "[object Array]" : "#<Object>";
      default:
        return `${value}`;
    }
  }
})
