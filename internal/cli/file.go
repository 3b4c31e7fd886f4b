package cli

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
)

// replaceFile puts data at path so that nobody ever sees half of it: it is written
// beside the file and takes its place, with its mode and where its links lead. What is
// no regular file, such as a device or a pipe, is written to; the end of ctx ends that.
func replaceFile(ctx context.Context, path string, data []byte) error {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	info, err := os.Stat(path)
	switch {
	case err == nil && !info.Mode().IsRegular():
		return inPlace(ctx, func() error { return os.WriteFile(path, data, 0o666) })
	case err == nil:
		return swap(path, data, info.Mode().Perm(), true)
	case errors.Is(err, fs.ErrNotExist):
		return swap(path, data, 0o666, false) // less the umask
	}
	return plain(err)
}

// replacePrivateFile is replaceFile for what only the user is to read: whatever mode the file
// had. A link, which somebody else may have made, is followed as far as the system lets
// anybody write through it.
func replacePrivateFile(ctx context.Context, path string, data []byte) error {
	const mode = 0o600
	info, err := os.Lstat(path)
	switch {
	case err == nil && !info.Mode().IsRegular():
		return inPlace(ctx, func() error { return writeThrough(path, data, mode) })
	case err == nil || errors.Is(err, fs.ErrNotExist):
		return swap(path, data, mode, true)
	}
	return plain(err)
}

// swap writes a file beside path and puts it there. With exactly the umask takes nothing off
// the mode.
func swap(path string, data []byte, mode fs.FileMode, exactly bool) error {
	temporary := path + "." + strconv.Itoa(os.Getpid()) + ".tmp"
	err := writeNew(temporary, data, mode)
	if err == nil && exactly {
		err = os.Chmod(temporary, mode)
	}
	if err == nil {
		err = os.Rename(temporary, path)
	}
	if err != nil {
		os.Remove(temporary)
	}
	return plain(err)
}

// inPlace writes to what may never take it, such as a pipe that nobody reads.
func inPlace(ctx context.Context, write func() error) error {
	_, err := interruptible(ctx, func() ([]byte, error) { return nil, write() })
	return plain(err)
}

// writeThrough writes to what path leads to, and gives it the mode if it is a regular file.
func writeThrough(path string, data []byte, mode fs.FileMode) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, mode)
	if err != nil {
		return err
	}
	if info, err := f.Stat(); err == nil && info.Mode().IsRegular() {
		if err := f.Chmod(mode); err != nil {
			return errors.Join(err, f.Close())
		}
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Close())
}

// writeNew writes a file that was not there.
func writeNew(path string, data []byte, mode fs.FileMode) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Close())
}

// plain takes the operation and the path off an error of the file system: the caller
// names the file as the user did.
func plain(err error) error {
	var path *fs.PathError
	var link *os.LinkError
	switch {
	case errors.As(err, &path):
		return path.Err
	case errors.As(err, &link):
		return link.Err
	}
	return err
}
