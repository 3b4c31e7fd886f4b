package bindings_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"mcpx/bindings"
	"mcpx/engine"
	"mcpx/internal/fault"
)

// host answers like a broker with a catalog of one tool list for every namespace.
type host struct {
	tools   string // the answer of op tools
	results map[string]string
	notes   string // the head of an answer of op tool
	fails   map[string]error

	mu    sync.Mutex
	asked []string // op head body
}

func (h *host) Call(_ context.Context, op string, head any, body []byte) (json.RawMessage, []byte, error) {
	text, err := json.Marshal(head)
	if err != nil {
		return nil, nil, err
	}
	h.mu.Lock()
	h.asked = append(h.asked, strings.TrimSpace(fmt.Sprintf("%s %s %s", op, text, body)))
	h.mu.Unlock()
	if err := h.fails[op]; err != nil {
		return nil, nil, err
	}
	switch op {
	case "tools":
		if h.tools == "" {
			return json.RawMessage(`{"tools":[]}`), nil, nil
		}
		return json.RawMessage(h.tools), nil, nil
	case "search":
		return nil, []byte(`[{"name":"echo"}]`), nil
	case "describe":
		return nil, []byte("declare const x: 1"), nil
	case "tool":
		var name struct{ Name string }
		if err := json.Unmarshal(text, &name); err != nil {
			return nil, nil, err
		}
		if r, ok := h.results[name.Name]; ok {
			return json.RawMessage(h.notes), []byte(r), nil
		}
		quoted, err := json.Marshal(string(body))
		return nil, fmt.Appendf(nil, `{"content":[{"type":"text","text":%s}]}`, quoted), err
	}
	return nil, nil, fault.Internalf("no op %s", op)
}

func run(t *testing.T, h *host, code string) *engine.Outcome {
	t.Helper()
	modules := bindings.Modules([]string{"s", "my-server", "constructor", "delete", "Object"})
	p, report := engine.Compile(engine.Source{Name: "test.ts", Text: code}, modules)
	if report != nil {
		t.Fatalf("%s\n%s", code, report.Text())
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	return engine.New(engine.Options{Host: h, Modules: modules}).Run(ctx, p)
}

// value runs code that must succeed and returns its value as JSON.
func value(t *testing.T, h *host, code string) string {
	t.Helper()
	out := run(t, h, code)
	if out.Report != nil {
		t.Fatalf("%s\n%s", code, out.Report.Text())
	}
	return string(out.Value)
}

func text(blocks ...string) string {
	var parts []string
	for _, b := range blocks {
		q, _ := json.Marshal(b) // a string
		parts = append(parts, `{"type":"text","text":`+string(q)+`}`)
	}
	return `{"content":[` + strings.Join(parts, ",") + `]}`
}

func TestArgumentsOnTheWire(t *testing.T) {
	t.Parallel()
	tests := []struct{ args, want string }{
		{``, `{}`},
		{`undefined`, `{}`},
		{`{}`, `{}`},
		{`{ a: undefined, b: null, c: "", d: 0, e: false }`, `{"b":null,"c":"","d":0,"e":false}`},
		{`{ z: 1, a: { y: undefined, x: [undefined, null] }, "2": "two", "1": "one" }`, `{"1":"one","2":"two","z":1,"a":{"x":[null,null]}}`},
		{`{ when: new Date(0), nan: NaN, neg: -0, big: 1e21, tiny: 1e-7, f: 0.1 + 0.2 }`, `{"when":"1970-01-01T00:00:00.000Z","nan":null,"neg":0,"big":1e+21,"tiny":1e-7,"f":0.30000000000000004}`},
		{`{ id: 9007199254740993n, huge: -(2n ** 70n) }`, `{"id":9007199254740993,"huge":-1180591620717411303424}`},
		{`{ bytes: new Uint8Array([1, 2, 255]), buffer: new Uint8Array([104, 105]).buffer }`, `{"bytes":"AQL/","buffer":"aGk="}`},
		{`{ toJSON() { return { via: "toJSON" } } }`, `{"via":"toJSON"}`},
		{`Object.assign(Object.create({ inherited: 1 }), { own: 2 })`, `{"own":2}`},
		{`JSON.parse('{"__proto__":{"x":1}}')`, `{"__proto__":{"x":1}}`},
		{`{ s: "<b>&\u2028" }`, "{\"s\":\"<b>&\u2028\"}"},
	}
	for _, tt := range tests {
		t.Run(tt.args, func(t *testing.T) {
			t.Parallel()
			h := &host{}
			value(t, h, "await tools.s.echo("+tt.args+")")
			if got, want := h.asked[0], `tool {"ns":"s","name":"echo"} `+tt.want; got != want {
				t.Errorf("asked %s, want %s", got, want)
			}
		})
	}
}

func TestArgumentsAreReadWhenTheCallIsMade(t *testing.T) {
	t.Parallel()
	h := &host{}
	value(t, h, `const a = { n: 1 }; const p = tools.s.echo(a); a.n = 2; await p`)
	if !strings.HasSuffix(h.asked[0], `{"n":1}`) {
		t.Errorf("asked %s, want the value at the call", h.asked[0])
	}
}

func TestWrongArgumentsRejectWithoutACall(t *testing.T) {
	t.Parallel()
	tests := []struct{ args, want string }{
		{`"text"`, "got a string"},
		{`null`, "got null"},
		{`1`, "got a number"},
		{`[1]`, "got Array"},
		{`() => 1`, "got a function"},
		{`{}, {}`, "got 2 values"},
	}
	for _, tt := range tests {
		t.Run(tt.args, func(t *testing.T) {
			t.Parallel()
			h := &host{}
			got := value(t, h, `try { await tools.s.echo(`+tt.args+`); return "called" } catch (e) { return e.message + "|" + e.kind }`)
			if !strings.Contains(got, tt.want) || !strings.Contains(got, "usage") {
				t.Errorf("got %s, want %s and kind usage", got, tt.want)
			}
			if len(h.asked) != 0 {
				t.Errorf("asked %v", h.asked)
			}
		})
	}
}

func TestResultRules(t *testing.T) {
	t.Parallel()
	h := &host{results: map[string]string{
		"structured": `{"content":[{"type":"text","text":"terse"}],"structuredContent":{"n":1}}`,
		"nul":        `{"content":[{"type":"text","text":"words"}],"structuredContent":null}`,
		"seven":      text("007"),
		"half":       `{"content":[{"type":"text","text":"a\ud800"}]}`,
		"bare":       `{"content":"just a string"}`,
		"snowflake":  text("9007199254740993"),
		"bool":       text("true"),
		"two":        text("a", "b"),
		"object":     text(`{"b":1,"a":[2]}`),
		"array":      text(" [1, 2] "),
		"empty":      `{"content":[]}`,
		"image":      `{"content":[{"type":"image","data":"AQI=","mimeType":"image/png"}]}`,
		"mixed":      `{"content":[{"type":"text","text":"t"},{"type":"image","data":"AQI=","mimeType":"image/png"}]}`,
		"proto":      `{"content":[],"structuredContent":{"__proto__":{"polluted":true},"a":1,"a":2,"big":1e400}}`,
		"own":        `{"content":[],"structuredContent":{"raw":1,"text":"mine","toString":3}}`,
	}}
	tests := []struct{ code, want string }{
		{`return await tools.s.structured()`, `{"n":1}`},
		{`return await tools.s.nul()`, `"words"`},
		{`return await tools.s.seven()`, `"007"`},
		{`return (await tools.s.half()).charCodeAt(1).toString(16)`, `"d800"`},
		{`return await tools.s.bare()`, `"just a string"`},
		{`return await tools.s.snowflake()`, `"9007199254740993"`},
		{`return await tools.s.bool()`, `"true"`},
		{`return await tools.s.two()`, `"a\nb"`},
		{`return Object.keys(await tools.s.object())`, `["b","a"]`},
		{`return (await tools.s.array()).map(x => x + 1)`, `[2,3]`},
		{`return await tools.s.empty()`, `""`},
		{`return (await tools.s.image()).mimeType`, `"image/png"`},
		{`const r = await tools.s.mixed(); return [r.text, r.content.length]`, `["t",2]`},
		{`const r = await tools.s.proto(); return [Object.keys(r), r.a, r.big === Infinity, ({}).polluted === undefined]`, `[["__proto__","a","big"],2,true,true]`},
		{`const r = await tools.s.structured(); return [Object.keys(r), JSON.stringify(r), r.raw.structuredContent.n, r.content[0].text, r.text, String(r)]`, `[["n"],"{\"n\":1}",1,"terse","terse","terse"]`},
		{`const r = await tools.s.structured(); r.text = "changed"; return [r.text, Object.keys(r)]`, `["changed",["n","text"]]`},
		{`const r = await tools.s.own(); return [r.raw, r.text, r.toString]`, `[1,"mine",3]`},
		{`return (await tools.s.object.raw()).content[0].type`, `"text"`},
		{`const a = await tools.s.object(); a.a.push(3); const b = await tools.s.object(); return b.a`, `[2]`},
	}
	for _, tt := range tests {
		t.Run(tt.code, func(t *testing.T) {
			t.Parallel()
			if got := value(t, h, tt.code); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}

func TestToolError(t *testing.T) {
	t.Parallel()
	h := &host{results: map[string]string{
		"boom":  `{"content":[{"type":"text","text":"first"},{"type":"text","text":"second"}],"structuredContent":{"code":9},"isError":true}`,
		"quiet": `{"content":[],"isError":true}`,
	}}
	got := value(t, h, `try { await tools.s.boom() } catch (e) {
		return [e instanceof Error, e.name, e.kind, e.message, e.server, e.tool, e.content.length, e.structuredContent.code, e.raw.isError, e.mayHaveRun] }`)
	if want := `[true,"ToolError","tool","first\nsecond","s","boom",2,9,true,true]`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got := value(t, h, `try { await tools.s.quiet() } catch (e) { return e.message }`); got == `""` {
		t.Error("an error without text has no message")
	}
	h.notes = `{"diagnostics":["argument \"q\" is missing"]}`
	if got := value(t, h, `try { await tools.s.boom() } catch (e) { return [e.diagnostics, e.hint] }`); got != `[["argument \"q\" is missing"],"s.boom: argument \"q\" is missing"]` {
		t.Errorf("diagnostics: %s", got)
	}
	if got := value(t, h, `return (await tools.s.boom.raw()).isError`); got != `true` {
		t.Errorf("raw of an error = %s, want the whole result", got)
	}
	out := run(t, h, "const a: number = 1\nawait tools.s.boom()")
	if out.ExitCode != 1 || out.Report == nil || out.Report.At == nil || out.Report.At.Line != 2 || !strings.HasPrefix(out.Report.Text(), "first\nsecond") {
		t.Errorf("an uncaught error: exit %d\n%s", out.ExitCode, out.Report.Text())
	}
}

func TestFailureOfTheBrokerHasItsFields(t *testing.T) {
	t.Parallel()
	h := &host{fails: map[string]error{"tool": fault.Deniedf("tool s.x is hidden").Hintf("ask").With("grant", "tools")}}
	got := value(t, h, `try { await tools.s.x() } catch (e) { return [e.name, e.kind, e.message, e.grant, e.hint] }`)
	if want := `["DeniedError","denied","tool s.x is hidden","tools","ask"]`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestWrongRequestsAskNobody(t *testing.T) {
	t.Parallel()
	tests := []struct{ code, want string }{
		{`search()`, "got undefined"},
		{`search(null)`, "got null"},
		{`search(["echo"])`, "got echo"},
		{`search("x", 3)`, "got a number"},
		{`search("x", null)`, "got null"},
		{`search("x", { limit: "2" })`, "got a string"},
		{`search("x", { limit: NaN })`, "at least 1"},
		{`search("x", { limit: -1 })`, "at least 1"},
		{`search("x", { limit: null })`, "got null"},
		{`search("x", { ns: 3 })`, "name of a namespace"},
		{`search("x", { namespace: "s" })`, `no option "namespace"`},
		{`describe()`, "got undefined"},
		{`describe("")`, "got a string"},
		{`describe({})`, "got [object Object]"},
	}
	for _, tt := range tests {
		t.Run(tt.code, func(t *testing.T) {
			t.Parallel()
			h := &host{}
			got := value(t, h, `try { `+tt.code+`; return "done" } catch (e) { return e.message + "|" + e.kind + "|" + e.hint }`)
			if quoted, err := json.Marshal(tt.want); err != nil || !strings.Contains(got, strings.Trim(string(quoted), `"`)) || !strings.Contains(got, "|usage|write ") {
				t.Errorf("got %s, want %s and kind usage", got, tt.want)
			}
			if len(h.asked) != 0 {
				t.Errorf("asked %v", h.asked)
			}
		})
	}
}

func TestNames(t *testing.T) {
	t.Parallel()
	catalog := `{"tools":[{"name":"b","aliases":["bee"]},{"name":"a"},{"name":"toString"}]}`
	tests := []struct{ name, code, want, asked string }{
		{"a namespace is a global too", `return s === tools.s`, `true`, ``},
		{"aliases are the same object", `return tools["my-server"] === tools.my_server && tools.myServer === my_server`, `true`, ``},
		{"a global hides nothing", `return Object === tools.Object`, `false`, ``},
		{"a script may declare its own", `const s = 1; return s`, `1`, ``},
		{"a function is made once", `return tools.s.echo === tools.s.echo`, `true`, ``},
		{"it shows its own name", `return [tools.s.echo.name, String(tools.s.echo).includes("mcpx/")]`, `["echo",false]`, ``},
		{"keys", `return Object.keys(tools.s)`, `["a","b","toString"]`, `tools {"ns":"s"}`},
		{"keys of tools", `return Object.keys(tools)`, `["Object","constructor","delete","my-server","s"]`, ``},
		{"in knows aliases", `return ["a" in tools.s, "bee" in tools.s, "c" in tools.s, "s" in tools, "x" in tools, "my_server" in tools]`, `[true,true,false,true,false,true]`, `tools {"ns":"s"}`},
		{"a namespace is no thenable", `const n = await tools["my-server"]; return n === tools["my-server"]`, `true`, `tools {"ns":"my-server"}`},
		{"a tool with a name of Object.prototype", `return String(await tools.s.toString())`, `"{}"`, `tools {"ns":"s"}`},
		{"none with such a name", `return [typeof tools.s.hasOwnProperty, typeof tools.s.constructor]`, `["function","function"]`, `tools {"ns":"s"}`},
		{"a namespace with a name of Object.prototype", `return String(await tools.constructor.hi())`, `"{}"`, `tool {"ns":"constructor","name":"hi"} {}`},
		{"nothing can be replaced", `try { tools.s.echo = 1 } catch (e) { return e.name }`, `"TypeError"`, `tools {"ns":"s"}`},
		{"tools say what cannot be changed", `try { tools.x = 1 } catch (e) { return e.message }`, `"tools cannot be changed"`, ``},
		{"nor deleted", `try { delete tools.s } catch (e) { return e.message }`, `"tools cannot be changed"`, ``},
		{"nor those of a namespace", `try { tools.s.x = 1 } catch (e) { return e.message }`, `"the tools of s cannot be changed"`, `tools {"ns":"s"}`},
		{"nor through an alias", `try { delete my_server.x } catch (e) { return e.message }`, `"the tools of my-server cannot be changed"`, ``},
		{"search", `return search("echo", { limit: 3 })`, `[{"name":"echo"}]`, `search {"words":"echo","limit":3}`},
		{"search in a namespace", `return search("echo", { ns: "s", limit: undefined })`, `[{"name":"echo"}]`, `search {"words":"echo","ns":"s"}`},
		{"search without bound", `return search("echo", { limit: Infinity })`, `[{"name":"echo"}]`, `search {"words":"echo","limit":10000}`},
		{"describe", `return describe("s.echo")`, `"declare const x: 1"`, `describe {"name":"s.echo"}`},
		{"describe a tool", `return describe(tools.my_server.echo)`, `"declare const x: 1"`, `describe {"name":"my-server.echo"}`},
		{"describe a namespace", `return describe(s)`, `"declare const x: 1"`, `describe {"name":"s"}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			h := &host{tools: catalog}
			if got := value(t, h, tt.code); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
			if got := strings.Join(h.asked, "; "); !strings.HasPrefix(got, tt.asked) || tt.asked == "" && got != "" {
				t.Errorf("asked %q, want %q", got, tt.asked)
			}
		})
	}
}

func TestAMisspeltNamespaceIsNamed(t *testing.T) {
	t.Parallel()
	for code, want := range map[string]string{
		"my_sever.x()": "did you mean tools.my_server?", "serch('x')": "did you mean search?",
		"tols.s.x()": "did you mean tools?", "mcp.s.x()": "did you mean tools?", "await mcpx.s.x()": "did you mean tools?", "elsewhere.x()": "",
	} {
		if out := run(t, &host{}, code); out.Report == nil || out.Report.Hint != want {
			t.Errorf("%s: %+v, want the hint %q", code, out.Report, want)
		}
	}
}

func TestANamespaceAndAToolInOneNameAreTaken(t *testing.T) {
	t.Parallel()
	for code, hint := range map[string]string{
		`tools["s.echo"]({})`: "write tools.s.echo", `await tools["my-server.a.b"]({})`: `write tools["my-server"]["a.b"]`,
		`tools["s.do-it"]({})`: `write tools.s["do-it"]`,
	} {
		h := &host{}
		out := run(t, h, code)
		if r := out.Report; r == nil || r.Kind != fault.NotFound || !strings.Contains(r.Message, "no server is called \"") || r.Hint != hint {
			t.Errorf("%s: %+v, want the hint %q", code, r, hint)
		}
		if len(h.asked) > 0 {
			t.Errorf("%s asked %q", code, h.asked)
		}
	}
	for code, message := range map[string]string{
		"tools.echo({})": "tools.echo is not a function", "try { s({}) } catch (e) { throw e.message }": "the script threw s is not a function",
	} {
		if r := run(t, &host{}, code).Report; r == nil || r.Message != message {
			t.Errorf("%s: %+v, want the message %q", code, r, message)
		}
	}
	// Without a server in front the name is one like others: the call says that it is not there.
	if got := value(t, &host{}, `return String(await tools["x.echo"].y())`); got != `"{}"` {
		t.Errorf("a name with a dot that no server begins: %s", got)
	}
}

func TestListingThatFails(t *testing.T) {
	t.Parallel()
	h := &host{fails: map[string]error{"tools": fault.Unavailablef("s is down")}}
	if got := value(t, h, `try { return Object.keys(tools.s) } catch (e) { return e.message }`); got != `"s is down"` {
		t.Errorf("keys: %s, want the error", got)
	}
	if got := value(t, h, `return (await tools.s) === tools.s`); got != `true` {
		t.Errorf("a namespace of a server that is down as the value of an await: %s", got)
	}
}

func TestGettersOfArgumentsMayThrow(t *testing.T) {
	t.Parallel()
	h := &host{}
	got := value(t, h, `try { tools.s.echo({ get x() { throw new RangeError("mine") } }) } catch (e) { return e.name + e.message }`)
	if got != `"RangeErrormine"` || len(h.asked) != 0 {
		t.Errorf("got %s after %v, want the script's own exception and no call", got, h.asked)
	}
}

func BenchmarkCallInMemory(b *testing.B) {
	h := &quietHost{answer: []byte(`{"content":[{"type":"text","text":"hello"}],"structuredContent":{"n":42,"list":[1,2,3]}}`)}
	modules := bindings.Modules([]string{"s"})
	p, report := engine.Compile(engine.Source{Name: "bench.ts", Text: fmt.Sprintf("for (let i = 0; i < %d; i++) await tools.s.echo({ message: 'hello', i })", b.N)}, modules)
	if report != nil {
		b.Fatal(report.Text())
	}
	b.ReportAllocs()
	b.ResetTimer()
	if out := engine.New(engine.Options{Host: h, Modules: modules}).Run(b.Context(), p); out.Report != nil {
		b.Fatal(out.Report.Text())
	}
}

type quietHost struct{ answer []byte }

func (h *quietHost) Call(context.Context, string, any, []byte) (json.RawMessage, []byte, error) {
	return nil, h.answer, nil
}
