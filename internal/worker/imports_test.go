package worker

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mcpx/internal/fault"
	"mcpx/internal/grant"
)

func TestImporterDecidesByDirectories(t *testing.T) {
	t.Parallel()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	at := func(name string) string { return filepath.Join(dir, filepath.FromSlash(name)) }
	for _, d := range []string{"real", "app/sub", "app/.hidden"} {
		if err := os.MkdirAll(at(d), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("real", at("link")); err != nil {
		t.Skip(err)
	}
	give := func(names ...string) grant.Words {
		for i, n := range names {
			names[i] = at(n)
		}
		return grant.Words{Allow: names}
	}
	for _, tt := range []struct {
		name           string
		imports, reads grant.Words
		file           string
		denied         string // the grant that is missing; empty: none
		flag           string // what would give it
	}{
		{name: "inside", imports: give("app"), file: "app/x.ts"},
		{name: "deep inside", imports: give("app"), file: "app/sub/deep/x.ts"},
		{name: "the directory itself", imports: give("app"), file: "app"},
		{name: "outside", imports: give("app"), file: "x.ts", denied: "imports", flag: "--allow-imports=" + dir},
		{name: "a similar name", imports: give("app"), file: "apparel/x.ts", denied: "imports", flag: "--allow-imports=" + at("apparel")},
		{name: "by the name that was given", imports: give("link"), file: "link/x.ts"},
		{name: "as it really is", imports: give("link"), file: "real/x.ts"},
		{name: "the link of what was given", imports: give("real"), file: "link/x.ts", denied: "imports", flag: "--allow-imports=" + at("link")},
		{name: "nothing is given", file: "app/x.ts", denied: "imports", flag: "--allow-imports=" + at("app")},
		{name: "everything", imports: grant.Words{Allow: []string{grant.Any}}, file: "x.ts"},
		{name: "everything but", imports: grant.Words{Allow: []string{grant.Any}, Deny: []string{at("app")}}, file: "app/x.ts", denied: "imports", flag: "--allow-imports=" + at("app")},
		{name: "everything is taken away", imports: grant.Words{Allow: []string{grant.Any}, Deny: []string{grant.Any}}, file: "x.ts", denied: "imports", flag: "--allow-imports=" + dir},
		{name: "taken away by a link", imports: grant.Words{Allow: []string{dir}, Deny: []string{at("link")}}, file: "real/x.ts", denied: "imports", flag: "--allow-imports=" + at("real")},
		{name: "a package outside", imports: give("app"), file: "node_modules/@a/b/lib/x.js", denied: "imports", flag: "--allow-imports=" + at("node_modules")},
		{name: "a hidden file", imports: give("app"), file: "app/.env.json", denied: "read", flag: "--allow-read=" + at("app/.env.json")},
		{name: "in a hidden directory", imports: give("app"), file: "app/.git/x.ts", denied: "read", flag: "--allow-read=" + at("app/.git/x.ts")},
		{name: "a hidden file that may be read", imports: give("app"), reads: give("app/.env.json"), file: "app/.env.json"},
		{name: "a hidden directory that is given itself", imports: give("app/.hidden"), file: "app/.hidden/x.ts"},
		{name: "where pnpm keeps packages", imports: give("app"), file: "app/node_modules/.pnpm/x/index.js"},
		{name: "where others keep what they made", imports: give("app"), file: "app/node_modules/.cache/x.js", denied: "read", flag: "--allow-read=" + at("app/node_modules/.cache/x.js")},
		{name: "a hidden file of everything", imports: grant.Words{Allow: []string{grant.Any}}, reads: grant.Words{Allow: []string{grant.Any}}, file: "app/.env.json"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			e := newImporter(tt.imports, tt.reads).decide(at(tt.file), "./spelled")
			if tt.denied == "" {
				if e != nil {
					t.Errorf("decide(%s) = %v, want nothing against it", tt.file, e)
				}
				return
			}
			if e == nil || e.Kind != fault.Denied || e.Message != "denied: "+tt.denied+` "./spelled": outside the run's grants` {
				t.Fatalf("decide(%s) = %+v, want the grant %s missing", tt.file, e, tt.denied)
			}
			if e.Details["flag"] != tt.flag || !strings.Contains(e.Hint, tt.flag) || e.Details["thing"] != "./spelled" {
				t.Errorf("decide(%s) = %+v, want the flag %s", tt.file, e, tt.flag)
			}
		})
	}
}

func TestRootsAreWhatAWallHasToLeave(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if got := newImporter(grant.Words{Allow: []string{dir}}, grant.Words{}).roots(); !slices.Contains(got, dir) {
		t.Errorf("roots() = %v, want %s", got, dir)
	}
	if got := newImporter(grant.Words{Allow: []string{grant.Any}}, grant.Words{}).roots(); len(got) != 1 || got[0] != string(os.PathSeparator) {
		t.Errorf("roots() of everything = %v", got)
	}
}
