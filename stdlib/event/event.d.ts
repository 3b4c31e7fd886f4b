interface EventInit {
  bubbles?: boolean;
  cancelable?: boolean;
  composed?: boolean;
}
declare class Event {
  constructor(type: string, options?: EventInit);
  readonly type: string;
  readonly target: EventTarget | null;
  readonly srcElement: EventTarget | null;
  readonly currentTarget: EventTarget | null;
  readonly eventPhase: number;
  readonly bubbles: boolean;
  readonly cancelable: boolean;
  readonly composed: boolean;
  readonly defaultPrevented: boolean;
  returnValue: boolean;
  cancelBubble: boolean;
  /** Milliseconds since the run began. */
  readonly timeStamp: number;
  readonly isTrusted: boolean;
  composedPath(): EventTarget[];
  preventDefault(): void;
  stopPropagation(): void;
  stopImmediatePropagation(): void;
  initEvent(type: string, bubbles?: boolean, cancelable?: boolean): void;
  static readonly NONE: 0;
  static readonly CAPTURING_PHASE: 1;
  static readonly AT_TARGET: 2;
  static readonly BUBBLING_PHASE: 3;
}
type EventListenerOrObject<E extends Event = Event> = ((event: E) => unknown) | { handleEvent(event: E): unknown };
interface AddEventListenerOptions {
  capture?: boolean;
  once?: boolean;
  passive?: boolean;
  /** Takes the listener away when it aborts. */
  signal?: AbortSignal;
}
declare class EventTarget {
  constructor();
  addEventListener<E extends Event = Event>(type: string, listener: EventListenerOrObject<E> | null, options?: boolean | AddEventListenerOptions): void;
  removeEventListener<E extends Event = Event>(type: string, listener: EventListenerOrObject<E> | null, options?: boolean | { capture?: boolean }): void;
  /** Returns false if a listener called preventDefault. */
  dispatchEvent(event: Event): boolean;
}
declare class CustomEvent<T = any> extends Event {
  constructor(type: string, options?: EventInit & { detail?: T });
  readonly detail: T;
  initCustomEvent(type: string, bubbles?: boolean, cancelable?: boolean, detail?: T): void;
}
declare class MessageEvent<T = any> extends Event {
  constructor(type: string, options?: EventInit & { data?: T; origin?: string; lastEventId?: string; source?: unknown; ports?: readonly unknown[] });
  readonly data: T;
  readonly origin: string;
  readonly lastEventId: string;
  readonly source: unknown;
  readonly ports: readonly any[];
}
declare class ErrorEvent extends Event {
  constructor(type: string, options?: EventInit & { message?: string; filename?: string; lineno?: number; colno?: number; error?: unknown });
  readonly message: string;
  readonly filename: string;
  readonly lineno: number;
  readonly colno: number;
  readonly error: any;
}
declare class AbortSignal extends EventTarget {
  private constructor();
  readonly aborted: boolean;
  readonly reason: any;
  onabort: ((this: AbortSignal, event: Event) => unknown) | null;
  throwIfAborted(): void;
  /** A signal that is aborted already. */
  static abort(reason?: unknown): AbortSignal;
  /** A signal that aborts after a number of milliseconds, with a TimeoutError. */
  static timeout(delay: number): AbortSignal;
  /** A signal that aborts with the first of several. */
  static any(signals: Iterable<AbortSignal>): AbortSignal;
}
declare class AbortController {
  constructor();
  readonly signal: AbortSignal;
  abort(reason?: unknown): void;
}
declare class DOMException extends Error {
  constructor(message?: string, name?: string | { name?: string; cause?: unknown });
  readonly name: string;
  readonly message: string;
  /** The number that old code knows the name by, or 0. */
  readonly code: number;
  static readonly INDEX_SIZE_ERR: 1;
  static readonly DOMSTRING_SIZE_ERR: 2;
  static readonly HIERARCHY_REQUEST_ERR: 3;
  static readonly WRONG_DOCUMENT_ERR: 4;
  static readonly INVALID_CHARACTER_ERR: 5;
  static readonly NO_DATA_ALLOWED_ERR: 6;
  static readonly NO_MODIFICATION_ALLOWED_ERR: 7;
  static readonly NOT_FOUND_ERR: 8;
  static readonly NOT_SUPPORTED_ERR: 9;
  static readonly INUSE_ATTRIBUTE_ERR: 10;
  static readonly INVALID_STATE_ERR: 11;
  static readonly SYNTAX_ERR: 12;
  static readonly INVALID_MODIFICATION_ERR: 13;
  static readonly NAMESPACE_ERR: 14;
  static readonly INVALID_ACCESS_ERR: 15;
  static readonly VALIDATION_ERR: 16;
  static readonly TYPE_MISMATCH_ERR: 17;
  static readonly SECURITY_ERR: 18;
  static readonly NETWORK_ERR: 19;
  static readonly ABORT_ERR: 20;
  static readonly URL_MISMATCH_ERR: 21;
  static readonly QUOTA_EXCEEDED_ERR: 22;
  static readonly TIMEOUT_ERR: 23;
  static readonly INVALID_NODE_TYPE_ERR: 24;
  static readonly DATA_CLONE_ERR: 25;
}
/** Ends the run with e as its uncaught error, once what runs now is done. */
declare function reportError(e: unknown): void;
