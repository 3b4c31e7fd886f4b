//go:build !unix

package sandbox

import (
	"os"

	"mcpx/internal/fault"
)

func sealDescriptors() {}

func socketPair() (ours, theirs *os.File, err error) {
	return nil, nil, fault.Unavailablef("scripts cannot run on this system: a worker needs a socket to inherit")
}

// Inherited returns the worker's end of the socket. Here there is none.
func Inherited() (*os.File, error) {
	return nil, fault.Usagef("a worker is started by mcpx itself")
}
