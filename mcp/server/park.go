package server

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"mcpx/mcp"
)

const (
	// parkFor is how long a call waits for the answers to its questions, if its Server does not say.
	parkFor = 2 * time.Minute
	// maxParked is how many calls of one front do, and maxParkedBytes how long their
	// requests are together.
	maxParked      = 256
	maxParkedBytes = 64 << 20
	// together is how long a call that has asked is given to ask more in the same round.
	together = 20 * time.Millisecond
	// stateMark begins the states of calls that are parked here. A server that is passed
	// through to has states of its own.
	stateMark = "mcpx-parked."
)

var (
	errExpired = errors.New("nobody has answered in time")
	errFull    = mcp.Errorf(mcp.CodeInternalError, "the caller cannot be asked: too many calls wait for answers already")
)

// lot is where calls of modern clients wait for answers. Such a client cannot be sent
// requests: what a handler asks of it becomes the result of the request, with a state that
// the client repeats the request with. The handler waits meanwhile, here, and goes on as
// if it had been answered on the spot.
type lot struct {
	ctx   context.Context
	key   []byte         // of the states, known to nobody else
	calls sync.WaitGroup // handlers that run

	mu     sync.Mutex
	closed bool
	parked map[string]*parked
	bytes  int

	// What tests change.
	now    func() time.Time
	keep   time.Duration
	places int
}

func newLot(ctx context.Context, h Handler) *lot {
	key := make([]byte, sha256.Size)
	_, _ = rand.Read(key) // never fails
	l := &lot{ctx: ctx, key: key, parked: map[string]*parked{}, now: time.Now, keep: parkFor, places: maxParked}
	if s, ok := h.(*Server); ok && s.Park > 0 {
		l.keep = s.Park
	}
	return l
}

// close waits for the handlers; their context must be done.
func (l *lot) close() {
	l.mu.Lock()
	l.closed = true
	l.mu.Unlock()
	l.calls.Wait()
}

// parks reports whether a request may be answered by questions.
func parks(method string) bool {
	return method == mcp.MethodToolsCall || method == mcp.MethodPromptsGet || method == mcp.MethodRead
}

// parked is one call that may be, or is.
type parked struct {
	lot    *lot
	caller *caller
	size   int
	cancel context.CancelCauseFunc

	done   chan struct{}
	result mcp.Raw // once done
	err    error

	asked chan struct{} // has one element if a question is to be put

	// Guarded by lot.mu.
	id     string
	round  uint32
	expiry *time.Timer

	mu   sync.Mutex
	last int
	open []*question
}

// question is one that a handler waits for the answer of.
type question struct {
	key, method string
	params      mcp.Raw
	reply       chan reply // has room for one
}

type reply struct {
	result mcp.Raw
	err    error
}

// serve lets a handler answer a request, or the rest of one.
func (l *lot) serve(ctx context.Context, h Handler, c *caller, m *mcp.Message) (mcp.Raw, error) {
	if state := textOf(mcp.Member(m.Params, "requestState")); strings.HasPrefix(state, stateMark) {
		p, err := l.resume(state, c, m)
		if err != nil {
			return nil, err
		}
		p.deliver(mcp.Member(m.Params, "inputResponses"))
		return l.wait(ctx, p, m)
	}
	own, cancel := context.WithCancelCause(l.ctx)
	p := &parked{lot: l, caller: c, size: len(m.Params), cancel: cancel, done: make(chan struct{}), asked: make(chan struct{}, 1)}
	c.parked, c.group = p, &l.calls
	l.mu.Lock()
	closed := l.closed
	if !closed {
		l.calls.Go(func() {
			defer cancel(nil)
			defer close(p.done)
			p.result, p.err = h.Serve(own, c, m)
		})
	}
	l.mu.Unlock()
	if closed {
		cancel(nil)
		return nil, errClosing
	}
	return l.wait(ctx, p, m)
}

// wait returns the result of a call, or its questions as one.
func (l *lot) wait(ctx context.Context, p *parked, m *mcp.Message) (mcp.Raw, error) {
	for {
		select {
		case <-p.done:
			p.caller.flush(ctx) // which need not be the caller of this request
			return p.result, p.err
		case <-ctx.Done():
			return p.stop(ctx)
		case <-p.asked:
		}
		others := time.NewTimer(together)
		select {
		case <-others.C:
		case <-p.done:
		case <-ctx.Done():
			others.Stop()
			return p.stop(ctx)
		}
		others.Stop()
		if result, ok := l.park(ctx, p, m); ok {
			return result, nil
		}
	}
}

// stop ends a call because the client does not want it any more.
func (p *parked) stop(ctx context.Context) (mcp.Raw, error) {
	p.cancel(context.Cause(ctx))
	<-p.done
	return p.result, p.err
}

// park leaves a call waiting and returns its questions. It is false if there are none, or
// the call may not wait.
func (l *lot) park(ctx context.Context, p *parked, m *mcp.Message) (mcp.Raw, bool) {
	p.caller.flush(ctx)
	l.mu.Lock()
	defer l.mu.Unlock()
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.open) == 0 {
		return nil, false
	}
	if l.closed || len(l.parked) >= l.places || l.bytes+p.size > maxParkedBytes {
		for _, q := range p.open {
			q.reply <- reply{err: errFull}
		}
		p.open = nil
		return nil, false
	}
	if p.id == "" {
		p.id = rand.Text()
	}
	p.round++
	p.caller.enter(round{}) // who is not there is told nothing
	l.parked[p.id] = p
	l.bytes += p.size
	id, number := p.id, p.round
	p.expiry = time.AfterFunc(l.keep, func() { l.expire(id, number) })
	requests := []byte("{")
	for i, q := range p.open {
		if i > 0 {
			requests = append(requests, ',')
		}
		request := object{"method": q.method}
		if q.params != nil {
			request["params"] = q.params
		}
		requests = append(append(append(requests, encode(q.key)...), ':'), encode(request)...)
	}
	return encode(object{
		"resultType":    mcp.ResultInputRequired,
		"inputRequests": mcp.Raw(append(requests, '}')),
		"requestState":  l.state(p.id, p.round, l.now().Add(l.keep), m),
	}), true
}

// leave takes a call out of those that wait. The caller holds mu.
func (l *lot) leave(p *parked) {
	p.expiry.Stop()
	delete(l.parked, p.id)
	l.bytes -= p.size
}

func (l *lot) expire(id string, number uint32) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if p := l.parked[id]; p != nil && p.round == number {
		l.leave(p)
		p.cancel(errExpired)
	}
}

// state is what the client repeats the request with: the call, the round and the time until
// which it waits, and what holds these and the request together.
func (l *lot) state(id string, round uint32, until time.Time, m *mcp.Message) string {
	head := fmt.Appendf(nil, "%s.%d.%d", id, round, until.Unix())
	return stateMark + string(head) + "." + base64.RawURLEncoding.EncodeToString(l.seal(head, m))
}

func (l *lot) seal(head []byte, m *mcp.Message) []byte {
	mac := hmac.New(sha256.New, l.key)
	for _, part := range [][]byte{head, []byte(m.Method), canonical(mcp.Member(m.Params, "name")), canonical(mcp.Member(m.Params, "uri")), canonical(mcp.Member(m.Params, "arguments"))} {
		_ = binary.Write(mac, binary.BigEndian, uint64(len(part))) // a hash takes everything
		mac.Write(part)
	}
	return mac.Sum(nil)
}

// canonical is JSON with its members in order and no space.
func canonical(v mcp.Raw) []byte {
	d := json.NewDecoder(bytes.NewReader(v))
	d.UseNumber()
	var x any
	if d.Decode(&x) != nil || x == nil {
		return nil
	}
	return encode(x)
}

// resume finds the call that a request goes on with.
func (l *lot) resume(state string, c *caller, m *mcp.Message) (*parked, error) {
	refuse := func(why string) error {
		return mcp.Errorf(mcp.CodeInvalidParams, "invalid requestState: %s; make the call again without it", why)
	}
	parts := strings.Split(strings.TrimPrefix(state, stateMark), ".")
	if len(parts) != 4 {
		return nil, refuse("it is not one of this server")
	}
	seal, err := base64.RawURLEncoding.Strict().DecodeString(parts[3])
	head := []byte(strings.Join(parts[:3], "."))
	if err != nil || !hmac.Equal(seal, l.seal(head, m)) {
		return nil, refuse("it is not one of this server, was changed, or belongs to another request")
	}
	var number uint32
	var until int64
	if _, err := fmt.Sscan(parts[1], &number); err != nil {
		return nil, refuse("it is not one of this server")
	}
	if _, err := fmt.Sscan(parts[2], &until); err != nil {
		return nil, refuse("it is not one of this server")
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	p := l.parked[parts[0]]
	switch {
	case !l.now().Before(time.Unix(until, 0).Add(time.Second)):
		return nil, refuse(fmt.Sprintf("it has expired: a call waits %s for answers", l.keep))
	case p == nil:
		return nil, refuse("the call that it belongs to is over, or goes on already")
	case p.round != number:
		return nil, refuse("it is that of an earlier round")
	}
	l.leave(p)
	p.caller.enter(c.current())
	p.caller.declare(c.Capabilities())
	return p, nil
}

// deliver hands the answers that came to whoever waits for them. Questions without one are
// put again.
func (p *parked) deliver(responses mcp.Raw) {
	p.mu.Lock()
	defer p.mu.Unlock()
	left := p.open[:0]
	for _, q := range p.open {
		if r := mcp.Member(responses, q.key); bytes.HasPrefix(r, []byte("{")) {
			q.reply <- reply{result: bytes.Clone(r)}
		} else {
			left = append(left, q)
		}
	}
	p.open = left
	if len(left) > 0 {
		p.signal()
	}
}

func (p *parked) signal() {
	select {
	case p.asked <- struct{}{}:
	default:
	}
}

// ask puts a question and waits for its answer.
func (p *parked) ask(ctx context.Context, method string, params mcp.Raw) (mcp.Raw, error) {
	q := &question{method: method, params: params, reply: make(chan reply, 1)}
	p.mu.Lock()
	p.last++
	q.key = fmt.Sprintf("question-%d", p.last)
	p.open = append(p.open, q)
	p.signal()
	p.mu.Unlock()
	select {
	case a := <-q.reply:
		return a.result, a.err
	case <-ctx.Done():
		p.mu.Lock()
		defer p.mu.Unlock()
		for i := range p.open {
			if p.open[i] == q {
				p.open = append(p.open[:i:i], p.open[i+1:]...)
				break
			}
		}
		return nil, context.Cause(ctx)
	}
}
