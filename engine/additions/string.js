(function ({ define }, { wellFormed }) {
  function text(self, name) {
    if (self === undefined || self === null) throw new TypeError(`String.prototype.${name} called on null or undefined`);
    return `${self}`;
  }
  define(String.prototype, {
    isWellFormed() {
      const s = text(this, "isWellFormed");
      return wellFormed(s) === s;
    },
    toWellFormed() {
      return wellFormed(text(this, "toWellFormed"));
    },
  });
})
