package cli

import (
	"cmp"
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"mcpx/internal/fault"

	"github.com/urfave/cli/v2"
)

// line is a command line taken apart: every flag in front, every positional behind.
type line struct {
	command string    // empty if the line names none
	flags   []setFlag // in the order in which they were given
	args    []string  // the positionals after the command, unchanged
	unknown bool      // there is no such command
}

// setFlag is a flag as it was given. Its value is empty if it takes none.
type setFlag struct {
	flagRule
	spelled string // without dashes
	value   string
}

// String returns the flag as one word that needs no context to be read.
func (f setFlag) String() string {
	if !f.takes {
		return "--" + f.name
	}
	return "--" + f.name + "=" + f.value
}

// has reports whether a flag was given.
func (l line) has(name string) bool {
	return slices.ContainsFunc(l.flags, func(f setFlag) bool { return f.name == name })
}

// asked turns --help and --version, and a line that names no command, into the
// commands that answer them.
func (l line) asked() line {
	help, version := l.has("help"), l.has("version")
	if !help && !version && l.command != "" {
		return l
	}
	out := line{command: "help"}
	switch {
	case version && !help:
		out.command = "version"
	case l.command != "":
		out.args = strings.Fields(l.command)
	}
	for _, f := range l.flags {
		if f.global && f.name != "help" && f.name != "version" {
			out.flags = append(out.flags, f)
		}
	}
	return out
}

// grammar is what taking a command line apart needs to know.
type grammar struct {
	flags    map[string]flagRule // by spelling: "--json", "-o"
	commands map[string][]string // long names of each command's own flags
	families map[string][]string // second words of commands that have two, by the first
	path     func(word string) pathKind
}

// pathKind is what a word names in the file system.
type pathKind int

const (
	nowhere pathKind = iota
	isFile
	isDirectory
)

// flagRule says how a flag is read. A name is read alike under every command.
type flagRule struct {
	name    string // long name, without dashes
	takes   bool   // a value follows
	word    string // what the value is, for people
	global  bool   // every command takes it
	setting bool   // its value belongs to package settings
	grant   string // the grant that it gives or takes away: its value, if it has one, stands behind "="
	deny    bool
}

// grammarOf reads the grammar off the commands. Two commands that read one flag
// differently are an error of the program.
func grammarOf(app *cli.App, path func(string) pathKind) *grammar {
	g := &grammar{flags: map[string]flagRule{}, commands: map[string][]string{}, families: map[string][]string{}, path: path}
	add := func(f cli.Flag, global bool) string {
		names := f.Names()
		_, setting := f.(*settingFlag)
		if setting && g.flags[dashed(names[0])].setting {
			return names[0] // all commands share one
		}
		word := valueWord(f)
		rule := flagRule{name: names[0], takes: word != "", word: word, global: global, setting: setting}
		if g, ok := f.(*grantFlag); ok {
			rule.takes, rule.grant, rule.deny = false, g.grant, g.deny
		}
		for _, name := range names {
			spelled := dashed(name)
			if known, ok := g.flags[spelled]; ok && known != rule {
				panic("cli: two ways to read " + spelled)
			}
			g.flags[spelled] = rule
		}
		return rule.name
	}
	for _, f := range app.Flags {
		add(f, true)
	}
	for _, c := range app.Commands {
		if first, second, ok := strings.Cut(c.Name, " "); ok {
			g.families[first] = append(g.families[first], second)
		}
		own := make([]string, 0, len(c.Flags))
		for _, f := range c.Flags {
			own = append(own, add(f, false))
		}
		g.commands[c.Name] = own
	}
	return g
}

// dashed spells a flag: -o, --limit.
func dashed(name string) string {
	if len(name) == 1 {
		return "-" + name
	}
	return "--" + name
}

// flagShape is what counts as a flag. Everything else is a positional, so that
// negative numbers, a lone dash and code that begins with one need no "--".
var flagShape = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^--?[A-Za-z][A-Za-z0-9-]*(=|$)`) })

// parse takes args apart. Flags may stand anywhere, also before the command. After
// "--" all words are positionals; so are all after the FILE of run, where even "--"
// belongs to the script.
//
// After an error, which is of kind Usage, the line holds what could be read.
func (g *grammar) parse(args []string) (line, error) {
	var l line
	var failed error
	fail := func(err error) {
		if failed == nil {
			failed = err
		}
	}
	ended := false // "--" was seen
	for i := 0; i < len(args); i++ {
		word := args[i]
		switch {
		case !ended && word == "--":
			ended = true
		case ended || !flagShape().MatchString(word):
			if i > 0 && !ended && len(l.args) == 0 && g.takesScript(l.command) && g.flags[args[i-1]].grant != "" && g.path(word) == isDirectory {
				fail(fault.Usagef("%q is a directory, and no script", word).
					Hintf("paths stand behind =: %s", fault.ShellWord(args[i-1]+"="+word)))
				continue
			}
			if i > 0 && !ended && len(l.args) == 0 && g.takesScript(l.command) && g.flags[args[i-1]].grant != "" && g.grantsWord(word, args[i+1:]) {
				fail(fault.Usagef("%q is no script", word).Hintf("what %s allows stands behind =: %s", args[i-1], fault.ShellWord(args[i-1]+"="+word)))
				continue
			}
			if !ended && len(l.args) == 0 && slices.Contains(g.families[l.command], word) {
				l.command += " " + word
			} else if l.command != "" {
				l.args = append(l.args, word)
			} else if err := g.first(&l, word, args[i+1:]); err != nil {
				fail(err)
			}
			if l.command == "run" && len(l.args) == 1 {
				l.args = append(l.args, args[i+1:]...)
				i = len(args)
			}
		default:
			spelled, value, given := strings.Cut(word, "=")
			rule, ok := g.flags[spelled]
			switch {
			case !ok:
				fail(g.unknownFlag(spelled, l.command, l.args))
				continue
			case rule.grant != "" && given && strings.TrimSpace(value) == "":
				// Most likely a variable of a shell that is not set; it must not grant everything.
				fail(fault.Usagef("%s= names nothing", spelled).Hintf("write %s=%s, or %s alone for all", spelled, rule.word, spelled))
				continue
			case !rule.takes && given && rule.grant == "":
				fail(fault.Usagef("%s takes no value", spelled).Hintf("write %s alone", spelled))
				continue
			case rule.takes && !given:
				if i++; i == len(args) || g.isFlag(args[i]) {
					fail(needsValue(spelled, rule.word))
					i--
					continue
				}
				value = args[i]
			}
			if rule.takes && value == "" {
				fail(needsValue(spelled, rule.word))
			}
			if rule.name == "typecheck" {
				if err := checkTypecheck(value); err != nil {
					fail(err)
				}
			}
			l.flags = append(l.flags, setFlag{rule, strings.TrimLeft(spelled, "-"), value})
		}
	}
	if _, whole := g.commands[l.command]; !whole && g.families[l.command] != nil {
		if slices.Contains(g.families[l.command], "list") && len(l.args) == 0 && !l.has("help") {
			l.command += " list"
		} else {
			fail(g.unfinished(l))
		}
	}
	for _, f := range l.flags {
		switch {
		case f.global || slices.Contains(g.commands[l.command], f.name):
		case l.command == "":
			fail(fault.Usagef("%s needs a command", dashed(f.spelled)).Hintf(`"mcpx help" lists the commands`))
		default:
			fail(g.unknownFlag(dashed(f.spelled), l.command, l.args))
		}
	}
	return l, failed
}

// grantsWord reports whether a word behind a flag that grants something is what is granted,
// and no script: it is none by its looks, and one follows.
func (g *grammar) grantsWord(word string, rest []string) bool {
	if g.path(word) != nowhere || isScriptName(word) || looksLikeCode(word) || strings.ContainsAny(word, " \t\n'\"`+=?") {
		return false
	}
	for _, next := range rest {
		if !flagShape().MatchString(next) {
			return g.runnable(next) != ""
		}
	}
	return false
}

// takesScript reports whether the first word behind a command, or behind none, is a script.
func (g *grammar) takesScript(command string) bool {
	return command == "" || command == "run" || command == "exec"
}

func needsValue(spelled, what string) error {
	return fault.Usagef("%s needs a value: %s", spelled, what).Hintf("write %s %s", spelled, what)
}

// first reads the first positional: a command, or a script that needs none. Behind it
// stands rest.
func (g *grammar) first(l *line, word string, rest []string) error {
	if whole := shorthand(word); whole != "" {
		word = whole
	}
	if _, ok := g.commands[word]; ok || g.families[word] != nil {
		l.command = word
		return nil
	}
	switch g.runnable(word) {
	case "run":
		l.command, l.args = "run", []string{word}
	case "exec":
		l.command, l.args = "exec", []string{word}
	default:
		l.command, l.unknown = word, true
		return g.unknownCommand(word, rest)
	}
	return nil
}

// shorthand is the command of two words that one word stands for; empty if none.
func shorthand(word string) string {
	switch word {
	case "stop", "restart", "events":
		return "daemon " + word
	}
	return ""
}

// unfinished says what is wrong with the first word of a command that has two. If its
// help is asked for, nothing is.
func (g *grammar) unfinished(l line) error {
	if l.has("help") {
		return nil
	}
	words := g.families[l.command]
	list := "mcpx " + l.command + " " + strings.Join(words, "|")
	if len(l.args) == 0 {
		return fault.Usagef("%s needs a word more", l.command).Hintf("usage: %s", list)
	}
	return fault.Usagef("%s: unknown word %q", l.command, l.args[0]).
		Hintf("%susage: %s", didYouMean(l.args[0], words, `"mcpx `+l.command+` %s"`), list)
}

// unknownCommand says what a first positional that is neither command nor script was
// most likely meant to be.
func (g *grammar) unknownCommand(word string, rest []string) error {
	e := fault.Usagef("unknown command %q", word)
	const list = `"mcpx help" lists the commands`
	names := slices.AppendSeq(slices.Collect(maps.Keys(g.commands)), maps.Keys(g.families))
	switch name, isTool := toolName(word); {
	case word == "":
		return fault.Usagef("the command is empty").Hintf(list)
	case word == "-":
		return e.Hintf(`"mcpx exec -" runs the code on standard input`)
	case isTool && !strings.Contains(name, "."):
		return e.Hintf(`did you mean "mcpx tools %s"? %s`, name, list)
	case g.path(word) == isDirectory:
		e = fault.Usagef("unknown command %q, which is a directory", word)
		return e.Hintf(`%sname the file in it that is to run; %s`, didYouMean(word, names, `"mcpx %s"`), list)
	case isTool:
		words := []string{"mcpx", "call", name}
		for _, w := range rest {
			words = append(words, fault.ShellWord(w))
		}
		return e.Hintf(`did you mean "%s"? %s`, strings.Join(words, " "), list)
	case !plainWord(word):
		return e.Hintf(`code is run by "mcpx exec %s"; %s`, fault.ShellWord(shortened(word)), list)
	}
	if own := elsewhereCalled(word); own != "" {
		words := []string{"mcpx", own}
		for _, w := range rest {
			words = append(words, fault.ShellWord(w))
		}
		return e.Hintf(`did you mean "%s"? %s`, shortened(strings.Join(words, " ")), list)
	}
	if first, ok := g.meant(word, rest); ok {
		return e.Hintf(`did you mean "mcpx %s %s"? %s`, first, rest[0], list)
	}
	whole := g.seconds(word)
	if word == "list" {
		whole = append([]string{"mcpx ls"}, whole...) // what the word means elsewhere
	}
	if len(whole) > 0 {
		return e.Hintf(`did you mean "%s"? %s`, strings.Join(whole, `" or "`), list)
	}
	return e.Hintf(`%s%s`, didYouMean(word, names, `"mcpx %s"`), list)
}

// elsewhereCalled is the command that has another name elsewhere; empty if none.
func elsewhereCalled(word string) string {
	switch word {
	case "describe", "info", "inspect", "show":
		return "types"
	case "eval", "execute":
		return "exec"
	case "find":
		return "search"
	}
	return ""
}

// seconds returns the commands of two words whose second is word.
func (g *grammar) seconds(word string) []string {
	var out []string
	for _, first := range slices.Sorted(maps.Keys(g.families)) {
		if slices.Contains(g.families[first], word) {
			out = append(out, "mcpx "+first+" "+word)
		}
	}
	return out
}

// meant returns the first word of a command of two words that word is near to, if the second
// is right.
func (g *grammar) meant(word string, rest []string) (string, bool) {
	if len(rest) == 0 {
		return "", false
	}
	var firsts []string
	for first, words := range g.families {
		if slices.Contains(words, rest[0]) {
			firsts = append(firsts, first)
		}
	}
	return nearest(word, firsts)
}

// toolName reads the name of a tool, NS.TOOL, as a script or the command line spells it;
// behind tools. also that of a namespace.
func toolName(word string) (name string, ok bool) {
	name, spelledOut := strings.CutPrefix(word, "tools.")
	parts := strings.Split(name, ".")
	for _, part := range parts {
		if !plainWord(part) {
			return "", false
		}
	}
	return name, spelledOut || len(parts) > 1
}

// plainWord reports whether text is one word, as names of commands and tools are.
func plainWord(text string) bool {
	r, _ := utf8.DecodeRuneInString(text)
	return (unicode.IsLetter(r) || r == '_') && strings.IndexFunc(text, func(r rune) bool {
		return r != '-' && r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r)
	}) < 0
}

// shortened is code short enough for a hint.
func shortened(code string) string {
	if strings.Contains(code, "\n") || cells(code) > 60 {
		return "…"
	}
	return code
}

// runnable says which command a first positional that names none stands for: run for
// what is plainly a file, exec for what is plainly code, else nothing. The bare name of a
// tool is neither: as code it would do nothing.
func (g *grammar) runnable(word string) string {
	code := looksLikeCode(word)
	switch {
	case isScriptName(word) && !strings.ContainsAny(word, "\n(){};"), g.path(word) == isFile, isPath(word) && !code:
		return "run"
	case code:
		if _, ok := toolName(word); !ok {
			return "exec"
		}
	}
	return ""
}

// isPath reports whether a word is spelled as a path from here or from the root.
func isPath(word string) bool {
	return strings.HasPrefix(word, "./") || strings.HasPrefix(word, "../") || strings.HasPrefix(word, "/")
}

// isScriptName reports whether a path ends as those of scripts do.
func isScriptName(path string) bool {
	return slices.Contains([]string{".ts", ".js", ".mts", ".mjs"}, filepath.Ext(path))
}

// looksLikeCode reports whether text holds something that no file name and no command has.
func looksLikeCode(text string) bool {
	return slices.ContainsFunc([]string{"(", ")", "{", "}", ";", "=>", "await", "console.", "tools."},
		func(mark string) bool { return strings.Contains(text, mark) })
}

func (g *grammar) isFlag(word string) bool {
	spelled, _, _ := strings.Cut(word, "=")
	_, ok := g.flags[spelled]
	return ok || word == "--"
}

func (g *grammar) unknownFlag(spelled, command string, args []string) *fault.Error {
	own, known := g.commands[command]
	var names []string
	for s, rule := range g.flags {
		if rule.global || slices.Contains(own, rule.name) || !known {
			names = append(names, s)
		}
	}
	of, help, script := "", "mcpx help", ""
	if known {
		of, help = " of mcpx "+command, "mcpx help "+command
	}
	switch command {
	case "exec":
		script = `; what is meant for the script stands behind "--"`
	case "run":
		script = "; what is meant for the script stands behind FILE"
	case "servers add":
		if len(args) > 0 {
			script = `; what is meant for the program stands behind "--", as it does`
		}
	case "call", "prompts get":
		if name := strings.TrimLeft(spelled, "-"); len(args) > 0 && len(name) > 1 {
			script = fmt.Sprintf("; an argument of %s is written %s=…", args[0], name)
		}
	}
	meant := didYouMean(spelled, names, "%s")
	if ends := g.endings(spelled, names); len(ends) > 0 {
		meant = "did you mean " + strings.Join(ends, " or ") + "? "
	}
	return fault.Usagef("unknown flag %s%s", spelled, of).Hintf(`%s"%s" lists the flags%s`, meant, help, script)
}

// endings are flags that end as a spelling that is none does, the shortest first, or those of
// the command alone that begin with its one letter.
func (g *grammar) endings(spelled string, names []string) []string {
	const most = 3
	word := strings.TrimLeft(spelled, "-")
	var out []string
	for _, n := range names {
		rule := g.flags[n]
		if len(word) > 1 && strings.HasSuffix(n, "-"+word) || len(word) == 1 && len(n) > 2 && n[2:3] == word && !rule.setting && !rule.global {
			out = append(out, n)
		}
	}
	slices.SortFunc(out, func(a, b string) int { return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b)) })
	return out[:min(len(out), most)]
}
