declare module "node:string_decoder" {
  /** Text out of chunks of bytes that may end in the middle of a character. */
  export class StringDecoder {
    constructor(encoding?: string);
    readonly encoding: string;
    readonly lastNeed: number;
    readonly lastTotal: number;
    readonly lastChar: Uint8Array;
    /** The text of what is complete. */
    write(chunk: string | ArrayBufferView): string;
    /** The text of what is left too. */
    end(chunk?: string | ArrayBufferView): string;
    text(chunk: Uint8Array, offset?: number): string;
  }
  const module: { StringDecoder: typeof StringDecoder };
  export default module;
}
