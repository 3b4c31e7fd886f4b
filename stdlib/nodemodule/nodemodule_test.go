package nodemodule_test

import (
	"testing"

	"mcpx/engine"
	"mcpx/stdlib/console"
	"mcpx/stdlib/internal/declared"
	"mcpx/stdlib/internal/trial"
	"mcpx/stdlib/nodemodule"
	"mcpx/stdlib/path"
)

func modules() []engine.Module {
	return append(path.Modules(), nodemodule.Module(), console.Module())
}

func TestRequire(t *testing.T) {
	t.Parallel()
	const code = `import { createRequire, builtinModules, isBuiltin } from "node:module"; import path from "path";
		const require = createRequire("/x/y.js"); console.log(require("path") === path, require("node:path") === path, require.resolve("path"), require.name, require.length);
		console.log(builtinModules, isBuiltin("path"), isBuiltin("node:path/posix"), isBuiltin("nope"), isBuiltin(5));
		for (const f of [() => createRequire("x"), () => createRequire(), () => require("./nope"), () => require("nope"), () => require(5), () => require("")]) try { f(); console.log("ok") } catch (e) { console.log(e.code, e.message.split("\n")[0]) }
		console.log(createRequire({href: "file:///a.js"})("path").sep, typeof createRequire("file:///a.js"))`
	const want = `true true path require 1
[ 'module', 'path', 'path/posix', 'path/win32' ] true true false false
ERR_INVALID_ARG_VALUE The argument 'filename' must be a file URL object, file URL string, or absolute path string. Received 'x'
ERR_INVALID_ARG_VALUE The argument 'filename' must be a file URL object, file URL string, or absolute path string. Received undefined
MODULE_NOT_FOUND Cannot find module './nope'
MODULE_NOT_FOUND Cannot find module 'nope'
ERR_INVALID_ARG_TYPE The "id" argument must be of type string. Received type number (5)
ERR_INVALID_ARG_VALUE The argument 'id' must be a non-empty string. Received ''
/ function
`
	if stdout, stderr := trial.Run(code, nil, modules()...); stdout != want || stderr != "" {
		t.Errorf("wrote\n%s%s\nwant\n%s", stdout, stderr, want)
	}
}

func TestDeclarations(t *testing.T) {
	t.Parallel()
	declared.Check(t, nodemodule.Module())
}
