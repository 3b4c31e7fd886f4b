// mcpx: mcpx run mcpx.mjs CALLS WIDTH
import { load } from "./load.mjs";

await load((message) => tools.s.echo({ message }));
