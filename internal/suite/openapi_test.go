//go:build unix

package suite

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"mcpx/internal/api"
)

// TestOpenAPIDocumentIsValid has a validator of others judge what GET /v1/openapi.json
// answers with, and a document that is wrong.
func TestOpenAPIDocumentIsValid(t *testing.T) {
	t.Parallel()
	validator := npmFile(t, "@seriousme", "openapi-schema-validator", "index.js")
	dir := t.TempDir()
	script := filepath.Join(dir, "validate.mjs")
	source := `
import { readFileSync } from "node:fs";
import { Validator } from ` + mustJSON(t, "file://"+validator) + `;
const validator = new Validator();
const result = await validator.validate(JSON.parse(readFileSync(process.argv[2], "utf8")));
if (result.valid) {
  validator.resolveRefs(); // throws for one that leads nowhere
} else {
  console.log(JSON.stringify(result.errors, null, 1));
}
console.log(result.valid, validator.version);
`
	if err := os.WriteFile(script, []byte(source), 0o600); err != nil {
		t.Fatal(err)
	}
	document := api.Document("1.2.3")
	check := func(name string, d api.OpenAPIOutput, want string) {
		t.Helper()
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, []byte(mustJSON(t, d)), 0o600); err != nil {
			t.Fatal(err)
		}
		env := []string{"PATH=" + os.Getenv("PATH"), "MCPX_DAEMON_INLINE=always", "HOME=" + dir}
		got := run(t, time.Minute, dir, env, node(t), script, file)
		if got.exit != 0 || len(got.stdout) < len(want) || got.stdout[len(got.stdout)-len(want):] != want {
			t.Errorf("%s: exit %d\n%s%s", name, got.exit, got.stdout, got.stderr)
		}
	}
	check("document.json", document, "true 3.1\n")
	document["paths"] = []string{"a list"}
	check("wrong.json", document, "false 3.1\n")
}

func mustJSON(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
