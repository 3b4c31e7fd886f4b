package api

import (
	"context"
	"encoding/json"
	"time"

	"mcpx/internal/fault"
)

// Tasks answers for calls and runs that go on without whoever began them.
type Tasks interface {
	// TasksList lists the tasks, the newest first.
	TasksList(ctx context.Context, in TasksListInput) (*TasksListOutput, error)
	// TaskGet says how a task stands. The error's kind is notfound if there is none.
	TaskGet(ctx context.Context, in TaskGetInput) (*TaskGetOutput, error)
	// TaskResult returns what came of a task. The error's kind is unavailable if it has not
	// ended, was lost or was cancelled; of one that was cancelled the detail state says so.
	TaskResult(ctx context.Context, in TaskResultInput) (*TaskResultOutput, error)
	// TaskCancel ends the work of a task, and returns when it has ended.
	TaskCancel(ctx context.Context, in TaskCancelInput) (*TaskCancelOutput, error)
}

// TaskWish makes a task of a call or a run: the answer is the task, and what becomes of it
// is asked for by its id.
type TaskWish struct {
	TTL string `json:"ttl,omitempty" doc:"how long the result is kept once there is one, as in 1h; the setting tasks.ttl without it"`
}

// The states of a task.
const (
	TaskWorking   = "working"
	TaskCompleted = "completed"
	TaskFailed    = "failed"    // it ended with an error
	TaskCancelled = "cancelled" // somebody cancelled it
	TaskLost      = "lost"      // the daemon ended before it did
)

// Task is a call or a run that goes on by itself.
type Task struct {
	ID       string        `json:"id"`   // which nobody can guess
	Kind     string        `json:"kind"` // call or exec
	What     string        `json:"what"` // NS.TOOL, or the name of the script
	State    string        `json:"state"`
	Created  time.Time     `json:"created"`
	Ended    *time.Time    `json:"ended,omitempty"`
	Expires  *time.Time    `json:"expires,omitempty"` // when it is forgotten; once it has ended
	Progress *Progress     `json:"progress,omitempty"`
	Error    *fault.Error  `json:"error,omitempty"` // why it has not ended well
	Within   time.Duration `json:"-"`               // how long it is kept once it has ended
}

// TasksListInput asks for all tasks.
type TasksListInput struct{}

// TasksListOutput lists tasks.
type TasksListOutput struct {
	Tasks []Task `json:"tasks"`
}

// TaskGetInput names a task.
type TaskGetInput struct {
	ID string `json:"id" doc:"its id"`
}

// TaskGetOutput is the task.
type TaskGetOutput struct{ Task }

// TaskResultInput names a task.
type TaskResultInput struct {
	ID   string `json:"id" doc:"its id"`
	Wait bool   `json:"wait,omitempty" flag:"wait" doc:"wait until it has ended"`
}

// TaskResultOutput is a task that has ended, and its result: the output of call, or of exec.
type TaskResultOutput struct {
	Task
	Result json.RawMessage `json:"result"`
}

// TaskCancelInput names a task.
type TaskCancelInput struct {
	ID string `json:"id" doc:"its id"`
}

// TaskCancelOutput is the task as it has ended.
type TaskCancelOutput struct{ Task }
