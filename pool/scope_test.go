//go:build unix

package pool_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"mcpx/internal/api"
	"mcpx/internal/config"
	"mcpx/internal/fault"
	"mcpx/mcp"
	"mcpx/mcp/mcptest"
	"mcpx/pool"
)

// patiently waits until something holds.
func patiently(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for begin := time.Now(); !holds(); time.Sleep(5 * time.Millisecond) {
		if time.Since(begin) > time.Minute {
			t.Fatalf("it does not come about: %s", what)
		}
	}
}

func acquire(t *testing.T, p *pool.Pool, def *config.Definition, c api.Caller) *pool.Lease {
	t.Helper()
	l, err := p.Acquire(t.Context(), pool.Request{Def: def, Caller: c})
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// pidFor calls a server for a caller and says which process answered.
func pidFor(t *testing.T, p *pool.Pool, def *config.Definition, c api.Caller) string {
	t.Helper()
	l := acquire(t, p, def, c)
	defer l.Release()
	return pidOf(t, l)
}

func pidOf(t *testing.T, l *pool.Lease) string {
	t.Helper()
	raw, err := l.Session().Call(t.Context(), mcp.MethodToolsCall, mcp.Raw(`{"name":"pid","arguments":{}}`))
	if err != nil {
		t.Fatal(err)
	}
	r, err := mcp.DecodeResult(raw)
	if err != nil {
		t.Fatal(err)
	}
	return r.Text()
}

func TestScopesSayWhoSharesAProcess(t *testing.T) {
	t.Parallel()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{"r/.git/refs", "r/.git/objects", "r/a", "r/b", "elsewhere"} {
		if err := os.MkdirAll(filepath.Join(root, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(root, "r/.git/HEAD"), []byte("ref: refs/heads/main\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	environ := append(os.Environ(), "GIT_CEILING_DIRECTORIES="+root)
	at := func(dir, session string, pid int) api.Caller {
		return api.Caller{Dir: filepath.Join(root, dir), Session: session, Pid: pid, Environ: environ}
	}
	tests := []struct {
		name, scope string
		a, b        api.Caller
		same        bool
		key, note   string // of the first
	}{
		{"global", "global", at("r/a", "x", 1), at("elsewhere", "y", 2), true, "global", ""},
		{"one session", "session", at("r/a", "x", 1), at("elsewhere", "x", 2), true, "session:x", ""},
		{"two sessions", "session", at("r/a", "x", 1), at("r/a", "y", 1), false, "session:x", ""},
		{"no session", "session", at("r/a", "", 1), at("r/a", "", 1), false, "call:1", "no session"},
		{"one process", "pid", at("r/a", "x", os.Getpid()), at("elsewhere", "y", os.Getpid()), true, fmt.Sprint("pid:", os.Getpid()), ""},
		{"two processes", "pid", at("r/a", "x", 1), at("r/a", "x", 2), false, "pid:1", ""},
		{"one directory", "cwd", at("r/a", "x", 1), at("r/a", "y", 2), true, "cwd:" + root + "/r/a", ""},
		{"two directories", "cwd", at("r/a", "x", 1), at("r/b", "x", 1), false, "cwd:" + root + "/r/a", ""},
		{"one repository", "repo", at("r/a", "x", 1), at("r/b", "y", 2), true, "repo:" + root + "/r/.git", ""},
		{"two repositories", "repo", at("r/a", "x", 1), at("elsewhere", "x", 1), false, "repo:" + root + "/r/.git", ""},
		{"no repository", "repo", at("elsewhere", "x", 1), at("elsewhere", "y", 2), true, "cwd:" + root + "/elsewhere", "no repository"},
		{"one worktree", "worktree", at("r/a", "x", 1), at("r", "y", 2), true, "worktree:" + root + "/r", ""},
		{"one call", "call", at("r/a", "x", 1), at("r/a", "x", 1), false, "call:1", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			p := newPool(t)
			def := server("s", mcptest.Script{})
			def.Process.Scope = tt.scope
			l := acquire(t, p, def, tt.a)
			first := pidOf(t, l)
			all := p.Instances()
			if len(all) != 1 || all[0].Key != tt.key || (all[0].Note != "") != (tt.note != "") || !strings.Contains(all[0].Note, tt.note) {
				t.Errorf("Instances() = %+v, want the key %s and a note of %q", all, tt.key, tt.note)
			}
			l.Release()
			if second := pidFor(t, p, def, tt.b); (first == second) != tt.same {
				t.Errorf("processes %s and %s, want the same: %t", first, second, tt.same)
			}
		})
	}
}

func TestScopeThatDegradesIsSaidOnce(t *testing.T) {
	t.Parallel()
	p := newPool(t)
	def := server("s", mcptest.Script{})
	def.Process.Scope = "session"
	for range 3 {
		acquire(t, p, def, api.Caller{Dir: "/"}).Release()
	}
	if got := p.Notices(); len(got) != 1 || got[0] != "s: the scope is call instead of session: the caller has no session" {
		t.Errorf("Notices() = %q", got)
	}
}

func TestProcessOfOneCallEndsWithIt(t *testing.T) {
	t.Parallel()
	p := newPool(t)
	def := server("s", mcptest.Script{})
	def.Process.Scope = "call"
	for range 3 {
		pidFor(t, p, def, api.Caller{Dir: "/"})
	}
	patiently(t, "the processes end", func() bool { return len(p.Instances()) == 0 && p.Sets() == 0 })
}

// Calls of an exclusive server come in the order in which they came; one that gives up
// says what it waited for, and does not hold up the others.
func TestExclusiveServersAreUsedInTurn(t *testing.T) {
	t.Parallel()
	p := newPool(t, "pool-sharing", "exclusive")
	def := server("s", mcptest.Script{})
	first := acquire(t, p, def, api.Caller{Dir: "/"})
	type turn struct {
		n     int
		lease *pool.Lease
		err   error
	}
	turns := make(chan turn, 10)
	why := errors.New("there is no time left")
	hasty, giveUp := context.WithCancelCause(t.Context())
	for n := range 4 {
		ctx := t.Context()
		if n == 1 {
			ctx = hasty
		}
		go func() {
			l, err := p.Acquire(ctx, pool.Request{Def: def, Caller: api.Caller{Dir: "/"}})
			turns <- turn{n, l, err}
		}()
		patiently(t, "the call waits", func() bool { return p.Waiting() == n+1 })
	}
	listening, err := p.Acquire(t.Context(), pool.Request{Def: def, Caller: api.Caller{Dir: "/"}, Listening: true})
	if err != nil {
		t.Fatalf("a lease that only listens waits: %v", err)
	}
	defer listening.Release()
	giveUp(why)
	got := <-turns
	e := fault.From(got.err)
	if got.n != 1 || !errors.Is(got.err, why) || e == nil || !strings.Contains(e.Message, "waiting for another call of s to end") || e.Details["mayHaveRun"] != false {
		t.Errorf("the call that gave up: %d, %v", got.n, got.err)
	}
	held := first
	for _, want := range []int{0, 2, 3} {
		select {
		case early := <-turns:
			t.Fatalf("call %d (%v) did not wait", early.n, early.err)
		default:
		}
		held.Release()
		held.Release() // a second time changes nothing
		got := <-turns
		if got.err != nil || got.n != want || got.lease.Fresh() {
			t.Fatalf("turn of %d, %v, want %d on the same process", got.n, got.err, want)
		}
		held = got.lease
	}
	if all := p.Instances(); len(all) != 1 || all[0].Calls != 4 || all[0].UnderWay != 1 {
		t.Errorf("Instances() = %+v, want one with 4 calls", all)
	}
	go func() {
		_, err := p.Acquire(context.Background(), pool.Request{Def: def, Caller: api.Caller{Dir: "/"}})
		turns <- turn{err: err}
	}()
	patiently(t, "the last call waits", func() bool { return p.Waiting() == 1 })
	p.Close()
	if got := <-turns; fault.KindOf(got.err) != fault.Unavailable {
		t.Errorf("a call that waits while the pool is closed: %v", got.err)
	}
	held.Release()
}

// Those who wait for a server that crashes get the next one.
func TestExclusiveServerThatCrashesIsReplaced(t *testing.T) {
	t.Parallel()
	p := newPool(t, "pool-sharing", "exclusive")
	def := server("s", mcptest.Script{})
	first := acquire(t, p, def, api.Caller{Dir: "/"})
	before := pidOf(t, first)
	after := make(chan string, 1)
	go func() {
		l, err := p.Acquire(context.Background(), pool.Request{Def: def, Caller: api.Caller{Dir: "/"}})
		if err != nil {
			after <- err.Error()
			return
		}
		defer l.Release()
		after <- pidOf(t, l)
	}()
	patiently(t, "the other call waits", func() bool { return p.Waiting() == 1 })
	if _, err := first.Session().Call(t.Context(), mcp.MethodToolsCall, mcp.Raw(`{"name":"crash","arguments":{"code":3}}`)); err == nil {
		t.Error("the crash was answered")
	}
	if got := <-after; got == before || !strings.Contains(got, "[") && !strings.ContainsAny(got, "0123456789") {
		t.Errorf("the other call ran in %s, the crashed one in %s", got, before)
	}
	first.Release()
}

// Another process is started only when all are busy, up to the limit, and each call goes
// where the fewest are.
func TestSharedServersGrowWhenTheyAreBusy(t *testing.T) {
	t.Parallel()
	p := newPool(t, "pool-busy", "2", "pool-max", "3")
	def := server("s", mcptest.Script{})
	here := api.Caller{Dir: "/"}
	one, two := acquire(t, p, def, here), acquire(t, p, def, here)
	if n := len(p.Instances()); n != 1 {
		t.Fatalf("%d instances for two calls, want 1", n)
	}
	one.Release()
	for range 20 {
		acquire(t, p, def, here).Release()
	}
	if n := len(p.Instances()); n != 1 {
		t.Fatalf("%d instances for calls one after the other, want 1", n)
	}
	leases := []*pool.Lease{two}
	running := func() (n int) {
		for _, i := range p.Instances() {
			if i.State == "running" {
				n++
			}
		}
		return n
	}
	for range 30 {
		n := len(p.Instances())
		leases = append(leases, acquire(t, p, def, here))
		if grown := len(p.Instances()); grown > n {
			patiently(t, "the other process is there", func() bool { return running() == grown })
		}
	}
	all := p.Instances()
	if len(all) != 3 {
		t.Fatalf("%d instances, want 3: %+v", len(all), all)
	}
	for _, i := range all {
		if i.UnderWay < 9 || i.UnderWay > 12 {
			t.Errorf("%d calls are on one process, of 31 on 3", i.UnderWay)
		}
	}
	for _, l := range leases {
		l.Release()
	}
	if p.Idle() == 0 || p.Busy() {
		t.Error("the pool is busy although no call is under way")
	}
}

func TestIdleProcessesAreReaped(t *testing.T) {
	t.Parallel()
	gone := os.Getpid() + 1<<23 // beyond the numbers that processes have
	in := func(session string, lasting bool) api.Caller {
		return api.Caller{Dir: "/", Session: session, Lasting: lasting, Pid: gone}
	}
	const idle, ttl = 5 * time.Minute, 30 * time.Minute
	tests := []struct {
		name   string
		change func(*config.Definition)
		caller api.Caller
		hold   bool
		listen bool
		after  time.Duration
		left   int
	}{
		{"used lately", nil, in("", false), false, false, idle - time.Minute, 1},
		{"not used", nil, in("", false), false, false, idle + time.Minute, 0},
		{"leased", nil, in("", false), true, false, ttl + time.Minute, 1},
		{"listened to", nil, in("", false), false, true, ttl + time.Minute, 1},
		{"by its entry, soon", func(d *config.Definition) { d.Process.IdleTimeout = time.Second }, in("", false), false, false, 10 * time.Second, 0},
		{"by its entry, late", func(d *config.Definition) { d.Process.IdleTimeout = time.Hour }, in("", false), false, false, ttl, 1},
		{"of a session that was named", func(d *config.Definition) { d.Process.Scope = "session" }, in("x", true), false, false, idle + time.Minute, 1},
		{"of a session that was named and left", func(d *config.Definition) { d.Process.Scope = "session" }, in("x", true), false, false, ttl + time.Minute, 0},
		{"of a session that was found", func(d *config.Definition) { d.Process.Scope = "session" }, in("x", false), false, false, idle + time.Minute, 0},
		{"shared, in a session that was named", nil, in("x", true), false, false, idle + time.Minute, 0},
		{"of a process that is gone", func(d *config.Definition) { d.Process.Scope = "pid" }, in("", false), false, false, 0, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			p := newPool(t)
			def := server("s", mcptest.Script{})
			if tt.change != nil {
				tt.change(def)
			}
			l := acquire(t, p, def, tt.caller)
			if tt.listen {
				ear, err := p.Acquire(t.Context(), pool.Request{Def: def, Caller: tt.caller, Listening: true})
				if err != nil {
					t.Fatal(err)
				}
				defer ear.Release()
			}
			if tt.hold {
				defer l.Release()
			} else {
				l.Release()
			}
			p.Reap(time.Now().Add(tt.after))
			if tt.left == 0 {
				patiently(t, "the process ends", func() bool { return len(p.Instances()) == 0 && p.Sets() == 0 })
				acquire(t, p, def, tt.caller).Release() // and is started again when it is wanted
				return
			}
			if all := p.Instances(); len(all) != 1 || all[0].State != "running" {
				t.Errorf("Instances() = %+v, want it to run", all)
			}
		})
	}
}

// A pool reaps by itself.
func TestPoolReapsByItself(t *testing.T) {
	t.Parallel()
	p := newPool(t, "pool-idle-timeout", "1ms", "daemon-reap-interval", "5ms")
	acquire(t, p, server("s", mcptest.Script{}), api.Caller{Dir: "/"}).Release()
	patiently(t, "the process ends", func() bool { return len(p.Instances()) == 0 })
}

func TestSessions(t *testing.T) {
	t.Parallel()
	p := newPool(t)
	own, common := server("own", mcptest.Script{}), server("common", mcptest.Script{})
	own.Process.Scope = "session"
	a, b := api.Caller{Dir: "/", Session: "a", Lasting: true}, api.Caller{Dir: "/", Session: "b"}
	first := pidFor(t, p, own, a)
	acquire(t, p, own, b).Release()
	acquire(t, p, common, a).Release()
	look, err := p.Acquire(t.Context(), pool.Request{Def: common, Caller: a, Look: true})
	if err != nil {
		t.Fatal(err)
	}
	look.Release()
	for _, i := range p.Instances() {
		if i.Calls != 1 {
			t.Errorf("%+v, want one call: a look is none", i)
		}
	}
	all := p.Sessions()
	if len(all) != 2 || all[0].Name != "a" || !all[0].Lasting || all[0].Calls != 2 || fmt.Sprint(all[0].Servers) != "[own]" || all[1].Lasting || p.Idle() != 0 {
		t.Errorf("Sessions() = %+v, Idle() = %s", all, p.Idle())
	}
	busy := acquire(t, p, own, a)
	if n, known := p.ReleaseSession("a"); n != 1 || !known {
		t.Errorf("ReleaseSession = %d, %t", n, known)
	}
	if pidOf(t, busy) != first {
		t.Error("a call under way lost its process when its session was released")
	}
	if again := pidFor(t, p, own, a); again == first {
		t.Error("a new call of the session uses the process that was let go")
	}
	busy.Release()
	patiently(t, "the process ends with its last call", func() bool { return len(p.Instances()) == 3 })
	if _, known := p.ReleaseSession("nobody"); known {
		t.Error("a session that nobody used is known")
	}
	p.Reap(time.Now().Add(24 * time.Hour)) // the processes
	patiently(t, "the processes end", func() bool { return p.Sets() == 0 })
	p.Reap(time.Now().Add(24 * time.Hour)) // and what is known of their sessions
	if all := p.Sessions(); len(all) != 0 {
		t.Errorf("Sessions() = %+v, want none to be remembered", all)
	}
}

func TestProcessesCanBeEnded(t *testing.T) {
	t.Parallel()
	p := newPool(t)
	a, b := server("a", mcptest.Script{}), server("b", mcptest.Script{})
	here := api.Caller{Dir: "/"}
	busy := acquire(t, p, a, here)
	first, other := pidOf(t, busy), pidFor(t, p, b, here)
	if n := p.Retire(func(d *config.Definition) bool { return d.Name == "a" }); n != 1 {
		t.Errorf("Retire = %d", n)
	}
	if now := pidFor(t, p, a, here); now == first || pidOf(t, busy) != first {
		t.Errorf("a call after Retire uses %s, the one before %s", now, first)
	}
	stalled := make(chan error, 1)
	go func() {
		_, err := busy.Session().Call(context.Background(), mcp.MethodToolsCall, mcp.Raw(`{"name":"stall","arguments":{}}`))
		stalled <- err
	}()
	if n := p.End(func(i pool.Instance) bool { return i.Server == "a" }); n != 2 {
		t.Errorf("End = %d, want the one that retires and the new one", n)
	}
	if err := <-stalled; fault.KindOf(err) != fault.Unavailable {
		t.Errorf("a call on a process that was ended: %v", err)
	}
	busy.Release()
	if pidFor(t, p, b, here) != other {
		t.Error("the other server was ended too")
	}
	pidFor(t, p, a, here) // and a is there again at once
}

func TestWhatBecomesOfInstancesIsTold(t *testing.T) {
	t.Parallel()
	events := make(chan pool.Event, 100)
	p := pool.New(pool.Options{Environ: os.Environ(), Caller: api.Caller{Dir: "/", Session: "mine"}, Watch: func(e pool.Event) { events <- e }})
	l, err := p.Acquire(t.Context(), pool.Request{Def: server("s", mcptest.Script{})})
	if err != nil {
		t.Fatal(err)
	}
	if all := p.Instances(); len(all) != 1 || all[0].State != "running" || fmt.Sprint(all[0].Holders) != "[session:mine]" || all[0].Pid == 0 || all[0].UnderWay != 1 {
		t.Errorf("Instances() = %+v", all)
	}
	_, _ = l.Session().Call(t.Context(), mcp.MethodToolsCall, mcp.Raw(`{"name":"crash","arguments":{"code":3}}`))
	l.Release()
	_, _, err = open(t.Context(), p, server("bad", mcptest.Script{Exit: 4}))
	if err == nil {
		t.Fatal("a server that exits at once was started")
	}
	p.Close()
	close(events)
	got := map[string]bool{}
	for e := range events {
		got[fmt.Sprint(e.Instance.Server, " ", e.Kind, " ", e.Err != nil)] = true
	}
	for _, want := range []string{"s started false", "s ended true", "bad failed true"} {
		if !got[want] {
			t.Errorf("events %v lack %q", got, want)
		}
	}
}

// Leases of a process that is gone are given back when another has taken its place.
func TestOldLeasesDoNotHideANewProcess(t *testing.T) {
	t.Parallel()
	p := newPool(t)
	def := server("s", mcptest.Script{})
	here := api.Caller{Dir: "/"}
	old := []*pool.Lease{acquire(t, p, def, here), acquire(t, p, def, here)}
	pidOf(t, old[0])
	_, _ = old[0].Session().Call(t.Context(), mcp.MethodToolsCall, mcp.Raw(`{"name":"crash","arguments":{"code":3}}`))
	patiently(t, "the pool knows that it ended", func() bool { return p.Sets() == 0 })
	pid := pidFor(t, p, def, here)
	for _, l := range old {
		l.Release()
	}
	if all := p.Instances(); len(all) != 1 || all[0].UnderWay != 0 || pidFor(t, p, def, here) != pid {
		t.Errorf("Instances() = %+v, want the one with %s", all, pid)
	}
	p.Close()
	if all := p.Instances(); len(all) != 0 {
		t.Errorf("after Close there is %+v", all)
	}
}

// A server that dies of its first call again and again is not started for ever.
func TestServerThatKeepsCrashingIsPutOff(t *testing.T) {
	t.Parallel()
	p := newPool(t)
	def := server("s", mcptest.Script{})
	var last error
	for range 10 {
		l, err := p.Acquire(t.Context(), pool.Request{Def: def, Caller: api.Caller{Dir: "/"}})
		if err != nil {
			last = err
			break
		}
		_, _ = l.Session().Call(t.Context(), mcp.MethodToolsCall, mcp.Raw(`{"name":"crash","arguments":{"code":3}}`))
		patiently(t, "its end is known", func() bool { return p.Ended() })
		l.Release()
	}
	e := fault.From(last)
	if e == nil || e.Kind != fault.Unavailable || !strings.Contains(e.Message, "s ends again and again") || !strings.Contains(e.Message, "code 3") {
		t.Errorf("the error is %v, want unavailable with how it ended", last)
	}
}

// What a server says before it ends is quoted without the secrets of its entry, and with
// what it may have missed.
func TestFailedStartShowsNoSecret(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "c.json")
	const entry = `{"mcpServers": {"s": {"command": "sh", "args": ["-c", "echo key is $KEY and NEEDED is not there >&2; echo $KEY; exit 3", "${GIVEN}"], "env": {"KEY": "${GIVEN}"}}}}`
	if err := os.WriteFile(file, []byte(entry), 0o600); err != nil {
		t.Fatal(err)
	}
	environ := []string{"PATH=" + os.Getenv("PATH"), "NEEDED=x", "GIVEN=a-secret-value"}
	env := config.Env{Dir: dir, Lookup: func(name string) (string, bool) {
		if name == "GIVEN" {
			return "a-secret-value", true
		}
		return "", false
	}}
	c, err := config.Load(config.Options{Env: env, File: file})
	if err != nil {
		t.Fatal(err)
	}
	def, err := c.Servers[0].Resolve(env)
	if err != nil {
		t.Fatal(err)
	}
	var log strings.Builder
	p := pool.New(pool.Options{Environ: environ, Log: slog.New(slog.NewTextHandler(&log, nil))})
	_, _, err = open(t.Context(), p, def)
	p.Close()
	e := fault.From(err)
	if e == nil {
		t.Fatal("a server that exits at once was started")
	}
	whole := fmt.Sprint(err, e.Hint, e.Details, log.String())
	if strings.Contains(whole, "a-secret-value") || !strings.Contains(e.Message, "key is [redacted]") {
		t.Errorf("the secret of the entry is in %s", whole)
	}
	if !strings.Contains(e.Hint, "it names NEEDED") || !strings.Contains(e.Hint, "run it by hand") {
		t.Errorf("the hint is %q", e.Hint)
	}
}
