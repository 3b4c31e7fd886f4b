package cli

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"mcpx/internal/api"
	"mcpx/internal/fault"
)

func TestLs(t *testing.T) {
	t.Parallel()
	golden(t, "ls.txt", drive(t, &desk{}, "ls").stdout.String())
	narrow := driveIn(t, &desk{}, Program{Terminal: Terminal{Stdout: true, Columns: 40}}, "ls").stdout.String()
	golden(t, "ls-40.txt", narrow)
	for line := range strings.Lines(narrow) {
		if strings.HasPrefix(line, "  ") && !strings.Contains(line, "error") && cells(strings.TrimSuffix(line, "\n")) > 40 {
			t.Errorf("a line of %d cells: %s", cells(line), line)
		}
	}
	d := &desk{demo: true}
	s := drive(t, d, "ls", "--refresh", "--json")
	if !d.namespaces.Refresh {
		t.Error("--refresh is not read")
	}
	want := "mcpx: no server is configured, so this is the built-in demo server\n  " + howToAdd + "\n"
	if s.stderr.String() != want {
		t.Errorf("stderr %q, want %q", s.stderr.String(), want)
	}
	var out api.NamespacesOutput
	if err := json.Unmarshal(s.stdout.Bytes(), &out); err != nil || !out.Demo || len(out.Namespaces) != 4 || out.Namespaces[1].Error.Kind != fault.Unavailable {
		t.Errorf("%v: %s", err, s.stdout.String())
	}
}

func TestLsOfOneServer(t *testing.T) {
	t.Parallel()
	d := &desk{}
	drive(t, d, "ls", "git").want(t, 69, "git\n  error: git-mcp was not found in PATH (/usr/bin)\n    install it\n", "")
	if d.namespaces.Namespace != "git" {
		t.Errorf("asked %+v", d.namespaces)
	}
	s := drive(t, d, "ls", "git", "--json")
	s.want(t, 69, s.stdout.String(), "")
	var out api.NamespacesOutput
	if err := json.Unmarshal(s.stdout.Bytes(), &out); err != nil || out.Namespaces[0].Error.Kind != fault.Unavailable {
		t.Errorf("%v: %s", err, s.stdout.String())
	}
	drive(t, &desk{}, "ls", "a", "b").want(t, 2, "", "mcpx: ls: unexpected argument \"b\"\n  usage: mcpx ls [flags] [NS]\n")
	drive(t, &desk{broken: fault.NotFoundf("no server is called %q", "demo.echo")}, "ls", "demo.echo").
		want(t, 2, "", "mcpx: no server is called \"demo.echo\"\n  it is the name of a server that ls takes; \"mcpx types demo.echo\" declares one tool\n")
}

func TestTools(t *testing.T) {
	t.Parallel()
	d := &desk{}
	s := drive(t, d, "tools", "demo", "--refresh")
	golden(t, "tools.txt", s.stdout.String())
	if d.tools != (api.ToolsInput{Namespace: "demo", Refresh: true}) {
		t.Errorf("asked %+v", d.tools)
	}
}

func TestOneTool(t *testing.T) {
	t.Parallel()
	d := &desk{config: &api.ConfigOutput{Servers: []api.ConfigServer{{Name: "demo"}, {Name: "x.y"}}}}
	whole := drive(t, d, "tools", "demo").stdout.String()
	first, _, _ := strings.Cut(whole, "\n\ndemo.fancy-name")
	drive(t, d, "tools", "demo.echo").want(t, 0, first+"\n", "")
	drive(t, d, "tools", "demo.fancyName").want(t, 0, strings.TrimPrefix(whole, first+"\n\n"), "")
	drive(t, d, "tools", "demo.ecko").want(t, 2, "", "mcpx: demo has no tool called \"ecko\"\n  did you mean echo? \"mcpx ls demo\" lists its tools\n")
	drive(t, d, "tools", "x.y").want(t, 0, whole, "")
	if d.tools.Namespace != "x.y" {
		t.Errorf("asked %+v", d.tools)
	}
}

func TestSearch(t *testing.T) {
	t.Parallel()
	d := &desk{}
	drive(t, d, "search", "open", "the", "door").want(t, 0, "demo.echo(args: { message: string }): Promise<string>\n  Answer with the message.\n", "")
	if d.search != (api.SearchInput{Words: "open the door"}) {
		t.Errorf("asked %+v", d.search)
	}
	drive(t, d, "search", "nothing").want(t, 0, "", "mcpx: no tool fits \"nothing\"\n  \"mcpx ls\" lists them all\n")
	drive(t, d, "search", "nothing", "--json").want(t, 0, "{\"results\":[]}\n", "mcpx: no tool fits \"nothing\"\n  \"mcpx ls\" lists them all\n")
}

func TestTypes(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	d := &desk{}
	driveIn(t, d, Program{Dir: dir}, "types", "demo.echo").want(t, 0, "declare const tools: {};\n", "")
	if d.types.Name != "demo.echo" {
		t.Errorf("asked %+v", d.types)
	}
	driveIn(t, d, Program{Dir: dir}, "types", "-o", "-").want(t, 0, "declare const tools: {};\n", "")
	driveIn(t, d, Program{Dir: dir}, "types", "demo", "-o", "x.d.ts").want(t, 0, "", "")
	if text, err := os.ReadFile(filepath.Join(dir, "x.d.ts")); err != nil || string(text) != "declare const tools: {};\n" {
		t.Errorf("%v: %q", err, text)
	}
	driveIn(t, d, Program{Dir: dir}, "types", "--output=x.d.ts", "--json").want(t, 0, `{"declarations":"declare const tools: {};\n","file":"x.d.ts"}`+"\n", "")
	driveIn(t, d, Program{Dir: dir}, "types", "-o", "no/x.d.ts").want(t, 2, "", "mcpx: writing no/x.d.ts: no such file or directory\n  there is no directory no: make it, or name another file\n")
	driveIn(t, d, Program{Dir: dir}, "types", "-o", ".").want(t, 2, "", "mcpx: writing .: is a directory\n  name a file in it\n")
	driveIn(t, d, Program{Dir: dir}, "types", "-o", "x.d.ts/y").want(t, 2, "", "mcpx: writing x.d.ts/y: not a directory\n  name another file, or leave out -o to have it on standard output\n")
}

func TestReplaceFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	target, link := filepath.Join(dir, "target"), filepath.Join(dir, "link")
	if err := os.WriteFile(target, []byte("a longer text"), 0o640); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("target", link); err != nil {
		t.Fatal(err)
	}
	if err := replaceFile(t.Context(), link, []byte("short")); err != nil {
		t.Fatal(err)
	}
	text, _ := os.ReadFile(target)
	info, err := os.Stat(target)
	if string(text) != "short" || err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("%q, %v %v", text, info.Mode(), err)
	}
	if l, err := os.Lstat(link); err != nil || l.Mode()&os.ModeSymlink == 0 {
		t.Error("the link is gone")
	}
	if err := replaceFile(t.Context(), os.DevNull, []byte("x")); err != nil {
		t.Errorf("a device: %v", err)
	}
	if entries, _ := os.ReadDir(dir); len(entries) != 2 {
		t.Errorf("something is left: %v", entries)
	}
}

func TestReplacePrivateFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	target, link := filepath.Join(dir, "target"), filepath.Join(dir, "link")
	for what, path := range map[string]string{"a new file": target, "that file": target, "a link to it": link} {
		if err := os.WriteFile(target, []byte("a longer text"), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink("target", link); err != nil && !errors.Is(err, fs.ErrExist) {
			t.Fatal(err)
		}
		if what == "a new file" {
			os.Remove(target)
		}
		if err := replacePrivateFile(t.Context(), path, []byte("short")); err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		text, _ := os.ReadFile(target)
		info, err := os.Stat(target)
		if string(text) != "short" || err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %q, %v %v", what, text, info.Mode(), err)
		}
		if l, err := os.Lstat(link); err != nil || l.Mode()&os.ModeSymlink == 0 {
			t.Errorf("%s: the link is gone", what)
		}
	}
	before, err := os.Stat(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	if err := replacePrivateFile(t.Context(), os.DevNull, []byte("x")); err != nil {
		t.Errorf("a device: %v", err)
	}
	if after, err := os.Stat(os.DevNull); err != nil || after.Mode() != before.Mode() {
		t.Errorf("the device is %v, %v", after, err)
	}
	if entries, _ := os.ReadDir(dir); len(entries) != 2 {
		t.Errorf("something is left: %v", entries)
	}
}

func TestParameters(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, schema string
		want         []parameter
	}{
		{"in their order", `{"properties":{"b":{"type":"string","description":"B"},"a":{"type":["null","integer"]}},"required":["a"]}`, []parameter{{name: "b", typ: "string", description: "B"}, {name: "a", typ: "null|integer", required: true}}},
		{"that say nothing", `{"properties":{"x":{},"y":true}}`, []parameter{{name: "x", typ: "any"}, {name: "y", typ: "any"}}},
		{"of lists", `{"properties":{"a":{"type":"array","items":{"type":"string"}},"b":{"type":["array","null"],"items":{"type":["string","number"]}},"c":{"type":"array"},"d":{"type":"array","items":{"type":"array","items":{"type":"integer"}}},"e":{"type":[]}}}`, []parameter{
			{name: "a", typ: "string[]"}, {name: "b", typ: "(string|number)[]|null"}, {name: "c", typ: "any[]"}, {name: "d", typ: "integer[][]"}, {name: "e", typ: "any"},
		}},
		{"with values", `{"properties":{"a":{"type":"string","enum":["New York","Chicago"]},"b":{"enum":[1,null]}}}`, []parameter{{name: "a", typ: `"New York"|"Chicago"`, values: []string{"New York", "Chicago"}}, {name: "b", typ: "1|null"}}},
		{"with members", `{"properties":{"edits":{"type":"array","items":{"type":"object","properties":{"from":{"type":"string"},"to":{"type":"string"},"at":{"type":"object","properties":{"x":{"type":"object","properties":{"y":{}}}}}},"required":["from"]}}}}`, []parameter{
			{name: "edits", typ: "{from: string, to?: string, at?: {x?: object}}[]"},
		}},
		{"with types that are none", `{"properties":{"x":{"type":7,"description":["no"]}},"required":"x"}`, []parameter{{name: "x", typ: "any"}}},
		{"of no object", `{"properties":["x"]}`, nil},
		{"of a schema that is none", `[]`, nil},
		{"of nothing", ``, nil},
		{"of null", `{"properties":null}`, nil},
	}
	for _, tt := range tests {
		if got := parameters(json.RawMessage(tt.schema)); !reflect.DeepEqual(got, tt.want) {
			t.Errorf("parameters %s = %+v, want %+v", tt.name, got, tt.want)
		}
	}
}

func TestCut(t *testing.T) {
	t.Parallel()
	tests := []struct {
		text    string
		columns int
		want    string
	}{
		{"hello", 0, "hello"},
		{"hello", 5, "hello"},
		{"hello", 4, "hel…"},
		{"a b c", 3, "a…"},
		{"日本語", 6, "日本語"},
		{"日本語", 5, "日本…"},
		{"日本語", 4, "日…"},
		{"e\u0301e\u0301e\u0301", 3, "e\u0301e\u0301e\u0301"},
		{"🙂🙂", 3, "🙂…"},
		{"x", 1, "x"},
		{"xy", 1, "…"},
	}
	for _, tt := range tests {
		if got := cut(tt.text, tt.columns); got != tt.want {
			t.Errorf("cut(%q, %d) = %q, want %q", tt.text, tt.columns, got, tt.want)
		}
	}
}

func TestSummary(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"":                                      "",
		"One. Two.":                             "One.",
		"One\n  line. Two\n":                    "One line.",
		"One\n\nTwo. Three.":                    "One",
		"Reads a.b, e.g. X.y or i.e. Zoe. Two.": "Reads a.b, e.g. X.y or i.e. Zoe.",
		"Version 1.2 is it. Two":                "Version 1.2 is it.",
		"Really? Yes.":                          "Really?",
		"Ends with no stop\nArgs:\n  x: a":      "Ends with no stop",
		"一つ。二つ。":                                "一つ。",
		"Wait... for it. Two.":                  "Wait... for it.",
		"\n First line\r\nsecond":               "First line",
	} {
		if got := summary(in); got != want {
			t.Errorf("summary(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestListingsAreClean(t *testing.T) {
	t.Parallel()
	const bad = "x\x1b]0;t\x07\r\u202e\nfake"
	ls := namespacesText([]api.Namespace{{Name: bad, Tools: []api.ToolBrief{{Name: bad, Description: bad}}, Error: fault.Unavailablef("%s", bad), Warnings: []string{bad}}}, nil, 0)
	tools := toolsText([]api.Tool{{Namespace: bad, Name: bad, Description: bad, Aliases: []string{bad}, InputSchema: json.RawMessage(`{"properties":{"p\u001b\nfake":{"type":"\u001b\nfake","description":"\u001b\nfake"}}}`)}})
	found := searchText([]api.SearchResult{{Namespace: bad, Name: bad, Signature: bad, Description: bad}}, 0)
	config := configText(&api.ConfigOutput{Files: []api.ConfigFile{{Path: bad}}, Servers: []api.ConfigServer{{Name: bad, Command: []string{bad}}}})
	for name, text := range map[string]string{"ls": ls, "tools": tools, "search": found, "config": config} {
		if again := clean(text); again != text {
			t.Errorf("%s: %q", name, text)
		}
	}
	for line := range strings.SplitSeq(found+config, "\n") {
		if strings.HasPrefix(line, "fake") {
			t.Errorf("a name made a line of its own: %q", line)
		}
	}
}

func TestOneLine(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"":                           "",
		"  One\n  two.\r\n\r\nThree": "One two.",
		"\n\nOne\n\n":                "One",
		"a \t b":                     "a b",
	} {
		if got := oneLine(in); got != want {
			t.Errorf("oneLine(%q) = %q, want %q", in, got, want)
		}
	}
}
