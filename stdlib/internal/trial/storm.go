package trial

import (
	_ "embed"
	"fmt"
	"strings"

	"mcpx/engine"
)

//go:embed storm.js
var storm string

// Storm calls all functions that can be reached from roots, on instances and on other
// things, with arguments that make no sense. Both are JavaScript: elements of an array.
// It fails if the runtime does not survive that.
func Storm(t T, roots, instances string, modules ...engine.Module) {
	t.Helper()
	for seed := 1; seed <= 3; seed++ {
		code := fmt.Sprintf("let seed = %d; const roots = [%s], instances = [%s];\n%s", seed*7717, roots, instances, storm)
		stdout, stderr := Run(code, nil, modules...)
		// A script that calls everything may end its own run; a fault of ours is another thing.
		if strings.Contains(stderr, "InternalError") || !strings.HasSuffix(stdout, "true\n") {
			t.Errorf("with seed %d it ended with %q and %q", seed*7717, stdout, stderr)
		}
	}
}
