package main

import (
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"mcpx/internal/api"
)

// task is how a task stands.
func (h *home) task(id string) api.Task {
	h.t.Helper()
	var out api.Task
	if err := json.Unmarshal([]byte(h.run("task", "get", "--json", id)), &out); err != nil {
		h.t.Fatal(err)
	}
	return out
}

func TestTasksOutliveTheirCommandsAndTheDaemon(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.service()
	begin := func(args ...string) string { return strings.TrimSpace(h.run(args...)) }
	call := begin("call", "--task", "one.echo", "message=hi")
	if got := h.run("task", "result", "--wait", call); got != "hi\n" {
		t.Errorf("the call gave %q", got)
	}
	ran := begin("exec", "--task", `console.log("out"); return process.cwd()`)
	if got := h.run("task", "result", "--wait", ran); got != "out\n"+h.real()+"\n" {
		t.Errorf("the run gave %q, in %s", got, h.real())
	}
	const endless = `progress(1, 4, "begun"); await new Promise(() => setTimeout(() => 0, 1e9))`
	cancelled, lost, killed := begin("exec", "--task", endless), begin("exec", "--task", endless), ""
	for deadline := time.Now().Add(time.Minute); h.task(cancelled).Progress == nil; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("it makes no progress")
		}
	}
	h.run("task", "cancel", cancelled)
	for _, args := range [][]string{{"task", "result", cancelled}, {"task", "result", "--wait", "--json", cancelled}} {
		c := h.command(args...)
		if out, _ := c.CombinedOutput(); c.ProcessState.ExitCode() != 130 || !strings.Contains(string(out), "the task was cancelled") {
			t.Errorf("%q: exit code %d, %s", args, c.ProcessState.ExitCode(), out)
		}
	}
	h.run("daemon", "restart")
	killed = begin("exec", "--task", endless)
	pid := h.status().Pid
	p, err := os.FindProcess(pid)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Kill(); err != nil {
		t.Fatal(err)
	}
	// Nobody has to start another daemon to be told so.
	for deadline := time.Now().Add(time.Minute); h.task(killed).State != api.TaskLost; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("without a daemon its tasks seem to go on")
		}
	}
	h.run("daemon", "start")
	for id, state := range map[string]string{call: api.TaskCompleted, ran: api.TaskCompleted, cancelled: api.TaskCancelled, lost: api.TaskLost, killed: api.TaskLost} {
		if got := h.task(id); got.State != state {
			t.Errorf("it is %+v, want %s", got, state)
		}
	}
	if got := h.run("task", "result", call); got != "hi\n" {
		t.Errorf("after two daemons the call gave %q", got)
	}
	h.extra = append(h.extra, "MCPX_DAEMON_INLINE=always")
	for _, args := range [][]string{{"call", "--task", "one.echo", "message=hi"}, {"exec", "--task", "1"}} {
		if out, err := h.command(args...).CombinedOutput(); err == nil || strings.Contains(string(out), "internal") {
			t.Errorf("without a daemon %q: %v, %s", args, err, out)
		}
	}
}

// real is the folder of the home as a process sees it.
func (h *home) real() string {
	h.t.Helper()
	dir, err := filepath.EvalSymlinks(h.dir)
	if err != nil {
		h.t.Fatal(err)
	}
	return dir
}

func TestArtifactsAreReachedFromOutside(t *testing.T) {
	t.Parallel()
	h, record := withPort(t)
	id := strings.TrimSpace(h.run("exec", `return (await artifact("a b.txt", "0123456789")).id`))
	get := func(path, token, part string) (int, string) {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, record.HTTP+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		if token != "" {
			r.Header.Set("Authorization", "Bearer "+token)
		}
		if part != "" {
			r.Header.Set("Range", part)
		}
		response, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
		body, err := io.ReadAll(response.Body)
		if err != nil {
			t.Fatal(err)
		}
		return response.StatusCode, string(body)
	}
	for _, tt := range []struct {
		name, path, token, part string
		code                    int
		body                    string
	}{
		{"whole", "/v1/artifacts/" + id, record.Token, "", 200, "0123456789"},
		{"in part", "/v1/artifacts/" + id, record.Token, "bytes=3-5", 206, "345"},
		{"without a token", "/v1/artifacts/" + id, "", "", 401, ""},
		{"one that is not there", "/v1/artifacts/x", record.Token, "", 404, ""},
	} {
		if code, body := get(tt.path, tt.token, tt.part); code != tt.code || tt.body != "" && body != tt.body {
			t.Errorf("%s: %d %q", tt.name, code, body)
		}
	}
	// A run over TCP is given its artifacts, and no paths of this machine.
	code, body := sendTo(t, record, map[string]any{"code": `await artifact("x", "hi")`, "artifacts": map[string]any{"delivery": "inline"}}, "")
	if code != 200 || !strings.Contains(body, `"data":"aGk="`) || strings.Contains(body, h.state()) {
		t.Errorf("inline: %d %s", code, body)
	}
	for _, wish := range []map[string]any{{"dir": h.dir}, {"sharedFs": true}} {
		if code, body := sendTo(t, record, map[string]any{"code": "1", "artifacts": wish}, ""); code != 403 {
			t.Errorf("%v: %d %s", wish, code, body)
		}
	}
	code, body = sendTo(t, record, map[string]any{"code": `await artifact("x", "hi")`, "artifacts": map[string]any{"delivery": "stream"}, "output": "stream"}, "application/x-ndjson")
	end, chunk := strings.Index(body, `"type":"end"`), strings.Index(body, `"type":"artifact.chunk"`)
	if code != 200 || end < 0 || chunk < end || !strings.HasSuffix(strings.TrimSpace(body), "}") || !strings.Contains(body[chunk:], `"type":"artifact.end"`) {
		t.Errorf("streamed: %d %s", code, body)
	}
	dir := filepath.Join(h.dir, "out")
	h.run("exec", "--artifacts", dir, `await artifact("a b.txt", "here")`)
	if got, err := os.ReadFile(filepath.Join(dir, "a-b.txt")); err != nil || string(got) != "here" {
		t.Errorf("the folder has %q, %v", got, err)
	}
	h.run("artifact", "delete", id)
	if code, _ := get("/v1/artifacts/"+id, record.Token, ""); code != 404 {
		t.Errorf("after it was deleted: %d", code)
	}
}
