//go:build !linux

package sandbox

import "os"

func startedBy() (string, error) { return os.Executable() }
