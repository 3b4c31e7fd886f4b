declare module "node:util" {
  export interface InspectOptions {
    showHidden?: boolean;
    depth?: number | null;
    colors?: boolean;
    customInspect?: boolean;
    showProxy?: boolean;
    maxArrayLength?: number | null;
    maxStringLength?: number | null;
    breakLength?: number;
    compact?: boolean | number;
    sorted?: boolean | ((a: string, b: string) => number);
    getters?: boolean | "get" | "set";
    numericSeparator?: boolean;
  }
  export interface ParseArgsOption {
    type: "string" | "boolean";
    short?: string;
    multiple?: boolean;
    default?: string | boolean | string[] | boolean[];
  }
  export interface ParseArgsConfig {
    args?: string[];
    options?: { [name: string]: ParseArgsOption };
    strict?: boolean;
    allowPositionals?: boolean;
    allowNegative?: boolean;
    tokens?: boolean;
  }
  type Value<O> = O extends { type: "boolean" } ? boolean : O extends { type: "string" } ? string : string | boolean;
  type Values<C> = C extends { options: infer O }
    ? { -readonly [K in keyof O]: O[K] extends { default: any } ? (O[K] extends { multiple: true } ? Value<O[K]>[] : Value<O[K]>) : (O[K] extends { multiple: true } ? Value<O[K]>[] : Value<O[K]>) | undefined }
    : { [name: string]: string | boolean | (string | boolean)[] | undefined };
  export const inspect: {
    (value: unknown, options?: InspectOptions): string;
    (value: unknown, showHidden?: boolean, depth?: number | null, colors?: boolean): string;
    readonly custom: unique symbol;
    defaultOptions: InspectOptions;
    colors: { [name: string]: [number, number] };
    styles: { [name: string]: string };
  };
  export function format(format?: unknown, ...values: unknown[]): string;
  export function formatWithOptions(options: InspectOptions, format?: unknown, ...values: unknown[]): string;
  export const promisify: {
    <T = unknown>(original: (...args: any[]) => void): (...args: any[]) => Promise<T>;
    readonly custom: unique symbol;
  };
  export function callbackify<A extends any[], R>(original: (...args: A) => Promise<R>): (...args: [...A, (error: any, result: R) => void]) => void;
  export function inherits(constructor: Function, superConstructor: Function): void;
  export function deprecate<F extends (...args: any[]) => any>(fn: F, message: string, code?: string): F;
  export function debuglog(section: string, callback?: (log: (...values: unknown[]) => void) => void): ((...values: unknown[]) => void) & { readonly enabled: boolean };
  export function debug(section: string, callback?: (log: (...values: unknown[]) => void) => void): ((...values: unknown[]) => void) & { readonly enabled: boolean };
  export function isDeepStrictEqual(a: unknown, b: unknown): boolean;
  export function parseArgs<C extends ParseArgsConfig>(config?: C): {
    values: Values<C>;
    positionals: string[];
    tokens?: { kind: string; index: number; name?: string; rawName?: string; value?: string; inlineValue?: boolean }[];
  };
  export function parseEnv(content: string): { [name: string]: string };
  export function styleText(format: string | string[], text: string): string;
  export function stripVTControlCharacters(text: string): string;
  export function toUSVString(text: string): string;
  export function getSystemErrorName(error: number): string | undefined;
  export function getSystemErrorMap(): Map<number, [name: string, message: string]>;
  export function aborted(signal: object, resource: object): Promise<void>;
  export function log(format: string, ...values: unknown[]): void;
  export function isArray(value: unknown): value is any[];
  export function isBoolean(value: unknown): value is boolean;
  export function isBuffer(value: unknown): boolean;
  export function isNull(value: unknown): value is null;
  export function isNullOrUndefined(value: unknown): value is null | undefined;
  export function isNumber(value: unknown): value is number;
  export function isString(value: unknown): value is string;
  export function isSymbol(value: unknown): value is symbol;
  export function isUndefined(value: unknown): value is undefined;
  export function isRegExp(value: unknown): value is RegExp;
  export function isObject(value: unknown): value is object;
  export function isDate(value: unknown): value is Date;
  export function isError(value: unknown): value is Error;
  export function isFunction(value: unknown): value is Function;
  export function isPrimitive(value: unknown): boolean;
  export function _extend<T, U>(target: T, source: U): T & U;
  export const types: typeof import("node:util/types");
  export const TextEncoder: typeof globalThis extends { TextEncoder: infer T } ? T : any;
  export const TextDecoder: typeof globalThis extends { TextDecoder: infer T } ? T : any;
  const util: typeof import("node:util");
  export default util;
}
declare module "util" {
  export * from "node:util";
  export { default } from "node:util";
}
