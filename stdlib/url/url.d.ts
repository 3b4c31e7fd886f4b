/** An absolute URL, parsed as the URL Standard says. */
declare class URL {
  constructor(url: string | URL, base?: string | URL);
  static canParse(url: string | URL, base?: string | URL): boolean;
  static parse(url: string | URL, base?: string | URL): URL | null;
  href: string;
  readonly origin: string;
  protocol: string;
  username: string;
  password: string;
  host: string;
  hostname: string;
  port: string;
  pathname: string;
  search: string;
  readonly searchParams: URLSearchParams;
  hash: string;
  toString(): string;
  toJSON(): string;
}

/** The pairs of a query. Those of a URL write their changes into it. */
declare class URLSearchParams {
  constructor(init?: string | URLSearchParams | Record<string, string | number | boolean> | Iterable<readonly [string, string]> | readonly (readonly string[])[]);
  readonly size: number;
  append(name: string, value: string): void;
  delete(name: string, value?: string): void;
  get(name: string): string | null;
  getAll(name: string): string[];
  has(name: string, value?: string): boolean;
  set(name: string, value: string): void;
  sort(): void;
  forEach(callback: (value: string, name: string, params: URLSearchParams) => void, thisArg?: unknown): void;
  entries(): IterableIterator<[string, string]>;
  keys(): IterableIterator<string>;
  values(): IterableIterator<string>;
  [Symbol.iterator](): IterableIterator<[string, string]>;
  toString(): string;
}

interface URLPatternInit {
  protocol?: string; username?: string; password?: string; hostname?: string; port?: string;
  pathname?: string; search?: string; hash?: string; baseURL?: string;
}
interface URLPatternComponentResult {
  input: string;
  groups: Record<string, string | undefined>;
}
interface URLPatternResult {
  inputs: (string | URLPatternInit)[];
  protocol: URLPatternComponentResult; username: URLPatternComponentResult; password: URLPatternComponentResult;
  hostname: URLPatternComponentResult; port: URLPatternComponentResult; pathname: URLPatternComponentResult;
  search: URLPatternComponentResult; hash: URLPatternComponentResult;
}
/** A pattern of URLs: "/books/:id", "https://*.example.com/*". */
declare class URLPattern {
  constructor(input?: string | URLPatternInit, baseURL?: string, options?: { ignoreCase?: boolean });
  constructor(input?: string | URLPatternInit, options?: { ignoreCase?: boolean });
  test(input?: string | URLPatternInit | URL, baseURL?: string): boolean;
  exec(input?: string | URLPatternInit | URL, baseURL?: string): URLPatternResult | null;
  readonly protocol: string;
  readonly username: string;
  readonly password: string;
  readonly hostname: string;
  readonly port: string;
  readonly pathname: string;
  readonly search: string;
  readonly hash: string;
  readonly hasRegExpGroups: boolean;
}

declare module "node:url" {
  type URL_ = URL;
  const URL_: typeof URL;
  type URLSearchParams_ = URLSearchParams;
  const URLSearchParams_: typeof URLSearchParams;
  type URLPattern_ = URLPattern;
  const URLPattern_: typeof URLPattern;
  export { URL_ as URL, URLSearchParams_ as URLSearchParams, URLPattern_ as URLPattern };
  interface UrlObject {
    protocol?: string | null; slashes?: boolean | null; auth?: string | null; host?: string | null; port?: string | number | null;
    hostname?: string | null; hash?: string | null; search?: string | null; query?: string | null | Record<string, unknown>;
    pathname?: string | null; path?: string | null; href?: string | null;
  }
  /** What url.parse returns. URL is what new code uses. */
  export class Url implements UrlObject {
    protocol: string | null; slashes: boolean | null; auth: string | null; host: string | null; port: string | null;
    hostname: string | null; hash: string | null; search: string | null; query: any;
    pathname: string | null; path: string | null; href: string;
    parse(url: string, parseQueryString?: boolean, slashesDenoteHost?: boolean): this;
    format(): string;
    resolve(relative: string): string;
    resolveObject(relative: string | UrlObject): Url;
  }
  export function parse(url: string, parseQueryString?: boolean, slashesDenoteHost?: boolean): Url;
  export function resolve(from: string, to: string): string;
  export function resolveObject(from: string | UrlObject, to: string | UrlObject): Url;
  export function format(url: URL, options?: { auth?: boolean; fragment?: boolean; search?: boolean; unicode?: boolean }): string;
  export function format(url: string | UrlObject): string;
  export function domainToASCII(domain: string): string;
  export function domainToUnicode(domain: string): string;
  export function pathToFileURL(path: string, options?: { windows?: boolean }): URL;
  export function fileURLToPath(url: string | URL, options?: { windows?: boolean }): string;
  export function urlToHttpOptions(url: URL): {
    protocol: string; hostname: string; hash: string; search: string; pathname: string; path: string; href: string; port?: number; auth?: string;
  };
  const module: {
    URL: typeof URL; URLSearchParams: typeof URLSearchParams; URLPattern: typeof URLPattern; Url: typeof Url; parse: typeof parse;
    resolve: typeof resolve; resolveObject: typeof resolveObject; format: typeof format; domainToASCII: typeof domainToASCII;
    domainToUnicode: typeof domainToUnicode; pathToFileURL: typeof pathToFileURL; fileURLToPath: typeof fileURLToPath;
    urlToHttpOptions: typeof urlToHttpOptions;
  };
  export default module;
}
