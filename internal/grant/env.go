package grant

import (
	"slices"
	"strings"
)

// Env is the gate of the environment: names, as the caller's environment has them.
type Env struct{ words Words }

// OpenEnv makes the gate of a run.
func OpenEnv(w Words) *Env { return &Env{w} }

// Allows reports whether a variable may be read. A name that no shell could set is
// never granted.
func (e *Env) Allows(name string) bool {
	if !variable(name) {
		return false
	}
	means := func(word string) bool { return glob(word, name) }
	return slices.ContainsFunc(e.words.Allow, means) && !slices.ContainsFunc(e.words.Deny, means)
}

// All reports whether nothing is kept back.
func (e *Env) All() bool { return e.words.All() }

// Granted returns those of an environment, as of os.Environ, that may be read.
func (e *Env) Granted(environ []string) map[string]string {
	out := map[string]string{}
	for _, entry := range environ {
		if name, value, ok := strings.Cut(entry, "="); ok && e.Allows(name) {
			out[name] = value
		}
	}
	return out
}

// variable reports whether a name is one of POSIX's: letters, digits, underscores, and
// no digit in front.
func variable(name string) bool {
	for i, r := range name {
		if r != '_' && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (i == 0 || r < '0' || r > '9') {
			return false
		}
	}
	return name != ""
}
