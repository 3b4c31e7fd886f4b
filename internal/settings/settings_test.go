package settings

import (
	"encoding/json"
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"mcpx/internal/fault"
)

func TestEverySettingIsDeclaredWholly(t *testing.T) {
	t.Parallel()
	all := All()
	if len(all) < 8 {
		t.Fatalf("All() has %d settings; there is nothing to guard", len(all))
	}
	spelled := map[string]string{}
	unique := func(path, name string) {
		if name == "" {
			return
		}
		if other, taken := spelled[name]; taken {
			t.Errorf("%s is a name of both %s and %s", name, other, path)
		}
		spelled[name] = path
	}
	for _, i := range all {
		if !regexp.MustCompile(`^[a-z]+(\.limits)?\.[a-z][A-Za-z]*$`).MatchString(i.Path) {
			t.Errorf("%s: the path is not GROUP.name", i.Path)
		}
		if !strings.HasPrefix(i.Env, "MCPX_") || i.Flag == "" || i.Type == "" {
			t.Errorf("%s: env %q, flag %q, type %q", i.Path, i.Env, i.Flag, i.Type)
		}
		if !strings.HasSuffix(i.Doc, ".") || strings.ToUpper(i.Doc[:1]) != i.Doc[:1] {
			t.Errorf("%s: the doc is no sentence: %q", i.Path, i.Doc)
		}
		unique(i.Path, i.Path)
		unique(i.Path, i.Env)
		unique(i.Path, "--"+i.Flag)
		if i.Alias != "" {
			unique(i.Path, "--"+i.Alias)
		}
		if i.Scope != Call && i.Scope != Client && i.Scope != Daemon {
			t.Errorf("%s has no scope", i.Path)
		}
		if i.Scope == Call && !i.Hot {
			t.Errorf("%s is about a call, which reads it whenever it is made: it is hot", i.Path)
		}
		if i.Scope == Client && i.Hot {
			t.Errorf("%s is a command's own: no daemon follows it", i.Path)
		}
		if i.Default == "" {
			continue // a text that names nothing
		}
		d := byPath(i.Path)
		v, p := d.read(i.Default)
		if p != nil {
			t.Errorf("%s: the default %q does not parse: %s", i.Path, i.Default, p.what)
		} else if d.tighter(v, nil) || d.tighter(nil, v) {
			t.Errorf("%s: the default reads back as %v", i.Path, v)
		}
	}
}

func TestNamesComeFromThePath(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]string{
		"exec.timeout":    "exec-timeout",
		"pool.callMax":    "pool-call-max",
		"limits.inFlight": "limits-in-flight",
		"daemon.leaseTTL": "daemon-lease-ttl",
		"http.bodyURLMax": "http-body-url-max",
		"a.TTL":           "a-ttl",
	} {
		if got := strings.Join(words(path), "-"); got != want {
			t.Errorf("words(%q) = %q, want %q", path, got, want)
		}
	}
	for _, i := range All() {
		if i.Path == "exec.timeout" && (i.Env != "MCPX_EXEC_TIMEOUT" || i.Flag != "exec-timeout" || i.Alias != "timeout" || i.Default != "10m") {
			t.Errorf("exec.timeout is described as %+v", i)
		}
	}
}

func TestForms(t *testing.T) {
	t.Parallel()
	durations := []struct {
		in   string
		want time.Duration // 0: an error
	}{
		{"60s", time.Minute},
		{"1h30m", 90 * time.Minute},
		{"500ms", 500 * time.Millisecond},
		{"60", 0},
		{"", 0},
		{"0s", 0},
		{"-1s", 0},
		{"soon", 0},
		{"1e3", 0},
		{"99999999h", 0},
	}
	for _, c := range durations {
		if got, p := parseDuration(c.in); got != c.want || (p == nil) != (c.want != 0) {
			t.Errorf("parseDuration(%q) = %v, %v, want %v", c.in, got, p, c.want)
		}
	}
	for text, want := range map[string]string{
		"1":  `"1" is a duration without a unit; write a number with its unit, such as 500ms, 60s, 10m or 2h`,
		"0s": `"0s" is no time at all; write a duration of more than 0, such as 500ms, 60s, 10m or 2h`,
	} {
		if _, p := parseDuration(text); p == nil || p.what+"; "+p.hint != want {
			t.Errorf("parseDuration(%q): %v, want %s", text, p, want)
		}
	}
	sizes := []struct {
		in   string
		want int64
	}{
		{"1", 1},
		{"64MiB", 64 << 20},
		{"64 mib", 64 << 20},
		{"16MB", 16e6},
		{"2GiB", 2 << 30},
		{"7B", 7},
		{"", 0},
		{"MiB", 0},
		{"-1", 0},
		{"0", 0},
		{"1.5MiB", 0},
		{"64M", 0},
		{"9223372036854775807KiB", 0},
	}
	for _, c := range sizes {
		if got, p := parseSize(c.in); got != c.want || (p == nil) != (c.want != 0) {
			t.Errorf("parseSize(%q) = %v, %v, want %v", c.in, got, p, c.want)
		}
	}
	for n, want := range map[int64]string{64 << 20: "64MiB", 1 << 30: "1GiB", 1000: "1000B", 1: "1B", math.MaxInt64: "9223372036854775807B"} {
		if got := formatSize(n); got != want {
			t.Errorf("formatSize(%d) = %q, want %q", n, got, want)
		}
	}
	for d, want := range map[time.Duration]string{10 * time.Minute: "10m", time.Hour: "1h", 90 * time.Second: "1m30s", time.Second: "1s", 100 * time.Second: "1m40s"} {
		if got := FormatDuration(d); got != want {
			t.Errorf("FormatDuration(%v) = %q, want %q", d, got, want)
		}
	}
}

func file(project bool, path, value, origin string) File {
	return File{Project: project, Entries: []Entry{{Path: path, Value: json.RawMessage(value), Origin: origin}}}
}

func variable(name, value string) func(string) (string, bool) {
	return func(n string) (string, bool) { return value, n == name }
}

func TestAHigherLevelWins(t *testing.T) {
	t.Parallel()
	var s Set
	step := func(what string, err error, want time.Duration) {
		t.Helper()
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		if got := ExecTimeout.Get(&s); got != want {
			t.Errorf("after %s exec.timeout = %v, want %v", what, got, want)
		}
	}
	step("nothing", nil, 10*time.Minute)
	step("the user's file", s.ApplyFile(file(false, "exec.timeout", `"1m"`, "u:1:1")), time.Minute)
	step("a farther file", s.ApplyFile(file(false, "exec.timeout", `"2m"`, "e:1:1")), time.Minute)
	step("a project's file", s.ApplyFile(file(true, "exec.timeout", `"30s"`, "p:1:1")), 30*time.Second)
	step("a variable", s.ApplyEnv(variable("MCPX_EXEC_TIMEOUT", "4m")), 4*time.Minute)
	step("a flag", s.ApplyFlag("exec-timeout", "5m"), 5*time.Minute)
	step("the flag again", s.ApplyFlag("exec-timeout", "6m"), 6*time.Minute)
	if got := ExecTimeout.Get(nil); got != 10*time.Minute {
		t.Errorf("without a Set exec.timeout = %v", got)
	}
	if got := s.Notices(); len(got) != 0 {
		t.Errorf("Notices() = %q", got)
	}
}

func TestACeilingIsOnlyTightened(t *testing.T) {
	t.Parallel()
	const path = "limits.inFlight"
	cases := []struct {
		name                     string
		user, project, env, flag string
		want                     int
		notice                   string
	}{
		{name: "the default yields to a flag", flag: "900", want: 900},
		{name: "the default yields to a variable, and that to a flag", env: "10", flag: "500", want: 500},
		{name: "a project cannot loosen the default", project: "900", want: 64},
		{name: "a project tightens the default", project: "8", want: 8},
		{name: "a project cannot loosen the user's file", user: "10", project: "20", want: 10},
		{name: "the user's own file is above the default", user: "200", project: "100", want: 100},
		{name: "a flag tightens a file", user: "10", flag: "5", want: 5},
		{
			name: "a flag cannot loosen a file", user: "10", flag: "50", want: 10,
			notice: "--limits-in-flight asks for 50 of limits.inFlight; 10 is the most that u:1:1 allows",
		},
		{name: "a flag equal to the file", user: "10", flag: "10", want: 10},
		{name: "a flag between a variable and the file", user: "10", env: "2", flag: "5", want: 5},
		{
			name: "a flag that cannot loosen a project's file", project: "8", flag: "9", want: 8,
			notice: "--limits-in-flight asks for 9 of limits.inFlight; 8 is the most that p:1:1 allows",
		},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var s Set
			var errs []error
			if c.project != "" {
				errs = append(errs, s.ApplyFile(file(true, path, c.project, "p:1:1")))
			}
			if c.user != "" {
				errs = append(errs, s.ApplyFile(file(false, path, c.user, "u:1:1")))
			}
			errs = append(errs, s.ApplyEnv(variable("MCPX_LIMITS_IN_FLIGHT", c.env)))
			if c.flag != "" {
				errs = append(errs, s.ApplyFlag("limits-in-flight", c.flag))
			}
			for _, err := range errs {
				if err != nil {
					t.Fatal(err)
				}
			}
			if got := LimitsInFlight.Get(&s); got != c.want {
				t.Errorf("Get = %d, want %d", got, c.want)
			}
			if got := strings.Join(s.Notices(), "; "); got != c.notice {
				t.Errorf("Notices() = %q, want %q", got, c.notice)
			}
		})
	}
}

func TestWhatAProjectSays(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, path, user, project, want string }{
		{"it shortens", "exec.timeout", `"5m"`, `"1m"`, "1m"},
		{"it does not lengthen the default", "exec.timeout", "", `"999h"`, "10m"},
		{"nor what the user says", "exec.timeout", `"5m"`, `"6m"`, "5m"},
		{"it does not raise a bound of the disk", "artifacts.quota", "", `"900GiB"`, "1GiB"},
		{"nor of one artifact", "artifacts.maxBytes", `"1MiB"`, `"2MiB"`, "1MiB"},
		{"nor of memory", "stdio.maxLine", "", `"900GiB"`, "64MiB"},
		{"it does not have artifacts of others swept away", "artifacts.ttl", "", `"1ms"`, "24h"},
		{"nor kept", "artifacts.ttl", `"1h"`, `"999h"`, "1h"},
		{"it says what costs nobody anything", "catalog.budget", "100", "5000", "5000"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var s Set
			errs := []error{s.ApplyFile(file(true, c.path, c.project, "p:1:1"))}
			if c.user != "" {
				errs = append(errs, s.ApplyFile(file(false, c.path, c.user, "u:1:1")))
			}
			if err := errors.Join(errs...); err != nil {
				t.Fatal(err)
			}
			d := byPath(c.path)
			want, wrong := d.read(c.want)
			got, ok := s.inForce(d)
			if wrong != nil || ok && got.value != want || !ok && d.info().Default != c.want {
				t.Errorf("%s is %v, want %v", c.path, got.value, want)
			}
			// What whoever runs it says holds all the same.
			flag := map[string]string{"duration": "2h", "size": "2GiB", "integer": "7"}[d.info().Type]
			if err := s.ApplyFlag(d.info().Flag, flag); err != nil {
				t.Fatal(err)
			}
			asked, _ := d.read(flag)
			if got, _ := s.inForce(d); got.value != asked {
				t.Errorf("%s is %v under the flag %s", c.path, got.value, flag)
			}
		})
	}
}

func TestAValueThatIsWrongNamesItsSource(t *testing.T) {
	t.Parallel()
	twice := func(s *Set) error {
		if err := s.ApplyFlag("timeout", "1s"); err != nil {
			return err
		}
		return s.ApplyFlag("exec-timeout", "1s")
	}
	cases := []struct {
		name          string
		apply         func(*Set) error
		message, hint string
	}{
		{
			"a duration without a unit in a file",
			func(s *Set) error { return s.ApplyFile(file(false, "exec.timeout", `60`, "/c.json:3:5")) },
			`/c.json:3:5: exec.timeout: "60" is a duration without a unit`, durationHint,
		},
		{
			"an object for a number",
			func(s *Set) error { return s.ApplyFile(file(false, "limits.inFlight", `{}`, "/c.json:3:5")) },
			`/c.json:3:5: limits.inFlight: the value is neither a string nor a number: {}`, `write a value such as "60s", "64MiB" or 64`,
		},
		{
			"a key with a letter too few",
			func(s *Set) error { return s.ApplyFile(file(false, "exec.timout", `"60s"`, "/c.json:3:5")) },
			"/c.json:3:5: there is no setting exec.timout", "did you mean exec.timeout?",
		},
		{
			"a key like no other",
			func(s *Set) error { return s.ApplyFile(file(false, "limits.everythingElse", `1`, "/c.json:3:5")) },
			"/c.json:3:5: there is no setting limits.everythingElse", "the settings of limits are limits.cpu, limits.inFlight, limits.memory, limits.output, limits.result, limits.source, limits.toolCalls",
		},
		{
			"a variable",
			func(s *Set) error { return s.ApplyEnv(variable("MCPX_STDIO_MAX_LINE", "64M")) },
			`the variable MCPX_STDIO_MAX_LINE: "64M" is not a size`, "write a whole number of bytes, or one with a unit such as 512KiB, 64MiB or 1GiB",
		},
		{
			"a flag",
			func(s *Set) error { return s.ApplyFlag("limits-in-flight", "-1") },
			`the flag --limits-in-flight: "-1" is not a whole number of at least 1`, "write a number such as 64",
		},
		{"two spellings", twice, "--timeout and --exec-timeout are the same setting", "give one of them"},
		{
			"two entries of one file",
			func(s *Set) error {
				return s.ApplyFile(File{Entries: []Entry{
					{Path: "exec.timeout", Value: json.RawMessage(`"x"`), Origin: "a:1:1"},
					{Path: "limits.inFlight", Value: json.RawMessage(`null`), Origin: "a:2:1"},
				}})
			},
			"a:1:1: exec.timeout: \"x\" is not a duration\n" +
				"a:2:1: limits.inFlight: the value is neither a string nor a number: null (write a value such as \"60s\", \"64MiB\" or 64)",
			durationHint,
		},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var s Set
			e := fault.From(c.apply(&s))
			if e == nil {
				t.Fatal("no error")
			}
			if e.Kind != fault.Usage || e.Message != c.message || e.Hint != c.hint {
				t.Errorf("got  %s: %s\n%s\nwant usage: %s\n%s", e.Kind, e.Message, e.Hint, c.message, c.hint)
			}
		})
	}
}

func TestNearest(t *testing.T) {
	t.Parallel()
	for word, want := range map[string]string{
		"timout": "timeout", "TIMEOUT": "timeout", "": "", "result": "result", "reslut": "result", "daemon": "",
	} {
		if got := Nearest(word, []string{"timeout", "result", "inFlight"}); got != want {
			t.Errorf("Nearest(%q) = %q, want %q", word, got, want)
		}
	}
}

func FuzzForms(f *testing.F) {
	for _, seed := range []string{"60s", "64MiB", "7", "-0", "1e9", "٣s", "9223372036854775808"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, d := range registry {
			v, p := d.read(text)
			if p != nil {
				continue
			}
			if d.tighter(v, v) {
				t.Errorf("%s: %q reads as %v, which is less than itself", d.info().Path, text, v)
			}
		}
		if n, p := parseSize(text); p == nil {
			if again, p := parseSize(formatSize(n)); p != nil || again != n {
				t.Errorf("%q is %d bytes, written as %q", text, n, formatSize(n))
			}
		}
	})
}

func TestStrays(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, variable, want string }{
		{"a setting", "MCPX_EXEC_TIMEOUT=1s", ""},
		{"another part of the program", "MCPX_STATE_DIR=/x", ""},
		{"somebody else's", "OTHER_EXEC_TIMOUT=1s", ""},
		{"misspelled", "MCPX_EXEC_TIMOUT=1s", "the variable MCPX_EXEC_TIMOUT has no effect: nothing reads it; did you mean MCPX_EXEC_TIMEOUT?"},
		{"an alias", "MCPX_TIMEOUT=1s", "the variable MCPX_TIMEOUT has no effect: nothing reads it; did you mean MCPX_EXEC_TIMEOUT?"},
		{"misspelled, of another part", "MCPX_CONFG=/x", "the variable MCPX_CONFG has no effect: nothing reads it; did you mean MCPX_CONFIG?"},
		{"of nothing", "MCPX_FAVOURITE_COLOUR=red", "the variable MCPX_FAVOURITE_COLOUR has no effect: nothing reads it"},
		{"set to nothing", "MCPX_FAVOURITE_COLOUR=", ""},
	}
	for _, tt := range tests {
		var got []string
		for _, s := range Strays([]string{"PATH=/bin", tt.variable}) {
			got = append(got, s.String())
		}
		if strings.Join(got, "\n") != tt.want {
			t.Errorf("%s: Strays(%s) = %q, want %q", tt.name, tt.variable, got, tt.want)
		}
	}
}

// Every variable of ours that a source file names is declared: a warning about one that
// is read would be worse than none.
func TestEveryVariableIsDeclared(t *testing.T) {
	t.Parallel()
	name := regexp.MustCompile(`"MCPX_[A-Z0-9_]+"`)
	read := 0
	err := filepath.WalkDir(filepath.Join("..", ".."), func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || filepath.Ext(path) != ".go" || strings.HasSuffix(path, filepath.Join("settings", "settings_test.go")) {
			return err
		}
		text, err := os.ReadFile(path)
		for _, quoted := range name.FindAllString(string(text), -1) {
			read++
			if s := Strays([]string{strings.Trim(quoted, `"`)}); len(s) > 0 {
				t.Errorf("%s: %s is not declared in variables.go", path, quoted)
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if read < 5 {
		t.Errorf("%d variables found in the sources; this test looks in the wrong place", read)
	}
}

func TestGive(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ got, want string }{
		{PoolCallTimeout.Give(4 * time.Minute), "--pool-call-timeout=4m or MCPX_POOL_CALL_TIMEOUT=4m"},
		{ExecTimeout.Give(time.Hour), "--timeout=1h or MCPX_EXEC_TIMEOUT=1h"},
		{StdioMaxLine.Give(128 << 20), "--stdio-max-line=128MiB or MCPX_STDIO_MAX_LINE=128MiB"},
	} {
		if tt.got != tt.want {
			t.Errorf("Give = %q, want %q", tt.got, tt.want)
		}
	}
}

func TestBelowOnlyTightens(t *testing.T) {
	t.Parallel()
	base := &Set{}
	if err := base.ApplyFile(File{Entries: []Entry{{Path: "limits.memory", Value: []byte(`"100MiB"`), Origin: "/c.json:1:1"}}}); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name  string
		asked map[string]string
		want  int64
		calls int
	}{
		{"more than a file", map[string]string{"limits.memory": "200MiB"}, 100 << 20, 1000},
		{"less than a file", map[string]string{"limits.memory": "50MiB"}, 50 << 20, 1000},
		{"more than the default", map[string]string{"limits.toolCalls": "5000"}, 100 << 20, 1000},
		{"less than the default", map[string]string{"limits.toolCalls": "5"}, 100 << 20, 5},
	} {
		set, err := base.Below(test.asked)
		if err != nil {
			t.Fatal(err)
		}
		if memory, calls := LimitsMemory.Get(set), LimitsToolCalls.Get(set); memory != test.want || calls != test.calls {
			t.Errorf("%s: limits.memory %d, limits.toolCalls %d, want %d and %d", test.name, memory, calls, test.want, test.calls)
		}
	}
	if set, err := base.Below(map[string]string{"catalog.budget": "77"}); err != nil || CatalogBudget.Get(set) != 77 {
		t.Errorf("what is no ceiling is %d, %v", CatalogBudget.Get(set), err)
	}
	// A profile has no more and less: a run narrows the one that it is asked for itself.
	if set, err := base.Below(map[string]string{"script.permissions": "all"}); err != nil || ScriptPermissions.Get(set) != "tools" {
		t.Errorf("script.permissions is %q, %v", ScriptPermissions.Get(set), err)
	}
	if _, err := base.Below(map[string]string{"limits.memory": "much"}); err == nil {
		t.Error("a value that is none is taken")
	}
}
