package api

import (
	"context"

	"mcpx/internal/settings"
)

// Tuning says which settings are in force and why, and changes them.
type Tuning interface {
	// SettingsList lists the settings that are not as they are by default, or all.
	SettingsList(ctx context.Context, in SettingsListInput) (*SettingsListOutput, error)
	// SettingsGet explains one setting. The error is of kind Usage if there is none of that
	// path.
	SettingsGet(ctx context.Context, in SettingsGetInput) (*SettingsGetOutput, error)
	// SettingsSet gives a setting a value: in the daemon, as long as that runs, or in a file.
	SettingsSet(ctx context.Context, in SettingsSetInput) (*SettingsSetOutput, error)
	// SettingsUnset takes the value back that was set there.
	SettingsUnset(ctx context.Context, in SettingsUnsetInput) (*SettingsUnsetOutput, error)
}

// Where a setting is kept.
const (
	PersistRuntime = "runtime" // in the daemon, until it ends
	PersistProject = "project" // in .mcpx.json of the project
	PersistUser    = "user"    // in the user's own file
)

// SettingsListInput asks for the settings.
type SettingsListInput struct {
	All    bool `json:"all,omitempty" flag:"all" doc:"also those that nothing has changed"`
	Daemon bool `json:"daemon,omitempty" flag:"daemon" doc:"show what the daemon itself goes by; start it if none runs"`
}

// SettingsListOutput lists settings by path.
type SettingsListOutput struct {
	Settings []Setting `json:"settings"`
}

// Setting is a setting with the value in force.
type Setting struct {
	Path    string `json:"path"`
	Value   string `json:"value"`
	Layer   string `json:"layer"`            // default, file, environment, flag, runtime
	Origin  string `json:"origin,omitempty"` // FILE:LINE:COLUMN, the variable, the flag or the command
	Project bool   `json:"project,omitempty"`
	Daemon  bool   `json:"daemon,omitempty"` // by what the daemon was started with
	// Displaced are the other values that were given, the highest first, with the default.
	Displaced []SettingValue `json:"displaced,omitempty"`
	// Restart is what counts when the daemon is started again, if that is another value.
	Restart string `json:"restart,omitempty"`

	Default string   `json:"default"`
	Type    string   `json:"type"`
	Words   []string `json:"words,omitempty"` // its values, if they are a few words
	Scope   string   `json:"scope"`           // daemon, client, call
	Hot     bool     `json:"hot"`             // a daemon follows it while it runs
	Ceiling bool     `json:"ceiling,omitempty"`
	Env     string   `json:"env"`
	Flag    string   `json:"flag"`
	Alias   string   `json:"alias,omitempty"`
	Doc     string   `json:"doc"`
}

// SettingValue is what one source says about a setting.
type SettingValue struct {
	Value   string `json:"value"`
	Layer   string `json:"layer"`
	Origin  string `json:"origin,omitempty"`
	Project bool   `json:"project,omitempty"`
	Daemon  bool   `json:"daemon,omitempty"`
}

// SettingsGetInput names a setting.
type SettingsGetInput struct {
	Path   string `json:"path" doc:"the setting, such as pool.idleTimeout"`
	Daemon bool   `json:"daemon,omitempty" flag:"daemon" doc:"show what the daemon itself goes by; start it if none runs"`
}

// SettingsGetOutput is the setting.
type SettingsGetOutput struct{ Setting }

// SettingsSetInput is a value for a setting.
type SettingsSetInput struct {
	Path    string `json:"path" doc:"the setting, such as pool.idleTimeout"`
	Value   string `json:"value" doc:"as a flag or a variable has it, such as 10m"`
	Persist string `json:"persist,omitempty" flag:"persist" value:"WHERE" words:"runtime|project|user" doc:"keep it in WHERE: runtime (default, the daemon), or the file of the project or the user"`
	Daemon  bool   `json:"daemon,omitempty" flag:"daemon" doc:"start the daemon if none runs"`
}

// SettingsSetOutput says what is in force now.
type SettingsSetOutput struct {
	Setting
	File    string `json:"file,omitempty"`    // that it was written into
	Created bool   `json:"created,omitempty"` // the file was not there before
	// Followed says that the value which was set is the one in force. If it is not, something
	// else counts for more.
	Followed bool `json:"followed"`
}

// SettingsUnsetInput names a setting.
type SettingsUnsetInput struct {
	Path    string `json:"path" doc:"the setting, such as pool.idleTimeout"`
	Persist string `json:"persist,omitempty" flag:"persist" value:"WHERE" words:"runtime|project|user" doc:"take it out of WHERE: runtime (default, the daemon), or the file of the project or the user"`
	Daemon  bool   `json:"daemon,omitempty" flag:"daemon" doc:"start the daemon if none runs"`
}

// SettingsUnsetOutput says what is in force now.
type SettingsUnsetOutput struct {
	Setting
	File string `json:"file,omitempty"` // that it was taken out of
	Was  bool   `json:"was"`            // there was a value
}

// Keeper keeps settings in configuration files, for Persist project or user.
type Keeper interface {
	KeepSetting(ctx context.Context, in SettingsSetInput) (*SettingsSetOutput, error)
	DropSetting(ctx context.Context, in SettingsUnsetInput) (*SettingsUnsetOutput, error)
}

// SettingOf writes down what is in force of a setting, and why.
func SettingOf(e settings.Explained) Setting {
	out := Setting{
		Path: e.Path, Value: e.Text, Layer: string(e.Layer), Origin: e.Origin, Project: e.Value.Project, Daemon: e.Daemon,
		Default: e.Default, Type: e.Type, Words: e.Words, Scope: string(e.Scope), Hot: e.Hot, Ceiling: e.Ceiling,
		Env: e.Env, Flag: e.Flag, Alias: e.Alias, Doc: e.Doc,
	}
	for _, v := range e.Displaced {
		out.Displaced = append(out.Displaced, SettingValue{Value: v.Text, Layer: string(v.Layer), Origin: v.Origin, Project: v.Project, Daemon: v.Daemon})
	}
	return out
}

// SettingsOf lists what is in force in set: those that something was said about, or all.
func SettingsOf(set *settings.Set, all bool) []Setting {
	out := []Setting{}
	for _, e := range set.ExplainAll() {
		if all || e.Layer != settings.ByDefault || len(e.Displaced) > 0 {
			out = append(out, SettingOf(e))
		}
	}
	return out
}
