package cli

import (
	"context"
	"encoding/json"
	"io"
	"maps"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mcpx/internal/fault"
)

func TestCompletion(t *testing.T) {
	t.Parallel()
	tests := []struct{ line, want string }{
		{"stat", "status"},
		{"s", "search serve servers session settings status stop"},
		{"servers ", "add disable enable input list remove trust"},
		{"servers re", "remove"},
		{"servers remove ", "demo"},
		{"servers remove demo ", ""},
		{"call ", "demo."},
		{"call demo.", "demo.echo demo.fancy-name"},
		{"--json call demo.e", "demo.echo"},
		{"call demo.echo ", "loud= many= message= tone="},
		{"call demo.echo m", "many= message="},
		{"call demo.echo message=hi l", "loud="},
		{"call demo.echo loud=", "loud=false loud=true"},
		{"call demo.echo tone=", "tone=deep tone=high"},
		{"call demo.echo many=", ""},
		{"call demo.wipe ", ""},
		{"tools demo.e", "demo.echo"},
		{"ls d", "demo"},
		{"exec --permissions ", "all net none project read readnet tools"},
		{"exec --permissions=re", "--permissions=read --permissions=readnet"},
		{"exec --typecheck s", "strict"},
		{"exec --allow-tools=demo.e", "--allow-tools=demo.echo"},
		{"exec --allow-read=", ""},
		{"exec --ns ", "demo"},
		{"serve --mode f", "full"},
		{"servers add --write-policy a", "allow ask"},
		{"settings set exec.where ", "auto local remote"},
		{"settings set no.such ", ""},
		{"import c", "cursor"},
		{"types d", "demo."},
		{"history a", "accept"},
		{"history d", "demo."},
		{"catalog h", "history"},
		{"exec --tim", "--timeout"},
		{"--config x.json exec --tim", "--timeout"},
		{"ls --tim", ""},
		{"ls --re", "--refresh"},
		{"call --policy-write ", "allow ask deny"},
		{"call --policy-write=ask demo.e", "demo.echo"},
		{"settings get exec.wh", "exec.where"},
		{"help servers r", "remove"},
		{"help servers remove ", ""},
		{"sto", "stop"},
		{"stop --a", "--all"},
		{"run --tim", "--timeout"},
		{"run x.ts --tim", ""},
		{"exec -- --tim", ""},
		{"config t", "trust"},
		{"completion ", "bash fish zsh"},
		{"nonsense ", ""},
	}
	for _, tt := range tests {
		t.Run(tt.line, func(t *testing.T) {
			t.Parallel()
			words := strings.Split(tt.line, " ")
			want := ""
			if tt.want != "" {
				want = strings.ReplaceAll(tt.want, " ", "\n") + "\n"
			}
			d := &desk{}
			drive(t, d, append([]string{"completion", "words", "--"}, words...)...).want(t, 0, want, "")
			if d.opened > 0 && d.options.Daemon != OwnProcess {
				t.Error("a daemon was asked")
			}
		})
	}
	s := drive(t, &desk{}, "completion", "words", "--json", "--", "stat")
	var doc struct{ Words []string }
	if err := json.Unmarshal(s.stdout.Bytes(), &doc); err != nil || !slices.Equal(doc.Words, []string{"status"}) {
		t.Errorf("%v, %s", err, s.stdout.String())
	}
	// A configuration that cannot be read has no servers, and is no error here.
	var stdout, stderr strings.Builder
	p := Program{Args: []string{"completion", "words", "--", "call", ""}, Stdout: &stdout, Stderr: &stderr, Stdin: strings.NewReader(""), Open: func(context.Context, OpenOptions) (Backend, error) {
		return nil, fault.Usagef("x.json:1:2: broken")
	}}
	if code := p.Run(t.Context()); code != 0 || stdout.String()+stderr.String() != "" {
		t.Errorf("exit %d, %q, %q", code, stdout.String(), stderr.String())
	}
}

func TestCompletionScripts(t *testing.T) {
	t.Parallel()
	for _, shell := range slices.Sorted(maps.Keys(shells)) {
		script := drive(t, &desk{}, "completion", shell)
		script.want(t, 0, shells[shell], "")
		path, err := exec.LookPath(shell)
		if err != nil {
			t.Logf("there is no %s that could read its script", shell)
			continue
		}
		check := exec.CommandContext(t.Context(), path, "-n")
		check.Stdin = strings.NewReader(shells[shell])
		if out, err := check.CombinedOutput(); err != nil {
			t.Errorf("%s: %v: %s", shell, err, out)
		}
	}
	drive(t, &desk{}, "completion", "bas").want(t, 2, "", "mcpx: there is no completion for \"bas\"\n  did you mean bash? there is one for bash, fish, zsh\n")
	drive(t, &desk{}, "completion").want(t, 2, "", "mcpx: completion needs bash|zsh|fish\n  usage: mcpx completion bash|zsh|fish\n")
}

func TestManual(t *testing.T) {
	t.Parallel()
	s := drive(t, &desk{}, "man")
	s.want(t, 0, s.stdout.String(), "")
	for _, want := range []string{".TH MCPX 1", ".B mcpx call [flags] NS.TOOL", `\-\-session NAME`, ".BR policy.write \", \" MCPX_POLICY_WRITE", ".SH EXIT STATUS", ".B 124\na time limit passed"} {
		if !strings.Contains(s.stdout.String(), want) {
			t.Errorf("the manual lacks %q", want)
		}
	}
	for line := range strings.SplitSeq(s.stdout.String(), "\n") {
		if macro, _, _ := strings.Cut(line, " "); strings.HasPrefix(line, ".") &&
			!slices.Contains(strings.Fields(".TH .SH .SS .TP .IP .B .BR .RS .RE .PP .nf .fi .br"), macro) || strings.HasPrefix(line, "'") {
			t.Errorf("a line of text that is an instruction: %s", line)
		}
	}
	if got := roff(".a\n'b\\-c…"); got != `\&.a`+"\n"+`\&'b\e\-c...` {
		t.Errorf("roff = %q", got)
	}
	groff, err := exec.LookPath("groff")
	if err != nil {
		t.Skip("there is no groff that could read the page")
	}
	check := exec.CommandContext(t.Context(), groff, "-man", "-ww", "-z")
	check.Stdin, check.Stdout = strings.NewReader(s.stdout.String()), io.Discard
	check.Dir = filepath.Clean(t.TempDir())
	var complaints strings.Builder
	check.Stderr = &complaints
	if err := check.Run(); err != nil || complaints.Len() > 0 {
		t.Errorf("%v: %s", err, complaints.String())
	}
}

// The help lists the commands in an order that somebody has chosen.
func TestEveryCommandHasAPlace(t *testing.T) {
	t.Parallel()
	for _, c := range (&invocation{}).app().Commands {
		if first, _, _ := strings.Cut(c.Name, " "); !slices.Contains(order, first) {
			t.Errorf("%s is not among those in order", first)
		}
	}
}

func TestTheHelpOfACommandNamesCommonSettingsAndVExplainsThem(t *testing.T) {
	t.Parallel()
	brief, all := drive(t, &desk{}, "help", "ls").stdout.String(), drive(t, &desk{}, "help", "-v", "ls").stdout.String()
	const doc = "How many calls a shared process has under way"
	if !strings.Contains(brief, "--pool-busy") || strings.Contains(brief, doc) || !strings.Contains(brief, `"mcpx help -v ls" explains them.`) {
		t.Errorf("help ls:\n%s", brief)
	}
	if !strings.Contains(all, doc) || strings.Contains(all, "explains them") {
		t.Errorf("help -v ls:\n%s", all)
	}
}
