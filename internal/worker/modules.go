package worker

import (
	"slices"
	"strings"

	"mcpx/bindings"
	"mcpx/engine"
	"mcpx/stdlib/artifact"
	"mcpx/stdlib/assert"
	"mcpx/stdlib/asynchooks"
	"mcpx/stdlib/blob"
	"mcpx/stdlib/buffer"
	"mcpx/stdlib/childprocess"
	"mcpx/stdlib/clone"
	"mcpx/stdlib/console"
	"mcpx/stdlib/crypto"
	"mcpx/stdlib/csv"
	"mcpx/stdlib/elicit"
	"mcpx/stdlib/emit"
	"mcpx/stdlib/encoding"
	"mcpx/stdlib/event"
	"mcpx/stdlib/events"
	"mcpx/stdlib/fetch"
	"mcpx/stdlib/fs"
	"mcpx/stdlib/html"
	"mcpx/stdlib/input"
	"mcpx/stdlib/intl"
	"mcpx/stdlib/log"
	"mcpx/stdlib/nodemodule"
	"mcpx/stdlib/osinfo"
	"mcpx/stdlib/path"
	"mcpx/stdlib/perf"
	"mcpx/stdlib/process"
	"mcpx/stdlib/progress"
	"mcpx/stdlib/querystring"
	"mcpx/stdlib/readline"
	"mcpx/stdlib/sql"
	"mcpx/stdlib/streams"
	"mcpx/stdlib/stringdecoder"
	"mcpx/stdlib/table"
	"mcpx/stdlib/timers"
	"mcpx/stdlib/toml"
	"mcpx/stdlib/url"
	"mcpx/stdlib/util"
	"mcpx/stdlib/xml"
	"mcpx/stdlib/yaml"
	"mcpx/stdlib/zlib"
)

// Modules returns everything that a script finds. The language's own globals go before
// the namespaces, which hide nothing.
func Modules(namespaces []string) []engine.Module {
	return slices.Concat(
		[]engine.Module{
			console.Module(), log.Module(), emit.Module(), progress.Module(), input.Module(), elicit.Module(), artifact.Module(),
			event.Module(), clone.Module(), clone.Ports(), blob.Module(), fetch.Module(), intl.Module(),
			encoding.Module(), buffer.Module(), url.Module(), crypto.Module(), zlib.Module(),
			events.Module(), asynchooks.Module(), nodemodule.Module(), osinfo.Module(),
			stringdecoder.Module(), querystring.Module(), childprocess.Module(),
			csv.Module(), yaml.Module(), toml.Module(), xml.Module(), html.Module(), table.Module(), sql.Module(),
		},
		process.Modules(),
		timers.Modules(),
		streams.Modules(),
		path.Modules(),
		util.Modules(),
		assert.Modules(),
		perf.Modules(),
		readline.Modules(),
		fs.Modules(),
		bindings.Modules(namespaces),
		[]engine.Module{engine.Errors()}, // after the namespaces, so that it hides none
	)
}

// Declarations declares in TypeScript what every script finds, whatever its tools.
func Declarations() string {
	var b strings.Builder
	for _, m := range Modules(nil) {
		if m.Declarations != "" {
			b.WriteString(strings.TrimSpace(m.Declarations) + "\n\n")
		}
	}
	return b.String()
}
