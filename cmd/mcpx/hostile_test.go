package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mcpx/internal/api"
	"mcpx/internal/daemon"
)

// stranger is a daemon on another machine that means no good.
type stranger struct {
	api.Service
	artifacts []api.Artifact
	sent      map[string][]byte // by id; without one: far more than was said
}

func (s *stranger) For(api.Caller) api.Service { return s }

// Exec says what it has kept.
func (s *stranger) Exec(context.Context, api.ExecInput) (*api.ExecOutput, error) {
	return &api.ExecOutput{RunID: "r", Artifacts: s.artifacts}, nil
}

// ServeHTTP answers as a daemon does. Of artifacts it sends what it likes.
func (s *stranger) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	id, ok := strings.CutPrefix(r.URL.Path, "/v1/artifacts/")
	switch {
	case r.URL.Path == "/daemon/hello":
		_ = json.NewEncoder(w).Encode(daemon.Greeting{Name: "stranger", Version: version})
	case ok:
		at := slices.IndexFunc(s.artifacts, func(a api.Artifact) bool { return a.ID == id })
		said, _ := json.Marshal(api.KeptArtifact{Artifact: api.Artifact{ID: id, Name: "x", Size: s.artifacts[at].Size}})
		w.Header().Set("X-Mcpx-Artifact", string(said))
		data, ok := s.sent[id]
		if !ok {
			data = bytes.Repeat([]byte("x"), 8<<20)
		}
		_, _ = w.Write(data) // who asked may have gone
	default:
		api.Handler(s, api.HandlerOptions{}).ServeHTTP(w, r)
	}
}

// keep has the daemon say that it has kept something, and returns that.
func (s *stranger) keep(name, data string) *api.Artifact {
	sum := sha256.Sum256([]byte(data))
	id := "id" + hex.EncodeToString([]byte{byte(len(s.artifacts))})
	s.sent[id] = []byte(data)
	s.artifacts = append(s.artifacts, api.Artifact{
		ID: id, Name: name, Size: int64(len(data)), SHA256: hex.EncodeToString(sum[:]), URI: "artifact://" + id, Path: "/etc/passwd",
	})
	return &s.artifacts[len(s.artifacts)-1]
}

// What a daemon elsewhere calls its artifacts, and what it sends, reaches the one folder that
// was named, under harmless names, whole or not at all; nothing there is overwritten.
func TestADaemonElsewhereWritesNowhereElse(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	out, canary := filepath.Join(h.dir, "out"), filepath.Join(h.dir, "canary")
	for _, err := range []error{
		os.MkdirAll(filepath.Join(out, "folder"), 0o700),
		os.WriteFile(canary, []byte("mine"), 0o600),
		os.WriteFile(filepath.Join(out, "there.txt"), []byte("mine"), 0o600),
		os.Symlink(canary, filepath.Join(out, "link.txt")),
		os.Symlink(filepath.Join(h.dir, "nothing"), filepath.Join(out, "dangling.txt")),
		os.Symlink(h.dir, filepath.Join(out, "up")),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	s := &stranger{sent: map[string][]byte{}}
	want := map[string]string{"there.txt": "mine"} // by name
	for _, a := range []struct{ name, as string }{
		{"../canary", "canary"},
		{"../../../../../../etc/passwd", "passwd"},
		{canary, "canary-1"},
		{`..\..\windows.ini`, "windows.ini"},
		{"up/stairs", "stairs"},
		{"up", "up-1"},
		{"folder", "folder-1"},
		{"there.txt", "there-1.txt"},
		{"link.txt", "link-1.txt"},
		{"dangling.txt", "dangling-1.txt"},
		{"CON", "_CON"},
		{"nul.txt", "_nul.txt"},
		{"COM1.log", "_COM1.log"},
		{"a:stream", "a_stream"},
		{"..", "artifact"},
		{".", "artifact-1"},
		{"", "artifact-2"},
		{"/", "artifact-3"},
		{".bashrc", "bashrc"},
		{"-rf", "rf"},
		{"a\x00b\n\x1b[31mc", "a_b___31mc"},
		{"tail.", "tail"},
		{"same", "same"},
		{"same", "same-1"},
		{"same", "same-2"},
		{strings.Repeat("long", 5000) + ".txt", strings.Repeat("long", 29) + ".txt"},
	} {
		s.keep(a.name, "data of "+a.as)
		want[a.as] = "data of " + a.as
	}
	lies := map[string]func(*api.Artifact){
		"short":    func(a *api.Artifact) { s.sent[a.ID] = []byte("ab") },
		"longer":   func(a *api.Artifact) { s.sent[a.ID] = []byte("abcd") },
		"endless":  func(a *api.Artifact) { delete(s.sent, a.ID) },
		"another":  func(a *api.Artifact) { s.sent[a.ID] = []byte("xyz") },
		"negative": func(a *api.Artifact) { a.Size = -1 },
	}
	for name, lie := range lies {
		lie(s.keep("lie-"+name, "abc"))
	}
	s.keep("huge", strings.Repeat("x", 2<<20)) // is what it was said to be, and too much
	server := httptest.NewServer(s)
	defer server.Close()
	if err := os.WriteFile(filepath.Join(h.dir, "token"), []byte("any"), 0o600); err != nil {
		t.Fatal(err)
	}
	c := h.command("exec", "--json", "--artifacts", "out", "1")
	c.Env = append(c.Env, "MCPX_ARTIFACTS_MAX_BYTES=1MiB", "MCPX_DAEMON_ENDPOINT="+server.URL, "MCPX_DAEMON_TOKEN_FILE=token")
	text, err := c.Output()
	var doc api.ExecOutput
	if err := errors.Join(err, json.Unmarshal(text, &doc)); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	got := map[string]string{}
	err = filepath.WalkDir(out, func(path string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		data, err := os.ReadFile(path)
		name, _ := filepath.Rel(out, path)
		got[name] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if !maps.Equal(got, want) {
		t.Errorf("the folder has %q\nwant %q", got, want)
	}
	if data, err := os.ReadFile(canary); err != nil || string(data) != "mine" {
		t.Errorf("outside of it: %q, %v", data, err)
	}
	if _, err := os.Lstat(filepath.Join(h.dir, "nothing")); err == nil {
		t.Error("something was made where a link leads to")
	}
	for name := range lies {
		if !slices.ContainsFunc(doc.Warnings, func(w string) bool { return strings.Contains(w, "lie-"+name+" cannot be put") }) {
			t.Errorf("nothing is said of %s: %q", name, doc.Warnings)
		}
	}
	if !slices.ContainsFunc(doc.Warnings, func(w string) bool { return strings.Contains(w, "huge") && strings.Contains(w, "artifacts.maxBytes") }) {
		t.Errorf("nothing is said of what is too large: %q", doc.Warnings)
	}
	for _, a := range doc.Artifacts {
		if a.Path != "" && filepath.Dir(a.Path) != out {
			t.Errorf("%s is said to be at %s", a.Name, a.Path)
		}
	}
	// All of them together are no more than artifacts.quota lets through.
	c = h.command("exec", "--artifacts", "few", "1")
	c.Env = append(c.Env, "MCPX_DAEMON_ENDPOINT="+server.URL, "MCPX_DAEMON_TOKEN_FILE=token", "MCPX_ARTIFACTS_QUOTA=40")
	if said, err := c.CombinedOutput(); err != nil || !bytes.Contains(said, []byte("more than artifacts.quota lets through")) {
		t.Errorf("beyond the quota: %v, %s", err, said)
	}
	few, err := os.ReadDir(filepath.Join(h.dir, "few"))
	var all int64
	for _, e := range few {
		if info, err := e.Info(); err == nil {
			all += info.Size()
		}
	}
	if err != nil || len(few) == 0 || all > 40 {
		t.Errorf("within the quota: %v of %d bytes, %v", few, all, err)
	}
	// One that is asked for by its id is no longer than it was said to be.
	for i, a := range s.artifacts {
		if a.Name != "lie-endless" && a.Name != "lie-short" {
			continue
		}
		c := h.command("artifact", "get", s.artifacts[i].ID, "-o", "one")
		c.Env = append(c.Env, "MCPX_DAEMON_ENDPOINT="+server.URL, "MCPX_DAEMON_TOKEN_FILE=token")
		if said, err := c.CombinedOutput(); err == nil || !bytes.Contains(said, []byte("reading the artifact")) {
			t.Errorf("get %s: %v, %s", a.Name, err, said)
		}
		if _, err := os.Lstat(filepath.Join(h.dir, "one")); err == nil {
			t.Errorf("get %s has left a file", a.Name)
		}
	}
}
