package run

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"mcpx/internal/api"
	"mcpx/internal/fault"
	"mcpx/internal/grant"
	"mcpx/internal/settings"
)

// interpreter is the program that a file's first line names to run it.
type interpreter struct {
	file  string // as it is spelled
	args  []string
	set   map[string]string // variables that it is given
	unset []string
	empty bool   // it gets no other variables
	dir   string // its working directory; empty for that of the run
}

// ours are those that run what we run: a line that names one is a comment.
var ours = []string{"mcpx", "node", "nodejs", "deno", "bun", "tsx", "ts-node"}

// interpreterOf reads the first line of a script that is a file of that name. It is nil
// if that names none, or one of ours, or if the name says what the file is. The error's
// kind is usage.
func interpreterOf(name, code string) (*interpreter, error) {
	switch strings.ToLower(filepath.Ext(name)) {
	case ".ts", ".tsx", ".mts", ".cts", ".js", ".jsx", ".mjs", ".cjs":
		return nil, nil
	}
	code = strings.TrimPrefix(code, "\uFEFF")
	line, ok := strings.CutPrefix(code, "#!")
	if !ok {
		return nil, nil
	}
	line, _, _ = strings.Cut(line, "\n")
	file, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
	rest = strings.TrimSpace(rest)
	in := &interpreter{file: file}
	switch {
	case file == "":
		return nil, nil
	case path.Base(file) == "env":
		if err := in.readEnv(rest); err != nil {
			return nil, fault.Usagef("the script's first line: %w", err).Hintf("write #!/usr/bin/env PROGRAM, or #!/usr/bin/env -S PROGRAM ARGUMENTS")
		}
	case rest != "":
		in.args = []string{rest} // as the system does: all of it is one argument
	}
	if slices.Contains(ours, strings.TrimSuffix(path.Base(filepath.ToSlash(in.file)), ".exe")) {
		return nil, nil
	}
	return in, nil
}

// readEnv reads what stands behind env. The system hands it over as one argument; -S
// splits it.
func (in *interpreter) readEnv(rest string) error {
	split, splits := strings.CutPrefix(rest, "-S")
	if !splits {
		split, splits = strings.CutPrefix(rest, "--split-string=")
	}
	words := strings.Fields(rest)
	switch {
	case splits:
		var err error
		if words, err = shellWords(split); err != nil {
			return err
		}
	case len(words) > 1:
		return errors.New("env takes one word, and several after -S")
	}
	in.set = map[string]string{}
	next := func(option, joined string) (string, error) {
		if joined != "" {
			return joined, nil
		}
		if len(words) == 0 {
			return "", errors.New("env " + option + " needs a value")
		}
		w := words[0]
		words = words[1:]
		return w, nil
	}
	for len(words) > 0 && strings.HasPrefix(words[0], "-") {
		w := words[0]
		words = words[1:]
		long, value, _ := strings.Cut(w, "=")
		var err error
		switch {
		case w == "--":
		case w == "-", w == "-i", w == "--ignore-environment":
			in.empty = true
		case strings.HasPrefix(w, "-u"):
			value, err = next("-u", w[2:])
			in.unset = append(in.unset, value)
		case long == "--unset":
			value, err = next(long, value)
			in.unset = append(in.unset, value)
		case strings.HasPrefix(w, "-C"):
			in.dir, err = next("-C", w[2:])
		case long == "--chdir":
			in.dir, err = next(long, value)
		default:
			return errors.New("env has no option " + w + " here")
		}
		if err != nil {
			return err
		}
		if w == "--" {
			break
		}
	}
	for len(words) > 0 {
		name, value, ok := strings.Cut(words[0], "=")
		if !ok || name == "" {
			break
		}
		in.set[name] = value
		words = words[1:]
	}
	if len(words) == 0 || words[0] == "" {
		return errors.New("env names no program")
	}
	in.file, in.args = words[0], words[1:]
	return nil
}

// shellWords splits text as a shell does: quotes hold words together, a backslash takes
// away what the next character means.
func shellWords(text string) ([]string, error) {
	var words []string
	var word strings.Builder
	var quote rune
	inside, escaped := false, false
	for _, r := range text {
		switch {
		case escaped:
			if quote == '"' && r != '"' && r != '\\' && r != '$' && r != '`' {
				word.WriteRune('\\')
			}
			word.WriteRune(r)
			escaped = false
		case r == '\\' && quote != '\'':
			escaped, inside = true, true
		case quote != 0 && r == quote:
			quote = 0
		case quote != 0:
			word.WriteRune(r)
		case r == '\'' || r == '"':
			quote, inside = r, true
		case r == ' ' || r == '\t' || r == '\r':
			if inside {
				words = append(words, word.String())
				word.Reset()
				inside = false
			}
		default:
			word.WriteRune(r)
			inside = true
		}
	}
	switch {
	case quote != 0:
		return nil, errors.New("a quote is not closed")
	case escaped:
		return nil, errors.New("nothing follows a backslash")
	case inside:
		words = append(words, word.String())
	}
	return words, nil
}

// interpret runs a script with the program that its first line names, as a script would
// start it: the grant run decides. No other grant binds what it does, and of the limits
// only time and output.
func (r *Runner) interpret(ctx context.Context, in *interpreter, script api.ExecInput, set grant.Set, streams api.Streams, budget budget) (*api.ExecOutput, error) {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	e := r.effects(set, nil)
	defer e.close()
	env := map[string]string{}
	if !in.empty {
		for name, value := range e.env.Granted(r.Environ) {
			if !strings.HasPrefix(strings.ToUpper(name), "MCPX_") {
				env[name] = value
			}
		}
		for _, name := range in.unset {
			delete(env, name)
		}
	}
	maps.Copy(env, in.set)
	ask := func(op string, head any, body []byte) (json.RawMessage, []byte, error) {
		text, err := json.Marshal(head)
		if err != nil {
			return nil, nil, fault.Internalf("encoding a request: %w", err)
		}
		answer, out, _, err := e.do(ctx, op, text, body)
		return answer, out, err
	}
	type object = map[string]any
	answer, _, err := ask("run.start", object{
		"file": in.file, "args": append(append(in.args, script.File), script.Args...), "cwd": in.dir,
		"env": env, "inherit": !in.empty, "stdin": streams.Stdin != nil, "stdout": true, "stderr": true,
	}, nil)
	out := &api.ExecOutput{Profile: set.Profile, Held: []string{limitOutput}}
	if err != nil {
		e.denials.note(err)
		out.Denials = e.denials.all()
		out.Error = fault.ReportOf(err)
		out.ExitCode = out.Error.Kind.ExitCode()
		return out, nil
	}
	var started struct{ ID int64 }
	if err := json.Unmarshal(answer, &started); err != nil {
		return nil, fault.Internalf("starting %s: %w", in.file, err)
	}
	if r.Log != nil {
		r.Log.LogAttrs(ctx, slog.LevelInfo, "run.interpreted", slog.String("program", in.file))
	}

	o := newOutput(streams, 0)
	o.spillTo(&e.kept, settings.ArtifactsOutputMaxBytes.Get(r.Settings))
	var readers sync.WaitGroup
	left := budget.output
	var mu sync.Mutex
	for stream, to := range []io.Writer{o.stdout, o.stderr} {
		readers.Go(func() {
			for {
				answer, text, err := ask("run.read", object{"id": started.ID, "stream": stream + 1, "max": outputChunk}, nil)
				if err != nil {
					return // it was ended
				}
				mu.Lock()
				left -= int64(len(text))
				over := left < 0
				if !over {
					_, err = to.Write(text)
				}
				mu.Unlock()
				switch {
				case over:
					stop(budget.exceeded(limitOutput))
				case err != nil && stream == 0:
					stop(errClosed)
				}
				if strings.Contains(string(answer), `"end":true`) {
					return
				}
			}
		})
	}
	if streams.Stdin != nil {
		input := newInput(streams.Stdin)
		go func() { // ends with the context, or with the program
			for {
				chunk, err := input.next(ctx, inputChunk)
				if _, _, failed := ask("run.write", object{"id": started.ID, "end": err != nil}, chunk); err != nil || failed != nil {
					return
				}
			}
		}()
	}
	answer, _, err = ask("run.wait", object{"id": started.ID}, nil)
	if err == nil {
		readers.Wait()
	}
	cause := context.Cause(ctx)
	stop(nil)
	e.close()
	readers.Wait()
	o.given(ctx, out)
	out.Artifacts = e.kept.all()
	out.Printed = true
	out.Notes = []string{in.file + " has run the script: no grant bound what it did, and no limits but time and output"}
	if cause != nil || err != nil {
		out.Error, out.ExitCode = ended(errors.Join(cause, err))
		return out, nil
	}
	var over struct {
		Code   *int
		Signal string
	}
	if err := json.Unmarshal(answer, &over); err != nil {
		return nil, fault.Internalf("the end of %s: %w", in.file, err)
	}
	if over.Code != nil {
		out.ExitCode = *over.Code & 0xFF
		return out, nil
	}
	out.Error = fault.ReportOf(fault.New(fault.Script, "%s was ended by %s", in.file, over.Signal))
	out.ExitCode = out.Error.Kind.ExitCode()
	return out, nil
}

// outputChunk is how much of a program's output is read at a time.
const outputChunk = 64 << 10
