declare module "mcpx:table" {
  interface Options {
    /** Which columns there are: keys in their order, or keys with their titles. */
    columns?: string[] | { [key: string]: string };
    /** false leaves out the titles; Markdown always has a line for them. */
    header?: boolean;
    /** How wide a cell may be; the rest is "…". */
    maxWidth?: number;
  }
  /**
   * Writes objects, or arrays, as a table: aligned text, Markdown or CSV. Columns are the keys in the order in which they
   * first appear; numbers stand to the right. Absent values are empty, objects are JSON. Wide characters count two columns.
   */
  export function stringify(rows: Iterable<object>, options?: Options & { format?: "text" | "markdown" | "csv" }): string;
  /** Aligned text. */
  export function toText(rows: Iterable<object>, options?: Options): string;
  export function toMarkdown(rows: Iterable<object>, options?: Options): string;
  /** What mcpx:csv writes. */
  export function toCSV(rows: Iterable<object>, options?: Options): string;
  const table: typeof import("mcpx:table");
  export default table;
}
