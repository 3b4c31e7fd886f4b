package bindings

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"mcpx/engine"
	"mcpx/internal/fault"
	"mcpx/mcp"

	"github.com/dop251/goja"
)

type toolHead struct {
	Namespace string `json:"ns"`
	Name      string `json:"name"`
}

// tool makes the function tools.NS.NAME with its member raw.
func (b *binding) tool(ns, name string) *goja.Object {
	called := member(member("tools", ns), name)
	f := b.rt.Function(name, func(call goja.FunctionCall) goja.Value {
		return b.call(ns, name, called, call.Arguments, func(head, body []byte) (*mcp.Result, error) {
			r, err := mcp.DecodeResult(body)
			if err != nil {
				return nil, fault.Unavailablef("%s.%s answered with something that is no tool result: %w", ns, name, err)
			}
			if r.IsError {
				return nil, toolError(ns, name, r, diagnostics(head))
			}
			return r, nil
		}, b.value)
	})
	define(f, "raw", b.rt.Function("raw", func(call goja.FunctionCall) goja.Value {
		return b.call(ns, name, called+".raw", call.Arguments, func(_, body []byte) (*mcp.Result, error) {
			return &mcp.Result{Raw: body}, nil
		}, b.raw)
	}), goja.FLAG_FALSE)
	return f
}

// call reads the arguments on the script's goroutine, calls the tool on another and
// settles the promise with what deliver makes of the result. called is how a script writes it.
func (b *binding) call(
	ns, name, called string, args []goja.Value,
	read func(head, body []byte) (*mcp.Result, error), deliver func(*mcp.Result) goja.Value,
) goja.Value {
	body, failure := b.arguments(ns, name, args)
	promise := engine.Async(b.rt, "tool", func(ctx context.Context) (*mcp.Result, error) {
		if failure != nil {
			return nil, failure
		}
		head, answer, err := b.rt.Host().Call(ctx, "tool", toolHead{ns, name}, body)
		if err != nil {
			return nil, err
		}
		return read(head, answer)
	}, deliver)
	b.rt.Expect(promise, called)
	return promise
}

// arguments encodes the one object that a tool takes; no object means an empty one.
// An exception of the script's own (a getter, toJSON) is thrown, not returned.
func (b *binding) arguments(ns, name string, args []goja.Value) ([]byte, error) {
	wrong := func(got string) error {
		return fault.Usagef("%s.%s takes one object of arguments, got %s", ns, name, got).
			Hintf("write await tools.%s.%s({ name: value }); describe(%q) shows the names", ns, name, ns+"."+name)
	}
	if len(args) > 1 {
		return nil, wrong(fmt.Sprintf("%d values", len(args)))
	}
	if len(args) == 0 || goja.IsUndefined(args[0]) {
		return []byte("{}"), nil
	}
	o, ok := args[0].(*goja.Object)
	if !ok {
		return nil, wrong(describeValue(args[0]))
	}
	text, ok := engine.EncodeJSON(b.rt, o, engine.EncodeOptions{BigInt: true, Bytes: true})
	switch {
	case !ok:
		return nil, wrong("a function")
	case text[0] != '{':
		return nil, wrong(o.ClassName())
	}
	return text, nil
}

func describeValue(v goja.Value) string {
	switch {
	case goja.IsNull(v):
		return "null"
	case goja.IsString(v):
		return "a string"
	case goja.IsNumber(v):
		return "a number"
	}
	return v.String()
}

// diagnostics reads what mcpx itself has to say of an answer.
func diagnostics(head []byte) []string {
	var notes struct {
		Diagnostics []string `json:"diagnostics"`
	}
	if len(head) == 0 || json.Unmarshal(head, &notes) != nil {
		return nil
	}
	return notes.Diagnostics
}

// toolError is what a script catches when a tool answers with isError: the server's
// words first, and the whole answer beside them.
func toolError(ns, name string, r *mcp.Result, found []string) error {
	message := r.Failure()
	if message == "" {
		message = fmt.Sprintf("%s.%s answered with an error and no text", ns, name)
	}
	content := r.Content
	if content == nil {
		content = []mcp.Raw{}
	}
	e := fault.New(fault.Tool, "%s", message).
		With("server", ns).With("tool", name).With("content", content).
		With("raw", r.Raw).With("mayHaveRun", true)
	if r.Structured != nil {
		e = e.With("structuredContent", r.Structured)
	}
	if len(found) > 0 {
		e = e.With("diagnostics", found).Hintf("%s.%s: %s", ns, name, found[0])
	}
	return e
}

// value applies the result rules.
func (b *binding) value(r *mcp.Result) goja.Value {
	v, text, isText := r.Value()
	if isText {
		return b.text(r, text)
	}
	decoded := b.decode(v)
	if o, ok := decoded.(*goja.Object); ok {
		b.hide(o, r)
	}
	return decoded
}

// text makes a string of a result's text. What Go had to replace in it, the half of a
// surrogate pair, is read again from the JSON that it came in.
func (b *binding) text(r *mcp.Result, text string) goja.Value {
	if len(r.Content) == 1 && strings.Contains(text, string(utf8.RuneError)) {
		if s := b.decode(mcp.Member(r.Content[0], "text")); goja.IsString(s) {
			return s
		}
	}
	return b.vm.ToValue(text)
}

func (b *binding) raw(r *mcp.Result) goja.Value { return b.decode(r.Raw) }

// decode makes JavaScript of JSON that has been read once already.
func (b *binding) decode(v json.RawMessage) goja.Value {
	decoded, err := engine.DecodeJSON(b.rt, v)
	if err != nil {
		panic(b.rt.NewError(fault.Unavailablef("reading the answer of a tool: %w", err)))
	}
	return decoded
}
