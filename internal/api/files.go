package api

import (
	"encoding/json"

	"mcpx/internal/fault"
)

// What is asked about configuration files, those of other hosts too, is no operation: it
// belongs to the process that has the person before it.

// ImportInput says whose servers to take over. Of Project, User and File one is given at
// most; without any the servers of a project go into its file, and the user's own into the
// user's.
type ImportInput struct {
	Host    string // empty: list the hosts
	Write   bool   // otherwise it is only said what would be written
	Project bool
	User    bool
	File    string
}

// ImportOutput says what is where.
type ImportOutput struct {
	Hosts   []ImportHost  `json:"hosts"`
	Entries []ImportEntry `json:"entries,omitempty"`
	Written bool          `json:"written"`
}

// ImportHost is another program with the files in which it keeps servers.
type ImportHost struct {
	Name  string       `json:"name"`
	Title string       `json:"title"`
	Files []ImportFile `json:"files"`
}

// ImportFile is a file of another program.
type ImportFile struct {
	Path    string       `json:"path"`
	State   string       `json:"state"` // read, absent, broken
	Project bool         `json:"project,omitempty"`
	Servers []string     `json:"servers,omitempty"`
	Error   *fault.Error `json:"error,omitempty"`
}

// The states of an ImportEntry.
const (
	ImportNew     = "new"     // it would be written
	ImportWritten = "written" // it is written
	ImportTaken   = "taken"   // there is another of that name already
	ImportLeft    = "left"    // it cannot be taken over
)

// ImportEntry is one server of another program.
type ImportEntry struct {
	Name   string          `json:"name"`
	From   string          `json:"from"`
	To     string          `json:"to,omitempty"`
	State  string          `json:"state"`
	Entry  json.RawMessage `json:"entry,omitempty"` // without secrets that are written out
	Inputs []string        `json:"inputs,omitempty"`
	Notes  []string        `json:"notes,omitempty"`
	Error  *fault.Error    `json:"error,omitempty"`
}

// InitInput says where to make a configuration file.
type InitInput struct {
	User    bool
	Imports []string // hosts whose servers are read in place
	Look    bool     // only find out whether it could be made
}

// InitOutput names the file.
type InitOutput struct {
	File    string   `json:"file"`
	Imports []string `json:"imports,omitempty"`
}

// InputsInput names a server.
type InputsInput struct {
	Server string
}

// InputsOutput lists the inputs that the entry of a server refers to.
type InputsOutput struct {
	Server string        `json:"server"`
	Inputs []ServerInput `json:"inputs"`
}

// ServerInput is a value that a server needs from a person.
type ServerInput struct {
	ID          string   `json:"id"`
	Description string   `json:"description,omitempty"`
	Default     string   `json:"default,omitempty"`
	Options     []string `json:"options,omitempty"`
	Password    bool     `json:"password,omitempty"` // it is not shown while it is typed
	Store       string   `json:"store,omitempty"`    // where the answer is kept; empty if there is none
}

// GiveInput is the answer to an input of a server, or takes it back.
type GiveInput struct {
	Server, ID string
	Value      string
	Forget     bool
}

// GivenInput says where the answer is kept.
type GivenInput struct {
	Server string `json:"server"`
	ID     string `json:"id"`
	Store  string `json:"store,omitempty"` // empty if it was forgotten
}

// CheckInput names a server whose entry was just written.
type CheckInput struct {
	Server string
}

// CheckOutput says what the server answered.
type CheckOutput struct {
	Tools int          `json:"tools"`
	Write []string     `json:"write,omitempty"` // tools that are not annotated as only reading
	Guest bool         `json:"guest,omitempty"` // its file is a project's that the user does not vouch for
	Error *fault.Error `json:"error,omitempty"` // why it could not be asked
}
