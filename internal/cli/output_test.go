package cli

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"unicode/utf8"

	"mcpx/internal/api"
	"mcpx/internal/fault"
)

func TestWhatATerminalIsSpared(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, in   string
		want       string
		wantStyled string // if it differs
	}{
		{"plain text", "a\tb\nc é 日本 🙂", "a\tb\nc é 日本 🙂", ""},
		{"the end of a Windows line", "a\r\nb", "a\nb", ""},
		{"going back to the start of the line", "good\rbad", "good\ufffdbad", ""},
		{"C0 and DEL", "\x00\x07\x08\x7f", "\ufffd\ufffd\ufffd\ufffd", ""},
		{"C1", "\u0085\u009b31m", "\ufffd\ufffd31m", ""},
		{"a byte that is no text", "a\x9bb", "a\ufffdb", ""},
		{"text turned around", "a\u202eb\u2066c", "a\ufffdb\ufffdc", ""},
		{"no width", "a\u200bb\ufeffc\u200dd", "a\ufffdb\ufffdc\ufffdd", ""},
		{"a colour", "\x1b[1;31mred\x1b[m", "\ufffd[1;31mred\ufffd[m", "\x1b[1;31mred\x1b[m"},
		{"a cursor movement", "\x1b[2Aup", "\ufffd[2Aup", ""},
		{"a title", "\x1b]0;x\x07", "\ufffd]0;x\ufffd", ""},
		{"a colour without end", "\x1b[" + strings.Repeat("1;", 30) + "m", "\ufffd[" + strings.Repeat("1;", 30) + "m", ""},
		{"a query among digits", "\x1b[?25l", "\ufffd[?25l", ""},
		{"a rune cut at the end", "a\xe2\x82", "a\ufffd", ""},
		{"CR at the end", "a\r", "a\ufffd", ""},
		{"ESC at the end", "a\x1b[3", "a\ufffd[3", "a\ufffd"},
	}
	for _, tt := range tests {
		for _, styled := range []bool{false, true} {
			want := tt.want
			if styled && tt.wantStyled != "" {
				want = tt.wantStyled
			}
			for size := 1; size <= len(tt.in); size++ { // every way to cut the text must give the same
				var b bytes.Buffer
				s := &stream{w: &b, terminal: true, styles: styled}
				for rest := tt.in; rest != ""; {
					n := min(size, len(rest))
					if written, err := s.Write([]byte(rest[:n])); written != n || err != nil {
						t.Fatal(written, err)
					}
					rest = rest[n:]
				}
				s.flush()
				if b.String() != want {
					t.Errorf("%s (styles %t, %d bytes a time): %q became %q, want %q", tt.name, styled, size, tt.in, b.String(), want)
				}
			}
			var raw bytes.Buffer
			s := &stream{w: &raw, styles: styled}
			s.Write([]byte(tt.in))
			s.flush()
			if raw.String() != tt.in {
				t.Errorf("%s: a pipe got %q, want %q", tt.name, raw.String(), tt.in)
			}
		}
	}
}

// FuzzVisible holds that a terminal never gets a control character, however the text
// is cut.
func FuzzVisible(f *testing.F) {
	f.Add([]byte("a\x1b[1mé\r\n\u202e"), uint8(3), true)
	f.Add([]byte("\xe2\x82\xac\r\r\n\x1b[\x1b[0m"), uint8(1), true)
	f.Fuzz(func(t *testing.T, text []byte, size uint8, styled bool) {
		var parts, whole bytes.Buffer
		s := &stream{w: &parts, terminal: true, styles: styled}
		for rest := text; len(rest) > 0; {
			n := min(max(1, int(size)), len(rest))
			s.Write(rest[:n])
			rest = rest[n:]
		}
		s.flush()
		s = &stream{w: &whole, terminal: true, styles: styled}
		s.Write(text)
		s.flush()
		if !bytes.Equal(parts.Bytes(), whole.Bytes()) {
			t.Errorf("%q: %q in parts, %q whole", text, parts.Bytes(), whole.Bytes())
		}
		if !utf8.Valid(whole.Bytes()) {
			t.Errorf("%q became %q, which is no text", text, whole.Bytes())
		}
		for i, r := range whole.String() {
			if r < ' ' && r != '\n' && r != '\t' && (r != 0x1b || !styled) || r >= 0x7f && r < 0xa0 {
				t.Errorf("%q became %q, with a control character at %d", text, whole.Bytes(), i)
			}
		}
	})
}

func TestScriptsMayPrintInColourAndServersMayNot(t *testing.T) {
	t.Parallel()
	const red = "\x1b[31mred\x1b[0m\x1b[2J\n"
	d := &desk{
		run: func(_ context.Context, _ api.ExecInput, s api.Streams) (*api.ExecOutput, error) {
			s.Stdout.Write([]byte(red))
			s.Stderr.Write([]byte(red))
			return &api.ExecOutput{Value: []byte(`"` + `\u001b[31mserver` + `"`)}, nil
		},
		call: func(context.Context, api.CallInput) (*api.CallOutput, error) {
			return &api.CallOutput{IsText: true, Text: red}, nil
		},
	}
	both := Terminal{Stdout: true, Stderr: true, Columns: 40}
	tests := []struct {
		name    string
		p       Program
		args    []string
		out     string
		columns int
		color   bool
	}{
		{"on a terminal", Program{Terminal: both}, []string{"exec", "1"}, "\x1b[31mred\x1b[0m\ufffd[2J\n" + "\ufffd[31mserver\n", 40, true},
		{"with --no-color", Program{Terminal: both}, []string{"exec", "1", "--no-color"}, "\ufffd[31mred\ufffd[0m\ufffd[2J\n" + "\ufffd[31mserver\n", 40, false},
		{"with NO_COLOR", Program{Terminal: both, Environ: []string{"NO_COLOR=1"}}, []string{"exec", "1"}, "\ufffd[31mred\ufffd[0m\ufffd[2J\n" + "\ufffd[31mserver\n", 40, false},
		{"on a dumb terminal", Program{Terminal: both, Environ: []string{"TERM=dumb"}}, []string{"exec", "1"}, "\ufffd[31mred\ufffd[0m\ufffd[2J\n" + "\ufffd[31mserver\n", 40, false},
		{"on a pipe", Program{}, []string{"exec", "1"}, red + "\x1b[31mserver\n", 0, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := driveIn(t, d, tt.p, tt.args...)
			if s.stdout.String() != tt.out {
				t.Errorf("stdout %q, want %q", s.stdout.String(), tt.out)
			}
			if d.streams.Columns != tt.columns || d.streams.Color != tt.color {
				t.Errorf("the script is told %d columns, colour %t", d.streams.Columns, d.streams.Color)
			}
		})
	}
	driveIn(t, d, Program{Terminal: both}, "call", "a.b").want(t, 0, "\ufffd[31mred\ufffd[0m\ufffd[2J\n", "")
	driveIn(t, d, Program{}, "call", "a.b").want(t, 0, red, "")
}

func TestWordsOfOthersOnStandardErrorAreClean(t *testing.T) {
	t.Parallel()
	const bad, want = "\x1b]0;t\x07\u202e", "\ufffd]0;t\ufffd\ufffd"
	d := &desk{
		run: func(context.Context, api.ExecInput, api.Streams) (*api.ExecOutput, error) {
			return &api.ExecOutput{ExitCode: 1, Error: &fault.Report{Kind: fault.Script, Name: "Error", Message: bad, Cause: &fault.Report{Kind: fault.Tool, Message: bad}}}, nil
		},
		call: func(context.Context, api.CallInput) (*api.CallOutput, error) {
			return &api.CallOutput{Server: "a", Tool: "b", IsError: true, IsText: true, Text: bad, Diagnostics: []string{bad}}, nil
		},
		broken: fault.Unavailablef("%s", bad).Hintf("%s", bad),
	}
	for _, terminal := range []Terminal{{}, {Stderr: true}, {Stdout: true, Stderr: true}} {
		p := Program{Terminal: terminal}
		driveIn(t, d, p, "exec", "1").want(t, 1, "", "Error: "+want+"\n  caused by:\n    "+want+"\n")
		driveIn(t, d, p, "call", "a.b").want(t, 1, "", want+"\n  a.b: "+want+"\n")
		driveIn(t, d, p, "tools").want(t, 69, "", "mcpx: "+want+"\n  "+want+"\n")
	}
}
