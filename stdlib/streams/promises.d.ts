declare module "node:stream/promises" {
  export function finished(stream: any, options?: { readable?: boolean; writable?: boolean; error?: boolean; signal?: AbortSignal; cleanup?: boolean }): Promise<void>;
  export function pipeline(...streams: any[]): Promise<any>;
}
