package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"syscall"
	"unicode"
	"unicode/utf8"

	"mcpx/internal/fault"
)

// stream is standard output or standard error. On a terminal it replaces what could
// move the cursor, hide text or turn it around; a pipe gets every byte.
type stream struct {
	w        io.Writer
	terminal bool
	// failed hears of the first error, and callers see it. Without it errors are
	// swallowed: nobody can be told that standard error is gone.
	failed func(error)

	mu     sync.Mutex
	styles bool   // colours and other SGR sequences pass
	within bool   // the last line of text has no end yet
	line   bool   // a line stands there that the next text takes the place of
	before func() // called before text is written; may be nil
	held   []byte // the start of a rune or sequence whose rest has not come yet
	err    error
}

// Write writes p. A cut rune at the end of p waits for its rest.
func (s *stream) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.before != nil {
		s.before()
	}
	s.erase()
	out := p
	if s.terminal {
		out, s.held = visible(append(s.held, p...), s.styles)
	}
	if len(p) > 0 {
		s.within = p[len(p)-1] != '\n'
	}
	return len(p), s.write(out)
}

// flush writes what still waits for its rest.
func (s *stream) flush() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.held) > 0 {
		s.held = nil
		s.write([]byte(string(utf8.RuneError))) //nolint:errcheck // kept in s.err
	}
}

// allowStyles says whether colours pass from here on.
func (s *stream) allowStyles(yes bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.styles = yes
}

// failure is the first error of the stream.
func (s *stream) failure() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err
}

func (s *stream) write(p []byte) error {
	if s.err == nil && len(p) > 0 {
		if _, err := s.w.Write(p); err != nil {
			s.err = err
			if s.failed != nil {
				s.failed(err)
			}
		}
	}
	if s.failed == nil {
		return nil
	}
	return s.err
}

// brokenPipe reports whether err says that nobody reads any more.
func brokenPipe(err error) bool {
	return errors.Is(err, syscall.EPIPE) || errors.Is(err, io.ErrClosedPipe)
}

// endLine says that the line has been ended by somebody else: who types at a terminal ends
// the line of the question.
func (s *stream) endLine() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.within = false
}

// visible replaces control characters, and those that turn text around or take no
// space, by U+FFFD; newlines and tabs pass, CR before a newline is dropped. rest is the
// end of text that cannot be judged yet.
func visible(text []byte, styles bool) (out, rest []byte) {
	out = make([]byte, 0, len(text))
	for len(text) > 0 {
		c := text[0]
		switch {
		case c == '\n', c == '\t', c >= ' ' && c < 0x7f:
			out, text = append(out, c), text[1:]
			continue
		case c == '\r' && len(text) == 1:
			return out, text
		case c == '\r' && text[1] == '\n':
			text = text[1:]
			continue
		case c == 0x1b && styles:
			n, whole := style(text)
			if !whole {
				return out, text
			}
			if n > 0 {
				out, text = append(out, text[:n]...), text[n:]
				continue
			}
		case !utf8.FullRune(text):
			return out, text
		}
		r, n := utf8.DecodeRune(text)
		if unicode.IsControl(r) || unicode.Is(unicode.Cf, r) {
			r = utf8.RuneError
		}
		out, text = utf8.AppendRune(out, r), text[n:]
	}
	return out, nil
}

// maxStyle is longer than any SGR sequence that is meant as one.
const maxStyle = 40

// style returns the length of the SGR sequence (ESC [ digits and semicolons m) that
// text begins with, 0 if it begins with none. It is not whole if more could make one.
func style(text []byte) (n int, whole bool) {
	for i := 1; i < maxStyle; i++ {
		switch {
		case i == len(text):
			return 0, false
		case i == 1 && text[i] == '[':
		case i > 1 && (text[i] == ';' || text[i] >= '0' && text[i] <= '9'):
		case i > 1 && text[i] == 'm':
			return i + 1, true
		default:
			return 0, true
		}
	}
	return 0, true
}

// clean is text without what a terminal would obey. What mcpx puts together itself,
// sentences and listings, is clean wherever it goes: a log or a pager may show it on a
// terminal later.
func clean(text string) string {
	out, rest := visible([]byte(text), false)
	if len(rest) > 0 {
		out = utf8.AppendRune(out, utf8.RuneError)
	}
	return string(out)
}

// word is a name that others chose, fit to stand within a line.
func word(name string) string {
	return strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' {
			return utf8.RuneError
		}
		return r
	}, clean(name))
}

// say writes a sentence of mcpx itself to standard error. Further lines are indented.
func (v *invocation) say(format string, args ...any) {
	text := strings.ReplaceAll(clean(fmt.Sprintf(format, args...)), "\n  ", "\n") // reports come indented
	fmt.Fprintf(v.stderr, "mcpx: %s\n", strings.ReplaceAll(text, "\n", "\n  "))
}

// quoted writes the words of others, without those of mcpx before them, to standard error.
func (v *invocation) quoted(text string) {
	io.WriteString(v.stderr, clean(strings.TrimRight(text, "\n"))+"\n") //nolint:errcheck // nobody can be told
}

// document writes the one document of --json.
func (v *invocation) document(doc any) error {
	v.answered = true
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if v.p.Terminal.Stdout {
		enc.SetIndent("", "  ")
	}
	if err := enc.Encode(doc); err != nil {
		v.answered = false
		return fault.Internalf("writing the answer as JSON: %w", err)
	}
	_, err := v.stdout.Write(b.Bytes())
	return err
}

// value writes a value as run, exec and call print it: a string as it is, anything else
// as JSON, indented on a terminal. It ends with a newline.
func (v *invocation) value(raw json.RawMessage) error {
	var text string
	if json.Unmarshal(raw, &text) == nil && len(raw) > 0 && bytes.TrimSpace(raw)[0] == '"' {
		return v.line(text)
	}
	var b bytes.Buffer
	var err error
	if v.p.Terminal.Stdout {
		err = json.Indent(&b, raw, "", "  ")
	} else {
		err = json.Compact(&b, raw)
	}
	if err != nil {
		return fault.Internalf("a value that is not JSON: %w", err)
	}
	return v.line(b.String())
}

// line writes text and sees that it ends with a newline.
func (v *invocation) line(text string) error {
	if !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	_, err := io.WriteString(v.stdout, text)
	return err
}
