/** Adds a value to what the run gives out: a line of JSON on standard output, or an item of "emits" with --json. */
declare function emit(value: unknown): void;
