declare module "node:process" {
  type Listener = (...args: any[]) => void;
  /** What of process can listen. */
  interface Events {
    on(event: string | symbol, listener: Listener): this;
    addListener(event: string | symbol, listener: Listener): this;
    once(event: string | symbol, listener: Listener): this;
    off(event: string | symbol, listener: Listener): this;
    removeListener(event: string | symbol, listener: Listener): this;
    removeAllListeners(event?: string | symbol): this;
    prependListener(event: string | symbol, listener: Listener): this;
    prependOnceListener(event: string | symbol, listener: Listener): this;
    emit(event: string | symbol, ...args: any[]): boolean;
    listeners(event: string | symbol): Function[];
    rawListeners(event: string | symbol): Function[];
    listenerCount(event: string | symbol): number;
    eventNames(): (string | symbol)[];
    setMaxListeners(n: number): this;
    getMaxListeners(): number;
  }
  interface Output extends Events {
    readonly fd: 1 | 2;
    readonly writable: boolean;
    readonly writableEnded: boolean;
    /** There, with columns and rows, if a terminal shows what is written. */
    readonly isTTY?: boolean;
    readonly columns?: number;
    readonly rows?: number;
    write(chunk: string | ArrayBufferView, callback?: (error?: Error | null) => void): boolean;
    write(chunk: string | ArrayBufferView, encoding?: string, callback?: (error?: Error | null) => void): boolean;
    end(chunk?: string | ArrayBufferView, encoding?: string, callback?: () => void): this;
    getWindowSize?(): [columns: number, rows: number];
    getColorDepth?(): number;
    hasColors?(count?: number): boolean;
    clearLine?(direction: -1 | 0 | 1, callback?: () => void): boolean;
    clearScreenDown?(callback?: () => void): boolean;
    cursorTo?(x: number, y?: number, callback?: () => void): boolean;
    moveCursor?(dx: number, dy: number, callback?: () => void): boolean;
  }
  interface Input extends Events, AsyncIterable<any> {
    readonly fd: 0;
    readonly isTTY?: boolean;
    setEncoding(encoding: string): this;
    read(size?: number): any;
    pause(): this;
    resume(): this;
    isPaused(): boolean;
    pipe<T>(destination: T, options?: { end?: boolean }): T;
    unpipe(destination?: object): this;
    ref(): this;
    unref(): this;
    setRawMode(mode: boolean): this;
    destroy(error?: Error): this;
  }
  /** Variables that the run was granted; what a script assigns stays in the run. */
  export const env: { [name: string]: string | undefined };
  /** "mcpx", the script, and its arguments. */
  export const argv: string[];
  export const argv0: string;
  export const execPath: string;
  export const execArgv: string[];
  export let exitCode: number | string | null | undefined;
  export const stdin: Input;
  export const stdout: Output;
  export const stderr: Output;
  export const title: string;
  /** The version of Node that the library follows. */
  export const version: string;
  export const versions: { readonly node: string; readonly modules: string };
  export const release: { readonly name: string; readonly lts: string };
  export const platform: "linux" | "darwin" | "win32" | (string & {});
  export const arch: "x64" | "arm64" | (string & {});
  export const pid: number;
  export const ppid: number;
  export const features: object;
  export const config: object;
  export function cwd(): string;
  /** Always throws: the directory of a run does not change. */
  export function chdir(directory: string): never;
  export function umask(mask?: number | string): number;
  export function uptime(): number;
  /** Ends the run at once. */
  export function exit(code?: number | string | null): never;
  export function abort(): never;
  export function kill(pid: number, signal?: string | number): true;
  export function nextTick<A extends any[]>(callback: (...args: A) => void, ...args: A): void;
  export function emitWarning(warning: string | Error, type?: string, code?: string): void;
  export function emitWarning(warning: string | Error, options?: { type?: string; code?: string; detail?: string }): void;
  export function getBuiltinModule(id: string): any;
  export const hrtime: { (before?: [number, number]): [seconds: number, nanoseconds: number]; bigint(): bigint };
  export const memoryUsage: { (): { rss: number; heapTotal: number; heapUsed: number; external: number; arrayBuffers: number }; rss(): number };
  const process: Events & {
    env: typeof env; argv: typeof argv; argv0: string; execPath: string; execArgv: string[]; title: string;
    exitCode: number | string | null | undefined;
    readonly stdin: Input; readonly stdout: Output; readonly stderr: Output;
    readonly version: string; readonly versions: typeof versions; readonly release: typeof release;
    readonly platform: typeof platform; readonly arch: typeof arch; readonly pid: number; readonly ppid: number;
    readonly features: object; readonly config: object; noDeprecation?: boolean;
    cwd: typeof cwd; chdir: typeof chdir; umask: typeof umask; uptime: typeof uptime;
    exit: typeof exit; abort: typeof abort; kill: typeof kill;
    nextTick: typeof nextTick; emitWarning: typeof emitWarning; getBuiltinModule: typeof getBuiltinModule;
    hrtime: typeof hrtime; memoryUsage: typeof memoryUsage;
  };
  export default process;
}
declare module "process" {
  export * from "node:process";
  export { default } from "node:process";
}
