package fetch

import (
	"context"
	"encoding/json"
	"errors"
	"runtime"
	"sync"
	"time"

	"github.com/dop251/goja"

	"mcpx/engine"
	"mcpx/internal/fault"
	"mcpx/stdlib/internal/native"
)

// chunkSize is how much of a response is asked for at a time.
const chunkSize = 256 << 10

// Works of these classes do not wait for each other: a request that waits for its answer
// must not keep a body from being sent or read.
const (
	classRequest = "fetch"
	classWrite   = "fetch.write"
	classRead    = "fetch.read"
	classClose   = "fetch.close"
)

// exchange is one request and its response. What the host's answers say of it is kept on
// the script's goroutine.
type exchange struct {
	*module
	ctx    context.Context
	cancel context.CancelFunc

	id      int64
	known   bool // the host has the id
	unread  runtime.Cleanup
	started []byte // the beginning of the response
	ended   bool   // nothing follows it
}

// answer is the head of a response.
type answer struct {
	ID         int64       `json:"id"`
	Status     int         `json:"status"`
	StatusText string      `json:"statusText"`
	Headers    [][2]string `json:"headers"`
	URL        string      `json:"url"`
	Redirected bool        `json:"redirected"`
	End        bool        `json:"end"`
}

type writeHead struct {
	ID  int64 `json:"id"`
	End bool  `json:"end"`
}

type readHead struct {
	ID  int64 `json:"id"`
	Max int   `json:"max"`
}

type idHead struct {
	ID int64 `json:"id"`
}

// newExchange returns an exchange as an object of functions.
func (m *module) newExchange() *goja.Object {
	x := &exchange{module: m}
	x.ctx, x.cancel = context.WithCancel(m.rt.Context())
	o := m.vm.NewObject()
	for name, fn := range map[string]native.Function{
		"open": x.open, "head": x.head, "write": x.write, "read": x.read, "readAll": x.readAll, "close": x.close,
	} {
		native.Must(o.Set(name, native.Func(m.vm, name, 0, fn)))
	}
	return o
}

// response is a head with the body that came along.
type response struct {
	answer
	body []byte
}

// open(head, bytes) sends the request and returns a promise of the response.
func (x *exchange) open(call goja.FunctionCall) goja.Value {
	encoded, _ := engine.EncodeJSON(x.rt, call.Argument(0), engine.EncodeOptions{})
	var body []byte
	if b, ok := x.octets.Bytes(call.Argument(1)); ok {
		body = append(body, b...) // the script may change its own while it is sent
	}
	return x.request("fetch.open", json.RawMessage(encoded), body)
}

// head() returns a promise of the response to a request whose body is a stream.
func (x *exchange) head(goja.FunctionCall) goja.Value {
	return x.request("fetch.head", idHead{x.id}, nil)
}

func (x *exchange) request(op string, head any, body []byte) goja.Value {
	return engine.Async(x.rt, classRequest, func(context.Context) (response, error) {
		var r response
		raw, content, err := x.call(op, head, body)
		for begun := time.Now(); busy(err) && x.ctx.Err() == nil && time.Since(begun) < maxBusy; {
			x.abandoned.close(x.ctx, x.rt.Host())
			raw, content, err = x.call(op, head, body)
		}
		if err != nil {
			return r, err
		}
		if err := json.Unmarshal(raw, &r.answer); err != nil {
			return r, fault.Internalf("the answer to %s is malformed: %w", op, err)
		}
		r.body = content
		return r, nil
	}, x.opened)
}

// opened takes note of a response and shows it to the script.
func (x *exchange) opened(r response) goja.Value {
	x.id, x.known = r.ID, !r.End
	if x.known {
		x.unread.Stop()
		x.unread = runtime.AddCleanup(x, x.abandoned.add, abandoned{r.ID, x.cancel})
	}
	x.started, x.ended = r.body, r.End
	o := x.vm.NewObject()
	set := func(name string, v any) { native.Must(o.Set(name, v)) }
	set("status", r.Status)
	set("statusText", r.StatusText)
	set("url", r.URL)
	set("redirected", r.Redirected)
	set("end", r.End)
	pairs := make([]any, len(r.Headers))
	for i, h := range r.Headers {
		pairs[i] = x.vm.NewArray(h[0], h[1])
	}
	set("headers", x.vm.NewArray(pairs...))
	return o
}

// write(bytes, end) sends a piece of the request's body and returns a promise of whether
// the host wants no more of it.
func (x *exchange) write(call goja.FunctionCall) goja.Value {
	piece := x.copied(call.Argument(0))
	head := writeHead{x.id, call.Argument(1).ToBoolean()}
	return engine.Async(x.rt, classWrite, func(context.Context) (bool, error) {
		raw, _, err := x.call("fetch.write", head, piece)
		if err != nil || raw == nil {
			return false, err
		}
		var answer struct {
			Over bool `json:"over"`
		}
		if err := json.Unmarshal(raw, &answer); err != nil {
			return false, fault.Internalf("the answer to fetch.write is malformed: %w", err)
		}
		return answer.Over, nil
	}, func(over bool) goja.Value { return x.vm.ToValue(over) })
}

// chunk is a part of a response.
type chunk struct {
	bytes []byte
	end   bool
}

// read() returns a promise of the next bytes, or of undefined at the end.
func (x *exchange) read(goja.FunctionCall) goja.Value {
	begun, ended := x.begun()
	id := x.id
	return engine.Async(x.rt, classRead, func(context.Context) (chunk, error) {
		if len(begun) > 0 || ended {
			return chunk{begun, ended}, nil
		}
		return x.next(id)
	}, func(c chunk) goja.Value {
		x.note(c.end)
		if len(c.bytes) == 0 {
			return goja.Undefined()
		}
		return x.octets.Uint8Array(c.bytes)
	})
}

// readAll() returns a promise of all bytes that are left.
func (x *exchange) readAll(goja.FunctionCall) goja.Value {
	begun, ended := x.begun()
	id := x.id
	return engine.Async(x.rt, classRead, func(context.Context) ([]byte, error) {
		all := begun
		for !ended {
			c, err := x.next(id)
			if err != nil {
				return nil, err
			}
			all, ended = append(all, c.bytes...), c.end
		}
		return all, nil
	}, func(all []byte) goja.Value {
		x.note(true)
		return x.octets.Uint8Array(all)
	})
}

// begun returns what of the response is here already, and whether that is the rest.
func (x *exchange) begun() ([]byte, bool) {
	b := x.started
	x.started = nil
	return b, x.ended
}

// note keeps whether the host has said all.
func (x *exchange) note(ended bool) {
	if ended {
		x.ended, x.known = true, false
		x.unread.Stop()
		x.cancel()
	}
}

// next asks the host for the next bytes.
func (x *exchange) next(id int64) (chunk, error) {
	raw, b, err := x.call("fetch.read", readHead{id, chunkSize}, nil)
	if err != nil {
		return chunk{}, err
	}
	var head struct {
		End bool `json:"end"`
	}
	if err := json.Unmarshal(raw, &head); err != nil {
		return chunk{}, fault.Internalf("the answer to fetch.read is malformed: %w", err)
	}
	if len(b) == 0 {
		head.End = true // it promised a byte
	}
	return chunk{b, head.End}, nil
}

// close() gives the exchange up.
func (x *exchange) close(goja.FunctionCall) goja.Value {
	x.cancel()
	if x.known {
		x.known = false
		x.unread.Stop()
		host, id := x.rt.Host(), x.id
		engine.Async(x.rt, classClose, func(ctx context.Context) (struct{}, error) {
			_, _, _ = host.Call(ctx, "fetch.close", idHead{id}, nil) // there is nobody to tell
			return struct{}{}, nil
		}, func(struct{}) goja.Value { return nil })
	}
	return goja.Undefined()
}

// call asks the host. Any goroutine may call it.
func (x *exchange) call(op string, head any, body []byte) (json.RawMessage, []byte, error) {
	host := x.rt.Host()
	if host == nil {
		return nil, nil, fault.Unavailablef("there is no host to ask")
	}
	return host.Call(x.ctx, op, head, body)
}

// maxBusy is how long a request is sent again to a host that has no place for it.
const maxBusy = time.Minute

// busy reports whether the host has no place for one more exchange at the moment.
func busy(err error) bool {
	e, ok := errors.AsType[*fault.Error](err)
	return ok && e.Kind == fault.Limit && e.Details["busy"] == true
}

// abandoned is a response that the script let go of unread.
type abandoned struct {
	id     int64
	cancel context.CancelFunc
}

// abandonment gathers responses that nothing refers to any more, as Node does with its
// sockets: many a script looks at the status alone.
type abandonment struct {
	mu        sync.Mutex
	list      []abandoned
	collected time.Time
}

func (a *abandonment) add(one abandoned) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.list = append(a.list, one)
}

// close looks for responses that were let go of, at most once a second, and tells the
// host. It takes a moment. Any goroutine may call it.
func (a *abandonment) close(ctx context.Context, host engine.Host) {
	a.mu.Lock()
	collect := time.Since(a.collected) > time.Second
	if collect {
		a.collected = time.Now()
	}
	a.mu.Unlock()
	if collect {
		runtime.GC()
	}
	t := time.NewTimer(20 * time.Millisecond) // for the runtime to tell what it found, and others to end
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
	a.mu.Lock()
	list := a.list
	a.list = nil
	a.mu.Unlock()
	for _, one := range list {
		one.cancel()
		_, _, _ = host.Call(ctx, "fetch.close", idHead{one.id}, nil) // there is nobody to tell
	}
}
