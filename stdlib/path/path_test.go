package path_test

import (
	"encoding/json"
	"math/rand/v2"
	"os/exec"
	"strings"
	"testing"

	"mcpx/engine"
	"mcpx/stdlib/console"
	"mcpx/stdlib/internal/declared"
	"mcpx/stdlib/internal/trial"
	"mcpx/stdlib/path"
)

func modules() []engine.Module { return append(path.Modules(), console.Module()) }

// random makes paths of the pieces that matter.
func random(r *rand.Rand) string {
	pieces := []string{"/", "/", "//", `\`, `\\`, "a", "B", "b.c", ".", "..", "...", ".x", "C:", "c:", "d:", "é", "?", "x y", "a.b."}
	var b strings.Builder
	for range r.IntN(7) {
		b.WriteString(pieces[r.IntN(len(pieces))])
	}
	return b.String()
}

// script applies every function to paths and prints what comes out.
func script(seed uint64) string {
	r := rand.New(rand.NewPCG(seed, 1)) //nolint:gosec // it is a test
	var list [][]string
	for range 300 {
		list = append(list, []string{random(r), random(r), random(r)})
	}
	b, _ := json.Marshal(list)
	return `const path = require("node:path"); const show = (what, f) => { let v; try { v = f() } catch (e) { v = e.name + e.message } console.log(what + " = " + JSON.stringify(v)) };
for (const [a, b, c] of ` + string(b) + `) for (const [n, p] of [["posix", path.posix], ["win32", path.win32]]) {
  for (const r of ["C:/", "//server/share/", "/"]) show(n + ".toNamespacedPath " + JSON.stringify(r + a), () => p.toNamespacedPath(r + a));
  for (const d of ["con:", "NUL:x", "aux:/", "com1:a/..", "lpt9:", "com0:"]) show(n + ".normalize " + JSON.stringify(d + a), () => p.normalize(d + a));
  for (const f of ["normalize", "isAbsolute", "dirname", "basename", "extname", "parse"]) show(n + "." + f + " " + JSON.stringify(a), () => p[f](a));
  show(n + ".basename " + JSON.stringify([a, b]), () => p.basename(a, b));
  show(n + ".join " + JSON.stringify([a, b, c]), () => p.join(a, b, c));
  show(n + ".resolve " + JSON.stringify([a, b, c]), () => p.resolve("/w", a, b, c));
  show(n + ".relative " + JSON.stringify([a, b]), () => p.relative("/w/" + a, "/w/" + b));
  show(n + ".relative " + JSON.stringify([a, b, c]), () => p.relative("C:/" + a, "C:/" + b));
  show(n + ".format " + JSON.stringify(a), () => p.format(p.parse(a)));
}`
}

var scripts = []string{
	script(1), script(2), script(3),
	`const path = require("node:path"); console.log(path.sep, path.delimiter, path.win32.sep, path.win32.delimiter, path.posix === path, path.win32.posix === path, path.win32.win32 === path.win32, Object.keys(path).filter(k => k !== "matchesGlob").sort().join())`,
	`const path = require("node:path"); for (const f of Object.keys(path)) if (typeof path[f] === "function" && f !== "matchesGlob") { console.log(f, path[f].name.replace("bound _", ""), path[f].length); for (const bad of [undefined, null, 5, {}, Symbol("s")]) try { console.log(path[f](bad)) } catch (e) { console.log(e.name, e.code, e.message) } }`,
	`const path = require("node:path"); console.log(path.format({dir: "/x", base: "y.z"}), path.format({root: "/", name: "a", ext: "b"}), path.format({root: "/", dir: "/", base: "q"}), path.format({name: "n"}), path.format({dir: "d", root: "r"}), path.join(), path.resolve("/"), path.basename("a/b", undefined))`,
	`const path = require("node:path"); try { path.join("a", 5) } catch (e) { console.log(e.message) } try { path.resolve("a", 5, "b") } catch (e) { console.log(e.message) } console.log(path.resolve(5, "/x")); try { path.relative("a") } catch (e) { console.log(e.message) } try { path.basename("a", 5) } catch (e) { console.log(e.message) }`,
	`console.log(require("path/posix") === require("path"), require("node:path/win32") === require("path").win32)`,
}

func TestPathsAreNodes(t *testing.T) {
	t.Parallel()
	node, err := exec.Command("node", "-e", trial.Program(scripts)).Output()
	if err != nil {
		t.Skip("Node 20 is not installed")
	}
	trial.Compare(t, scripts, node, modules()...)
}

func TestResolveStartsAtTheRunsDirectory(t *testing.T) {
	t.Parallel()
	const code = `import path from "path"; console.log(path.resolve(), path.resolve("a"), path.resolve("", "."), path.relative("", "b"))`
	if stdout, stderr := trial.Run(code, nil, modules()...); stdout != "/ /a / b\n" {
		t.Errorf("wrote %q, %s", stdout, stderr)
	}
}

func TestDeclarations(t *testing.T) {
	t.Parallel()
	for i, m := range path.Modules() {
		var others []engine.Module
		if i > 0 {
			others = path.Modules()[:1]
		}
		declared.Check(t, m, others...)
	}
}
