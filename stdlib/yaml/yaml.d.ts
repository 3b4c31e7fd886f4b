declare module "mcpx:yaml" {
  interface StringifyOptions {
    /** Spaces for each level, 2 to 9; 2 if absent. */
    indent?: number;
  }
  /**
   * Reads a YAML document by the core schema of YAML 1.2: yes, no, on and off are text, and so are dates and times. Keys
   * keep their order and become text; an integer that a number would not hold exactly is a BigInt, !!binary a
   * Uint8Array. An alias is the same object as its anchor; << merges. The value of an empty text is null.
   */
  export function parse(text: string | Uint8Array): any;
  /** Reads all documents of a text. */
  export function parseAll(text: string | Uint8Array): any[];
  /** Writes a value as a YAML document that older readers understand likewise. Members that are undefined are left out. */
  export function stringify(value: unknown, options?: StringifyOptions): string;
  const yaml: typeof import("mcpx:yaml");
  export default yaml;
}
