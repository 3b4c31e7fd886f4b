package pool

import (
	"fmt"
	"runtime"
	"slices"
	"strings"

	"mcpx/internal/config"
	"mcpx/internal/fault"
	"mcpx/internal/scope"
	"mcpx/internal/settings"
)

// told is what mcpx puts into the environment of the server.
func (i *instance) told() []string {
	out := slices.Clone(i.pool.o.Told)
	if i.set.key.Scope == scope.Session {
		out = append(out, settings.ToldSession+"="+i.set.key.Of)
	}
	return out
}

// withheld says which variables of the caller a server asks for that it was not given;
// empty if there are none.
func withheld(environ []string, def *config.Definition, e *fault.Error) string {
	if def.InheritEnv {
		return ""
	}
	said := e.Message
	for _, key := range []string{"stderr", "stdout"} {
		if text, ok := e.Details[key].(string); ok {
			said += "\n" + text
		}
	}
	words := strings.FieldsFunc(said, func(r rune) bool {
		return r != '_' && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
	})
	var names []string
	for _, kv := range environ {
		name, value, _ := strings.Cut(kv, "=")
		_, set := def.Env[name]
		if len(name) > 2 && value != "" && !set && !allowed(runtime.GOOS == "windows", name) && slices.Contains(words, name) && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return ""
	}
	slices.Sort(names)
	return fmt.Sprintf(`it names %s, which you have and it was not given: add "env": { "%s": "${%s}" } to its entry, or "mcpx": { "inheritEnv": true } for all variables`,
		strings.Join(names, ", "), names[0], names[0])
}

// redact takes what is secret in a definition out of an error.
func redact(def *config.Definition, e *fault.Error) *fault.Error {
	message := def.Redact(e.Message)
	if message != e.Message {
		// What it wraps would still say it.
		clean := fault.New(e.Kind, "%s", message).Hintf("%s", e.Hint)
		for key, value := range e.Details {
			clean = clean.With(key, value)
		}
		e = clean
	}
	e.Hint = def.Redact(e.Hint)
	for key, value := range e.Details {
		if text, ok := value.(string); ok {
			e.Details[key] = def.Redact(text)
		}
	}
	return e
}
