package schema

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite testdata/declarations.d.ts and globals.txt")

// namespaces reads the namespaces of a test, with the aliases that a server's tools have.
func namespaces(t testing.TB, file string) []Namespace {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var servers []struct {
		Name, Description string
		Tools             []struct {
			Name, Title, Description  string
			InputSchema, OutputSchema json.RawMessage
		}
	}
	if err := json.Unmarshal(data, &servers); err != nil {
		t.Fatal(err)
	}
	var out []Namespace
	for _, s := range servers {
		ns := Namespace{Name: s.Name, Description: s.Description}
		var names []string
		for _, tool := range s.Tools {
			names = append(names, tool.Name)
		}
		aliases := Aliases(names)
		for _, tool := range s.Tools {
			ns.Tools = append(ns.Tools, Tool{
				Name: tool.Name, Title: tool.Title, Description: tool.Description, Aliases: aliases[tool.Name],
				Input: tool.InputSchema, Output: tool.OutputSchema,
			})
		}
		out = append(out, ns)
	}
	return out
}

func TestDeclarations(t *testing.T) {
	t.Parallel()
	got := Declarations(namespaces(t, "testdata/tools.json"))
	const golden = "testdata/declarations.d.ts"
	if *update {
		if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("Declarations (-want +got); read the difference, then run with -update:\n%s", diff)
	}
	compiles(t, got, "testdata/usage.ts")
}

// TestDeclarationsOfServersCompile declares the tools that real servers list.
func TestDeclarationsOfServersCompile(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("../catalog/testdata/servers/*.json")
	if err != nil || len(files) < 5 {
		t.Fatalf("%d lists of tools, %v", len(files), err)
	}
	var all []Namespace
	tools := 0
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var s struct {
			Server, Instructions string
			Tools                []struct {
				Name, Title, Description  string
				InputSchema, OutputSchema json.RawMessage
			}
		}
		if err := json.Unmarshal(text, &s); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		ns := Namespace{Name: s.Server, Description: s.Instructions}
		var names []string
		for _, tool := range s.Tools {
			names = append(names, tool.Name)
		}
		aliases := Aliases(names)
		for _, tool := range s.Tools {
			tools++
			ns.Tools = append(ns.Tools, Tool{
				Name: tool.Name, Title: tool.Title, Description: tool.Description, Aliases: aliases[tool.Name],
				Input: tool.InputSchema, Output: tool.OutputSchema,
			})
		}
		all = append(all, ns)
	}
	if tools < 300 {
		t.Errorf("%d tools, want at least 300", tools)
	}
	compiles(t, Declarations(all), "")
}

// TestDeclarationsOfAnythingCompile declares tools with schemas made at random of every
// keyword that has a bearing on types, with names and texts that are hard to write.
func TestDeclarationsOfAnythingCompile(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	var all []Namespace
	for _, name := range []string{"s", "my-server", "delete", "process"} {
		ns := Namespace{Name: name}
		for i := range 100 {
			ns.Tools = append(ns.Tools, Tool{
				Name: fmt.Sprintf("t-%d", i), Aliases: []string{fmt.Sprintf("t_%d", i)},
				Input: randomSchema(r), Output: randomSchema(r),
			})
		}
		all = append(all, ns)
	}
	compiles(t, Declarations(all), "")
}

// compiles runs the TypeScript compiler over declarations, and a script that uses them.
func compiles(t *testing.T, declarations, usage string) {
	t.Helper()
	if err := balanced(declarations); err != nil {
		t.Error(err)
	}
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("no node to run the TypeScript compiler with")
	}
	compiler, err := filepath.Abs("../../testdata/npm/node_modules/typescript/bin/tsc")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(compiler); err != nil {
		t.Skip("the TypeScript compiler is not installed: run npm ci in testdata/npm")
	}
	file := filepath.Join(t.TempDir(), "tools.d.ts")
	if err := os.WriteFile(file, []byte(declarations), 0o600); err != nil {
		t.Fatal(err)
	}
	// With and without the names that browsers have.
	for _, lib := range [][]string{{"--lib", "es2022"}, nil} {
		args := append([]string{compiler, "--noEmit", "--strict", "--target", "es2022", file}, lib...)
		if usage != "" {
			args = append(args, usage)
		}
		out, err := exec.CommandContext(t.Context(), node, args...).CombinedOutput()
		if err != nil {
			t.Fatalf("tsc: %v\n%.4000s", err, out)
		}
		if lib != nil && usage == "" {
			return // once is enough for what is only long
		}
	}
}

// randomSchema makes a schema in which the same names and definitions meet in many ways.
func randomSchema(r *rand.Rand) json.RawMessage {
	pick := func(of ...any) any { return of[r.IntN(len(of))] }
	names := []any{"a", "b", "constructor", "toString", "x-y", "__proto__", "1", "with space", "then", "*/", "\u2028"}
	literals := []any{1, -1, 1.5, 1e300, "a", "*/", "\u2028", true, false, nil, []any{1, "x"}, map[string]any{"k": 1}}
	types := []any{"string", "number", "integer", "boolean", "null", "object", "array", "any", "int", "str", "foo"}
	refs := []any{"#", "#/$defs/A", "#/$defs/B", "#/$defs/C", "#/$defs/D", "#/properties/a", "#/allOf/0", "#/nope", "elsewhere.json"}
	texts := []any{"*/ injected /*", "@ts-expect-error", "line\n// @ts-ignore", "\x1b[31m", "`${x}`", strings.Repeat("long ", 60)}
	var schema func(depth int) any
	schema = func(depth int) any {
		if depth <= 0 {
			return pick(true, false, map[string]any{"type": "string"}, map[string]any{}, map[string]any{"type": "integer"})
		}
		sub := func() any { return schema(depth - 1 - r.IntN(2)) }
		subs := func() []any {
			out := make([]any, 1+r.IntN(3))
			for i := range out {
				out[i] = sub()
			}
			return out
		}
		members := func() any {
			out := map[string]any{}
			for range r.IntN(4) {
				out[pick(names...).(string)] = sub()
			}
			return out
		}
		m := map[string]any{}
		for range 1 + r.IntN(4) {
			switch r.IntN(25) {
			case 0:
				m["type"] = pick(types...)
			case 1:
				m["type"] = []any{pick(types...), pick(types...)}
			case 2, 3, 4:
				m["properties"] = members()
			case 5:
				m["required"] = []any{pick(names...), pick(names...)}
			case 6:
				m["additionalProperties"] = sub()
			case 7:
				m["items"], m["type"] = sub(), "array"
			case 8:
				m["prefixItems"], m["minItems"] = subs(), r.IntN(3)
			case 9:
				m["items"], m["additionalItems"] = subs(), sub()
			case 10:
				m["anyOf"] = subs()
			case 11:
				m["oneOf"] = subs()
			case 12, 13:
				m["allOf"] = subs()
			case 14:
				m["enum"] = []any{pick(literals...), pick(literals...), pick(literals...)}
			case 15:
				m["const"] = pick(literals...)
			case 16, 17:
				m["$ref"] = pick(refs...)
			case 18:
				m["nullable"] = true
			case 19:
				m["patternProperties"] = map[string]any{"^a": sub()}
			case 20:
				m["then"], m["else"] = sub(), sub()
			case 21:
				m["dependentSchemas"] = members()
			case 22:
				m["unevaluatedProperties"] = sub()
			case 23:
				m["not"] = pick(map[string]any{}, true, sub())
			case 24:
				m["properties"], m["dependencies"] = members(), members()
			}
		}
		if r.IntN(5) == 0 {
			m["description"] = pick(texts...)
		}
		return m
	}
	root, ok := schema(4).(map[string]any)
	if !ok {
		root = map[string]any{}
	}
	root["$defs"] = map[string]any{"A": schema(3), "B": schema(3), "C": schema(3), "D": schema(2)}
	b, err := json.Marshal(root)
	if err != nil {
		panic(err)
	}
	return b
}

// balanced reads text as TypeScript is read, as far as strings, comments and brackets
// go: what stands outside of all brackets may only be declarations.
func balanced(text string) error {
	var open []byte
	word := ""
	for i := 0; i < len(text); i++ {
		rest := text[i:]
		switch c := text[i]; {
		case strings.HasPrefix(rest, "/*"):
			end := strings.Index(rest[2:], "*/")
			if end < 0 {
				return errors.New("a comment that does not end")
			}
			if strings.Contains(rest[:end+2], "@ts-") {
				return fmt.Errorf("a comment that speaks to the compiler: %.80q", rest)
			}
			i += end + 3
		case strings.HasPrefix(rest, "//"):
			end := strings.IndexByte(rest, '\n')
			if end < 0 {
				return errors.New("a comment in the last line")
			}
			if strings.Contains(rest[:end], "@ts-") {
				return fmt.Errorf("a comment that speaks to the compiler: %.80q", rest)
			}
			i += end
		case c == '"':
			for i++; i < len(text) && text[i] != '"'; i++ {
				if text[i] == '\\' {
					i++
				} else if text[i] < ' ' {
					return fmt.Errorf("a control character within a string: %.80q", rest)
				}
			}
			if i >= len(text) {
				return fmt.Errorf("a string that does not end: %.80q", rest)
			}
		case c == '{' || c == '[' || c == '(':
			open = append(open, c)
		case c == '}' || c == ']' || c == ')':
			if len(open) == 0 || c-open[len(open)-1] > 2 {
				return fmt.Errorf("%c closes nothing: %.80q", c, rest)
			}
			open = open[:len(open)-1]
		case c == '`' || c < ' ' && c != '\n' || strings.HasPrefix(rest, "\u2028") || strings.HasPrefix(rest, "\x1b"):
			return fmt.Errorf("%q outside of strings: %.80q", c, rest)
		case len(open) == 0 && ('a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'):
			word += string(c)
			if i+1 < len(text) && (text[i+1]|0x20 < 'a' || text[i+1]|0x20 > 'z') {
				switch word {
				case "injected", "export", "import", "eval":
					return fmt.Errorf("%s outside of all declarations", word)
				}
				word = ""
			}
		}
	}
	if len(open) > 0 {
		return fmt.Errorf("%d brackets are never closed", len(open))
	}
	return nil
}

func TestBalancedFindsWhatIsNot(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"{", "}", "(]", `"`, "\"a\nb\"", "/* ", "// x", "a\x1b", "`", "/** @ts-ignore */", "declare injected "} {
		if balanced(text) == nil {
			t.Errorf("balanced(%q) = nil", text)
		}
	}
}

// TestNoGlobalHidesWhatTypeScriptDeclares holds globals.txt to the libraries that come
// with the compiler. With -update it adds what is missing.
func TestNoGlobalHidesWhatTypeScriptDeclares(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("../../testdata/npm/node_modules/typescript/lib/lib.*.d.ts")
	if err != nil {
		t.Fatal(err)
	}
	if len(files) == 0 {
		t.Skip("the TypeScript compiler is not installed: run npm ci in testdata/npm")
	}
	declared := regexp.MustCompile(`(?m)^declare (?:var|let|const|function|class|namespace) ([A-Za-z_$][\w$]*)`)
	names := strings.Fields(globals)
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range declared.FindAllStringSubmatch(string(text), -1) {
			if !isGlobal(m[1]) {
				names = append(names, m[1])
			}
		}
	}
	slices.Sort(names)
	names = slices.Compact(names)
	if want := strings.Join(names, "\n") + "\n"; want != globals {
		if *update {
			if err := os.WriteFile("globals.txt", []byte(want), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		t.Error("globals.txt lacks names or order; run with -update")
	}
	for _, name := range []string{"demo", "github", "memory", "files", "time"} {
		if isGlobal(name) {
			t.Errorf("%s is taken for a global", name)
		}
	}
}

func FuzzDeclarations(f *testing.F) {
	f.Add("s", "echo", "says", `{"type":"object","properties":{"a*/b":{"$ref":"#","description":"*/ injected /*"}}}`)
	f.Add("my server", "a-b", "*/\u2028\x1b[31m@ts-expect-error", `{"allOf":[{"$ref":"#/$defs/A"},{"anyOf":[{"enum":["\ud800","\u202e"]},{"type":["null","array"]}]}],"$defs":{"A":{"items":[{"$ref":"#/$defs/A"}]}}}`)
	f.Add("__proto__", "then", "", `{"properties":{"a":{"const":{"k":[1e999]}},"a":{"enum":[]}},"required":["a","b"],"additionalProperties":{"$ref":"#/properties/a"}}`)
	f.Fuzz(func(t *testing.T, ns, name, description, schema string) {
		tool := Tool{Name: name, Description: description, Aliases: Aliases([]string{name})[name], Input: json.RawMessage(schema), Output: json.RawMessage(schema)}
		text := Declarations([]Namespace{{Name: ns, Description: description, Tools: []Tool{tool}}})
		if err := balanced(text); err != nil {
			t.Errorf("%v\n%s", err, text)
		}
		line := Signature(name, tool.Input, tool.Output)
		if strings.ContainsAny(line, "\n\r\x1b\u2028") || len(line) > len(name)*6+2*(signatureArgs+signatureResult) {
			t.Errorf("Signature = %q", line)
		}
		if err := balanced("{" + line + "}"); err != nil {
			t.Errorf("%v: %s", err, line)
		}
	})
}

func TestSignature(t *testing.T) {
	t.Parallel()
	var many []string
	for i := range 60 {
		many = append(many, fmt.Sprintf(`"member%02d":{"type":"string"}`, i))
	}
	for _, test := range []struct{ name, tool, input, output, want string }{
		{
			"plain", "echo", `{"type":"object","properties":{"message":{"type":"string","description":"What to say"}},"required":["message"]}`, ``,
			`echo(args: { message: string }): Promise<any>`,
		},
		{"no schemas", "x", ``, ``, `x(args?: { [key: string]: unknown }): Promise<any>`},
		{
			"a name to quote", "fancy-name", `{"type":"object","properties":{}}`, `{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}`,
			`"fancy-name"(args?: {}): Promise<{ n: number }>`,
		},
		{"no arguments", "t", `{"type":"object","properties":{},"additionalProperties":false}`, ``, `t(args?: {}): Promise<any>`},
		{
			"recursion", "t", `{"properties":{"root":{"$ref":"#/$defs/Node"}},"$defs":{"Node":{"properties":{"c":{"items":{"$ref":"#/$defs/Node"}}}}}}`, ``,
			`t(args?: { root?: { /* Node */ } }): Promise<any>`,
		},
		{
			"arguments of another kind", "t", `{"type":"string"}`, `{"type":"array","items":{"type":"string"}}`,
			`t(args?: { [key: string]: unknown }): Promise<string[]>`,
		},
		{
			"arguments that may be null", "t", `{"type":["object","null"],"properties":{"a":{"type":"string"}}}`, ``,
			`t(args?: { a?: string }): Promise<any>`,
		},
		{
			"unions", "t", `{"anyOf":[{"type":"object","properties":{"url":{"type":"string"}},"required":["url"]},{"type":"object","properties":{"path":{"type":"string"}},"required":["path"]}]}`, ``,
			`t(args: { url: string } | { path: string }): Promise<any>`,
		},
		{
			"more than a line holds", "t", `{"type":"object","properties":{` + strings.Join(many, ",") + `},"required":["member40"]}`, ``,
			`t(args: { member40: string; member00?: string; member01?: string; member02?: string; member03?: string; member04?: string; ` +
				`member05?: string; member06?: string; member07?: string; member08?: string; member09?: string; member10?: string; member11?: string; /* … 47 more */ }): Promise<any>`,
		},
		{
			"depth", "t", `{"properties":{"a":{"type":"object","properties":{"b":{"type":"object","properties":{` + strings.Join(many, ",") + `}}}}}}`, ``,
			`t(args?: { a?: { b?: { /* … */ } } }): Promise<any>`,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if got := Signature(test.tool, json.RawMessage(test.input), json.RawMessage(test.output)); got != test.want {
				t.Errorf("Signature =\n%s, want\n%s", got, test.want)
			}
		})
	}
}

// hugeSchema is of about 2 MB and has 10,000 references.
func hugeSchema() json.RawMessage {
	var b strings.Builder
	b.WriteString(`{"type":"object","properties":{`)
	for i := range 5000 {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `"member%d":{"$ref":"#/$defs/Def%d"}`, i, i)
	}
	b.WriteString(`},"$defs":{`)
	for i := range 5000 {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `"Def%d":{"type":"object","description":%q,"properties":{"id":{"type":"string"},"next":{"$ref":"#/$defs/Def%d"},"list":{"type":"array","items":{"type":"integer"}}},"required":["id"]}`,
			i, strings.Repeat("A description of some length. ", 6), (i*7+1)%5000)
	}
	b.WriteString(`}}`)
	return json.RawMessage(b.String())
}

func TestAHugeSchemaIsCutAndSaysSo(t *testing.T) {
	t.Parallel()
	schema := hugeSchema()
	start := time.Now()
	text := Declarations([]Namespace{{Name: "s", Tools: []Tool{{Name: "huge", Input: schema}, {Name: "small", Input: json.RawMessage(`{"properties":{"a":{"type":"string"}}}`)}}}})
	took := time.Since(start)
	if len(schema) < 1_500_000 || strings.Count(string(schema), `"$ref"`) != 10_000 {
		t.Fatalf("the schema has %d bytes and %d references", len(schema), strings.Count(string(schema), `"$ref"`))
	}
	if took > time.Minute { // a second by itself; the benchmark says how long
		t.Errorf("took %v", took)
	}
	if len(text) > 4*maxPrinted {
		t.Errorf("%d bytes of TypeScript", len(text))
	}
	if !strings.Contains(text, "Cut: the schema is too large") || !strings.Contains(text, "small(args?: { a?: string })") {
		t.Errorf("no word about what was cut, or the other tool suffered:\n%.2000s", text)
	}
	compiles(t, text, "")
}

func BenchmarkHugeSchema(b *testing.B) {
	schema := hugeSchema()
	b.SetBytes(int64(len(schema)))
	for b.Loop() {
		Declarations([]Namespace{{Name: "s", Tools: []Tool{{Name: "huge", Input: schema}}}})
	}
}

func BenchmarkSignature(b *testing.B) {
	schema := json.RawMessage(`{"type":"object","properties":{"message":{"type":"string","description":"What to say"},"count":{"type":"integer"}},"required":["message"]}`)
	for b.Loop() {
		Signature("echo", schema, nil)
	}
}
