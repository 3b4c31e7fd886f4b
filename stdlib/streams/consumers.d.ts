declare module "node:stream/consumers" {
  export function arrayBuffer(stream: any): Promise<ArrayBuffer>;
  export function blob(stream: any): Promise<Blob>;
  export function buffer(stream: any): Promise<any>;
  export function text(stream: any): Promise<string>;
  export function json(stream: any): Promise<any>;
}
