// Package daemon is the one process that keeps the servers of a user running between
// commands: how it is found, started and left, and who gets in.
//
// A daemon has a Place: a few files in the state directory, by a name that is made of the
// configuration files it stands for. A Hold is the daemon's side: it has the place, and
// listens there until it is told to end, or has had nothing to do for long. Connect is the
// side of a command: it reaches the daemon of a place, and starts it if there is none.
//
// What is answered is a handler that the caller gives. Live is what such a handler asks:
// the gateway of the configuration as it is now.
package daemon

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"mcpx/internal/fault"
	"mcpx/internal/store"
)

// Place is where the files of one daemon are. Two processes with one Place mean one daemon.
type Place struct {
	Dir    string // of the files, for the user alone
	Name   string // of this daemon among those of the user
	Socket string // the path of its socket, which may be elsewhere
}

// longest is how long the path of a socket may be on every platform: 104 bytes with the
// final NUL on the BSDs and macOS, 108 on Linux and Windows.
const longest = 103

// At returns the place of the daemon for an identity, below a state directory. Nothing is
// created. The temporary directory takes the socket if its path would be too long.
func At(state, identity, temp string) Place {
	sum := sha256.Sum256([]byte(identity))
	p := Place{Dir: filepath.Join(state, "daemon"), Name: hex.EncodeToString(sum[:6])}
	p.Socket = filepath.Join(p.Dir, p.Name+".sock")
	if len(p.Socket) > longest {
		sum := sha256.Sum256([]byte(p.Socket))
		p.Socket = filepath.Join(temp, "mcpx-"+strconv.Itoa(os.Getuid()), hex.EncodeToString(sum[:8])+".sock")
	}
	return p
}

// Named returns the place of a name, which At has made of an identity, without its socket.
func Named(state, name string) Place { return Place{Dir: filepath.Join(state, "daemon"), Name: name} }

// All returns the places of the daemons that have a record in a state directory. Whether
// they run, Find says.
func All(state string) []Place {
	records, err := filepath.Glob(filepath.Join(state, "daemon", "*.json"))
	if err != nil {
		return nil // the directory's name is no pattern
	}
	var out []Place
	for _, path := range records {
		p := Place{Dir: filepath.Dir(path), Name: strings.TrimSuffix(filepath.Base(path), ".json")}
		if r, err := p.Read(); err == nil {
			p.Socket, _ = socketOf(r.Endpoint)
			out = append(out, p)
		}
	}
	return out
}

// Log is the path of the daemon's log.
func (p Place) Log() string { return filepath.Join(p.Dir, p.Name+".log") }

func (p Place) record() string   { return filepath.Join(p.Dir, p.Name+".json") }
func (p Place) lock() string     { return filepath.Join(p.Dir, p.Name+".lock") }
func (p Place) starting() string { return filepath.Join(p.Dir, p.Name+".start") }

// Held reports whether a process serves the place, or is about to. Where that cannot be told
// it says yes.
func (p Place) Held() bool {
	if _, err := os.Lstat(p.lock()); gone(err) {
		return false
	}
	l, err := lock(p.lock())
	if err != nil {
		return !gone(err)
	}
	l.unlock()
	return false
}

// prepare makes the folders of the place, and makes sure that they are the user's alone.
// The error's kind is Unavailable.
func (p Place) prepare() error {
	if len(p.Socket) > longest {
		return fault.Unavailablef("the path of the daemon's socket is too long: %s", p.Socket).
			Hintf("set TMPDIR or MCPX_STATE_DIR to a shorter path")
	}
	for _, dir := range []string{p.Dir, filepath.Dir(p.Socket)} {
		if err := private(dir); err != nil {
			return fault.Unavailablef("the daemon cannot keep its files: %w", err).
				Hintf("set MCPX_STATE_DIR to a directory that can be written")
		}
	}
	return nil
}

// private makes a folder that only the user can enter, or checks that it is one.
func private(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	info, err := os.Lstat(dir)
	switch {
	case err != nil:
		return err
	case !info.IsDir():
		return fmt.Errorf("%s is no directory", dir)
	case !owned(info):
		return fmt.Errorf("%s belongs to somebody else", dir)
	case info.Mode().Perm()&0o077 == 0 || !permissions:
		return nil
	}
	return os.Chmod(dir, 0o700)
}

// safe reports whether nobody else can have made the socket. In the temporary directory
// somebody may have made a folder in the place of one that went, and listen there.
func (p Place) safe() bool {
	info, err := os.Lstat(filepath.Dir(p.Socket))
	return err == nil && info.IsDir() && owned(info) && (info.Mode().Perm()&0o022 == 0 || !permissions)
}

// Record is what the daemon writes down for those who look for it. It holds the token.
type Record struct {
	Pid     int       `json:"pid"`
	Version string    `json:"version"`
	Started time.Time `json:"started"`
	// Endpoint is where it listens: unix:PATH.
	Endpoint string `json:"endpoint"`
	// HTTP is the address of its TCP port, http://HOST:PORT; empty if it has none.
	HTTP string `json:"http,omitempty"`
	// Token lets a client in over TCP.
	Token string `json:"token"`
	// Auto says that a command started it, rather than a person.
	Auto bool `json:"auto,omitempty"`
}

var errDamaged = errors.New("it is damaged")

// maxRecord bounds the record's file.
const maxRecord = 64 << 10

// Read returns the record of the place. If there is none the error is fs.ErrNotExist, and
// errDamaged if what is there is none.
func (p Place) Read() (*Record, error) {
	text, err := store.ReadFile(p.record(), maxRecord)
	if err != nil {
		return nil, err
	}
	var r Record
	if err := json.Unmarshal(text, &r); err != nil {
		return nil, fmt.Errorf("%s: %w: %w", p.record(), errDamaged, err)
	}
	return &r, nil
}

func (p Place) write(r *Record) error {
	text, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return fmt.Errorf("encoding the daemon's record: %w", err)
	}
	return store.WriteFile(p.record(), append(text, '\n'), 0o600)
}

// Tail returns the last lines of the log, as much as fits into a message.
func (p Place) Tail() string {
	f, err := os.Open(p.Log())
	if err != nil {
		return ""
	}
	defer f.Close()
	const most = 2000
	if info, err := f.Stat(); err == nil && info.Size() > most {
		if _, err := f.Seek(-most, io.SeekEnd); err != nil {
			return ""
		}
	}
	text := make([]byte, most)
	n, _ := f.Read(text)
	lines := strings.Split(strings.TrimSpace(string(text[:n])), "\n")
	return strings.Join(lines[max(0, len(lines)-5):], "\n")
}

// lockFile is a lock that lasts until unlock, or until the process is gone.
type lockFile struct {
	f    *os.File
	path string
}

// errLocked says that another process holds a lock.
var errLocked = errors.New("another process holds the lock")

// lock takes a lock without waiting. The error is errLocked if another process has it.
func lock(path string) (*lockFile, error) {
	for {
		f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
		if err != nil {
			return nil, err
		}
		switch got, err := store.TryLock(f); {
		case err != nil:
			_ = f.Close()
			return nil, &fs.PathError{Op: "lock", Path: path, Err: err}
		case !got:
			_ = f.Close()
			return nil, errLocked
		}
		l := &lockFile{f, path}
		if l.stands() {
			return l, nil
		}
		_ = f.Close() // whoever held it before has removed the file meanwhile: it locks nothing
	}
}

// stands reports whether the file that is locked is still the one at its path.
func (l *lockFile) stands() bool {
	ours, err := l.f.Stat()
	if err != nil {
		return false
	}
	there, err := os.Stat(l.path)
	return err == nil && os.SameFile(ours, there)
}

// unlock gives the lock back. Its file stays, so that whoever waits for it waits for the
// same one.
func (l *lockFile) unlock() { _ = l.f.Close() }

// discard gives the lock back and removes its file.
func (l *lockFile) discard() {
	if l.stands() {
		_ = os.Remove(l.path)
	}
	l.unlock()
}

// gone reports whether an error says that there is nothing at a path.
func gone(err error) bool { return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) }
