/** What a server asks in the middle of a call: a form to be filled in. */
interface ElicitQuestion {
  /** Who asks. */
  server: string;
  /** The tool that asks, if that can be known. */
  tool?: string;
  message: string;
  /** The fields of the form, as a JSON Schema of an object. */
  schema: {
    type: "object";
    properties: Record<string, { type?: string; title?: string; description?: string; enum?: string[]; default?: unknown; [more: string]: unknown }>;
    required?: string[];
    [more: string]: unknown;
  };
}

/**
 * An answer to a question: the fields of the form, alone or as the content of an accept; a refusal; or undefined if the
 * script has no answer. "decline" and undefined leave the question to the person at the terminal, if there is one.
 */
type ElicitAnswer =
  | { action: "accept"; content?: Record<string, unknown> }
  | { action: "decline" | "cancel" }
  | "decline"
  | "cancel"
  | Record<string, unknown>
  | undefined
  | void;

// An async function that returns "decline" is a promise of a string to the compiler.
/**
 * Has fn answer what servers ask while this script calls them, in calls that are made from now on. The content is checked
 * against the schema before the server gets it. Not asked are questions for a yes or no, for a secret or to open a URL:
 * those are for a person. The last fn counts; null takes it back. The time limit of the script goes on meanwhile.
 *
 *     onElicit(({ schema }) => "path" in schema.properties ? { path: "/tmp" } : "decline");
 */
declare function onElicit(fn: ((question: ElicitQuestion) => ElicitAnswer | Promise<ElicitAnswer | string>) | null): void;
