package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mcpx/internal/api"
	"mcpx/internal/fault"
)

func TestAGrantOfWhatIsNotThereIsTold(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "home", "notes"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "data"), 0o700); err != nil {
		t.Fatal(err)
	}
	p := Program{Dir: dir, Environ: []string{"HOME=" + filepath.Join(dir, "home")}}
	config := &api.ConfigOutput{Servers: []api.ConfigServer{{Name: "demo"}, {Name: "my server"}, {Name: "a"}, {Name: "a.b"}, {Name: "100%"}}}
	for flag, want := range map[string]string{
		"--allow-tools":                   "",
		"--allow-tools=demo":              "",
		"--allow-tools=demo:read":         "",
		"--allow-tools=demo.echo:read":    "",
		"--allow-tools=demo.fancy_name":   "",
		"--allow-tools=my_server":         "",
		"--allow-tools=a.b.c":             "", // nothing is known of its tools
		"--allow-tools=de*":               "",
		"--allow-tools=deno":              `no server is called "deno"; did you mean demo?`,
		"--allow-tools=deno.echo:read":    `no server is called "deno"; did you mean demo?`,
		"--allow-tools=elsewhere":         `no server is called "elsewhere"`,
		"--allow-tools=demo.ecko":         `demo has no tool called "ecko"; did you mean demo.echo?`,
		"--deny-tools=demo.ecko":          `demo has no tool called "ecko"; did you mean demo.echo?`,
		"--allow-read=data":               "",
		"--allow-read=~/notes":            "",
		"--allow-read=~/noets":            "there is no such file or directory; did you mean ~/notes?",
		"--allow-read=./dtaa/":            "there is no such file or directory; did you mean ./data?",
		"--deny-read=secret":              "there is no such file or directory",
		"--allow-write=new":               "",
		"--allow-write=dat":               "there is no such file or directory; did you mean data?",
		"--allow-write=new/x":             "there is no directory new",
		"--allow-run=/bin/no-such-binary": "there is no such file or directory",
		"--allow-net=no.such.host":        "",
	} {
		if want != "" {
			want = "mcpx: " + flag + ": " + want + "\n"
		}
		driveIn(t, &desk{config: config}, p, "exec", flag, "1").want(t, 0, "", want)
	}
	driveIn(t, &desk{config: config}, p, "run", "--allow-read=new", "--allow-write=new", "-").want(t, 2, "", "mcpx: stdin: there is nothing to run\n  the script is empty\n")
	driveIn(t, &desk{config: config}, p, "exec", "--allow-read=new", "--allow-write=new", "1").want(t, 0, "", "")
	serving := p
	serving.Stdin = strings.NewReader("")
	driveIn(t, &desk{config: config}, serving, "serve", "--deny-tools=dmo").want(t, 0, "", "mcpx: --deny-tools=dmo: no server is called \"dmo\"; did you mean demo?\nmcpx: serving\n")
	// What a file that cannot be read would name is not known.
	broken := &api.ConfigOutput{Files: []api.ConfigFile{{Path: "x.json", Error: fault.Usagef("x.json: broken")}}}
	driveIn(t, &desk{config: broken}, p, "exec", "--allow-tools=gone", "1").want(t, 0, "", "")
}
