declare module "node:child_process" {
  import { EventEmitter } from "node:events";
  import { Readable, Writable } from "node:stream";

  export type Stdio = "pipe" | "overlapped" | "ignore" | "inherit" | number | { fd: number } | null | undefined;
  export interface CommonOptions {
    cwd?: string | URL;
    env?: { [name: string]: string | undefined };
    argv0?: string;
    shell?: boolean | string;
    timeout?: number;
    killSignal?: string | number;
    /** Changes nothing: every program leads a group of its own, and ends with the run at the latest. */
    detached?: boolean;
    windowsHide?: boolean;
  }
  export interface SpawnOptions extends CommonOptions {
    stdio?: "pipe" | "overlapped" | "ignore" | "inherit" | Stdio[];
    signal?: AbortSignal;
  }
  export interface ExecOptions extends CommonOptions {
    encoding?: string | null;
    maxBuffer?: number;
    signal?: AbortSignal;
  }
  export interface SyncOptions extends CommonOptions {
    stdio?: "pipe" | "overlapped" | "ignore" | "inherit" | Stdio[];
    input?: string | ArrayBufferView;
    encoding?: string | null;
    maxBuffer?: number;
  }
  export interface SyncResult<T> {
    pid: number;
    output: (T | null)[];
    stdout: T;
    stderr: T;
    status: number | null;
    signal: string | null;
    error?: Error;
  }
  export type ExecError = Error & { code?: number | string | null; killed?: boolean; signal?: string | null; cmd?: string; stdout?: string; stderr?: string };
  export type Callback = (error: ExecError | null, stdout: any, stderr: any) => void;

  export class ChildProcess extends EventEmitter {
    stdin: Writable | null;
    stdout: Readable | null;
    stderr: Readable | null;
    readonly stdio: [Writable | null, Readable | null, Readable | null];
    readonly pid?: number;
    readonly connected: boolean;
    readonly exitCode: number | null;
    readonly signalCode: string | null;
    readonly killed: boolean;
    readonly spawnargs: string[];
    readonly spawnfile: string;
    kill(signal?: string | number): boolean;
    ref(): void;
    unref(): void;
  }

  export function spawn(file: string, options?: SpawnOptions): ChildProcess;
  export function spawn(file: string, args?: readonly string[], options?: SpawnOptions): ChildProcess;
  export function exec(command: string, callback?: Callback): ChildProcess;
  export function exec(command: string, options: ExecOptions | null | undefined, callback?: Callback): ChildProcess;
  export function execFile(file: string, callback?: Callback): ChildProcess;
  export function execFile(file: string, options: ExecOptions, callback?: Callback): ChildProcess;
  export function execFile(file: string, args: readonly string[] | null | undefined, callback?: Callback): ChildProcess;
  export function execFile(file: string, args: readonly string[] | null | undefined, options: ExecOptions | null | undefined, callback?: Callback): ChildProcess;
  export function spawnSync(file: string, args: readonly string[], options: SyncOptions & { encoding: string }): SyncResult<string>;
  export function spawnSync(file: string, options: SyncOptions & { encoding: string }): SyncResult<string>;
  export function spawnSync(file: string, args?: readonly string[] | SyncOptions, options?: SyncOptions): SyncResult<Buffer>;
  export function execSync(command: string, options: SyncOptions & { encoding: string }): string;
  export function execSync(command: string, options?: SyncOptions): Buffer;
  export function execFileSync(file: string, args: readonly string[], options: SyncOptions & { encoding: string }): string;
  export function execFileSync(file: string, options: SyncOptions & { encoding: string }): string;
  export function execFileSync(file: string, args?: readonly string[] | SyncOptions, options?: SyncOptions): Buffer;
  /** @deprecated Not available: it says so. */
  export function fork(modulePath: string, ...rest: any[]): never;
}
