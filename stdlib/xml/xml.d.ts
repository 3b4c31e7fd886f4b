declare module "mcpx:xml" {
  /** An element with everything in its order. */
  interface Node {
    name: string;
    attributes: { [name: string]: string };
    children: (Node | string)[];
  }
  interface ParseOptions {
    /** Names of elements that are arrays even where there is one. */
    arrays?: string[];
    ordered?: false;
  }
  interface StringifyOptions {
    /** Spaces for each level, on lines of their own; 0, none, if absent. */
    indent?: number;
    /** true begins with <?xml version="1.0" encoding="UTF-8"?>. */
    declaration?: boolean;
    /** true writes Nodes. */
    ordered?: boolean;
  }
  /**
   * Reads XML as plain objects. <a x="1"><b>2</b><b>3</b></a> is { a: { "@x": "1", b: ["2", "3"] } }:
   * an element with nothing but text is that text; any other is an object of its attributes, behind "@", and of its
   * elements, which are an array where a name repeats; text beside them is "#text", without the spaces around it. Names
   * are as written, with their prefixes; values are text. Comments and processing instructions are left out. There are
   * no entities but those of XML itself.
   *
   * With ordered: true it returns the root as a Node, in which nothing is moved.
   */
  export function parse(text: string | Uint8Array, options: { ordered: true }): Node;
  export function parse(text: string | Uint8Array, options?: ParseOptions): { [root: string]: any };
  /** Writes what parse returns. Absent members are left out; null is an empty element. */
  export function stringify(value: object, options?: StringifyOptions): string;
  const xml: typeof import("mcpx:xml");
  export default xml;
}
