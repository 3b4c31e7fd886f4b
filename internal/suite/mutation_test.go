//go:build unix

package suite

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// mutations is the list of what is broken on purpose: see its head.
var mutations = filepath.Join(root, "testdata", "mutations.txt")

// mutation breaks one gate or budget.
type mutation struct {
	name, file string
	old, new   string
	tests      []string // arguments of go test
	survives   string   // why no test can see it; empty for one that a test must catch
}

// TestMutations breaks each gate and budget in turn, in a copy of the sources, and checks
// that a test notices. It takes minutes, so it does so only if MCPX_MUTATE is set, to 1 or
// to a part of a mutation's name; otherwise it checks that the list fits the sources.
//
//	MCPX_MUTATE=1 go test ./internal/suite -run TestMutations -timeout 60m -v
func TestMutations(t *testing.T) {
	text, err := os.ReadFile(mutations)
	if err != nil {
		t.Fatal(err)
	}
	list, err := readMutations(string(text))
	if err != nil {
		t.Fatal(err)
	}
	wanted := os.Getenv("MCPX_MUTATE")
	var copied string
	if wanted != "" {
		copied = copySources(t)
	}
	for _, m := range list {
		t.Run(m.name, func(t *testing.T) {
			source, err := os.ReadFile(filepath.Join(root, m.file))
			if err != nil {
				t.Fatal(err)
			}
			if n := strings.Count(string(source), m.old); n != 1 {
				t.Fatalf("%s holds what is to be broken %d times, want once:\n%s", m.file, n, m.old)
			}
			if wanted == "" || wanted != "1" && !strings.Contains(m.name, wanted) {
				return
			}
			path := filepath.Join(copied, m.file)
			if err := os.WriteFile(path, []byte(strings.Replace(string(source), m.old, m.new, 1)), 0o600); err != nil {
				t.Fatal(err)
			}
			defer func() {
				if err := os.WriteFile(path, source, 0o600); err != nil {
					t.Fatal(err)
				}
			}()
			caught, out := m.caught(t, copied)
			switch {
			case caught && m.survives != "":
				t.Errorf("a test catches it; take the reason away from %s", mutations)
			case caught:
				t.Logf("caught by %s", firstFailure(out))
			case m.survives != "":
				t.Logf("survives: %s", m.survives)
			default:
				t.Errorf("no test of %s catches it:\n%s", strings.Join(m.tests, " "), m.new)
			}
		})
	}
}

// caught runs the tests of a mutation and reports whether one failed.
func (m mutation) caught(t *testing.T, dir string) (bool, string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	build := exec.CommandContext(ctx, "go", "vet", "./"+filepath.Dir(m.file))
	build.Dir = dir
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("broken, it is no program any more: %v\n%s", err, out)
	}
	cmd := exec.CommandContext(ctx, "go", append([]string{"test", "-count=1", "-timeout=4m"}, m.tests...)...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "MCPX_MUTATE=")
	out, err := cmd.CombinedOutput()
	return err != nil, string(out)
}

func firstFailure(out string) string {
	first := "a test that did not end"
	for line := range strings.Lines(out) {
		if name, ok := strings.CutPrefix(strings.TrimSpace(line), "--- FAIL: "); ok {
			first, _, _ = strings.Cut(name, " ") // the last one is the innermost
		}
	}
	return first
}

// copySources copies what go test needs, beside the suite.
func copySources(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "main")
	from, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	err = filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		switch {
		case d.IsDir() && (d.Name() == ".git" || d.Name() == "node_modules"):
			return filepath.SkipDir
		case d.IsDir():
			return os.MkdirAll(filepath.Join(dir, rel), 0o755)
		case !d.Type().IsRegular():
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(dir, rel), text, info.Mode()|0o200)
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, link := range []string{"../shared", "testdata/npm/node_modules"} {
		if _, err := os.Stat(filepath.Join(from, link)); err == nil {
			if err := os.Symlink(filepath.Join(from, link), filepath.Join(dir, link)); err != nil {
				t.Fatal(err)
			}
		}
	}
	return dir
}

// readMutations reads the list: see its head.
func readMutations(text string) ([]mutation, error) {
	var list []mutation
	var m *mutation
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		key, value, _ := strings.Cut(line, " ")
		switch {
		case line == "" || strings.HasPrefix(line, "#"):
		case key == "==":
			list = append(list, mutation{name: value})
			m = &list[len(list)-1]
		case m == nil:
			return nil, fmt.Errorf("%s: %q belongs to no mutation", mutations, line)
		case key == "file":
			m.file = value
		case key == "test":
			m.tests = strings.Fields(value)
		case key == "survives":
			m.survives = value
		case line[0] == '-':
			m.old += line[1:] + "\n"
		case line[0] == '+':
			m.new += line[1:] + "\n"
		default:
			return nil, fmt.Errorf("%s: %q", mutations, line)
		}
	}
	for _, m := range list {
		if m.file == "" || m.old == "" || len(m.tests) == 0 {
			return nil, fmt.Errorf("%s: %s lacks its file, its lines or its tests", mutations, m.name)
		}
	}
	return list, nil
}
