package sandbox

import (
	"os"
	"path/filepath"
	"runtime"
	"sync"

	"mcpx/internal/fault"
)

// Program returns a path at which this very program can be started again. It must be
// called for the first time before the working directory changes; the answer is kept.
//
// Where there is a /proc that is the running file itself, even if another has taken its
// name since. Elsewhere it is the path that the program was started by.
var Program = sync.OnceValues(func() (string, error) {
	const running = "/proc/self/exe"
	if runtime.GOOS == "linux" {
		if _, err := os.Stat(running); err == nil {
			return running, nil
		}
	}
	path, err := startedBy()
	if err != nil {
		return "", err
	}
	return absolute(path)
})

func absolute(path string) (string, error) {
	path, err := filepath.Abs(path)
	if err == nil {
		_, err = os.Stat(path)
	}
	if err != nil {
		return "", fault.Unavailablef("mcpx cannot find its own file to start a worker: %w", err).
			Hintf("start mcpx by its full path, or mount /proc")
	}
	return path, nil
}
