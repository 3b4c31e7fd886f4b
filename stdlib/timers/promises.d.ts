declare module "node:timers/promises" {
  interface Options { signal?: { readonly aborted: boolean; readonly reason: any }; ref?: boolean }
  export function setTimeout<T = void>(delay?: number, value?: T, options?: Options): Promise<T>;
  export function setImmediate<T = void>(value?: T, options?: Options): Promise<T>;
  /** Iterates: a value each time that the delay has passed. */
  export function setInterval<T = void>(delay?: number, value?: T, options?: Options): AsyncIterableIterator<T>;
  export const scheduler: { wait(delay?: number, options?: { signal?: Options["signal"] }): Promise<void>; yield(): Promise<void> };
  const timers: typeof import("node:timers/promises");
  export default timers;
}
declare module "timers/promises" {
  export * from "node:timers/promises";
  export { default } from "node:timers/promises";
}
