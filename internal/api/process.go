package api

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"mcpx/internal/fault"
)

// Process answers for the process that holds the servers: the daemon, or the command
// itself if there is none.
type Process interface {
	// Health says who answers. It waits for nothing.
	Health(ctx context.Context, in HealthInput) (*HealthOutput, error)
	// Status tells of the process, the configuration it goes by, and what runs in it.
	Status(ctx context.Context, in StatusInput) (*StatusOutput, error)
	// Refresh reads the configuration again and asks servers again for their tools.
	Refresh(ctx context.Context, in RefreshInput) (*RefreshOutput, error)
	// SessionList lists the sessions that have been used and not been released.
	SessionList(ctx context.Context, in SessionListInput) (*SessionListOutput, error)
	// SessionRelease forgets a session, and ends the instances that were its own.
	SessionRelease(ctx context.Context, in SessionReleaseInput) (*SessionReleaseOutput, error)
	// SessionRestart ends the instances of a session; the next call starts them again.
	SessionRestart(ctx context.Context, in SessionRestartInput) (*SessionRestartOutput, error)
	// Restart ends every instance and puts the process in its own place, once the calls
	// under way have ended.
	Restart(ctx context.Context, in RestartInput) (*RestartOutput, error)
	// Shutdown ends every instance and the process.
	Shutdown(ctx context.Context, in ShutdownInput) (*ShutdownOutput, error)
	// Events gives out what happens, from behind the event After on, until ctx is done.
	Events(ctx context.Context, in EventsInput, deliver func(Event) error) error
}

// HealthInput asks who answers.
type HealthInput struct{}

// HealthOutput says who answers.
type HealthOutput struct {
	Version string    `json:"version"`
	Daemon  bool      `json:"daemon"` // it is a daemon; else the command itself
	Pid     int       `json:"pid"`
	Started time.Time `json:"started"`
}

// StatusInput asks for the state of the process.
type StatusInput struct{}

// StatusOutput is the state of the process.
type StatusOutput struct {
	HealthOutput
	Endpoint  string       `json:"endpoint,omitempty"` // where it is reached
	State     string       `json:"state,omitempty"`    // the directory where it keeps things
	Files     []ConfigFile `json:"files"`
	Problem   *fault.Error `json:"problem,omitempty"` // why the files as they are now are not in force
	Instances []Instance   `json:"instances"`
	Warnings  []string     `json:"warnings,omitempty"`
	// Others are the daemons of the user that stand for other configuration files, as far as
	// a command says that it has looked.
	Others []OtherDaemon `json:"others,omitempty"`
}

// OtherDaemon is a daemon that stands for other configuration files.
type OtherDaemon struct {
	Pid     int       `json:"pid"`
	Version string    `json:"version"`
	Started time.Time `json:"started"`
	Files   []string  `json:"files"` // those that it reads
}

// Instance is one running process of a server, or one session with one that is remote.
type Instance struct {
	Server     string    `json:"server"`
	Key        string    `json:"key"` // who shares it: global, repo:/x/.git, session:NAME
	Pid        int       `json:"pid,omitempty"`
	Era        string    `json:"era,omitempty"` // of the protocol that it speaks
	State      string    `json:"state"`         // starting, running
	Calls      int64     `json:"calls"`
	InFlight   int       `json:"inFlight"`
	IdleMillis int64     `json:"idleMs"`
	Started    time.Time `json:"started"`
	Holders    []string  `json:"holders,omitempty"` // the sessions and processes that it is kept for
	Noise      int       `json:"noise,omitempty"`   // lines on its standard output that were no messages
	Note       string    `json:"note,omitempty"`    // why its key is not what its entry asks for
}

// RefreshInput asks for a new look at Server, or at all.
type RefreshInput struct {
	Server string `json:"server,omitempty" doc:"this server only"`
}

// RefreshOutput says what was found.
type RefreshOutput struct {
	Servers []RefreshedServer `json:"servers"`
}

// RefreshedServer is a server that was asked again.
type RefreshedServer struct {
	Name  string       `json:"name"`
	Tools int          `json:"tools"`
	Error *fault.Error `json:"error,omitempty"`
}

// SessionListInput asks for the sessions.
type SessionListInput struct{}

// SessionListOutput lists sessions by name.
type SessionListOutput struct {
	Sessions []Session `json:"sessions"`
}

// Session is what callers that give one name share.
type Session struct {
	Name    string    `json:"name"`
	Lasting bool      `json:"lasting,omitempty"` // it was named, and lasts until it is released
	Servers []string  `json:"servers"`           // those with instances of its own
	Calls   int64     `json:"calls"`
	Used    time.Time `json:"used"`
}

// SessionReleaseInput names a session.
type SessionReleaseInput struct {
	Name string `json:"name" doc:"the session's name"`
}

// SessionReleaseOutput says what ended with it.
type SessionReleaseOutput struct {
	Name  string `json:"name"`
	Ended int    `json:"ended"` // instances
}

// SessionRestartInput names a session.
type SessionRestartInput struct {
	Name string `json:"name" doc:"the session's name"`
}

// SessionRestartOutput says what ended.
type SessionRestartOutput struct {
	Name  string `json:"name"`
	Ended int    `json:"ended"` // instances
}

// RestartInput asks for a new process in the daemon's place.
type RestartInput struct{}

// RestartOutput says which process makes room.
type RestartOutput struct {
	Pid int `json:"pid"`
}

// ShutdownInput asks the process to end.
type ShutdownInput struct{}

// ShutdownOutput says which process ends.
type ShutdownOutput struct {
	Pid int `json:"pid"`
	// Others are those that have ended as well.
	Others []OtherDaemon `json:"others,omitempty"`
}

// EventsInput says where to begin.
type EventsInput struct {
	After string `json:"after,omitempty" flag:"after" value:"ID" doc:"begin behind the event ID; without it with the next"`
}

// Event is one thing that happened. The kind "lost" says that events are missing here:
// Data has their count, or none if it is not known.
type Event struct {
	ID   string          `json:"id"`
	Kind string          `json:"kind"` // server.started, tools.changed, …
	Time time.Time       `json:"time"`
	Data json.RawMessage `json:"data,omitempty"`
}

// ErrNoDaemon says that no daemon runs, to those who would have a running one and no other.
var ErrNoDaemon = errors.New("no daemon is running")
