package schema

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Aliases derives other spellings for names that are no JavaScript identifiers or
// that a script would rather write in camelCase: "read-only" may be called read_only
// and readOnly. It returns the aliases of each name that has some.
//
// No alias is one of the names themselves, and two names that derive the same alias
// both go without it, so an alias never means anything but its one name. Names that
// JavaScript looks up by itself (then, toString, …) are never aliases.
func Aliases(names []string) map[string][]string {
	exact := make(map[string]bool, len(names))
	for _, n := range names {
		exact[n] = true
	}
	owner := map[string]string{} // alias → its name, "" if there are several
	seen := make(map[string]bool, len(names))
	for _, n := range names {
		if seen[n] {
			continue
		}
		seen[n] = true
		for _, a := range derive(n) {
			if _, taken := owner[a]; taken {
				owner[a] = ""
			} else if !exact[a] {
				owner[a] = n
			}
		}
	}
	out := map[string][]string{}
	for n := range seen {
		for _, a := range derive(n) {
			if o, ok := owner[a]; ok && o == n {
				out[n] = append(out[n], a)
			}
		}
	}
	return out
}

// Resolve returns the name that spelled means: itself if it is one of names, or the
// one name that has it as an alias.
func Resolve(names []string, spelled string) (string, bool) {
	if slices.Contains(names, spelled) {
		return spelled, true
	}
	if !IsIdentifier(spelled) {
		return "", false // an alias always is one
	}
	found, ok := "", false
	for _, n := range names {
		if (!ok || n != found) && slices.Contains(derive(n), spelled) {
			if ok {
				return "", false
			}
			found, ok = n, true
		}
	}
	return found, ok
}

// derive returns the spellings of a name that differ from it, without repetition.
func derive(name string) []string {
	var out []string
	for _, a := range [2]string{underscored(name), camelCased(name)} {
		if a != name && IsIdentifier(a) && !isInherited(a) && !slices.Contains(out, a) {
			out = append(out, a)
		}
	}
	return out
}

// underscored replaces what an identifier cannot hold.
func underscored(name string) string {
	var b strings.Builder
	for i, r := range name {
		switch {
		case isPart(r) && r != utf8.RuneError:
			if i == 0 && !isStart(r) {
				b.WriteByte('_')
			}
			b.WriteRune(r)
		default:
			b.WriteByte('_')
		}
	}
	return b.String()
}

// camelCased joins the words of a name. Capitals within a word stay, unless the name
// has no small letters at all.
func camelCased(name string) string {
	words := strings.FieldsFunc(name, func(r rune) bool {
		return r == '_' || r == utf8.RuneError || !isPart(r)
	})
	if len(words) == 0 {
		return ""
	}
	if strings.ToUpper(name) == name {
		for i, w := range words {
			words[i] = strings.ToLower(w)
		}
	}
	var b strings.Builder
	for i, w := range words {
		r, n := utf8.DecodeRuneInString(w)
		switch {
		case i > 0:
			r = unicode.ToUpper(r)
		case !isStart(r):
			b.WriteByte('_')
		default:
			r = unicode.ToLower(r)
		}
		b.WriteRune(r)
		b.WriteString(w[n:])
	}
	return b.String()
}

// IsIdentifier reports whether name can be declared as a variable of a strict
// script: an identifier that is no reserved word.
func IsIdentifier(name string) bool {
	return isIdentifierName(name) && !isReserved(name)
}

// isIdentifierName reports whether name can follow a dot.
func isIdentifierName(name string) bool {
	for i, r := range name {
		if r == utf8.RuneError || (i == 0 && !isStart(r)) || !isPart(r) {
			return false
		}
	}
	return name != ""
}

func isStart(r rune) bool {
	return r == '_' || r == '$' || unicode.IsLetter(r) || unicode.Is(unicode.Nl, r)
}

func isPart(r rune) bool {
	return isStart(r) || unicode.In(r, unicode.Nd, unicode.Mn, unicode.Mc, unicode.Pc)
}

func isReserved(name string) bool {
	switch name {
	case "break", "case", "catch", "class", "const", "continue", "debugger", "default", "delete", "do", "else",
		"enum", "export", "extends", "false", "finally", "for", "function", "if", "import", "in", "instanceof",
		"new", "null", "return", "super", "switch", "this", "throw", "true", "try", "typeof", "var", "void",
		"while", "with",
		"await", "arguments", "eval", "implements", "interface", "let", "package", "private", "protected",
		"public", "static", "yield", "undefined", "NaN", "Infinity":
		return true
	}
	return false
}

// isInherited reports whether every JavaScript object answers to the name, or is
// asked for it by the language.
func isInherited(name string) bool {
	switch name {
	case "constructor", "hasOwnProperty", "isPrototypeOf", "propertyIsEnumerable", "toLocaleString", "toString", "valueOf",
		"__proto__", "__defineGetter__", "__defineSetter__", "__lookupGetter__", "__lookupSetter__",
		"then", "toJSON":
		return true
	}
	return false
}
