declare module "node:path/win32" {
  export { resolve, normalize, isAbsolute, join, relative, toNamespacedPath, _makeLong, dirname, basename, extname, format, parse, sep, delimiter, posix, win32 } from "node:path";
  export { default } from "node:path";
}
declare module "path/win32" {
  export * from "node:path/win32";
  export { default } from "node:path";
}
