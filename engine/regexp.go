package engine

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/dlclark/regexp2/v2"
	"github.com/dop251/goja"

	"mcpx/engine/internal/pattern"
)

// regexps makes regular expressions that goja alone cannot. They are objects of goja
// with a pattern that it understands; what a script reads of them is what was written.
type regexps struct {
	rt        *Runtime
	class     *goja.Object // what scripts know as RegExp
	native    func(goja.Value, ...goja.Value) *goja.Object
	prototype *goja.Object
	getSource goja.Callable
	getFlags  goja.Callable
	exec      *goja.Object

	written map[string]*regexpOrigin // by the source that goja knows
	made    map[string]*goja.Object  // by what was written, to be copied
}

// regexpOrigin is what an author wrote, and what goja was given for it.
type regexpOrigin struct {
	source, flags string
	native        pattern.Pattern
	matcher       *regexp2.Regexp // for exec, once it is needed
}

// special says that matches need more than goja's exec gives.
func (o *regexpOrigin) special() bool {
	return o.native.Groups != nil || strings.Contains(o.flags, "d") || pattern.Forgotten(o.source, o.flags)
}

// regexpCache bounds how many different regular expressions are kept to be copied.
const regexpCache = 512

// installRegExp puts the class in the place of goja's.
func (rt *Runtime) installRegExp() {
	r := &rt.regexps
	if r.rt != nil {
		return
	}
	r.rt, r.written, r.made = rt, map[string]*regexpOrigin{}, map[string]*goja.Object{}
	native := rt.vm.Get("RegExp").ToObject(rt.vm)
	construct, _ := goja.AssertConstructor(native)
	r.native = func(v goja.Value, args ...goja.Value) *goja.Object {
		o, err := construct(nil, append([]goja.Value{v}, args...)...)
		if err != nil {
			panic(err)
		}
		return o
	}
	r.prototype = native.Get("prototype").ToObject(rt.vm)
	r.getSource, r.getFlags = rt.getterOf(r.prototype, "source"), rt.getterOf(r.prototype, "flags")
	r.exec = rt.Function("exec", r.execute)
	r.installMembers()
	r.class = r.newClass()
	must(r.prototype.DefineDataProperty("constructor", r.class, goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE))
	must(rt.vm.GlobalObject().DefineDataProperty("RegExp", r.class, goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE))
}

// getterOf is the getter of an accessor.
func (rt *Runtime) getterOf(o *goja.Object, name string) goja.Callable {
	descriptor := rt.intrinsics.call("Object", "getOwnPropertyDescriptor", o, rt.vm.ToValue(name)).(*goja.Object)
	get, _ := goja.AssertFunction(descriptor.Get("get"))
	return get
}

func (r *regexps) newClass() *goja.Object {
	vm := r.rt.vm
	class := vm.ToValue(func(goja.ConstructorCall) *goja.Object { return nil }).(*goja.Object)
	fixed := func(name string, v goja.Value, configurable goja.Flag) {
		must(class.DefineDataProperty(name, v, goja.FLAG_FALSE, configurable, goja.FLAG_FALSE))
	}
	fixed("name", vm.ToValue("RegExp"), goja.FLAG_TRUE)
	fixed("length", vm.ToValue(2), goja.FLAG_TRUE)
	fixed("prototype", r.prototype, goja.FLAG_FALSE)
	must(class.DefineAccessorPropertySymbol(goja.SymSpecies,
		r.rt.Function("get [Symbol.species]", func(c goja.FunctionCall) goja.Value { return c.This }), nil, goja.FLAG_TRUE, goja.FLAG_FALSE))
	escape := r.rt.Function("escape", r.escape)
	must(escape.DefineDataProperty("length", vm.ToValue(1), goja.FLAG_FALSE, goja.FLAG_TRUE, goja.FLAG_FALSE))
	must(class.DefineDataProperty("escape", escape, goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE))
	r.rt.Instances(class)
	// A native constructor does not know whether it is called with new. A proxy does.
	proxy := vm.NewProxy(class, &goja.ProxyTrapConfig{
		Apply: func(_ *goja.Object, _ goja.Value, args []goja.Value) goja.Value {
			return r.construct(args, nil)
		},
		Construct: func(_ *goja.Object, args []goja.Value, newTarget *goja.Object) *goja.Object {
			return r.construct(args, newTarget)
		},
	})
	return vm.ToValue(proxy).(*goja.Object)
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

func isRegExp(v goja.Value) (*goja.Object, bool) {
	o, ok := v.(*goja.Object)
	return o, ok && o.ClassName() == "RegExp"
}

// shown is the source that goja knows, nil of what is no regular expression.
func (r *regexps) shown(o goja.Value) (string, bool) {
	if _, ok := isRegExp(o); !ok {
		return "", false
	}
	v, err := r.getSource(o)
	if err != nil {
		panic(err)
	}
	return v.String(), true
}

// origin is what was written for o, if goja was given something else.
func (r *regexps) origin(o goja.Value) *regexpOrigin {
	source, ok := r.shown(o)
	if !ok {
		return nil
	}
	return r.written[source]
}

// newFlags are those that goja does not know, by the property that tells of them.
var newFlags = map[string]string{"hasIndices": "d", "unicodeSets": "v"}

// installMembers gives the prototype what it lacks, and lets source, flags and toString
// tell of what was written.
func (r *regexps) installMembers() {
	rt := r.rt
	getter := func(name string, get func(c goja.FunctionCall) goja.Value) {
		must(r.prototype.DefineAccessorProperty(name, rt.Function("get "+name, get), nil, goja.FLAG_TRUE, goja.FLAG_FALSE))
	}
	getter("source", func(c goja.FunctionCall) goja.Value {
		v, err := r.getSource(c.This)
		if err != nil {
			panic(err)
		}
		source := v.String()
		if o := r.written[source]; o != nil {
			return rt.vm.ToValue(o.source)
		}
		if strings.Contains(source, `\u002f`) {
			return rt.vm.ToValue(withSlashes(source))
		}
		return v
	})
	getter("flags", func(c goja.FunctionCall) goja.Value {
		if o := r.origin(c.This); o != nil {
			return rt.vm.ToValue(o.flags)
		}
		v, err := r.getFlags(c.This)
		if err != nil {
			panic(err)
		}
		if _, ok := isRegExp(c.This); ok {
			return v
		}
		flags := v.String()
		for name, flag := range newFlags {
			if v := c.This.(*goja.Object).Get(name); v != nil && v.ToBoolean() {
				flags += flag
			}
		}
		return rt.vm.ToValue(sortedFlags(flags))
	})
	for name, flag := range newFlags {
		getter(name, func(c goja.FunctionCall) goja.Value {
			if c.This.SameAs(r.prototype) {
				return nil
			}
			if _, ok := isRegExp(c.This); !ok {
				panic(rt.vm.NewTypeError("RegExp.prototype.%s getter called on non-RegExp object", name))
			}
			o := r.origin(c.This)
			return rt.vm.ToValue(o != nil && strings.Contains(o.flags, flag))
		})
	}
	text := rt.Function("toString", func(c goja.FunctionCall) goja.Value {
		o, ok := c.This.(*goja.Object)
		if !ok {
			panic(rt.vm.NewTypeError("Method RegExp.prototype.toString called on incompatible receiver %s", c.This))
		}
		member := func(name string) string {
			v := o.Get(name)
			if v == nil {
				return "undefined"
			}
			return rt.toText(v).String()
		}
		return rt.vm.ToValue("/" + member("source") + "/" + member("flags"))
	})
	must(r.prototype.DefineDataProperty("toString", text, goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE))
	r.installReplace()
}

// installReplace keeps a regular expression with the flag u and without g from replacing
// more than its first match, as those of goja do in a text beyond ASCII.
func (r *regexps) installReplace() {
	rt := r.rt
	replace, _ := goja.AssertFunction(r.prototype.GetSymbol(goja.SymReplace))
	exec := r.prototype.Get("exec")
	once := rt.Function("[Symbol.replace]", func(c goja.FunctionCall) goja.Value {
		this := c.This
		if o, ok := isRegExp(this); ok && o.Get("unicode").ToBoolean() && !o.Get("global").ToBoolean() && !o.Get("sticky").ToBoolean() && o.Get("exec").SameAs(exec) {
			// With an exec of its own, goja takes the long way, which is right.
			o = r.native(o)
			must(o.DefineDataProperty("exec", exec, goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE))
			this = o
		}
		v, err := replace(this, c.Arguments...)
		if err != nil {
			panic(err)
		}
		return v
	})
	must(once.DefineDataProperty("length", rt.vm.ToValue(2), goja.FLAG_FALSE, goja.FLAG_TRUE, goja.FLAG_FALSE))
	must(r.prototype.DefineDataPropertySymbol(goja.SymReplace, once, goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE))
}

// withSlashes shows slashes as authors write them: goja has them all as \u002f. In a
// class they stand as they are.
func withSlashes(source string) string {
	var b strings.Builder
	inClass := false
	for i := 0; i < len(source); i++ {
		switch c := source[i]; {
		case strings.HasPrefix(source[i:], `\u002f`):
			if !inClass {
				b.WriteByte('\\')
			}
			b.WriteByte('/')
			i += len(`\u002f`) - 1
			continue
		case c == '\\' && i+1 < len(source):
			b.WriteByte(c)
			i++
		case c == '[':
			inClass = true
		case c == ']':
			inClass = false
		}
		b.WriteByte(source[i])
	}
	return b.String()
}

// construct is RegExp, called with new or, if newTarget is nil, without.
func (r *regexps) construct(args []goja.Value, newTarget *goja.Object) *goja.Object {
	c := goja.FunctionCall{Arguments: args}
	source, flags := c.Argument(0), c.Argument(1)
	if o, ok := source.(*goja.Object); ok {
		_, real := isRegExp(o)
		like := real
		if m := o.GetSymbol(goja.SymMatch); m != nil && !goja.IsUndefined(m) {
			like = m.ToBoolean()
		}
		if newTarget == nil && like && goja.IsUndefined(flags) && o.Get("constructor") == r.class {
			return o
		}
		if real || like {
			if goja.IsUndefined(flags) {
				flags = orUndefined(o.Get("flags"))
			}
			source = orUndefined(o.Get("source"))
			if origin := r.origin(o); origin == nil && real {
				source, _ = r.getSource(o)
			}
		}
	}
	text, letters := r.rt.vm.ToValue("").(goja.String), ""
	if !goja.IsUndefined(source) {
		text = r.rt.toText(source)
	}
	if !goja.IsUndefined(flags) {
		letters = r.rt.toText(flags).String()
	}
	o := r.create(text, letters)
	if newTarget != nil && newTarget != r.class {
		if proto, ok := newTarget.Get("prototype").(*goja.Object); ok {
			must(o.SetPrototype(proto))
		}
	}
	return o
}

func orUndefined(v goja.Value) goja.Value {
	if v == nil {
		return goja.Undefined()
	}
	return v
}

// create makes a regular expression. One that was made before is copied.
func (r *regexps) create(source goja.String, flags string) *goja.Object {
	written := source.String()
	key := flags + "/" + written
	exact := !strings.ContainsRune(written, utf8.RuneError) // the key tells it from all others
	if o := r.made[key]; o != nil && exact {
		return r.finished(r.native(o))
	}
	o := r.compile(source, flags)
	if exact {
		if len(r.made) >= regexpCache {
			clear(r.made)
		}
		r.made[key] = o
	}
	return r.finished(r.native(o))
}

// finished gives o its own exec if it needs one.
func (r *regexps) finished(o *goja.Object) *goja.Object {
	if origin := r.origin(o); origin != nil && origin.special() {
		must(o.DefineDataProperty("exec", r.exec, goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE))
	}
	return o
}

func (r *regexps) compile(source goja.String, flags string) *goja.Object {
	vm := r.rt.vm
	if !pattern.Valid(flags) {
		panic(r.rt.syntaxError("Invalid flags supplied to RegExp constructor '" + flags + "'"))
	}
	if pattern.Plain(source.String(), flags) {
		return r.tried(source, source, flags, flags)
	}
	written := source.String()
	p, err := pattern.Translate(units(source), flags)
	if err != nil {
		panic(r.rt.syntaxError(invalidPattern(written, flags, err.Error())))
	}
	switch {
	case p.Source == "" && written != "":
		return r.tried(source, source, flags, flags)
	case p.Source == "":
		p.Source = pattern.Mark // as goja shows an empty pattern
	}
	native := vm.ToValue(pattern.Mark + p.Source).(goja.String)
	o := &regexpOrigin{source: escapedSource(written), flags: sortedFlags(flags), native: *p}
	made := r.tried(source, native, flags, p.Flags)
	for {
		shown, _ := r.shown(made)
		known := r.written[shown]
		if known == nil {
			r.written[shown] = o
			return made
		}
		if known.source == o.source && known.flags == o.flags {
			return made
		}
		// Another means the same to goja: what does nothing tells them apart.
		native = vm.ToValue(pattern.Mark + native.String()).(goja.String)
		made = r.tried(source, native, flags, p.Flags)
	}
}

// tried makes a regular expression of goja, or says in the words of V8 what is wrong
// with the one that was written.
func (r *regexps) tried(source, native goja.String, flags, nativeFlags string) (o *goja.Object) {
	ex := r.rt.vm.Try(func() { o = r.native(native, r.rt.vm.ToValue(nativeFlags)) })
	if ex == nil {
		return o
	}
	reason := "the engine does not support it"
	if _, err := pattern.Translate(units(source), flags); err != nil {
		reason = err.Error()
	}
	panic(r.rt.syntaxError(invalidPattern(source.String(), flags, reason)))
}

func invalidPattern(source, flags, reason string) string {
	return fmt.Sprintf("Invalid regular expression: /%s/%s: %s", source, flags, reason)
}

func (rt *Runtime) syntaxError(message string) *goja.Object {
	o, err := rt.vm.New(rt.vm.Get("SyntaxError"), rt.vm.ToValue(message))
	if err != nil {
		panic(err)
	}
	return o
}

// units is a string in UTF-16.
func units(s goja.String) []uint16 {
	text := s.String()
	if !strings.ContainsRune(text, utf8.RuneError) {
		return utf16.Encode([]rune(text))
	}
	out := make([]uint16, s.Length())
	for i := range out {
		out[i] = s.CharAt(i)
	}
	return out
}

// sortedFlags is flags in the order in which they are shown.
func sortedFlags(flags string) string {
	letters := []byte(flags)
	slices.Sort(letters)
	return string(letters)
}

// escapedSource is a pattern as the property source shows it: so that it could stand
// between slashes.
func escapedSource(source string) string {
	if source == "" {
		return "(?:)"
	}
	var b strings.Builder
	inClass := false
	for i := 0; i < len(source); i++ {
		switch c := source[i]; c {
		case '\\':
			b.WriteByte(c)
			i++
			if i == len(source) {
				return b.String()
			}
			if source[i] == '\n' {
				b.WriteByte('n')
				continue
			}
		case '[':
			inClass = true
		case ']':
			inClass = false
		case '/':
			if !inClass {
				b.WriteByte('\\')
			}
		case '\n':
			b.WriteString(`\n`)
			continue
		case '\r':
			b.WriteString(`\r`)
			continue
		}
		b.WriteByte(source[i])
	}
	return b.String()
}

// register notes what was written for the literals of a program.
func (r *regexps) register(literals map[string]*regexpOrigin) {
	maps.Copy(r.written, literals)
}

// literal makes the regular expression of a literal that goja cannot make.
func (r *regexps) literal(c goja.FunctionCall) goja.Value {
	return r.create(c.Argument(0).(goja.String), c.Argument(1).String())
}

// execute is the exec of those that need their own: it knows where groups matched, and
// which of those with one name did.
func (r *regexps) execute(c goja.FunctionCall) goja.Value {
	vm := r.rt.vm
	o, _ := isRegExp(c.This)
	origin := r.origin(c.This)
	if o == nil || origin == nil {
		panic(vm.NewTypeError("Method RegExp.prototype.exec called on incompatible receiver %s", c.This))
	}
	text := r.rt.toText(c.Argument(0))
	moving := strings.ContainsAny(origin.native.Flags, "gy")
	start := 0
	if last := max(o.Get("lastIndex").ToInteger(), 0); moving {
		if last > int64(text.Length()) {
			must(o.Set("lastIndex", 0))
			return goja.Null()
		}
		start = int(last)
	}
	m := r.match(origin, text, start)
	if m == nil {
		if moving {
			must(o.Set("lastIndex", 0))
		}
		return goja.Null()
	}
	if moving {
		must(o.Set("lastIndex", m.to[0]))
	}
	return r.rt.matchArray(text, m, strings.Contains(origin.flags, "d"))
}

// match finds the first match from start on, or at start if the pattern is sticky.
func (r *regexps) match(o *regexpOrigin, text goja.String, start int) *regexpMatch {
	flags := o.native.Flags
	if o.matcher == nil {
		options := regexp2.ECMAScript
		for flag, option := range map[string]regexp2.RegexOptions{"m": regexp2.Multiline, "s": regexp2.Singleline, "i": regexp2.IgnoreCase, "u": regexp2.Unicode} {
			if strings.Contains(flags, flag) {
				options |= option
			}
		}
		matcher, err := regexp2.Compile(o.native.Source, options)
		if err != nil {
			panic(err) // goja has compiled the same
		}
		o.matcher = matcher
	}
	a := r.rt.matches.apart(text, strings.Contains(flags, "u"))
	from, _ := a.at(start)
	m, err := o.matcher.FindRunesMatchStartingAt(a.runes, from)
	if err != nil || m == nil || strings.Contains(flags, "y") && a.place(m.RuneIndex) != start {
		return nil
	}
	return located(m, a, o.native.Groups)
}

// matchArray is the array of a match, with the indices of its groups if they are asked for.
func (rt *Runtime) matchArray(text goja.String, m *regexpMatch, withIndices bool) goja.Value {
	vm := rt.vm
	texts, ranges := make([]goja.Value, len(m.from)), make([]goja.Value, len(m.from))
	var groups, rangesByName *goja.Object
	for i := range m.from {
		texts[i], ranges[i] = goja.Undefined(), goja.Undefined()
		if m.from[i] >= 0 {
			texts[i] = text.Substring(m.from[i], m.to[i])
			if withIndices {
				ranges[i] = vm.NewArray(m.from[i], m.to[i])
			}
		}
		name := m.names[i]
		if name == "" {
			continue
		}
		if groups == nil {
			groups, rangesByName = vm.CreateObject(nil), vm.CreateObject(nil)
		}
		if m.from[i] >= 0 || groups.Get(name) == nil {
			must(groups.Set(name, texts[i]))
			must(rangesByName.Set(name, ranges[i]))
		}
	}
	optional := func(o *goja.Object) goja.Value {
		if o == nil {
			return goja.Undefined()
		}
		return o
	}
	result := rt.newArray(texts)
	must(result.Set("index", m.from[0]))
	must(result.Set("input", text))
	must(result.Set("groups", optional(groups)))
	if withIndices {
		indices := rt.newArray(ranges)
		must(indices.Set("groups", optional(rangesByName)))
		must(result.Set("indices", indices))
	}
	return result
}

// escape is RegExp.escape: the pattern that matches a text and nothing else.
func (r *regexps) escape(c goja.FunctionCall) goja.Value {
	s, ok := c.Argument(0).(goja.String)
	if !ok {
		panic(r.rt.vm.NewTypeError("%s is not a string", c.Argument(0)))
	}
	var b strings.Builder
	for i, unit := range units(s) {
		r := rune(unit)
		switch {
		case i == 0 && (r >= '0' && r <= '9' || r|0x20 >= 'a' && r|0x20 <= 'z'):
			fmt.Fprintf(&b, `\x%02x`, r)
		case r < 0x80 && strings.ContainsRune(`^$\.*+?()[]{}|/`, r):
			b.WriteString(`\` + string(r))
		case r >= '\t' && r <= '\r':
			b.WriteString(`\` + string("tnvfr"[r-'\t']))
		case r < 0x80 && strings.ContainsRune(",-=<>#&!%:;@~'`\" ", r):
			fmt.Fprintf(&b, `\x%02x`, r)
		case r == 0xA0:
			b.WriteString(`\xa0`)
		case utf16.IsSurrogate(r) || r == 0xFEFF || r == 0x2028 || r == 0x2029 || r > 0xA0 && isSpace(r):
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteRune(r)
		}
	}
	return r.rt.vm.ToValue(joinSurrogates(b.String()))
}

func isSpace(r rune) bool {
	return r == 0x1680 || r >= 0x2000 && r <= 0x200A || r == 0x202F || r == 0x205F || r == 0x3000
}

// joinSurrogates undoes the escapes of the two halves of a character.
func joinSurrogates(text string) string {
	const width = len(`\ud800`)
	for i := 0; i+2*width <= len(text); i++ {
		var high, low rune
		if n, _ := fmt.Sscanf(text[i:i+2*width], `\u%04x\u%04x`, &high, &low); n == 2 {
			if pair := utf16.DecodeRune(high, low); pair != utf8.RuneError {
				text = text[:i] + string(pair) + text[i+2*width:]
			}
		}
	}
	return text
}
