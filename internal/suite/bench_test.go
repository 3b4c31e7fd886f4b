//go:build unix

package suite

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// BenchmarkEngineStart measures the process of a script that touches one thing of what a
// script finds, and reports how much longer than an empty script the quickest took: a
// busy machine only adds to it.
func BenchmarkEngineStart(b *testing.B) {
	home := b.TempDir()
	quickest := func(b *testing.B, code string) time.Duration {
		b.Helper()
		least := time.Duration(math.MaxInt64)
		for b.Loop() {
			cmd := exec.Command(program(b), "exec", code)
			cmd.Dir, cmd.Env = home, []string{"MCPX_DAEMON_INLINE=always", "HOME=" + home, "NO_COLOR=1"}
			start := time.Now()
			if out, err := cmd.CombinedOutput(); err != nil {
				b.Fatalf("%s: %v\n%s", code, err, out)
			}
			least = min(least, time.Since(start))
		}
		return least
	}
	var empty time.Duration
	for _, c := range []struct{ name, code string }{
		{"nothing", "0"},
		{"console.log", "console.log({ a: 1 })"},
		{"Intl.NumberFormat", "new Intl.NumberFormat('de').format(1234.5)"},
		{"Intl.DateTimeFormat", "new Date(0).toLocaleString('de')"},
		{"Buffer", "Buffer.from('a').toString('hex')"},
		{"crypto", "crypto.randomUUID()"},
		{"URL", "new URL('http://a.example/').host"},
		{"Response", "new Response('x').status"},
		{"ReadableStream", "new ReadableStream().locked"},
		{"AbortController", "new AbortController().signal.aborted"},
		{"structuredClone", "structuredClone([1])"},
		{"RegExp of Unicode", "/\\p{L}/u.test('a')"},
		{"iterator helpers", "[1].values().map(x => x).toArray()"},
		{"async generator", "for await (const x of (async function* () { yield 1 })()) x"},
		{"node:util", "import util from 'node:util'; util.inspect({})"},
		{"node:stream", "import { Readable } from 'node:stream'; Readable.from([1]).readable"},
		{"node:zlib", "import zlib from 'node:zlib'; zlib.gzipSync('a').length"},
		{"node:assert", "import assert from 'node:assert'; assert(true)"},
		{"mcpx:yaml", "import * as yaml from 'mcpx:yaml'; yaml.parse('a: 1')"},
		{"mcpx:html", "import * as html from 'mcpx:html'; html.parse('<p>a').text"},
	} {
		b.Run(c.name, func(b *testing.B) {
			least := quickest(b, c.code)
			if empty == 0 {
				empty = least
			}
			b.ReportMetric(float64(least)/1e6, "least-ms")
			b.ReportMetric(float64(least-empty)/1e6, "more-ms")
		})
	}
}

// BenchmarkEngineCPU runs scripts that compute in mcpx and in node, each measuring itself,
// and reports how many times longer mcpx takes: for each, and as the geometric mean.
func BenchmarkEngineCPU(b *testing.B) {
	files, err := filepath.Glob(filepath.Join(root, "testdata", "bench", "cpu", "*.js"))
	if err != nil || len(files) == 0 {
		b.Fatalf("%d scripts, %v", len(files), err)
	}
	home, mcpx, theirs := b.TempDir(), program(b), node(b)
	measure := func(args ...string) (sum string, ms float64) {
		cmd := exec.Command(args[0], args[1:]...)
		cmd.Dir, cmd.Env = home, []string{"MCPX_DAEMON_INLINE=always", "HOME=" + home, "PATH=" + os.Getenv("PATH"), "NO_COLOR=1"}
		out, err := cmd.Output()
		if err != nil {
			b.Fatalf("%s: %v", strings.Join(args, " "), err)
		}
		var result []any
		if err := json.Unmarshal(out, &result); err != nil || len(result) != 2 {
			b.Fatalf("%s printed %q", strings.Join(args, " "), out)
		}
		ms, _ = result[1].(float64)
		return fmt.Sprint(result[0]), ms
	}
	logs := 0.0
	least := map[string]float64{}
	for b.Loop() {
		for _, file := range files {
			name := strings.TrimSuffix(filepath.Base(file), ".js")
			path, err := filepath.Abs(file)
			if err != nil {
				b.Fatal(err)
			}
			ours, took := measure(mcpx, "run", path)
			other, took2 := measure(theirs, path)
			if ours != other {
				b.Fatalf("%s: mcpx computes %s, node %s", name, ours, other)
			}
			note := func(key string, ms float64) {
				if before, ok := least[key]; !ok || ms < before {
					least[key] = ms
				}
			}
			note("mcpx "+name, took)
			note("node "+name, took2)
		}
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".js")
		ratio := least["mcpx "+name] / least["node "+name]
		logs += math.Log(ratio)
		b.ReportMetric(ratio, name+"-x")
	}
	b.ReportMetric(math.Exp(logs/float64(len(files))), "mean-x")
}
