//go:build unix

package run

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"mcpx/internal/api"
)

// BenchmarkRunCold is a whole run, from the start of the worker to its end.
func BenchmarkRunCold(b *testing.B) {
	r := stage{}.runner()
	took := make([]time.Duration, 0, b.N)
	for b.Loop() {
		took = append(took, timed(b, r))
	}
	report(b, took)
}

// BenchmarkRunWarm is a run whose worker waits for it, at the pace of a person: its
// successor is there before the next.
func BenchmarkRunWarm(b *testing.B) {
	r := stage{}.runner()
	r.KeepWarm(2)
	defer r.Close()
	took := make([]time.Duration, 0, b.N)
	for b.Loop() {
		b.StopTimer()
		waitForWarm(b, r, 2)
		b.StartTimer()
		took = append(took, timed(b, r))
	}
	report(b, took)
	b.ReportMetric(private(b, r), "private-MiB")
}

// BenchmarkRunsAtOnce is how many runs there can be in a second, as many at a time as
// there are processors.
func BenchmarkRunsAtOnce(b *testing.B) {
	r := stage{}.runner()
	r.KeepWarm(4)
	defer r.Close()
	b.RunParallel(func(p *testing.PB) {
		for p.Next() {
			timed(b, r)
		}
	})
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "runs/s")
}

func timed(b *testing.B, r *Runner) time.Duration {
	b.Helper()
	begin := time.Now()
	out, err := r.Run(b.Context(), api.ExecInput{Name: "exec", Code: "const x: number = 1; return { x, y: [1, 2, 3] }"}, api.Streams{})
	if err != nil || string(out.Value) != `{"x":1,"y":[1,2,3]}` {
		b.Fatalf("the run ended with %+v, %v", out, err)
	}
	return time.Since(begin)
}

func report(b *testing.B, took []time.Duration) {
	b.Helper()
	slices.Sort(took)
	for name, at := range map[string]int{"p50-ms": len(took) / 2, "p90-ms": len(took) * 9 / 10} {
		b.ReportMetric(float64(took[at].Microseconds())/1000, name)
	}
}

// waitForWarm waits until n workers are warm, and idle.
func waitForWarm(tb testing.TB, r *Runner, n int) {
	tb.Helper()
	for {
		r.workers.mu.Lock()
		warm := len(r.workers.warm)
		r.workers.mu.Unlock()
		if warm == n {
			time.Sleep(40 * time.Millisecond) // it was started, and warms itself now
			return
		}
		time.Sleep(time.Millisecond)
	}
}

// private is the memory of a warm worker that it shares with nobody, in MiB; 0 where
// the system does not tell.
func private(b *testing.B, r *Runner) float64 {
	b.Helper()
	waitForWarm(b, r, 2)
	time.Sleep(200 * time.Millisecond)
	r.workers.mu.Lock()
	pid := r.workers.warm[0].Pid()
	r.workers.mu.Unlock()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	// What is not anonymous is the program's file, which every worker has the same of.
	_, rest, _ := strings.Cut(string(text), "RssAnon:")
	var kib float64
	if _, err := fmt.Sscan(rest, &kib); err != nil {
		return 0
	}
	return kib / 1024
}

// BenchmarkOutput is fifty thousand lines, without the start of the worker.
func BenchmarkOutput(b *testing.B) {
	loop(b, "for (let i = 0; i < 50_000; i++) console.log('a line of output', i)", 1)
}

// BenchmarkToolCall is one call after the other, through the socket and back.
func BenchmarkToolCall(b *testing.B) {
	const calls = 2000
	for _, size := range []int{10, 100 << 10} {
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			b.SetBytes(int64(size))
			loop(b, fmt.Sprintf(`const text = "x".repeat(%d); for (let i = 0; i < %d; i++) await demo.echo({text})`, size, calls), calls)
		})
	}
}

// loop reports the time of one of n parts of a script.
func loop(b *testing.B, code string, n int) {
	b.Helper()
	r := stage{call: structured}.runner()
	b.StopTimer()
	for range b.N {
		s := r.take(false)
		if s.err != nil {
			b.Fatal(s.err)
		}
		again := make(chan started, 1)
		again <- s
		r.workers.ahead = again
		b.StartTimer()
		out, err := r.Run(b.Context(), api.ExecInput{Name: "exec", Code: code}, api.Streams{Stdout: io.Discard})
		b.StopTimer()
		if err != nil || out.Error != nil {
			b.Fatalf("Run() = %+v, %v", out, err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/part")
}
