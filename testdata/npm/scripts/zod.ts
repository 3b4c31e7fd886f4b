import { z } from "zod";

const Server = z.object({
  name: z.string().min(2).regex(/^[a-z-]+$/),
  port: z.coerce.number().int().positive().default(80),
  tags: z.array(z.enum(["a", "b"])).optional(),
  owner: z.union([z.object({ kind: z.literal("user"), id: z.number() }), z.object({ kind: z.literal("team"), slug: z.string() })]),
  made: z.string().datetime().transform((s) => new Date(s)),
}).strict();
type Server = z.infer<typeof Server>;

const good: Server = Server.parse({ name: "web-one", port: "8080", tags: ["a"], owner: { kind: "team", slug: "core" }, made: "2026-01-02T03:04:05Z" });
console.log(good, good.made.toISOString());
const bad = Server.safeParse({ name: "W", port: -1, tags: ["c"], owner: { kind: "x" }, made: "yesterday", extra: true });
console.log(bad.success, bad.success ? "" : bad.error.issues.map((i) => `${i.path.join(".")}: ${i.code}: ${i.message}`));
try {
  z.string().email().parse("nobody");
} catch (e) {
  console.log(e instanceof z.ZodError, (e as z.ZodError).issues[0]!.message);
}
const Tree: z.ZodType<{ v: number; kids: unknown[] }> = z.lazy(() => z.object({ v: z.number(), kids: z.array(Tree) }));
console.log(Tree.parse({ v: 1, kids: [{ v: 2, kids: [] }] }), z.record(z.string(), z.number()).parse({ a: 1 }), z.tuple([z.string(), z.number()]).parse(["x", 1]), z.map(z.string(), z.date()).safeParse(new Map([["a", new Date(0)]])).success);
console.log(await z.string().refine(async (s) => s.length > 2, "too short").safeParseAsync("ab").then((r) => r.success), z.discriminatedUnion("t", [z.object({ t: z.literal(1) }), z.object({ t: z.literal(2), n: z.number() })]).parse({ t: 2, n: 3 }), z.string().brand<"id">().parse("x"), z.preprocess((v) => Number(v), z.number()).parse("4"));
console.log(z.string().uuid().safeParse("6f9619ff-8b86-d011-b42d-00c04fc964ff").success, z.string().url().safeParse("https://example.com/a?b").success, z.string().ip?.().safeParse("10.0.0.1").success ?? z.ipv4().safeParse("10.0.0.1").success, z.bigint().parse(5n), z.nan().safeParse(NaN).success);
console.log(JSON.stringify(z.toJSONSchema?.(z.object({ a: z.string().optional(), b: z.number().min(1) })) ?? null));
