package programs

import (
	"os"
	"strings"
)

// signalOf returns what there is for a signal: to kill, whatever its name.
func signalOf(name string) (os.Signal, bool) { return os.Kill, strings.HasPrefix(name, "SIG") }
