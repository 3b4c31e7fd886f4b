type BlobPart = string | ArrayBuffer | ArrayBufferView | Blob;
interface BlobOptions {
  type?: string;
  endings?: "transparent" | "native";
}
declare class Blob {
  constructor(sources?: Iterable<BlobPart>, options?: BlobOptions);
  readonly size: number;
  readonly type: string;
  slice(start?: number, end?: number, contentType?: string): Blob;
  arrayBuffer(): Promise<ArrayBuffer>;
  bytes(): Promise<Uint8Array>;
  text(): Promise<string>;
  stream(): ReadableStream<Uint8Array>;
}
declare class File extends Blob {
  constructor(fileBits: Iterable<BlobPart>, fileName: string, options?: BlobOptions & { lastModified?: number });
  readonly name: string;
  readonly lastModified: number;
}
type FormDataEntryValue = File | string;
declare class FormData implements Iterable<[string, FormDataEntryValue]> {
  constructor();
  append(name: string, value: string | Blob, filename?: string): void;
  delete(name: string): void;
  get(name: string): FormDataEntryValue | null;
  getAll(name: string): FormDataEntryValue[];
  has(name: string): boolean;
  set(name: string, value: string | Blob, filename?: string): void;
  keys(): IterableIterator<string>;
  values(): IterableIterator<FormDataEntryValue>;
  entries(): IterableIterator<[string, FormDataEntryValue]>;
  forEach(callback: (value: FormDataEntryValue, name: string, form: FormData) => void, thisArg?: any): void;
  [Symbol.iterator](): IterableIterator<[string, FormDataEntryValue]>;
}
