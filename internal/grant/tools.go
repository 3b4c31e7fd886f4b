package grant

import (
	"slices"
	"strings"

	"mcpx/internal/schema"
	"mcpx/internal/spelling"
)

// Tools is the gate of tool calls.
type Tools struct {
	allow, deny []toolRule
	all         bool
}

// toolRule says which tools of which servers a word means.
type toolRule struct {
	server string // a pattern
	tool   string // a pattern
	reads  bool   // only those that do not write
}

// OpenTools makes the gate of a run. namespaces are the configured servers: their names
// may hold dots, and a word means the server of that name before anything else.
func OpenTools(w Words, namespaces []string) *Tools {
	t := &Tools{all: w.All()}
	for _, word := range w.Allow {
		t.allow = append(t.allow, readTool(word, namespaces))
	}
	for _, word := range w.Deny {
		t.deny = append(t.deny, readings(word, namespaces)...)
	}
	return t
}

// serverEnd stands in a word, instead of a dot, where the name of the server ends for
// certain. No word that anybody writes has it.
const serverEnd = "\x00"

// readings are all that a word could mean. What takes away takes away all of it: a server
// that is configured besides must not turn the word from what it meant.
func readings(word string, namespaces []string) []toolRule {
	rules := []toolRule{readTool(word, namespaces)}
	name, reads := strings.CutSuffix(word, ":read")
	rules = append(rules, toolRule{server: name, tool: Any, reads: reads})
	for at := range name {
		if name[at] == '.' {
			rules = append(rules, toolRule{server: name[:at], tool: name[at+1:], reads: reads})
		}
	}
	return rules
}

func readTool(word string, namespaces []string) toolRule {
	if server, tool, ok := strings.Cut(word, serverEnd); ok {
		tool, reads := strings.CutSuffix(tool, ":read")
		return toolRule{server: server, tool: tool, reads: reads}
	}
	name, reads := word, false
	if !slices.Contains(namespaces, word) {
		name, reads = strings.CutSuffix(word, ":read")
	}
	if slices.Contains(namespaces, name) {
		return toolRule{server: name, tool: Any, reads: reads}
	}
	longest := ""
	for _, ns := range namespaces {
		if strings.HasPrefix(name, ns+".") && len(ns) > len(longest) {
			longest = ns
		}
	}
	if longest != "" {
		return toolRule{server: longest, tool: name[len(longest)+1:], reads: reads}
	}
	server, tool, dotted := strings.Cut(name, ".")
	if raw, ok := schema.Resolve(namespaces, server); ok {
		server = raw
	}
	if !dotted {
		tool = Any
	}
	return toolRule{server: server, tool: tool, reads: reads}
}

// Allows reports whether a tool may be called, by the server's and the tool's own names.
// What takes away means every spelling of them.
// readOnly says that the tool is known not to write. aliases are other spellings that mean this
// tool and no other of its server: a word that names it so, whole, gives it as well.
func (t *Tools) Allows(server, tool string, readOnly bool, aliases ...string) bool {
	if t.all {
		return true
	}
	means := func(r toolRule) bool {
		return glob(r.server, server) && (glob(r.tool, tool) || slices.Contains(aliases, r.tool)) && (readOnly || !r.reads)
	}
	like := func(word, name string) bool { return !strings.Contains(word, Any) && spelling.Same(word, name) }
	alike := func(r toolRule) bool {
		return (readOnly || !r.reads) &&
			(glob(r.server, server) || !strings.Contains(r.server, ".") && like(r.server, server)) &&
			(glob(r.tool, tool) || like(r.tool, tool))
	}
	return slices.ContainsFunc(t.allow, means) && !slices.ContainsFunc(t.deny, alike)
}

// Touches reports whether any tool of a server may be granted: only such a server is
// asked for its tools.
func (t *Tools) Touches(server string) bool {
	return t.all ||
		slices.ContainsFunc(t.allow, func(r toolRule) bool { return glob(r.server, server) }) &&
			!slices.ContainsFunc(t.deny, func(r toolRule) bool { return glob(r.server, server) && r.tool == Any && !r.reads })
}
