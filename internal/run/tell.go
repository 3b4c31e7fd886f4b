package run

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"sync"
	"time"
	"unicode/utf8"

	"mcpx/internal/api"
	"mcpx/internal/fault"
	"mcpx/internal/frame"
)

// maxNoted is how many calls of tools are remembered for the document of a run.
const maxNoted = 1000

// telling tells the caller of a run what happens, if it wants to know. One frame is told
// after the other, by whichever goroutine has it. A nil telling tells nobody.
type telling struct {
	to   func(api.Frame) error // nil notes calls alone
	stop context.CancelCauseFunc
	hook json.RawMessage // how the run stands, for a script around another

	mu    sync.Mutex
	deaf  bool                  // the caller takes no more
	over  bool                  // the outcome has been told
	half  map[frame.Type][]byte // the beginning of a character whose end is still to come
	calls []api.ToolCall
	hints map[string]map[string]*bool // destructiveHint by server and tool
}

func newTelling(to func(api.Frame) error, stop context.CancelCauseFunc) *telling {
	return &telling{to: to, stop: stop, half: map[frame.Type][]byte{}, hints: map[string]map[string]*bool{}}
}

// listens reports whether anybody is told of what happens.
func (t *telling) listens() bool { return t != nil && t.to != nil }

// frame tells one frame.
func (t *telling) frame(f api.Frame) {
	if !t.listens() {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.send(f)
}

// send tells one frame. The caller holds the lock.
func (t *telling) send(f api.Frame) {
	if t.deaf || t.to == nil {
		return
	}
	if t.to(f) != nil {
		t.deaf = true
		t.stop(errClosed)
	}
}

// text tells of output, whole characters at a time.
func (t *telling) text(stream frame.Type, text []byte) {
	if t == nil || t.to == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	text = append(t.half[stream], text...)
	whole := wholeCharacters(text)
	t.half[stream] = bytes.Clone(text[whole:])
	t.output(stream, text[:whole])
}

// flush tells of what was left of characters whose ends have not come.
func (t *telling) flush() {
	if t == nil || t.to == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, stream := range []frame.Type{frame.Stdout, frame.Stderr} {
		t.output(stream, t.half[stream])
		delete(t.half, stream)
	}
}

func (t *telling) output(stream frame.Type, text []byte) {
	if len(text) == 0 {
		return
	}
	kind := "stdout"
	if stream == frame.Stderr {
		kind = "stderr"
	}
	t.send(api.Frame{Type: kind, Text: string(text)})
}

// wholeCharacters is how much of text does not end within a character.
func wholeCharacters(text []byte) int {
	for back := 1; back < utf8.UTFMax && back <= len(text); back++ {
		at := len(text) - back
		if !utf8.RuneStart(text[at]) {
			continue
		}
		if !utf8.FullRune(text[at:]) {
			return at
		}
		break
	}
	return len(text)
}

func (t *telling) emit(line []byte) {
	t.frame(api.Frame{Type: "emit", Value: bytes.TrimSuffix(line, []byte("\n"))})
}

func (t *telling) log(l api.Log) { t.frame(api.Frame{Type: "log", Level: l.Level, Text: l.Text}) }

func (t *telling) progress(p api.Progress) {
	t.frame(api.Frame{Type: "progress", Done: &p.Done, Total: p.Total, Message: p.Message})
}

func (t *telling) artifact(a api.Artifact) {
	a.Path = "" // whoever reads frames may be on another machine
	t.frame(api.Frame{Type: "artifact", Artifact: &a})
}

// call tells of a call of a tool, and notes it.
func (t *telling) call(c api.ToolCall) {
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.calls) < maxNoted {
		t.calls = append(t.calls, c)
	}
	t.send(api.Frame{
		Type: "call", Server: c.Server, Tool: c.Tool, ArgsHash: c.ArgsHash, Millis: &c.Millis, OK: &c.OK,
		Error: c.Error, Destructive: c.Destructive,
	})
}

func (t *telling) noted() []api.ToolCall {
	t.mu.Lock()
	defer t.mu.Unlock()
	out := t.calls
	t.calls = nil
	return out
}

// given are the globals that a run brings: values for holes, and how the run stands for a
// script around another.
func (t *telling) given(in api.ExecInput) map[string]json.RawMessage {
	out := map[string]json.RawMessage{}
	for name, value := range in.Placeholders {
		out[holeMark+name] = value
	}
	if t != nil && t.hook != nil {
		maps.Copy(out, map[string]json.RawMessage{"hook": t.hook})
	}
	return out
}

// told tells of a call that has ended. Of its arguments only a hash is told.
func (b *broker) told(ctx context.Context, server, tool string, args []byte, took time.Duration, out *api.CallOutput, err error) {
	if b.tell == nil {
		return
	}
	sum := sha256.Sum256(args)
	c := api.ToolCall{Server: server, Tool: tool, ArgsHash: hex.EncodeToString(sum[:]), Millis: took.Milliseconds(), OK: err == nil}
	switch {
	case err != nil:
		c.Error = fault.ReportOf(err)
	default:
		c.Tool, c.OK = out.Tool, !out.IsError
		if c.Tool == "" {
			c.Tool = tool
		}
		c.Destructive = b.destructive(ctx, server, c.Tool)
	}
	b.tell.call(c)
}

// destructive is what a tool says of itself; nil if it says nothing. Its server has just
// answered, so that the listing is there.
func (b *broker) destructive(ctx context.Context, server, tool string) *bool {
	t := b.tell
	if t.to == nil {
		return nil
	}
	t.mu.Lock()
	hints, known := t.hints[server]
	t.mu.Unlock()
	if !known {
		hints = map[string]*bool{}
		list, err := b.catalog.Tools(ctx, api.ToolsInput{Namespace: server})
		if err != nil {
			return nil
		}
		for _, one := range list.Tools {
			var a struct {
				Destructive *bool `json:"destructiveHint"`
			}
			if json.Unmarshal(one.Annotations, &a) == nil {
				hints[one.Name] = a.Destructive
			}
		}
		t.mu.Lock()
		t.hints[server] = hints
		t.mu.Unlock()
	}
	return hints[tool]
}

// lines makes logs of what is printed, a line each.
type lines struct{ rest map[frame.Type][]byte }

func newLines(wanted bool) *lines {
	if !wanted {
		return nil
	}
	return &lines{map[frame.Type][]byte{}}
}

// maxLine is how long a line may become that does not end.
const maxLine = 1 << 20

func (l *lines) add(stream frame.Type, text []byte, log func(api.Log)) {
	text = append(l.rest[stream], text...)
	for {
		line, rest, ok := bytes.Cut(text, []byte("\n"))
		if !ok && len(text) <= maxLine {
			break
		}
		log(api.Log{Level: levelOf(stream), Text: string(line)})
		text = rest
	}
	l.rest[stream] = bytes.Clone(text)
}

func (l *lines) end(log func(api.Log)) {
	for _, stream := range []frame.Type{frame.Stdout, frame.Stderr} {
		if rest := l.rest[stream]; len(rest) > 0 {
			log(api.Log{Level: levelOf(stream), Text: string(rest)})
		}
	}
}

func levelOf(stream frame.Type) string {
	if stream == frame.Stderr {
		return "error"
	}
	return "info"
}
