interface Console {
  /** Writes to standard output. */
  log(...data: unknown[]): void;
  info(...data: unknown[]): void;
  debug(...data: unknown[]): void;
  dirxml(...data: unknown[]): void;
  /** Writes to standard error. */
  error(...data: unknown[]): void;
  warn(...data: unknown[]): void;
  trace(...data: unknown[]): void;
  /** Writes to standard error if the condition does not hold. */
  assert(condition?: unknown, ...data: unknown[]): void;
  dir(item?: unknown, options?: { depth?: number | null; colors?: boolean; showHidden?: boolean; [option: string]: unknown }): void;
  table(data?: unknown, columns?: readonly string[]): void;
  group(...label: unknown[]): void;
  groupCollapsed(...label: unknown[]): void;
  groupEnd(): void;
  count(label?: string): void;
  countReset(label?: string): void;
  time(label?: string): void;
  timeLog(label?: string, ...data: unknown[]): void;
  timeEnd(label?: string): void;
  clear(): void;
}
declare var console: Console;
