package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"mcpx/internal/api"
	"mcpx/internal/artifact"
	"mcpx/internal/catalog"
	"mcpx/internal/config"
	"mcpx/internal/daemon"
	"mcpx/internal/fault"
	"mcpx/internal/gateway"
	"mcpx/internal/process"
	"mcpx/internal/run"
	"mcpx/internal/sandbox"
	"mcpx/internal/serve"
	"mcpx/internal/settings"
	"mcpx/internal/store"
	"mcpx/internal/task"
	"mcpx/internal/worker"
	"mcpx/mcp/server"
	"mcpx/pool"
)

// Who has started the daemon. Both wait to hear that it listens.
const (
	byCommand = "--by-command"
	byPerson  = "--by-person"
)

// daemonArgs is the command line of a daemon. A person who gives it has a daemon in the
// foreground, for the files that are found from the working directory.
type daemonArgs struct {
	auto   bool   // a command has started it, which may end it again
	tells  bool   // who started it waits to hear that it listens
	dir    string // from which the files were found
	config string // the one file that was named instead
	paths  string // the setting paths.config
	files  []string
	given  bool // files says which there are, even if there are none
}

func parseDaemonArgs(args []string) (daemonArgs, error) {
	var a daemonArgs
	for len(args) > 0 {
		flag := args[0]
		args = args[1:]
		switch flag {
		case byCommand, byPerson:
			a.auto, a.tells, a.given = flag == byCommand, true, true
			continue
		case "--dir", "--config", "--paths", "--file":
		default:
			return a, fault.Usagef("daemon serve has no argument %q", flag).
				Hintf("usage: mcpx daemon serve [--dir DIR] [--config FILE]")
		}
		if len(args) == 0 {
			return a, fault.Usagef("%s needs a value", flag)
		}
		switch flag {
		case "--dir":
			a.dir = args[0]
		case "--config":
			a.config = args[0]
		case "--paths":
			a.paths = args[0]
		default:
			a.files = append(a.files, args[0])
		}
		args = args[1:]
	}
	return a, nil
}

// serveDaemon is the process of a daemon, from its start to its end.
func serveDaemon(args []string) int {
	told := false
	a, err := parseDaemonArgs(args)
	if err == nil {
		err = runDaemon(a, func() {
			told = true
			if a.tells {
				daemon.TellReady(os.Stdout, nil)
			}
		})
	}
	if err == nil {
		return 0
	}
	e := fault.From(err)
	if a.tells && !told {
		daemon.TellReady(os.Stdout, err)
	}
	fmt.Fprintf(os.Stderr, "mcpx: %s\n", e.Message)
	if e.Hint != "" {
		fmt.Fprintf(os.Stderr, "  %s\n", e.Hint)
	}
	return e.Kind.ExitCode()
}

// host is what a daemon is put together from.
type host struct {
	a       daemonArgs
	program string
	env     config.Env
	state   string
	log     *slog.Logger
	pool    *pool.Pool
	catalog *catalog.Catalog
	runner  *run.Runner
	tasks   *task.Keeper
	warm    sync.Once
	at      atomic.Pointer[netip.AddrPort] // where it listens over TCP; no script may reach it
}

func runDaemon(a daemonArgs, ready func()) error {
	program, err := sandbox.Program()
	if err != nil {
		return err
	}
	home, _ := os.UserHomeDir() // without one there are no files of the user's
	if a.dir == "" {
		if a.dir, err = workingDirectory(); err != nil {
			return err
		}
	}
	h := &host{
		a: a, program: program, env: config.Env{Lookup: os.LookupEnv, Home: home, Dir: a.dir, Input: answers(stateDir(home, a.dir))}, state: stateDir(home, a.dir),
	}
	if h.state == "" {
		return fault.Unavailablef("there is no state directory for the daemon to keep its files in").Hintf("set MCPX_STATE_DIR or HOME")
	}
	h.catalog = catalog.Open(filepath.Join(h.state, "catalog"))
	if !a.given {
		set, err := config.Options{Env: h.env, File: a.config, Paths: a.paths, Trusted: store.OpenTrust(h.state).Trusted}.FileSet()
		if err != nil {
			return err
		}
		h.a.files = set.Files
	}
	files, err := h.options().FileSet()
	if err != nil {
		return err
	}
	place := daemon.At(h.state, files.Key(), os.TempDir())
	// The place is held until the process is gone, and with it everything that it started.
	hold, err := daemon.Take(place)
	if err != nil {
		return err
	}
	defer runtime.KeepAlive(hold)
	log := place.LogTo(os.Stderr)
	h.log = slog.New(slog.NewJSONHandler(log, nil))

	first, set, err := h.read()
	if err != nil {
		return err
	}
	log.Follow(set)
	events := api.NewEvents(set)
	h.pool = pool.New(pool.Options{
		Settings: set, Environ: os.Environ(), Version: version, Log: h.log, Caller: api.Caller{Dir: a.dir, Environ: os.Environ()},
		Tokens: secrets(h.state, set), Told: []string{settings.ToldEndpoint + "=unix:" + place.Socket},
		Watch: func(e pool.Event) { publish(events, e) },
	})
	defer h.pool.Close()
	h.runner = &run.Runner{
		Settings: set, Self: program, Dir: a.dir, Home: home, Lookup: os.LookupEnv, Environ: os.Environ(), Log: h.log,
		Profiles: profiles(first), Artifacts: filepath.Join(h.state, "artifacts"),
	}
	defer h.runner.Close()
	h.tasks = &task.Keeper{Dir: taskFolder(h.state), Owner: place.Name, Settings: set, Held: held(h.state)}
	if err := h.tasks.Recover(context.Background()); err != nil {
		h.log.LogAttrs(context.Background(), slog.LevelWarn, "tasks.unreadable", slog.Any("error", err))
	}
	live, err := daemon.NewLive(daemon.LiveOptions{
		Load: h.load, Files: append([]string{filepath.Join(h.state, "trust.json")}, files.Files...), Pool: instances{h.pool}, Events: events, Log: h.log, State: h.state, Artifacts: h.runner.Artifacts, Tasks: h.tasks,
		Entries: h.entries, Settings: set, Runner: h.scripts,
	})
	if err != nil {
		return err
	}
	defer live.Close()
	defer h.tasks.Close()
	h.runner.Caller, h.runner.Tools = live.View(api.Caller{}), live.View(api.Caller{})
	return h.serve(hold, live, set, ready)
}

// warmWorkers is how many are kept ready for scripts, from the first script on.
const warmWorkers = 3

// scripts runs the scripts of a caller.
func (h *host) scripts(c api.Caller, v *daemon.View, set *settings.Set, foreign bool) api.Runner {
	h.warm.Do(func() { h.runner.KeepWarm(warmWorkers) })
	return h.runner.As(func(r *run.Runner) {
		r.Caller, r.Tools, r.Settings, r.Foreign = v, v, set, foreign
		if !settings.DaemonLimitsTimeout.IsDefault(set) {
			r.Longest = settings.DaemonLimitsTimeout.Get(set)
		}
		if at := h.at.Load(); at != nil {
			r.Own = []netip.AddrPort{*at}
		}
		if c.Dir != "" {
			r.Dir = c.Dir
		}
		if c.Environ != nil {
			r.Environ, r.Lookup = c.Environ, lookupIn(c.Environ)
		}
	})
}

// serve listens until the daemon is to end, and becomes another one if it is to start again.
func (h *host) serve(hold *daemon.Hold, live *daemon.Live, set *settings.Set, ready func()) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	ctx, leave := context.WithCancelCause(ctx)
	defer leave(nil)
	var again atomic.Bool
	mcp := &tools{live: live, host: h, set: set}
	defer mcp.close()
	answers := func(of api.Host) http.Handler {
		mux := http.NewServeMux()
		mux.Handle(server.Path, mcp)
		mux.Handle("/", api.Handler(of, api.HandlerOptions{Version: version, Settings: set}))
		return mux
	}
	var ticking sync.WaitGroup
	ticking.Go(func() { check(ctx, live, settings.DaemonReapInterval.Get(set)) })
	defer ticking.Wait()
	tcp := ""
	if port := settings.DaemonPort.Get(set); port != 0 {
		tcp = net.JoinHostPort(settings.DaemonAddress.Get(set), strconv.Itoa(port))
	}
	err := hold.Serve(ctx, daemon.Options{
		Version: build(), Handler: answers(live), Auto: h.a.auto, Log: h.log,
		TCP: tcp, Foreign: answers(live.Foreign()), Guard: func(token string, _ net.Addr, next http.Handler) http.Handler {
			return api.Access{Token: token}.Guard(next)
		},
		Idle: settings.DaemonIdleExit.Get(set), Busy: live.Busy,
		Tick: settings.DaemonReapInterval.Get(set), Grace: settings.HTTPShutdownGrace.Get(set),
		Notices: live.Notices, Settings: func() (own, runtime map[string]string) { return set.OfDaemon(), set.Runtime() },
		Ready: func(r daemon.Record) {
			if at, err := netip.ParseAddrPort(strings.TrimPrefix(r.HTTP, "http://")); err == nil {
				h.at.Store(&at)
			}
			live.Serving(r, func(restart bool) {
				again.Store(restart)
				leave(context.Canceled)
			})
			ready()
		},
		Ending: func() {
			live.EndFollowing()
			mcp.close()
		},
	})
	leave(nil)
	if err == nil && again.Load() {
		mcp.close()
		h.tasks.Close()
		live.Close()
		h.pool.Close()
		process.RestKeeper()
		if at := onDisk(); at != "" && becomeAnother(at, os.Args[1:]) == nil {
			return nil
		}
		return becomeAnother(h.program, os.Args[1:])
	}
	return err
}

// onDisk is the file that has the path of this program now: a newer one, if it was replaced
// while this one ran. It is empty if there is none that could be started.
func onDisk() string {
	path, err := os.Executable()
	if err != nil {
		return ""
	}
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return ""
	}
	return path
}

// check has the daemon look after its servers from time to time.
func check(ctx context.Context, live *daemon.Live, every time.Duration) {
	t := time.NewTicker(every)
	defer t.Stop()
	for {
		select {
		case <-t.C:
			live.Check()
		case <-ctx.Done():
			return
		}
	}
}

// publish says what became of an instance.
func publish(events *api.Events, e pool.Event) {
	data := map[string]any{"server": e.Instance.Server, "key": e.Instance.Key}
	if e.Instance.Pid != 0 {
		data["pid"] = e.Instance.Pid
	}
	if e.Err != nil {
		data["error"] = fault.From(e.Err)
	}
	events.Publish("server."+e.Kind, data)
}

// options are those of a load: the files that the daemon stands for, and no others.
func (h *host) options() config.Options {
	o := config.Options{Env: h.env, File: h.a.config, Paths: h.a.paths, Among: h.a.files, Trusted: store.OpenTrust(h.state).Trusted}
	if o.Among == nil {
		o.Among = []string{}
	}
	o.Env.Lookup = func(name string) (string, bool) {
		if name == "MCPX_CONFIG" && h.a.given {
			return "", false // which files count was decided by whoever started it
		}
		return os.LookupEnv(name)
	}
	return o
}

// read reads the configuration and the settings that go with it.
func (h *host) read() (*config.Config, *settings.Set, error) {
	o := h.options()
	cfg, err := config.Load(o)
	if err != nil {
		return nil, nil, err
	}
	set := &settings.Set{}
	if err := apply(set, cfg); err != nil {
		return nil, nil, err
	}
	return cfg, set, nil
}

// load makes the gateway for the configuration as it is now.
func (h *host) load() (*daemon.Generation, error) {
	cfg, set, err := h.read()
	if err != nil {
		return nil, err
	}
	demo := standIn(cfg, h.program)
	return &daemon.Generation{Config: cfg, Settings: set, Gateway: gateway.New(gateway.Options{
		Config: cfg, Demo: demo, Env: h.env, Settings: set, Pool: h.pool, KeepPool: true, Log: h.log,
		Catalog: h.catalog, Artifacts: h.runner.Artifacts, Globals: worker.Declarations,
	})}, nil
}

// entries changes the files of a caller.
func (h *host) entries(c api.Caller, view api.Servers) daemon.Files {
	env := h.env
	if c.Dir != "" {
		env.Dir = c.Dir
	}
	if c.Environ != nil {
		env.Lookup = lookupIn(c.Environ)
	}
	return &entries{env: env, file: h.a.config, paths: h.a.paths, trust: store.OpenTrust(h.state), state: h.state, config: view.Config}
}

// lookupIn finds a variable in an environment.
func lookupIn(environ []string) func(string) (string, bool) {
	return func(name string) (string, bool) { return process.LookupEnv(environ, name) }
}

// tools offers what there is over MCP, at the daemon's own address. It is put together when
// the first client comes.
type tools struct {
	live *daemon.Live
	host *host
	set  *settings.Set

	mu     sync.Mutex
	closed bool
	front  *server.HTTP
}

func (t *tools) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	front, err := t.open(r.Context())
	if err != nil {
		e := fault.From(err)
		http.Error(w, e.Message, e.Kind.HTTPStatus())
		return
	}
	// Who may ask has been decided already; by the socket's name or through the guard.
	r = r.Clone(r.Context())
	r.Host = mcpHost
	r.Header.Del("Origin")
	front.ServeHTTP(w, r)
}

// limitedRunner runs scripts within what daemon.limits says by then.
type limitedRunner struct{ of *run.Runner }

// Run implements api.Runner.
func (l limitedRunner) Run(ctx context.Context, in api.ExecInput, streams api.Streams) (*api.ExecOutput, error) {
	return l.of.As(func(r *run.Runner) {
		r.Settings = daemon.Limited(r.Settings, false)
		r.Longest = settings.ExecTimeout.Get(r.Settings)
	}).Run(ctx, in, streams)
}

// mcpHost is what the front is called by.
const mcpHost = "mcpx"

func (t *tools) open(ctx context.Context) (*server.HTTP, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case t.closed:
		return nil, fault.Unavailablef("the daemon is ending")
	case t.front != nil:
		return t.front, nil
	}
	exec := api.ExecInput{}
	grant, err := t.host.runner.ToolGrant(exec)
	if err != nil {
		return nil, err
	}
	handler, err := serve.New(ctx, serve.Options{
		Mode: serve.Code, Gateway: t.live.View(api.Caller{}), Version: version, Grant: grant,
		Runner: limitedRunner{t.host.runner}, Exec: exec, Longest: settings.ExecTimeout.Get(daemon.Limited(t.set, false)),
		Artifacts: artifact.In(t.host.runner.Artifacts, t.set), Tasks: t.host.tasks, TaskAfter: settings.TasksAfter.Get(t.set),
		Overview: overview(t.set), Questions: settings.ElicitTTL.Get(t.set),
	})
	if err != nil {
		return nil, err
	}
	t.front = server.NewHTTP(server.HTTPOptions{Handler: handler, Hosts: []string{mcpHost}, Log: t.host.log})
	return t.front, nil
}

func (t *tools) close() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.closed = true
	if t.front != nil {
		t.front.Close()
		t.front = nil
	}
}

var errNoSuccessor = errors.New("no other daemon could be started")
