package grant

import (
	"context"
	"crypto/rand"
	"errors"
	"io"
	"io/fs"
	"os"
	"syscall"

	"mcpx/internal/fault"
)

// flags are those of the system.
func (h How) flags() int {
	flags := nonblock
	switch {
	case h.Read && h.Write:
		flags |= os.O_RDWR
	case h.Write:
		flags |= os.O_WRONLY
	}
	if h.Append {
		flags |= os.O_APPEND
	}
	if h.Sync {
		flags |= os.O_SYNC
	}
	return flags
}

// openAs opens what is at a place, or makes it.
func (p *place) openAs(how How) (*os.File, error) {
	create := how.Create && how.Write
	switch {
	case p.info == nil && !create:
		return nil, syscall.ENOENT
	case p.info == nil && p.slash:
		return nil, syscall.EISDIR
	case p.info == nil:
		f, err := p.make(p.name, how, how.Mode)
		if errors.Is(err, fs.ErrExist) && !how.Exclusive {
			err = errChanged
		}
		return f, err
	case create && how.Exclusive:
		return nil, syscall.EEXIST
	case p.info.Mode()&fs.ModeSymlink != 0:
		return nil, syscall.ELOOP
	case p.info.IsDir() && how.Write:
		return nil, syscall.EISDIR
	case how.Directory && !p.info.IsDir():
		return nil, syscall.ENOTDIR
	}
	f, err := p.open(how.flags())
	if err != nil || !how.Write || special(p.info) {
		return f, err
	}
	if p.linked() {
		f.Close()
		if how.Truncate {
			return p.another(how)
		}
		return nil, fault.Deniedf("denied: %s %s: the file has other names, which may be outside the run's grants", p.gate.grant, quoted(p.as)).
			Hintf("write it as a whole: a new file takes the name").
			With("grant", p.gate.grant).With("thing", clip(p.as))
	}
	if how.Truncate {
		if err := f.Truncate(0); err != nil {
			f.Close()
			return nil, err
		}
	}
	return f, nil
}

// linked reports whether the file has other names, through which it is something else.
func (p *place) linked() bool { return !p.gate.free && namesOf(p.info) > 1 }

// open opens what was seen at a place.
func (p *place) open(flags int) (*os.File, error) {
	if special(p.info) && !p.gate.everything {
		return nil, p.refuseSpecial()
	}
	f, err := p.dir.OpenFile(p.name, flags, 0)
	if err != nil {
		// A link that has taken the name leads elsewhere, or nowhere.
		if code, _ := systemCode(err); code == "" || code == "ENOENT" || code == "ELOOP" {
			err = errChanged
		}
		return nil, err
	}
	return p.checked(f, true)
}

// make makes a file that is not there.
func (p *place) make(name string, how How, mode os.FileMode) (*os.File, error) {
	f, err := p.dir.OpenFile(name, how.flags()|os.O_CREATE|os.O_EXCL, mode.Perm())
	if err != nil {
		return nil, err
	}
	return p.checked(f, false)
}

// checked decides on what was opened; it closes it if that is not what may be used.
func (p *place) checked(f *os.File, seen bool) (*os.File, error) {
	info, err := f.Stat()
	switch {
	case err != nil:
	case seen && !os.SameFile(info, p.info):
		err = errChanged
	case special(info) && !p.gate.everything:
		err = p.refuseSpecial()
	case !p.gate.everything && kernelsFile(f):
		err = Denied(p.gate.grant, p.as)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// refuseSpecial is the error for what is neither a file nor a folder.
func (p *place) refuseSpecial() error {
	return fault.Deniedf("denied: %s %s: neither a file nor a folder", p.gate.grant, quoted(p.as)).
		Hintf("only the profile all opens devices and pipes").
		With("grant", p.gate.grant).With("thing", clip(p.as))
}

// temporary makes a file beside the place, with a name of its own, that is to take the
// place's name. It belongs to whom the file there belongs to and has its mode, as far as
// that is possible; same says whether it was.
func (p *place) temporary(how How) (f *os.File, name string, same bool, err error) {
	name = ".mcpx-" + rand.Text() + ".tmp"
	mode := how.Mode
	if p.info != nil {
		mode = 0o600
	}
	f, err = p.make(name, how, mode)
	if err != nil || p.info == nil {
		return f, name, true, err
	}
	same = keepOwner(f, p.info)
	if err = f.Chmod(p.info.Mode().Perm()); err != nil {
		f.Close()
		_ = p.dir.Remove(name) // the first error is the one to tell
	}
	return f, name, same, err
}

// another makes an empty file that takes the name of one that has other names.
func (p *place) another(how How) (*os.File, error) {
	f, name, _, err := p.temporary(how)
	if err != nil {
		return nil, err
	}
	if err := p.dir.Rename(name, p.name); err != nil {
		f.Close()
		_ = p.dir.Remove(name) // as above
		return nil, err
	}
	return f, nil
}

// Replace makes a file of a text as a whole: whoever reads it meanwhile sees the old
// file or the new one. A file that is there keeps its mode and its owner. Where a new
// file cannot take its place, because the folder may not be changed or the owner not be
// kept, it is written in place.
func (f *Files) Replace(ctx context.Context, path string, text io.Reader, how How) error {
	how.Read, how.Write, how.Append = false, true, false
	return f.write.at(path, walk{follow: true}, func(p *place) error {
		switch {
		case p.info == nil && p.slash, p.info != nil && p.info.IsDir():
			return syscall.EISDIR
		case p.info == nil:
			_, err := p.replace(ctx, text, how, true)
			return err
		}
		// Only what can be written is replaced.
		old, err := p.open(how.flags())
		if err != nil {
			return err
		}
		defer old.Close()
		many := namesOf(p.info) > 1
		if !special(p.info) && !(many && p.gate.free) {
			if done, err := p.replace(ctx, text, how, many); done || err != nil {
				return err
			}
		}
		if p.linked() {
			return syscall.EACCES
		}
		if !special(p.info) {
			if err := old.Truncate(0); err != nil {
				return err
			}
		}
		return copyInto(ctx, old, text)
	})
}

// replace gives the place's name to a new file. It may refuse to before it has read
// anything of the text, unless it must.
func (p *place) replace(ctx context.Context, text io.Reader, how How, must bool) (done bool, err error) {
	f, name, same, err := p.temporary(how)
	if err != nil {
		if p.info != nil && errors.Is(err, fs.ErrPermission) {
			return false, nil
		}
		return false, err
	}
	defer func() {
		if !done {
			_ = p.dir.Remove(name) // the error that led here is told, if there is one
		}
	}()
	if !same && !must || p.info != nil && !mayReplace(p.dir, p.info) {
		return false, f.Close()
	}
	err = copyInto(ctx, f, text)
	if e := f.Close(); err == nil {
		err = e
	}
	if err == nil {
		err = p.dir.Rename(name, p.name)
	}
	return err == nil, err
}

// copyInto copies a text into a file until the context ends.
func copyInto(ctx context.Context, f *os.File, text io.Reader) error {
	buf := make([]byte, 256<<10)
	for {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		n, err := text.Read(buf)
		if _, e := f.Write(buf[:n]); e != nil {
			return e
		}
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
	}
}
