declare module "node:assert/strict" {
  export { AssertionError, ok, fail, equal, notEqual, deepEqual, notDeepEqual, strictEqual, notStrictEqual, deepStrictEqual, notDeepStrictEqual, throws, doesNotThrow, rejects, doesNotReject, ifError, match, doesNotMatch, strict } from "node:assert";
  export { strict as default } from "node:assert";
}
declare module "assert/strict" {
  export * from "node:assert/strict";
  export { default } from "node:assert/strict";
}
