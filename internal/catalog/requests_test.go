package catalog

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mcpx/mcp"
)

// servers reads the lists of tools below testdata/servers: what real servers answered,
// and lists made by hand in the shape of others.
func servers(t testing.TB) []Doc {
	t.Helper()
	files, err := filepath.Glob("testdata/servers/*.json")
	if err != nil {
		t.Fatal(err)
	}
	var docs []Doc
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var s struct {
			Server string      `json:"server"`
			Tools  []*mcp.Tool `json:"tools"`
		}
		if err := json.Unmarshal(text, &s); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		for _, tool := range s.Tools {
			docs = append(docs, Doc{Namespace: s.Server, Tool: tool})
		}
	}
	return docs
}

// request is a line of testdata/requests.txt.
type request struct {
	words string
	want  []string // any of these
}

func requests(t testing.TB, file string, docs []Doc) []request {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{}
	for _, d := range docs {
		known[d.Namespace+"."+d.Tool.Name] = true
	}
	var out []request
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
			continue
		}
		words, want, ok := strings.Cut(line, "=")
		r := request{words: strings.TrimSpace(words)}
		for name := range strings.SplitSeq(want, "|") {
			r.want = append(r.want, strings.TrimSpace(name))
		}
		for _, name := range r.want {
			if !ok || !known[name] {
				t.Fatalf("%s: %q wants %q, which is no tool", file, words, name)
			}
		}
		out = append(out, r)
	}
	return out
}

// TestRequests holds how well search answers: the wanted tool comes first for four
// requests of five, and among the first three for nineteen of twenty.
func TestRequests(t *testing.T) {
	t.Parallel()
	docs := servers(t)
	if len(docs) < 300 {
		t.Fatalf("%d tools, want at least 300", len(docs))
	}
	ix := NewIndex(docs)
	for _, file := range []string{"requests.txt", "requests-unseen.txt"} {
		t.Run(file, func(t *testing.T) {
			t.Parallel()
			all := requests(t, filepath.Join("testdata", file), docs)
			if len(all) < 50 {
				t.Fatalf("%d requests, want at least 50", len(all))
			}
			first, third := 0, 0
			for _, r := range all {
				hits := ix.Search(r.words, 3)
				at := slices.IndexFunc(hits, func(h Hit) bool { return slices.Contains(r.want, h.Namespace+"."+h.Tool.Name) })
				if at == 0 {
					first++
				} else {
					var got []string
					for _, h := range hits {
						got = append(got, h.Namespace+"."+h.Tool.Name)
					}
					t.Logf("%q wants %s, got %s", r.words, strings.Join(r.want, " or "), strings.Join(got, ", "))
				}
				if at >= 0 {
					third++
				}
			}
			t.Logf("first for %d, among three for %d of %d requests", first, third, len(all))
			if first*100 < 80*len(all) {
				t.Errorf("the wanted tool is first for %d of %d requests, want 80 %%", first, len(all))
			}
			if third*100 < 95*len(all) {
				t.Errorf("the wanted tool is among the first three for %d of %d requests, want 95 %%", third, len(all))
			}
		})
	}
}
