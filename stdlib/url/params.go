package url

import (
	"slices"
	"strings"
	"unicode/utf16"

	"github.com/dop251/goja"

	"mcpx/stdlib/internal/inspect"
	"mcpx/stdlib/internal/native"
	"mcpx/stdlib/internal/octets"
)

// params is what stands behind a URLSearchParams.
type params struct {
	pairs []pair
	of    *address // the URL whose query they are, or nil
}

type pair struct{ name, value string }

// read takes the pairs of a query without its question mark.
func (p *params) read(query string) {
	p.pairs = nil
	for piece := range strings.SplitSeq(query, "&") {
		if piece == "" {
			continue
		}
		name, value, _ := strings.Cut(piece, "=")
		p.pairs = append(p.pairs, pair{formDecode(name), formDecode(value)})
	}
}

func formDecode(text string) string {
	if !strings.ContainsAny(text, "+%") {
		return text
	}
	b := make([]byte, 0, len(text))
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case c == '+':
			c = ' '
		case c == '%' && i+2 < len(text) && isHex(text[i+1]) && isHex(text[i+2]):
			c = unhex(text[i+1])<<4 | unhex(text[i+2])
			i += 2
		}
		b = append(b, c)
	}
	return octets.ValidUTF8(b)
}

func isHex(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F'
}

func unhex(c byte) byte {
	if c <= '9' {
		return c - '0'
	}
	return c&^0x20 - 'A' + 10
}

const upperHex = "0123456789ABCDEF"

func formEncode(b *strings.Builder, text string) {
	for i := range len(text) {
		switch c := text[i]; {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '*', c == '-', c == '.', c == '_':
			b.WriteByte(c)
		case c == ' ':
			b.WriteByte('+')
		default:
			b.Write([]byte{'%', upperHex[c>>4], upperHex[c&15]})
		}
	}
}

func (p *params) String() string {
	var b strings.Builder
	for i, pair := range p.pairs {
		if i > 0 {
			b.WriteByte('&')
		}
		formEncode(&b, pair.name)
		b.WriteByte('=')
		formEncode(&b, pair.value)
	}
	return b.String()
}

// changed writes the pairs into the URL.
func (p *params) changed() {
	if p.of == nil {
		return
	}
	query := p.String()
	if query != "" {
		query = "?" + query
	}
	p.of.SetSearch(query)
}

// sort orders the pairs by the code units of their names.
func (p *params) sort() {
	type keyed struct {
		key []uint16
		pair
	}
	list := make([]keyed, len(p.pairs))
	for i, pair := range p.pairs {
		list[i] = keyed{utf16.Encode([]rune(pair.name)), pair}
	}
	slices.SortStableFunc(list, func(a, b keyed) int { return slices.Compare(a.key, b.key) })
	for i, k := range list {
		p.pairs[i] = k.pair
	}
}

func (m *module) newSearchParams() *native.Class {
	c := native.NewClass(m.vm, "URLSearchParams", 0, func(call goja.ConstructorCall) *goja.Object {
		p := &params{}
		m.fill(p, call.Argument(0))
		m.params.Set(call.This, p)
		return nil
	})
	c.Tag("URLSearchParams")
	c.Getter("size", func(this goja.Value) goja.Value { return m.vm.ToValue(len(m.paramsOf(this).pairs)) })
	// method adds a method whose first arguments must be there; they become strings.
	method := func(name string, required []string, fn func(p *params, args []string, call goja.FunctionCall) goja.Value) *goja.Object {
		return c.Method(name, len(required), func(call goja.FunctionCall) goja.Value {
			p := m.paramsOf(call.This)
			if len(call.Arguments) < len(required) {
				if len(required) == 1 {
					panic(m.missing(`The "` + required[0] + `" argument must be specified`))
				}
				panic(m.missing(`The "` + strings.Join(required, `" and "`) + `" arguments must be specified`))
			}
			args := make([]string, len(required))
			for i := range args {
				args[i] = native.String(m.vm, call.Arguments[i]).String()
			}
			return fn(p, args, call)
		})
	}
	// matching is a test for the pairs that a name, and a value if one is given, mean.
	matching := func(name string, call goja.FunctionCall) func(pair) bool {
		v := call.Argument(1)
		if goja.IsUndefined(v) {
			return func(p pair) bool { return p.name == name }
		}
		want := pair{name, native.String(m.vm, v).String()}
		return func(p pair) bool { return p == want }
	}
	method("append", []string{"name", "value"}, func(p *params, args []string, _ goja.FunctionCall) goja.Value {
		p.pairs = append(p.pairs, pair{args[0], args[1]})
		p.changed()
		return nil
	})
	method("delete", []string{"name"}, func(p *params, args []string, call goja.FunctionCall) goja.Value {
		p.pairs = slices.DeleteFunc(p.pairs, matching(args[0], call))
		p.changed()
		return nil
	})
	method("get", []string{"name"}, func(p *params, args []string, _ goja.FunctionCall) goja.Value {
		for _, pair := range p.pairs {
			if pair.name == args[0] {
				return m.vm.ToValue(pair.value)
			}
		}
		return goja.Null()
	})
	method("getAll", []string{"name"}, func(p *params, args []string, _ goja.FunctionCall) goja.Value {
		var all []any
		for _, pair := range p.pairs {
			if pair.name == args[0] {
				all = append(all, pair.value)
			}
		}
		return m.vm.NewArray(all...)
	})
	method("has", []string{"name"}, func(p *params, args []string, call goja.FunctionCall) goja.Value {
		return m.vm.ToValue(slices.ContainsFunc(p.pairs, matching(args[0], call)))
	})
	method("set", []string{"name", "value"}, func(p *params, args []string, _ goja.FunctionCall) goja.Value {
		done := false
		p.pairs = slices.DeleteFunc(p.pairs, func(old pair) bool {
			if old.name != args[0] {
				return false
			}
			drop := done
			done = true
			return drop
		})
		if i := slices.IndexFunc(p.pairs, func(old pair) bool { return old.name == args[0] }); i >= 0 {
			p.pairs[i].value = args[1]
		} else {
			p.pairs = append(p.pairs, pair{args[0], args[1]})
		}
		p.changed()
		return nil
	})
	method("sort", nil, func(p *params, _ []string, _ goja.FunctionCall) goja.Value {
		p.sort()
		p.changed()
		return nil
	})
	m.entries = native.NewIteration(m.vm, "URLSearchParams Iterator")
	iterate := func(name string, item func(pair) goja.Value) *goja.Object {
		return method(name, nil, func(p *params, _ []string, _ goja.FunctionCall) goja.Value {
			next := 0
			return m.entries.New(func() (goja.Value, bool) {
				if next >= len(p.pairs) {
					return nil, false
				}
				next++
				return item(p.pairs[next-1]), true
			})
		})
	}
	c.Symbol(goja.SymIterator, iterate("entries", func(p pair) goja.Value { return m.vm.NewArray(p.name, p.value) }))
	c.Method("forEach", 1, func(call goja.FunctionCall) goja.Value {
		p := m.paramsOf(call.This)
		fn := native.Callback(m.vm, call.Argument(0), "callback")
		for i := range len(p.pairs) {
			native.Call(fn, call.Argument(1), m.vm.ToValue(p.pairs[i].value), m.vm.ToValue(p.pairs[i].name), call.This)
		}
		return nil
	})
	iterate("keys", func(p pair) goja.Value { return m.vm.ToValue(p.name) })
	iterate("values", func(p pair) goja.Value { return m.vm.ToValue(p.value) })
	method("toString", nil, func(p *params, _ []string, _ goja.FunctionCall) goja.Value { return m.vm.ToValue(p.String()) })
	m.inspected(c)
	return c
}

func (m *module) paramsOf(this goja.Value) *params {
	p, ok := m.params.Get(this)
	if !ok {
		panic(native.Error(m.vm, "TypeError", "ERR_INVALID_THIS", `Value of "this" must be of type URLSearchParams`))
	}
	return p
}

// fill takes the pairs out of what the constructor was given.
func (m *module) fill(p *params, v goja.Value) {
	o, ok := v.(*goja.Object)
	if !ok {
		if !goja.IsUndefined(v) && !goja.IsNull(v) {
			p.read(strings.TrimPrefix(native.String(m.vm, v).String(), "?"))
		}
		return
	}
	if other, ok := m.params.Get(o); ok {
		p.pairs = slices.Clone(other.pairs)
		return
	}
	text := func(v goja.Value) string { return native.String(m.vm, v).String() }
	if iterator := o.GetSymbol(goja.SymIterator); iterator != nil && !goja.IsUndefined(iterator) && !goja.IsNull(iterator) {
		if _, ok := goja.AssertFunction(iterator); !ok {
			panic(native.Error(m.vm, "TypeError", "ERR_ARG_NOT_ITERABLE", "Query pairs must be iterable"))
		}
		m.rt.ForOf(o, func(v goja.Value) bool {
			item, ok := v.(*goja.Object)
			if _, iterable := goja.AssertFunction(symbolOf(item, goja.SymIterator)); !ok || !iterable {
				panic(m.noTuple())
			}
			var tuple []string
			m.rt.ForOf(item, func(v goja.Value) bool {
				tuple = append(tuple, text(v))
				return len(tuple) < 3
			})
			if len(tuple) != 2 {
				panic(m.noTuple())
			}
			p.pairs = append(p.pairs, pair{tuple[0], tuple[1]})
			return true
		})
		return
	}
	at := map[string]int{}
	for _, key := range o.Keys() {
		value := o.Get(key)
		if value == nil {
			value = goja.Undefined()
		}
		name := text(m.vm.ToValue(key))
		if i, ok := at[name]; ok {
			p.pairs[i].value = text(value)
			continue
		}
		at[name] = len(p.pairs)
		p.pairs = append(p.pairs, pair{name, text(value)})
	}
}

func symbolOf(o *goja.Object, s *goja.Symbol) goja.Value {
	if o == nil {
		return goja.Undefined()
	}
	return o.GetSymbol(s)
}

func (m *module) noTuple() *goja.Object {
	return native.Error(m.vm, "TypeError", "ERR_INVALID_TUPLE", "Each query pair must be an iterable [name, value] tuple")
}

// inspected makes URLSearchParams { 'a' => '1' } of the pairs.
func (m *module) inspected(c *native.Class) {
	symbol := native.Invoke(m.vm, m.vm.Get("Symbol").(*goja.Object), "for", m.vm.ToValue("nodejs.util.inspect.custom"))
	c.Symbol(symbol.(*goja.Symbol), native.Func(m.vm, "[nodejs.util.inspect.custom]", 2, func(call goja.FunctionCall) goja.Value {
		p := m.paramsOf(call.This)
		if depth := call.Argument(0); goja.IsNumber(depth) && depth.ToFloat() < 0 {
			return m.vm.ToValue("[Object]")
		}
		in := inspect.New(m.vm)
		options := inspect.Default()
		if given, ok := call.Argument(1).(*goja.Object); ok {
			options = in.ReadOptions(given, options)
		}
		items := make([]string, len(p.pairs))
		plain := options
		plain.Colors = false
		length := -2
		for i, pair := range p.pairs {
			name, value := m.vm.ToValue(pair.name), m.vm.ToValue(pair.value)
			items[i] = in.Inspect(name, options) + " => " + in.Inspect(value, options)
			length += len(in.Inspect(name, plain)) + len(in.Inspect(value, plain)) + len(" => ") + 2
		}
		name := call.This.(*goja.Object).Get("constructor").ToObject(m.vm).Get("name").String()
		switch {
		case len(items) == 0:
			return m.vm.ToValue(name + " {}")
		case length > options.BreakLength:
			return m.vm.ToValue(name + " {\n  " + strings.Join(items, ",\n  ") + " }")
		}
		return m.vm.ToValue(name + " { " + strings.Join(items, ", ") + " }")
	}))
}
