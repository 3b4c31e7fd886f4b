//go:build unix

package suite

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"mcpx/internal/daemon"
)

// The README and the guides are run. docs/guide/README.md says how a page is
// written; this is what it means:
//
// A page has a folder of its own with a home of its own. Its blocks are taken
// in their order: sh is run there by /bin/sh, and what it prints, on both
// streams, is what the page says, in lines that begin with #> or in the block
// "output" behind it. Nothing said means that nothing is printed. A block whose
// first line is a comment with a path is a file of the folder.
const (
	// In what a page says that is printed: any text, or as a line of its own any lines.
	anything = "…"
	// In a page: a port that is free where the page is run.
	anyPort = "7777"
	// mostNotRun is how many blocks of all pages may say that they are not run.
	mostNotRun = 6
)

// guides are the pages that are run.
func guides(t *testing.T) []string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(root, "docs", "guide", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	if len(found) < 8 {
		t.Fatalf("docs/guide has %d pages: the guides are not where they were", len(found))
	}
	return append(found, filepath.Join(root, "README.md"))
}

// TestGuidesAreTrue runs every block of the README and of the guides and holds
// what it prints against the page.
func TestGuidesAreTrue(t *testing.T) {
	t.Parallel()
	program(t)
	for _, path := range guides(t) {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		name := filepath.Base(path)
		if dir := filepath.Base(filepath.Dir(path)); dir == "guide" {
			name = dir + "/" + name
		}
		p, faults := readPage(name, string(text))
		for _, f := range faults {
			t.Error(f)
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, need := range p.needs {
				if why := lacking(need); why != "" {
					missing(t, "%s", why)
				}
			}
			for _, f := range p.run(t) {
				t.Error(f)
			}
		})
	}
}

// TestGuidesAreRunAlmostWhole counts what of the pages is not run.
func TestGuidesAreRunAlmostWhole(t *testing.T) {
	t.Parallel()
	ran, not := 0, 0
	for _, path := range guides(t) {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		p, _ := readPage(path, string(text))
		for _, b := range p.blocks {
			switch {
			case b.marks["not run"] != "":
				not++
				t.Logf("%s:%d is not run: %s", filepath.Base(path), b.line, b.marks["not run"])
			case b.lang == "sh":
				ran++
			}
		}
	}
	t.Logf("%d command blocks are run, %d blocks are not", ran, not)
	if not > mostNotRun || ran < 5*not {
		t.Errorf("%d blocks are not run and %d are; at most %d may be left out", not, ran, mostNotRun)
	}
}

// A page is the fenced blocks of a document.
type page struct {
	name   string
	needs  []string // what a machine must have for any of it
	blocks []*block
}

// A block is one fenced text.
type block struct {
	line  int // of the fence
	lang  string
	text  []string
	file  string            // the file that it is
	marks map[string]string // what the comments above it say
	steps []step            // of commands
}

// A step is commands with one output.
type step struct {
	line int
	code []string
	want []string // what they print
	any  bool     // the page does not say what they print
	exit int
}

var (
	fence    = regexp.MustCompile("^```([a-z]*)$")
	comment  = regexp.MustCompile(`^<!-- (.*) -->$`)
	marked   = regexp.MustCompile(`^(not run|output left out|needs|this page needs): (\S.*)$`)
	named    = regexp.MustCompile(`^(?://|#) ([\w.-]+(?:/[\w.-]+)*)(?: .*)?$`)
	exitCode = regexp.MustCompile(`# exit (\d+)$`)
	remark   = regexp.MustCompile(`\A(?://.*\n)*`)
	variable = regexp.MustCompile(`\$\{(?:env:)?([A-Z_]+)\}`)
)

// inTree stands above commands that are for somebody who has the sources.
const inTree = "in the repository"

// languages are those a block may be in. The value says what is done with it:
// run it, read it as a configuration, or nothing. Each can be a file, too.
var languages = map[string]string{
	"sh": "run", "output": "compare", "jsonc": "configuration", "text": "", "json": "", "ts": "file", "js": "file", "yaml": "file", "dockerfile": "file",
}

// readPage finds the blocks of a page, and what is wrong with how it is written.
func readPage(name, text string) (p page, faults []string) {
	p.name = name
	fault := func(line int, format string, args ...any) {
		faults = append(faults, fmt.Sprintf("%s:%d: %s", name, line, fmt.Sprintf(format, args...)))
	}
	marks, markedAt := map[string]string{}, 0
	var open *block
	for i, line := range strings.Split(text, "\n") {
		n := i + 1
		switch m := fence.FindStringSubmatch(line); {
		case open != nil && line == "```":
			p.add(open, fault)
			open = nil
		case open != nil:
			open.text = append(open.text, line)
		case m != nil:
			if _, ok := languages[m[1]]; !ok {
				fault(n, "a block is sh, output, text, json, jsonc, or a file in ts, js, yaml or dockerfile, not %q", m[1])
			}
			open = &block{line: n, lang: m[1], marks: marks}
			marks = map[string]string{}
		case strings.HasPrefix(strings.TrimSpace(line), "```"):
			fault(n, "a fence that is not read: %s", line)
		case strings.HasPrefix(line, "<!--"):
			kind, reason := "", ""
			if m := comment.FindStringSubmatch(line); m != nil && m[1] == inTree {
				kind, reason = inTree, "yes"
			} else if m != nil {
				if m = marked.FindStringSubmatch(m[1]); m != nil {
					kind, reason = m[1], m[2]
				}
			}
			switch kind {
			case "":
				fault(n, "a comment that says nothing to the test, or gives no reason: %s", line)
			case "this page needs":
				p.needs = append(p.needs, strings.Fields(reason)...)
			default:
				marks[kind], markedAt = reason, n
			}
		case line != "" && len(marks) > 0:
			fault(markedAt, "a comment that stands above no block")
			marks = map[string]string{}
		}
	}
	if open != nil {
		fault(open.line, "a block that does not end")
	}
	if len(marks) > 0 {
		fault(markedAt, "a comment that stands above no block")
	}
	return p, faults
}

// add takes a block that was read.
func (p *page) add(b *block, fault func(int, string, ...any)) {
	var before *block
	if len(p.blocks) > 0 {
		before = p.blocks[len(p.blocks)-1]
	}
	p.blocks = append(p.blocks, b)
	notRun, leftOut := b.marks["not run"] != "", b.marks["output left out"] != ""
	if b.lang != "sh" && len(b.text) > 0 {
		if m := named.FindStringSubmatch(b.text[0]); m != nil && strings.Contains(m[1], ".") || m != nil && languages[b.lang] == "file" {
			b.file = m[1]
		}
	}
	switch does := languages[b.lang]; {
	case does == "run":
		b.steps = steps(b)
		for i := range b.steps {
			s := &b.steps[i]
			if s.want != nil && empty(s.want) {
				fault(s.line, "what is printed is said to be anything: that holds nothing")
			}
			s.any = leftOut && s.want == nil
		}
		if notRun && leftOut {
			fault(b.line, "a block that is not run has no output to leave out")
		}
	case leftOut:
		fault(b.line, "only the output of sh can be left out")
	case does == "compare":
		switch {
		case before == nil || before.lang != "sh":
			fault(b.line, "output of no commands: the block before is no sh")
		case before.marks["not run"] != "":
			fault(b.line, "output of commands that are not run; a block that nothing holds is text")
		case len(before.steps) == 0 || before.steps[len(before.steps)-1].want != nil || before.steps[len(before.steps)-1].any:
			fault(b.line, "output of commands whose output was given, or left out, already")
		case empty(b.text):
			fault(b.line, "what is printed is said to be anything: that holds nothing")
		default:
			before.steps[len(before.steps)-1].want = b.text
		}
	case does == "file" && b.file == "" && !notRun:
		fault(b.line, "a block in %s is a file, with its path in a comment on the first line, or says why it is not run", b.lang)
	}
}

// empty says that lines hold nothing.
func empty(want []string) bool {
	return strings.Trim(strings.Join(want, ""), anything+" \t") == ""
}

// steps cuts commands where the page says what they print.
func steps(b *block) []step {
	var out []step
	saying := true
	for i, line := range b.text {
		if line == "#>" || strings.HasPrefix(line, "#> ") {
			if len(out) > 0 {
				s := &out[len(out)-1]
				s.want = append(s.want, strings.TrimPrefix(strings.TrimPrefix(line, "#>"), " "))
			}
			saying = true
			continue
		}
		if saying {
			out = append(out, step{line: b.line + 1 + i})
			saying = false
		}
		s := &out[len(out)-1]
		s.code = append(s.code, line)
		if m := exitCode.FindStringSubmatch(line); m != nil {
			s.exit, _ = strconv.Atoi(m[1]) // the pattern lets digits through alone
			saying = i+1 < len(b.text) && !strings.HasPrefix(b.text[i+1], "#>")
		}
	}
	return out
}

// matcher is the pattern of what must be printed.
func matcher(want []string) *regexp.Regexp {
	var b strings.Builder
	b.WriteString(`\A`)
	for _, line := range want {
		if line == anything {
			b.WriteString(`(?:.*\n)*?`)
			continue
		}
		b.WriteString(strings.ReplaceAll(regexp.QuoteMeta(line), anything, `.*?`) + `\n`)
	}
	b.WriteString(`\z`)
	return regexp.MustCompile(b.String())
}

// lacking says what a machine lacks.
func lacking(need string) string {
	switch need {
	case "linux":
		if runtime.GOOS != "linux" {
			return "it needs Linux"
		}
	case "root":
		if os.Geteuid() != 0 {
			return "changing the root needs root"
		}
	case "node":
		if _, err := exec.LookPath("node"); err != nil {
			return err.Error()
		}
		if _, err := os.Stat(filepath.Join(root, "testdata", "npm", "node_modules", "@modelcontextprotocol")); err != nil {
			return "`npm ci` in testdata/npm installs the servers: " + err.Error()
		}
	default:
		if _, err := exec.LookPath(need); err != nil {
			return err.Error()
		}
	}
	return ""
}

// A place is where a page is run.
type place struct {
	work, aside, tree string
	env               []string
	port              string
}

// settle makes one. What was started there ends with the test.
func settle(t *testing.T, program string, needs []string) place {
	t.Helper()
	dir, err := os.MkdirTemp(scratch, "g") //nolint:usetesting // the name of a test in it would be too long for a socket
	if err != nil {
		t.Fatal(err)
	}
	l := place{work: filepath.Join(dir, "work"), aside: filepath.Join(dir, "aside"), tree: filepath.Join(dir, "tree")}
	home, bin := filepath.Join(dir, "home"), filepath.Join(dir, "bin")
	for _, d := range []string{l.work, l.aside, home, bin, filepath.Join(dir, "tmp")} {
		if err := os.Mkdir(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	path := bin
	if program != "" {
		if err := os.Link(program, filepath.Join(bin, "mcpx")); err != nil {
			t.Fatal(err)
		}
	}
	if slices.Contains(needs, "node") {
		path += ":" + filepath.Dir(node(t))
		packages, err := filepath.Abs(filepath.Join(root, "testdata", "npm", "node_modules"))
		if err == nil {
			err = os.Symlink(packages, filepath.Join(l.work, "node_modules"))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	l.env = []string{
		"PATH=" + path + ":/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
		"HOME=" + home, "TMPDIR=" + filepath.Join(dir, "tmp"), "LANG=C.UTF-8", "TZ=UTC", "USER=me", "TERM=dumb",
	}
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_, l.port, err = net.SplitHostPort(listener.Addr().String())
	if err = errors.Join(err, listener.Close()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		state := filepath.Join(".local", "state", "mcpx")
		for _, d := range append(daemon.All(filepath.Join(home, state)), daemon.All(filepath.Join(l.aside, "home", state))...) {
			if link, err := daemon.Find(ctx, d); err == nil {
				_, _ = link.Leave(ctx, false) // it is looked for below
				link.Close()
			}
			_ = daemon.WaitGone(ctx, d) // so is this
		}
		left := startedBelow(dir)
		for ; len(left) > 0 && ctx.Err() == nil; left = startedBelow(dir) { // the keeper of what a block left in the background is at it
			time.Sleep(20 * time.Millisecond)
		}
		if len(left) > 0 {
			t.Errorf("the page has ended, and these are left: %v", left)
		}
	})
	return l
}

// startedBelow lists the processes whose program or environment is in a folder. Where there
// is no /proc it lists none.
func startedBelow(dir string) []string {
	found, _ := filepath.Glob("/proc/[0-9]*") // the pattern is well-formed
	var out []string
	for _, p := range found {
		exe, _ := os.Readlink(filepath.Join(p, "exe")) // those of others cannot be read
		environ, _ := os.ReadFile(filepath.Join(p, "environ"))
		if strings.HasPrefix(exe, dir+"/") || strings.Contains(string(environ), dir+"/") {
			out = append(out, p+" "+exe)
		}
	}
	return out
}

// run runs a page and says where it is not true.
func (p page) run(t *testing.T) (faults []string) {
	t.Helper()
	return p.runIn(t, settle(t, program(t), p.needs))
}

func (p page) runIn(t *testing.T, l place) (faults []string) {
	t.Helper()
	fault := func(line int, format string, args ...any) {
		faults = append(faults, fmt.Sprintf("%s:%d: %s", p.name, line, fmt.Sprintf(format, args...)))
	}
	for _, b := range p.blocks {
		if i := slices.IndexFunc(strings.Fields(b.marks["needs"]), func(need string) bool { return lacking(need) != "" }); i >= 0 {
			t.Logf("%s:%d is not run: %s", p.name, b.line, lacking(strings.Fields(b.marks["needs"])[i]))
			continue
		}
		text := strings.ReplaceAll(strings.Join(b.text, "\n"), anyPort, l.port) + "\n"
		switch {
		case b.file != "":
			path := filepath.Join(l.work, filepath.FromSlash(b.file))
			err := os.MkdirAll(filepath.Dir(path), 0o700)
			if err == nil {
				err = os.WriteFile(path, []byte(text), 0o600)
			}
			if err != nil {
				fault(b.line, "%v", err)
			}
		case b.marks["not run"] != "":
		case languages[b.lang] == "configuration":
			if err := readable(t, l, text); err != "" {
				fault(b.line, "mcpx does not read this configuration: %s", err)
			}
		case languages[b.lang] == "run":
			l.perform(t, b, fault)
		}
	}
	return faults
}

// readable has mcpx read a configuration. What is only a part of one is made a whole.
func readable(t *testing.T, l place, text string) string {
	t.Helper()
	if !strings.HasPrefix(remark.ReplaceAllString(text, ""), "{") {
		text = "{\"mcpServers\": {\n" + text + "}}\n"
	}
	file := filepath.Join(l.aside, "servers.json")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		return err.Error()
	}
	env := slices.Clone(l.env)
	for _, m := range variable.FindAllStringSubmatch(text, -1) {
		env = append(env, m[1]+"=a value")
	}
	got := run(t, time.Minute, l.aside, env, program(t), "config", "--json", "--config", file)
	var read struct {
		Servers []struct {
			Name    string
			Error   *struct{ Message string }
			Ignored []string
		}
	}
	if err := json.Unmarshal([]byte(got.stdout), &read); err != nil || got.exit != 0 || got.stderr != "" {
		return fmt.Sprintf("exit code %d, %v\n%s", got.exit, err, got.stderr)
	}
	for _, s := range read.Servers {
		if s.Error != nil && !strings.HasSuffix(s.Error.Message, " has no answer") { // an ${input:ID}, which is asked for when it is needed
			return s.Error.Message
		}
		if len(s.Ignored) > 0 {
			return fmt.Sprintf("server %s: nobody reads %q", s.Name, s.Ignored)
		}
	}
	return ""
}

// perform runs a block of commands.
func (l place) perform(t *testing.T, b *block, fault func(int, string, ...any)) {
	t.Helper()
	dir, env := l.work, l.env
	if b.marks[inTree] != "" {
		if err := copyTree(l.tree); err != nil {
			fault(b.line, "%v", err)
			return
		}
		dir, env = l.tree, append(append(slices.Clone(env), "HOME="+filepath.Join(l.aside, "home")), toolchain()...) // another program has another daemon
	}
	file := func(name string, i int) string { return filepath.Join(l.aside, name+"."+strconv.Itoa(i)) }
	var script strings.Builder
	for i, s := range b.steps {
		_ = os.Remove(file("out", i)) // of the block before
		_ = os.Remove(file("code", i))
		code := strings.ReplaceAll(strings.Join(s.code, "\n"), anyPort, l.port)
		fmt.Fprintf(&script, "exec >'%s' 2>&1\n", file("out", i))
		if s.exit == 0 {
			fmt.Fprintf(&script, "set -e\n%s\necho 0 >'%s'\n", code, file("code", i))
		} else {
			fmt.Fprintf(&script, "set +e\n%s\necho $? >'%s'\n", code, file("code", i))
		}
	}
	path := filepath.Join(l.aside, "block.sh")
	if err := os.WriteFile(path, []byte(script.String()), 0o600); err != nil {
		fault(b.line, "%v", err)
		return
	}
	got := run(t, 2*time.Minute, dir, env, "/bin/sh", path)
	if got.stderr != "" {
		fault(b.line, "the shell says: %s", got.stderr)
	}
	for i, s := range b.steps {
		text, err := os.ReadFile(file("out", i))
		if err != nil {
			fault(s.line, "not reached")
			return
		}
		printed := strings.ReplaceAll(string(text), l.port, anyPort)
		if printed != "" && !strings.HasSuffix(printed, "\n") {
			printed += "\n"
		}
		code, err := os.ReadFile(file("code", i))
		if ended := strings.TrimSpace(string(code)); err != nil {
			fault(s.line, "a command failed with exit code %d, and printed\n%s", got.exit, printed)
			return
		} else if ended != strconv.Itoa(s.exit) {
			fault(s.line, "exit code %s, want %d; printed\n%s", ended, s.exit, printed)
		}
		if !s.any && !matcher(s.want).MatchString(printed) {
			fault(s.line, "printed\n%swant\n%s\n", printed, strings.Join(s.want, "\n"))
		}
	}
}

// copyTree makes a folder that has what is in the repository, by links.
func copyTree(dir string) error {
	from, err := filepath.Abs(root)
	if err != nil {
		return err
	}
	entries, err := os.ReadDir(from)
	if err != nil {
		return err
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		return err
	}
	for _, e := range entries {
		if name := e.Name(); name[0] != '.' && name != "mcpx" {
			if err := os.Symlink(filepath.Join(from, name), filepath.Join(dir, name)); err != nil {
				return err
			}
		}
	}
	return nil
}

// toolchain is what the go command needs besides a home.
var toolchain = sync.OnceValue(func() []string {
	var env []string
	for _, name := range []string{"GOCACHE", "GOMODCACHE", "GOPATH", "GOPROXY", "GOFLAGS"} {
		if out, err := exec.Command("go", "env", name).Output(); err == nil { // or the block fails, and says why
			env = append(env, name+"="+strings.TrimSpace(string(out)))
		}
	}
	goCommand, err := exec.LookPath("go")
	if err == nil {
		env = append(env, "PATH="+filepath.Dir(goCommand)+":/usr/bin:/bin")
	}
	return env
})
