package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"mcpx/internal/api"
	"mcpx/internal/daemon"
)

// home is a user with a project of one server, and a daemon if commands start one. The
// daemon ends with the test.
type home struct {
	t     *testing.T
	dir   string
	extra []string // variables
}

// installProgram writes a file that is to be started. Nothing is forked meanwhile: until it
// starts its own program, a child holds the files that are open here, and what somebody can
// still write to is not started ("text file busy").
func installProgram(path string, text []byte) error {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	return os.WriteFile(path, text, 0o700)
}

func newHome(t *testing.T) *home {
	t.Helper()
	h := &home{t: t, dir: t.TempDir()}
	h.write(`{"policy": {"write": "allow"}, "mcpServers": {"one": {"command": "mcpx", "args": ["demo-server"]}}}`)
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(h.dir, "bin"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(program, filepath.Join(h.dir, "bin", "mcpx")); err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() {
		endDaemons(h.state())
		if left := h.processes(); len(left) > 0 {
			t.Errorf("processes are left: %q", left)
		}
	})
	return h
}

func (h *home) state() string { return filepath.Join(h.dir, "state") }

func (h *home) write(config string) {
	h.t.Helper()
	if err := os.WriteFile(filepath.Join(h.dir, ".mcpx.json"), []byte(config), 0o600); err != nil {
		h.t.Fatal(err)
	}
}

func (h *home) command(args ...string) *exec.Cmd {
	cmd := exec.Command(filepath.Join(h.dir, "bin", "mcpx"), args...) //nolint:noctx // the test waits for it
	cmd.Dir = h.dir
	cmd.Env = append([]string{
		"HOME=" + h.dir, "PATH=" + filepath.Join(h.dir, "bin"), "MCPX_STATE_DIR=" + h.state(), "MCPX_DAEMON_INLINE=auto", "NO_COLOR=1",
	}, h.extra...)
	return cmd
}

// run returns what a command prints, which must succeed.
func (h *home) run(args ...string) string {
	h.t.Helper()
	cmd := h.command(args...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		h.t.Fatalf("mcpx %q: %v\n%s%s", args, err, out, stderr.String())
	}
	return string(out)
}

// status is that of the daemon.
func (h *home) status() api.StatusOutput {
	h.t.Helper()
	var out api.StatusOutput
	if err := json.Unmarshal([]byte(h.run("status", "--json")), &out); err != nil {
		h.t.Fatal(err)
	}
	return out
}

// processes are those that were started in the home of the test: daemons, their servers and
// what keeps them.
func (h *home) processes() []string {
	found, err := filepath.Glob("/proc/[0-9]*")
	if err != nil || len(found) == 0 {
		h.t.Log("there is no /proc to look at")
		return nil
	}
	var left []string
	for _, p := range found {
		environ, _ := os.ReadFile(filepath.Join(p, "environ")) // those of others cannot be read
		cmdline, _ := os.ReadFile(filepath.Join(p, "cmdline"))
		if len(cmdline) > 0 && (bytes.Contains(environ, []byte("HOME="+h.dir+"\x00")) || bytes.Contains(cmdline, []byte(h.dir))) {
			left = append(left, filepath.Base(p)+" "+string(cmdline))
		}
	}
	return left
}

// eventually waits until something holds.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !holds(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("it did not happen in a minute: %s", what)
		}
	}
}

func TestManyCommandsAtOnceHaveOneDaemonAndOneServer(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	var commands sync.WaitGroup
	for i := range 20 {
		commands.Go(func() {
			out, err := h.command("call", "one.open", "value="+strconv.Itoa(i)).CombinedOutput()
			if want := "opened " + strconv.Itoa(i) + "\n"; err != nil || string(out) != want {
				t.Errorf("call %d: %v, %q, want %q", i, err, out, want)
			}
		})
	}
	commands.Wait()
	var state struct{ Seen []string }
	if err := json.Unmarshal([]byte(h.run("call", "one.state")), &state); err != nil || len(state.Seen) != 20 {
		t.Errorf("the server saw %v, %v, want 20 values", state.Seen, err)
	}
	daemons := 0
	for _, p := range h.processes() {
		if strings.Contains(p, "\x00serve\x00") {
			daemons++
		}
	}
	if daemons != 1 {
		t.Errorf("%d daemons: %q", daemons, h.processes())
	}
}

// Whoever kills the daemon kills its servers with it, and the next command starts another.
func TestAKilledDaemonLeavesNoServer(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.run("call", "one.open", "value=x")
	was := h.status()
	if len(was.Instances) != 1 || was.Instances[0].Pid == 0 {
		t.Fatalf("status = %+v", was)
	}
	proc, err := os.FindProcess(was.Pid)
	if err != nil {
		t.Fatal(err)
	}
	if err := proc.Kill(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "every process of it is gone", func() bool { return len(h.processes()) == 0 })
	if got := h.run("call", "one.state"); !strings.Contains(got, `"seen":[]`) {
		t.Errorf("the next server says %s", got)
	}
	if now := h.status(); now.Pid == was.Pid || !now.Daemon {
		t.Errorf("the next daemon is %+v", now)
	}
}

// After an upgrade mcpx daemon restart leads to the new file: also if the daemon runs from a
// file that is not there any more, or from one elsewhere.
func TestARestartIsOfTheFileThatAsksForIt(t *testing.T) {
	t.Parallel()
	if _, err := os.Readlink("/proc/self/exe"); err != nil {
		t.Skip("there is no /proc that tells which file runs: ", err)
	}
	for _, elsewhere := range []bool{false, true} {
		h := newHome(t)
		mine := filepath.Join(h.dir, "bin", "mcpx")
		install := func(path string, age time.Duration) {
			t.Helper()
			text, err := os.ReadFile("/proc/self/exe")
			if err != nil {
				t.Fatal(err)
			}
			if err := errors.Join(
				installProgram(path+".new", text),
				os.Chtimes(path+".new", time.Time{}, time.Now().Add(-age)), // another build, as far as anybody can tell
				os.Rename(path+".new", path),
			); err != nil {
				t.Fatal(err)
			}
		}
		old := mine
		if elsewhere {
			old = filepath.Join(h.dir, "bin", "old")
		}
		install(old, time.Hour)
		start := h.command("daemon", "start")
		start.Path = old
		if out, err := start.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		was := h.status()
		install(mine, 0)
		h.run("daemon", "restart")
		now := h.status()
		exe, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", now.Pid))
		if err != nil || exe != mine || now.Version == was.Version {
			t.Errorf("elsewhere %v: the daemon that was %s runs from %s, %v, as %s; want %s", elsewhere, was.Version, exe, err, now.Version, mine)
		}
		cmd := h.command("call", "one.state")
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		if err := cmd.Run(); err != nil || stderr.Len() > 0 {
			t.Errorf("elsewhere %v: the next command: %v, %q", elsewhere, err, stderr.String())
		}
		h.run("daemon", "stop")
	}
}

func TestADaemonWhoseStateIsRemovedLeaves(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.extra = []string{"MCPX_DAEMON_REAP_INTERVAL=100ms"}
	h.run("call", "one.open", "value=x")
	if err := os.RemoveAll(h.state()); err != nil {
		t.Fatal(err)
	}
	eventually(t, "every process of it is gone", func() bool { return len(h.processes()) == 0 })
}

func TestAnIdleDaemonLeaves(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.extra = []string{"MCPX_DAEMON_IDLE_EXIT=100ms"}
	h.run("call", "one.open", "value=x")
	eventually(t, "every process of it is gone", func() bool { return len(h.processes()) == 0 })
}

// A script outlives the daemon that its first call has reached.
func TestAScriptFindsAnotherDaemon(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	script := h.command("exec", "--permissions=all", `
		import { writeFileSync, existsSync } from "node:fs";
		await tools.one.open({ value: "x" });
		writeFileSync("begun", "");
		while (!existsSync("ended")) await new Promise(done => setTimeout(done, 20));
		return (await tools.one.state()).seen.length;`)
	var out, stderr bytes.Buffer
	script.Stdout, script.Stderr = &out, &stderr
	if err := script.Start(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the script has called", func() bool {
		_, err := os.Stat(filepath.Join(h.dir, "begun"))
		return err == nil
	})
	h.run("daemon", "stop")
	if err := os.WriteFile(filepath.Join(h.dir, "ended"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := script.Wait(); err != nil || out.String() != "0\n" {
		t.Errorf("the script: %v, %q\n%s", err, out.String(), stderr.String())
	}
}

// The call of a command that is killed does not go on in the daemon.
func TestACallEndsWithItsCommand(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.run("call", "one.open", "value=x")
	slow := h.command("call", "one.slow", "ms=600000")
	if err := slow.Start(); err != nil {
		t.Fatal(err)
	}
	underWay := func() bool { return h.status().Instances[0].InFlight > 0 }
	eventually(t, "the call is under way", underWay)
	if err := slow.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = slow.Wait() // it was killed
	eventually(t, "nothing is under way", func() bool { return !underWay() })
	if got := h.run("call", "one.state"); !strings.Contains(got, "x") {
		t.Errorf("the server is another: %s", got)
	}
}

// SIGTERM lets a call that is under way end.
func TestADaemonThatIsToldToEndAnswersFirst(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.extra = []string{"MCPX_HTTP_SHUTDOWN_GRACE=60s"}
	h.run("call", "one.open", "value=x")
	pid := h.status().Pid
	slow := h.command("call", "one.slow", "ms=1500")
	if err := slow.Start(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the call is under way", func() bool { return h.status().Instances[0].InFlight > 0 })
	proc, err := os.FindProcess(pid)
	if err != nil {
		t.Fatal(err)
	}
	if err := proc.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if err := slow.Wait(); err != nil {
		t.Errorf("the call: %v", err)
	}
	eventually(t, "every process of it is gone", func() bool { return len(h.processes()) == 0 })
}

// Over TCP every request needs the token, a Host that is the daemon's and no foreign Origin.
func TestTheDaemonOverTCP(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	port := freePort(t)
	h.extra = []string{"MCPX_DAEMON_PORT=" + port}
	h.run("call", "one.open", "value=x")
	places := daemon.All(h.state())
	if len(places) != 1 {
		t.Fatalf("daemons: %v", places)
	}
	record, err := places[0].Read()
	if err != nil {
		t.Fatal(err)
	}
	if record.HTTP != "http://127.0.0.1:"+port {
		t.Fatalf("it listens at %q", record.HTTP)
	}
	client := &http.Client{}
	defer client.CloseIdleConnections()
	ask := func(method, path, body string, change func(*http.Request)) (int, string) {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), method, record.HTTP+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+record.Token)
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", "application/json, text/event-stream")
		change(r)
		answer, err := client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		text, err := io.ReadAll(answer.Body)
		if err != nil {
			t.Fatal(err)
		}
		return answer.StatusCode, string(text)
	}
	const initialize = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`
	paths := []struct{ method, path, body, want string }{
		{"GET", "/v1/health", "", `"daemon":true`},
		{"POST", "/v1/call", `{"server":"one","tool":"echo","arguments":{"message":"hi"}}`, `hi`},
		{"POST", "/mcp", initialize, `"serverInfo"`},
		{"GET", "/daemon/hello", "", `"version"`},
	}
	for _, refusal := range []struct {
		name   string
		change func(*http.Request)
		status []int
	}{
		{"no token", func(r *http.Request) { r.Header.Del("Authorization") }, []int{401}},
		{"another token", func(r *http.Request) { r.Header.Set("Authorization", "Bearer x"+record.Token) }, []int{401}},
		{"a name that leads here", func(r *http.Request) { r.Host = "evil.example:" + port }, []int{403}},
		{"a page of another origin", func(r *http.Request) { r.Header.Set("Origin", "https://evil.example") }, []int{403}},
		{"a page without an origin", func(r *http.Request) { r.Header.Set("Origin", "null") }, []int{403}},
	} {
		for _, p := range append(paths, struct{ method, path, body, want string }{"POST", "/daemon/leave", "", ""}) {
			if status, text := ask(p.method, p.path, p.body, refusal.change); !slices.Contains(refusal.status, status) {
				t.Errorf("%s: %s %s: %d %s, want %v", refusal.name, p.method, p.path, status, text, refusal.status)
			}
		}
	}
	for _, p := range paths {
		if status, text := ask(p.method, p.path, p.body, func(*http.Request) {}); status != http.StatusOK || !strings.Contains(text, p.want) {
			t.Errorf("%s %s: %d %s, want %s", p.method, p.path, status, text, p.want)
		}
	}
}

var digits = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`:(\d+)`) })

// freePort is a port that nobody listens at just now.
func freePort(t *testing.T) string {
	t.Helper()
	l, err := listen(t.Context(), ":0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return digits().FindStringSubmatch(l.Addr().String())[1]
}

// An agent that speaks MCP finds the same servers at the daemon's socket.
func TestMCPOverTheSocket(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.run("call", "one.open", "value=x")
	link, err := daemon.Find(t.Context(), daemon.All(h.state())[0])
	if err != nil {
		t.Fatal(err)
	}
	defer link.Close()
	send := func(id int, method, params string) string {
		t.Helper()
		body := `{"jsonrpc":"2.0","id":` + strconv.Itoa(id) + `,"method":"` + method + `","params":` + params + `}`
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, daemon.BaseURL+"/mcp", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", "application/json, text/event-stream")
		r.Header.Set("Mcp-Protocol-Version", "2026-07-28")
		r.Header.Set("Mcp-Method", method)
		r.Header.Set("Mcp-Name", "mcpx_call")
		answer, err := link.HTTP.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		text, err := io.ReadAll(answer.Body)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	const meta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}`
	got := send(1, "tools/call", `{"name":"mcpx_call","arguments":{"server":"one","tool":"state"},`+meta+`}`)
	if !strings.Contains(got, `x`) || !strings.Contains(got, "seen") {
		t.Errorf("mcpx_call over the socket: %s", got)
	}
}

// Events tell what becomes of servers and of the configuration.
func TestEventsOfTheDaemon(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.run("daemon", "start")
	follow := h.command("daemon", "events")
	out, err := follow.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := follow.Start(); err != nil {
		t.Fatal(err)
	}
	lines := make(chan string, 100)
	go func() {
		defer close(lines)
		d := json.NewDecoder(out)
		for {
			var e api.Event
			if d.Decode(&e) != nil {
				return
			}
			lines <- e.Kind
		}
	}()
	// It listens when the first event comes; until then things are made to happen.
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	seen := map[string]bool{}
	for i := 0; !seen["server.started"] || !seen["config.changed"] || !seen["server.ended"]; i++ {
		h.write(`{"policy": {"write": "allow"}, "mcpServers": {"one": {"command": "mcpx", "args": ["demo-server"], "env": {"N": "` + strings.Repeat("x", i%50) + `"}}}}`)
		h.run("call", "one.state")
		for more := true; more; {
			select {
			case kind := <-lines:
				seen[kind] = true
			case <-time.After(20 * time.Millisecond):
				more = false
			case <-ctx.Done():
				t.Fatalf("seen: %v", seen)
			}
		}
	}
	if err := follow.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	var exit *exec.ExitError
	if err := follow.Wait(); err != nil && !errors.As(err, &exit) {
		t.Error(err)
	}
	for kind := range lines {
		t.Log(kind)
	}
}

// A command that finds a daemon reads no configuration and asks once.
func BenchmarkCallOfAWarmDaemon(b *testing.B) {
	dir := b.TempDir()
	program, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	state := filepath.Join(dir, "state")
	defer endDaemons(state)
	call := func() {
		cmd := exec.Command(program, "call", "demo.echo", "message=hi") //nolint:noctx // the benchmark waits for it
		cmd.Args[0], cmd.Dir = "mcpx", dir
		cmd.Env = []string{"HOME=" + dir, "MCPX_STATE_DIR=" + state, "MCPX_DAEMON_INLINE=auto"}
		if out, err := cmd.CombinedOutput(); err != nil || string(out) != "hi\n" {
			b.Fatalf("%v: %s", err, out)
		}
	}
	call()
	for b.Loop() {
		call()
	}
}

// The log of a daemon does not grow for ever.
func TestTheLogOfADaemonIsPutAside(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.extra = append(h.extra, "MCPX_LOGGING_MAX_BYTES=2000", "MCPX_LOGGING_KEEP=2")
	h.service()
	for range 3 {
		h.run("exec", "--remote", "return 1")
	}
	logs := func() []string {
		found, err := filepath.Glob(filepath.Join(h.state(), "daemon", "*.log*"))
		if err != nil {
			t.Fatal(err)
		}
		return found
	}
	for deadline := time.Now().Add(time.Minute); len(logs()) < 3; h.run("exec", "--remote", "return 1") {
		if time.Now().After(deadline) {
			t.Fatalf("there are %q", logs())
		}
	}
	for range 20 {
		h.run("exec", "--remote", "return 1")
	}
	if got := logs(); len(got) != 3 {
		t.Errorf("there are %q", got)
	}
	for _, path := range logs() {
		text, err := os.ReadFile(path)
		if err != nil || len(text) > 2000 || !strings.Contains(string(text), `"msg":"run.ended"`) && strings.HasSuffix(path, ".1") {
			t.Errorf("%s has %d bytes, %v: %s", path, len(text), err, text)
		}
	}
}
