package artifact

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"mcpx/internal/fault"
)

func TestWhatIsPutIsThere(t *testing.T) {
	t.Parallel()
	s := Store{Dir: filepath.Join(t.TempDir(), "artifacts")}
	if list, err := s.List(t.Context()); len(list) != 0 || err != nil {
		t.Errorf("before there are any: %v, %v", list, err)
	}
	if _, err := os.Stat(s.Dir); err == nil {
		t.Error("a look at nothing has made the folder")
	}
	for _, test := range []struct{ name, kind, data, mime string }{
		{"a.csv", "", "a,b", "text/csv; charset=utf-8"},
		{"a.csv", "text/plain", "a,b", "text/plain"},
		{"x", "no type", "\x89PNG\r\n\x1a\n", "image/png"},
		{"empty", "", "", "text/plain; charset=utf-8"},
	} {
		a, err := s.Put(t.Context(), test.name, test.kind, []byte(test.data))
		if err != nil {
			t.Fatal(err)
		}
		known, f, err := s.Open(t.Context(), a.ID)
		if err != nil || known != a {
			t.Fatalf("%+v is known as %+v, %v", a, known, err)
		}
		got, err := io.ReadAll(f)
		f.Close()
		if err != nil || string(got) != test.data || a.MIME != test.mime || a.Size != int64(len(test.data)) || a.Name != Clean(test.name) {
			t.Errorf("%+v became %+v with %q, %v", test, a, got, err)
		}
		if strings.Contains(a.URI(), s.Dir) || strings.Contains(a.URI(), a.SHA256) || len(a.ID) < 26 {
			t.Errorf("the URI %s tells where it is, or can be guessed", a.URI())
		}
	}
	if list, err := s.List(t.Context()); len(list) != 4 || err != nil {
		t.Errorf("there are %v, %v, want four", list, err)
	}
	for _, id := range []string{"", "x", "../index.db"} {
		if _, err := s.Get(t.Context(), id); !errors.Is(err, ErrNone) || fault.KindOf(err) != fault.NotFound {
			t.Errorf("Get(%q): %v", id, err)
		}
	}
}

// Two registrations share their bytes, which go with the last of them.
func TestBytesAreKeptOnce(t *testing.T) {
	t.Parallel()
	s := Store{Dir: filepath.Join(t.TempDir(), "a"), Quota: 15}
	var all []Artifact
	for range 3 {
		a, err := s.Put(t.Context(), "x", "", []byte("0123456789"))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, a)
	}
	if all[0].ID == all[1].ID || all[0].Path != all[1].Path {
		t.Errorf("there are %+v", all)
	}
	for i, a := range all {
		if _, err := s.Delete(t.Context(), a.ID); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Delete(t.Context(), a.ID); !errors.Is(err, ErrNone) {
			t.Errorf("once more: %v", err)
		}
		if _, err := os.Stat(a.Path); (err == nil) != (i < 2) {
			t.Errorf("after %d of 3 are gone the bytes: %v", i+1, err)
		}
	}
	if n := files(t, s); n != 0 {
		t.Errorf("%d files are left", n)
	}
}

// files counts those that hold bytes.
func files(t *testing.T, s Store) int {
	t.Helper()
	n := 0
	for _, dir := range []string{blobs, making} {
		entries, err := os.ReadDir(filepath.Join(s.Dir, dir))
		if err != nil {
			t.Fatal(err)
		}
		n += len(entries)
	}
	return n
}

func TestBoundsAreKept(t *testing.T) {
	t.Parallel()
	s := Store{Dir: filepath.Join(t.TempDir(), "a"), Max: 10, Quota: 15}
	put := func(fill string, n int) error {
		_, err := s.Put(t.Context(), "x", "", bytes.Repeat([]byte(fill), n))
		return err
	}
	if err := put("x", 11); fault.KindOf(err) != fault.Limit {
		t.Errorf("more than one may have: %v", err)
	}
	if err := put("x", 10); err != nil {
		t.Error(err)
	}
	if err := put("x", 10); err != nil {
		t.Errorf("the same bytes count twice: %v", err)
	}
	if err := put("y", 6); fault.KindOf(err) != fault.Limit {
		t.Errorf("more than all may have: %v", err)
	}
	if n := files(t, s); n != 1 {
		t.Errorf("%d files are there, want the one that was kept", n)
	}
	if _, err := (Store{}).Put(t.Context(), "x", "", nil); fault.KindOf(err) != fault.Unavailable {
		t.Errorf("without a folder: %v", err)
	}
	if err := (Store{}).Sweep(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestWhatIsPastItsTimeGoes(t *testing.T) {
	t.Parallel()
	s := Store{Dir: filepath.Join(t.TempDir(), "a"), Quota: 15, TTL: time.Millisecond}
	brief, err := s.Put(t.Context(), "x", "", []byte("0123456789"))
	if err != nil {
		t.Fatal(err)
	}
	for { // its time is a moment
		if _, err := s.Get(t.Context(), brief.ID); errors.Is(err, ErrNone) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
	// What writers have left goes too, after a while; what is being written stays.
	s.TTL = 0
	now, err := s.New("x")
	if err != nil {
		t.Fatal(err)
	}
	defer now.Discard()
	old := time.Now().Add(-2 * abandoned)
	for _, name := range []string{filepath.Join(making, "left.part"), filepath.Join(blobs, strings.Repeat("0", 64))} {
		path := filepath.Join(s.Dir, name)
		if err := os.WriteFile(path, nil, 0o400); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, old, old); err != nil {
			t.Fatal(err)
		}
	}
	forget(t, s)
	lasting, err := s.Put(t.Context(), "y", "", []byte("abcdefghij"))
	if err != nil {
		t.Fatalf("what is past its time takes room: %v", err)
	}
	if n := files(t, s); n != 2 {
		t.Errorf("%d files are there, want the last one and the one that is being written", n)
	}
	if list, err := s.List(t.Context()); len(list) != 1 || list[0] != lasting || err != nil {
		t.Errorf("there are %v, %v", list, err)
	}
}

// forget has the next sweep look for files that no row knows.
func forget(t *testing.T, s Store) {
	t.Helper()
	err := s.change(t.Context(), func(tx *sql.Tx) error {
		_, err := tx.ExecContext(t.Context(), "UPDATE swept SET at = 0")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestADamagedIndexSaysSo(t *testing.T) {
	t.Parallel()
	s := Store{Dir: t.TempDir()}
	if err := os.WriteFile(filepath.Join(s.Dir, indexFile), bytes.Repeat([]byte("no database"), 1000), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := s.List(t.Context())
	e := fault.From(err)
	if e.Kind != fault.Unavailable || !strings.Contains(e.Message, indexFile) || !strings.Contains(e.Hint, "remove it") {
		t.Errorf("%v, hint %q", err, e.Hint)
	}
}

func TestManyWriteAtOnce(t *testing.T) {
	t.Parallel()
	s := Store{Dir: filepath.Join(t.TempDir(), "a")}
	var writing sync.WaitGroup
	const writers, each = 8, 5
	for i := range writers {
		writing.Go(func() {
			for n := range each {
				a, err := s.Put(t.Context(), "x", "", fmt.Appendf(nil, "%d", (i+n)%3))
				if err != nil {
					t.Error(err)
					return
				}
				if n%2 == 0 {
					if _, err := s.Delete(t.Context(), a.ID); err != nil {
						t.Error(err)
					}
				}
			}
		})
	}
	writing.Wait()
	whole(t, s, writers*2)
}

// whole checks that everything in the list is as it was kept, and returns how many there are.
func whole(t *testing.T, s Store, want int) int {
	t.Helper()
	list, err := s.List(context.WithoutCancel(t.Context()))
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, a := range list {
		if seen[a.SHA256] {
			continue
		}
		seen[a.SHA256] = true
		data, err := os.ReadFile(a.Path)
		sum := sha256.Sum256(data)
		if err != nil || hex.EncodeToString(sum[:]) != a.SHA256 || int64(len(data)) != a.Size {
			t.Fatalf("%+v has %d bytes, %v", a, len(data), err)
		}
	}
	if want >= 0 && len(list) != want {
		t.Errorf("there are %d, want %d", len(list), want)
	}
	return len(list)
}

// A writer that is killed, whenever that is and whichever way it writes, leaves nothing that
// looks whole and is not.
func TestKilledWritersLeaveNothingThatLooksWhole(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "a")
	s := Store{Dir: dir}
	told := 0
	for i := range 100 {
		c := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestWritesUntilItIsKilled$")
		c.Env = append(os.Environ(), writerIn+"="+dir, writerWay+"="+slices.Sorted(maps.Keys(ways))[i/3%len(ways)])
		out, err := c.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewReader(out)
		for range 1 + i%3 { // the first says that it begins
			if _, err := lines.ReadString('\n'); err != nil {
				t.Fatal(err)
			}
		}
		told += i % 3
		time.Sleep(rand.N(4 * time.Millisecond)) // somewhere in the middle; it makes no difference where
		if err := c.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = c.Wait() // it was killed
	}
	if n := whole(t, s, -1); n < told {
		t.Errorf("%d are kept, and %d were said to be", n, told)
	}
	// What they have left goes when its time has come.
	left, err := os.ReadDir(filepath.Join(dir, making))
	if err != nil {
		t.Fatal(err)
	}
	old := time.Now().Add(-2 * abandoned)
	for _, e := range left {
		if err := os.Chtimes(filepath.Join(dir, making, e.Name()), old, old); err != nil {
			t.Fatal(err)
		}
	}
	forget(t, s)
	if err := s.Sweep(t.Context()); err != nil {
		t.Fatal(err)
	}
	shas := map[string]bool{}
	list, err := s.List(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range list {
		shas[a.SHA256] = true
	}
	if n := files(t, s); n != len(shas) {
		t.Errorf("%d files are there for %d different bytes", n, len(shas))
	}
}

// writerIn is the folder of a process that is to write until it is killed, and writerWay the
// way.
const (
	writerIn  = "MCPX_TEST_WRITER"
	writerWay = "MCPX_TEST_WRITER_WAY"
)

// ways are those in which something is kept.
var ways = map[string]func(ctx context.Context, s Store, data []byte) error{
	"bytes": func(ctx context.Context, s Store, data []byte) error {
		_, err := s.Put(ctx, "x", "", data)
		return err
	},
	"a reader": func(ctx context.Context, s Store, data []byte) error {
		_, err := s.PutFrom(ctx, "x", "", bytes.NewReader(data))
		return err
	},
	"a draft": func(ctx context.Context, s Store, data []byte) error {
		d, err := s.New("x")
		if err != nil {
			return err
		}
		defer d.Discard()
		for chunk := range slices.Chunk(data, 4<<10) {
			if _, err := d.Write(chunk); err != nil {
				return err
			}
		}
		_, err = d.Keep(ctx, "")
		return err
	},
}

func TestWritesUntilItIsKilled(t *testing.T) {
	t.Parallel()
	dir := os.Getenv(writerIn)
	if dir == "" {
		t.Skip("this is what another test starts")
	}
	s, keep := Store{Dir: dir}, ways[os.Getenv(writerWay)]
	fmt.Println("begins")
	data := make([]byte, 64<<10)
	for i := 0; ; i++ {
		copy(data, fmt.Sprintf("%d %d", os.Getpid(), i))
		if err := keep(t.Context(), s, data); err != nil {
			t.Fatal(err)
		}
		fmt.Println("kept")
	}
}
