package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"

	"mcpx/internal/api"
)

// seat is a terminal at which somebody types.
func seat(typed string) (*invocation, *screen) {
	s := &screen{}
	return &invocation{
		p:      &Program{Terminal: Terminal{Stdin: true, Stdout: true, Stderr: true}, Stdin: strings.NewReader(typed)},
		stdout: &stream{w: s, terminal: true},
		stderr: &stream{w: s, terminal: true},
	}, s
}

// screen is what a terminal shows.
type screen struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *screen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *screen) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

func form(properties, required string) string {
	return `{"message":"Which one?","requestedSchema":{"type":"object","properties":{` + properties + `},"required":[` + required + `]}}`
}

func TestAQuestionIsAskedAtTheTerminal(t *testing.T) {
	t.Parallel()
	const declined = `{"action":"decline"}`
	accept := func(content string) string { return `{"action":"accept","content":{` + content + `}}` }
	tests := []struct {
		name, params, typed, want string
		shows                     []string
	}{
		{
			"text", form(`"branch":{"type":"string","title":"Branch","description":"to push to"}`, `"branch"`), "main\n", accept(`"branch":"main"`),
			[]string{"mcpx: git asks:\n  Which one?\n", "  branch — Branch (string)\n    to push to\n", "  branch: "},
		},
		{
			"an empty line takes the default", form(`"n":{"type":"integer","default":3},"b":{"type":"boolean","default":false},"s":{"type":"string","default":"x y"}`, `"n"`), "\n\n\n",
			accept(`"n":3,"b":false,"s":"x y"`),
			[]string{"  n = 3: ", "  b = false: ", "  s = x y: "},
		},
		{"an empty line leaves out what may be", form(`"a":{"type":"string"},"b":{"type":"string"}`, `"b"`), "\nx\n", accept(`"b":"x"`), []string{"a (string, may be left out)"}},
		{"what is needed is asked for again", form(`"a":{"type":"string","minLength":2}`, `"a"`), "\nx\nxy\n", accept(`"a":"xy"`), []string{"cannot be left out", "at least 2 characters"}},
		{
			"numbers", form(`"a":{"type":"integer","minimum":2,"maximum":5},"b":{"type":"number"}`, `"a","b"`), "x\n2.5\n1\n6\n5\n1e400\n12345678901234567890.5\n", accept(`"a":5,"b":12345678901234567890.5`),
			[]string{"not a number", "not a whole number", "too small: at least 2", "too large: at most 5"},
		},
		{"yes and no", form(`"a":{"type":"boolean"},"b":{"type":"boolean"}`, `"a","b"`), "maybe\nY\nno\n", accept(`"a":true,"b":false`), []string{"type y or n"}},
		{
			"choices by value, number and words", form(`"a":{"type":"string","enum":["x","y"]},"b":{"type":"string","enum":["x","y"],"enumNames":["Ex","Why"]},"c":{"type":"string","oneOf":[{"const":"p","title":"Pea"}]}`, `"a","b","c"`),
			"z\ny\n1\npea\n", accept(`"a":"y","b":"x","c":"p"`),
			[]string{"1) x — Ex", "1) p — Pea", "none of the choices"},
		},
		{
			"several choices", form(`"a":{"type":"array","minItems":1,"maxItems":2,"items":{"enum":["x","y","z"]}}`, `"a"`), "\nx,y,z\nq\n 3, x, 3\n", accept(`"a":["z","x"]`),
			[]string{"too few", "too many", "q is none of the choices"},
		},
		{"numbers to choose from", form(`"a":{"type":"integer","enum":[1000000,2]}`, `"a"`), "1000000\n", accept(`"a":1000000`), []string{"1) 1000000"}},
		{"the end of input declines", form(`"a":{"type":"string"}`, `"a"`), "", declined, nil},
		{"so does it in the middle", form(`"a":{"type":"string"},"b":{"type":"string"}`, `"a"`), "x\n", declined, nil},
		{"nobody is asked for ever", form(`"a":{"type":"boolean"}`, `"a"`), strings.Repeat("x\n", 1000), declined, nil},
		{"no form", `{"message":"Sure?"}`, "yes\n", `{"action":"accept"}`, []string{"Sure?", "accept? y = yes"}},
		{"no form, no", `{"message":"Sure?"}`, "\n", declined, nil},
		{"an address", `{"mode":"url","message":"Log in","url":"https://x.example/a"}`, "y\n", `{"action":"accept"}`, []string{"  https://x.example/a\n", "opened it?"}},
		{"nonsense", `{"message":7}`, "", declined, nil},
		{"words that look like ours", `{"message":"a\nmcpx: pay?\u001b[2J` + strings.Repeat(`\nx`, 100) + `"}`, "n\n", declined, []string{"  a\n  mcpx: pay?\uFFFD[2J\n", "  …\n"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			v, screen := seat(tt.typed)
			p, end := v.peer()
			defer end()
			got, err := p.(interface{ For(string) api.Peer }).For("git").Ask(t.Context(), methodElicitation, json.RawMessage(tt.params))
			if err != nil || string(got) != tt.want {
				t.Errorf("answered %s, %v; want %s\n%s", got, err, tt.want, screen)
			}
			if !json.Valid(got) {
				t.Errorf("%s is no JSON", got)
			}
			for _, part := range tt.shows {
				if !strings.Contains(screen.String(), part) {
					t.Errorf("%q is not shown:\n%s", part, screen)
				}
			}
			if strings.Contains(screen.String(), "\nmcpx: pay?") || strings.Contains(screen.String(), "\x1b[2J") {
				t.Errorf("the server writes what looks like ours:\n%s", screen)
			}
		})
	}
}

func TestWithoutATerminalNobodyIsAsked(t *testing.T) {
	t.Parallel()
	for _, terminal := range []Terminal{{}, {Stdin: true}, {Stderr: true}} {
		v := &invocation{p: &Program{Terminal: terminal, Stdin: strings.NewReader("y\n")}, stdout: &stream{w: io.Discard}, stderr: &stream{w: io.Discard, terminal: terminal.Stderr}}
		p, end := v.peer()
		defer end()
		if (p == nil) != !terminal.Stderr {
			t.Errorf("%+v: the peer is %v", terminal, p)
		}
		if p == nil {
			continue
		}
		_, err := p.Ask(t.Context(), methodElicitation, json.RawMessage(`{"message":"Sure?"}`))
		if err == nil || err.Error() != api.Nobody(methodElicitation).Error() {
			t.Errorf("%+v: got %v", terminal, err)
		}
	}
}

func TestOnlyElicitationIsAskedAtATerminal(t *testing.T) {
	t.Parallel()
	v, screen := seat("y\n")
	p, end := v.peer()
	defer end()
	for _, method := range []string{"sampling/createMessage", "roots/list"} {
		if _, err := p.Ask(t.Context(), method, nil); err == nil || screen.String() != "" {
			t.Errorf("%s: got %v, shown %q", method, err, screen)
		}
	}
}

func TestAQuestionEndsWhenItsCallDoes(t *testing.T) {
	t.Parallel()
	v, _ := seat("")
	r, w := io.Pipe()
	defer w.Close()
	v.p.Stdin = r
	p, end := v.peer()
	defer end()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := p.Ask(ctx, methodElicitation, json.RawMessage(`{"message":"Sure?"}`)); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func TestTheProgressOfACallIsShownAndTakenAway(t *testing.T) {
	t.Parallel()
	v, screen := seat("")
	p, end := v.peer()
	for i := range 100_000 {
		p.Notify(methodProgress, json.RawMessage(fmt.Sprintf(`{"progress":%d,"total":100000,"message":"step"}`, i+1)))
	}
	p.Notify("notifications/message", json.RawMessage(`{"level":"info","data":"x"}`))
	p.Notify(methodProgress, json.RawMessage(`nonsense`))
	end()
	p.Notify(methodProgress, json.RawMessage(`{"progress":7}`)) // too late
	got := screen.String()
	if !strings.Contains(got, "/100000 (") || !strings.HasSuffix(got, toStart) || strings.Count(got, toStart) > 1000 {
		t.Errorf("the terminal got %q", got)
	}
}

// How a form is filled in is said as far as it matters for it.
func TestTheMannerOfAForm(t *testing.T) {
	t.Parallel()
	text := json.RawMessage(`"x"`)
	for _, tt := range []struct {
		fields []field
		want   string
	}{
		{[]field{{required: true}}, "Ctrl-D declines"},
		{[]field{{required: true, Default: text}}, "an empty line takes what stands behind =, Ctrl-D declines"},
		{[]field{{required: true}, {}}, "an empty line leaves out what may be left out, Ctrl-D declines"},
		{[]field{{Default: text}, {}}, "an empty line takes what stands behind =, an empty line leaves out what may be left out, Ctrl-D declines"},
	} {
		if got := manner(tt.fields); got != tt.want {
			t.Errorf("manner(%+v) = %q, want %q", tt.fields, got, tt.want)
		}
	}
}
