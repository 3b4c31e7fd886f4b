//go:build unix

package suite

import (
	"strings"
	"testing"
)

// TestGuidesHoldWhatTheySay tries the test of the guides on pages that are wrong.
func TestGuidesHoldWhatTheySay(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, page, want string }{
		{"what is said is printed", "```sh\necho a; echo b\n#> a\n#> b\nx=c\necho $x\n#> c\n```\n", ""},
		{"nothing is said", "```sh\necho a\n```\n", "p.md:2: printed\na\nwant"},
		{"something else is printed", "```sh\necho a\n#> b\n```\n", "p.md:2: printed\na\nwant\nb"},
		{"more is printed", "```sh\necho a; echo b\n#> a\n```\n", "p.md:2: printed\na\nb\nwant\na"},
		{"errors are output, too", "```sh\necho a >&2\n```\n```output\na\n```\n", ""},
		{"anything", "```sh\necho id 4711 is here; echo b; echo c; echo d\n```\n```output\nid … is here\n…\nd\n```\n", ""},
		{"not just anything", "```sh\necho id 4711 is there; echo d\n```\n```output\nid … is here\n…\nd\n```\n", "want\nid … is here"},
		{"only anything", "```sh\necho a\n#> …\n```\n", "that holds nothing"},
		{"only anything, as a block", "```sh\necho a\n```\n```output\n…\n```\n", "that holds nothing"},
		{"an exit code", "```sh\nsh -c 'exit 3' # exit 3\necho a\n#> a\n```\n", ""},
		{"another exit code", "```sh\nsh -c 'exit 3' # exit 4\n```\n", "p.md:2: exit code 3, want 4"},
		{"an exit code that is not said", "```sh\nfalse\necho a\n#> a\n```\n", "p.md:2: a command failed with exit code 1"},
		{"a failure that does not come", "```sh\ntrue # exit 1\n```\n", "exit code 0, want 1"},
		{"files", "```ts\n// lib/a.ts (a file)\nlet x\n```\n```sh\ncat lib/a.ts\n```\n```output\n// lib/a.ts (a file)\nlet x\n```\n", ""},
		{"a file that is none", "```ts\nlet x\n```\n", "p.md:1: a block in ts is a file"},
		{"not run, for no reason", "<!-- not run: -->\n```sh\nfalse\n```\n", "p.md:1: a comment that says nothing to the test, or gives no reason"},
		{"not run", "<!-- not run: it fails -->\n```sh\nfalse\n```\n", ""},
		{"output of what is not run", "<!-- not run: it fails -->\n```sh\nfalse\n```\n```output\na\n```\n", "p.md:5: output of commands that are not run"},
		{"output of nothing", "```output\na\n```\n", "p.md:1: output of no commands"},
		{"output twice", "```sh\necho a\n#> a\n```\n```output\na\n```\n", "p.md:5: output of commands whose output was given"},
		{"output left out", "<!-- output left out: it is long -->\n```sh\necho a\n```\n", ""},
		{"a mistake in output left out", "<!-- output left out: it is long -->\n```sh\nfalse\n```\n", "failed with exit code 1"},
		{"a comment above no block", "<!-- not run: it fails -->\ntext\n", "p.md:1: a comment that stands above no block"},
		{"a comment with a mistake", "<!-- notrun: it fails -->\n```sh\ntrue\n```\n", "p.md:1: a comment that says nothing to the test"},
		{"a language that nobody reads", "```bash\nfalse\n```\n", `not "bash"`},
		{"a fence that is not read", "  ```sh\nfalse\n  ```\n", "p.md:1: a fence that is not read"},
		{"no end", "```sh\ntrue\n", "p.md:1: a block that does not end"},
		{"a configuration", "```jsonc\n\"a\": { \"command\": \"b\" }, // c\n```\n```jsonc\n{ \"mcpServers\": {} }\n```\n", ""},
		{"a configuration with a mistake", "```jsonc\n{ \"mcpServers\": { \"a\": { \"comand\": \"b\" } } }\n```\n", "p.md:1: mcpx does not read this configuration"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p, faults := readPage("p.md", c.page)
			if len(faults) == 0 {
				faults = p.run(t)
			}
			got := strings.Join(faults, "\n")
			if c.want == "" && got != "" || !strings.Contains(got, c.want) {
				t.Errorf("the page is said to be wrong by %q, want %q", got, c.want)
			}
		})
	}
}
