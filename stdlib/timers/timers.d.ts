interface Timeout {
  /** Lets the run end though the timer is pending. */
  unref(): this;
  ref(): this;
  hasRef(): boolean;
  /** Starts the timer again from now. */
  refresh(): this;
  close(): this;
  [Symbol.toPrimitive](): number;
}
interface Immediate {
  unref(): this;
  ref(): this;
  hasRef(): boolean;
}
declare function setTimeout<A extends unknown[]>(callback: (...args: A) => void, delay?: number, ...args: A): Timeout;
declare function setInterval<A extends unknown[]>(callback: (...args: A) => void, delay?: number, ...args: A): Timeout;
declare function setImmediate<A extends unknown[]>(callback: (...args: A) => void, ...args: A): Immediate;
declare function clearTimeout(timer?: Timeout | number | string | null): void;
declare function clearInterval(timer?: Timeout | number | string | null): void;
declare function clearImmediate(immediate?: Immediate | null): void;
declare function queueMicrotask(callback: () => void): void;
