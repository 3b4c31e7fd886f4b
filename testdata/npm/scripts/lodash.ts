// The whole of lodash, and one function of it alone.
import _ from "lodash";
import debounce from "lodash/debounce";
import { chunk, groupBy } from "lodash";

interface Row { team: string; score: number; at: Date }
const rows: Row[] = [
  { team: "red", score: 3, at: new Date(0) },
  { team: "blue", score: 7, at: new Date(1e12) },
  { team: "red", score: 5, at: new Date(2e12) },
];
console.log(_.mapValues(_.groupBy(rows, "team"), (list) => _.sumBy(list, "score")));
console.log(chunk([1, 2, 3, 4, 5], 2), Object.keys(groupBy([1.2, 1.8, 2.1], Math.floor)));
console.log(_.orderBy(rows, ["score"], ["desc"]).map((r) => r.team), _.camelCase("from the disk"), _.kebabCase("fromTheDisk"), _.deburr("déjà vu"));
const deep = _.cloneDeep({ a: [1, { b: new Map([["k", new Set([1])]]) }], d: new Date(5), r: /x/gi });
console.log(deep, _.isEqual(deep, _.cloneDeep(deep)), _.get(deep, "a[1].b").get("k").size, _.merge({ a: { x: 1 } }, { a: { y: [2] } }));
console.log(_.template("<% for (const n of names) { %>hello <%- n %>! <% } %>")({ names: ["a", "<b>"] }));
console.log(_.chain([3, 1, 2]).sortBy().reverse().map((n) => n * 2).value(), _.range(0, 10, 3), _.words("one twoThree four-five"), _.padStart("7", 3, "0"));
let calls = 0;
const later = debounce(() => { calls++; }, 5);
later(); later(); later();
await new Promise((r) => setTimeout(r, 40));
console.log(calls, _.uniqWith([{ x: 1 }, { x: 1 }, { x: 2 }], _.isEqual), _.truncate("a long sentence to cut", { length: 12 }), _.curry((a: number, b: number) => a + b)(1)(2), _.memoize((n: number) => n * n)(4));
