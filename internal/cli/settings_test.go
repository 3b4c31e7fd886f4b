package cli

import (
	"context"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mcpx/internal/api"
	"mcpx/internal/settings"

	"github.com/urfave/cli/v2"
)

func (d *desk) SettingsList(_ context.Context, in api.SettingsListInput) (*api.SettingsListOutput, error) {
	set := &settings.Set{}
	if err := set.ApplyFlag("pool-max", "9"); err != nil {
		return nil, err
	}
	set.Override(map[string]string{"pool.idleTimeout": "10m"})
	return &api.SettingsListOutput{Settings: api.SettingsOf(set, in.All)}, d.broken
}

func (d *desk) SettingsGet(_ context.Context, in api.SettingsGetInput) (*api.SettingsGetOutput, error) {
	set := &settings.Set{}
	if err := set.ApplyEnv(func(name string) (string, bool) { return "3", name == "MCPX_POOL_MAX" }); err != nil {
		return nil, err
	}
	set.Override(map[string]string{"pool.max": "9"})
	e, err := set.Explain(in.Path)
	if err != nil {
		return nil, err
	}
	return &api.SettingsGetOutput{Setting: api.SettingOf(e)}, nil
}

func (d *desk) SettingsSet(ctx context.Context, in api.SettingsSetInput) (*api.SettingsSetOutput, error) {
	d.set = in
	out, err := d.SettingsGet(ctx, api.SettingsGetInput{Path: in.Path})
	if err != nil {
		return nil, err
	}
	file := ""
	if in.Persist == api.PersistUser {
		file = "/home/u/.mcpx.json"
	}
	return &api.SettingsSetOutput{Setting: out.Setting, File: file, Followed: in.Value == out.Value}, nil
}

func (d *desk) SettingsUnset(ctx context.Context, in api.SettingsUnsetInput) (*api.SettingsUnsetOutput, error) {
	d.unset = in
	out, err := d.SettingsGet(ctx, api.SettingsGetInput{Path: in.Path})
	if err != nil {
		return nil, err
	}
	return &api.SettingsUnsetOutput{Setting: out.Setting, Was: in.Persist == ""}, nil
}

func TestSettingsAreShown(t *testing.T) {
	t.Parallel()
	d := &desk{}
	drive(t, d, "settings", "list").want(t, 0, "pool.idleTimeout  10m  (mcpx settings set)\npool.max          9  (--pool-max)\n", "")
	if d.options.Daemon != PresentDaemon {
		t.Error("settings list would start a daemon, or want one")
	}
	drive(t, d, "settings", "list", "--daemon")
	if d.options.Daemon != StartedDaemon {
		t.Error("settings list --daemon does not ask one")
	}
	all := drive(t, &desk{}, "settings", "list", "--all")
	for _, i := range settings.All() {
		if !strings.Contains(all.stdout.String(), i.Path+" ") {
			t.Errorf("settings list --all leaves out %s", i.Path)
		}
	}
	drive(t, &desk{}, "settings", "get", "pool.max").want(t, 0, "pool.max = 9\n"+
		"  from        mcpx settings set\n"+
		"  instead of  3  (MCPX_POOL_MAX)\n"+
		"  instead of  4  (the default)\n"+
		"  is          How many processes a shared server may have for one scope; another is started only when all are busy.\n", "")
	s := drive(t, &desk{}, "settings", "get", "pool.maxx")
	if s.code != 2 || !strings.Contains(s.stderr.String(), "did you mean pool.max") {
		t.Errorf("an unknown setting: exit %d, %s", s.code, s.stderr.String())
	}
}

func TestSettingsAreChanged(t *testing.T) {
	t.Parallel()
	d := &desk{}
	drive(t, d, "settings", "set", "pool.max", "9").want(t, 0, "pool.max = 9  (mcpx settings set); until the daemon ends: --persist user keeps it\n", "")
	if d.options.Daemon != PresentDaemon || d.set.Path != "pool.max" || d.set.Value != "9" {
		t.Errorf("asked %+v for %+v", d.options.Daemon, d.set)
	}
	drive(t, d, "settings", "set", "--daemon", "pool.max", "9")
	if d.options.Daemon != StartedDaemon {
		t.Error("--daemon does not start one")
	}
	drive(t, d, "settings", "set", "--persist", "user", "pool.max", "2").want(t, 0,
		"pool.max = 9  (mcpx settings set); written into /home/u/.mcpx.json\n",
		"mcpx: 2 is kept, and 9 is in force: mcpx settings set counts for more\n")
	if d.options.Daemon != OwnProcess {
		t.Error("a file is not written by the command itself")
	}
	drive(t, d, "settings", "unset", "pool.max").want(t, 0, "pool.max = 9  (mcpx settings set)\n", "")
	drive(t, d, "settings", "unset", "--persist=project", "pool.max").want(t, 0,
		"pool.max = 9  (mcpx settings set)\n", "mcpx: pool.max was not set there\n")
	for _, bad := range [][]string{
		{"settings", "set", "pool.max"},
		{"settings", "set", "pool.max", "1", "2"},
		{"settings", "set", "--persist", "here", "pool.max", "1"},
		{"settings", "set", "--persist", "user", "--daemon", "pool.max", "1"},
		{"settings", "unset"},
		{"settings", "get"},
		{"settings", "get", "--pool-max", "many", "pool.max"},
	} {
		if s := drive(t, &desk{}, bad...); s.code != 2 {
			t.Errorf("%q: exit %d, want 2", bad, s.code)
		}
	}
}

// Which commands come past a source that reads settings. The longest prefix counts.
var (
	askingCommands = []string{
		"ls", "search", "types", "catalog", "tools", "resources", "resources templates", "resources read", "prompts", "prompts get",
		"call", "batch", "exec", "run", "serve", "doctor", "refresh",
	}
	reach = map[string][]string{
		"pool/":                     askingCommands,
		"internal/gateway/":         askingCommands,
		"internal/gateway/rules.go": {"call", "batch", "exec", "run", "serve"},
		"internal/gateway/find.go":  {"catalog", "serve"},
		"internal/gateway/media.go": {"serve"}, // a command takes no artifacts of a call
		"internal/run/":             {"exec", "run", "serve"},
		"internal/run/bundle.go":    {"bundle", "build"},
		"internal/run/budget.go":    {"exec", "run", "serve", "bundle", "build"},
		"internal/run/grants.go":    {"exec", "run", "serve", "bundle", "build"},
		"cmd/mcpx/command.go":       askingCommands,
		"cmd/mcpx/doctor.go":        {"doctor"},
		"cmd/mcpx/serve.go":         {"serve"},
		"cmd/mcpx/auth.go":          {"auth login", "auth logout", "auth status"},
		"cmd/mcpx/files.go":         {"servers input"},
		"cmd/mcpx/daemon.go":        {"daemon start"},
		"cmd/mcpx/elsewhere.go":     askingCommands,
		"cmd/mcpx/logs.go":          {"daemon logs"},
		"cmd/mcpx/exec.go":          {"exec", "run"},
		"cmd/mcpx/fetch.go":         {"exec", "run"},
		"internal/artifact/":        {"exec", "run", "serve", "artifact put"},
		"internal/task/":            {"daemon start", "serve"},
		"internal/daemon/":          {"daemon start"},
		"internal/api/":             {"daemon start"},
		"internal/cli/servers.go":   {"servers add"},
		"internal/cli/unmet.go":     {"exec", "run", "serve"},
	}
)

// TestACommandAcceptsTheSettingsItReads holds the flags of each command equal to the settings
// that are read on its way, as far as the sources tell.
func TestACommandAcceptsTheSettingsItReads(t *testing.T) {
	t.Parallel()
	paths := settingsByName(t)
	reads := map[string]map[string]string{} // by command, then by path: the source
	n := 0
	for source, names := range settingsRead(t) {
		commands, longest := []string(nil), -1
		for prefix, of := range reach {
			if strings.HasPrefix(source, prefix) && len(prefix) > longest {
				commands, longest = of, len(prefix)
			}
		}
		if longest < 0 && !slices.Contains([]string{"cmd/mcpx/backend.go"}, source) {
			t.Errorf("%s reads %s, and reach does not say which commands come there", source, names)
		}
		for _, name := range names {
			for _, c := range commands {
				if c == "daemon start" && scope(paths[name]) != settings.Daemon {
					continue // it is about what the daemon's callers ask for
				}
				if reads[c] == nil {
					reads[c] = map[string]string{}
				}
				reads[c][paths[name]] = source
				n++
			}
		}
	}
	if n < 100 {
		t.Fatalf("%d settings read by commands: nothing is guarded", n)
	}
	app := (&invocation{p: &Program{}}).app()
	for _, c := range app.Commands {
		if c.Name == "settings list" || c.Name == "settings get" {
			continue // they show what is asked for
		}
		takes := map[string]bool{}
		for _, f := range c.Flags {
			if s, ok := f.(*settingFlag); ok {
				takes[s.info.Path] = true
			}
		}
		for path, source := range reads[c.Name] {
			if !takes[path] {
				t.Errorf("%s comes past %s, which reads %s, and does not take its flag", c.Name, source, path)
			}
		}
		for path := range takes {
			if _, ok := reads[c.Name][path]; !ok && !whoeverReads[path] && !handedOn(c, path) {
				t.Errorf("%s takes the flag of %s, and nothing on its way reads it", c.Name, path)
			}
		}
	}
}

// whoeverReads are the settings that are read by every command that reads the configuration.
var whoeverReads = map[string]bool{"config.trust": true, "session.variables": true, "paths.config": true, "plumbing.strictUnknownKeys": true}

// handedOn reports whether a command gives a setting to a daemon that it starts.
func handedOn(c *cli.Command, path string) bool {
	return c.Name == "daemon start" && scope(path) == settings.Daemon
}

func scope(path string) settings.Scope {
	i := slices.IndexFunc(settings.All(), func(i settings.Info) bool { return i.Path == path })
	return settings.All()[i].Scope
}

// settingsByName reads which variable declares which setting.
func settingsByName(t *testing.T) map[string]string {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), filepath.Join("..", "settings", "keys.go"), nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for _, d := range file.Decls {
		g, ok := d.(*ast.GenDecl)
		if !ok || g.Tok != token.VAR {
			continue
		}
		for _, s := range g.Specs {
			v := s.(*ast.ValueSpec) //nolint:forcetypeassert // a var has no others
			ast.Inspect(v, func(n ast.Node) bool {
				if kv, ok := n.(*ast.KeyValueExpr); ok {
					if key, ok := kv.Key.(*ast.Ident); ok && key.Name == "Path" {
						out[v.Names[0].Name] = strings.Trim(kv.Value.(*ast.BasicLit).Value, `"`) //nolint:forcetypeassert // a literal
					}
				}
				return true
			})
		}
	}
	if len(out) != len(settings.All()) {
		t.Fatalf("%d of %d declarations were found", len(out), len(settings.All()))
	}
	return out
}

// settingsRead finds the variables of settings whose value is read, by source.
func settingsRead(t *testing.T) map[string][]string {
	t.Helper()
	root := filepath.Join("..", "..")
	out := map[string][]string{}
	err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case e.IsDir() && (slices.Contains([]string{"node_modules", "testdata", ".git", "tools"}, e.Name()) || path == filepath.Join("..", "settings")):
			return fs.SkipDir
		case e.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go"):
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil || !strings.Contains(string(text), `"mcpx/internal/settings"`) {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, text, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			read, ok := n.(*ast.SelectorExpr)
			if !ok || read.Sel.Name != "Get" && read.Sel.Name != "Said" {
				return true
			}
			if key, ok := read.X.(*ast.SelectorExpr); ok {
				if p, ok := key.X.(*ast.Ident); ok && p.Name == "settings" {
					rel := filepath.ToSlash(rel)
					out[rel] = append(out[rel], key.Sel.Name)
				}
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}
