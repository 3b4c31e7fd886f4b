declare module "mcpx:html" {
  /** An element of a parsed page. Selectors are those of CSS. */
  interface Element {
    /** The name of the element, in small letters. */
    readonly tag: string;
    /** What a reader sees: no scripts and styles, spaces as one, blocks on lines of their own. */
    readonly text: string;
    /** All characters inside, as they stand. */
    readonly textContent: string;
    readonly innerHTML: string;
    readonly outerHTML: string;
    readonly attributes: { [name: string]: string };
    readonly parent: Element | null;
    readonly children: Element[];
    readonly next: Element | null;
    readonly previous: Element | null;
    /** The value of an attribute, null without it. */
    attribute(name: string): string | null;
    /** The first element inside that matches, null if none does. */
    query(selector: string): Element | null;
    /** All elements inside that match, in the order of the page. */
    queryAll(selector: string): Element[];
    matches(selector: string): boolean;
    /** The element itself or the nearest around it that matches. */
    closest(selector: string): Element | null;
    /** The links inside, their targets made whole if the address of the page is given. */
    links(base?: string): { text: string; href: string }[];
    /** The element as rows of text if it is a table, or the first table inside; cells that span are repeated. */
    table(): string[][];
    /** Every table inside, without those that are inside of another. */
    tables(): string[][][];
    /** Headings, paragraphs, lists, links, images, code, quotes and tables as Markdown. */
    toMarkdown(): string;
    /** The same as query, by the name that browsers have for it. */
    querySelector(selector: string): Element | null;
    querySelectorAll(selector: string): Element[];
    getAttribute(name: string): string | null;
    toString(): string;
  }
  /** Reads a page, or a part of one, as browsers do; it returns the html element. */
  export function parse(text: string | Uint8Array): Element;
  /** Text in which & < > " ' are written so that it can stand in HTML. */
  export function escape(text: string): string;
  /** Text whose character references, such as &amp;, are characters. */
  export function unescape(text: string): string;
  const html: typeof import("mcpx:html");
  export default html;
}
