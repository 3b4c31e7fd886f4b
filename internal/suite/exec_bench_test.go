//go:build linux

package suite

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"mcpx/internal/api"
)

// childrenOf are the processes that a process has started.
func childrenOf(tb testing.TB, pid int) []int {
	tb.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/status")
	if err != nil {
		tb.Fatal(err)
	}
	var out []int
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil || !strings.Contains(string(text), fmt.Sprintf("\nPPid:\t%d\n", pid)) {
			continue // it has ended, or is somebody else's
		}
		if child, err := strconv.Atoi(filepath.Base(filepath.Dir(file))); err == nil {
			out = append(out, child)
		}
	}
	return out
}

// peak is the most memory that a process has had, and what of its memory is its own now, in
// KiB; 0 if it has ended.
func peak(pid int) (most, own int) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, 0
	}
	for line := range strings.Lines(string(text)) {
		var n int
		if _, err := fmt.Sscanf(line, "VmHWM: %d kB", &n); err == nil {
			most = n
		}
		if _, err := fmt.Sscanf(line, "RssAnon: %d kB", &n); err == nil {
			own = n
		}
	}
	return most, own
}

// BenchmarkExecMemory is what a script costs in memory that POST /v1/exec runs: the process
// that holds it, at its largest, and what the daemon has more of after each. One of the
// scripts asks to be looked at, and waits for a moment.
func BenchmarkExecMemory(b *testing.B) {
	if _, err := os.Stat("/proc/self/status"); err != nil {
		b.Skip("there is no /proc")
	}
	const look = `; progress(1, 1, "look"); await new Promise((go) => setTimeout(go, 20)); return 1`
	for _, bb := range []struct{ name, code string }{
		{"nothing", `const all = []`},
		{"a tool call", `await tools.s.echo({ message: "x" })`},
		{"20,000 objects", `const all = []; for (let i = 0; i < 2e4; i++) all.push({ i, s: "s" + i })`},
	} {
		b.Run(strings.ReplaceAll(bb.name, " ", "_"), func(b *testing.B) {
			d := startDaemon(b)
			pid := d.link.Pid
			largest, private := 0, 0
			run := func(watch bool) {
				in := api.ExecInput{Code: bb.code}
				if watch {
					in.Code += look
				}
				in.Frames = func(f api.Frame) error {
					if f.Type != "progress" {
						return nil
					}
					for _, child := range childrenOf(b, pid) {
						most, own := peak(child)
						largest, private = max(largest, most), max(private, own)
					}
					return nil
				}
				out, err := d.as(0).Exec(b.Context(), in)
				if err != nil || out.Error != nil {
					b.Fatalf("%v, %+v", err, out)
				}
			}
			for range 100 { // what is kept from then on
				run(false)
			}
			run(true)
			_, before := rss(b, pid)
			b.ResetTimer()
			for range b.N {
				run(false)
			}
			b.StopTimer()
			all, after := rss(b, pid)
			b.ReportMetric(float64(largest)/1024, "worker-peak-MB")
			b.ReportMetric(float64(private)/1024, "worker-own-MB")
			b.ReportMetric(float64(after-before)/float64(b.N), "daemon-growth-KB/op")
			b.ReportMetric(float64(all)/1024, "daemon-MB")
		})
	}
}
