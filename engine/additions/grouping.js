(function ({ define, callable }, { iterable }) {
  const { create } = Object;

  // grouped calls add with the key of each item and the item.
  function grouped(items, callback, add) {
    if (items === undefined || items === null) throw new TypeError(`${items} is not iterable`);
    callable(callback);
    let index = 0;
    for (const item of iterable(items)) add(callback(item, index++), item);
  }

  define(Object, {
    groupBy(items, callback) {
      const groups = create(null);
      grouped(items, callback, (key, item) => {
        if (typeof key !== "symbol") key = `${key}`;
        const group = groups[key];
        if (group === undefined) groups[key] = [item];
        else group[group.length] = item;
      });
      return groups;
    },
  });

  const { get, set } = Map.prototype;
  const call = Reflect.apply;

  define(Map, {
    groupBy(items, callback) {
      const groups = new Map();
      grouped(items, callback, (key, item) => {
        const group = call(get, groups, [key]);
        if (group === undefined) call(set, groups, [key, [item]]);
        else group[group.length] = item;
      });
      return groups;
    },
  });
})
