package run

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"mcpx/internal/api"
	"mcpx/internal/grant"
	"mcpx/internal/worker"
)

// TestAWorkerIsLockedWhileItsScriptRuns asks the kernel about the process of a script.
func TestAWorkerIsLockedWhileItsScriptRuns(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "lib.ts"), []byte(`export const here = "here"`), 0o600); err != nil {
		t.Fatal(err)
	}
	imports := worker.Run{
		Name: "main.ts", File: filepath.Join(dir, "main.ts"), InFlight: 4, MaxBody: 1 << 20,
		Limits: worker.Limits{Memory: 256 << 20, CPU: 7 * time.Second}, Imports: grant.Words{Allow: []string{dir}},
	}
	text := imports
	text.Imports = grant.Words{}
	for _, tt := range []struct {
		name string
		kind worker.Kind
		head worker.Run
		code string
	}{
		{"text", worker.Plain, text, `console.log("here"); await new Promise(() => setTimeout(() => {}, 1e6))`},
		{"text in a warm worker", worker.Warm, text, `console.log("here"); await new Promise(() => setTimeout(() => {}, 1e6))`},
		{"a file that imports", worker.Reading, imports, `import { here } from "./lib"; console.log(here); await new Promise(() => setTimeout(() => {}, 1e6))`},
		{"a file that could", worker.Reading, text, `console.log("here"); await new Promise(() => setTimeout(() => {}, 1e6))`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := stage{}.runner().spawn(tt.kind)
			if s.err != nil {
				t.Fatal(s.err)
			}
			defer s.child.Close()
			var status, limits string
			stdout := writerFunc(func(p []byte) (int, error) {
				for name, to := range map[string]*string{"status": &status, "limits": &limits} {
					b, err := os.ReadFile(fmt.Sprintf("/proc/%d/%s", s.child.Pid(), name))
					if err != nil {
						t.Error(err)
					}
					*to = string(b)
				}
				return len(p), os.ErrClosed // that is the end
			})
			b := newBroker(s.child, stage{}, stage{}, tt.head, api.Streams{Stdout: stdout})
			b.build = worker.Build()
			if _, err := b.run(t.Context(), tt.head, tt.code); err != nil {
				t.Fatal(err)
			}
			filters := regexp.MustCompile(`(?m)^Seccomp_filters:\s+(\d+)$`).FindStringSubmatch(status)
			if !strings.Contains(status, "\nNoNewPrivs:\t1\n") || !strings.Contains(status, "\nSeccomp:\t2\n") || filters == nil || filters[1] != "2" {
				t.Errorf("the kernel says of the worker\n%s\nwant no new privileges, and both filters", status)
			}
			for limit, want := range map[string]string{"Max cpu time": `9 `, "Max core file size": `0 `, "Max address space": `\d+ `} {
				if limit == "Max address space" && raceDetector {
					continue
				}
				if !regexp.MustCompile(`(?m)^` + limit + `\s+` + want).MatchString(limits) {
					t.Errorf("%s is not limited to %s:\n%s", limit, want, limits)
				}
			}
		})
	}
}
