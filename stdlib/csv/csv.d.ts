declare module "mcpx:csv" {
  interface Delimiters {
    /** The text between fields; "," if absent. */
    delimiter?: string;
  }
  interface ParseOptions extends Delimiters {
    /** "auto" finds out which of , ; tab and | stands between the fields. */
    delimiter?: string | "auto";
    /** Lines that begin with this text are left out. */
    comment?: string;
    /** Removes spaces and tabs around fields; those inside quotes stay. */
    trim?: boolean;
  }
  interface StringifyOptions extends Delimiters {
    /** Which columns there are: keys in their order, or keys with their titles. */
    columns?: string[] | { [key: string]: string };
    /** false leaves out the line of titles. */
    header?: boolean;
    /** true puts every field in quotes. */
    quote?: boolean;
    /** The end of a line; "\n" if absent. */
    newline?: string;
  }
  /**
   * Reads CSV. The first line names the keys of the objects; with header: false the rows
   * are arrays, and a list of names stands for a first line that is missing. Values are text as it stands, never
   * numbers or dates. A row that is too short has "" for what is missing; one that is too long is a SyntaxError.
   * An empty name becomes columnN, and one that repeats gets _2, _3 … behind it. Empty lines are left out.
   */
  export function parse(text: string | Uint8Array, options: ParseOptions & { header: false }): string[][];
  export function parse(text: string | Uint8Array, options?: ParseOptions & { header?: true | string[] }): { [name: string]: string }[];
  /** Writes objects, or arrays, as CSV. Absent values are empty, objects are JSON. */
  export function stringify(rows: Iterable<object>, options?: StringifyOptions): string;
  const csv: typeof import("mcpx:csv");
  export default csv;
}
