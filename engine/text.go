package engine

import (
	"strings"
	"unicode/utf8"

	"github.com/dop251/goja"
)

// stringNatives has a string without its lone surrogates, each of which becomes the
// replacement character; it is the same string if it has none.
func stringNatives(rt *Runtime) natives {
	return natives{"wellFormed": func(c goja.FunctionCall) goja.Value {
		s, ok := c.Argument(0).(goja.String)
		if !ok || !strings.ContainsRune(s.String(), utf8.RuneError) {
			return c.Argument(0)
		}
		// What Go sees of a string has replacement characters for lone surrogates.
		return rt.vm.ToValue(s.String())
	}}
}
