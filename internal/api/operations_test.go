package api

import (
	"bytes"
	"encoding/json"
	"flag"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"mcpx/internal/fault"
)

var update = flag.Bool("update", false, "write docs/operations.md")

func TestThePageIsMadeFromTheTable(t *testing.T) {
	t.Parallel()
	name := filepath.Join("..", "..", "docs", "operations.md")
	if *update {
		if err := os.WriteFile(name, []byte(Page()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != Page() {
		t.Error("docs/operations.md is not what the table says; run `go test ./internal/api -update` and read the difference")
	}
}

// TestEveryOperationIsDeclaredWhole holds what a declaration must say.
func TestEveryOperationIsDeclaredWhole(t *testing.T) {
	t.Parallel()
	if len(table) < 30 {
		t.Fatalf("%d operations: nothing is guarded", len(table))
	}
	for _, o := range table {
		switch {
		case o.Summary == "" || strings.HasSuffix(o.Summary, ".") || strings.ToLower(o.Summary[:1]) != o.Summary[:1]:
			t.Errorf("%s: the summary is no clause: %q", o.Name, o.Summary)
		case o.Example == "":
			t.Errorf("%s has no example", o.Name)
		case o.Command != "" && !strings.Contains(o.Example, "mcpx "):
			t.Errorf("%s has a command, and no example of it", o.Name)
		case o.Command == "" && o.Route == "":
			t.Errorf("%s cannot be asked for", o.Name)
		case o.ReadOnly && o.Destructive:
			t.Errorf("%s changes nothing and destroys something", o.Name)
		case o.Route != "" && o.mount == nil:
			t.Errorf("%s has a route and no answer", o.Name)
		case o.Method() == http.MethodGet && !o.ReadOnly:
			t.Errorf("%s changes something by GET", o.Name)
		}
		for line := range strings.SplitSeq(o.Description, "\n") {
			if len([]rune(line)) > 92 {
				t.Errorf("%s: a line of the description is too long: %s", o.Name, line)
			}
		}
		for _, f := range o.Fields() {
			if o.Route == "" {
				break // the command makes it of its own flags
			}
			switch {
			case f.Name == "":
				t.Errorf("%s has a field without a name", o.Name)
			case f.Doc == "":
				t.Errorf("%s: %s says nothing of itself", o.Name, f.Name)
			case f.Flag != "" && f.Kind == Value:
				t.Errorf("%s: the flag of %s cannot be read", o.Name, f.Name)
			case f.Flag != "" && f.Kind != Switch && (f.Value == "" || !strings.Contains(f.Doc, f.Value)):
				t.Errorf("%s: the text of --%s does not name its value", o.Name, f.Flag)
			case inQuery(o.Method()) && f.Kind == Value:
				t.Errorf("%s: %s cannot stand in the query", o.Name, f.Name)
			}
		}
	}
}

// blank is a Service whose every answer is empty.
type blank struct{ Service }

func (blank) For(Caller) Service { return blank{} }

// TestEveryRouteReachesItsMethod asks for each operation: a service without methods
// panics, which says that the question has arrived.
func TestEveryRouteReachesItsMethod(t *testing.T) {
	t.Parallel()
	handler := Handler(blank{}, HandlerOptions{Version: "1"})
	for _, o := range table {
		if o.Route == "" || o.Name == "openapi" || o.Name == "answer" || o.Name == "events" {
			continue // those have tests of their own
		}
		in := map[string]any{}
		query := ""
		for _, f := range o.Fields() {
			if f.Required && f.Kind != Switch {
				in[f.Name] = map[Kind]any{Text: "x", Integer: 1}[f.Kind]
				if in[f.Name] == nil {
					in[f.Name] = []object{{"server": "a", "tool": "b"}}
				}
				if !o.inPath(f.Name) {
					query = "?" + f.Name + "=x"
				}
			}
		}
		body, err := json.Marshal(in)
		if err != nil {
			t.Fatal(err)
		}
		if inQuery(o.Method()) {
			body = nil
		} else {
			query = ""
		}
		w := httptest.NewRecorder()
		r := httptest.NewRequest(o.Method(), strings.ReplaceAll(o.Path(), "{id}", "x")+query, bytes.NewReader(body))
		arrived := func() (yes bool) {
			defer func() { yes = recover() != nil }()
			handler.ServeHTTP(w, r)
			return false
		}()
		if !arrived {
			t.Errorf("%s %s did not reach the service: %d %s", o.Route, body, w.Code, w.Body)
		}
	}
}

// TestTheClientAsksForEveryOperation calls each method of the client: the request is that
// of an operation, and each operation is asked for by one.
func TestTheClientAsksForEveryOperation(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	mux := http.NewServeMux()
	for _, o := range table {
		if o.Route != "" {
			mux.HandleFunc(o.Route, func(w http.ResponseWriter, _ *http.Request) {
				seen[o.Name] = true
				refuse(w, fault.Deniedf("seen"))
			})
		}
	}
	s := httptest.NewServer(mux)
	defer s.Close()
	client := NewRemote(s.Client(), s.URL, Caller{})
	v := reflect.ValueOf(client)
	service := reflect.TypeFor[Service]()
	for method := range service.Methods() {
		m := v.MethodByName(method.Name)
		args := []reflect.Value{reflect.ValueOf(t.Context()), reflect.Zero(m.Type().In(1))}
		if m.Type().NumIn() == 3 {
			args = append(args, reflect.ValueOf(func(Event) error { return nil }))
		}
		results := m.Call(args)
		err, _ := reflect.TypeAssert[error](results[len(results)-1])
		if fault.KindOf(err) != fault.Denied {
			t.Errorf("%s: %v", method.Name, err)
		}
	}
	for _, o := range table {
		// What is made of other answers, or answers them, is asked for otherwise.
		others := []string{"protocol", "openapi", "answer", "history"}
		if o.Route != "" && !seen[o.Name] && !slices.Contains(others, o.Name) {
			t.Errorf("no method of the client asks for %s", o.Name)
		}
	}
}

func TestTwoOperationsWithOneRoutePanic(t *testing.T) {
	for _, m := range []Meta{{Name: "call"}, {Name: "x", Route: "POST /v1/call"}, {Name: "x", Command: "call"}, {Name: "x", Tool: "mcpx_call"}} {
		func() {
			before := table
			defer func() {
				table = before
				if recover() == nil {
					t.Errorf("%+v was declared beside call", m)
				}
			}()
			declare(m, nil, nil)
		}()
	}
}

// TestEveryFieldIsRead holds that nothing can be asked for that nobody looks at: each
// field of an input is selected in a source outside this package.
func TestEveryFieldIsRead(t *testing.T) {
	t.Parallel()
	read := map[string]bool{}
	err := filepath.WalkDir(filepath.Join("..", ".."), func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (slices.Contains([]string{"node_modules", "testdata", ".git", "tools"}, d.Name()) || path == filepath.Join("..", "..", "internal", "api")):
			return fs.SkipDir
		case d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go"):
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil || !bytes.Contains(text, []byte(`"mcpx/internal/api"`)) {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, text, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for name := range selected(file) {
			read[name] = true
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	// What RunBatch and the handler read for everybody.
	for _, ours := range []string{"Calls", "Concurrent", "Stop", "After", "ID", "Ask", "Result", "Error", "Failure"} {
		read[ours] = true
	}
	n := 0
	for _, o := range table {
		for field := range o.input.Fields() {
			n++
			if name := field.Name; !read[name] {
				t.Errorf("nothing reads %s of %s", name, o.input.Name())
			}
		}
	}
	caller := reflect.TypeFor[Caller]()
	for field := range caller.Fields() {
		if name := field.Name; !read[name] {
			t.Errorf("nothing reads %s of Caller", name)
		}
	}
	if n < 40 {
		t.Fatalf("%d fields: nothing is guarded", n)
	}
	file, err := parser.ParseFile(token.NewFileSet(), "a.go", "package a\nfunc f() { in.Written = 1; in.Read++; g(in.Given); _ = T{Named: 1} }", 0)
	if err != nil {
		t.Fatal(err)
	}
	if got := selected(file); len(got) != 2 || !got["Read"] || !got["Given"] {
		t.Errorf("selected = %v, want Read and Given", got)
	}
}

// selected returns the names that are selected of something and not only written to.
func selected(file *ast.File) map[string]bool {
	out := map[string]bool{}
	written := map[ast.Expr]bool{}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for _, l := range n.Lhs {
				written[l] = true
			}
		case *ast.SelectorExpr:
			if !written[n] {
				out[n.Sel.Name] = true
			}
		}
		return true
	})
	return out
}

func TestToolSchemas(t *testing.T) {
	t.Parallel()
	want := `{"additionalProperties":false,"properties":{` +
		`"limit":{"description":"at most N tools (default 10)","minimum":1,"type":"integer"},` +
		`"namespace":{"description":"look in namespace NS only","type":"string"},` +
		`"words":{"description":"what the tool should do","type":"string"}},"required":["words"],"type":"object"}`
	if got := string(SearchTools.ToolSchema()); got != want {
		t.Errorf("schema of search = %s, want %s", got, want)
	}
	if got := string(SearchTools.ToolAnnotations()); got != `{"openWorldHint":false,"readOnlyHint":true}` {
		t.Errorf("annotations of search = %s", got)
	}
	if got := string(CallTool.ToolAnnotations()); got != `{"destructiveHint":true,"openWorldHint":true,"readOnlyHint":false}` {
		t.Errorf("annotations of call = %s", got)
	}
	if got := string(CallTool.ToolSchema()); strings.Contains(got, "grant") || !strings.Contains(got, `"arguments":{"description":"those of the tool, a JSON object","type":"object"}`) {
		t.Errorf("schema of call = %s", got)
	}
}

func TestOpenAPIIsServed(t *testing.T) {
	t.Parallel()
	w := httptest.NewRecorder()
	Handler(blank{}, HandlerOptions{Version: "1.2.3"}).ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/v1/openapi.json", http.NoBody))
	var doc struct {
		OpenAPI string
		Info    struct{ Version string }
		Paths   map[string]map[string]struct{ OperationID string }
	}
	if err := json.Unmarshal(w.Body.Bytes(), &doc); err != nil {
		t.Fatal(err)
	}
	if doc.OpenAPI != "3.1.0" || doc.Info.Version != "1.2.3" {
		t.Errorf("document %s of version %s", doc.OpenAPI, doc.Info.Version)
	}
	for _, o := range table {
		if o.Route != "" && doc.Paths[o.Path()][strings.ToLower(o.Method())].OperationID != o.Name {
			t.Errorf("%s is not in the document", o.Name)
		}
	}
}
