package util

import (
	"slices"
	"strconv"
	"strings"

	"github.com/dop251/goja"

	"mcpx/stdlib/internal/native"
)

// option is one that a script describes to parseArgs.
type option struct {
	name, short string
	text        bool // it takes a value
	multiple    bool
	fallback    goja.Value
}

// arguments is one call of parseArgs.
type arguments struct {
	*module
	options                            []option
	strict, positionals, tokens, negat bool
	list                               []string
	found                              []token
}

// token is one part of the command line.
type token struct {
	kind, name, raw string
	index           int
	value           goja.Value // nil without one
	inline          bool
	negative        bool // --no-name
}

func (m *module) parseArgs(c goja.FunctionCall) any {
	a := &arguments{module: m, strict: true}
	config := m.vm.NewObject()
	if v := c.Argument(0); !goja.IsUndefined(v) {
		if o, ok := v.(*goja.Object); ok {
			config = o
		}
	}
	a.configure(config)
	a.tokenize()
	return a.result()
}

// member reads an own property of a configuration: what a script put on Object.prototype
// is no option.
func (a *arguments) member(o *goja.Object, name string) goja.Value {
	own, _ := goja.AssertFunction(a.vm.Get("Object").(*goja.Object).Get("prototype").(*goja.Object).Get("hasOwnProperty"))
	if !native.Call(own, o, a.vm.ToValue(name)).ToBoolean() {
		return goja.Undefined()
	}
	return orUndefined(o.Get(name))
}

func (a *arguments) flag(o *goja.Object, name, label string, fallback bool) bool {
	v := a.member(o, name)
	if goja.IsUndefined(v) {
		return fallback
	}
	if !v.StrictEquals(a.vm.ToValue(true)) && !v.StrictEquals(a.vm.ToValue(false)) {
		panic(native.InvalidType(a.vm, label, "of type boolean", v))
	}
	return v.ToBoolean()
}

func (a *arguments) configure(config *goja.Object) {
	if v := a.member(config, "args"); !goja.IsUndefined(v) && !goja.IsNull(v) {
		list, ok := v.(*goja.Object)
		if !ok || list.ClassName() != "Array" {
			panic(native.InvalidType(a.vm, "args", "an instance of Array", v))
		}
		for i := range list.Get("length").ToInteger() {
			a.list = append(a.list, orUndefined(list.Get(strconv.FormatInt(i, 10))).String())
		}
	} else {
		a.list = a.rt.Ambient().Args
	}
	a.strict = a.flag(config, "strict", "strict", true)
	a.positionals = a.flag(config, "allowPositionals", "allowPositionals", !a.strict)
	a.tokens = a.flag(config, "tokens", "tokens", false)
	a.negat = a.flag(config, "allowNegative", "allowNegative", false)
	v := a.member(config, "options")
	if goja.IsUndefined(v) {
		return
	}
	options, ok := v.(*goja.Object)
	if !ok || options.ClassName() == "Array" {
		panic(native.InvalidType(a.vm, "options", "of type object", v))
	}
	for _, name := range options.Keys() {
		a.options = append(a.options, a.option(name, options.Get(name)))
	}
}

func (a *arguments) option(name string, v goja.Value) option {
	label := "options." + name
	o, ok := v.(*goja.Object)
	if !ok {
		panic(native.InvalidType(a.vm, label, "of type object", orUndefined(v)))
	}
	opt := option{name: name}
	switch kind := a.member(o, "type"); {
	case goja.IsString(kind) && kind.String() == "string":
		opt.text = true
	case goja.IsString(kind) && kind.String() == "boolean":
	default:
		panic(native.InvalidType(a.vm, label+".type", "('string|boolean')", kind))
	}
	if v := a.member(o, "short"); !goja.IsUndefined(v) {
		if !goja.IsString(v) {
			panic(native.InvalidType(a.vm, label+".short", "of type string", v))
		}
		opt.short = v.String()
		if len([]rune(opt.short)) != 1 {
			panic(native.InvalidValue(a.vm, label+".short", v, "must be a single character"))
		}
	}
	opt.multiple = a.flag(o, "multiple", label+".multiple", false)
	if v := a.member(o, "default"); !goja.IsUndefined(v) {
		a.checkDefault(label+".default", opt, v)
		opt.fallback = v
	}
	return opt
}

func (a *arguments) checkDefault(label string, opt option, v goja.Value) {
	kind := "boolean"
	if opt.text {
		kind = "string"
	}
	check := func(label string, v goja.Value) {
		boolean := v.StrictEquals(a.vm.ToValue(true)) || v.StrictEquals(a.vm.ToValue(false))
		if opt.text && !goja.IsString(v) || !opt.text && !boolean {
			panic(native.InvalidType(a.vm, label, "of type "+kind, v))
		}
	}
	if !opt.multiple {
		check(label, v)
		return
	}
	list, ok := v.(*goja.Object)
	if !ok || list.ClassName() != "Array" {
		panic(native.InvalidType(a.vm, label, "an instance of Array", v))
	}
	for _, key := range list.Keys() {
		check(label+"["+key+"]", list.Get(key))
	}
}

// named finds an option by its long name.
func (a *arguments) named(name string) *option {
	if i := slices.IndexFunc(a.options, func(o option) bool { return o.name == name }); i >= 0 {
		return &a.options[i]
	}
	return nil
}

// long is the long name of a short one.
func (a *arguments) long(short string) string {
	for _, o := range a.options {
		if o.short == short {
			return o.name
		}
	}
	return short
}

func (a *arguments) takesText(name string) bool {
	o := a.named(name)
	return o != nil && o.text
}

// tokenize takes the command line apart.
func (a *arguments) tokenize() {
	add := func(t token) { a.found = append(a.found, t) }
	for i := 0; i < len(a.list); i++ {
		arg := a.list[i]
		value := func(name string) goja.Value {
			if a.takesText(name) && i+1 < len(a.list) {
				return a.vm.ToValue(a.list[i+1])
			}
			return nil
		}
		switch {
		case arg == "--":
			add(token{kind: "option-terminator", index: i})
			for j := i + 1; j < len(a.list); j++ {
				add(token{kind: "positional", index: j, value: a.vm.ToValue(a.list[j])})
			}
			return
		case strings.HasPrefix(arg, "--"):
			name, text, inline := arg[2:], "", false
			if at := strings.IndexByte(arg[3:], '='); at >= 0 {
				name, text, inline = arg[2:3+at], arg[3+at+1:], true
			}
			t := token{kind: "option", name: name, raw: "--" + name, index: i, inline: inline}
			if inline {
				t.value = a.vm.ToValue(text)
			} else if t.value = value(name); t.value != nil {
				i++
			}
			if base := a.named(strings.TrimPrefix(name, "no-")); a.negat && base != nil && base.name != name && !base.text && a.named(name) == nil && t.value == nil {
				t.name, t.negative = base.name, true
			}
			add(t)
		case len(arg) > 1 && arg[0] == '-':
			i = a.shorts(i, []rune(arg[1:]), value)
		default:
			add(token{kind: "positional", index: i, value: a.vm.ToValue(arg)})
		}
	}
}

// shorts reads a group of short options and returns the index of what it used up.
func (a *arguments) shorts(i int, letters []rune, value func(string) goja.Value) int {
	for k, letter := range letters {
		short := string(letter)
		name := a.long(short)
		t := token{kind: "option", name: name, raw: "-" + short, index: i}
		if a.takesText(name) && k < len(letters)-1 {
			t.value, t.inline = a.vm.ToValue(string(letters[k+1:])), true
			a.found = append(a.found, t)
			return i
		}
		if k == len(letters)-1 {
			t.value = value(name)
		}
		a.found = append(a.found, t)
		if t.value != nil {
			return i + 1
		}
	}
	return i
}

func (a *arguments) fail(code, message string) {
	panic(native.Error(a.vm, "TypeError", code, message))
}

// check holds an option against the description.
func (a *arguments) check(t *token) {
	o := a.named(t.name)
	shown := func() string {
		if o.short != "" {
			return "-" + o.short + ", --" + o.name
		}
		return "--" + o.name
	}
	switch {
	case o == nil:
		suggestion := ""
		if a.positionals {
			quoted := strconv.Quote(t.raw)
			suggestion = ". To specify a positional argument starting with a '-', place it at the end of the command after '--', as in '-- " + quoted
		}
		a.fail("ERR_PARSE_ARGS_UNKNOWN_OPTION", "Unknown option '"+t.raw+"'"+suggestion)
	case o.text && t.value == nil:
		a.fail("ERR_PARSE_ARGS_INVALID_OPTION_VALUE", "Option '"+shown()+" <value>' argument missing")
	case !o.text && t.value != nil && !t.negative:
		a.fail("ERR_PARSE_ARGS_INVALID_OPTION_VALUE", "Option '"+shown()+"' does not take an argument")
	case o.text && !t.inline && strings.HasPrefix(t.value.String(), "-") && len(t.value.String()) > 1:
		example := "'--" + o.name + "=-XYZ'"
		if !strings.HasPrefix(t.raw, "--") {
			example += " or '" + t.raw + "-XYZ'"
		}
		a.fail("ERR_PARSE_ARGS_INVALID_OPTION_VALUE", "Option '"+t.raw+"' argument is ambiguous.\nDid you forget to specify the option argument for '"+t.raw+
			"'?\nTo specify an option argument starting with a dash use "+example+".")
	}
}

func (a *arguments) result() *goja.Object {
	values := a.vm.CreateObject(nil)
	positionals := []any{}
	multiples := map[string][]any{}
	store := func(t token) {
		if t.name == "__proto__" {
			return
		}
		v, name, o := t.value, t.name, a.named(t.name)
		if v == nil {
			v = a.vm.ToValue(!t.negative)
		}
		if o != nil && o.multiple {
			multiples[name] = append(multiples[name], v)
			native.Must(values.Set(name, a.vm.NewArray(multiples[name]...)))
			return
		}
		native.Must(values.Set(name, v))
	}
	for i := range a.found {
		t := &a.found[i]
		switch t.kind {
		case "option":
			if a.strict {
				a.check(t)
			}
			store(*t)
		case "positional":
			if !a.positionals {
				a.fail("ERR_PARSE_ARGS_UNEXPECTED_POSITIONAL", "Unexpected argument '"+t.value.String()+"'. This command does not take positional arguments")
			}
			positionals = append(positionals, t.value)
		}
	}
	for _, o := range a.options {
		if o.fallback != nil && values.Get(o.name) == nil {
			native.Must(values.Set(o.name, o.fallback))
		}
	}
	out := a.vm.NewObject()
	native.Must(out.Set("values", values))
	native.Must(out.Set("positionals", a.vm.NewArray(positionals...)))
	if a.tokens {
		native.Must(out.Set("tokens", a.tokenList()))
	}
	return out
}

func (a *arguments) tokenList() *goja.Object {
	list := make([]any, len(a.found))
	for i, t := range a.found {
		o := a.vm.NewObject()
		set := func(name string, v any) { native.Must(o.Set(name, v)) }
		set("kind", t.kind)
		switch t.kind {
		case "option":
			set("name", t.name)
			set("rawName", t.raw)
			set("index", t.index)
			if t.value != nil {
				set("value", t.value)
				set("inlineValue", t.inline)
			} else {
				set("value", goja.Undefined())
				set("inlineValue", goja.Undefined())
			}
		case "positional":
			set("index", t.index)
			set("value", t.value)
		default:
			set("index", t.index)
		}
		list[i] = o
	}
	return a.vm.NewArray(list...)
}
