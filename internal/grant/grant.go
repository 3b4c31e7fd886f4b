// Package grant is what one run may do, as values, and the gates that hold it.
//
// A Set says in words what a run may do: which tools it may call, which files it may
// read and write, which hosts it may reach, and so on. It comes from a profile, from
// flags, and from what a caller narrows. The zero Set grants nothing.
//
// A gate is made of a Set when a run begins: Files opens files, Net reaches hosts,
// Programs starts programs, Tools and Env answer for names. A gate takes what a script
// wrote as it wrote it, decides on the thing that is then used (the opened file, the
// dialled address) and never on its name alone, and repeats nothing in an error but the
// script's own spelling. What is outside the run's grants is refused alike whether it
// is there or not.
package grant

import (
	"encoding/json"
	"slices"
	"unicode/utf8"

	"mcpx/internal/fault"
)

// The grants, as messages, flags (--allow-NAME, --deny-NAME) and configuration name them.
const (
	Tool     = "tools"
	Read     = "read"
	Write    = "write"
	Import   = "imports"
	Network  = "net"
	Variable = "env"
	Program  = "run"
	// Those without words.
	Input     = "stdin"
	Artifact  = "artifacts"
	Questions = "ask"
)

// Any is the word that stands for everything that a grant can give.
const Any = "*"

// Words is one grant: what it gives, and what of that is taken away again. A Deny wins
// over every Allow. The word Any stands for everything.
//
//	tools    NS, NS.TOOL, each with * for any text; NS:read for the tools of NS that only read
//	read     absolute paths of directories, which give what is in them, or of files
//	write    likewise
//	imports  absolute paths of directories
//	net      HOST, *.HOST, either with :PORT; an IP address, with :PORT; a CIDR. Public gives every public
//	         address, Any every address
//	env      names of variables, with * for any text
//	run      absolute paths of programs
type Words struct {
	Allow []string `json:"allow,omitempty"`
	Deny  []string `json:"deny,omitempty"`
}

// None reports whether nothing is given.
func (w Words) None() bool { return len(w.Allow) == 0 || slices.Contains(w.Deny, Any) }

// All reports whether everything is given and nothing taken away.
func (w Words) All() bool { return len(w.Deny) == 0 && slices.Contains(w.Allow, Any) }

// Set is what one run may do.
type Set struct {
	Profile   string `json:"profile"` // the name it began with
	Tools     Words  `json:"tools"`
	Read      Words  `json:"read"`
	Write     Words  `json:"write"`
	Imports   Words  `json:"imports"`
	Net       Words  `json:"net"`
	Env       Words  `json:"env"`
	Run       Words  `json:"run"`
	Artifacts bool   `json:"artifacts"`
	Stdin     bool   `json:"stdin"`
	Ask       bool   `json:"ask"`
	// Everything says that it is the profile all: also file systems that are the
	// kernel's (/proc, /sys), devices, and private addresses.
	Everything bool `json:"everything,omitempty"`
}

// maxThing is how much of what a script spelled is repeated in an error.
const maxThing = 200

// Denied is the error of a gate: kind denied, with the details grant, thing and, if
// there is one, flag. thing is what the script asked for as it spelled it; empty if the
// grant as a whole is meant.
func Denied(grant, thing string) *fault.Error {
	thing = clip(thing)
	text, flag := "denied: "+grant, "--allow-"+grant
	switch grant {
	case Input, Artifact, Questions:
		flag = "--permissions=" + Default // every profile but none has them
	}
	if thing != "" {
		quoted, _ := json.Marshal(thing) // a string can be encoded
		text += " " + string(quoted)
		flag += "=" + thing
	}
	return fault.Deniedf("%s: outside the run's grants", text).
		Hintf("allow it with %s", fault.ShellWord(flag)).
		With("grant", grant).With("thing", thing).With("flag", flag)
}

// clip shortens what a script spelled.
func clip(s string) string {
	if len(s) <= maxThing {
		return s
	}
	n := maxThing
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + "…"
}
