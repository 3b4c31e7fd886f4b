package cli

import (
	"encoding/json"
	"slices"
	"strings"

	"mcpx/internal/api"
	"mcpx/internal/fault"
	"mcpx/internal/settings"

	"github.com/urfave/cli/v2"
)

// allSettings are all settings, for the commands that show them.
func allSettings() []string {
	var out []string
	for _, f := range everySettingFlag() {
		out = append(out, f.info.Path)
	}
	return out
}

// daemonSettings are those that a daemon runs by.
func daemonSettings() []string {
	var out []string
	for _, f := range everySettingFlag() {
		if f.info.Scope == settings.Daemon {
			out = append(out, f.info.Path)
		}
	}
	return out
}

// settingsFrom is who answers about settings: a daemon, and this process if none runs; only a
// daemon if it is that which is asked about.
func settingsFrom(daemon bool) Daemon {
	if daemon {
		return StartedDaemon
	}
	return PresentDaemon
}

// settingsList lists the settings in force.
func (v *invocation) settingsList(c *cli.Context) error {
	if err := takes(c, 0, 0); err != nil {
		return err
	}
	in, err := input[api.SettingsListInput](c)
	if err != nil {
		return err
	}
	out, err := askOf(v, c, settingsFrom(in.Daemon), api.ListSettings, in)
	if err != nil {
		return err
	}
	if len(out.Settings) == 0 {
		v.say("every setting is as it is by default\n\"mcpx settings list --all\" lists them")
	}
	return v.answer(out, func() string {
		p := page{columns: v.columns()}
		var rows [][2]string
		for _, s := range out.Settings {
			row := valueText(s.Value)
			if s.Origin != "" {
				row += "  (" + word(originText(s.Layer, s.Origin, s.Project, s.Daemon)) + ")"
			}
			if s.Restart != "" {
				row += "  " + word(s.Restart) + " from mcpx daemon restart on"
			}
			rows = append(rows, [2]string{word(s.Path), row})
		}
		p.rows("", rows)
		return p.String()
	})
}

// valueText is a value for people, to whom an empty one is shown.
func valueText(value string) string {
	if value == "" {
		return `""`
	}
	return word(value)
}

// originText is where a value comes from.
func originText(layer, origin string, project, daemon bool) string {
	switch {
	case layer == string(settings.ByDefault):
		return "the default"
	case project:
		return origin + ", of the project"
	case daemon && !strings.Contains(origin, "of the daemon"):
		return origin + " of the daemon"
	}
	return origin
}

// settingsGet explains one setting.
func (v *invocation) settingsGet(c *cli.Context) error {
	if err := takes(c, 1, 1); err != nil {
		return err
	}
	in, err := input[api.SettingsGetInput](c)
	if err != nil {
		return err
	}
	in.Path = c.Args().First()
	out, err := askOf(v, c, settingsFrom(in.Daemon), api.GetSetting, in)
	if err != nil {
		return err
	}
	return v.answer(out, func() string { return settingText(out.Setting) })
}

// settingText is a setting with where its value comes from and what that displaces.
func settingText(s api.Setting) string {
	var p page
	p.line("%s = %s", word(s.Path), valueText(s.Value))
	rows := [][2]string{{"from", word(originText(s.Layer, s.Origin, s.Project, s.Daemon))}}
	for _, d := range s.Displaced {
		rows = append(rows, [2]string{"instead of", valueText(d.Value) + "  (" + word(originText(d.Layer, d.Origin, d.Project, d.Daemon)) + ")"})
	}
	if s.Restart != "" {
		rows = append(rows, [2]string{"restart", word(s.Restart) + " counts from mcpx daemon restart on"})
	}
	p.rows("  ", append(rows, [2]string{"is", word(s.Doc)}))
	return p.String()
}

// settingsSet gives a setting a value.
func (v *invocation) settingsSet(c *cli.Context) error {
	if err := takes(c, 2, 2); err != nil {
		return err
	}
	in, err := input[api.SettingsSetInput](c)
	if err != nil {
		return err
	}
	in.Path, in.Value = c.Args().First(), c.Args().Get(1)
	which, err := keptBy(in.Persist, in.Daemon)
	if err != nil {
		return err
	}
	out, err := askOf(v, c, which, api.SetSetting, in)
	if err != nil {
		return err
	}
	if !out.Followed {
		v.say("%s is kept, and %s is in force: %s counts for more", in.Value, out.Value, originText(out.Layer, out.Origin, out.Project, out.Daemon))
	}
	return v.answer(out, func() string {
		text := changedText(out.Setting, out.File)
		if in.Persist == "" || in.Persist == api.PersistRuntime {
			text = strings.TrimSuffix(text, "\n") + "; until the daemon ends: --persist user keeps it\n"
		}
		return text
	})
}

// settingsUnset takes a value back.
func (v *invocation) settingsUnset(c *cli.Context) error {
	if err := takes(c, 1, 1); err != nil {
		return err
	}
	in, err := input[api.SettingsUnsetInput](c)
	if err != nil {
		return err
	}
	in.Path = c.Args().First()
	which, err := keptBy(in.Persist, in.Daemon)
	if err != nil {
		return err
	}
	out, err := askOf(v, c, which, api.UnsetSetting, in)
	if err != nil {
		return err
	}
	if !out.Was {
		v.say("%s was not set there", in.Path)
	}
	return v.answer(out, func() string { return changedText(out.Setting, "") })
}

// keptBy is who keeps a value: the daemon that runs, or this process in a file.
func keptBy(persist string, daemon bool) (Daemon, error) {
	switch file := persist == api.PersistProject || persist == api.PersistUser; {
	case file && daemon:
		return 0, fault.Usagef("--daemon and --persist=%s contradict each other", persist).
			Hintf("a file counts for the daemon as well; leave --daemon out")
	case file:
		return OwnProcess, nil
	case daemon:
		return StartedDaemon, nil
	}
	return PresentDaemon, nil
}

// changedText says what is in force after a change.
func changedText(s api.Setting, file string) string {
	text := word(s.Path) + " = " + valueText(s.Value)
	if s.Origin != "" {
		text += "  (" + word(originText(s.Layer, s.Origin, s.Project, s.Daemon)) + ")"
	}
	if file != "" && !strings.HasPrefix(s.Origin, file) {
		text += "; written into " + word(file)
	}
	return text + "\n"
}

// oneOf returns which of some flags that exclude each other was given; empty if none was.
func oneOf(c *cli.Context, names ...string) (string, error) {
	found := ""
	for _, name := range names {
		switch {
		case !c.Bool(name):
		case found != "":
			return "", fault.Usagef("--%s and --%s exclude each other", found, name).Hintf("give one of them")
		default:
			found = name
		}
	}
	return found, nil
}

// configFlags are those of config that show one thing.
func configFlags() []cli.Flag {
	return []cli.Flag{
		&cli.BoolFlag{Name: "path", Usage: "print the paths of the files that are read, nearest first"},
		&cli.BoolFlag{Name: "sources", Usage: "print every place where a file is looked for, and what is there"},
		&cli.BoolFlag{Name: "schema", Usage: "print the JSON Schema of the configuration file, which editors use"},
	}
}

// partOfConfig shows what one of them says.
func (v *invocation) partOfConfig(c *cli.Context, part string) error {
	if err := takes(c, 0, 0); err != nil {
		return err
	}
	if part == "schema" {
		text := v.p.Schema()
		if v.json {
			return v.document(json.RawMessage(text))
		}
		_, err := v.stdout.Write(text)
		return err
	}
	b, err := v.openOwn(c.Context)
	if err != nil {
		return err
	}
	out, err := b.Config(c.Context, api.ConfigInput{})
	if err != nil {
		return err
	}
	files := out.Files
	if part == "path" {
		files = slices.DeleteFunc(slices.Clone(files), func(f api.ConfigFile) bool { return f.State != "read" })
	}
	doc := struct {
		Files []api.ConfigFile `json:"files"`
	}{files}
	err = v.answer(doc, func() string {
		var p page
		var rows [][2]string
		for _, f := range files {
			if part == "path" {
				p.line("%s", f.Path)
				continue
			}
			rows = append(rows, [2]string{f.State, fileText(f)})
		}
		p.rows("", rows)
		return p.String()
	})
	if part == "sources" {
		for _, w := range out.Warnings {
			v.say("%s", w)
		}
	}
	if err != nil {
		return err
	}
	for _, f := range out.Files {
		if f.Error != nil {
			v.say("%s", errorText(f.Error))
			return status(f.Error.Kind.ExitCode())
		}
	}
	return nil
}

// fileText is a configuration file on one line.
func fileText(f api.ConfigFile) string {
	row := word(f.Path)
	switch {
	case f.State != "read" || !f.Project:
	case f.Trusted:
		row += "  (of the project; trusted)"
	default:
		row += "  (of the project; not trusted)"
	}
	switch {
	case f.Host != "":
		row += "  (of " + word(f.Host) + "; imported at " + word(f.By) + ")"
	case f.By != "":
		row += "  (listed at " + word(f.By) + ")"
	}
	return row
}
