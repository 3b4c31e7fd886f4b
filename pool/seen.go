package pool

import (
	"path/filepath"
	"strings"
	"time"

	"mcpx/internal/api"
	"mcpx/internal/config"
	"mcpx/internal/process"
	"mcpx/mcp/client"
)

// Seen is what was seen of an instance since it was started.
type Seen struct {
	Program string        // the file that was started; empty behind a url
	Took    time.Duration // until the session was open
	Noise   int           // lines of its output that were no messages
	Said    client.Ending // the last that it wrote beside the protocol; How is empty
}

// Seen tells of the instance.
func (l *Lease) Seen() Seen {
	i := l.inst
	out := Seen{Program: i.def.Redact(i.program), Took: i.took, Noise: i.noise()}
	if c := i.counts.Load(); c != nil {
		if speaks, ok := (*c).(interface{ Said() client.Ending }); ok {
			out.Said = speaks.Said()
		}
	}
	return out
}

// Path is the PATH in which the program of a definition is looked for on behalf of a caller;
// empty if no PATH decides: behind a url, and where the entry names a file.
func (p *Pool) Path(def *config.Definition, c api.Caller) string {
	if def.Transport != config.Stdio || strings.ContainsAny(def.Command, "/"+string(filepath.Separator)) {
		return ""
	}
	environ := c.Environ
	if environ == nil {
		environ = p.o.Environ
	}
	return process.Getenv(childEnviron(environ, def, nil), "PATH")
}
