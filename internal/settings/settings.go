// Package settings declares every number and choice of mcpx that a user may change.
//
// A setting is a typed variable. Its key in a configuration file, its environment
// variable, its flag and its row in the documentation come from the declaration in
// keys.go, and code reads it through the variable:
//
//	ctx, cancel := context.WithTimeout(ctx, settings.ExecTimeout.Get(set))
//
// A Set holds what the files, the environment and the flags of one process say, and what
// was set in a daemon while it runs. A daemon has one Set for everything in it: what it says
// changes with the configuration, and a hot setting is read where it is used. A
// value that does not parse is an error that names its source; it never becomes the
// default. Finding and reading configuration files is left to package config.
package settings

import (
	"cmp"
	"slices"
	"strings"
	"sync"

	"mcpx/internal/fault"
	"mcpx/internal/spelling"
)

// Spec is the declaration of a setting.
type Spec struct {
	Path  string // dotted camelCase: its key in a configuration file
	Alias string // a second spelling of its flag, without dashes
	Doc   string // one sentence
	Scope Scope  // whose it is
	// Hot says that it is read where it is used, so that a daemon follows it while it runs.
	Hot bool
	// Ceiling says that a file of the project can only tighten it, and that once a file
	// has set it, variables and flags can only tighten it too. All of the group limits is.
	Ceiling bool
	// Project is what a file of the project can do with it, if it is no Ceiling.
	Project Say
}

// Scope says whose a setting is.
type Scope string

// The scopes. A value of Call travels with a request, for that request alone. One of Client
// is read by a command before, or without, any daemon. One of Daemon is what a daemon runs by.
const (
	Call   Scope = "call"
	Client Scope = "client"
	Daemon Scope = "daemon"
)

// Say is what a file of the project that the user does not vouch for can do with a setting.
type Say int

// What it can do.
const (
	Anything Say = iota // what any file can
	Tightens            // only allow less than the user's files or the default
	Nothing             // nothing: it is about what others have made
)

// Key is a setting whose values are of type T.
type Key[T cmp.Ordered] struct {
	spec Spec
	def  T
	form form[T]
}

// form is how values of one type are written.
type form[T cmp.Ordered] struct {
	name   string
	parse  func(text string) (T, *problem)
	format func(T) string
	less   func(a, b T) bool // whether a allows less than b
	words  []string          // all values, if they are a few words
}

// problem says what is wrong with a value, and what a right one looks like.
type problem struct{ what, hint string }

// Get returns the value in force. Without a Set it is the default.
func (k *Key[T]) Get(s *Set) T {
	if s != nil {
		if v, ok := s.inForce(k); ok {
			return v.value.(T) //nolint:forcetypeassert // only k's own parse makes values of k's path
		}
	}
	return k.def
}

// Said is what each of those says who can give a setting a value; nil where they say nothing.
type Said[T any] struct {
	Asked   *Given[T] // by the user: at runtime, by flag or by variable
	User    *Given[T] // by the nearest file of the user
	Project *Given[T] // by the nearest file of a project that the user does not vouch for
}

// Given is a value with the place that it comes from: FILE:LINE:COLUMN, the variable or the flag.
type Given[T any] struct {
	Value  T
	Origin string
}

// Said returns who says what, for a setting whose layers mean different things.
func (k *Key[T]) Said(s *Set) Said[T] {
	var out Said[T]
	if s == nil {
		return out
	}
	value := func(g given, ok bool) *Given[T] {
		if !ok {
			return nil
		}
		return &Given[T]{g.value.(T), g.origin} //nolint:forcetypeassert // as in Get
	}
	out.Asked = value(s.chosen(k))
	out.User = value(s.first(k.spec.Path, userFile))
	out.Project = value(s.first(k.spec.Path, projectFile))
	return out
}

// Give says how to give the setting a value, for a hint: by its flag, and by its variable.
func (k *Key[T]) Give(value T) string {
	i, text := k.info(), k.form.format(value)
	return "--" + cmp.Or(i.Alias, i.Flag) + "=" + text + " or " + i.Env + "=" + text
}

// Parse reads a value of the setting from text that stands elsewhere, such as in an entry
// of a server. If it is none, what says what is wrong and hint what a right one looks like.
func (k *Key[T]) Parse(text string) (value T, what, hint string) {
	value, p := k.form.parse(text)
	if p != nil {
		return value, p.what, p.hint
	}
	return value, "", ""
}

// Info describes a setting to people: help, documentation, completion.
type Info struct {
	Path    string // exec.timeout
	Alias   string // timeout; empty if it has none
	Env     string // MCPX_EXEC_TIMEOUT
	Flag    string // exec-timeout
	Type    string // duration, size, integer, or what a word of it is
	Default string
	Doc     string
	Words   []string // the values that it may have; nil if they are no few words
	Scope   Scope
	Hot     bool // a daemon follows it while it runs
	Ceiling bool // once it is set it can only be tightened
	Project Say  // what a project's file can do with it, if it is no Ceiling
}

// All describes every setting, in the order of their paths.
func All() []Info { return slices.Clone(all()) }

var all = sync.OnceValue(func() []Info {
	infos := make([]Info, 0, len(registry))
	for _, d := range registry {
		infos = append(infos, d.info())
	}
	slices.SortFunc(infos, func(a, b Info) int { return cmp.Compare(a.Path, b.Path) })
	return infos
})

// IsGroup reports whether a top-level key of a configuration file holds settings.
func IsGroup(name string) bool {
	return slices.ContainsFunc(registry, func(d declared) bool {
		return strings.HasPrefix(d.path(), name+".")
	})
}

// Groups are the first words of the paths, in their order.
func Groups() []string {
	var out []string
	for _, d := range registry {
		if group, _, _ := strings.Cut(d.path(), "."); !slices.Contains(out, group) {
			out = append(out, group)
		}
	}
	return out
}

// IsPath says whether a setting has the path.
func IsPath(path string) bool { return byPath(path) != nil }

// declared is a Key of any type.
type declared interface {
	path() string
	info() Info
	scope() Scope
	hot() bool
	read(text string) (any, *problem)
	write(value any) string
	tighter(a, b any) bool
	ceiling() bool
	project() Say
}

var registry []declared

func declare[T cmp.Ordered](def T, f form[T], spec Spec) *Key[T] {
	k := &Key[T]{spec: spec, def: def, form: f}
	if byPath(spec.Path) != nil {
		panic("settings: declared twice: " + spec.Path)
	}
	registry = append(registry, k)
	return k
}

func (k *Key[T]) path() string { return k.spec.Path }

func (k *Key[T]) ceiling() bool { return k.spec.Ceiling || strings.HasPrefix(k.spec.Path, "limits.") }

func (k *Key[T]) project() Say { return k.spec.Project }

func (k *Key[T]) scope() Scope { return k.spec.Scope }

func (k *Key[T]) hot() bool { return k.spec.Hot }

func (k *Key[T]) info() Info {
	words := words(k.spec.Path)
	return Info{
		Path:    k.spec.Path,
		Alias:   k.spec.Alias,
		Env:     prefix + strings.ToUpper(strings.Join(words, "_")),
		Flag:    strings.Join(words, "-"),
		Type:    k.form.name,
		Default: k.form.format(k.def),
		Doc:     k.spec.Doc,
		Words:   k.form.words,
		Scope:   k.spec.Scope,
		Hot:     k.spec.Hot,
		Ceiling: k.ceiling(),
		Project: k.spec.Project,
	}
}

func (k *Key[T]) read(text string) (any, *problem) {
	v, p := k.form.parse(text)
	return v, p
}

// write writes a value as a setting is written. The default stands in for nil.
func (k *Key[T]) write(value any) string {
	if value == nil {
		return k.form.format(k.def)
	}
	return k.form.format(value.(T)) //nolint:forcetypeassert // as in Get
}

// tighter reports whether a allows less than b. The default stands in for nil.
func (k *Key[T]) tighter(a, b any) bool {
	value := func(x any) T {
		if x == nil {
			return k.def
		}
		return x.(T) //nolint:forcetypeassert // as in Get
	}
	return k.form.less(value(a), value(b))
}

func byPath(path string) declared {
	for _, d := range registry {
		if d.path() == path {
			return d
		}
	}
	return nil
}

// words splits a dotted camelCase path: stdio.maxLine is stdio, max, line. A run of
// capitals is one word.
func words(path string) []string {
	var out []string
	start := 0
	upper := func(i int) bool { return path[i] >= 'A' && path[i] <= 'Z' }
	for i := 1; i <= len(path); i++ {
		switch {
		case i == len(path) || path[i] == '.':
			out = append(out, strings.ToLower(path[start:i]))
			start = i + 1
		case path[i-1] == '.':
		case upper(i) && !upper(i-1),
			upper(i) && i+1 < len(path) && path[i+1] != '.' && !upper(i+1): // the S of leaseTTLSeconds
			out = append(out, strings.ToLower(path[start:i]))
			start = i
		}
	}
	return out
}

// unknown makes the error for a path that no setting has.
func unknown(where, path string) *fault.Error {
	candidates := make([]string, 0, len(registry))
	for _, d := range registry {
		candidates = append(candidates, d.path())
	}
	slices.Sort(candidates)
	e := fault.Usagef("%s: there is no setting %s", where, path)
	if near := Nearest(path, candidates); near != "" {
		return e.Hintf("did you mean %s?", near)
	}
	group, _, _ := strings.Cut(path, ".")
	known := slices.DeleteFunc(candidates, func(c string) bool { return !strings.HasPrefix(c, group+".") })
	if len(known) > 0 {
		return e.Hintf("the settings of %s are %s", group, strings.Join(known, ", "))
	}
	return e.Hintf("mcpx settings list --all shows what there is")
}

// Nearest returns the candidate with the fewest edits from word, or "" if none is
// near enough to be what was meant.
func Nearest(word string, candidates []string) string {
	limit := max(2, len(word)/4)
	best, fewest := "", limit+1
	for _, c := range candidates {
		if d := spelling.Distance(strings.ToLower(word), strings.ToLower(c), limit); d < fewest {
			best, fewest = c, d
		}
	}
	return best
}
