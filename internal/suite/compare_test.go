//go:build linux

package suite

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"mcpx/internal/catalog"
	"mcpx/mcp"
	"mcpx/mcp/mcptest"
)

// TestComparison does the same things with the program and with others, side by side: node,
// deno and bun, mcporter, and the client of the official TypeScript SDK, each if it is
// installed (testdata/bench). Whoever takes part is asked in turn, so that a machine that
// slows down slows all.
//
// With MCPX_TEST_BENCH=full it takes the medians of ten runs and writes them into
// docs/performance.md; with quick it takes those of three and writes nothing. Without, the
// program and node do everything once, a little of it, to see that they still can.
func TestComparison(t *testing.T) {
	c := &comparison{T: t, calls: 20, scripts: []string{"calls", "strings"}}
	switch size := os.Getenv("MCPX_TEST_BENCH"); size {
	case "":
		t.Parallel()
	case "quick":
		c.rounds, c.held, c.computed, c.calls, c.scripts = 3, 1, 1, 300, nil
	case "full":
		c.rounds, c.held, c.computed, c.calls, c.scripts = 10, 3, 10, 1000, nil
	default:
		t.Fatalf("MCPX_TEST_BENCH is %q, want full or quick", size)
	}
	c.find()
	var page strings.Builder
	c.introduce(&page)
	c.start(&page)
	c.oneCall(&page)
	c.manyCalls(&page)
	c.compute(&page)
	c.tokens(&page)
	text := c.judged() + page.String()
	t.Logf("\n%s", text)
	if os.Getenv("MCPX_TEST_BENCH") == "full" && !t.Failed() {
		writeComparison(t, text)
	}
}

const performancePage = root + "/docs/performance.md"

// onPage takes the page apart: what stands before the generated text, that text, and the rest.
func onPage(t *testing.T) (before, text, after string) {
	t.Helper()
	const begin, end = "<!-- comparison: generated -->\n", "<!-- comparison: end -->"
	page, err := os.ReadFile(performancePage)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(page), begin)
	text, after, ended := strings.Cut(rest, end)
	if !ok || !ended {
		t.Fatalf("%s has no place for the comparison", performancePage)
	}
	return before + begin, text, end + after
}

func writeComparison(t *testing.T, text string) {
	t.Helper()
	before, _, after := onPage(t)
	if err := os.WriteFile(performancePage, []byte(before+text+after), 0o644); err != nil {
		t.Fatal(err)
	}
}

// The page has a comparison, made of ten runs and with everybody in it.
func TestTheComparisonIsWhole(t *testing.T) {
	t.Parallel()
	_, text, _ := onPage(t)
	for _, want := range []string{"Medians of 10 interleaved runs", "`node -e", "`deno eval", "`bun -e", "mcporter", "TypeScript SDK", "geometric mean", "tools/list"} {
		if !strings.Contains(text, want) {
			t.Errorf("the comparison in %s says nothing of %s: make bench writes it", performancePage, want)
		}
	}
}

// A comparison is one run of everything.
type comparison struct {
	*testing.T
	rounds, held, computed int // of most, of what is looked at for its memory, and of scripts that compute; 0 is one without a first that does not count
	calls                  int
	scripts                []string // of those that compute; nil is all

	// Programs; empty if they are not installed.
	mcpx, bare, node, deno, bun, mcporter string
	sdk                                   bool

	base  []string // the environment of all
	home  string
	goals []goal
}

// A goal is met if the figure is at most the limit.
type goal struct {
	what          string
	figure, limit float64
	unit          string
}

// share expects a figure to be at most so many percent of another.
func (c *comparison) share(what string, figure, of, percent float64) {
	c.expect(what, 100*figure/of, percent, "%")
}

func (c *comparison) expect(what string, figure, limit float64, unit string) {
	c.goals = append(c.goals, goal{what, figure, limit, unit})
}

func (c *comparison) find() {
	c.Helper()
	c.mcpx = program(c)
	c.node, _ = exec.LookPath("node")
	c.prepare()
	if c.rounds == 0 {
		return
	}
	installed := filepath.Join(root, "testdata", "bench", "node_modules")
	for _, p := range []struct {
		to   *string
		file string
	}{
		// The packages of the platforms hold the programs themselves; what npm links to is a
		// script that starts them.
		{&c.deno, "@deno/*/deno"},
		{&c.bun, "@oven/*/bin/bun"},
		{&c.mcporter, "mcporter/dist/cli.js"},
	} {
		found, err := filepath.Glob(filepath.Join(installed, filepath.FromSlash(p.file)))
		if err != nil {
			c.Fatal(err)
		}
		if len(found) == 0 {
			c.Logf("%s is not installed; make bench installs it", p.file)
			continue
		}
		if *p.to, err = filepath.Abs(found[0]); err != nil {
			c.Fatal(err)
		}
	}
	if c.node == "" {
		c.mcporter = ""
	}
	_, err := os.Stat(filepath.Join(installed, "@modelcontextprotocol", "sdk"))
	c.sdk = err == nil
}

// hold is how many milliseconds a process stays when it is to be looked at. Then it is ended.
const hold = 60_000

// bare builds what a process costs at least: a program in Go that prints a line. With an
// argument it stays.
func bare(tb testing.TB) string {
	tb.Helper()
	const source = `package main

import (
	"fmt"
	"os"
	"time"
)

func main() {
	fmt.Println(2)
	if len(os.Args) > 1 {
		time.Sleep(time.Minute)
	}
}
`
	dir := tb.TempDir()
	path := filepath.Join(dir, "bare")
	if err := os.WriteFile(filepath.Join(dir, "main.go"), []byte(source), 0o600); err != nil {
		tb.Fatal(err)
	}
	build := exec.Command("go", "build", "-ldflags=-s -w", "-o", path, "main.go")
	build.Dir = dir
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		tb.Fatalf("%v: %s", err, out)
	}
	return path
}

// prepare makes what all need.
func (c *comparison) prepare() {
	c.Helper()
	c.home = c.TempDir()
	c.base = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + c.home, "TMPDIR=" + c.TempDir(), "NO_COLOR=1", "DENO_NO_UPDATE_CHECK=1",
		"MCPX_STATE_DIR=" + filepath.Join(c.home, "state"), "MCPX_POLICY_WRITE=allow", "MCPX_LIMITS_TOOL_CALLS=1000000",
	}
	writeServer(c, filepath.Join(c.home, ".mcp.json"), nil)

	c.bare = bare(c)
}

// A way is somebody's way to do one thing.
type way struct {
	name   string
	dir    string
	env    []string
	args   []string
	want   string // its last line; empty if somebody looks at all that it prints
	before func() // what is done first each time, and not measured
	took   []sample
}

// A sample is one process, from start to exit. Its processor time is also that of all that it
// has started and waited for.
type sample struct {
	wall, processor time.Duration
	memory          float64 // MB; only peak looks at it
	out             string
}

func (c *comparison) once(w *way) sample {
	c.Helper()
	if w.before != nil {
		w.before()
	}
	cmd := exec.Command(w.args[0], w.args[1:]...)
	cmd.Dir, cmd.Env = cmp.Or(w.dir, c.home), append(slices.Clip(c.base), w.env...)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	start := time.Now()
	out, err := cmd.Output()
	wall := time.Since(start)
	said := strings.TrimSpace(string(out))
	if err != nil || w.want != "" && said[strings.LastIndex(said, "\n")+1:] != w.want {
		c.Fatalf("%s printed %q and %q, %v, want %q", w.name, out, stderr.String(), err, w.want)
	}
	return sample{wall: wall, processor: cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(), out: string(out)}
}

// inTurn lets all do it, one after the other, and again. The first time counts only if there
// is no other.
func (c *comparison) inTurn(rounds int, ways []*way) {
	c.Helper()
	for n := range rounds + 1 {
		for _, w := range ways {
			if s := c.once(w); n > 0 || rounds == 0 {
				w.took = append(w.took, s)
			}
		}
	}
}

// middle is the median of what is looked at of a way; NaN if it was never tried.
func middle(w *way, of func(sample) float64) float64 {
	if w == nil || len(w.took) == 0 {
		return math.NaN()
	}
	var all []float64
	for _, s := range w.took {
		all = append(all, of(s))
	}
	slices.Sort(all)
	return (all[(len(all)-1)/2] + all[len(all)/2]) / 2
}

func wall(s sample) float64      { return float64(s.wall) / 1e6 }
func processor(s sample) float64 { return float64(s.processor) / 1e6 }
func memory(s sample) float64    { return s.memory }

func TestTheMedianIsInTheMiddle(t *testing.T) {
	t.Parallel()
	w := &way{}
	if got := middle(w, wall); !math.IsNaN(got) {
		t.Errorf("the median of nothing is %v", got)
	}
	for i, want := range []float64{9, 5, 5, 3} { // of 9; 9 1; 9 1 5; 9 1 5 1
		w.took = append(w.took, sample{memory: []float64{9, 1, 5, 1}[i]})
		if got := middle(w, memory); got != want {
			t.Errorf("the median of %d samples is %v, want %v", len(w.took), got, want)
		}
	}
}

// What a start costs goes with the pages of memory that it touches, and those are the same
// however busy the machine is: at most so many times those of a program in Go that prints a
// line, with all processes together.
func TestStartTouchesFewPages(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	touched := func(args ...string) int64 {
		t.Helper()
		least := int64(math.MaxInt64)
		for range 3 {
			cmd := exec.Command(args[0], args[1:]...)
			cmd.Dir, cmd.Env = home, []string{"MCPX_DAEMON_INLINE=always", "HOME=" + home}
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("%v: %v: %s", args, err, out)
			}
			u, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage)
			if !ok || u.Minflt == 0 {
				t.Fatalf("%v touched nothing: %+v", args, u)
			}
			least = min(least, u.Minflt)
		}
		return least
	}
	one := touched(bare(t))
	for _, c := range []struct {
		args  []string
		limit float64
	}{
		{[]string{"version"}, 6.5},
		{[]string{"--help"}, 6.5},
		{[]string{"exec", "console.log(1+1)"}, 15},
	} {
		n := touched(append([]string{program(t)}, c.args...)...)
		factor := float64(n) / float64(one)
		t.Logf("%v: %d pages, %.1f times %d", c.args, n, factor, one)
		if factor > c.limit {
			t.Errorf("mcpx %s touches %d pages, %.1f times those of a program that prints a line; want at most %.1f times", strings.Join(c.args, " "), n, factor, c.limit)
		}
	}
}

// peak starts a process that stays when it has done its work, and returns how much memory it
// and all that it has started have had at most, in MB: each for itself, so that pages they
// share count for each. The server that is called does not count.
func (c *comparison) peak(w *way) float64 {
	c.Helper()
	cmd := exec.Command(w.args[0], w.args[1:]...)
	cmd.Dir, cmd.Env = cmp.Or(w.dir, c.home), append(slices.Clip(c.base), w.env...)
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		c.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	kib := memoryOf(c.T, cmd.Process.Pid)
	if failure := cmd.Process.Signal(syscall.SIGTERM); err != nil || failure != nil {
		c.Fatalf("%s printed %q: %v, %v", w.name, line, err, failure)
	}
	_ = cmd.Wait() // it was ended
	if kib == 0 {
		c.Fatalf("%s has no memory", w.name)
	}
	return float64(kib) / 1000
}

// memoryOf adds up the most that a process and those below it have had, in KiB.
func memoryOf(t *testing.T, pid int) (kib int) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob("/proc/[0-9]*/status")
	if err != nil {
		t.Fatal(err)
	}
	parents, most := map[int]int{}, map[int]int{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		line, _ := os.ReadFile(filepath.Join(filepath.Dir(file), "cmdline"))
		if first, _, _ := strings.Cut(string(line), "\x00"); err != nil || first == self {
			continue // it has ended, or it is the server
		}
		var id int
		for line := range strings.Lines(string(text)) {
			var n int
			if _, err := fmt.Sscanf(line, "Pid: %d", &n); err == nil {
				id = n
			}
			if _, err := fmt.Sscanf(line, "PPid: %d", &n); err == nil {
				parents[id] = n
			}
			if _, err := fmt.Sscanf(line, "VmHWM: %d kB", &n); err == nil {
				most[id] = n
			}
		}
	}
	for id := range most {
		for up := id; up > 1; up = parents[up] {
			if up == pid {
				kib += most[id]
			}
		}
	}
	return kib
}

// memories returns the median of the peaks of some processes.
func (c *comparison) memories(ways []*way) map[*way]float64 {
	c.Helper()
	all := map[*way]*way{}
	for range max(c.held, 1) {
		for _, w := range ways {
			if all[w] == nil {
				all[w] = &way{}
			}
			all[w].took = append(all[w].took, sample{memory: c.peak(w)})
		}
	}
	out := map[*way]float64{}
	for w, peaks := range all {
		out[w] = middle(peaks, memory)
	}
	return out
}

func (c *comparison) introduce(page *strings.Builder) {
	c.Helper()
	model := "a processor of which nothing is known"
	if text, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		for line := range strings.Lines(string(text)) {
			if name, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) == "model name" {
				model = strings.TrimSpace(value)
				break
			}
		}
	}
	var others []string
	said := func(name, program string) {
		if program != "" {
			others = append(others, name+" "+strings.TrimSpace(c.once(&way{name: name, args: []string{program, "-e", "console.log(process.versions." + name + ")"}}).out))
		}
	}
	said("node", c.node)
	if c.deno != "" {
		others = append(others, "deno "+strings.TrimSpace(c.once(&way{name: "deno", args: []string{c.deno, "eval", "console.log(Deno.version.deno)"}}).out))
	}
	said("bun", c.bun)
	for _, p := range []string{"mcporter", "@modelcontextprotocol/sdk"} {
		if c.rounds == 0 {
			break // they take no part
		}
		text, err := os.ReadFile(filepath.Join(root, "testdata", "bench", "node_modules", filepath.FromSlash(p), "package.json"))
		var about struct{ Version string }
		if err == nil && json.Unmarshal(text, &about) == nil {
			others = append(others, p+" "+about.Version)
		}
	}
	runs := fmt.Sprintf("Medians of %d interleaved runs", c.rounds)
	if c.rounds == 0 {
		runs = "One run"
	}
	load := "an unknown load"
	if text, err := os.ReadFile("/proc/loadavg"); err == nil {
		first, _, _ := strings.Cut(string(text), " ")
		load = "a load of " + first
	}
	fmt.Fprintf(page, "\n%s on %s, on %d processors (%s) at %s, with %s.\n", runs, time.Now().UTC().Format(time.DateOnly), runtime.NumCPU(), model, load, strings.Join(others, ", "))
}

// judged is the table of the goals.
func (c *comparison) judged() string {
	var out strings.Builder
	out.WriteString("| goal | at most | figure | |\n| --- | ---: | ---: | --- |\n")
	for _, g := range c.goals {
		if math.IsNaN(g.figure) {
			continue // who it is compared with is not installed
		}
		verdict := "met"
		if g.figure > g.limit {
			verdict = "**missed**"
		}
		fmt.Fprintf(&out, "| %s | %.0f %s | %s | %s |\n", g.what, g.limit, g.unit, shown(g.figure, g.unit), verdict)
	}
	return out.String()
}

func TestGoalsAreJudged(t *testing.T) {
	t.Parallel()
	c := &comparison{T: t}
	c.expect("below", 2, 3, "MB")
	c.expect("at", 3, 3, "MB")
	c.share("beyond", 31, 100, 30)
	c.share("unknown", math.NaN(), 100, 30)
	want := "| goal | at most | figure | |\n| --- | ---: | ---: | --- |\n" +
		"| below | 3 MB | 2.0 MB | met |\n| at | 3 MB | 3.0 MB | met |\n| beyond | 30 % | 31.0 % | **missed** |\n"
	if got := c.judged(); got != want {
		t.Errorf("the table of the goals is\n%s\nwant\n%s", got, want)
	}
}

// shown writes a figure with as many digits as mean something.
func shown(v float64, unit string) string {
	switch {
	case math.IsNaN(v):
		return "–"
	case v < 10 || unit == "%":
		return strings.TrimSpace(fmt.Sprintf("%.1f %s", v, unit))
	}
	return strings.TrimSpace(fmt.Sprintf("%.0f %s", v, unit))
}

// start measures a process that prints a line.
func (c *comparison) start(page *strings.Builder) {
	c.Helper()
	d := startDaemon(c)
	const code = "console.log(1+1)"
	inline := []string{"MCPX_DAEMON_INLINE=always"}
	bare := &way{name: "a program in Go that prints a line", args: []string{c.bare}, want: "2"}
	version := &way{name: "`mcpx version`", env: inline, args: []string{c.mcpx, "version"}, want: "mcpx dev"}
	ls := &way{name: "`mcpx ls`, its daemon running", dir: d.dir, env: d.env, args: []string{c.mcpx, "ls"}}
	script := &way{name: "`mcpx exec '" + code + "'`", env: inline, args: []string{c.mcpx, "exec", code}, want: "2"}
	ways := []*way{bare, version, ls, script}
	scripts := []*way{script}
	var node *way
	for _, r := range []struct{ name, program, flag string }{{"node", c.node, "-e"}, {"deno", c.deno, "eval"}, {"bun", c.bun, "-e"}} {
		if r.program == "" {
			continue
		}
		w := &way{name: fmt.Sprintf("`%s %s '%s'`", r.name, r.flag, code), args: []string{r.program, r.flag, code}, want: "2"}
		if r.name == "node" {
			node = w
		}
		ways, scripts = append(ways, w), append(scripts, w)
	}
	c.inTurn(c.rounds, ways)
	staying := []*way{{name: bare.name, args: []string{c.bare, "hold"}}}
	for _, w := range scripts {
		s := &way{name: w.name, env: w.env, args: slices.Clone(w.args)}
		s.args[len(s.args)-1] = fmt.Sprintf("%s; setTimeout(() => {}, %d)", code, hold)
		staying = append(staying, s)
	}
	memories := c.memories(staying)
	scripts = slices.Insert(scripts, 0, bare)

	page.WriteString("\n### A process that prints a line\n\n| | time | processor time | memory |\n| --- | ---: | ---: | ---: |\n")
	for _, w := range ways {
		most := math.NaN()
		if i := slices.Index(scripts, w); i >= 0 {
			most = memories[staying[i]]
		}
		fmt.Fprintf(page, "| %s | %s | %s | %s |\n", w.name, shown(middle(w, wall), "ms"), shown(middle(w, processor), "ms"), shown(most, "MB"))
	}
	c.expect("processor time of `mcpx version`, over that of a program in Go that prints a line", middle(version, processor)/middle(bare, processor), 5, "×")
	c.expect("processor time of a script that prints a line, over the same", middle(script, processor)/middle(bare, processor), 12, "×")
	c.share("time of a script that prints a line, of that of `node -e`", middle(script, wall), middle(node, wall), 20)
	idle, _ := rss(c, d.link.Pid)
	c.expect("memory of a daemon that has answered", float64(idle)/1000, 30, "MB")
}

// oneCall measures a process that calls one tool and prints what it answers.
func (c *comparison) oneCall(page *strings.Builder) {
	c.Helper()
	d := startDaemon(c)
	started := c.TempDir()
	writeServer(c, filepath.Join(started, ".mcp.json"), nil)
	onDemand := []string{"HOME=" + started, "MCPX_STATE_DIR=" + filepath.Join(started, "state"), "MCPX_DAEMON_INLINE=never"}
	stop := func() {
		c.once(&way{name: "mcpx daemon stop", dir: started, env: onDemand, args: []string{c.mcpx, "daemon", "stop"}})
	}
	c.Cleanup(stop)

	type row struct {
		name                  string
		running, first, alone *way
	}
	var rows []row
	for _, r := range []struct {
		name string
		args []string
	}{
		{"`mcpx call s.echo message=hello`", []string{c.mcpx, "call", "s.echo", "message=hello"}},
		{"`mcpx exec 'console.log(await tools.s.echo({ message: \"hello\" }))'`", []string{c.mcpx, "exec", `console.log(await tools.s.echo({ message: "hello" }))`}},
	} {
		rows = append(rows, row{
			r.name,
			&way{name: r.name, dir: d.dir, env: d.env, args: r.args, want: "hello"},
			&way{name: r.name, dir: started, env: onDemand, args: r.args, want: "hello", before: stop},
			&way{name: r.name, env: []string{"MCPX_DAEMON_INLINE=always"}, args: r.args, want: "hello"},
		})
	}
	if c.mcporter != "" {
		const name = "`mcporter call s.echo message=hello`, on node"
		args := []string{c.node, c.mcporter, "call", "s.echo", "message=hello"}
		r := row{name: name}
		for _, kind := range []struct {
			to   **way
			more map[string]any
		}{{&r.running, map[string]any{"lifecycle": "keep-alive"}}, {&r.first, map[string]any{"lifecycle": "keep-alive"}}, {&r.alone, nil}} {
			home := c.TempDir()
			writeServer(c, filepath.Join(home, "config", "mcporter.json"), kind.more)
			w := &way{name: name, dir: home, env: []string{"HOME=" + home, "TMPDIR=" + c.TempDir()}, args: args, want: "hello"}
			end := func() {
				c.once(&way{name: "mcporter daemon stop", dir: home, env: w.env, args: []string{c.node, c.mcporter, "daemon", "stop"}})
			}
			if kind.more != nil {
				c.Cleanup(end)
			}
			if kind.to == &r.first {
				w.before = end
			}
			*kind.to = w
		}
		rows = append(rows, r)
	}
	for _, w := range c.clients(0, 1) {
		rows = append(rows, row{name: w.name, alone: w})
	}
	var ways []*way
	for _, r := range rows {
		for _, w := range []*way{r.running, r.first, r.alone} {
			if w != nil {
				ways = append(ways, w)
			}
		}
	}
	c.inTurn(c.rounds, ways)
	page.WriteString("\n### A process that calls one tool of a server over standard streams\n\n" +
		"| | its daemon runs, and the server in it | it starts its daemon | it starts the server, and ends it |\n| --- | ---: | ---: | ---: |\n")
	for _, r := range rows {
		fmt.Fprintf(page, "| %s | %s | %s | %s |\n", r.name, shown(middle(r.running, wall), "ms"), shown(middle(r.first, wall), "ms"), shown(middle(r.alone, wall), "ms"))
	}
	for _, r := range rows[2:] {
		switch {
		case r.running != nil:
			c.share("time of a call by a daemon that runs, of mcporter's", middle(rows[0].running, wall), middle(r.running, wall), 10)
			c.share("time of a call without a daemon, of mcporter's", middle(rows[0].alone, wall), middle(r.alone, wall), 20)
		case strings.HasSuffix(r.name, "node"):
			c.share("time of a call without a daemon, of that of the SDK's client on node", middle(rows[0].alone, wall), middle(r.alone, wall), 20)
		}
	}
}

// clients are the programs that call tools themselves: the SDK's client on each runtime. Each
// makes so many calls, so many at a time.
func (c *comparison) clients(calls, width int) []*way {
	c.Helper()
	if !c.sdk {
		return nil
	}
	var out []*way
	for _, r := range []struct {
		name string
		args []string
	}{{"node", []string{c.node}}, {"deno", []string{c.deno, "run", "--allow-all", "--cached-only"}}, {"bun", []string{c.bun}}} {
		if r.args[0] != "" {
			out = append(out, c.caller("the client of the TypeScript SDK, on "+r.name, "sdk.mjs", r.args, calls, width))
		}
	}
	return out
}

// caller runs one of the scripts of testdata/bench/calls.
func (c *comparison) caller(name, script string, runtime []string, calls, width int) *way {
	c.Helper()
	path, err := filepath.Abs(filepath.Join(root, "testdata", "bench", "calls", script))
	if err != nil {
		c.Fatal(err)
	}
	server := mcptest.Command(mcptest.Script{})
	env := map[string]string{}
	for _, kv := range server.Env {
		key, value, _ := strings.Cut(kv, "=")
		env[key] = value
	}
	about, err := json.Marshal(map[string]any{"command": server.Path, "args": append([]string{}, server.Args...), "env": env})
	if err != nil {
		c.Fatal(err)
	}
	return &way{
		name: name, env: []string{"SERVER=" + string(about)},
		args: append(slices.Clone(runtime), path, strconv.Itoa(calls), strconv.Itoa(width)),
	}
}

// manyCalls measures calls of a server over standard streams that a script makes, without the
// start of either.
func (c *comparison) manyCalls(page *strings.Builder) {
	c.Helper()
	d := startDaemon(c)
	each := func(s sample) float64 {
		var said struct {
			Right int
			Ms    float64
		}
		if err := json.Unmarshal([]byte(s.out), &said); err != nil || said.Right != c.calls {
			c.Fatalf("%d calls, and it printed %q", c.calls, s.out)
		}
		return said.Ms * 1000 / float64(c.calls)
	}
	all := func(width int) []*way {
		warm := c.caller("`mcpx run`, its daemon running", "mcpx.mjs", []string{c.mcpx, "run"}, c.calls, width)
		warm.dir, warm.env = d.dir, d.env
		alone := c.caller("`mcpx run` without a daemon", "mcpx.mjs", []string{c.mcpx, "run"}, c.calls, width)
		alone.env = []string{"MCPX_DAEMON_INLINE=always"}
		out := []*way{warm, alone}
		if c.mcporter != "" {
			out = append(out, c.caller("mcporter as a library, on node", "mcporter.mjs", []string{c.node}, c.calls, width))
		}
		return append(out, c.clients(c.calls, width)...)
	}
	one, many := all(1), all(32)
	c.inTurn(c.rounds, slices.Concat(one, many))
	var staying []*way
	for _, w := range many {
		staying = append(staying, &way{name: w.name, dir: w.dir, env: w.env, args: append(slices.Clone(w.args), strconv.Itoa(hold))})
	}
	memories := c.memories(staying)
	memories[staying[0]] += float64(memoryOf(c.T, d.link.Pid)) / 1000

	fmt.Fprintf(page, "\n### %d calls of a server over standard streams, by a script\n\n", c.calls)
	page.WriteString("Time for each call, without the start of script and server; and the most memory, with that of the daemon and without the server's.\n\n" +
		"| | one after the other | 32 at once | memory |\n| --- | ---: | ---: | ---: |\n")
	for i, w := range one {
		fmt.Fprintf(page, "| %s | %s | %s | %s |\n", w.name, shown(middle(w, each), "µs"), shown(middle(many[i], each), "µs"), shown(memories[staying[i]], "MB"))
	}
	for i, w := range one {
		if strings.Contains(w.name, "SDK") && strings.HasSuffix(w.name, "node") {
			c.share("time of each of many calls without a daemon, one after the other, of that of the SDK's client on node", middle(one[1], each), middle(w, each), 33)
			c.share("the same, 32 at once", middle(many[1], each), middle(many[i], each), 33)
		}
	}
}

// compute measures scripts that compute, each by its own clock.
func (c *comparison) compute(page *strings.Builder) {
	c.Helper()
	files, err := filepath.Glob(filepath.Join(root, "testdata", "bench", "cpu", "*.js"))
	if err != nil || len(files) == 0 {
		c.Fatalf("%d scripts, %v", len(files), err)
	}
	var names []string
	var ways []*way
	runtimes := []struct {
		name string
		args []string
	}{{"mcpx", []string{c.mcpx, "run"}}, {"node", []string{c.node}}, {"deno", []string{c.deno, "run"}}, {"bun", []string{c.bun}}}
	runtimes = slices.DeleteFunc(runtimes, func(r struct {
		name string
		args []string
	},
	) bool {
		return r.args[0] == ""
	})
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".js")
		if c.scripts != nil && !slices.Contains(c.scripts, name) {
			continue
		}
		path, err := filepath.Abs(file)
		if err != nil {
			c.Fatal(err)
		}
		names = append(names, name)
		for _, r := range runtimes {
			ways = append(ways, &way{name: r.name + " " + name, env: []string{"MCPX_DAEMON_INLINE=always"}, args: append(slices.Clone(r.args), path)})
		}
	}
	c.inTurn(c.computed, ways)
	said := func(s sample) (sum string, ms float64) {
		var result []any
		if err := json.Unmarshal([]byte(s.out), &result); err != nil || len(result) != 2 {
			c.Fatalf("a script printed %q", s.out)
		}
		ms, _ = result[1].(float64)
		return fmt.Sprint(result[0]), ms
	}
	page.WriteString("\n### Scripts that compute\n\nTime by the script's own clock; in brackets, how many times that of node. mcpx interprets, the others compile to machine code.\n\n| |")
	for _, r := range runtimes {
		fmt.Fprintf(page, " %s |", r.name)
	}
	page.WriteString("\n| --- |" + strings.Repeat(" ---: |", len(runtimes)) + "\n")
	ms := func(s sample) float64 { _, ms := said(s); return ms }
	logs := make([]float64, len(runtimes))
	for i, name := range names {
		fmt.Fprintf(page, "| `%s` |", name)
		mine := ways[i*len(runtimes) : (i+1)*len(runtimes)]
		node := math.NaN()
		for j, w := range mine {
			if runtimes[j].name == "node" {
				node = middle(w, ms)
			}
		}
		first, _ := said(mine[0].took[0])
		for j, w := range mine {
			if sum, _ := said(w.took[0]); sum != first {
				c.Errorf("%s computes %s, and mcpx %s", w.name, sum, first)
			}
			factor := middle(w, ms) / node
			logs[j] += math.Log(factor)
			fmt.Fprintf(page, " %s (%s) |", shown(middle(w, ms), "ms"), shown(factor, ""))
		}
		page.WriteString("\n")
	}
	page.WriteString("| geometric mean |")
	for j := range runtimes {
		fmt.Fprintf(page, " (%s) |", shown(math.Exp(logs[j]/float64(len(names))), ""))
	}
	page.WriteString("\n")
}

// tokens counts what a client reads before it can call one of some three hundred tools.
func (c *comparison) tokens(page *strings.Builder) {
	c.Helper()
	files, err := filepath.Glob(filepath.Join(root, "internal", "catalog", "testdata", "servers", "*.json"))
	if err != nil || len(files) == 0 {
		c.Fatalf("%d lists of tools, %v", len(files), err)
	}
	dir := c.TempDir()
	entries := map[string]any{}
	var direct []json.RawMessage
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			c.Fatal(err)
		}
		var list struct{ Tools []json.RawMessage }
		if err := json.Unmarshal(text, &list); err != nil || len(list.Tools) == 0 {
			c.Fatalf("%s: %d tools, %v", file, len(list.Tools), err)
		}
		direct = append(direct, list.Tools...)
		cmd := mcptest.Command(mcptest.Script{Tools: list.Tools})
		env := map[string]string{}
		for _, kv := range cmd.Env {
			key, value, _ := strings.Cut(kv, "=")
			env[key] = strings.ReplaceAll(value, "$", "$$")
		}
		entries[strings.TrimSuffix(filepath.Base(file), ".json")] = map[string]any{"command": cmd.Path, "args": append([]string{}, cmd.Args...), "env": env}
	}
	text, err := json.Marshal(map[string]any{"mcpServers": entries})
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, ".mcp.json"), text, 0o600)
	}
	if err != nil {
		c.Fatal(err)
	}
	plain := countTokens(c.T, "", direct)
	fmt.Fprintf(page, "\n### What a client reads of %d tools of %d servers\n\n"+
		"The instructions, and of each tool in `tools/list` its name, description and input schema, which is what hosts hand to the model; counted as [tokens.md](tokens.md) says.\n\n"+
		"| | tools | tokens |\n| --- | ---: | ---: |\n| every server itself | %d | %d |\n", len(direct), len(files), len(direct), plain)
	for _, mode := range []string{"full", "code"} {
		instructions, tools := c.offered(dir, mode)
		n := countTokens(c.T, instructions, tools)
		fmt.Fprintf(page, "| `mcpx serve --mode %s` | %d | %d |\n", mode, len(tools), n)
		if mode == "code" {
			c.share(fmt.Sprintf("tokens that a client of `mcpx serve` reads, of those of `tools/list` of %d tools", len(direct)), float64(n), float64(plain), 10)
		}
	}
}

func countTokens(t *testing.T, instructions string, tools []json.RawMessage) int {
	t.Helper()
	type definition struct {
		Name        string          `json:"name"`
		Description string          `json:"description,omitempty"`
		InputSchema json.RawMessage `json:"inputSchema"`
	}
	var all []definition
	for _, raw := range tools {
		var d definition
		if err := json.Unmarshal(raw, &d); err != nil {
			t.Fatal(err)
		}
		all = append(all, d)
	}
	text, err := json.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	return catalog.Tokens(instructions) + catalog.Tokens(string(text))
}

// offered asks mcpx serve what it offers.
func (c *comparison) offered(dir, mode string) (instructions string, tools []json.RawMessage) {
	c.Helper()
	cmd := exec.Command(c.mcpx, "serve", "--mode", mode)
	cmd.Dir = dir
	cmd.Env = append(slices.Clip(c.base), "HOME="+dir, "MCPX_STATE_DIR="+filepath.Join(dir, "state"), "MCPX_DAEMON_INLINE=always")
	in, err := cmd.StdinPipe()
	if err != nil {
		c.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		c.Fatal(err)
	}
	defer func() {
		in.Close()
		if err := cmd.Wait(); err != nil {
			c.Errorf("mcpx serve ended with %v", err)
		}
	}()
	lines := bufio.NewReader(out)
	ask := func(id int, method, params string, to any) {
		fmt.Fprintf(in, `{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`+"\n", id, method, params)
		for {
			line, err := lines.ReadBytes('\n')
			if err != nil {
				c.Fatalf("%s: %v", method, err)
			}
			var answer struct {
				ID     int
				Result json.RawMessage
				Error  json.RawMessage
			}
			if json.Unmarshal(line, &answer) != nil || answer.ID != id {
				continue // a notification
			}
			if err := json.Unmarshal(answer.Result, to); err != nil || answer.Error != nil {
				c.Fatalf("%s: %s, %v", method, line, err)
			}
			return
		}
	}
	var hello struct{ Instructions string }
	ask(1, "initialize", `{"protocolVersion":"`+mcp.Revision20251125+`","capabilities":{},"clientInfo":{"name":"bench","version":"1"}}`, &hello)
	fmt.Fprintln(in, `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	params := "{}"
	for id := 2; ; id++ {
		var list struct {
			Tools      []json.RawMessage
			NextCursor string
		}
		ask(id, "tools/list", params, &list)
		tools = append(tools, list.Tools...)
		if list.NextCursor == "" {
			return hello.Instructions, tools
		}
		params = fmt.Sprintf(`{"cursor":%q}`, list.NextCursor)
	}
}
