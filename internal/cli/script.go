package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"mcpx/internal/api"
	"mcpx/internal/fault"

	"github.com/urfave/cli/v2"
)

// exec runs code that stands on the command line or comes in on standard input.
func (v *invocation) exec(c *cli.Context) error {
	if err := takes(c, 1, c.NArg()); err != nil {
		return err
	}
	if err := v.options(c); err != nil {
		return err
	}
	code, args := c.Args().First(), c.Args().Tail()
	if code == "-" {
		return v.fromStdin(c.Context, args, true)
	}
	if !looksLikeCode(code) && v.kindOfPath(code) == isFile {
		return fault.Usagef("exec takes code, and %q is a file", code).Hintf(`"mcpx run %s" runs it`, code)
	}
	return v.script(c.Context, api.ExecInput{Name: "exec", Code: code, Args: args, Expression: true}, v.p.Stdin)
}

// runFile runs a script that is a file or comes in on standard input.
func (v *invocation) runFile(c *cli.Context) error {
	if err := takes(c, 1, c.NArg()); err != nil {
		return err
	}
	if err := v.options(c); err != nil {
		return err
	}
	name, args := c.Args().First(), c.Args().Tail()
	if err := named(c, name); err != nil {
		return err
	}
	if name == "-" {
		return v.fromStdin(c.Context, args, false)
	}
	code, err := v.readScript(c.Context, name)
	if err != nil {
		return err
	}
	return v.script(c.Context, api.ExecInput{Name: name, Code: code, File: v.path(name), Args: args}, v.p.Stdin)
}

// fromStdin runs the script on standard input, which is then empty for the script.
func (v *invocation) fromStdin(ctx context.Context, args []string, expression bool) error {
	code, err := v.readStdin(ctx)
	if err != nil {
		return err
	}
	return v.script(ctx, api.ExecInput{Name: "stdin", Code: string(code), Args: args, Expression: expression}, nil)
}

// script runs a script and prints what comes of it.
func (v *invocation) script(ctx context.Context, in api.ExecInput, stdin io.Reader) error {
	if err := runnable(in); err != nil {
		return err
	}
	if err := v.permissions.apply(&in, v.profileGiven); err != nil {
		return err
	}
	if err := v.load(ctx, &in); err != nil {
		return err
	}
	v.want(&in)
	o := OpenOptions{Config: v.config, Settings: v.settings, Script: true, File: in.File != ""}
	if v.stderr.terminal {
		o.Waiting = func(server string) func() { return v.waiting("waiting for "+word(server), boundedCall) }
	}
	b, err := v.openFor(ctx, o)
	if err != nil {
		return err
	}
	v.unmet(ctx, b)
	streams := api.Streams{Stdin: stdin} // without outputs the answer holds what the script printed
	switch {
	case v.stream:
		streams = api.Streams{Stdin: stdin, Stdout: io.Discard, Stderr: io.Discard, Frames: v.frameLine}
	case !v.json:
		streams = api.Streams{Stdin: stdin, Stdout: v.stdout, Stderr: v.stderr, Columns: v.columns(), Color: v.color()}
	}
	if v.stderr.terminal {
		streams.Progress = v.progress()
	}
	if streams.Consent = v.asker(); streams.Consent != nil && stdin != nil {
		streams.Stdin = v.keys // which the questions share with the script
	}
	v.stdout.allowStyles(streams.Color)
	v.stderr.allowStyles(streams.Color)
	var end func()
	streams.Peer, end = v.peer()
	out, err := b.Run(ctx, in, streams)
	end()
	v.stdout.allowStyles(false)
	v.stderr.allowStyles(false)
	v.stderr.clear()
	if err != nil {
		return err
	}
	v.misplaced(in, out.Error)
	if out.Task != nil {
		return v.begun(out.Task)
	}
	if err := v.store(ctx, out); err != nil {
		return err
	}
	interrupted := v.interrupted() && out.ExitCode != 0
	if interrupted {
		out.ExitCode = exitInterrupted
	}
	switch {
	case v.json && interrupted && out.Error == nil:
		err = v.document(struct {
			*api.ExecOutput
			Error interruption `json:"error"`
		}{out, interruption{"interrupted"}})
	case v.json:
		err = v.document(out)
	case v.stream: // it has been said
	case out.Value != nil && out.Error == nil && (!out.Implied || !out.Printed):
		err = v.value(out.Value)
	}
	if !v.json && !v.stream {
		for _, a := range out.Artifacts {
			where := "mcpx artifact get " + a.ID
			if in.Artifacts != nil && a.Path != "" {
				where = a.Path
			}
			v.say("kept %s (%d bytes, %s): %s", word(a.Name), a.Size, word(a.MIME), word(where))
		}
	}
	for _, w := range out.Warnings {
		v.say("%s", w)
	}
	switch {
	case v.stdout.failure() != nil: // finish says what has to be said
	case out.Error != nil:
		v.reportScript(out.Error)
		v.reportMissed(out)
	case interrupted:
		v.say("interrupted")
	default:
		if v.json || !out.Implied || !out.Printed {
			for _, note := range out.Notes {
				v.say("%s", note)
			}
		}
		v.reportMissed(out)
	}
	if err == nil && out.ExitCode != 0 {
		return status(out.ExitCode)
	}
	return err
}

// runnable reports what is wrong with the text of a script.
func runnable(in api.ExecInput) error {
	switch {
	case strings.TrimSpace(in.Code) == "":
		return fault.Usagef("%s: there is nothing to run", in.Name).Hintf("the script is empty")
	case !utf8.ValidString(in.Code):
		return fault.Usagef("%s: the script is not UTF-8 text", in.Name).Hintf("save it as UTF-8")
	}
	return nil
}

// reportScript says why a script failed. The words of a script stand as they are; those
// of mcpx begin as all its sentences do.
func (v *invocation) reportScript(r *fault.Report) {
	if r.Kind == fault.Script || r.Kind == fault.Tool {
		v.quoted(r.Text())
		return
	}
	if flag, is := r.Details["flag"].(string); is && r.Kind == fault.Denied && v.p.Tool != nil {
		r.Hint = "its permissions were fixed when it was built: build it with " + fault.ShellWord(flag)
	}
	v.say("%s", r.Text())
}

// misplaced says of a denial that a flag which grants something stands behind the script,
// which has it as an argument then; the same of every error whose next step is that flag.
func (v *invocation) misplaced(in api.ExecInput, r *fault.Report) {
	if r == nil || v.p.Tool != nil {
		return
	}
	at := slices.IndexFunc(in.Args, func(word string) bool {
		name, _, _ := strings.Cut(word, "=")
		grants := name == "-A" || name == "--permissions" || strings.HasPrefix(name, "--allow-")
		return r.Kind == fault.Denied && grants || strings.HasPrefix(name, "--") && len(name) > 2 && strings.Contains(r.Hint, name+"=")
	})
	if at < 0 {
		return
	}
	before := in.Name
	if in.Expression {
		before = "the code"
	}
	r.Hint = in.Args[at] + " stands behind the script, so it is the script's; put it before " + before
}

// reportMissed names the variables that a script has looked for and that were not granted
// to it: to the script they looked like not set. Of a script that did not fail those are left
// out that are not set, or were meant not to be there.
func (v *invocation) reportMissed(out *api.ExecOutput) {
	const most = 5
	said := 0
	for _, d := range out.Denials {
		switch {
		case d.Grant != "env" || said == most:
			continue
		case out.Error != nil && out.Error.Kind == fault.Denied:
			continue // which is what there is to say
		case out.Error == nil && (v.p.Tool != nil || v.permissions.deny["env"] != nil || v.p.getenv(d.Thing) == ""):
			continue
		}
		way := "allow it with"
		if v.p.Tool != nil {
			way = "build it with"
		}
		v.say("the script looked for the variable %s, which it was not granted: %s %s", word(d.Thing), way, d.Flag)
		said++
	}
}

// path is where a file is that the user named.
func (v *invocation) path(name string) string {
	if filepath.IsAbs(name) {
		return filepath.Clean(name)
	}
	return filepath.Join(v.p.Dir, name)
}

// kindOfPath says what a word names in the file system.
func (v *invocation) kindOfPath(word string) pathKind {
	if word == "" || strings.ContainsAny(word, "\x00\n") {
		return nowhere
	}
	switch info, err := os.Stat(v.path(word)); {
	case err != nil:
		return nowhere
	case info.IsDir():
		return isDirectory
	}
	return isFile
}

// named refuses an empty word where a name is needed: most likely a variable of a shell
// that is not set.
func named(c *cli.Context, words ...string) error {
	if slices.ContainsFunc(words, func(w string) bool { return strings.TrimSpace(w) == "" }) {
		return fault.Usagef("%s: the name is empty", c.Command.Name).Hintf("usage: %s", usage(c.Command))
	}
	return nil
}

// readScript reads a script file.
func (v *invocation) readScript(ctx context.Context, name string) (string, error) {
	path := v.path(name)
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", fault.NotFoundf("script %q: no such file", name).Hintf("%s", v.elsewhere(name))
	case err == nil && info.IsDir():
		return "", fault.Usagef("script %q is a directory", name).Hintf("name the file in it that is to run")
	}
	code, err := interruptible(ctx, func() ([]byte, error) { return readAtMost(path) })
	if failure, ok := errors.AsType[*fs.PathError](err); ok {
		return "", fault.Usagef("script %q cannot be read: %w", name, failure.Err)
	}
	return string(code), err
}

// maxScript is how much of a script's file, or of standard input, is read. What the settings
// allow is decided on where it is used; what has no end is not to fill the memory before that.
const maxScript = 256 << 20

func readAtMost(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && info.Mode().IsRegular() && info.Size() > maxScript {
		return nil, &fs.PathError{Op: "read", Path: path, Err: errLong}
	}
	text, err := readMost(f, maxScript)
	if errors.Is(err, errLong) {
		err = &fs.PathError{Op: "read", Path: path, Err: err}
	}
	return text, err
}

// readMost reads to the end of what has at most so many bytes; of longer ones the error is errLong.
func readMost(r io.Reader, most int64) ([]byte, error) {
	text, err := io.ReadAll(io.LimitReader(r, most+1))
	if err == nil && int64(len(text)) > most {
		return nil, errLong
	}
	return text, err
}

var errLong = fmt.Errorf("it has more than %d MiB", maxScript>>20)

// elsewhere is the hint for a script that is not there.
func (v *invocation) elsewhere(name string) string {
	if looksLikeCode(name) {
		return `"mcpx exec CODE" runs text`
	}
	dir, base := filepath.Split(name)
	entries, err := os.ReadDir(v.path(dir))
	if errors.Is(err, fs.ErrNotExist) {
		return "there is no directory " + filepath.Clean(dir)
	}
	var names []string
	for _, e := range entries {
		if !e.IsDir() && isScriptName(e.Name()) {
			names = append(names, e.Name())
		}
	}
	if near, ok := nearest(base, names); ok {
		return "did you mean " + dir + near + "?"
	}
	return "it was looked for in " + filepath.Dir(v.path(name))
}

// readStdin reads standard input to its end, if it has at most maxScript bytes.
func (v *invocation) readStdin(ctx context.Context) ([]byte, error) {
	if v.p.Stdin == nil {
		return nil, nil
	}
	text, err := interruptible(ctx, func() ([]byte, error) { return readMost(v.p.Stdin, maxScript) })
	if err != nil && ctx.Err() == nil {
		return nil, fault.Usagef("reading standard input: %w", err)
	}
	return text, err
}

// interruptible reads without holding up an interrupt. A read from a terminal or a
// pipe cannot be ended, so its goroutine is left to the end of the process.
func interruptible(ctx context.Context, read func() ([]byte, error)) ([]byte, error) {
	type result struct {
		text []byte
		err  error
	}
	done := make(chan result, 1)
	go func() {
		text, err := read()
		done <- result{text, err}
	}()
	select {
	case r := <-done:
		return r.text, r.err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}
