package osinfo_test

import (
	"os"
	"strings"
	"testing"

	"mcpx/stdlib/console"
	"mcpx/stdlib/internal/declared"
	"mcpx/stdlib/internal/trial"
	"mcpx/stdlib/osinfo"
)

func TestOSTellsNothingOfTheMachine(t *testing.T) {
	t.Parallel()
	const code = `import os, { EOL } from "node:os"; const all = {};
		for (const k of Object.keys(os)) if (k !== "setPriority") all[k] = typeof os[k] === "function" ? os[k]() : os[k];
		console.log(JSON.stringify(all)); console.log(EOL === "\n", os.cpus().length, ` + "`${os.hostname}`" + `, os.totalmem() > 0, os.freemem() >= 0, os.constants.signals.SIGTERM);
		try { os.setPriority(5) } catch (e) { console.log(e.code) }`
	stdout, stderr := trial.Run(code, nil, osinfo.Module(), console.Module())
	if !strings.HasSuffix(stdout, "\ntrue 1 localhost true true 15\nEACCES\n") || stderr != "" {
		t.Errorf("wrote %q and %q", stdout, stderr)
	}
	name, err := os.Hostname()
	if err != nil {
		t.Skip(err)
	}
	if len(name) > 3 && name != "localhost" && strings.Contains(stdout, name) {
		t.Errorf("the host's name is in %s", stdout)
	}
}

func TestDeclarations(t *testing.T) {
	t.Parallel()
	declared.Check(t, osinfo.Module())
}
