/** What mcpx throws: an Error with the kind of failure and, often, the next step. */
interface FaultError extends Error {
  /** "tool", "denied", "timeout", … */
  readonly kind: string;
  readonly hint?: string;
}
interface FaultErrorConstructor<E extends Error = FaultError> {
  new (message?: string, options?: { cause?: unknown }): E;
  readonly prototype: E;
}
/** A tool failed: the message is the server's. */
interface ToolError extends FaultError {
  readonly server?: string;
  readonly tool?: string;
  readonly content?: unknown[];
  readonly structuredContent?: unknown;
  readonly raw?: unknown;
  readonly code?: number;
  /** What the tool's schema has against the arguments. */
  readonly diagnostics?: string[];
  /** The server may have done what was asked. */
  readonly mayHaveRun?: boolean;
}
declare var ToolError: FaultErrorConstructor<ToolError>;
/** A grant is missing. */
interface DeniedError extends FaultError {}
declare var DeniedError: FaultErrorConstructor<DeniedError>;
interface TimeoutError extends FaultError {}
declare var TimeoutError: FaultErrorConstructor<TimeoutError>;
interface LimitError extends FaultError {}
declare var LimitError: FaultErrorConstructor<LimitError>;
/** A server cannot be reached. */
interface UnavailableError extends FaultError {}
declare var UnavailableError: FaultErrorConstructor<UnavailableError>;
interface NotFoundError extends FaultError {}
declare var NotFoundError: FaultErrorConstructor<NotFoundError>;
interface UsageError extends FaultError {}
declare var UsageError: FaultErrorConstructor<UsageError>;
/** A server asks for something that nobody is there to answer. */
interface InputRequiredError extends FaultError {}
declare var InputRequiredError: FaultErrorConstructor<InputRequiredError>;
/** Node's name for globalThis. */
declare const global: typeof globalThis;
