// Package trial runs scripts for the tests of the library.
package trial

import (
	"context"
	"strings"
	"time"

	"mcpx/engine"
)

// limit is how long a script may run. One that is not done then failed.
const limit = 20 * time.Second

// Run runs a script that finds the modules, and returns what it wrote. How it failed, if
// it did, is the last line of stderr.
func Run(code string, host engine.Host, modules ...engine.Module) (stdout, stderr string) {
	return compiled(code, host, modules)()
}

// compiled compiles a script, to be run later.
func compiled(code string, host engine.Host, modules []engine.Module) func() (stdout, stderr string) {
	p, report := engine.Compile(engine.Source{Name: "exec", Text: code}, modules)
	if report != nil {
		return func() (string, string) { return "", report.Text() }
	}
	return func() (string, string) { return run(p, host, modules) }
}

func run(p *engine.Program, host engine.Host, modules []engine.Module) (stdout, stderr string) {
	var out, errs strings.Builder
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	outcome := engine.New(engine.Options{
		Host:    host,
		Modules: modules,
		Output: func(stream int, b []byte) {
			if stream == engine.Stdout {
				out.Write(b)
			} else {
				errs.Write(b)
			}
		},
	}).Run(ctx, p)
	if outcome.Report != nil {
		errs.WriteString("uncaught " + outcome.Report.Name + ": " + outcome.Report.Message + "\n")
	}
	return out.String(), errs.String()
}
