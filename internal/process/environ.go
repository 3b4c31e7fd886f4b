package process

import (
	"runtime"
	"slices"
	"strings"
)

// LookupEnv finds a variable in an environment, as of os.Environ. Of those that are there
// twice the last counts, as for a program that is started with them. On Windows it does not
// matter which of their letters are capitals.
func LookupEnv(environ []string, name string) (value string, ok bool) {
	for _, pair := range slices.Backward(environ) {
		if n, v, ok := strings.Cut(pair, "="); ok && (n == name || runtime.GOOS == "windows" && strings.EqualFold(n, name)) {
			return v, true
		}
	}
	return "", false
}

// Getenv is LookupEnv for whoever takes a variable that is not there for an empty one.
func Getenv(environ []string, name string) string {
	value, _ := LookupEnv(environ, name)
	return value
}
