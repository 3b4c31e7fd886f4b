package worker

import (
	"encoding/json"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"mcpx/engine"
	"mcpx/internal/fault"
	"mcpx/internal/grant"
	"mcpx/internal/sandbox"
)

// Ready is the head of the first frame of a worker.
type Ready struct {
	Build string        `json:"build"` // see Build
	Level sandbox.Level `json:"level"`
	// Missing says why the level is less than this system could have.
	Missing string `json:"missing,omitempty"`
	Room    uint64 `json:"room,omitempty"` // see sandbox.Lockdown
}

// Run is the head of the one script that a worker is given. The body is its text.
type Run struct {
	Name       string         `json:"name"`
	File       string         `json:"file,omitempty"`
	Expression bool           `json:"expression,omitempty"`
	Ambient    engine.Ambient `json:"ambient"`
	Namespaces []string       `json:"namespaces,omitempty"`
	InFlight   int            `json:"inFlight"` // calls of one class that the broker has room for
	MaxBody    int64          `json:"maxBody"`  // bytes that the broker takes in one body
	Limits     Limits         `json:"limits"`
	// Export and Prefix are those of the engine.Source. Given are globals besides, each a
	// JSON value.
	Export string                     `json:"export,omitempty"`
	Prefix []string                   `json:"prefix,omitempty"`
	Given  map[string]json.RawMessage `json:"given,omitempty"`
	// Make says that the script is not to run: what is made of it is the value, an
	// engine.Bundled. It is one of the constants below. Modules are those of the other runtime.
	Make    string   `json:"make,omitempty"`
	Modules []string `json:"modules,omitempty"`
	// Imports are the directories that files may be imported from, and Reads what may be
	// read: files whose names begin with a dot are imported only if they are in both.
	// Without Imports no file is looked for.
	Imports grant.Words `json:"imports"`
	Reads   grant.Words `json:"reads"`
}

// The values of Run.Make.
const (
	MakeBundle      = "bundle"      // see engine.Bundle
	MakeTranslation = "translation" // see engine.Translate
)

// Limits are what a worker watches itself; 0 is no limit.
type Limits struct {
	Memory int64         `json:"memory,omitempty"` // bytes
	CPU    time.Duration `json:"cpu,omitempty"`
}

// The limits that a worker ends its script for. An error that has the detail limit with
// one of them says no more: the words are the broker's.
const (
	LimitMemory = "memory"
	LimitCPU    = "cpu"
)

// Call is the head of a request to the host. Its class is ClassOf its Op. The head of
// the answer is that of engine.Host.Call; a refusal's body is a fault.Error.
type Call struct {
	Op   string          `json:"op"`
	Head json.RawMessage `json:"head,omitempty"`
}

// Log is the head of the op "log". The body is the text.
type Log struct {
	Level string `json:"level"` // debug, info, warn, error
}

// End is the head of the frame that says how the script ended. The body is the run's
// value, if it has one, and after it the report as JSON, if there is one.
type End struct {
	Value    int      `json:"value,omitempty"` // bytes of the body that are the value
	Implied  bool     `json:"implied,omitempty"`
	ExitCode int      `json:"exitCode"`
	Notes    []string `json:"notes,omitempty"` // see engine.Outcome
	Fault    string   `json:"fault,omitempty"` // what Go says of a fault of the engine, for the log
}

// The body of Interrupt, and that of Fail, is a fault.Error: of kind limit if the worker
// ended the script for a limit and the script did not come to an end by itself, of
// kind unavailable if the process could not be locked or bounded, and of kind internal
// otherwise. The head of Fail is the Stack at which the worker gave up.

// Stack is a Go stack, for the log.
type Stack struct {
	Stack string `json:"stack"`
}

// Class is a queue of the broker. What waits in one does not hold up the others.
type Class int

// The classes.
const (
	Tools    Class = iota // tool calls
	Catalog               // listings, search, describe
	Files                 // files, and what is told to others: answered without waiting for them
	Requests              // requests to the network, until the response begins
	Feeds                 // bytes that a program or a server is to take
	Pending               // what waits for others and carries nothing: input, questions, content of the network, programs
	Output                // standard output, standard error, log, emit, progress: one after the other
	classes
)

// ClassOf returns the class of a request to the host.
func ClassOf(op string) Class {
	switch op {
	case "tool":
		return Tools
	case "log", "emit", "progress":
		return Output
	case "fetch.open":
		return Requests
	case "fetch.write", "run.write":
		return Feeds
	case "input", "stdin", "elicit.next", "fetch.head", "fetch.read", "run.read", "run.wait":
		return Pending
	}
	switch group, _, _ := strings.Cut(op, "."); group {
	case "fs", "fetch", "run", "artifact", "elicit":
		return Files
	}
	return Catalog
}

// Classes counts the classes.
const Classes = int(classes)

// Room is how many requests of a class may be without an answer: the rest wait in the
// worker. A worker that sends more is not an honest one.
func (c Class) Room(inFlight int) int {
	switch c {
	case Output:
		return outputFrames
	case Pending:
		return pendingRequests
	}
	return inFlight
}

const (
	// pendingRequests is how many requests may wait for others. A program that is waited
	// for, and read from, must not keep the next one from being heard: three requests for
	// each of hundreds of programs.
	pendingRequests = 2048
	// MaxPending is the largest head of a request that waits for others; it has no body.
	MaxPending = 64 << 10
	// MaxReport is the largest report of how a script ended: it is taken apart, which takes
	// many times its size.
	MaxReport = 8 << 20
	// outputFrame is how much output is gathered before it is sent.
	outputFrame = 32 << 10
	// outputFrames is how many frames of output may be unwritten. More than this and
	// the script waits, as it would for a full pipe.
	outputFrames = 64
	// MaxOutput is the largest body of a frame of output.
	MaxOutput = 64 << 10
)

// protocol is raised when a broker and a worker of different builds of one revision
// would not understand each other.
const protocol = "3"

// Build identifies the build of this program, as far as the program can tell.
var Build = sync.OnceValue(func() string {
	id := []string{"protocol " + protocol}
	if info, ok := debug.ReadBuildInfo(); ok {
		id = append(id, info.GoVersion, info.Main.Version)
		for _, s := range info.Settings {
			switch s.Key {
			case "vcs.revision", "vcs.time", "vcs.modified", "-race":
				id = append(id, s.Key+"="+s.Value)
			}
		}
	}
	return strings.Join(id, " ")
})

// reduced makes a report small, when the whole one cannot leave the worker.
func reduced(r *fault.Report) *fault.Report {
	const most = 64 << 10
	message := r.Message
	if len(message) > most {
		message = strings.ToValidUTF8(message[:most], "") + "…"
	}
	small := &fault.Report{Kind: r.Kind, Name: r.Name, Message: message, Hint: r.Hint}
	if len(small.Name) > most {
		small.Name = "Error"
	}
	if len(small.Hint) > most {
		small.Hint = ""
	}
	if r.At != nil {
		small.At = &fault.Position{File: r.At.File, Line: r.At.Line, Column: r.At.Column}
	}
	return small
}
