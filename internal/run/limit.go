package run

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"time"

	"mcpx/internal/api"
	"mcpx/internal/grant"
	"mcpx/mcp"
)

// limit ends a run when its time is up. The time stands still while a question of a
// server waits; what may not be exceeded, whatever is asked, goes on.
type limit struct {
	mu    sync.Mutex
	held  int
	left  time.Duration
	since time.Time // when left was right, if the time does not stand still
	timer *time.Timer
	most  *time.Timer
}

// limited returns a context that is cancelled after d, for why, or after longest, for
// whyLongest. End must be called.
func limited(ctx context.Context, d time.Duration, why error, longest time.Duration, whyLongest error) (_ context.Context, l *limit, end func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	l = &limit{left: d, since: time.Now()}
	l.timer = time.AfterFunc(d, func() {
		l.mu.Lock()
		held := l.held > 0
		l.mu.Unlock()
		if !held { // a question may have come at the same moment
			cancel(why)
		}
	})
	l.most = time.AfterFunc(max(d, longest), func() { cancel(whyLongest) })
	return ctx, l, func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.timer.Stop()
		l.most.Stop()
		l.timer = nil
		cancel(nil)
	}
}

// hold lets the time stand still until release.
func (l *limit) hold() (release func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.held++; l.held == 1 && l.timer != nil {
		l.timer.Stop()
		l.left -= time.Since(l.since)
	}
	return sync.OnceFunc(func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		if l.held--; l.held == 0 && l.timer != nil {
			l.since = time.Now()
			l.timer.Reset(max(l.left, 0))
		}
	})
}

// asker is the peer of a script's calls: its own handler if it has one (respondent), and
// that of the run, for which the time of the run stands still while it is asked. A script
// has no use for a result that is unfinished.
type asker struct {
	peer   api.Peer // of the run; nil if nobody can be told or asked
	limit  *limit
	script *respondent
	server string // that tells and asks; empty if it is not known
}

var _ api.Peer = (*asker)(nil)

// Notify passes on what a server says.
func (a *asker) Notify(method string, params json.RawMessage) {
	if a.peer != nil {
		a.peer.Notify(method, params)
	}
}

// Ask puts what a server asks to the script, and to the peer if the script has no answer or
// declines.
func (a *asker) Ask(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
	answer, declined, err := a.respond(ctx, method, params)
	if answer != nil || err != nil {
		return answer, err
	}
	answer, err = a.pass(ctx, method, params)
	var nobody *mcp.Error
	if declined && errors.As(err, &nobody) {
		return json.RawMessage(`{"action":"decline"}`), nil
	}
	return answer, err
}

// pass puts a question to the peer of the run.
func (a *asker) pass(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
	if a.peer == nil {
		return nil, api.Nobody(method)
	}
	release := a.limit.hold()
	defer release()
	return a.peer.Ask(ctx, method, params)
}

// TakesUnfinished is false.
func (a *asker) TakesUnfinished() bool { return false }

// bounded takes from streams whoever could be asked, if the grants of a run do not let it
// have anybody asked.
func bounded(set grant.Set, streams api.Streams) api.Streams {
	if set.Ask {
		return streams
	}
	streams.Consent = nil
	if streams.Peer != nil {
		streams.Peer = listener{streams.Peer}
	}
	return streams
}

// listener is a peer that is told, and not asked.
type listener struct{ peer api.Peer }

func (l listener) Notify(method string, params json.RawMessage) { l.peer.Notify(method, params) }

func (l listener) Ask(_ context.Context, method string, _ json.RawMessage) (json.RawMessage, error) {
	return nil, api.Nobody(method)
}

func (l listener) TakesUnfinished() bool { return false }

// For is the peer of calls to one server.
func (a *asker) For(server string) api.Peer {
	c := *a
	c.server = server
	if n, ok := a.peer.(interface{ For(server string) api.Peer }); ok {
		c.peer = n.For(server)
	}
	return &c
}

// Same is equal for all who stand for the caller of the run. A script that answers by
// itself stands for nobody else.
func (a *asker) Same() any {
	if a.peer == nil || a.script.listening() {
		return a.script
	}
	if k, ok := a.peer.(interface{ Same() any }); ok {
		return k.Same()
	}
	return a.peer
}
