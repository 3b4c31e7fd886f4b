package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"

	"mcpx/internal/api"
	"mcpx/internal/config"
	"mcpx/internal/daemon"
	"mcpx/internal/fault"
	"mcpx/internal/settings"
)

// tuning says which settings are in force where there is no daemon, and keeps them in files.
type tuning struct {
	set     *settings.Set
	entries *entries
}

var _ api.Tuning = (*tuning)(nil)

// SettingsList implements api.Tuning.
func (t *tuning) SettingsList(_ context.Context, in api.SettingsListInput) (*api.SettingsListOutput, error) {
	if in.Daemon {
		return nil, fault.Unavailablef("%w", api.ErrNoDaemon)
	}
	return &api.SettingsListOutput{Settings: api.SettingsOf(t.set, in.All)}, nil
}

// SettingsGet implements api.Tuning.
func (t *tuning) SettingsGet(_ context.Context, in api.SettingsGetInput) (*api.SettingsGetOutput, error) {
	if in.Daemon {
		return nil, fault.Unavailablef("%w", api.ErrNoDaemon)
	}
	e, err := t.set.Explain(in.Path)
	if err != nil {
		return nil, err
	}
	return &api.SettingsGetOutput{Setting: api.SettingOf(e)}, nil
}

// SettingsSet implements api.Tuning.
func (t *tuning) SettingsSet(ctx context.Context, in api.SettingsSetInput) (*api.SettingsSetOutput, error) {
	if in.Persist == api.PersistProject || in.Persist == api.PersistUser {
		return t.entries.KeepSetting(ctx, in)
	}
	if _, err := t.set.Overridden(in.Path, in.Value); err != nil {
		return nil, err // that is wrong whoever keeps it
	}
	return nil, fault.Usagef("%w, and %s would be kept there until it ends", api.ErrNoDaemon, in.Path).
		Hintf("--persist user keeps it in your file, and --daemon starts the daemon")
}

// SettingsUnset implements api.Tuning.
func (t *tuning) SettingsUnset(ctx context.Context, in api.SettingsUnsetInput) (*api.SettingsUnsetOutput, error) {
	if in.Persist == api.PersistProject || in.Persist == api.PersistUser {
		return t.entries.DropSetting(ctx, in)
	}
	if _, _, err := t.set.Restored(in.Path); err != nil {
		return nil, err
	}
	return nil, fault.Usagef("%w, and so nothing is set until it ends: there is no %s to take back", api.ErrNoDaemon, in.Path).
		Hintf("--persist user takes it out of your file, and --persist project out of the project's")
}

// KeepSetting implements api.Keeper.
func (e *entries) KeepSetting(ctx context.Context, in api.SettingsSetInput) (*api.SettingsSetOutput, error) {
	text, err := settings.Canonical(in.Path, in.Value)
	if err != nil {
		return nil, err
	}
	file, err := e.place(in.Persist == api.PersistProject, in.Persist == api.PersistUser, "")
	if err != nil {
		return nil, err
	}
	out := &api.SettingsSetOutput{File: file}
	out.Created, err = e.edit(ctx, file, true, func(raw []byte) ([]byte, error) {
		if in.Persist == api.PersistProject && !settings.ForProject(in.Path) && !e.trust.Trusted(file, raw) {
			return nil, fault.Usagef("a project's file has no say in %s", in.Path).Hintf("--persist user keeps it in your file")
		}
		return config.SetSetting(file, raw, in.Path, in.Value)
	})
	if err != nil {
		return nil, err
	}
	s, err := e.setting(in.Path)
	if err != nil {
		return nil, err
	}
	out.Setting, out.Followed = s, s.Value == text
	return out, nil
}

// DropSetting implements api.Keeper.
func (e *entries) DropSetting(ctx context.Context, in api.SettingsUnsetInput) (*api.SettingsUnsetOutput, error) {
	if _, err := (*settings.Set)(nil).Explain(in.Path); err != nil {
		return nil, err
	}
	file, err := e.place(in.Persist == api.PersistProject, in.Persist == api.PersistUser, "")
	if err != nil {
		return nil, err
	}
	out := &api.SettingsUnsetOutput{File: file}
	_, err = e.edit(ctx, file, false, func(raw []byte) (text []byte, err error) {
		text, out.Was, err = config.UnsetSetting(file, raw, in.Path)
		if err == nil && !out.Was {
			err = errNotSet // the file stays as it is
		}
		return text, err
	})
	if err != nil && !errors.Is(err, errNotSet) && fault.KindOf(err) != fault.NotFound {
		return nil, err
	}
	out.Setting, err = e.setting(in.Path)
	return out, err
}

// errNotSet says that a file does not have a setting.
var errNotSet = errors.New("it is not set there")

// setting is what is in force in the files and variables as they are now.
func (e *entries) setting(path string) (api.Setting, error) {
	cfg, err := config.Load(config.Options{Env: e.env, File: e.file, Paths: e.paths, Trusted: e.trust.Trusted})
	if err != nil {
		return api.Setting{}, err
	}
	set := &settings.Set{}
	for _, f := range cfg.Settings {
		if err := set.ApplyFile(f); err != nil {
			return api.Setting{}, err
		}
	}
	if e.env.Lookup != nil {
		if err := set.ApplyEnv(e.env.Lookup); err != nil {
			return api.Setting{}, err
		}
	}
	x, err := set.Explain(path)
	if err != nil {
		return api.Setting{}, err
	}
	return api.SettingOf(x), nil
}

// The settings of a command that asks a daemon: those that the daemon runs by are its own,
// the rest is what this command was given, with what was set in the daemon.

// SettingsList implements api.Tuning.
func (r remote) SettingsList(ctx context.Context, in api.SettingsListInput) (*api.SettingsListOutput, error) {
	if in.Daemon {
		return r.Remote.SettingsList(ctx, in)
	}
	own, err := r.b.c.own()
	if err != nil {
		return nil, err
	}
	theirs, err := r.Remote.SettingsList(ctx, api.SettingsListInput{All: true, Daemon: true})
	if err != nil {
		return nil, err
	}
	out := &api.SettingsListOutput{Settings: []api.Setting{}}
	for _, s := range api.SettingsOf(own.settings, true) {
		if i := slices.IndexFunc(theirs.Settings, func(t api.Setting) bool { return t.Path == s.Path }); i >= 0 {
			s = combined(s, theirs.Settings[i])
		}
		if in.All || s.Layer != string(settings.ByDefault) || len(s.Displaced) > 0 || s.Restart != "" {
			out.Settings = append(out.Settings, s)
		}
	}
	return out, nil
}

// SettingsGet implements api.Tuning.
func (r remote) SettingsGet(ctx context.Context, in api.SettingsGetInput) (*api.SettingsGetOutput, error) {
	if in.Daemon {
		return r.Remote.SettingsGet(ctx, in)
	}
	own, err := r.b.c.own()
	if err != nil {
		return nil, err
	}
	mine, err := own.SettingsGet(ctx, in)
	if err != nil {
		return nil, err
	}
	theirs, err := r.Remote.SettingsGet(ctx, api.SettingsGetInput{Path: in.Path, Daemon: true})
	if err != nil {
		return nil, err
	}
	return &api.SettingsGetOutput{Setting: combined(mine.Setting, theirs.Setting)}, nil
}

// combined is a setting as it counts for a command whose servers are in a daemon.
func combined(mine, theirs api.Setting) api.Setting {
	if mine.Scope != string(settings.Daemon) {
		return mine
	}
	out := theirs
	given := append([]api.SettingValue{{Value: mine.Value, Layer: mine.Layer, Origin: mine.Origin}}, mine.Displaced...)
	for _, v := range slices.Backward(given) {
		if v.Layer == string(settings.ByEnv) || v.Layer == string(settings.ByFlag) {
			out.Displaced = slices.Insert(out.Displaced, 0, v)
		}
	}
	return out
}

// SettingsSet implements api.Tuning.
func (r remote) SettingsSet(ctx context.Context, in api.SettingsSetInput) (*api.SettingsSetOutput, error) {
	if in.Persist == api.PersistProject || in.Persist == api.PersistUser {
		own, err := r.b.c.own()
		if err != nil {
			return nil, err
		}
		return own.SettingsSet(ctx, in)
	}
	return r.Remote.SettingsSet(ctx, in)
}

// SettingsUnset implements api.Tuning.
func (r remote) SettingsUnset(ctx context.Context, in api.SettingsUnsetInput) (*api.SettingsUnsetOutput, error) {
	if in.Persist == api.PersistProject || in.Persist == api.PersistUser {
		own, err := r.b.c.own()
		if err != nil {
			return nil, err
		}
		return own.SettingsUnset(ctx, in)
	}
	return r.Remote.SettingsUnset(ctx, in)
}

// unfollowed says which settings of this command the daemon does not follow, given what it
// runs by.
func unfollowed(asked, own map[string]string) []string {
	if len(asked) == 0 {
		return nil
	}
	var out []string
	for _, i := range settings.All() {
		text, ok := asked[i.Path]
		inForce, known := own[i.Path]
		if !ok || !known || i.Scope != settings.Daemon {
			continue
		}
		if wanted, err := settings.Canonical(i.Path, text); err != nil || wanted == inForce {
			continue
		}
		way := "after mcpx daemon stop the next command starts one with it"
		if i.Hot {
			way = fmt.Sprintf("mcpx settings set %s %s changes it while it runs", i.Path, fault.ShellWord(text))
		}
		out = append(out, fmt.Sprintf("the daemon that runs does not follow %s=%s: its value is %s; %s", i.Path, text, inForce, way))
	}
	return out
}

// follow takes over what was set at runtime in the daemon, if one runs, and says which
// settings that does not follow. A script is run here, whoever makes its calls.
func (c *command) follow(ctx context.Context) (notices []string) {
	files, err := c.options().FileSet()
	if err != nil || c.state == "" {
		return nil // the configuration's error is told when it is read
	}
	defer c.reaching()()
	link, err := c.find(ctx, daemon.At(c.state, files.Key(), os.TempDir()))
	switch {
	case errors.Is(err, daemon.ErrNone), ctx.Err() != nil:
		return nil
	case err != nil:
		return []string{err.Error() + "; the script runs without what may be set there"}
	}
	defer link.Close()
	c.Settings.Override(link.Runtime)
	return unfollowed(c.asked, link.Settings)
}
