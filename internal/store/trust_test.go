package store

import (
	"os"
	"path/filepath"
	"testing"

	"mcpx/internal/fault"
)

func TestTrustIsInAFileAsItWas(t *testing.T) {
	t.Parallel()
	state, project := t.TempDir(), t.TempDir()
	file := filepath.Join(project, ".mcpx.json")
	if err := os.WriteFile(file, []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(project, link); err != nil {
		t.Skip(err)
	}
	if OpenTrust(state).Trusted(file, []byte("{}")) {
		t.Error("a file is trusted that nobody vouched for")
	}
	if err := OpenTrust(state).Add(map[string][]byte{filepath.Join(link, ".mcpx.json"): []byte("{}")}); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		path, text string
		want       bool
	}{
		{file, "{}", true},
		{filepath.Join(link, ".mcpx.json"), "{}", true},
		{file, "{ }", false}, // it was changed
		{filepath.Join(project, ".mcp.json"), "{}", false},
	} {
		if got := OpenTrust(state).Trusted(test.path, []byte(test.text)); got != test.want {
			t.Errorf("Trusted(%s, %q) = %v, want %v", test.path, test.text, got, test.want)
		}
	}
	if err := OpenTrust(state).Remove([]string{file}); err != nil {
		t.Fatal(err)
	}
	if OpenTrust(state).Trusted(file, []byte("{}")) {
		t.Error("a file is trusted after that was taken back")
	}
}

func TestALinkToATrustedFileIsNotTrusted(t *testing.T) {
	t.Parallel()
	state, mine, theirs := t.TempDir(), t.TempDir(), t.TempDir()
	file, link := filepath.Join(mine, ".mcpx.json"), filepath.Join(theirs, ".mcpx.json")
	if err := os.WriteFile(file, []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(file, link); err != nil {
		t.Skip(err)
	}
	if err := OpenTrust(state).Add(map[string][]byte{file: []byte("{}")}); err != nil {
		t.Fatal(err)
	}
	if OpenTrust(state).Trusted(link, []byte("{}")) {
		t.Error("a file's text is trusted in another folder, where its paths lead elsewhere")
	}
	if err := OpenTrust(state).Add(map[string][]byte{link: []byte("{}")}); err != nil {
		t.Fatal(err)
	}
	if tr := OpenTrust(state); !tr.Trusted(link, []byte("{}")) || !tr.Trusted(file, []byte("{}")) {
		t.Error("what was vouched for is not trusted")
	}
}

func TestADamagedListTrustsNothingAndIsNotOverwritten(t *testing.T) {
	t.Parallel()
	state := t.TempDir()
	list := filepath.Join(state, "trust.json")
	if err := os.WriteFile(list, []byte(`{"files":`), 0o600); err != nil {
		t.Fatal(err)
	}
	tr := OpenTrust(state)
	if tr.Trusted("/x", nil) {
		t.Error("a damaged list vouches for a file")
	}
	if err := tr.Add(map[string][]byte{"/x": nil}); fault.KindOf(err) != fault.Unavailable {
		t.Errorf("Add() = %v, want an error of kind unavailable", err)
	}
	if text, err := os.ReadFile(list); err != nil || string(text) != `{"files":` {
		t.Errorf("the list is now %q, %v", text, err)
	}
	if err := OpenTrust("").Add(nil); fault.KindOf(err) != fault.Unavailable {
		t.Errorf("without a state directory Add() = %v, want an error of kind unavailable", err)
	}
}
