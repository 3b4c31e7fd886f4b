declare namespace mcpx {
  /** A tool that search found, the best match first. */
  interface Found {
    namespace: string;
    name: string;
    description?: string;
    /** One line of TypeScript: the tool with its arguments and its result. */
    signature: string;
    /** Higher is better; only scores of one search compare. */
    score: number;
  }
}
/** Finds tools by words: in names, descriptions, parameters and their values. Starts no server that is known already. */
declare function search(words: string, options?: { limit?: number; ns?: string }): mcpx.Found[];
/** Declares a tool or a namespace in TypeScript: describe("NS.TOOL"), or describe(tools.NS.TOOL). */
declare function describe(what: string | object): string;
declare module "mcpx:tools" {
  const all: typeof tools;
  const find: typeof search;
  const declared: typeof describe;
  export { all as tools, find as search, declared as describe };
}
