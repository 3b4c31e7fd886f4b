type BufferSource = ArrayBuffer | ArrayBufferView;

/** Turns text into UTF-8. */
declare class TextEncoder {
  constructor();
  readonly encoding: "utf-8";
  encode(input?: string): Uint8Array;
  /** Writes whole characters as long as there is room. */
  encodeInto(src: string, dest: Uint8Array): { read: number; written: number };
}

/** Turns bytes into text, from UTF-8, UTF-16 or an encoding of the past. */
declare class TextDecoder {
  constructor(label?: string, options?: { fatal?: boolean; ignoreBOM?: boolean });
  readonly encoding: string;
  readonly fatal: boolean;
  readonly ignoreBOM: boolean;
  decode(input?: BufferSource, options?: { stream?: boolean }): string;
}

/** Base64 to a string with one character for each byte. */
declare function atob(input: string): string;
/** A string of characters up to U+00FF, one for each byte, to Base64. */
declare function btoa(input: string): string;
