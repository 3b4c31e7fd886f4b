interface QueuingStrategy<T = any> {
  highWaterMark?: number;
  size?(chunk: T): number;
}
interface UnderlyingSource<R = any> {
  start?(controller: ReadableStreamDefaultController<R>): unknown;
  pull?(controller: ReadableStreamDefaultController<R>): unknown;
  cancel?(reason?: any): unknown;
  type?: undefined;
}
interface UnderlyingByteSource {
  start?(controller: ReadableByteStreamController): unknown;
  pull?(controller: ReadableByteStreamController): unknown;
  cancel?(reason?: any): unknown;
  type: "bytes";
  autoAllocateChunkSize?: number;
}
interface UnderlyingSink<W = any> {
  start?(controller: WritableStreamDefaultController): unknown;
  write?(chunk: W, controller: WritableStreamDefaultController): unknown;
  close?(): unknown;
  abort?(reason?: any): unknown;
}
interface Transformer<I = any, O = any> {
  start?(controller: TransformStreamDefaultController<O>): unknown;
  transform?(chunk: I, controller: TransformStreamDefaultController<O>): unknown;
  flush?(controller: TransformStreamDefaultController<O>): unknown;
  cancel?(reason?: any): unknown;
}
interface StreamPipeOptions {
  preventAbort?: boolean;
  preventCancel?: boolean;
  preventClose?: boolean;
  signal?: AbortSignal;
}
interface ReadableWritablePair<R = any, W = any> {
  readable: ReadableStream<R>;
  writable: WritableStream<W>;
}
type ReadableStreamReadResult<T> = { done: false; value: T } | { done: true; value: T | undefined };
declare class ReadableStream<R = any> implements AsyncIterable<R> {
  constructor(source: UnderlyingByteSource, strategy?: { highWaterMark?: number });
  constructor(source?: UnderlyingSource<R>, strategy?: QueuingStrategy<R>);
  readonly locked: boolean;
  cancel(reason?: any): Promise<void>;
  getReader(options: { mode: "byob" }): ReadableStreamBYOBReader;
  getReader(options?: { mode?: undefined }): ReadableStreamDefaultReader<R>;
  pipeThrough<T>(transform: ReadableWritablePair<T, R>, options?: StreamPipeOptions): ReadableStream<T>;
  pipeTo(destination: WritableStream<R>, options?: StreamPipeOptions): Promise<void>;
  tee(): [ReadableStream<R>, ReadableStream<R>];
  values(options?: { preventCancel?: boolean }): AsyncIterableIterator<R>;
  [Symbol.asyncIterator](options?: { preventCancel?: boolean }): AsyncIterableIterator<R>;
  static from<T>(iterable: Iterable<T> | AsyncIterable<T>): ReadableStream<T>;
}
declare class ReadableStreamDefaultReader<R = any> {
  constructor(stream: ReadableStream<R>);
  readonly closed: Promise<void>;
  read(): Promise<ReadableStreamReadResult<R>>;
  cancel(reason?: any): Promise<void>;
  releaseLock(): void;
}
declare class ReadableStreamBYOBReader {
  constructor(stream: ReadableStream);
  readonly closed: Promise<void>;
  /** Fills view, whose memory moves to the view of the result. */
  read<T extends ArrayBufferView>(view: T, options?: { min?: number }): Promise<ReadableStreamReadResult<T>>;
  cancel(reason?: any): Promise<void>;
  releaseLock(): void;
}
declare class ReadableStreamBYOBRequest {
  private constructor();
  readonly view: Uint8Array | null;
  respond(bytesWritten: number): void;
  respondWithNewView(view: ArrayBufferView): void;
}
declare class ReadableStreamDefaultController<R = any> {
  private constructor();
  readonly desiredSize: number | null;
  close(): void;
  enqueue(chunk?: R): void;
  error(e?: any): void;
}
declare class ReadableByteStreamController {
  private constructor();
  readonly byobRequest: ReadableStreamBYOBRequest | null;
  readonly desiredSize: number | null;
  close(): void;
  enqueue(chunk: ArrayBufferView): void;
  error(e?: any): void;
}
declare class WritableStream<W = any> {
  constructor(sink?: UnderlyingSink<W>, strategy?: QueuingStrategy<W>);
  readonly locked: boolean;
  abort(reason?: any): Promise<void>;
  close(): Promise<void>;
  getWriter(): WritableStreamDefaultWriter<W>;
}
declare class WritableStreamDefaultWriter<W = any> {
  constructor(stream: WritableStream<W>);
  readonly closed: Promise<void>;
  readonly desiredSize: number | null;
  readonly ready: Promise<void>;
  abort(reason?: any): Promise<void>;
  close(): Promise<void>;
  releaseLock(): void;
  write(chunk?: W): Promise<void>;
}
declare class WritableStreamDefaultController {
  private constructor();
  readonly signal: AbortSignal;
  error(e?: any): void;
}
declare class TransformStream<I = any, O = any> {
  constructor(transformer?: Transformer<I, O>, writableStrategy?: QueuingStrategy<I>, readableStrategy?: QueuingStrategy<O>);
  readonly readable: ReadableStream<O>;
  readonly writable: WritableStream<I>;
}
declare class TransformStreamDefaultController<O = any> {
  private constructor();
  readonly desiredSize: number | null;
  enqueue(chunk?: O): void;
  error(reason?: any): void;
  terminate(): void;
}
declare class ByteLengthQueuingStrategy {
  constructor(init: { highWaterMark: number });
  readonly highWaterMark: number;
  readonly size: (chunk: ArrayBufferView) => number;
}
declare class CountQueuingStrategy {
  constructor(init: { highWaterMark: number });
  readonly highWaterMark: number;
  readonly size: (chunk?: any) => 1;
}
declare class TextEncoderStream {
  constructor();
  readonly encoding: "utf-8";
  readonly readable: ReadableStream<Uint8Array>;
  readonly writable: WritableStream<string>;
}
declare class TextDecoderStream {
  constructor(encoding?: string, options?: { fatal?: boolean; ignoreBOM?: boolean });
  readonly encoding: string;
  readonly fatal: boolean;
  readonly ignoreBOM: boolean;
  readonly readable: ReadableStream<string>;
  readonly writable: WritableStream<ArrayBuffer | ArrayBufferView>;
}
declare class CompressionStream {
  constructor(format: "gzip" | "deflate" | "deflate-raw");
  readonly readable: ReadableStream<Uint8Array>;
  readonly writable: WritableStream<ArrayBuffer | ArrayBufferView>;
}
declare class DecompressionStream {
  constructor(format: "gzip" | "deflate" | "deflate-raw");
  readonly readable: ReadableStream<Uint8Array>;
  readonly writable: WritableStream<ArrayBuffer | ArrayBufferView>;
}
declare module "node:stream/web" {
  export import ReadableStream = globalThis.ReadableStream;
  export import ReadableStreamDefaultReader = globalThis.ReadableStreamDefaultReader;
  export import ReadableStreamBYOBReader = globalThis.ReadableStreamBYOBReader;
  export import ReadableStreamBYOBRequest = globalThis.ReadableStreamBYOBRequest;
  export import ReadableStreamDefaultController = globalThis.ReadableStreamDefaultController;
  export import ReadableByteStreamController = globalThis.ReadableByteStreamController;
  export import WritableStream = globalThis.WritableStream;
  export import WritableStreamDefaultWriter = globalThis.WritableStreamDefaultWriter;
  export import WritableStreamDefaultController = globalThis.WritableStreamDefaultController;
  export import TransformStream = globalThis.TransformStream;
  export import TransformStreamDefaultController = globalThis.TransformStreamDefaultController;
  export import ByteLengthQueuingStrategy = globalThis.ByteLengthQueuingStrategy;
  export import CountQueuingStrategy = globalThis.CountQueuingStrategy;
  export import TextEncoderStream = globalThis.TextEncoderStream;
  export import TextDecoderStream = globalThis.TextDecoderStream;
  export import CompressionStream = globalThis.CompressionStream;
  export import DecompressionStream = globalThis.DecompressionStream;
}
