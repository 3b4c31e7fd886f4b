package main

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"mcpx/internal/api"
	"mcpx/internal/config"
	"mcpx/internal/fault"
	"mcpx/internal/schema"
	"mcpx/internal/store"
)

// entries changes the configuration files of one caller.
type entries struct {
	env   config.Env
	file  string // of --config
	paths string // the setting paths.config
	trust *store.Trust
	state string // the state directory; empty if there is none
	// config says what is in force.
	config func(ctx context.Context, in api.ConfigInput) (*api.ConfigOutput, error)
}

var _ api.Entries = (*entries)(nil)

// ServersList implements api.Entries. With a file that is broken it does not say what is in
// force: an entry may stand in there.
func (e *entries) ServersList(ctx context.Context, _ api.ServersListInput) (*api.ServersListOutput, error) {
	cfg, err := e.load()
	if err != nil {
		return nil, err
	}
	if err := cfg.Err(); err != nil {
		return nil, err
	}
	out, err := e.config(ctx, api.ConfigInput{})
	if err != nil {
		return nil, err
	}
	return &api.ServersListOutput{Servers: out.Servers, Demo: out.Demo}, nil
}

// ServersAdd implements api.Entries.
func (e *entries) ServersAdd(ctx context.Context, in api.ServersAddInput) (*api.ServersAddOutput, error) {
	path, err := e.place(in.Project, in.User, in.File)
	if err != nil {
		return nil, err
	}
	if path == "" {
		path = e.named()
	}
	if path == "" {
		path = e.env.ProjectFile()
	}
	out := &api.ServersAddOutput{Name: in.Name, File: path, Spelled: e.spelled(in.Name)}
	entry := config.NewServer{
		Name: in.Name, Command: in.Command, Env: in.Env, URL: in.URL, Headers: in.Headers, WritePolicy: in.WritePolicy,
	}
	out.Created, err = e.edit(ctx, path, true, func(raw []byte) (text []byte, err error) {
		text, out.Replaced, err = config.Add(path, raw, entry, in.Replace)
		return text, err
	})
	if err != nil {
		return nil, err
	}
	if path == e.env.ProjectFile() {
		out.Plain = entry.Plain()
	}
	if s := e.inForce(in.Name); s != nil && s.Origin.File != path {
		out.HiddenBy = s.Origin.String()
	}
	return out, nil
}

// spelled is how a script writes a server whose name cannot stand behind a dot; empty of others.
func (e *entries) spelled(name string) string {
	if schema.IsIdentifier(name) {
		return ""
	}
	names := []string{name}
	if cfg, err := e.load(); err == nil {
		for _, s := range cfg.Servers {
			if s.Name != name {
				names = append(names, s.Name)
			}
		}
	}
	if aliases := schema.Aliases(names)[name]; len(aliases) > 0 {
		return "tools." + aliases[0]
	}
	quoted, _ := json.Marshal(name) // a string
	return "tools[" + string(quoted) + "]"
}

// ServersRemove implements api.Entries.
func (e *entries) ServersRemove(ctx context.Context, in api.ServersRemoveInput) (*api.ServersRemoveOutput, error) {
	path, err := e.place(in.Project, in.User, in.File)
	if err != nil {
		return nil, err
	}
	if path == "" {
		cfg, err := e.load()
		if err != nil {
			return nil, err
		}
		s, err := entryOf(cfg, in.Name)
		if err != nil {
			return nil, err
		}
		path = s.Origin.File
	}
	_, err = e.edit(ctx, path, false, func(raw []byte) ([]byte, error) { return config.Remove(path, raw, in.Name) })
	if err != nil {
		return nil, err
	}
	out := &api.ServersRemoveOutput{Name: in.Name, File: path}
	if s := e.inForce(in.Name); s != nil {
		out.Now = s.Origin.String()
	}
	return out, nil
}

// place is the file that is meant; empty if nothing is said.
func (e *entries) place(project, user bool, file string) (string, error) {
	given := 0
	for _, one := range []bool{project, user, file != ""} {
		if one {
			given++
		}
	}
	switch {
	case given > 1:
		return "", fault.Usagef("--project, --user and --file each name a file").Hintf("give one of them")
	case file != "" && !filepath.IsAbs(file):
		return filepath.Join(e.env.Dir, file), nil
	case file != "":
		return filepath.Clean(file), nil
	case project:
		return e.env.ProjectFile(), nil
	case user:
		if path := e.env.UserFile(); path != "" {
			return path, nil
		}
		return "", fault.Usagef("there is no place for a file of your own").Hintf("set HOME or XDG_CONFIG_HOME, or name a file with --file")
	}
	return "", nil
}

// at is the same for a caller who is in another folder.
func (e *entries) at(dir string) *entries {
	there := *e
	there.env.Dir = dir
	return &there
}

// named is the one file that is read instead of searching; empty if there is none.
func (e *entries) named() string {
	file := e.file
	if file == "" && e.env.Lookup != nil {
		file, _ = e.env.Lookup("MCPX_CONFIG")
	}
	if file != "" && !filepath.IsAbs(file) {
		file = filepath.Join(e.env.Dir, file)
	}
	return file
}

// inForce returns the entry of a name that counts, nil without one.
func (e *entries) inForce(name string) *config.Server {
	cfg, err := e.load()
	if err != nil {
		return nil // the file that was named is gone: it names nothing
	}
	s, _ := cfg.Server(name)
	return s
}

// load reads the files as they are now.
func (e *entries) load() (*config.Config, error) {
	return config.Load(config.Options{Env: e.env, File: e.file, Paths: e.paths, Trusted: e.trust.Trusted})
}

// entryOf returns the entry of a name. Without one the error is that of a broken file, if one
// is: the entry may stand in there.
func entryOf(cfg *config.Config, name string) (*config.Server, error) {
	if s, ok := cfg.Server(name); ok {
		return s, nil
	}
	if err := cfg.Err(); err != nil {
		return nil, err
	}
	return nil, fault.NotFoundf("no configuration file names a server %q", name).With("server", name).
		Hintf("mcpx servers list shows the servers")
}

// edit puts another text into a file, or into a new one if it may be made. A file that the
// user vouched for stays one, and a new one is one: it is the user who changes it.
func (e *entries) edit(ctx context.Context, path string, may bool, change func(raw []byte) ([]byte, error)) (created bool, err error) {
	if e.state != "" {
		// Without a lock the file is still looked at once more before it is written.
		if unlock, err := store.Lock(ctx, filepath.Join(e.state, "entries.lock")); err == nil {
			defer unlock()
		} else if ctx.Err() != nil {
			return false, context.Cause(ctx)
		}
	}
	target, mode := path, fs.FileMode(0o600)
	if real, err := filepath.EvalSymlinks(path); err == nil {
		target = real // the link stays one
	}
	raw, err := config.Text(target)
	switch {
	case errors.Is(err, fs.ErrNotExist) && may:
		created = true
		if path == e.env.ProjectFile() {
			mode = 0o644 // it belongs to the project, whose files others may read
		}
	case errors.Is(err, fs.ErrNotExist):
		return false, fault.NotFoundf("the configuration file %s does not exist", path).With("file", path)
	case err != nil:
		return false, fault.Usagef("the configuration file %s cannot be read: %w", path, err).With("file", path)
	default:
		info, err := os.Stat(target)
		if err != nil {
			return false, fault.Usagef("the configuration file %s cannot be read: %w", path, err).With("file", path)
		}
		mode = info.Mode().Perm()
	}
	text, err := change(raw)
	if err != nil {
		return false, err
	}
	trusted := !created && e.trust.Trusted(path, raw)
	if now, err := config.Text(target); created != errors.Is(err, fs.ErrNotExist) || string(now) != string(raw) {
		return false, fault.Unavailablef("%s was changed by another program meanwhile", path).Hintf("try again").With("file", path)
	}
	if err := store.WriteFile(target, text, mode); err != nil {
		return false, fault.Unavailablef("%s cannot be written: %w", path, err).With("file", path)
	}
	switch {
	case trusted:
		return created, e.trust.Add(map[string][]byte{path: text})
	case created && path == e.env.ProjectFile():
		// All that is in it the user has just said. Where that cannot be kept, the file is one of
		// a project like any other.
		_ = e.trust.Add(map[string][]byte{path: text})
	}
	return created, nil
}
