package trial

import (
	"encoding/json"
	"strings"

	"mcpx/engine"
)

// T is a test: *testing.T, which the library itself must not import.
type T interface {
	Helper()
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
}

// Program is a program for Node that runs each script by itself and prints a JSON array
// of what they wrote, by console.log or by throwing.
func Program(scripts []string) string {
	texts, err := json.Marshal(scripts)
	if err != nil {
		return ""
	}
	return `const { format } = require("node:util");
const AsyncFunction = (async () => {}).constructor;
(async () => {
  if (!process.version.startsWith("v20.")) process.exit(1);
  const all = [];
  console.error = console.warn = () => {};
  for (const text of ` + string(texts) + `) {
    let written = "";
    console.log = (...values) => { written += format(...values) + "\n"; };
    try {
      await new AsyncFunction("require", text)(require);
    } catch (e) {
      written += "uncaught " + e.name + ": " + e.message + "\n";
    }
    all.push(written);
  }
  process.stdout.write(JSON.stringify(all));
})();
`
}

// Compare runs each script and fails if it wrote something else than Node, whose output
// for Program is given.
func Compare(t T, scripts []string, node []byte, modules ...engine.Module) {
	t.Helper()
	Comparison(t, scripts, node, modules...)(t)
}

// Comparison is Compare with everything compiled and nothing run: the scripts can then run in
// a bubble of testing/synctest, where the order of their timers does not depend on the machine.
func Comparison(t T, scripts []string, node []byte, modules ...engine.Module) func(t T) {
	t.Helper()
	var want []string
	if err := json.Unmarshal(node, &want); err != nil || len(want) != len(scripts) {
		t.Fatalf("Node wrote %d answers for %d scripts: %v", len(want), len(scripts), err)
	}
	runs := make([]func() (stdout, stderr string), len(scripts))
	for i, script := range scripts {
		runs[i] = compiled(script, nil, modules)
	}
	return func(t T) {
		t.Helper()
		for i, script := range scripts {
			compare(t, script, runs[i], want[i])
		}
	}
}

// compare runs one script.
func compare(t T, script string, run func() (stdout, stderr string), want string) {
	t.Helper()
	stdout, stderr := run()
	// A warning of ours is no part of what is compared.
	for line := range strings.Lines(stderr) {
		if strings.HasPrefix(line, "uncaught ") {
			stdout += stderr[strings.Index(stderr, line):]
			break
		}
	}
	if stderr != "" && !strings.Contains(stderr, "uncaught ") {
		stdout += stderr
	}
	if stdout != want {
		t.Errorf("%s\n%s", script, difference(stdout, want))
	}
}

// difference shows the lines that are not those of Node, up to the first few.
func difference(got, want string) string {
	const most = 10
	ours, nodes := strings.SplitAfter(got, "\n"), strings.SplitAfter(want, "\n")
	var b strings.Builder
	shown := 0
	for i := 0; i < max(len(ours), len(nodes)) && shown < most; i++ {
		line := func(lines []string) string {
			if i < len(lines) {
				return strings.TrimSuffix(lines[i], "\n")
			}
			return ""
		}
		if a, n := line(ours), line(nodes); a != n {
			b.WriteString(" wrote      " + a + "\n Node wrote " + n + "\n")
			shown++
		}
	}
	return b.String()
}
