//go:build unix

package suite

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
)

// TestABuiltProgramAloneInAnEmptyRoot runs a program that was made of a script where nothing
// but it exists: no /proc, no /tmp, no home. It leaves no process.
func TestABuiltProgramAloneInAnEmptyRoot(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" || os.Geteuid() != 0 {
		t.Skip("changing the root needs Linux and root")
	}
	dir := t.TempDir()
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("lib.ts", `export const twice = (n: number) => n * 2`)
	write("report.ts", "import { twice } from './lib'\nconst [what] = process.argv.slice(2)\nif (what === 'fail') throw new Error('failed')\n"+
		"console.log(twice(21), process.argv.slice(2).join(), Object.keys(tools).join(), await tools.own.nothing({}).catch((e) => e.name))")
	write("servers.json", `{"mcpServers": {"own": {"command": "/not/there"}}}`)
	root := filepath.Join(dir, "root")
	if err := os.Mkdir(root, 0o755); err != nil {
		t.Fatal(err)
	}
	build := exec.Command(program(t), "build", "--config", "servers.json", "report.ts", "-o", filepath.Join(root, "report"))
	build.Dir = dir
	build.Env = []string{"HOME=" + filepath.Join(dir, "home"), "MCPX_DAEMON_INLINE=always"}
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("mcpx build: %v\n%s", err, out)
	}
	run := func(args ...string) (string, error) {
		cmd := exec.Command("/report", args...)
		cmd.Env, cmd.Dir = []string{}, "/"
		cmd.SysProcAttr = &syscall.SysProcAttr{Chroot: root}
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	for _, args := range [][]string{{"--version", "-x"}, {"worker", "plain"}, {"keeper"}} {
		want := "42 " + strings.Join(args, ",") + " own UnavailableError\n"
		if out, err := run(args...); err != nil || out != want {
			t.Errorf("the program printed %q, %v, want %q", out, err, want)
		}
	}
	if out, err := run("fail"); err == nil || !strings.Contains(out, "report.ts:3:28") {
		t.Errorf("the program failed with %q, %v, want the position in the source", out, err)
	}
}
