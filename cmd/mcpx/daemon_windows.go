package main

import (
	"fmt"
	"os"
	"os/exec"
)

// becomeAnother starts a program that takes the place of this process, which ends.
func becomeAnother(program string, args []string) error {
	cmd := exec.Command(program, args...)
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("%w: %w", errNoSuccessor, err)
	}
	return cmd.Process.Release()
}
