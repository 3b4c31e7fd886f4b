package settings

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"

	"mcpx/internal/fault"
)

// level says who gave a value. A higher one wins.
type level int

// The levels, lowest first. A file of the project comes with what was checked out; a
// file of the user was written by the user. What a daemon was given itself counts for those
// who ask it and say nothing.
const (
	userFile level = iota
	projectFile
	served
	environment
	flagged
	runtime
)

// given is what one source says about a setting.
type given struct {
	level  level
	origin string // FILE:LINE:COLUMN, the variable, the flag or the command
	text   string // as it was written
	value  any
}

// File holds the settings of one configuration file.
type File struct {
	Project bool // found in the project rather than written by the user
	Entries []Entry
}

// Entry is one setting in a file, as it was written.
type Entry struct {
	Path   string // exec.timeout
	Value  json.RawMessage
	Origin string // FILE:LINE:COLUMN
}

// Set holds the values of one process. The zero Set holds the defaults. It may be
// read by many goroutines once the last Apply has returned; Override and Become may be
// called meanwhile.
type Set struct {
	held atomic.Pointer[map[string][]given] // by path, in the order in which they were applied
}

// values are what s holds; nil if it holds nothing.
func (s *Set) values() map[string][]given {
	if held := s.held.Load(); held != nil {
		return *held
	}
	return nil
}

// ApplyFile adds the settings of a file. Files are applied nearest first: of two
// files of one level, the one applied first wins. Every entry that is wrong is in
// the error.
func (s *Set) ApplyFile(f File) error {
	from := userFile
	if f.Project {
		from = projectFile
	}
	var errs []*fault.Error
	for _, e := range f.Entries {
		d := byPath(e.Path)
		if d == nil {
			errs = append(errs, unknown(e.Origin, e.Path))
			continue
		}
		text, p := scalar(e.Value)
		var value any
		if p == nil {
			value, p = d.read(text)
		}
		if p != nil {
			errs = append(errs, fault.Usagef("%s: %s: %s", e.Origin, e.Path, p.what).Hintf("%s", p.hint))
			continue
		}
		s.add(e.Path, given{from, e.Origin, text, value})
	}
	return join(errs)
}

// ApplyEnv adds the settings that the environment holds, in the place of what was read
// from it before. A variable that is set but empty counts as not set.
func (s *Set) ApplyEnv(lookup func(name string) (string, bool)) error {
	var errs []*fault.Error
	for _, d := range registry {
		i := d.info()
		text, ok := lookup(i.Env)
		if !ok || text == "" {
			continue
		}
		value, p := d.read(text)
		if p != nil {
			errs = append(errs, fault.Usagef("the variable %s: %s", i.Env, p.what).Hintf("%s", p.hint))
			continue
		}
		v := given{environment, i.Env, text, value}
		if at := slices.IndexFunc(s.values()[i.Path], func(v given) bool { return v.level == environment }); at >= 0 {
			s.values()[i.Path][at] = v
			continue
		}
		s.add(i.Path, v)
	}
	return join(errs)
}

// ApplyFlag adds the setting of one flag, given by its name or alias without dashes.
// A flag given twice counts as given the last time; two spellings of one setting are
// an error, because nobody could say which was meant.
func (s *Set) ApplyFlag(flag, text string) error {
	at := slices.IndexFunc(registry, func(d declared) bool {
		i := d.info()
		return i.Flag == flag || i.Alias != "" && i.Alias == flag
	})
	if at < 0 {
		return fault.Usagef("there is no flag --%s", flag)
	}
	d := registry[at]
	path, origin := d.path(), "--"+flag
	value, p := d.read(text)
	if p != nil {
		return fault.Usagef("the flag %s: %s", origin, p.what).Hintf("%s", p.hint)
	}
	for i, v := range s.values()[path] {
		if v.level != flagged {
			continue
		}
		if v.origin != origin {
			return fault.Usagef("%s and %s are the same setting", v.origin, origin).Hintf("give one of them")
		}
		s.values()[path][i] = given{flagged, origin, text, value}
		return nil
	}
	s.add(path, given{flagged, origin, text, value})
	return nil
}

// Notices says, a sentence each, which variables and flags are not followed: they ask for
// more than a ceiling allows, or the daemon was told otherwise while it runs.
func (s *Set) Notices() []string {
	var out []string
	for _, d := range registry {
		asked, ok := s.asked(d.path())
		if !ok {
			continue
		}
		got, _ := s.inForce(d)
		switch {
		case d.ceiling() && d.tighter(got.value, asked.value):
			out = append(out, fmt.Sprintf("%s asks for %s of %s; %s is the most that %s allows",
				asked.origin, asked.text, d.path(), got.text, got.origin))
		case got.level == runtime && got.value != asked.value:
			out = append(out, fmt.Sprintf("%s asks for %s of %s; %s is in force, by %s",
				asked.origin, asked.text, d.path(), got.text, got.origin))
		}
	}
	return out
}

func (s *Set) add(path string, v given) {
	held := s.values()
	if held == nil {
		held = map[string][]given{}
		s.held.Store(&held)
	}
	held[path] = append(held[path], v)
}

// inForce picks among the values of a setting. For a ceiling, a file of the project can
// only tighten what the user's files or the default say, and once a file or the daemon has
// set it, everything else can only tighten it.
func (s *Set) inForce(d declared) (given, bool) {
	path := d.path()
	over, isOver := s.first(path, runtime)
	asked, isAsked := s.asked(path)
	own, isOwn := s.first(path, served)
	file, inFile := s.first(path, userFile)
	project, inProject := s.first(path, projectFile)
	if !d.ceiling() {
		switch {
		case isOver:
			return over, true
		case isAsked:
			return asked, true
		case isOwn:
			return own, true
		case inProject && (d.project() == Anything || d.project() == Tightens && d.tighter(project.value, file.value)):
			return project, true
		}
		return file, inFile
	}
	bound, isBound := file, inFile
	if inProject && d.tighter(project.value, file.value) {
		bound, isBound = project, true
	}
	for _, v := range []struct {
		given
		said bool
	}{{own, isOwn}, {over, isOver}, {asked, isAsked}} {
		if v.said && (!isBound || d.tighter(v.value, bound.value)) {
			bound, isBound = v.given, true
		}
	}
	return bound, isBound
}

// asked returns what whoever runs the program says: a flag, or else a variable.
func (s *Set) asked(path string) (given, bool) {
	if v, ok := s.first(path, flagged); ok {
		return v, true
	}
	return s.first(path, environment)
}

// chosen returns what the user says, in whichever way: at runtime, or for a process. Of
// what can only be tightened it is what allows least.
func (s *Set) chosen(d declared) (given, bool) {
	var out given
	found := false
	for _, l := range []level{runtime, flagged, environment, served} {
		if v, ok := s.first(d.path(), l); ok && (!found || d.ceiling() && d.tighter(v.value, out.value)) {
			out, found = v, true
		}
	}
	return out, found
}

func (s *Set) first(path string, l level) (given, bool) {
	for _, v := range s.values()[path] {
		if v.level == l {
			return v, true
		}
	}
	return given{}, false
}

// scalar returns the text of a JSON string, number, true or false.
func scalar(raw json.RawMessage) (string, *problem) {
	raw = bytes.TrimSpace(raw)
	var text string
	switch {
	case len(raw) > 0 && raw[0] == '"' && json.Unmarshal(raw, &text) == nil:
		return text, nil
	case len(raw) > 0 && (raw[0] == '-' || raw[0] >= '0' && raw[0] <= '9'), string(raw) == "true", string(raw) == "false":
		return string(raw), nil
	}
	shown := string(raw)
	if len(shown) > 40 {
		shown = shown[:40] + "…"
	}
	return "", &problem{"the value is neither a string nor a number: " + shown, `write a value such as "60s", "64MiB" or 64`}
}

// join makes one error of several: the first, with the others below it.
func join(errs []*fault.Error) error {
	switch len(errs) {
	case 0:
		return nil
	case 1:
		return errs[0]
	}
	var b strings.Builder
	for i, e := range errs {
		if i > 0 {
			b.WriteString("\n")
		}
		b.WriteString(e.Message)
		if e.Hint != "" && i > 0 {
			fmt.Fprintf(&b, " (%s)", e.Hint)
		}
	}
	return fault.Usagef("%s", b.String()).Hintf("%s", errs[0].Hint)
}
