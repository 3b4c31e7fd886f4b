package sandbox

import "strings"

// Level says how far the system holds a worker, whatever its code may come to do. The
// words are for people and for machines.
type Level string

// The levels. What limits time and memory, and the split in two processes, hold at each.
const (
	LevelFull       Level = "landlock+seccomp" // both of what Linux has
	LevelSeccomp    Level = "seccomp"          // system calls are filtered
	LevelLandlock   Level = "landlock"         // files and TCP are shut
	LevelBestEffort Level = "best-effort"      // nothing of the system's: its user's rights are left to it
	LevelNone       Level = "none"             // nobody has tried
)

// level is the level of a process with and without the two.
func level(landlock, seccomp bool) Level {
	switch {
	case landlock && seccomp:
		return LevelFull
	case seccomp:
		return LevelSeccomp
	case landlock:
		return LevelLandlock
	}
	return LevelBestEffort
}

// Lockdown is what this process, a worker, has given up for good. Its methods are called
// once, in the order Wall, Seal, and by one goroutine.
type Lockdown struct {
	Level Level
	// Missing says why the level is less than this system could have; empty if it is not.
	Missing string
	// Room is how many bytes of memory the limits leave that the process was started with
	// (ulimit -v, ulimit -d); 0 if they bound none.
	Room uint64

	state lockdown
}

// Lock gives up what a worker does not need, before it knows its script. A worker that
// may have to read files to import keeps the right to do that, and to that alone, until
// Seal; any other has nothing but its descriptors left.
//
// What cannot be had is left out, and said in Missing: it is for the broker to decide
// whether the level will do.
func Lock(reads bool) *Lockdown {
	l := &Lockdown{}
	var missing []string
	for _, err := range l.lock(reads) {
		missing = append(missing, err.Error())
	}
	l.Missing = strings.Join(missing, "; ")
	return l
}

// Wall takes every file away from the process but those in the directories roots, and
// what a bundler reads above them: the names in directories, and the files that describe
// a package. It is for a process of Lock(true). Where Landlock is not part of the level
// it does nothing.
func (l *Lockdown) Wall(roots []string) error { return l.wall(roots) }

// Seal takes the rest: files, and what Wall and Limit need themselves. An error means
// that the process is not at its Level and must not run a script.
func (l *Lockdown) Seal() error { return l.seal() }

// Limit bounds what the process may take of the machine, should its own watch fail:
// memory beyond what it has now, and seconds of processor time in all. Zero bounds
// nothing. It must be called before Seal.
func (l *Lockdown) Limit(memory int64, seconds uint64) error { return l.limit(memory, seconds) }

// slack is what the address space may grow beyond the memory that a script is given, or
// a quarter of that if it is more. The heap is reserved in pieces of 64 MiB, of which an
// idle process has one that is almost empty: less than a piece is left for rounding up,
// or a script could have a whole one beyond its limit. Threads and tables take of it too.
const slack = 56 << 20

// Reserve is how far the address space of a worker may grow by Limit whose script is given
// that much memory.
func Reserve(memory int64) uint64 {
	m := uint64(max(memory, 0))
	return m + max(slack, m/4)
}
