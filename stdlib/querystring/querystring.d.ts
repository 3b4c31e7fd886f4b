declare module "node:querystring" {
  export function stringify(
    values?: Record<string, unknown>,
    separator?: string,
    equals?: string,
    options?: { encodeURIComponent?: (text: string) => string },
  ): string;
  export function parse(
    text: string,
    separator?: string,
    equals?: string,
    options?: { maxKeys?: number; decodeURIComponent?: (text: string) => string },
  ): Record<string, string | string[] | undefined>;
  export function escape(text: unknown): string;
  export function unescape(text: string, decodeSpaces?: boolean): string;
  export function unescapeBuffer(text: string, decodeSpaces?: boolean): Uint8Array;
  export const encode: typeof stringify;
  export const decode: typeof parse;
  const module: {
    stringify: typeof stringify; parse: typeof parse; escape: typeof escape; unescape: typeof unescape;
    unescapeBuffer: typeof unescapeBuffer; encode: typeof stringify; decode: typeof parse;
  };
  export default module;
}
