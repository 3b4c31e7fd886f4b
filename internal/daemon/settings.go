package daemon

import (
	"context"
	"maps"

	"mcpx/internal/api"
	"mcpx/internal/fault"
	"mcpx/internal/settings"
)

var (
	_ api.Tuning  = (*View)(nil)
	_ api.Heeding = (*View)(nil)
)

// files changes the configuration files for the caller of a view.
func (l *Live) files(v *View) Files { return l.o.Entries(v.c, v) }

// settings is what is in force for the caller.
func (v *View) settings() (*settings.Set, error) {
	if v.foreign {
		return v.l.set.Below(v.c.Settings)
	}
	return v.l.set.With(v.c.Settings)
}

// Unheeded implements api.Heeding.
func (v *View) Unheeded() []string {
	if len(v.c.Settings) == 0 {
		return nil
	}
	v.l.look(false)
	set, err := v.settings()
	if err != nil {
		return nil // whatever is asked says so
	}
	return v.unheeded(set, v.c.Settings)
}

// unheeded says what of that which a caller asks for is not in force in set.
func (v *View) unheeded(set *settings.Set, asked map[string]string) []string {
	if _, ok := asked["script.permissions"]; ok && v.foreign {
		asked = maps.Clone(asked)
		delete(asked, "script.permissions") // a run is narrowed by it
	}
	return set.Unheeded(asked)
}

// asked is what is in force for the caller, or for the daemon itself.
func (v *View) asked(daemon bool) (*settings.Set, error) {
	v.l.look(false)
	if daemon {
		return v.l.set.With(nil)
	}
	return v.settings()
}

// waiting adds to a setting what counts when the daemon is started again.
func (l *Live) waiting(s *api.Setting) {
	if s.Hot || s.Scope != string(settings.Daemon) {
		return
	}
	l.mu.Lock()
	then, err := l.now.Settings.Explain(s.Path)
	l.mu.Unlock()
	if err == nil && then.Text != s.Value {
		s.Restart = then.Text
	}
}

// SettingsList implements api.Tuning.
func (v *View) SettingsList(_ context.Context, in api.SettingsListInput) (*api.SettingsListOutput, error) {
	set, err := v.asked(in.Daemon)
	if err != nil {
		return nil, err
	}
	out := &api.SettingsListOutput{Settings: []api.Setting{}}
	for _, s := range api.SettingsOf(set, true) {
		v.l.waiting(&s)
		if in.All || s.Layer != string(settings.ByDefault) || len(s.Displaced) > 0 || s.Restart != "" {
			out.Settings = append(out.Settings, s)
		}
	}
	return out, nil
}

// SettingsGet implements api.Tuning.
func (v *View) SettingsGet(_ context.Context, in api.SettingsGetInput) (*api.SettingsGetOutput, error) {
	set, err := v.asked(in.Daemon)
	if err != nil {
		return nil, err
	}
	s, err := v.l.setting(set, in.Path)
	if err != nil {
		return nil, err
	}
	return &api.SettingsGetOutput{Setting: s}, nil
}

func (l *Live) setting(set *settings.Set, path string) (api.Setting, error) {
	e, err := set.Explain(path)
	if err != nil {
		return api.Setting{}, err
	}
	s := api.SettingOf(e)
	l.waiting(&s)
	return s, nil
}

// SettingsSet implements api.Tuning. A caller that is not known to be the user can only
// tighten, and writes no files.
func (v *View) SettingsSet(ctx context.Context, in api.SettingsSetInput) (*api.SettingsSetOutput, error) {
	if in.Persist != "" && in.Persist != api.PersistRuntime {
		if v.foreign {
			return nil, notTheUser(in.Path)
		}
		return v.l.files(v).KeepSetting(ctx, in)
	}
	text, err := settings.Canonical(in.Path, in.Value)
	if err != nil {
		return nil, err
	}
	s, err := v.l.override(in.Path, func(set *settings.Set) (map[string]string, error) {
		values, err := set.Overridden(in.Path, in.Value)
		if err == nil && v.foreign && set.Loosens(values) {
			err = notTheUser(in.Path)
		}
		return values, err
	})
	if err != nil {
		return nil, err
	}
	return &api.SettingsSetOutput{Setting: s, Followed: s.Value == text}, nil
}

// SettingsUnset implements api.Tuning.
func (v *View) SettingsUnset(ctx context.Context, in api.SettingsUnsetInput) (*api.SettingsUnsetOutput, error) {
	if in.Persist != "" && in.Persist != api.PersistRuntime {
		if v.foreign {
			return nil, notTheUser(in.Path)
		}
		return v.l.files(v).DropSetting(ctx, in)
	}
	was := false
	s, err := v.l.override(in.Path, func(set *settings.Set) (values map[string]string, err error) {
		values, was, err = set.Restored(in.Path)
		if err == nil && v.foreign && set.Loosens(values) {
			err = notTheUser(in.Path)
		}
		return values, err
	})
	if err != nil {
		return nil, err
	}
	return &api.SettingsUnsetOutput{Setting: s, Was: was}, nil
}

func notTheUser(path string) error {
	return fault.Deniedf("%s can only be tightened over TCP", path).Hintf("mcpx settings set, on this machine, changes it")
}

// override sets other values at runtime, and says what became of one of them.
func (l *Live) override(path string, values func(*settings.Set) (map[string]string, error)) (api.Setting, error) {
	l.look(false)
	l.loading.Lock()
	defer l.loading.Unlock()
	next, err := values(l.set)
	if err != nil {
		return api.Setting{}, err
	}
	l.set.Override(next)
	l.mu.Lock()
	if now := l.now.Settings; now != l.set {
		now.Override(next)
	}
	l.mu.Unlock()
	s, err := l.setting(l.set, path)
	if err != nil {
		return api.Setting{}, err
	}
	l.o.Events.Publish("settings.changed", map[string]string{"path": s.Path, "value": s.Value})
	return s, nil
}
