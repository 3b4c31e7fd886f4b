package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mcpx/internal/fault"
	"mcpx/internal/sandbox"
)

func TestABuildReplacesOnlyProgramsOfMcpx(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "precious")
	const notes = "my notes\n"
	if err := os.WriteFile(file, []byte(notes), 0o600); err != nil {
		t.Fatal(err)
	}
	err := writeProgram(file, []byte("program"), 0o755)
	if e := fault.From(err); e == nil || e.Kind != fault.Usage || !strings.Contains(e.Message, "is no program of mcpx") || !strings.Contains(e.Hint, "-o") {
		t.Errorf("over a text: %v", err)
	}
	if got, err := os.ReadFile(file); err != nil || string(got) != notes {
		t.Errorf("the text is now %q, %v", got, err)
	}

	self, err := sandbox.Program()
	if err != nil {
		t.Fatal(err)
	}
	program, err := os.ReadFile(self)
	if err != nil {
		t.Fatal(err)
	}
	for name, before := range map[string][]byte{"empty": nil, "mcpx": program} {
		file := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(file, before, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := writeProgram(file, []byte("program"), 0o755); err != nil {
			t.Errorf("over what is %s: %v", name, err)
		}
		if got, err := os.ReadFile(file); err != nil || string(got) != "program" {
			t.Errorf("over what is %s: %d bytes, %v", name, len(got), err)
		}
	}
}
