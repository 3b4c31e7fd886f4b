package cli

import (
	"context"
	"maps"
	"slices"
	"strings"

	"mcpx/internal/fault"
	"mcpx/internal/settings"

	"github.com/urfave/cli/v2"
)

// shells are those for which there is a script that completes words.
var shells = map[string]string{
	"bash": `_mcpx() {
	local IFS=$'\n' word=${COMP_WORDS[COMP_CWORD]}
	COMPREPLY=($(mcpx completion words -- "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
	case "${COMPREPLY[0]}" in *.) compopt -o nospace ;; esac
}
complete -o default -F _mcpx mcpx
`,
	"zsh": `#compdef mcpx
_mcpx() {
	local -a found open
	found=(${(f)"$(mcpx completion words -- "${(@)words[2,CURRENT]}" 2>/dev/null)}"})
	open=(${(M)found:#*.}) found=(${found:#*.})
	compadd -a found
	compadd -S '' -a open
	(( $#found + $#open )) || _files
}
if [ "$funcstack[1]" = _mcpx ]; then _mcpx "$@"; else compdef _mcpx mcpx; fi
`,
	"fish": `complete -c mcpx -a '(mcpx completion words -- (commandline -opc)[2..-1] (commandline -ct) 2>/dev/null)'
`,
}

// completion prints the script of a shell; words is what these scripts ask.
func (v *invocation) completion(c *cli.Context) error {
	if c.Args().First() == "words" {
		return v.completeWords(c.Context, c.App, c.Args().Tail())
	}
	if err := takes(c, 1, 1); err != nil {
		return err
	}
	names := slices.Sorted(maps.Keys(shells))
	text, ok := shells[c.Args().First()]
	if !ok {
		return fault.Usagef("there is no completion for %q", c.Args().First()).
			Hintf("%sthere is one for %s", didYouMean(c.Args().First(), names, "%s"), strings.Join(names, ", "))
	}
	doc := struct {
		Shell  string `json:"shell"`
		Script string `json:"script"`
	}{c.Args().First(), text}
	return v.answer(doc, func() string { return text })
}

// completeWords prints what may stand in the place of the last of the words of a command
// line, one a line. Nothing is an answer too: then it is the name of a file, or anything.
func (v *invocation) completeWords(ctx context.Context, app *cli.App, line []string) error {
	if len(line) == 0 {
		line = []string{""}
	}
	words := v.candidates(ctx, grammarOf(app, v.kindOfPath), line[:len(line)-1], line[len(line)-1])
	words = slices.DeleteFunc(words, func(w string) bool { return !strings.HasPrefix(w, line[len(line)-1]) })
	slices.Sort(words)
	doc := struct {
		Words []string `json:"words"`
	}{append([]string{}, slices.Compact(words)...)}
	return v.answer(doc, func() string {
		var p page
		for _, w := range doc.Words {
			p.line("%s", word(w))
		}
		return p.String()
	})
}

// candidates are the words that may stand behind those before, given the beginning of one.
func (v *invocation) candidates(ctx context.Context, g *grammar, before []string, begun string) []string {
	command, last := "", flagRule{}
	var args []string
	for i := 0; i < len(before); i++ {
		w := before[i]
		last = flagRule{}
		switch spelled, _, given := strings.Cut(w, "="); {
		case w == "--":
			return nil
		case flagShape().MatchString(w):
			if last = g.flags[spelled]; last.takes && !given && i+1 < len(before) {
				last = flagRule{}
				i++
			} else if given {
				last = flagRule{}
			}
		case command == "":
			if command = shorthand(w); command == "" {
				command = w
			}
		case len(args) == 0 && slices.Contains(g.families[command], w):
			command += " " + w
		default:
			args = append(args, w)
		}
	}
	_, whole := g.commands[command]
	switch {
	case last.takes:
		return valuesOf(last)
	case command == "run" && len(args) > 0:
		return nil // it belongs to the script
	case strings.HasPrefix(begun, "-"):
		return g.flagsOf(command)
	case command == "":
		return append(g.firstWords(), "stop", "restart", "events")
	case len(args) > 0 && command != "help":
		return nil
	case len(args) == 0 && !whole:
		return slices.Clone(g.families[command])
	}
	out := v.argumentsOf(ctx, g, command, args, begun)
	if len(args) == 0 {
		out = append(out, g.families[command]...)
	}
	return out
}

// valuesOf are the values that a flag may have, if they are few.
func valuesOf(f flagRule) []string {
	for _, i := range settings.All() {
		if f.setting && (i.Flag == f.name || i.Alias == f.name) {
			return slices.Clone(i.Words)
		}
	}
	return nil
}

// flagsOf are the flags that a command takes, as they are spelled.
func (g *grammar) flagsOf(command string) []string {
	var out []string
	for spelled, rule := range g.flags {
		if strings.HasPrefix(spelled, "--") && (rule.global || slices.Contains(g.commands[command], rule.name)) {
			out = append(out, spelled)
		}
	}
	return out
}

func (g *grammar) firstWords() []string {
	var out []string
	for name := range g.commands {
		first, _, _ := strings.Cut(name, " ")
		out = append(out, first)
	}
	return out
}

// argumentsOf are the words that a command may take behind its arguments so far, where they
// are names.
func (v *invocation) argumentsOf(ctx context.Context, g *grammar, command string, args []string, begun string) []string {
	switch command {
	case "help":
		switch len(args) {
		case 0:
			return g.firstWords()
		case 1:
			return slices.Clone(g.families[args[0]])
		}
	case "completion":
		return slices.Collect(maps.Keys(shells))
	case "call", "types", "history", "catalog history", "history accept":
		return v.toolsOf(ctx, begun)
	case "ls", "tools", "resources", "prompts", "refresh", "servers remove", "servers trust", "servers input", "auth login", "auth logout", "auth status":
		return v.servers(ctx)
	case "settings get", "settings set", "settings unset":
		var out []string
		for _, i := range settings.All() {
			out = append(out, i.Path)
		}
		return out
	case "config":
		return []string{"trust", "untrust"}
	}
	return nil
}

// toolsOf are the servers, or those tools of the one whose name is written out that are known:
// no key that is pressed starts a program.
func (v *invocation) toolsOf(ctx context.Context, begun string) []string {
	var out []string
	for _, s := range v.servers(ctx) {
		out = append(out, s+".")
		if !strings.HasPrefix(begun, s+".") {
			continue
		}
		for _, t := range v.backend.Known(s) {
			out = append(out, s+"."+t)
		}
		out = slices.DeleteFunc(out, func(w string) bool { return w == s+"." })
	}
	return out
}
