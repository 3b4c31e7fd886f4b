package main

import (
	"context"
	"os"
	"slices"

	"mcpx/internal/api"
	"mcpx/internal/config"
	"mcpx/internal/fault"
	"mcpx/internal/grant"
)

// profiles are those of the configuration, the nearest of each name. A project's files,
// unless they are trusted, only add names: what the user calls by one stays the user's.
func profiles(cfg *config.Config) grant.Profiles {
	own := map[string]grant.Definition{}
	for _, p := range cfg.Profiles {
		if nearer, ok := own[p.Name]; ok && (p.Guest || !nearer.Guest) {
			continue
		}
		own[p.Name] = grant.Definition{
			Extends: p.Extends, Allow: p.Allow, Deny: p.Deny,
			Artifacts: p.Artifacts, Stdin: p.Stdin, Ask: p.Ask,
			Dir: p.Dir, Origin: p.Origin.String(), Guest: p.Guest,
		}
	}
	return grant.Profiles{Own: own}
}

// Trust implements cli.Backend.
func (b *inline) Trust(_ context.Context, in api.TrustInput) (*api.TrustOutput, error) {
	var candidates []string
	if in.Folder != "" {
		candidates = config.ProjectFiles(in.Folder)
	} else {
		for _, f := range b.config.Files {
			if f.Project {
				candidates = append(candidates, f.Path)
			}
		}
	}
	texts := map[string][]byte{}
	out := &api.TrustOutput{Files: []string{}}
	for _, path := range candidates {
		text, err := config.Text(path)
		switch {
		case os.IsNotExist(err) && !in.Revoke:
			continue
		case err != nil && !in.Revoke: // what was said of a file can be taken back without it
			return nil, fault.Usagef("%s cannot be read: %w", path, err)
		}
		texts[path] = text
		out.Files = append(out.Files, path)
	}
	slices.Sort(out.Files)
	if len(out.Files) == 0 {
		where := "here"
		if in.Folder != "" {
			where = "in " + in.Folder
		}
		return nil, fault.NotFoundf("there is no configuration file of a project %s", where).
			Hintf(`"mcpx config" lists where they are looked for`)
	}
	if in.Revoke {
		return out, b.trust.Remove(out.Files)
	}
	return out, b.trust.Add(texts)
}

// trustServer lets a server write, which the files have as they are now: it may just have been
// added.
func (b *inline) trustServer(ctx context.Context, files config.Options, in api.TrustServerInput) (*api.TrustServerOutput, error) {
	now, err := config.Load(files)
	if err != nil {
		return nil, err
	}
	s, err := entryOf(now, in.Name)
	switch {
	case err != nil:
		return nil, err
	case s.Guest:
		return nil, fault.Deniedf("%s: the server %q stands in a file of the project, which you do not trust", s.Origin, in.Name).
			Hintf(`read the file and trust it with "mcpx config trust" first, or give the server an entry of its own in your own file`)
	}
	path := s.Origin.File
	_, err = b.entries.edit(ctx, path, false, func(raw []byte) ([]byte, error) { return config.AllowWrites(path, raw, in.Name) })
	if err != nil {
		return nil, err
	}
	return &api.TrustServerOutput{Name: in.Name, File: path}, nil
}
