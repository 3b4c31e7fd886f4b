//go:build linux

package suite

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"mcpx/internal/api"
	"mcpx/internal/config"
	"mcpx/internal/daemon"
	"mcpx/internal/fault"
	"mcpx/internal/settings"
	"mcpx/mcp"
	"mcpx/mcp/mcptest"
	"mcpx/pool"
)

// callers and crashEach are the load of what follows: as many at once, over at most four
// processes, of which one call in so many ends one.
const callers, crashEach = 200, 100

// resident is a daemon of the program, with one server "s" of package mcptest.
type resident struct {
	dir  string
	env  []string
	link *daemon.Link
}

// startDaemon starts one in a home of its own, and ends it when the test has ended. Then
// nothing of it may be left.
func startDaemon(tb testing.TB) *resident {
	tb.Helper()
	d := &resident{dir: tb.TempDir()}
	d.env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + d.dir, "TMPDIR=" + tb.TempDir(), "MCPX_STATE_DIR=" + filepath.Join(d.dir, "state"),
		"MCPX_POLICY_WRITE=allow", "MCPX_DAEMON_INLINE=never", "MCPX_POOL_MAX=4", "MCPX_POOL_BUSY=8", "NO_COLOR=1",
	}
	writeServer(tb, filepath.Join(d.dir, ".mcp.json"), nil)
	tb.Cleanup(func() {
		d.mcpx(tb, "daemon", "stop")
		if left := processesOf(tb, "", d.dir); len(left) > 0 { // others have daemons of the same program
			tb.Errorf("the daemon has ended, and these are left: %v", left)
		}
	})
	d.mcpx(tb, "daemon", "start")
	places := daemon.All(filepath.Join(d.dir, "state"))
	if len(places) != 1 {
		tb.Fatalf("%d daemons have files", len(places))
	}
	link, err := daemon.Find(tb.Context(), places[0])
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(link.Close)
	d.link = link
	return d
}

// writeServer writes a configuration with the one server "s". more is added to its entry.
func writeServer(tb testing.TB, path string, more map[string]any) {
	tb.Helper()
	cmd := mcptest.Command(mcptest.Script{})
	env := map[string]string{}
	for _, kv := range cmd.Env {
		name, value, _ := strings.Cut(kv, "=")
		env[name] = strings.ReplaceAll(value, "$", "$$")
	}
	entry := map[string]any{"command": cmd.Path, "args": append([]string{}, cmd.Args...), "env": env}
	maps.Copy(entry, more)
	text, err := json.Marshal(map[string]any{"mcpServers": map[string]any{"s": entry}})
	if err == nil {
		err = os.MkdirAll(filepath.Dir(path), 0o700)
	}
	if err == nil {
		err = os.WriteFile(path, text, 0o600)
	}
	if err != nil {
		tb.Fatal(err)
	}
}

// mcpx runs a command where the daemon is, and returns what it printed.
func (d *resident) mcpx(tb testing.TB, args ...string) string {
	tb.Helper()
	cmd := exec.Command(program(tb), args...)
	cmd.Dir, cmd.Env = d.dir, d.env
	out, err := cmd.CombinedOutput()
	if err != nil {
		tb.Fatalf("mcpx %s: %v: %s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

// as is the daemon for one caller.
func (d *resident) as(caller int) *api.Remote {
	return api.NewRemote(d.link.HTTP, daemon.BaseURL, api.Caller{
		Dir: d.dir, Session: "caller " + strconv.Itoa(caller%10), Environ: d.env,
		Settings: map[string]string{"policy.write": "allow"},
	})
}

// call makes the nth call of a load through the daemon.
func (d *resident) call(ctx context.Context, caller, n int, crash bool) error {
	in := api.CallInput{Server: "s", Tool: "echo", Arguments: json.RawMessage(`{"message":"` + strconv.Itoa(n) + `"}`)}
	if crash {
		in.Tool, in.Arguments = "crash", json.RawMessage(`{"code":3}`)
	}
	out, err := d.as(caller).Call(ctx, in)
	if err == nil && out.Text != strconv.Itoa(n) {
		return fmt.Errorf("call %d was answered with %q", n, out.Text)
	}
	return err
}

// rss is how much memory a process has, in KiB.
func rss(tb testing.TB, pid int) (all, own int) {
	tb.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		tb.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		var n int
		if _, err := fmt.Sscanf(line, "VmRSS: %d kB", &n); err == nil {
			all = n
		}
		if _, err := fmt.Sscanf(line, "RssAnon: %d kB", &n); err == nil {
			own = n
		}
	}
	return all, own
}

// A burden is how many calls went, and how long they took.
type burden struct {
	answered, lost int
	wrong          []error
	took           time.Duration
	each           []time.Duration // in order
}

// bear lets the callers make calls until so many are made. A call that ended with its
// server, and says that it may have run, is lost; any other that failed is wrong.
func bear(ctx context.Context, calls int, crashes bool, do func(ctx context.Context, caller, n int, crash bool) error) burden {
	var next, lost atomic.Int64
	var mu sync.Mutex
	var l burden
	began := time.Now()
	var all sync.WaitGroup
	for c := range callers {
		all.Go(func() {
			var mine []time.Duration
			for {
				n := int(next.Add(1))
				if n > calls {
					break
				}
				start := time.Now()
				err := do(ctx, c, n, crashes && n%crashEach == 0)
				mine = append(mine, time.Since(start))
				switch {
				case err == nil:
				case crashes && fault.KindOf(err) == fault.Unavailable && fault.From(err).Details["mayHaveRun"] != nil:
					lost.Add(1)
				default:
					mu.Lock()
					l.wrong = append(l.wrong, fmt.Errorf("call %d: %w", n, err))
					mu.Unlock()
				}
			}
			mu.Lock()
			defer mu.Unlock()
			l.each = append(l.each, mine...)
		})
	}
	all.Wait()
	l.took = time.Since(began)
	l.lost = int(lost.Load())
	l.answered = calls - l.lost - len(l.wrong)
	slices.Sort(l.each)
	return l
}

func (l burden) rate() float64 { return float64(len(l.each)) / l.took.Seconds() }

// within is how long the given share of the calls took at most.
func (l burden) within(share float64) time.Duration {
	return l.each[min(int(share*float64(len(l.each))), len(l.each)-1)]
}

// Many callers at once ask one daemon over its socket, for a server of which one call in a
// hundred ends a process: every call has its answer, or says that it may have run. Then
// nothing is under way, and no process is left but those that the pool keeps. With
// MCPX_TEST_LOAD it is 50,000 calls instead of 2,000.
func TestManyCallsThroughTheDaemon(t *testing.T) {
	t.Parallel()
	calls := 2000
	if os.Getenv("MCPX_TEST_LOAD") != "" {
		calls = 50_000
	}
	d := startDaemon(t)
	before, _ := rss(t, d.link.Pid)
	l := bear(t.Context(), calls, true, d.call)
	for _, err := range l.wrong[:min(len(l.wrong), 5)] {
		t.Error(err)
	}
	if l.answered+l.lost != calls || l.lost < calls/crashEach {
		t.Errorf("%d calls were answered, %d ended with their server and %d failed, of %d with %d crashes", l.answered, l.lost, len(l.wrong), calls, calls/crashEach)
	}
	// What mcpx itself asks a process that has just started may still be under way for a moment.
	for end := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		status, err := d.as(0).Status(t.Context(), api.StatusInput{})
		if err != nil {
			t.Fatal(err)
		}
		if len(status.Instances) > 4 {
			t.Fatalf("%d processes of a server that may have 4", len(status.Instances))
		}
		busy := slices.IndexFunc(status.Instances, func(i api.Instance) bool { return i.InFlight != 0 })
		if busy < 0 {
			break
		}
		if time.Now().After(end) {
			t.Errorf("nobody calls any more, and yet %+v", status.Instances[busy])
			break
		}
	}
	after, own := rss(t, d.link.Pid)
	t.Logf("%d answered, %d lost: %.0f calls/s, half within %s, 99 of 100 within %s; the daemon had %d KiB before and %d after, of them %d its own",
		l.answered, l.lost, l.rate(), l.within(0.5).Round(time.Microsecond), l.within(0.99).Round(time.Microsecond), before, after, own)
	if after > before+128<<10 {
		t.Errorf("the daemon has %d KiB more after %d calls", after-before, calls)
	}
}

// BenchmarkLoad lets 200 callers at once make calls, through the pool in this process,
// through the daemon's socket, and by the official Go SDK's client over four processes that
// it starts itself. It reports calls a second and what half and 99 of 100 calls took at
// most. -benchtime 50000x is the load that the figures of docs/performance.md are about.
func BenchmarkLoad(b *testing.B) {
	for _, way := range []struct {
		name    string
		crashes bool
		open    func(b *testing.B) func(ctx context.Context, caller, n int, crash bool) error
	}{
		{"pool", false, throughPool},
		{"pool/crashes", true, throughPool},
		{"daemon", false, throughDaemon},
		{"daemon/crashes", true, throughDaemon},
		{"sdk", false, throughSDK},
	} {
		b.Run(way.name, func(b *testing.B) {
			call := way.open(b)
			b.ResetTimer()
			l := bear(b.Context(), b.N, way.crashes, call)
			b.StopTimer()
			for _, err := range l.wrong[:min(len(l.wrong), 5)] {
				b.Error(err)
			}
			b.ReportMetric(l.rate(), "calls/s")
			b.ReportMetric(float64(l.within(0.5))/1e6, "half-ms")
			b.ReportMetric(float64(l.within(0.99))/1e6, "99%-ms")
		})
	}
}

func throughDaemon(b *testing.B) func(ctx context.Context, caller, n int, crash bool) error {
	d := startDaemon(b)
	if err := d.call(b.Context(), 0, 0, false); err != nil {
		b.Fatal(err)
	}
	return d.call
}

func throughPool(b *testing.B) func(ctx context.Context, caller, n int, crash bool) error {
	set := &settings.Set{}
	for name, value := range map[string]string{"pool-max": "4", "pool-busy": "8"} {
		if err := set.ApplyFlag(name, value); err != nil {
			b.Fatal(err)
		}
	}
	p := pool.New(pool.Options{Settings: set, Environ: os.Environ()})
	b.Cleanup(p.Close)
	cmd := mcptest.Command(mcptest.Script{})
	def := &config.Definition{Name: "s", Transport: "stdio", Command: cmd.Path, Args: cmd.Args, Env: map[string]string{}}
	for _, kv := range cmd.Env {
		name, value, _ := strings.Cut(kv, "=")
		def.Env[name] = value
	}
	return func(ctx context.Context, caller, n int, crash bool) error {
		l, err := p.Acquire(ctx, pool.Request{Def: def, Caller: api.Caller{Dir: "/", Session: "caller " + strconv.Itoa(caller%10)}})
		if err != nil {
			return err
		}
		defer l.Release()
		params := `{"name":"echo","arguments":{"message":"` + strconv.Itoa(n) + `"}}`
		if crash {
			params = `{"name":"crash","arguments":{"code":3}}`
		}
		raw, err := l.Session().Call(ctx, mcp.MethodToolsCall, mcp.Raw(params))
		if err != nil {
			return err
		}
		result, err := mcp.DecodeResult(raw)
		if err == nil && result.Text() != strconv.Itoa(n) {
			err = fmt.Errorf("answered with %s", raw)
		}
		return err
	}
}

func throughSDK(b *testing.B) func(ctx context.Context, caller, n int, crash bool) error {
	var sessions []*sdk.ClientSession
	for range 4 {
		script := mcptest.Command(mcptest.Script{})
		cmd := exec.Command(script.Path, script.Args...)
		cmd.Env = append(os.Environ(), script.Env...)
		s, err := sdk.NewClient(&sdk.Implementation{Name: "peer", Version: "1"}, nil).
			Connect(b.Context(), &sdk.CommandTransport{Command: cmd}, &sdk.ClientSessionOptions{ProtocolVersion: mcp.Revision20251125})
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { s.Close() })
		sessions = append(sessions, s)
	}
	return func(ctx context.Context, caller, n int, _ bool) error {
		result, err := sessions[caller%len(sessions)].CallTool(ctx, &sdk.CallToolParams{Name: "echo", Arguments: map[string]any{"message": strconv.Itoa(n)}})
		if err != nil {
			return err
		}
		if text, ok := result.Content[0].(*sdk.TextContent); !ok || text.Text != strconv.Itoa(n) {
			return fmt.Errorf("answered with %+v", result)
		}
		return nil
	}
}

// BenchmarkCommand measures one call of a tool as a person or an agent makes it, the whole
// process from start to exit: mcpx with its daemon, mcpx without one, and mcporter both
// ways, if testdata/bench has it.
func BenchmarkCommand(b *testing.B) {
	bench := func(name, dir string, env []string, args ...string) {
		b.Run(name, func(b *testing.B) {
			var each []time.Duration
			one := func() {
				cmd := exec.Command(args[0], args[1:]...)
				cmd.Dir, cmd.Env = dir, env
				start := time.Now()
				out, err := cmd.CombinedOutput()
				each = append(each, time.Since(start))
				if err != nil || strings.TrimSpace(string(out)) != "hello" {
					b.Fatalf("%v printed %q, %v, want hello", args, out, err)
				}
			}
			one() // what is started for all
			each = each[:0]
			for b.Loop() {
				one()
			}
			slices.Sort(each)
			b.ReportMetric(float64(each[0])/1e6, "least-ms")
			b.ReportMetric(float64(each[len(each)/2])/1e6, "half-ms")
		})
	}
	d := startDaemon(b)
	path := program(b)
	bench("mcpx/daemon", d.dir, d.env, path, "call", "s.echo", "message=hello")
	all, own := rss(b, d.link.Pid)
	b.Logf("the daemon has %d KiB, of them %d its own", all, own)
	bench("mcpx/inline", d.dir, append(slices.Clone(d.env), "MCPX_DAEMON_INLINE=always"), path, "call", "s.echo", "message=hello")

	theirs, err := filepath.Abs(filepath.Join(root, "testdata", "bench", "node_modules", "mcporter", "dist", "cli.js"))
	if err != nil {
		b.Fatal(err)
	}
	if _, err := os.Stat(theirs); err != nil {
		b.Logf("nothing to compare with: %v; `make bench` installs it", err)
		return
	}
	for _, way := range []struct {
		name string
		more map[string]any
	}{
		{"mcporter/daemon", map[string]any{"lifecycle": "keep-alive"}},
		{"mcporter/inline", nil},
	} {
		home := b.TempDir()
		writeServer(b, filepath.Join(home, "config", "mcporter.json"), way.more)
		env := []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home, "TMPDIR=" + b.TempDir(), "NO_COLOR=1"}
		b.Cleanup(func() {
			cmd := exec.Command(node(b), theirs, "daemon", "stop")
			cmd.Dir, cmd.Env = home, env
			if out, err := cmd.CombinedOutput(); err != nil {
				b.Logf("mcporter daemon stop: %v: %s", err, out)
			}
		})
		bench(way.name, home, env, node(b), theirs, "call", "s.echo", "message=hello")
	}
}
