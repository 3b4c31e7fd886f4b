package url

import (
	"testing"

	"mcpx/engine"
)

// FuzzTexts takes texts for URLs and patterns. Whatever they are, what comes of it is a
// value or an exception.
func FuzzTexts(f *testing.F) {
	for _, s := range []string{
		"", "http://u:p@h:81/a/../b?q#f", "//h", "mailto:a@b", "javascript:x", "http://[::1", "\\a?b", "/books/:id(\\d+)?", "https://*.x/{a}?*", "([", ":", "a+b{",
		"data:x", "http://a\nb", "%zz", "http://münchen.de",
	} {
		f.Add(s, "x/../y")
	}
	m := newModule(engine.New(engine.Options{Modules: modules()}))
	f.Fuzz(func(t *testing.T, text, other string) {
		m.vm.Try(func() {
			p := m.parseLegacy(text, true)
			p.resolve(m.parseLegacy(other, true)).format()
			m.parseLegacy(text, false)
		})
		m.vm.Try(func() { m.complete(m.parsePattern(text), true) })
		m.vm.Try(func() {
			c := m.compilePattern(text, patternOptions{delimiter: "/", prefix: "/"}, m.encodePath)
			again := m.compilePattern(c.text, patternOptions{delimiter: "/", prefix: "/"}, m.encodePath)
			if again.text != c.text {
				t.Errorf("the pattern %q is written %q, and that %q", text, c.text, again.text)
			}
		})
	})
}
