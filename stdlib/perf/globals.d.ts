declare const performance: typeof import("node:perf_hooks").performance;
declare const Performance: typeof import("node:perf_hooks").Performance;
declare const PerformanceEntry: typeof import("node:perf_hooks").PerformanceEntry;
declare const PerformanceMark: typeof import("node:perf_hooks").PerformanceMark;
declare const PerformanceMeasure: typeof import("node:perf_hooks").PerformanceMeasure;
declare const PerformanceObserver: typeof import("node:perf_hooks").PerformanceObserver;
declare const PerformanceObserverEntryList: typeof import("node:perf_hooks").PerformanceObserverEntryList;
