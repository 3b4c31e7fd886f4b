package catalog

import (
	"testing"

	"mcpx/mcp"
)

func TestWhatAServerSentComesBackByteForByte(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	texts := []string{
		`{"name":"a","description":"(x) => x < 1 && \u003c \u2028 \/   é"}`,
		"{ \"name\" : \"b\",\t\"inputSchema\": {\n \"type\" : \"object\" , \"n\": 1.0e+2 }\n}",
	}
	const info = `{"name": "<s>", "version":"1"}`
	e := &Entry{Fingerprint: "f", Server: "s", ServerInfo: mcp.Raw(info)}
	for _, text := range texts {
		tool, err := mcp.DecodeTool(mcp.Raw(text))
		if err != nil {
			t.Fatal(err)
		}
		e.Tools = append(e.Tools, tool)
	}
	if err := Open(dir).Put(e); err != nil {
		t.Fatal(err)
	}
	got, ok := Open(dir).Get("f")
	if !ok || len(got.Tools) != len(texts) || string(got.ServerInfo) != info || got.Server != "s" {
		t.Fatalf("got %+v, %v", got, ok)
	}
	for i, text := range texts {
		if string(got.Tools[i].Raw) != text {
			t.Errorf("got  %s\nwant %s", got.Tools[i].Raw, text)
		}
	}
	none := &Entry{Fingerprint: "g"}
	if err := Open(dir).Put(none); err != nil {
		t.Fatal(err)
	}
	if got, ok := Open(dir).Get("g"); !ok || len(got.Tools) != 0 {
		t.Errorf("an entry without tools: %+v, %v", got, ok)
	}
}
