declare module "mcpx:toml" {
  /**
   * Reads TOML. Dates and times are text as it stands, keys keep their order, and an
   * integer that a number would not hold exactly is a BigInt.
   */
  export function parse(text: string | Uint8Array): { [key: string]: any };
  /**
   * Writes an object as TOML. A Date is an offset date-time, a number without a fraction an integer. TOML has no null:
   * one is a TypeError that names it. Members that are undefined are left out.
   */
  export function stringify(value: object): string;
  const toml: typeof import("mcpx:toml");
  export default toml;
}
