package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"

	"mcpx/internal/api"
	"mcpx/internal/cli"
	"mcpx/internal/config"
	"mcpx/internal/daemon"
	"mcpx/internal/fault"
	"mcpx/internal/run"
	"mcpx/internal/settings"
)

// backend answers for one command: the daemon as far as servers are concerned, this process
// for what is its own.
type backend struct {
	api.Service // the daemon, or the process itself
	c           *command
	link        *daemon.Link // nil without a daemon
	notices     []string
	place       daemon.Place
	there       *daemon.Endpoint // the daemon that was named; nil is the one of this machine
	leads       bool             // scripts run in the daemon

	mu   sync.Mutex
	late []*daemon.Link // to daemons that a script has reached
}

var _ cli.Backend = (*backend)(nil)

// backend decides who answers.
func (c *command) backend(ctx context.Context) (cli.Backend, error) {
	b := &backend{c: c}
	if c.Script {
		return b.forScript(ctx)
	}
	switch e, err := c.endpoint(); {
	case err != nil:
		return nil, err
	case e != nil:
		return b, b.through(ctx, e)
	case !c.mayAsk():
		return b.alone(nil)
	}
	reached, err := c.reach(ctx, func(text string) { b.notices = append(b.notices, text) })
	switch {
	case err != nil:
		return nil, err
	case reached == nil:
		return b.alone(b.notices)
	}
	b.link, b.place = reached.link, reached.place
	c.Settings.Override(b.link.Runtime)
	b.Service = remote{api.NewRemote(b.link.HTTP, daemon.BaseURL, c.caller), b}
	notices, err := c.differs(b.link.Settings)
	if err != nil {
		b.link.Close()
		return nil, err
	}
	b.notices = slices.Concat(b.link.Notices, b.notices, notices)
	return b, nil
}

// alone has this process answer.
func (b *backend) alone(notices []string) (*backend, error) {
	own, err := b.c.own()
	if err != nil {
		return nil, err
	}
	b.Service, b.notices = own, slices.Concat(own.notices, notices)
	return b, nil
}

// forScript has the broker of a script in this process, and its calls wherever they belong.
// A daemon is started at the first of them.
func (b *backend) forScript(ctx context.Context) (*backend, error) {
	var notices []string
	if b.c.mayAsk() {
		notices = b.c.follow(ctx)
	}
	b, err := b.alone(notices)
	if err != nil {
		return b, err
	}
	if led, err := b.led(ctx); led || err != nil {
		return b, err
	}
	if !b.c.mayAsk() {
		return b, nil
	}
	own, err := b.c.own()
	if err != nil {
		return nil, err
	}
	if own.config.Err() == nil { // otherwise the gateway says so
		l := &lazily{b: b, own: own}
		own.runner.Caller, own.runner.Tools = asker{b.c, l}, l
	}
	return b, nil
}

// mayAsk reports whether a daemon may answer, as far as that is decided without looking at
// the files of the configuration.
func (c *command) mayAsk() bool {
	switch c.Daemon {
	case cli.OwnProcess:
		return false
	case cli.AnyDaemon, cli.PresentDaemon:
		return c.without() == ""
	}
	return true
}

// without says why commands do without a daemon here; it is empty if they do not.
func (c *command) without() string {
	if _, ok := c.asked["config.trust"]; ok {
		return "config.trust is given" // it is about the reading of files, and theirs were read for everybody
	}
	switch settings.DaemonInline.Get(c.Settings) {
	case "always":
		return "daemon.inline is always"
	case "never":
		return ""
	}
	switch ci := os.Getenv("CI"); {
	case ci != "" && ci != "false" && ci != "0":
		return "CI is set"
	case os.Getpid() == 1:
		return "this is process 1"
	case c.state == "":
		return "there is no state directory"
	}
	return ""
}

// reached is a daemon that has answered.
type reached struct {
	link  *daemon.Link
	place daemon.Place
}

// reach finds the daemon for the configuration, and starts it where it should be. nil says
// that this process answers alone.
func (c *command) reach(ctx context.Context, say func(string)) (*reached, error) {
	must := c.Daemon == cli.RunningDaemon || c.Daemon == cli.StartedDaemon || settings.DaemonInline.Get(c.Settings) == "never"
	if c.state == "" && c.Daemon == cli.RunningDaemon {
		return nil, fault.Unavailablef("%w, and there is no state directory for one to keep its files in", api.ErrNoDaemon).
			Hintf("set MCPX_STATE_DIR or HOME")
	}
	if c.state == "" {
		return nil, fault.Unavailablef("there is no state directory for the daemon to keep its files in").
			Hintf("set MCPX_STATE_DIR or HOME")
	}
	files, err := c.options().FileSet()
	if err != nil {
		return nil, err
	}
	wish := daemon.Wish{Place: daemon.At(c.state, files.Key(), os.TempDir()), Version: build(), Say: say}
	defer c.reaching()()
	link, err := c.find(ctx, wish.Place)
	switch {
	case err == nil && link.Version == wish.Version:
		return &reached{link, wish.Place}, nil
	case err == nil:
		link.Close() // Connect decides what becomes of it
	case ctx.Err() != nil:
		return nil, err
	case !errors.Is(err, daemon.ErrNone) && must:
		return nil, err
	case !errors.Is(err, daemon.ErrNone):
		say(doesWithout(err))
		return nil, nil
	case c.Config != "" && !must:
		return nil, nil // a file that is named here is for this command: nothing of it stays
	case c.Daemon == cli.PresentDaemon:
		return nil, nil
	case c.Daemon == cli.RunningDaemon:
		return nil, fault.Unavailablef("%w", api.ErrNoDaemon).Hintf("mcpx daemon start starts one")
	}
	if c.Daemon != cli.RunningDaemon && c.Daemon != cli.PresentDaemon {
		own, err := c.own()
		if err != nil {
			return nil, err
		}
		inlined := settings.DaemonInline.Get(c.Settings)
		switch {
		case own.config.Err() != nil:
			if must {
				return nil, own.config.Err()
			}
			return nil, nil
		case c.Daemon == cli.StartedDaemon:
		case inlined == "always", inlined == "auto" && examineState(c.state).State != "ok":
			return nil, nil
		case settings.DaemonAutostart.Get(c.Settings) != "true" && inlined == "never":
			return nil, fault.Unavailablef("%w, daemon.autostart is false, and daemon.inline is never", api.ErrNoDaemon).
				Hintf("mcpx daemon start starts one")
		case settings.DaemonAutostart.Get(c.Settings) != "true":
			return nil, nil
		}
		must = must || inlined == "never"
		wish.Start = c.start(files)
	}
	link, err = daemon.Connect(ctx, wish)
	switch {
	case err == nil:
		return &reached{link, wish.Place}, nil
	case ctx.Err() != nil, must:
		return nil, err
	}
	say(doesWithout(err))
	return nil, nil
}

// doesWithout says why a command does without a daemon, and what to do about it.
func doesWithout(err error) string {
	e := fault.From(err)
	return strings.TrimSuffix(e.Message+"; this command does without it\n"+e.Hint, "\n")
}

// find is daemon.Find. One that did not answer is not waited for again.
func (c *command) find(ctx context.Context, at daemon.Place) (*daemon.Link, error) {
	if c.silent != nil {
		return nil, c.silent
	}
	link, err := daemon.Find(ctx, at)
	if err != nil && !errors.Is(err, daemon.ErrNone) && ctx.Err() == nil {
		c.silent = err
	}
	return link, err
}

// reaching tells that a daemon is looked for, and its end of the end of it.
func (c *command) reaching() (end func()) {
	if c.Reaching == nil {
		return func() {}
	}
	return c.Reaching()
}

// start is the command line of the daemon for a set of files.
func (c *command) start(files config.FileSet) *daemon.Command {
	how := byCommand
	if c.Daemon == cli.StartedDaemon {
		how = byPerson
	}
	args := []string{"daemon", "serve", how, "--dir", c.env.Dir}
	if paths := c.options().Paths; paths != "" && !files.Explicit {
		args = append(args, "--paths", paths)
	}
	for _, f := range files.Files {
		if files.Explicit {
			args = append(args, "--config", f)
		} else {
			args = append(args, "--file", f)
		}
	}
	return &daemon.Command{Path: c.program, Args: args, Env: daemonEnviron(os.Environ(), c.asked, c.state)}
}

// daemonEnviron is the environment of a daemon: that of whoever starts it, with the
// settings that are about a daemon and without those that are about the calls of one.
func daemonEnviron(environ []string, asked map[string]string, state string) []string {
	out := []string{}
	about := map[string]bool{}
	for _, i := range settings.All() {
		about[i.Env] = true
	}
	for _, pair := range environ {
		name, _, _ := strings.Cut(pair, "=")
		switch {
		case about[name], name == "MCPX_STATE_DIR", name == "MCPX_CONFIG", name == "MCPX_SESSION_ID":
		default:
			out = append(out, pair)
		}
	}
	for _, i := range settings.All() {
		if text, ok := asked[i.Path]; ok && i.Scope == settings.Daemon {
			out = append(out, i.Env+"="+text)
		}
	}
	return append(out, "MCPX_STATE_DIR="+state)
}

// differs says which settings of this command the daemon does not follow, given what it
// runs by, and what else is to be said of flags and variables. Without any, the configuration
// is not read.
func (c *command) differs(daemon map[string]string) ([]string, error) {
	notices := unfollowed(c.asked, daemon)
	if len(c.caller.Settings) == 0 && len(settings.Strays(os.Environ())) == 0 {
		return notices, nil
	}
	own, err := c.own()
	if err != nil {
		return nil, err
	}
	return slices.Concat(own.notices, notices), nil
}

// lazily asks the daemon for a script, from the first call on. A daemon that has left
// meanwhile, since nobody asked it anything for long, is started again.
type lazily struct {
	b   *backend
	own *inline

	mu  sync.Mutex // held while a daemon is looked for: whoever comes meanwhile wants it too
	to  api.Servers
	err error
}

var (
	_ run.Caller = (*lazily)(nil)
	_ run.Tools  = (*lazily)(nil)
)

func (l *lazily) servers(ctx context.Context) (api.Servers, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.to != nil || l.err != nil {
		return l.to, l.err
	}
	reached, err := l.b.c.reach(ctx, l.b.say)
	switch {
	case err != nil && ctx.Err() != nil:
		return nil, err // of this call alone
	case err != nil:
		l.err = err
	case reached == nil:
		l.to = l.own.Gateway
	default:
		for _, text := range reached.link.Notices {
			l.b.say(text)
		}
		l.b.keep(reached.link)
		l.to = api.NewRemote(reached.link.HTTP, daemon.BaseURL, l.b.c.caller)
	}
	return l.to, l.err
}

// lost forgets who could not be reached.
func (l *lazily) lost(s api.Servers) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.to == s {
		l.to = nil
	}
}

// keep closes the link with the backend.
func (b *backend) keep(link *daemon.Link) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.late = append(b.late, link)
}

// say tells the user what turns out while a script runs.
func (b *backend) say(text string) {
	fmt.Fprintf(os.Stderr, "mcpx: %s\n", strings.ReplaceAll(strings.TrimSuffix(text, "\n"), "\n", "\n  "))
}

func (l *lazily) Call(ctx context.Context, in api.CallInput) (*api.CallOutput, error) {
	return lately(ctx, l, api.Servers.Call, in)
}

func (l *lazily) Config(ctx context.Context, in api.ConfigInput) (*api.ConfigOutput, error) {
	return l.own.Gateway.Config(ctx, in)
}

func (l *lazily) Tools(ctx context.Context, in api.ToolsInput) (*api.ToolsOutput, error) {
	return lately(ctx, l, api.Servers.Tools, in)
}

func (l *lazily) Types(ctx context.Context, in api.TypesInput) (*api.TypesOutput, error) {
	return lately(ctx, l, api.Servers.Types, in)
}

func (l *lazily) Search(ctx context.Context, in api.SearchInput) (*api.SearchOutput, error) {
	return lately(ctx, l, api.Servers.Search, in)
}

func lately[In, Out any](ctx context.Context, l *lazily, op func(api.Servers, context.Context, In) (Out, error), in In) (Out, error) {
	var out Out
	s, err := l.servers(ctx)
	if err != nil {
		return out, err
	}
	out, err = op(s, ctx, in)
	if !errors.Is(err, api.ErrUnreached) {
		return out, err
	}
	l.lost(s)
	if s, err = l.servers(ctx); err != nil {
		return out, err
	}
	return op(s, ctx, in)
}

// remote is the daemon, with what the command does itself in its place.
type remote struct {
	*api.Remote
	b *backend
}

// Config implements api.Servers: the files as they are now, rather than those in force.
func (r remote) Config(ctx context.Context, in api.ConfigInput) (*api.ConfigOutput, error) {
	own, err := r.b.c.own()
	if err != nil {
		return nil, err
	}
	return own.Gateway.Config(ctx, in)
}

// Doctor implements api.Servers: servers are tried by this process, which has the user's
// terminal, variables and directory. The daemon is one of the things that are looked at.
func (r remote) Doctor(ctx context.Context, in api.DoctorInput) (*api.DoctorOutput, error) {
	own, err := r.b.c.own()
	if err != nil {
		return nil, err
	}
	return own.Doctor(ctx, in)
}

// ServersList, ServersAdd and ServersRemove are about files, which the daemon follows.

func (r remote) ServersList(ctx context.Context, in api.ServersListInput) (*api.ServersListOutput, error) {
	own, err := r.b.c.own()
	if err != nil {
		return nil, err
	}
	return own.ServersList(ctx, in)
}

func (r remote) ServersAdd(ctx context.Context, in api.ServersAddInput) (*api.ServersAddOutput, error) {
	own, err := r.b.c.own()
	if err != nil {
		return nil, err
	}
	return own.ServersAdd(ctx, in)
}

func (r remote) ServersRemove(ctx context.Context, in api.ServersRemoveInput) (*api.ServersRemoveOutput, error) {
	own, err := r.b.c.own()
	if err != nil {
		return nil, err
	}
	return own.ServersRemove(ctx, in)
}

// Shutdown implements api.Process, and returns when the daemon has ended.
func (r remote) Shutdown(ctx context.Context, in api.ShutdownInput) (*api.ShutdownOutput, error) {
	out, err := r.Remote.Shutdown(ctx, in)
	if err != nil {
		return nil, err
	}
	r.b.link.Close()
	return out, daemon.WaitGone(ctx, r.b.place)
}

// Restart implements api.Process, and returns when another daemon answers.
// A daemon whose files cannot be read would not come back, so it stays as it is.
func (r remote) Restart(ctx context.Context, in api.RestartInput) (*api.RestartOutput, error) {
	own, err := r.b.c.own()
	if err == nil {
		err = own.config.Err()
	}
	if err != nil {
		return nil, err
	}
	out, err := r.Remote.Restart(ctx, in)
	if err != nil {
		return nil, err
	}
	r.b.link.Close()
	if err := daemon.WaitAnother(ctx, r.b.place, r.b.link.Started); err != nil {
		return nil, err
	}
	return out, r.b.renew(ctx)
}

// renew puts a daemon of this program in the place of one that has started again and is still
// of another: its file is not this one.
func (b *backend) renew(ctx context.Context) error {
	link, err := daemon.Find(ctx, b.place)
	if err != nil {
		return err
	}
	defer link.Close()
	if link.Version == build() {
		return nil
	}
	if _, err := link.Leave(ctx, false); err != nil {
		return err
	}
	if err := daemon.WaitGone(ctx, b.place); err != nil {
		return err
	}
	b.c.Daemon = cli.StartedDaemon
	reached, err := b.c.reach(ctx, b.say)
	if err != nil {
		return err
	}
	b.keep(reached.link)
	return nil
}

// Run runs one script.
func (b *backend) Run(ctx context.Context, in api.ExecInput, streams api.Streams) (*api.ExecOutput, error) {
	if b.leads {
		return b.elsewhere(ctx, in, streams)
	}
	if in.Task != nil {
		return nil, noTask()
	}
	own, err := b.c.own()
	if err != nil {
		return nil, err
	}
	return own.runner.Run(ctx, in, streams)
}

// TrustServer implements cli.Backend.
func (b *backend) TrustServer(ctx context.Context, in api.TrustServerInput) (*api.TrustServerOutput, error) {
	own, err := b.c.own()
	if err != nil {
		return nil, err
	}
	return own.trustServer(ctx, b.c.options(), in)
}

// Known implements cli.Backend.
func (b *backend) Known(server string) []string {
	own, err := b.c.own()
	if err != nil {
		return nil
	}
	return own.Known(server)
}

// KnownInput implements cli.Backend.
func (b *backend) KnownInput(server, tool string) json.RawMessage {
	own, err := b.c.own()
	if err != nil {
		return nil
	}
	return own.KnownInput(server, tool)
}

// Accept implements cli.Backend: the files that say what was accepted are those of all
// processes.
func (b *backend) Accept(ctx context.Context, in api.AcceptInput) (*api.AcceptOutput, error) {
	own, err := b.c.own()
	if err != nil {
		return nil, err
	}
	return own.Accept(ctx, in)
}

// Trust implements cli.Backend.
func (b *backend) Trust(ctx context.Context, in api.TrustInput) (*api.TrustOutput, error) {
	own, err := b.c.own()
	if err != nil {
		return nil, err
	}
	return own.Trust(ctx, in)
}

// Serve implements cli.Backend.
func (b *backend) Serve(ctx context.Context, o cli.ServeOptions, in io.Reader, out io.Writer, say func(string)) error {
	own, err := b.c.own()
	if err != nil {
		return err
	}
	return own.Serve(ctx, o, in, out, say)
}

// Notices implements cli.Backend.
func (b *backend) Notices() []string { return b.notices }

// Close implements cli.Backend.
func (b *backend) Close() error {
	if b.link != nil {
		b.link.Close()
	}
	b.mu.Lock()
	for _, link := range b.late {
		link.Close()
	}
	b.mu.Unlock()
	if !b.c.opened.Load() {
		return b.c.runner.Close()
	}
	own, err := b.c.own()
	if err != nil {
		return b.c.runner.Close() // that of the configuration has been told
	}
	return own.close()
}
