/** Copies a value with everything in it. Buffers of the transfer list are moved. */
declare function structuredClone<T>(value: T, options?: { transfer?: Iterable<ArrayBuffer> }): T;
