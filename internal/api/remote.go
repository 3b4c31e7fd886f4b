package api

import (
	"bufio"
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"sync"

	"mcpx/internal/fault"
	"mcpx/internal/settings"
	"mcpx/mcp"
)

// ErrUnreached says that a request never reached the daemon, so that nothing has happened.
var ErrUnreached = errors.New("nobody answers there")

// Remote is a Service elsewhere: a Handler, asked over HTTP. Its errors are those that the service
// gave, with kind, hint and details.
type Remote struct {
	http   *http.Client
	base   string
	caller string
	asked  string // the settings that the caller asks for, as the header has them; empty if none
	broken error
}

var _ Service = (*Remote)(nil)

// NewRemote makes a client of the handler at base, such as http://mcpx, that asks for c.
func NewRemote(h *http.Client, base string, c Caller) *Remote {
	s := &Remote{http: h, base: strings.TrimSuffix(base, "/")}
	b, err := encode(c)
	switch {
	case err != nil:
		s.broken = fault.Internalf("a caller that is no JSON: %w", err)
	case len(b) > maxCaller:
		s.broken = fault.Limitf("the environment of this process is %d bytes long; the daemon takes %d", len(b), maxCaller).
			Hintf("--daemon-inline=always does without the daemon")
	}
	s.caller = base64.StdEncoding.EncodeToString(b)
	if asked := settings.Travels(c.Settings); len(asked) > 0 {
		b, _ := encode(asked) // texts can always be encoded
		s.asked = string(b)
	}
	return s
}

// remote asks the service for an operation.
func remote[In, Out any](ctx context.Context, s *Remote, o *Op[In, Out], in In) (*Out, error) {
	var peer Peer
	if o.peer != nil {
		peer = reach(*o.peer(&in), &in)
	}
	r, err := s.request(ctx, o.Operation, in)
	if err != nil {
		return nil, err
	}
	var frames func(Frame) error
	if f, ok := any(&in).(framed); ok {
		frames = *f.frames()
		r.Header.Set(framesHeader, "true")
	}
	if peer != nil || frames != nil {
		r.Header.Set("Accept", eventsType)
	}
	if peer != nil && peer.TakesUnfinished() {
		r.Header.Set(unfinishedHeader, "true")
	}
	response, err := s.do(ctx, r, o.ReadOnly)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	out := new(Out)
	if strings.HasPrefix(response.Header.Get("Content-Type"), eventsType) {
		err = s.follow(ctx, response.Body, peer, frames, out)
	} else {
		var b []byte
		if b, err = io.ReadAll(response.Body); err == nil {
			err = decode(b, out, true)
		}
	}
	if err != nil {
		return nil, s.explain(ctx, err, o.ReadOnly)
	}
	return out, nil
}

// request makes the request of an operation.
func (s *Remote) request(ctx context.Context, o *Operation, in any) (*http.Request, error) {
	if s.broken != nil {
		return nil, s.broken
	}
	target, body := s.base+o.Path(), io.Reader(nil)
	given := url.Values{}
	if inQuery(o.Method()) || strings.Contains(target, "{") {
		given = query(reflect.ValueOf(in))
	}
	for name := range given {
		if o.inPath(name) {
			target = strings.Replace(target, "{"+name+"}", url.PathEscape(given.Get(name)), 1)
			delete(given, name)
		}
	}
	if inQuery(o.Method()) {
		if q := given.Encode(); q != "" {
			target += "?" + q
		}
	} else {
		b, err := encode(in)
		if err != nil {
			return nil, fault.Internalf("an input that is no JSON: %w", err)
		}
		body = bytes.NewReader(b)
	}
	r, err := http.NewRequestWithContext(ctx, o.Method(), target, body)
	if err != nil {
		return nil, fault.Internalf("%w", err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set(callerHeader, s.caller)
	if s.asked != "" {
		r.Header.Set(settingsHeader, s.asked)
	}
	return r, nil
}

// do sends a request. An answer that is an error becomes one.
func (s *Remote) do(ctx context.Context, r *http.Request, harmless bool) (*http.Response, error) {
	response, err := s.http.Do(r)
	if err != nil {
		return nil, s.explain(ctx, err, harmless)
	}
	if response.StatusCode == http.StatusOK {
		return response, nil
	}
	defer response.Body.Close()
	var w wireFailure
	if err := json.NewDecoder(response.Body).Decode(&w); err != nil || w.Error == nil {
		return nil, fault.Unavailablef("the daemon answered %s to %s %s", response.Status, r.Method, r.URL.Path)
	}
	return nil, w.Error
}

// explain makes sense of an error on the way.
func (s *Remote) explain(ctx context.Context, err error, harmless bool) error {
	if _, ok := errors.AsType[*fault.Error](err); ok {
		return err
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if wrapped, ok := errors.AsType[*url.Error](err); ok {
		err = wrapped.Err
	}
	if op, ok := errors.AsType[*net.OpError](err); ok && op.Op == "dial" {
		return fault.Unavailablef("the daemon cannot be reached: %w: %v", ErrUnreached, op.Err)
	}
	e := fault.Unavailablef("the daemon ended before it answered: %w", err).Hintf(`"mcpx daemon status" says whether there is another`)
	if !harmless {
		e = e.With("mayHaveRun", true)
	}
	return e
}

// follow reads the events of a request until its result, which it decodes into out.
func (s *Remote) follow(ctx context.Context, body io.Reader, peer Peer, frames func(Frame) error, out any) error {
	ctx, cancel := context.WithCancel(ctx)
	var questions sync.WaitGroup
	defer questions.Wait()
	defer cancel()
	id := ""
	open := map[int]context.CancelFunc{}
	events := reader{r: bufio.NewReaderSize(body, readAhead)}
	for {
		e, err := events.next()
		if err != nil {
			return err
		}
		switch e.kind {
		case "open":
			var o opened
			err = json.Unmarshal(e.data, &o)
			id = o.ID
		case "notify":
			var n notified
			if err = json.Unmarshal(e.data, &n); err == nil && peer != nil {
				of(peer, n.Server).Notify(n.Method, n.Params)
			}
		case "frame":
			var f Frame
			if err = json.Unmarshal(e.data, &f); err == nil && frames != nil {
				err = frames(f)
			}
		case "ask":
			var a asked
			if err = json.Unmarshal(e.data, &a); err == nil {
				one, withdraw := context.WithCancel(ctx)
				open[a.Ask] = withdraw
				questions.Go(func() { s.answer(one, id, a, peer) })
			}
		case "withdrawn":
			var w withdrawn
			if err = json.Unmarshal(e.data, &w); err == nil && open[w.Ask] != nil {
				open[w.Ask]()
			}
		case "error":
			var w wireFailure
			if err = json.Unmarshal(e.data, &w); err == nil && w.Error != nil {
				return w.Error
			}
		case "result":
			return decode(e.data, out, true)
		}
		if err != nil {
			return err
		}
	}
}

// of is the peer as a server has it, for those who want to know who speaks.
func of(peer Peer, server string) Peer {
	if named, ok := peer.(interface{ For(server string) Peer }); ok && server != "" {
		return named.For(server)
	}
	return peer
}

// answer puts a question to the peer and sends what it says.
func (s *Remote) answer(ctx context.Context, id string, a asked, peer Peer) {
	in := AnswerInput{Ask: a.Ask}
	var err error
	if peer == nil {
		err = Nobody(a.Method)
	} else {
		in.Result, err = of(peer, a.Server).Ask(ctx, a.Method, a.Params)
	}
	if ctx.Err() != nil {
		return // nobody waits for it
	}
	if err == nil && len(in.Result) == 0 {
		in.Result = json.RawMessage("null")
	}
	if err != nil {
		in.Result = nil
		if refusal, ok := errors.AsType[*mcp.Error](err); ok {
			in.Error = refusal
		} else {
			in.Failure = fault.From(err)
		}
	}
	b, err := encode(in)
	if err != nil {
		return // a result that is no JSON; the server's own limit ends the wait
	}
	target := s.base + strings.Replace(answers.Path(), "{id}", url.PathEscape(id), 1)
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, target, bytes.NewReader(b))
	if err != nil {
		return
	}
	r.Header.Set("Content-Type", "application/json")
	// If it does not arrive, the stream of the request is broken as well and says so.
	if response, err := s.do(ctx, r, true); err == nil {
		response.Body.Close()
	}
}

// Events implements Service.
func (s *Remote) Events(ctx context.Context, in EventsInput, deliver func(Event) error) error {
	r, err := s.request(ctx, ListEvents, EventsInput{})
	if err != nil {
		return err
	}
	if in.After != "" {
		r.Header.Set("Last-Event-ID", in.After)
	}
	response, err := s.do(ctx, r, true)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	stream := reader{r: bufio.NewReader(response.Body)}
	for {
		e, err := stream.next()
		if err != nil {
			return s.explain(ctx, err, true)
		}
		var w wireFailure
		if e.kind == "error" && json.Unmarshal(e.data, &w) == nil && w.Error != nil {
			return w.Error
		}
		var one Event
		if err := json.Unmarshal(e.data, &one); err != nil {
			return fault.Unavailablef("the daemon sent an event that is none: %w", err)
		}
		if err := deliver(one); err != nil {
			return err
		}
	}
}

// readAhead is how much of a stream is read at once, if there is as much.
const readAhead = 64 << 10

// reader reads server-sent events.
type reader struct{ r *bufio.Reader }

// sent is an event as it came.
type sent struct {
	kind string
	data []byte
}

// next returns the next event that has data. At the end of the stream the error is
// io.ErrUnexpectedEOF: every stream of ours ends with an event that says so.
func (r *reader) next() (sent, error) {
	var e sent
	for {
		line, err := r.r.ReadBytes('\n')
		if err != nil {
			if errors.Is(err, io.EOF) {
				err = io.ErrUnexpectedEOF
			}
			return e, err
		}
		line = bytes.TrimRight(line, "\r\n")
		field, value, _ := bytes.Cut(line, []byte(":"))
		value = bytes.TrimPrefix(value, []byte(" "))
		switch {
		case len(line) == 0:
			if e.data != nil {
				return e, nil
			}
			e = sent{}
		case string(field) == "event":
			e.kind = string(value)
		case string(field) == "data":
			if e.data != nil {
				value = append(append(e.data, '\n'), value...)
			}
			if e.data = slices.Clip(value); e.data == nil {
				e.data = []byte{} // there is one, and it is empty
			}
		}
	}
}
