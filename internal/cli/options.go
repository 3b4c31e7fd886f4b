package cli

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"strings"

	"mcpx/internal/api"
	"mcpx/internal/fault"

	"github.com/urfave/cli/v2"
)

// scriptFlags are those of commands that run one script: what is run around it, what of it
// is its value, and in which form it is told.
func scriptFlags() []cli.Flag {
	return []cli.Flag{
		&cli.BoolFlag{Name: "local", Usage: "run it in this command (--where=local)"},
		&cli.BoolFlag{Name: "remote", Usage: "run it in the daemon (--where=remote)"},
		&cli.StringFlag{Name: "export", Usage: "the value is the export `NAME`, called if it is a function"},
		&cli.StringFlag{Name: "ns", Usage: "offer it the servers `NS` alone, separated by commas"},
		&cli.StringSliceFlag{Name: "placeholder", Usage: "put a value in for @NAME in it; `NAME=VALUE` is a string, NAME:=JSON that JSON"},
		&cli.StringSliceFlag{Name: "before", Usage: "run the script `FILE` first; if it fails, nothing else runs"},
		&cli.StringSliceFlag{Name: "prefix", Usage: "run the script `FILE` before its first line, in its process"},
		&cli.StringSliceFlag{Name: "on-success", Usage: "run the script `FILE` if it succeeds; what that returns is the value"},
		&cli.StringSliceFlag{Name: "on-error", Usage: "run the script `FILE` if it fails; what that returns is the value instead"},
		&cli.StringSliceFlag{Name: "suffix", Usage: "run the script `FILE` last, whatever happened"},
		&cli.StringFlag{Name: "typecheck", Usage: "check it with TypeScript's compiler first: `HOW` is on, strict or off (default)"},
		&cli.BoolFlag{Name: "capture-console", Usage: "send what it prints to standard error, so that standard output has the value alone"},
		&cli.StringFlag{Name: "artifacts", Usage: "put what it keeps, and media in its value, into the folder `DIR`"},
		&cli.BoolFlag{Name: "stream", Usage: "print what happens as it happens, a line of JSON each"},
	}
}

// checkTypecheck refuses what --typecheck does not take. That is most likely the script, whose
// place the value has taken.
func checkTypecheck(how string) error {
	switch how {
	case api.TypecheckOn, api.TypecheckStrict, api.TypecheckOff:
		return nil
	}
	return fault.Usagef("--typecheck: %q is not one of its values", how).Hintf("write on, strict or off")
}

// options reads the flags of scriptFlags.
func (v *invocation) options(c *cli.Context) error {
	task, err := asTask(c)
	if err != nil {
		return err
	}
	if v.wanted.Task = task; task != nil && c.Bool("stream") {
		return fault.Usagef("--task and --stream are both given").Hintf("a task ends this command; nobody would see the stream")
	}
	local, remote := c.Bool("local"), c.Bool("remote") || task != nil
	switch {
	case local && remote:
		return fault.Usagef("--local is given beside --remote or --task").Hintf("give one of them; a task goes on in the daemon")
	case local, remote:
		where := "local"
		if remote {
			where = "remote"
		}
		if err := v.settings.ApplyFlag("where", where); err != nil {
			return err
		}
	}
	if v.stream = c.Bool("stream"); v.stream && v.json {
		return fault.Usagef("--stream and --json are both given").Hintf("--json is one document at the end, --stream a line for each thing that happens")
	}
	in := &v.wanted
	if dir := c.String("artifacts"); dir != "" {
		in.Artifacts = &api.ArtifactWish{Dir: v.path(dir), SharedFS: true}
	} else if c.IsSet("artifacts") {
		return fault.Usagef("--artifacts: the folder is empty text")
	}
	in.Export, in.Typecheck, in.CaptureConsole = c.String("export"), c.String("typecheck"), c.Bool("capture-console")
	if c.IsSet("export") && in.Export == "" {
		return fault.Usagef("--export: the name is empty")
	}
	for name := range strings.SplitSeq(c.String("ns"), ",") {
		if name = strings.TrimSpace(name); name != "" {
			in.NS = append(in.NS, name)
		}
	}
	for _, pair := range c.StringSlice("placeholder") {
		name, value, err := placeholder(pair)
		if err != nil {
			return err
		}
		if in.Placeholders == nil {
			in.Placeholders = map[string]json.RawMessage{}
		}
		if _, twice := in.Placeholders[name]; twice {
			return fault.Usagef("--placeholder: %s is given twice", name).Hintf("give it once")
		}
		in.Placeholders[name] = value
	}
	for _, phase := range []struct {
		flag string
		to   *[]string
	}{
		{"before", &in.Phases.Before},
		{"prefix", &in.Phases.Prefix},
		{"on-success", &in.Phases.OnSuccess},
		{"on-error", &in.Phases.OnError},
		{"suffix", &in.Phases.Suffix},
	} {
		for _, name := range c.StringSlice(phase.flag) {
			text, err := v.readPhase(c.Context, phase.flag, name)
			if err != nil {
				return err
			}
			*phase.to = append(*phase.to, text)
		}
	}
	return nil
}

// placeholder reads NAME=VALUE or NAME:=JSON.
func placeholder(pair string) (string, json.RawMessage, error) {
	name, value, ok := strings.Cut(pair, "=")
	if !ok || strings.TrimSuffix(name, ":") == "" {
		return "", nil, fault.Usagef("--placeholder: %q is not NAME=VALUE", pair).Hintf("write NAME=VALUE for a string, NAME:=JSON for any JSON")
	}
	if plain, isJSON := strings.CutSuffix(name, ":"); isJSON {
		if !json.Valid([]byte(value)) {
			return "", nil, fault.Usagef("--placeholder: %s: %q is not JSON", plain, value)
		}
		return plain, json.RawMessage(value), nil
	}
	text, err := json.Marshal(value)
	if err != nil {
		return "", nil, fault.Internalf("--placeholder: %w", err)
	}
	return name, text, nil
}

// readPhase reads the file of a phase.
func (v *invocation) readPhase(ctx context.Context, flag, name string) (string, error) {
	text, err := interruptible(ctx, func() ([]byte, error) { return readAtMost(v.path(name)) })
	if failure, ok := errors.AsType[*fs.PathError](err); ok {
		return "", fault.Usagef("--%s: the script %q cannot be read: %w", flag, name, failure.Err)
	}
	return string(text), err
}

// want adds to a run what the flags say.
func (v *invocation) want(in *api.ExecInput) {
	w := v.wanted
	in.Export, in.Typecheck, in.CaptureConsole, in.NS = w.Export, w.Typecheck, w.CaptureConsole, w.NS
	in.Placeholders, in.Phases, in.Task, in.Artifacts = w.Placeholders, w.Phases, w.Task, w.Artifacts
}

// frameLine writes a frame as a line of JSON.
func (v *invocation) frameLine(f api.Frame) error {
	text, err := json.Marshal(f)
	if err != nil {
		return err
	}
	_, err = v.stdout.Write(append(text, '\n'))
	return err
}
