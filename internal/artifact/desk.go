package artifact

import (
	"context"

	"mcpx/internal/api"
	"mcpx/internal/fault"
	"mcpx/internal/settings"
)

// In is the store in a folder, bounded as the settings say.
func In(dir string, set *settings.Set) Store {
	return Store{
		Dir: dir, Max: settings.ArtifactsMaxBytes.Get(set),
		Quota: settings.ArtifactsQuota.Get(set), TTL: settings.ArtifactsTTL.Get(set),
	}
}

// Desk answers for the artifacts of a store.
type Desk struct{ Store Store }

var _ api.Artifacts = Desk{}

// ArtifactsList implements api.Artifacts.
func (d Desk) ArtifactsList(ctx context.Context, _ api.ArtifactsListInput) (*api.ArtifactsListOutput, error) {
	list, err := d.Store.List(ctx)
	if err != nil {
		return nil, err
	}
	out := &api.ArtifactsListOutput{Artifacts: []api.KeptArtifact{}}
	for _, a := range list {
		out.Artifacts = append(out.Artifacts, Described(a))
	}
	return out, nil
}

// ArtifactGet implements api.Artifacts.
func (d Desk) ArtifactGet(ctx context.Context, in api.ArtifactGetInput) (*api.ArtifactGetOutput, error) {
	a, f, err := d.Store.Open(ctx, api.ArtifactID(in.ID))
	if err != nil {
		return nil, err
	}
	return &api.ArtifactGetOutput{KeptArtifact: Described(a), Body: f}, nil
}

// ArtifactPut implements api.Artifacts.
func (d Desk) ArtifactPut(ctx context.Context, in api.ArtifactPutInput) (*api.ArtifactPutOutput, error) {
	data := in.Data
	if in.Text != "" {
		if len(data) > 0 {
			return nil, fault.Usagef("an artifact is either text or data").Hintf("give one of text and data")
		}
		data = []byte(in.Text)
	}
	a, err := d.Store.Put(ctx, in.Name, in.MIME, data)
	if err != nil {
		return nil, err
	}
	return &api.ArtifactPutOutput{KeptArtifact: Described(a)}, nil
}

// ArtifactDelete implements api.Artifacts.
func (d Desk) ArtifactDelete(ctx context.Context, in api.ArtifactDeleteInput) (*api.ArtifactDeleteOutput, error) {
	a, err := d.Store.Delete(ctx, api.ArtifactID(in.ID))
	if err != nil {
		return nil, err
	}
	return &api.ArtifactDeleteOutput{KeptArtifact: Described(a)}, nil
}

// Described is an artifact in the words of package api, without its path.
func Described(a Artifact) api.KeptArtifact {
	out := api.KeptArtifact{
		Artifact: api.Artifact{ID: a.ID, Name: a.Name, MIME: a.MIME, Size: a.Size, SHA256: a.SHA256, URI: a.URI()},
		Created:  a.Created,
	}
	if !a.Expires.IsZero() {
		out.Expires = &a.Expires
	}
	return out
}
