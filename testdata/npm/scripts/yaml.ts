import YAML, { parse, parseDocument, stringify } from "yaml";

const source = `# settings
name: mcpx # the program
list: [1, 0x1F, 1e3, .inf, ~, true, "yes", no]
base: &base { retries: 3, wait: 1.5 }
job:
  <<: *base
  retries: 5
text: |
  line one
    indented
folded: >-
  these lines
  are one
when: 2026-01-02
? complex
: value
`;
const value = parse(source, { merge: true });
console.log(value, stringify(value));
const doc = parseDocument(source);
doc.set("name", "changed");
doc.setIn(["base", "retries"], 9);
doc.deleteIn(["list", 0]);
console.log(String(doc), doc.errors.length);
try {
  parse("a: [1, 2\nb: }");
} catch (e) {
  console.log((e as Error).name, (e as { code: string }).code, (e as Error).message.split("\n")[0]);
}
console.log(YAML.parseAllDocuments("a: 1\n---\nb: 2\n").map((d) => (d as { toJS(): unknown }).toJS()), stringify({ deep: { a: ["x: y", "", "multi\nline", null, undefined], date: new Date(0), big: 12345678901234567890n } }), stringify("#no", { defaultStringType: "QUOTE_DOUBLE" }));
