/**
 * All of standard input as text; it waits for the end. A byte order mark is left out. With a name, an artifact that came
 * with the run.
 */
declare function input(name?: string): string;
