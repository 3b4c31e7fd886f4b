package engine

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/dop251/goja"

	"mcpx/internal/fault"
)

// What a report holds at most.
const (
	reportTime    = 200 * time.Millisecond // of script code that runs for it
	reportDepth   = 8                      // causes of causes
	reportMembers = 16                     // of an AggregateError
	reportDetails = 32
	reportBytes   = 256 << 10 // of one detail
)

// Report is a thrown value as data, in positions of the user's source. Getters of the
// value run, once, and are cut off after a while.
func (rt *Runtime) Report(v goja.Value) *fault.Report { return rt.report(v, nil) }

// reportError reports an error that came out of goja.
func (rt *Runtime) reportError(err error) *fault.Report {
	var overflow *goja.StackOverflowError
	var exception *goja.Exception
	switch {
	case errors.As(err, &overflow):
		r := &fault.Report{Kind: fault.Script, Name: "RangeError", Message: "Maximum call stack size exceeded"}
		r.At, r.Frames = rt.place(framesOf(overflow.Stack()))
		return r
	case errors.As(err, &exception):
		return rt.report(exception.Value(), exception.Stack())
	}
	return panicReport(err)
}

func (rt *Runtime) report(v goja.Value, stack []goja.StackFrame) *fault.Report {
	rep := &reporter{rt: rt}
	r := &fault.Report{Kind: fault.Script}
	rep.guard(func() { rep.fill(r, v, 0) })
	if r.Name == "" {
		switch {
		case r.Message != "":
			r.Message = threw + r.Message
		case rep.finished:
			r.Message = threw + "an empty text"
		default:
			r.Message = threw + "a value that cannot be shown"
		}
	}
	if name := undefinedName(r); name != "" && r.Hint == "" {
		if rt.isModule("node:" + name) {
			r.Hint = "it is a module: import " + name + ` from "node:` + name + `"`
		} else if near := rt.nearestGlobal(name); near != "" {
			r.Hint = "did you mean " + near + "?"
		}
	}
	if r.At == nil {
		r.At, r.Frames = rt.place(framesOf(stack))
	}
	if r.At == nil {
		r.At = rt.thrown.at(rt.program, v)
	}
	if r.At == nil {
		r.At, r.Frames = rt.place(framesOf(rt.rejected.of(v)))
	}
	return r
}

// threw begins the report of a value that is no Error.
const threw = "the script threw "

// reporter makes one report.
type reporter struct {
	rt       *Runtime
	seen     []*goja.Object
	finished bool
}

// guard runs fn, which may run script code, and gives up on it after reportTime. What
// fn has found until then stays.
func (rep *reporter) guard(fn func()) {
	rt := rep.rt
	limit := time.AfterFunc(reportTime, func() { rt.vm.Interrupt(reportTime) })
	defer func() {
		x := recover()
		if !limit.Stop() || x != nil {
			rt.vm.ClearInterrupt()
		}
		if rt.end.reached() {
			rt.vm.Interrupt(endOfRun{})
		}
		switch x.(type) {
		case nil, *goja.InterruptedError, *goja.StackOverflowError:
		default:
			panic(x)
		}
	}()
	if ex := rt.vm.Try(fn); ex == nil {
		rep.finished = true
	}
}

func (rep *reporter) fill(r *fault.Report, v goja.Value, depth int) {
	o, ok := v.(*goja.Object)
	if !ok {
		r.Message = primitiveText(v)
		return
	}
	rep.seen = append(rep.seen, o)
	rep.rt.mend(o)
	isError := o.ClassName() == "Error"
	if message := o.Get("message"); isError || isText(message) && isText(o.Get("stack")) {
		r.Name, r.Message = text(o.Get("name")), text(message)
		if r.Name == "" && r.Message == "" {
			r.Name = "Error"
		}
	} else {
		r.Message = rep.objectText(o)
	}
	if kind := o.GetSymbol(rep.rt.intrinsics.kind); kind != nil {
		r.Kind = fault.Kind(kind.String())
		r.Hint = text(o.Get("hint"))
	}
	rep.stack(r, o)
	if depth == reportDepth {
		return
	}
	rep.related(r, o, depth)
	rep.details(r, o)
}

// stack places the report by the error's stack property.
func (rep *reporter) stack(r *fault.Report, o *goja.Object) {
	if rep.rt.program == nil {
		return
	}
	stack := text(o.Get("stack"))
	head := r.Message
	if i := strings.Index(stack, head); head != "" && i >= 0 {
		stack = stack[i+len(head):]
	}
	frames := rep.rt.program.parseStack(stack, 2*maxFrames)
	frames = outside(o, frames)
	r.At, r.Frames = rep.rt.place(frames)
}

// outside is what is left of the frames of an error without the constructors of its own
// class.
func outside(o *goja.Object, frames []stackFrame) []stackFrame {
	constructors := constructorNames(o)
	for len(frames) > 1 && frames[0].function != "" && slices.Contains(constructors, strings.TrimPrefix(frames[0].function, constructed)) {
		frames = frames[1:]
	}
	return frames
}

// constructorNames lists the classes of o.
func constructorNames(o *goja.Object) (names []string) {
	for proto := o.Prototype(); proto != nil && len(names) < reportDepth; proto = proto.Prototype() {
		if c, ok := proto.Get("constructor").(*goja.Object); ok {
			names = append(names, text(c.Get("name")))
		}
	}
	return names
}

// related adds the cause and the members of an AggregateError.
func (rep *reporter) related(r *fault.Report, o *goja.Object, depth int) {
	if cause := o.Get("cause"); cause != nil && !goja.IsUndefined(cause) {
		r.Cause = rep.member(cause, depth)
	}
	members, ok := o.Get("errors").(*goja.Object)
	if !ok || members.ClassName() != "Array" {
		return
	}
	for i, key := range members.Keys() {
		if i == reportMembers {
			break
		}
		if m := rep.member(members.Get(key), depth); m != nil {
			r.Errors = append(r.Errors, m)
		}
	}
}

// member reports a value inside the one that was thrown, nil if it is being reported already.
func (rep *reporter) member(v goja.Value, depth int) *fault.Report {
	if o, ok := v.(*goja.Object); ok && slices.Contains(rep.seen, o) {
		return nil
	}
	m := &fault.Report{Kind: fault.Script}
	rep.fill(m, v, depth+1)
	return m
}

// details adds the own enumerable properties that are JSON.
func (rep *reporter) details(r *fault.Report, o *goja.Object) {
	if r.Name == "" {
		return // the value itself is the message
	}
	for _, key := range o.Keys() {
		if slices.Contains(ownFields, key) {
			continue
		}
		if len(r.Details) == reportDetails {
			return
		}
		var b []byte
		var ok bool
		if ex := rep.rt.vm.Try(func() { b, ok = EncodeJSON(rep.rt, o.Get(key), EncodeOptions{BigInt: true}) }); ex != nil || !ok || len(b) > reportBytes {
			continue
		}
		if r.Details == nil {
			r.Details = map[string]any{}
		}
		r.Details[key] = json.RawMessage(b)
	}
}

// objectText shows a thrown object that is no error, as console.log does where there is
// a module that can.
func (rep *reporter) objectText(o *goja.Object) string {
	if util := rep.rt.Require("node:util"); util != nil {
		if inspect, ok := goja.AssertFunction(util.Get("inspect")); ok {
			if shown, err := inspect(goja.Undefined(), o); err == nil && len(shown.String()) <= reportBytes {
				return shown.String()
			}
		}
	}
	if _, callable := goja.AssertFunction(o); !callable {
		var b []byte
		var ok bool
		if ex := rep.rt.vm.Try(func() { b, ok = EncodeJSON(rep.rt, o, EncodeOptions{BigInt: true}) }); ex == nil && ok && len(b) <= reportBytes {
			return string(b)
		}
	}
	return text(o)
}

// primitiveText shows a value as console.log does.
func primitiveText(v goja.Value) string {
	switch s, isSymbol := v.(*goja.Symbol); {
	case v == nil:
		return "undefined"
	case isSymbol:
		return "Symbol(" + s.String() + ")"
	case goja.IsBigInt(v):
		return v.String() + "n"
	}
	return v.String()
}

// text is v as a string, empty if there is none.
func text(v goja.Value) string {
	if v == nil || goja.IsUndefined(v) || goja.IsNull(v) {
		return ""
	}
	return v.String()
}

func isText(v goja.Value) bool { return v != nil && goja.IsString(v) }

// thrown remembers where the last Error was thrown, whose stack may be gone, and where
// the last other value, which carries none.
type thrown struct {
	error, other throw
}

type throw struct {
	value goja.Value
	mark  int
}

// before is called with the value and the mark of a throw.
func (t *thrown) before(c goja.FunctionCall) goja.Value {
	v := c.Argument(0)
	if last := t.of(v); last.value == nil || !last.value.SameAs(v) {
		last.value, last.mark = v, int(c.Argument(1).ToInteger())
	}
	return v
}

func (t *thrown) of(v goja.Value) *throw {
	if o, ok := v.(*goja.Object); ok && o.ClassName() == "Error" {
		return &t.error
	}
	return &t.other
}

func (t *thrown) at(p *Program, v goja.Value) *fault.Position {
	last := t.of(v)
	if last.value == nil || p == nil || !last.value.SameAs(v) {
		return nil
	}
	return p.at(p.file.Position(p.marks[last.mark].offset))
}
