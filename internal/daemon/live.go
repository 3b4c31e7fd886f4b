package daemon

import (
	"context"
	"encoding/json"
	"log/slog"
	"slices"
	"strings"
	"sync"

	"mcpx/internal/api"
	"mcpx/internal/artifact"
	"mcpx/internal/config"
	"mcpx/internal/fault"
	"mcpx/internal/gateway"
	"mcpx/internal/settings"
	"mcpx/internal/task"
)

// Generation is the configuration as it was read once, and the gateway that goes by it.
type Generation struct {
	Config   *config.Config
	Settings *settings.Set
	Gateway  *gateway.Gateway // over the common pool, which it keeps
}

// Pool is what runs, whatever the configuration is.
type Pool interface {
	Instances() []api.Instance
	Sessions() []api.Session
	// Retire ends the instances of servers when no call is on them any more.
	Retire(over func(server string) bool)
	// ReleaseSession and RestartSession end the instances of a session, and return how many;
	// false says that there is none of that name.
	ReleaseSession(name string) (int, bool)
	RestartSession(name string) (int, bool)
	// Busy reports whether a call is on an instance, or a session that was named lives.
	Busy() bool
	Notices() []string
}

// LiveOptions is what a Live is made of.
type LiveOptions struct {
	// Load reads the configuration, and makes a gateway for it.
	Load func() (*Generation, error)
	// Files are those that the configuration is made of, and what it depends on besides.
	Files  []string
	Pool   Pool
	Events *api.Events
	Log    *slog.Logger
	// State is the state directory, for people.
	State string
	// Artifacts is the folder that artifacts are kept in.
	Artifacts string
	// Tasks keeps what goes on without its caller; nil: nothing does.
	Tasks *task.Keeper
	// Entries changes the configuration files for a caller.
	Entries func(c api.Caller, view api.Servers) Files
	// Runner makes what runs scripts for a caller whose calls go through v; set is what is in
	// force for it. foreign callers are not known to be the user.
	Runner func(c api.Caller, v *View, set *settings.Set, foreign bool) api.Runner
	// Settings, which the pool and whatever else runs go by, says from then on what is in
	// force. Without it the first that Load gives is used.
	Settings *settings.Set
}

// Files changes the configuration files for one caller.
type Files interface {
	api.Entries
	api.Keeper
}

// Live answers for the configuration as it is now: it looks whether the files have changed
// before every request and on every Check. A request that is under way ends with the
// configuration that it began with. Servers whose entries have not changed keep their
// processes; those of others end when no call is on them any more.
//
// If the files cannot be read, the last configuration that could be stays in force, and
// Notices says so.
type Live struct {
	o LiveOptions

	// loading is held while the files are looked at: whoever comes meanwhile wants what they
	// say now.
	loading sync.Mutex
	watch   *config.Watch
	set     *settings.Set // what is in force

	turns chan struct{} // one for each script that runs

	mu      sync.Mutex
	now     *generation
	problem *fault.Error // of the files as they are
	ended   []string     // servers that had done something, ended for their entries, and not told of yet
	record  Record
	leave   func(restart bool)

	background sync.WaitGroup
	ctx        context.Context
	cancel     context.CancelFunc
}

// generation is a Generation with those who use it.
type generation struct {
	*Generation
	replaced chan struct{} // closed when another is in force

	users int // guarded by Live.mu
}

// NewLive reads the configuration for the first time. Then files that cannot be read are no
// error but for the settings in them: requests are told.
func NewLive(o LiveOptions) (*Live, error) {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	l := &Live{o: o, watch: config.NewWatch(o.Files), leave: func(bool) {}}
	first, err := o.Load()
	if err != nil {
		return nil, err
	}
	l.now = &generation{Generation: first, replaced: make(chan struct{})}
	l.turns = make(chan struct{}, settings.ExecConcurrency.Get(first.Settings))
	if l.set = o.Settings; l.set == nil {
		l.set = first.Settings
	}
	l.ctx, l.cancel = context.WithCancel(context.Background())
	_, err = l.View(api.Caller{}).Listen(l.ctx, gateway.ListenInput{Tools: true, Prompts: true, Resources: true},
		func(server, method string, _ json.RawMessage) {
			// tools.changed, prompts.changed, resources.changed
			list, changed := strings.CutSuffix(strings.TrimPrefix(method, "notifications/"), "/list_changed")
			if changed && server != "" {
				l.o.Events.Publish(list+".changed", map[string]string{"server": server})
			}
		})
	if err != nil {
		l.Close()
		return nil, err
	}
	return l, nil
}

// Serving tells what the daemon is, and how it is told to leave, once that is known.
func (l *Live) Serving(r Record, leave func(restart bool)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.record, l.leave = r, leave
}

// Close ends the gateways. The pool is left alone. No request may be under way. It may be
// called more than once.
func (l *Live) Close() {
	l.cancel()
	l.background.Wait()
	l.mu.Lock()
	last := l.now
	l.mu.Unlock()
	last.Gateway.Close()
}

// Check looks whether the files have changed, and forgets the artifacts that are past their
// time.
func (l *Live) Check() {
	l.look(false)
	if err := artifact.In(l.o.Artifacts, l.set).Sweep(l.ctx); err != nil && l.ctx.Err() == nil {
		l.o.Log.LogAttrs(l.ctx, slog.LevelWarn, "artifacts.unswept", slog.Any("error", err))
	}
}

// Busy reports whether something is under way that must not end.
func (l *Live) Busy() bool { return l.o.Pool.Busy() || l.o.Tasks != nil && l.o.Tasks.Busy() }

// Notices is what a command tells its user about the configuration.
func (l *Live) Notices() []string {
	l.look(false)
	l.mu.Lock()
	problem, now := l.problem, l.now
	l.mu.Unlock()
	notices := slices.Concat(now.Config.Astray, now.Gateway.RuleNotices())
	if problem != nil {
		notices = append(notices, problem.Message+"\nthe configuration as it was before is in force")
	}
	return notices
}

// enter begins the use of the configuration as it is now.
func (l *Live) enter() *generation {
	l.look(false)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.now.users++
	return l.now
}

// exit ends it. The last one out of a generation that is over closes its gateway.
func (l *Live) exit(g *generation) {
	l.mu.Lock()
	g.users--
	over := g.users == 0 && g != l.now
	l.mu.Unlock()
	if over {
		g.Gateway.Close()
	}
}

// look reads the configuration again if the files have changed, or if it must.
func (l *Live) look(must bool) {
	l.loading.Lock()
	defer l.loading.Unlock()
	l.mu.Lock()
	old := l.now
	l.mu.Unlock()
	if settings.DaemonWatchConfig.Get(old.Settings) != "true" && !must {
		return
	}
	if !l.watch.Changed() && !must {
		return
	}
	ctx := context.Background() // it is nobody's request
	next, err := l.o.Load()
	if err == nil && next.Config.Err() != nil {
		err = next.Config.Err()
		next.Gateway.Close()
	}
	if err != nil {
		problem := fault.From(err)
		l.mu.Lock()
		l.problem = problem
		l.mu.Unlock()
		l.o.Log.LogAttrs(ctx, slog.LevelWarn, "config.broken", slog.Any("error", err))
		l.o.Events.Publish("config.broken", map[string]any{"error": problem})
		return
	}
	next.Settings.Override(l.set.Runtime())
	l.set.Become(next.Settings)
	diff := compare(old.Config, next.Config)
	over := slices.Concat(diff.Changed, diff.Removed)
	used := l.used(diff.Changed)
	l.o.Pool.Retire(func(server string) bool { return slices.Contains(over, server) })
	l.mu.Lock()
	l.problem = nil
	l.ended = slices.Compact(slices.Sorted(slices.Values(slices.Concat(l.ended, used))))
	l.now = &generation{Generation: next, replaced: make(chan struct{})}
	unused := old.users == 0
	l.mu.Unlock()
	close(old.replaced)
	if unused {
		old.Gateway.Close()
	}
	l.o.Log.LogAttrs(ctx, slog.LevelInfo, "config.changed",
		slog.Any("added", diff.Added), slog.Any("changed", diff.Changed), slog.Any("removed", diff.Removed))
	l.o.Events.Publish("config.changed", diff)
}

// used are those of the servers whose processes have answered calls, and may remember them.
// What a server behind a url remembers is not lost with the connection.
func (l *Live) used(servers []string) []string {
	var out []string
	for _, i := range l.o.Pool.Instances() {
		if i.Pid > 0 && i.Calls > 0 && slices.Contains(servers, i.Server) {
			out = append(out, i.Server)
		}
	}
	return out
}

// anew says, to the first who calls a server that ended because its entry had changed, that
// it begins anew.
func (l *Live) anew(out *api.CallOutput) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if i := slices.Index(l.ended, out.Server); i >= 0 {
		l.ended = slices.Delete(l.ended, i, i+1)
		out.Warnings = append(out.Warnings, out.Server+" has started anew, because its entry was changed: what it kept in memory is lost")
	}
}

// difference is what became of the servers of a configuration.
type difference struct {
	Added   []string `json:"added"`
	Changed []string `json:"changed"`
	Removed []string `json:"removed"`
}

func compare(old, now *config.Config) difference {
	d := difference{Added: []string{}, Changed: []string{}, Removed: []string{}}
	for _, s := range old.Servers {
		switch next, ok := now.Server(s.Name); {
		case !ok:
			d.Removed = append(d.Removed, s.Name)
		case !s.Same(next):
			d.Changed = append(d.Changed, s.Name)
		}
	}
	for _, s := range now.Servers {
		if _, ok := old.Server(s.Name); !ok {
			d.Added = append(d.Added, s.Name)
		}
	}
	return d
}

// For returns the service for a caller.
func (l *Live) For(c api.Caller) api.Service {
	return l.service(l.View(c))
}

// Foreign answers as Live does, for callers that are not known to be the user: their
// settings can only allow less, nobody consents for them, and the files stay as they are.
func (l *Live) Foreign() api.Host { return foreign{l} }

type foreign struct{ l *Live }

// Of what a caller says of itself its session counts: programs are not found on its PATH, and
// placeholders are not filled in from its variables or directory. It writes no files.
func (f foreign) For(c api.Caller) api.Service {
	v := &View{l: f.l, c: api.Caller{Session: c.Session, Lasting: c.Lasting, Settings: c.Settings}, foreign: true}
	return struct {
		*View
		api.Entries
	}{v, readOnly{f.l.files(v)}}
}

// readOnly lists the entries of the configuration files, and changes none.
type readOnly struct{ api.Entries }

// ServersAdd implements api.Entries.
func (readOnly) ServersAdd(context.Context, api.ServersAddInput) (*api.ServersAddOutput, error) {
	return nil, notHere("added")
}

// ServersRemove implements api.Entries.
func (readOnly) ServersRemove(context.Context, api.ServersRemoveInput) (*api.ServersRemoveOutput, error) {
	return nil, notHere("removed")
}

func notHere(what string) error {
	return fault.Deniedf("servers cannot be %s over TCP: an entry says what is started on this machine", what).
		Hintf("mcpx servers, on this machine, changes the files")
}

func (l *Live) service(v *View) api.Service {
	return struct {
		*View
		api.Entries
	}{v, l.files(v)}
}

// View is the gateway for one caller, whichever configuration is in force when it is asked.
type View struct {
	l       *Live
	c       api.Caller
	foreign bool // not known to be the user
}

// View returns what a caller sees.
func (l *Live) View(c api.Caller) *View { return &View{l: l, c: c} }

// gateway begins the use of the gateway for the caller; done ends it.
func (v *View) gateway() (g *gateway.Gateway, done func(), err error) {
	now := v.l.enter()
	done = func() { v.l.exit(now) }
	set, err := v.settings()
	if err != nil {
		done()
		return nil, nil, err
	}
	return now.Gateway.As(v.c, set), done, nil
}

// through asks the gateway one thing.
func through[In, Out any](ctx context.Context, v *View, op func(*gateway.Gateway, context.Context, In) (Out, error), in In) (Out, error) {
	g, done, err := v.gateway()
	if err != nil {
		var none Out
		return none, err
	}
	defer done()
	return op(g, ctx, in)
}

// The operations of a gateway, each on the one that is in force.

// Namespaces implements api.Servers.
func (v *View) Namespaces(ctx context.Context, in api.NamespacesInput) (*api.NamespacesOutput, error) {
	return through(ctx, v, (*gateway.Gateway).Namespaces, in)
}

// Tools implements api.Servers.
func (v *View) Tools(ctx context.Context, in api.ToolsInput) (*api.ToolsOutput, error) {
	return through(ctx, v, (*gateway.Gateway).Tools, in)
}

// Types implements api.Servers.
func (v *View) Types(ctx context.Context, in api.TypesInput) (*api.TypesOutput, error) {
	return through(ctx, v, (*gateway.Gateway).Types, in)
}

// Search implements api.Servers.
func (v *View) Search(ctx context.Context, in api.SearchInput) (*api.SearchOutput, error) {
	return through(ctx, v, (*gateway.Gateway).Search, in)
}

// Catalog implements api.Servers.
func (v *View) Catalog(ctx context.Context, in api.CatalogInput) (*api.CatalogOutput, error) {
	return through(ctx, v, (*gateway.Gateway).Catalog, in)
}

// Changes implements api.Servers.
func (v *View) Changes(ctx context.Context, in api.ChangesInput) (*api.ChangesOutput, error) {
	return through(ctx, v, (*gateway.Gateway).Changes, in)
}

// Call implements api.Servers.
func (v *View) Call(ctx context.Context, in api.CallInput) (*api.CallOutput, error) {
	if in.Task != nil {
		return v.callTask(ctx, in)
	}
	if v.foreign {
		in.Consent = nil // nobody knows that it is the user who answers
	}
	out, err := through(ctx, v, (*gateway.Gateway).Call, in)
	if err == nil {
		v.l.anew(out)
	}
	return out, err
}

// Batch implements api.Servers.
func (v *View) Batch(ctx context.Context, in api.BatchInput) (*api.BatchOutput, error) {
	if v.foreign {
		in.Consent = nil
	}
	out, err := through(ctx, v, (*gateway.Gateway).Batch, in)
	if err != nil {
		return nil, err
	}
	for _, r := range out.Results {
		if r.Output != nil {
			v.l.anew(r.Output)
		}
	}
	return out, nil
}

// Config implements api.Servers.
func (v *View) Config(ctx context.Context, in api.ConfigInput) (*api.ConfigOutput, error) {
	return through(ctx, v, (*gateway.Gateway).Config, in)
}

// Doctor implements api.Servers.
func (v *View) Doctor(ctx context.Context, in api.DoctorInput) (*api.DoctorOutput, error) {
	return through(ctx, v, (*gateway.Gateway).Doctor, in)
}

// Resources implements api.Offers.
func (v *View) Resources(ctx context.Context, in api.ResourcesInput) (*api.ResourcesOutput, error) {
	return through(ctx, v, (*gateway.Gateway).Resources, in)
}

// ResourceTemplates implements api.Offers.
func (v *View) ResourceTemplates(ctx context.Context, in api.ResourcesInput) (*api.ResourceTemplatesOutput, error) {
	return through(ctx, v, (*gateway.Gateway).ResourceTemplates, in)
}

// ReadResource implements api.Offers.
func (v *View) ReadResource(ctx context.Context, in api.ReadResourceInput) (*api.ReadResourceOutput, error) {
	return through(ctx, v, (*gateway.Gateway).ReadResource, in)
}

// Prompts implements api.Offers.
func (v *View) Prompts(ctx context.Context, in api.PromptsInput) (*api.PromptsOutput, error) {
	return through(ctx, v, (*gateway.Gateway).Prompts, in)
}

// GetPrompt implements api.Offers.
func (v *View) GetPrompt(ctx context.Context, in api.GetPromptInput) (*api.GetPromptOutput, error) {
	return through(ctx, v, (*gateway.Gateway).GetPrompt, in)
}

// Complete implements api.Offers.
func (v *View) Complete(ctx context.Context, in api.CompleteInput) (*api.CompleteOutput, error) {
	return through(ctx, v, (*gateway.Gateway).Complete, in)
}

// About says what a server says of itself.
func (v *View) About(ctx context.Context, server string) (*gateway.About, error) {
	return through(ctx, v, (*gateway.Gateway).About, server)
}

// Ask sends a request of MCP to a server.
func (v *View) Ask(ctx context.Context, in gateway.AskInput) (json.RawMessage, error) {
	return through(ctx, v, (*gateway.Gateway).Ask, in)
}

// Listen hears what servers say of their own accord until ctx is done, also across changes
// of the configuration, which count as changes of every list.
func (v *View) Listen(ctx context.Context, in gateway.ListenInput, hear func(server, method string, params json.RawMessage)) (gateway.Heard, error) {
	heard, over, err := v.listen(ctx, in, hear)
	if err != nil {
		return heard, err
	}
	v.l.background.Go(func() {
		for {
			select {
			case <-ctx.Done():
				over.end()
				return
			case <-v.l.ctx.Done():
				over.end()
				return
			case <-over.replaced:
			}
			over.end()
			// What is told from here on is of a configuration whose changes are heard already.
			if _, over, err = v.listen(ctx, in, hear); err != nil {
				// The server is gone, or does not start: the next configuration may have it.
				now := v.l.enter()
				over = listening{now.replaced, func() { v.l.exit(now) }}
			}
			for _, list := range []struct {
				wanted bool
				method string
			}{{in.Tools, "tools"}, {in.Prompts, "prompts"}, {in.Resources, "resources"}} {
				if list.wanted {
					hear(in.Server, "notifications/"+list.method+"/list_changed", nil)
				}
			}
		}
	})
	return heard, nil
}

// listening is a Listen on one generation.
type listening struct {
	replaced <-chan struct{}
	end      func()
}

func (v *View) listen(ctx context.Context, in gateway.ListenInput, hear func(server, method string, params json.RawMessage)) (gateway.Heard, listening, error) {
	now := v.l.enter()
	ctx, cancel := context.WithCancel(ctx)
	end := func() {
		cancel()
		v.l.exit(now)
	}
	heard, err := now.Gateway.As(v.c, v.l.set).Listen(ctx, in, hear)
	if err != nil {
		end()
		return heard, listening{}, err
	}
	return heard, listening{now.replaced, end}, nil
}
