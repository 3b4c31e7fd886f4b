declare module "mcpx:fs" {
  /** An entry of a folder. */
  export interface Entry {
    name: string;
    path: string;
    type: "file" | "directory" | "link" | "other";
  }
  /** Reads a file as UTF-8, without a byte order mark. */
  export function readText(path: string): Promise<string>;
  export function readBytes(path: string): Promise<Uint8Array>;
  export function readJSON<T = any>(path: string): Promise<T>;
  /** Reads the lines of a file, without their ends. */
  export function readLines(path: string): Promise<string[]>;
  /** Writes a file, and makes the folders above it. */
  export function writeText(path: string, text: string): Promise<void>;
  export function writeBytes(path: string, bytes: ArrayBuffer | ArrayBufferView): Promise<void>;
  export function writeJSON(path: string, value: unknown, indent?: number | string): Promise<void>;
  export function appendText(path: string, text: string): Promise<void>;
  /** Lists a folder, ordered by name. */
  export function list(path?: string): Promise<Entry[]>;
  /** Finds files by patterns with `*`, `**`, `?`, `[a-z]` and `{a,b}`. Names that begin with a dot need a pattern that does. */
  export function glob(pattern: string | string[], options?: { cwd?: string; folders?: boolean }): Promise<string[]>;
  export function exists(path: string): Promise<boolean>;
  export function stat(path: string): Promise<{ type: Entry["type"]; size: number; modified: Date }>;
  export function makeDir(path: string): Promise<void>;
  /** Copies a file, or a folder with all that is in it. */
  export function copy(from: string, to: string): Promise<void>;
  export function move(from: string, to: string): Promise<void>;
  /** Removes a file or a folder with all that is in it. What is not there is no error. */
  export function remove(path: string): Promise<void>;
}
