package api

import (
	"context"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"mcpx/internal/fault"
	"mcpx/internal/settings"
)

// Events is what has happened lately, for those who follow it. The zero value keeps
// nothing; NewEvents makes one.
type Events struct {
	epoch string // of this process, so that ids of another are known as such
	keep  int

	mu      sync.Mutex
	history []Event // those of the numbers last-len+1 … last
	last    uint64
	changed chan struct{} // closed when there is more
}

// NewEvents makes a hub that remembers as many events as the settings say.
func NewEvents(set *settings.Set) *Events {
	return &Events{
		epoch:   strconv.FormatInt(time.Now().UnixNano(), 36),
		keep:    settings.EventsHistory.Get(set),
		changed: make(chan struct{}),
	}
}

// Publish says that something has happened. data is encoded as JSON; what cannot be is
// left out. It does not block.
func (e *Events) Publish(kind string, data any) {
	if e == nil {
		return
	}
	raw, err := encode(data)
	if err != nil || data == nil {
		raw = nil
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.last++
	e.history = append(e.history, Event{ID: e.id(e.last), Kind: kind, Time: time.Now().UTC(), Data: raw})
	if over := len(e.history) - e.keep; over > 0 {
		e.history = append(e.history[:0:0], e.history[over:]...)
	}
	close(e.changed)
	e.changed = make(chan struct{})
}

func (e *Events) id(n uint64) string { return e.epoch + "-" + strconv.FormatUint(n, 10) }

// Follow delivers the events behind the one whose id is after, or those to come if after
// is empty, until ctx is done or deliver returns an error. What is no longer remembered
// is delivered as one event of the kind "lost".
func (e *Events) Follow(ctx context.Context, after string, deliver func(Event) error) error {
	at, lost := e.begin(after)
	for {
		batch, more, missing := e.since(at)
		at += missing
		if lost || missing > 0 {
			gap := Event{ID: e.id(at), Kind: "lost", Time: time.Now().UTC()}
			if !lost {
				gap.Data = []byte(`{"count":` + strconv.FormatUint(missing, 10) + `}`)
			}
			lost = false
			if err := deliver(gap); err != nil {
				return err
			}
		}
		for _, one := range batch {
			if err := deliver(one); err != nil {
				return err
			}
		}
		at += uint64(len(batch))
		select {
		case <-more:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// begin returns the number behind which to deliver. lost says that it is not known how
// much happened since after.
func (e *Events) begin(after string) (at uint64, lost bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if after == "" {
		return e.last, false
	}
	epoch, number, _ := strings.Cut(after, "-")
	n, err := strconv.ParseUint(number, 10, 64)
	if epoch != e.epoch || err != nil || n > e.last {
		return e.last - uint64(len(e.history)), true
	}
	return n, false
}

// since returns the events behind the number at that are remembered, how many are not,
// and what is closed when there are more.
func (e *Events) since(at uint64) (batch []Event, more <-chan struct{}, missing uint64) {
	e.mu.Lock()
	defer e.mu.Unlock()
	first := e.last - uint64(len(e.history)) // the number before the oldest
	if at < first {
		missing, at = first-at, first
	}
	return append(batch, e.history[at-first:]...), e.changed, missing
}

// events answers with events until the other side goes.
func (h *handler) events(w http.ResponseWriter, r *http.Request) {
	var in EventsInput
	s, err := h.service(w, r)
	if err == nil {
		in, err = read[EventsInput](h, w, r, false)
	}
	if err != nil {
		refuse(w, err)
		return
	}
	if id := r.Header.Get("Last-Event-ID"); id != "" {
		in.After = id
	}
	out := newStream(w)
	defer out.end()
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	happened, ended := make(chan Event), make(chan struct{})
	var why error // once ended is closed
	go func() {
		defer close(ended)
		why = s.Events(ctx, in, func(e Event) error {
			select {
			case happened <- e:
				return nil
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		})
	}()
	beat := time.NewTicker(h.ping())
	defer beat.Stop()
	for err == nil {
		select {
		case e := <-happened:
			err = out.send(event{id: e.ID, kind: e.Kind, data: e})
		case <-beat.C:
			err = out.beat()
		case <-ended:
			if ctx.Err() == nil {
				out.send(event{kind: "error", data: wireFailure{fault.From(why)}}) //nolint:errcheck // whoever asked may have gone
			}
			return
		}
	}
	cancel()
	<-ended
}
