declare const tools: mcpx.Servers<{
  /** Files, images and other servers. */
  weather: mcpx.Server<{
    /**
     * Says what the weather will be. Runs by cron as *\/5 * * * * and is
     * written in `ticks` with ${dollar}.
     *
     * A second paragraph, which is longer than a line of eighty characters
     * and must be broken somewhere.
     */
    forecast(args: {
      /** A name, or a point */
      place: string | mcpx.weather.Point;
      /** How many days. (integer, 1 to 14, default 3) */
      days?: number;
      unit?: "celsius" | "fahrenheit";
      /** A place on earth. */
      near?: mcpx.weather.Point;
      /**
       * date-time
       * @deprecated
       */
      since?: string;
    }): Promise<{
      days: { low: number; high: number }[];
      text?: number;
    }>;
    /** *\/ declare const injected: 1; /* */
    "fancy-name"(args?: {}): Promise<any>;
    /** @ ts-expect-error */
    tree(args: { root: mcpx.weather.Node }): Promise<mcpx.weather.TreeResult>;
    /** Any JSON. */
    json(args: { value: mcpx.weather.Json }): Promise<any>;
    /** Another type of the same name. */
    node(args?: { a?: mcpx.weather.Node_2 }): Promise<any>;
    /** The same type once more. */
    tree_again(args?: { root?: mcpx.weather.Node }): Promise<any>;
    then(args?: { [key: string]: unknown }): Promise<any>;
    constructor(args?: { [key: string]: unknown }): Promise<any>;
    __proto__(args?: { [key: string]: unknown }): Promise<any>;
    delete(args?: { [key: string]: unknown }): Promise<any>;
    "new\nline \u2028 and \"quote\" 😀"(args?: { [key: string]: unknown }): Promise<any>;
  }, {
    fancy_name: "fancy-name";
    fancyName: "fancy-name";
    treeAgain: "tree_again";
    proto: "__proto__";
    new_line___and__quote___: "new\nline \u2028 and \"quote\" 😀";
    newLineAndQuote: "new\nline \u2028 and \"quote\" 😀";
  }>;
  "my-server": mcpx.Server<{
    shapes(args?: {
      /** at least 1 items */
      tuple?: [string, number?];
      old_tuple?: [string?, (string | null)?, ...number[]];
      map?: { [key: string]: number };
      open?: { a: string; [key: string]: number | string };
      patterns?: { [key: string]: boolean };
      closed?: { [key: string]: never };
      keyed?: { on?: number; off?: number };
      both?: { id: string; note?: string | null; extra: boolean };
      either?: { a?: string; b?: string } & ({ a: unknown } | { b: unknown });
      toString?: unknown;
      /** red, turned */
      odd?: unknown /* type file */;
      loop?: mcpx.my_server.Loop;
      base?: mcpx.my_server.Base;
      many?:
        | "alpha" | "beta" | "gamma" | "delta" | "epsilon" | "zeta" | "eta"
        | "theta" | "iota" | "kappa" | "lambda" | "mu" | "nu" | "xi";
    }): Promise<any>;
    draft3(args: {
      must: string;
      any?: string | { n?: number };
      more?: boolean;
    }): Promise<any>;
  }>;
  history: mcpx.Server<{
  }>;
  delete: mcpx.Server<{
    all(args?: { [key: string]: unknown }): Promise<any>;
  }>;
  mcpx: mcpx.Server<{
    loop(args?: mcpx.mcpx.LoopArgs): Promise<any>;
  }>;
  Tool: mcpx.Server<{
    loop(args?: mcpx.Tool.LoopArgs): Promise<any>;
  }>;
}, { my_server: "my-server"; myServer: "my-server"; tool: "Tool" }>;

declare const weather: typeof tools.weather;
declare const my_server: (typeof tools)["my-server"];
declare const myServer: (typeof tools)["my-server"];
declare const Tool: typeof tools.Tool;
declare const tool: typeof tools.Tool;

declare namespace mcpx.weather {
  /** A place on earth. */
  type Point = { lat: number; lon: number; name?: string | null };
  type Node = { value: unknown; children?: Node[] };
  type TreeResult = { count?: number; next?: TreeResult };
  type Json =
    | string | number | boolean | null | Json[]
    | { [key: string]: Json };
  type Node_2 = { id: string; up?: Node_2 };
}

declare namespace mcpx.my_server {
  type Loop = number | string;
  type Base = { id: string; note?: string | null };
}

declare namespace mcpx.mcpx {
  type LoopArgs = { again?: LoopArgs };
}

declare namespace mcpx.Tool {
  type LoopArgs = { again?: LoopArgs };
}

/** What the tools below have in common. */
declare namespace mcpx {
  /** The whole answer of a tool, as its server sent it. */
  interface ToolResult {
    content: { type: string; text?: string; [key: string]: any }[];
    structuredContent?: any;
    isError?: boolean;
    [key: string]: any;
  }
  /** What an object from a tool carries besides its own members. */
  interface Carried {
    readonly raw: ToolResult;
    readonly content: ToolResult["content"];
    readonly text: string;
  }
  type Value<R> = R extends object ? R & Omit<Carried, keyof R> : R;
  /** A tool. A call gives its value; raw() gives the whole answer. */
  type Tool<F> = F extends (...args: infer A) => Promise<infer R>
    ? { (...args: A): Promise<Value<R>>; raw(...args: A): Promise<ToolResult> }
    : never;
  /** The tools of a server, under their own names and under the aliases A. */
  type Server<T, A extends Record<string, keyof T> = {}> = {
    readonly [K in keyof T]: Tool<T[K]>;
  } & { readonly [K in keyof A]: Tool<T[A[K]]> };
  /** Servers, under their own names and under the aliases A. */
  type Servers<T, A extends Record<string, keyof T>> = T & {
    readonly [K in keyof A]: T[A[K]];
  };
}
