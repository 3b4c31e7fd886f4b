//go:build unix

package pool_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"mcpx/internal/config"
	"mcpx/internal/fault"
	"mcpx/internal/process"
	"mcpx/internal/settings"
	"mcpx/mcp"
	"mcpx/mcp/mcptest"
	"mcpx/pool"
)

func TestMain(m *testing.M) {
	process.Dispatch(os.Args[1:])
	mcptest.Main()
	if script, ok := os.LookupEnv(ownerRole); ok {
		own(script)
	}
	process.Keep(os.Executable)
	os.Exit(m.Run())
}

// server defines a test server that behaves as script says.
func server(name string, script mcptest.Script) *config.Definition {
	cmd := mcptest.Command(script)
	def := &config.Definition{Name: name, Transport: "stdio", Command: cmd.Path, Args: cmd.Args, Env: map[string]string{}}
	for _, kv := range cmd.Env {
		k, v, _ := strings.Cut(kv, "=")
		def.Env[k] = v
	}
	return def
}

func newPool(t *testing.T, flags ...string) *pool.Pool {
	t.Helper()
	var set settings.Set
	for i := 0; i < len(flags); i += 2 {
		if err := set.ApplyFlag(flags[i], flags[i+1]); err != nil {
			t.Fatal(err)
		}
	}
	p := pool.New(pool.Options{Settings: &set, Environ: os.Environ()})
	t.Cleanup(p.Close)
	return p
}

// pids asks a server for its process ids.
func pids(t *testing.T, p *pool.Pool, def *config.Definition) []int {
	t.Helper()
	s, _, err := open(t.Context(), p, def)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := s.Call(t.Context(), mcp.MethodToolsCall, mcp.Raw(`{"name":"pid","arguments":{}}`))
	if err != nil {
		t.Fatal(err)
	}
	r, err := mcp.DecodeResult(raw)
	if err != nil {
		t.Fatal(err)
	}
	var out []int
	for _, f := range strings.FieldsFunc(r.Text(), func(c rune) bool { return c < '0' || c > '9' }) {
		n, err := strconv.Atoi(f)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, n)
	}
	if len(out) == 0 {
		t.Fatalf("pid answered %s", raw)
	}
	return out
}

// alive reports whether a process runs; one that has ended and that its new parent has
// not reaped does not.
func alive(pid int) bool {
	if syscall.Kill(pid, 0) != nil {
		return false
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err != nil || !strings.Contains(string(stat), ") Z ")
}

func TestCallsShareOneInstance(t *testing.T) {
	t.Parallel()
	p := newPool(t)
	def := server("s", mcptest.Script{})
	first := pids(t, p, def)
	if second := pids(t, p, def); fmt.Sprint(first) != fmt.Sprint(second) {
		t.Errorf("two calls ran in %v and %v, want one process", first, second)
	}
	if got := p.Running(); len(got) != 1 || got[0] != "s" {
		t.Errorf("Running() = %v, want [s]", got)
	}
}

func TestConcurrentCallersWaitForOneStart(t *testing.T) {
	t.Parallel()
	p := newPool(t)
	def := server("s", mcptest.Script{})
	fresh := make(chan bool, 20)
	for range cap(fresh) {
		go func() {
			_, f, err := open(context.Background(), p, def)
			if err != nil {
				t.Error(err)
			}
			fresh <- f
		}()
	}
	n := 0
	for range cap(fresh) {
		if <-fresh {
			n++
		}
	}
	if n != 1 {
		t.Errorf("%d callers started an instance, want 1", n)
	}
}

// A server that ignores the end of its input and SIGTERM, and has a child that does too.
func TestCloseLeavesNoProcess(t *testing.T) {
	t.Parallel()
	p := newPool(t)
	ids := pids(t, p, server("s", mcptest.Script{Stubborn: true, Spawn: true}))
	if len(ids) != 2 {
		t.Fatalf("pids = %v, want the server's and its child's", ids)
	}
	begin := time.Now()
	p.Close()
	if took := time.Since(begin); took > time.Minute {
		t.Errorf("Close took %s", took)
	}
	for _, pid := range ids {
		for i := 0; alive(pid); i++ { // killed, but not ours to wait for
			if i == 3000 {
				t.Errorf("process %d is still there", pid)
				break
			}
			time.Sleep(10 * time.Millisecond)
		}
	}
	if _, _, err := open(t.Context(), p, server("t", mcptest.Script{})); fault.KindOf(err) != fault.Unavailable {
		t.Errorf("Session after Close: %v, want unavailable", err)
	}
}

func TestServerIsStartedAgainAfterACrash(t *testing.T) {
	t.Parallel()
	p := newPool(t)
	def := server("s", mcptest.Script{})
	first := pids(t, p, def)
	s, _, err := open(t.Context(), p, def)
	if err != nil {
		t.Fatal(err)
	}
	_, err = s.Call(t.Context(), mcp.MethodToolsCall, mcp.Raw(`{"name":"crash","arguments":{"code":3}}`))
	if got := fault.From(err); got == nil || got.Kind != fault.Unavailable || got.Details["mayHaveRun"] != true {
		t.Errorf("a call that crashes the server: %v (%v), want unavailable that may have run", err, got.Details)
	}
	if second := pids(t, p, def); fmt.Sprint(first) == fmt.Sprint(second) {
		t.Errorf("process %v answers after its crash", second)
	}
}

func TestFailedStartIsNotRepeatedAtOnce(t *testing.T) {
	t.Parallel()
	p := newPool(t)
	def := server("s", mcptest.Script{Exit: 3, Stderr: []string{"no database"}})
	_, _, first := open(t.Context(), p, def)
	e := fault.From(first)
	if e == nil || e.Kind != fault.Unavailable || !strings.Contains(e.Message, "code 3") || !strings.Contains(e.Message+e.Hint+fmt.Sprint(e.Details), "no database") {
		t.Fatalf("start of a server that exits: %v %+v, want its code and its words", first, e)
	}
	begin := time.Now()
	_, _, second := open(t.Context(), p, def)
	if second == nil || second.Error() != first.Error() || time.Since(begin) > time.Minute {
		t.Errorf("second start: %v after %s, want the same answer at once", second, time.Since(begin))
	}
}

func TestMissingProgramSaysWhereItWasLookedFor(t *testing.T) {
	t.Parallel()
	p := newPool(t)
	def := &config.Definition{Name: "gone", Transport: "stdio", Command: "no-such-program-x", Env: map[string]string{"PATH": "/nowhere:/neither"}}
	_, _, err := open(t.Context(), p, def)
	e := fault.From(err)
	if e == nil || e.Kind != fault.Unavailable || !strings.Contains(e.Message+e.Hint, "/nowhere:/neither") || !strings.Contains(e.Message, "gone") {
		t.Errorf("got %v (hint %q), want unavailable naming gone and the PATH", err, e.Hint)
	}
}

func TestSilentServerIsGivenUp(t *testing.T) {
	t.Parallel()
	p := newPool(t, "pool-start-timeout", "300ms", "upstream-probe-timeout", "50ms")
	_, _, err := open(t.Context(), p, server("mute", mcptest.Script{Mute: true}))
	if e := fault.From(err); e == nil || e.Kind != fault.Unavailable || !strings.Contains(e.Message, "pool.startTimeout") {
		t.Errorf("got %v, want unavailable naming pool.startTimeout", err)
	}
}

func TestCallerWhoLeavesDoesNotWaitForTheStart(t *testing.T) {
	t.Parallel()
	p := newPool(t, "pool-start-timeout", "5m", "upstream-probe-timeout", "50ms")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	begin := time.Now()
	if _, _, err := open(ctx, p, server("mute", mcptest.Script{Mute: true})); err == nil || time.Since(begin) > time.Minute {
		t.Errorf("got %v after %s, want the caller's own end at once", err, time.Since(begin))
	}
}

func TestServersBehindAURL(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name      string
		http      mcptest.HTTP
		transport string
		untyped   bool
	}{
		{"Streamable HTTP", mcptest.HTTP{}, config.HTTP, false},
		{"HTTP+SSE", mcptest.HTTP{SSE: true}, config.SSE, false},
		{"HTTP+SSE that is not said to be it", mcptest.HTTP{SSE: true}, config.HTTP, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			web := mcptest.Serve(tt.http)
			defer web.Close()
			p := newPool(t)
			def := &config.Definition{Name: "far", Transport: tt.transport, Untyped: tt.untyped, URL: web.URL, Headers: map[string]string{"X-Key": "k"}}
			for range 2 {
				s, _, err := open(t.Context(), p, def)
				if err != nil {
					t.Fatal(err)
				}
				if _, err := s.Call(t.Context(), mcp.MethodToolsCall, mcp.Raw(`{"name":"echo","arguments":{"message":"x"}}`)); err != nil {
					t.Fatal(err)
				}
			}
			if got := p.Running(); len(got) != 1 || p.Noise(def) != 0 {
				t.Errorf("Running() = %v, Noise() = %d", got, p.Noise(def))
			}
			p.Close()
			opened := 0
			for _, r := range web.Requests() {
				if r.Header.Get("X-Key") != "k" {
					t.Errorf("%s came without the header of the entry", r.Method)
				}
				if strings.Contains(r.Body, `"notifications/initialized"`) {
					opened++
				}
			}
			if opened != 1 {
				t.Errorf("%d sessions for two calls, want 1", opened)
			}
		})
	}
}

func TestServerBehindAURLThatIsNotThere(t *testing.T) {
	t.Parallel()
	web := mcptest.Serve(mcptest.HTTP{SSE: true})
	url := web.URL
	// With a type written nothing else is tried.
	_, _, err := open(t.Context(), newPool(t), &config.Definition{Name: "far", Transport: config.HTTP, URL: url})
	if e := fault.From(err); e == nil || e.Kind != fault.Unavailable || !strings.Contains(e.Message, "HTTP 405") || strings.Contains(e.Message, "SSE") {
		t.Errorf("an HTTP+SSE server as one of Streamable HTTP: %v", err)
	}
	web.Close()
	// Another test may listen where that was; nobody listens at port 1.
	for _, transport := range []string{config.HTTP, config.SSE} {
		_, _, err := open(t.Context(), newPool(t), &config.Definition{Name: "far", Transport: transport, URL: "http://127.0.0.1:1/mcp"})
		if e := fault.From(err); e == nil || e.Kind != fault.Unavailable || !strings.Contains(e.Message, "far cannot be reached") || strings.Contains(e.Hint, "by hand") {
			t.Errorf("%s: %v (%+v), want unavailable naming far", transport, err, e)
		}
	}
}

// The proxy sees where a request is meant to go, and NO_PROXY keeps it out.
func TestProxyOfTheEnvironment(t *testing.T) {
	t.Parallel()
	asked := make(chan string, 100)
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked <- r.URL.Host
		w.WriteHeader(http.StatusProxyAuthRequired)
	}))
	defer proxy.Close()
	tests := []struct {
		name    string
		environ []string
		proxied bool
	}{
		{"HTTP_PROXY", []string{"HTTP_PROXY=" + proxy.URL}, true},
		{"in small letters", []string{"http_proxy=" + proxy.URL}, true},
		{"ALL_PROXY", []string{"ALL_PROXY=" + proxy.URL}, true},
		{"NO_PROXY", []string{"HTTP_PROXY=" + proxy.URL, "NO_PROXY=.invalid"}, false},
		{"for HTTPS", []string{"HTTPS_PROXY=" + proxy.URL}, false},
	}
	for _, tt := range tests {
		p := pool.New(pool.Options{Settings: &settings.Set{}, Environ: tt.environ})
		_, _, err := open(t.Context(), p, &config.Definition{Name: "far", Transport: config.HTTP, URL: "http://far.invalid/mcp"})
		p.Close()
		e := fault.From(err)
		switch {
		case e == nil || e.Kind != fault.Unavailable:
			t.Errorf("%s: %v", tt.name, err)
		case tt.proxied && (!strings.Contains(e.Message, "the proxy before far answered HTTP 407") || len(asked) == 0 || <-asked != "far.invalid"):
			t.Errorf("%s: %v, want the refusal of the proxy", tt.name, err)
		case !tt.proxied && len(asked) > 0:
			t.Errorf("%s: the proxy was asked", tt.name)
		}
		for len(asked) > 0 {
			<-asked
		}
	}
}

// Every start that fails says how to repeat it, unless there is nothing to start.
func TestFailedStartIsShownAsACommandLine(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	tilde := server("s", mcptest.Script{Exit: 3})
	tilde.Args = append(tilde.Args, "~/x y", "~/z")
	tests := []struct {
		name, own string
		def       *config.Definition
		flags     []string
	}{
		{"ends", "stays and waits for input", server("s", mcptest.Script{Exit: 3}), nil},
		{"tilde", "~/x y is passed on as it is: write ${userHome}/x y", tilde, nil},
		{
			"mute", "give it longer with --pool-start-timeout=600ms or MCPX_POOL_START_TIMEOUT=600ms", server("s", mcptest.Script{Mute: true}),
			[]string{"pool-start-timeout", "300ms", "upstream-probe-timeout", "50ms"},
		},
		{"missing", "add its directory to PATH", &config.Definition{Name: "s", Transport: "stdio", Command: "no-such-program-x", Args: []string{"a b"}}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			tt.def.Dir = dir
			tt.def.Env = with(tt.def.Env, "TOKEN", "secret-of-env")
			_, _, err := open(t.Context(), newPool(t, tt.flags...), tt.def)
			e := fault.From(err)
			if e == nil || !strings.Contains(e.Hint, tt.own) {
				t.Fatalf("%v, hint %q; want %q", err, fault.From(err).Hint, tt.own)
			}
			if tt.name == "missing" {
				if strings.Contains(e.Hint, "by hand") {
					t.Errorf("hint %q; want no command line that finds nothing either", e.Hint)
				}
				return
			}
			if !strings.HasSuffix(e.Hint, "\nrun it by hand: "+tt.def.ByHand()) {
				t.Errorf("hint %q; want the command line %s on a line of its own", e.Hint, tt.def.ByHand())
			}
			if !strings.Contains(e.Hint, "cd "+dir+" && ") || strings.Contains(e.Hint, "secret-of-env") {
				t.Errorf("hint %q; want the working directory, and nothing of env", e.Hint)
			}
		})
	}
}

func with(env map[string]string, name, value string) map[string]string {
	if env == nil {
		env = map[string]string{}
	}
	env[name] = value
	return env
}

// The environment that reaches a server, by asking a shell for it.
func TestServersGetOnlyWhatTheyNeed(t *testing.T) {
	t.Parallel()
	environ := []string{"PATH=" + os.Getenv("PATH"), "HOME=/h", "AWS_SECRET_ACCESS_KEY=x", "LC_ALL=C", "XDG_RUNTIME_DIR=/r", "MINE=caller"}
	tests := []struct {
		name    string
		def     config.Definition
		want    []string
		without []string
	}{
		{"allowed and named", config.Definition{Env: map[string]string{"MINE": "entry"}}, []string{"HOME=/h", "LC_ALL=C", "XDG_RUNTIME_DIR=/r", "MINE=entry"}, []string{"AWS_SECRET_ACCESS_KEY", "MINE=caller"}},
		{"inheritEnv", config.Definition{InheritEnv: true}, []string{"AWS_SECRET_ACCESS_KEY=x", "MINE=caller"}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			file := t.TempDir() + "/environment"
			p := pool.New(pool.Options{Settings: &settings.Set{}, Environ: environ})
			defer p.Close()
			def := tt.def
			def.Name, def.Transport, def.Command = "env", "stdio", "sh"
			def.Args = []string{"-c", "env > " + file}
			_, _, _ = open(t.Context(), p, &def) // it exits, which is no matter
			got, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for _, w := range tt.want {
				if !strings.Contains("\n"+string(got), "\n"+w+"\n") {
					t.Errorf("environment lacks %s:\n%s", w, got)
				}
			}
			for _, w := range tt.without {
				if strings.Contains(string(got), w) {
					t.Errorf("environment holds %s:\n%s", w, got)
				}
			}
		})
	}
}

// It runs alone, before the parallel tests, so that it may count goroutines.
func TestNothingIsLeft(t *testing.T) {
	before := runtime.NumGoroutine()
	webs := []*mcptest.Site{mcptest.Serve(mcptest.HTTP{}), mcptest.Serve(mcptest.HTTP{SSE: true})}
	p := pool.New(pool.Options{Settings: &settings.Set{}, Environ: os.Environ()})
	defs := []*config.Definition{server("a", mcptest.Script{}), server("b", mcptest.Script{Exit: 1}), server("c", mcptest.Script{Instructions: "c"})}
	for i, web := range webs {
		defs = append(defs, &config.Definition{Name: fmt.Sprint("web", i), Transport: config.HTTP, Untyped: true, URL: web.URL})
	}
	for _, def := range defs {
		_, _, _ = open(t.Context(), p, def)
	}
	s, _, err := open(t.Context(), p, defs[0])
	if err != nil {
		t.Fatal(err)
	}
	stalled := make(chan error, 1)
	go func() {
		_, err := s.Call(context.Background(), mcp.MethodToolsCall, json.RawMessage(`{"name":"stall","arguments":{}}`))
		stalled <- err
	}()
	p.Close()
	for _, web := range webs {
		web.Close()
	}
	if err := <-stalled; err == nil {
		t.Error("a call under way succeeded although the pool was closed")
	}
	for i := 0; runtime.NumGoroutine() > before+1; i++ { // the thread that starts processes stays
		if i == 6000 {
			buf := make([]byte, 1<<20)
			t.Fatalf("%d goroutines, %d before\n%s", runtime.NumGoroutine(), before, buf[:runtime.Stack(buf, true)])
		}
		time.Sleep(5 * time.Millisecond)
	}
}

func TestARefusalOfATransportNamesTheOther(t *testing.T) {
	t.Parallel()
	refuses := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusMethodNotAllowed) }))
	t.Cleanup(refuses.Close)
	for _, tt := range []struct {
		def  config.Definition
		want string
	}{
		{config.Definition{Transport: config.SSE}, `if it speaks Streamable HTTP, leave "type": "sse" out of its entry`},
		{config.Definition{Transport: config.HTTP}, `if it speaks HTTP+SSE, write "type": "sse" in its entry`},
		{config.Definition{Transport: config.HTTP, Untyped: true}, ""},
	} {
		tt.def.Name, tt.def.URL = "s", refuses.URL
		_, err := newPool(t).Acquire(t.Context(), pool.Request{Def: &tt.def})
		e := fault.From(err)
		if e == nil || !strings.Contains(e.Hint, "whether the url") || !strings.HasSuffix(e.Hint, tt.want) || tt.want == "" && strings.Contains(e.Hint, "if it speaks") {
			t.Errorf("%+v: %v, hint %q", tt.def, err, e.Hint)
		}
	}
}
