package cli

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"mcpx/internal/api"
	"mcpx/internal/fault"
)

// papers is the part of a desk that is about configuration files.
type papers struct {
	imported api.ImportInput
	made     api.InitInput
	broken   error // of Init
	given    api.GiveInput
	check    *api.CheckOutput
	checked  string
}

func (d *desk) Import(_ context.Context, in api.ImportInput) (*api.ImportOutput, error) {
	d.imported = in
	out := &api.ImportOutput{Hosts: []api.ImportHost{
		{Name: "cursor", Title: "Cursor", Files: []api.ImportFile{{Path: "/home/u/.cursor/mcp.json", State: "read", Servers: []string{"files", "git"}}}},
		{Name: "zed", Title: "Zed", Files: []api.ImportFile{{Path: "/home/u/.config/zed/settings.json", State: "absent"}}},
		{Name: "vscode", Title: "VS Code", Files: []api.ImportFile{{Path: "/w/.vscode/mcp.json", State: "broken", Error: fault.Usagef("/w/.vscode/mcp.json:1:1: no").Hintf("mend it")}}},
	}}
	if in.Host == "" {
		return out, nil
	}
	out.Hosts = slices.DeleteFunc(out.Hosts, func(h api.ImportHost) bool { return h.Name != in.Host })
	if in.Host != "cursor" {
		return out, nil
	}
	out.Written = in.Write
	state := api.ImportNew
	if in.Write {
		state = api.ImportWritten
	}
	out.Entries = []api.ImportEntry{
		{Name: "files", From: "/home/u/.cursor/mcp.json", To: "/home/u/.mcpx.json", State: state, Entry: []byte(`{"command":"files","env":{"T":"${input:token}"}}`), Inputs: []string{"token"}, Notes: []string{"left behind: x"}},
		{Name: "git", From: "/home/u/.cursor/mcp.json", To: "/home/u/.mcpx.json", State: api.ImportTaken},
		{Name: "bad", From: "/home/u/.cursor/mcp.json", State: api.ImportLeft, Error: fault.Unavailablef("neither a command nor a url").Hintf("write one")},
	}
	return out, nil
}

func (d *desk) Enable(_ context.Context, in api.EnableInput) (*api.EnableOutput, error) {
	return &api.EnableOutput{Name: in.Name, Enabled: in.On, File: "/h/.mcpx.json"}, nil
}

func (d *desk) Init(_ context.Context, in api.InitInput) (*api.InitOutput, error) {
	d.made = in
	if d.papers.broken != nil {
		return nil, d.papers.broken
	}
	return &api.InitOutput{File: "/w/.mcpx.json", Imports: in.Imports}, nil
}

func (d *desk) Inputs(_ context.Context, in api.InputsInput) (*api.InputsOutput, error) {
	return &api.InputsOutput{Server: in.Server, Inputs: []api.ServerInput{
		{ID: "token", Description: "the key of the API", Password: true},
		{ID: "region", Options: []string{"eu", "us"}, Default: "us", Store: "file"},
	}}, nil
}

func (d *desk) Give(_ context.Context, in api.GiveInput) (*api.GivenInput, error) {
	d.given = in
	out := &api.GivenInput{Server: in.Server, ID: in.ID, Store: "file"}
	if in.Forget {
		out.Store = ""
	}
	return out, nil
}

func (d *desk) Check(_ context.Context, in api.CheckInput) (*api.CheckOutput, error) {
	d.checked = in.Server
	if d.check == nil {
		return nil, nil
	}
	return d.check, nil
}

// at runs the program with somebody at a terminal, who types.
func at(t *testing.T, d *desk, typed string, args ...string) *session {
	t.Helper()
	return atWith(t, d, typed, func(*Program) {}, args...)
}

func atWith(t *testing.T, d *desk, typed string, change func(*Program), args ...string) *session {
	t.Helper()
	p := Program{Dir: t.TempDir(), Stdin: strings.NewReader(typed), Terminal: Terminal{Stdin: true, Stderr: true}}
	change(&p)
	return driveIn(t, d, p, args...)
}

func TestImportShowsWhatWouldBeWritten(t *testing.T) {
	t.Parallel()
	d := &desk{}
	s := drive(t, d, "import", "cursor")
	s.want(t, 0, `files: would be written to /home/u/.mcpx.json
    {
      "command": "files",
      "env": {
        "T": "${input:token}"
      }
    }
    left behind: x
    give it once: mcpx servers input files token
git: left out: /home/u/.mcpx.json has a server of that name already
bad: left out: neither a command nor a url
  write one
nothing is written yet: --write does it
`, "")
	if d.imported.Write || d.imported.Host != "cursor" {
		t.Errorf("asked for %+v", d.imported)
	}
	if d.options.Daemon != OwnProcess {
		t.Error("import asks a daemon")
	}
	s = drive(t, d, "import", "cursor", "--write", "--file", "x.json")
	if out := s.stdout.String(); s.code != 0 || !d.imported.Write || !strings.HasSuffix(d.imported.File, "x.json") || strings.Contains(out, "nothing is written") || !strings.Contains(out, "files: written to") {
		t.Errorf("import --write: %d, %+v\n%s", s.code, d.imported, out)
	}
}

func TestImportListsHosts(t *testing.T) {
	t.Parallel()
	drive(t, &desk{}, "import").want(t, 0, `cursor: /home/u/.cursor/mcp.json: files, git
zed: not found; looked for
    /home/u/.config/zed/settings.json
vscode: error: /w/.vscode/mcp.json:1:1: no
  mend it
`, "")
	// A file that is broken is there, and its servers are not; without a name it is one among others.
	for _, args := range [][]string{{"import", "vscode"}, {"import", "vscode", "--write"}} {
		drive(t, &desk{}, args...).want(t, 2, "error: /w/.vscode/mcp.json:1:1: no\n  mend it\n", "")
	}
	drive(t, &desk{}, "import", "zed").want(t, 0, "no file of it was found; looked for\n    /home/u/.config/zed/settings.json\n", "")
	if s := drive(t, &desk{}, "import", "vscode", "--json"); s.code != 2 || !strings.Contains(s.stdout.String(), `"state":"broken"`) {
		t.Errorf("import --json of a broken file: %d\n%s", s.code, s.stdout.String())
	}
	if s := drive(t, &desk{}, "import", "--write"); s.code != 2 {
		t.Errorf("import --write without a host: exit code %d", s.code)
	}
	if s := drive(t, &desk{}, "import", "cursor", "--user", "--project"); s.code != 2 {
		t.Errorf("import --user --project: exit code %d", s.code)
	}
}

// TestImportAll takes the hosts one after the other: what one has the next does not bring again.
func TestImportAll(t *testing.T) {
	t.Parallel()
	d := &desk{}
	s := drive(t, d, "import", "--all")
	if out := s.stdout.String(); s.code != 2 || !strings.Contains(out, "files: would be written to") || !strings.Contains(out, "error: /w/.vscode/mcp.json") || strings.Contains(out, "zed") {
		t.Errorf("import --all: %d\n%s", s.code, out)
	}
	if s := drive(t, d, "import", "--all", "--write", "--user"); !d.imported.Write || !d.imported.User || !strings.Contains(s.stdout.String(), "files: written to") {
		t.Errorf("import --all --write: %+v\n%s", d.imported, s.stdout.String())
	}
	if s := drive(t, d, "import", "--all", "cursor"); s.code != 2 {
		t.Errorf("import --all of one host: exit code %d", s.code)
	}
	twins := twoHosts{&desk{}}
	out, err := importAll(t.Context(), twins, api.ImportInput{})
	if err != nil || len(out.Entries) != 2 || out.Entries[0].State != api.ImportNew || out.Entries[1].State != api.ImportTaken {
		t.Errorf("two hosts with a server of one name: %+v, %v", out, err)
	}
}

// twoHosts have a server of one name.
type twoHosts struct{ *desk }

func (twoHosts) Import(_ context.Context, in api.ImportInput) (*api.ImportOutput, error) {
	out := &api.ImportOutput{}
	for _, name := range []string{"a", "b"} {
		if in.Host != "" && in.Host != name {
			continue
		}
		out.Hosts = append(out.Hosts, api.ImportHost{Name: name, Files: []api.ImportFile{{Path: "/" + name, State: "read"}}})
		if in.Host != "" {
			out.Entries = []api.ImportEntry{{Name: "files", From: "/" + name, To: "/h", State: api.ImportNew}}
		}
	}
	return out, nil
}

func TestServersAreEnabledAndDisabled(t *testing.T) {
	t.Parallel()
	d := &desk{}
	drive(t, d, "servers", "disable", "git").want(t, 0, "disabled git in /h/.mcpx.json\n", "")
	drive(t, d, "servers", "enable", "git", "--json").want(t, 0, `{"name":"git","enabled":true,"file":"/h/.mcpx.json"}`+"\n", "")
	if d.options.Daemon != OwnProcess {
		t.Error("a daemon is asked")
	}
	if s := drive(t, d, "servers", "disable"); s.code != 2 {
		t.Errorf("without a name: exit code %d", s.code)
	}
}

func TestInitOffersHostsAtATerminal(t *testing.T) {
	t.Parallel()
	d := &desk{}
	drive(t, d, "init").want(t, 0, "wrote /w/.mcpx.json\n", "")
	if d.made.Imports != nil || d.made.User {
		t.Errorf("init made %+v", d.made)
	}
	for typed, want := range map[string]string{"y\n": "cursor", "n\n": "", "": ""} {
		d := &desk{}
		s := at(t, d, typed, "init", "--user")
		if got := strings.Join(d.made.Imports, " "); s.code != 0 || got != want || !d.made.User {
			t.Errorf("init, typed %q: code %d, imports %q, want %q", typed, s.code, got, want)
		}
		if !strings.Contains(s.stderr.String(), "Cursor has 2 servers: files, git") {
			t.Errorf("init asks\n%s", s.stderr.String())
		}
	}
}

func TestAnInputIsReadFromWhereItComes(t *testing.T) {
	t.Parallel()
	piped := func(text string, args ...string) (*desk, *session) {
		d := &desk{}
		return d, driveIn(t, d, Program{Dir: t.TempDir(), Stdin: strings.NewReader(text)}, args...)
	}
	d, s := piped("secret\n", "servers", "input", "files", "token")
	if s.want(t, 0, "kept in the file\n", ""); d.given.Value != "secret" || d.given.ID != "token" || d.given.Server != "files" {
		t.Errorf("gave %+v", d.given)
	}
	if _, s := piped("", "servers", "input", "files", "token"); s.code != 2 {
		t.Errorf("no value: exit code %d", s.code)
	}
	if _, s := piped(strings.Repeat("x", maxInput+2), "servers", "input", "files", "token"); s.code != 2 {
		t.Errorf("a long value: exit code %d", s.code)
	}
	if _, s := piped("x", "servers", "input", "files", "nope"); s.code != 2 || !strings.Contains(s.stderr.String(), "token, region") {
		t.Errorf("no such input: %d %s", s.code, s.stderr.String())
	}
	d, s = piped("x", "servers", "input", "files", "token", "--forget")
	if s.want(t, 0, "forgotten\n", ""); !d.given.Forget || d.given.Value != "" {
		t.Errorf("gave %+v", d.given)
	}
	drive(t, &desk{}, "servers", "input", "files").want(t, 0, "token: not given\n    the key of the API\nregion: given, in the file\n    one of eu, us\n", "")
	// At a terminal a number chooses, and an empty line is the default.
	for typed, want := range map[string]string{"1\n": "eu", "us\n": "us", "\n": "us"} {
		d := &desk{}
		if s := at(t, d, typed, "servers", "input", "files", "region"); s.code != 0 || d.given.Value != want {
			t.Errorf("typed %q: code %d, value %q, want %q\n%s", typed, s.code, d.given.Value, want, s.stderr.String())
		}
	}
}

func TestAPasswordIsNotShownWhileItIsTyped(t *testing.T) {
	t.Parallel()
	d := &desk{}
	hid, shown := 0, 0
	s := atWith(t, d, "pw\n", func(p *Program) {
		p.Hide = func() (func(), error) { hid++; return func() { shown++ }, nil }
	}, "servers", "input", "files", "token")
	if s.code != 0 || d.given.Value != "pw" || hid != 1 || shown != 1 {
		t.Errorf("code %d, value %q, hidden %d times and shown %d\n%s", s.code, d.given.Value, hid, shown, s.stderr.String())
	}
	if strings.Contains(s.stdout.String()+s.stderr.String(), "pw") {
		t.Errorf("it is shown: %s%s", s.stdout.String(), s.stderr.String())
	}
	s = atWith(t, &desk{}, "pw\n", func(p *Program) {
		p.Hide = func() (func(), error) { return nil, errors.New("no such thing") }
	}, "servers", "input", "files", "token")
	if s.code != 69 || !strings.Contains(s.stderr.String(), "no such thing") {
		t.Errorf("a terminal that shows everything: %d %s", s.code, s.stderr.String())
	}
}

func TestANewServerIsLookedAt(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		check *api.CheckOutput
		want  string
	}{
		"only reads":   {&api.CheckOutput{Tools: 1}, "it has 1 tool, all of which only read\n"},
		"writes":       {&api.CheckOutput{Tools: 3, Write: []string{"put", "cut"}}, "it has 3 tools; the server does not say of 2 that they only read, and those are asked about:\n    put, cut\nmcpx servers trust fresh lets them without a question\n"},
		"of a guest":   {&api.CheckOutput{Tools: 1, Write: []string{"put"}, Guest: true}, "    mcpx config trust && mcpx servers trust fresh\n"},
		"no answer":    {&api.CheckOutput{Error: fault.Unavailablef("nothing there").Hintf("look")}, "it does not answer yet: nothing there\n  look\nthe entry stays: mcpx doctor looks again, mcpx servers remove fresh takes it out\n"},
		"many writers": {&api.CheckOutput{Tools: 9, Write: strings.Split("abcdefghi", "")}, "    a, b, c, d, e, f, g, h, and 1 more\n"},
	} {
		d := &desk{papers: papers{check: tt.check}}
		s := drive(t, d, "servers", "add", "fresh", "--", "prog")
		if s.code != 0 || d.checked != "fresh" || !strings.Contains(s.stdout.String(), tt.want) {
			t.Errorf("%s: code %d, checked %q\n%s", name, s.code, d.checked, s.stdout.String())
		}
	}
	d := &desk{papers: papers{broken: fault.Usagef("/w/.mcpx.json is there already")}}
	if s := atWith(t, d, "y\n", func(*Program) {}, "init"); s.code != 2 || strings.Contains(s.stderr.String(), "use them here?") {
		t.Errorf("init where a file is asks first: %d %s", s.code, s.stderr.String())
	}
	d = &desk{}
	if drive(t, d, "servers", "add", "--no-check", "fresh", "--", "prog"); d.checked != "" {
		t.Errorf("--no-check looked at %q", d.checked)
	}
}
