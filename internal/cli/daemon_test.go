package cli

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"mcpx/internal/api"
	"mcpx/internal/fault"
)

// house is the part of a desk that stands for the process with the servers.
type house struct {
	absent   bool // no daemon runs
	batch    api.BatchInput
	added    api.ServersAddInput
	removed  api.ServersRemoveInput
	asked    string // the last question, with its name
	restarts int
	set      api.SettingsSetInput
	unset    api.SettingsUnsetInput
	put      api.ArtifactPutInput
}

func (d *desk) Batch(ctx context.Context, in api.BatchInput) (*api.BatchOutput, error) {
	d.batch = in
	return api.RunBatch(ctx, d, in)
}

func (d *desk) Health(context.Context, api.HealthInput) (*api.HealthOutput, error) {
	return &api.HealthOutput{Version: "1.2.3", Daemon: true, Pid: 7}, nil
}

var noon = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

func (d *desk) Status(context.Context, api.StatusInput) (*api.StatusOutput, error) {
	return &api.StatusOutput{
		HealthOutput: api.HealthOutput{Version: "1.2.3", Daemon: true, Pid: 7, Started: noon},
		Endpoint:     "unix:/run/mcpx.sock",
		Files:        []api.ConfigFile{{Path: "/w/.mcpx.json", State: "absent"}, {Path: "/w/.mcp.json", State: "read"}},
		Problem:      fault.Usagef("/w/.mcp.json:3:1: not JSON").Hintf("mend it"),
		Instances: []api.Instance{
			{Server: "demo", Key: "repo:/w/.git", Pid: 41, State: "running", Calls: 3, IdleMillis: 61_000, Holders: []string{"session:review"}},
			{Server: "demo", State: "starting", InFlight: 1, Noise: 2, Note: "no repository: the directory stands in"},
		},
		Warnings: []string{"something is odd"},
	}, nil
}

func (d *desk) Refresh(_ context.Context, in api.RefreshInput) (*api.RefreshOutput, error) {
	d.asked = "refresh " + in.Server
	return &api.RefreshOutput{Servers: []api.RefreshedServer{{Name: "demo", Tools: 1}, {Name: "git", Error: fault.Unavailablef("it is not there").Hintf("install it")}}}, d.broken
}

func (d *desk) SessionList(context.Context, api.SessionListInput) (*api.SessionListOutput, error) {
	return &api.SessionListOutput{Sessions: []api.Session{{Name: "review", Lasting: true, Servers: []string{"demo"}, Calls: 1, Used: noon}}}, nil
}

func (d *desk) SessionRelease(_ context.Context, in api.SessionReleaseInput) (*api.SessionReleaseOutput, error) {
	return &api.SessionReleaseOutput{Name: in.Name, Ended: 1}, nil
}

func (d *desk) SessionRestart(_ context.Context, in api.SessionRestartInput) (*api.SessionRestartOutput, error) {
	return &api.SessionRestartOutput{Name: in.Name, Ended: 2}, nil
}

func (d *desk) Restart(context.Context, api.RestartInput) (*api.RestartOutput, error) {
	d.restarts++
	return &api.RestartOutput{Pid: 7}, nil
}

func (d *desk) Shutdown(context.Context, api.ShutdownInput) (*api.ShutdownOutput, error) {
	return &api.ShutdownOutput{Pid: 7}, nil
}

func (d *desk) Events(_ context.Context, in api.EventsInput, deliver func(api.Event) error) error {
	if err := deliver(api.Event{ID: "a-1", Kind: "server.started", Time: noon}); err != nil {
		return err
	}
	return fault.Unavailablef("the daemon ended behind %q", in.After)
}

func (d *desk) ServersList(context.Context, api.ServersListInput) (*api.ServersListOutput, error) {
	return &api.ServersListOutput{Servers: []api.ConfigServer{{Name: "demo", Command: []string{"demo", "--x"}, Origin: "/w/.mcp.json:3"}}}, nil
}

func (d *desk) ServersAdd(_ context.Context, in api.ServersAddInput) (*api.ServersAddOutput, error) {
	d.added = in
	out := &api.ServersAddOutput{Name: in.Name, File: "/w/.mcpx.json", HiddenBy: "/w/a:1", Replaced: in.Replace}
	if in.Name == "fresh" {
		out.HiddenBy = ""
	}
	return out, nil
}

func (d *desk) ServersRemove(_ context.Context, in api.ServersRemoveInput) (*api.ServersRemoveOutput, error) {
	d.removed = in
	return &api.ServersRemoveOutput{Name: in.Name, File: "/w/.mcpx.json", Now: "/home/a:1"}, nil
}

func TestStatus(t *testing.T) {
	t.Parallel()
	const problem = "  the files as they are now are not in force: /w/.mcp.json:3:1: not JSON\n    mend it\n"
	s := drive(t, &desk{}, "status")
	golden(t, "status.txt", s.stdout.String())
	if !strings.Contains(s.stdout.String(), problem) {
		t.Errorf("status:\n%s\nlacks\n%s", s.stdout.String(), problem)
	}
	drive(t, &desk{}, "daemon", "status").want(t, 0, s.stdout.String(), "")
	absent := &desk{house: house{absent: true}}
	drive(t, absent, "status").want(t, 0, "no daemon is running\n", "")
	if absent.options.Daemon != RunningDaemon {
		t.Error("status would start a daemon")
	}
	if s := drive(t, absent, "status", "--json"); !strings.Contains(s.stdout.String(), `"daemon":false`) {
		t.Errorf("status --json = %s", s.stdout.String())
	}
}

func TestInstancesAreListedWhereTheyAreAskedFor(t *testing.T) {
	t.Parallel()
	const instance = "running, key repo:/w/.git, pid 41, 3 calls, idle 1m1s, held by session:review"
	if s := drive(t, &desk{}, "ls"); strings.Contains(s.stdout.String(), "pid 41") {
		t.Errorf("ls shows instances:\n%s", s.stdout.String())
	}
	if s := drive(t, &desk{}, "ls", "-v"); !strings.Contains(s.stdout.String(), instance) {
		t.Errorf("ls -v shows no instances:\n%s", s.stdout.String())
	}
	if s := drive(t, &desk{}, "ls", "--json"); !strings.Contains(s.stdout.String(), `"pid":41`) {
		t.Errorf("ls --json shows less than ls -v:\n%s", s.stdout.String())
	}
}

func TestSessionsAndDaemon(t *testing.T) {
	t.Parallel()
	tests := []struct {
		args           string
		absent         bool
		code           int
		stdout, stderr string
	}{
		{"refresh", false, 1, "demo: 1 tool\ngit: error: it is not there\n  install it\n", ""},
		{"session list", false, 0, "review  1 call, last used 2026-11-30T12:00Z, lasts: demo\n", ""},
		{"session list", true, 0, "no sessions\n", ""},
		{"session release review", false, 0, "released review; 1 server ended\n", ""},
		{"session release review", true, 2, "", "mcpx: no session is called \"review\": no daemon is running\n"},
		{"session restart review", false, 0, "2 servers of review ended; the next call starts them again\n", ""},
		{"session release", false, 2, "", "mcpx: session release needs NAME\n  usage: mcpx session release NAME\n"},
		{"session", false, 0, "review  1 call, last used 2026-11-30T12:00Z, lasts: demo\n", ""},
		{"daemon", false, 2, "", "mcpx: daemon needs a word more\n  usage: mcpx daemon start|stop|restart|status|logs|events\n"},
		{"session lst", false, 2, "", "mcpx: session: unknown word \"lst\"\n  did you mean \"mcpx session list\"? usage: mcpx session list|release|restart|name\n"},
		{"daemon start", false, 0, "the daemon runs: 1.2.3, process 7\n", ""},
		{"daemon stop", false, 0, "the daemon has ended: process 7\n", ""},
		{"daemon stop", true, 0, "no daemon is running\n", ""},
		{"daemon restart", false, 0, "the daemon has started again\n", ""},
		{"daemon events --after a-0", false, 69, `{"id":"a-1","kind":"server.started","time":"2026-11-30T12:00:00Z"}` + "\n", "mcpx: the daemon ended behind \"a-0\"\n"},
		{"daemon events", true, 69, "", "mcpx: no daemon is running\n"},
	}
	for _, tt := range tests {
		t.Run(tt.args, func(t *testing.T) {
			t.Parallel()
			drive(t, &desk{house: house{absent: tt.absent}}, strings.Fields(tt.args)...).want(t, tt.code, tt.stdout, tt.stderr)
		})
	}
	d := &desk{}
	drive(t, d, "ls", "--session", "review")
	if d.options.Session != "review" || d.options.Daemon != AnyDaemon {
		t.Errorf("options of ls --session review = %+v", d.options)
	}
	d = &desk{}
	drive(t, d, "daemon", "start")
	if d.options.Daemon != StartedDaemon {
		t.Error("daemon start is content without a daemon")
	}
}

func TestServers(t *testing.T) {
	t.Parallel()
	drive(t, &desk{}, "servers", "list").want(t, 0, "demo  demo --x  [/w/.mcp.json:3]\n", "")
	d := &desk{}
	drive(t, d, "servers", "add", "--env", "A=1,2", "--env", "B=", "--replace", "files", "--", "prog", "--flag", "x").
		want(t, 0, "replaced files in /w/.mcpx.json\n", "mcpx: /w/a:1 has an entry of that name nearer by, which stays in force\n")
	if in := d.added; in.Name != "files" || strings.Join(in.Command, " ") != "prog --flag x" || len(in.Env) != 2 || in.Env["A"] != "1,2" || in.Env["B"] != "" {
		t.Errorf("servers add asked for %+v", in)
	}
	d = &desk{}
	drive(t, d, "servers", "remove", "files", "--user").want(t, 0, "removed files from /w/.mcpx.json\n", "mcpx: from now on the entry of that name at /home/a:1 is in force\n")
	if d.removed.Name != "files" || !d.removed.User {
		t.Errorf("servers remove asked for %+v", d.removed)
	}
	for _, tt := range []struct{ args, message string }{
		{"servers add", "servers add needs NAME"},
		{"servers add x", "x has neither a command nor --url"},
		{"servers add x --url http://a -- p", "x has a command and --url"},
		{"servers add x --header A=1 -- p", "--header is for a server with --url"},
		{"servers add x --env A=1 --url http://a", "--env is for a program"},
		{"servers add x --env A -- p", `the flag --env: "A" is not KEY=VALUE`},
		{"servers add x --env A=1 --env A=2 -- p", "the flag --env: A is given twice"},
		{"servers add x --user --project -- p", "--project, --user and --file each name a place"},
		{"servers remove", "servers remove needs NAME"},
	} {
		s := drive(t, &desk{}, strings.Fields(tt.args)...)
		if s.code != 2 || !strings.Contains(s.stderr.String(), tt.message) {
			t.Errorf("mcpx %s: exit %d, %q; want 2 and %q", tt.args, s.code, s.stderr.String(), tt.message)
		}
	}
}

func TestBatch(t *testing.T) {
	t.Parallel()
	answer := func(_ context.Context, in api.CallInput) (*api.CallOutput, error) {
		switch in.Tool {
		case "echo":
			return &api.CallOutput{Server: in.Server, Tool: in.Tool, IsText: true, Text: "<hi>"}, nil
		case "gone":
			return nil, fault.NotFoundf("no tool")
		}
		return nil, errors.New("unexpected " + in.Server + "." + in.Tool)
	}
	text := `{"tool":"demo.echo"}` + "\n\n" + `{"server":"demo","tool":"gone","arguments":{}}` + "\n"
	d := &desk{call: answer}
	driveIn(t, d, Program{Stdin: strings.NewReader(text)}, "batch", "--concurrent", "2").want(t, 1,
		`{"output":{"server":"demo","tool":"echo","result":null,"isError":false,"text":"<hi>","isText":true}}`+"\n"+
			`{"error":{"kind":"not_found","message":"no tool"}}`+"\n", "mcpx: 1 of 2 calls failed\n")
	if d.batch.Concurrent != 2 {
		t.Errorf("concurrent = %d", d.batch.Concurrent)
	}
	for _, tt := range []struct{ name, text, message string }{
		{"nothing", "\n", "stdin holds no calls"},
		{"no JSON", `{"tool":"a.b"}` + "\n{", "stdin: not JSON: the text ends too early\n  at stdin:2:2"},
		{"no tool", `{"tool":"b"}`, "stdin:1: the call names no tool"},
		{"a member that is not known", `{"tool":"a.b","args":{}}`, `stdin:1: unknown field "args"`},
		{"arguments that are no object", `{"tool":"a.b","arguments":[]}`, "stdin:1: arguments are a JSON object, not a list"},
	} {
		s := driveIn(t, &desk{call: answer}, Program{Stdin: strings.NewReader(tt.text)}, "batch", "-")
		if s.code != 2 || !strings.Contains(s.stderr.String(), tt.message) {
			t.Errorf("%s: exit %d, %q; want 2 and %q", tt.name, s.code, s.stderr.String(), tt.message)
		}
	}
	if s := drive(t, &desk{}, "batch", "calls.jsonl"); s.code != 2 || !strings.Contains(s.stderr.String(), "reading calls.jsonl: no such file") {
		t.Errorf("a file that is not there: exit %d, %q", s.code, s.stderr.String())
	}
}

// TestCommandsAndOperationsAreTheSame holds the table and the command line together:
// every command of the table has a view, and what is no operation is named here.
func TestCommandsAndOperationsAreTheSame(t *testing.T) {
	t.Parallel()
	v := &invocation{}
	views := v.views()
	commands := map[string]bool{}
	for _, c := range v.app().Commands {
		commands[c.Name] = true
	}
	n := 0
	for _, o := range api.Operations() {
		_, ok := views[o.Name]
		switch {
		case o.Command == "" && ok:
			t.Errorf("%s has a view and no command", o.Name)
		case o.Command != "" && !ok:
			t.Errorf("%s has the command %q and no view", o.Name, o.Command)
		case ok && !commands[o.Command]:
			t.Errorf("the command %q of %s is not there", o.Command, o.Name)
		case ok:
			n++
			delete(views, o.Name)
			delete(commands, o.Command)
		}
	}
	if n < 20 {
		t.Fatalf("%d operations have commands: nothing is guarded", n)
	}
	for name := range views {
		t.Errorf("there is no operation %s for a view", name)
	}
	for _, own := range []string{
		"run", "bundle", "build", "serve", "session name", "daemon start", "daemon status", "daemon logs", "help", "docs", "completion", "man", "version",
		"auth login", "auth logout", "auth status", // a login belongs to the command's own process
		"history accept", "servers trust", // and so does what the user allows for good
		"init", "import", "servers input", "servers enable", "servers disable", // and the files and answers of the user
	} {
		if !commands[own] {
			t.Errorf("the command %q is not there", own)
		}
		delete(commands, own)
	}
	for name := range commands {
		t.Errorf("the command %q is neither an operation nor the command line's own", name)
	}
}

// A user may have daemons that stand for other files: status tells of them, stop says that
// they are left, and stop --all ends them.
func TestDaemonsOfOtherFiles(t *testing.T) {
	t.Parallel()
	others := []api.OtherDaemon{
		{Pid: 8, Version: "1.2.3", Started: noon, Files: []string{"/v/.mcpx.json", "/home/.mcpx.json"}},
		{Pid: 9, Version: "1.2.3", Started: noon, Files: []string{}},
	}
	const (
		listed = "\nDaemons of other configuration files, which mcpx stop --all ends as well:\n" +
			"  process 8, since 2026-11-30T12:00Z, of /v/.mcpx.json, /home/.mcpx.json\n  process 9, since 2026-11-30T12:00Z, of no file\n"
		ended = "a daemon of other files has ended: process 8, since 2026-11-30T12:00Z, of /v/.mcpx.json, /home/.mcpx.json\n" +
			"a daemon of other files has ended: process 9, since 2026-11-30T12:00Z, of no file\n"
		left = "mcpx: 2 daemons of other configuration files still run\n  mcpx status shows them, mcpx stop --all ends them as well\n"
	)
	tests := []struct {
		args           string
		absent, end    bool
		stdout, stderr string
	}{
		{"status", true, false, "no daemon is running\n" + listed, ""},
		{"stop", false, false, "the daemon has ended: process 7\n", left},
		{"stop", true, false, "no daemon is running\n", left},
		{"stop --all", false, true, "the daemon has ended: process 7\n" + ended, ""},
		{"stop --all", true, true, ended, ""},
		{"stop --all --json", false, true, `{"pid":7,"others":[{"pid":8,"version":"1.2.3","started":"2026-11-30T12:00:00Z","files":["/v/.mcpx.json","/home/.mcpx.json"]},` +
			`{"pid":9,"version":"1.2.3","started":"2026-11-30T12:00:00Z","files":[]}]}` + "\n", ""},
	}
	for _, tt := range tests {
		asked, end := 0, false
		p := Program{Dir: t.TempDir(), Others: func(_ context.Context, _ OpenOptions, e bool) ([]api.OtherDaemon, error) {
			asked, end = asked+1, e
			return others, nil
		}}
		driveIn(t, &desk{house: house{absent: tt.absent}, notices: []string{"the daemon is of another version"}}, p, strings.Fields(tt.args)...).want(t, 0, tt.stdout, tt.stderr)
		if asked != 1 || end != tt.end {
			t.Errorf("%s: asked %d times, to end them: %v", tt.args, asked, end)
		}
	}
	one := Program{Dir: t.TempDir(), Others: func(context.Context, OpenOptions, bool) ([]api.OtherDaemon, error) { return others[:1], nil }}
	driveIn(t, &desk{}, one, "stop").want(t, 0, "the daemon has ended: process 7\n",
		"mcpx: a daemon of other configuration files still runs\n  mcpx status shows them, mcpx stop --all ends them as well\n")
	broken := Program{Dir: t.TempDir(), Others: func(context.Context, OpenOptions, bool) ([]api.OtherDaemon, error) {
		return nil, fault.Unavailablef("process 8 does not end")
	}}
	driveIn(t, &desk{}, broken, "stop", "--all").want(t, 69, "", "mcpx: process 8 does not end\n")
}

// What status prints of a broken file it does not say a second time; the rest it does.
func TestStatusSaysNothingTwice(t *testing.T) {
	t.Parallel()
	d := &desk{notices: []string{"/w/.mcp.json:3:1: not JSON\nthe configuration as it was before is in force", "the daemon is of another version"}}
	s := drive(t, d, "status")
	if got := s.stderr.String(); got != "mcpx: the daemon is of another version\n" {
		t.Errorf("stderr: %s", got)
	}
}

func TestServersAddTakesHeadersAsTheyAreWrittenElsewhere(t *testing.T) {
	t.Parallel()
	d := &desk{}
	drive(t, d, "servers", "add", "fresh", "--no-check", "--url", "https://x.example/mcp", "--header", "Authorization: Bearer a=b", "--header", "X-A=1:2", "--header", "X-B:").
		want(t, 0, "added fresh in /w/.mcpx.json\n", "")
	if h := d.added.Headers; len(h) != 3 || h["Authorization"] != "Bearer a=b" || h["X-A"] != "1:2" || h["X-B"] != "" {
		t.Errorf("headers = %q", h)
	}
	drive(t, &desk{}, "servers", "add", "fresh", "--url", "https://x.example/mcp", "--header", "nothing").
		want(t, 2, "", "mcpx: the flag --header: \"nothing\" is not KEY=VALUE\n  write the name, an equals sign and the value\n")
	drive(t, &desk{}, "servers", "add", "fresh", "https://x.example/mcp").
		want(t, 2, "", "mcpx: servers add: https://x.example/mcp is an address, and no program\n  mcpx servers add fresh --url https://x.example/mcp\n")
}
