package daemon

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"io"
	"log"
	"log/slog"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/net/netutil"

	"mcpx/internal/fault"
)

// Options is what a daemon is made of. TCP with Guard and Foreign, Busy, Settings,
// Notices, Ready, Ending and Log may be left out.
type Options struct {
	Version string
	Handler http.Handler // answers everything but the daemon's own routes
	// TCP is HOST:PORT to listen at besides the socket. What comes from there passes
	// Guard, which is made when the address and the token are known, and is answered by
	// Foreign.
	TCP     string
	Guard   func(token string, at net.Addr, next http.Handler) http.Handler
	Foreign http.Handler
	// Auto says that a command started the daemon.
	Auto bool
	// Idle is how long it stays without a request and without being busy.
	Idle time.Duration
	Busy func() bool
	// Tick is how often it looks whether it is still wanted.
	Tick time.Duration
	// Grace is how long requests under way may take when it ends.
	Grace time.Duration
	// Settings is what the daemon runs by, and what was set at runtime, by path.
	Settings func() (own, runtime map[string]string)
	// Notices is what a command is told when it connects.
	Notices func() []string
	// Ready is called once it listens, Ending when it is about to end: what waits for
	// something to happen need not wait any more.
	Ready  func(Record)
	Ending func()
	Log    *slog.Logger
}

// ErrRunning says that another daemon holds the place.
var ErrRunning = errors.New("another daemon is running")

// Why a daemon ends, besides the cause of its context.
var (
	errIdle     = errors.New("nothing to do")
	errRemoved  = errors.New("its files were removed")
	errShutdown = errors.New("it was told to end")
)

// How the daemon treats connections.
const (
	headerTimeout = 10 * time.Second
	idleConn      = 2 * time.Minute
	maxHeader     = 1 << 20 // the environment of the caller is in it
	// maxStrangers is how many connections over TCP there are at once: anybody on the machine
	// can make one.
	maxStrangers = 256
	// linger is how long the daemon surely stays after it has greeted somebody: a request
	// follows.
	linger = 5 * time.Second
)

// server is a daemon that runs.
type server struct {
	o      Options
	place  Place
	record Record
	stop   context.CancelCauseFunc

	underWay atomic.Int64 // requests

	mu     sync.Mutex
	used   time.Time // when the last request ended, or somebody was greeted
	greets time.Time // likewise, the last greeting
	ending bool
}

// Hold is a place that this process, and no other, may serve. It lasts until Release, or
// until the process ends: whoever waits for the daemon to be gone waits for that.
type Hold struct {
	place Place
	lock  *lockFile
}

// Take takes a place. The error wraps ErrRunning if another daemon has it.
func Take(p Place) (*Hold, error) {
	if err := p.prepare(); err != nil {
		return nil, err
	}
	l, err := lock(p.lock())
	switch {
	case errors.Is(err, errLocked):
		return nil, fault.Unavailablef("%w for this set of configuration files", ErrRunning).
			Hintf("mcpx daemon status shows it, and mcpx daemon stop ends it")
	case err != nil:
		return nil, fault.Unavailablef("the daemon cannot keep its files: %w", err)
	}
	return &Hold{p, l}, nil
}

// Name is that of the place.
func (h *Hold) Name() string { return h.place.Name }

// Discard gives back a place that nobody else will ask for: nothing is left of it.
func (h *Hold) Discard() { h.lock.discard() }

// Release gives the place back.
func (h *Hold) Release() { h.lock.unlock() }

// Serve answers at the place until ctx is done, somebody tells it to end, or it has had
// nothing to do for o.Idle. It returns when no request is left; nil says that it ended as
// it should. The place is still held then.
func (h *Hold) Serve(ctx context.Context, o Options) error {
	o.Log = cmp.Or(o.Log, slog.New(slog.DiscardHandler))
	o.Tick = cmp.Or(o.Tick, 30*time.Second)
	o.Grace = cmp.Or(o.Grace, 5*time.Second)
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	s := &server{o: o, place: h.place, stop: stop, used: time.Now()}
	s.record = Record{
		Pid: os.Getpid(), Version: o.Version, Started: time.Now().UTC().Truncate(time.Millisecond),
		Endpoint: "unix:" + h.place.Socket, Token: rand.Text(), Auto: o.Auto,
	}
	return s.serve(ctx, h.lock)
}

func (s *server) serve(ctx context.Context, held *lockFile) error {
	socket, err := listenSocket(ctx, s.place.Socket)
	if err != nil {
		return fault.Unavailablef("the daemon cannot listen at %s: %w", s.place.Socket, err)
	}
	fronts := []front{{socket, s.handler(s.o.Handler)}}
	if s.o.TCP != "" {
		var c net.ListenConfig
		tcp, err := c.Listen(ctx, "tcp", s.o.TCP)
		if err != nil {
			_ = socket.Close()
			return fault.Unavailablef("the daemon cannot listen at %s: %w", s.o.TCP, err).
				Hintf("is another program there? daemon.port and daemon.address say where")
		}
		s.record.HTTP = "http://" + tcp.Addr().String()
		fronts = append(fronts, front{netutil.LimitListener(tcp, maxStrangers), s.o.Guard(s.record.Token, tcp.Addr(), s.handler(s.o.Foreign))})
	}
	var serving sync.WaitGroup
	servers := make([]*http.Server, len(fronts))
	for i, f := range fronts {
		servers[i] = &http.Server{
			Handler: f.handler, ReadHeaderTimeout: headerTimeout, IdleTimeout: idleConn, MaxHeaderBytes: maxHeader,
			ErrorLog:    log.New(io.Discard, "", 0), // what clients do wrong is answered to them
			BaseContext: func(net.Listener) context.Context { return context.WithoutCancel(ctx) },
		}
		serving.Go(func() {
			if err := servers[i].Serve(f.listener); !errors.Is(err, http.ErrServerClosed) {
				s.stop(err)
			}
		})
	}
	if err := s.place.write(&s.record); err != nil {
		s.stop(fault.Unavailablef("the daemon cannot keep its files: %w", err))
	} else {
		s.o.Log.LogAttrs(ctx, slog.LevelInfo, "daemon.started", slog.Int("pid", s.record.Pid), slog.String("version", s.record.Version))
		if s.o.Ready != nil {
			s.o.Ready(s.record)
		}
	}
	why := s.watch(ctx, held)
	s.o.Log.LogAttrs(ctx, slog.LevelInfo, "daemon.ending", slog.Any("why", why))

	// Nobody finds it any more; who has found it is still answered.
	if held.stands() {
		_ = os.Remove(s.place.record())
	}
	if s.o.Ending != nil {
		s.o.Ending()
	}
	grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.o.Grace)
	defer cancel()
	var ending sync.WaitGroup
	for _, h := range servers {
		ending.Go(func() {
			if h.Shutdown(grace) != nil {
				_ = h.Close()
			}
		})
	}
	ending.Wait()
	serving.Wait()
	if held.stands() {
		_ = os.Remove(s.place.Socket)
	}
	switch {
	case errors.Is(why, errIdle), errors.Is(why, errRemoved), errors.Is(why, errShutdown), errors.Is(why, context.Canceled):
		return nil
	}
	return why
}

// front is one of the ways in.
type front struct {
	listener net.Listener
	handler  http.Handler
}

// listenSocket listens at a path where nobody else can: whoever calls holds the lock. What
// a daemon that was killed has left there goes.
func listenSocket(ctx context.Context, path string) (net.Listener, error) {
	if info, err := os.Lstat(path); err == nil {
		if info.Mode()&os.ModeSocket == 0 && info.Mode()&os.ModeIrregular == 0 {
			return nil, errors.New("there is something that is no socket")
		}
		if err := os.Remove(path); err != nil {
			return nil, err
		}
	}
	var c net.ListenConfig
	l, err := c.Listen(ctx, "unix", path)
	if err != nil {
		return nil, err
	}
	if unix, ok := l.(*net.UnixListener); ok {
		unix.SetUnlinkOnClose(false) // by then another daemon may listen there
	}
	if err := os.Chmod(path, 0o600); err != nil {
		_ = l.Close()
		return nil, err
	}
	return l, nil
}

// watch returns why the daemon is to end, when it is.
func (s *server) watch(ctx context.Context, held *lockFile) error {
	tick := time.NewTicker(min(s.o.Tick, max(s.o.Idle/4, 10*time.Millisecond)))
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-tick.C:
			switch {
			case !held.stands():
				return errRemoved
			case s.idle():
				return errIdle
			}
		}
	}
}

// idle reports whether the daemon has had nothing to do for long enough. Then nobody is
// greeted any more.
func (s *server) idle() bool {
	if s.o.Idle <= 0 || s.underWay.Load() > 0 || s.o.Busy != nil && s.o.Busy() {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ending = s.ending || time.Since(s.used) >= s.o.Idle && time.Since(s.greets) >= linger
	return s.ending
}

// Greeting is what the daemon says of itself to a command that connects.
type Greeting struct {
	Name    string    `json:"name"` // of the place
	Pid     int       `json:"pid"`
	Version string    `json:"version"`
	Started time.Time `json:"started"`
	Auto    bool      `json:"auto,omitempty"`
	Notices []string  `json:"notices,omitempty"`
	// Settings is what it runs by, and Runtime what was set at runtime, by path.
	Settings map[string]string `json:"settings,omitempty"`
	Runtime  map[string]string `json:"runtime,omitempty"`
}

// routes are the daemon's own, which every version of a client knows.
const (
	routeHello = "GET /daemon/hello"
	routeLeave = "POST /daemon/leave"
)

// handler adds the daemon's own routes, and counts what is under way.
func (s *server) handler(next http.Handler) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc(routeHello, s.hello)
	mux.HandleFunc(routeLeave, s.leave)
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		s.underWay.Add(1)
		defer func() {
			s.mu.Lock()
			s.used = time.Now()
			s.mu.Unlock()
			s.underWay.Add(-1)
		}()
		next.ServeHTTP(w, r)
	})
	return mux
}

func (s *server) hello(w http.ResponseWriter, _ *http.Request) {
	s.mu.Lock()
	s.used, s.greets = time.Now(), time.Now()
	ending := s.ending
	s.mu.Unlock()
	if ending {
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	}
	g := Greeting{Name: s.place.Name, Pid: s.record.Pid, Version: s.record.Version, Started: s.record.Started, Auto: s.o.Auto}
	if s.o.Settings != nil {
		g.Settings, g.Runtime = s.o.Settings()
	}
	if s.o.Notices != nil {
		g.Notices = s.o.Notices()
	}
	answer(w, g)
}

// leave ends the daemon, if it has something to do only without the parameter idle.
func (s *server) leave(w http.ResponseWriter, r *http.Request) {
	if r.URL.Query().Has("idle") && (s.underWay.Load() > 0 || s.o.Busy != nil && s.o.Busy()) {
		w.WriteHeader(http.StatusConflict)
		return
	}
	s.mu.Lock()
	s.ending = true
	s.mu.Unlock()
	w.WriteHeader(http.StatusAccepted)
	s.stop(errShutdown)
}

func answer(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v) // a client that is gone needs none
}

// socketOf returns the path of an endpoint.
func socketOf(endpoint string) (string, bool) { return strings.CutPrefix(endpoint, "unix:") }
