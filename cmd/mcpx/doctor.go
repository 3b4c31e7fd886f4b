package main

import (
	"context"
	"os"
	"strings"
	"sync"

	"mcpx/internal/api"
	"mcpx/internal/config"
	"mcpx/internal/daemon"
	"mcpx/internal/diagnose"
	"mcpx/internal/fault"
	"mcpx/internal/settings"
)

// machine says what is found of everything but configuration files and servers.
func (c *command) machine(ctx context.Context, cfg *config.Config, strays []settings.Stray, problems []error) []api.Finding {
	looks := []func() []api.Finding{
		func() []api.Finding {
			program, err := os.Executable()
			if err != nil {
				program = c.program
			}
			return []api.Finding{diagnose.Program(version, program, c.caller), diagnose.Repository(c.caller)}
		},
		func() []api.Finding { return append(settingFindings(c.Settings, problems), strayFindings(strays)...) },
		func() []api.Finding {
			state := examineState(c.state)
			return append(append([]api.Finding{state}, diagnose.Files(c.state)...), c.daemons(ctx, state)...)
		},
		func() []api.Finding { return c.logins(cfg) },
		func() []api.Finding {
			ctx, cancel := context.WithTimeout(ctx, settings.PoolStartTimeout.Get(c.Settings))
			defer cancel()
			return []api.Finding{c.runner.Examine(ctx)}
		},
	}
	found := make([][]api.Finding, len(looks))
	var wg sync.WaitGroup
	for i, look := range looks {
		wg.Go(func() { found[i] = look() })
	}
	wg.Wait()
	var out []api.Finding
	for _, f := range found {
		out = append(out, f...)
	}
	return out
}

// settingFindings says which settings have values that mean nothing, and which are not
// followed. Other commands do not run before the former are mended.
func settingFindings(set *settings.Set, problems []error) []api.Finding {
	var out []api.Finding
	for _, err := range problems {
		e := fault.From(err)
		hint := e.Hint
		if hint == "" {
			hint = "mcpx settings list --all shows what there is"
		}
		out = append(out, api.Finding{Subject: "settings", State: api.Failed, Message: e.Message, Hint: hint})
	}
	for _, notice := range set.Notices() {
		out = append(out, api.Finding{Subject: "settings", State: api.Warning, Message: notice, Hint: "mcpx settings list shows where each comes from"})
	}
	return out
}

// daemons tells of those in the state directory. None is started.
func (c *command) daemons(ctx context.Context, state api.Finding) []api.Finding {
	if c.state == "" {
		return nil // which is a finding already
	}
	files, err := c.options().FileSet()
	if err != nil {
		return nil // so is a file that is not there
	}
	without := c.without()
	inlined := settings.DaemonInline.Get(c.Settings)
	switch {
	case without != "":
	case inlined == "auto" && state.State != api.Fine:
		without = "the state directory cannot be written"
	case inlined == "auto" && c.Config != "":
		without = "--config names a file for this command alone"
	case inlined == "auto" && settings.DaemonAutostart.Get(c.Settings) != "true":
		without = "daemon.autostart is false"
	}
	return diagnose.Daemons(ctx, diagnose.Look{
		State: c.state, Here: daemon.At(c.state, files.Key(), os.TempDir()), Version: build(), Caller: c.caller, Without: without,
	})
}

// logins tells of the servers where somebody is logged in, or was.
func (c *command) logins(cfg *config.Config) []api.Finding {
	a := &authority{config: cfg, env: c.env, settings: c.Settings, tokens: secrets(c.state, c.Settings), log: c.log}
	var out []api.Finding
	for _, s := range cfg.Servers {
		if s.Disabled || s.Transport == config.Stdio {
			continue
		}
		def, err := s.Resolve(c.env)
		if err != nil {
			continue // the server's own finding says so
		}
		f := api.Finding{Subject: "login " + s.Name, State: api.Fine}
		again := "mcpx auth login " + fault.ShellWord(s.Name)
		l, err := a.login(def)
		switch {
		case err != nil:
			e := fault.From(err)
			f.State, f.Message, f.Hint = api.Failed, e.Message, e.Hint
			if f.Hint == "" {
				f.Hint = again
			}
		case l.State == api.Expired:
			f.State, f.Message, f.Hint = api.Warning, "it has expired", again
		case l.State == api.LoggedIn:
			f.Message = "at " + l.Issuer
			if l.Expires != nil && !l.Renews {
				f.Message += ", until " + l.Expires.Local().Format("2006-01-02 15:04")
			}
			f.Details = append(f.Details, api.Detail{Name: "kept in", Value: l.Store}, api.Detail{Name: "scopes", Value: strings.Join(l.Scopes, " ")})
		case l.State == api.LoggedOut:
			f.Message = "nobody is logged in"
		default:
			continue
		}
		out = append(out, f)
	}
	return out
}
