declare module "node:fs" {
  import { Readable, Writable } from "node:stream";
  export type PathLike = string | Uint8Array | URL;
  export type PathOrFd = PathLike | number;
  export type Flags = string | number;
  export type Mode = number | string;
  export type Data = string | ArrayBufferView;
  export type EncodingOptions = string | null | { encoding?: string | null };
  export type ReadOptions = string | null | { encoding?: string | null; flag?: Flags; signal?: AbortSignal };
  export type WriteOptions = string | null | { encoding?: string | null; flag?: Flags; mode?: Mode; signal?: AbortSignal };
  export type StatOptions = { bigint?: boolean; throwIfNoEntry?: boolean };
  export type MakeDirectoryOptions = Mode | null | { recursive?: boolean; mode?: Mode };
  export type ReadDirOptions = string | null | { encoding?: string | null; withFileTypes?: boolean; recursive?: boolean; bufferSize?: number };
  export type RmOptions = { recursive?: boolean; force?: boolean; maxRetries?: number; retryDelay?: number };
  export type CopyOptions = {
    recursive?: boolean; force?: boolean; errorOnExist?: boolean; dereference?: boolean;
    filter?: (src: string, dest: string) => boolean | Promise<boolean>;
  };
  export type StreamOptions = string | {
    flags?: Flags; encoding?: string | null; fd?: number; mode?: Mode; autoClose?: boolean; emitClose?: boolean;
    start?: number; end?: number; highWaterMark?: number; signal?: AbortSignal;
  };
  export type Position = number | bigint | null;
  export type Done = (error: Error | null) => void;
  export type Result<T> = (error: Error | null, value: T) => void;
  export type Transferred<T> = (error: Error | null, count: number, buffer: T) => void;

  /** What a file is. Links, owners, modes and times cannot be changed by a script, and changes not be watched. */
  export class Stats {
    dev: number; mode: number; nlink: number; uid: number; gid: number; rdev: number; blksize: number; ino: number; size: number; blocks: number;
    atimeMs: number; mtimeMs: number; ctimeMs: number; birthtimeMs: number; atime: Date; mtime: Date; ctime: Date; birthtime: Date;
    isFile(): boolean; isDirectory(): boolean; isSymbolicLink(): boolean; isFIFO(): boolean; isSocket(): boolean; isBlockDevice(): boolean; isCharacterDevice(): boolean;
  }
  export type BigIntStats = { [K in keyof Stats]: Stats[K] extends number ? bigint : Stats[K] } & { atimeNs: bigint; mtimeNs: bigint; ctimeNs: bigint; birthtimeNs: bigint };
  export class Dirent {
    constructor(name: string, type: number, path: string);
    name: string; parentPath: string; path: string;
    isFile(): boolean; isDirectory(): boolean; isSymbolicLink(): boolean; isFIFO(): boolean; isSocket(): boolean; isBlockDevice(): boolean; isCharacterDevice(): boolean;
  }
  export class Dir {
    readonly path: string;
    read(): Promise<Dirent | null>;
    read(callback: Result<Dirent | null>): void;
    readSync(): Dirent | null;
    close(): Promise<void>;
    close(callback: Done): void;
    closeSync(): void;
    entries(): AsyncIterableIterator<Dirent>;
    [Symbol.asyncIterator](): AsyncIterableIterator<Dirent>;
  }
  export class ReadStream extends Readable {
    constructor(path: PathLike | undefined, options?: StreamOptions);
    fd: number | null; path: string; bytesRead: number; readonly pending: boolean;
    close(callback?: () => void): void;
  }
  export class WriteStream extends Writable {
    constructor(path: PathLike | undefined, options?: StreamOptions);
    fd: number | null; path: string; bytesWritten: number; readonly pending: boolean;
    close(callback?: () => void): void;
  }
  export { ReadStream as FileReadStream, WriteStream as FileWriteStream };
  export function createReadStream(path: PathLike, options?: StreamOptions): ReadStream;
  export function createWriteStream(path: PathLike, options?: StreamOptions): WriteStream;
  export function appendFileSync(file: PathOrFd, data: Data, options?: WriteOptions): void;
  export function appendFile(file: PathOrFd, data: Data, callback: Done): void;
  export function appendFile(file: PathOrFd, data: Data, options: WriteOptions, callback: Done): void;
  export function accessSync(path: PathLike, mode?: number): void;
  export function access(path: PathLike, callback: Done): void;
  export function access(path: PathLike, mode: number, callback: Done): void;
  export function closeSync(fd: number): void;
  export function close(fd: number, callback?: Done): void;
  export function copyFileSync(src: PathLike, dest: PathLike, mode?: number): void;
  export function copyFile(src: PathLike, dest: PathLike, callback: Done): void;
  export function copyFile(src: PathLike, dest: PathLike, mode: number, callback: Done): void;
  export function cpSync(src: PathLike, dest: PathLike, options?: CopyOptions): void;
  export function cp(src: PathLike, dest: PathLike, callback: Done): void;
  export function cp(src: PathLike, dest: PathLike, options: CopyOptions, callback: Done): void;
  export function fdatasyncSync(fd: number): void;
  export function fdatasync(fd: number, callback: Done): void;
  export function fstatSync(fd: number, options?: StatOptions): Stats;
  export function fstat(fd: number, callback: Result<Stats>): void;
  export function fstat(fd: number, options: StatOptions, callback: Result<Stats>): void;
  export function fsyncSync(fd: number): void;
  export function fsync(fd: number, callback: Done): void;
  export function ftruncateSync(fd: number, len?: number): void;
  export function ftruncate(fd: number, callback: Done): void;
  export function ftruncate(fd: number, len: number, callback: Done): void;
  export function lstatSync(path: PathLike, options?: { bigint?: false }): Stats;
  export function lstatSync(path: PathLike, options: { bigint: true }): BigIntStats;
  export function lstatSync(path: PathLike, options: StatOptions): Stats | undefined;
  export function lstat(path: PathLike, callback: Result<Stats>): void;
  export function lstat(path: PathLike, options: StatOptions, callback: Result<Stats>): void;
  export function mkdirSync(path: PathLike, options?: MakeDirectoryOptions): string | undefined;
  export function mkdir(path: PathLike, callback: Result<string | undefined>): void;
  export function mkdir(path: PathLike, options: MakeDirectoryOptions, callback: Result<string | undefined>): void;
  export function mkdtempSync(prefix: string, options?: EncodingOptions): string;
  export function mkdtemp(prefix: string, callback: Result<string>): void;
  export function mkdtemp(prefix: string, options: EncodingOptions, callback: Result<string>): void;
  export function openSync(path: PathLike, flags?: Flags, mode?: Mode): number;
  export function open(path: PathLike, callback: Result<number>): void;
  export function open(path: PathLike, flags: Flags, callback: Result<number>): void;
  export function open(path: PathLike, flags: Flags, mode: Mode, callback: Result<number>): void;
  export function opendirSync(path: PathLike, options?: ReadDirOptions): Dir;
  export function opendir(path: PathLike, callback: Result<Dir>): void;
  export function opendir(path: PathLike, options: ReadDirOptions, callback: Result<Dir>): void;
  export function readdirSync(path: PathLike, options?: { encoding?: string | null; withFileTypes?: false; recursive?: boolean } | string | null): string[];
  export function readdirSync(path: PathLike, options: { encoding?: string | null; withFileTypes: true; recursive?: boolean }): Dirent[];
  export function readdir(path: PathLike, callback: Result<any[]>): void;
  export function readdir(path: PathLike, options: ReadDirOptions, callback: Result<any[]>): void;
  export function readFileSync(path: PathOrFd, options?: { encoding?: null; flag?: Flags; signal?: AbortSignal } | null): Buffer;
  export function readFileSync(path: PathOrFd, options: string | { encoding: string; flag?: Flags; signal?: AbortSignal }): string;
  export function readFile(path: PathOrFd, callback: Result<any>): void;
  export function readFile(path: PathOrFd, options: ReadOptions, callback: Result<any>): void;
  export function readlinkSync(path: PathLike, options?: EncodingOptions): string;
  export function readlink(path: PathLike, callback: Result<string>): void;
  export function readlink(path: PathLike, options: EncodingOptions, callback: Result<string>): void;
  export function renameSync(oldPath: PathLike, newPath: PathLike): void;
  export function rename(oldPath: PathLike, newPath: PathLike, callback: Done): void;
  export function rmSync(path: PathLike, options?: RmOptions): void;
  export function rm(path: PathLike, callback: Done): void;
  export function rm(path: PathLike, options: RmOptions, callback: Done): void;
  export function rmdirSync(path: PathLike, options?: RmOptions): void;
  export function rmdir(path: PathLike, callback: Done): void;
  export function rmdir(path: PathLike, options: RmOptions, callback: Done): void;
  export function statSync(path: PathLike, options?: { bigint?: false }): Stats;
  export function statSync(path: PathLike, options: { bigint: true }): BigIntStats;
  export function statSync(path: PathLike, options: StatOptions): Stats | undefined;
  export function stat(path: PathLike, callback: Result<Stats>): void;
  export function stat(path: PathLike, options: StatOptions, callback: Result<Stats>): void;
  export function truncateSync(path: PathOrFd, len?: number): void;
  export function truncate(path: PathOrFd, callback: Done): void;
  export function truncate(path: PathOrFd, len: number, callback: Done): void;
  export function unlinkSync(path: PathLike): void;
  export function unlink(path: PathLike, callback: Done): void;
  export function writeFileSync(file: PathOrFd, data: Data, options?: WriteOptions): void;
  export function writeFile(file: PathOrFd, data: Data, callback: Done): void;
  export function writeFile(file: PathOrFd, data: Data, options: WriteOptions, callback: Done): void;
  export const realpath: { (path: PathLike, callback: Result<string>): void; (path: PathLike, options: EncodingOptions, callback: Result<string>): void; native: (path: PathLike, callback: Result<string>) => void };
  export const realpathSync: { (path: PathLike, options?: EncodingOptions): string; native: (path: PathLike, options?: EncodingOptions) => string };
  export function exists(path: PathLike, callback: (exists: boolean) => void): void;
  export function existsSync(path: PathLike): boolean;
  export function read<T extends ArrayBufferView>(fd: number, buffer: T, offset: number, length: number, position: Position, callback: Transferred<T>): void;
  export function read(fd: number, ...rest: any[]): void;
  export function readSync(fd: number, buffer: ArrayBufferView, offset?: number, length?: number, position?: Position): number;
  export function readSync(fd: number, buffer: ArrayBufferView, options?: { offset?: number; length?: number; position?: Position }): number;
  export function readv<T extends ArrayBufferView>(fd: number, buffers: T[], callback: Transferred<T[]>): void;
  export function readv<T extends ArrayBufferView>(fd: number, buffers: T[], position: Position, callback: Transferred<T[]>): void;
  export function readvSync(fd: number, buffers: ArrayBufferView[], position?: Position): number;
  export function write(fd: number, data: Data, ...rest: any[]): void;
  export function writeSync(fd: number, text: string, position?: Position, encoding?: string): number;
  export function writeSync(fd: number, buffer: ArrayBufferView, offset?: number, length?: number, position?: Position): number;
  export function writev<T extends ArrayBufferView>(fd: number, buffers: T[], callback: Transferred<T[]>): void;
  export function writev<T extends ArrayBufferView>(fd: number, buffers: T[], position: Position, callback: Transferred<T[]>): void;
  export function writevSync(fd: number, buffers: ArrayBufferView[], position?: Position): number;
  export function openAsBlob(path: PathLike, options?: { type?: string }): Promise<Blob>;
  /** @deprecated Not available: it says so. */
  export function chmod(...args: any[]): void;
  /** @deprecated Not available: it says so. */
  export function chmodSync(...args: any[]): never;
  /** @deprecated Not available: it says so. */
  export function chown(...args: any[]): void;
  /** @deprecated Not available: it says so. */
  export function chownSync(...args: any[]): never;
  /** @deprecated Not available: it says so. */
  export function fchmod(...args: any[]): void;
  /** @deprecated Not available: it says so. */
  export function fchmodSync(...args: any[]): never;
  /** @deprecated Not available: it says so. */
  export function fchown(...args: any[]): void;
  /** @deprecated Not available: it says so. */
  export function fchownSync(...args: any[]): never;
  /** @deprecated Not available: it says so. */
  export function futimes(...args: any[]): void;
  /** @deprecated Not available: it says so. */
  export function futimesSync(...args: any[]): never;
  /** @deprecated Not available: it says so. */
  export function lchown(...args: any[]): void;
  /** @deprecated Not available: it says so. */
  export function lchownSync(...args: any[]): never;
  /** @deprecated Not available: it says so. */
  export function link(...args: any[]): void;
  /** @deprecated Not available: it says so. */
  export function linkSync(...args: any[]): never;
  /** @deprecated Not available: it says so. */
  export function lutimes(...args: any[]): void;
  /** @deprecated Not available: it says so. */
  export function lutimesSync(...args: any[]): never;
  /** @deprecated Not available: it says so. */
  export function statfs(...args: any[]): void;
  /** @deprecated Not available: it says so. */
  export function statfsSync(...args: any[]): never;
  /** @deprecated Not available: it says so. */
  export function symlink(...args: any[]): void;
  /** @deprecated Not available: it says so. */
  export function symlinkSync(...args: any[]): never;
  /** @deprecated Not available: it says so. */
  export function utimes(...args: any[]): void;
  /** @deprecated Not available: it says so. */
  export function utimesSync(...args: any[]): never;
  /** @deprecated Not available: it says so. */
  export function watch(...args: any[]): never;
  /** @deprecated Not available: it says so. */
  export function watchFile(...args: any[]): never;
  export function unwatchFile(...args: any[]): void;
  export const lchmod: undefined;
  export const lchmodSync: undefined;
  export function _toUnixTimestamp(time: unknown, name?: string): number;
  export const F_OK: 0;
  export const R_OK: 4;
  export const W_OK: 2;
  export const X_OK: 1;
  export const constants: { readonly [name: string]: number };
  export const promises: typeof import("node:fs/promises");
}
