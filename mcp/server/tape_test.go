package server

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"mcpx/mcp"
)

func say(n int, size int) *mcp.Message {
	return &mcp.Message{Method: fmt.Sprintf("n/%d", n), Params: encode(strings.Repeat("x", size))}
}

func numbers(events []event) (list []int) {
	for _, e := range events {
		list = append(list, e.number)
	}
	return list
}

func TestTapeKeepsTheLastForWhoeverComesBack(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name         string
		puts, size   int
		first, least int
	}{
		{"few", 10, 10, 1, 10},
		{"many", 1000, 10, 1000 - tapeEvents + 1, tapeEvents},
		{"large", 40, 100 << 10, 31, 10},
		{"one that is too large", 1, 4 << 20, 1, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var held atomic.Int64
			tape := newTape(true, &held)
			for i := range tt.puts {
				if err := tape.put(say(i, tt.size), false); err != nil {
					t.Fatal(err)
				}
			}
			events, ended, _ := tape.next(tape.attach(0))
			if len(events) < tt.least || events[0].number != tt.first || events[len(events)-1].number != tt.puts || ended {
				t.Errorf("events %v, ended %v", numbers(events), ended)
			}
			tape.drop()
			if held.Load() != 0 {
				t.Errorf("%d bytes are held after the end", held.Load())
			}
			if err := tape.put(say(0, 1), false); err == nil {
				t.Error("it takes more after the end")
			}
		})
	}
}

func TestTapesHoldSoMuchTogether(t *testing.T) {
	t.Parallel()
	var held atomic.Int64
	m := say(1, 4<<20)
	for range 20 {
		tape := newTape(true, &held)
		if err := tape.put(m, false); err != nil {
			t.Fatal(err)
		}
	}
	if held.Load() > maxReplayed {
		t.Errorf("%d bytes are held, at most %d should be", held.Load(), maxReplayed)
	}
}

func TestTapeWaitsForASlowReaderUntilItIsGone(t *testing.T) {
	t.Parallel()
	var held atomic.Int64
	tape := newTape(false, &held)
	r := tape.attach(0)
	full := make(chan int)
	go func() {
		defer close(full)
		for i := range 100 {
			if tape.put(say(i, 100<<10), false) != nil {
				full <- i
				return
			}
		}
	}()
	for deadline := time.Now().Add(time.Minute); held.Load() <= maxUnread; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%d bytes are held", held.Load())
		}
	}
	events, _, _ := tape.next(r)
	tape.took(r, events[3].number)
	tape.detach(r)
	if i, waited := <-full; !waited || i > 20 {
		t.Errorf("%d messages were taken for a reader that read 4", i)
	}
	if held.Load() != 0 {
		t.Errorf("%d bytes are held after the end", held.Load())
	}
}

func TestTapeHasOneReader(t *testing.T) {
	t.Parallel()
	tape := newTape(true, new(atomic.Int64))
	first := tape.attach(0)
	second := tape.attach(-1)
	select {
	case <-first.replaced:
	default:
		t.Error("the first reader is not told")
	}
	tape.detach(first)
	if !tape.attached() {
		t.Error("the second reader is gone with the first")
	}
	tape.detach(second)
	if tape.attached() {
		t.Error("a reader is left")
	}
}
