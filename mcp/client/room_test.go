package client

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"mcpx/internal/fault"
	"mcpx/mcp"
	"mcpx/mcp/mcptest"
)

func TestLongMessagesShareTheRoom(t *testing.T) {
	t.Parallel()
	const size = 8 << 20
	room := NewRoom(4 * size)
	var most, now atomic.Int64
	var wg sync.WaitGroup
	var failed atomic.Int32
	for range 64 {
		wg.Go(func() {
			m := room.message(size, nil)
			part := make([]byte, 256<<10)
			for range 16 { // 4 MiB
				if m.add(part) != nil {
					failed.Add(1)
					m.drop()
					return
				}
				if m.n == smallMessage+len(part) {
					for n := now.Add(1); ; {
						if old := most.Load(); n <= old || most.CompareAndSwap(old, n) {
							break
						}
					}
				}
			}
			now.Add(-1)
			if _, err := m.end(); err != nil {
				failed.Add(1)
			}
		})
	}
	wg.Wait()
	if failed.Load() > 0 || most.Load() > 4 {
		t.Errorf("%d failed, and %d were read at once; want none, and at most 4", failed.Load(), most.Load())
	}
	runtime.GC()
	waitFor(t, "the room to be free again", func() bool {
		room.mu.Lock()
		defer room.mu.Unlock()
		runtime.GC()
		return room.free == room.size && len(room.reading) == 0
	})
}

func TestWhatIsInUseTakesRoomAndWhoeverFindsNoneFails(t *testing.T) {
	t.Parallel()
	room := NewRoom(4 << 20)
	room.patience = 100 * time.Millisecond
	long := make([]byte, 3<<20)
	first := room.message(4<<20, nil)
	if err := first.add(long); err != nil {
		t.Fatal(err)
	}
	held, err := first.end()
	if err != nil {
		t.Fatal(err)
	}
	begin := time.Now()
	second := room.message(4<<20, nil)
	if err := second.add(long); !errors.Is(err, errNoRoom) || time.Since(begin) < room.patience {
		t.Errorf("got %v after %s", err, time.Since(begin))
	}
	small := room.message(4<<20, nil)
	if err := small.add(make([]byte, smallMessage)); err != nil {
		t.Errorf("a small message: %v", err)
	}
	gone := make(chan struct{})
	close(gone)
	third := room.message(4<<20, gone)
	if err := third.add(long); !errors.Is(err, errNoRoom) {
		t.Errorf("one that nobody wants: %v", err)
	}
	runtime.KeepAlive(held)
}

func TestAMessageThatStallsMakesRoomForOthers(t *testing.T) {
	t.Parallel()
	room := NewRoom(4 << 20)
	room.patience = 100 * time.Millisecond
	long := make([]byte, 3<<20)
	stalled := room.message(4<<20, nil)
	if err := stalled.add(long); err != nil {
		t.Fatal(err)
	}
	other := room.message(4<<20, nil)
	if err := other.add(long); err != nil {
		t.Fatalf("the other one: %v", err)
	}
	if err := stalled.add([]byte("x")); !errors.Is(err, errNoRoom) {
		t.Errorf("the one that stalled: %v", err)
	}
	stalled.drop()
	other.drop()
	if room.free != room.size {
		t.Errorf("%d of %d bytes are free", room.free, room.size)
	}
}

func TestManyLongAnswersAtOnceTakeTurns(t *testing.T) {
	t.Parallel()
	const size = 4 << 20
	for _, kind := range []string{"over a pipe", "as events", "as JSON"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			room := NewRoom(2 * (size + 1<<10))
			var sessions []*Session
			for range 16 {
				var transport Transport
				if kind == "over a pipe" {
					exe := mcptest.Command(mcptest.Script{})
					child, err := StartCommand(t.Context(), Command{Name: "stub", Path: exe.Path, Env: exe.Env, MaxLine: size + 1<<10, Room: room})
					if err != nil {
						t.Fatal(err)
					}
					transport = child
				} else {
					site := mcptest.Serve(mcptest.HTTP{JSON: kind == "as JSON"})
					t.Cleanup(site.Close)
					h, err := OpenHTTP(Endpoint{Name: "stub", URL: site.URL, MaxMessage: size + 1<<10, Room: room})
					if err != nil {
						t.Fatal(err)
					}
					transport = h
				}
				s, err := Connect(t.Context(), transport, Options{Name: "stub", Era: mcp.Legacy})
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { s.Close() })
				sessions = append(sessions, s)
			}
			failed := make(chan error, len(sessions))
			for _, s := range sessions {
				go func() {
					got, err := toolErr(t.Context(), s, "huge", fmt.Sprintf(`{"bytes":%d}`, size))
					if err == nil && len(got) != size {
						err = fmt.Errorf("the answer has %d bytes", len(got))
					}
					failed <- err
				}()
			}
			for range sessions {
				// On a machine that is busy an answer may find no room in time: then it says so.
				if err := nextOf(t, "an answer", failed); err != nil && (fault.KindOf(err) != fault.Limit || !strings.Contains(err.Error(), "stdio.maxHeld")) {
					t.Error(err)
				}
			}
		})
	}
}
