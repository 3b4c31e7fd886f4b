// Package worker is the process that holds one script: the engine, the bindings and
// the modules that a script finds, behind a socket to the broker.
//
// A worker does as it is told once: it says that it is ready, takes the script, runs
// it, says how it ended, and exits. Everything the script asks of the outside is a
// request to the broker (package run), which decides. The broker trusts nothing that a
// worker says; a worker trusts its broker.
//
// The types of this package that are named for frames are what those frames hold.
package worker

import (
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"slices"
	"time"

	"mcpx/engine"
	"mcpx/internal/fault"
	"mcpx/internal/sandbox"
)

// Command is the hidden command that makes a process a worker.
const Command = "worker"

// exitOrphaned is the exit status of a worker whose broker is gone. Nobody reads it.
const exitOrphaned = 4

// exitOverLimit is that of one whose script was over a limit; a frame says which.
const exitOverLimit = 5

// maxGoStack bounds the stack of one goroutine. What recurses natively beyond it, and
// no script needs to, dies before it has taken the machine's memory.
const maxGoStack = 64 << 20

// A Kind of worker is the second argument of its process.
type Kind string

// The kinds.
const (
	// Plain reads nothing: it is locked down before it is ready.
	Plain Kind = "plain"
	// Reading can read files to import. It is behind a wall from when it has its script,
	// and locked down before anything of the script runs.
	Reading Kind = "reading"
	// Warm is Plain, and has compiled and run something before it is ready.
	Warm Kind = "warm"
)

// Args are the arguments of a process that is to be a worker.
func Args(k Kind) []string { return []string{Command, string(k)} }

// Dispatch runs a worker and exits if args, those of a process without its name, ask
// for one; otherwise it returns at once. It stands first in main, and first in every
// TestMain of a package whose tests run scripts.
func Dispatch(args []string) {
	switch {
	case len(args) == 1 && args[0] == Command:
		os.Exit(Main(Plain))
	case len(args) == 2 && args[0] == Command && slices.Contains([]Kind{Plain, Reading, Warm}, Kind(args[1])):
		os.Exit(Main(Kind(args[1])))
	}
}

// Main is the life of a worker; its result is the exit status. When the broker is gone
// it exits the process wherever the script stands.
func Main(kind Kind) int {
	socket, err := sandbox.Inherited()
	if err != nil {
		e := fault.From(err)
		fmt.Fprintf(os.Stderr, "mcpx: %s\n  %s\n", e.Message, e.Hint)
		return e.Kind.ExitCode()
	}
	debug.SetMaxStack(maxGoStack)
	lock := sandbox.Lock(kind == Reading)
	if kind == Warm {
		warm()
	}
	err = Serve(socket, Process{
		Level: lock.Level, Missing: lock.Missing, Room: lock.Room,
		Prepare: prepare,
		Wall:    func(roots []string) error { return lock.Wall(roots) },
		Seal:    lock.Seal,
		Limit:   func(l Limits) error { return limit(lock, l) },
		Exit:    os.Exit,
	})
	if err != nil {
		if errors.Is(err, io.EOF) {
			return exitOrphaned // not needed after all
		}
		fmt.Fprintf(os.Stderr, "mcpx worker: %v\n", err)
		return fault.Internal.ExitCode()
	}
	return 0
}

// limit bounds the process, should its own watch fail.
func limit(lock *sandbox.Lockdown, l Limits) error {
	if l.Memory > 0 {
		// The collector works harder when the heap comes near, and seldom before that: a
		// script's process is short-lived.
		debug.SetMemoryLimit(l.Memory + collectorSlack)
		debug.SetGCPercent(collectorPercent)
	}
	var seconds uint64
	if l.CPU > 0 {
		seconds = uint64(l.CPU/time.Second) + cpuSlack
	}
	return lock.Limit(l.Memory, seconds)
}

const (
	collectorSlack = 8 << 20
	// collectorPercent lets scripts take a fifth less time than with the usual 100
	// (BenchmarkEngineCPU), and some of them up to two thirds more memory.
	collectorPercent = 400
	cpuSlack         = 2 // seconds
)

// prepare makes the process one that a run can live in.
func prepare(run Run) []engine.Module {
	setZone(run.Ambient)
	return Modules(run.Namespaces)
}

// setZone makes the script's time zone that of the process: the engine's Date and
// everything else that asks for local time.
func setZone(a engine.Ambient) {
	zone := time.UTC
	if loc, err := time.LoadLocationFromTZData(a.Zone, a.ZoneData); err == nil && len(a.ZoneData) > 0 {
		zone = loc
	} else if loc, err := time.LoadLocation(a.Zone); err == nil {
		zone = loc
	}
	time.Local = zone //nolint:gosmopolitan // it is the user's zone, brought here
}
