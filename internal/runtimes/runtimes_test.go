package runtimes

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"mcpx/internal/fault"
	"mcpx/internal/grant"
)

// What a runtime cannot hold is refused, and what it can becomes its flags.
func TestGrantsBecomeFlagsOrAreRefused(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	some := func(words ...string) grant.Words { return grant.Words{Allow: words} }
	without := func(words ...string) grant.Words { return grant.Words{Allow: []string{grant.Any}, Deny: words} }
	everything := grant.Set{Everything: true, Read: some("*"), Write: some("*"), Net: some("*"), Run: some("*")}
	less := everything
	less.Net = without("example.com")
	for _, tt := range []struct {
		name, runtime, version string
		set                    grant.Set
		want                   []string // that stand among the flags
		never                  string   // in none of them
		refused                string   // in the error; empty: none
	}{
		{"deno: nothing", "deno", "2.1.0", grant.Set{}, []string{"--allow-read=/p/main.mjs", "--allow-net=127.0.0.1:7", "--no-prompt", "--no-remote"}, "--allow-write", ""},
		{"deno: a folder", "deno", "2.1.0", grant.Set{Read: some("sub"), Write: some("/w")}, []string{"--allow-read=" + dir + "/sub,/p/main.mjs", "--allow-write=/w"}, "--allow-run", ""},
		{"deno: all but", "deno", "2.1.0", grant.Set{Read: without("/etc")}, []string{"--allow-read", "--deny-read=/etc"}, "", ""},
		{"deno: hosts", "deno", "2.1.0", grant.Set{Net: some("a.example:443", "10.0.0.1/32")}, []string{"--allow-net=a.example:443,10.0.0.1,127.0.0.1:7"}, "", ""},
		{"deno: the network", "deno", "2.1.0", grant.Set{Net: some("*")}, []string{"--allow-net"}, "", ""},
		{"deno: public addresses", "deno", "2.1.0", grant.Set{Net: some(grant.Public)}, nil, "", "public addresses"},
		{"deno: a range", "deno", "2.1.0", grant.Set{Net: some("10.0.0.0/8")}, nil, "", "10.0.0.0/8"},
		{"deno: a range of IPv6", "deno", "2.1.0", grant.Set{Net: some("2001:db8::/32")}, nil, "", "2001:db8::/32"},
		{"deno: a pattern", "deno", "2.1.0", grant.Set{Net: some("*.example.com")}, nil, "", "*.example.com"},
		{"deno: a network without", "deno", "2.1.0", grant.Set{Net: without("a.example")}, nil, "", "socket"},
		{"deno: a comma", "deno", "2.1.0", grant.Set{Read: some("/a,b")}, nil, "", "comma"},
		{"deno: a program", "deno", "2.1.0", grant.Set{Run: some("/no/such/program")}, []string{"--allow-run=/no/such/program"}, "", ""},
		{"node: everything", "node", "18.0.0", everything, nil, "permission", ""},
		{"node: less than everything", "node", "18.0.0", grant.Set{Net: some("*")}, nil, "", "before version 20"},
		{"node: no network", "node", "20.1.0", grant.Set{}, nil, "", "network"},
		{"node: some of the network", "node", "20.1.0", grant.Set{Net: some("a.example")}, nil, "", "network"},
		{"node: nothing but the network", "node", "20.1.0", grant.Set{Net: some("*")}, []string{"--experimental-permission", "--allow-fs-read=/p/main.mjs"}, "--allow-fs-write", ""},
		{"node: a newer one", "node", "22.13.0", grant.Set{Net: some("*"), Write: some("/w")}, []string{"--permission", "--allow-fs-write=/w"}, "experimental", ""},
		{"node: between", "node", "23.4.0", grant.Set{Net: some("*")}, []string{"--experimental-permission"}, "--allow-net", ""},
		{"node: no experiment", "node", "23.5.0", grant.Set{Net: some("*")}, []string{"--permission"}, "--allow-net", ""},
		{"node: one that holds the network", "node", "25.0.0", grant.Set{Net: some("*")}, []string{"--permission", "--allow-net"}, "experimental", ""},
		{"node: all files", "node", "24.0.0", grant.Set{Net: some("*"), Read: some("*")}, []string{"--permission", "--allow-fs-read=*"}, "", ""},
		{"node: all but", "node", "24.0.0", grant.Set{Net: some("*"), Read: without("/etc")}, nil, "", "takes nothing away"},
		{"node: one program", "node", "24.0.0", grant.Set{Net: some("*"), Run: some("/bin/ls")}, nil, "", "any program or none"},
		{"node: programs", "node", "24.0.0", grant.Set{Net: some("*"), Run: some("*")}, []string{"--allow-child-process"}, "", ""},
		{"node: a star", "node", "24.0.0", grant.Set{Net: some("*"), Read: some("/a*")}, nil, "", "star"},
		{"node: less than everything by a deny", "node", "24.0.0", less, nil, "", "network"},
		{"bun: everything", "bun", "1.0.0", everything, []string{"--no-install"}, "", ""},
		{"bun: less", "bun", "1.0.0", grant.Set{Net: some("*")}, nil, "", "no permissions at all"},
		{"bun: less by a deny", "bun", "1.0.0", less, nil, "", "taken away"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			rt := &Runtime{Name: tt.runtime, Version: tt.version}
			args, err := rt.arguments(tt.set, dir, "/p/main.mjs", 7)
			if tt.refused != "" {
				if fault.KindOf(err) != fault.Usage || !strings.Contains(err.Error(), tt.refused) || !strings.Contains(err.Error(), tt.runtime) {
					t.Fatalf("arguments() = %q, %v, want it refused with %q", args, err, tt.refused)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			for _, w := range tt.want {
				if !slices.Contains(args, w) {
					t.Errorf("arguments() = %q, want %s", args, w)
				}
			}
			if tt.never != "" && strings.Contains(strings.Join(args, " "), tt.never) {
				t.Errorf("arguments() = %q, want no %s", args, tt.never)
			}
		})
	}
}

func TestALineIsNoLongerThanItsLimit(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		text  string
		limit int64
		want  error
	}{
		{"12345678\n", 9, nil},
		{"123456789\n", 9, errLong},
		{strings.Repeat("x", 9000) + "\n", 9001, nil},
		{strings.Repeat("x", 9000) + "\n", 9000, errLong},
		{strings.Repeat("x", 9000) + "\n", 0, nil},
		{"no end", 9, io.EOF},
	} {
		line, err := readLine(bufio.NewReader(strings.NewReader(tt.text)), tt.limit)
		if !errors.Is(err, tt.want) || err == nil && string(line) != tt.text {
			t.Errorf("%d bytes of at most %d: %d, %v, want %v", len(tt.text), tt.limit, len(line), err, tt.want)
		}
	}
}

func TestARuntimeThatIsNotThereSaysWhereItWasLookedFor(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	lookup := func(name string) (string, bool) {
		if name == "PATH" {
			return strings.Join([]string{dir, "relative"}, string(filepath.ListSeparator)), true
		}
		return "", false
	}
	_, err := Find(t.Context(), "bun", lookup, "/home/me")
	if fault.KindOf(err) != fault.Unavailable || !strings.Contains(err.Error(), dir) || !strings.Contains(err.Error(), filepath.Join("/home/me", ".bun", "bin")) || strings.Contains(err.Error(), "relative") {
		t.Errorf("Find() = %v", err)
	}
	if _, err = Find(t.Context(), filepath.Join(dir, "deno"), lookup, ""); fault.KindOf(err) != fault.Unavailable {
		t.Errorf("Find() by a path = %v", err)
	}
	if _, err = Find(t.Context(), "ruby", lookup, ""); fault.KindOf(err) != fault.Usage || !strings.Contains(err.Error(), "ruby") {
		t.Errorf("Find() of another = %v", err)
	}
	if err := os.WriteFile(filepath.Join(dir, "node"), []byte("not a program"), 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err = Find(t.Context(), "node", lookup, ""); fault.KindOf(err) != fault.Unavailable {
		t.Errorf("Find() of what does not start = %v", err)
	}
}

// installed are the runtimes of this machine: node, and those that make bench installs.
func installed(t *testing.T) (found []*Runtime) {
	t.Helper()
	var paths []string
	if path, err := exec.LookPath("node"); err == nil {
		paths = append(paths, path)
	}
	for _, pattern := range []string{"@deno/*/deno", "@oven/*/bin/bun"} {
		more, _ := filepath.Glob(filepath.Join("..", "..", "testdata", "bench", "node_modules", filepath.FromSlash(pattern)))
		paths = append(paths, more...)
	}
	for _, path := range paths {
		path, err := filepath.Abs(path)
		if err != nil {
			t.Fatal(err)
		}
		rt, err := Find(t.Context(), path, func(string) (string, bool) { return "", false }, "")
		if err != nil {
			t.Logf("left out: %v", err)
			continue
		}
		found = append(found, rt)
	}
	if len(found) == 0 {
		t.Skip("no other runtime is installed")
	}
	return found
}

// server is a broker whose tools answer with what they are given.
type server struct {
	mu   sync.Mutex
	told []string
}

func (s *server) Call(ctx context.Context, name, tool string, args json.RawMessage) (any, error) {
	switch tool {
	case "gone":
		return nil, fault.NotFoundf("there is no such tool").Hintf("look again").With("tool", tool)
	case "stall":
		<-ctx.Done()
		return nil, context.Cause(ctx)
	}
	type object = map[string]any
	return object{
		"result": object{"content": []any{}, "given": args}, "value": object{"server": name, "args": args},
		"text": "text", "isText": tool == "text", "isError": tool == "fails",
	}, nil
}

func (s *server) Ask(_ context.Context, op string, head json.RawMessage, body []byte) (any, error) {
	return map[string]any{"op": op, "head": head, "bytes": len(body)}, nil
}

func (s *server) Tell(op string, head json.RawMessage) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.told = append(s.told, op+" "+string(head))
}

type all struct{ w io.Writer }

func (a all) Write(p []byte) (int, error) { return a.w.Write(p) }

func everything() grant.Set {
	w := grant.Words{Allow: []string{grant.Any}}
	return grant.Set{Everything: true, Stdin: true, Read: w, Write: w, Net: w, Run: w}
}

func TestAScriptRunsOnAnotherRuntime(t *testing.T) {
	t.Parallel()
	for _, rt := range installed(t) {
		for _, tt := range []struct {
			name, body string
			starts     bool
			value      string
			stdout     string
			failed     string
			exit       int
		}{
			{name: "a value", body: `return { a: [1, "é𝒳"] }`, value: `{"a":[1,"é𝒳"]}`},
			{name: "nothing", body: `console.log("x")`, stdout: "x\n"},
			{name: "a call", body: `return await tools.one.echo({ b: 1, a: 2 })`, value: `{"args":{"b":1,"a":2},"server":"one"}`},
			{name: "a namespace as a global", body: `return (await two.echo()).server`, value: `"two"`},
			{name: "text", body: `return await one.text({})`, value: `"text"`},
			{name: "the whole result", body: `return (await one.echo.raw({ x: 1 })).given.x + (await one.echo({ y: 2 })).raw.given.y`, value: `3`},
			{name: "an error of a tool", body: `try { await one.fails({}) } catch (e) { return [e.name, e.server, e.tool, e.message] }`, value: `["ToolError","one","fails","text"]`},
			{name: "an error of mcpx", body: `await one.gone({})`, failed: "there is no such tool", exit: 2},
			{name: "many at once", body: `return (await Promise.all(Array.from({ length: 200 }, (_, i) => one.echo({ i })))).map((r) => r.args.i).reduce((a, b) => a + b)`, value: `19900`},
			{name: "something large", body: `return (await one.echo({ s: "x".repeat(3e6) })).args.s.length`, value: `3000000`},
			{name: "emit", body: `emit({ a: 1 }); emit("b"); progress(1, 2, "half")`},
			{name: "search and artifact", body: `return [(await search("w")).op, (await artifact("n", new Uint8Array(5))).bytes]`, value: `["search",5]`},
			{name: "input and arguments", body: `return [input(), process.argv.slice(1)]`, value: `["what it reads",["script.ts","a","--b"]]`},
			{name: "the default export", body: `mcpx$exports({ get default() { return async (a) => a + "!" } })`, value: `"a!"`},
			{name: "main", body: `return async function main(a, b) { return b }`, starts: true, value: `"--b"`},
			{name: "a module", body: `return mcpx$require("node:path").basename("/a/b")`, value: `"b"`},
			{name: "an exit code", body: `console.log("out"); process.exit(7)`, stdout: "out\n", exit: 7},
			{name: "an error", body: `throw new RangeError("out of it")`, failed: "RangeError: out of it", exit: 1},
			{name: "an error with a cause", body: `throw new Error("outer", { cause: new TypeError("inner") })`, failed: "inner", exit: 1},
			{name: "an error of a timer", body: `setTimeout(() => { throw new Error("later") }, 5)`, failed: "later", exit: 1},
			{name: "a rejection", body: `Promise.reject(new Error("nobody listens")); await new Promise((r) => setTimeout(r, 50))`, failed: "nobody listens", exit: 1},
			{name: "no Error", body: `throw "text"`, failed: "text", exit: 1},
			{name: "a wait for nothing", body: `await new Promise(() => {})`, failed: "never comes", exit: 1},
			{name: "what is left to do", body: `setTimeout(async () => { await one.echo({}); console.log("done") }, 20)`, stdout: "done\n"},
			{name: "a value that is too large", body: `return "x".repeat(17 << 20)`, failed: "more than 16777216 bytes at once", exit: 125},
			{name: "an argument that is too large", body: `try { await one.echo({ s: "x".repeat(17 << 20) }) } catch {}`, failed: "more than 16777216 bytes at once", exit: 125},
			{name: "what cannot be read", body: `JSON.stringify = () => "[[["; await one.echo({})`, failed: "cannot read", exit: 1},
			{name: "what cannot be read, beside a call", body: `one.stall({}).catch(() => {}); JSON.stringify = () => "[[["; await one.echo({})`, failed: "cannot read", exit: 1},
			{name: "what says nothing", body: `Object.prototype.toJSON = () => ({}); await one.echo({})`, failed: "cannot read", exit: 1},
			{name: "a call that a return leaves behind", body: `one.stall({}); return 1`, value: `1`},
		} {
			t.Run(rt.Name+"/"+tt.name, func(t *testing.T) {
				t.Parallel()
				var stdout, stderr bytes.Buffer
				s := &server{}
				ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
				defer cancel()
				out, err := rt.Run(ctx, Spec{
					Set: everything(), Dir: t.TempDir(), Environ: []string{}, Script: "script.ts", Args: []string{"a", "--b"},
					Code: "(async (mcpx$exports, mcpx$require) => {\"use strict\";\n" + tt.body + "\n})", Requires: []string{"node:path"}, Starts: tt.starts,
					Find: func(line, column int) *fault.Position {
						return &fault.Position{File: "script.ts", Line: line - 1, Column: column}
					},
					Namespaces: []string{"one", "two", "console"},
					Stdin:      strings.NewReader("what it reads"), Stdout: all{&stdout}, Stderr: all{&stderr}, Broker: s, InFlight: 16, MaxLine: 16 << 20,
				})
				if err != nil {
					t.Fatalf("Run() = %v\n%s", err, stderr.String())
				}
				if string(out.Value) != tt.value || out.ExitCode != tt.exit || stdout.String() != tt.stdout {
					t.Errorf("value %s exit %d stdout %q, want %s, %d, %q\n%s", out.Value, out.ExitCode, stdout.String(), tt.value, tt.exit, tt.stdout, stderr.String())
				}
				switch {
				case tt.failed == "" && out.Failed != nil:
					t.Errorf("failed: %s", out.Failed.Text())
				case tt.failed != "" && (out.Failed == nil || !strings.Contains(out.Failed.Text(), tt.failed)):
					t.Errorf("failed: %+v, want %q", out.Failed, tt.failed)
				}
				if tt.name == "an error" && (out.Failed == nil || out.Failed.At == nil || out.Failed.At.Line != 1) {
					t.Errorf("the error is at %+v, want line 1", out.Failed)
				}
				if want := []string{`emit {"a":1}`, `emit "b"`, `progress {"done":1,"total":2,"message":"half"}`}; tt.name == "emit" && !slices.Equal(s.told, want) {
					t.Errorf("told %q, want %q", s.told, want)
				}
			})
		}
	}
}

// A run ends when its caller wants it to, and leaves no process.
func TestARunOnAnotherRuntimeIsEnded(t *testing.T) {
	t.Parallel()
	why := errors.New("enough")
	for _, rt := range installed(t) {
		for _, body := range []string{`for (;;) ;`, `await one.stall({})`, `setInterval(() => {}, 1000)`, `process.on("SIGTERM", () => {}); setInterval(() => {}, 1000)`} {
			t.Run(rt.Name+"/"+body, func(t *testing.T) {
				t.Parallel()
				ctx, stop := context.WithCancelCause(t.Context())
				defer stop(nil)
				_, err := rt.Run(ctx, Spec{
					Set: everything(), Dir: t.TempDir(), Script: "s", Namespaces: []string{"one"},
					Code:   `(async (mcpx$exports, mcpx$require) => {"use strict"; console.log("begun"); ` + body + `})`,
					Stdout: begun(func() { stop(why) }), Stderr: io.Discard, Broker: &server{}, InFlight: 1, MaxLine: 1 << 20,
				})
				if !errors.Is(err, why) {
					t.Errorf("Run() = %v, want what ended it", err)
				}
			})
		}
	}
}

// begun is called at the first output.
type begun func()

func (b begun) Write(p []byte) (int, error) {
	b()
	return len(p), nil
}
