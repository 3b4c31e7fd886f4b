//go:build unix

package run

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"mcpx/internal/api"
	"mcpx/internal/fault"
)

// told runs a script and returns the frames that were told, a line each.
func told(t *testing.T, in api.ExecInput, streams api.Streams) (*api.ExecOutput, string) {
	t.Helper()
	var lines strings.Builder
	streams.Frames = func(f api.Frame) error {
		lines.WriteString(f.Type)
		for _, part := range []string{f.Phase, f.Level, f.Text, string(f.Value), f.Tool, f.Message} {
			if part != "" {
				lines.WriteString(" " + strings.ReplaceAll(part, "\n", "\\n"))
			}
		}
		if f.Original != nil {
			lines.WriteString(" was " + string(f.Original))
		}
		if f.OriginalError != nil {
			lines.WriteString(" was " + f.OriginalError.Message)
		}
		if f.Error != nil {
			lines.WriteString(" " + f.Error.Message)
		}
		if f.OK != nil && !*f.OK {
			lines.WriteString(" failed")
		}
		if f.Type == "end" {
			fmt.Fprintf(&lines, " %d", *f.ExitCode)
		}
		lines.WriteString("\n")
		return nil
	}
	out, err := stage{}.runner().Run(t.Context(), in, streams)
	if err != nil {
		t.Fatal(err)
	}
	return out, lines.String()
}

func TestPhases(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		in     api.ExecInput
		value  string
		exit   int
		frames string
	}{
		{
			"all of them",
			api.ExecInput{Code: "return 1", Phases: api.Phases{
				Before: []string{"1", "2"}, OnSuccess: []string{"return hook.value + 1", "if (hook.value !== 2) throw new Error('order')"},
				OnError: []string{"throw new Error('not this')"}, Suffix: []string{"hook.value"},
			}},
			"2", 0, "start\nhook before\nhook before\nhook onSuccess 2 was 1\nhook onSuccess\nresult 2\nhook suffix\nend 0\n",
		},
		{
			"one before fails",
			api.ExecInput{Code: "console.log('never')", Phases: api.Phases{
				Before: []string{"throw new Error('no')", "1"}, OnError: []string{"1"}, Suffix: []string{"1"},
			}},
			"", 1, "start\nhook before no failed\nerror no\nhook suffix\nend 1\n",
		},
		{
			"an error is replaced by a value",
			api.ExecInput{Code: "throw new Error('x')", Phases: api.Phases{OnError: []string{"return hook.error.message + hook.exitCode"}}},
			`"x1"`, 0, "start\nhook onError \"x1\" was x\nresult \"x1\"\nend 0\n",
		},
		{
			"an error is replaced by an error",
			api.ExecInput{Code: "throw new Error('x')", Phases: api.Phases{OnError: []string{"throw new Error('y')"}}},
			"", 1, "start\nhook onError was x y failed\nerror y\nend 1\n",
		},
		{
			"an error stays",
			api.ExecInput{Code: "throw new Error('x')", Phases: api.Phases{OnError: []string{"const seen = hook.error.message"}}},
			"", 1, "start\nhook onError\nerror x\nend 1\n",
		},
		{
			"success fails after all",
			api.ExecInput{Code: "return 1", Phases: api.Phases{OnSuccess: []string{"throw new Error('z')"}}},
			"", 1, "start\nhook onSuccess was 1 z failed\nerror z\nend 1\n",
		},
		{
			"the last one fails",
			api.ExecInput{Code: "return 1", Phases: api.Phases{Suffix: []string{"process.exit(4)"}}},
			"1", 4, "start\nresult 1\nhook suffix failed\nend 4\n",
		},
		{
			"an exit code is no success",
			api.ExecInput{Code: "process.exit(3)", Phases: api.Phases{OnSuccess: []string{"1"}, OnError: []string{"return hook.exitCode"}}},
			"3", 0, "start\nhook onError 3\nresult 3\nend 0\n",
		},
		{
			"before the first line",
			api.ExecInput{Code: "return (globalThis as any).list", Phases: api.Phases{Prefix: []string{"globalThis.list = [1]", "const n: number = 2; globalThis.list.push(n)"}}},
			"[1,2]", 0, "start\nresult [1,2]\nend 0\n",
		},
		{
			"what happens",
			api.ExecInput{Code: "console.log('é'); log.warn('w'); emit({a: 1}); progress(1, 2, 'half'); await tools.demo.echo({ secret: 1 }); return 1"},
			"1", 0, "start\nstdout é\\n\nlog warn w\nemit {\"a\":1}\nprogress half\ncall echo\nresult 1\nend 0\n",
		},
		{
			"what is printed is a log",
			api.ExecInput{Code: "console.log('a\\nb'); console.error('c'); emit(1); process.stdout.write('rest')", CaptureConsole: true},
			"", 0, "start\nlog info a\nlog info b\nlog error c\nemit 1\nlog info rest\nresult\nend 0\n",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			out, frames := told(t, tt.in, api.Streams{})
			if string(out.Value) != tt.value || out.ExitCode != tt.exit || frames != tt.frames {
				t.Errorf("value %s, exit code %d, error %v, frames:\n%s\nwant %s, %d:\n%s", out.Value, out.ExitCode, out.Error, frames, tt.value, tt.exit, tt.frames)
			}
			if strings.Contains(frames, "secret") {
				t.Errorf("arguments are told: %s", frames)
			}
		})
	}
}

func TestAPrefixHasItsOwnPlaces(t *testing.T) {
	t.Parallel()
	out, _ := told(t, api.ExecInput{Code: "return 1", Phases: api.Phases{Prefix: []string{"1", "\n  throw new Error('early')"}}}, api.Streams{})
	if out.Error == nil || out.Error.At == nil || out.Error.At.File != "prefix:2" || out.Error.At.Line != 2 {
		t.Errorf("the run ended with %+v", out.Error)
	}
	out, _ = told(t, api.ExecInput{Code: "\n throw new Error('late')", Phases: api.Phases{Prefix: []string{"1;\n\n\n"}}}, api.Streams{})
	if out.Error == nil || out.Error.At == nil || out.Error.At.File != "exec" || out.Error.At.Line != 2 {
		t.Errorf("the run ended with %+v", out.Error)
	}
}

// A caller that takes no more frames ends the run.
func TestAFrameThatIsNotTakenEndsTheRun(t *testing.T) {
	t.Parallel()
	n := 0
	var mu sync.Mutex
	out, err := stage{}.runner().Run(t.Context(), api.ExecInput{Code: "for (;;) { emit(1); await new Promise(r => setTimeout(r, 1)) }"}, api.Streams{Frames: func(f api.Frame) error {
		mu.Lock()
		defer mu.Unlock()
		if n++; f.Type == "emit" {
			return errors.New("gone")
		}
		return nil
	}})
	mu.Lock()
	defer mu.Unlock()
	if err != nil || out.ExitCode != exitClosed || n != 2 {
		t.Errorf("the run ended with %+v, %v after %d frames", out, err, n)
	}
}

func TestWhatARunIsAskedFor(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		in   api.ExecInput
		want string // of the error
		kind fault.Kind
	}{
		{"no duration", api.ExecInput{Within: "soon"}, `"soon" is no duration`, fault.Usage},
		{"a duration of nothing", api.ExecInput{Within: "0s"}, "no duration", fault.Usage},
		{"no whole path", api.ExecInput{Cwd: "x"}, "not absolute", fault.Usage},
		{"no whole path of the file", api.ExecInput{File: "x.ts"}, "not absolute", fault.Usage},
		{"no variable", api.ExecInput{Env: map[string]string{"A=B": "x"}}, "cannot be a variable", fault.Usage},
		{"no form", api.ExecInput{Output: "smoke"}, "not one of its values", fault.Usage},
		{"no limit", api.ExecInput{Limits: map[string]string{"patience": "1"}}, "limits.patience", fault.Usage},
		{"no namespace", api.ExecInput{NS: []string{"nope"}}, `no namespace "nope"`, fault.NotFound},
		{"no hole", api.ExecInput{Placeholders: map[string]json.RawMessage{"x": json.RawMessage("1")}}, "called @x", fault.Usage},
		{"no compiler", api.ExecInput{Typecheck: "on"}, "needs TypeScript's compiler", fault.Usage},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			tt.in.Code = "1"
			r := stage{}.runner()
			r.Dir = t.TempDir()
			_, err := r.Run(t.Context(), tt.in, api.Streams{})
			if fault.KindOf(err) != tt.kind || !strings.Contains(fmt.Sprint(err), tt.want) {
				t.Errorf("Run = %v, want %s", err, tt.want)
			}
		})
	}
}

func TestRunnersShareTheirWorkers(t *testing.T) {
	t.Parallel()
	r := stage{}.runner()
	r.KeepWarm(1)
	defer r.Close()
	waitForWarm(t, r, 1)
	other := r.As(func(c *Runner) { c.Dir = t.TempDir() })
	out, err := other.Run(t.Context(), api.ExecInput{Code: "return process.cwd()"}, api.Streams{})
	if err != nil || string(out.Value) != fmt.Sprintf("%q", other.Dir) {
		t.Fatalf("the run ended with %+v, %v", out, err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	waitForWarm(t, r, 1) // one was taken, and another came
	if ctx.Err() != nil || other.workers.warm != nil {
		t.Error("the worker was another Runner's")
	}
}

func TestHoles(t *testing.T) {
	t.Parallel()
	values := map[string]json.RawMessage{"a": json.RawMessage("1"), "bc": json.RawMessage(`"x"`)}
	tests := []struct{ code, want string }{
		{"@a + @bc", "#a + #bc"},
		{"'@a' + \"@a\" + @a // @a\n/* @a */ @bc", "'@a' + \"@a\" + #a // @a\n/* @a */ #bc"},
		{"`@a ${@a + `${@bc}` + {x: '}'}.x} @a`", "`@a ${#a + `${#bc}` + {x: '}'}.x} @a`"},
		{"x = /@a[/]@a/.test(@a) / @bc /@a", "x = /@a[/]@a/.test(#a) / #bc /#a"},
		{"return /'/.test(@a), @bc", "return /'/.test(#a), #bc"},
		{"@aa @a @b @bc @", "@aa #a @b #bc @"},
		{"'unclosed @a\n@a @bc", "'unclosed @a\n#a #bc"},
		{"`unclosed ${@a} @a @bc ${@bc", "`unclosed ${#a} @a @bc ${#bc"},
		{"'\\'@a' @a \"\\\\\" @bc", "'\\'@a' #a \"\\\\\" #bc"},
	}
	for _, tt := range tests {
		got, err := fill(tt.code, values)
		if err != nil || got != strings.ReplaceAll(tt.want, "#", holeMark) {
			t.Errorf("fill(%q) = %q, %v, want %q", tt.code, got, err, tt.want)
		}
	}
	for _, bad := range []map[string]json.RawMessage{{"a b": json.RawMessage("1")}, {"a": json.RawMessage("{")}, {"nowhere": json.RawMessage("1")}} {
		if _, err := fill("@a", bad); fault.KindOf(err) != fault.Usage {
			t.Errorf("fill with %v = %v", bad, err)
		}
	}
}

// FuzzHoles holds that texts which are no programs do not end in anything but an answer, and
// that only what stands for a hole is changed.
func FuzzHoles(f *testing.F) {
	for _, code := range []string{"@a", "`${@a", "/@a", "'\\", "`\\", "/[\\", "}@a{", "/*", "`${`${"} {
		f.Add(code)
	}
	f.Fuzz(func(t *testing.T, code string) {
		got, err := fill(code, map[string]json.RawMessage{"a": json.RawMessage("1")})
		if err == nil && strings.ReplaceAll(got, holeMark+"a", "@a") != strings.ReplaceAll(code, holeMark+"a", "@a") {
			t.Errorf("fill(%q) = %q", code, got)
		}
	})
}
