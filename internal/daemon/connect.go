package daemon

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"mcpx/internal/fault"
)

// BaseURL is what requests to the daemon begin with. The name means nothing: the client
// dials the socket.
const BaseURL = "http://mcpx"

// Link is a way to a daemon that has answered. Close gives its connections back.
type Link struct {
	Greeting
	Record Record
	HTTP   *http.Client
}

// Close closes the connections.
func (l *Link) Close() { l.HTTP.CloseIdleConnections() }

// ErrNone says that no daemon answers at a place.
var ErrNone = errors.New("no daemon is running")

// greetTimeout bounds the first answer of a daemon that listens.
const greetTimeout = 30 * time.Second

// Find reaches the daemon of a place if one runs. The error is ErrNone if none does, also
// if one has left its files.
func Find(ctx context.Context, p Place) (*Link, error) {
	record, err := p.Read()
	switch {
	case gone(err):
		return nil, ErrNone
	case errors.Is(err, errDamaged):
		record = &Record{Endpoint: "unix:" + p.Socket} // it says of itself what matters
	case err != nil:
		return nil, fault.Unavailablef("the daemon's record cannot be read: %w", err).With("file", p.record())
	}
	socket, ok := socketOf(record.Endpoint)
	if !ok || socket != p.Socket {
		return nil, ErrNone // it was written for another place, or by another version
	}
	if !p.safe() {
		return nil, ErrNone // what listens there may be anybody's
	}
	l := &Link{Record: *record, HTTP: client(socket)}
	if err := l.greet(ctx); err != nil {
		l.Close()
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		return nil, err
	}
	return l, nil
}

// client makes a client whose connections all lead to a socket.
func client(socket string) *http.Client {
	var d net.Dialer
	return clientOver(&http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) { return d.DialContext(ctx, "unix", socket) },
	})
}

// clientOver makes a client of a daemon. Its connections are given up before the daemon does.
func clientOver(t *http.Transport) *http.Client {
	t.DisableCompression, t.MaxIdleConns, t.MaxIdleConnsPerHost, t.IdleConnTimeout = true, 64, 64, idleConn/2
	return &http.Client{Transport: t, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

// greet hears what the daemon says of itself. The error is ErrNone if nobody is there or
// it is about to end.
func (l *Link) greet(ctx context.Context) error { return l.greetAt(ctx, BaseURL) }

func (l *Link) greetAt(ctx context.Context, base string) error {
	ctx, cancel := context.WithTimeout(ctx, greetTimeout)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, base+"/daemon/hello", http.NoBody)
	if err != nil {
		return err
	}
	answer, err := l.HTTP.Do(r)
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return fault.Unavailablef("the daemon (process %d) does not answer", l.Record.Pid).
			Hintf("end it with: kill -9 %d", l.Record.Pid).With("pid", l.Record.Pid)
	case err != nil:
		return ErrNone
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(io.LimitReader(answer.Body, maxRecord))
	switch {
	case err != nil || answer.StatusCode == http.StatusServiceUnavailable:
		return ErrNone
	case answer.StatusCode == http.StatusUnauthorized || answer.StatusCode == http.StatusForbidden:
		return fault.Deniedf("the daemon at %s does not let this command in: %s", l.Record.Endpoint, answer.Status).
			Hintf("is the token that daemon.tokenFile names that of its record?")
	case answer.StatusCode != http.StatusOK || json.Unmarshal(text, &l.Greeting) != nil:
		return fault.Unavailablef("what listens at %s is no daemon of mcpx", l.Record.Endpoint)
	}
	return nil
}

// Leave tells the daemon to end; if idle is set, only if it has nothing to do. It reports
// whether it ends. WaitGone waits for that.
func (l *Link) Leave(ctx context.Context, idle bool) (bool, error) {
	url := BaseURL + "/daemon/leave"
	if idle {
		url += "?idle"
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, url, http.NoBody)
	if err != nil {
		return false, err
	}
	answer, err := l.HTTP.Do(r)
	if err != nil {
		if ctx.Err() != nil {
			return false, context.Cause(ctx)
		}
		return true, nil // it does not answer any more: it has ended
	}
	_ = answer.Body.Close()
	return answer.StatusCode == http.StatusAccepted, nil
}

// WaitGone waits until the daemon of a place has let go of it: nothing that it has started is
// left then.
func WaitGone(ctx context.Context, p Place) error {
	for {
		l, err := lock(p.lock())
		switch {
		case err == nil:
			l.unlock()
			return nil
		case gone(err):
			return nil
		case !errors.Is(err, errLocked):
			return fmt.Errorf("looking for the daemon: %w", err)
		}
		if err := pause(ctx, 5*time.Millisecond); err != nil {
			return err
		}
	}
}

// WaitAnother waits until a daemon answers at a place that was started at another time.
func WaitAnother(ctx context.Context, p Place, than time.Time) error {
	ctx, cancel := context.WithTimeoutCause(ctx, startTimeout, fault.Unavailablef("the daemon did not start again within %s", startTimeout).
		Hintf("its log is %s", p.Log()))
	defer cancel()
	for {
		l, err := Find(ctx, p)
		if err == nil {
			l.Close()
			if !l.Started.Equal(than) {
				return nil
			}
		} else if !errors.Is(err, ErrNone) {
			return err
		}
		if err := pause(ctx, 10*time.Millisecond); err != nil {
			return err
		}
	}
}

func pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Command is how a daemon is started: a program that becomes one, and says so with
// TellReady.
type Command struct {
	Path string
	Args []string
	Env  []string
}

// Wish is what a command wants of the daemon.
type Wish struct {
	Place   Place
	Version string // of the command
	// Start is how to start the daemon if none runs; nil does not.
	Start *Command
	// Say is told what the user should know: a daemon of another version, one that was
	// started again, one that was killed.
	Say func(text string)
}

// startTimeout bounds the start of a daemon, and the wait for somebody else's.
const startTimeout = 60 * time.Second

// Connect reaches the daemon of a place, and starts it if there is none. Of many that do so
// at once one starts it and the others connect to the same. A daemon of another version
// that was started by a command and has nothing to do is replaced.
//
// The error is ErrNone if none runs and none is to be started, and else of kind
// Unavailable with what the daemon has written.
func Connect(ctx context.Context, w Wish) (*Link, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, startTimeout, fault.Unavailablef("the daemon did not start within %s", startTimeout).
		Hintf("its log is %s", w.Place.Log()))
	defer cancel()
	l, err := Find(ctx, w.Place)
	if err == nil {
		if l.Version == w.Version {
			return l, nil
		}
		if l, err = w.differs(ctx, l); l != nil || err != nil {
			return l, err
		}
		err = ErrNone
	}
	if !errors.Is(err, ErrNone) || w.Start == nil {
		return nil, err
	}
	return w.start(ctx)
}

// differs decides about a daemon of another version: it is used as it is, or ended, which
// a nil Link says.
func (w Wish) differs(ctx context.Context, l *Link) (*Link, error) {
	is := fmt.Sprintf("the daemon (process %d) is mcpx %s, and this is %s", l.Pid, l.Version, w.Version)
	if l.Auto && w.Start != nil {
		ends, err := l.Leave(ctx, true)
		if err == nil && ends {
			l.Close()
			if err := WaitGone(ctx, w.Place); err != nil {
				return nil, err
			}
			w.say(is + ": it had nothing to do and was started again")
			return nil, nil
		}
	}
	w.say(is + `; "mcpx daemon restart" starts it again`)
	return l, nil
}

func (w Wish) say(text string) {
	if w.Say != nil {
		w.Say(text)
	}
}

// start starts the daemon, or waits for the one that somebody else starts meanwhile.
func (w Wish) start(ctx context.Context) (*Link, error) {
	if err := w.Place.prepare(); err != nil {
		return nil, err
	}
	for {
		turn, err := lock(w.Place.starting())
		switch {
		case err == nil:
			l, err := w.startAlone(ctx)
			turn.discard()
			return l, err
		case !errors.Is(err, errLocked):
			return nil, fault.Unavailablef("the daemon cannot keep its files: %w", err)
		}
		if l, err := Find(ctx, w.Place); !errors.Is(err, ErrNone) {
			return l, err
		}
		if err := pause(ctx, 5*time.Millisecond); err != nil {
			return nil, err
		}
	}
}

// startAlone starts the daemon while nobody else does.
func (w Wish) startAlone(ctx context.Context) (*Link, error) {
	for {
		l, err := Find(ctx, w.Place)
		if !errors.Is(err, ErrNone) {
			return l, err
		}
		// Whoever holds the place and cannot be found is coming or going.
		switch held, err := lock(w.Place.lock()); {
		case err == nil:
			died, _ := w.Place.Read() // a daemon that ends in order takes its record along
			held.unlock()
			if err := w.spawn(ctx); err != nil {
				return nil, err
			}
			if died != nil {
				w.say(fmt.Sprintf("the daemon (process %d) was killed, or the machine stopped: another one runs now, and what its servers kept in memory is lost", died.Pid))
			}
			continue
		case !errors.Is(err, errLocked):
			return nil, fault.Unavailablef("the daemon cannot keep its files: %w", err)
		}
		if err := pause(ctx, 5*time.Millisecond); err != nil {
			return nil, err
		}
	}
}

// outcome is what a daemon says to who started it: that it listens, or why not.
type outcome struct {
	Pid     int          `json:"pid,omitempty"`
	Running bool         `json:"running,omitempty"` // another one holds the place
	Error   *fault.Error `json:"error,omitempty"`
}

// TellReady says on the standard output of a process that was started as a Command that it
// listens, or why it does not. nil is success.
func TellReady(stdout io.Writer, err error) {
	o := outcome{Pid: os.Getpid()}
	switch {
	case errors.Is(err, ErrRunning):
		o.Running = true
	case err != nil:
		o.Error = fault.From(err)
	}
	_ = json.NewEncoder(stdout).Encode(o) // who started it may be gone
}

// spawn starts the program, and returns when it listens or has said why not.
func (w Wish) spawn(ctx context.Context) error {
	failed := func(err error) error {
		return fault.Unavailablef("the daemon could not be started: %w", err).Hintf("run without it: MCPX_DAEMON_INLINE=always")
	}
	r, ready, err := os.Pipe()
	if err != nil {
		return failed(err)
	}
	defer r.Close()
	proc, err := w.launch(ready)
	_ = ready.Close()
	if err != nil {
		return failed(err)
	}
	heard := make(chan outcome, 1)
	go func() {
		var o outcome
		if err := json.NewDecoder(io.LimitReader(r, maxRecord)).Decode(&o); err != nil {
			state, _ := proc.Wait()
			o.Error = fault.Unavailablef("the daemon could not be started: it ended at once (%s)", ended(state))
			if said := w.Place.Tail(); said != "" {
				o.Error.Hintf("it said: %s", strings.ReplaceAll(said, "\n", "\n  "))
			}
		} else if o.Pid != proc.Pid || o.Error != nil || o.Running {
			_, _ = proc.Wait()
		} else {
			_ = proc.Release()
		}
		heard <- o
	}()
	select {
	case o := <-heard:
		if o.Error != nil {
			return o.Error
		}
		return nil
	case <-ctx.Done():
		_ = proc.Kill()
		_ = r.Close()
		<-heard
		return context.Cause(ctx)
	}
}

func ended(state *os.ProcessState) string {
	if state == nil {
		return "nobody knows how"
	}
	return state.String()
}

// launch starts the program away from the terminal and the group of this process. What it
// writes goes to the log, which begins anew.
func (w Wish) launch(ready *os.File) (*os.Process, error) {
	log, err := os.OpenFile(w.Place.Log(), os.O_CREATE|os.O_WRONLY|os.O_TRUNC|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	in, nothing, err := os.Pipe() // stands for /dev/null, which an empty root does not have
	if err != nil {
		return nil, err
	}
	_ = nothing.Close()
	defer in.Close()
	root := filepath.VolumeName(w.Start.Path) + string(filepath.Separator)
	return os.StartProcess(w.Start.Path, append([]string{"mcpx"}, w.Start.Args...), &os.ProcAttr{
		Dir: root, Env: w.Start.Env, Files: []*os.File{in, ready, log}, Sys: detached(),
	})
}
