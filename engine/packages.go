package engine

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/evanw/esbuild/pkg/api"

	"mcpx/internal/fault"
)

// packageForm is how the packages of node_modules are taken.
type packageForm int

const (
	// The zero form takes what a package has for Node; formBrowser what it has for
	// browsers, where that for Node needs modules that are not here, such as node:http.
	formBrowser packageForm = iota + 1
	// The hopeful forms let a require of such a module fail only when it is called.
	formHopefulNode
	formHopefulBrowser
	packageForms
)

func (f packageForm) browser() bool { return f == formBrowser || f == formHopefulBrowser }

func (f packageForm) hopeful() bool { return f >= formHopefulNode }

// conditions are those of the exports of a package.
func (f packageForm) conditions() []string {
	if f.browser() {
		return []string{"browser", "import", "module"}
	}
	return []string{"node", "import", "module"}
}

// mainFields are the fields of package.json that name the file of a package.
func (f packageForm) mainFields() []string {
	if f.browser() {
		return []string{"browser", "module", "main"}
	}
	return []string{"module", "main"}
}

// build bundles the script, and again in the other forms where a package needs a module
// that is not here. If it fails, the bundle holds esbuild's errors and the report the
// first of them.
func (c *compiler) build() (*bundle, *fault.Report) {
	b, report := c.bundle()
	if report == nil || !b.packageFailed() {
		return b, report
	}
	before := c.packages
	for c.packages++; c.packages < packageForms; c.packages++ {
		if other, r := c.bundle(); r == nil || !other.packageFailed() {
			return other, r
		}
	}
	c.packages = before
	return b, report
}

// packageFailed reports whether an import inside a package could not be resolved.
func (b *bundle) packageFailed() bool {
	return slices.ContainsFunc(b.errors, func(m api.Message) bool {
		return m.Location != nil && inPackage(m.Location.File) && (m.PluginName != "" || strings.HasPrefix(m.Text, "Could not resolve "))
	})
}

// inPackage reports whether a file belongs to an installed package.
func inPackage(file string) bool {
	return slices.Contains(strings.Split(filepath.ToSlash(file), "/"), "node_modules")
}

// builtins are the modules of Node that packages name without its scheme and that may not
// be here.
const builtins = " child_process cluster console constants dgram diagnostics_channel dns dns/promises domain http http2 https " +
	"inspector net punycode repl sys tls trace_events tty v8 vm wasi worker_threads "

// isBuiltin reports whether Node has a module of the name.
func isBuiltin(name string) bool {
	return strings.HasPrefix(name, "node:") || strings.Contains(builtins, " "+name+" ")
}

// absent is what a require of a module of Node that is not here does where it is called.
func absent(name string) string {
	return fmt.Sprintf("throw Object.assign(new Error(%q), { code: \"MODULE_NOT_FOUND\" })", fmt.Sprintf("there is no module %q", name))
}
