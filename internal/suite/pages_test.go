//go:build unix

package suite

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
)

// TestPagesNameWhatIsThere holds what the pages say in passing against the program: the
// commands and flags of every `mcpx …` in them, and the settings and variables they name.
func TestPagesNameWhatIsThere(t *testing.T) {
	t.Parallel()
	known := vocabularyOf(t)
	commands, others := 0, 0
	for _, pattern := range []string{"*.md", "docs/*.md", "docs/guide/*.md"} {
		paths, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range paths {
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			c, o, faults := known.check(string(text))
			commands, others = commands+c, others+o
			for _, f := range faults {
				t.Errorf("%s: %s", filepath.Base(path), f)
			}
		}
	}
	if commands < 100 || others < 100 {
		t.Errorf("the pages name %d commands, and %d settings and variables: nothing is guarded", commands, others)
	}
}

// TestPagesShowConfigurationsThatAreRead has mcpx read every configuration of the pages that
// are not run.
func TestPagesShowConfigurationsThatAreRead(t *testing.T) {
	t.Parallel()
	paths, err := filepath.Glob(filepath.Join(root, "docs", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	l, found := settle(t, program(t), nil), 0
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		p, _ := readPage(filepath.Base(path), string(text)) // these pages are written more freely
		for _, b := range p.blocks {
			if b.lang != "jsonc" {
				continue
			}
			found++
			if wrong := readable(t, l, strings.Join(b.text, "\n")+"\n"); wrong != "" {
				t.Errorf("%s:%d: mcpx does not read this configuration: %s", p.name, b.line, wrong)
			}
		}
	}
	if found < 8 {
		t.Errorf("the pages show %d configurations: nothing is guarded", found)
	}
}

// TestPagesThatNameWhatIsNotThere tries the check.
func TestPagesThatNameWhatIsNotThere(t *testing.T) {
	t.Parallel()
	known := vocabularyOf(t)
	for _, c := range []struct{ text, want string }{
		{"`mcpx call --json demo.echo`, `pool.idleTimeout`, `MCPX_POOL_IDLE_TIMEOUT`", ""},
		{"`mcpx servers add --url https://example.com x`, `mcpx 'return 1'`, `mcpx x.ts --flag`", ""},
		{"```sh\necho '{}' | mcpx call demo.echo --josn -\n```\n", "mcpx call has no flag --josn"},
		{"`mcpx fetch`", "mcpx has no command fetch"},
		{"```yaml\n      - run: mcpx docter\n```\n", "mcpx has no command docter"},
		{"`mcpx servers ad x`", "mcpx has no command servers ad"},
		{"    mcpx bundel x.ts\n", "mcpx has no command bundel"},
		{"`pool.idletimeout`", "there is no setting pool.idletimeout"},
		{"`pool.idleTimeout: 5m` and `pool.idle: 5m`", "there is no setting pool.idle"},
		{"MCPX_POOL_IDLETIMEOUT", "nothing reads MCPX_POOL_IDLETIMEOUT"},
	} {
		_, _, faults := known.check(c.text)
		if got := strings.Join(faults, "\n"); got != c.want {
			t.Errorf("check(%q) = %q, want %q", c.text, got, c.want)
		}
	}
}

// A vocabulary is what the program knows by name.
type vocabulary struct {
	commands  map[string]string // the help of each
	global    string
	settings  []string
	groups    []string
	variables []string
}

// beside are names that look like settings: keys of entries and events.
var beside = []string{
	"auth.issuer", "config.changed", "config.broken", "settings.changed",
	"MCPX_CONFIG", "MCPX_STATE_DIR", "MCPX_SESSION_ID", "MCPX_DAEMON_ENDPOINT",
	"MCPX_TEST_ALL", "MCPX_TEST_LOAD", "MCPX_TEST_RUNS", "MCPX_TEST_SOAK", "MCPX_SUITE_DIR",
	"keeper", "worker", "daemon connect", // commands of mcpx to itself, which pages tell of
	"daemon serve", // for service managers
}

func vocabularyOf(t *testing.T) vocabulary {
	t.Helper()
	v, err := learn()
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// learn asks the program.
var learn = sync.OnceValues(func() (vocabulary, error) {
	path, err := build()
	if err != nil {
		return vocabulary{}, err
	}
	home, err := os.MkdirTemp(scratch, "pages")
	if err != nil {
		return vocabulary{}, err
	}
	ask := func(args ...string) string {
		cmd := exec.Command(path, args...)
		cmd.Dir, cmd.Env = home, []string{"HOME=" + home, "PATH=" + os.Getenv("PATH")}
		out, failed := cmd.Output()
		if failed != nil {
			err = errors.Join(err, fmt.Errorf("mcpx %s: %w", strings.Join(args, " "), failed))
		}
		return string(out)
	}
	v := vocabulary{commands: map[string]string{}, global: ask("help")}
	for line := range strings.SplitSeq(v.global, "\n") {
		if m := helpLine.FindStringSubmatch(line); m != nil {
			v.commands[m[1]] = ask(append([]string{"help"}, strings.Fields(m[1])...)...)
		}
	}
	if m := shortFor.FindStringSubmatch(v.global); m != nil {
		for i := range 3 {
			v.commands[m[1+i]] = v.commands[m[4+i]]
		}
	}
	var list struct {
		Settings []struct{ Path, Env string }
	}
	err = errors.Join(err, json.Unmarshal([]byte(ask("settings", "list", "--all", "--json")), &list))
	for _, s := range list.Settings {
		group, _, _ := strings.Cut(s.Path, ".")
		v.settings, v.groups, v.variables = append(v.settings, s.Path), append(v.groups, group), append(v.variables, s.Env)
	}
	return v, err
})

var (
	helpLine  = regexp.MustCompile(`^  ([a-z]+(?: [a-z]+)?)(?: (?:[A-Z\[]|[a-z]+\|).*?)?  +[a-z]`)
	shortFor  = regexp.MustCompile(`(?m)^([a-z]+), ([a-z]+) and ([a-z]+) are short for ([a-z ]+), ([a-z ]+) and ([a-z ]+)\.$`)
	inline    = regexp.MustCompile("`(mcpx [^`\n]+)`")
	inBlock   = regexp.MustCompile(`(?:^|\||&&|;|\$\()\s*(?:[A-Z_]+=\S+ )*(?:\$ |- run: )?(mcpx [^|;&]+)`)
	ofSetting = regexp.MustCompile("`([a-z]+\\.[a-zA-Z]+)(?:[:=] ?[^`]*)?`")
	aVariable = regexp.MustCompile(`\bMCPX_[A-Z_]*[A-Z]\b`)
	aFlag     = regexp.MustCompile(`^--?[a-zA-Z-]+`)
	aWord     = regexp.MustCompile(`^[a-z]+$`)
)

// check looks at a page. It returns how many commands, and how many settings and variables
// it found, and which of them are not there.
func (v vocabulary) check(text string) (commands, others int, faults []string) {
	var spans []string
	for _, m := range inline.FindAllStringSubmatch(text, -1) {
		spans = append(spans, m[1])
	}
	inside := false
	for line := range strings.SplitSeq(text, "\n") {
		if strings.HasPrefix(line, "```") {
			inside = !inside && (line == "```sh" || line == "```console" || line == "```yaml")
			continue
		}
		if inside || strings.HasPrefix(line, "    mcpx ") {
			for _, m := range inBlock.FindAllStringSubmatch(line, -1) {
				spans = append(spans, m[1])
			}
		}
	}
	for _, s := range spans {
		commands++
		if fault := v.command(s); fault != "" && !slices.Contains(faults, fault) {
			faults = append(faults, fault)
		}
	}
	for _, m := range ofSetting.FindAllStringSubmatch(text, -1) {
		group, _, _ := strings.Cut(m[1], ".")
		if !slices.Contains(v.groups, group) || slices.Contains(beside, m[1]) {
			continue
		}
		others++
		if !slices.ContainsFunc(v.settings, func(name string) bool { return name == m[1] || strings.HasPrefix(name, m[1]+".") }) {
			faults = append(faults, "there is no setting "+m[1])
		}
	}
	for _, name := range aVariable.FindAllString(text, -1) {
		others++
		if !slices.Contains(v.variables, name) && !slices.Contains(beside, name) {
			faults = append(faults, "nothing reads "+name)
		}
	}
	return commands, others, faults
}

// command says what is wrong with a command line, as far as a page writes one out.
func (v vocabulary) command(line string) string {
	var words, flags []string
	before := ""
	for _, w := range strings.Fields(line)[1:] {
		if w == "--" || strings.ContainsAny(w[:1], "#'\"<>") || strings.HasPrefix(w, "2>") {
			break // code, a comment, or what is not the command's
		}
		if m := aFlag.FindString(w); m != "" {
			flags, before = append(flags, m), w
			continue
		}
		if value := len(words) == 0 && before != "" && !strings.Contains(before, "=") && !v.begins(w); !value {
			words = append(words, w)
		}
		before = ""
	}
	if len(words) == 0 || !aWord.MatchString(words[0]) {
		return "" // a script, or no command
	}
	name := words[0]
	if len(words) > 1 && v.group(name) {
		for second := range strings.SplitSeq(words[1], "|") {
			if both := words[0] + " " + second; v.commands[both] != "" || slices.Contains(beside, both) {
				name = both
			} else if v.commands[words[0]] == "" {
				return "mcpx has no command " + both
			}
		}
	}
	help, ok := v.commands[name]
	if !ok && !v.group(name) && !slices.Contains(beside, name) {
		return "mcpx has no command " + name
	}
	for _, f := range flags {
		if ok && !hasFlag(help, f) && !hasFlag(v.global, f) && !(strings.HasPrefix(f, "--deny-") && hasFlag(help, "--deny-…")) && f != "--allow-" {
			return "mcpx " + name + " has no flag " + f
		}
	}
	return ""
}

// group says whether commands have a first word in common.
func (v vocabulary) group(word string) bool {
	for name := range v.commands {
		if strings.HasPrefix(name, word+" ") {
			return true
		}
	}
	return false
}

func (v vocabulary) begins(word string) bool { return v.commands[word] != "" || v.group(word) }

// hasFlag says whether a help text has a flag.
func hasFlag(help, flag string) bool {
	for rest := help; ; {
		_, after, ok := strings.Cut(rest, flag)
		if !ok {
			return false
		}
		if after == "" || !isNameByte(after[0]) {
			return true
		}
		rest = after
	}
}

func isNameByte(b byte) bool { return b == '-' || 'a' <= b && b <= 'z' || 'A' <= b && b <= 'Z' }
