declare module "node:path/posix" {
  export { resolve, normalize, isAbsolute, join, relative, toNamespacedPath, _makeLong, dirname, basename, extname, format, parse, sep, delimiter, posix, win32 } from "node:path";
  export { default } from "node:path";
}
declare module "path/posix" {
  export * from "node:path/posix";
  export { default } from "node:path";
}
