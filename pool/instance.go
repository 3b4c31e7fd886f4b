package pool

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"mcpx/internal/api"
	"mcpx/internal/config"
	"mcpx/internal/fault"
	"mcpx/internal/process"
	"mcpx/internal/settings"
	"mcpx/mcp"
	"mcpx/mcp/auth"
	"mcpx/mcp/client"
)

var errClosed = fault.Unavailablef("the servers of this run have been ended")

// After a failed start the next attempt waits, twice as long each time.
const (
	firstBackoff = 2 * time.Second
	lastBackoff  = 30 * time.Second
)

// instance is one process of a definition, or one session with a server behind a url,
// from its start to its end. The goroutine of run owns it.
type instance struct {
	pool   *Pool
	set    *set
	def    *config.Definition
	caller api.Caller // for whom it was started

	callers callers

	stopped chan struct{} // closed when it is to end
	cancel  context.CancelFunc
	ready   chan struct{} // closed when session or err is set
	session *client.Session
	err     error
	opening int64         // answers that it took to open the session
	program string        // the file that was started; set before ready is closed
	took    time.Duration // from the start until the session was open; as program
	ended   chan struct{} // closed when no process of it is left
	pid     atomic.Int64
	counts  atomic.Pointer[counter]

	// guarded by the pool's mu
	load      int // leases that occupy it
	listeners int // leases that only listen
	calls     int64
	holders   map[string]int // whose leases they are
	started   time.Time
	used      time.Time
	retired   bool // it takes no new lease
}

// counter counts what came over a transport and was no message.
type counter interface{ Noise() int }

// newInstance begins to start an instance, when those before it have ended. The process
// outlives the call that needed it. The pool's mu is held.
func newInstance(s *set, era mcp.Era, before []*instance) *instance {
	ctx, cancel := context.WithCancel(context.Background())
	inst := &instance{
		pool: s.pool, set: s, def: s.def, caller: s.caller, cancel: cancel, holders: map[string]int{}, started: time.Now(), used: time.Now(),
		stopped: make(chan struct{}), ready: make(chan struct{}), ended: make(chan struct{}),
	}
	s.pool.background.Go(func() {
		defer cancel()
		inst.run(ctx, era, before)
	})
	return inst
}

// run is the whole life of an instance.
func (i *instance) run(ctx context.Context, era mcp.Era, before []*instance) {
	for _, old := range before {
		select {
		case <-old.ended:
		case <-i.stopped:
		}
	}
	timeout := settings.PoolStartTimeout.Get(i.pool.o.Settings)
	ctx, cancel := context.WithTimeoutCause(ctx, timeout, fault.Unavailablef(
		"%s did not answer initialize within pool.startTimeout (%s)", i.def.Name, timeout).
		With("server", i.def.Name).
		Hintf("give it longer with %s, or see what it waits for", settings.PoolStartTimeout.Give(2*timeout)))
	began := time.Now()
	i.session, i.err = i.start(ctx, era)
	i.took = time.Since(began)
	cancel()
	if i.err == nil {
		i.opening = i.session.Answered()
	}
	calledOff := i.calledOff() // rather than failed
	close(i.ready)
	if i.err != nil {
		if !calledOff {
			i.tell("failed", i.err)
		}
		close(i.ended)
		i.set.gone(i)
		return
	}
	i.tell("started", nil)
	select {
	case <-i.session.Done():
	case <-i.stopped:
	}
	why := i.session.Err()
	i.session.Close()
	close(i.ended)
	i.set.gone(i)
	i.tell("ended", why)
}

// tell logs what becomes of the instance, and says it to whoever watches.
func (i *instance) tell(kind string, err error) {
	i.pool.mu.Lock()
	e := Event{kind, i.snapshot(), err}
	i.pool.mu.Unlock()
	level := slog.LevelInfo
	attrs := []slog.Attr{slog.Int("pid", e.Instance.Pid)}
	if err != nil {
		level = slog.LevelWarn
		attrs = append(attrs, slog.Any("error", err))
	}
	i.log(level, "instance."+kind, attrs...)
	if i.pool.o.Watch != nil {
		i.pool.o.Watch(e)
	}
}

func (i *instance) log(level slog.Level, event string, attrs ...slog.Attr) {
	attrs = append([]slog.Attr{slog.String("server", i.def.Name), slog.String("key", i.set.key.String())}, attrs...)
	i.pool.o.Log.LogAttrs(context.Background(), level, event, attrs...)
}

func (i *instance) start(ctx context.Context, era mcp.Era) (*client.Session, error) {
	o := client.Options{
		Name:         i.def.Name,
		Version:      i.pool.o.Version,
		Era:          era,
		ProbeTimeout: settings.UpstreamProbeTimeout.Get(i.pool.o.Settings),
		Log:          i.pool.o.Log,
		Capabilities: peerCapabilities,
		Sink:         i.sink(),
	}
	open := i.launch
	switch i.def.Transport {
	case config.Stdio:
		o.Restart = i.launch
	case config.SSE:
		open = i.dialSSE
	default:
		open = i.dial
		if i.def.Untyped {
			o.Fallback = i.dialSSE
		}
	}
	transport, err := open(ctx)
	if err != nil {
		return nil, i.explain(err)
	}
	session, err := client.Connect(ctx, transport, o)
	if err != nil {
		return nil, i.explain(err)
	}
	i.opened(session)
	return session, nil
}

// endpoint is where the server of a definition with a url is.
func (i *instance) endpoint() client.Endpoint {
	o := i.pool.o
	o.Environ = i.caller.Environ
	e := Endpoint(i.def, o)
	if h := Authorizer(i.def, o.Environ, auth.Options{Store: o.Tokens, Version: o.Version}); h != nil {
		e.Authorizer = h
	}
	e.Room = i.pool.room
	return e
}

// Endpoint is where the server of a definition with a url is. Nobody is logged in there yet.
func Endpoint(def *config.Definition, o Options) client.Endpoint {
	return client.Endpoint{
		Name:       def.Name,
		URL:        def.URL,
		Headers:    def.Headers,
		Version:    o.Version,
		Proxy:      proxies(o.Environ),
		MaxMessage: int(settings.StdioMaxLine.Get(o.Settings)),
	}
}

func (i *instance) dial(context.Context) (client.Transport, error) {
	t, err := client.OpenHTTP(i.endpoint())
	if err != nil {
		return nil, err
	}
	i.count(t)
	return t, nil
}

func (i *instance) dialSSE(ctx context.Context) (client.Transport, error) {
	t, err := client.OpenSSE(ctx, i.endpoint())
	if err != nil {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		return nil, err
	}
	i.count(t)
	return t, nil
}

// otherType is a hint for a server with a url that refuses to be spoken to as its entry says;
// empty if that is not what the refusal looks like.
func otherType(def *config.Definition, e *fault.Error) string {
	switch e.Details["status"] {
	case http.StatusBadRequest, http.StatusNotFound, http.StatusMethodNotAllowed:
	default:
		return ""
	}
	switch {
	case def.Transport == config.SSE:
		return `if it speaks Streamable HTTP, leave "type": "sse" out of its entry`
	case !def.Untyped:
		return `if it speaks HTTP+SSE, write "type": "sse" in its entry`
	}
	return ""
}

// explain adds to a start that failed what of the environment may have been missing, and
// the command line that a person can repeat, unless the start was called off.
func (i *instance) explain(err error) error {
	e := redact(i.def, fault.New(fault.KindOf(err), "%w", err))
	if e.Kind != fault.Unavailable {
		return err
	}
	if i.def.Transport != config.Stdio {
		if hint := otherType(i.def, e); hint != "" {
			return e.Hintf("%s", strings.TrimPrefix(e.Hint+"\n"+hint, "\n"))
		}
		return err
	}
	var hints []string
	if e.Hint != "" {
		hints = append(hints, e.Hint)
	}
	if missing := withheld(i.caller.Environ, i.def, e); missing != "" {
		hints = append(hints, missing)
	}
	for _, arg := range i.def.Args {
		if strings.HasPrefix(arg, "~/") {
			hints = append(hints, fmt.Sprintf("no shell sees its arguments, so that %s is passed on as it is: write ${userHome}%s for a folder of yours", arg, arg[1:]))
			break
		}
	}
	if i.program != "" { // what cannot be found here is not found by a person either
		hints = append(hints, "run it by hand: "+i.def.ByHand())
	}
	return e.Hintf("%s", strings.Join(hints, "\n"))
}

// launch starts the process of the definition.
func (i *instance) launch(ctx context.Context) (client.Transport, error) {
	environ := childEnviron(i.caller.Environ, i.def, i.told())
	path, err := process.LookPath(i.def.Command, process.Getenv(environ, "PATH"), i.def.Dir)
	if err != nil {
		return nil, fault.New(fault.Unavailable, "starting %s: %w", i.def.Name, err).With("server", i.def.Name)
	}
	i.program = path
	child, err := client.StartCommand(ctx, client.Command{
		Name:    i.def.Name,
		Path:    path,
		Args:    i.def.Args,
		Env:     environ,
		Dir:     i.def.Dir,
		MaxLine: int(settings.StdioMaxLine.Get(i.pool.o.Settings)),
		Room:    i.pool.room,
		Redact:  i.def.Redact,
	})
	if err != nil {
		return nil, fault.New(fault.Unavailable, "starting %s: %w", i.def.Name, err).With("server", i.def.Name)
	}
	i.pid.Store(int64(child.Pid()))
	i.count(child)
	return child, nil
}

// starting reports whether it is not known yet whether the instance runs.
func (i *instance) starting() bool { return !closed(i.ready) }

// over reports whether the instance has ended, or was never there.
func (i *instance) over() bool {
	return !i.starting() && (i.err != nil || closed(i.session.Done()))
}

func (i *instance) running() bool { return !i.starting() && !i.over() }

// useful reports whether the server has answered anything since it was opened. It must be
// ready.
func (i *instance) useful() bool { return i.err == nil && i.session.Answered() > i.opening }

// calledOff reports whether the instance was told to end.
func (i *instance) calledOff() bool { return closed(i.stopped) }

func closed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// stop makes the instance end, also one that is still starting, and does not wait for it.
// The pool's mu is held.
func (i *instance) stop() {
	if !i.calledOff() {
		close(i.stopped)
		i.cancel()
	}
}

// serialize makes the calls to the server that come from now on wait for each other, and
// reports whether they did not already.
func (i *instance) serialize() (first bool) {
	i.pool.mu.Lock()
	defer i.pool.mu.Unlock()
	first = !i.pool.serial[i.set.of]
	i.pool.serial[i.set.of] = true
	return first
}

func (i *instance) count(c counter) { i.counts.Store(&c) }

func (i *instance) noise() int {
	if c := i.counts.Load(); c != nil {
		return (*c).Noise()
	}
	return 0
}
