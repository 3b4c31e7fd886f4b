package cli

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"mcpx/internal/api"
	"mcpx/internal/fault"
)

var aTask = api.Task{ID: "t1", Kind: "call", What: "demo.echo", State: api.TaskWorking, Created: time.Date(2026, 1, 2, 3, 4, 5, 0, time.Local)}

func (d *desk) TasksList(context.Context, api.TasksListInput) (*api.TasksListOutput, error) {
	far := aTask
	far.Progress = &api.Progress{Done: 1, Total: new(4.0), Message: "there"}
	return &api.TasksListOutput{Tasks: []api.Task{aTask, far}}, d.broken
}

func (d *desk) TaskGet(_ context.Context, in api.TaskGetInput) (*api.TaskGetOutput, error) {
	failed := aTask
	failed.State = api.TaskFailed
	switch in.ID {
	case "error", "throws", "gone":
		return &api.TaskGetOutput{Task: failed}, nil
	case "t1":
	default:
		return nil, fault.NotFoundf("there is no task %q", in.ID)
	}
	lost := aTask
	lost.State, lost.Error = api.TaskLost, fault.Unavailablef("the daemon ended before the task did")
	return &api.TaskGetOutput{Task: lost}, nil
}

func (d *desk) TaskResult(_ context.Context, in api.TaskResultInput) (*api.TaskResultOutput, error) {
	results := map[string]api.TaskResultOutput{
		"text":   {Task: api.Task{Kind: "call", State: api.TaskCompleted}, Result: json.RawMessage(`{"text":"hi","isText":true}`)},
		"value":  {Task: api.Task{Kind: "call", State: api.TaskCompleted}, Result: json.RawMessage(`{"value":{"a":1}}`)},
		"error":  {Task: api.Task{Kind: "call", State: api.TaskFailed}, Result: json.RawMessage(`{"text":"oh","isText":true,"isError":true}`)},
		"script": {Task: api.Task{Kind: "exec", State: api.TaskCompleted}, Result: json.RawMessage(`{"stdout":"out\n","stderr":"err\n","emits":[1],"value":"v"}`)},
		"throws": {Task: api.Task{Kind: "exec", State: api.TaskFailed}, Result: json.RawMessage(`{"exitCode":1,"error":{"kind":"script","name":"TypeError","message":"oh","hint":"try"}}`)},
	}
	if in.ID == "cancelled" {
		return nil, fault.Unavailablef("the task was cancelled").With("state", api.TaskCancelled)
	}
	out, ok := results[in.ID]
	if !ok {
		return nil, fault.Unavailablef("the task %s has not ended yet (wait: %v)", in.ID, in.Wait)
	}
	return &out, nil
}

func (d *desk) TaskCancel(_ context.Context, in api.TaskCancelInput) (*api.TaskCancelOutput, error) {
	return &api.TaskCancelOutput{Task: api.Task{ID: in.ID}}, d.broken
}

func TestTasksAreShownAndEnded(t *testing.T) {
	t.Parallel()
	d := &desk{}
	drive(t, d, "task", "list").want(t, 0, ""+
		"t1  working  call demo.echo  since 2026-01-02 03:04:05\n"+
		"t1  working  call demo.echo  since 2026-01-02 03:04:05  1 of 4 there\n", "")
	drive(t, d, "task", "get", "t1").want(t, 0, "lost  call demo.echo  since 2026-01-02 03:04:05\nerror: the daemon ended before the task did\n", "")
	const failed = "failed  call demo.echo  since 2026-01-02 03:04:05\n"
	drive(t, d, "task", "get", "error").want(t, 0, failed+"error: oh\n", "")
	drive(t, d, "task", "get", "throws").want(t, 0, failed+"error: TypeError: oh\n  try\n", "")
	drive(t, d, "task", "get", "gone").want(t, 0, failed, "")
	drive(t, d, "task", "cancel", "t1").want(t, 0, "cancelled t1\n", "")
	drive(t, d, "task", "result", "text").want(t, 0, "hi\n", "")
	drive(t, d, "task", "result", "value").want(t, 0, `{"a":1}`+"\n", "")
	drive(t, d, "task", "result", "error").want(t, fault.Tool.ExitCode(), "", "oh\n")
	drive(t, d, "task", "result", "script").want(t, 0, "out\n1\nv\n", "err\n")
	drive(t, d, "task", "result", "throws").want(t, 1, "", "TypeError: oh\n  try\n")
	drive(t, d, "task", "result", "cancelled").want(t, 130, "", "mcpx: the task was cancelled\n")
	drive(t, d, "task", "result", "--json", "cancelled").want(t, 130,
		`{"error":{"kind":"unavailable","message":"the task was cancelled","details":{"state":"cancelled"}}}`+"\n", "mcpx: the task was cancelled\n")
	if s := drive(t, d, "task", "result", "--wait", "x"); s.code != fault.Unavailable.ExitCode() || !strings.Contains(s.stderr.String(), "wait: true") {
		t.Errorf("one that has not ended: exit %d, %s", s.code, s.stderr.String())
	}
	for _, bad := range [][]string{{"get"}, {"result"}, {"cancel", "a", "b"}, {"list", "x"}} {
		if s := drive(t, d, append([]string{"task"}, bad...)...); s.code != 2 {
			t.Errorf("task %q: exit %d", bad, s.code)
		}
	}
}

func TestACallBecomesATask(t *testing.T) {
	t.Parallel()
	d := &desk{}
	var asked *api.TaskWish
	d.call = func(_ context.Context, in api.CallInput) (*api.CallOutput, error) {
		asked = in.Task
		return &api.CallOutput{Task: &aTask}, nil
	}
	drive(t, d, "call", "--task", "--task-ttl", "1h", "demo.echo").want(t, 0, "t1\n", "")
	if asked == nil || asked.TTL != "1h" {
		t.Errorf("asked for %+v", asked)
	}
	if s := drive(t, d, "call", "--task-ttl", "1h", "demo.echo"); s.code != 2 {
		t.Errorf("a time without a task: exit %d", s.code)
	}
}
