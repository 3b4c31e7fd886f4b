/** Says how far the script is: done of total, with a word about it. Whoever watches the run sees it; nobody has to. */
declare function progress(done: number, total?: number, message?: string): void;
