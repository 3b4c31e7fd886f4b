package daemon

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"strconv"
	"sync"
	"sync/atomic"

	"mcpx/internal/settings"
)

// LogFile is the log of a daemon. When it is full, by logging.maxBytes, what is in it is put
// aside as NAME.log.1, what was that becomes NAME.log.2, and so on as far as logging.keep says.
//
// The file itself stays the one that the process has as its standard error, so that what the
// runtime says when it dies is in it: it is copied and emptied, and not renamed.
type LogFile struct {
	f    *os.File
	path string
	set  atomic.Pointer[settings.Set] // nil are the defaults

	mu    sync.Mutex
	until int64 // how long it may become at least, since it could not be put aside
}

// LogTo returns what writes to the log of a place, if f is that file, opened to be appended to.
// Another file is only written to.
func (p Place) LogTo(f *os.File) *LogFile {
	l := &LogFile{f: f}
	ours, err := f.Stat()
	if err != nil {
		return l
	}
	if there, err := os.Stat(p.Log()); err == nil && os.SameFile(ours, there) {
		l.path = p.Log()
	}
	return l
}

// Follow says which settings are in force.
func (l *LogFile) Follow(set *settings.Set) { l.set.Store(set) }

// Write writes one entry.
func (l *LogFile) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if info, err := l.f.Stat(); err == nil && l.path != "" && info.Size() > 0 {
		most := settings.LoggingMaxBytes.Get(l.set.Load())
		if info.Size()+int64(len(p)) > max(most, l.until) {
			l.until = 0
			if l.putAside() != nil {
				l.until = info.Size() + most // it goes on; later it is tried again
			}
		}
	}
	return l.f.Write(p)
}

// putAside empties the file, once what is in it stands elsewhere.
func (l *LogFile) putAside() error {
	aside := func(n int) string { return l.path + "." + strconv.Itoa(n) }
	keep := settings.LoggingKeep.Get(l.set.Load())
	for n := keep; os.Remove(aside(n)) == nil; n++ { // those of a time when more were kept, too
	}
	for n := keep - 1; n > 0; n-- {
		if err := os.Rename(aside(n), aside(n+1)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	part := l.path + ".part"
	err := copyFile(part, l.path)
	if err == nil {
		err = os.Rename(part, aside(1))
	}
	if err != nil {
		_ = os.Remove(part)
		return err
	}
	return os.Truncate(l.path, 0)
}

func copyFile(to, from string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}
