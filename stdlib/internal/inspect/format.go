package inspect

import (
	"strings"

	"github.com/dop251/goja"
)

// Format is util.format: the placeholders of a first string are filled with the
// values that follow, the rest comes after it. Strings that are not inside another
// value are written as they are, whatever their length.
func (in *Inspector) Format(o Options, args ...goja.Value) string {
	if len(args) == 0 {
		return ""
	}
	var b strings.Builder
	if first, ok := args[0].(goja.String); ok {
		if len(args) == 1 {
			return first.String()
		}
		rest, filled := in.fill(&b, first.String(), args[1:], o)
		if filled {
			if args = rest; len(args) > 0 {
				b.WriteByte(' ')
			}
		}
	}
	for i, v := range args {
		if i > 0 {
			b.WriteByte(' ')
		}
		if s, ok := v.(goja.String); ok {
			b.WriteString(s.String())
		} else {
			b.WriteString(in.Inspect(v, o))
		}
	}
	return b.String()
}

// fill writes template with its placeholders filled and returns the arguments that
// are left. If there is nothing to fill it writes nothing.
func (in *Inspector) fill(b *strings.Builder, template string, args []goja.Value, o Options) (rest []goja.Value, filled bool) {
	last := 0
	for i := 0; i+1 < len(template); i++ {
		if template[i] != '%' {
			continue
		}
		i++
		verb := template[i]
		if verb == '%' {
			b.WriteString(template[last:i])
			last = i + 1
			continue
		}
		if len(args) == 0 || strings.IndexByte("sdifjoOc", verb) < 0 {
			continue
		}
		b.WriteString(template[last : i-1])
		b.WriteString(in.placeholder(verb, args[0], o))
		args, last = args[1:], i+1
	}
	if last == 0 {
		return args, false
	}
	b.WriteString(template[last:])
	return args, true
}

func (in *Inspector) placeholder(verb byte, v goja.Value, o Options) string {
	_, isSymbol := v.(*goja.Symbol)
	number := func(convert func() goja.Value) string {
		switch {
		case goja.IsBigInt(v):
			return bigintText(v, o.NumericSeparator)
		case isSymbol:
			return "NaN"
		}
		return numberText(convert(), o.NumericSeparator)
	}
	switch verb {
	case 's':
		return in.placeholderText(v, o)
	case 'd':
		return number(func() goja.Value { return v.ToNumber() })
	case 'i':
		return number(func() goja.Value { return call(in.own.parseInt, goja.Undefined(), v) })
	case 'f':
		if goja.IsBigInt(v) {
			return numberText(call(in.own.parseFloat, goja.Undefined(), v), o.NumericSeparator)
		}
		return number(func() goja.Value { return call(in.own.parseFloat, goja.Undefined(), v) })
	case 'j':
		return in.json(v)
	case 'O':
		return in.Inspect(v, o)
	case 'o':
		o.ShowHidden, o.ShowProxy, o.Depth = true, true, 4
		return in.Inspect(v, o)
	}
	return "" // %c: a style, which a terminal does not have
}

func (in *Inspector) placeholderText(v goja.Value, o Options) string {
	switch {
	case goja.IsNumber(v):
		return numberText(v, o.NumericSeparator)
	case goja.IsBigInt(v):
		return bigintText(v, o.NumericSeparator)
	}
	if obj, ok := v.(*goja.Object); ok && in.plainText(obj) {
		o.Depth, o.Colors, o.Compact = 0, false, 3
		return in.Inspect(v, o)
	}
	return text(in.own.str, goja.Undefined(), v)
}

// plainText reports whether an object has no text of its own, so that String(o) would
// only say [object Object].
func (in *Inspector) plainText(o *goja.Object) bool {
	for proxy, ok := asProxy(o); ok; proxy, ok = asProxy(o) {
		if o = proxy.Target(); o == nil {
			return true
		}
	}
	if _, ok := goja.AssertFunction(o); ok {
		return false
	}
	toString, toPrimitive := in.vm.ToValue("toString"), goja.Value(goja.SymToPrimitive)
	_, hasString := goja.AssertFunction(o.Get("toString"))
	_, hasPrimitive := goja.AssertFunction(o.GetSymbol(goja.SymToPrimitive))
	if !hasString && !hasPrimitive {
		return true
	}
	for at := o; at != nil; at = at.Prototype() {
		if hasString && in.own.ownsProperty(at, toString) || hasPrimitive && in.own.ownsProperty(at, toPrimitive) {
			if at == o {
				return false
			}
			d, ok := call(in.own.descriptor, goja.Undefined(), at, in.vm.ToValue("constructor")).(*goja.Object)
			if !ok {
				return false
			}
			constructor, ok := d.Get("value").(*goja.Object)
			if !ok {
				return false
			}
			_, callable := goja.AssertFunction(constructor)
			return callable && builtIn(constructor.Get("name").String())
		}
	}
	return true
}

// json writes a value as JSON, or says that it contains itself.
func (in *Inspector) json(v goja.Value) string {
	s, err := in.own.stringify(goja.Undefined(), v)
	if err == nil {
		return s.String()
	}
	thrown, ok := err.(*goja.Exception) //nolint:errorlint // what a Callable returns is not wrapped
	if ok {
		if e, ok := thrown.Value().(*goja.Object); ok {
			message := e.Get("message")
			if message != nil && strings.HasPrefix(message.String(), "Converting circular structure") {
				return "[Circular]"
			}
		}
	}
	panic(err)
}
