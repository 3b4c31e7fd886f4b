declare module "node:async_hooks" {
  /** A value that follows the script through awaits, timers and callbacks. */
  export class AsyncLocalStorage<T> {
    static bind<F extends (...args: any[]) => any>(fn: F): F;
    static snapshot(): <R, A extends any[]>(fn: (...args: A) => R, ...args: A) => R;
    getStore(): T | undefined;
    run<R, A extends any[]>(store: T, callback: (...args: A) => R, ...args: A): R;
    exit<R, A extends any[]>(callback: (...args: A) => R, ...args: A): R;
    enterWith(store: T): void;
    disable(): void;
  }
  export class AsyncResource {
    constructor(type: string, options?: number | { triggerAsyncId?: number; requireManualDestroy?: boolean });
    static bind<F extends (...args: any[]) => any>(fn: F, type?: string, thisArg?: any): F;
    runInAsyncScope<R, A extends any[]>(fn: (...args: A) => R, thisArg?: any, ...args: A): R;
    bind<F extends (...args: any[]) => any>(fn: F, thisArg?: any): F;
    emitDestroy(): this;
    asyncId(): number;
    triggerAsyncId(): number;
  }
  export function executionAsyncId(): number;
  export function triggerAsyncId(): number;
  const hooks: typeof import("node:async_hooks");
  export default hooks;
}
declare module "async_hooks" {
  export * from "node:async_hooks";
  export { default } from "node:async_hooks";
}
