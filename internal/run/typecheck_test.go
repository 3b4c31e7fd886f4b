//go:build unix

package run

import (
	"fmt"
	"os"
	osexec "os/exec"
	"path/filepath"
	"strings"
	"testing"

	"mcpx/internal/api"
	"mcpx/internal/fault"
)

// withCompiler is a runner in a folder whose node_modules has a tsc that is a shell script.
func withCompiler(t *testing.T, script string) *Runner {
	t.Helper()
	if _, err := os.Stat("/bin/sh"); err != nil {
		t.Skip(err)
	}
	r := stage{}.runner()
	r.Dir = t.TempDir()
	r.Environ = []string{"PATH=/usr/bin:/bin"}
	bin := filepath.Join(r.Dir, "node_modules", ".bin")
	if err := os.MkdirAll(bin, 0o700); err != nil {
		t.Fatal(err)
	}
	// Another process writes it, so that no fork of this one holds it open.
	c := osexec.Command("/bin/sh", "-c", `printf '%s' "$1" > "$0" && chmod 700 "$0"`, filepath.Join(bin, "tsc"), "#!/bin/sh\n"+script) //nolint:noctx // it ends at once
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%v %s", err, out)
	}
	return r
}

func TestWhatACompilerSays(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, script string
		want         string // the report: place, message and how many follow
		kind         fault.Kind
	}{
		{"nothing", "exit 0", "", ""},
		{"errors", `echo "script.ts(2,3): error TS2322: no good"; echo "  because of that"; echo "script.ts(1,1): error TS1: again"; exit 2`, "exec:2:3 no good\n  because of that 1", ""},
		{"a return at the top alone", `echo "script.ts(2,3): error TS1108: A return"; exit 2`, "", ""},
		{"its own failure", `echo "node: not found" >&2; exit 127`, "failed: node: not found", fault.Unavailable},
		{"an error of what it was given", `echo "error TS5023: Unknown compiler option"; exit 1`, "Unknown compiler option", fault.Unavailable},
		{"an error in our declarations", `echo "mcpx.d.ts(1,1): error TS1: x"; exit 2`, "mcpx.d.ts", fault.Unavailable},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := withCompiler(t, tt.script)
			out, err := r.Run(t.Context(), api.ExecInput{Code: "const a = 1\nlet b: string = a\nreturn 7", Typecheck: "on"}, api.Streams{})
			switch {
			case tt.kind != "":
				if fault.KindOf(err) != tt.kind || !strings.Contains(err.Error(), tt.want) {
					t.Errorf("Run = %v, want %s", err, tt.want)
				}
			case err != nil:
				t.Fatal(err)
			case tt.want == "":
				if string(out.Value) != "7" || out.Error != nil {
					t.Errorf("the run ended with %+v", out)
				}
			default:
				e := out.Error
				if e == nil || out.ExitCode != 2 || out.Value != nil {
					t.Fatalf("the run ended with %+v", out)
				}
				message := strings.TrimPrefix(e.Message, "TS2322: ")
				if got := fmt.Sprintf("%s:%d:%d %s %d", e.At.File, e.At.Line, e.At.Column, message, len(e.Errors)); got != tt.want || e.At.Text != "let b: string = a" {
					t.Errorf("report %q at %q, want %q", got, e.At.Text, tt.want)
				}
			}
		})
	}
}

// With TypeScript itself: what is right passes, what is wrong is told at its place.
func TestTypeScriptChecksScripts(t *testing.T) {
	t.Parallel()
	packages, err := filepath.Abs(filepath.Join("..", "..", "testdata", "npm", "node_modules"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(packages, ".bin", "tsc")); err != nil {
		t.Skip("the packages of testdata/npm are not installed")
	}
	r := stage{}.runner()
	r.Dir, r.Environ = filepath.Dir(packages), os.Environ()
	file := filepath.Join(t.TempDir(), "main.ts")
	for name, text := range map[string]string{"lib.ts": "export const n: number = 1\n", "main.ts": "import { n } from './lib'\nconst s: string = n\n"} {
		if err := os.WriteFile(filepath.Join(filepath.Dir(file), name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	tests := []struct {
		name string
		in   api.ExecInput
		want string // the place of the error
	}{
		{"right", api.ExecInput{Code: "const n: number = await Promise.resolve(1)\nreturn n"}, ""},
		{"wrong", api.ExecInput{Code: "const a = 1\nconst n: string = a"}, "exec:2:7"},
		{"loose", api.ExecInput{Code: "function f(a) { return a }\nreturn f(1)"}, ""},
		{"strict", api.ExecInput{Code: "function f(a) { return a }\nreturn f(1)", Typecheck: "strict"}, "exec:1:12"},
		{"a return at the top", api.ExecInput{Code: "const a = 1\n/* \U0001f600 */ return (a as number).foo"}, "exec:2:31"},
		{"a return at the top, strict", api.ExecInput{Code: "return (5 as number).foo", Typecheck: "strict"}, "exec:1:22"},
		{"a return in a block", api.ExecInput{Code: "if (true) {\n  return await Promise.resolve(1).foo\n}\nreturn"}, "exec:2:35"},
		{"right returns", api.ExecInput{Typecheck: "strict", Code: "const a = Math.random() > 1 ? 'x' : undefined\nif (!a) return 1\n" +
			"if (a.length > 1) { return }\nif (a.length > 2) return /* none */ ; // here\n" +
			"const s = `return 1\nreturn 2` // return 3\nconst r = /return 4/\nconst f = () => { return s }\nif (a.length) return f() + r.source\nreturn\n"}, ""},
	}
	for _, tt := range tests {
		if tt.in.Typecheck == "" {
			tt.in.Typecheck = "on"
		}
		report, err := r.Check(t.Context(), tt.in)
		got := ""
		if report != nil {
			got = fmt.Sprintf("%s:%d:%d", report.At.File, report.At.Line, report.At.Column)
		}
		if err != nil || got != tt.want {
			t.Errorf("%s: Check = %s, %v, want %s (%+v)", tt.name, got, err, tt.want, report)
		}
	}
	r.Environ = append(r.Environ, "PATH="+filepath.Join(packages, ".bin")+string(os.PathListSeparator)+os.Getenv("PATH"))
	report, err := r.Check(t.Context(), api.ExecInput{Name: "main.ts", File: file, Code: "import { n } from './lib'\nconst s: string = n\n", Typecheck: "on"})
	if err != nil || report == nil || report.At.File != "main.ts" || report.At.Line != 2 {
		t.Errorf("a file: %+v, %v", report, err)
	}
}

func TestReturnsWithoutAValue(t *testing.T) {
	t.Parallel()
	for rest, want := range map[string]bool{
		"": false, "\r\n": false, ";": false, " }": false, " // a": false, " /* a */": false, "/* a\n": false,
		" 1": true, "(1)": true, "`a`": true, " /* a */ 1": true, " /a/": true, "[]": true,
	} {
		if got := hasValue(rest); got != want {
			t.Errorf("hasValue(%q) = %t", rest, got)
		}
	}
	if got := strings.Join(textLines("a\r\nb\u2028c\rd\ne"), "|"); got != "a\r\n|b\u2028|c\r|d\n|e" {
		t.Errorf("textLines = %q", got)
	}
}

// What a file returns at its top is checked where its imports and packages are.
func TestTypeScriptChecksWhatAFileReturns(t *testing.T) {
	t.Parallel()
	packages, err := filepath.Abs(filepath.Join("..", "..", "testdata", "npm", "node_modules"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(packages, ".bin", "tsc")); err != nil {
		t.Skip("the packages of testdata/npm are not installed")
	}
	dir := t.TempDir()
	for name, text := range map[string]string{
		"lib.ts":                          "export const n: number = 1\n",
		"package.json":                    `{"imports": {"#lib": "./lib.ts"}}`,
		"node_modules/small/package.json": `{"name": "small", "version": "1.0.0", "exports": {".": {"types": "./t.d.ts", "default": "./t.js"}}}`,
		"node_modules/small/t.d.ts":       "export declare const small: string\n",
	} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	r := stage{}.runner()
	r.Dir = dir
	r.Environ = append(os.Environ(), "PATH="+filepath.Join(packages, ".bin")+string(os.PathListSeparator)+os.Getenv("PATH"))
	tests := []struct{ name, code, want string }{
		{"right", "import { n } from '../lib'\nimport { small } from 'small'\nexport const m = n\nreturn small.length + n.toFixed().length", ""},
		{"a wrong use of an import", "#!/usr/bin/env mcpx\nimport { n } from '../lib.ts'\nreturn n.foo", "3:10 TS2339"},
		{"a wrong use of a package", "import { small } from 'small'\nreturn small.foo", "2:14 TS2339"},
		{"what only the folder has", "import { n } from '#lib'\nreturn n", ""},
		{"no such file", "import { n } from './none'\nreturn n", "1:19 TS2307"},
	}
	for _, tt := range tests {
		file := filepath.Join(dir, "sub", "main.ts")
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(tt.code), 0o600); err != nil {
			t.Fatal(err)
		}
		report, err := r.Check(t.Context(), api.ExecInput{Name: "main.ts", File: file, Code: tt.code, Typecheck: "strict"})
		got := ""
		if report != nil {
			code, _, _ := strings.Cut(report.Message, ":")
			got = fmt.Sprintf("%d:%d %s", report.At.Line, report.At.Column, code)
		}
		if err != nil || got != tt.want {
			t.Errorf("%s: Check = %s, %v, want %s (%+v)", tt.name, got, err, tt.want, report)
		}
	}
}
