package cli

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

func TestWhatServeIsGiven(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, tt := range []struct {
		args string
		want ServeOptions
	}{
		{"serve", ServeOptions{Mode: "code"}},
		{"serve --mode full", ServeOptions{Mode: "full"}},
		{"serve --mode passthrough --server a", ServeOptions{Mode: "passthrough", Server: "a"}},
		{"serve --http :0 --no-auth", ServeOptions{Mode: "code", HTTP: ":0", NoAuth: true}},
		{"serve --http a:1 --token-file t --hosts a,,b.c", ServeOptions{Mode: "code", HTTP: "a:1", TokenFile: filepath.Join(dir, "t"), Hosts: []string{"a", "b.c"}}},
	} {
		d := &desk{}
		driveIn(t, d, Program{Dir: dir, Stdin: strings.NewReader("in")}, strings.Fields(tt.args)...).want(t, 0, "in", "mcpx: serving\n")
		if fmt.Sprintf("%+v", d.served) != fmt.Sprintf("%+v", tt.want) {
			t.Errorf("%s: %+v, want %+v", tt.args, d.served, tt.want)
		}
	}
	d := &desk{}
	driveIn(t, d, Program{Dir: dir, Stdin: strings.NewReader("")}, "serve", "--permissions", "read", "--allow-net=a,b", "--deny-tools=x.y")
	if fmt.Sprint(d.served.Exec.Allow, d.served.Exec.Deny) != "map[net:[a b]] map[tools:[x.y]]" {
		t.Errorf("permissions: %+v", d.served.Exec)
	}
	d = &desk{}
	driveIn(t, d, Program{Dir: dir, Stdin: strings.NewReader("")}, "serve", "-A")
	if d.served.Exec.Permissions != "all" {
		t.Errorf("-A: %+v", d.served.Exec)
	}
}

func TestServeRefusesWhatContradictsItself(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]string{
		"serve x":                       "unexpected argument",
		"serve --json":                  "--json",
		"serve --no-auth":               "which is not given",
		"serve --token-file t":          "which is not given",
		"serve --hosts a":               "which is not given",
		"serve --http=":                 "needs a value",
		"serve --http :0 --token-file=": "needs a value",
		"serve --http :0 --no-auth --token-file t": "give one of them",
		"serve -A --permissions none":              "give one of them",
	} {
		d := &desk{}
		got := drive(t, d, strings.Fields(args)...)
		if said := got.stderr.String(); got.code != 2 || !strings.Contains(said, want) || d.opened != 0 {
			t.Errorf("%s: exit %d, said %q, opened %d times; want %q", args, got.code, said, d.opened, want)
		}
	}
}
