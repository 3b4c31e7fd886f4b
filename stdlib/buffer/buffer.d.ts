/** How bytes are written as text. */
type BufferEncoding = "utf8" | "utf-8" | "utf16le" | "utf-16le" | "ucs2" | "ucs-2" | "latin1" | "binary" | "ascii" | "hex" | "base64" | "base64url";

/** Bytes: a Uint8Array with the methods of Node. */
declare class Buffer extends Uint8Array {
  static poolSize: number;
  static from(text: string, encoding?: BufferEncoding): Buffer;
  /** Shares the memory. */
  static from(memory: ArrayBuffer, byteOffset?: number, length?: number): Buffer;
  /** Copies the bytes. */
  static from(bytes: Uint8Array | ArrayLike<number> | Iterable<number> | { type: "Buffer"; data: number[] } | { valueOf(): string | object }): Buffer;
  static of(...bytes: number[]): Buffer;
  static copyBytesFrom(view: ArrayBufferView, offset?: number, length?: number): Buffer;
  static alloc(size: number, fill?: string | Uint8Array | number, encoding?: BufferEncoding): Buffer;
  static allocUnsafe(size: number): Buffer;
  static allocUnsafeSlow(size: number): Buffer;
  static isBuffer(value: unknown): value is Buffer;
  static isEncoding(name: string): name is BufferEncoding;
  static byteLength(text: string | ArrayBufferView | ArrayBuffer, encoding?: BufferEncoding): number;
  static compare(a: Uint8Array, b: Uint8Array): -1 | 0 | 1;
  static concat(list: readonly Uint8Array[], length?: number): Buffer;

  readonly parent: ArrayBuffer;
  readonly offset: number;
  toString(encoding?: BufferEncoding, start?: number, end?: number): string;
  toLocaleString(encoding?: any, start?: any, end?: number): string;
  toJSON(): { type: "Buffer"; data: number[] };
  inspect(): string;
  write(text: string, encoding?: BufferEncoding): number;
  write(text: string, offset: number, encoding?: BufferEncoding): number;
  write(text: string, offset: number, length: number, encoding?: BufferEncoding): number;
  equals(other: Uint8Array): boolean;
  compare(target: Uint8Array, targetStart?: number, targetEnd?: number, sourceStart?: number, sourceEnd?: number): -1 | 0 | 1;
  copy(target: Uint8Array, targetStart?: number, sourceStart?: number, sourceEnd?: number): number;
  /** Shares the memory, unlike the method of Uint8Array. */
  slice(start?: number, end?: number): Buffer;
  subarray(start?: number, end?: number): Buffer;
  fill(value: string | Uint8Array | number, encoding?: BufferEncoding): this;
  fill(value: string | Uint8Array | number, offset?: number, end?: number, encoding?: BufferEncoding): this;
  indexOf(value: string | number | Uint8Array, byteOffset?: number | BufferEncoding, encoding?: BufferEncoding): number;
  lastIndexOf(value: string | number | Uint8Array, byteOffset?: number | BufferEncoding, encoding?: BufferEncoding): number;
  includes(value: string | number | Uint8Array, byteOffset?: number | BufferEncoding, encoding?: BufferEncoding): boolean;
  swap16(): this;
  swap32(): this;
  swap64(): this;
  readUInt16LE(offset?: number): number;
  readUint16LE(offset?: number): number;
  readUInt32LE(offset?: number): number;
  readUint32LE(offset?: number): number;
  readUIntLE(offset: number, byteLength: number): number;
  readBigUInt64LE(offset?: number): bigint;
  readUintLE(offset: number, byteLength: number): number;
  readBigUint64LE(offset?: number): bigint;
  readInt16LE(offset?: number): number;
  readInt32LE(offset?: number): number;
  readIntLE(offset: number, byteLength: number): number;
  readBigInt64LE(offset?: number): bigint;
  readFloatLE(offset?: number): number;
  readDoubleLE(offset?: number): number;
  readUInt16BE(offset?: number): number;
  readUint16BE(offset?: number): number;
  readUInt32BE(offset?: number): number;
  readUint32BE(offset?: number): number;
  readUIntBE(offset: number, byteLength: number): number;
  readBigUInt64BE(offset?: number): bigint;
  readUintBE(offset: number, byteLength: number): number;
  readBigUint64BE(offset?: number): bigint;
  readInt16BE(offset?: number): number;
  readInt32BE(offset?: number): number;
  readIntBE(offset: number, byteLength: number): number;
  readBigInt64BE(offset?: number): bigint;
  readFloatBE(offset?: number): number;
  readDoubleBE(offset?: number): number;
  readUInt8(offset?: number): number;
  readUint8(offset?: number): number;
  readInt8(offset?: number): number;
  writeUInt16LE(value: number, offset?: number): number;
  writeUint16LE(value: number, offset?: number): number;
  writeUInt32LE(value: number, offset?: number): number;
  writeUint32LE(value: number, offset?: number): number;
  writeUIntLE(value: number, offset: number, byteLength: number): number;
  writeBigUInt64LE(value: bigint, offset?: number): number;
  writeUintLE(value: number, offset: number, byteLength: number): number;
  writeBigUint64LE(value: bigint, offset?: number): number;
  writeInt16LE(value: number, offset?: number): number;
  writeInt32LE(value: number, offset?: number): number;
  writeIntLE(value: number, offset: number, byteLength: number): number;
  writeBigInt64LE(value: bigint, offset?: number): number;
  writeFloatLE(value: number, offset?: number): number;
  writeDoubleLE(value: number, offset?: number): number;
  writeUInt16BE(value: number, offset?: number): number;
  writeUint16BE(value: number, offset?: number): number;
  writeUInt32BE(value: number, offset?: number): number;
  writeUint32BE(value: number, offset?: number): number;
  writeUIntBE(value: number, offset: number, byteLength: number): number;
  writeBigUInt64BE(value: bigint, offset?: number): number;
  writeUintBE(value: number, offset: number, byteLength: number): number;
  writeBigUint64BE(value: bigint, offset?: number): number;
  writeInt16BE(value: number, offset?: number): number;
  writeInt32BE(value: number, offset?: number): number;
  writeIntBE(value: number, offset: number, byteLength: number): number;
  writeBigInt64BE(value: bigint, offset?: number): number;
  writeFloatBE(value: number, offset?: number): number;
  writeDoubleBE(value: number, offset?: number): number;
  writeUInt8(value: number, offset?: number): number;
  writeUint8(value: number, offset?: number): number;
  writeInt8(value: number, offset?: number): number;
}

declare module "node:buffer" {
  type Buffer_ = Buffer;
  const Buffer_: typeof Buffer;
  export { Buffer_ as Buffer };
  export function SlowBuffer(size: number): Buffer;
  export function transcode(source: Uint8Array, from: BufferEncoding, to: BufferEncoding): Buffer;
  export function isUtf8(input: Uint8Array | ArrayBuffer): boolean;
  export function isAscii(input: Uint8Array | ArrayBuffer): boolean;
  export function atob(input: string): string;
  export function btoa(input: string): string;
  export const kMaxLength: number;
  export const kStringMaxLength: number;
  export const constants: { readonly MAX_LENGTH: number; readonly MAX_STRING_LENGTH: number };
  export let INSPECT_MAX_BYTES: number;
  const Blob_: typeof globalThis extends { Blob: infer T } ? T : unknown;
  const File_: typeof globalThis extends { File: infer T } ? T : unknown;
  export { Blob_ as Blob, File_ as File };
  const module: {
    Buffer: typeof Buffer; SlowBuffer: typeof SlowBuffer; transcode: typeof transcode; isUtf8: typeof isUtf8; isAscii: typeof isAscii;
    atob: typeof atob; btoa: typeof btoa; kMaxLength: number; kStringMaxLength: number; constants: typeof constants;
    INSPECT_MAX_BYTES: number; Blob: typeof Blob_; File: typeof File_;
  };
  export default module;
}
