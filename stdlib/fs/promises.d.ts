declare module "node:fs/promises" {
  import { BigIntStats, CopyOptions, Data, Dir, Dirent, EncodingOptions, Flags, MakeDirectoryOptions, Mode, PathLike, Position, ReadDirOptions, ReadOptions, RmOptions, ReadStream, StatOptions, Stats, StreamOptions, WriteOptions, WriteStream } from "node:fs";
  import { EventEmitter } from "node:events";
  export type File = PathLike | FileHandle;
  export type Contents = Data | Iterable<Data> | AsyncIterable<Data>;

  interface FileHandle extends EventEmitter {
    readonly fd: number;
    appendFile(data: Contents, options?: WriteOptions): Promise<void>;
    close(): Promise<void>;
    createReadStream(options?: StreamOptions): ReadStream;
    createWriteStream(options?: StreamOptions): WriteStream;
    datasync(): Promise<void>;
    read<T extends ArrayBufferView>(buffer: T, offset?: number, length?: number, position?: Position): Promise<{ bytesRead: number; buffer: T }>;
    read(options?: { buffer?: ArrayBufferView; offset?: number; length?: number; position?: Position }): Promise<{ bytesRead: number; buffer: Buffer }>;
    readableWebStream(): ReadableStream<Uint8Array>;
    readFile(options?: { encoding?: null } | null): Promise<Buffer>;
    readFile(options: string | { encoding: string }): Promise<string>;
    readLines(options?: StreamOptions): any;
    readv<T extends ArrayBufferView>(buffers: T[], position?: Position): Promise<{ bytesRead: number; buffers: T[] }>;
    stat(options?: StatOptions): Promise<Stats>;
    sync(): Promise<void>;
    truncate(len?: number): Promise<void>;
    write<T extends ArrayBufferView>(buffer: T, offset?: number, length?: number, position?: Position): Promise<{ bytesWritten: number; buffer: T }>;
    write(text: string, position?: Position, encoding?: string): Promise<{ bytesWritten: number; buffer: string }>;
    writeFile(data: Contents, options?: WriteOptions): Promise<void>;
    writev<T extends ArrayBufferView>(buffers: T[], position?: Position): Promise<{ bytesWritten: number; buffers: T[] }>;

  }
  export function appendFile(file: File, data: Contents, options?: WriteOptions): Promise<void>;
  export function access(path: PathLike, mode?: number): Promise<void>;
  export function copyFile(src: PathLike, dest: PathLike, mode?: number): Promise<void>;
  export function cp(src: PathLike, dest: PathLike, options?: CopyOptions): Promise<void>;
  export function lstat(path: PathLike, options?: { bigint?: false }): Promise<Stats>;
  export function lstat(path: PathLike, options: { bigint: true }): Promise<BigIntStats>;
  export function mkdir(path: PathLike, options?: MakeDirectoryOptions): Promise<string | undefined>;
  export function mkdtemp(prefix: string, options?: EncodingOptions): Promise<string>;
  export function open(path: PathLike, flags?: Flags, mode?: Mode): Promise<FileHandle>;
  export function opendir(path: PathLike, options?: ReadDirOptions): Promise<Dir>;
  export function readdir(path: PathLike, options?: { encoding?: string | null; withFileTypes?: false; recursive?: boolean } | string | null): Promise<string[]>;
  export function readdir(path: PathLike, options: { encoding?: string | null; withFileTypes: true; recursive?: boolean }): Promise<Dirent[]>;
  export function readFile(path: File, options?: { encoding?: null; flag?: Flags; signal?: AbortSignal } | null): Promise<Buffer>;
  export function readFile(path: File, options: string | { encoding: string; flag?: Flags; signal?: AbortSignal }): Promise<string>;
  export function readlink(path: PathLike, options?: EncodingOptions): Promise<string>;
  export function rename(oldPath: PathLike, newPath: PathLike): Promise<void>;
  export function rm(path: PathLike, options?: RmOptions): Promise<void>;
  export function rmdir(path: PathLike, options?: RmOptions): Promise<void>;
  export function stat(path: PathLike, options?: { bigint?: false }): Promise<Stats>;
  export function stat(path: PathLike, options: { bigint: true }): Promise<BigIntStats>;
  export function truncate(path: File, len?: number): Promise<void>;
  export function unlink(path: PathLike): Promise<void>;
  export function writeFile(file: File, data: Contents, options?: WriteOptions): Promise<void>;
  export function realpath(path: PathLike, options?: EncodingOptions): Promise<string>;
  /** @deprecated Not available: it says so. */
  export function chmod(...args: any[]): Promise<never>;
  /** @deprecated Not available: it says so. */
  export function chown(...args: any[]): Promise<never>;
  /** @deprecated Not available: it says so. */
  export function lchmod(...args: any[]): Promise<never>;
  /** @deprecated Not available: it says so. */
  export function lchown(...args: any[]): Promise<never>;
  /** @deprecated Not available: it says so. */
  export function link(...args: any[]): Promise<never>;
  /** @deprecated Not available: it says so. */
  export function lutimes(...args: any[]): Promise<never>;
  /** @deprecated Not available: it says so. */
  export function statfs(...args: any[]): Promise<never>;
  /** @deprecated Not available: it says so. */
  export function symlink(...args: any[]): Promise<never>;
  /** @deprecated Not available: it says so. */
  export function utimes(...args: any[]): Promise<never>;
  /** @deprecated Not available: it says so. */
  export function watch(...args: any[]): never;
  export const constants: { readonly [name: string]: number };
}
