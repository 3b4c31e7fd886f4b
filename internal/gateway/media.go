package gateway

import (
	"context"
	"maps"
	"slices"

	"mcpx/internal/api"
	"mcpx/internal/artifact"
	"mcpx/internal/fault"
	"mcpx/internal/settings"
	"mcpx/mcp"
)

// takes checks how the caller of a tool takes artifacts: by their names alone. What else
// there is, is for the artifacts of runs.
func takes(w *api.ArtifactWish) error {
	if w == nil || *w == (api.ArtifactWish{}) || *w == (api.ArtifactWish{Delivery: api.DeliverReference}) {
		return nil
	}
	return fault.Usagef("artifacts: the media of a call can only be named").
		Hintf("ask for artifacts: {}, and take the bytes with GET /v1/artifacts/ID or mcpx artifact get ID")
}

// link keeps the media of a result for a caller that takes artifacts, and puts links in their
// place. What cannot be kept stays, and out has a warning.
func (g *Gateway) link(ctx context.Context, out *api.CallOutput, result *mcp.Result) (*mcp.Result, error) {
	if g.o.Artifacts == "" || settings.ArtifactsInterceptImages.Get(g.settings) != "true" {
		return result, nil
	}
	store := artifact.In(g.o.Artifacts, g.settings)
	names, fails := map[string]bool{}, map[string]bool{}
	linked := artifact.Links(out.Result, func(name, kind string, data []byte) (artifact.Artifact, bool) {
		name = artifact.Distinct(artifact.Clean(name), func(n string) bool { return names[n] })
		names[name] = true
		a, err := store.Put(ctx, name, kind, data)
		if err != nil {
			fails[fault.From(err).Message] = true
			return a, false
		}
		out.Artifacts = append(out.Artifacts, api.Artifact{ID: a.ID, Name: a.Name, MIME: a.MIME, Size: a.Size, SHA256: a.SHA256, URI: a.URI()})
		return a, true
	})
	out.Warnings = append(out.Warnings, slices.Sorted(maps.Keys(fails))...)
	if len(out.Artifacts) == 0 {
		return result, nil
	}
	out.Result = linked
	return mcp.DecodeResult(linked)
}
