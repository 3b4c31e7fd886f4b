package run

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"slices"
	"sync"

	"mcpx/internal/api"
	"mcpx/internal/artifact"
	"mcpx/internal/fault"
	"mcpx/internal/grant"
)

// kept is what a run has kept as artifacts.
type kept struct {
	store artifact.Store
	files func() (*grant.Files, error) // nil where there are none
	turn  chan struct{}                // one file at a time becomes an artifact
	tell  *telling                     // of what is kept

	mu    sync.Mutex
	names map[string]bool // those that are taken
	list  []api.Artifact
	fails map[string]bool // why media were left in values
}

func (k *kept) all() []api.Artifact {
	k.mu.Lock()
	defer k.mu.Unlock()
	return slices.Clone(k.list)
}

// unkept notes why something stays in the value that it was found in.
func (k *kept) unkept(err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.fails == nil {
		k.fails = map[string]bool{}
	}
	k.fails[fault.From(err).Message] = true
}

// warnings are what could not be kept although the caller would have it so.
func (k *kept) warnings() []string {
	k.mu.Lock()
	defer k.mu.Unlock()
	return slices.Sorted(maps.Keys(k.fails))
}

// name makes a harmless name that nothing else of the run has.
func (k *kept) name(name string) string {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.names == nil {
		k.names = map[string]bool{}
	}
	name = artifact.Distinct(artifact.Clean(name), func(n string) bool { return k.names[n] })
	k.names[name] = true
	return name
}

// add notes what was kept, and tells of it.
func (k *kept) add(a artifact.Artifact) api.Artifact {
	out := artifactOf(a)
	k.mu.Lock()
	k.list = append(k.list, out)
	k.mu.Unlock()
	k.tell.artifact(out)
	return out
}

func artifactOf(a artifact.Artifact) api.Artifact {
	return api.Artifact{ID: a.ID, Name: a.Name, MIME: a.MIME, Size: a.Size, SHA256: a.SHA256, URI: a.URI(), Path: a.Path}
}

// keep answers the request to keep an artifact.
func (e *effects) keep(ctx context.Context, head json.RawMessage, body []byte) ([]byte, error) {
	var in struct{ Name, MIME, Path string }
	if err := decode(head, &in); err != nil {
		return nil, err
	}
	if !e.set.Artifacts {
		return nil, grant.Denied(grant.Artifact, in.Name)
	}
	var a artifact.Artifact
	var err error
	if in.Path != "" {
		a, err = e.keepFile(ctx, in.Name, in.MIME, in.Path)
	} else {
		a, err = e.kept.store.Put(ctx, e.kept.name(in.Name), in.MIME, body)
	}
	if err != nil {
		return nil, err
	}
	out := e.kept.add(a)
	out.Path = ""
	answer, err := json.Marshal(out)
	if err != nil {
		return nil, fault.Internalf("encoding an artifact: %w", err)
	}
	return answer, nil
}

// keepFile keeps a file that the run may read. Files are copied one at a time: what is being
// written does not count as room that is taken.
func (e *effects) keepFile(ctx context.Context, name, kind, path string) (artifact.Artifact, error) {
	select {
	case e.kept.turn <- struct{}{}:
		defer func() { <-e.kept.turn }()
	case <-ctx.Done():
		return artifact.Artifact{}, context.Cause(ctx)
	}
	if name == "" {
		name = path
	}
	if e.kept.files == nil {
		return artifact.Artifact{}, grant.Denied(grant.Read, path)
	}
	gate, err := e.kept.files()
	if err != nil {
		return artifact.Artifact{}, err
	}
	// A pipe or a device may never end, or never answer: then nobody could call it off.
	info, err := gate.Stat(path, true)
	if err == nil && !info.Mode().IsRegular() {
		return artifact.Artifact{}, irregular(path)
	}
	f, err := gate.Open(path, grant.How{Read: true})
	if err != nil {
		return artifact.Artifact{}, err
	}
	defer f.Close()
	if now, err := f.Stat(); err != nil || !now.Mode().IsRegular() {
		return artifact.Artifact{}, irregular(path)
	}
	a, err := e.kept.store.PutFrom(ctx, e.kept.name(name), kind, until{ctx, f})
	if _, ours := errors.AsType[*fault.Error](err); err != nil && !ours && ctx.Err() == nil {
		err = grant.FileError(path, reasonOf(err))
	}
	return a, err
}

func irregular(path string) error {
	return fault.Usagef("artifact: %q is no file but a folder, a pipe or a device", path).Hintf("give the path of a file, or bytes")
}

func reasonOf(err error) error {
	if inner := errors.Unwrap(err); inner != nil {
		return inner
	}
	return err
}

// until reads as long as its context is not done.
type until struct {
	ctx context.Context
	r   io.Reader
}

func (u until) Read(p []byte) (int, error) {
	if u.ctx.Err() != nil {
		return 0, context.Cause(u.ctx)
	}
	return u.r.Read(p)
}
