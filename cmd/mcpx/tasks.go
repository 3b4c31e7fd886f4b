package main

import (
	"context"
	"crypto/rand"
	"os"
	"path/filepath"

	"mcpx/internal/api"
	"mcpx/internal/daemon"
	"mcpx/internal/fault"
	"mcpx/internal/task"
)

// Call implements api.Servers: what ends with a command is no task.
func (b *inline) Call(ctx context.Context, in api.CallInput) (*api.CallOutput, error) {
	if in.Task != nil {
		return nil, noTask()
	}
	return b.Gateway.Call(ctx, in)
}

func noTask() error {
	return fault.Unavailablef("a task goes on in the daemon, and this command does without one").
		Hintf("leave --task out, or let the daemon run: daemon.inline, daemon.autostart")
}

// held says whether the process is there that begins the tasks of an owner: a daemon, or a
// serve.
func held(state string) func(owner string) bool {
	return func(owner string) bool { return daemon.Named(state, owner).Held() }
}

// serving keeps the tasks of clients of serve, for as long as it runs; nil if there is nowhere
// to keep them. leave ends what goes on.
func (b *inline) serving() (k *task.Keeper, leave func(), err error) {
	if b.state == "" {
		return nil, func() {}, nil
	}
	hold, err := daemon.Take(daemon.At(b.state, "serve "+rand.Text(), os.TempDir()))
	if err != nil {
		return nil, nil, err
	}
	k = &task.Keeper{Dir: taskFolder(b.state), Owner: hold.Name(), Settings: b.settings, Held: held(b.state)}
	return k, func() { k.Close(); hold.Discard() }, nil
}

// taskFolder is where tasks are kept below a state directory.
func taskFolder(state string) string {
	if state == "" {
		return ""
	}
	return filepath.Join(state, "tasks")
}
