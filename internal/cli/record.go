package cli

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"mcpx/internal/api"
	"mcpx/internal/fault"

	"github.com/urfave/cli/v2"
)

// tape is where the calls of a script are recorded, or answered from, and on what it runs.
type tape struct{ record, replay, runtime string }

func (t *tape) flags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "record", Usage: "write its tool calls and their answers, as they are, to `FILE`", Destination: &t.record},
		&cli.StringFlag{Name: "replay", Usage: "answer its tool calls from `FILE`, which --record wrote", Destination: &t.replay},
		&cli.StringFlag{Name: "runtime", Usage: "run it on `RUNTIME`: deno, bun, node, or the path of one; without it on mcpx itself", Destination: &t.runtime},
	}
}

// load has a run recorded, or answered from a recording, as the flags say.
func (v *invocation) load(ctx context.Context, in *api.ExecInput) error {
	t := &v.tape
	in.Runtime = t.runtime
	switch {
	case t.record != "" && t.replay != "":
		return fault.Usagef("--record and --replay are both given").Hintf("a run is either recorded or answered from a recording")
	case t.record != "":
		dir := filepath.Dir(v.path(t.record))
		if info, err := os.Stat(dir); err != nil || !info.IsDir() {
			return fault.Usagef("the recording cannot be written: there is no directory %q", dir)
		}
		in.Record = true
	case t.replay != "":
		text, err := interruptible(ctx, func() ([]byte, error) { return readAtMost(v.path(t.replay)) })
		var failure *fs.PathError
		switch {
		case errors.As(err, &failure):
			return fault.Usagef("the recording %q cannot be read: %w", t.replay, failure.Err).Hintf("--record FILE writes one")
		case err != nil:
			return err
		case len(text) == 0:
			return fault.Usagef("the recording %q is empty", t.replay).Hintf("--record FILE writes one")
		}
		in.Replay = string(text)
	}
	return nil
}

// store writes the recording of a run, and takes it out of its answer.
func (v *invocation) store(ctx context.Context, out *api.ExecOutput) error {
	if v.tape.record == "" || out.Recording == "" {
		return nil
	}
	text := out.Recording
	out.Recording = ""
	if err := replacePrivateFile(ctx, v.path(v.tape.record), []byte(text)); err != nil {
		return fault.Usagef("the recording %q cannot be written: %w", v.tape.record, err)
	}
	return nil
}
