declare module "node:path" {
  interface ParsedPath { root: string; dir: string; base: string; ext: string; name: string }
  export function resolve(...paths: string[]): string;
  export function normalize(path: string): string;
  export function isAbsolute(path: string): boolean;
  export function join(...paths: string[]): string;
  export function relative(from: string, to: string): string;
  export function toNamespacedPath(path: string): string;
  export function _makeLong(path: string): string;
  export function dirname(path: string): string;
  export function basename(path: string, suffix?: string): string;
  export function extname(path: string): string;
  export function format(pathObject: Partial<ParsedPath>): string;
  export function parse(path: string): ParsedPath;
  export const sep: "/" | "\\";
  export const delimiter: ":" | ";";
  export const posix: typeof import("node:path");
  export const win32: typeof import("node:path");
  const path: typeof import("node:path");
  export default path;
}
declare module "path" {
  export * from "node:path";
  export { default } from "node:path";
}
