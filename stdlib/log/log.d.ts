/** Words for whoever runs the script: they go to standard error, not into its output. */
declare const log: {
  (...values: unknown[]): void;
  debug(...values: unknown[]): void;
  info(...values: unknown[]): void;
  warn(...values: unknown[]): void;
  error(...values: unknown[]): void;
};
