package grant

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"mcpx/internal/fault"
)

// Files is the gate of the grants read and write. Its methods take a path as the script
// spelled it: a relative one is one of the run's working directory, and nothing in it is
// decoded or expanded. They decide on what is opened, folder by folder, so that neither
// a link nor another process that swaps one for a folder leads out of what is granted.
//
// A link is followed if what it leads to is granted. What is written as a whole becomes
// a new file that takes the name; what is written in place has no other name. A file
// that is neither a regular one nor a folder is opened, and a file system that is the
// kernel's (/proc, /sys) reached, only by the profile all.
//
// To look at a path (Stat, Realpath, Readlink, Access) is to read it; write alone does
// not give it. To rename is to read and write the old name and to write the new one.
//
// An error is of kind denied, the same whether the path is there or not, or has the
// detail code, such as ENOENT. It says no path but the script's own spelling.
// Files may be used by several goroutines at once.
type Files struct {
	read, write *gate
}

// Info is what is known of a file. Birth is when it was made, zero if that is not known.
type Info struct {
	os.FileInfo
	Birth time.Time
}

// How says what a file is opened for, in the words of open(2). NoFollow refuses a link
// as the last part of the path.
type How struct {
	Read, Write, Append, Create, Exclusive, Truncate, Sync, Directory, NoFollow bool
	// Mode is the permission bits of a file that is made, before the umask.
	Mode os.FileMode
}

const (
	maxPath    = 4096 // bytes of a path
	maxLinks   = 40   // links on the way of one path
	maxSteps   = 20000
	maxChanges = 1000 // times that somebody swaps what is being opened
	maxNested  = 512  // folders within each other that are removed at once
)

// errChanged says that what was looked at is not what was opened: look again.
var errChanged = errors.New("changed meanwhile")

// OpenFiles makes the gate of a set. base is the run's working directory, as an absolute
// path. The grants of the set are absolute paths too; a path that is not is a usage
// error. Nothing is held open before it is needed. The caller must Close it.
func OpenFiles(base string, set Set) (*Files, error) {
	if !filepath.IsAbs(base) {
		return nil, fault.Internalf("the working directory %q is not absolute", base)
	}
	read, err := openGate(Read, base, set.Read, set.Everything)
	if err != nil {
		return nil, err
	}
	write, err := openGate(Write, base, set.Write, set.Everything)
	if err != nil {
		return nil, err
	}
	return &Files{read, write}, nil
}

// Close closes what was held open. Files that Open returned stay open.
func (f *Files) Close() {
	f.read.close()
	f.write.close()
}

// Open opens a file, or a folder to list it. The caller must close it.
func (f *Files) Open(path string, how How) (*os.File, error) {
	g := f.read
	if how.Write {
		g = f.write
	}
	follow := !how.NoFollow && !(how.Create && how.Exclusive)
	var opened *os.File
	err := g.at(path, walk{follow: follow}, func(p *place) error {
		if how.Read && how.Write {
			if err := f.sameToRead(path, follow, p); err != nil {
				return err
			}
		}
		var err error
		opened, err = p.openAs(how)
		return err
	})
	return opened, err
}

// sameToRead reports whether the path may also be read, and is the same file then.
func (f *Files) sameToRead(path string, follow bool, p *place) error {
	r, err := f.read.find(path, walk{follow: follow})
	if err != nil {
		return err
	}
	defer r.close()
	switch {
	case r.info == nil && p.info == nil:
		return nil
	case r.info == nil || p.info == nil || !os.SameFile(r.info, p.info):
		return errChanged
	}
	return nil
}

// Stat describes what is at a path; of a link, the link itself unless it is to be
// followed.
func (f *Files) Stat(path string, follow bool) (Info, error) {
	var info Info
	err := f.read.at(path, walk{follow: follow}, func(p *place) error {
		if p.info == nil {
			return syscall.ENOENT
		}
		info = Info{FileInfo: p.info, Birth: born(p.dir, p.name, p.info)}
		return nil
	})
	return info, err
}

// Describe describes an open file.
func Describe(f *os.File) (Info, error) {
	info, err := f.Stat()
	if err != nil {
		return Info{}, FileError("", err)
	}
	return Info{FileInfo: info, Birth: bornOpen(f, info)}, nil
}

// Access checks that a path is there, and that this process may do what mode says: read
// 4, write 2, execute 1. Whether it may be written is asked of the grant write.
func (f *Files) Access(path string, mode int) error {
	check := func(p *place) error {
		if p.info == nil {
			return syscall.ENOENT
		}
		return may(p.dir, p.name, p.info, mode)
	}
	if mode&2 != 0 {
		if err := f.write.at(path, walk{follow: true}, check); err != nil || mode == 2 {
			return err
		}
	}
	return f.read.at(path, walk{follow: true}, check)
}

// Realpath returns the absolute path without links.
func (f *Files) Realpath(path string) (string, error) {
	var real string
	err := f.read.at(path, walk{follow: true}, func(p *place) error {
		if p.info == nil {
			return syscall.ENOENT
		}
		var err error
		real, err = p.real()
		return err
	})
	return real, err
}

// Readlink returns the text of a link. A link that leads out of what is granted is
// denied, since its text says what is there.
func (f *Files) Readlink(path string) (string, error) {
	var text string
	err := f.read.at(path, walk{}, func(p *place) error {
		switch {
		case p.info == nil:
			return syscall.ENOENT
		case p.info.Mode()&fs.ModeSymlink == 0:
			return syscall.EINVAL
		}
		target, err := f.read.find(path, walk{follow: true})
		if err == nil {
			target.close()
		} else if fault.KindOf(err) == fault.Denied {
			return err
		}
		text, err = p.dir.Readlink(p.name)
		return err
	})
	return text, err
}

// Mkdir makes a folder.
func (f *Files) Mkdir(path string, mode os.FileMode) error { return f.mkdir(path, mode, path) }

func (f *Files) mkdir(path string, mode os.FileMode, as string) error {
	return f.write.at(path, walk{as: as}, func(p *place) error {
		if p.info != nil {
			return syscall.EEXIST
		}
		return p.dir.Mkdir(p.name, mode.Perm())
	})
}

// MkdirAll makes a folder and those above it. It returns the absolute path of the first
// one made, empty if all were there. The folders between what is there and what is
// granted may be made on the way to it, and only so.
func (f *Files) MkdirAll(path string, mode os.FileMode) (first string, err error) {
	err = f.write.at(path, walk{follow: true, make: true, mode: mode.Perm(), first: &first}, func(p *place) error {
		switch {
		case p.info == nil:
			return errChanged
		case !p.info.IsDir():
			return syscall.EEXIST
		}
		return nil
	})
	return first, err
}

// MkdirTemp makes a folder whose path is prefix and six characters more, and returns it.
func (f *Files) MkdirTemp(prefix string) (string, error) {
	for range 100 {
		path := prefix + rand.Text()[:6]
		err := f.mkdir(path, 0o700, prefix)
		if err == nil {
			return path, nil
		}
		if CodeOf(err) != "EEXIST" {
			return "", err
		}
	}
	return "", FileError(prefix, syscall.EEXIST)
}

// Unlink removes a name that is no folder's. A link is removed itself.
func (f *Files) Unlink(path string) error {
	return f.write.at(path, walk{}, func(p *place) error {
		switch {
		case p.info == nil:
			return syscall.ENOENT
		case p.info.IsDir():
			return syscall.EISDIR
		}
		return p.dir.Remove(p.name)
	})
}

// Rmdir removes an empty folder.
func (f *Files) Rmdir(path string) error {
	return f.write.at(path, walk{}, func(p *place) error {
		switch {
		case p.info == nil:
			return syscall.ENOENT
		case !p.info.IsDir():
			return syscall.ENOTDIR
		case dotted(path):
			return syscall.EINVAL
		case p.name == ".":
			return syscall.EBUSY
		}
		return p.dir.Remove(p.name)
	})
}

// Remove removes a file, or, if recursive, a folder with all that is in it. It follows
// no link. A folder is the error EISDIR otherwise. force takes what is not there.
func (f *Files) Remove(ctx context.Context, path string, recursive, force bool) error {
	at := path
	if name := trimSlashes(path); name != "" {
		at = name
	}
	err := f.write.at(at, walk{as: path}, func(p *place) error {
		switch {
		case p.info == nil:
			return syscall.ENOENT
		case dotted(path):
			return syscall.EINVAL
		case !p.info.IsDir():
			return p.dir.Remove(p.name)
		case !recursive:
			return syscall.EISDIR
		case p.name == ".":
			return syscall.EBUSY
		case f.write.holdsDenied(p.info):
			return Denied(Write, path)
		}
		here, err := p.dir.Stat(".")
		if err != nil {
			return err
		}
		return p.removeTree(ctx, p.dir, p.name, p.info, here, 0)
	})
	if code := CodeOf(err); force && (code == "ENOENT" || code == "ENOTDIR") {
		return nil
	}
	return err
}

// removeTree removes the folder name of dir.
func (p *place) removeTree(ctx context.Context, dir *os.Root, name string, info, here os.FileInfo, depth int) error {
	if depth > maxNested {
		return syscall.ENAMETOOLONG
	}
	inner, err := p.gate.enter(dir, name, info, here, p.as)
	if err != nil {
		return err
	}
	defer inner.Close()
	for {
		names, err := namesIn(inner)
		if err != nil {
			return err
		}
		if len(names) == 0 {
			break
		}
		for _, n := range names {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			found, err := inner.Lstat(n)
			switch {
			case errors.Is(err, fs.ErrNotExist):
				continue
			case err != nil:
			case p.gate.deniesInfo(found):
				err = Denied(p.gate.grant, p.as)
			case found.IsDir():
				err = p.removeTree(ctx, inner, n, found, info, depth+1)
			default:
				err = inner.Remove(n)
			}
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
	}
	return dir.Remove(name)
}

// namesIn returns some of the names in a folder, none if it is empty.
func namesIn(dir *os.Root) ([]string, error) {
	d, err := dir.Open(".")
	if err != nil {
		return nil, err
	}
	defer d.Close()
	names, err := d.Readdirnames(512)
	if len(names) > 0 || errors.Is(err, io.EOF) {
		return names, nil
	}
	return nil, err
}

// Rename gives a file, a folder or a link another name.
func (f *Files) Rename(path, dest string) error {
	return f.write.at(path, walk{}, func(from *place) error {
		if err := f.sameToRead(path, false, from); err != nil {
			return err
		}
		switch {
		case from.info == nil:
			return syscall.ENOENT
		case from.name == ".", dotted(path):
			return syscall.EBUSY
		case f.read.holdsDenied(from.info), f.write.holdsDenied(from.info):
			// The name under which something was taken away would lead elsewhere.
			return Denied(Write, path)
		}
		to, err := f.write.find(dest, walk{})
		if err != nil {
			return err
		}
		defer to.close()
		switch {
		case to.name == ".", dotted(dest):
			return syscall.EBUSY
		case to.slash && !from.info.IsDir():
			return syscall.ENOTDIR
		case to.info != nil && special(to.info) && to.info.Mode()&fs.ModeSymlink == 0:
			return to.refuseSpecial()
		case to.info != nil && f.write.holdsDenied(to.info):
			return Denied(Write, dest)
		}
		return renameAt(from, to)
	})
}

// FileError says of an error of the system what a script may know: its code, and the
// path as the script spelled it, if there is one. Any other error stays as it is, such
// as one with a kind, or why a context ended.
func FileError(path string, err error) error {
	if _, ok := errors.AsType[*fault.Error](err); ok || err == nil {
		return err
	}
	code, text := codeOf(err)
	if code == "" {
		return err
	}
	kind := fault.Script
	if code == "ENOENT" {
		kind = fault.NotFound
	}
	if path != "" {
		text = quoted(path) + ": " + text
	}
	return fault.New(kind, "%s", text).With("code", code)
}

// CodeOf returns the code of an error that FileError made, or no text.
func CodeOf(err error) string {
	if e, ok := errors.AsType[*fault.Error](err); ok {
		code, _ := e.Details["code"].(string)
		return code
	}
	return ""
}

// codeOf returns the code of an error of the system and what it says, or no text for any
// other.
func codeOf(err error) (code, text string) {
	if code, text = systemCode(err); code != "" {
		return code, text
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "ENOENT", "no such file or directory"
	case errors.Is(err, fs.ErrExist):
		return "EEXIST", "file exists"
	case errors.Is(err, fs.ErrPermission):
		return "EACCES", "permission denied"
	case errors.Is(err, fs.ErrClosed):
		return "EBADF", "bad file descriptor"
	case errors.Is(err, fs.ErrInvalid):
		return "EINVAL", "invalid argument"
	}
	_, path := errors.AsType[*fs.PathError](err)
	_, link := errors.AsType[*os.LinkError](err)
	if path || link {
		return "EIO", "input/output error"
	}
	return "", ""
}

// quoted is what a script spelled, as an error repeats it.
func quoted(thing string) string {
	text, _ := json.Marshal(clip(thing)) // a string can be encoded
	return string(text)
}

// special reports whether something is neither a file nor a folder.
func special(info os.FileInfo) bool { return !info.Mode().IsRegular() && !info.IsDir() }

// dotted reports whether the last part of a path is a dot or two.
func dotted(path string) bool {
	path = trimSlashes(path)
	last := path[strings.LastIndexFunc(path, func(r rune) bool { return r < 0x80 && os.IsPathSeparator(uint8(r)) })+1:]
	return last == "." || last == ".."
}

func trimSlashes(path string) string {
	for len(path) > 0 && os.IsPathSeparator(path[len(path)-1]) {
		path = path[:len(path)-1]
	}
	return path
}

// at finds a path and does something there, again if it was swapped meanwhile.
func (g *gate) at(path string, w walk, do func(*place) error) error {
	if w.as == "" {
		w.as = path
	}
	for range maxChanges {
		p, err := g.find(path, w)
		if err != nil {
			return FileError(w.as, err)
		}
		err = do(p)
		p.close()
		if !errors.Is(err, errChanged) {
			return FileError(w.as, err)
		}
	}
	return Denied(g.grant, w.as)
}

// split returns the parts of a path without its volume, and whether it means a folder.
func split(path string) (parts []string, slash bool) {
	parts = strings.FieldsFunc(path, func(r rune) bool { return r < 0x80 && os.IsPathSeparator(uint8(r)) })
	slash = path != "" && os.IsPathSeparator(path[len(path)-1])
	if n := len(parts); n > 0 && (parts[n-1] == "." || parts[n-1] == "..") {
		slash = true
	}
	return slices.DeleteFunc(parts, func(p string) bool { return p == "." }), slash
}
