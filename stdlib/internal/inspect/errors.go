package inspect

import (
	"slices"
	"strings"

	"github.com/dop251/goja"
)

// errorBase writes an error's stack, which begins with its message, and returns the
// properties that are to follow it: those that the stack does not say already, the
// cause, and the members of an aggregate.
func (p *printer) errorBase(o *goja.Object, n nature, keys []goja.Value) (base string, rest []goja.Value) {
	name := "Error"
	if v := o.Get("name"); v != nil && !goja.IsUndefined(v) && !goja.IsNull(v) {
		name = text(p.own.str, goja.Undefined(), v)
	}
	stack := p.stackOf(o)

	has := func(key string) bool {
		return slices.ContainsFunc(keys, func(k goja.Value) bool { return k.SameAs(p.vm.ToValue(key)) })
	}
	if !p.ShowHidden {
		for _, key := range []string{"name", "message", "stack"} {
			if !has(key) {
				continue
			}
			if v := o.Get(key); v != nil && strings.Contains(stack, text(p.own.str, goja.Undefined(), v)) {
				keys = slices.DeleteFunc(keys, func(k goja.Value) bool { return k.SameAs(p.vm.ToValue(key)) })
			}
		}
	}
	if call(p.own.has, goja.Undefined(), o, p.vm.ToValue("cause")).ToBoolean() && !has("cause") {
		keys = append(keys, p.vm.ToValue("cause"))
	}
	if call(p.own.isArray, goja.Undefined(), orUndefined(o.Get("errors"))).ToBoolean() && !has("errors") {
		keys = append(keys, p.vm.ToValue("errors"))
	}

	stack = p.improve(stack, n, name)
	after := 0
	if message, ok := o.Get("message").(goja.String); ok && message.Length() > 0 {
		if at := strings.Index(stack, message.String()); at >= 0 {
			after = at + len(message.String())
		}
	}
	frames := strings.Index(stack[after:], frameStart)
	if frames < 0 {
		// Without a trace, brackets say that it is an error and no text.
		return indentLines("["+stack+"]", p.indent), keys
	}
	frames += after
	lines := p.framesOf(o, strings.Split(stack[frames+1:], "\n"))
	return indentLines(stack[:frames]+"\n"+strings.Join(lines, "\n"), p.indent), keys
}

const frameStart = "\n    at"

func orUndefined(v goja.Value) goja.Value {
	if v == nil {
		return goja.Undefined()
	}
	return v
}

// stackOf returns an error's stack, or what it says of itself if it has none. A stack
// as goja writes it, with tabs and a final newline, is brought into Node's form.
func (p *printer) stackOf(o *goja.Object) string {
	v := o.Get("stack")
	if v == nil || !v.ToBoolean() {
		return text(p.own.errorText, o)
	}
	return normalStack(text(p.own.str, goja.Undefined(), v))
}

// normalStack brings a stack as goja writes it into Node's form and leaves the
// script's own frames: they begin with four spaces and have no program counter. Any
// other text stays as it is.
func normalStack(stack string) string {
	const gojaFrame = "\n\tat "
	if !strings.Contains(stack, gojaFrame) {
		return strings.TrimRight(stack, "\n")
	}
	head, frames, _ := strings.Cut(stack, gojaFrame)
	var b strings.Builder
	b.WriteString(head)
	for frame := range strings.SplitSeq(strings.TrimRight(frames, "\n"), gojaFrame) {
		closing := ""
		if strings.HasSuffix(frame, "))") {
			frame, closing = frame[:len(frame)-1], ")"
		}
		if counter := strings.LastIndexByte(frame, '('); counter > 0 && strings.HasSuffix(frame, ")") && !strings.HasSuffix(frame, "(native)") {
			frame = frame[:counter]
		}
		if !foreign(frame) {
			b.WriteString(frameStart + " " + frame + closing)
		}
	}
	return b.String()
}

// foreign reports whether a frame is not the script's: a native function, which has a
// name of Go's, or JavaScript of mcpx itself, whose file is named so.
func foreign(frame string) bool {
	location := frame
	if at := strings.LastIndexByte(frame, '('); at >= 0 {
		location = frame[at+1:]
	}
	return location == "native" || location == "native)" || strings.HasPrefix(location, "mcpx:")
}

// improve makes the head of a stack say the class of the error where it says only
// the class's ancestor: what Node prints for class E extends Error.
func (p *printer) improve(stack string, n nature, name string) string {
	length := len(name)
	regular := strings.HasSuffix(name, "Error") && strings.HasPrefix(stack, name) &&
		(len(stack) == length || stack[length] == ':' || stack[length] == '\n')
	if !n.orphan && !regular {
		return stack
	}
	fallback := "Error"
	if n.orphan {
		fallback = headName(stack)
		length = len(fallback)
		if fallback == "" {
			fallback = "Error"
		}
	}
	prefix := strings.TrimSuffix(p.prefix(n, fallback, ""), " ")
	switch {
	case name == prefix:
		return stack
	case !strings.Contains(prefix, name):
		return prefix + " [" + name + "]" + stack[length:]
	case length == 0:
		return prefix + ": " + stack
	}
	return prefix + stack[length:]
}

// headName returns the name at the head of a stack, if it looks like one.
func headName(stack string) string {
	end := 0
	for end < len(stack) && (isIdentifier(stack[end:end+1]) || strings.IndexByte("0123456789 -[]()", stack[end]) >= 0) {
		end++
	}
	name, rest := stack[:end], stack[end:]
	upper := len(name) > 1 && name[0] >= 'A' && name[0] <= 'Z'
	if upper && (strings.HasPrefix(rest, ":") || strings.HasPrefix(rest, frameStart)) {
		return name
	}
	if rest == "" && strings.HasSuffix(name, "Error") {
		return name
	}
	return ""
}

// framesOf leaves out the frames that an error has in common with its cause.
func (p *printer) framesOf(o *goja.Object, frames []string) []string {
	var cause *goja.Object
	if p.vm.Try(func() { cause, _ = o.Get("cause").(*goja.Object) }) != nil || cause == nil {
		return frames
	}
	if _, ok := asProxy(cause); ok || p.own.kindOf(cause) != kindError {
		return frames
	}
	stack := p.stackOf(cause)
	at := strings.Index(stack, frameStart)
	if at < 0 {
		return frames
	}
	offset, n := common(frames, strings.Split(stack[at+1:], "\n"))
	if n == 0 {
		return frames
	}
	note := p.style("    ... "+itoa(n-2)+" lines matching cause stack trace ...", "undefined")
	return slices.Concat(frames[:offset+1], []string{note}, frames[offset+n-1:])
}

// common finds the first run of more than three lines that a and b share.
func common(a, b []string) (offset, n int) {
	for i := 0; i+3 < len(a); i++ {
		at := slices.Index(b, a[i])
		if at < 0 || len(b)-at <= 3 {
			continue
		}
		n := 1
		for i+n < len(a) && at+n < len(b) && a[i+n] == b[at+n] {
			n++
		}
		if n > 3 {
			return i, n
		}
	}
	return 0, 0
}

// CallStack is the trace of the script's calls at this moment, each on a line of its
// own after a newline.
func (in *Inspector) CallStack() string {
	var b strings.Builder
	for _, frame := range in.vm.CaptureCallStack(0, nil) {
		at := frame.Position()
		if at.Line == 0 || foreign(at.String()) {
			continue
		}
		if name := frame.FuncName(); name == "<anonymous>" {
			b.WriteString(frameStart + " " + at.String())
		} else {
			b.WriteString(frameStart + " " + name + " (" + at.String() + ")")
		}
	}
	return b.String()
}
