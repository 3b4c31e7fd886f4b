// Several packages at once, by every kind of import.
import { parse } from "yaml";
import type { ZodType } from "zod";
const { default: _ } = await import("lodash");
const { z } = await import("zod");
const Papa = require("papaparse");
import pkg from "lodash/package.json";
const Row: ZodType = z.object({ id: z.coerce.number(), label: z.string() });
const rows = Papa.parse("id,label\n1,one\n2,two", { header: true }).data.map((r: unknown) => Row.parse(r));
console.log(rows, _.keyBy(rows, "label"), parse("- 1\n- {a: b}"), pkg.name, typeof pkg.version);
