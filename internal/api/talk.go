package api

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"net/http"
	"sync"
	"time"

	"mcpx/internal/fault"
	"mcpx/mcp"
)

// A talk is a request that is answered with events, so that whoever made it can be told
// and asked things meanwhile:
//
//	open       {"id"}: where answers go
//	notify     {"server", "method", "params"}
//	ask        {"ask", "server", "method", "params"}: answered by POST /v1/call/{id}/answers
//	withdrawn  {"ask"}: nobody waits for that answer any more
//	result     the output, or
//	error      {"error"}; it is the last event
type talk struct {
	id         string
	unfinished bool
	events     chan event

	mu   sync.Mutex
	next int
	asks map[int]chan AnswerInput
}

// event is one event of a stream.
type event struct {
	id, kind string
	data     any
}

// talks holds those under way.
type talks struct {
	mu   sync.Mutex
	byID map[string]*talk
}

func (t *talks) add(k *talk) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.byID == nil {
		t.byID = map[string]*talk{}
	}
	t.byID[k.id] = k
}

func (t *talks) remove(k *talk) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.byID, k.id)
}

func (t *talks) find(id string) *talk {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.byID[id]
}

// opened, notified, asked and withdrawn are the data of the events.
type (
	opened struct {
		ID string `json:"id"`
	}
	notified struct {
		Server string          `json:"server,omitempty"` // whose words they are, if that is known
		Method string          `json:"method"`
		Params json.RawMessage `json:"params,omitempty"`
	}
	asked struct {
		Ask    int             `json:"ask"`
		Server string          `json:"server,omitempty"` // who asks, if that is known
		Method string          `json:"method"`
		Params json.RawMessage `json:"params,omitempty"`
	}
	withdrawn struct {
		Ask int `json:"ask"`
	}
)

// AnswerInput answers the question Ask of the request that runs as ID: Result, Error if
// the peer refuses, or Failure if it could not be asked.
type AnswerInput struct {
	ID      string          `json:"-"` // in the path
	Ask     int             `json:"ask" doc:"the number of the question, as its event has it"`
	Result  json.RawMessage `json:"result,omitempty" doc:"the answer"`
	Error   *mcp.Error      `json:"error,omitempty" doc:"why there is none: code, message and data as in JSON-RPC"`
	Failure *fault.Error    `json:"failure,omitempty" doc:"why the asking failed, which ends the request: an error as answers have it"`
}

// AnswerOutput says that the answer has been taken.
type AnswerOutput struct{}

// queued is how many events wait for a slow reader before news is left out.
const queued = 256

// patience is how long one write may take.
const patience = time.Minute

// talk runs do, and tells the other side of it as it goes.
func (h *handler) talk(w http.ResponseWriter, r *http.Request, do func(context.Context, Peer) (any, error)) {
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	k := &talk{
		id: rand.Text(), unfinished: r.Header.Get(unfinishedHeader) == "true",
		events: make(chan event, queued), asks: map[int]chan AnswerInput{},
	}
	h.talks.add(k)
	defer h.talks.remove(k)
	out := newStream(w)
	defer out.end()
	if out.send(event{kind: "open", data: opened{k.id}}) != nil {
		return
	}
	done := make(chan event)
	go func() {
		v, err := do(ctx, k)
		if err != nil {
			done <- event{kind: "error", data: wireFailure{fault.From(err)}}
			return
		}
		done <- event{kind: "result", data: v}
	}()
	beat := time.NewTicker(h.ping())
	defer beat.Stop()
	for {
		var err error
		select {
		case e := <-k.events:
			err = out.send(e)
		case <-beat.C:
			err = out.beat()
		case last := <-done:
			for len(k.events) > 0 && err == nil {
				err = out.send(<-k.events)
			}
			if err == nil {
				out.send(last) //nolint:errcheck // whoever asked may have gone
			}
			return
		}
		if err != nil {
			cancel()
			<-done
			return
		}
	}
}

// Notify implements Peer. A reader that is too slow is not told everything.
func (k *talk) Notify(method string, params json.RawMessage) { k.notify("", method, params) }

func (k *talk) notify(server, method string, params json.RawMessage) {
	select {
	case k.events <- event{kind: "notify", data: notified{server, method, params}}:
	default:
	}
}

// Ask implements Peer.
func (k *talk) Ask(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
	return k.ask(ctx, "", method, params)
}

func (k *talk) ask(ctx context.Context, server, method string, params json.RawMessage) (json.RawMessage, error) {
	answers := make(chan AnswerInput, 1)
	k.mu.Lock()
	k.next++
	n := k.next
	k.asks[n] = answers
	k.mu.Unlock()
	defer func() {
		k.mu.Lock()
		defer k.mu.Unlock()
		delete(k.asks, n)
	}()
	select {
	case k.events <- event{kind: "ask", data: asked{n, server, method, params}}:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	select {
	case a := <-answers:
		switch {
		case a.Error != nil:
			return nil, a.Error
		case a.Failure != nil:
			return nil, a.Failure
		}
		return a.Result, nil
	case <-ctx.Done():
		select {
		case k.events <- event{kind: "withdrawn", data: withdrawn{n}}:
		default: // the end of the stream will say it
		}
		return nil, context.Cause(ctx)
	}
}

// TakesUnfinished implements Peer.
func (k *talk) TakesUnfinished() bool { return k.unfinished }

// For returns the talk as one server has it, whose name is told with what it says.
func (k *talk) For(server string) Peer { return turn{k, server} }

// turn is a talk as one server has it.
type turn struct {
	*talk
	server string
}

// Notify implements Peer.
func (t turn) Notify(method string, params json.RawMessage) {
	t.notify(t.server, method, params)
}

// Ask implements Peer.
func (t turn) Ask(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
	return t.ask(ctx, t.server, method, params)
}

// Same is equal for the turns of one talk.
func (t turn) Same() any { return t.talk }

// answer takes the answer to a question.
func (h *handler) answer(w http.ResponseWriter, r *http.Request) {
	var in AnswerInput
	body, err := h.body(w, r, true)
	if err != nil {
		refuse(w, err)
		return
	}
	if err := decode(body, &in, false); err != nil {
		refuse(w, fault.Usagef("the answer: %w", err).Hintf("GET /v1/openapi.json says what it takes"))
		return
	}
	in.ID = r.PathValue("id")
	given := 0
	for _, one := range []bool{len(in.Result) > 0, in.Error != nil, in.Failure != nil} {
		if one {
			given++
		}
	}
	if given != 1 {
		refuse(w, fault.Usagef("an answer has a result, an error or a failure, and only one of them"))
		return
	}
	k := h.talks.find(in.ID)
	if k == nil {
		refuse(w, fault.NotFoundf("nothing is under way that could be answered").Hintf("it has ended, or the address is wrong"))
		return
	}
	k.mu.Lock()
	waiting, ok := k.asks[in.Ask]
	delete(k.asks, in.Ask)
	k.mu.Unlock()
	if !ok {
		refuse(w, fault.NotFoundf("the question %d is not open", in.Ask).Hintf("it has been answered, or withdrawn"))
		return
	}
	waiting <- in
	answer(w, AnswerOutput{})
}

// stream writes server-sent events.
type stream struct {
	w       http.ResponseWriter
	control *http.ResponseController
}

func newStream(w http.ResponseWriter) *stream {
	w.Header().Set("Content-Type", eventsType)
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(http.StatusOK)
	return &stream{w, http.NewResponseController(w)}
}

func (s *stream) send(e event) error {
	data, err := encode(e.data)
	if err != nil {
		data, _ = encode(wireFailure{fault.Internalf("an answer that is no JSON: %w", err)})
		e.kind = "error"
	}
	head := "event: " + e.kind + "\ndata: "
	if e.id != "" {
		head = "id: " + e.id + "\n" + head
	}
	return s.write([]byte(head), data, []byte("\n\n"))
}

// beat says that the stream is there.
func (s *stream) beat() error { return s.write([]byte(":\n\n")) }

// end leaves the connection to the next request.
func (s *stream) end() { s.control.SetWriteDeadline(time.Time{}) } //nolint:errcheck // as in write

func (s *stream) write(parts ...[]byte) error {
	// Not every writer has deadlines; then the connection's own are what there is.
	s.control.SetWriteDeadline(time.Now().Add(patience)) //nolint:errcheck // see above
	for _, b := range parts {
		if _, err := s.w.Write(b); err != nil {
			return err
		}
	}
	return s.control.Flush()
}
