package grant

import (
	"maps"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"mcpx/internal/fault"
)

// Words that mean something only while a Set is made, and are replaced then.
const (
	// Public stands under net for every address that is not loopback, private,
	// link-local or otherwise special. It stays in a Set.
	Public = "public"
	// Script stands under imports for the folder of the script's file, with what is
	// below it, and for the node_modules of the folders above.
	Script = "script"
	// Here stands for the working directory.
	Here = "."
)

// Default is the profile of a run that names none.
const Default = "tools"

// Definition is a profile in words: what it adds to the one that it extends, or takes
// away. Words of one grant are added; beside the word Any, which they could add nothing
// to, they replace it. A grant with no words takes away all of it.
type Definition struct {
	Extends string              // the name of a profile; empty is none
	Allow   map[string][]string // by grant
	Deny    map[string][]string
	// The grants without words: nil leaves them as they are.
	Artifacts, Stdin, Ask *bool

	Dir    string // what paths are relative to, absolute
	Origin string // FILE:LINE, for errors; empty for what is built in
	// Guest says that the definition comes with what is run, and not from the user: its
	// profile gives no more than the user's default does, and no more than Default if the
	// user's default is itself made of it.
	Guest bool
}

func yes() *bool { return new(true) }

// builtIn are the profiles that there always are.
func builtIn(name string) (Definition, bool) {
	everything := []string{Any}
	switch name {
	case "none":
		return Definition{}, true
	case "tools":
		return Definition{
			Extends:   "none",
			Allow:     map[string][]string{Tool: everything, Import: {Script}},
			Artifacts: yes(), Stdin: yes(), Ask: yes(),
		}, true
	case "read":
		return Definition{Extends: "tools", Allow: map[string][]string{Read: {Here}}}, true
	case "net":
		return Definition{Extends: "tools", Allow: map[string][]string{Network: {Public}}}, true
	case "readnet":
		return Definition{Extends: "net", Allow: map[string][]string{Read: {Here}}}, true
	case "project":
		return Definition{Extends: "read", Allow: map[string][]string{Write: {Here}}}, true
	case "all":
		return Definition{Extends: "tools", Allow: map[string][]string{
			Read: everything, Write: everything, Import: everything, Network: everything, Variable: everything, Program: everything,
		}}, true
	}
	return Definition{}, false
}

// Names are the built-in profiles, the narrowest first.
var Names = []string{"none", "tools", "read", "net", "readnet", "project", "all"}

// alias returns the name of a profile that is also known by another.
func alias(name string) string {
	switch name {
	case "strict":
		return "none"
	case "read-net":
		return "readnet"
	case "unsandboxed":
		return "all"
	}
	return name
}

// Profiles are those that a run may name.
type Profiles struct {
	Own map[string]Definition // as configured, by name
	// Default is what the user's own settings say for runs that name no profile; empty
	// is Default. It is also the most that a guest's word can give.
	Default string
	// Guest is what the settings of a project that the user does not trust say for runs
	// that name no profile; empty if they say nothing.
	Guest string
}

// Request is what whoever starts a run asks for it.
type Request struct {
	Profile string              // empty is the default
	Allow   map[string][]string // by grant, each a list of words; an empty list is all that a flag without words gives
	Deny    map[string][]string // likewise
}

// Place is where a run takes place.
type Place struct {
	Dir  string // the working directory, absolute
	File string // the script's file, absolute; empty for text
	Home string // the user's; empty if there is none
}

// Resolve makes the Set of a run. The error's kind is usage: a profile that there is
// not, or a word that cannot be read.
func (p Profiles) Resolve(r Request, at Place) (Set, error) {
	set, err := p.base(r.Profile, at)
	if err != nil {
		return Set{}, err
	}
	return set.Further(r, at)
}

// Further is what becomes of a Set by what a request allows and denies; its profile does not
// count. The error's kind is usage: a word that cannot be read.
func (s Set) Further(r Request, at Place) (Set, error) {
	set := s
	d := Definition{Allow: map[string][]string{}, Deny: map[string][]string{}, Dir: at.Dir}
	for grant, words := range r.Allow {
		if len(words) == 0 {
			words = []string{bare(grant)}
		}
		d.Allow[grant] = words
	}
	for grant, words := range r.Deny {
		if len(words) == 0 {
			words = []string{Any}
		}
		d.Deny[grant] = words
	}
	if err := d.apply(&set, at); err != nil {
		return Set{}, err
	}
	return set, nil
}

// base is the Set that a run begins with.
func (p Profiles) base(name string, at Place) (Set, error) {
	own := p.Default
	if own == "" {
		own = Default
	}
	if name != "" {
		return p.profile(name, own, at, nil)
	}
	set, err := p.profile(own, own, at, nil)
	if err != nil || p.Guest == "" {
		return set, err
	}
	guest, err := p.profile(p.Guest, own, at, nil)
	if err != nil {
		return Set{}, err
	}
	return Narrow(set, guest), nil
}

// profile makes the Set of one profile. above are the profiles that extend it.
func (p Profiles) profile(name, own string, at Place, above []string) (Set, error) {
	name = alias(name)
	if err := p.Check(name); err != nil {
		return Set{}, err
	}
	d, ok := builtIn(name)
	if !ok {
		d = p.Own[name]
	}
	if slices.Contains(above, name) {
		return Set{}, fault.Usagef("%s: the profile %s extends itself: %s", d.Origin, name, strings.Join(append(above, name), " → "))
	}
	set := Set{}
	if d.Extends != "" {
		var err error
		if set, err = p.profile(d.Extends, own, at, append(above, name)); err != nil {
			return Set{}, err
		}
	}
	if d.Dir == "" {
		d.Dir = at.Dir
	}
	if err := d.apply(&set, at); err != nil {
		return Set{}, err
	}
	set.Profile = name
	set.Everything = set.Everything || name == "all"
	if d.Guest {
		bound := alias(own)
		if name == bound || slices.Contains(above, bound) {
			bound = Default // what the user's default is made of is the guest's
		}
		most, err := p.profile(bound, own, at, append(above, name))
		if err != nil {
			return Set{}, err
		}
		set = Narrow(set, most)
	}
	return set, nil
}

// Check reports whether a name can be resolved at all. The error's kind is usage.
func (p Profiles) Check(name string) error {
	name = alias(name)
	if name == "off" {
		return fault.Usagef("the profile %q is ambiguous: it could mean no grants or no limits", name).
			Hintf("write none for a script that may only compute, or all for one that may do what you may")
	}
	if _, ok := builtIn(name); ok {
		return nil
	}
	if _, ok := p.Own[name]; ok {
		return nil
	}
	return p.unknown(name)
}

func (p Profiles) unknown(name string) error {
	names := append(slices.Clone(Names), slices.Sorted(maps.Keys(p.Own))...)
	return fault.Usagef("there is no profile %q", name).Hintf("the profiles are %s", strings.Join(names, ", "))
}

// bare is what the flag of a grant gives that names no words.
func bare(grant string) string {
	if grant == Network {
		return Public
	}
	return Any
}

// words returns the grant of that name.
func (s *Set) words(grant string) *Words {
	switch grant {
	case Tool:
		return &s.Tools
	case Read:
		return &s.Read
	case Write:
		return &s.Write
	case Import:
		return &s.Imports
	case Network:
		return &s.Net
	case Variable:
		return &s.Env
	case Program:
		return &s.Run
	}
	return nil
}

// TakesAway reports whether something of a grant was taken away.
func (s *Set) TakesAway(grant string) bool {
	w := s.words(grant)
	return w != nil && len(w.Deny) > 0
}

// AllElse reports whether of a grant everything is given but what was taken away.
func (s *Set) AllElse(grant string) bool {
	w := s.words(grant)
	return w != nil && s.Everything && slices.Contains(w.Allow, Any)
}

// Grants are the names of the grants that have words.
var Grants = []string{Tool, Read, Write, Import, Network, Variable, Program}

// apply changes a Set as the definition says.
func (d Definition) apply(set *Set, at Place) error {
	for _, side := range []struct {
		given map[string][]string
		list  func(*Words) *[]string
	}{
		{d.Allow, func(w *Words) *[]string { return &w.Allow }},
		{d.Deny, func(w *Words) *[]string { return &w.Deny }},
	} {
		for grant, given := range side.given {
			words := set.words(grant)
			if words == nil {
				return d.fault("there is no grant %q", grant).Hintf("the grants are %s", strings.Join(Grants, ", "))
			}
			var read []string
			for _, word := range given {
				more, err := d.read(grant, word, at)
				if err != nil {
					return err
				}
				read = append(read, more...)
			}
			list := side.list(words)
			// Nothing takes away what is extended; and what gives everything already can
			// only be meant to become less.
			if len(given) == 0 || list == &words.Allow && slices.Contains(*list, Any) && !slices.Contains(read, Any) {
				*list = nil
			}
			// The lists of what this one extends are not this one's to write into.
			*list = slices.Concat(*list, slices.DeleteFunc(read, func(w string) bool { return slices.Contains(*list, w) }))
		}
	}
	for _, f := range []struct {
		given *bool
		to    *bool
	}{{d.Artifacts, &set.Artifacts}, {d.Stdin, &set.Stdin}, {d.Ask, &set.Ask}} {
		if f.given != nil {
			*f.to = *f.given
		}
	}
	return nil
}

func (d Definition) fault(format string, args ...any) *fault.Error {
	e := fault.Usagef(format, args...)
	if d.Origin != "" {
		e.Message = d.Origin + ": " + e.Message
	}
	return e
}

// read reads one word: paths become absolute, and what stands for something becomes it.
func (d Definition) read(grant, word string, at Place) ([]string, error) {
	if strings.TrimSpace(word) == "" || strings.ContainsRune(word, 0) {
		return nil, d.fault("the grant %s has an empty word", grant).
			Hintf("leave it out, or write what is granted")
	}
	switch grant {
	case Network:
		return []string{word}, checkHost(d, word)
	case Tool:
		return []string{word}, nil
	case Variable:
		if strings.ContainsAny(word, "=") {
			return nil, d.fault("the grant env names variables, and %q has a value", word).
				Hintf("write the name alone: the value is that of the caller's environment")
		}
		return []string{word}, nil
	case Import:
		if word == Script {
			return at.scriptRoots(), nil
		}
	}
	if word == Any {
		return []string{Any}, nil
	}
	if grant == Program && !filepath.IsAbs(word) && !strings.ContainsRune(word, filepath.Separator) {
		return nil, d.fault("the grant run names programs by their paths, and %q is none", word).
			Hintf("write the whole path, such as /usr/bin/%s", word)
	}
	if rest, ok := strings.CutPrefix(word, "~"); ok && (rest == "" || os.IsPathSeparator(rest[0])) {
		if at.Home == "" {
			return nil, d.fault("the grant %s names %q, and there is no home directory", grant, word).Hintf("write the whole path")
		}
		word = filepath.Join(at.Home, rest)
	}
	if !filepath.IsAbs(word) {
		word = filepath.Join(d.Dir, word)
	}
	return []string{filepath.Clean(word)}, nil
}

// scriptRoots are the folders that a script in a file may import from without being
// granted any: its own, and the packages installed for it. A folder that holds more than
// what belongs to a script is none of them: the root, the user's home, those for
// temporary files.
func (p Place) scriptRoots() []string {
	if p.File == "" {
		return nil
	}
	var roots []string
	dir := filepath.Dir(p.File)
	if !p.common(dir) {
		roots = append(roots, dir)
	}
	for at := dir; ; at = filepath.Dir(at) {
		packages := filepath.Join(at, "node_modules")
		if (at != dir || len(roots) == 0) && installed(packages) {
			roots = append(roots, packages)
		}
		if at == filepath.Dir(at) {
			return roots
		}
	}
}

// installed reports whether a path is a folder of packages. A link counts only if what it
// leads to is called so as well: it came with what is run, and could lead to anything.
func installed(packages string) bool {
	real, err := filepath.EvalSymlinks(packages)
	if err != nil || filepath.Base(real) != filepath.Base(packages) {
		return false
	}
	info, err := os.Stat(real)
	return err == nil && info.IsDir()
}

// common reports whether a folder is one that everything is in.
func (p Place) common(dir string) bool {
	same := func(other string) bool {
		if other == "" {
			return false
		}
		if dir == filepath.Clean(other) {
			return true
		}
		a, err := os.Stat(dir)
		if err != nil {
			return false
		}
		b, err := os.Stat(other)
		return err == nil && os.SameFile(a, b)
	}
	return filepath.Dir(dir) == dir || same(p.Home) || same(os.TempDir()) || same("/tmp") || same("/var/tmp")
}

// checkHost refuses a word of net that cannot be read, and says of one that looks like
// something else what it is.
func checkHost(d Definition, word string) error {
	_, err := netip.ParsePrefix(word)
	switch {
	case err == nil:
	case strings.Contains(word, "://"):
		return d.fault("the grant net names hosts, and %q is a URL", word).
			Hintf("write the host alone, with a port if only that is meant: example.com or example.com:8443")
	case strings.ContainsAny(word, "/ \t\r\n@"):
		return d.fault("the grant net names hosts, and %q is none", word).
			Hintf("write a host such as example.com, *.example.com or example.com:8443, an IP address, or a range such as 10.0.0.0/8")
	}
	if err := new(netRules).add(word); err != nil {
		e := fault.From(err)
		return d.fault("%s", e.Message).Hintf("%s", e.Hint)
	}
	return nil
}
