// Package elicit is the global onElicit of a script: it answers what servers ask while
// the script calls them.
//
//	op               head                  answer
//	elicit.listen    {on}
//	elicit.next                            {id}; body: the question, {server, tool, message, schema}
//	elicit.answer    {id, action, error}   body: the content, a JSON object, if the action is accept
//
// The broker decides which questions the script gets, and checks its answers. An
// elicit.next that waits does not keep the run alive. An elicit.answer has an action or an
// error, or neither: then the script has no answer.
//
// elicit.js is the loop that takes questions and calls the handler; what it needs of the
// broker is here.
package elicit

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"

	"github.com/dop251/goja"

	"mcpx/engine"
	"mcpx/internal/fault"
	"mcpx/stdlib/internal/native"
	"mcpx/stdlib/internal/source"
)

//go:embed elicit.d.ts
var declarations string

//go:embed elicit.js
var text string

var program = source.New("mcpx:elicit", text)

// Listen is the head of elicit.listen.
type Listen struct {
	On bool `json:"on"`
}

// Next is the head of the answer to elicit.next.
type Next struct {
	ID int64 `json:"id"`
}

// Answer is the head of elicit.answer.
type Answer struct {
	ID     int64  `json:"id"`
	Action string `json:"action,omitempty"`
	Error  string `json:"error,omitempty"` // what went wrong in the handler
}

// Module returns the global onElicit.
func Module() engine.Module {
	return engine.Module{
		Globals:      []string{"onElicit"},
		Declarations: declarations,
		Make: func(rt *engine.Runtime) *goja.Object {
			m := &module{rt: rt, vm: rt.VM()}
			// set takes a function, or null.
			exports := program.Make(rt, source.Natives{"listen": m.listen, "next": m.next, "answer": m.answer, "fail": m.fail})
			set, _ := goja.AssertFunction(exports.Get("set"))
			e := native.NewExports(m.vm)
			e.Func("onElicit", 1, func(call goja.FunctionCall) goja.Value {
				handler := call.Argument(0)
				if !goja.IsNull(handler) {
					native.Callback(m.vm, handler, "handler")
				}
				native.Call(set, goja.Undefined(), handler)
				return nil
			})
			return e.Object
		},
	}
}

type module struct {
	rt *engine.Runtime
	vm *goja.Runtime
}

// listen tells the broker whether there is a handler. It returns when the broker knows, so
// that the next call of a tool is made with it.
func (m *module) listen(call goja.FunctionCall) goja.Value {
	if _, _, err := m.rt.Host().Call(m.rt.Context(), "elicit.listen", Listen{call.Argument(0).ToBoolean()}, nil); err != nil {
		panic(m.rt.NewError(err))
	}
	return nil
}

// next is a promise of the next question, as [id, question].
func (m *module) next(goja.FunctionCall) goja.Value {
	type asked struct {
		id   int64
		body []byte
	}
	return engine.Background(m.rt, "elicit", func(ctx context.Context) (asked, error) {
		head, body, err := m.rt.Host().Call(ctx, "elicit.next", struct{}{}, nil)
		var n Next
		if err == nil {
			err = json.Unmarshal(head, &n)
		}
		return asked{n.ID, body}, err
	}, func(a asked) goja.Value {
		question, err := engine.DecodeJSON(m.rt, a.body)
		if err != nil {
			panic(m.rt.NewError(fault.Internalf("reading a question: %w", err)))
		}
		return m.vm.NewArray(m.vm.ToValue(a.id), question)
	})
}

// answer tells the broker what the handler returned. It throws what a toJSON or a getter
// of that throws, and the loop has it told by fail.
func (m *module) answer(call goja.FunctionCall) goja.Value {
	a := Answer{ID: call.Argument(0).ToInteger()}
	var content []byte
	switch given := call.Argument(1); {
	case goja.IsUndefined(given):
	case given.StrictEquals(m.vm.ToValue("decline")), given.StrictEquals(m.vm.ToValue("cancel")):
		a.Action = given.String()
	default:
		text, ok := engine.EncodeJSON(m.rt, given, engine.EncodeOptions{Bytes: true})
		if !ok || text[0] != '{' {
			a.Error = fmt.Sprintf(`it returned %s; it may return the fields as an object, { action: "accept", content }, "decline", "cancel", or undefined if it has no answer`, described(given))
			break
		}
		a.Action, content = read(text)
	}
	m.send(a, content)
	return nil
}

// read takes an answer apart: {action, content}, or the content alone. An object is an
// action only if it has the members of one and no others.
func read(text []byte) (action string, content []byte) {
	var members map[string]json.RawMessage
	if json.Unmarshal(text, &members) != nil {
		return "accept", text
	}
	word, has := members["action"]
	content, given := members["content"]
	others := len(members) - 1
	if given {
		others--
	}
	if !has || others != 0 {
		return "accept", text
	}
	switch string(word) {
	case `"accept"`:
		if !given {
			content = []byte("{}")
		}
		return "accept", content
	case `"decline"`, `"cancel"`:
		return string(word[1 : len(word)-1]), nil
	}
	return "accept", text
}

// described says what was returned instead of an answer.
func described(v goja.Value) string {
	switch {
	case goja.IsNull(v):
		return "null"
	case goja.IsString(v):
		return "a text"
	case goja.IsNumber(v):
		return "a number"
	}
	if o, ok := v.(*goja.Object); ok {
		return "a value of the class " + o.ClassName()
	}
	return v.String()
}

// fail tells the broker what the handler threw.
func (m *module) fail(call goja.FunctionCall) goja.Value {
	r := m.rt.Report(call.Argument(1))
	said := r.Message
	if r.Name != "" {
		said = r.Name + ": " + said
	}
	if r.At != nil {
		said += " (" + r.At.String() + ")"
	}
	m.send(Answer{ID: call.Argument(0).ToInteger(), Error: shortened(said)}, nil)
	return nil
}

// maxError is how many bytes are told of an error of the handler.
const maxError = 4000

// shortened cuts a text off at maxError.
func shortened(s string) string {
	if len(s) <= maxError {
		return s
	}
	end := 0
	for i := range s {
		if i > maxError {
			break
		}
		end = i
	}
	return s[:end] + "…"
}

// send gives the broker an answer, and does not wait. That it is refused is no error: the
// question may have ended meanwhile.
func (m *module) send(a Answer, content []byte) {
	engine.Async(m.rt, "elicit", func(ctx context.Context) (struct{}, error) {
		_, _, _ = m.rt.Host().Call(ctx, "elicit.answer", a, content)
		return struct{}{}, nil
	}, nil)
}
