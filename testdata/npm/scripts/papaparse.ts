import Papa from "papaparse";

const text = 'name,score,note\r\nAda,36,"said ""hi"",\nthen left"\r\nGrace,85,\r\n"O\'Neil",x1,é\r\n';
const parsed = Papa.parse<Record<string, unknown>>(text, { header: true, dynamicTyping: true, skipEmptyLines: true });
console.log(parsed.data, parsed.errors, parsed.meta.fields, JSON.stringify(parsed.meta.linebreak));
console.log(Papa.parse("a;b\n1;2;3\n4", { header: true }).errors.map((e) => `${e.code} ${e.row}`), Papa.parse("a\tb\n1\t2").meta.delimiter === "\t");
console.log(Papa.unparse([{ a: 1, b: 'x "y"' }, { a: null, b: "p,q\nr" }]), Papa.unparse({ fields: ["x", "y"], data: [[1, 2], ["=1", true]] }, { quotes: true, escapeFormulae: true, newline: "\n" }));
const rows: unknown[] = [];
Papa.parse("1,2\n3,4\n5,6", { step: (r, parser) => { rows.push(r.data); if (rows.length === 2) parser.abort(); }, complete: (r) => rows.push(r.meta.aborted) });
console.log(rows, Papa.parse("# no\na,b", { comments: "#", transform: (v: string) => v.toUpperCase() }).data);
