package daemon

import (
	"cmp"
	"context"
	"encoding/json"

	"mcpx/internal/api"
	"mcpx/internal/fault"
	"mcpx/internal/task"
)

var _ api.Tasks = (*View)(nil)

// tasks is who keeps tasks here.
func (v *View) tasks() *task.Keeper {
	if v.l.o.Tasks == nil {
		return &task.Keeper{Settings: v.l.set}
	}
	return v.l.o.Tasks
}

// callTask makes a task of a call. Nobody is there to be asked; progress is noted.
func (v *View) callTask(ctx context.Context, in api.CallInput) (*api.CallOutput, error) {
	wish := *in.Task
	in.Task, in.Consent = nil, nil
	t, err := v.tasks().Start(ctx, "call", in.Server+"."+in.Tool, wish, func(ctx context.Context, progress func(api.Progress)) (any, bool, error) {
		in.Peer = watcher{progress}
		out, err := v.Call(ctx, in)
		if err != nil {
			return nil, false, err
		}
		return out, out.IsError, nil
	})
	if err != nil {
		return nil, err
	}
	return &api.CallOutput{Server: in.Server, Tool: in.Tool, Result: json.RawMessage("null"), Task: t}, nil
}

// execTask makes a task of a run, likewise.
func (v *View) execTask(ctx context.Context, in api.ExecInput) (*api.ExecOutput, error) {
	if in.Output == api.OutputStream || in.Output == api.OutputText {
		return nil, fault.Usagef("a task gives one document, and no output as it comes").Hintf("leave output out, or task")
	}
	wish := *in.Task
	in.Task, in.Consent, in.Peer = nil, nil, nil
	in.Output = api.OutputStructured
	t, err := v.tasks().Start(ctx, "exec", cmp.Or(in.Name, "exec"), wish, func(ctx context.Context, progress func(api.Progress)) (any, bool, error) {
		in.Frames = func(f api.Frame) error {
			if f.Type == "progress" && f.Done != nil {
				progress(api.Progress{Done: *f.Done, Total: f.Total, Message: f.Message})
			}
			return nil
		}
		out, err := v.Exec(ctx, in)
		if err != nil {
			return nil, false, err
		}
		return out, out.Error != nil || out.ExitCode != 0, nil
	})
	if err != nil {
		return nil, err
	}
	return &api.ExecOutput{Artifacts: []api.Artifact{}, Emits: []json.RawMessage{}, Logs: []api.Log{}, Calls: []api.ToolCall{}, Task: t}, nil
}

// watcher hears of the progress of a call that nobody waits for.
type watcher struct{ progress func(api.Progress) }

// Notify implements api.Peer.
func (w watcher) Notify(method string, params json.RawMessage) {
	if method != "notifications/progress" {
		return
	}
	var p struct {
		Progress float64
		Total    *float64
		Message  string
	}
	if json.Unmarshal(params, &p) == nil {
		w.progress(api.Progress{Done: p.Progress, Total: p.Total, Message: p.Message})
	}
}

// Ask implements api.Peer: nobody is there.
func (watcher) Ask(_ context.Context, method string, _ json.RawMessage) (json.RawMessage, error) {
	return nil, api.Nobody(method)
}

// TakesUnfinished implements api.Peer.
func (watcher) TakesUnfinished() bool { return false }

// TasksList implements api.Tasks.
func (v *View) TasksList(ctx context.Context, in api.TasksListInput) (*api.TasksListOutput, error) {
	return v.tasks().TasksList(ctx, in)
}

// TaskGet implements api.Tasks.
func (v *View) TaskGet(ctx context.Context, in api.TaskGetInput) (*api.TaskGetOutput, error) {
	return v.tasks().TaskGet(ctx, in)
}

// TaskResult implements api.Tasks.
func (v *View) TaskResult(ctx context.Context, in api.TaskResultInput) (*api.TaskResultOutput, error) {
	return v.tasks().TaskResult(ctx, in)
}

// TaskCancel implements api.Tasks.
func (v *View) TaskCancel(ctx context.Context, in api.TaskCancelInput) (*api.TaskCancelOutput, error) {
	return v.tasks().TaskCancel(ctx, in)
}
