// Node 20 has no globSync in node:fs, which the suite imports and does not need here.
import { register } from "node:module";

const fs = `export * from "node:fs"; export { default } from "node:fs"; export const globSync = undefined;`;
const hooks = `export function resolve(name, context, next) {
  const wanted = name === "fs" && context.parentURL?.includes("/@modelcontextprotocol/conformance/");
  return wanted ? { url: ${JSON.stringify("data:text/javascript," + encodeURIComponent(fs))}, shortCircuit: true } : next(name, context);
}`;
register("data:text/javascript," + encodeURIComponent(hooks));
