package client

import (
	"bytes"
	"errors"
	"io"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"

	"mcpx/mcp"
)

func TestLineReader(t *testing.T) {
	t.Parallel()
	const maxLine = 70_000 // more than its buffer
	long := strings.Repeat("x", maxLine)
	in := "a\r\n\n" + long + "\n" + long + "y\n" + `{"id":"q","a":"` + long + `"}` + "\nb\rc\nlast"
	r := newLineReader(iotest.HalfReader(strings.NewReader(in)), maxLine)
	for i, want := range []string{"a", "", long, "too long", "too long q", "b\rc", "last"} {
		line, err := r.next()
		var tooLong *LongLineError
		if got := string(line); errors.As(err, &tooLong) {
			if got = "too long " + text(tooLong.ID); strings.TrimSpace(got) != want {
				t.Errorf("line %d: %s, want %s", i, got, want)
			}
		} else if err != nil || got != want {
			t.Errorf("line %d: %.20q, %v, want %.20q", i, got, err, want)
		}
	}
	if _, err := r.next(); !errors.Is(err, io.EOF) {
		t.Errorf("at the end: %v", err)
	}
}

// TestALineThatIsTooLongIsReportedBeforeItsEnd reads a response whose end comes later.
func TestALineThatIsTooLongIsReportedBeforeItsEnd(t *testing.T) {
	t.Parallel()
	const maxLine = 100_000
	long := strings.Repeat("x", 2*maxLine)
	for begin, want := range map[string]string{
		`{"jsonrpc":"2.0","id":7,"result":{"a":"`: "7",
		`{"id":"q","error":{"data":"`:             `"q"`,
	} {
		from, to := io.Pipe()
		more := make(chan struct{})
		go func() {
			io.WriteString(to, begin+long)
			<-more
			io.WriteString(to, long+"\"}}\nnext\n"+begin+long)
			to.Close()
		}()
		r := newLineReader(from, maxLine)
		_, err := r.next()
		close(more)
		var tooLong *LongLineError
		if !errors.As(err, &tooLong) || string(tooLong.ID) != want {
			t.Errorf("%s…: %v, want the id %s", begin, err, want)
		}
		if line, err := r.next(); err != nil || string(line) != "next" {
			t.Errorf("after it: %.20q, %v", line, err)
		}
		if _, err := r.next(); !errors.As(err, &tooLong) {
			t.Errorf("one that never ends: %v", err)
		}
		if line, err := r.next(); !errors.Is(err, io.EOF) {
			t.Errorf("at the end: %.20q, %v", line, err)
		}
	}
	// What may still be a request of the server, or has no id yet, is read to its end.
	for _, line := range []string{`{"result":"` + long + `","id":8}`, `{"id":8,"result":"` + long + `"}`, `{"id":8,"x":"` + long + `","method":"m"}`} {
		r := newLineReader(strings.NewReader(line+"\n{}\n"), maxLine)
		_, err := r.next()
		var tooLong *LongLineError
		want := "8"
		if strings.HasSuffix(line, `"m"}`) {
			want = ""
		}
		if !errors.As(err, &tooLong) || string(tooLong.ID) != want {
			t.Errorf("%.20s…%s: %v", line, line[len(line)-10:], err)
		}
		if line, err := r.next(); err != nil || string(line) != "{}" {
			t.Errorf("after it: %.20q, %v", line, err)
		}
	}
}

func TestIDOfAResponseThatIsNotKept(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		`{"jsonrpc":"2.0","id":3,"result":{"id":4}}`:          `3`,
		`{"result":{"id":4,"a":[{"id":5}]},"id" : "a\"b" }`:   `"a\"b"`,
		`{"error":{},"x":"\"id\":9,","id":7.0}`:               `7.0`,
		`{"jsonrpc":"2.0","id":3,"method":"sampling/create"}`: ``,
		`{"result":{"id":4}}`:                                 ``,
		`[{"id":4,"result":1}]`:                               ``,
		`noise "id": 4, and so on`:                            ``,
		`{"id":4,"result":`:                                   ``,
	} {
		var f idFinder
		f.write([]byte(line))
		if got := string(f.response()); got != want {
			t.Errorf("id of %s = %s, want %s", line, got, want)
		}
	}
}

func FuzzLineReader(f *testing.F) {
	f.Add([]byte("a\r\nb\n\n"), 3)
	f.Add([]byte(`{"id":1,"result":{"a":"}"}}`+"\n{\n"), 5)
	f.Add([]byte(`{"method":"x","id":"\u0031"}`+"\nx"), 1)
	f.Fuzz(func(t *testing.T, in []byte, maxLine int) {
		maxLine = max(1, maxLine)
		r := newLineReader(bytes.NewReader(in), maxLine)
		want := bytes.Split(in, []byte("\n"))
		if last := len(want) - 1; len(want[last]) == 0 {
			want = want[:last]
		}
		for i, w := range want {
			line, err := r.next()
			var long *LongLineError
			switch {
			case errors.As(err, &long):
				if len(w) <= maxLine {
					t.Fatalf("line %d of %d bytes is too long for %d", i, len(w), maxLine)
				}
				if m, err := mcp.Split(w); err == nil && m.Kind() == mcp.Response && !strings.Contains(string(w), `\u`) && !mcp.SameID(m.ID, long.ID) && string(long.ID) != "null" && len(m.ID) < longestToken && w[0] == '{' {
					t.Fatalf("id of %q is %s, want %s", w, long.ID, m.ID)
				}
			case err != nil:
				t.Fatalf("line %d: %v", i, err)
			case i < len(want)-1 && !bytes.Equal(line, bytes.TrimSuffix(w, []byte("\r"))):
				t.Fatalf("line %d = %q, want %q", i, line, w)
			}
		}
		if line, err := r.next(); !errors.Is(err, io.EOF) {
			t.Fatalf("after the end: %q, %v", line, err)
		}
	})
}

func TestMessagesBehindHeaders(t *testing.T) {
	t.Parallel()
	const maxLine = 70_000
	long := `{"id":9,"result":"` + strings.Repeat("x", maxLine) + `"}`
	in := "a banner\nContent-Length: 8\r\nX: y\r\n\r\n{\"a\":\n1}noise\nContent-Length: " + strconv.Itoa(len(long)) + "\r\n\r\n" + long + "Content-Length: 2\n\n{}" + "Content-Length: 3\n\n{}"
	r := newLineReader(iotest.HalfReader(strings.NewReader(in)), maxLine)
	for _, want := range []string{"a banner", "{\"a\":\n1}", "noise", "too long 9", "{}"} {
		line, err := r.next()
		var tooLong *LongLineError
		if got := string(line); errors.As(err, &tooLong) {
			if got = "too long " + string(tooLong.ID); got != want {
				t.Errorf("%s, want %s", got, want)
			}
		} else if err != nil || got != want {
			t.Errorf("%.20q, %v, want %.20q", got, err, want)
		}
	}
	if line, err := r.next(); err == nil {
		t.Errorf("half a message: %q", line)
	}
	// Behind a message on a line of its own a header is a line like any other.
	r = newLineReader(strings.NewReader("{}\nContent-Length: 2\n\n{}\n"), maxLine)
	for _, want := range []string{"{}", "Content-Length: 2", "", "{}"} {
		if line, err := r.next(); err != nil || string(line) != want {
			t.Errorf("%q, %v, want %q", line, err, want)
		}
	}
}
