//go:build unix

package mcptest

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestMain(m *testing.M) {
	Main()
	os.Exit(m.Run())
}

// exchange sends lines to a server in memory and returns the next n lines of it.
func exchange(t *testing.T, c *Conn, n int, lines ...string) []string {
	t.Helper()
	for _, line := range lines {
		if err := c.Send([]byte(line)); err != nil {
			t.Fatalf("Send(%s): %v", line, err)
		}
	}
	var got []string
	for range n {
		line, err := c.Receive()
		if err != nil {
			t.Fatalf("after %q: %v", got, err)
		}
		got = append(got, string(line))
	}
	return got
}

func callLine(id, tool, arguments string) string {
	return `{"jsonrpc":"2.0","id":` + id + `,"method":"tools/call","params":{"name":"` + tool + `","arguments":` + arguments + `}}`
}

const (
	initializeLine = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25"}}`
	discoverLine   = `{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}`
	listLine       = `{"jsonrpc":"2.0","id":2,"method":"tools/list"}`
)

func TestScriptsInMemory(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		script Script
		send   []string
		want   []string // each a part of one line, in order
	}{
		{"handshake", Script{}, []string{initializeLine}, []string{`"protocolVersion":"2025-11-25"`}},
		{"old revision", Script{Revisions: []string{"2024-11-05"}}, []string{initializeLine}, []string{`"protocolVersion":"2024-11-05"`}},
		{"strict", Script{Revisions: []string{"2024-11-05"}, Strict: true}, []string{initializeLine}, []string{`"supported":["2024-11-05"]`}},
		{"bare", Script{Bare: true}, []string{initializeLine}, []string{`"result":{"protocolVersion":"2025-11-25"}`}},
		{
			"speaks first",
			Script{Before: []Ask{{ID: json.RawMessage("7"), Method: "ping"}, {Method: "notifications/message"}}},
			[]string{initializeLine},
			[]string{`"id":7,"method":"ping"`, `"notifications/message"`, `"protocolVersion"`},
		},
		{"legacy discover", Script{}, []string{discoverLine}, []string{`-32601`}},
		{"modern discover", Script{Discover: DiscoverModern}, []string{discoverLine}, []string{`"supportedVersions":["2026-07-28"]`}},
		{"empty discover", Script{Discover: DiscoverEmpty}, []string{discoverLine}, []string{`"result":{}`}},
		{"other discover", Script{Discover: DiscoverOther}, []string{discoverLine}, []string{`-32022`}},
		{"noise", Script{Noise: []string{"Listening…"}}, []string{initializeLine}, []string{"Listening…", "Listening…", `"protocolVersion"`}},
		{"ids as text", Script{IDs: IDsText}, []string{initializeLine}, []string{`"id":"1"`}},
		{"ids as float", Script{IDs: IDsFloat}, []string{initializeLine}, []string{`"id":1.0`}},
		{"ids twice", Script{IDs: IDsTwice}, []string{initializeLine}, []string{`"id":1,`, `"id":1,`}},
		{"ids wrong", Script{IDs: IDsWrong}, []string{initializeLine}, []string{`"id":"of somebody else"`, `"id":1,`}},
		{
			"bad tools",
			Script{Tools: []json.RawMessage{json.RawMessage(`7`), json.RawMessage(`{"name":"a"}`)}},
			[]string{listLine},
			[]string{`"tools":[7,{"name":"a"}]`},
		},
		{"built-in tools", Script{}, []string{listLine}, []string{`"name":"echo"`}},
		{
			"pages",
			Script{Tools: []json.RawMessage{json.RawMessage(`1`), json.RawMessage(`2`)}, PageSize: 1},
			[]string{listLine, `{"jsonrpc":"2.0","id":3,"method":"tools/list","params":{"cursor":"page-1"}}`},
			[]string{`"nextCursor":"page-1","tools":[1]`, `"result":{"tools":[2]}`},
		},
		{"pages for ever", Script{Loop: true}, []string{listLine}, []string{`"nextCursor":"page-0"`}},
		{"echo", Script{}, []string{callLine("4", "echo", `{"message":"hi"}`)}, []string{`"text":"hi"`}},
		{"fail", Script{}, []string{callLine("4", "fail", `{"message":"no"}`)}, []string{`"isError":true`}},
		{"error", Script{}, []string{callLine("4", "error", `{"code":-5,"message":"no","data":[1]}`)}, []string{`"code":-5,"message":"no","data":[1]`}},
		{"huge", Script{}, []string{callLine("4", "huge", `{"bytes":100000}`)}, []string{strings.Repeat("x", 100000)}},
		{"result", Script{}, []string{callLine("4", "result", `{"value":{"content":7}}`)}, []string{`"result":{"content":7}`}},
		{"progress", Script{}, []string{callLine("4", "progress", `{"count":2}`)}, []string{`"progress":1`, `"progress":2`, `"done"`}},
		{"log", Script{}, []string{callLine("4", "log", `{"lines":["a"]}`)}, []string{`"data":"a"`, `"done"`}},
		{"received", Script{}, []string{listLine, callLine("4", "received", `{}`)}, []string{`tools`, `[\"tools/list\",\"tools/call\"]`}},
		{"unknown tool", Script{}, []string{callLine("4", "nope", `{}`)}, []string{`Unknown tool: nope`}},
		{"not JSON", Script{}, []string{`{`}, []string{`-32700`}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c := Start(tt.script)
			defer c.Close()
			for i, line := range exchange(t, c, len(tt.want), tt.send...) {
				if !strings.Contains(line, tt.want[i]) {
					t.Errorf("line %d is %s, want it to hold %s", i, line, tt.want[i])
				}
			}
		})
	}
}

func TestServerAsksItsClient(t *testing.T) {
	t.Parallel()
	c := Start(Script{})
	defer c.Close()
	got := exchange(t, c, 1, callLine("4", "ask", `{"method":"roots/list"}`))
	if !strings.Contains(got[0], `"id":"ask-1","method":"roots/list"`) {
		t.Fatalf("the server sent %s, want a request for roots/list", got[0])
	}
	got = exchange(t, c, 1, `{"jsonrpc":"2.0","id":"ask-1","result":{"roots":[]}}`)
	if !strings.Contains(got[0], `\"roots\":[]`) {
		t.Errorf("the call answered %s, want the client's response in it", got[0])
	}
}

func TestStallEndsWhenCancelled(t *testing.T) {
	t.Parallel()
	c := Start(Script{})
	defer c.Close()
	got := exchange(t, c, 1,
		callLine("4", "stall", `{}`),
		`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":4}}`,
		callLine("5", "cancelled", `{}`))
	if !strings.Contains(got[0], `[\"4\"]`) {
		t.Errorf("cancelled answered %s, want the id 4", got[0])
	}
}

func TestHangingUp(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		script Script
		send   []string
	}{
		{"crash", Script{}, []string{callLine("1", "crash", `{"code":3}`)}},
		{"exit at start", Script{Exit: 3}, nil},
		{"fatal discover", Script{Discover: DiscoverFatal}, []string{discoverLine}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c := Start(tt.script)
			defer c.Close()
			for _, line := range tt.send {
				if err := c.Send([]byte(line)); err != nil {
					t.Fatal(err)
				}
			}
			if line, err := c.Receive(); !errors.Is(err, io.EOF) {
				t.Errorf("Receive() = %s, %v, want io.EOF", line, err)
			}
			if err := c.Send([]byte(listLine)); err == nil {
				t.Error("Send succeeded after the server hung up")
			}
		})
	}
}

func TestSilentServersAnswerNothing(t *testing.T) {
	t.Parallel()
	for name, script := range map[string]Script{"mute": {Mute: true}, "silent discover": {Discover: DiscoverSilent}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := Start(script)
			if err := c.Send([]byte(discoverLine)); err != nil {
				t.Fatal(err)
			}
			if err := c.Close(); err != nil {
				t.Fatal(err)
			}
			if line, err := c.Receive(); !errors.Is(err, io.EOF) {
				t.Errorf("Receive() = %s, %v, want io.EOF", line, err)
			}
		})
	}
}

func TestCloseLeavesNoGoroutine(t *testing.T) {
	before := runtime.NumGoroutine()
	for range 20 {
		c := Start(Script{})
		_ = c.Send([]byte(callLine("1", "stall", `{}`)))
		_ = c.Close()
	}
	deadline := time.Now().Add(time.Minute)
	for runtime.NumGoroutine() > before {
		if time.Now().After(deadline) {
			t.Fatalf("%d goroutines, %d before", runtime.NumGoroutine(), before)
		}
		runtime.Gosched()
	}
}

// child starts a script as a process.
func child(t *testing.T, s Script) (*exec.Cmd, io.WriteCloser, *bufio.Reader, *strings.Builder) {
	t.Helper()
	x := Command(s)
	cmd := exec.Command(x.Path, x.Args...)
	cmd.Env = append(os.Environ(), x.Env...)
	var stderr strings.Builder
	cmd.Stderr = &stderr
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
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	return cmd, in, bufio.NewReader(out), &stderr
}

func TestChild(t *testing.T) {
	t.Parallel()
	cmd, in, out, _ := child(t, Script{Instructions: "be kind"})
	_, _ = io.WriteString(in, initializeLine+"\n")
	line, err := out.ReadString('\n')
	if err != nil || !strings.Contains(line, "be kind") {
		t.Fatalf("the child sent %q, %v, want its instructions", line, err)
	}
	_ = in.Close()
	if err := cmd.Wait(); err != nil {
		t.Errorf("after the end of its input the child %v, want exit status 0", err)
	}
}

func TestChildDies(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, line, want, stderr string
		script                   Script
	}{
		{name: "exit", script: Script{Exit: 3, Stderr: []string{"cannot read config"}}, want: "exit status 3", stderr: "cannot read config\n"},
		{name: "crash", line: callLine("1", "crash", `{"code":4,"stderr":["oh"]}`), want: "exit status 4", stderr: "oh\n"},
		{name: "signal", line: callLine("1", "crash", `{"signal":9}`), want: "signal: killed"},
		{name: "discover", script: Script{Discover: DiscoverFatal}, line: discoverLine, want: "exit status 1"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			cmd, in, out, stderr := child(t, tt.script)
			if tt.line != "" {
				_, _ = io.WriteString(in, tt.line+"\n")
			}
			_, _ = io.Copy(io.Discard, out)
			if err := cmd.Wait(); err == nil || err.Error() != tt.want {
				t.Errorf("the child ended with %v, want %s", err, tt.want)
			}
			if stderr.String() != tt.stderr {
				t.Errorf("it wrote %q to standard error, want %q", stderr, tt.stderr)
			}
		})
	}
}

func TestStubbornChildStays(t *testing.T) {
	t.Parallel()
	cmd, in, out, _ := child(t, Script{Stubborn: true, Spawn: true})
	_, _ = io.WriteString(in, callLine("1", "pid", `{}`)+"\n")
	line, err := out.ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	var answer struct {
		Result struct{ Content []struct{ Text string } }
	}
	var pids []int
	if err := json.Unmarshal([]byte(line), &answer); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(answer.Result.Content[0].Text), &pids); err != nil {
		t.Fatal(err)
	}
	if len(pids) != 2 || pids[0] != cmd.Process.Pid || slices.Contains(pids, 0) {
		t.Fatalf("pid answered %v, want %d and that of its child", pids, cmd.Process.Pid)
	}
	t.Cleanup(func() { _ = syscall.Kill(pids[1], syscall.SIGKILL) })
	_ = in.Close()
	_ = cmd.Process.Signal(syscall.SIGTERM)
	if err := syscall.Kill(pids[1], syscall.SIGTERM); err != nil {
		t.Fatalf("its child is gone: %v", err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	_ = cmd.Process.Kill()
	if err := <-ended; err == nil || err.Error() != "signal: killed" {
		t.Errorf("the child ended with %v, want that only SIGKILL ends it", err)
	}
}
