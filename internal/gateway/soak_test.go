//go:build linux

package gateway_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"mcpx/internal/api"
	"mcpx/internal/config"
	"mcpx/internal/fault"
	"mcpx/mcp/mcptest"
)

// soak is how many calls are made. MCPX_TEST_SOAK says another number.
func soak(t *testing.T) int {
	t.Helper()
	text := os.Getenv("MCPX_TEST_SOAK")
	if text == "" {
		return 1000
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		t.Fatalf("MCPX_TEST_SOAK=%s is no number of calls", text)
	}
	return n
}

// holdings is what this process has: what a leak would add to.
type holdings struct{ goroutines, files, children int }

func held(t *testing.T) holdings {
	t.Helper()
	files, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	h := holdings{goroutines: runtime.NumGoroutine(), files: len(files)}
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		t.Fatal(err)
	}
	for _, stat := range stats {
		text, err := os.ReadFile(stat)
		if err != nil {
			continue // it has ended
		}
		// The name stands in parentheses and may hold anything; then come state and parent.
		fields := bytes.Fields(text[bytes.LastIndexByte(text, ')')+1:])
		if len(fields) > 1 && string(fields[1]) == strconv.Itoa(os.Getpid()) {
			h.children++
		}
	}
	return h
}

// within reports whether nothing has been added since.
func (h holdings) within(before holdings) bool {
	return h.goroutines <= before.goroutines && h.files <= before.files && h.children <= before.children
}

// TestSoak makes very many calls, 32 at once, of a server that crashes again and again:
// each settles, with the answer to it or with an error that says that the server ended, and
// in the end nothing is left of any of it. It does not run beside other tests: they would
// be counted.
func TestSoak(t *testing.T) { //nolint:paralleltest // it counts what the process has
	const every, atOnce = 500, 32
	total := soak(t)
	// The first instance makes what stays: the thread that starts processes, the poller.
	warm := open(t, t.TempDir(), []*config.Server{entry("s", mcptest.Script{})}, "policy-write", "allow")
	if _, err := call(t, warm, "s", "echo", `{"message":"x"}`); err != nil {
		t.Fatal(err)
	}
	warm.Close()
	before := held(t)

	g := open(t, t.TempDir(), []*config.Server{entry("s", mcptest.Script{CrashEvery: every})}, "policy-write", "allow")
	var next, answered, ended atomic.Int64
	var wg sync.WaitGroup
	began := time.Now()
	for range atOnce {
		wg.Go(func() {
			for n := next.Add(1); n <= int64(total); n = next.Add(1) {
				want := fmt.Sprintf("call %d", n)
				out, err := g.Call(t.Context(), api.CallInput{Server: "s", Tool: "echo", Arguments: json.RawMessage(`{"message":"` + want + `"}`)})
				switch {
				case err == nil && out.Text == want:
					answered.Add(1)
				case err == nil:
					t.Errorf("%s was answered with %q", want, out.Text)
				case fault.KindOf(err) == fault.Unavailable:
					ended.Add(1)
				default:
					t.Errorf("%s: %v", want, err)
				}
			}
		})
	}
	wg.Wait()
	took := time.Since(began)
	most := held(t)
	g.Close()
	// Those under way when it crashed are lost, and no others.
	crashes := int64(total / every)
	if got := answered.Load() + ended.Load(); got != int64(total) || ended.Load() < min(crashes, 1) || ended.Load() > crashes*atOnce {
		t.Errorf("%d calls: %d answered, %d ended with the server; it crashed at most %d times", total, answered.Load(), ended.Load(), crashes)
	}
	var after holdings
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		if after = held(t); after.within(before) || time.Now().After(deadline) {
			break
		}
	}
	if !after.within(before) {
		stacks := make([]byte, 1<<20)
		t.Errorf("before %+v, after %+v\n%s", before, after, stacks[:runtime.Stack(stacks, true)])
	}
	t.Logf("%d calls, %d at once: %d answered, %d ended with the server, in %s; before %+v, at the end of the calls %+v, after %+v",
		total, atOnce, answered.Load(), ended.Load(), took.Round(time.Millisecond), before, most, after)
	if log := g.log.String(); strings.Contains(log, "panic") {
		t.Errorf("the log tells of a panic: %s", log)
	}
}
