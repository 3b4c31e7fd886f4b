package config

import (
	"slices"
	"strings"

	"mcpx/internal/fault"
	"mcpx/internal/settings"
)

// Profile is a named set of permissions for scripts, as a file declares it under
// script.profiles. What its words mean is left to package grant.
type Profile struct {
	Name    string
	Extends string              // the profile that it begins with
	Allow   map[string][]string // by grant; "*" stands for all
	Deny    map[string][]string // likewise
	// The grants without words: nil leaves them as they are in what is extended.
	Artifacts, Stdin, Ask *bool

	Dir    string // what paths in it are relative to; empty for the working directory
	Origin Origin
	Guest  bool // of the project, and the user does not vouch for the file
}

// The keys of a profile.
var (
	wordKeys  = []string{"tools", "read", "write", "imports", "net", "env", "run"}
	plainKeys = []string{"artifacts", "stdin", "ask"}
)

// reserved are the names of what is built in.
var reserved = []string{"none", "tools", "read", "net", "readnet", "project", "all", "strict", "read-net", "unsandboxed", "off"}

func (r *reader) readProfiles(n *node) {
	if n.kind != object {
		r.fault(n, `write "profiles": { "NAME": { "extends": "tools", "write": ["./out"] } }`, "script.profiles is %s where an object is needed", n.kind)
		return
	}
	for _, m := range n.members {
		if p, ok := r.readProfile(m); ok {
			r.profiles = append(r.profiles, p)
		}
	}
}

func (r *reader) readProfile(m member) (Profile, bool) {
	p := Profile{
		Name: m.key, Extends: "tools", Allow: map[string][]string{}, Deny: map[string][]string{},
		Dir: r.folder(), Origin: r.doc.origin(m.at), Guest: r.guest,
	}
	switch {
	case slices.Contains(reserved, m.key):
		r.fault(m.value, "give it another name", "the profile %s is built in and cannot be declared", m.key)
		return p, false
	case strings.TrimSpace(m.key) == "":
		r.fault(m.value, "give it a name", "a profile has an empty name")
		return p, false
	case m.value.kind != object:
		r.fault(m.value, `write { "extends": "tools", "write": ["./out"] }`, "the profile %s is %s where an object is needed", m.key, m.value.kind)
		return p, false
	}
	ok := true
	for _, k := range m.value.members {
		var good bool
		switch {
		case k.key == "extends":
			if good = k.value.kind == text && k.value.text != ""; good {
				p.Extends = k.value.text
			} else {
				r.fault(k.value, `write the name of a profile, such as "tools"`, "%s.extends is %s where a string is needed", m.key, k.value.kind)
			}
		case k.key == "deny" && k.value.kind == object:
			good = true
			for _, d := range k.value.members {
				if !slices.Contains(wordKeys, d.key) {
					r.unknownKey(d, m.key+".deny", wordKeys)
					good = false
					continue
				}
				good = r.words(d, m.key+".deny", p.Deny) && good
			}
		case slices.Contains(wordKeys, k.key):
			good = r.words(k, m.key, p.Allow)
		case slices.Contains(plainKeys, k.key):
			if good = k.value.kind == boolean; !good {
				r.fault(k.value, "write true or false", "%s.%s is %s where true or false is needed", m.key, k.key, k.value.kind)
				break
			}
			granted := k.value.text == "true"
			switch k.key {
			case "artifacts":
				p.Artifacts = &granted
			case "stdin":
				p.Stdin = &granted
			default:
				p.Ask = &granted
			}
		default:
			r.unknownKey(k, m.key, slices.Concat([]string{"extends", "deny"}, wordKeys, plainKeys))
		}
		ok = ok && good
	}
	return p, ok
}

// words reads what a grant is given: true for all, false for nothing, a word, or a list
// of words. Nothing is a refusal of all that is extended.
func (r *reader) words(m member, where string, to map[string][]string) bool {
	switch m.value.kind {
	case boolean:
		if m.value.text == "true" {
			to[m.key] = []string{"*"}
		} else {
			to[m.key] = nil
		}
		return true
	case text:
		to[m.key] = []string{m.value.text}
		return true
	case list:
		words := []string{}
		for _, item := range m.value.list {
			if item.kind != text {
				r.fault(item, `write a list of strings, such as ["./out"]`, "%s.%s holds %s where a string is needed", where, m.key, item.kind)
				return false
			}
			words = append(words, item.text)
		}
		to[m.key] = words
		return true
	}
	r.fault(m.value, `write true, false, or a list of strings such as ["./out"]`, "%s.%s is %s where a list is needed", where, m.key, m.value.kind)
	return false
}

func (r *reader) unknownKey(m member, where string, known []string) {
	hint := "the keys are " + strings.Join(known, ", ")
	if near := settings.Nearest(m.key, known); near != "" {
		hint = "did you mean " + near + "?"
	}
	r.fault(m.value, hint, "%s has no key %s", where, m.key)
}

func (r *reader) fault(n *node, hint, format string, args ...any) {
	e := fault.Usagef(format, args...)
	e.Message = r.doc.position(n.at).String() + ": script.profiles: " + e.Message
	r.faults = append(r.faults, e.Hintf("%s", hint))
}
