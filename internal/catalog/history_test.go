package catalog

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"mcpx/internal/schema"
	"mcpx/mcp"

	"github.com/google/go-cmp/cmp"
)

// listed is an entry of a server whose tools have these texts.
func listed(t testing.TB, fingerprint string, day int, tools ...string) *Entry {
	t.Helper()
	e := &Entry{Fingerprint: fingerprint, Server: "s", Fetched: time.Date(2026, 11, day, 12, 0, 0, 0, time.UTC)}
	for _, raw := range tools {
		e.Tools = append(e.Tools, tool(t, raw))
	}
	return e
}

const (
	readV1  = `{"name":"read","description":"Read","inputSchema":{"type":"object","properties":{"path":{"type":"string"},"lines":{"type":"integer"}},"required":["path"]}}`
	readV2  = `{"name":"read","description":"Read","inputSchema":{"type":"object","properties":{"path":{"type":"array","items":{"type":"string"}},"encoding":{"type":"string"}},"required":["path","encoding"]}}`
	writeV1 = `{"name":"write","description":"Write","annotations":{"destructiveHint":true}}`
)

// note does what a gateway does with a listing.
func note(t *testing.T, c *Catalog, e *Entry) []Change {
	t.Helper()
	changes, err := c.Note("id", e)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Put(e); err != nil {
		t.Fatal(err)
	}
	return changes
}

func TestAChangedServerIsNoted(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "catalog")
	if got := note(t, Open(dir), listed(t, "one", 1, readV1, writeV1)); got != nil {
		t.Errorf("the first listing changed %v", got)
	}
	if got := note(t, Open(dir), listed(t, "one", 2, writeV1, readV1)); got != nil {
		t.Errorf("another order changed %v", got)
	}
	// The command that starts it has changed, and with it the fingerprint.
	got := note(t, Open(dir), listed(t, "two", 3, readV2, `{"name":"list"}`))
	when := time.Date(2026, 11, 3, 12, 0, 0, 0, time.UTC)
	want := []Change{
		{When: when, Tool: "list", Kind: ToolAdded},
		{
			When: when, Tool: "read", Kind: ToolChanged, Arguments: []schema.Difference{
				{Kind: schema.Retyped, Field: "path", Before: "string", After: "string[]"},
				{Kind: schema.Removed, Field: "lines", Before: "number"},
				{Kind: schema.Required, Field: "encoding", After: "string"},
			},
			Was: mcp.Raw(`{"type":"object","properties":{"path":{"type":"string"},"lines":{"type":"integer"}},"required":["path"]}`),
		},
		{When: when, Tool: "write", Kind: ToolRemoved},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Note (-want +got):\n%s", diff)
	}
	// The same listing again is no news, and words alone are some.
	if got := note(t, Open(dir), listed(t, "two", 4, readV2, `{"name":"list"}`)); got != nil {
		t.Errorf("the same listing changed %v", got)
	}
	got = note(t, Open(dir), listed(t, "two", 5, readV2, `{"name":"list","description":"Lists"}`))
	if len(got) != 1 || !got[0].Reworded || got[0].Arguments != nil {
		t.Errorf("a description changed %+v", got)
	}
	h, ok := Open(dir).History("id")
	if !ok || len(h.Changes) != 4 || h.Server != "s" || h.Fingerprint != "two" || h.Since.Day() != 1 {
		t.Fatalf("History = %+v, %v", h, ok)
	}
	if diff := cmp.Diff(want, h.Changes[:3]); diff != "" {
		t.Errorf("History (-want +got):\n%s", diff)
	}
	if _, ok := Open(dir).History("other"); ok {
		t.Error("another server has the history of this one")
	}
}

func TestSpaceAndEscapesAreNoChange(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	note(t, Open(dir), listed(t, "one", 1, `{"name":"a","annotations":{"title": "x"},"inputSchema":{"type":"object","properties":{"p":{"type":"string","description":"<b>"}}}}`))
	if got := note(t, Open(dir), listed(t, "one", 2, `{"name":"a","annotations":{ "title":"x" },"inputSchema":{ "properties":{"p":{"description":"\u003cb>","type":"string"}},"type":"object"}}`)); got != nil {
		t.Errorf("changed %+v", got)
	}
}

func TestAHistoryIsBounded(t *testing.T) {
	t.Parallel()
	c := Open(t.TempDir())
	for i := range 40 {
		var tools []string
		for j := range 20 {
			tools = append(tools, fmt.Sprintf(`{"name":"t%d_%d"}`, i, j))
		}
		note(t, c, listed(t, "one", 1, tools...))
	}
	h, ok := c.History("id")
	if !ok || len(h.Changes) != maxChanges || h.Changes[maxChanges-1].Tool != "t39_9" {
		t.Errorf("%d changes, %v", len(h.Changes), ok)
	}
}

func TestADamagedHistoryCountsAsNone(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, content := range []string{"", "{", `{"format":2}`, "null", "\x00"} {
		if err := os.MkdirAll(filepath.Join(dir, "history"), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "history", "id.json"), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if h, ok := Open(dir).History("id"); ok {
			t.Errorf("%q: History = %+v", content, h)
		}
		if got := note(t, Open(dir), listed(t, "one", 1, readV1)); got != nil {
			t.Errorf("%q: changed %v", content, got)
		}
		if _, ok := Open(dir).History("id"); !ok {
			t.Errorf("%q: no history after Note", content)
		}
	}
}

func TestAHistoryWithoutADirectory(t *testing.T) {
	t.Parallel()
	c := Open("")
	note(t, c, listed(t, "one", 1, readV1))
	if got := note(t, c, listed(t, "one", 2, readV2)); len(got) != 1 {
		t.Errorf("changed %v", got)
	}
	if h, ok := c.History("id"); !ok || len(h.Changes) != 1 {
		t.Errorf("History = %+v, %v", h, ok)
	}
}

func TestManyProcessesNoteOneServer(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	note(t, Open(dir), listed(t, "one", 1, readV1))
	var group sync.WaitGroup
	for i := range 8 {
		group.Go(func() {
			c := Open(dir)
			if _, err := c.Note("id", listed(t, fmt.Sprintf("f%d", i), 2, readV2)); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	h, ok := Open(dir).History("id")
	if !ok || len(h.Changes) == 0 || h.Changes[0].Kind != ToolChanged {
		t.Errorf("History = %+v, %v", h, ok)
	}
}
