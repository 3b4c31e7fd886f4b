package engine

import (
	"reflect"
	"slices"
	"sync"
	"unicode/utf16"
	"unicode/utf8"
	"unsafe"

	"github.com/dlclark/regexp2/v2"
	"github.com/dop251/goja"
)

// matches makes going through a long text, match by match, take the time of the matches.
// For each exec and test goja compares the text with that of the last, takes it apart
// anew if there was no match, and looks for a sticky match up to the end of the text.
type matches struct {
	rt       *Runtime
	last     apart
	anchored map[*regexp2.Regexp]*regexp2.Regexp // by the one that is not
}

// matchFrom is the length of a text from which on it is worth to keep it.
const matchFrom = 256

// anchoredMax bounds how many anchored expressions are kept.
const anchoredMax = 512

// apart is a text as the matcher takes it.
type apart struct {
	text       goja.String
	codePoints bool
	runes      []rune
	places     []int // where in UTF-16 each rune is, and the end; nil if all are where they are among the runes
}

// place is where in UTF-16 a rune is.
func (a *apart) place(i int) int {
	if a.places == nil {
		return i
	}
	return a.places[i]
}

// at is the first rune from a place in UTF-16 on, and whether it is there.
func (a *apart) at(place int) (i int, exact bool) {
	if a.places == nil {
		return place, true
	}
	return slices.BinarySearch(a.places, place)
}

// apart is text in runes, those of the last time if it is the same.
func (m *matches) apart(text goja.String, codePoints bool) *apart {
	if m.last.codePoints != codePoints || !identical(m.last.text, text) {
		m.last = takeApart(text, codePoints)
	}
	return &m.last
}

func takeApart(text goja.String, codePoints bool) apart {
	length := text.Length()
	a := apart{text: text, codePoints: codePoints, runes: make([]rune, 0, length)}
	for i := 0; i < length; i++ {
		r := rune(text.CharAt(i))
		if codePoints && i+1 < length {
			if pair := utf16.DecodeRune(r, rune(text.CharAt(i+1))); pair != utf8.RuneError {
				if a.places == nil { // the first
					a.places = make([]int, i, length)
					for at := range a.places {
						a.places[at] = at
					}
				}
				a.places = append(a.places, i)
				a.runes = append(a.runes, pair)
				i++
				continue
			}
		}
		if a.places != nil {
			a.places = append(a.places, i)
		}
		a.runes = append(a.runes, r)
	}
	if a.places != nil {
		a.places = append(a.places, length)
	}
	return a
}

// identical reports whether two texts are one in memory. Equal ones need not be.
func identical(a, b goja.String) bool {
	f := forms()
	kind := reflect.TypeOf(a)
	if !f.known || a == nil || kind != reflect.TypeOf(b) {
		return false
	}
	switch kind {
	case f.ascii:
		a, b := a.String(), b.String()
		return len(a) == len(b) && unsafe.StringData(a) == unsafe.StringData(b)
	case f.units:
		a, b := unitsOf(a), unitsOf(b)
		return len(a) == len(b) && unsafe.SliceData(a) == unsafe.SliceData(b)
	}
	return kind.Kind() == reflect.Pointer && a == b
}

// installMatches puts exec and test over those of goja, which are called for what they
// leave. They stay the same functions: with others in their place, goja would take the
// long way for everything that a regular expression does.
func (rt *Runtime) installMatches() {
	m := &rt.matches
	prototype := rt.vm.Get("RegExp").ToObject(rt.vm).Get("prototype").ToObject(rt.vm)
	for name, of := range map[string]func(*found) goja.Value{
		"exec": func(f *found) goja.Value {
			if f.match == nil {
				return goja.Null()
			}
			return rt.matchArray(f.text, f.match, false)
		},
		"test": func(f *found) goja.Value { return rt.vm.ToValue(f.match != nil) },
	} {
		fn, _ := prototype.Get(name).(*goja.Object)
		implementation, ok := regexpParts().function(fn)
		if !ok {
			continue
		}
		plain := *implementation
		*implementation = func(c goja.FunctionCall) goja.Value {
			if f := m.find(c); f != nil {
				return of(f)
			}
			return plain(c)
		}
	}
}

// found is what came of looking for a match.
type found struct {
	text  goja.String
	match *regexpMatch // nil if there is none
}

// find looks for the match that exec is asked for, and moves lastIndex. It returns nil,
// and has done nothing, if that is better left to goja.
func (m *matches) find(c goja.FunctionCall) *found {
	p, ok := regexpParts().pattern(c.This)
	if !ok || !p.global && !p.sticky || p.backtracking == nil {
		return nil
	}
	text, ok := c.Argument(0).(goja.String)
	if !ok || text.Length() < matchFrom {
		return nil
	}
	o := c.This.(*goja.Object)
	last := o.Get("lastIndex")
	if last == nil || !goja.IsNumber(last) {
		return nil
	}
	start := last.ToInteger()
	if start < 0 || start > int64(text.Length()) || start == 0 && p.linear {
		return nil
	}
	expression := p.backtracking
	if p.sticky {
		if expression = m.anchor(p); expression == nil {
			return nil
		}
	}
	a := m.apart(text, p.unicode)
	from, exact := a.at(int(start))
	if !exact {
		return nil
	}
	f := &found{text: text}
	index := 0
	if match, err := expression.FindRunesMatchStartingAt(a.runes, from); err == nil && match != nil {
		f.match = located(match, a, nil)
		index = f.match.to[0]
	} else if !p.sticky {
		m.last = apart{} // the end of the text
	}
	must(o.Set("lastIndex", index))
	return f
}

// anchor is an expression that only matches where it begins to look, nil if there is none.
func (m *matches) anchor(p regexpPattern) *regexp2.Regexp {
	if anchored, ok := m.anchored[p.backtracking]; ok {
		return anchored
	}
	options := regexp2.ECMAScript
	for option, on := range map[regexp2.RegexOptions]bool{
		regexp2.IgnoreCase: p.ignoreCase, regexp2.Multiline: p.multiline, regexp2.Singleline: p.dotAll, regexp2.Unicode: p.unicode,
	} {
		if on {
			options |= option
		}
	}
	anchored, err := regexp2.Compile(`\G(?:`+p.backtracking.String()+`)`, options)
	if err != nil {
		anchored = nil
	}
	if m.anchored == nil || len(m.anchored) >= anchoredMax {
		m.anchored = map[*regexp2.Regexp]*regexp2.Regexp{}
	}
	m.anchored[p.backtracking] = anchored
	return anchored
}

// regexpPattern is what a regular expression of goja consists of.
type regexpPattern struct {
	global, ignoreCase, multiline, dotAll, sticky, unicode bool

	linear       bool            // goja uses another matcher at the beginning of a text
	backtracking *regexp2.Regexp // nil if none was needed yet
}

// regexpPlaces is where goja keeps that. Like an arrayLayout it is looked up by name and
// type, and if it is not there, scripts get what goja does.
type regexpPlaces struct {
	known bool

	expression, native unsafe.Pointer // the type words of objects that are a regular expression, and a function of goja
	self               uintptr        // in goja.Object: the implementation, an interface
	call               uintptr        // in the implementation of a function

	ofPattern                                              uintptr // in the implementation of a regular expression: a pointer
	global, ignoreCase, multiline, dotAll, sticky, unicode uintptr // in the pattern
	linear, wrapper                                        uintptr // in the pattern: pointers
	backtracking                                           uintptr // behind the wrapper
}

// regexpParts finds it.
var regexpParts = sync.OnceValue(func() *regexpPlaces {
	l := &regexpPlaces{}
	self, ok := reflect.TypeFor[goja.Object]().FieldByName("self")
	if !ok || self.Type.Kind() != reflect.Interface {
		return l
	}
	l.self = self.Offset
	vm := goja.New()
	sample, err := vm.RunString(`const r = /(?=a)b/gms; r`)
	if err != nil {
		return l
	}
	expression := sample.(*goja.Object)
	function, _ := expression.Get("exec").(*goja.Object)
	if function == nil {
		return l
	}
	structOf := func(o *goja.Object) (reflect.Type, unsafe.Pointer) {
		v := reflect.NewAt(self.Type, unsafe.Add(unsafe.Pointer(o), l.self)).Elem().Elem()
		if v.Kind() != reflect.Pointer || v.Elem().Kind() != reflect.Struct {
			ok = false
			return reflect.TypeFor[struct{}](), nil
		}
		return v.Elem().Type(), (*[2]unsafe.Pointer)(unsafe.Add(unsafe.Pointer(o), l.self))[0]
	}
	find := func(in reflect.Type, name string, want reflect.Type) (at uintptr, behind reflect.Type) {
		f, found := in.FieldByName(name)
		if !found || want != nil && f.Type != want || want == nil && (f.Type.Kind() != reflect.Pointer || f.Type.Elem().Kind() != reflect.Struct) {
			ok = false
			return 0, reflect.TypeFor[struct{}]()
		}
		if want == nil {
			behind = f.Type.Elem()
		}
		return f.Offset, behind
	}
	flag := func(in reflect.Type, name string) uintptr {
		at, _ := find(in, name, reflect.TypeFor[bool]())
		return at
	}
	var of reflect.Type
	of, l.native = structOf(function)
	l.call, _ = find(of, "f", reflect.TypeFor[func(goja.FunctionCall) goja.Value]())
	of, l.expression = structOf(expression)
	l.ofPattern, of = find(of, "pattern", nil)
	l.global, l.ignoreCase, l.multiline = flag(of, "global"), flag(of, "ignoreCase"), flag(of, "multiline")
	l.dotAll, l.sticky, l.unicode = flag(of, "dotAll"), flag(of, "sticky"), flag(of, "unicode")
	l.linear, _ = find(of, "regexpWrapper", nil)
	l.wrapper, of = find(of, "regexp2Wrapper", nil)
	l.backtracking, _ = find(of, "rx", reflect.TypeFor[*regexp2.Regexp]())
	if !ok {
		return l
	}
	// The sample is what it should look like.
	l.known = true
	p, isExpression := l.pattern(expression)
	l.known = isExpression && p.backtracking != nil && p.backtracking.String() == "(?=a)b" &&
		p.global && !p.ignoreCase && p.multiline && p.dotAll && !p.sticky && !p.unicode && !p.linear
	return l
})

// function is where goja keeps what a function of its own does.
func (l *regexpPlaces) function(o *goja.Object) (*func(goja.FunctionCall) goja.Value, bool) {
	if o == nil || !l.known {
		return nil, false
	}
	words := (*[2]unsafe.Pointer)(unsafe.Add(unsafe.Pointer(o), l.self))
	if words[0] != l.native {
		return nil, false
	}
	f := (*func(goja.FunctionCall) goja.Value)(unsafe.Add(words[1], l.call))
	return f, *f != nil
}

// pattern is that of v, if it is a regular expression.
func (l *regexpPlaces) pattern(v goja.Value) (p regexpPattern, ok bool) {
	o, ok := v.(*goja.Object)
	if !ok || !l.known {
		return p, false
	}
	words := (*[2]unsafe.Pointer)(unsafe.Add(unsafe.Pointer(o), l.self))
	if words[0] != l.expression {
		return p, false
	}
	at := *(*unsafe.Pointer)(unsafe.Add(words[1], l.ofPattern))
	if at == nil {
		return p, false
	}
	flag := func(offset uintptr) bool { return *(*bool)(unsafe.Add(at, offset)) }
	p = regexpPattern{
		global: flag(l.global), ignoreCase: flag(l.ignoreCase), multiline: flag(l.multiline),
		dotAll: flag(l.dotAll), sticky: flag(l.sticky), unicode: flag(l.unicode),
	}
	p.linear = *(*unsafe.Pointer)(unsafe.Add(at, l.linear)) != nil
	if wrapper := *(*unsafe.Pointer)(unsafe.Add(at, l.wrapper)); wrapper != nil {
		p.backtracking = *(**regexp2.Regexp)(unsafe.Add(wrapper, l.backtracking))
	}
	return p, true
}

// regexpMatch is where a pattern and its groups matched, in UTF-16. A group that did not
// has -1.
type regexpMatch struct {
	from, to []int
	names    []string
}

// located is a match in UTF-16. Groups are called as in names, those beyond as in the match.
func located(m *regexp2.Match, a *apart, names []string) *regexpMatch {
	groups := m.Groups()
	out := &regexpMatch{from: make([]int, len(groups)), to: make([]int, len(groups)), names: make([]string, len(groups))}
	outer := 0
	for i, g := range groups {
		from, to := -1, -1
		if len(g.Captures) > 0 {
			from, to = a.place(g.RuneIndex), a.place(g.RuneIndex+g.RuneLength)
		}
		// A group keeps what it matched in an earlier round of a repetition; that is
		// before what the group around it matched in the last.
		if i > 0 && (from < 0 || to < outer) {
			from, to = -1, -1
		} else {
			outer = from
		}
		if i == 0 {
			outer = 0
		}
		out.from[i], out.to[i], out.names[i] = from, to, g.Name
		if i < len(names) {
			out.names[i] = names[i]
		}
	}
	out.names[0] = ""
	return out
}
