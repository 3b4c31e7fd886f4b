package cli

import (
	"slices"
	"strings"
	"testing"

	"mcpx/internal/fault"
)

func testGrammar() *grammar {
	return grammarOf((&invocation{}).app(), func(path string) pathKind {
		switch path {
		case "report", "a(1)", "tools.demo.file":
			return isFile
		case "lib", "sub.dir":
			return isDirectory
		}
		return nowhere
	})
}

func TestParse(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name    string
		args    []string
		command string
		flags   string
		rest    []string
	}{
		{"nothing", nil, "", "", nil},
		{"a flag of all", []string{"--json"}, "", "--json", nil},
		{"flags around", []string{"--json", "search", "a", "--limit", "3", "b", "--config=x"}, "search", "--json --limit=3 --config=x", []string{"a", "b"}},
		{"a flag before its command", []string{"--limit", "3", "search", "a"}, "search", "--limit=3", []string{"a"}},
		{"a short flag", []string{"types", "-o", "-", "demo"}, "types", "--output=-", []string{"demo"}},
		{"a short flag with its value", []string{"types", "-o=x"}, "types", "--output=x", nil},
		{"a value that holds =", []string{"ls", "--config=a=b"}, "ls", "--config=a=b", nil},
		{"numbers and dashes", []string{"search", "-1", "-", "-.5", "- x"}, "search", "", []string{"-1", "-", "-.5", "- x"}},
		{"code that begins with a dash", []string{"exec", "-x + 1", "--i; return i"}, "exec", "", []string{"-x + 1", "--i; return i"}},
		{"two dashes end flags", []string{"exec", "c", "--json", "--", "--json", "--", "-x"}, "exec", "--json", []string{"c", "--json", "--", "-x"}},
		{"all behind FILE is the script's", []string{"run", "--json", "f.ts", "--json", "--", "-", "", "--flag=x y"}, "run", "--json", []string{"f.ts", "--json", "--", "-", "", "--flag=x y"}},
		{"two dashes before FILE", []string{"run", "--", "--f.ts", "--", "a"}, "run", "", []string{"--f.ts", "--", "a"}},
		{"a script from standard input", []string{"run", "-", "--json"}, "run", "", []string{"-", "--json"}},
		{"a path", []string{"--json", "./x.ts", "--json"}, "run", "--json", []string{"./x.ts", "--json"}},
		{"a setting before a path", []string{"--timeout", "5s", "x.mjs"}, "run", "--timeout=5s", []string{"x.mjs"}},
		{"a file that exists", []string{"report", "a"}, "run", "", []string{"report", "a"}},
		{"a file that looks like code", []string{"a(1)"}, "run", "", []string{"a(1)"}},
		{"code", []string{"1 + f(2)", "--json", "a"}, "exec", "--json", []string{"1 + f(2)", "a"}},
		{"code with a path in it", []string{"import('./x.ts"}, "exec", "", []string{"import('./x.ts"}},
		{"code that waits", []string{"await x"}, "exec", "", []string{"await x"}},
		{"a file called as a tool", []string{"tools.demo.file"}, "run", "", []string{"tools.demo.file"}},
		{"code with a tool in it", []string{"x + tools.demo"}, "exec", "", []string{"x + tools.demo"}},
		{"a path that leads nowhere", []string{"./none"}, "run", "", []string{"./none"}},
		{"a directory by its path", []string{"../lib", "a"}, "run", "", []string{"../lib", "a"}},
		{"code that begins with a slash", []string{"/a/.test('a')"}, "exec", "", []string{"/a/.test('a')"}},
		{"a command that is a name in a list", []string{"tools", "tools"}, "tools", "", []string{"tools"}},
		{"key=value", []string{"call", "a.b", "k=--v", "n:=-1"}, "call", "", []string{"a.b", "k=--v", "n:=-1"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			l, err := testGrammar().parse(tt.args)
			if err != nil {
				t.Fatal(err)
			}
			var flags []string
			for _, f := range l.flags {
				flags = append(flags, f.String())
			}
			if l.command != tt.command || strings.Join(flags, " ") != tt.flags || !slices.Equal(l.args, tt.rest) {
				t.Errorf("parse(%q) = %q %q %q, want %q %q %q", tt.args, l.command, flags, l.args, tt.command, tt.flags, tt.rest)
			}
		})
	}
}

func TestWhatAWordThatIsNoCommandIsTakenFor(t *testing.T) {
	t.Parallel()
	const list = `"mcpx help" lists the commands`
	tests := []struct {
		args          []string
		message, hint string
	}{
		{[]string{"tools.demo.echo"}, `unknown command "tools.demo.echo"`, `did you mean "mcpx call demo.echo"? ` + list},
		{[]string{"tools.demo.fancy-name", "a=b c", "--json"}, `unknown command "tools.demo.fancy-name"`, `did you mean "mcpx call demo.fancy-name 'a=b c' --json"? ` + list},
		{[]string{"tools.demo"}, `unknown command "tools.demo"`, `did you mean "mcpx tools demo"? ` + list},
		{[]string{"--json", "demo.echo", "message=hi"}, `unknown command "demo.echo"`, `did you mean "mcpx call demo.echo message=hi"? ` + list},
		{[]string{"a.b.c", `{"x":"it's"}`}, `unknown command "a.b.c"`, `did you mean "mcpx call a.b.c '{"x":"it'\''s"}'"? ` + list},
		{[]string{"-"}, `unknown command "-"`, `"mcpx exec -" runs the code on standard input`},
		{[]string{"return 1"}, `unknown command "return 1"`, `code is run by "mcpx exec 'return 1'"; ` + list},
		{[]string{"6*7"}, `unknown command "6*7"`, `code is run by "mcpx exec '6*7'"; ` + list},
		{[]string{"42"}, `unknown command "42"`, `code is run by "mcpx exec 42"; ` + list},
		{[]string{"1 +\n2"}, `unknown command "1 +\n2"`, `code is run by "mcpx exec '…'"; ` + list},
		{[]string{strings.Repeat("1+", 40) + "1"}, `unknown command "` + strings.Repeat("1+", 40) + `1"`, `code is run by "mcpx exec '…'"; ` + list},
		{[]string{"lib"}, `unknown command "lib", which is a directory`, `name the file in it that is to run; ` + list},
		{[]string{"sub.dir", "x"}, `unknown command "sub.dir", which is a directory`, `name the file in it that is to run; ` + list},
		{[]string{""}, `the command is empty`, list},
		{[]string{"demo..echo"}, `unknown command "demo..echo"`, `code is run by "mcpx exec demo..echo"; ` + list},
		{[]string{"frobnicate", "x"}, `unknown command "frobnicate"`, list},
	}
	for _, tt := range tests {
		_, err := testGrammar().parse(tt.args)
		e := fault.From(err)
		if e == nil {
			t.Errorf("mcpx %q is in order", tt.args)
		} else if e.Kind != fault.Usage || e.Message != tt.message || e.Hint != tt.hint {
			t.Errorf("mcpx %q: %s: %s\n  %s\nwant: %s\n  %s", tt.args, e.Kind, e.Message, e.Hint, tt.message, tt.hint)
		}
	}
}

func TestNearest(t *testing.T) {
	t.Parallel()
	tests := []struct {
		word       string
		candidates string
		want       string
	}{
		{"lss", "exec ls run", "ls"},
		{"sl", "exec ls run", "ls"},
		{"serach", "search types", "search"},
		{"ver", "help version", "version"},
		{"LS", "ls", "ls"},
		{"x", "ls run", ""},
		{"frobnicate", "ls run search", ""},
		{"", "ls", ""},
		{"--conf", "--config --json", "--config"},
		{"-", "--config --json", ""},
		{"abc", "abd abe", "abd"},
		{"--nope", "--mode --json", ""},
		{"-x", "-A -o", ""},
		{"-a", "-A -o", "-A"},
	}
	for _, tt := range tests {
		if got, ok := nearest(tt.word, strings.Fields(tt.candidates)); got != tt.want || ok != (tt.want != "") {
			t.Errorf("nearest(%q, %q) = %q, want %q", tt.word, tt.candidates, got, tt.want)
		}
	}
}

// FuzzParse holds that a line is either refused or read whole: no word gets lost, and
// what stands behind the FILE of run is not touched.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{"--json ls", "run f.ts --json -- x", "search --limit 3 -1 -- --ns", "exec -- -x", "types -o= a", "--limit", "call a.b k=v"} {
		f.Add(strings.ReplaceAll(seed, " ", "\x00"))
	}
	f.Fuzz(func(t *testing.T, joined string) {
		args := strings.Split(joined, "\x00")
		l, err := testGrammar().parse(args)
		if err != nil {
			return
		}
		words := len(l.args)
		for _, flag := range l.flags {
			if again, err := testGrammar().parse([]string{l.command, flag.String()}); l.command != "" && l.command != "run" && l.command != "exec" && (err != nil || len(again.flags) != 1 || again.flags[0].value != flag.value) {
				t.Errorf("%q is not read as the flag that it was: %v", flag, err)
			}
			words++
			if flag.takes && !slices.ContainsFunc(args, func(a string) bool { return strings.HasSuffix(a, "="+flag.value) }) {
				words++
			}
		}
		if !slices.Contains([]string{"run", "exec"}, l.command) && l.command != "" {
			words++
		}
		if words > len(args)+1 || words < len(args)-3 && !slices.Contains(args, "--") {
			t.Errorf("%q became %d words: %+v", args, words, l)
		}
		for _, a := range l.args {
			if !slices.Contains(args, a) {
				t.Errorf("%q was not among %q", a, args)
			}
		}
		if l.command == "run" && len(l.args) > 0 && !slices.Equal(args[len(args)-len(l.args):], l.args) {
			t.Errorf("%q became %q behind run", args, l.args)
		}
	})
}
