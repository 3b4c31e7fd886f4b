package cli

import (
	"io"
	"strings"
	"testing"
)

// begin does the least that a command can do: all it costs is that there is a command line.
func begin(tb testing.TB, args ...string) {
	p := Program{Version: "dev", Args: args, Stdout: io.Discard, Stderr: io.Discard}
	if code := p.Run(tb.Context()); code != 0 {
		tb.Fatalf("%q ended with %d", args, code)
	}
}

// Every command declares all commands: what that costs, all pay. The limit leaves room for
// commands to come, not for another way of making their flags.
func TestDeclaringTheCommandsCostsLittle(t *testing.T) {
	if n := testing.AllocsPerRun(10, func() { begin(t, "version") }); n > 5000 {
		t.Errorf("a command that does nothing allocates %.0f times, want at most 5000", n)
	}
}

// BenchmarkStart measures what every command pays before it does anything.
func BenchmarkStart(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		begin(b, "version")
	}
}

func TestHelpOfAWordThatIsShort(t *testing.T) {
	t.Parallel()
	for _, word := range []string{"stop", "restart", "events"} {
		short, whole := drive(t, &desk{}, "help", word), drive(t, &desk{}, "help", "daemon", word)
		if short.stdout.String() != whole.stdout.String() || !strings.HasPrefix(short.stdout.String(), "mcpx daemon "+word+": ") {
			t.Errorf("help %s:\n%s%s", word, short.stdout.String(), short.stderr.String())
		}
	}
}
