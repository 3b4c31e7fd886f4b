//go:build unix

package config

import (
	"fmt"
	"net"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"mcpx/internal/fault"
)

// Whatever is in the place of a file, loading ends at once and says what to do.
func TestOnlyRegularFilesAreRead(t *testing.T) {
	t.Parallel()
	tr := newTree(t, nil)
	create := map[string]func(path string) error{
		"fifo":   func(path string) error { return syscall.Mkfifo(path, 0o600) },
		"device": func(path string) error { return os.Symlink("/dev/null", path) },
		"socket": func(path string) error {
			l, err := net.Listen("unix", path)
			if err == nil {
				t.Cleanup(func() { _ = l.Close() })
			}
			return err
		},
		"folder": func(path string) error { return os.Mkdir(path, 0o700) },
		"loop":   func(path string) error { return os.Symlink(path, path) },
		"closed": func(path string) error { return os.WriteFile(path, nil, 0) },
		"huge": func(path string) error {
			if err := os.WriteFile(path, nil, 0o600); err != nil {
				return err
			}
			return os.Truncate(path, maxFile+1)
		},
	}
	cases := []struct{ what, message, named, found string }{
		{"fifo", "it is not a regular file", "write the configuration to a file", "give what is there another"},
		{"device", "it is not a regular file", "write the configuration to a file", "give what is there another"},
		{"socket", "it is not a regular file", "write the configuration to a file", "give what is there another"},
		{"folder", "it is a directory", "name a file in it, such as /", "give what is there another"},
		{"loop", "too many levels of symbolic links", "a symbolic link that leads back to itself", "a symbolic link that leads back to itself"},
		{"closed", "permission denied", "chmod u+r /", "chmod u+r /"},
		{"huge", "it is larger than 64 MiB", "--config", "--config"},
	}
	for _, c := range cases {
		if c.what == "closed" && os.Geteuid() == 0 {
			continue // nothing is closed to root
		}
		for _, explicit := range []bool{true, false} {
			dir, file := c.what+"-found", ""
			if explicit {
				dir, file = c.what+"-named", ".mcp.json"
			}
			if err := os.Mkdir(tr.path(dir), 0o700); err != nil {
				t.Fatal(err)
			}
			path := tr.path(dir + "/.mcp.json")
			if err := create[c.what](path); err != nil {
				t.Fatal(err)
			}
			here := *tr
			here.dir = dir
			loaded := timed(t, c.what, func() *Config { return here.load(file) })
			e := fault.From(loaded.Err())
			hint := c.found
			if explicit {
				hint = c.named
			}
			want := "the configuration file " + path + " cannot be read: " + c.message
			if e == nil || e.Kind != fault.Usage || e.Message != want || !strings.Contains(e.Hint, hint) {
				t.Errorf("%s, named %v: %v (%+v), want %s (%s)", c.what, explicit, e, e, want, hint)
			}
		}
	}
}

// timed fails the test if f waits for somebody.
func timed[T any](t *testing.T, what string, f func() T) T {
	t.Helper()
	done := make(chan T, 1)
	go func() { done <- f() }()
	select {
	case v := <-done:
		return v
	case <-time.After(time.Minute):
		t.Fatalf("%s: loading waits", what)
		panic("unreachable")
	}
}

// A file may become something else between the look and the opening.
func TestWhatIsOpenedIsLookedAtAgain(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.WriteFile(dir+"/file", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(dir + "/file")
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(dir+"/fifo", 0o600); err != nil {
		t.Fatal(err)
	}
	err = timed(t, "a pipe that was a file", func() error { _, err := readRegular(dir+"/fifo", info); return err })
	if err != errNotRegular { //nolint:errorlint // it is not wrapped
		t.Errorf("readRegular = %v, want %v", err, errNotRegular)
	}
}

// A project's file must not hold up whoever stands in it: what it costs to say where an
// entry is does not grow with the line.
func TestManyEntriesOnOneLineAreReadSoon(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	b.WriteString(`{"mcpServers":{`)
	for i := range 50_000 {
		fmt.Fprintf(&b, `"s%d":{"command":"x"},`, i)
	}
	b.WriteString(`"last":{"command":"x"}}}`)
	d, wrong := newDocument("/c.json", []byte(b.String()))
	if wrong != nil {
		t.Fatal(wrong)
	}
	begin := time.Now()
	for at := range len(d.text) / 10 {
		if o := d.origin(10 * at); o.Line != 1 || o.Column != 10*at+1 {
			t.Fatalf("the byte %d is at %d:%d", 10*at, o.Line, o.Column)
		}
	}
	if took := time.Since(begin); took > time.Minute {
		t.Errorf("saying where %d places are took %s", len(d.text)/10, took)
	}
}
