//go:build unix

package grant_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mcpx/internal/fault"
	"mcpx/internal/grant"
)

func openPrograms(t *testing.T, allow, deny string) *grant.Programs {
	t.Helper()
	p, err := grant.OpenPrograms(grant.Words{Allow: strings.Fields(allow), Deny: strings.Fields(deny)})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestProgramsAreGrantedByTheirPaths(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, name := range []string{"echo", "tool", "sub/tool", "plain"} {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte("#!/bin/sh\n"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for from, to := range map[string]string{"echo": "lookalike", "tool": "link"} {
		if err := os.Symlink(filepath.Join(dir, from), filepath.Join(dir, to)); err != nil {
			t.Fatal(err)
		}
	}
	in := func(s string) string { return strings.ReplaceAll(s, "$D", dir) }
	for _, tt := range []struct {
		name, allow, deny string
		finds             map[string]string
		refuses           []string
	}{
		{name: "nothing", refuses: []string{"/bin/sh", "sh", "$D/tool", "", "tool"}},
		{
			name: "one", allow: "$D/echo",
			finds: map[string]string{"$D/echo": "$D/echo", "echo": "$D/echo"},
			refuses: []string{
				"/bin/../bin/sh", "/bin/sh", "sh", "./echo", "$D/../" + filepath.Base(dir) + "/echo", "$D//echo", "$D/./echo", "$D/echo/", "$D/echo\x00sh",
				"$D/echo /bin/sh", "ECHO", "echo ", " echo", "echo\x00", "/proc/self/exe", "$D/echo/../sh", "$D/lookalike", "lookalike", "echo/../sh", `.\echo`, "",
			},
		},
		{name: "two of one name", allow: "$D/sub/tool $D/tool", finds: map[string]string{"tool": "$D/sub/tool", "$D/tool": "$D/tool"}},
		{name: "one is taken away", allow: "$D/tool $D/echo", deny: "$D/tool", finds: map[string]string{"echo": "$D/echo"}, refuses: []string{"$D/tool", "tool"}},
		{name: "taken away by its file", allow: "$D/link", deny: "$D/tool", refuses: []string{"$D/link", "link"}},
		{
			name: "everything", allow: "*",
			finds:   map[string]string{"/bin/sh": "/bin/sh", "tool": "$D/tool", "./tool": "$D/sub/tool", "../echo": "$D/echo", "/nowhere/x": "/nowhere/x"},
			refuses: []string{"", "tool\x00"},
		},
		{
			name: "everything but", allow: "*", deny: "$D/tool /nowhere/at/all",
			finds:   map[string]string{"./tool": "$D/sub/tool", "echo": "$D/echo"},
			refuses: []string{"tool", "$D/tool", "$D/link", "../tool", "$D/sub/../tool"},
		},
		{name: "all is taken away", allow: "* $D/tool", deny: "*", refuses: []string{"tool", "$D/tool", "/bin/sh"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			p := openPrograms(t, in(tt.allow), in(tt.deny))
			for file, want := range tt.finds {
				if got, err := p.Find(in(file), dir, filepath.Join(dir, "sub")); err != nil || got != in(want) {
					t.Errorf("Find(%q) = %q, %v, want %q", file, got, err, in(want))
				}
			}
			for _, file := range tt.refuses {
				got, err := p.Find(in(file), dir, filepath.Join(dir, "sub"))
				if fault.KindOf(err) != fault.Denied || got != "" {
					t.Errorf("Find(%q) = %q, %v, want a denial", file, got, err)
				}
				if e := fault.From(err); e != nil && (e.Details["thing"] != in(file) || e.Details["grant"] != "run") {
					t.Errorf("the denial of %q is of %v", file, e.Details)
				}
			}
		})
	}
	if _, err := openPrograms(t, "*", "").Find("no-such-program", dir, dir); fault.KindOf(err) != fault.NotFound {
		t.Errorf("a program that is not there: %v", err)
	}
}

func TestProgramsOutsideTheGrantLookTheSame(t *testing.T) {
	t.Parallel()
	p := openPrograms(t, "/bin/echo", "")
	text := func(file string) string {
		_, err := p.Find(file, os.Getenv("PATH"), "/")
		e := fault.From(err)
		return strings.ReplaceAll(e.Error()+e.Hint, file, "X")
	}
	if there, not := text("/bin/sh"), text("/bin/no"); there != not {
		t.Errorf("%q is there, %q is not", there, not)
	}
	if there, not := text("sh"), text("no"); there != not || !strings.Contains(there, "--allow-run=/usr/bin/X") {
		t.Errorf("%q is there, %q is not", there, not)
	}
}

func TestProgramsReadTheirWords(t *testing.T) {
	t.Parallel()
	for _, w := range []string{"git", "./git", "", " ", "/bin/a\x00b", "bin/git", "~/git"} {
		_, err := grant.OpenPrograms(grant.Words{Allow: []string{w}})
		_, denyErr := grant.OpenPrograms(grant.Words{Deny: []string{w}})
		if fault.KindOf(err) != fault.Usage || fault.KindOf(denyErr) != fault.Usage {
			t.Errorf("%q: %v and %v, want an error of the kind usage", w, err, denyErr)
		}
	}
}
