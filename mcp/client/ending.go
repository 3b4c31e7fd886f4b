package client

import (
	"strings"

	"mcpx/internal/fault"
)

const (
	// quotedLines and quotedBytes bound what a message quotes of a server's last words;
	// the details hold all that was kept.
	quotedLines = 10
	quotedBytes = 1000
)

// quote adds what the server last said to the details of an error.
func (e Ending) quote(err *fault.Error) *fault.Error {
	if e.Stderr != "" {
		err.With("stderr", e.Stderr)
	}
	if e.Stdout != "" {
		err.With("stdout", e.Stdout)
	}
	return err
}

// withSaid appends the server's last words, which are in the details, to the message.
// Standard output counts if standard error is silent: some programs complain there.
func withSaid(err *fault.Error) *fault.Error {
	for _, stream := range []struct{ key, name string }{{"stderr", "error"}, {"stdout", "output"}} {
		if said, _ := err.Details[stream.key].(string); said != "" {
			return fault.New(err.Kind, "%w; the last on its standard %s:\n  %s", err, stream.name, strings.ReplaceAll(lastLines(said), "\n", "\n  "))
		}
	}
	return err
}

func lastLines(s string) string {
	lines := thin(strings.Split(s, "\n"))
	s = strings.Join(lines[max(0, len(lines)-quotedLines):], "\n")
	if len(s) > quotedBytes {
		s = strings.ToValidUTF8(s[len(s)-quotedBytes:], "")
		if _, rest, ok := strings.Cut(s, "\n"); ok {
			s = rest
		}
	}
	return s
}

// thin leaves of each stack in lines its first frame: what went wrong stands above it.
func thin(lines []string) []string {
	out := make([]string, 0, len(lines))
	frames := 0
	for _, line := range lines {
		text := strings.TrimLeft(line, " \t")
		if text == line || !strings.HasPrefix(text, "at ") {
			frames = 0
		} else if frames++; frames == 2 {
			line = line[:len(line)-len(text)] + "…"
		} else if frames > 2 {
			continue
		}
		out = append(out, line)
	}
	return out
}
