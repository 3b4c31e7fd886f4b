package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"mcpx/internal/api"
	"mcpx/internal/fault"

	"github.com/urfave/cli/v2"
)

// taskFlags make a task of a call or a run.
func taskFlags() []cli.Flag {
	return []cli.Flag{
		&cli.BoolFlag{Name: "task", Usage: "begin it in the daemon and print its id (mcpx task result ID)"},
		&cli.StringFlag{Name: "task-ttl", Usage: "with --task: keep the result for `TIME` once there is one (default tasks.ttl)"},
	}
}

// asTask reads the flags of taskFlags; nil: it is no task.
func asTask(c *cli.Context) (*api.TaskWish, error) {
	if !c.Bool("task") {
		if c.IsSet("task-ttl") {
			return nil, fault.Usagef("--task-ttl is given without --task").Hintf("give --task too, or neither")
		}
		return nil, nil
	}
	return &api.TaskWish{TTL: c.String("task-ttl")}, nil
}

// begun prints a task that goes on by itself.
func (v *invocation) begun(t *api.Task) error {
	return v.answer(t, func() string { return word(t.ID) + "\n" })
}

// tasks lists the tasks.
func (v *invocation) tasks(c *cli.Context) error {
	if err := takes(c, 0, 0); err != nil {
		return err
	}
	out, err := askOf(v, c, PresentDaemon, api.ListTasks, api.TasksListInput{})
	if err != nil {
		return err
	}
	return v.answer(out, func() string {
		if len(out.Tasks) == 0 {
			return "no tasks\n"
		}
		p := page{columns: v.columns()}
		var rows [][2]string
		for _, t := range out.Tasks {
			rows = append(rows, [2]string{word(t.ID), taskLine(t)})
		}
		p.rows("", rows)
		return p.String()
	})
}

// taskLine says how a task stands, in a line.
func taskLine(t api.Task) string {
	parts := []string{word(t.State), word(t.Kind) + " " + word(t.What), "since " + t.Created.Local().Format(time.DateTime)}
	if p := t.Progress; p != nil && t.State == api.TaskWorking {
		far := fmt.Sprintf("%g", p.Done)
		if p.Total != nil {
			far += fmt.Sprintf(" of %g", *p.Total)
		}
		parts = append(parts, strings.TrimSpace(far+" "+word(oneLine(p.Message))))
	}
	if t.Ended != nil {
		parts = append(parts, "ended "+t.Ended.Local().Format(time.DateTime))
	}
	return strings.Join(parts, "  ")
}

// getTask says how one stands.
func (v *invocation) getTask(c *cli.Context) error {
	id, err := nameOf(c)
	if err != nil {
		return err
	}
	out, err := askOf(v, c, PresentDaemon, api.GetTask, api.TaskGetInput{ID: id})
	if err != nil {
		return err
	}
	if out.State == api.TaskFailed && out.Error == nil {
		// Without it the state says enough.
		if result, err := api.GetTaskResult.Do(c.Context, v.backend, api.TaskResultInput{ID: id}); err == nil {
			out.Error = whyFailed(result)
		}
	}
	return v.answer(out, func() string {
		text := taskLine(out.Task) + "\n"
		if out.Error != nil {
			text += "error: " + errorText(out.Error) + "\n"
		}
		return clean(text)
	})
}

// whyFailed is the error in the result of a task: what the tool said, or what became of the
// script.
func whyFailed(out *api.TaskResultOutput) *fault.Error {
	var result struct {
		Server, Tool, Text string
		Error              *fault.Report
	}
	if json.Unmarshal(out.Result, &result) != nil {
		return nil //nolint:nilerr // task result says so
	}
	switch r := result.Error; {
	case r == nil && result.Text == "":
		return fault.New(fault.Tool, "%s answered with an error and no message", out.What)
	case r == nil:
		return fault.New(fault.Tool, "%s", result.Text)
	default:
		message := r.Message
		if r.Name != "" && r.Kind == fault.Script {
			message = r.Name + ": " + message
		}
		e := fault.New(r.Kind, "%s", message).Hintf("%s", r.Hint)
		if r.At != nil {
			e = e.With("at", r.At)
		}
		return e
	}
}

// taskResult prints what came of one.
func (v *invocation) taskResult(c *cli.Context) error {
	id, err := nameOf(c)
	if err != nil {
		return err
	}
	in, err := input[api.TaskResultInput](c)
	if err != nil {
		return err
	}
	in.ID = id
	out, err := askOf(v, c, PresentDaemon, api.GetTaskResult, in)
	if e, ok := errors.AsType[*fault.Error](err); ok && e.Details["state"] == api.TaskCancelled {
		v.failed(e)
		v.say("%s", errorText(e))
		return status(exitInterrupted) // as a run that somebody ends while it is looked at
	}
	if err != nil {
		return err
	}
	if v.json {
		if err := v.document(out); err != nil || out.State == api.TaskCompleted {
			return err
		}
		return status(fault.Tool.ExitCode())
	}
	if out.Kind == "call" {
		var result api.CallOutput
		switch err := json.Unmarshal(out.Result, &result); {
		case err != nil:
			return fault.Unavailablef("the result of the task cannot be read: %w", err)
		case result.IsError:
			return v.toolFailed(&result)
		case result.IsText:
			return v.line(result.Text)
		}
		return v.value(result.Value)
	}
	var result api.ExecOutput
	if err := json.Unmarshal(out.Result, &result); err != nil {
		return fault.Unavailablef("the result of the task cannot be read: %w", err)
	}
	return v.ran(&result)
}

// ran prints a run that is over: what it printed and emitted, and its value or its error.
func (v *invocation) ran(out *api.ExecOutput) error {
	if out.Stderr != "" {
		v.quoted(out.Stderr)
	}
	if _, err := v.stdout.Write([]byte(out.Stdout)); err != nil {
		return err
	}
	for _, e := range out.Emits {
		if err := v.line(string(e)); err != nil {
			return err
		}
	}
	for _, s := range out.Spilled {
		v.say("%s has %s: mcpx artifact get %s", word(s.Stream), plural(s.Bytes, "byte"), word(s.Artifact))
	}
	if out.Error != nil {
		v.reportScript(out.Error)
	} else if out.Value != nil {
		if err := v.value(out.Value); err != nil {
			return err
		}
	}
	if out.ExitCode != 0 {
		return status(out.ExitCode)
	}
	return nil
}

// cancelTask ends one.
func (v *invocation) cancelTask(c *cli.Context) error {
	id, err := nameOf(c)
	if err != nil {
		return err
	}
	out, err := askOf(v, c, PresentDaemon, api.CancelTask, api.TaskCancelInput{ID: id})
	if err != nil {
		return err
	}
	return v.answer(out, func() string { return "cancelled " + word(out.ID) + "\n" })
}
