declare module "node:readline" {
  import type { EventEmitter } from "node:events";
  interface Input { on(event: string, listener: (...args: any[]) => void): unknown; pause(): unknown; resume(): unknown }
  interface Output { write(text: string): unknown }
  interface Options {
    input: Input;
    output?: Output;
    prompt?: string;
    terminal?: boolean;
    crlfDelay?: number;
    signal?: object;
    completer?: Function;
    historySize?: number;
  }
  /** A stream, line by line: events line and close, or an iteration. */
  export class Interface extends EventEmitter implements AsyncIterable<string> {
    constructor(input: Input | Options, output?: Output, completer?: Function, terminal?: boolean);
    readonly line: string;
    readonly cursor: number;
    readonly terminal: boolean;
    readonly closed: boolean;
    question(query: string, callback: (answer: string) => void): void;
    question(query: string, options: { signal?: object }, callback: (answer: string) => void): void;
    prompt(preserveCursor?: boolean): void;
    setPrompt(prompt: string): void;
    getPrompt(): string;
    write(data: string): void;
    pause(): this | undefined;
    resume(): this | undefined;
    close(): void;
    getCursorPos(): { rows: number; cols: number };
    [Symbol.asyncIterator](): AsyncIterableIterator<string>;
  }
  export function createInterface(input: Input | Options, output?: Output, completer?: Function, terminal?: boolean): Interface;
  export function clearLine(stream: Output, direction: -1 | 0 | 1, callback?: () => void): boolean;
  export function clearScreenDown(stream: Output, callback?: () => void): boolean;
  export function cursorTo(stream: Output, x: number, y?: number, callback?: () => void): boolean;
  export function moveCursor(stream: Output, dx: number, dy: number, callback?: () => void): boolean;
  export const promises: typeof import("node:readline/promises");
  const readline: typeof import("node:readline");
  export default readline;
}
declare module "readline" {
  export * from "node:readline";
  export { default } from "node:readline";
}
