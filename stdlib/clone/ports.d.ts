/** One end of a channel. Messages are clones, and wait until the port is started or has an onmessage. */
declare class MessagePort extends EventTarget {
  private constructor();
  onmessage: ((this: MessagePort, event: MessageEvent) => unknown) | null;
  onmessageerror: ((this: MessagePort, event: MessageEvent) => unknown) | null;
  postMessage(message: unknown, transfer?: Iterable<ArrayBuffer | MessagePort> | { transfer?: Iterable<ArrayBuffer | MessagePort> }): void;
  start(): void;
  close(): void;
  ref(): void;
  unref(): void;
  hasRef(): boolean;
  on(type: "message" | "close" | "messageerror", listener: (value: any) => void): this;
  once(type: "message" | "close" | "messageerror", listener: (value: any) => void): this;
  addListener(type: string, listener: (value: any) => void): this;
  off(type: string, listener: (value: any) => void): this;
  removeListener(type: string, listener: (value: any) => void): this;
}
declare class MessageChannel {
  constructor();
  readonly port1: MessagePort;
  readonly port2: MessagePort;
}
/** Hands messages to every other channel of the name in this run. */
declare class BroadcastChannel extends EventTarget {
  constructor(name: string);
  readonly name: string;
  onmessage: ((this: BroadcastChannel, event: MessageEvent) => unknown) | null;
  onmessageerror: ((this: BroadcastChannel, event: MessageEvent) => unknown) | null;
  postMessage(message: unknown): void;
  close(): void;
  ref(): this;
  unref(): this;
}
