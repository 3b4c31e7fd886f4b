// Package files is the broker's half of stdlib/fs: it does what a script asks about
// files, by the gate of the run's grants.
//
// The operations, their heads and their answers are those of the package comment of
// stdlib/fs. Paths are the gate's business; what is here holds the files that a script
// has open, and bounds what one request can take: how many files are open, how large a
// body is, how long a listing is.
package files

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"sync"
	"syscall"
	"time"

	"mcpx/internal/fault"
	"mcpx/internal/grant"
)

const (
	maxOpen    = 256     // files that a script has open
	maxPiece   = 4 << 20 // bytes of one answer to fs.read
	maxEntries = 1 << 20 // entries of a listing
	maxWhole   = 4       // files of the largest size that are read as a whole at a time
	firstFD    = 3
)

// Files answers the requests of one run. They may come on several goroutines at once.
type Files struct {
	gate  *grant.Files
	limit int64
	trees chan struct{} // one at a time is removed: each level of it is an open folder
	whole room          // for files that are read as a whole, until they are out

	mu     sync.Mutex
	open   [maxOpen]*handle // by descriptor, from firstFD on
	closed bool
}

// handle is a file that a script has open.
type handle struct {
	file   *os.File
	append bool
	waits  bool // reading and writing may wait for somebody else
}

// New makes the broker's half for a run with the gate, which stays the caller's. No body
// that it answers is longer than limit. The caller must Close it.
func New(gate *grant.Files, limit int64) *Files {
	return &Files{gate: gate, limit: limit, trees: make(chan struct{}, 1), whole: room{left: maxWhole * limit, changed: make(chan struct{})}}
}

// Close closes what the script left open. What is asked from then on is EBADF.
func (f *Files) Close() {
	f.mu.Lock()
	open := f.open
	f.open, f.closed = [maxOpen]*handle{}, true
	f.mu.Unlock()
	for _, h := range open {
		if h != nil && h.file != nil {
			_ = h.file.Close() // the script did not care either
		}
	}
}

// request is the head of any request.
type request struct {
	Path      string `json:"path"`
	Dest      string `json:"dest"`
	Prefix    string `json:"prefix"`
	Flags     flags  `json:"flags"`
	FD        *int64 `json:"fd"`
	Max       int64  `json:"max"`
	Size      int64  `json:"size"`
	Mode      int64  `json:"mode"`
	Position  *int64 `json:"position"`
	Follow    bool   `json:"follow"`
	Recursive bool   `json:"recursive"`
	Force     bool   `json:"force"`
	Exclusive bool   `json:"exclusive"`
}

// flags are those of a request, as words.
type flags []string

func (f flags) how(mode int64) grant.How {
	how := grant.How{Mode: os.FileMode(mode & 0o777)}
	for _, word := range f {
		switch word {
		case "read":
			how.Read = true
		case "write":
			how.Write = true
		case "append":
			how.Append = true
		case "create":
			how.Create = true
		case "exclusive":
			how.Exclusive = true
		case "truncate":
			how.Truncate = true
		case "sync":
			how.Sync = true
		case "directory":
			how.Directory = true
		case "noFollow":
			how.NoFollow = true
		}
	}
	return how
}

// Call answers one request. An error has a kind: denied, as the gate says it, or one with
// the detail code, such as ENOENT. The context must end when the answer is out: until then
// it counts as what is held in memory, and other large ones wait.
func (f *Files) Call(ctx context.Context, op string, head json.RawMessage, body []byte) (answer, answerBody []byte, err error) {
	var r request
	if err := json.Unmarshal(head, &r); err != nil {
		return nil, nil, fault.Internalf("reading a request of the script: %w", err)
	}
	if ctx.Err() != nil {
		return nil, nil, context.Cause(ctx)
	}
	if f.ended() {
		return nil, nil, grant.FileError(r.Path, fs.ErrClosed)
	}
	switch op {
	case "fs.readFile":
		answerBody, err = f.readFile(ctx, r)
	case "fs.writeFile":
		err = f.writeFile(ctx, r, body)
	case "fs.open":
		return answered(f.openFile(r))
	case "fs.close":
		err = f.close(r)
	case "fs.read":
		answerBody, err = f.read(ctx, r)
	case "fs.write":
		err = f.write(ctx, r, body)
	case "fs.sync":
		err = f.with(r, func(h *handle) error { return h.file.Sync() })
	case "fs.truncate":
		err = f.truncate(r)
	case "fs.stat":
		return answered(f.stat(r))
	case "fs.readdir":
		answerBody, err = f.list(ctx, r.Path)
	case "fs.mkdir":
		return answered(f.mkdir(r))
	case "fs.mkdtemp":
		return answered(pathOf(f.gate.MkdirTemp(r.Prefix)))
	case "fs.rmdir":
		err = f.gate.Rmdir(r.Path)
	case "fs.unlink":
		err = f.gate.Unlink(r.Path)
	case "fs.rm":
		err = f.remove(ctx, r)
	case "fs.rename":
		err = f.gate.Rename(r.Path, r.Dest)
	case "fs.copyFile":
		err = f.copy(ctx, r)
	case "fs.access":
		err = f.gate.Access(r.Path, int(r.Mode&7))
	case "fs.realpath":
		return answered(pathOf(f.gate.Realpath(r.Path)))
	case "fs.readlink":
		return answered(pathOf(f.gate.Readlink(r.Path)))
	default:
		err = fault.Internalf("the host knows no request %q", op)
	}
	return nil, answerBody, err
}

// answered encodes the head of an answer.
func answered(head any, err error) (answer, body []byte, _ error) {
	if err != nil || head == nil {
		return nil, nil, err
	}
	answer, err = json.Marshal(head)
	return answer, nil, err
}

func pathOf(path string, err error) (any, error) {
	return struct {
		Path string `json:"path"`
	}{path}, err
}

func (f *Files) ended() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.closed
}

// readFile reads all of a file.
func (f *Files) readFile(ctx context.Context, r request) ([]byte, error) {
	how := r.Flags.how(0o666)
	if !how.Read && !how.Write {
		how.Read = true
	}
	file, err := f.gate.Open(r.Path, how)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	info, err := file.Stat()
	switch {
	case err != nil:
		return nil, grant.FileError(r.Path, err)
	case info.IsDir():
		return nil, grant.FileError(r.Path, syscall.EISDIR)
	case info.Mode().IsRegular() && info.Size() > f.limit:
		return nil, f.tooLarge(r.Path)
	}
	h := &handle{file: file, waits: !info.Mode().IsRegular()}
	var b bytes.Buffer
	if info.Mode().IsRegular() {
		if err := f.whole.take(ctx, info.Size()); err != nil {
			return nil, err
		}
		b.Grow(int(info.Size()) + bytes.MinRead)
	}
	_, err = b.ReadFrom(io.LimitReader(h.reader(ctx), f.limit+1))
	switch {
	case err != nil:
		return nil, grant.FileError(r.Path, err)
	case int64(b.Len()) > f.limit:
		return nil, f.tooLarge(r.Path)
	}
	return b.Bytes(), nil
}

// room is a number of bytes that several share.
type room struct {
	mu      sync.Mutex
	left    int64
	changed chan struct{} // closed at the next change
}

// take waits until there are n bytes, which must not be more than all, and holds them
// until the context ends.
func (r *room) take(ctx context.Context, n int64) error {
	for {
		r.mu.Lock()
		enough, changed := r.left >= n, r.changed
		if enough {
			r.left -= n
		}
		r.mu.Unlock()
		if enough {
			context.AfterFunc(ctx, func() { r.give(n) })
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

func (r *room) give(n int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.left += n
	close(r.changed)
	r.changed = make(chan struct{})
}

// tooLarge is the error for what is longer than one answer may be.
func (f *Files) tooLarge(path string) error {
	return fault.Limitf("reading %q: it is larger than the %d bytes that are read at once", path, f.limit).
		Hintf("read it in pieces with createReadStream, or raise limits.result").
		With("limit", "result").With("value", f.limit)
}

// writeFile writes a file, as a whole if the flags say no more than that.
func (f *Files) writeFile(ctx context.Context, r request, body []byte) error {
	how := r.Flags.how(r.Mode)
	whole := how
	whole.Sync, whole.Mode = false, 0
	if whole == (grant.How{Write: true, Create: true, Truncate: true}) {
		return f.gate.Replace(ctx, r.Path, bytes.NewReader(body), how)
	}
	file, err := f.gate.Open(r.Path, how)
	if err != nil {
		return err
	}
	err = f.writeTo(ctx, &handle{file: file, append: how.Append, waits: waits(file)}, nil, body)
	if e := file.Close(); err == nil {
		err = e
	}
	return grant.FileError(r.Path, err)
}

// openFile opens a file for the script.
func (f *Files) openFile(r request) (any, error) {
	how := r.Flags.how(r.Mode)
	if !how.Read && !how.Write {
		return nil, grant.FileError(r.Path, syscall.EINVAL)
	}
	// Places are counted before anything is made.
	h := &handle{append: how.Append}
	fd, err := f.reserve(h)
	if err != nil {
		return nil, grant.FileError(r.Path, err)
	}
	file, err := f.gate.Open(r.Path, how)
	if err != nil {
		f.free(fd)
		return nil, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		_ = file.Close() // the run has ended
		return nil, grant.FileError(r.Path, fs.ErrClosed)
	}
	h.file, h.waits = file, waits(file)
	return struct {
		FD int `json:"fd"`
	}{fd + firstFD}, nil
}

// reserve takes the lowest place that is free.
func (f *Files) reserve(h *handle) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return 0, fs.ErrClosed
	}
	for i, taken := range f.open {
		if taken == nil {
			f.open[i] = h
			return i, nil
		}
	}
	return 0, syscall.EMFILE
}

func (f *Files) free(place int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.open[place] = nil
}

// at returns the handle of a descriptor, and takes it out of the list if it is to be
// closed.
func (f *Files) at(r request, take bool) (*handle, error) {
	if r.FD == nil || *r.FD < firstFD || *r.FD >= firstFD+maxOpen {
		return nil, grant.FileError("", fs.ErrClosed)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	h := f.open[*r.FD-firstFD]
	if h == nil || h.file == nil { // or is just being opened
		return nil, grant.FileError("", fs.ErrClosed)
	}
	if take {
		f.open[*r.FD-firstFD] = nil
	}
	return h, nil
}

func (f *Files) with(r request, do func(*handle) error) error {
	h, err := f.at(r, false)
	if err != nil {
		return err
	}
	return grant.FileError("", do(h))
}

func (f *Files) close(r request) error {
	h, err := f.at(r, true)
	if err != nil {
		return err
	}
	return grant.FileError("", h.file.Close())
}

// read reads what comes next, or what is at a position.
func (f *Files) read(ctx context.Context, r request) (body []byte, err error) {
	err = f.with(r, func(h *handle) error {
		size := min(r.Max, maxPiece, f.limit)
		if size < 0 || r.Position != nil && *r.Position < 0 {
			return syscall.EINVAL
		}
		body = make([]byte, size)
		var n int
		if r.Position != nil {
			n, err = h.file.ReadAt(body, *r.Position)
		} else {
			n, err = h.reader(ctx).Read(body)
		}
		body = body[:n]
		if errors.Is(err, io.EOF) || n > 0 {
			return nil
		}
		return err
	})
	return body, err
}

// write writes all of a body, at a position if there is one.
func (f *Files) write(ctx context.Context, r request, body []byte) error {
	return f.with(r, func(h *handle) error { return f.writeTo(ctx, h, r.Position, body) })
}

func (f *Files) writeTo(ctx context.Context, h *handle, position *int64, body []byte) error {
	defer h.until(ctx)()
	for len(body) > 0 {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		piece := body[:min(len(body), maxPiece)]
		var n int
		var err error
		switch {
		case position == nil || h.append:
			n, err = h.file.Write(piece)
		case *position < 0:
			return syscall.EINVAL
		default:
			n, err = h.file.WriteAt(piece, *position)
			*position += int64(n)
		}
		if err != nil {
			return h.because(ctx, err)
		}
		body = body[n:]
	}
	return nil
}

func (f *Files) truncate(r request) error {
	cut := func(h *handle) error {
		if r.Size < 0 {
			return syscall.EINVAL
		}
		return h.file.Truncate(r.Size)
	}
	if r.FD != nil {
		return f.with(r, cut)
	}
	file, err := f.gate.Open(r.Path, grant.How{Write: true})
	if err != nil {
		return err
	}
	err = cut(&handle{file: file})
	if e := file.Close(); err == nil {
		err = e
	}
	return grant.FileError(r.Path, err)
}

func (f *Files) stat(r request) (any, error) {
	var info grant.Info
	var err error
	if r.FD != nil {
		err = f.with(r, func(h *handle) error {
			info, err = grant.Describe(h.file)
			return err
		})
	} else {
		info, err = f.gate.Stat(r.Path, r.Follow)
	}
	if err != nil {
		return nil, err
	}
	return struct {
		Stat map[string]string `json:"stat"`
	}{statOf(info)}, nil
}

// list lists a folder, as JSON.
func (f *Files) list(ctx context.Context, path string) ([]byte, error) {
	dir, err := f.gate.Open(path, grant.How{Read: true, Directory: true})
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	body := []byte{'['}
	for count := 0; ; {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		entries, err := dir.ReadDir(1024)
		for _, e := range entries {
			pair, err := json.Marshal([2]string{e.Name(), typeOf(e.Type())})
			if err != nil {
				return nil, err
			}
			if count > 0 {
				body = append(body, ',')
			}
			body = append(body, pair...)
			count++
		}
		if count > maxEntries || int64(len(body)) >= f.limit {
			return nil, fault.Limitf("listing %q: it has more than %d entries, or their names more than %d bytes", path, maxEntries, f.limit).
				With("limit", "result").With("value", f.limit)
		}
		if errors.Is(err, io.EOF) || err == nil && len(entries) == 0 {
			return append(body, ']'), nil
		}
		if err != nil {
			return nil, grant.FileError(path, err)
		}
	}
}

func (f *Files) mkdir(r request) (any, error) {
	mode := os.FileMode(r.Mode & 0o777)
	if !r.Recursive {
		return nil, f.gate.Mkdir(r.Path, mode)
	}
	first, err := f.gate.MkdirAll(r.Path, mode)
	if err != nil || first == "" {
		return nil, err
	}
	return struct {
		First string `json:"first"`
	}{first}, nil
}

func (f *Files) remove(ctx context.Context, r request) error {
	if r.Recursive {
		select {
		case f.trees <- struct{}{}:
			defer func() { <-f.trees }()
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return f.gate.Remove(ctx, r.Path, r.Recursive, r.Force)
}

// copy copies a file with its mode.
func (f *Files) copy(ctx context.Context, r request) error {
	from, err := f.gate.Open(r.Path, grant.How{Read: true})
	if err != nil {
		return err
	}
	defer from.Close()
	info, err := from.Stat()
	switch {
	case err != nil:
		return grant.FileError(r.Path, err)
	case info.IsDir():
		return grant.FileError(r.Path, syscall.EISDIR)
	}
	h := &handle{file: from, waits: !info.Mode().IsRegular()}
	how := grant.How{Write: true, Create: true, Mode: info.Mode().Perm()}
	if !r.Exclusive {
		return f.gate.Replace(ctx, r.Dest, h.reader(ctx), how)
	}
	how.Exclusive = true
	to, err := f.gate.Open(r.Dest, how)
	if err != nil {
		return err
	}
	_, err = io.Copy(struct{ io.Writer }{to}, h.reader(ctx))
	if e := to.Close(); err == nil {
		err = e
	}
	return grant.FileError(r.Dest, err)
}

// waits reports whether an open file may make one wait: a pipe, a terminal, a device.
func waits(f *os.File) bool {
	info, err := f.Stat()
	return err != nil || !info.Mode().IsRegular() && !info.IsDir()
}

// until makes what waits for somebody else end with a context. The caller must call what
// it returns.
func (h *handle) until(ctx context.Context) (done func()) {
	if !h.waits {
		return func() {}
	}
	_ = h.file.SetDeadline(time.Time{}) // of a file that knows no deadlines, nothing waits
	stop := context.AfterFunc(ctx, func() { _ = h.file.SetDeadline(time.Unix(1, 0)) })
	return func() { stop() }
}

// because is why a read or write ended.
func (h *handle) because(ctx context.Context, err error) error {
	if errors.Is(err, os.ErrDeadlineExceeded) && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// reader reads from the handle until the context ends.
func (h *handle) reader(ctx context.Context) io.Reader {
	return readFunc(func(p []byte) (int, error) {
		if ctx.Err() != nil {
			return 0, context.Cause(ctx)
		}
		defer h.until(ctx)()
		n, err := h.file.Read(p)
		return n, h.because(ctx, err)
	})
}

type readFunc func(p []byte) (int, error)

func (f readFunc) Read(p []byte) (int, error) { return f(p) }
