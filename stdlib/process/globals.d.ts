declare const process: typeof import("node:process").default;
declare const navigator: {
  readonly userAgent: string;
  readonly platform: string;
  readonly language: string;
  readonly languages: readonly string[];
  readonly hardwareConcurrency: number;
};
