declare module "node:perf_hooks" {
  export abstract class PerformanceEntry {
    readonly name: string;
    readonly entryType: string;
    /** Milliseconds since the run began. */
    readonly startTime: number;
    readonly duration: number;
    toJSON(): object;
  }
  export class PerformanceMark extends PerformanceEntry {
    constructor(name: string, options?: { startTime?: number; detail?: unknown });
    readonly detail: any;
  }
  export abstract class PerformanceMeasure extends PerformanceEntry {
    readonly detail: any;
  }
  export abstract class Performance {
    /** Milliseconds since the run began. */
    now(): number;
    readonly timeOrigin: number;
    readonly nodeTiming: object;
    mark(name: string, options?: { startTime?: number; detail?: unknown }): PerformanceMark;
    measure(name: string, startMark?: string, endMark?: string): PerformanceMeasure;
    measure(name: string, options: { start?: number | string; end?: number | string; duration?: number; detail?: unknown }): PerformanceMeasure;
    getEntries(): PerformanceEntry[];
    getEntriesByName(name: string, type?: string): PerformanceEntry[];
    getEntriesByType(type: string): PerformanceEntry[];
    clearMarks(name?: string): void;
    clearMeasures(name?: string): void;
    timerify<F extends (...args: any[]) => any>(fn: F): F;
    toJSON(): object;
  }
  export abstract class PerformanceObserverEntryList {
    getEntries(): PerformanceEntry[];
    getEntriesByName(name: string, type?: string): PerformanceEntry[];
    getEntriesByType(type: string): PerformanceEntry[];
  }
  export class PerformanceObserver {
    constructor(callback: (list: PerformanceObserverEntryList, observer: PerformanceObserver) => void);
    static readonly supportedEntryTypes: readonly string[];
    observe(options: { entryTypes: readonly string[] } | { type: string; buffered?: boolean }): void;
    disconnect(): void;
    takeRecords(): PerformanceEntry[];
  }
  export const performance: Performance;
  const hooks: typeof import("node:perf_hooks");
  export default hooks;
}
declare module "perf_hooks" {
  export * from "node:perf_hooks";
  export { default } from "node:perf_hooks";
}
