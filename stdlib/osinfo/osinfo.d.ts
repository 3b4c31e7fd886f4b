declare module "node:os" {
  export const EOL: string;
  export const devNull: string;
  export const constants: { readonly signals: { readonly [name: string]: number }; readonly errno: { readonly [name: string]: number }; readonly priority: { readonly [name: string]: number } };
  export function arch(): string;
  export function platform(): string;
  export function type(): string;
  export function machine(): string;
  export function release(): string;
  export function version(): string;
  export function endianness(): "BE" | "LE";
  export function hostname(): string;
  /** What HOME says, if the run was granted it. */
  export function homedir(): string;
  export function tmpdir(): string;
  export function userInfo(options?: object): { uid: number; gid: number; username: string; homedir: string; shell: string | null };
  export function uptime(): number;
  export function loadavg(): number[];
  /** The memory that the run may use. */
  export function totalmem(): number;
  export function freemem(): number;
  export function availableParallelism(): number;
  export function cpus(): { model: string; speed: number; times: { user: number; nice: number; sys: number; idle: number; irq: number } }[];
  export function networkInterfaces(): { [name: string]: { address: string; family: string; internal: boolean }[] | undefined };
  export function getPriority(pid?: number): number;
  export function setPriority(pid: number, priority?: number): never;
  const os: typeof import("node:os");
  export default os;
}
declare module "os" {
  export * from "node:os";
  export { default } from "node:os";
}
