package daemon

import (
	"context"

	"mcpx/internal/api"
	"mcpx/internal/artifact"
)

var _ api.Artifacts = (*View)(nil)

// kept answers for the artifacts.
func (v *View) kept() (artifact.Desk, error) {
	set, err := v.settings()
	if err != nil {
		return artifact.Desk{}, err
	}
	return artifact.Desk{Store: artifact.In(v.l.o.Artifacts, set)}, nil
}

// ArtifactsList implements api.Artifacts.
func (v *View) ArtifactsList(ctx context.Context, in api.ArtifactsListInput) (*api.ArtifactsListOutput, error) {
	d, err := v.kept()
	if err != nil {
		return nil, err
	}
	return d.ArtifactsList(ctx, in)
}

// ArtifactGet implements api.Artifacts.
func (v *View) ArtifactGet(ctx context.Context, in api.ArtifactGetInput) (*api.ArtifactGetOutput, error) {
	d, err := v.kept()
	if err != nil {
		return nil, err
	}
	return d.ArtifactGet(ctx, in)
}

// ArtifactPut implements api.Artifacts.
func (v *View) ArtifactPut(ctx context.Context, in api.ArtifactPutInput) (*api.ArtifactPutOutput, error) {
	d, err := v.kept()
	if err != nil {
		return nil, err
	}
	return d.ArtifactPut(ctx, in)
}

// ArtifactDelete implements api.Artifacts.
func (v *View) ArtifactDelete(ctx context.Context, in api.ArtifactDeleteInput) (*api.ArtifactDeleteOutput, error) {
	d, err := v.kept()
	if err != nil {
		return nil, err
	}
	return d.ArtifactDelete(ctx, in)
}
