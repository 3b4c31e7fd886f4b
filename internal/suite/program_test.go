//go:build unix

package suite

import (
	"debug/elf"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// maxSize is how large the program may become. The goal is 32 MB: see docs/performance.md.
const maxSize = 44 << 20

func TestProgramIsOneStaticFile(t *testing.T) {
	t.Parallel()
	info, err := os.Stat(program(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%.1f MiB", float64(info.Size())/(1<<20))
	if info.Size() > maxSize {
		t.Errorf("the program has %d bytes, want at most %d", info.Size(), maxSize)
	}
	if runtime.GOOS != "linux" {
		return // elsewhere every program is linked to the system's library
	}
	f, err := elf.Open(program(t))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for _, p := range f.Progs {
		if p.Type == elf.PT_INTERP {
			t.Error("the program asks for a dynamic linker")
		}
	}
}

// TestProgramAloneInAnEmptyRoot runs the first command where nothing but the
// program and a /tmp exists.
func TestProgramAloneInAnEmptyRoot(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" || os.Geteuid() != 0 {
		t.Skip("changing the root needs Linux and root")
	}
	dir := t.TempDir()
	copyProgram(t, program(t), filepath.Join(dir, "mcpx"))
	if err := os.Mkdir(filepath.Join(dir, "tmp"), 0o777); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("/mcpx", "exec", `const r = await tools.demo.echo({ message: "hello" }); console.log(r)`)
	cmd.Env = []string{}
	cmd.Dir = "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Chroot: dir}
	out, err := cmd.CombinedOutput()
	if err != nil || string(out) != "hello\n" {
		t.Errorf("mcpx exec in an empty root printed %q, %v, want hello", out, err)
	}
}

// BenchmarkProcess measures whole processes, from start to exit.
func BenchmarkProcess(b *testing.B) {
	const code = "console.log(1+1)"
	bench := func(name string, args ...string) {
		b.Run(filepath.Base(name), func(b *testing.B) {
			home := b.TempDir()
			for b.Loop() {
				cmd := exec.Command(name, args...)
				cmd.Dir = home
				cmd.Env = []string{"MCPX_DAEMON_INLINE=always", "HOME=" + home, "PATH=" + os.Getenv("PATH"), "NO_COLOR=1"}
				if out, err := cmd.Output(); err != nil || string(out) != "2\n" {
					b.Fatalf("%s printed %q, %v, want 2", name, out, err)
				}
			}
		})
	}
	bench(program(b), "exec", code)
	bench(node(b), "-e", code)
	installed := filepath.Join(root, "testdata", "bench", "node_modules")
	// The packages of the platforms hold the programs themselves; what npm links
	// to is a script that starts them.
	for pattern, args := range map[string][]string{
		"@deno/*/deno":    {"eval", code},
		"@oven/*/bin/bun": {"-e", code},
	} {
		found, err := filepath.Glob(filepath.Join(installed, filepath.FromSlash(pattern)))
		if err != nil {
			b.Fatal(err)
		}
		if len(found) == 0 {
			b.Logf("nothing to compare with at testdata/bench/node_modules/%s; `make bench` installs it", pattern)
			continue
		}
		path, err := filepath.Abs(found[0])
		if err != nil {
			b.Fatal(err)
		}
		bench(path, args...)
	}
}

// BenchmarkInitialisation adds up what the packages of the program do before main,
// and reports the quickest process: a busy machine only adds to it.
func BenchmarkInitialisation(b *testing.B) {
	clock := regexp.MustCompile(`(?m)^init \S+ @\S+ ms, (\S+) ms clock`)
	least := math.Inf(1)
	for b.Loop() {
		cmd := exec.Command(program(b), "version")
		cmd.Env = []string{"GODEBUG=inittrace=1"}
		var trace strings.Builder
		cmd.Stderr = &trace
		if err := cmd.Run(); err != nil {
			b.Fatal(err)
		}
		lines := clock.FindAllStringSubmatch(trace.String(), -1)
		if len(lines) == 0 {
			b.Fatalf("no trace of initialisation in %q", trace.String())
		}
		var total float64
		for _, m := range lines {
			ms, err := strconv.ParseFloat(m[1], 64)
			if err != nil {
				b.Fatal(err)
			}
			total += ms
		}
		least = min(least, total)
	}
	b.ReportMetric(least, "init-ms")
}
