// Package engine runs one script on one JavaScript runtime: it compiles TypeScript
// with esbuild, runs the result on goja under an event loop, and reports what was
// thrown in positions of the user's source.
//
// A script's only way out is a Host. The engine opens, dials and reads nothing of
// the machine and knows nothing of processes; what a script finds besides the
// language comes as Modules from the packages above. Limits of memory and time that
// hold against hostile scripts are the business of the process around it: here only
// Interrupt holds.
//
// One goroutine, the one that calls Runtime.Run, owns the runtime. Everything that
// takes or returns a goja.Value, and every callback given to the runtime, belongs to
// it; other goroutines reach it through Async alone.
package engine

import (
	"context"
	"encoding/json"

	"github.com/dop251/goja"

	"mcpx/internal/fault"
)

// Host is a script's only way out. The head is anything that encoding/json can
// encode, and small; the answer's head is JSON; bodies are raw bytes. An error that
// carries a *fault.Error becomes a JavaScript error with its kind's name, its hint,
// and its details as fields.
type Host interface {
	Call(ctx context.Context, op string, head any, body []byte) (json.RawMessage, []byte, error)
}

// Source is the text of a script.
type Source struct {
	Name string // how positions call it
	Text string
	File string // absolute path, if it is a file: relative imports start there
	// Import decides which files a File may import. It is asked about each by absolute
	// path, first as an import names it and then as it really is; specifier is what stands
	// in the source, empty if that is not known yet.
	Import func(file, specifier string) *fault.Error
	// Files says that files can be read here. Without it, and without Import, none is
	// looked for.
	Files bool
	// Expression says that the value of the last expression statement is the run's
	// value if nothing else is.
	Expression bool
	// Export names the export that is the value, called if it is a function; empty is the
	// default export.
	Export string
	// Prefix are sources that run before the first line of this one, each a module of its own.
	Prefix []string
}

// Ambient holds the facts that surround a script. They travel with the run, because
// the process that holds the runtime has an empty environment and no files.
type Ambient struct {
	Args     []string `json:"args,omitempty"`     // process.argv after the script
	Cwd      string   `json:"cwd,omitempty"`      // as granted
	Platform string   `json:"platform,omitempty"` // as Node spells it: linux, darwin, win32
	Arch     string   `json:"arch,omitempty"`     // as Node spells it: x64, arm64
	Locale   string   `json:"locale,omitempty"`   // BCP 47
	Zone     string   `json:"zone,omitempty"`     // IANA name of the local time zone
	ZoneData []byte   `json:"zoneData,omitempty"` // its TZif file; empty means that Zone is known by name or UTC
	Columns  int      `json:"columns,omitempty"`  // width of the terminal behind standard output, 0 without one
	Color    bool     `json:"color,omitempty"`    // it shows colours
}

// Module is one thing that a script finds: an importable module, globals, or both.
// A script that touches neither pays nothing for it.
type Module struct {
	Name string // as imported: "node:util", "mcpx:tools"; empty if it only has globals
	// Globals are names of the global object. Each is an accessor whose value is the
	// property of that name of Make's result, and that a script may assign over. A name
	// that already exists is never hidden.
	Globals      []string
	Declarations string // what a .d.ts file says of it
	// Spell, if not nil, is how a hint writes one of Globals for a script that misspelt it.
	Spell func(global string) string
	// Meant has the globals that are meant by names which are no misspelling of them.
	Meant map[string]string
	// Make returns the exports. It is called on the script's goroutine, at most once a
	// runtime, when something of the module is first touched.
	Make func(rt *Runtime) *goja.Object
	// Init, if not nil, is called when a runtime is made, for a module that changes what
	// the language itself brings. Every run pays for it: it puts functions in place, which
	// find what they need by Runtime.Globals when they are called, and does no more.
	Init func(rt *Runtime)
}

// Streams that a script writes to.
const (
	Stdout = 1
	Stderr = 2
)

// Options is what a runtime is made of.
type Options struct {
	Host    Host
	Modules []Module
	Ambient Ambient
	// Output takes what the script writes to stream Stdout or Stderr. It is called on
	// the script's goroutine and must not keep p. Nil drops everything.
	Output func(stream int, p []byte)
	// InFlight is how many works of one class Async runs at a time; 0 means 64.
	InFlight int
}

// Outcome says how a run ended.
type Outcome struct {
	Value    json.RawMessage // the run's value; nil if undefined
	Implied  bool            // Value is that of the last expression statement
	ExitCode int             // 0, 1, what the script gave to process.exit, or that of the report's kind
	Report   *fault.Report   // why the run failed; nil if it did not
	Notes    []string        // what of the value JSON could not hold, what failed unheard, and what was not awaited
}
