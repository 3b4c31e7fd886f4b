package cli

import (
	"context"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"mcpx/internal/api"
	"mcpx/internal/fault"
)

func TestProgressLine(t *testing.T) {
	t.Parallel()
	total := 8.0
	none := 0.0
	tests := []struct {
		p    api.Progress
		most int
		want string
	}{
		{api.Progress{Done: 2, Total: &total, Message: "pages\n\tread"}, 80, "2/8 (25%) pages read"},
		{api.Progress{Done: 9.5, Total: &total}, 80, "9.5/8 (100%)"},
		{api.Progress{Done: 3, Total: &none}, 80, "3/0"},
		{api.Progress{Done: 3, Message: "\x1b[31mred"}, 80, "3 \uFFFD[31mred"},
		{api.Progress{Done: 1, Message: "東京都"}, 7, "1 東京"},
		{api.Progress{Done: 12345}, 3, "123"},
	}
	for _, tt := range tests {
		if got := progressLine(tt.p, tt.most); got != tt.want {
			t.Errorf("%+v in %d columns is %q, want %q", tt.p, tt.most, got, tt.want)
		}
	}
}

func TestAProgressLineGivesWayToText(t *testing.T) {
	t.Parallel()
	var screen strings.Builder
	v := &invocation{
		p:      &Program{},
		stdout: &stream{w: &screen, terminal: true},
		stderr: &stream{w: &screen, terminal: true},
	}
	show := v.progress()
	show(api.Progress{Done: 1})
	show(api.Progress{Done: 2})
	v.stdout.Write([]byte("out\n"))
	show(api.Progress{Done: 3}) // in a line of its own
	v.stderr.Write([]byte("err"))
	show(api.Progress{Done: 4}) // not behind text
	v.stderr.Write([]byte("\nout"))
	v.stdout.Write([]byte("x"))
	show(api.Progress{Done: 5}) // not behind text
	v.stdout.Write([]byte("y\nz\n"))
	v.stderr.clear()
	if want := "1" + toStart + "2" + toStart + "out\n3" + toStart + "err\noutxy\nz\n"; screen.String() != want {
		t.Errorf("the terminal got %q, want %q", screen.String(), want)
	}
}

// Nobody is to wonder whether anything happens.
func TestACommandThatTakesLongSaysWhatItIsAt(t *testing.T) {
	t.Parallel()
	const line = "asking the servers…" + toStart
	for _, tt := range []struct {
		takes    time.Duration
		terminal bool
		want     string
	}{
		{waitingAfter + time.Second, true, line},
		{waitingAfter - time.Second, true, ""},
		{time.Minute, false, "mcpx: asking the servers, for 10s now; " + boundedCall + "\n"},
		{notedAfter - time.Second, false, ""},
	} {
		synctest.Test(t, func(t *testing.T) {
			d := &desk{look: func(context.Context) error { time.Sleep(tt.takes); return fault.Unavailablef("gone") }}
			var stdout, stderr strings.Builder
			p := Program{
				Args: []string{"ls"}, Stdout: &stdout, Stderr: &stderr, Terminal: Terminal{Stdout: tt.terminal, Stderr: tt.terminal},
				Open: d.open,
			}
			if code := p.Run(t.Context()); code != 69 || stderr.String() != tt.want+"mcpx: gone\n" {
				t.Errorf("%s: exit %d, %q, want %q", tt.takes, code, stderr.String(), tt.want)
			}
		})
	}
}

// A daemon that hangs is waited for before there is a backend.
func TestACommandThatWaitsForTheDaemonSaysSo(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		takes    time.Duration
		terminal bool
		want     string
	}{
		{waitingAfter + time.Second, true, "waiting for the daemon…" + toStart},
		{notedAfter + time.Second, false, "mcpx: waiting for the daemon, for 10s now; it is given up within a minute, or when you interrupt this\n"},
		{notedAfter - time.Second, false, ""},
	} {
		synctest.Test(t, func(t *testing.T) {
			var stderr strings.Builder
			p := Program{
				Args: []string{"ls"}, Stdout: io.Discard, Stderr: &stderr, Terminal: Terminal{Stderr: tt.terminal},
				Open: func(_ context.Context, o OpenOptions) (Backend, error) {
					defer o.Reaching()()
					time.Sleep(tt.takes)
					return nil, fault.Unavailablef("gone")
				},
			}
			if code := p.Run(t.Context()); code != 69 || stderr.String() != tt.want+"mcpx: gone\n" {
				t.Errorf("%s: exit %d, %q, want %q", tt.takes, code, stderr.String(), tt.want)
			}
		})
	}
}

func TestAScriptThatWaitsForAServerSaysSo(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		takes    time.Duration
		terminal bool
		want     string
	}{
		{waitingAfter + time.Second, true, "waiting for slow…" + toStart},
		{waitingAfter - time.Second, true, ""},
		{time.Minute, false, ""},
	} {
		synctest.Test(t, func(t *testing.T) {
			d := &desk{}
			d.run = func(context.Context, api.ExecInput, api.Streams) (*api.ExecOutput, error) {
				if d.options.Waiting != nil {
					defer d.options.Waiting("slow")()
				}
				time.Sleep(tt.takes)
				return &api.ExecOutput{}, nil
			}
			var stderr strings.Builder
			p := Program{Args: []string{"exec", "1"}, Stdout: io.Discard, Stderr: &stderr, Terminal: Terminal{Stderr: tt.terminal}, Open: d.open}
			if code := p.Run(t.Context()); code != 0 || stderr.String() != tt.want {
				t.Errorf("%s: exit %d, %q, want %q", tt.takes, code, stderr.String(), tt.want)
			}
		})
	}
}
