package main

import (
	"os"

	"mcpx/internal/cli"
	"mcpx/internal/fault"
	"mcpx/internal/settings"
)

// logFile is the log of the daemon for the files of a command.
func logFile(o cli.OpenOptions, dir string) (string, error) {
	if err := o.Settings.ApplyEnv(os.LookupEnv); err != nil {
		return "", err
	}
	if at := settings.DaemonEndpoint.Get(o.Settings); at != "" {
		return "", fault.Usagef("the log of the daemon at %s is where it runs", at).Hintf("leave daemon.endpoint out, or ask there")
	}
	place, err := placeOf(o, dir)
	if err == nil && place.Dir == "" {
		err = fault.Unavailablef("there is no state directory for the daemon to keep its files in").Hintf("set MCPX_STATE_DIR or HOME")
	}
	return place.Log(), err
}
