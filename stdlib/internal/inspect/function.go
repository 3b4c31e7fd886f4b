package inspect

import (
	"runtime"
	"sync"
	"weak"

	"github.com/dop251/goja"
)

// inspectors are those in use, one a runtime, so that all parts of the library have the
// same util.inspect and the same default options. A runtime and its inspector are freed
// as if they were not here.
var inspectors = struct {
	sync.Mutex
	of map[weak.Pointer[goja.Runtime]]weak.Pointer[Inspector]
}{of: map[weak.Pointer[goja.Runtime]]weak.Pointer[Inspector]{}}

// New returns the inspector of a runtime. The first call takes hold of the built-in
// functions that it needs, so that a script that replaces them later does not disturb it.
func New(vm *goja.Runtime) *Inspector {
	key := weak.Make(vm)
	inspectors.Lock()
	in, known := inspectors.of[key]
	inspectors.Unlock()
	if in := in.Value(); in != nil {
		return in
	}
	made := &Inspector{vm: vm, own: capture(vm)}
	made.function = made.newFunction()
	inspectors.Lock()
	inspectors.of[key] = weak.Make(made)
	inspectors.Unlock()
	if !known {
		runtime.AddCleanup(vm, func(key weak.Pointer[goja.Runtime]) {
			inspectors.Lock()
			delete(inspectors.of, key)
			inspectors.Unlock()
		}, key)
	}
	return made
}

// Defaults are the options that hold where a script gives none: those of Default, and
// what it changed in util.inspect.defaultOptions.
func (in *Inspector) Defaults() Options {
	if in.defaults == nil {
		return Default()
	}
	o := in.ReadOptions(in.defaults, Default())
	o.user = nil
	return o
}

// Function is util.inspect as a script sees it. Custom inspect functions receive it.
func (in *Inspector) Function() *goja.Object { return in.function }

func (in *Inspector) newFunction() *goja.Object {
	vm := in.vm
	f := vm.ToValue(func(call goja.FunctionCall) goja.Value {
		o := in.Defaults()
		switch second := call.Argument(1).(type) {
		case *goja.Object:
			o = in.ReadOptions(second, o)
		default:
			if second.ExportType() == typeBool {
				o.ShowHidden = second.ToBoolean()
			}
		}
		// The signature of old: value, showHidden, depth, colors.
		if depth := call.Argument(2); !goja.IsUndefined(depth) {
			o.Depth = limit(depth)
		}
		if colors := call.Argument(3); !goja.IsUndefined(colors) {
			o.Colors = colors.ToBoolean()
		}
		return vm.ToValue(in.Inspect(call.Argument(0), o))
	}).(*goja.Object)
	label := func(f *goja.Object, name string, length int) *goja.Object {
		must(f.DefineDataProperty("name", vm.ToValue(name), goja.FLAG_FALSE, goja.FLAG_TRUE, goja.FLAG_FALSE))
		must(f.DefineDataProperty("length", vm.ToValue(length), goja.FLAG_FALSE, goja.FLAG_TRUE, goja.FLAG_FALSE))
		return f
	}
	label(f, "inspect", 2)
	must(f.Set("custom", in.own.custom))
	get := vm.ToValue(func(goja.FunctionCall) goja.Value { return in.defaultOptions() }).(*goja.Object)
	set := vm.ToValue(func(call goja.FunctionCall) goja.Value {
		given, ok := call.Argument(0).(*goja.Object)
		if !ok {
			e := vm.NewTypeError("The \"options\" argument must be of type object. %s", in.Received(call.Argument(0)))
			must(e.Set("code", "ERR_INVALID_ARG_TYPE"))
			panic(e)
		}
		for _, key := range given.Keys() {
			must(in.defaultOptions().Set(key, given.Get(key)))
		}
		return goja.Undefined()
	}).(*goja.Object)
	must(f.DefineAccessorProperty("defaultOptions", label(get, "get", 0), label(set, "set", 1), goja.FLAG_FALSE, goja.FLAG_FALSE))
	lazily := func(name string, value func() goja.Value) {
		settle := func(v goja.Value) {
			must(f.DefineDataProperty(name, v, goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_TRUE))
		}
		get := vm.ToValue(func(goja.FunctionCall) goja.Value {
			v := value()
			settle(v)
			return v
		})
		set := vm.ToValue(func(call goja.FunctionCall) goja.Value {
			settle(call.Argument(0))
			return goja.Undefined()
		})
		must(f.DefineAccessorProperty(name, get, set, goja.FLAG_TRUE, goja.FLAG_TRUE))
	}
	lazily("colors", in.colorsObject)
	lazily("styles", in.stylesObject)
	return f
}

// defaultOptions is the object that a script changes the defaults in.
func (in *Inspector) defaultOptions() *goja.Object {
	if in.defaults == nil {
		p := &printer{Inspector: in, Options: Default()}
		o := p.optionsObject()
		must(o.Delete("stylize"))
		in.defaults = o
	}
	return in.defaults
}

// colors are the styles that a terminal has: their names, and the codes that turn them
// on and off.
var colors = []struct {
	name     string
	on, off  int
	synonyms []string
}{
	{"reset", 0, 0, nil},
	{"bold", 1, 22, nil},
	{"dim", 2, 22, []string{"faint"}},
	{"italic", 3, 23, nil},
	{"underline", 4, 24, nil},
	{"blink", 5, 25, nil},
	{"inverse", 7, 27, []string{"swapcolors", "swapColors"}},
	{"hidden", 8, 28, []string{"conceal"}},
	{"strikethrough", 9, 29, []string{"strikeThrough", "crossedout", "crossedOut"}},
	{"doubleunderline", 21, 24, []string{"doubleUnderline"}},
	{"black", 30, 39, nil},
	{"red", 31, 39, nil},
	{"green", 32, 39, nil},
	{"yellow", 33, 39, nil},
	{"blue", 34, 39, nil},
	{"magenta", 35, 39, nil},
	{"cyan", 36, 39, nil},
	{"white", 37, 39, nil},
	{"bgBlack", 40, 49, nil},
	{"bgRed", 41, 49, nil},
	{"bgGreen", 42, 49, nil},
	{"bgYellow", 43, 49, nil},
	{"bgBlue", 44, 49, nil},
	{"bgMagenta", 45, 49, nil},
	{"bgCyan", 46, 49, nil},
	{"bgWhite", 47, 49, nil},
	{"framed", 51, 54, nil},
	{"overlined", 53, 55, nil},
	{"gray", 90, 39, []string{"grey", "blackBright"}},
	{"redBright", 91, 39, nil},
	{"greenBright", 92, 39, nil},
	{"yellowBright", 93, 39, nil},
	{"blueBright", 94, 39, nil},
	{"magentaBright", 95, 39, nil},
	{"cyanBright", 96, 39, nil},
	{"whiteBright", 97, 39, nil},
	{"bgGray", 100, 49, []string{"bgGrey", "bgBlackBright"}},
	{"bgRedBright", 101, 49, nil},
	{"bgGreenBright", 102, 49, nil},
	{"bgYellowBright", 103, 49, nil},
	{"bgBlueBright", 104, 49, nil},
	{"bgMagentaBright", 105, 49, nil},
	{"bgCyanBright", 106, 49, nil},
	{"bgWhiteBright", 107, 49, nil},
}

func (in *Inspector) colorsObject() goja.Value {
	o := in.vm.CreateObject(nil)
	for _, c := range colors {
		codes := in.vm.NewArray(c.on, c.off)
		must(o.Set(c.name, codes))
		for _, s := range c.synonyms {
			must(o.DefineDataProperty(s, codes, goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE))
		}
	}
	return o
}

func (in *Inspector) stylesObject() goja.Value {
	o := in.vm.CreateObject(nil)
	for _, s := range [][2]string{
		{"special", "cyan"},
		{"number", "yellow"},
		{"bigint", "yellow"},
		{"boolean", "yellow"},
		{"undefined", "grey"},
		{"null", "bold"},
		{"string", "green"},
		{"symbol", "green"},
		{"date", "magenta"},
		{"regexp", "red"},
		{"module", "underline"},
	} {
		must(o.Set(s[0], s[1]))
	}
	return o
}
