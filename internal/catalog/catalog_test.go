package catalog

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"mcpx/mcp"

	"github.com/google/go-cmp/cmp"
)

func tool(t testing.TB, raw string) *mcp.Tool {
	t.Helper()
	d, err := mcp.DecodeTool(mcp.Raw(raw))
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func entry(t testing.TB, fingerprint string, tools ...string) *Entry {
	t.Helper()
	e := &Entry{Fingerprint: fingerprint, Server: "s", Fetched: time.Unix(1_700_000_000, 0).UTC()}
	for _, name := range tools {
		e.Tools = append(e.Tools, tool(t, `{"name":"`+name+`","x-own":1e400,"inputSchema":{"type":"object"}}`))
	}
	return e
}

func TestEntriesOutliveTheProcess(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "state", "catalog")
	e := entry(t, "abc", "echo", "open")
	e.Instructions, e.ServerInfo, e.Warnings = "be kind", mcp.Raw(`{"name":"s"}`), []string{"w"}
	if err := Open(dir).Put(e); err != nil {
		t.Fatal(err)
	}
	got, ok := Open(dir).Get("abc")
	if !ok {
		t.Fatal("the entry is gone")
	}
	want := *e
	want.Format = Format
	if diff := cmp.Diff(&want, got); diff != "" {
		t.Errorf("Get (-want +got):\n%s", diff)
	}
	if names := got.Names(); !cmp.Equal(names, []string{"echo", "open"}) {
		t.Errorf("Names = %q", names)
	}
	if got.Tool("open") == nil || got.Tool("none") != nil {
		t.Errorf("Tool finds %v and %v", got.Tool("open"), got.Tool("none"))
	}
	if e.Format != 0 {
		t.Error("Put changed the entry of its caller")
	}
}

func TestGetSeesWhatAnotherProcessPut(t *testing.T) {
	t.Parallel()
	synctest.Test(t, testGetSeesWhatAnotherProcessPut)
}

func testGetSeesWhatAnotherProcessPut(t *testing.T) {
	dir := t.TempDir()
	one, other := Open(dir), Open(dir)
	if err := one.Put(entry(t, "abc", "first")); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if e, ok := one.Get("abc"); !ok || e.Names()[0] != "first" {
			t.Fatalf("Get = %v, %v", e, ok)
		}
	}
	kept, _ := one.Get("abc")
	if again, _ := one.Get("abc"); again != kept {
		t.Error("an entry that did not change was read again")
	}
	if err := other.Put(entry(t, "abc", "other")); err != nil {
		t.Fatal(err)
	}
	if e, ok := one.Get("abc"); !ok || e.Names()[0] != "first" {
		t.Errorf("Get = %v, %v: the file was looked at again at once", e.Names(), ok)
	}
	time.Sleep(glance)
	if e, ok := one.Get("abc"); !ok || e.Names()[0] != "other" {
		t.Errorf("Get = %v, %v, want what the other put", e.Names(), ok)
	}
}

func TestWhatCannotBeReadIsNoEntry(t *testing.T) {
	t.Parallel()
	whole, err := json.Marshal(&Entry{Format: Format, Fingerprint: "abc", Tools: []*mcp.Tool{tool(t, `{"name":"x"}`)}})
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string]string{
		"empty":               "",
		"half":                string(whole[:len(whole)/2]),
		"not JSON":            "\x00\x01",
		"a later format":      strings.Replace(string(whole), `"format":1`, `"format":2`, 1),
		"no format":           strings.Replace(string(whole), `"format":1,`, ``, 1),
		"another fingerprint": strings.Replace(string(whole), `abc`, `abd`, 1),
		"a tool without name": strings.Replace(string(whole), `"name":"x"`, `"title":"x"`, 1),
		"null":                "null",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, "abc.json"), []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
			c := Open(dir)
			if e, ok := c.Get("abc"); ok {
				t.Errorf("Get = %+v", e)
			}
			if err := c.Put(entry(t, "abc", "new")); err != nil {
				t.Fatal(err)
			}
			if e, ok := Open(dir).Get("abc"); !ok || e.Names()[0] != "new" {
				t.Errorf("after Put: Get = %v, %v", e, ok)
			}
		})
	}
}

func TestADirectoryThatCannotBeWritten(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	c := Open(filepath.Join(file, "catalog")) // below a file there are no directories
	if err := c.Put(entry(t, "abc", "echo")); err == nil {
		t.Error("Put wrote below a file")
	}
	if e, ok := c.Get("abc"); !ok || e.Names()[0] != "echo" {
		t.Errorf("Get = %v, %v, want what this process put", e, ok)
	}
}

func TestACatalogWithoutADirectory(t *testing.T) {
	t.Parallel()
	c := Open("")
	if _, ok := c.Get("abc"); ok {
		t.Error("Get found what nobody put")
	}
	if err := c.Put(entry(t, "abc", "echo")); err != nil {
		t.Fatal(err)
	}
	if e, ok := c.Get("abc"); !ok || e.Names()[0] != "echo" {
		t.Errorf("Get = %v, %v", e, ok)
	}
}

func TestFingerprintsAreNoPaths(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	c := Open(filepath.Join(dir, "catalog"))
	for _, fingerprint := range []string{"../up", "a/b", "", ".", strings.Repeat("a", 300), "a\x00b"} {
		if err := c.Put(entry(t, fingerprint, "echo")); err != nil {
			t.Errorf("Put(%q): %v", fingerprint, err)
		}
		if _, ok := c.Get(fingerprint); !ok {
			t.Errorf("Get(%q) finds nothing", fingerprint)
		}
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 0 {
		t.Errorf("the directory holds %v, %v", entries, err)
	}
}

func TestEntriesOfOldDefinitionsAreRemoved(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	c := Open(dir)
	for _, fingerprint := range []string{"old", "used", "recent"} {
		if err := c.Put(entry(t, fingerprint, "echo")); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := c.Note("old", entry(t, "old", "echo")); err != nil {
		t.Fatal(err)
	}
	for name, age := range map[string]time.Duration{"old.json": forgotten + time.Hour, "used.json": forgotten + time.Hour, "recent.json": forgotten - time.Hour, "history/old.json": 2 * forgotten} {
		when := time.Now().Add(-age)
		if err := os.Chtimes(filepath.Join(dir, name), when, when); err != nil {
			t.Fatal(err)
		}
	}
	for _, fingerprint := range []string{"used", "new"} {
		if err := Open(dir).Put(entry(t, fingerprint, "echo")); err != nil {
			t.Fatal(err)
		}
	}
	for fingerprint, want := range map[string]bool{"old": false, "used": true, "recent": true, "new": true} {
		if _, ok := Open(dir).Get(fingerprint); ok != want {
			t.Errorf("Get(%s) = %v, want %v", fingerprint, ok, want)
		}
	}
	if _, ok := Open(dir).History("old"); !ok {
		t.Error("a history was removed")
	}
}

func TestManyCatalogsInOneDirectory(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var group sync.WaitGroup
	for i := range 8 {
		group.Go(func() {
			c := Open(dir)
			for j := range 20 {
				if err := c.Put(entry(t, "shared", fmt.Sprintf("t%d_%d", i, j))); err != nil {
					t.Error(err)
				}
				if e, ok := c.Get("shared"); !ok || len(e.Tools) != 1 {
					t.Errorf("Get = %v, %v", e, ok)
				}
			}
		})
	}
	group.Wait()
	if files, err := os.ReadDir(dir); err != nil || len(files) != 1 {
		t.Errorf("the directory holds %v, %v", files, err)
	}
}
