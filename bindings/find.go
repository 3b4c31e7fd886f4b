package bindings

import (
	_ "embed"
	"math"
	"slices"

	"mcpx/engine"
	"mcpx/internal/fault"

	"github.com/dop251/goja"
)

// declarations says what a script finds of this package whatever its tools.
//
//go:embed tools.d.ts
var declarations string

// maxHits bounds the tools that one search gives.
const maxHits = 10_000

type searchHead struct {
	Words string `json:"words"`
	Limit int    `json:"limit,omitempty"`
	NS    string `json:"ns,omitempty"`
}

// search is the global of that name: search(words, { limit, ns }).
func (b *binding) search(call goja.FunctionCall) goja.Value {
	wrong := func(format string, args ...any) {
		panic(b.rt.NewError(fault.Usagef(format, args...).Hintf(`write search("open issues", { limit: 5, ns: "github" }); the second argument may be left out`)))
	}
	words := call.Argument(0)
	if !goja.IsString(words) {
		wrong("search takes words as a string, got %s", describeValue(words))
	}
	in := searchHead{Words: words.String()}
	switch options := call.Argument(1).(type) {
	case *goja.Object:
		for _, key := range options.Keys() {
			v := options.Get(key)
			switch {
			case goja.IsUndefined(v):
			case key == "limit" && goja.IsNumber(v) && v.ToFloat() >= 1:
				in.Limit = int(math.Min(v.ToFloat(), maxHits))
			case key == "limit":
				wrong("the limit of a search is a number of at least 1, got %s", describeValue(v))
			case key == "ns" && goja.IsString(v):
				in.NS = v.String()
			case key == "ns":
				wrong("the ns of a search is the name of a namespace, got %s", describeValue(v))
			default:
				wrong("search knows no option %q", key)
			}
		}
	default:
		if !goja.IsUndefined(options) {
			wrong("search takes options as an object, got %s", describeValue(options))
		}
	}
	_, body, err := b.rt.Host().Call(b.rt.Context(), "search", in, nil)
	if err != nil {
		panic(b.rt.NewError(err))
	}
	v, err := engine.DecodeJSON(b.rt, body)
	if err != nil {
		panic(b.rt.NewError(fault.Internalf("reading the results of a search: %w", err)))
	}
	return v
}

// describe is the global of that name. It takes a name, a tool or a namespace.
func (b *binding) describe(call goja.FunctionCall) goja.Value {
	name, ok := b.named(call.Argument(0))
	if !ok {
		panic(b.rt.NewError(fault.Usagef("describe takes the name of a tool or a namespace, got %s", describeValue(call.Argument(0))).
			Hintf(`write describe("NS.TOOL") or describe(tools.NS.TOOL); Object.keys(tools) lists the namespaces`)))
	}
	_, body, err := b.rt.Host().Call(b.rt.Context(), "describe", map[string]string{"name": name}, nil)
	if err != nil {
		panic(b.rt.NewError(err))
	}
	return b.vm.ToValue(string(body))
}

// named is the name that a value stands for: itself, or what tools.NS and tools.NS.TOOL
// are called.
func (b *binding) named(v goja.Value) (string, bool) {
	if goja.IsString(v) {
		return v.String(), v.String() != ""
	}
	o, ok := v.(*goja.Object)
	if !ok {
		return "", false
	}
	for ns, made := range b.made {
		if made.object == o {
			return ns, true
		}
		for tool, f := range made.made {
			if f == o {
				return ns + "." + tool, true
			}
		}
	}
	return "", false
}

// sorted returns names in the order of their bytes.
func sorted(names []string) []string {
	out := slices.Clone(names)
	slices.Sort(out)
	return out
}
