declare module "node:assert" {
  type Pattern = RegExp | Error | object | ((error: any) => boolean) | (new (...args: any[]) => any);
  interface Assert {
    (value: unknown, message?: string | Error): asserts value;
    readonly AssertionError: typeof AssertionError;
    ok(value: unknown, message?: string | Error): asserts value;
    fail(message?: string | Error): never;
    fail(actual: unknown, expected: unknown, message?: string | Error, operator?: string): never;
    equal(actual: unknown, expected: unknown, message?: string | Error): void;
    notEqual(actual: unknown, expected: unknown, message?: string | Error): void;
    deepEqual(actual: unknown, expected: unknown, message?: string | Error): void;
    notDeepEqual(actual: unknown, expected: unknown, message?: string | Error): void;
    strictEqual<T>(actual: unknown, expected: T, message?: string | Error): asserts actual is T;
    notStrictEqual(actual: unknown, expected: unknown, message?: string | Error): void;
    deepStrictEqual<T>(actual: unknown, expected: T, message?: string | Error): asserts actual is T;
    notDeepStrictEqual(actual: unknown, expected: unknown, message?: string | Error): void;
    throws(fn: () => unknown, message?: string): void;
    throws(fn: () => unknown, error: Pattern, message?: string | Error): void;
    doesNotThrow(fn: () => unknown, message?: string): void;
    doesNotThrow(fn: () => unknown, error: Pattern, message?: string | Error): void;
    rejects(promise: Promise<unknown> | (() => Promise<unknown>), message?: string): Promise<void>;
    rejects(promise: Promise<unknown> | (() => Promise<unknown>), error: Pattern, message?: string | Error): Promise<void>;
    doesNotReject(promise: Promise<unknown> | (() => Promise<unknown>), message?: string): Promise<void>;
    doesNotReject(promise: Promise<unknown> | (() => Promise<unknown>), error: Pattern, message?: string | Error): Promise<void>;
    ifError(value: unknown): asserts value is null | undefined;
    match(value: string, pattern: RegExp, message?: string | Error): void;
    doesNotMatch(value: string, pattern: RegExp, message?: string | Error): void;
    /** The same with the strict comparisons under the short names. */
    readonly strict: Assert;
  }
  export class AssertionError extends Error {
    constructor(options: { message?: string; actual?: unknown; expected?: unknown; operator?: string; stackStartFn?: Function });
    readonly code: "ERR_ASSERTION";
    actual: unknown;
    expected: unknown;
    operator: string;
    generatedMessage: boolean;
  }
  export const ok: Assert["ok"];
  export const fail: Assert["fail"];
  export const equal: Assert["equal"];
  export const notEqual: Assert["notEqual"];
  export const deepEqual: Assert["deepEqual"];
  export const notDeepEqual: Assert["notDeepEqual"];
  export const strictEqual: Assert["strictEqual"];
  export const notStrictEqual: Assert["notStrictEqual"];
  export const deepStrictEqual: Assert["deepStrictEqual"];
  export const notDeepStrictEqual: Assert["notDeepStrictEqual"];
  export const throws: Assert["throws"];
  export const doesNotThrow: Assert["doesNotThrow"];
  export const rejects: Assert["rejects"];
  export const doesNotReject: Assert["doesNotReject"];
  export const ifError: Assert["ifError"];
  export const match: Assert["match"];
  export const doesNotMatch: Assert["doesNotMatch"];
  export const strict: Assert;
  const assert: Assert;
  export default assert;
}
declare module "assert" {
  export * from "node:assert";
  export { default } from "node:assert";
}
