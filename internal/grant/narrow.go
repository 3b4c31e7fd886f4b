package grant

import (
	"net/netip"
	"path/filepath"
	"slices"
	"strings"
)

// Narrow returns what both sets give, or less: where it cannot be told whether a word of
// one is within a word of the other, it is left out.
func Narrow(a, b Set) Set {
	out := Set{
		Profile:    a.Profile,
		Artifacts:  a.Artifacts && b.Artifacts,
		Stdin:      a.Stdin && b.Stdin,
		Ask:        a.Ask && b.Ask,
		Everything: a.Everything && b.Everything,
	}
	for _, grant := range Grants {
		x, y := *a.words(grant), *b.words(grant)
		both := Words{Deny: union(x.Deny, y.Deny)}
		for _, side := range [][2][]string{{x.Allow, y.Allow}, {y.Allow, x.Allow}} {
			for _, inner := range side[0] {
				for _, outer := range side[1] {
					if word, ok := common(grant, outer, inner); ok {
						both.Allow = union(both.Allow, []string{word})
						break
					}
				}
			}
		}
		*out.words(grant) = both
	}
	return out
}

// Within is s without anything that most does not give. The error, a denial, names the first
// thing that s gives beyond that; where it cannot be told whether a word of s is within the
// words of most, it is not.
func (s Set) Within(most Set) (Set, error) {
	out := s
	for _, grant := range Grants {
		x, y := *s.words(grant), *most.words(grant)
		both := Words{Deny: union(x.Deny, y.Deny)}
		for _, inner := range x.Allow {
			at := -1
			for i, outer := range y.Allow {
				if word, ok := common(grant, outer, inner); ok {
					both.Allow, at = union(both.Allow, []string{word}), i
					break
				}
			}
			if !x.None() && (at < 0 || y.None()) {
				return Set{}, Denied(grant, inner)
			}
		}
		*out.words(grant) = both
	}
	for _, f := range []struct {
		grant  string
		s      bool
		within bool
	}{{Artifact, s.Artifacts, most.Artifacts}, {Input, s.Stdin, most.Stdin}, {Questions, s.Ask, most.Ask}} {
		if f.s && !f.within {
			return Set{}, Denied(f.grant, "")
		}
	}
	out.Everything = s.Everything && most.Everything
	return out, nil
}

func union(a, b []string) []string {
	out := slices.Clone(a)
	for _, w := range b {
		if !slices.Contains(out, w) {
			out = append(out, w)
		}
	}
	return out
}

// common returns inner, or a word for what inner means, if all that it gives outer gives
// too, as far as that can be told from the words.
func common(grant, outer, inner string) (word string, ok bool) {
	switch {
	case outer == inner || outer == Any:
		return inner, true
	case inner == Any:
		return "", false
	}
	switch grant {
	case Read, Write, Import:
		// A word is followed when a run begins: one that lies inside may lead out.
		return inner, within(inner, outer) && within(resolve(inner, maxLinks), resolve(outer, maxLinks))
	case Network:
		return inner, hostCovers(outer, inner)
	case Tool:
		return commonTools(outer, inner)
	case Variable:
		return inner, globCovers(outer, inner)
	}
	return "", false
}

// commonTools is common for words of tools. Which server a word with dots means depends
// on those that are configured, so that NS does not cover NS.TOOL if there is a server of
// that name: what is returned says where the name of the server ends.
func commonTools(outer, inner string) (word string, ok bool) {
	outer, outerReads := strings.CutSuffix(outer, ":read")
	inner, reads := strings.CutSuffix(inner, ":read")
	exact := func(server, tool string) (string, bool) {
		if reads {
			tool += ":read"
		}
		return server + serverEnd + tool, true
	}
	if outerReads && !reads || strings.Contains(outer+inner, serverEnd) {
		return "", false
	}
	if tool, ok := strings.CutPrefix(inner, outer+"."); ok && !strings.Contains(outer, Any) {
		return exact(outer, tool)
	}
	server, tool, dotted := strings.Cut(outer, ".")
	innerServer, innerTool, innerDotted := strings.Cut(inner, ".")
	switch {
	case strings.Contains(tool, "."), dotted && !innerDotted, outer == inner && dotted:
		return "", false
	case !dotted:
		tool = Any
	}
	if !innerDotted {
		innerTool = Any
	}
	if !globCovers(server, innerServer) || !globCovers(tool, innerTool) {
		return "", false
	}
	return exact(innerServer, innerTool)
}

// within reports whether a path is a folder or lies below it. Both are clean.
func within(path, folder string) bool {
	sep := string(filepath.Separator)
	return path == folder || strings.HasPrefix(path, strings.TrimSuffix(folder, sep)+sep)
}

// globCovers reports whether a pattern matches everything that another does, if the
// other has no asterisks or the same text but for those of its end.
func globCovers(outer, inner string) bool {
	if !strings.Contains(inner, "*") {
		return glob(outer, inner)
	}
	before, ok := strings.CutSuffix(outer, "*")
	return ok && !strings.Contains(before, "*") && strings.HasPrefix(inner, before)
}

// isPublic reports whether all that a word of net gives is public: names of hosts lead to
// nothing else.
func isPublic(word string) bool {
	var r netRules
	return r.add(word) == nil && !r.all && !slices.ContainsFunc(r.addresses, func(a addressRule) bool {
		return !a.prefix.IsSingleIP() || notPublic().contains(a.prefix.Addr())
	})
}

// hostCovers reads words of net.
func hostCovers(outer, inner string) bool {
	if outer == Public {
		return isPublic(inner)
	}
	if p, err := netip.ParsePrefix(outer); err == nil {
		if q, err := netip.ParsePrefix(inner); err == nil {
			p, q = plainPrefix(p), plainPrefix(q) // as the gate reads them
			return p.Bits() <= q.Bits() && p.Contains(q.Addr())
		}
		a, err := netip.ParseAddr(inner)
		return err == nil && plainPrefix(p).Contains(plainAddress(a))
	}
	outerHost, outerPort := splitPort(outer)
	innerHost, innerPort := splitPort(inner)
	if outerPort != "" && outerPort != innerPort {
		return false
	}
	if outerHost == innerHost {
		return true
	}
	if above, ok := strings.CutPrefix(outerHost, "*"); ok && strings.HasPrefix(above, ".") {
		return strings.HasSuffix(strings.TrimPrefix(innerHost, "*"), above)
	}
	return false
}

// splitPort splits HOST:PORT; an address of IPv6 needs its brackets for that.
func splitPort(word string) (host, port string) {
	at := strings.LastIndexByte(word, ':')
	if at < 0 || strings.IndexByte(word, ':') != at && !strings.HasPrefix(word, "[") || strings.HasSuffix(word, "]") {
		return strings.Trim(word, "[]"), ""
	}
	return strings.Trim(word[:at], "[]"), word[at+1:]
}

// glob reports whether text is what a pattern says, in which an asterisk stands for any
// text, and nothing else stands for anything.
func glob(pattern, text string) bool {
	parts := strings.Split(pattern, "*")
	if len(parts) == 1 {
		return pattern == text
	}
	first, last := parts[0], parts[len(parts)-1]
	if len(text) < len(first)+len(last) || !strings.HasPrefix(text, first) || !strings.HasSuffix(text, last) {
		return false
	}
	text = text[len(first) : len(text)-len(last)]
	for _, part := range parts[1 : len(parts)-1] {
		at := strings.Index(text, part)
		if at < 0 {
			return false
		}
		text = text[at+len(part):]
	}
	return true
}
