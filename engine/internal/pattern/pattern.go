// Package pattern reads regular expressions as ECMAScript 2025 writes them and rewrites
// those that goja's engine does not understand: properties and set notation, groups
// with flags of their own or of equal names, and the assertions and classes that the
// engine gets wrong under the flags u and m.
//
// It only deals in text. What a rewritten pattern is called, and which groups of it
// have names, is for the caller to show.
package pattern

import (
	"strings"
	"unicode/utf16"
)

// Error is what makes a pattern invalid, in the words of V8.
type Error string

func (e Error) Error() string { return string(e) }

// Pattern is a pattern in the form that goja takes.
type Pattern struct {
	// Source is empty if goja understands the pattern as it was written.
	Source string
	Flags  string
	// Groups are the names of the groups by number, from 1 on, if Source had to lose them
	// because two groups share one. A group without a name has "".
	Groups []string
}

// Mark does nothing in front of a pattern. The engine puts it in front of what Translate
// makes, so that goja has no such pattern that an author may also have written.
const Mark = "(?:)"

// Forgotten reports that a pattern may have names of groups that goja forgets: at the
// beginning of a text beyond ASCII, with the flag u.
func Forgotten(source, flags string) bool {
	return strings.ContainsAny(flags, "uv") && strings.Contains(source, "(?<")
}

// Plain reports, at a glance, that a pattern needs neither rewriting nor more than goja
// does with the flags. That it is false means nothing.
func Plain(source, flags string) bool {
	if strings.HasPrefix(source, Mark) {
		return false
	}
	for i := range len(flags) {
		switch flags[i] {
		case 'd', 'v':
			return false
		case 'u':
			if strings.ContainsAny(source, `\[]{}`) {
				return false
			}
		case 'm':
			if strings.ContainsAny(source, "^$") {
				return false
			}
		}
	}
	if strings.Contains(source, `\b`) || strings.Contains(source, `\B`) {
		return false
	}
	// A group is (?:…), a look around or has a name.
	for rest := source; ; {
		_, after, found := strings.Cut(rest, "(?")
		if !found {
			return true
		}
		if after == "" || !strings.Contains(":=!", after[:1]) && !strings.HasPrefix(after, "<=") && !strings.HasPrefix(after, "<!") {
			return false
		}
		rest = after
	}
}

// Valid reports whether flags are flags.
func Valid(flags string) bool {
	seen := map[rune]bool{}
	for _, f := range flags {
		if seen[f] || !strings.ContainsRune("dgimsuvy", f) {
			return false
		}
		seen[f] = true
	}
	return !seen['u'] || !seen['v']
}

// Translate returns a pattern in goja's form. The source is in UTF-16, which may have
// surrogates without their other half. The error is an Error. Flags must be Valid.
func Translate(source []uint16, flags string) (*Pattern, error) {
	// Where groups matched, goja does not say: what does takes the pattern from here.
	text := string(utf16.Decode(source))
	needed := strings.Contains(flags, "d") || Forgotten(text, flags) || strings.HasPrefix(text, Mark)
	p := &parser{flags: flagsOf(flags), needed: needed}
	if p.flags.u {
		p.src = codePoints(source)
	} else {
		p.src = make([]rune, len(source))
		for i, unit := range source {
			p.src[i] = rune(unit)
		}
	}
	tree, err := p.parse()
	if err != nil {
		return nil, err
	}
	out := &Pattern{Flags: p.nativeFlags(flags)}
	if !p.needed {
		return out, nil
	}
	w := &writer{p: p}
	w.node(tree)
	out.Source = w.text()
	if p.shared {
		out.Groups = p.names
	}
	return out, nil
}

// codePoints decodes UTF-16 and keeps lone surrogates.
func codePoints(source []uint16) []rune {
	out := make([]rune, 0, len(source))
	for i := 0; i < len(source); i++ {
		r := rune(source[i])
		if i+1 < len(source) {
			if pair := utf16.DecodeRune(r, rune(source[i+1])); pair != '\uFFFD' {
				r = pair
				i++
			}
		}
		out = append(out, r)
	}
	return out
}

// flagSet is the flags that change what a pattern means.
type flagSet struct{ i, m, s, u, v bool }

func flagsOf(flags string) flagSet {
	has := func(f string) bool { return strings.Contains(flags, f) }
	return flagSet{i: has("i"), m: has("m"), s: has("s"), u: has("u") || has("v"), v: has("v")}
}

// nativeFlags are the flags for goja.
func (p *parser) nativeFlags(flags string) string {
	flags = strings.ReplaceAll(flags, "d", "")
	flags = strings.ReplaceAll(flags, "v", "u")
	if p.needed && p.ownCase {
		flags = strings.ReplaceAll(flags, "i", "")
	}
	return flags
}
