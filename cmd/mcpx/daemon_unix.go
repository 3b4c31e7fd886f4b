//go:build unix

package main

import (
	"fmt"
	"os"
	"syscall"
)

// becomeAnother makes this process another program. It returns only if that fails.
func becomeAnother(program string, args []string) error {
	err := syscall.Exec(program, append([]string{"mcpx"}, args...), os.Environ())
	return fmt.Errorf("%w: %w", errNoSuccessor, err)
}
