declare module "node:readline/promises" {
  import type { EventEmitter } from "node:events";
  interface Options {
    input: object;
    output?: object;
    prompt?: string;
    terminal?: boolean;
    crlfDelay?: number;
    signal?: object;
  }
  export class Interface extends EventEmitter implements AsyncIterable<string> {
    constructor(input: object | Options, output?: object);
    readonly closed: boolean;
    question(query: string, options?: { signal?: object }): Promise<string>;
    prompt(preserveCursor?: boolean): void;
    setPrompt(prompt: string): void;
    getPrompt(): string;
    write(data: string): void;
    pause(): this | undefined;
    resume(): this | undefined;
    close(): void;
    [Symbol.asyncIterator](): AsyncIterableIterator<string>;
  }
  export function createInterface(input: object | Options, output?: object): Interface;
  const readline: typeof import("node:readline/promises");
  export default readline;
}
declare module "readline/promises" {
  export * from "node:readline/promises";
  export { default } from "node:readline/promises";
}
