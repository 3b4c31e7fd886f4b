package client

import (
	"fmt"
	"io"
	"sync"
	"testing"

	"mcpx/mcp"
)

// picky is a transport that takes every other message only from the writer.
type picky struct {
	mu      sync.Mutex
	tried   int
	taken   []string // by TrySend
	got     []string // in the order in which they came
	busy    bool
	overlap bool
	answers chan []byte
	over    chan struct{}
	close   sync.Once
}

func (p *picky) take(line []byte) {
	m, err := mcp.Split(line)
	if err != nil || m.Kind() != mcp.Request {
		return
	}
	p.got = append(p.got, string(mcp.Member(m.Params, "n")))
	p.answers <- (&mcp.Message{ID: m.ID, Result: mcp.Raw(`{}`)}).Encode()
}

func (p *picky) enter() {
	p.mu.Lock()
	p.overlap = p.overlap || p.busy
	p.busy = true
	p.mu.Unlock()
}

func (p *picky) leave() {
	p.mu.Lock()
	p.busy = false
	p.mu.Unlock()
}

func (p *picky) TrySend(line []byte) bool {
	p.enter()
	defer p.leave()
	if p.tried++; p.tried%2 == 0 {
		return false
	}
	p.taken = append(p.taken, string(line))
	p.take(line)
	return true
}

func (p *picky) Send(line []byte) error {
	p.enter()
	defer p.leave()
	p.take(line)
	return nil
}

func (p *picky) Receive() ([]byte, error) {
	select {
	case line := <-p.answers:
		return line, nil
	case <-p.over:
		return nil, io.EOF
	}
}

func (p *picky) Close() error { p.close.Do(func() { close(p.over) }); return nil }

// TestOneSendsAtATime has calls sent by whoever makes them and by the writer.
func TestOneSendsAtATime(t *testing.T) {
	t.Parallel()
	p := &picky{answers: make(chan []byte, 1000), over: make(chan struct{})}
	c := newConn(p, &Options{Name: "picky"})
	defer c.close()
	const callers, each = 8, 50
	var wg sync.WaitGroup
	for i := range callers {
		wg.Go(func() {
			for n := range each {
				params, err := mcp.Check(fmt.Appendf(nil, `{"n":%d}`, i*each+n))
				if err != nil {
					t.Error(err)
					return
				}
				if _, err := c.roundTrip(t.Context(), "x", parameters{of: params}, CallOptions{}); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	seen := map[string]bool{}
	last := map[string]int{} // of each caller, whose calls come in their order
	for _, n := range p.got {
		if seen[n] {
			t.Errorf("%s came twice", n)
		}
		seen[n] = true
		var at int
		if _, err := fmt.Sscan(n, &at); err != nil {
			t.Fatal(err)
		}
		caller := fmt.Sprint(at / each)
		if before, ok := last[caller]; ok && at <= before {
			t.Errorf("%d came after %d", at, before)
		}
		last[caller] = at
	}
	if len(seen) != callers*each || p.overlap {
		t.Errorf("%d of %d calls came; two were sent at the same time: %v", len(seen), callers*each, p.overlap)
	}
	if len(p.taken) == 0 || len(p.taken) == len(p.got) {
		t.Errorf("%d of %d were sent by whoever made the call: nothing is tried", len(p.taken), len(p.got))
	}
}
