package inspect

import (
	"math"

	"github.com/dop251/goja"
)

// ReadOptions returns base changed by what a script gave as options. Members that are
// no options of ours are passed on to custom inspect functions.
func (in *Inspector) ReadOptions(given *goja.Object, base Options) Options {
	o := base
	o.user = given
	read := func(name string, set func(v goja.Value)) {
		if in.own.ownsProperty(given, in.vm.ToValue(name)) {
			if v := given.Get(name); v != nil {
				set(v)
			}
		}
	}
	read("showHidden", func(v goja.Value) { o.ShowHidden = v.ToBoolean() })
	read("depth", func(v goja.Value) { o.Depth = limit(v) })
	read("colors", func(v goja.Value) { o.Colors = v.ToBoolean() })
	read("customInspect", func(v goja.Value) { o.CustomInspect = v.ToBoolean() })
	read("showProxy", func(v goja.Value) { o.ShowProxy = v.ToBoolean() })
	read("maxArrayLength", func(v goja.Value) { o.MaxArrayLength = limit(v) })
	read("maxStringLength", func(v goja.Value) { o.MaxStringLength = limit(v) })
	read("breakLength", func(v goja.Value) { o.BreakLength = limit(v) })
	read("numericSeparator", func(v goja.Value) { o.NumericSeparator = v.ToBoolean() })
	read("compact", func(v goja.Value) {
		switch {
		case goja.IsNumber(v):
			o.Compact = max(limit(v), 0)
		case v.ToBoolean():
			o.Compact = CompactAlways
		default:
			o.Compact = CompactNever
		}
	})
	read("getters", func(v goja.Value) {
		switch s := v.String(); {
		case s == "get" || s == "set":
			o.Getters = s
		case v.ToBoolean():
			o.Getters = "all"
		default:
			o.Getters = ""
		}
	})
	read("sorted", func(v goja.Value) {
		o.Sorted, o.Compare = v.ToBoolean(), nil
		if fn, ok := goja.AssertFunction(v); ok {
			o.Compare = func(a, b string) int {
				return int(call(fn, goja.Undefined(), in.vm.ToValue(a), in.vm.ToValue(b)).ToInteger())
			}
		}
	})
	read("stylize", func(v goja.Value) { o.stylize, _ = goja.AssertFunction(v) })
	return o
}

// limit reads a number of options; null stands for no limit, as does Infinity.
func limit(v goja.Value) int {
	if goja.IsNull(v) {
		return Unlimited
	}
	f := v.ToFloat()
	switch {
	case math.IsNaN(f):
		return 0
	case f >= Unlimited:
		return Unlimited
	case f <= -Unlimited:
		return -Unlimited
	}
	return int(f)
}

// optionsObject is what a custom inspect function receives: the options in force, a
// function to mark text up with, and what the script gave besides.
func (p *printer) optionsObject() *goja.Object {
	o := p.vm.NewObject()
	set := func(name string, v any) { must(o.Set(name, v)) }
	number := func(n int) any {
		if n >= Unlimited {
			return math.Inf(1)
		}
		return n
	}
	set("stylize", func(call goja.FunctionCall) goja.Value {
		return p.vm.ToValue(p.style(call.Argument(0).String(), call.Argument(1).String()))
	})
	set("showHidden", p.ShowHidden)
	set("depth", number(p.Depth))
	set("colors", p.Colors)
	set("customInspect", p.CustomInspect)
	set("showProxy", p.ShowProxy)
	set("maxArrayLength", number(p.MaxArrayLength))
	set("maxStringLength", number(p.MaxStringLength))
	set("breakLength", number(p.BreakLength))
	switch p.Compact {
	case CompactAlways:
		set("compact", true)
	case CompactNever:
		set("compact", false)
	default:
		set("compact", p.Compact)
	}
	set("sorted", p.Sorted)
	switch p.Getters {
	case "":
		set("getters", false)
	case "all":
		set("getters", true)
	default:
		set("getters", p.Getters)
	}
	set("numericSeparator", p.NumericSeparator)
	if p.user != nil {
		for _, key := range list(p.own.keys, p.user) {
			must(o.Set(key.String(), p.user.Get(key.String())))
		}
	}
	return o
}
