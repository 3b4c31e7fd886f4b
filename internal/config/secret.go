package config

import (
	"cmp"
	"slices"
	"strings"
)

// leastSecret is how long a value must be to be hidden: what is shorter would turn up
// everywhere.
const leastSecret = 6

// telling are the words in the name of a variable or header that say that its value is
// secret, however it came there.
var telling = []string{"TOKEN", "SECRET", "PASSW", "APIKEY", "API_KEY", "API-KEY", "PRIVATE", "CREDENTIAL", "AUTHORIZATION", "COOKIE", "ACCESS_KEY", "SIGNATURE"}

// note remembers the value of a reference that must not be shown. What a program of the
// caller may know anyway is none, and in an address only what is secret by its name.
func (r *resolver) note(key string, ref reference, value string) {
	if ref.form == "input" {
		r.hide(value)
		return
	}
	if ref.form == "folder" || public(ref.name) || key == "url" && !tells(ref.name) {
		return
	}
	r.hide(value)
}

func (r *resolver) hide(value string) {
	if len(value) >= leastSecret {
		r.hidden = append(r.hidden, value)
	}
}

// secrets returns what is not to be shown of a definition: what came into it from the
// caller's variables, and what is secret by its name.
func (r *resolver) secrets(d *Definition) []string {
	for _, table := range []map[string]string{d.Env, d.Headers} {
		for name, value := range table {
			if !tells(name) {
				continue
			}
			r.hide(value)
			if _, rest, ok := strings.Cut(value, " "); ok { // Bearer TOKEN
				r.hide(rest)
			}
		}
	}
	// A long one goes first: it may have a shorter one in it.
	slices.SortFunc(r.hidden, func(a, b string) int { return cmp.Or(len(b)-len(a), strings.Compare(a, b)) })
	return slices.Compact(r.hidden)
}

func tells(name string) bool {
	name = strings.ToUpper(name)
	return slices.ContainsFunc(telling, func(word string) bool { return strings.Contains(name, word) })
}

func public(variable string) bool {
	switch variable {
	case "HOME", "PATH", "PWD", "USER", "LOGNAME", "SHELL", "TMPDIR", "LANG", "TERM":
		return true
	}
	return strings.HasPrefix(variable, "XDG_")
}

// Redact replaces the secret values of the definition in a text that is to be shown.
func (d *Definition) Redact(text string) string {
	for _, s := range d.secrets {
		text = strings.ReplaceAll(text, s, "[redacted]")
	}
	return text
}
