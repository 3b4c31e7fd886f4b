package run

import (
	"sync"

	"mcpx/internal/artifact"
	"mcpx/internal/effects/files"
	"mcpx/internal/effects/programs"
	"mcpx/internal/effects/web"
	"mcpx/internal/grant"
	"mcpx/internal/settings"
)

// effects are what a script of this runner may do with the machine, as far as set gives.
func (r *Runner) effects(set grant.Set, namespaces []string) *effects {
	e := newEffects(set, namespaces, r.Environ)
	limit := settings.LimitsResult.Get(r.Settings)
	open := sync.OnceValues(func() (*grant.Files, error) { return grant.OpenFiles(r.Dir, set) })
	e.offer("fs", func() (doer, error) {
		gate, err := open()
		if err != nil {
			return nil, err
		}
		return files.New(gate, limit), nil
	})
	e.offer("run", func() (doer, error) {
		gate, err := grant.OpenPrograms(set.Run)
		if err != nil {
			return nil, err
		}
		folders, err := open()
		if err != nil {
			return nil, err
		}
		return programs.New(gate, folders, r.Dir, r.Environ), nil
	})
	e.kept.files = open
	e.kept.store = artifact.In(r.Artifacts, r.Settings)
	e.last = func() {
		if gate, err := open(); err == nil {
			gate.Close()
		}
	}
	e.offer("fetch", func() (doer, error) {
		gate, err := grant.OpenNet(set.Net, set.Everything, r.Own)
		if err != nil {
			return nil, err
		}
		gate.Resolver = r.Resolver
		return web.New(gate, limit), nil
	})
	return e
}
