declare module "node:zlib" {
  interface ZlibOptions {
    flush?: number; finishFlush?: number; chunkSize?: number; windowBits?: number; level?: number; memLevel?: number; strategy?: number;
    dictionary?: ArrayBufferView | ArrayBuffer; info?: boolean; maxOutputLength?: number;
  }
  interface BrotliOptions { flush?: number; finishFlush?: number; chunkSize?: number; params?: Record<number, number | boolean>; maxOutputLength?: number; info?: boolean }
  type Input = string | ArrayBufferView | ArrayBuffer;
  type Callback = (error: Error | null, result: Buffer) => void;
  interface ZlibStream extends InstanceType<typeof import("node:stream").Transform> {
    readonly bytesWritten: number;
    flush(kind?: number, callback?: () => void): void;
    flush(callback?: () => void): void;
    reset(): void;
    params(level: number, strategy: number, callback: () => void): void;
    close(callback?: () => void): void;
  }
  export function deflateSync(data: Input, options?: ZlibOptions): Buffer;
  export function deflate(data: Input, callback: Callback): void;
  export function deflate(data: Input, options: ZlibOptions, callback: Callback): void;
  export function createDeflate(options?: ZlibOptions): ZlibStream;
  export const Deflate: new (options?: ZlibOptions) => ZlibStream;
  export function inflateSync(data: Input, options?: ZlibOptions): Buffer;
  export function inflate(data: Input, callback: Callback): void;
  export function inflate(data: Input, options: ZlibOptions, callback: Callback): void;
  export function createInflate(options?: ZlibOptions): ZlibStream;
  export const Inflate: new (options?: ZlibOptions) => ZlibStream;
  export function gzipSync(data: Input, options?: ZlibOptions): Buffer;
  export function gzip(data: Input, callback: Callback): void;
  export function gzip(data: Input, options: ZlibOptions, callback: Callback): void;
  export function createGzip(options?: ZlibOptions): ZlibStream;
  export const Gzip: new (options?: ZlibOptions) => ZlibStream;
  export function gunzipSync(data: Input, options?: ZlibOptions): Buffer;
  export function gunzip(data: Input, callback: Callback): void;
  export function gunzip(data: Input, options: ZlibOptions, callback: Callback): void;
  export function createGunzip(options?: ZlibOptions): ZlibStream;
  export const Gunzip: new (options?: ZlibOptions) => ZlibStream;
  export function deflateRawSync(data: Input, options?: ZlibOptions): Buffer;
  export function deflateRaw(data: Input, callback: Callback): void;
  export function deflateRaw(data: Input, options: ZlibOptions, callback: Callback): void;
  export function createDeflateRaw(options?: ZlibOptions): ZlibStream;
  export const DeflateRaw: new (options?: ZlibOptions) => ZlibStream;
  export function inflateRawSync(data: Input, options?: ZlibOptions): Buffer;
  export function inflateRaw(data: Input, callback: Callback): void;
  export function inflateRaw(data: Input, options: ZlibOptions, callback: Callback): void;
  export function createInflateRaw(options?: ZlibOptions): ZlibStream;
  export const InflateRaw: new (options?: ZlibOptions) => ZlibStream;
  export function unzipSync(data: Input, options?: ZlibOptions): Buffer;
  export function unzip(data: Input, callback: Callback): void;
  export function unzip(data: Input, options: ZlibOptions, callback: Callback): void;
  export function createUnzip(options?: ZlibOptions): ZlibStream;
  export const Unzip: new (options?: ZlibOptions) => ZlibStream;
  export function brotliCompressSync(data: Input, options?: BrotliOptions): Buffer;
  export function brotliCompress(data: Input, callback: Callback): void;
  export function brotliCompress(data: Input, options: BrotliOptions, callback: Callback): void;
  export function createBrotliCompress(options?: BrotliOptions): ZlibStream;
  export const BrotliCompress: new (options?: BrotliOptions) => ZlibStream;
  export function brotliDecompressSync(data: Input, options?: BrotliOptions): Buffer;
  export function brotliDecompress(data: Input, callback: Callback): void;
  export function brotliDecompress(data: Input, options: BrotliOptions, callback: Callback): void;
  export function createBrotliDecompress(options?: BrotliOptions): ZlibStream;
  export const BrotliDecompress: new (options?: BrotliOptions) => ZlibStream;
  export function crc32(data: Input, value?: number): number;
  export const constants: Readonly<Record<string, number>>;
  export const codes: Readonly<Record<string, string | number>>;
  const module: typeof import("node:zlib");
  export default module;
}
