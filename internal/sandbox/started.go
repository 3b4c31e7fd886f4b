package sandbox

// Started reports whether a process with that name (the first of its arguments) and that
// environment was started by its like, as a worker or as the keeper: arguments of a program
// that carries a script are otherwise the script's. Nobody else starts a process with next to
// no environment and with a name that is not its file's.
func Started(name string, environ []string) bool {
	return name == startedName && len(environ) <= len(environment())
}

// startedName is the name that processes of this program are started by.
const startedName = "mcpx"
