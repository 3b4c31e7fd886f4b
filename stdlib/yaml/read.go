package yaml

import (
	"encoding/base64"
	"math"
	"strconv"
	"strings"

	"github.com/dop251/goja"
	"go.yaml.in/yaml/v4"

	"mcpx/stdlib/internal/data"
)

// maxExpanded is how many values a document may have, those that aliases repeat counted
// each time: what a few lines of text can stand for has no bound.
const maxExpanded = 10_000_000

// reader makes values of one document.
type reader struct {
	kit   *data.Kit
	known map[*yaml.Node]anchored
	count int
}

// anchored is what a node with an anchor became; its value is nil while it is being made.
type anchored struct {
	value goja.Value
	count int
}

func (r *reader) fail(n *yaml.Node, message string) *goja.Object {
	return r.kit.SyntaxError(max(n.Line, 1), max(n.Column, 1), message)
}

func (r *reader) add(n *yaml.Node, count int) {
	if r.count += count; r.count > maxExpanded {
		panic(r.fail(n, "aliases make more than "+strconv.Itoa(maxExpanded)+" values of the document"))
	}
}

func (r *reader) value(n *yaml.Node, depth int) goja.Value {
	if depth > data.MaxDepth {
		panic(r.fail(n, "nested more than "+strconv.Itoa(data.MaxDepth)+" deep"))
	}
	switch n.Kind {
	case yaml.DocumentNode:
		if len(n.Content) == 0 {
			return goja.Null()
		}
		return r.value(n.Content[0], depth)
	case yaml.AliasNode:
		a := r.known[n.Alias]
		if a.value == nil {
			panic(r.fail(n, "the anchor "+n.Value+" contains itself"))
		}
		r.add(n, a.count)
		return a.value
	}
	before := r.count
	r.add(n, 1)
	var v goja.Value
	switch n.Kind {
	case yaml.SequenceNode:
		items := make([]goja.Value, len(n.Content))
		for i, item := range n.Content {
			items[i] = r.value(item, depth+1)
		}
		v = r.kit.List(items)
	case yaml.MappingNode:
		v = r.mapping(n, depth)
	default:
		v = r.scalar(n)
	}
	if n.Anchor != "" {
		r.known[n] = anchored{v, r.count - before}
	}
	return v
}

func (r *reader) mapping(n *yaml.Node, depth int) goja.Value {
	o := r.kit.VM.NewObject()
	const merged, written = 1, 2
	have := map[string]int{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		if key.Kind == yaml.ScalarNode && key.Value == "<<" && key.Tag == "!!merge" {
			r.merge(key, r.value(value, depth+1), func(name string, v goja.Value) {
				if have[name] == 0 {
					have[name] = merged
					data.Define(o, name, v)
				}
			})
			continue
		}
		name := r.key(key)
		if have[name] == written {
			panic(r.fail(key, "the key "+strconv.Quote(name)+" twice in one mapping"))
		}
		have[name] = written
		data.Define(o, name, r.value(value, depth+1))
	}
	return o
}

// key is the text of a key, as it is written.
func (r *reader) key(n *yaml.Node) string {
	at := n
	if n.Kind == yaml.AliasNode {
		at = n.Alias
	}
	if at.Kind != yaml.ScalarNode {
		panic(r.fail(n, "a key that is a list or a mapping has no place in an object"))
	}
	if n.Anchor != "" {
		r.known[n] = anchored{r.scalar(n), 1}
	}
	return at.Value
}

// merge hands the members of a mapping, or of each of a list of them, to define.
func (r *reader) merge(n *yaml.Node, from goja.Value, define func(string, goja.Value)) {
	o, ok := from.(*goja.Object)
	if !ok {
		panic(r.fail(n, "<< wants a mapping or a list of them"))
	}
	if o.ClassName() == "Array" {
		for i := range int(o.Get("length").ToInteger()) {
			item, ok := o.Get(strconv.Itoa(i)).(*goja.Object)
			if !ok || item.ClassName() == "Array" {
				panic(r.fail(n, "<< wants a mapping or a list of them"))
			}
			r.merge(n, item, define)
		}
		return
	}
	keys := o.Keys()
	r.add(n, len(keys))
	for _, key := range keys {
		define(key, o.Get(key))
	}
}

// scalar is the value of a node by its tag or, without one, by the core schema. Tags
// that are not YAML's own leave text.
func (r *reader) scalar(n *yaml.Node) goja.Value {
	text, tagged := n.Value, n.Style&yaml.TaggedStyle != 0
	quoted := n.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle|yaml.LiteralStyle|yaml.FoldedStyle) != 0
	switch {
	case !tagged && (quoted || n.Tag == "!"):
		return r.kit.VM.ToValue(text)
	case !tagged:
		if v, _ := r.plain(text); v != nil {
			return v
		}
		return r.kit.VM.ToValue(text)
	}
	switch n.Tag {
	case "!!null", "!!bool", "!!int", "!!float":
		v, kind := r.plain(text)
		if kind != n.Tag && (kind != "!!int" || n.Tag != "!!float") {
			panic(r.fail(n, strconv.Quote(text)+" is no "+n.Tag))
		}
		return v
	case "!!binary":
		b, err := base64.StdEncoding.DecodeString(strings.Join(strings.Fields(text), ""))
		if err != nil {
			panic(r.fail(n, "!!binary that is not base64"))
		}
		return r.kit.Octets.Uint8Array(b)
	}
	return r.kit.VM.ToValue(text)
}

// plain is the value of text that stands without quotes, and its tag; nil if it is text.
func (r *reader) plain(text string) (v goja.Value, tag string) {
	switch text {
	case "", "~", "null", "Null", "NULL":
		return goja.Null(), "!!null"
	case "true", "True", "TRUE":
		return r.kit.VM.ToValue(true), "!!bool"
	case "false", "False", "FALSE":
		return r.kit.VM.ToValue(false), "!!bool"
	case ".nan", ".NaN", ".NAN":
		return r.kit.VM.ToValue(math.NaN()), "!!float"
	case ".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF":
		return r.kit.VM.ToValue(math.Inf(1)), "!!float"
	case "-.inf", "-.Inf", "-.INF":
		return r.kit.VM.ToValue(math.Inf(-1)), "!!float"
	}
	digits := strings.TrimLeft(text, "+-")
	switch {
	case len(text)-len(digits) > 1 || digits == "":
		return nil, ""
	case made(text, "0123456789"):
		v, _ = r.kit.Integer(text, 10)
	case made(digits, "0123456789"):
		v, _ = r.kit.Integer(strings.TrimPrefix(text, "+"), 10)
	case strings.HasPrefix(text, "0o") && made(text[2:], "01234567"):
		v, _ = r.kit.Integer(text[2:], 8)
	case strings.HasPrefix(text, "0x") && made(text[2:], "0123456789abcdefABCDEF"):
		v, _ = r.kit.Integer(text[2:], 16)
	case isFloat(digits):
		f, _ := strconv.ParseFloat(text, 64) // beyond the range it is infinite
		return r.kit.VM.ToValue(f), "!!float"
	}
	if v == nil {
		return nil, ""
	}
	return v, "!!int"
}

// made reports whether text consists of some of the characters.
func made(text, of string) bool {
	return text != "" && strings.Trim(text, of) == ""
}

// isFloat reports whether text is digits with a fraction, an exponent or both.
func isFloat(text string) bool {
	mantissa, exponent := text, ""
	if i := strings.IndexAny(text, "eE"); i >= 0 {
		mantissa, exponent = text[:i], text[i+1:]
		if exponent != "" && (exponent[0] == '+' || exponent[0] == '-') {
			exponent = exponent[1:]
		}
		if !made(exponent, "0123456789") {
			return false
		}
	}
	whole, fraction, point := strings.Cut(mantissa, ".")
	if whole != "" && !made(whole, "0123456789") || fraction != "" && !made(fraction, "0123456789") {
		return false
	}
	return whole != "" || point && fraction != ""
}
