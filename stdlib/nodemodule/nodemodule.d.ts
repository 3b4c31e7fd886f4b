declare module "node:module" {
  interface Require {
    (id: string): any;
    resolve(id: string): string;
    readonly main: undefined;
    readonly cache: { [name: string]: unknown };
  }
  /** The modules that a script can import, without their prefix. */
  export const builtinModules: string[];
  export function isBuiltin(name: string): boolean;
  export function createRequire(file: string | { href: string }): Require;
  const module: typeof import("node:module");
  export default module;
}
declare module "module" {
  export * from "node:module";
  export { default } from "node:module";
}
