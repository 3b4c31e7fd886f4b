(function ({ replace, isObject }) {
  replace(Object.getPrototypeOf(Uint8Array), "from", (before) => ({
    from(source, ...rest) {
      // goja takes objects only.
      return before(this, [isObject(source) || source === undefined || source === null ? source : Object(source), ...rest]);
    },
  }));
})
