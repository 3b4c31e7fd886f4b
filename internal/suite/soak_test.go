//go:build linux

package suite

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"mcpx/mcp/mcptest"
)

// TestSoakOfAScript lets a script make very many calls, 32 at once, of a server that
// crashes again and again: every promise settles, and no process is left. It does not run
// beside other tests: their processes would be counted. MCPX_TEST_SOAK says how many calls.
func TestSoakOfAScript(t *testing.T) { //nolint:paralleltest // it looks at all processes of the program
	const every, atOnce = 500, 32
	total := 1000
	if text := os.Getenv("MCPX_TEST_SOAK"); text != "" {
		var err error
		if total, err = strconv.Atoi(text); err != nil {
			t.Fatal(err)
		}
	}
	dir := t.TempDir()
	cmd := mcptest.Command(mcptest.Script{CrashEvery: every})
	env := map[string]string{}
	for _, kv := range cmd.Env {
		name, value, _ := strings.Cut(kv, "=")
		env[name] = strings.ReplaceAll(value, "$", "$$")
	}
	config, err := json.Marshal(map[string]any{"mcpServers": map[string]any{"s": map[string]any{"command": cmd.Path, "args": append([]string{}, cmd.Args...), "env": env}}})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, ".mcp.json"), config, 0o600); err != nil {
		t.Fatal(err)
	}
	script := fmt.Sprintf(`
let next = 0, answered = 0, ended = 0, wrong = [];
await Promise.all(Array.from({ length: %d }, async () => {
  while (next < %d) {
    const want = "call " + next++;
    try {
      const got = await tools.s.echo({ message: want });
      if (got === want) answered++; else wrong.push(got);
    } catch (e) {
      if (/server|ended|exit/.test(e.message)) ended++; else wrong.push(String(e));
    }
  }
}));
return { answered, ended, wrong };
`, atOnce, total)
	began := time.Now()
	got := run(t, 5*time.Minute, dir, environ(t, dir), program(t), "exec", "--timeout", "4m", "--limits-tool-calls="+strconv.Itoa(2*total), script)
	var saw struct {
		Answered, Ended int
		Wrong           []string
	}
	if err := json.Unmarshal([]byte(got.stdout), &saw); err != nil || got.exit != 0 {
		t.Fatalf("exit %d, %s%s", got.exit, got.stdout, got.stderr)
	}
	crashes := total / every
	if saw.Answered+saw.Ended != total || saw.Ended < min(crashes, 1) || saw.Ended > crashes*atOnce || len(saw.Wrong) > 0 {
		t.Errorf("%d calls, of a server that crashes at most %d times: %+v", total, crashes, saw)
	}
	t.Logf("%d calls, %d at once: %d answered, %d ended with the server, in %s", total, atOnce, saw.Answered, saw.Ended, time.Since(began).Round(time.Millisecond))
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		left := processesOf(t, program(t), dir)
		if len(left) == 0 {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("processes are left: %v", left)
		}
	}
}

// processesOf lists the processes that run a program, if one is named, and those that were
// started in an environment whose HOME is home.
func processesOf(tb testing.TB, program, home string) []string {
	tb.Helper()
	found, err := filepath.Glob("/proc/[0-9]*")
	if err != nil || len(found) == 0 {
		tb.Fatalf("%d processes, %v", len(found), err)
	}
	var left []string
	for _, p := range found {
		exe, _ := os.Readlink(filepath.Join(p, "exe")) // those of others cannot be read
		environ, _ := os.ReadFile(filepath.Join(p, "environ"))
		if program != "" && exe == program || strings.Contains(string(environ), "HOME="+home+"\x00") {
			left = append(left, p+" "+exe)
		}
	}
	return left
}
