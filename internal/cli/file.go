package cli

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
)

// replaceFile puts data at path so that nobody ever sees half of it: it is written
// beside the file and takes its place, with its mode and where its links lead. What is
// no regular file, such as a device or a pipe, is written to.
func replaceFile(path string, data []byte) error {
	return replaceFileAs(path, data, 0o666, false) // less the umask
}

// replaceFileAs is replaceFile for a new file of that mode. With always it is a new file even
// if something was there: with the mode, and in the place of a link or a pipe.
func replaceFileAs(path string, data []byte, mode fs.FileMode, always bool) error {
	if real, err := filepath.EvalSymlinks(path); err == nil && !always {
		path = real
	}
	look := os.Stat
	if always {
		look = os.Lstat // a link gives way: somebody else may have made it
	}
	info, err := look(path)
	switch {
	case err == nil && always && info.IsDir():
		return errors.New("it is a directory")
	case err == nil && always:
	case err == nil && !info.Mode().IsRegular():
		return plain(os.WriteFile(path, data, mode))
	case err == nil:
		mode = info.Mode().Perm()
	case !errors.Is(err, fs.ErrNotExist):
		return plain(err)
	}
	temporary := path + "." + strconv.Itoa(os.Getpid()) + ".tmp"
	err = writeNew(temporary, data, mode)
	if err == nil && (info != nil || always) {
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
