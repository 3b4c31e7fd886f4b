package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"mcpx/internal/api"
	"mcpx/internal/cli"
	"mcpx/internal/config"
	"mcpx/internal/daemon"
	"mcpx/internal/fault"
	"mcpx/internal/store"
)

// patience bounds what the daemons of other files may take to tell of themselves: nobody
// has asked for them.
const patience = 2 * time.Second

// others returns the daemons in the state directory that stand for other files than the
// command, and ends them if asked to. One that does not answer is left out; if it was to end,
// and has not, that is the error, once the others have ended.
func others(ctx context.Context, o cli.OpenOptions, dir string, end bool) ([]api.OtherDaemon, error) {
	mine, err := placeOf(o, dir)
	if mine.Dir == "" || err != nil {
		return nil, err
	}
	var out []api.OtherDaemon
	var failed error
	for _, place := range daemon.All(filepath.Dir(mine.Dir)) {
		if place.Name == mine.Name {
			continue
		}
		found, err := other(ctx, place, end)
		if err != nil && failed == nil {
			failed = err
		}
		if found != nil {
			out = append(out, *found)
		}
	}
	return out, failed
}

// placeOf is the place of the daemon for the files of a command. Without a state directory
// there is none.
func placeOf(o cli.OpenOptions, dir string) (daemon.Place, error) {
	home, _ := os.UserHomeDir() // without one there are no files of the user's
	state := stateDir(home, dir)
	if state == "" {
		return daemon.Place{}, nil
	}
	c := &command{
		OpenOptions: o, state: state, trust: store.OpenTrust(state),
		env: config.Env{Lookup: os.LookupEnv, Home: home, Dir: dir},
	}
	files, err := c.options().FileSet()
	if err != nil {
		return daemon.Place{}, err
	}
	return daemon.At(state, files.Key(), os.TempDir()), nil
}

// other looks at one of them; nil if it does not answer, or does not end.
func other(ctx context.Context, place daemon.Place, end bool) (*api.OtherDaemon, error) {
	soon, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	link, err := daemon.Find(soon, place)
	switch {
	case err == nil:
	case end && ctx.Err() == nil && place.Held():
		return nil, fault.Unavailablef("a daemon of other configuration files does not answer, and goes on").Hintf("its log is %s", place.Log())
	default:
		return nil, ctx.Err()
	}
	defer link.Close()
	out := &api.OtherDaemon{Pid: link.Pid, Version: link.Version, Started: link.Started, Files: []string{}}
	if status, err := api.NewRemote(link.HTTP, daemon.BaseURL, api.Caller{}).Status(soon, api.StatusInput{}); err == nil {
		for _, f := range status.Files {
			if f.State == "read" {
				out.Files = append(out.Files, f.Path)
			}
		}
	}
	if !end {
		return out, nil
	}
	if _, err := link.Leave(ctx, false); err != nil {
		return nil, fmt.Errorf("ending the daemon of process %d: %w", link.Pid, err)
	}
	if err := daemon.WaitGone(ctx, place); err != nil {
		return nil, err
	}
	return out, nil
}
