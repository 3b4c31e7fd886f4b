package client

import (
	"strings"
	"testing"
)

// TestLastLinesSayWhatWentWrong is about programs that end their last words with a stack.
func TestLastLinesSayWhatWentWrong(t *testing.T) {
	t.Parallel()
	frames := strings.Repeat("    at handle (file:///srv/app/node_modules/some-server/dist/index.js:120:17)\n", 12)
	for name, tt := range map[string]struct{ said, want string }{
		"one line":  {"boom", "boom"},
		"ten lines": {strings.Repeat("x\n", 20) + "y", strings.Repeat("x\n", 9) + "y"},
		"Node": {
			"file:///srv/app/index.js:3\n  throw new Error()\n  ^\n\nError: TOKEN is not set\n" + frames + "\nNode.js v20.1.0",
			"Error: TOKEN is not set\n    at handle (file:///srv/app/node_modules/some-server/dist/index.js:120:17)\n    …\n\nNode.js v20.1.0",
		},
		"Java":       {"Exception: no key\n\tat a.B.c(B.java:1)\n\tat a.B.d(B.java:2)\nCaused by: no file\n\tat e.F(F.java:1)", "Exception: no key\n\tat a.B.c(B.java:1)\n\t…\nCaused by: no file\n\tat e.F(F.java:1)"},
		"plain text": {"arrived\nat noon\nat last", "arrived\nat noon\nat last"},
	} {
		if got := lastLines(tt.said); !strings.HasSuffix(got, tt.want) || name != "Node" && got != tt.want {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
}
