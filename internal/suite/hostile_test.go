//go:build unix

package suite

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
	"unicode"

	"mcpx/internal/api"
	"mcpx/internal/catalog"
	"mcpx/internal/cli"
	"mcpx/internal/config"
	"mcpx/internal/fault"
	"mcpx/internal/gateway"
	"mcpx/internal/grant"
	broker "mcpx/internal/run"
	"mcpx/internal/settings"
	"mcpx/pool"
)

// TestHostile runs scripts that attack their host, those of the suite and those in
// testdata/hostile, one subtest a file, each in a run of
// its own with the grants and limits that its first line names, and checks how it ended
// and that nothing else happened. MCPX_HOSTILE_DIR names another folder of such scripts.
//
// Run by root it does the same once more as a user without privileges.
func TestHostile(t *testing.T) {
	dir := os.Getenv("MCPX_HOSTILE_DIR")
	if dir == "" {
		dir = folder(t, "hostile")
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.ts"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no scripts in %s: %v", dir, err)
	}
	if os.Getenv("MCPX_HOSTILE_DIR") == "" {
		own, err := filepath.Glob(filepath.Join(root, "testdata", "hostile", "*.ts"))
		if err != nil || len(own) == 0 {
			t.Fatalf("no scripts of our own: %v", err)
		}
		files = append(files, own...)
	}
	adapter, err := os.ReadFile(filepath.Join(root, "testdata", "suite", "hostile.adapter.ts"))
	if err != nil {
		t.Fatal(err)
	}
	f := newFixture(t)
	probe, err := json.Marshal(map[string]string{"dir": f.dir, "http": f.http, "other": f.other, "daemon": f.daemon})
	if err != nil {
		t.Fatal(err)
	}
	head := "const PROBE = " + string(probe) + ";\n" + string(adapter)
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".ts"), func(t *testing.T) {
			a, err := readAttack(file)
			if err != nil {
				t.Fatal(err)
			}
			text := head + a.text
			if a.generated {
				text = a.text
			}
			for range a.repeat {
				f.attack(t, a, text)
			}
		})
	}
}

// TestHostileUnprivileged is TestHostile by a user who may do nothing special.
func TestHostileUnprivileged(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("TestHostile has run as a user without privileges")
	}
	dir, err := os.MkdirTemp("", "mcpx-hostile-") //nolint:usetesting // the parents of t.TempDir are closed to others
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	const nobody = 65534
	scripts := os.Getenv("MCPX_HOSTILE_DIR")
	if scripts == "" {
		scripts = folder(t, "hostile")
	}
	from := map[string]string{scripts: "hostile", filepath.Join(root, "testdata", "suite"): "testdata/suite"}
	if os.Getenv("MCPX_HOSTILE_DIR") == "" {
		from[filepath.Join(root, "testdata", "hostile")] = "hostile"
	}
	for from, to := range from {
		if err := os.CopyFS(filepath.Join(dir, to), os.DirFS(from)); err != nil {
			t.Fatal(err)
		}
	}
	// The test finds the repository two folders up.
	at := filepath.Join(dir, "internal", "suite")
	for _, d := range []string{at, filepath.Join(dir, "tmp")} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	copyProgram(t, self(t), filepath.Join(at, "suite.test"))
	err = filepath.WalkDir(dir, func(path string, _ os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return os.Lchown(path, nobody, nobody)
	})
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), filepath.Join(at, "suite.test"), "-test.run=^TestHostile$", "-test.v", "-test.timeout=9m")
	cmd.Dir = at
	cmd.Env = []string{
		"MCPX_DAEMON_INLINE=always", "HOME=" + dir, "TMPDIR=" + filepath.Join(dir, "tmp"), "PATH=" + os.Getenv("PATH"),
		"MCPX_HOSTILE_DIR=" + filepath.Join(dir, "hostile"),
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	out, err := cmd.CombinedOutput()
	if err != nil || !bytes.Contains(out, []byte("--- PASS: TestHostile")) {
		t.Errorf("as user %d: %v", nobody, err)
		for line := range strings.Lines(string(out)) {
			if !strings.HasPrefix(strings.TrimSpace(line), "--- PASS") && !strings.HasPrefix(line, "=== ") {
				t.Log(strings.TrimRight(line, "\n"))
			}
		}
	}
}

// attack is one hostile script.
type attack struct {
	class     string
	must      []string // the outcomes that are right
	repeat    int
	text      string
	generated bool // the text stands alone
	in        api.ExecInput
	memory    int64 // MiB
	settings  []string
	artifacts bool
}

var generated = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^"(.*?)" \+ (\d+)\*"(.*?)" \+ "(.*?)" \+ (\d+)\*"(.*?)"$`)
})

// readAttack reads a script and what its first line says.
func readAttack(file string) (*attack, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	first, rest, _ := strings.Cut(string(text), "\n")
	a := &attack{repeat: 1, text: rest, memory: 128}
	a.in = api.ExecInput{Name: "attack.ts", Permissions: "none", Allow: map[string][]string{}, Timeout: 5 * time.Second}
	limits := map[string]string{"limits-memory": "128MiB", "limits-cpu": "4s", "limits-tool-calls": "200", "limits-output": "256KiB"}
	for field := range strings.SplitSeq(strings.TrimPrefix(first, "// "), " | ") {
		key, value, _ := strings.Cut(field, ": ")
		switch key {
		case "class":
			a.class = value
		case "must":
			a.must = strings.Split(value, " or ")
		case "repeat":
			if a.repeat, err = strconv.Atoi(value); err != nil {
				return nil, err
			}
		case "gen":
			m := generated().FindStringSubmatch(value)
			if m == nil {
				return nil, fmt.Errorf("%s: gen: %s", file, value)
			}
			n, _ := strconv.Atoi(m[2])
			k, _ := strconv.Atoi(m[5])
			a.text, a.generated = m[1]+strings.Repeat(m[3], n)+m[4]+strings.Repeat(m[6], k), true
		case "profile":
			for word := range strings.FieldsSeq(value) {
				if err := a.profile(word, limits); err != nil {
					return nil, fmt.Errorf("%s: %w", file, err)
				}
			}
		default:
			return nil, fmt.Errorf("%s: %q", file, field)
		}
	}
	if a.class == "" || len(a.must) == 0 {
		return nil, fmt.Errorf("%s: its first line says too little", file)
	}
	// A script that is to end by something else does not fail for a machine that is busy.
	if !slices.Contains(a.must, "stopped: time") {
		a.in.Timeout *= patience
	}
	if !slices.Contains(a.must, "stopped: cpu") {
		delete(limits, "limits-cpu")
	}
	for flag, value := range limits {
		a.settings = append(a.settings, flag+"="+value)
	}
	return a, nil
}

func (a *attack) profile(word string, limits map[string]string) error {
	key, value, given := strings.Cut(word, "=")
	switch key {
	case "strict":
		return nil
	case "artifacts":
		a.artifacts = true
		return nil
	case "net", "read", "write", "env", "run", "tools":
		a.in.Allow[key] = []string{}
		if given {
			a.in.Allow[key] = strings.Split(value, ",")
		}
		return nil
	}
	n, err := strconv.ParseInt(value, 10, 64)
	if err != nil {
		return fmt.Errorf("profile %s", word)
	}
	switch key {
	case "mem":
		a.memory, limits["limits-memory"] = n, value+"MiB"
	case "time":
		a.in.Timeout = time.Duration(n) * time.Millisecond
		limits["limits-cpu"] = fmt.Sprintf("%dms", n+500)
	case "calls":
		limits["limits-tool-calls"] = value
	case "out":
		limits["limits-output"] = value + "KiB"
	default:
		return fmt.Errorf("profile %s", word)
	}
	return nil
}

// attack runs a script and says what is wrong with how it ended.
func (f *fixture) attack(t *testing.T, a *attack, text string) {
	t.Helper()
	set := &settings.Set{}
	if err := set.ApplyFlag("policy-write", "allow"); err != nil {
		t.Fatal(err)
	}
	for _, s := range a.settings {
		flag, value, _ := strings.Cut(s, "=")
		if err := set.ApplyFlag(flag, value); err != nil {
			t.Fatal(err)
		}
	}
	in := a.in
	in.Code = text
	in.Allow = map[string][]string{}
	for grant, words := range a.in.Allow {
		list := []string{}
		for _, w := range words {
			list = append(list, strings.ReplaceAll(w, "$PROBE_DIR", f.dir))
		}
		in.Allow[grant] = list
	}
	dir := f.dir
	if read := in.Allow["read"]; len(read) > 0 {
		dir = read[0]
	}
	log := &pidLog{}
	servers := pool.New(pool.Options{Settings: set, Environ: f.environ, Version: "1", Log: slog.New(slog.DiscardHandler)})
	g := gateway.New(gateway.Options{
		Config: &config.Config{Servers: []*config.Server{{
			Name: "probe", Transport: config.Stdio, Command: self(t), Args: []string{probeCommand, filepath.Join(f.dir, "probe")}, Verbatim: true,
		}}},
		Env: config.Env{Dir: f.dir}, Settings: set, Pool: servers, Catalog: catalog.Open(t.TempDir()),
		Globals: func() string { return "" },
	})
	defer g.Close()
	runner := &broker.Runner{
		Caller: g, Tools: g, Settings: set, Dir: dir, Home: f.dir, Environ: f.environ, Log: slog.New(log),
		Profiles: grant.Profiles{Own: map[string]grant.Definition{"artifacts": {Artifacts: new(true)}}},
		Own:      []netip.AddrPort{f.own}, Resolver: f.resolver,
	}
	if a.artifacts {
		in.Permissions = "artifacts"
	}
	defer runner.Close()
	queries := f.queries.Load()
	f.ran("mark")

	begin := time.Now()
	stop := log.watch()
	out, err := runner.Run(t.Context(), in, api.Streams{})
	took, peak := time.Since(begin), stop()
	if err != nil {
		out = &api.ExecOutput{Error: fault.ReportOf(err)}
	}

	got := endings(out)
	if !slices.ContainsFunc(got, func(e string) bool { return slices.Contains(a.must, e) }) {
		t.Errorf("the outcome is %s, want %s: %s", strings.Join(got, " and "), strings.Join(a.must, " or "), clip(fmt.Sprint(reportText(out.Error), " ", out.Stderr)))
		log.mu.Lock()
		t.Log(strings.Join(log.faults, "\n"))
		log.mu.Unlock()
	}
	shown := f.rendered(out)
	document, err := json.Marshal(out)
	if err != nil {
		t.Error(err)
	}
	if strings.Contains(string(document)+shown, secret) {
		t.Error("the secret came out")
	}
	for _, r := range shown {
		if r != '\n' && r != '\t' && r != unicode.ReplacementChar && (unicode.IsControl(r) || unicode.Is(unicode.Cf, r)) {
			t.Errorf("a terminal would get the character %U", r)
			break
		}
	}
	for name, want := range victims {
		if text, err := os.ReadFile(filepath.Join(f.dir, name)); err != nil || string(text) != want {
			t.Errorf("%s is now %q, %v", name, text, err)
		}
	}
	if f.forbidden.Swap(0) > 0 {
		t.Error("a forbidden endpoint or the proxy was reached")
	}
	if f.ran("write") {
		t.Error("probe.write ran")
	}
	if a.class == "budget-after-stop" {
		time.Sleep(500 * time.Millisecond)
		if f.ran("mark") {
			t.Error("the script acted after its end")
		}
	}
	if a.class == "net-dns" && f.queries.Load() != queries {
		t.Error("a name was asked for")
	}
	// Beside the grace of a script that was interrupted there is the start of the worker.
	if most := in.Timeout + 700*time.Millisecond + load(); took > most {
		t.Errorf("the run took %s, want at most %s", took, most)
	}
	if most := a.memory + 130 + stacksOfC; peak > most {
		t.Errorf("the worker had %d MiB at its peak, want at most %d", peak, most)
	}
	if leaks := hostPaths(string(document), f.dir); leaks != "" {
		t.Errorf("the result tells of the host: %s", leaks)
	}
}

// patience is how many times as long a script may take that is not to end by its time.
const patience = 8

// load is how much longer things may take on a machine that does other work: timed
// tests are held to their figures by benchmarks, not here.
func load() time.Duration { return 30 * time.Second }

// hostPaths finds what of the host's own files stands in text: paths of the program, of
// the sources that it was built from, Go's own words.
func hostPaths(text, fixture string) string {
	text = strings.ReplaceAll(text, fixture, "")
	for _, mark := range []string{os.Args[0], "goroutine ", "runtime error", ".go:", "/internal/", "0xc000", "golang.org", "github.com/"} {
		if strings.Contains(text, mark) {
			return mark
		}
	}
	return ""
}

// endings is how a run ended, in the words of the corpus: more than one may be right.
func endings(out *api.ExecOutput) []string {
	e := out.Error
	if e == nil {
		return []string{"ok: " + cmp.Or(string(out.Value), "null")}
	}
	switch e.Kind {
	case fault.Denied:
		word, _, _ := strings.Cut(strings.TrimPrefix(e.Message, "denied: "), " ")
		return []string{"denied: " + strings.TrimSuffix(strings.Replace(word, "imports", "import", 1), ":")}
	case fault.Timeout:
		return []string{"stopped: time"}
	case fault.Internal:
		return []string{"stopped: engine"}
	case fault.Limit:
		switch limit := detail(e, "limit"); limit {
		case "toolCalls":
			return []string{"stopped: calls"}
		case "result", "":
			// Of one answer, not of the run: the script could have gone on.
			return []string{"stopped: output", "FileTooLarge", "ToolError"}
		default:
			return []string{"stopped: " + limit}
		}
	case fault.Unavailable:
		return []string{"NetworkError"}
	}
	found := []string{"exception"}
	if slices.Contains([]string{"RangeError", "TypeError", "SyntaxError", "ReferenceError", "EvalError", "ToolError"}, e.Name) {
		found = []string{e.Name}
	}
	switch code := detail(e, "code"); {
	case strings.HasPrefix(e.Message, "env: "):
		if slices.ContainsFunc(out.Denials, func(d api.Denial) bool { return d.Grant == "env" && "env: "+d.Thing == e.Message }) {
			found = append(found, "denied: env")
		}
	case e.Name == "RangeError" && strings.Contains(e.Message, "nesting too deep"):
		found = append(found, "stopped: stack")
	case code == "ENOENT", code == "ELOOP", strings.HasPrefix(e.Message, "there is no file"), strings.HasPrefix(e.Message, "there is no module"):
		found = append(found, "NotFound")
	case code == "ERR_FS_FILE_TOO_LARGE":
		found = append(found, "FileTooLarge")
	case e.Name == "TypeError" && (e.Message == "fetch failed" || e.Message == "terminated"):
		found = append(found, "NetworkError")
	case e.Name == "ImportError":
		found = append(found, "SyntaxError")
	case e.Name == "DeadlockError", strings.Contains(e.Message, "can never settle"):
		found = append(found, "stopped: deadlock")
	}
	return found
}

func detail(r *fault.Report, key string) string {
	switch v := r.Details[key].(type) {
	case string:
		return v
	case json.RawMessage:
		var s string
		_ = json.Unmarshal(v, &s) // anything else is no code
		return s
	}
	return ""
}

func reportText(r *fault.Report) string {
	if r == nil {
		return ""
	}
	return r.Text()
}

func clip(s string) string {
	if len(s) > 800 {
		return s[:800] + "…"
	}
	return s
}

// rendered is what a terminal would get of a run.
func (f *fixture) rendered(out *api.ExecOutput) string {
	var shown bytes.Buffer
	p := cli.Program{
		Args: []string{"exec", "--no-color", "0"}, Dir: f.dir, Stdout: &shown, Stderr: &shown,
		Terminal: cli.Terminal{Stdout: true, Stderr: true, Columns: 80},
		Open:     func(context.Context, cli.OpenOptions) (cli.Backend, error) { return replay{out: out}, nil },
	}
	p.Run(context.Background())
	return shown.String()
}

// replay is a backend for which a run has ended already.
type replay struct {
	cli.Backend
	out *api.ExecOutput
}

func (r replay) Run(_ context.Context, _ api.ExecInput, s api.Streams) (*api.ExecOutput, error) {
	_, _ = io.WriteString(s.Stdout, r.out.Stdout)
	_, _ = io.WriteString(s.Stderr, r.out.Stderr)
	out := *r.out
	out.Stdout, out.Stderr = "", ""
	return &out, nil
}

func (replay) Notices() []string { return nil }
func (replay) Close() error      { return nil }

// self is this program's file.
func self(t *testing.T) string {
	t.Helper()
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// pidLog is a log that finds out which process the worker is, and how much memory it
// has had.
type pidLog struct {
	mu     sync.Mutex
	pid    int64
	faults []string // what was logged as an error
}

func (*pidLog) Enabled(context.Context, slog.Level) bool { return true }
func (l *pidLog) WithAttrs([]slog.Attr) slog.Handler     { return l }
func (l *pidLog) WithGroup(string) slog.Handler          { return l }

func (l *pidLog) Handle(_ context.Context, r slog.Record) error {
	if r.Level >= slog.LevelError {
		text := r.Message
		r.Attrs(func(a slog.Attr) bool { text += " " + a.String(); return true })
		l.mu.Lock()
		l.faults = append(l.faults, text)
		l.mu.Unlock()
	}
	if r.Message == "run.started" {
		r.Attrs(func(a slog.Attr) bool {
			if a.Key == "pid" {
				l.mu.Lock()
				l.pid = a.Value.Int64()
				l.mu.Unlock()
			}
			return true
		})
	}
	return nil
}

// watch looks at the worker's memory until what it returns is called, which says how
// many MiB it had at its peak; 0 where the system does not tell.
func (l *pidLog) watch() (stop func() int64) {
	quit, peak := make(chan struct{}), make(chan int64)
	go func() {
		var most int64
		for tick := time.NewTicker(5 * time.Millisecond); ; {
			l.mu.Lock()
			pid := l.pid
			l.mu.Unlock()
			if status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid)); err == nil {
				if _, rest, ok := bytes.Cut(status, []byte("VmHWM:")); ok {
					var kib int64
					_, _ = fmt.Sscan(string(rest), &kib)
					most = max(most, kib>>10)
				}
			}
			select {
			case <-quit:
				tick.Stop()
				peak <- most
				return
			case <-tick.C:
			}
		}
	}()
	return func() int64 { close(quit); return <-peak }
}
