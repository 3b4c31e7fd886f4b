package pool

import (
	"context"
	"sync/atomic"
	"testing"

	"mcpx/mcp"
	"mcpx/mcp/client"
)

// soul is a caller; its peers are the same one.
type soul struct {
	name string
	held atomic.Int32
}

type peerOf struct {
	*soul
	notes *[]string
}

func (p peerOf) Same() any { return p.soul }

func (p peerOf) Hold() func() {
	p.held.Add(1)
	return func() { p.held.Add(-1) }
}

func (p peerOf) Notify(method string, _ mcp.Raw) { *p.notes = append(*p.notes, p.name+" "+method) }

func (p peerOf) Request(context.Context, string, mcp.Raw) (mcp.Raw, *mcp.Error) {
	return mcp.Raw(`"` + p.name + `"`), nil
}

func TestWhoIsAskedIsTheOneCallerWhoseCallsAreUnderWay(t *testing.T) {
	t.Parallel()
	ann, bob := &soul{name: "ann"}, &soul{name: "bob"}
	var notes []string
	tests := []struct {
		name    string
		callers []*soul // nil is a request of nobody
		asked   *soul
		several bool
	}{
		{name: "nobody"},
		{name: "a request of nobody", callers: []*soul{nil}},
		{name: "one", callers: []*soul{ann}, asked: ann},
		{name: "one, beside requests of nobody", callers: []*soul{nil, ann, nil}, asked: ann},
		{name: "several calls of one", callers: []*soul{ann, ann, ann}, asked: ann},
		{name: "two", callers: []*soul{ann, bob}, several: true},
		{name: "two, one of them more than once", callers: []*soul{ann, bob, ann}, several: true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var c callers
			var turns []*turn
			for _, s := range tt.callers {
				var peer client.Sink
				if s != nil {
					peer = peerOf{s, &notes}
				}
				turns = append(turns, c.enter(peer))
			}
			q, several := c.ask(func() {})
			if several != tt.several || (q != nil) != (tt.asked != nil) {
				t.Fatalf("asked %v, several %v", q, several)
			}
			if q != nil && q.peer.(peerOf).soul != tt.asked {
				t.Errorf("asked %s", q.peer.(peerOf).name)
			}
			for _, turn := range turns {
				turn.leave()
				turn.leave()
			}
			if len(c.turns) != 0 {
				t.Errorf("%d calls are left", len(c.turns))
			}
		})
	}
}

func TestAQuestionOutlivesTheCallThatItWasPutThroughIfItsCallerHasOthers(t *testing.T) {
	t.Parallel()
	ann, bob := &soul{name: "ann"}, &soul{name: "bob"}
	var notes []string
	var c callers
	first, second := c.enter(peerOf{ann, &notes}), c.enter(peerOf{ann, &notes})
	cancelled := 0
	q, _ := c.ask(func() { cancelled++ })
	third, other := c.enter(peerOf{ann, &notes}), c.enter(peerOf{bob, &notes})
	if ann.held.Load() != 3 || bob.held.Load() != 0 {
		t.Errorf("%d calls of ann and %d of bob are held; want 3 and 0", ann.held.Load(), bob.held.Load())
	}
	first.leave()
	second.leave()
	if cancelled != 0 {
		t.Error("the question ended though a call of its caller is under way")
	}
	third.leave()
	if cancelled != 1 {
		t.Errorf("the question ended %d times with the last call of its caller", cancelled)
	}
	c.answered(q)
	if ann.held.Load() != 0 || len(c.questions) != 0 {
		t.Errorf("%d calls are held, %d questions are left", ann.held.Load(), len(c.questions))
	}
	other.leave()
}

// odd is a peer that cannot be compared.
type odd struct {
	peerOf
	_ []int
}

func (odd) Same() any { return []int{1} }

func TestPeersThatCannotBeComparedAreStrangers(t *testing.T) {
	t.Parallel()
	var notes []string
	a := odd{peerOf: peerOf{&soul{}, &notes}}
	if same(a, a) {
		t.Error("what cannot be compared counts as equal")
	}
	if same(nil, nil) {
		t.Error("nobody counts as a caller")
	}
}

func TestEachCallerIsToldOnce(t *testing.T) {
	t.Parallel()
	ann, bob := &soul{name: "ann"}, &soul{name: "bob"}
	var notes []string
	var c callers
	for _, s := range []*soul{ann, bob, ann, ann} {
		c.enter(peerOf{s, &notes})
	}
	for _, p := range c.each() {
		p.Notify(mcp.NotificationMessage, nil)
	}
	if len(notes) != 2 || notes[0] == notes[1] {
		t.Errorf("told %q", notes)
	}
}
