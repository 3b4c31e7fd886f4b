declare module "node:stream" {
  import { EventEmitter } from "node:events";
  import { finished as finishedPromise, pipeline as pipelinePromise } from "node:stream/promises";
  type Callback = (error?: Error | null) => void;
  interface ReadableOptions {
    objectMode?: boolean;
    highWaterMark?: number;
    encoding?: string;
    emitClose?: boolean;
    autoDestroy?: boolean;
    signal?: AbortSignal;
    construct?(this: Readable, callback: Callback): void;
    read?(this: Readable, size: number): void;
    destroy?(this: Readable, error: Error | null, callback: Callback): void;
  }
  interface WritableOptions {
    objectMode?: boolean;
    highWaterMark?: number;
    decodeStrings?: boolean;
    defaultEncoding?: string;
    emitClose?: boolean;
    autoDestroy?: boolean;
    signal?: AbortSignal;
    construct?(this: Writable, callback: Callback): void;
    write?(this: Writable, chunk: any, encoding: string, callback: Callback): void;
    writev?(this: Writable, chunks: { chunk: any; encoding: string }[], callback: Callback): void;
    final?(this: Writable, callback: Callback): void;
    destroy?(this: Writable, error: Error | null, callback: Callback): void;
  }
  interface DuplexOptions extends Omit<ReadableOptions, "construct" | "destroy" | "read">, Omit<WritableOptions, "construct" | "write" | "writev" | "final" | "destroy"> {
    allowHalfOpen?: boolean;
    readable?: boolean;
    writable?: boolean;
    readableObjectMode?: boolean;
    writableObjectMode?: boolean;
    readableHighWaterMark?: number;
    writableHighWaterMark?: number;
    construct?(this: Duplex, callback: Callback): void;
    read?(this: Duplex, size: number): void;
    write?(this: Duplex, chunk: any, encoding: string, callback: Callback): void;
    writev?(this: Duplex, chunks: { chunk: any; encoding: string }[], callback: Callback): void;
    final?(this: Duplex, callback: Callback): void;
    destroy?(this: Duplex, error: Error | null, callback: Callback): void;
  }
  interface TransformOptions extends DuplexOptions {
    transform?(this: Transform, chunk: any, encoding: string, callback: (error?: Error | null, data?: any) => void): void;
    flush?(this: Transform, callback: (error?: Error | null, data?: any) => void): void;
  }
  interface OperatorOptions {
    concurrency?: number;
    signal?: AbortSignal;
  }
  type Mapper<T, R> = (chunk: T, options: { signal: AbortSignal }) => R | Promise<R>;
  export class Stream extends EventEmitter {
    constructor(options?: object);
    pipe<T>(destination: T, options?: { end?: boolean }): T;
  }
  export class Readable extends Stream implements AsyncIterable<any> {
    constructor(options?: ReadableOptions);
    static from(iterable: Iterable<any> | AsyncIterable<any>, options?: ReadableOptions): Readable;
    static fromWeb(stream: ReadableStream, options?: Pick<ReadableOptions, "encoding" | "highWaterMark" | "objectMode" | "signal">): Readable;
    static toWeb(stream: Readable, options?: { strategy?: QueuingStrategy }): ReadableStream;
    readonly readable: boolean;
    readonly readableAborted: boolean;
    readonly readableDidRead: boolean;
    readonly readableEncoding: string | null;
    readonly readableEnded: boolean;
    readonly readableFlowing: boolean | null;
    readonly readableHighWaterMark: number;
    readonly readableLength: number;
    readonly readableObjectMode: boolean;
    readonly destroyed: boolean;
    readonly closed: boolean;
    readonly errored: Error | null;
    read(size?: number): any;
    setEncoding(encoding: string): this;
    pause(): this;
    resume(): this;
    isPaused(): boolean;
    unpipe(destination?: Writable): this;
    unshift(chunk: any, encoding?: string): boolean;
    push(chunk: any, encoding?: string): boolean;
    wrap(stream: any): this;
    destroy(error?: Error): this;
    _read(size: number): void;
    _construct?(callback: Callback): void;
    _destroy(error: Error | null, callback: Callback): void;
    iterator(options?: { destroyOnReturn?: boolean }): AsyncIterableIterator<any>;
    [Symbol.asyncIterator](): AsyncIterableIterator<any>;
    map(fn: Mapper<any, any>, options?: OperatorOptions): Readable;
    filter(fn: Mapper<any, boolean>, options?: OperatorOptions): Readable;
    forEach(fn: Mapper<any, void>, options?: OperatorOptions): Promise<void>;
    toArray(options?: { signal?: AbortSignal }): Promise<any[]>;
    some(fn: Mapper<any, boolean>, options?: OperatorOptions): Promise<boolean>;
    find(fn: Mapper<any, boolean>, options?: OperatorOptions): Promise<any>;
    every(fn: Mapper<any, boolean>, options?: OperatorOptions): Promise<boolean>;
    flatMap(fn: Mapper<any, any>, options?: OperatorOptions): Readable;
    drop(count: number, options?: { signal?: AbortSignal }): Readable;
    take(count: number, options?: { signal?: AbortSignal }): Readable;
    asIndexedPairs(options?: { signal?: AbortSignal }): Readable;
    reduce<T>(fn: (previous: T, chunk: any, options: { signal?: AbortSignal }) => T | Promise<T>, initial?: T, options?: { signal?: AbortSignal }): Promise<T>;
    compose(stream: any, options?: { signal?: AbortSignal }): Duplex;
  }
  export class Writable extends Stream {
    constructor(options?: WritableOptions);
    static fromWeb(stream: WritableStream, options?: Pick<WritableOptions, "decodeStrings" | "highWaterMark" | "objectMode" | "signal">): Writable;
    static toWeb(stream: Writable): WritableStream;
    readonly writable: boolean;
    readonly writableAborted: boolean;
    readonly writableEnded: boolean;
    readonly writableFinished: boolean;
    readonly writableHighWaterMark: number;
    readonly writableLength: number;
    readonly writableObjectMode: boolean;
    readonly writableCorked: number;
    readonly writableNeedDrain: boolean;
    readonly destroyed: boolean;
    readonly closed: boolean;
    readonly errored: Error | null;
    write(chunk: any, callback?: Callback): boolean;
    write(chunk: any, encoding?: string, callback?: Callback): boolean;
    end(callback?: () => void): this;
    end(chunk: any, callback?: () => void): this;
    end(chunk: any, encoding?: string, callback?: () => void): this;
    cork(): void;
    uncork(): void;
    setDefaultEncoding(encoding: string): this;
    destroy(error?: Error): this;
    _write(chunk: any, encoding: string, callback: Callback): void;
    _writev?(chunks: { chunk: any; encoding: string }[], callback: Callback): void;
    _construct?(callback: Callback): void;
    _destroy(error: Error | null, callback: Callback): void;
    _final?(callback: Callback): void;
  }
  export interface Duplex extends Writable {}
  export class Duplex extends Readable {
    constructor(options?: DuplexOptions);
    static from(source: any): Duplex;
    static fromWeb(pair: any, options?: Pick<DuplexOptions, "encoding" | "highWaterMark" | "objectMode" | "signal">): Duplex;
    static toWeb(stream: Duplex): any;
    allowHalfOpen: boolean;
    readonly closed: boolean;
    readonly destroyed: boolean;
    readonly errored: Error | null;
    destroy(error?: Error): this;
    _construct?(callback: Callback): void;
    _destroy(error: Error | null, callback: Callback): void;
  }
  export class Transform extends Duplex {
    constructor(options?: TransformOptions);
    _transform(chunk: any, encoding: string, callback: (error?: Error | null, data?: any) => void): void;
    _flush?(callback: (error?: Error | null, data?: any) => void): void;
  }
  export class PassThrough extends Transform {}
  /** Calls back when a stream has ended, failed or been closed. */
  export function finished(stream: any, options: { readable?: boolean; writable?: boolean; error?: boolean; signal?: AbortSignal }, callback: Callback): () => void;
  export function finished(stream: any, callback: Callback): () => void;
  /** Pipes streams, iterables and functions into each other, and destroys all of them if one fails. The last argument is the callback. */
  export function pipeline(...streams: any[]): any;
  export function compose(...streams: any[]): Duplex;
  export function addAbortSignal<T>(signal: AbortSignal, stream: T): T;
  export function destroy(stream: any, error?: Error): void;
  export function isDestroyed(stream: any): boolean | null;
  export function isDisturbed(stream: any): boolean;
  export function isErrored(stream: any): boolean;
  export function isReadable(stream: any): boolean | null;
  export function isWritable(stream: any): boolean | null;
  export function getDefaultHighWaterMark(objectMode: boolean): number;
  export function setDefaultHighWaterMark(objectMode: boolean, value: number): void;
  export const promises: { finished: typeof finishedPromise; pipeline: typeof pipelinePromise };
  const all: typeof import("node:stream");
  export default all;
}
