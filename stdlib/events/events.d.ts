declare module "node:events" {
  interface AbortLike { readonly aborted: boolean; readonly reason: any; addEventListener(type: "abort", listener: () => void, options?: object): void; removeEventListener(type: "abort", listener: () => void): void }
  interface Options { captureRejections?: boolean }
  type Listener = (...args: any[]) => void;
  export class EventEmitter {
    constructor(options?: Options);
    static defaultMaxListeners: number;
    static captureRejections: boolean;
    static readonly errorMonitor: unique symbol;
    static readonly captureRejectionSymbol: unique symbol;
    static readonly EventEmitter: typeof EventEmitter;
    static readonly usingDomains: boolean;
    static init(this: EventEmitter, options?: Options): void;
    static once: typeof once;
    static on: typeof on;
    static getEventListeners: typeof getEventListeners;
    static getMaxListeners: typeof getMaxListeners;
    static setMaxListeners: typeof setMaxListeners;
    static addAbortListener: typeof addAbortListener;
    static listenerCount: typeof listenerCount;
    on(event: string | symbol, listener: Listener): this;
    addListener(event: string | symbol, listener: Listener): this;
    once(event: string | symbol, listener: Listener): this;
    prependListener(event: string | symbol, listener: Listener): this;
    prependOnceListener(event: string | symbol, listener: Listener): this;
    off(event: string | symbol, listener: Listener): this;
    removeListener(event: string | symbol, listener: Listener): this;
    removeAllListeners(event?: string | symbol): this;
    emit(event: string | symbol, ...args: any[]): boolean;
    listeners(event: string | symbol): Function[];
    rawListeners(event: string | symbol): Function[];
    listenerCount(event: string | symbol, listener?: Function): number;
    eventNames(): (string | symbol)[];
    setMaxListeners(n: number): this;
    getMaxListeners(): number;
  }
  /** Waits for an event; rejects with the argument of an error event that comes before it. */
  export function once(emitter: EventEmitter | object, event: string | symbol, options?: { signal?: AbortLike }): Promise<any[]>;
  /** Iterates over the arguments of an event, each as an array. */
  export function on(emitter: EventEmitter | object, event: string | symbol, options?: { signal?: AbortLike; close?: string[]; highWaterMark?: number; lowWaterMark?: number }): AsyncIterableIterator<any[]>;
  export function getEventListeners(emitter: EventEmitter | object, event: string | symbol): Function[];
  export function getMaxListeners(emitter: EventEmitter | object): number;
  export function setMaxListeners(n?: number, ...emitters: object[]): void;
  export function addAbortListener(signal: AbortLike, listener: (event: any) => void): object;
  export function listenerCount(emitter: EventEmitter, event: string | symbol): number;
  export function init(this: EventEmitter, options?: Options): void;
  export const errorMonitor: unique symbol;
  export const captureRejectionSymbol: unique symbol;
  export let captureRejections: boolean;
  export let defaultMaxListeners: number;
  export const usingDomains: boolean;
  export default EventEmitter;
}
declare module "events" {
  export * from "node:events";
  export { default } from "node:events";
}
