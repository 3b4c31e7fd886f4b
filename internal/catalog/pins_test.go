package catalog

import (
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"mcpx/mcp"
)

// offering is an entry with tools.
func offering(t *testing.T, fingerprint string, tools ...string) *Entry {
	t.Helper()
	e := &Entry{Fingerprint: fingerprint, Server: "s", Fetched: time.Now().UTC()}
	if err := json.Unmarshal([]byte("["+strings.Join(tools, ",")+"]"), &e.Tools); err != nil {
		t.Fatal(err)
	}
	return e
}

func TestTheShapeOfAToolIsWhatItSays(t *testing.T) {
	t.Parallel()
	shape := func(text string) string {
		tool, err := mcp.DecodeTool(mcp.Raw(text))
		if err != nil {
			t.Fatal(err)
		}
		return Shape(tool)
	}
	const as = `{"name":"a","description":"d","inputSchema":{"type":"object","properties":{"x":{"type":"string"}}},"annotations":{"readOnlyHint":true}}`
	for _, same := range []string{
		`{"annotations": {"readOnlyHint": true}, "inputSchema": {"properties": {"x": {"type": "string"}}, "type": "object"}, "description": "d", "name": "a"}`,
		`{"name":"a","description":"d","inputSchema":{"type":"object","properties":{"x":{"type":"string"}}},"annotations":{"readOnlyHint":true},"_meta":{"n":1}}`,
	} {
		if shape(same) != shape(as) {
			t.Errorf("%s has another shape", same)
		}
	}
	for _, other := range []string{
		strings.Replace(as, `"d"`, `"e"`, 1),
		strings.Replace(as, `"string"`, `"number"`, 1),
		strings.Replace(as, `true`, `false`, 1),
		strings.Replace(as, `"x"`, `"y"`, 1),
		strings.Replace(as, `"description":"d",`, `"title":"d",`, 1),
	} {
		if shape(other) == shape(as) {
			t.Errorf("%s has the same shape", other)
		}
	}
}

func TestToolsArePinnedWhenTheyAreFirstSeen(t *testing.T) {
	t.Parallel()
	for _, dir := range []string{"", t.TempDir()} {
		c := Open(dir)
		pinned := func(tool string) string { pin, _ := c.Pinned("id", tool); return pin }
		note := func(e *Entry) {
			t.Helper()
			if _, err := c.Note("id", e); err != nil {
				t.Fatal(err)
			}
			if err := c.Put(e); err != nil {
				t.Fatal(err)
			}
		}
		if _, ok := c.Pinned("id", "a"); ok {
			t.Error("a tool is pinned before it was seen")
		}
		first := offering(t, "f1", `{"name":"a","description":"1"}`)
		note(first)
		pin := pinned("a")
		if pin != Shape(first.Tools[0]) {
			t.Errorf("the pin of a tool is %q", pin)
		}
		// It changes, with another command too, and one more comes.
		second := offering(t, "f2", `{"name":"a","description":"2"}`, `{"name":"b"}`)
		note(second)
		if pinned("a") != pin || pinned("b") != Shape(second.Tools[1]) {
			t.Errorf("after a change the pins are %q and %q", pinned("a"), pinned("b"))
		}
		note(offering(t, "f2")) // gone
		note(second)            // and here again
		if pinned("a") != pin {
			t.Error("a tool that was gone for a while is pinned anew")
		}
		if dir != "" { // another process
			if again, _ := Open(dir).Pinned("id", "a"); again != pin {
				t.Errorf("another process sees the pin %q", again)
			}
		}
		accepted, err := c.Accept("id", second, "a")
		if err != nil || len(accepted) != 1 || accepted[0] != "a" {
			t.Errorf("Accept = %v, %v", accepted, err)
		}
		if pinned("a") != Shape(second.Tools[0]) {
			t.Error("what was accepted is not pinned")
		}
		if accepted, err := c.Accept("id", second, ""); err != nil || len(accepted) != 0 {
			t.Errorf("Accept of what did not change = %v, %v", accepted, err)
		}
	}
}

func TestPinsOfAnotherProcessCount(t *testing.T) {
	t.Parallel()
	synctest.Test(t, testPinsOfAnotherProcessCount)
}

func testPinsOfAnotherProcessCount(t *testing.T) {
	dir := t.TempDir()
	one, other := Open(dir), Open(dir)
	was, is := offering(t, "f", `{"name":"a"}`), offering(t, "f", `{"name":"a","description":"new"}`)
	if _, err := one.Note("id", was); err != nil {
		t.Fatal(err)
	}
	if pin, _ := other.Pinned("id", "a"); pin != Shape(was.Tools[0]) {
		t.Fatalf("the pin is %q", pin)
	}
	if _, err := one.Accept("id", is, "a"); err != nil {
		t.Fatal(err)
	}
	if pin, _ := one.Pinned("id", "a"); pin != Shape(is.Tools[0]) {
		t.Error("the process that accepted it does not know at once")
	}
	time.Sleep(glance)
	if pin, _ := other.Pinned("id", "a"); pin != Shape(is.Tools[0]) {
		t.Error("a process that had read the pins does not see what another one accepted")
	}
}
