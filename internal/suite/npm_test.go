//go:build unix

package suite

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestThreeServersInOneRun calls three servers that others wrote, installed from
// npm, from one script, at once.
func TestThreeServersInOneRun(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	files := filepath.Join(dir, "files")
	if err := os.Mkdir(files, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(files, "note.txt"), []byte("from the disk"), 0o644); err != nil {
		t.Fatal(err)
	}
	type entry struct {
		Command string            `json:"command"`
		Args    []string          `json:"args"`
		Env     map[string]string `json:"env,omitempty"`
	}
	config, err := json.Marshal(map[string]any{"mcpServers": map[string]entry{
		"everything": {Command: node(t), Args: []string{npmServer(t, "server-everything")}},
		"files":      {Command: node(t), Args: []string{npmServer(t, "server-filesystem"), "${workspaceFolder}/files"}},
		"memory": {
			Command: node(t), Args: []string{npmServer(t, "server-memory")},
			Env: map[string]string{"MEMORY_FILE_PATH": "${workspaceFolder}/memory.jsonl"},
		},
	}})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, ".mcp.json"), config, 0o600); err != nil {
		t.Fatal(err)
	}
	note, err := json.Marshal(filepath.Join(files, "note.txt"))
	if err != nil {
		t.Fatal(err)
	}
	script := `
const [echo, sum, note, made] = await Promise.all([
  tools.everything.echo({ message: "all at once" }),
  tools.everything.get_sum({ a: 2, b: 40 }),
  tools.files.read_text_file({ path: ` + string(note) + ` }),
  tools.memory.create_entities({ entities: [{ name: "mcpx", entityType: "program", observations: ["calls three servers"] }] }),
]);
const graph = await tools.memory.search_nodes({ query: "three servers" });
return [String(echo), String(sum), note.content ?? String(note), graph.entities.map(e => e.name)];
`
	env := []string{"PATH=" + os.Getenv("PATH"), "MCPX_DAEMON_INLINE=always", "HOME=" + dir, "TMPDIR=" + t.TempDir(), "MCPX_POLICY_WRITE=allow"}
	got := run(t, time.Minute, dir, env, program(t), "exec", script)
	for _, want := range []string{"all at once", "42", "from the disk", `["mcpx"]`} {
		if !strings.Contains(got.stdout, want) {
			t.Errorf("printed %q, want %q in it", got.stdout, want)
		}
	}
	if got.exit != 0 || got.stderr != "" {
		t.Errorf("exit %d, standard error %q, want 0 and nothing", got.exit, got.stderr)
	}

	// The second run knows the tools and starts only the server that it calls.
	got = run(t, time.Minute, dir, env, program(t), "exec", "return Object.keys(tools.files).includes('read_text_file') && tools.everything.echo({ message: 'again' })")
	if want := "again"; !strings.Contains(got.stdout, want) || got.exit != 0 {
		t.Errorf("second run: printed %q, exit %d, standard error %q, want %q and 0", got.stdout, got.exit, got.stderr, want)
	}

	// What was declared for them compiles.
	tsc := npmFile(t, "typescript", "bin", "tsc")
	got = run(t, time.Minute, dir, env, program(t), "types", "--globals", "-o", "tools.d.ts")
	if got.exit != 0 {
		t.Fatalf("types: exit %d, standard error %q", got.exit, got.stderr)
	}
	usage := `
import { search as find, tools as all } from "mcpx:tools";
const text: string = (await tools.files.read_text_file({ path: "x" })).content;
for (const hit of search(text, { limit: 3, ns: "files" })) console.log(hit.name, hit.signature, hit.score.toFixed(1));
console.log(find("echo").length, describe("memory.read_graph"), describe(all.memory.read_graph));
// @ts-expect-error a wrong type
await files.read_text_file({ path: 7 });
// @ts-expect-error an argument that is missing
await files.read_text_file();
// @ts-expect-error a tool that is not there
await files.nope();
// @ts-expect-error an option that is none
search("echo", { namespace: "files" });
`
	if err := os.WriteFile(filepath.Join(dir, "usage.ts"), []byte(usage), 0o600); err != nil {
		t.Fatal(err)
	}
	got = run(t, time.Minute, dir, env, node(t), tsc, "--noEmit", "--strict", "--target", "es2022", "--module", "esnext", "--lib", "es2022", "tools.d.ts", "usage.ts")
	if got.exit != 0 {
		t.Errorf("tsc: %s%s", got.stdout, got.stderr)
	}
}

// npmServer is the file that a server's package names as its program.
func npmServer(t *testing.T, name string) string {
	t.Helper()
	return npmFile(t, "@modelcontextprotocol", name, "dist", "index.js")
}

// npmFile is the path of a file that npm has installed under testdata/npm.
func npmFile(t *testing.T, path ...string) string {
	t.Helper()
	file, err := filepath.Abs(filepath.Join(append([]string{root, "testdata", "npm", "node_modules"}, path...)...))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(file); err != nil {
		missing(t, "%v: `npm ci` in testdata/npm installs it", err)
	}
	return file
}
