package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"mcpx/internal/api"
	"mcpx/internal/artifact"
	"mcpx/internal/catalog"
	"mcpx/internal/cli"
	"mcpx/internal/config"
	"mcpx/internal/fault"
	"mcpx/internal/gateway"
	"mcpx/internal/run"
	"mcpx/internal/sandbox"
	"mcpx/internal/scope"
	"mcpx/internal/settings"
	"mcpx/internal/store"
	"mcpx/internal/task"
	"mcpx/internal/worker"
	"mcpx/pool"
)

// inline answers for one command in this process: what it starts ends with it.
type inline struct {
	*gateway.Gateway
	*entries
	*itself
	*tuning
	artifact.Desk
	*task.Keeper
	runner  *run.Runner
	pool    *pool.Pool
	config  *config.Config
	trust   *store.Trust
	notices []string

	settings *settings.Set
	state    string // the state directory; empty if there is none
}

var _ api.Service = (*inline)(nil)

// command is what one command line says, and where it was given.
type command struct {
	cli.OpenOptions
	program string
	env     config.Env
	state   string // the state directory, absolute; empty if there is none
	trust   *store.Trust
	log     *slog.Logger
	caller  api.Caller
	asked   map[string]string // what flags and variables say, by path
	runner  *run.Runner
	load    *cargo                  // what this program carries; nil if it is mcpx itself
	own     func() (*inline, error) // opened when it is first needed, and once
	opened  atomic.Bool             // own has been called
	silent  error                   // why the daemon that runs cannot be asked; nil as far as it can
	started time.Time

	questions sync.Mutex // held while a person is asked for an input
}

// open puts together what answers for a command: the daemon, or this process alone. Nothing
// is started but the worker, if a script is to be run: it comes up meanwhile.
func open(ctx context.Context, o cli.OpenOptions, dir string, load *cargo) (_ cli.Backend, err error) {
	program, err := sandbox.Program()
	if err != nil {
		return nil, err
	}
	log := slog.New(slog.DiscardHandler)
	if o.Log != nil {
		log = slog.New(slog.NewTextHandler(o.Log, &slog.HandlerOptions{Level: slog.LevelDebug, ReplaceAttr: withoutTime}))
	}
	runner := &run.Runner{Settings: o.Settings, Self: program, Dir: dir, Lookup: os.LookupEnv, Log: log}
	if o.Script {
		runner.Start(o.File)
		defer func() {
			if err != nil {
				_ = runner.Close() // the configuration's error is the one to tell
			}
		}()
	}
	home, _ := os.UserHomeDir() // without one there are no files of the user's
	c := &command{
		OpenOptions: o, program: program, env: config.Env{Lookup: os.LookupEnv, Home: home, Dir: dir},
		state: stateDir(home, dir), log: log, runner: runner, started: time.Now(), load: load,
	}
	c.trust = store.OpenTrust(c.state)
	c.env.Input = answers(c.state)
	c.own = sync.OnceValues(func() (*inline, error) {
		c.opened.Store(true)
		return c.inline()
	})
	if err := o.Settings.ApplyEnv(os.LookupEnv); err != nil && !o.Survey {
		return nil, err
	}
	c.asked, c.caller = o.Settings.Asked(), callerOf(o, dir)
	return c.backend(ctx)
}

// callerOf is this process, as far as it matters to servers.
func callerOf(o cli.OpenOptions, dir string) api.Caller {
	c := api.Caller{
		Dir: dir, Session: o.Session, Lasting: o.Session != "", Environ: os.Environ(), Settings: settings.Travels(o.Settings.Asked()),
		Pid: os.Getppid(), // whoever gives commands: the command itself is gone in a moment
	}
	if c.Session == "" {
		c.Session = cmp.Or(scope.SessionOf(c.Environ, settings.SessionVariables.Get(o.Settings)), terminalSession())
	}
	return c
}

// inline reads the configuration, and puts together what answers in this process.
func (c *command) inline() (*inline, error) {
	cfg, err := config.Load(c.options())
	if err != nil {
		return nil, err
	}
	problems := applied(c.Settings, cfg)
	if len(problems) > 0 && !c.Survey {
		return nil, problems[0]
	}
	c.runner.Home, c.runner.Environ, c.runner.Profiles = c.env.Home, os.Environ(), profiles(cfg)
	if c.state != "" {
		c.runner.Artifacts = filepath.Join(c.state, "artifacts")
	}
	standsIn := c.load == nil && standIn(cfg, c.program)
	strays := strays(cfg)
	servers := pool.New(pool.Options{
		Settings: c.Settings, Environ: os.Environ(), Version: version, Log: c.log, Caller: c.caller,
		Tokens: secrets(c.state, c.Settings),
	})
	g := gateway.New(gateway.Options{
		Config: cfg, Demo: standsIn, Carried: c.load != nil, Env: c.env, Settings: c.Settings, Pool: servers, Log: c.log,
		Catalog: catalogIn(c.state), Artifacts: c.runner.Artifacts,
		Globals: worker.Declarations,
		Notes:   func(ctx context.Context) []api.Finding { return c.machine(ctx, cfg, strays, problems) },
	})
	var notices []string
	if !c.Survey { // which has them among its findings
		notices = slices.Concat(c.Settings.Notices(), cfg.Astray, g.RuleNotices())
		for _, s := range strays {
			notices = append(notices, s.String())
		}
	}
	c.runner.Caller, c.runner.Tools = asker{c, g}, g
	files := &entries{env: c.env, file: c.Config, paths: c.options().Paths, trust: c.trust, state: c.state, config: g.Config}
	return &inline{
		Gateway: g, runner: c.runner, pool: servers, config: cfg, trust: c.trust, notices: notices, settings: c.Settings, state: c.state,
		itself:  &itself{servers: g, instances: instances{servers}.Instances, state: c.state, started: c.started},
		entries: files,
		tuning:  &tuning{c.Settings, files},
		Keeper:  &task.Keeper{Dir: taskFolder(c.state), Settings: c.Settings, Held: held(c.state)},
		Desk:    artifact.Desk{Store: artifact.In(c.runner.Artifacts, c.Settings)},
	}, nil
}

// catalogIn is the catalog of a state directory. Without one it lasts as long as the process.
func catalogIn(state string) *catalog.Catalog {
	if state == "" {
		return catalog.Open("")
	}
	return catalog.Open(filepath.Join(state, "catalog"))
}

// standIn puts the demo server where nothing is configured, and reports whether it did. A
// file that cannot be read may hold servers: then nothing may stand in for them.
func standIn(cfg *config.Config, program string) bool {
	broken := slices.ContainsFunc(cfg.Files, func(f config.File) bool { return f.State == config.Broken })
	if len(cfg.Servers) > 0 || cfg.Explicit || broken {
		return false
	}
	cfg.Stand(demoServer(program))
	return true
}

// close ends what was started.
func (b *inline) close() error {
	err := b.runner.Close()
	b.Gateway.Close()
	return err
}

// withoutTime leaves out of a log line when it was written: it is read as it appears.
func withoutTime(groups []string, a slog.Attr) slog.Attr {
	if a.Key == slog.TimeKey && len(groups) == 0 {
		return slog.Attr{}
	}
	return a
}

// apply adds to the flags what files and variables say.
func apply(set *settings.Set, cfg *config.Config) error {
	if problems := applied(set, cfg); len(problems) > 0 {
		return problems[0]
	}
	return nil
}

// applied is apply, and goes on where something is wrong.
func applied(set *settings.Set, cfg *config.Config) (problems []error) {
	for _, f := range cfg.Settings {
		if err := set.ApplyFile(f); err != nil {
			problems = append(problems, err)
		}
	}
	if err := set.ApplyEnv(os.LookupEnv); err != nil {
		problems = append(problems, err)
	}
	if settings.PlumbingStrictUnknownKeys.Get(set) == "true" {
		cfg.Strict()
	}
	for _, f := range cfg.Faults {
		problems = append(problems, f)
	}
	if settings.ConfigTrust.Get(set) == "require" {
		for _, s := range cfg.Servers {
			if s.Guest {
				s.Problem = fault.Deniedf("%s: server %q: the files of this project are not trusted, and config.trust is require", s.Origin, s.Name).
					Hintf(`read the file, and trust it with "mcpx config trust"`).With("server", s.Name).With("file", s.Origin.File)
			}
		}
	}
	return problems
}

// strays are the variables that look like ours and that neither this program nor an entry
// of the configuration reads.
func strays(cfg *config.Config) []settings.Stray {
	return slices.DeleteFunc(settings.Strays(os.Environ()), func(s settings.Stray) bool { return cfg.Mentions(s.Name) })
}

func strayFindings(strays []settings.Stray) []api.Finding {
	var out []api.Finding
	for _, s := range strays {
		f := api.Finding{Subject: "variable " + s.Name, State: "warning", Message: "it has no effect: nothing reads it"}
		if s.Nearest != "" {
			f.Hint = "did you mean " + s.Nearest + "?"
		}
		out = append(out, f)
	}
	return out
}

// demoServer is this program once more, as a server.
func demoServer(program string) *config.Server {
	return &config.Server{
		Name: "demo", Transport: "stdio",
		Command:  program,
		Args:     []string{demoCommand},
		Verbatim: true, // a path, not a placeholder
		Origin:   config.Origin{File: "built in"},
	}
}

// examineState says whether the catalog can be kept.
func examineState(dir string) api.Finding {
	f := api.Finding{Subject: "state directory", State: "ok", Message: dir}
	if dir == "" {
		f.State, f.Message = "warning", "there is none, so every run asks the servers for their tools again"
		f.Hint = "set MCPX_STATE_DIR or HOME"
		return f
	}
	probe := filepath.Join(dir, "probe")
	if err := store.WriteFile(probe, nil, 0o600); err != nil {
		f.State, f.Message = "warning", stateProblem(dir, err)
		f.Hint = "set MCPX_STATE_DIR to a directory that can be written; until then every run asks the servers for their tools again"
		return f
	}
	_ = os.Remove(probe)
	return f
}

// stateProblem says in a sentence why nothing can be written to the state directory.
func stateProblem(dir string, err error) string {
	reason := err
	if sys, ok := errors.AsType[*fs.PathError](err); ok {
		reason = sys.Err
	}
	for at := dir; ; at = filepath.Dir(at) {
		info, err := os.Stat(at)
		switch {
		case err != nil && at != filepath.Dir(at):
			continue // it is not there, or nobody can say: what is above it decides
		case err != nil:
			return fmt.Sprintf("the state directory %s cannot be created: %v", dir, reason)
		case !info.IsDir() && at == dir:
			return fmt.Sprintf("the state directory %s is a file", dir)
		case !info.IsDir():
			return fmt.Sprintf("the state directory %s cannot be created: %s is a file", dir, at)
		case at == dir:
			return fmt.Sprintf("the state directory %s cannot be written: %v", dir, reason)
		}
		return fmt.Sprintf("the state directory %s cannot be created in %s: %v", dir, at, reason)
	}
}
