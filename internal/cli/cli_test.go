package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"mcpx/internal/api"
	"mcpx/internal/fault"
	"mcpx/internal/settings"
)

var update = flag.Bool("update", false, "write golden files")

// desk is a backend that remembers what it was asked and gives the answers that a test
// laid out for it.
type desk struct {
	api.Maker // nobody asks it
	house
	papers

	notices []string
	demo    bool
	broken  error                           // every question about servers is answered with it
	look    func(ctx context.Context) error // what Namespaces waits for; may be nil

	call func(ctx context.Context, in api.CallInput) (*api.CallOutput, error)
	run  func(ctx context.Context, in api.ExecInput, s api.Streams) (*api.ExecOutput, error)

	mu             sync.Mutex
	options        OpenOptions
	opened, closed int
	namespaces     api.NamespacesInput
	tools          api.ToolsInput
	types          api.TypesInput
	search         api.SearchInput
	overview       api.CatalogInput
	changes        api.ChangesInput
	script         api.ExecInput
	streams        api.Streams
	config         *api.ConfigOutput
	doctor         *api.DoctorOutput
	closing        string
	trusted        api.TrustInput
	served         ServeOptions
}

func (d *desk) open(_ context.Context, o OpenOptions) (Backend, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.options = o
	if d.absent && o.Daemon == RunningDaemon {
		return nil, fault.Unavailablef("%w", api.ErrNoDaemon)
	}
	d.opened++
	return d, nil
}

func (d *desk) Trust(_ context.Context, in api.TrustInput) (*api.TrustOutput, error) {
	d.trusted = in
	return &api.TrustOutput{Files: []string{"/p/.mcpx.json"}}, nil
}

func (d *desk) TrustServer(_ context.Context, in api.TrustServerInput) (*api.TrustServerOutput, error) {
	return &api.TrustServerOutput{Name: in.Name, File: "/h/.mcpx.json"}, nil
}

func (d *desk) Known(server string) []string {
	if server != "demo" {
		return nil
	}
	return []string{"echo", "fancy-name"}
}

func (d *desk) KnownInput(server, tool string) json.RawMessage {
	if server != "demo" || tool != "echo" {
		return nil
	}
	return json.RawMessage(`{"properties":{"message":{"type":"string"},"loud":{"type":"boolean"},"tone":{"enum":["high","very low","deep"]},"many":{"enum":[1,2]}}}`)
}

func (d *desk) Accept(_ context.Context, in api.AcceptInput) (*api.AcceptOutput, error) {
	return &api.AcceptOutput{Accepted: []string{in.Name}}, nil
}

func (d *desk) Notices() []string { return d.notices }

func (d *desk) Serve(_ context.Context, o ServeOptions, in io.Reader, out io.Writer, say func(string)) error {
	d.served = o
	say("serving")
	_, err := io.Copy(out, in)
	return err
}

func (d *desk) Close() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.closed++
	if d.closing != "" {
		return errors.New(d.closing)
	}
	return nil
}

func (d *desk) Namespaces(ctx context.Context, in api.NamespacesInput) (*api.NamespacesOutput, error) {
	d.namespaces = in
	if d.look != nil {
		return nil, d.look(ctx)
	}
	if in.Namespace == "git" {
		return &api.NamespacesOutput{Namespaces: []api.Namespace{
			{Name: "git", Tools: []api.ToolBrief{}, Error: fault.Unavailablef("git-mcp was not found in PATH (/usr/bin)").Hintf("install it")},
		}}, nil
	}
	return &api.NamespacesOutput{Demo: d.demo, Namespaces: []api.Namespace{
		{Name: "demo", Transport: "stdio", Tools: []api.ToolBrief{
			{Name: "wipe", Description: "Delete\neverything.\n\nReally."},
			{Name: "echo", Description: "Answer with the message, whole and unchanged, whatever it is and however long it may be. It does nothing else."},
			{Name: "bare"},
			{Name: "fancy-name", Alias: "fancy_name", Description: "Has a name that is no identifier."},
		}},
		{Name: "git", Transport: "stdio", Tools: []api.ToolBrief{}, Error: fault.Unavailablef("git-mcp was not found in PATH (/usr/bin)").Hintf("install it")},
		{Name: "old", Disabled: true, Tools: []api.ToolBrief{}},
		{Name: "quiet", Tools: []api.ToolBrief{}, Warnings: []string{"one tool has no name"}},
	}}, d.broken
}

func (d *desk) Tools(_ context.Context, in api.ToolsInput) (*api.ToolsOutput, error) {
	d.tools = in
	return &api.ToolsOutput{Tools: []api.Tool{
		{
			Namespace: "demo", Name: "echo", Description: "Answer with the message.\n\n  Twice if asked.",
			InputSchema: json.RawMessage(`{"type":"object","properties":{"message":{"type":"string","description":"what to say"},"times":{"type":["integer","null"]},"tags":{"type":"array","items":{"type":"string"}},"x":true},"required":["message"]}`),
			Annotations: json.RawMessage(`{"readOnlyHint":true,"idempotentHint":true}`),
		},
		{Namespace: "demo", Name: "fancy-name", Title: "Fancy", Aliases: []string{"fancy_name", "fancyName"}, InputSchema: json.RawMessage(`{"properties":[]}`), Annotations: json.RawMessage(`{"destructiveHint":true}`)},
	}}, d.broken
}

func (d *desk) Types(_ context.Context, in api.TypesInput) (*api.TypesOutput, error) {
	d.types = in
	return &api.TypesOutput{Declarations: "declare const tools: {};\n"}, d.broken
}

func (d *desk) Search(_ context.Context, in api.SearchInput) (*api.SearchOutput, error) {
	d.search = in
	out := &api.SearchOutput{Results: []api.SearchResult{}}
	if in.Words != "nothing" {
		out.Results = append(out.Results, api.SearchResult{Namespace: "demo", Name: "echo", Signature: "echo(args: { message: string }): Promise<string>", Description: "Answer with the message.", Score: 1})
	}
	return out, d.broken
}

func (d *desk) Catalog(_ context.Context, in api.CatalogInput) (*api.CatalogOutput, error) {
	d.overview = in
	return &api.CatalogOutput{
		Budget: 100, Tokens: 40, Tools: 2, Shown: 1,
		Namespaces: []api.CatalogNamespace{{Name: "demo", Tools: 2, Shown: []api.CatalogTool{{Name: "echo", Signature: "echo({ message: string })"}}}},
		Text:       "2 tools in 1 namespace.\n\ndemo: 1 of 2 tools\n  // Words of the server, more of them than a narrow terminal holds.\n  echo({ message: string; times?: number; loudly?: boolean })\n",
	}, d.broken
}

func (d *desk) Changes(_ context.Context, in api.ChangesInput) (*api.ChangesOutput, error) {
	d.changes = in
	when := time.Date(2026, 11, 30, 20, 10, 0, 0, time.UTC)
	return &api.ChangesOutput{Servers: []api.ServerChanges{
		{Namespace: "demo", Since: &when, Changes: []api.ToolChange{
			{When: when, Tool: "echo", Kind: "changed", Reworded: true, Arguments: []api.SchemaChange{
				{Kind: "added", Field: "mode", After: `"loud" | "quiet"`},
				{Kind: "required", Field: "message", Before: "string", After: "string"},
				{Kind: "required", Field: "lang", After: "string"},
				{Kind: "optional", Field: "a[].b", Before: "number", After: "number"},
				{Kind: "removed", Field: "times", Before: "number"},
				{Kind: "retyped", Field: "tags", Before: "string", After: "string[]"},
				{Kind: "reworded"},
			}, Result: []api.SchemaChange{{Kind: "added", After: "{ n: number }"}, {Kind: "removed", Field: "n", Before: "number"}}},
			{When: when, Tool: "wipe", Kind: "removed"},
		}},
		{Namespace: "quiet", Since: &when, Changes: []api.ToolChange{}},
		{Namespace: "unseen", Changes: []api.ToolChange{}},
	}}, d.broken
}

func (d *desk) Call(ctx context.Context, in api.CallInput) (*api.CallOutput, error) {
	return d.call(ctx, in)
}

func (d *desk) Config(context.Context, api.ConfigInput) (*api.ConfigOutput, error) {
	if d.config == nil {
		return &api.ConfigOutput{Servers: []api.ConfigServer{{Name: "a"}, {Name: "a.b"}, {Name: "a.b.c.d"}}}, nil
	}
	return d.config, nil
}

func (d *desk) Doctor(context.Context, api.DoctorInput) (*api.DoctorOutput, error) {
	return d.doctor, nil
}

func (d *desk) Run(ctx context.Context, in api.ExecInput, s api.Streams) (*api.ExecOutput, error) {
	d.script, d.streams = in, s
	if d.run == nil {
		return &api.ExecOutput{RunID: "r1"}, nil
	}
	return d.run(ctx, in, s)
}

func (d *desk) Exec(ctx context.Context, in api.ExecInput) (*api.ExecOutput, error) {
	return d.Run(ctx, in, api.Streams{Peer: in.Peer, Consent: in.Consent, Frames: in.Frames})
}

// session is one run of the program with its outcome.
type session struct {
	stdout, stderr bytes.Buffer
	code           int
}

// drive runs the program with a terminal that is none, in an empty directory.
func drive(t *testing.T, d *desk, args ...string) *session {
	t.Helper()
	return driveIn(t, d, Program{Dir: t.TempDir()}, args...)
}

func driveIn(t *testing.T, d *desk, p Program, args ...string) *session {
	t.Helper()
	s := &session{}
	p.Version, p.Args, p.Open = "1.2.3", args, d.open
	if p.Stdout == nil {
		p.Stdout = &s.stdout
	}
	p.Stderr = &s.stderr
	s.code = p.Run(t.Context())
	if d.opened != d.closed {
		t.Errorf("mcpx %q opened %d backends and closed %d", args, d.opened, d.closed)
	}
	return s
}

func (s *session) want(t *testing.T, code int, stdout, stderr string) {
	t.Helper()
	if s.code != code {
		t.Errorf("exit code %d, want %d", s.code, code)
	}
	if got := s.stdout.String(); got != stdout {
		t.Errorf("stdout:\n%s\nwant:\n%s", got, stdout)
	}
	if got := s.stderr.String(); got != stderr {
		t.Errorf("stderr:\n%s\nwant:\n%s", got, stderr)
	}
}

// golden compares text with a file that -update writes.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs; run the test with -update and read the difference. got:\n%s", path, got)
	}
}

func TestHelpOfEveryCommand(t *testing.T) {
	t.Parallel()
	app := (&invocation{}).app()
	if len(app.Commands) == 0 {
		t.Fatal("no commands")
	}
	golden(t, "help/mcpx.txt", drive(t, &desk{}, "help").stdout.String())
	for _, c := range app.Commands {
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			asked := drive(t, &desk{}, append([]string{"help"}, strings.Fields(c.Name)...)...)
			golden(t, "help/"+strings.ReplaceAll(c.Name, " ", "-")+".txt", asked.stdout.String())
			flagged := drive(t, &desk{}, append(strings.Fields(c.Name), "--help")...)
			if flagged.stdout.String() != asked.stdout.String() || flagged.code != 0 || asked.code != 0 {
				t.Errorf("mcpx %s --help and mcpx help %s differ", c.Name, c.Name)
			}
			if len(c.Category) == 0 || !strings.Contains(strings.Join(groups, "\n"), c.Category) {
				t.Errorf("command %s stands in no group of the help", c.Name)
			}
			for line := range strings.SplitSeq(asked.stdout.String(), "\n") {
				if cells(line) > 110 {
					t.Errorf("help of %s has a line of %d columns: %s", c.Name, cells(line), line)
				}
			}
		})
	}
}

func TestHelpIsAnAnswer(t *testing.T) {
	t.Parallel()
	bare := drive(t, &desk{})
	for _, args := range [][]string{{"help"}, {"--help"}, {"-h"}, {"--no-color"}} {
		drive(t, &desk{}, args...).want(t, 0, bare.stdout.String(), "")
	}
	if !strings.Contains(bare.stdout.String(), "Exit codes:") {
		t.Error("the help does not tell the exit codes")
	}
	var doc struct {
		Commands  []struct{ Name string }
		Flags     []struct{ Name string }
		ExitCodes []struct{ Code int }
	}
	s := drive(t, &desk{}, "--json")
	if err := json.Unmarshal(s.stdout.Bytes(), &doc); err != nil || len(doc.Commands) < 10 || len(doc.Flags) != 7 || len(doc.ExitCodes) == 0 {
		t.Errorf("help --json: %v %+v", err, doc)
	}
	var command struct {
		Examples []string
		Flags    []struct{ Name, Env, Setting, Default string }
	}
	s = drive(t, &desk{}, "exec", "--help", "--json")
	if err := json.Unmarshal(s.stdout.Bytes(), &command); err != nil || len(command.Examples) == 0 {
		t.Fatalf("exec --help --json: %v %s", err, s.stdout.String())
	}
	if f := command.Flags[0]; f.Name != "--timeout" || f.Env != "MCPX_EXEC_TIMEOUT" || f.Setting != "exec.timeout" || f.Default != "10m" {
		t.Errorf("the first flag of exec is %+v", f)
	}
}

func TestVersion(t *testing.T) {
	t.Parallel()
	drive(t, &desk{}, "version").want(t, 0, "mcpx 1.2.3\n", "")
	drive(t, &desk{}, "--version").want(t, 0, "mcpx 1.2.3\n", "")
	drive(t, &desk{}, "ls", "--version", "--json").want(t, 0, `{"version":"1.2.3"}`+"\n", "")
}

func TestUsageErrors(t *testing.T) {
	t.Parallel()
	const list = `"mcpx help" lists the commands`
	tests := []struct {
		name, args, message, hint string
	}{
		{"a word that is nearly a command", "lss", `unknown command "lss"`, `did you mean "mcpx ls"? ` + list},
		{"the beginning of a command", "doct", `unknown command "doct"`, `did you mean "mcpx doctor"? ` + list},
		{"the first of two words, nearly", "server add x", `unknown command "server"`, `did you mean "mcpx servers add"? ` + list},
		{"the second of two words", "login", `unknown command "login"`, `did you mean "mcpx auth login"? ` + list},
		{"the second of two words of several commands", "get", `unknown command "get"`, `did you mean "mcpx artifact get" or "mcpx prompts get" or "mcpx settings get" or "mcpx task get"? ` + list},
		{"the word for ls elsewhere", "list", `unknown command "list"`, `did you mean "mcpx ls" or "mcpx artifact list" or "mcpx servers list" or "mcpx session list" or "mcpx settings list" or "mcpx task list"? ` + list},
		{"a script as the value of --typecheck", "run --typecheck report.ts", `--typecheck: "report.ts" is not one of its values`, `write on, strict or off`},
		{"a folder behind a grant", "run --allow-read lib report.ts", `"lib" is a directory, and no script`, `paths stand behind =: --allow-read=lib`},
		{"a folder behind a grant, and no command", "--deny-read lib report.ts", `"lib" is a directory, and no script`, `paths stand behind =: --deny-read=lib`},
		{"a server that is a flag", "servers add y -- --url http://x", `servers add: --url is a flag, and no program`, `--url stands before --, and the program behind it`},
		{"a word that is nothing", "frobnicate", `unknown command "frobnicate"`, list},
		{"help of nothing", "help serch", `unknown command "serch"`, `did you mean "mcpx help search"? ` + list},
		{"a flag that is nearly one", "ls --jsn", `unknown flag --jsn of mcpx ls`, `did you mean --json? "mcpx help ls" lists the flags`},
		{"a flag with one dash", "ls -json", `unknown flag -json of mcpx ls`, `did you mean --json? "mcpx help ls" lists the flags`},
		{"a flag of another command", "ls --limit 3", `unknown flag --limit of mcpx ls`, `"mcpx help ls" lists the flags`},
		{"a flag before another command", "--limit 3 ls", `unknown flag --limit of mcpx ls`, `"mcpx help ls" lists the flags`},
		{"a flag without a command", "--limit 3", `--limit needs a command`, list},
		{"an unknown flag without a command", "--jsn", `unknown flag --jsn`, `did you mean --json? "mcpx help" lists the flags`},
		{"a flag of the script", "exec --xx 1+1", `unknown flag --xx of mcpx exec`, `"mcpx help exec" lists the flags; what is meant for the script stands behind "--"`},
		{"a flag before the file", "run --xx f.ts", `unknown flag --xx of mcpx run`, `"mcpx help run" lists the flags; what is meant for the script stands behind FILE`},
		{"no value at the end", "ls --config", `--config needs a value: FILE`, `write --config FILE`},
		{"no value before a flag", "ls --config --no-color", `--config needs a value: FILE`, `write --config FILE`},
		{"an empty value", "ls --config=", `--config needs a value: FILE`, `write --config FILE`},
		{"a value for a switch", "ls --json=yes", `--json takes no value`, `write --json alone`},
		{"a limit that is no number", "search --limit many x", `the flag --limit: "many" is not a whole number of at least 1`, `write a number such as --limit 5`},
		{"a limit of zero", "search --limit 0 x", `the flag --limit: "0" is not a whole number of at least 1`, `write a number such as --limit 5`},
		{"a limit of none", "search --limit -1 x", `the flag --limit: "-1" is not a whole number of at least 1`, `write a number such as --limit 5`},
		{"a setting without a unit", "exec --timeout 5 1", `the flag --timeout: "5" is a duration without a unit`, `write a number with its unit, such as 500ms, 60s, 10m or 2h`},
		{"a setting spelled twice", "exec --timeout 5s --exec-timeout 6s 1", `--timeout and --exec-timeout are the same setting`, `give one of them`},
		{"a command that is called otherwise elsewhere", "describe demo.echo", `unknown command "describe"`, `did you mean "mcpx types demo.echo"? "mcpx help" lists the commands`},
		{"a tool whose name is two words", "call demo echo message=hi", `call needs NS.TOOL, and "demo" is not of that form`, `did you mean "mcpx call demo.echo message=hi"?`},
		{"an argument that is written as a flag", "call demo.echo --message hi", `unknown flag --message of mcpx call`, `"mcpx help call" lists the flags; an argument of demo.echo is written message=…`},
		{"the flag of another command", "call demo.echo --timeout 2s", `unknown flag --timeout of mcpx call`, `did you mean --pool-call-timeout or --pool-idle-timeout or --pool-start-timeout? "mcpx help call" lists the flags; an argument of demo.echo is written timeout=…`},
		{"one letter", "servers add x -e A=b", `unknown flag -e of mcpx servers add`, `did you mean --env? "mcpx help servers add" lists the flags; what is meant for the program stands behind "--", as it does`},
		{"what is granted stands apart", "exec --allow-tools demo:read 1+(1)", `"demo:read" is no script`, `what --allow-tools allows stands behind =: --allow-tools=demo:read`},
		{"what is granted stands apart before a file", "run --allow-net example.com x.ts", `"example.com" is no script`, `what --allow-net allows stands behind =: --allow-net=example.com`},
		{"an argument too many", "types a b", `types: unexpected argument "b"`, `usage: mcpx types [flags] [NS|NS.TOOL]`},
		{"an argument too few", "search", `search needs WORDS…`, `usage: mcpx search [flags] WORDS…`},
		{"exec of nothing", "exec", `exec needs CODE|- [args…]`, `usage: mcpx exec [flags] CODE|- [args…]`},
		{"call of nothing", "call", `call needs NS.TOOL [JSON | key=value… | -]`, `usage: mcpx call [flags] NS.TOOL [JSON | key=value… | -]`},
		{"call of a namespace", "call demo", `call needs NS.TOOL, and "demo" is not of that form`, `"mcpx ls" lists the namespaces and their tools`},
		{"call of a namespace and a dot", "call demo.", `call needs NS.TOOL, and "demo." is not of that form`, `"mcpx ls" lists the namespaces and their tools`},
		{"call of a dot and a tool", "call .echo", `call needs NS.TOOL, and ".echo" is not of that form`, `"mcpx ls" lists the namespaces and their tools`},
		{"types of a namespace and a dot", "types demo.", `types needs NS or NS.TOOL, and "demo." is not of that form`, `"mcpx ls" lists the namespaces and their tools`},
		{"types of a dot and a tool", "types .echo", `types needs NS or NS.TOOL, and ".echo" is not of that form`, `"mcpx ls" lists the namespaces and their tools`},
		{"types of a tool and a dot", "types demo.echo.", `types needs NS or NS.TOOL, and "demo.echo." is not of that form`, `"mcpx ls" lists the namespaces and their tools`},
		{"run of an empty name", "run ''", `run: the name is empty`, `usage: mcpx run [flags] FILE|- [args…]`},
		{"types of an empty name", "types ''", `types: the name is empty`, `usage: mcpx types [flags] [NS|NS.TOOL]`},
		{"tools of an empty name", "tools ''", `tools: the name is empty`, `usage: mcpx tools [flags] [NS|NS.TOOL]`},
		{"call of an empty name", "call ''", `call needs NS.TOOL, and "" is not of that form`, `"mcpx ls" lists the namespaces and their tools`},
		{"search of empty words", "search '' ''", `search: the words are empty`, `usage: mcpx search [flags] WORDS…`},
		{"a folder by its path", "./lib", `script "./lib" is a directory`, `name the file in it that is to run`},
		{"no JSON behind :=", "call demo.echo n:=", `n: there is no JSON behind :=`, `n= passes an empty string, n:=null passes null`},
		{"a word for arguments", "call demo.echo hello", `argument "hello" is neither JSON nor key=value`, `write message=hi, count:=3, or one object such as '{"message":"hi"}'`},
		{"a list for arguments", "call demo.echo [1]", `arguments are a JSON object, not a list`, `write an object such as '{"message":"hi"}', or key=value pairs`},
		{"null for arguments", "call demo.echo null", `arguments are a JSON object, not null`, `write an object such as '{"message":"hi"}', or key=value pairs`},
		{"a key twice", "call demo.echo a=1 a=2", `argument "a" is given twice`, `a list is written a:='["a","b"]'`},
		{"no key", "call demo.echo =1", `argument "=1" has no key before its =`, `write the parameter's name there; mcpx types NS.TOOL lists the parameters`},
		{"an object and more", "call demo.echo {} a=1", `unexpected argument "a=1" after the JSON object`, `give one JSON object, or key=value pairs; quote the object for the shell`},
		{"a script that is not there", "nowhere.ts", `script "nowhere.ts": no such file`, `it was looked for in DIR`},
		{"a script beside one", "run reprot.ts", `script "reprot.ts": no such file`, `did you mean report.ts?`},
		{"a folder that is not there", "run no/such/x.ts", `script "no/such/x.ts": no such file`, `there is no directory no/such`},
		{"a folder", "run lib", `script "lib" is a directory`, `name the file in it that is to run`},
		{"an empty script", "run empty.ts", `empty.ts: there is nothing to run`, `the script is empty`},
		{"a script that is no text", "run latin.ts", `latin.ts: the script is not UTF-8 text`, `save it as UTF-8`},
		{"a file for exec", "exec report.ts", `exec takes code, and "report.ts" is a file`, `"mcpx run report.ts" runs it`},
		{"code for run", "run f(1)", `script "f(1)": no such file`, `"mcpx exec CODE" runs text`},
	}
	dir := t.TempDir()
	for name, text := range map[string]string{"report.ts": "return 1", "empty.ts": "\n", "latin.ts": "'\xe9'"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, "lib"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			hint := strings.ReplaceAll(tt.hint, "DIR", dir)
			if hint == "" {
				t.Error("no next step")
			}
			args := strings.Fields(tt.args)
			for i, a := range args {
				args[i] = strings.ReplaceAll(a, "''", "")
			}
			driveIn(t, &desk{}, Program{Dir: dir}, args...).want(t, 2, "", "mcpx: "+tt.message+"\n  "+hint+"\n")

			s := driveIn(t, &desk{}, Program{Dir: dir}, append([]string{"--json"}, args...)...)
			var doc struct{ Error *fault.Error }
			if err := json.Unmarshal(s.stdout.Bytes(), &doc); err != nil || doc.Error == nil || s.code != 2 || doc.Error.Message != tt.message {
				t.Errorf("with --json: exit %d, %v, stdout %s", s.code, err, s.stdout.String())
			}
		})
	}
}

func TestArgumentsThatAreNotJSONNameThePlace(t *testing.T) {
	t.Parallel()
	s := drive(t, &desk{}, "call", "demo.echo", "{\n  \"message\": hi\n}")
	s.want(t, 2, "", `mcpx: arguments: not JSON: a value is text in double quotes, a number, true, false, null, an object or a list
  at arguments:2:14
    "message": hi
               ^
  quote JSON for the shell: '{"key": "value"}'
`)
	s = drive(t, &desk{}, "call", "demo.echo", `{"message": "hi"`, "--json")
	if want := `"at":{"file":"arguments","line":1,"column":17,"text":"{\"message\": \"hi\""}`; !strings.Contains(s.stdout.String(), want) {
		t.Errorf("stdout %s does not hold %s", s.stdout.String(), want)
	}
	for _, blank := range []string{"", " \n\t", "\uFEFF\n"} {
		s = driveIn(t, &desk{}, Program{Dir: t.TempDir(), Stdin: strings.NewReader(blank)}, "call", "demo.echo", "-")
		s.want(t, 2, "", "mcpx: standard input held no JSON\n  - reads the arguments from there: one JSON object, such as {\"message\": \"hi\"}\n")
	}
	s = driveIn(t, &desk{}, Program{Dir: t.TempDir(), Stdin: strings.NewReader("{bad")}, "call", "demo.echo", "-")
	s.want(t, 2, "", "mcpx: stdin: not JSON: keys stand in double quotes\n  at stdin:1:2\n    {bad\n     ^\n  arguments are one JSON object, such as {\"message\": \"hi\"}\n")
	s = drive(t, &desk{}, "call", "demo.echo", "n:=three")
	if got := s.stderr.String(); !strings.HasPrefix(got, "mcpx: n: not JSON: a value is text in double quotes, ") || !strings.HasSuffix(got, "\n  n:= takes JSON; n=three passes text\n") {
		t.Error(got)
	}
}

func TestWhatIsNotJSONIsExplained(t *testing.T) {
	t.Parallel()
	const (
		value   = "a value is text in double quotes, a number, true, false, null, an object or a list"
		comma   = "there is a comma too many"
		missing = "a value is missing"
		number  = "a number is not complete"
		slash   = `a backslash in text is written \\, and only \", \/, \b, \f, \n, \r, \t and \u0000 mean something else`
		control = `line breaks and other control characters in text are written \n, \t or \u001b`
	)
	for text, want := range map[string]string{
		`{bad`:             "keys stand in double quotes",
		`{'a':1}`:          "keys stand in double quotes",
		`{1:1}`:            "keys stand in double quotes",
		`{"a":'b'}`:        value,
		`{"a":True}`:       value,
		`{"a":trve}`:       value,
		`{"a":undefined`:   value,
		`{"a":1,}`:         comma,
		`{"a":[1,2,]}`:     comma,
		`{"a":}`:           missing,
		`{"a":,"b":1}`:     missing,
		`{"a" 1}`:          "a colon stands between key and value",
		`{"a"=1}`:          "a colon stands between key and value",
		`{"a":1 "b":2}`:    "behind a value stands a comma or }",
		`{"a":[1 2]}`:      "behind a value stands a comma or ]",
		`{"a":1} {}`:       "something stands behind the end of the value",
		`{"a":1}}`:         "something stands behind the end of the value",
		`{"a":"\x"}`:       slash,
		`{"a":"C:\dir"}`:   slash,
		`{"a":"\u12x4"}`:   slash,
		"{\"a\":\"b\nc\"}": control,
		`{"a":1.}`:         number,
		`{"a":-}`:          number,
		`{"a":1e}`:         number,
		`{"a":"b`:          "the text ends too early",
		`{`:                "the text ends too early",
	} {
		err := valid("x", []byte(text))
		if err == nil {
			t.Errorf("%s is JSON", text)
		} else if got := strings.TrimPrefix(err.Message, "x: not JSON: "); got != want {
			t.Errorf("%s: %s, want: %s", text, got, want)
		}
	}
}

func TestErrorsByKind(t *testing.T) {
	t.Parallel()
	for _, kind := range fault.Kinds() {
		d := &desk{broken: fault.New(kind, "it went\nwrong").Hintf("try again").With("server", "x")}
		drive(t, d, "tools").want(t, kind.ExitCode(), "", "mcpx: it went\n  wrong\n  try again\n")
		drive(t, d, "tools", "--json").want(t, kind.ExitCode(),
			`{"error":{"kind":"`+string(kind)+`","message":"it went\nwrong","hint":"try again","details":{"server":"x"}}}`+"\n",
			"mcpx: it went\n  wrong\n  try again\n")
	}
	drive(t, &desk{closing: "a server would not end"}, "tools", "demo").want(t, 70, drive(t, &desk{}, "tools", "demo").stdout.String(), "mcpx: a server would not end\n")
}

func TestFlagsStandAnywhere(t *testing.T) {
	t.Parallel()
	want := drive(t, &desk{}, "--json", "search", "--limit", "3", "--ns=demo", "open", "issues")
	if want.code != 0 || !json.Valid(want.stdout.Bytes()) {
		t.Fatalf("exit %d, stdout %s", want.code, want.stdout.String())
	}
	for _, args := range [][]string{
		{"search", "open", "--json", "issues", "--ns", "demo", "--limit=3"},
		{"--limit", "3", "--ns", "demo", "search", "open", "issues", "--json"},
		{"search", "--json", "--limit", "9", "--limit", "3", "--ns", "demo", "--", "open", "issues"},
	} {
		d := &desk{}
		drive(t, d, args...).want(t, 0, want.stdout.String(), "")
		if d.search != (api.SearchInput{Words: "open issues", Namespace: "demo", Limit: 3}) {
			t.Errorf("mcpx %q asked %+v", args, d.search)
		}
	}
}

func TestWhatTheBackendIsOpenedWith(t *testing.T) {
	t.Parallel()
	d := &desk{notices: []string{"the entry x is not used"}}
	s := drive(t, d, "exec", "1", "--config", "other.json", "--timeout", "5s", "--pool-start-timeout=1m")
	s.want(t, 0, "", "mcpx: the entry x is not used\n")
	if d.options.Config != "other.json" {
		t.Errorf("Config = %q", d.options.Config)
	}
	if got := settings.ExecTimeout.Get(d.options.Settings); got != 5*time.Second {
		t.Errorf("exec.timeout = %s", got)
	}
	if got := settings.PoolStartTimeout.Get(d.options.Settings); got != time.Minute {
		t.Errorf("pool.startTimeout = %s", got)
	}
	for _, args := range []string{"help", "version", "--nonsense", "call x"} {
		d := &desk{}
		if drive(t, d, strings.Fields(args)...); d.opened != 0 {
			t.Errorf("mcpx %s opened the backend", args)
		}
	}
	p := Program{Args: []string{"ls"}, Stdout: io.Discard, Stderr: &s.stderr, Open: func(context.Context, OpenOptions) (Backend, error) {
		return nil, fault.Usagef("x.json:1:2: broken")
	}}
	s.stderr.Reset()
	if code := p.Run(t.Context()); code != 2 || s.stderr.String() != "mcpx: x.json:1:2: broken\n" {
		t.Errorf("exit %d, stderr %s", code, s.stderr.String())
	}
}

// What is configured tells what a word was meant to be that is no command. It is read in this
// process, and an error of it is not the one to tell.
func TestAWordThatIsNoCommand(t *testing.T) {
	t.Parallel()
	const list = `"mcpx help" lists the commands`
	tests := []struct{ args, hint string }{
		{"demo", `it is a server: "mcpx tools demo" shows its tools, "mcpx call demo.TOOL" calls one`},
		{"Demo x=1", `it is a server: "mcpx tools demo" shows its tools, "mcpx call demo.TOOL" calls one`},
		{"deno", `did you mean "mcpx tools demo"? ` + list},
		{"demo.echo x=1", `did you mean "mcpx call demo.echo x=1"? ` + list},
		{"dem.echo", `it is neither a file nor a tool: did you mean demo, which is a server? "mcpx ls" lists the servers and their tools`},
		{"nothing.like", `it is neither a file nor a tool: "mcpx ls" lists the servers and their tools`},
		{"lss", `did you mean "mcpx ls"? ` + list},
	}
	for _, tt := range tests {
		d := &desk{}
		name, _, _ := strings.Cut(tt.args, " ")
		drive(t, d, strings.Fields(tt.args)...).want(t, 2, "", "mcpx: unknown command \""+name+"\"\n  "+tt.hint+"\n")
		if d.options.Daemon != OwnProcess {
			t.Errorf("%s: a daemon was asked", tt.args)
		}
	}
	var stderr bytes.Buffer
	p := Program{Args: []string{"demo"}, Stdout: io.Discard, Stderr: &stderr, Open: func(context.Context, OpenOptions) (Backend, error) {
		return nil, fault.Usagef("x.json:1:2: broken")
	}}
	if code := p.Run(t.Context()); code != 2 || stderr.String() != "mcpx: unknown command \"demo\"\n  "+list+"\n" {
		t.Errorf("exit %d, stderr %s", code, stderr.String())
	}
}

func TestInterruptEndsACommand(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"call", "demo.slow"}, {"ls", "--refresh"}, {"exec", "await tools.demo.slow()"}, {"exec", "-"}, {"call", "demo.echo", "-"}} {
		for _, document := range []bool{false, true} {
			ctx, cancel := context.WithCancelCause(t.Context())
			waiting := make(chan struct{})
			stdin := blocked{reached: sync.OnceFunc(func() { close(waiting) }), forever: make(chan struct{})}
			hang := func(ctx context.Context) error {
				close(waiting)
				<-ctx.Done()
				return context.Cause(ctx)
			}
			d := &desk{
				call: func(ctx context.Context, _ api.CallInput) (*api.CallOutput, error) { return nil, hang(ctx) },
				look: hang,
				run: func(ctx context.Context, _ api.ExecInput, _ api.Streams) (*api.ExecOutput, error) {
					return nil, hang(ctx)
				},
			}
			go func() {
				<-waiting
				cancel(errors.New("interrupt"))
			}()
			want := ""
			if document {
				args, want = append(slices.Clone(args), "--json"), `{"error":{"message":"interrupted"}}`+"\n"
			}
			var stdout, stderr bytes.Buffer
			p := &Program{Args: args, Stdin: stdin, Stdout: &stdout, Stderr: &stderr, Open: d.open}
			if code := p.Run(ctx); code != 130 || stdout.String() != want || stderr.String() != "mcpx: interrupted\n" {
				t.Errorf("mcpx %q: exit %d, stdout %q, stderr %q", args, code, stdout.String(), stderr.String())
			}
			if d.opened != d.closed {
				t.Errorf("mcpx %q left its backend open", args)
			}
			close(stdin.forever)
		}
	}
}

// blocked is a standard input on which nothing comes.
type blocked struct {
	reached func()
	forever chan struct{}
}

func (b blocked) Read([]byte) (int, error) {
	b.reached()
	<-b.forever
	return 0, io.EOF
}

func TestAnInterruptedRunEndsWith130(t *testing.T) {
	t.Parallel()
	report := &fault.Report{Kind: fault.Internal, Name: "InternalError", Message: "interrupted"}
	for _, tt := range []struct {
		out  api.ExecOutput
		json string
	}{
		{api.ExecOutput{RunID: "r", ExitCode: 70, Error: report}, `{"runId":"r","exitCode":130,"durationMs":0,"error":{"kind":"internal","name":"InternalError","message":"interrupted"}}`},
		{api.ExecOutput{RunID: "r", ExitCode: 130, Stdout: "1\n"}, `{"runId":"r","exitCode":130,"durationMs":0,"stdout":"1\n","error":{"message":"interrupted"}}`},
	} {
		for _, args := range [][]string{{"exec", "1"}, {"exec", "1", "--json"}} {
			ctx, cancel := context.WithCancel(t.Context())
			d := &desk{run: func(context.Context, api.ExecInput, api.Streams) (*api.ExecOutput, error) {
				cancel()
				out := tt.out
				return &out, nil
			}}
			want := ""
			if len(args) == 3 {
				want = tt.json + "\n"
			}
			var stdout, stderr bytes.Buffer
			p := &Program{Args: args, Stdout: &stdout, Stderr: &stderr, Open: d.open}
			if code := p.Run(ctx); code != 130 || stdout.String() != want || stderr.String() != "mcpx: interrupted\n" {
				t.Errorf("exit %d, stdout %s, stderr %q", code, stdout.String(), stderr.String())
			}
		}
	}
}

// closedPipe is a standard output whose reader has left.
type closedPipe struct{ err error }

func (c closedPipe) Write([]byte) (int, error) {
	return 0, &os.PathError{Op: "write", Path: "|1", Err: c.err}
}

func TestAClosedStandardOutputEndsQuietly(t *testing.T) {
	t.Parallel()
	d := &desk{run: func(ctx context.Context, _ api.ExecInput, s api.Streams) (*api.ExecOutput, error) {
		if _, err := s.Stdout.Write([]byte("y\n")); !errors.Is(err, syscall.EPIPE) {
			t.Errorf("the run is not told: %v", err)
		}
		<-ctx.Done() // the run is ended as well
		return &api.ExecOutput{ExitCode: 1, Error: &fault.Report{Kind: fault.Script, Message: "cancelled"}}, nil
	}}
	for _, args := range [][]string{{"tools"}, {"tools", "--json"}, {"help"}, {"exec", "for(;;) console.log('y')"}} {
		driveIn(t, d, Program{Stdout: closedPipe{syscall.EPIPE}}, args...).want(t, 141, "", "")
	}
}

func TestAFullStandardOutputIsSaid(t *testing.T) {
	t.Parallel()
	d := &desk{run: func(_ context.Context, _ api.ExecInput, s api.Streams) (*api.ExecOutput, error) {
		if s.Stdout != nil {
			s.Stdout.Write([]byte("y\n"))
		}
		return &api.ExecOutput{Value: json.RawMessage("1")}, nil
	}}
	for _, args := range [][]string{{"tools"}, {"tools", "--json"}, {"help"}, {"exec", "return 1"}, {"exec", "return 1", "--json"}} {
		driveIn(t, d, Program{Stdout: closedPipe{syscall.ENOSPC}}, args...).want(t, 1, "",
			"mcpx: standard output could not be written: no space left on device\n  what it leads to is full or broken: send the answer elsewhere\n")
	}
}

func TestAClosedStandardErrorChangesNothing(t *testing.T) {
	t.Parallel()
	var stdout bytes.Buffer
	d := &desk{notices: []string{"something"}}
	p := &Program{Args: []string{"version"}, Version: "1", Stdout: &stdout, Stderr: closedPipe{syscall.EPIPE}, Open: d.open}
	if code := p.Run(t.Context()); code != 0 || stdout.String() != "mcpx 1\n" {
		t.Errorf("exit %d, stdout %q", code, stdout.String())
	}
	p.Args = []string{"types"}
	if code := p.Run(t.Context()); code != 0 {
		t.Errorf("exit %d", code)
	}
}
