package cli

import (
	"encoding/json"
	"strings"
	"testing"

	"mcpx/internal/api"
)

func TestCatalog(t *testing.T) {
	t.Parallel()
	d := &desk{}
	drive(t, d, "catalog", "--bias", "say hello", "--refresh").want(t, 0, "2 tools in 1 namespace.\n\ndemo: 1 of 2 tools\n"+
		"  // Words of the server, more of them than a narrow terminal holds.\n  echo({ message: string; times?: number; loudly?: boolean })\n", "")
	if d.overview != (api.CatalogInput{Bias: "say hello", Refresh: true}) {
		t.Errorf("asked %+v", d.overview)
	}
	driveIn(t, &desk{}, Program{Terminal: Terminal{Stdout: true, Columns: 40}}, "catalog").want(t, 0, "2 tools in 1 namespace.\n\ndemo: 1 of 2 tools\n"+
		"  // Words of the server, more of them\n      than a narrow terminal holds.\n  echo({ message: string; times?:\n      number; loudly?: boolean })\n", "")
	s := drive(t, &desk{}, "catalog", "--json")
	var out api.CatalogOutput
	if err := json.Unmarshal(s.stdout.Bytes(), &out); err != nil || out.Shown != 1 || out.Namespaces[0].Shown[0].Name != "echo" {
		t.Errorf("%v: %s", err, s.stdout.String())
	}
	drive(t, &desk{}, "catalog", "histroy").want(t, 2, "", "mcpx: catalog: unknown word \"histroy\"\n  did you mean \"mcpx catalog history\"? usage: mcpx catalog [flags]\n")
	if s := drive(t, &desk{}, "catalog", "--budget", "none"); s.code != 2 || !strings.Contains(s.stderr.String(), "whole number") {
		t.Errorf("exit %d, %s", s.code, s.stderr.String())
	}
}

func TestCatalogHistory(t *testing.T) {
	t.Parallel()
	d := &desk{}
	s := drive(t, d, "catalog", "history")
	golden(t, "history.txt", s.stdout.String())
	if d.changes.Name != "" {
		t.Errorf("asked %+v", d.changes)
	}
	s = drive(t, d, "catalog", "history", "demo.echo", "--json")
	var out api.ChangesOutput
	if err := json.Unmarshal(s.stdout.Bytes(), &out); err != nil || len(out.Servers) != 3 || d.changes.Name != "demo.echo" {
		t.Errorf("%v: asked %+v, %s", err, d.changes, s.stdout.String())
	}
	if s := drive(t, d, "catalog", "history", ".x"); s.code != 2 {
		t.Errorf("exit %d", s.code)
	}
}

func TestFolded(t *testing.T) {
	t.Parallel()
	long := "  one two three four five six seven " + strings.Repeat("x", 50) + " eight"
	for columns := range 100 {
		p := page{columns: columns}
		p.folded(long)
		if got := strings.Join(strings.Fields(p.String()), " "); got != strings.TrimSpace(long) {
			t.Fatalf("%d columns: %q", columns, got)
		}
		for line := range strings.Lines(p.String()) {
			if columns >= 22 && cells(strings.TrimSuffix(line, "\n")) > max(columns, 56) {
				t.Errorf("%d columns: a line of %d: %q", columns, cells(line), line)
			}
		}
	}
}
