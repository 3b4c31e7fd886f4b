package engine

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mcpx/internal/fault"
)

// anyFile lets a script import every file.
func anyFile(string, string) *fault.Error { return nil }

// within lets a script import the files of a directory.
func within(dir string) func(string, string) *fault.Error {
	return func(file, specifier string) *fault.Error {
		if strings.HasPrefix(file, dir+"/") {
			return nil
		}
		return fault.Deniedf("denied: imports %q", specifier).With("file", file)
	}
}

// project writes files, whose names are relative to a new directory.
func project(t *testing.T, files map[string]string) (dir string) {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if to, ok := strings.CutPrefix(text, "-> "); ok {
			if err := os.Symlink(to, path); err != nil {
				t.Skip(err)
			}
			continue
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestImportsAreRefusedWhereTheyLeadOutside(t *testing.T) {
	t.Parallel()
	dir := project(t, map[string]string{
		"in/lib.ts":                     `export const n = 1`,
		"in/data.json":                  `{"n": 1}`,
		"in/inner.ts":                   "\nexport * from '../secret'",
		"in/link.json":                  "-> ../secret.json",
		"in/linked":                     "-> ..",
		"in/loop.ts":                    "-> loop.ts",
		"in/node_modules/good/index.js": `module.exports = 1`,
		"in/node_modules/away":          "-> ../../far",
		"in/tsconfig.json":              `{"compilerOptions": {"paths": {"@far/*": ["../far/*"]}}}`,
		"far/index.js":                  `module.exports = 1`,
		"secret.ts":                     `export const s = "SECRET"`,
		"secret.json":                   `{"s": "SECRET"}`,
		"node_modules/above/index.js":   `module.exports = 1`,
		"inside/x.ts":                   `export default 1`,
	})
	for _, tt := range []struct {
		name, code string
		want       string // specifier of the refused import; empty: none
		at         string
	}{
		{"a file beside it", `import { n } from "./lib"; n`, "", ""},
		{"JSON beside it", `import d from "./data.json"; d`, "", ""},
		{"a package beside it", `import g from "good"; g`, "", ""},
		{"a file above", `import s from "../secret"; s`, "../secret", "main.ts:1:15"},
		{"no file above", `import s from "../nothing"; s`, "../nothing", "main.ts:1:15"},
		{"a folder of a similar name", `import s from "../inside/x"; s`, "../inside/x", "main.ts:1:15"},
		{"an absolute path", `import s from "/etc/passwd"; s`, "/etc/passwd", "main.ts:1:15"},
		{"no absolute path", `import s from "/no/such/thing"; s`, "/no/such/thing", "main.ts:1:15"},
		{"an import of an import", "import * as s from './inner'; s", "../secret", "inner.ts:2:15"},
		{"a link to a file", `import s from "./link.json"; s`, "./link.json", "main.ts:1:15"},
		{"a link to a folder", `import s from "./linked/secret"; s`, "./linked/secret", "main.ts:1:15"},
		{"a package above", `import a from "above"; a`, "above", "main.ts:1:15"},
		{"a linked package", `import a from "away"; a`, "away", "main.ts:1:15"},
		{"a path of tsconfig.json", `import f from "@far/index.js"; f`, "@far/index.js", "main.ts:1:15"},
		{"a dynamic import", `const s = await import("../secret"); s`, "../secret", "main.ts:1:24"},
		{"require", `const s = require("../secret.json"); s`, "../secret.json", "main.ts:1:19"},
		{"with an attribute", `import s from "../secret.json" with { type: "json" }; s`, "../secret.json", "main.ts:1:15"},
		{"a re-export", `export * from "../secret"`, "../secret", "main.ts:1:15"},
		{"with dots on the way", `import s from "./x/../../secret"; s`, "./x/../../secret", "main.ts:1:15"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, r := Compile(Source{Name: "main.ts", Text: tt.code, File: filepath.Join(dir, "in/main.ts"), Import: within(filepath.Join(dir, "in")), Files: true}, nil)
			if tt.want == "" {
				if r != nil {
					t.Errorf("Compile() = %s", r.Text())
				}
				return
			}
			if r == nil || r.Kind != fault.Denied || r.Name != "DeniedError" || r.Message != "denied: imports \""+tt.want+"\"" {
				t.Fatalf("Compile() = %+v, want %q denied", r, tt.want)
			}
			if r.At == nil || !strings.HasSuffix(r.At.String(), tt.at) || r.At.Text == "" {
				t.Errorf("denied at %v, want %s and the line", r.At, tt.at)
			}
			if strings.Contains(r.Text(), "SECRET") {
				t.Errorf("the report repeats what is not granted:\n%s", r.Text())
			}
		})
	}
}

func TestNoFileIsLookedForUnlessItMayBe(t *testing.T) {
	t.Parallel()
	dir := project(t, map[string]string{"lib.ts": `export const n = 1`})
	src := Source{Name: "main.ts", Text: `import { n } from "./lib"; n`, File: filepath.Join(dir, "main.ts")}
	_, r := Compile(src, nil)
	if r == nil || r.Name != "ImportError" {
		t.Errorf("Compile() without a decision = %+v, want an ImportError", r)
	}
	src.Import = within("/elsewhere")
	_, r = Compile(src, nil)
	if r == nil || r.Name != "DeniedError" || r.At == nil {
		t.Errorf("Compile() without files = %+v, want a DeniedError", r)
	}
	asked := map[string]bool{}
	src.Files, src.Import = true, func(file, _ string) *fault.Error {
		asked[file] = true
		return nil
	}
	_, r = Compile(src, nil)
	if r != nil || !asked[filepath.Join(dir, "lib")] || !asked[filepath.Join(dir, "lib.ts")] {
		t.Errorf("Compile() = %+v after questions about %v, want one about the name and one about the file", r, asked)
	}
}

// A description of a package or a source map may name files that a script may not read.
func TestTextsThatAreNotGrantedAreNotRepeated(t *testing.T) {
	t.Parallel()
	dir := project(t, map[string]string{
		"described/tsconfig.json": `{"extends": "../secret.txt"}`,
		"described/ok.ts":         "",
		"mapped/lib.js":           "",
		"secret.txt":              "SECRET in no JSON\n",
	})
	lib := "throw new Error('x')\n//# sourceMappingURL=data:application/json;charset=utf-8," +
		`{"version":3,"sources":["file://` + dir + `/secret.txt"],"names":[],"mappings":"AAAA"}` + "\n"
	if err := os.WriteFile(filepath.Join(dir, "mapped/lib.js"), []byte(lib), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ in, code string }{
		{"described", `import "./ok"`},
		{"mapped", `import "./lib"`},
		{"mapped", lib},
	} {
		in := filepath.Join(dir, tt.in)
		p, r := Compile(Source{Name: "main.ts", Text: tt.code, File: filepath.Join(in, "main.ts"), Import: within(in), Files: true}, nil)
		if p != nil {
			for name, text := range p.texts {
				if strings.Contains(text, "SECRET") {
					t.Errorf("%s: the program holds the text of %s", tt.in, name)
				}
			}
			r = New(Options{}).Run(t.Context(), p).Report
		}
		if r == nil {
			t.Errorf("%s: there is no error: this shows nothing", tt.in)
		} else if strings.Contains(r.Text(), "SECRET") {
			t.Errorf("%s: the report repeats what is not granted:\n%s", tt.in, r.Text())
		}
	}
}
