package server

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"mcpx/mcp"
)

// What streams of events hold at most.
const (
	maxUnread   = 1 << 20  // bytes that a client is behind before whoever has more to say waits
	tapeEvents  = 256      // of one stream, for a client that has lost it
	tapeBytes   = 1 << 20  // of these
	tapes       = 16       // streams of one session that are over and may be asked for again
	maxReplayed = 64 << 20 // bytes of all streams of one front together
)

// tape is one stream of events: what the client has not taken yet and, if the stream can be
// taken up again, the last of what it has.
type tape struct {
	id   int           // among the streams of its session; set before the first event is sent
	held *atomic.Int64 // bytes that the tapes of the front hold for clients that have lost them
	keep bool          // it can be taken up again

	mu     sync.Mutex
	events []event
	bytes  int // of all events
	unread int // bytes of those that no client has taken
	last   int // number of the newest event
	taken  int // number of the last one that was taken
	reader *reader
	ended  bool // nothing comes any more
	over   bool // nobody takes any more
	moved  chan struct{}
}

// event is one message of a stream.
type event struct {
	number int
	text   []byte
	answer bool // to a request that the stream belongs to
}

// reader is whoever takes what comes on a tape: one at a time.
type reader struct {
	at       int // number of the last event that it has
	replaced chan struct{}
}

func newTape(keep bool, held *atomic.Int64) *tape {
	return &tape{keep: keep, held: held, moved: make(chan struct{})}
}

// move wakes all that wait for a change. The caller holds mu.
func (t *tape) move() {
	close(t.moved)
	t.moved = make(chan struct{})
}

// put adds a message. It waits for a client that is far behind, until it is gone. The error
// says that nobody takes it, now or later.
func (t *tape) put(m *mcp.Message, answer bool) error {
	text := m.Encode()
	t.mu.Lock()
	defer t.mu.Unlock()
	for t.reader != nil && !answer && t.unread > maxUnread && !t.over {
		moved := t.moved
		t.mu.Unlock()
		<-moved
		t.mu.Lock()
	}
	if t.over || t.ended {
		return errGone
	}
	t.last++
	t.events = append(t.events, event{t.last, text, answer})
	t.bytes += len(text)
	t.unread += len(text)
	t.held.Add(int64(len(text)))
	t.trim()
	t.move()
	return nil
}

// trim forgets what is too much, or cannot be asked for again. What a client that is there
// has not taken stays. The caller holds mu.
func (t *tape) trim() {
	for len(t.events) > 0 {
		first := t.events[0]
		read := first.number <= t.taken
		switch {
		case !read && t.reader != nil:
			return
		case t.over:
		case !t.keep:
			if !read {
				return
			}
		case len(t.events) <= tapeEvents && (t.bytes <= tapeBytes || len(t.events) == 1) && t.held.Load() <= maxReplayed:
			return
		}
		t.forget(first)
	}
}

// forget takes away the first event. The caller holds mu.
func (t *tape) forget(first event) {
	t.events = t.events[1:]
	t.bytes -= len(first.text)
	t.held.Add(-int64(len(first.text)))
	if first.number > t.taken {
		t.unread -= len(first.text)
		t.taken = first.number
	}
}

// end says that nothing comes any more.
func (t *tape) end() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.ended = true
	t.move()
}

// drop forgets all, and takes no more.
func (t *tape) drop() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.over = true
	for len(t.events) > 0 {
		t.forget(t.events[0])
	}
	t.move()
}

// attach makes a reader that goes on after an event, or after what was taken already if
// after is negative. Whoever read before does not any more: its client is most likely gone.
func (t *tape) attach(after int) *reader {
	t.mu.Lock()
	defer t.mu.Unlock()
	if after < 0 {
		after = t.taken
	}
	if t.reader != nil {
		close(t.reader.replaced)
	}
	t.reader = &reader{at: after, replaced: make(chan struct{})}
	t.move()
	return t.reader
}

// detach ends the reading. Of a stream that cannot be taken up again nothing stays.
func (t *tape) detach(r *reader) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.reader != r {
		return
	}
	t.reader = nil
	t.over = t.over || !t.keep
	t.trim()
	t.move()
}

// attached reports whether somebody reads.
func (t *tape) attached() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.reader != nil
}

// next returns the events that a reader does not have. If there are none, ended says
// whether any will come, and moved is closed when that may have changed.
func (t *tape) next(r *reader) (events []event, ended bool, moved <-chan struct{}) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for i, e := range t.events {
		if e.number > r.at {
			return slices.Clone(t.events[i:]), t.ended || t.over, t.moved
		}
	}
	return nil, t.ended || t.over, t.moved
}

// took notes that a reader has written an event.
func (t *tape) took(r *reader, number int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	r.at = number
	for _, e := range t.events {
		if e.number > t.taken && e.number <= number {
			t.unread -= len(e.text)
		}
	}
	t.taken = max(t.taken, number)
	t.trim()
	t.move()
}

// name is what the client calls an event by when it takes up the stream.
func (t *tape) name(number int) string { return fmt.Sprintf("%d-%d", t.id, number) }

// parseEvent reads the name of an event.
func parseEvent(name string) (stream, number int, ok bool) {
	a, b, found := strings.Cut(name, "-")
	stream, err1 := strconv.Atoi(a)
	number, err2 := strconv.Atoi(b)
	return stream, number, found && err1 == nil && err2 == nil && stream >= 0 && number >= 0
}

// register gives a stream of answers an id, and forgets the oldest of those that are over.
func (s *session) register(t *tape) {
	s.tapeMu.Lock()
	defer s.tapeMu.Unlock()
	s.lastTape++
	t.id = s.lastTape
	s.tapes = append(s.tapes, t)
	for over := len(s.tapes) - tapes; over > 0; over-- {
		i := slices.IndexFunc(s.tapes, func(t *tape) bool { return t.isOver() })
		if i < 0 {
			break // the requests under way are bounded
		}
		s.tapes[i].drop()
		s.tapes = slices.Delete(s.tapes, i, i+1)
	}
}

// isOver reports whether all has come, and nobody reads.
func (t *tape) isOver() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.reader == nil && (t.ended || t.over)
}

// find returns the stream of a session that an id names; nil if it is not kept.
func (s *session) find(id int) *tape {
	if id == 0 {
		return s.standing
	}
	s.tapeMu.Lock()
	defer s.tapeMu.Unlock()
	for _, t := range s.tapes {
		if t.id == id {
			return t
		}
	}
	return nil
}

// forget drops all streams of a session.
func (s *session) forget() {
	s.standing.drop()
	s.tapeMu.Lock()
	defer s.tapeMu.Unlock()
	for _, t := range s.tapes {
		t.drop()
	}
	s.tapes = nil
}

// play writes what comes on a tape, and reports whether that was all. It stops when the
// client is gone or reads elsewhere; once ctx is done it waits a moment for the end.
func (e *exchange) play(ctx context.Context, t *tape, r *reader) bool {
	tick := time.NewTicker(e.h.keepAlive)
	defer tick.Stop()
	done := ctx.Done()
	var grace <-chan time.Time
	for {
		events, ended, moved := t.next(r)
		for _, ev := range events {
			if e.event(t, ev) != nil {
				return false
			}
			t.took(r, ev.number)
		}
		switch {
		case len(events) > 0:
			continue
		case ended:
			return true
		}
		select {
		case <-moved:
		case <-tick.C:
			if e.sign() != nil {
				return false
			}
		case <-r.replaced:
			return false
		case <-done:
			done, grace = nil, time.After(endGrace)
		case <-grace:
			return false
		case <-e.r.Context().Done():
			return false
		}
	}
}
