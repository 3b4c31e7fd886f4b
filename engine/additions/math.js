(function ({ define, shown }, { sum, iterable }) {
  define(Math, {
    sumPrecise(items) {
      const numbers = [];
      for (const item of iterable(items)) {
        if (typeof item !== "number") throw new TypeError(`${shown(item)} is not a number`);
        numbers[numbers.length] = item;
      }
      return sum(numbers);
    },
  });
})
