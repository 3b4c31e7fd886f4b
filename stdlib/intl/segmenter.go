package intl

import (
	"math"
	"unicode"
	"unicode/utf16"

	"github.com/dop251/goja"
	"github.com/rivo/uniseg"

	"mcpx/stdlib/internal/native"
)

// segmenter is an Intl.Segmenter. Segments are those of the Unicode standard: unlike
// ICU it has no dictionaries for the languages that do not put spaces between words.
type segmenter struct {
	locale      locale
	granularity string
}

// segments is what segment returns.
type segments struct {
	by   *segmenter
	text goja.String
}

// cursor walks over the segments of a text.
type cursor struct {
	granularity string
	rest        string
	state       int
	at          int // in code units
}

func (s segments) cursor() cursor {
	return cursor{granularity: s.by.granularity, rest: s.text.String(), state: -1}
}

// next returns the next segment, false at the end.
func (c *cursor) next() (segment string, start, end int, ok bool) {
	if c.rest == "" {
		return "", c.at, c.at, false
	}
	switch c.granularity {
	case "word":
		segment, c.rest, c.state = uniseg.FirstWordInString(c.rest, c.state)
	case "sentence":
		segment, c.rest, c.state = uniseg.FirstSentenceInString(c.rest, c.state)
	default:
		segment, c.rest, _, c.state = uniseg.FirstGraphemeClusterInString(c.rest, c.state)
	}
	start = c.at
	for _, r := range segment {
		c.at += utf16.RuneLen(r)
	}
	return segment, start, c.at, true
}

func (m *module) segmenterClass() goja.Value {
	slot := native.NewSlot[*segmenter]()
	results := native.NewSlot[segments]()
	c := m.service("Segmenter", 0, false, func(object *goja.Object, locales, opts goja.Value) {
		requested := m.requested(locales)
		o := m.strict("Intl.Segmenter", opts)
		o.matcher()
		s := &segmenter{locale: m.resolve(requested, nil, nil)}
		s.granularity = o.text("granularity", "grapheme", "grapheme", "word", "sentence")
		slot.Set(object, s)
	})
	describe := func(s segments, segment string, start, end int) goja.Value {
		return m.object(func(add func(name string, value any)) {
			add("segment", s.text.Substring(start, end))
			add("index", start)
			add("input", s.text)
			if s.by.granularity == "word" {
				add("isWordLike", wordLike(segment))
			}
		})
	}
	prototype := m.vm.NewObject()
	iteration := native.NewIteration(m.vm, "Segmenter String Iterator")
	method := func(name string, length int, fn native.Function) {
		native.Hide(prototype, name, native.Func(m.vm, name, length, fn))
	}
	method("containing", 1, func(call goja.FunctionCall) goja.Value {
		s := receiver(m, results, call.This, "%SegmentsPrototype%.containing")
		n := m.number(call.Argument(0))
		if math.IsNaN(n) {
			n = 0
		}
		for c := s.cursor(); ; {
			segment, start, end, ok := c.next()
			if !ok || n <= -1 || n >= float64(s.text.Length()) {
				return goja.Undefined()
			}
			if int(n) >= start && int(n) < end {
				return describe(s, segment, start, end)
			}
		}
	})
	native.Must(prototype.DefineDataPropertySymbol(goja.SymIterator, native.Func(m.vm, "[Symbol.iterator]", 0, func(call goja.FunctionCall) goja.Value {
		s := receiver(m, results, call.This, "%SegmentsPrototype%[Symbol.iterator]")
		c := s.cursor()
		return iteration.New(func() (goja.Value, bool) {
			segment, start, end, ok := c.next()
			if !ok {
				return nil, false
			}
			return describe(s, segment, start, end), true
		})
	}), goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE))
	c.Method("segment", 1, func(call goja.FunctionCall) goja.Value {
		s := receiver(m, slot, call.This, "Intl.Segmenter.prototype.segment")
		o := m.vm.CreateObject(prototype)
		results.Set(o, segments{s, native.String(m.vm, call.Argument(0))})
		return o
	})
	c.Method("resolvedOptions", 0, func(call goja.FunctionCall) goja.Value {
		s := receiver(m, slot, call.This, "Intl.Segmenter.prototype.resolvedOptions")
		return m.object(func(add func(name string, value any)) {
			add("locale", s.locale.tag.String())
			add("granularity", s.granularity)
		})
	})
	return c.Constructor
}

func wordLike(s string) bool {
	for _, r := range s {
		if unicode.IsLetter(r) || unicode.IsNumber(r) {
			return true
		}
	}
	return false
}
