//go:build unix

package store

import (
	"path/filepath"
	"syscall"
	"testing"
)

func TestReadFileReadsNoPipe(t *testing.T) {
	t.Parallel()
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadFile(pipe, 4); err == nil {
		t.Error("ReadFile read a pipe")
	}
}
