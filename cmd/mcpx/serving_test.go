package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"mcpx/internal/api"
	"mcpx/mcp"
	"mcpx/mcp/client"
)

// endlessly is a call of a script that goes on until it is ended, as a task.
const endlessly = `{"name":"mcpx_exec","arguments":{"code":"await new Promise(() => setTimeout(() => 0, 1e9))"},"task":{}}`

// idOf is the id of the task that a call was answered with.
func idOf(t *testing.T, answer mcp.Raw) string {
	t.Helper()
	var got struct {
		Task   struct{ TaskID string }
		TaskID string
	}
	if err := json.Unmarshal(answer, &got); err != nil || got.Task.TaskID+got.TaskID == "" {
		t.Fatalf("no task began: %s, %v", answer, err)
	}
	return got.Task.TaskID + got.TaskID
}

// TestTasksOfAServeEndWithIt holds what is left of a task when the program is gone that the
// client began it in: what is known of it, and no process.
func TestTasksOfAServeEndWithIt(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	for _, kill := range []bool{false, true} {
		cmd := h.command("serve")
		in, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		cmd.Stderr = os.Stderr
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewReader(out)
		last := 0
		ask := func(method, params string) mcp.Raw {
			t.Helper()
			last++
			fmt.Fprintf(in, `{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`+"\n", last, method, params)
			for {
				line, err := lines.ReadBytes('\n')
				if err != nil {
					t.Fatal(err)
				}
				if m, err := mcp.Split(line); err == nil && string(m.ID) == fmt.Sprint(last) {
					if m.Error != nil {
						t.Fatal(m.Error)
					}
					return m.Result
				}
			}
		}
		ask("initialize", `{"protocolVersion":"2025-11-25","capabilities":{}}`)
		done := idOf(t, ask("tools/call", `{"name":"mcpx_exec","arguments":{"code":"console.log('out'); return 6*7"},"task":{}}`))
		ask("tasks/result", `{"taskId":"`+done+`"}`)
		lost := idOf(t, ask("tools/call", endlessly))
		if got := h.task(lost); got.State != api.TaskWorking || got.Kind != "exec" {
			t.Errorf("it is %+v", got)
		}
		if kill {
			if err := cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
		}
		in.Close()
		if _, err := io.Copy(io.Discard, lines); err != nil {
			t.Error(err)
		}
		if err := cmd.Wait(); (err != nil) != kill {
			t.Errorf("it ended with %v", err)
		}
		if got := h.task(lost); got.State != api.TaskLost {
			t.Errorf("killed %v: it is %+v", kill, got)
		}
		if got := h.run("task", "result", done); got != "out\n42\n" {
			t.Errorf("killed %v: the run gave %q", kill, got)
		}
		locks, err := filepath.Glob(filepath.Join(h.state(), "daemon", "*.lock"))
		if err != nil || len(locks) > 0 && !kill {
			t.Errorf("%q is left of it, %v", locks, err)
		}
	}
}

// TestTasksOfTheDaemonOutliveTheirClients holds that a task that was begun at the daemon's
// own address goes on when the session is over, and is the user's to see and to cancel.
func TestTasksOfTheDaemonOutliveTheirClients(t *testing.T) {
	t.Parallel()
	h, record := withPort(t)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	session := func(era mcp.Era) *client.Session {
		t.Helper()
		transport, err := client.OpenHTTP(client.Endpoint{Name: "mcpx", URL: record.HTTP + "/mcp", Headers: map[string]string{"Authorization": "Bearer " + record.Token}})
		if err != nil {
			t.Fatal(err)
		}
		s, err := client.Connect(ctx, transport, client.Options{Era: era, Capabilities: mcp.Raw(`{"extensions":{"io.modelcontextprotocol/tasks":{}}}`)})
		if err != nil {
			t.Fatal(err)
		}
		if s.Era() != era {
			t.Fatalf("they speak as %s", s.Era())
		}
		return s
	}
	call := func(s *client.Session, method, params string) mcp.Raw {
		t.Helper()
		raw, err := s.Call(ctx, method, mcp.Raw(params))
		if err != nil {
			t.Fatalf("%s %s: %v", method, params, err)
		}
		return raw
	}
	first := session(mcp.Legacy)
	id := idOf(t, call(first, "tools/call", endlessly))
	_ = first.Close() // the session is over
	if got := h.task(id); got.State != api.TaskWorking {
		t.Errorf("after its client: %+v", got)
	}
	// A client without a session has its id to show.
	modern := session(mcp.Modern)
	if got := call(modern, "tasks/get", `{"taskId":"`+id+`"}`); !strings.Contains(string(got), `"working"`) {
		t.Errorf("to another client: %s", got)
	}
	later := idOf(t, call(modern, "tools/call", `{"name":"mcpx_exec","arguments":{"code":"await new Promise(r => setTimeout(r, 3000)); return 6*7"}}`))
	if list := h.run("task", "list"); !strings.Contains(list, id) || !strings.Contains(list, later) {
		t.Errorf("listed: %s", list)
	}
	h.run("task", "cancel", id)
	if got := call(modern, "tasks/get", `{"taskId":"`+id+`"}`); !strings.Contains(string(got), `"cancelled"`) {
		t.Errorf("after it was cancelled: %s", got)
	}
	if got := h.run("task", "result", "--wait", later); got != "42\n" {
		t.Errorf("the run gave %q", got)
	}
	if got := call(modern, "tasks/get", `{"taskId":"`+later+`"}`); !strings.Contains(string(got), `"completed"`) || !strings.Contains(string(got), `"text":"42"`) {
		t.Errorf("after its end: %s", got)
	}
	_ = modern.Close()
	// What a daemon did not end is lost, and the next one says so.
	second := session(mcp.Legacy)
	lost := idOf(t, call(second, "tools/call", endlessly))
	h.run("daemon", "restart")
	_ = second.Close()
	record = h.service() // which runs already
	third := session(mcp.Legacy)
	defer third.Close()
	if got := call(third, "tasks/get", `{"taskId":"`+lost+`"}`); !strings.Contains(string(got), `"failed"`) || !strings.Contains(string(got), "the daemon ended") {
		t.Errorf("after the daemon: %s", got)
	}
}

// TestCallsOverHTTPTakeArtifacts holds that who calls a tool over HTTP and says that it takes
// artifacts is given links that lead to the bytes.
func TestCallsOverHTTPTakeArtifacts(t *testing.T) {
	t.Parallel()
	h, record := withPort(t)
	post := func(body string) (int, api.CallOutput, string) {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, record.HTTP+"/v1/call", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+record.Token)
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		text, err := io.ReadAll(answer.Body)
		if err != nil {
			t.Fatal(err)
		}
		var out api.CallOutput
		_ = json.Unmarshal(text, &out) // an error is no output
		return answer.StatusCode, out, string(text)
	}
	code, plain, text := post(`{"server":"one","tool":"image"}`)
	if code != http.StatusOK || len(plain.Artifacts) != 0 || strings.Contains(text, "resource_link") || !strings.Contains(text, `"image/png"`) {
		t.Errorf("who says nothing gets %d %s", code, text)
	}
	code, out, text := post(`{"server":"one","tool":"image","artifacts":{}}`)
	if code != http.StatusOK || len(out.Artifacts) != 1 || !strings.Contains(string(out.Result), `"resource_link"`) || strings.Contains(text, h.state()) {
		t.Fatalf("who takes artifacts gets %d %s", code, text)
	}
	if got := h.run("artifact", "get", out.Artifacts[0].ID); !strings.HasPrefix(got, "\x89PNG") || int64(len(got)) != out.Artifacts[0].Size {
		t.Errorf("%s leads to %q", out.Artifacts[0].URI, got)
	}
	if code, _, text := post(`{"server":"one","tool":"image","artifacts":{"dir":"/x"}}`); code != http.StatusBadRequest || !strings.Contains(text, "can only be named") {
		t.Errorf("into a folder: %d %s", code, text)
	}
}
