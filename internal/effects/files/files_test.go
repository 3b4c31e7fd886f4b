//go:build unix

package files_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"mcpx/internal/effects/files"
	"mcpx/internal/fault"
	"mcpx/internal/grant"
)

// run is a run that may read and write a folder of its own.
type run struct {
	t   *testing.T
	dir string
	*files.Files
}

func newRun(t *testing.T, limit int64) run {
	t.Helper()
	dir := t.TempDir()
	words := grant.Words{Allow: []string{dir}}
	return newRunOf(t, dir, limit, grant.Set{Read: words, Write: words})
}

func newRunOf(t *testing.T, dir string, limit int64, set grant.Set) run {
	t.Helper()
	gate, err := grant.OpenFiles(dir, set)
	if err != nil {
		t.Fatal(err)
	}
	f := files.New(gate, limit)
	t.Cleanup(func() {
		f.Close()
		gate.Close()
	})
	return run{t, dir, f}
}

type head map[string]any

// ask asks for something that has to be answered.
func (r run) ask(op string, h head, body string) (answer head, text string) {
	r.t.Helper()
	answer, text, err := r.try(context.Background(), op, h, body)
	if err != nil {
		r.t.Fatalf("%s of %v: %v", op, h, err)
	}
	return answer, text
}

// fails asks for something that fails, and returns its code, or its kind.
func (r run) fails(op string, h head) string {
	r.t.Helper()
	_, _, err := r.try(context.Background(), op, h, "")
	if err == nil {
		r.t.Errorf("%s of %v was answered", op, h)
	}
	if code := grant.CodeOf(err); code != "" {
		return code
	}
	return string(fault.KindOf(err))
}

func (r run) try(ctx context.Context, op string, h head, body string) (answer head, text string, err error) {
	r.t.Helper()
	b, err := json.Marshal(h)
	if err != nil {
		r.t.Fatal(err)
	}
	ctx, taken := context.WithCancel(ctx)
	defer taken() // the answer is out
	a, out, err := r.Call(ctx, op, b, []byte(body))
	if len(a) > 0 {
		if err := json.Unmarshal(a, &answer); err != nil {
			r.t.Fatal(err)
		}
	}
	return answer, string(out), err
}

func (r run) write(name, text string) {
	r.t.Helper()
	if err := os.WriteFile(filepath.Join(r.dir, name), []byte(text), 0o666); err != nil {
		r.t.Fatal(err)
	}
}

func (r run) content(name string) string {
	r.t.Helper()
	b, err := os.ReadFile(filepath.Join(r.dir, name))
	if err != nil {
		r.t.Fatal(err)
	}
	return string(b)
}

var (
	reading  = []string{"read"}
	writing  = []string{"write", "create", "truncate"}
	adding   = []string{"write", "create", "append"}
	changing = []string{"read", "write"}
)

func TestHandles(t *testing.T) {
	t.Parallel()
	r := newRun(t, 1<<20)
	r.write("f", "hello")
	a, _ := r.ask("fs.open", head{"path": "f", "flags": changing}, "")
	fd := a["fd"]
	if fd != 3.0 {
		t.Errorf("the first descriptor is %v, want 3", fd)
	}
	for _, step := range []struct {
		op, body, want string
		head           head
	}{
		{op: "fs.read", head: head{"fd": fd, "max": 2}, want: "he"},
		{op: "fs.read", head: head{"fd": fd, "max": 100}, want: "llo"},
		{op: "fs.read", head: head{"fd": fd, "max": 100}, want: ""},
		{op: "fs.read", head: head{"fd": fd, "max": 3, "position": 1}, want: "ell"},
		{op: "fs.read", head: head{"fd": fd, "max": 3, "position": 900}, want: ""},
		{op: "fs.read", head: head{"fd": fd, "max": 0}, want: ""},
		{op: "fs.write", head: head{"fd": fd, "position": 1}, body: "EL"},
		{op: "fs.write", head: head{"fd": fd}, body: "!"},
		{op: "fs.sync", head: head{"fd": fd}},
		{op: "fs.read", head: head{"fd": fd, "max": 100, "position": 0}, want: "hELlo!"},
		{op: "fs.truncate", head: head{"fd": fd, "size": 3}},
		{op: "fs.read", head: head{"fd": fd, "max": 100, "position": 0}, want: "hEL"},
	} {
		if _, got := r.ask(step.op, step.head, step.body); got != step.want {
			t.Errorf("%s of %v = %q, want %q", step.op, step.head, got, step.want)
		}
	}
	if a, _ := r.ask("fs.stat", head{"fd": fd}, ""); a["stat"].(map[string]any)["size"] != "3" {
		t.Errorf("stat = %v", a)
	}
	for _, test := range []struct {
		op   string
		head head
		want string
	}{
		{"fs.read", head{"fd": fd, "max": -1}, "EINVAL"},
		{"fs.read", head{"fd": fd, "max": 1, "position": -5}, "EINVAL"},
		{"fs.truncate", head{"fd": fd, "size": -1}, "EINVAL"},
		{"fs.read", head{"fd": 4, "max": 1}, "EBADF"},
		{"fs.read", head{"fd": 0, "max": 1}, "EBADF"},
		{"fs.read", head{"fd": -7, "max": 1}, "EBADF"},
		{"fs.read", head{"fd": 1 << 40, "max": 1}, "EBADF"},
		{"fs.read", head{"max": 1}, "EBADF"},
		{"fs.close", head{"fd": 99}, "EBADF"},
		{"fs.open", head{"path": "f"}, "EINVAL"},
		{"fs.open", head{"path": "none", "flags": reading}, "ENOENT"},
		{"fs.open", head{"path": "../x", "flags": writing}, "denied"},
		{"fs.nothing", head{}, "internal"},
		{"fs.open", head{"path": 5}, "internal"},
	} {
		if got := r.fails(test.op, test.head); got != test.want {
			t.Errorf("%s of %v fails with %q, want %q", test.op, test.head, got, test.want)
		}
	}
	if a, _ := r.ask("fs.open", head{"path": "f", "flags": adding}, ""); a["fd"] != 4.0 {
		t.Errorf("after failures the descriptor is %v, want 4", a["fd"])
	}
	r.ask("fs.write", head{"fd": 4, "position": 0}, "+") // goes to the end all the same
	if got := r.content("f"); got != "hEL+" {
		t.Errorf("appended: %q", got)
	}
	if got := r.fails("fs.read", head{"fd": 4, "max": 1}); got != "EBADF" {
		t.Errorf("reading what is open to be written fails with %q", got)
	}
	r.ask("fs.close", head{"fd": fd}, "")
	if got := r.fails("fs.close", head{"fd": fd}); got != "EBADF" {
		t.Errorf("closing twice fails with %q", got)
	}
	if a, _ := r.ask("fs.open", head{"path": ".", "flags": reading}, ""); a["fd"] != 3.0 {
		t.Errorf("the lowest free descriptor is %v, want 3", a["fd"])
	}
	if got := r.fails("fs.read", head{"fd": 3, "max": 1}); got != "EISDIR" {
		t.Errorf("reading a folder fails with %q", got)
	}
}

func TestHandlesAreBoundedAndClosed(t *testing.T) { // not parallel: it counts what is open
	r := newRun(t, 1<<20)
	r.write("f", "x")
	_, _ = r.ask("fs.readFile", head{"path": "f", "flags": reading}, "") // the gate's own folder is open now
	before := descriptors()
	for range 256 {
		r.ask("fs.open", head{"path": "f", "flags": reading}, "")
	}
	if got := r.fails("fs.open", head{"path": "new", "flags": writing}); got != "EMFILE" {
		t.Errorf("one more fails with %q, want EMFILE", got)
	}
	if _, err := os.Stat(filepath.Join(r.dir, "new")); err == nil {
		t.Error("a file was made for a descriptor that there is not")
	}
	r.ask("fs.close", head{"fd": 100}, "")
	if a, _ := r.ask("fs.open", head{"path": "f", "flags": reading}, ""); a["fd"] != 100.0 {
		t.Errorf("the descriptor is %v, want 100", a["fd"])
	}
	r.Close()
	if n := descriptors(); n != before {
		t.Errorf("%d files are open after the end, %d were", n, before)
	}
	for _, op := range []string{"fs.open", "fs.readFile", "fs.stat", "fs.close", "fs.writeFile"} {
		if got := r.fails(op, head{"path": "f", "fd": 3, "flags": writing}); got != "EBADF" {
			t.Errorf("%s after the end fails with %q", op, got)
		}
	}
	r.Close() // does nothing
}

func descriptors() (n int) {
	for fd := range 2048 {
		var st syscall.Stat_t
		if syscall.Fstat(fd, &st) == nil {
			n++
		}
	}
	return n
}

func TestWholeFiles(t *testing.T) {
	t.Parallel()
	r := newRun(t, 100)
	r.ask("fs.writeFile", head{"path": "f", "flags": writing, "mode": 0o640}, "one")
	r.ask("fs.writeFile", head{"path": "f", "flags": adding, "mode": 0o666}, " two")
	if _, got := r.ask("fs.readFile", head{"path": "f", "flags": reading}, ""); got != "one two" {
		t.Errorf("readFile = %q", got)
	}
	if got := r.fails("fs.writeFile", head{"path": "f", "flags": []string{"write", "create", "exclusive"}}); got != "EEXIST" {
		t.Errorf("an exclusive one fails with %q", got)
	}
	r.ask("fs.writeFile", head{"path": "f", "flags": []string{"write"}}, "ONE") // r+: in place
	r.ask("fs.writeFile", head{"path": "g", "flags": append(slices.Clone(writing), "sync"), "mode": 0o600}, "synced")
	if got := r.content("f") + r.content("g"); got != "ONE twosynced" {
		t.Errorf("files are %q", got)
	}
	if info, err := os.Stat(filepath.Join(r.dir, "f")); err != nil || info.Mode() != 0o640 {
		t.Errorf("the mode is %v, %v, want 0640", info.Mode(), err)
	}
	r.ask("fs.copyFile", head{"path": "f", "dest": "copy"}, "")
	r.ask("fs.copyFile", head{"path": "f", "dest": "f"}, "") // onto itself
	r.ask("fs.copyFile", head{"path": "f", "dest": "other", "exclusive": true}, "")
	if got := r.content("copy") + r.content("other") + r.content("f"); got != "ONE twoONE twoONE two" {
		t.Errorf("copies are %q", got)
	}
	if info, err := os.Stat(filepath.Join(r.dir, "copy")); err != nil || info.Mode() != 0o640 {
		t.Errorf("the mode of a copy is %v, %v, want 0640", info.Mode(), err)
	}
	if got := r.fails("fs.copyFile", head{"path": "f", "dest": "copy", "exclusive": true}); got != "EEXIST" {
		t.Errorf("an exclusive copy fails with %q", got)
	}
	if got := r.fails("fs.copyFile", head{"path": ".", "dest": "copy"}); got != "EISDIR" {
		t.Errorf("a copy of a folder fails with %q", got)
	}
	if got := r.fails("fs.readFile", head{"path": ".", "flags": reading}); got != "EISDIR" {
		t.Errorf("reading a folder fails with %q", got)
	}
}

func TestBodiesAreBounded(t *testing.T) {
	t.Parallel()
	r := newRun(t, 100)
	r.write("full", strings.Repeat("x", 100))
	r.write("over", strings.Repeat("x", 101))
	r.write("sparse", "")
	if err := os.Truncate(filepath.Join(r.dir, "sparse"), 8<<30); err != nil {
		t.Fatal(err)
	}
	if _, got := r.ask("fs.readFile", head{"path": "full", "flags": reading}, ""); len(got) != 100 {
		t.Errorf("read %d bytes, want 100", len(got))
	}
	for _, path := range []string{"over", "sparse"} {
		if got := r.fails("fs.readFile", head{"path": path, "flags": reading}); got != "limit" {
			t.Errorf("reading %s fails with %q, want a limit", path, got)
		}
	}
	r.ask("fs.open", head{"path": "sparse", "flags": reading}, "")
	if _, got := r.ask("fs.read", head{"fd": 3, "max": 1 << 50}, ""); len(got) != 100 {
		t.Errorf("a piece has %d bytes, want 100", len(got))
	}
	for i := range 10 {
		r.write(fmt.Sprintf("name-%d", i), "")
	}
	if got := r.fails("fs.readdir", head{"path": "."}); got != "limit" {
		t.Errorf("a long listing fails with %q, want a limit", got)
	}
}

func TestFilesThatAreReadAtOnceWaitForRoom(t *testing.T) {
	t.Parallel()
	r := newRun(t, 100)
	r.write("full", strings.Repeat("x", 100))
	in := []byte(`{"path":"full","flags":["read"]}`)
	ctx, out := context.WithCancel(t.Context())
	for range 4 {
		if _, body, err := r.Call(ctx, "fs.readFile", in, nil); err != nil || len(body) != 100 {
			t.Fatalf("read %d bytes, %v", len(body), err)
		}
	}
	short, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if _, body, err := r.Call(short, "fs.readFile", in, nil); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("one more is read, though %d are held: %d bytes, %v", 4, len(body), err)
	}
	// Another request does not wait, nor does this one once those are out.
	if _, _, err := r.Call(t.Context(), "fs.stat", []byte(`{"path":"full"}`), nil); err != nil {
		t.Error(err)
	}
	out()
	if _, body, err := r.Call(t.Context(), "fs.readFile", in, nil); err != nil || len(body) != 100 {
		t.Errorf("read %d bytes, %v", len(body), err)
	}
}

func TestListingsAndStats(t *testing.T) {
	t.Parallel()
	r := newRun(t, 1<<20)
	r.write("f \"<&>\u2028", "text")
	for name, make := range map[string]func(string) error{
		"dir":  func(at string) error { return os.Mkdir(at, 0o750) },
		"link": func(at string) error { return os.Symlink("dir", at) },
		"fifo": func(at string) error { return syscall.Mkfifo(at, 0o600) },
	} {
		if err := make(filepath.Join(r.dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	_, body := r.ask("fs.readdir", head{"path": "."}, "")
	var list [][2]string
	if err := json.Unmarshal([]byte(body), &list); err != nil {
		t.Fatal(err)
	}
	slices.SortFunc(list, func(a, b [2]string) int { return strings.Compare(a[0], b[0]) })
	want := [][2]string{{"dir", "directory"}, {"f \"<&>\u2028", "file"}, {"fifo", "fifo"}, {"link", "link"}}
	if !slices.Equal(list, want) {
		t.Errorf("the listing is %q, want %q", list, want)
	}
	if _, body := r.ask("fs.readdir", head{"path": "dir"}, ""); body != "[]" {
		t.Errorf("the listing of an empty folder is %s", body)
	}
	if got := r.fails("fs.readdir", head{"path": "fifo"}); got != "ENOTDIR" && got != "denied" {
		t.Errorf("listing a pipe fails with %q", got)
	}
	for _, test := range []struct {
		path   string
		follow bool
		mode   string
	}{
		{"dir", true, "40750"}, {"link", true, "40750"}, {"link", false, "120777"}, {"fifo", true, "10600"},
	} {
		a, _ := r.ask("fs.stat", head{"path": test.path, "follow": test.follow}, "")
		stat := a["stat"].(map[string]any)
		var mode int
		if _, err := fmt.Sscan(stat["mode"].(string), &mode); err != nil || fmt.Sprintf("%o", mode) != test.mode {
			t.Errorf("the mode of %s is %v (%o), want %s", test.path, stat["mode"], mode, test.mode)
		}
		for _, name := range []string{"dev", "ino", "nlink", "uid", "gid", "rdev", "size", "blksize", "blocks", "atime", "mtime", "ctime", "birthtime"} {
			text, _ := stat[name].(string)
			if text == "" || strings.Trim(text, "0123456789") != "" {
				t.Errorf("%s of %s is %q, want digits", name, test.path, text)
			}
		}
		var born int64
		if _, err := fmt.Sscan(stat["birthtime"].(string), &born); err != nil || time.Since(time.Unix(0, born)).Abs() > time.Hour {
			t.Errorf("%s was made at %v", test.path, time.Unix(0, born))
		}
	}
}

func TestFolders(t *testing.T) {
	t.Parallel()
	r := newRun(t, 1<<20)
	dir, err := filepath.EvalSymlinks(r.dir)
	if err != nil {
		t.Fatal(err)
	}
	if a, _ := r.ask("fs.mkdir", head{"path": "a", "mode": 0o777}, ""); a != nil {
		t.Errorf("mkdir answers %v", a)
	}
	if a, _ := r.ask("fs.mkdir", head{"path": "a/b/c", "recursive": true, "mode": 0o777}, ""); a["first"] != dir+"/a/b" {
		t.Errorf("mkdir answers %v", a)
	}
	if a, _ := r.ask("fs.mkdir", head{"path": "a/b/c", "recursive": true, "mode": 0o777}, ""); a != nil {
		t.Errorf("mkdir of what is there answers %v", a)
	}
	a, _ := r.ask("fs.mkdtemp", head{"prefix": "a/t"}, "")
	if made, _ := a["path"].(string); !strings.HasPrefix(made, "a/t") || len(made) != 9 {
		t.Errorf("mkdtemp answers %v", a)
	}
	r.write("a/f", "x")
	r.ask("fs.rename", head{"path": "a/f", "dest": "a/b/g"}, "")
	r.ask("fs.access", head{"path": "a/b/g", "mode": 6}, "")
	if a, _ := r.ask("fs.realpath", head{"path": "a/../a/b/g"}, ""); a["path"] != dir+"/a/b/g" {
		t.Errorf("realpath answers %v", a)
	}
	for _, test := range []struct {
		op   string
		head head
		want string
	}{
		{"fs.mkdir", head{"path": "a", "mode": 0o777}, "EEXIST"},
		{"fs.rmdir", head{"path": "a"}, "ENOTEMPTY"},
		{"fs.rmdir", head{"path": "a/b/g"}, "ENOTDIR"},
		{"fs.unlink", head{"path": "a/b"}, "EISDIR"},
		{"fs.rm", head{"path": "a"}, "EISDIR"},
		{"fs.rm", head{"path": "none"}, "ENOENT"},
		{"fs.mkdtemp", head{"prefix": "none/t"}, "ENOENT"},
		{"fs.mkdtemp", head{"prefix": "../t"}, "denied"},
		{"fs.readlink", head{"path": "a"}, "EINVAL"},
		{"fs.truncate", head{"path": "a", "size": 0}, "EISDIR"},
		{"fs.truncate", head{"path": "none", "size": 0}, "ENOENT"},
	} {
		if got := r.fails(test.op, test.head); got != test.want {
			t.Errorf("%s of %v fails with %q, want %q", test.op, test.head, got, test.want)
		}
	}
	r.ask("fs.truncate", head{"path": "a/b/g", "size": 5}, "")
	if got := r.content("a/b/g"); got != "x\x00\x00\x00\x00" {
		t.Errorf("truncated to %q", got)
	}
	r.ask("fs.unlink", head{"path": "a/b/g"}, "")
	r.ask("fs.rmdir", head{"path": "a/b/c"}, "")
	r.ask("fs.rm", head{"path": "a", "recursive": true}, "")
	r.ask("fs.rm", head{"path": "a", "recursive": true, "force": true}, "")
	if entries, err := os.ReadDir(r.dir); err != nil || len(entries) > 0 {
		t.Errorf("left %v, %v", entries, err)
	}
}

// What waits for somebody else is open to the profile all alone, and ends with the run.
func TestWaitingEndsWithTheRun(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	at := filepath.Join(dir, "fifo")
	if err := syscall.Mkfifo(at, 0o600); err != nil {
		t.Fatal(err)
	}
	everything := grant.Words{Allow: []string{grant.Any}}
	r := newRunOf(t, dir, 1<<20, grant.Set{Read: everything, Write: everything, Everything: true})
	other, err := os.OpenFile(at, os.O_RDWR, 0) // so that there is somebody who could write
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	over := errors.New("the run is over")
	ctx, cancel := context.WithTimeoutCause(context.Background(), 50*time.Millisecond, over)
	defer cancel()
	if _, _, err := r.try(ctx, "fs.readFile", head{"path": "fifo", "flags": reading}, ""); !errors.Is(err, over) {
		t.Errorf("reading a pipe that nobody writes to = %v", err)
	}
	r.ask("fs.open", head{"path": "fifo", "flags": changing}, "")
	ctx, cancel = context.WithTimeoutCause(context.Background(), 50*time.Millisecond, over)
	defer cancel()
	if _, _, err := r.try(ctx, "fs.read", head{"fd": 3, "max": 10}, ""); !errors.Is(err, over) {
		t.Errorf("reading an open pipe that nobody writes to = %v", err)
	}
	ctx, cancel = context.WithTimeoutCause(context.Background(), 2*time.Second, over)
	defer cancel()
	if _, _, err := r.try(ctx, "fs.write", head{"fd": 3}, strings.Repeat("x", 1<<20)); !errors.Is(err, over) {
		t.Errorf("writing to a pipe that nobody reads = %v", err)
	}
	if _, got := r.ask("fs.read", head{"fd": 3, "max": 10}, ""); got != "xxxxxxxxxx" {
		t.Errorf("after a read that was called off: %q", got)
	}
	if got := r.fails("fs.readFile", head{"path": "/dev/zero", "flags": reading}); got != "limit" {
		t.Errorf("a device without an end fails with %q, want a limit", got)
	}
}

func TestNothingIsDoneForAnEndedRun(t *testing.T) {
	t.Parallel()
	r := newRun(t, 1<<20)
	over := errors.New("the run is over")
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(over)
	for _, op := range []string{"fs.readFile", "fs.writeFile", "fs.open", "fs.mkdir", "fs.rm", "fs.readdir", "fs.copyFile"} {
		if _, _, err := r.try(ctx, op, head{"path": "f", "dest": "g", "flags": writing, "recursive": true}, "x"); !errors.Is(err, over) {
			t.Errorf("%s = %v, want the reason of the end", op, err)
		}
	}
	if entries, err := os.ReadDir(r.dir); err != nil || len(entries) > 0 {
		t.Errorf("made %v, %v", entries, err)
	}
}

func TestRequestsAtOnce(t *testing.T) {
	t.Parallel()
	r := newRun(t, 1<<20)
	var all sync.WaitGroup
	for i := range 16 {
		all.Go(func() {
			name := fmt.Sprintf("dir-%d", i)
			for range 20 {
				for _, step := range []struct {
					op string
					h  head
				}{
					{"fs.mkdir", head{"path": name + "/a/b", "recursive": true, "mode": 0o777}},
					{"fs.writeFile", head{"path": name + "/a/f", "flags": writing, "mode": 0o666}},
					{"fs.writeFile", head{"path": "shared", "flags": adding, "mode": 0o666}},
					{"fs.copyFile", head{"path": name + "/a/f", "dest": "copied"}},
					{"fs.rm", head{"path": name, "recursive": true}},
				} {
					if _, _, err := r.try(context.Background(), step.op, step.h, "line\n"); err != nil {
						t.Errorf("%s of %v: %v", step.op, step.h, err)
					}
				}
				a, _, err := r.try(context.Background(), "fs.open", head{"path": "shared", "flags": reading}, "")
				if err == nil {
					_, _, err = r.try(context.Background(), "fs.close", head{"fd": a["fd"]}, "")
				}
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	if got := r.content("shared"); got != strings.Repeat("line\n", 320) {
		t.Errorf("what all wrote to has %d bytes, want %d", len(got), 5*320)
	}
}

// FuzzHead asks with heads of any form: nothing panics, and nothing is made outside.
func FuzzHead(f *testing.F) {
	for _, seed := range []string{
		`{}`, `{"path":"f","flags":["read"]}`, `{"path":"../x","flags":["write","create"]}`, `{"fd":3,"max":1}`, `{"fd":-1}`, `{"fd":1e30}`, `[]`, `null`, `{"path":null}`,
		`{"path":"a/../../x","recursive":true,"force":true}`, `{"prefix":"\u0000"}`, `{"path":".","dest":"..","size":-1,"mode":-1,"position":-1}`, `{"flags":"read"}`, `{"path":"\ud800"}`,
	} {
		f.Add([]byte(seed), []byte("body"))
	}
	ops := []string{
		"fs.readFile", "fs.writeFile", "fs.open", "fs.read", "fs.write", "fs.sync", "fs.truncate", "fs.stat", "fs.readdir", "fs.mkdir", "fs.mkdtemp",
		"fs.rename", "fs.copyFile", "fs.access", "fs.realpath", "fs.readlink", "fs.unlink", "fs.rmdir", "fs.rm", "fs.close",
	}
	changes := []string{"fs.writeFile", "fs.open", "fs.truncate", "fs.mkdir", "fs.mkdtemp", "fs.rename", "fs.copyFile", "fs.unlink", "fs.rmdir", "fs.rm"}
	f.Fuzz(func(t *testing.T, h, body []byte) {
		outer := t.TempDir()
		dir := filepath.Join(outer, "root")
		if err := os.Mkdir(dir, 0o777); err != nil {
			t.Fatal(err)
		}
		words := grant.Words{Allow: []string{dir}}
		r := newRunOf(t, dir, 1<<16, grant.Set{Read: words, Write: words})
		var paths struct{ Path, Dest, Prefix string }
		_ = json.Unmarshal(h, &paths) // what cannot be read names nothing
		outward := func(path string) bool { return filepath.IsAbs(path) || strings.Contains(path, "..") }
		for _, op := range ops {
			if slices.Contains(changes, op) && (outward(paths.Path) || outward(paths.Dest) || outward(paths.Prefix)) {
				continue // a gate with a fault would let these do harm to the machine
			}
			_, out, err := r.Call(t.Context(), op, h, bytes.Clone(body))
			if err == nil && len(out) > 1<<16 {
				t.Errorf("%s answers %d bytes", op, len(out))
			}
			if err != nil && fault.KindOf(err) == fault.Internal && json.Valid(h) && !strings.Contains(err.Error(), "reading a request") {
				t.Errorf("%s of %s: %v", op, h, err)
			}
		}
		entries, err := os.ReadDir(outer)
		if err != nil || len(entries) > 1 {
			t.Errorf("made %v, %v", entries, err)
		}
	})
}
