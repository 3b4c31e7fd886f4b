declare module "node:timers" {
  export const setTimeout: typeof globalThis.setTimeout;
  export const setInterval: typeof globalThis.setInterval;
  export const setImmediate: typeof globalThis.setImmediate;
  export const clearTimeout: typeof globalThis.clearTimeout;
  export const clearInterval: typeof globalThis.clearInterval;
  export const clearImmediate: typeof globalThis.clearImmediate;
  export const promises: typeof import("node:timers/promises");
  const timers: typeof import("node:timers");
  export default timers;
}
declare module "timers" {
  export * from "node:timers";
  export { default } from "node:timers";
}
