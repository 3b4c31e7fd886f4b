package client

import (
	"errors"
	"runtime"
	"sync"
	"time"

	"mcpx/mcp"
)

const (
	// smallMessage is how long a message may be that needs no room.
	smallMessage = 1 << 20
	// roomPatience is how long a long message waits for room before it is given up. One
	// that is being read, and of which nothing has come for as long, is given up for it.
	roomPatience = 10 * time.Second
	// roomGlance is how often it is looked whether there is room.
	roomGlance = 250 * time.Millisecond
)

// errNoRoom is for a message that is given up for want of room.
var errNoRoom = errors.New("there is no room for it")

// Room bounds the memory that long messages of servers take, over all connections that
// share it: from their first bytes until nothing that was made of them is in use any more.
// A message that finds no room waits for it, and so does its server.
type Room struct {
	patience time.Duration

	mu      sync.Mutex
	size    int64
	free    int64
	reading map[*message]struct{}
	changed chan struct{} // closed when there is more room
}

// NewRoom makes room for so many bytes.
func NewRoom(size int64) *Room {
	return &Room{patience: roomPatience, size: size, free: size, reading: map[*message]struct{}{}, changed: make(chan struct{})}
}

// message is one that is being read. Of its methods only revoke may be called by another
// goroutine than the one that reads.
type message struct {
	room *Room
	max  int             // how long it may be
	done <-chan struct{} // closed when nobody wants it any more
	n    int             // how long it has become

	mu       sync.Mutex
	parts    mcp.Parts // what has come
	reserved int64
	last     time.Time // something came
	revoked  bool
}

// message begins a message. A nil room has no bounds.
func (r *Room) message(maxLen int, done <-chan struct{}) *message {
	return &message{room: r, max: maxLen, done: done}
}

// add appends what has come. The error is errNoRoom if the message was given up; what had
// come of it before is then lost.
func (m *message) add(p []byte) error {
	if m.room != nil && m.reserved == 0 && m.n+len(p) > smallMessage {
		if err := m.room.admit(m); err != nil {
			return err
		}
	}
	m.n += len(p)
	if m.reserved == 0 {
		m.parts.Add(p)
		return nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.revoked {
		return errNoRoom
	}
	m.parts.Add(p)
	m.last = time.Now()
	return nil
}

// end returns the message. The room that it takes is free when its bytes are. The error is
// errNoRoom if it was given up at the last moment.
func (m *message) end() ([]byte, error) {
	if m.reserved == 0 {
		return m.parts.Join(), nil
	}
	r := m.room
	r.mu.Lock()
	delete(r.reading, m)
	revoked := m.revoked
	r.mu.Unlock()
	if revoked {
		return nil, errNoRoom
	}
	whole := m.parts.Join() // nobody else knows of it any more
	m.parts = mcp.Parts{}
	kept := min(int64(cap(whole)), m.reserved)
	r.release(m.reserved - kept)
	if kept > 0 {
		runtime.AddCleanup(&whole[0], r.release, kept)
	}
	return whole, nil
}

// drop gives the message up, and returns what has come of it.
func (m *message) drop() [][]byte {
	if m.reserved == 0 {
		return m.parts.All()
	}
	r := m.room
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.reading, m)
	if !m.revoked {
		r.give(m.reserved)
	}
	return m.parts.All()
}

func (r *Room) release(n int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.give(n)
}

// give makes room. The caller holds mu.
func (r *Room) give(n int64) {
	if n > 0 {
		r.free += n
		close(r.changed)
		r.changed = make(chan struct{})
	}
}

// admit waits until there is room for a message, as long as it may become.
func (r *Room) admit(m *message) error {
	need := min(int64(m.max), r.size)
	until := time.Now().Add(r.patience)
	glance := time.NewTicker(roomGlance)
	defer glance.Stop()
	for {
		r.mu.Lock()
		if r.free >= need {
			r.free -= need
			m.reserved, m.last = need, time.Now()
			r.reading[m] = struct{}{}
			r.mu.Unlock()
			return nil
		}
		changed := r.changed
		late := time.Now().After(until)
		if late && !r.revoke(time.Now().Add(-r.patience)) {
			r.mu.Unlock()
			return errNoRoom
		}
		r.mu.Unlock()
		if late {
			continue
		}
		select {
		case <-changed:
		case <-glance.C:
			runtime.GC() // so that what is not in use any more is known
		case <-m.done:
			return errNoRoom
		}
	}
}

// revoke gives up a message of which nothing has come since a time, if there is one. The
// caller holds mu.
func (r *Room) revoke(since time.Time) bool {
	for m := range r.reading {
		m.mu.Lock()
		stalled := m.last.Before(since)
		if stalled {
			m.revoked, m.parts = true, mcp.Parts{}
		}
		m.mu.Unlock()
		if stalled {
			delete(r.reading, m)
			r.give(m.reserved)
			return true
		}
	}
	return false
}
