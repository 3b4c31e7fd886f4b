//go:build unix

package suite

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"mcpx/mcp"
)

// served is the program as a server over HTTP.
type served struct {
	t      *testing.T
	cmd    *exec.Cmd
	url    string
	token  string
	dir    string
	said   chan struct{} // closed when standard error has ended
	stderr bytes.Buffer  // what was said there, then
}

// serve starts the program as a server on a port that is free. config may be empty.
func serve(t *testing.T, config string, args ...string) *served {
	t.Helper()
	s := &served{t: t, dir: t.TempDir(), said: make(chan struct{})}
	if config != "" {
		if err := os.WriteFile(filepath.Join(s.dir, ".mcp.json"), []byte(config), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s.cmd = exec.Command(program(t), append([]string{"serve", "--http", "127.0.0.1:0"}, args...)...)
	s.cmd.Dir, s.cmd.Env = s.dir, environ(t, s.dir)
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	stderr, err := s.cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Kill(-s.cmd.Process.Pid, syscall.SIGKILL) }) // what a failed test leaves
	lines := bufio.NewReader(stderr)
	for s.url == "" {
		line, err := lines.ReadString('\n')
		if err != nil {
			t.Fatalf("the server has ended: %s", s.stderr.String())
		}
		s.stderr.WriteString(line)
		if m := regexp.MustCompile(`http://\S+`).FindString(line); m != "" {
			s.url = m
		}
	}
	go func() {
		defer close(s.said)
		_, _ = io.Copy(&s.stderr, lines)
	}()
	if slices.Contains(args, "--no-auth") {
		return s
	}
	file := filepath.Join(s.dir, "state", "serve-token")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the token's file: %v, %v", info.Mode(), err)
	}
	s.token = strings.TrimSpace(string(text))
	return s
}

func environ(t *testing.T, dir string) []string {
	t.Helper()
	return []string{"PATH=" + os.Getenv("PATH"), "MCPX_DAEMON_INLINE=always", "HOME=" + dir, "TMPDIR=" + t.TempDir(), "MCPX_STATE_DIR=" + filepath.Join(dir, "state"), "MCPX_POLICY_WRITE=allow", "NO_COLOR=1"}
}

// end ends the server as a person does, and checks that nothing of it is left.
func (s *served) end() {
	s.t.Helper()
	if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		s.t.Fatal(err)
	}
	<-s.said
	if err := s.cmd.Wait(); err != nil {
		s.t.Errorf("the server ended with %v: %s", err, s.stderr.String())
	}
	if err := syscall.Kill(-s.cmd.Process.Pid, 0); !errors.Is(err, syscall.ESRCH) {
		s.t.Errorf("processes of the server are left: %v", err)
	}
}

// post sends one message and returns the answer's status, headers and text.
func (s *served) post(token, session, body string) (int, http.Header, string) {
	s.t.Helper()
	r, err := http.NewRequest(http.MethodPost, s.url, strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	for name, value := range map[string]string{"Authorization": "Bearer " + token, "Mcp-Session-Id": session} {
		if value != "" {
			r.Header.Set(name, value)
		}
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		s.t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return answer.StatusCode, answer.Header, string(text)
}

const initialize = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{}}}`

func execCall(code string) string {
	text, err := json.Marshal(code)
	if err != nil {
		panic(err)
	}
	return `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"mcpx_exec","arguments":{"code":` + string(text) + `}}}`
}

func TestServeRunsScripts(t *testing.T) {
	t.Parallel()
	s := serve(t, "", "--permissions", "all")
	for _, token := range []string{"", s.token + "x"} {
		if status, _, text := s.post(token, "", initialize); status != http.StatusUnauthorized {
			t.Errorf("with the token %q: %d %s", token, status, text)
		}
	}
	_, header, _ := s.post(s.token, "", initialize)
	session := header.Get("Mcp-Session-Id")
	for _, tt := range []struct{ name, code, want string }{
		{"a call", `return (await tools.demo.echo({ message: "hi" })) + "!"`, `"text":"hi!"`},
		{"a file that was granted", `import { readdirSync } from "node:fs"; return readdirSync(".").length >= 0`, `"text":"true"`},
		{"the server itself", `return (await fetch("` + s.url + `")).status`, `denied: net`},
		{"the server itself, by another name", `return (await fetch("` + strings.Replace(s.url, "127.0.0.1", "localhost", 1) + `")).status`, `"isError":true`},
		{"too much", `console.log("x".repeat(1e6))`, `"type":"resource_link"`},
	} {
		status, _, text := s.post(s.token, session, execCall(tt.code))
		if status != http.StatusOK || !strings.Contains(text, tt.want) || len(text) > 200<<10 {
			t.Errorf("%s: %d %.600s, want %s in it", tt.name, status, text, tt.want)
		}
	}
	s.end()
}

func TestServeEndsWithItsInput(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	cmd := exec.Command(program(t), "serve")
	cmd.Dir, cmd.Env = dir, environ(t, dir)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) })
	lines := bufio.NewReader(out)
	for _, m := range []struct{ send, want string }{
		{initialize, `"id":0,"result"`},
		{execCall(`return await tools.demo.echo({ message: "hi" })`), `"text":"hi"`},
	} {
		if _, err := io.WriteString(in, m.send+"\n"); err != nil {
			t.Fatal(err)
		}
		if line, err := lines.ReadString('\n'); err != nil || !strings.Contains(line, m.want) {
			t.Errorf("answered %s, %v, want %s in it", line, err, m.want)
		}
	}
	// A script that would run for long, and a server that was started, end as well.
	if _, err := io.WriteString(in, strings.Replace(execCall(`await new Promise(r => setTimeout(r, 6e5))`), `"id":1`, `"id":2`, 1)+"\n"); err != nil {
		t.Fatal(err)
	}
	in.Close()
	begin := time.Now()
	rest, _ := io.ReadAll(lines)
	if err := cmd.Wait(); err != nil || len(rest) > 0 || time.Since(begin) > time.Minute {
		t.Errorf("it ended with %v after %s, and said %s", err, time.Since(begin), rest)
	}
	if err := syscall.Kill(-cmd.Process.Pid, 0); !errors.Is(err, syscall.ESRCH) {
		t.Errorf("processes are left: %v", err)
	}
}

// execWith is a call of a script that calls a tool, with more arguments.
func execWith(more string) string {
	return `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"mcpx_exec","arguments":{"code":"return await tools.demo.echo({ message: 'hi' })",` + more + `}}}`
}

func TestServeGivesNoMoreThanItHas(t *testing.T) {
	t.Parallel()
	s := serve(t, "", "--deny-tools=demo.echo")
	_, header, _ := s.post(s.token, "", initialize)
	session := header.Get("Mcp-Session-Id")
	for _, tt := range []struct{ name, body, want string }{
		{"a file", execCall(`import { readFileSync } from "node:fs"; return readFileSync("/etc/hostname", "utf8")`), "denied: read"},
		{"the network", execCall(`return (await fetch("http://127.0.0.1:1")).status`), "denied: net"},
		{"a tool, in a script", execCall(`return await tools.demo.echo({ message: "hi" })`), "denied: tool"},
		{"a tool, by itself", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"mcpx_call","arguments":{"server":"demo","tool":"echo","arguments":{"message":"hi"}}}}`, "denied: tool"},
		{"a greater profile", execWith(`"permissions":"net"`), `denied: net \"public\"`},
		{"everything", execWith(`"permissions":"all"`), "denied: read"},
		{"a grant", execWith(`"allow":{"read":["/etc"]}`), `denied: read \"/etc\"`},
		{"what was taken away", execWith(`"permissions":"none","allow":{"tools":["demo.echo"]}`), "denied: tools"},
		{"a greater limit", execWith(`"limits":{"memory":"1TiB"}`), "limits.memory"},
	} {
		if _, _, text := s.post(s.token, session, tt.body); !strings.Contains(text, tt.want) || !strings.Contains(text, `"isError":true`) {
			t.Errorf("%s: %s, want %s in it", tt.name, text, tt.want)
		}
	}
	s.end()
}

func TestServeRefusesToBeOpen(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	short := filepath.Join(dir, "short")
	if err := os.WriteFile(short, []byte("abc\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		args string
		exit int
		want string
	}{
		{"--http 0.0.0.0:0 --no-auth", 77, "not a loopback address"},
		{"--http 127.0.0.1:0 --token-file " + short, 2, "at least 16"},
		{"--http 127.0.0.1:0 --token-file " + short + "er", 2, "cannot be read"},
		{"--http nowhere", 2, "is no address"},
		{"--http 127.0.0.1:x", 2, "--http 127.0.0.1:x"},
		{"--mode x", 2, `no mode "x"`},
		{"--mode passthrough --server x", 2, `no server is called "x"`},
		{"--permissions x", 2, "x"},
	} {
		got := run(t, time.Minute, dir, environ(t, dir), program(t), append([]string{"serve"}, strings.Fields(tt.args)...)...)
		if got.exit != tt.exit || !strings.Contains(got.stderr, tt.want) || got.stdout != "" {
			t.Errorf("serve %s: exit %d, %q, %q; want %d and %q", tt.args, got.exit, got.stdout, got.stderr, tt.exit, tt.want)
		}
	}
}

// TestConformanceOfTheServer lets the official suite examine the program as it passes
// through to the official Go SDK's test server: each scored scenario of both sets.
func TestConformanceOfTheServer(t *testing.T) {
	t.Parallel()
	node := node(t)
	dir, err := filepath.Abs(filepath.Join(root, "testdata", "conformance"))
	if err != nil {
		t.Fatal(err)
	}
	suite := filepath.Join(dir, "node_modules", "@modelcontextprotocol", "conformance", "dist", "index.js")
	if _, err := os.Stat(suite); err != nil {
		missing(t, "%v: `npm ci` in testdata/conformance installs it", err)
	}
	everything := everythingServer(t)
	s := serve(t, `{"mcpServers":{"everything":{"command":"`+everything+`"}}}`, "--mode", "passthrough", "--no-auth")
	summary := regexp.MustCompile(`(?m)^[✓✗] (\S+): \d+ passed, (\d+) failed`)
	failed := map[string]string{} // by revision and scenario; empty for one that passed
	for _, revision := range []string{mcp.Revision20251125, mcp.Revision20260728} {
		got := run(t, 5*time.Minute, t.TempDir(), environ(t, t.TempDir()), node, "--import", filepath.Join(dir, "register.mjs"), suite,
			"server", "--url", s.url, "--requirements", revision)
		_, unscored, _ := strings.Cut(got.stdout, "Not scored")
		found := summary.FindAllStringSubmatch(got.stdout, -1)
		if len(found) < 30 {
			t.Fatalf("the suite tells of %d scenarios: %s%s", len(found), got.stdout, got.stderr)
		}
		for _, m := range found {
			if strings.Contains(unscored, " "+m[1]+" (") {
				continue
			}
			failed[revision+" "+m[1]] = ""
			if m[2] != "0" {
				failed[revision+" "+m[1]] = m[0]
			}
		}
	}
	l := readList(t, "conformance-server.txt")
	exist := slices.Sorted(maps.Keys(failed))
	for _, name := range exist {
		t.Run(name, func(t *testing.T) {
			l.judge(t, name, func(*testing.T) string { return failed[name] })
		})
	}
	l.finish(t, exist)
	s.end()
}
