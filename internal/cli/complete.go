package cli

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"

	"mcpx/internal/api"
	"mcpx/internal/fault"
	"mcpx/internal/settings"

	"github.com/urfave/cli/v2"
)

// shells are those for which there is a script that completes words. Bash takes a word apart at
// = and :, which mcpx does not. Where there are no words it is the name of a file.
var shells = map[string]string{
	"bash": `_mcpx() {
	local IFS=$'\n' i word
	local -a line=()
	for ((i = 1; i <= COMP_CWORD; i++)); do
		word=${COMP_WORDS[i]}
		if ((${#line[@]})) && [[ $word == [=:]* || ${line[-1]} == *[=:] ]]; then
			line[-1]+=$word
		else
			line+=("$word")
		fi
	done
	word=${line[-1]}
	COMPREPLY=($(mcpx completion words -- "${line[@]}" 2>/dev/null))
	COMPREPLY=("${COMPREPLY[@]#"${word%"${word##*[=:]}"}"}")
	case "${COMPREPLY[0]}" in *[.=]) compopt -o nospace ;; esac
}
complete -o default -F _mcpx mcpx
`,
	"zsh": `#compdef mcpx
_mcpx() {
	local -a found open
	found=(${(f)"$(mcpx completion words -- "${(@)words[2,CURRENT]}" 2>/dev/null)}"})
	open=(${(M)found:#*[.=]}) found=(${found:#*[.=]})
	compadd -a found
	compadd -S '' -a open
	if ! (( $#found + $#open )); then
		compset -P '--*='
		_files
	fi
}
if [ "$funcstack[1]" = _mcpx ]; then _mcpx "$@"; else compdef _mcpx mcpx; fi
`,
	"fish": `function __mcpx_words
	set -l found (mcpx completion words -- (commandline -opc)[2..-1] (commandline -ct) 2>/dev/null)
	if set -q found[1]
		printf '%s\n' $found
	else
		__fish_complete_path (commandline -ct)
	end
end
complete -c mcpx -f -a '(__mcpx_words)'
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
		return v.valuesOf(ctx, last, begun)
	case command == "run" && len(args) > 0:
		return nil // it belongs to the script
	case strings.HasPrefix(begun, "-"):
		if spelled, value, ok := strings.Cut(begun, "="); ok {
			return behind(spelled, v.valuesOf(ctx, g.flags[spelled], value))
		}
		return g.flagsOf(command)
	case command == "":
		return append(g.firstWords(), "stop", "restart", "events")
	case len(args) > 0 && command == "call":
		return v.keysOf(ctx, args[0], begun)
	case len(args) == 1 && command == "settings set":
		return v.valuesOf(ctx, settingRule(args[0]), begun)
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

// behind are values of a flag, as they stand in one word with it.
func behind(spelled string, values []string) []string {
	for i, value := range values {
		values[i] = spelled + "=" + value
	}
	return values
}

// profiles are those that need no configuration.
var profiles = []string{"none", "tools", "read", "net", "readnet", "project", "all"}

// valuesOf are the values that a flag may have, if they are few or names of what is there.
func (v *invocation) valuesOf(ctx context.Context, f flagRule, begun string) []string {
	switch {
	case f.grant == "tools":
		return v.toolsOf(ctx, begun)
	case f.grant != "", f.name == "":
		return nil
	}
	switch f.name {
	case "permissions":
		return slices.Clone(profiles)
	case "typecheck":
		return []string{api.TypecheckOn, api.TypecheckStrict, api.TypecheckOff}
	case "mode":
		return []string{"code", "full", "passthrough"}
	case "server", "ns":
		return v.servers(ctx)
	}
	for _, o := range api.Operations() {
		for _, field := range o.Fields() {
			if field.Flag == f.name && len(field.Words) > 0 {
				return slices.Clone(field.Words)
			}
		}
	}
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
			return append(g.firstWords(), v.p.pages()...)
		case 1:
			return slices.Clone(g.families[args[0]])
		}
	case "docs":
		return v.p.pages()
	case "completion":
		return slices.Collect(maps.Keys(shells))
	case "call", "types", "tools", "history", "catalog history", "history accept":
		return v.toolsOf(ctx, begun)
	case "ls", "resources", "prompts", "refresh", "servers remove", "servers trust", "servers input", "servers enable", "servers disable", "auth login", "auth logout", "auth status":
		return v.servers(ctx)
	case "settings get", "settings set", "settings unset":
		var out []string
		for _, i := range settings.All() {
			out = append(out, i.Path)
		}
		return out
	case "config":
		return []string{"trust", "untrust"}
	case "import":
		return v.hosts(ctx)
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

// keysOf are the arguments of a tool, as a call has them, and the values that those may have
// that stand in a word as they are.
func (v *invocation) keysOf(ctx context.Context, name, begun string) []string {
	v.servers(ctx)
	if v.backend == nil {
		return nil
	}
	server, tool, err := splitTool(ctx, v.backend, name)
	if err != nil {
		return nil
	}
	var out []string
	for _, q := range parameters(v.backend.KnownInput(server, tool)) {
		if !strings.HasPrefix(begun, q.name+"=") {
			out = append(out, q.name+"=")
			continue
		}
		values := q.values
		if q.typ == "boolean" {
			values = []string{"true", "false"}
		}
		out = append(out, behind(q.name, slices.DeleteFunc(values, func(w string) bool { return fault.ShellWord(w) != w }))...)
	}
	return out
}

// settingRule is the flag of a setting, by its path.
func settingRule(path string) flagRule {
	for _, i := range settings.All() {
		if i.Path == path {
			return flagRule{name: cmp.Or(i.Alias, i.Flag), setting: true}
		}
	}
	return flagRule{}
}

// hosts are those whose servers can be taken over.
func (v *invocation) hosts(ctx context.Context) []string {
	v.servers(ctx)
	if v.backend == nil {
		return nil
	}
	out, err := v.backend.Import(ctx, api.ImportInput{})
	if err != nil {
		return nil
	}
	var names []string
	for _, h := range out.Hosts {
		names = append(names, h.Name)
	}
	return names
}
