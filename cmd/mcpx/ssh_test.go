//go:build unix

package main

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"mcpx/internal/process"
)

// sshd starts a real sshd for the user of the test, and returns a home whose commands reach
// the daemon of another home through it.
func sshd(t *testing.T) (h *home, there string) {
	t.Helper()
	const places = "/usr/sbin:/usr/local/sbin:/usr/bin:/usr/local/bin:/bin"
	tools := map[string]string{"sshd": "", "ssh": "", "ssh-keygen": ""}
	for name := range tools {
		path, err := process.LookPath(name, places, "/")
		if err != nil {
			t.Skipf("%s is not installed", name)
		}
		tools[name] = path
	}
	if _, err := os.Stat("/run/sshd"); os.Geteuid() == 0 && err != nil {
		t.Skip("sshd as root needs the folder /run/sshd")
	}
	me, err := user.Current()
	if err != nil {
		t.Skip(err)
	}
	h = newHome(t)
	there = filepath.Join(h.dir, "there")
	port := freePort(t)
	write := func(name, text string, mode os.FileMode) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(there, name), []byte(text), mode); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(there, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"host", "key", "other"} {
		if out, err := exec.CommandContext(t.Context(), tools["ssh-keygen"], "-q", "-t", "ed25519", "-N", "", "-f", filepath.Join(there, key)).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	write("mcpx.json", `{"policy": {"write": "allow"}, "mcpServers": {"far": {"command": "mcpx", "args": ["demo-server"]}}}`, 0o600)
	write("sshd_config", fmt.Sprintf(`Port %s
ListenAddress 127.0.0.1
HostKey %[2]s/host
AuthorizedKeysFile %[2]s/key.pub
StrictModes no
PidFile none
UsePAM no
PasswordAuthentication no
KbdInteractiveAuthentication no
MaxStartups 100
SetEnv PATH=%[3]s:/usr/bin:/bin MCPX_STATE_DIR=%[2]s/state MCPX_CONFIG=%[2]s/mcpx.json
`, port, there, filepath.Join(h.dir, "bin")), 0o600)
	write("ssh_config", fmt.Sprintf("Host *\n  IdentitiesOnly yes\n  UserKnownHostsFile %s/known\n  StrictHostKeyChecking accept-new\n  LogLevel ERROR\n", there), 0o600)
	ssh := filepath.Join(h.dir, "bin", "ssh")
	script := fmt.Sprintf("#!/bin/sh\nexec %s -F %s/ssh_config -i \"${TEST_KEY:-%[2]s/key}\" \"$@\"\n", tools["ssh"], there)
	if err := installProgram(ssh, []byte(script)); err != nil {
		t.Fatal(err)
	}
	server := exec.Command(tools["sshd"], "-D", "-e", "-f", filepath.Join(there, "sshd_config")) //nolint:noctx // it is killed below
	var said bytes.Buffer
	server.Stderr = &said
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- server.Wait() }()
	t.Cleanup(func() {
		_ = server.Process.Kill()
		<-ended
		if t.Failed() {
			t.Logf("sshd said:\n%s", said.String())
		}
	})
	t.Cleanup(func() { endDaemons(filepath.Join(there, "state")) })
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", "127.0.0.1:"+port)
		if err == nil {
			_ = conn.Close()
			break
		}
		select {
		case err := <-ended:
			ended <- err
			t.Fatalf("sshd: %v: %s", err, said.String())
		default:
		}
		if time.Now().After(deadline) {
			t.Fatal("sshd does not listen")
		}
	}
	h.extra = append(h.extra, "MCPX_DAEMON_ENDPOINT=ssh://"+me.Username+"@127.0.0.1:"+port, "PATH="+filepath.Join(h.dir, "bin")+":/usr/bin:/bin")
	return h, there
}

// A daemon behind a real sshd answers as one of this machine does.
func TestADaemonBehindSSH(t *testing.T) {
	t.Parallel()
	h, there := sshd(t)
	near := filepath.Join(h.dir, "near")
	for name, text := range map[string]string{
		"lib.ts": "export const n: number = 41\n", "main.ts": "import { n } from './lib'\nconsole.log(n + @plus, process.argv.slice(2).join())\n\nthrow new Error('in main')\n",
	} {
		if err := errors.Join(os.MkdirAll(near, 0o700), os.WriteFile(filepath.Join(near, name), []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	for _, tt := range []struct {
		args  []string
		stdin string
		code  int
		want  []string
	}{
		{[]string{"exec", "return await tools.far.echo({ message: 'over there' })"}, "", 0, []string{"over there\n"}},
		{[]string{"call", "far.echo", "message=hi"}, "", 0, []string{"hi\n"}},
		{[]string{"ls"}, "", 0, []string{"far\n", "echo"}},
		{[]string{"exec", "return await input()"}, "given", 0, []string{"given\n"}},
		{[]string{"exec", "console.log('x'.repeat(3e6)); process.exit(7)"}, "", 7, []string{strings.Repeat("x", 3e6) + "\n"}},
		{[]string{"run", "--placeholder", "plus:=1", "near/main.ts", "a", "b"}, "", 1, []string{"42 a,b\n", "Error: in main\n  at near/main.ts:4:7"}},
		{[]string{"exec", "--artifacts", "out", "await artifact('a.txt', 'kept'); return 1"}, "", 0, []string{"1\n", filepath.Join(h.dir, "out", "a.txt")}},
		{[]string{"exec", "--record", "calls.jsonl", "return await tools.far.echo({ message: 'on tape' })"}, "", 0, []string{"on tape\n"}},
		{[]string{"exec", "--permissions", "none", "await tools.far.echo({ message: 'x' })"}, "", 77, []string{"denied"}},
		{[]string{"call", "far.ask", "question=hm"}, "", 75, []string{"hm"}},
		{[]string{"status"}, "", 0, []string{filepath.Join(there, "mcpx.json")}},
	} {
		c := h.command(tt.args...)
		c.Stdin = strings.NewReader(tt.stdin)
		out, _ := c.CombinedOutput()
		if c.ProcessState.ExitCode() != tt.code {
			t.Errorf("%q: exit code %d, want %d: %.2000s", tt.args, c.ProcessState.ExitCode(), tt.code, out)
		}
		for _, want := range tt.want {
			if !strings.Contains(string(out), want) {
				t.Errorf("%q: %.2000s\nwant %.200s", tt.args, out, want)
			}
		}
	}
	if kept, err := os.ReadFile(filepath.Join(h.dir, "out", "a.txt")); err != nil || string(kept) != "kept" {
		t.Errorf("the artifact here is %q, %v", kept, err)
	}
	if tape, err := os.ReadFile(filepath.Join(h.dir, "calls.jsonl")); err != nil || !strings.Contains(string(tape), "on tape") {
		t.Errorf("the recording is %q, %v", tape, err)
	}
	id := strings.TrimSpace(h.run("exec", "--task", "return 5"))
	if got := h.run("task", "result", "--wait", id); got != "5\n" {
		t.Errorf("the task gave %q", got)
	}

	// Whoever goes takes the script along, and leaves nothing behind.
	c := h.command("exec", "console.log('begun'); await tools.far.slow({ ms: 60000 })")
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := out.Read(make([]byte, 6)); err != nil {
		t.Fatal(err)
	}
	if err := c.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = c.Wait() // it was killed
	log := func() string {
		found, err := filepath.Glob(filepath.Join(there, "state", "daemon", "*.log"))
		if err != nil || len(found) != 1 {
			t.Fatalf("the logs there: %q, %v", found, err)
		}
		text, err := os.ReadFile(found[0])
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	for deadline := time.Now().Add(time.Minute); !strings.Contains(log(), `"exit":130`); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("the script goes on without its command:\n%s", log())
		}
	}

	// What ssh says is shown, and what to do.
	for name, extra := range map[string]string{
		"Permission denied":  "TEST_KEY=" + filepath.Join(there, "other"),
		"Connection refused": "MCPX_DAEMON_ENDPOINT=ssh://127.0.0.1:" + freePort(t),
	} {
		c := h.command("exec", "1")
		c.Env = append(c.Env, extra)
		out, _ := c.CombinedOutput()
		if c.ProcessState.ExitCode() != 69 || !strings.Contains(string(out), name) || !strings.Contains(string(out), "what ssh said stands above") {
			t.Errorf("%s: exit code %d, %s", name, c.ProcessState.ExitCode(), out)
		}
	}
}
