package client

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"mcpx/internal/fault"
	"mcpx/mcp"
)

const (
	// maxAnswers bounds the answers that wait for a server which asks but does not read.
	maxAnswers = 1024
	// maxRequests bounds the requests of a server that are being answered.
	maxRequests = 64
	// orphanGrace is how long a call still has for its answer when an error without an id can
	// only be about it.
	orphanGrace = 300 * time.Millisecond
	// sendGrace is how long the server's output may go on when its input is broken.
	sendGrace = time.Second
)

var (
	errClosed   = errors.New("was closed")
	pingResult  = mcp.Raw(`{}`)
	rootsResult = mcp.Raw(`{"roots":[]}`)
)

// conn pairs requests with their responses over one transport. A goroutine reads and
// another writes, so that neither waits for the other: a server may flood us while we
// write to it.
type conn struct {
	name string
	t    Transport
	sink Sink
	log  *slog.Logger

	ctx        context.Context // done when the connection is over; for answering the server
	cancel     context.CancelFunc
	background sync.WaitGroup
	wake       chan struct{} // the queue is not empty
	done       chan struct{}

	lastID  atomic.Int64
	settled atomic.Int64 // requests that the server has answered

	mu       sync.Mutex
	err      error                         // why the connection is over
	calls    map[string]*call              // by the key of their id
	queue    []outgoing                    // what has not been taken yet to be sent
	sending  bool                          // somebody sends what was taken
	answers  int                           // how many of them are answers
	noticed  int64                         // the last request before the last notification, if no later one has been answered
	requests map[string]context.CancelFunc // of the server, being answered
	orphans  []*orphan

	listeners []*listener // of a legacy session
	listening listening
	session   atomic.Pointer[Session] // once there is one
}

// call is a request that waits for its response.
type call struct {
	id       mcp.Raw
	number   int64 // which id it is
	sent     bool  // the writer has taken it; guarded by conn.mu
	progress func(params mcp.Raw)
	sink     Sink       // takes what is known to belong to the call
	listener *listener  // of a subscription
	reply    chan reply // receives once
	doomed   bool       // its answer could not be read, and it fails if no other comes; guarded by conn.mu

	asked []context.CancelFunc // of requests of the server that belong to the call; guarded by conn.mu
}

// over ends what belongs to a call. The caller holds conn.mu.
func (k *call) over() {
	for _, cancel := range k.asked {
		cancel()
	}
	k.asked = nil
}

type reply struct {
	result mcp.Checked
	err    error
}

// outgoing is a line for the writer. Its call, if any, may have been given up.
type outgoing struct {
	line   []byte
	call   *call
	answer bool
	schema mcp.Raw // of the tool that is called
}

func newConn(t Transport, o *Options) *conn {
	c := &conn{
		name: o.Name, t: t, sink: o.Sink, log: o.Log,
		wake: make(chan struct{}, 1), done: make(chan struct{}),
		calls: map[string]*call{}, requests: map[string]context.CancelFunc{},
	}
	if c.log == nil {
		c.log = slog.New(slog.DiscardHandler)
	}
	c.ctx, c.cancel = context.WithCancel(context.Background())
	c.background.Go(c.read)
	c.background.Go(c.write)
	return c
}

// begin queues a request. It returns nil if the connection is over.
func (c *conn) begin(method string, p parameters, opts CallOptions) *call {
	progress := opts.OnProgress
	number := c.lastID.Add(1)
	id := mcp.Raw(strconv.FormatInt(number, 10))
	if progress != nil {
		if token, err := mcp.Check(id); err == nil {
			p = p.with("progressToken", token)
		}
	}
	k := &call{id: id, number: number, progress: progress, sink: opts.Sink, listener: opts.listener, reply: make(chan reply, 1)}
	o := outgoing{line: p.encode(mcp.Message{ID: id, Method: method}), call: k, schema: opts.InputSchema}
	c.mu.Lock()
	if c.err != nil {
		c.mu.Unlock()
		return nil
	}
	c.calls[string(id)] = k
	t, ok := c.t.(trier)
	if !ok || c.sending || len(c.queue) > 0 {
		c.enqueue(o)
		c.mu.Unlock()
		return k
	}
	// The writer has nothing to do. If the transport takes the line at once, it need not be
	// woken for it.
	c.sending, k.sent = true, true
	c.mu.Unlock()
	sent := t.TrySend(o.line)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.sending = false
	if !sent && c.err == nil {
		k.sent = false
		c.queue = slices.Insert(c.queue, 0, o)
	}
	if len(c.queue) > 0 {
		c.rouse()
	}
	return k
}

// enqueue hands a line to the writer. The caller holds mu.
func (c *conn) enqueue(o outgoing) {
	c.queue = append(c.queue, o)
	c.rouse()
}

// rouse tells the writer that there is something to do.
func (c *conn) rouse() {
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

// roundTrip sends a request and waits for its response.
func (c *conn) roundTrip(ctx context.Context, method string, p parameters, opts CallOptions) (mcp.Checked, error) {
	if ctx.Err() != nil {
		return mcp.Checked{}, context.Cause(ctx)
	}
	k := c.begin(method, p, opts)
	if k == nil {
		return mcp.Checked{}, interrupted(c.ended(), false)
	}
	select {
	case r := <-k.reply:
		return r.result, r.err
	case <-ctx.Done():
	}
	if !c.giveUp(k, context.Cause(ctx)) {
		r := <-k.reply // it came at the same moment
		return r.result, r.err
	}
	return mcp.Checked{}, context.Cause(ctx)
}

// giveUp stops waiting for a call and tells the server, if it knows of the call and
// why is not nil. It returns false if the call has been settled.
func (c *conn) giveUp(k *call, why error) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.calls[string(k.id)] != k {
		return false
	}
	delete(c.calls, string(k.id))
	k.over()
	c.orphans = slices.DeleteFunc(c.orphans, func(o *orphan) bool { return o.of[k] }) // it may have been this one's
	if f, ok := c.t.(forgetter); ok && k.sent {
		f.Forget(k.id)
	}
	if k.sent && why != nil {
		m := mcp.Message{Method: mcp.NotificationCancelled, Params: encode(map[string]any{
			"requestId": k.id, "reason": why.Error(),
		})}
		c.enqueue(outgoing{line: m.Encode()})
		c.noticed = c.lastID.Load()
	}
	return true
}

func (c *conn) notify(method string, p parameters) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err != nil {
		return c.err
	}
	c.enqueue(outgoing{line: p.encode(mcp.Message{Method: method})})
	c.noticed = c.lastID.Load()
	return nil
}

// write sends what is queued until the connection is over.
func (c *conn) write() {
	for {
		o, ok := c.next()
		if !ok {
			select {
			case <-c.wake:
				continue
			case <-c.done:
				return
			}
		}
		if err := c.send(o); err != nil {
			c.sendFailed(o, err)
			return
		}
		c.mu.Lock()
		c.sending = false
		c.mu.Unlock()
	}
}

func (c *conn) send(o outgoing) error {
	if m, ok := c.t.(mirrorer); ok && o.schema != nil {
		return m.SendCall(o.line, o.schema)
	}
	return c.t.Send(o.line)
}

// next takes the next line from the queue, leaving out calls that were given up. The caller
// sends it, and nobody else sends anything until sending is false again.
func (c *conn) next() (outgoing, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for len(c.queue) > 0 && c.err == nil && !c.sending {
		o := c.queue[0]
		c.queue[0] = outgoing{}
		c.queue = c.queue[1:]
		if o.answer {
			c.answers--
		}
		if o.call != nil && c.calls[string(o.call.id)] != o.call {
			continue
		}
		if o.call != nil {
			o.call.sent = true
		}
		c.sending = true
		return o, true
	}
	return outgoing{}, false
}

// sendFailed ends the connection after a failed Send. What the server has already
// said is read first: it may hold answers, and its end says more than a broken pipe.
func (c *conn) sendFailed(o outgoing, err error) {
	if o.call != nil {
		c.mu.Lock()
		o.call.sent = false // not the whole line, so nothing the server could act on
		c.mu.Unlock()
	}
	t := time.NewTimer(sendGrace)
	defer t.Stop()
	select {
	case <-c.done:
	case <-t.C:
		c.finish(c.endError(Ending{How: "does not read its input any more (" + err.Error() + ")"}))
	}
}

// read takes what the server sends until the connection is over.
func (c *conn) read() {
	var spread spread
	for {
		line, of, err := c.receive()
		var long *LongLineError
		var failed *RequestError
		switch {
		case errors.Is(err, errRenewed):
			c.renewed()
			continue
		case errors.As(err, &long):
			c.tooLong(long)
			continue
		case errors.As(err, &failed):
			if k := c.take(failed.ID); k != nil {
				k.reply <- reply{err: failed.Err}
			}
			continue
		case err != nil:
			c.skip(spread.drop()...)
			ending := Ending{How: "closed the connection"}
			if e, ok := c.t.(ender); ok {
				ending = e.Ending()
			}
			c.finish(c.endError(ending))
			return
		}
		messages, noise := spread.take(line)
		c.skip(noise...)
		c.miss(noise)
		for _, m := range messages {
			switch m.Kind() {
			case mcp.Response:
				c.settle(m)
			case mcp.Notification:
				c.notified(m, of)
			case mcp.Request:
				c.asked(m, of)
			}
		}
	}
}

// receive returns what comes next and the id of the request that it is known to belong to.
func (c *conn) receive() (line []byte, of mcp.Raw, err error) {
	if t, ok := c.t.(correlator); ok {
		return t.ReceiveOf()
	}
	line, err = c.t.Receive()
	return line, nil, err
}

// skip passes over lines that are no messages.
func (c *conn) skip(lines ...[]byte) {
	s, ok := c.t.(skipper)
	for _, line := range lines {
		if ok && len(bytes.TrimSpace(line)) > 0 {
			s.Skip(line)
		}
	}
}

// tooLong fails the call whose answer was too long to be read.
func (c *conn) tooLong(err *LongLineError) {
	c.log.LogAttrs(c.ctx, slog.LevelWarn, "line.too_long", slog.String("server", c.name), slog.Int("max", err.Max), slog.String("id", string(err.ID)))
	k := c.take(err.ID)
	if k == nil {
		return
	}
	if err.Full {
		k.reply <- reply{err: fault.Limitf("the answer of %s is long, and other long answers take the room that there is (stdio.maxHeld)", c.name).
			With("server", c.name).With("mayHaveRun", true).
			Hintf("ask for less, make fewer calls at once, or raise stdio.maxHeld")}
		return
	}
	k.reply <- reply{err: fault.Limitf("the answer of %s is longer than stdio.maxLine (%d bytes)", c.name, err.Max).
		With("server", c.name).With("mayHaveRun", true).
		Hintf("ask for less, or raise stdio.maxLine")}
}

// miss fails the calls whose answers are among lines that could not be read, if they do not
// come again as they should: what a program prints for people may look the same.
func (c *conn) miss(lines [][]byte) {
	texts := lines
	if len(lines) > 1 {
		texts = append(slices.Clip(lines), bytes.Join(lines, []byte("\n")))
	}
	for _, text := range texts {
		for _, b := range brokenAnswers(text) {
			c.mu.Lock()
			if k := c.calls[mcp.IDKey(b.id)]; k != nil && k.sent && !k.doomed {
				k.doomed = true
				c.background.Go(func() { c.fail(k, b.fault(c.name)) })
			}
			c.mu.Unlock()
		}
	}
}

// take removes and returns the call with an id, or nil if none waits for it.
func (c *conn) take(id mcp.Raw) *call {
	key := mcp.IDKey(id)
	c.mu.Lock()
	defer c.mu.Unlock()
	k := c.calls[key]
	delete(c.calls, key)
	if k != nil {
		k.over()
		if k.number > c.noticed {
			c.noticed = 0
		}
		c.narrow(k)
	}
	return k
}

// orphan is an error without an id, and the calls that it can be about.
type orphan struct {
	err *mcp.Error
	of  map[*call]bool
}

// maxOrphans bounds those that are kept.
const maxOrphans = 16

// adopt finds the call that an error without an id is about: the one that is left when all
// others which were under way have their answers, if its own does not come all the same.
// Some servers answer notifications as well, saying that there is no such method, or
// request; such an answer is about no call.
func (c *conn) adopt(e *mcp.Error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.noticed > 0 && (e.Code == mcp.CodeMethodNotFound || e.Code == mcp.CodeInvalidRequest) {
		return
	}
	o := &orphan{e, map[*call]bool{}}
	for _, k := range c.calls {
		if k.sent {
			o.of[k] = true
		}
	}
	if len(o.of) > 0 && len(c.orphans) < maxOrphans {
		c.orphans = append(c.orphans, o)
		c.narrow(nil)
	}
}

// narrow takes note that k has its answer: it is no call that an error without an id can be
// about. The caller holds mu.
func (c *conn) narrow(k *call) {
	c.orphans = slices.DeleteFunc(c.orphans, func(o *orphan) bool {
		delete(o.of, k)
		for left := range o.of {
			if len(o.of) == 1 {
				c.background.Go(func() { c.fail(left, o.err) })
			}
		}
		return len(o.of) < 2
	})
}

// fail gives a call an error that is most likely its own.
func (c *conn) fail(k *call, err error) {
	t := time.NewTimer(orphanGrace)
	defer t.Stop()
	select {
	case <-t.C:
	case <-c.done:
		return
	}
	if c.take(k.id) == k { // nobody else has
		k.reply <- reply{err: err}
	}
}

// settle gives a response to its call. One that nobody waits for is late, repeated or
// made up, and is dropped.
func (c *conn) settle(m *mcp.Message) {
	c.settled.Add(1)
	if m.ID == nil && m.Error != nil {
		c.adopt(m.Error)
		return
	}
	k := c.take(m.ID)
	switch {
	case k == nil:
		c.log.LogAttrs(c.ctx, slog.LevelDebug, "response.unexpected", slog.String("server", c.name), slog.String("id", string(m.ID)))
	case m.Error != nil:
		k.reply <- reply{err: m.Error}
	default:
		result, err := m.CheckedResult()
		k.reply <- reply{result, err}
	}
}

// addressed returns the call that a message belongs to, and who takes what belongs to it.
func (c *conn) addressed(of mcp.Raw) (*call, Sink) {
	if of == nil {
		return nil, c.sink
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if k := c.calls[mcp.IDKey(of)]; k != nil && k.sink != nil {
		return k, k.sink
	}
	return nil, c.sink
}

func (c *conn) notified(m *mcp.Message, of mcp.Raw) {
	if c.heard(m, of) {
		return
	}
	switch m.Method {
	case mcp.NotificationProgress:
		key := mcp.IDKey(mcp.Member(m.Params, "progressToken"))
		c.mu.Lock()
		var hook func(mcp.Raw)
		if k := c.calls[key]; k != nil {
			hook = k.progress
		}
		c.mu.Unlock()
		if hook != nil {
			hook(m.Params)
			return
		}
	case mcp.NotificationCancelled:
		key := mcp.IDKey(mcp.Member(m.Params, "requestId"))
		c.mu.Lock()
		cancel := c.requests[key]
		c.mu.Unlock()
		if cancel != nil {
			cancel()
		}
		return
	}
	if _, sink := c.addressed(of); sink != nil {
		sink.Notify(m.Method, m.Params)
	}
}

// asked answers a request of the server, at once unless the sink has to.
func (c *conn) asked(m *mcp.Message, of mcp.Raw) {
	k, sink := c.addressed(of)
	switch {
	case m.Method == mcp.MethodInitialize, m.Method == mcp.MethodDiscover:
		c.echoed(m)
	case m.Method == mcp.MethodPing:
		c.answer(m.ID, pingResult, nil)
	case sink != nil:
		c.passOn(m, k, sink)
	case m.Method == mcp.MethodRootsList:
		c.answer(m.ID, rootsResult, nil)
	default:
		c.answer(m.ID, nil, mcp.Errorf(mcp.CodeMethodNotFound, "%s is not offered by this client", m.Method))
	}
}

// errEcho is how a request ends that comes back as it was sent.
var errEcho = errors.New("it sends back what it is sent")

// echoed takes a request that only clients make. With the id of one of ours it is ours: what
// runs there writes what it reads, as cat does.
func (c *conn) echoed(m *mcp.Message) {
	if k := c.take(m.ID); k != nil {
		k.reply <- reply{err: errEcho}
		return
	}
	c.answer(m.ID, nil, mcp.Errorf(mcp.CodeMethodNotFound, "%s is not offered by this client", m.Method))
}

// passOn lets the sink answer, beside everything else. If it is known to which call the
// request belongs, it ends with the call.
func (c *conn) passOn(m *mcp.Message, k *call, sink Sink) {
	key := mcp.IDKey(m.ID)
	ctx, cancel := context.WithCancel(c.ctx)
	c.mu.Lock()
	busy := len(c.requests) >= maxRequests || c.requests[key] != nil
	if !busy {
		c.requests[key] = cancel
		if k != nil {
			k.asked = append(k.asked, cancel)
			if c.calls[string(k.id)] != k { // it has ended meanwhile
				k.over()
			}
		}
	}
	c.mu.Unlock()
	if busy {
		cancel()
		c.answer(m.ID, nil, mcp.Errorf(mcp.CodeInternalError, "too many requests at once"))
		return
	}
	c.background.Go(func() {
		defer cancel()
		result, err := sink.Request(ctx, m.Method, m.Params)
		c.mu.Lock()
		delete(c.requests, key)
		c.mu.Unlock()
		if ctx.Err() == nil {
			c.answer(m.ID, result, err)
		}
	})
}

func (c *conn) answer(id, result mcp.Raw, err *mcp.Error) {
	m := mcp.Message{ID: id, Result: result, Error: err}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err != nil || c.answers >= maxAnswers {
		return
	}
	c.answers++
	c.enqueue(outgoing{line: m.Encode(), answer: true})
}

// finish ends the connection for a reason and settles every call. Only the first
// reason counts.
func (c *conn) finish(why error) {
	c.mu.Lock()
	if c.err != nil {
		c.mu.Unlock()
		return
	}
	c.err = why
	close(c.done) // first: who hears of the end from a call finds the session over
	for _, k := range c.calls {
		k.over()
		k.reply <- reply{err: interrupted(why, k.sent)} // has room: a call in the map has no reply yet
	}
	c.calls, c.queue = nil, nil
	c.mu.Unlock()
	c.cancel()
}

// close ends the connection and its transport, and waits for its goroutines.
func (c *conn) close() {
	c.finish(fault.Unavailablef("the connection to %s %w", c.name, errClosed).With("server", c.name))
	_ = c.t.Close()
	c.background.Wait()
}

func (c *conn) ended() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err
}

// endError says how the server ended.
func (c *conn) endError(e Ending) error {
	err := fault.Unavailablef("%s %s", c.name, e.How).With("server", c.name).With("exit", e.How)
	return e.quote(err)
}

// interrupted is the error of a call that had no answer when the connection ended,
// or was made after that.
func interrupted(why error, sent bool) error {
	base := fault.From(why)
	if !sent {
		return withSaid(fault.New(base.Kind, "%w before the request was sent", base).With("mayHaveRun", false).
			Hintf("nothing of it was done, so it can be repeated; the next call starts the server again"))
	}
	return withSaid(fault.New(base.Kind, "%w during the request, which may have taken effect", base).With("mayHaveRun", true).
		Hintf("see whether it took effect before you repeat it; the next call starts the server again"))
}
