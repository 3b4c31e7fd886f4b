package cli

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
)

// A file that has no end, or hardly one, is not read into memory to find that it is no script.
func TestAScriptWithoutEndIsNotRead(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "x.ts")
	if err := os.WriteFile(path, []byte("1"), 0o600); err != nil {
		t.Fatal(err)
	}
	if text, err := readAtMost(path); err != nil || string(text) != "1" {
		t.Errorf("%q, %v", text, err)
	}
	if err := os.Truncate(path, maxScript+1); err != nil {
		t.Fatal(err)
	}
	if text, err := readAtMost(path); !errors.Is(err, errLong) || text != nil {
		t.Errorf("%d bytes are read, %v", len(text), err)
	}
}

type endless struct{}

func (endless) Read(p []byte) (int, error) { return len(p), nil }

func TestStandardInputWithoutEndIsNotRead(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		from io.Reader
		want int
	}{{endless{}, 0}, {io.LimitReader(endless{}, 1001), 0}, {io.LimitReader(endless{}, 1000), 1000}} {
		text, err := readMost(tt.from, 1000)
		if len(text) != tt.want || (tt.want == 0) != errors.Is(err, errLong) {
			t.Errorf("%d bytes, %v, want %d", len(text), err, tt.want)
		}
	}
}
