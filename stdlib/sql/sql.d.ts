declare module "mcpx:sql" {
  /** What a column may hold. Integers that a number cannot hold exactly are bigints. */
  type Value = null | number | bigint | string | Uint8Array;
  /** What a parameter takes: booleans become 1 and 0, dates their ISO text, undefined is null. */
  type Parameter = Value | boolean | Date | ArrayBuffer | ArrayBufferView | undefined;

  /** A database of SQLite in memory. It ends with the script, and has no file. */
  interface Database {
    /** Runs all statements of a text. */
    exec(sql: string): void;
    /** The rows of one statement. Values stand for its ?, or as an object for its :names. */
    query<Row = { [column: string]: Value }>(sql: string, ...values: Parameter[]): Row[];
    query<Row = { [column: string]: Value }>(sql: string, values: { [name: string]: Parameter }): Row[];
    /** Runs one statement and says how many rows it changed. */
    run(sql: string, ...values: Parameter[]): { changes: number; lastInsertRowid: number | bigint };
    run(sql: string, values: { [name: string]: Parameter }): { changes: number; lastInsertRowid: number | bigint };
    /**
     * Puts objects into a table, all of them or none, and returns how many. A table that is not there is made, with the keys for
     * its columns. Objects and lists in them are stored as JSON.
     */
    insert(table: string, rows: Iterable<object>): number;
    /** Gives the memory back, as `using` does at the end of its block. */
    close(): void;
  }

  /** Makes an empty database. */
  export function open(): Database;
  const sql: typeof import("mcpx:sql");
  export default sql;
}
