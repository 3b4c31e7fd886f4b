package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"hash"
	"io"

	"mcpx/internal/api"
	"mcpx/internal/fault"
	"mcpx/internal/run"
	"mcpx/internal/settings"
)

// fetchAll puts the artifacts of a run in a daemon elsewhere into a folder of this machine.
func (b *backend) fetchAll(ctx context.Context, out *api.ExecOutput, folder string) {
	room := settings.ArtifactsQuota.Get(b.c.Settings)
	for i, a := range out.Artifacts {
		var err error
		if out.Artifacts[i].Path, err = b.fetch(ctx, a, folder, &room); err != nil {
			out.Warnings = append(out.Warnings, fault.Unavailablef("the artifact %s cannot be put into %s: %w", a.Name, folder, err).Message)
		}
	}
}

// fetch puts an artifact into the folder. The daemon that has it may be anybody's: the
// artifact is no larger than this machine's settings let one be, and not put there unless it
// is what the run said it is. room is what all of them may still take.
func (b *backend) fetch(ctx context.Context, a api.Artifact, folder string, room *int64) (string, error) {
	for _, most := range []struct {
		bytes   int64
		setting string
	}{{settings.ArtifactsMaxBytes.Get(b.c.Settings), "artifacts.maxBytes"}, {*room, "artifacts.quota"}} {
		if a.Size < 0 || a.Size > most.bytes {
			return "", fault.Limitf("it has %d bytes, which is more than %s lets through", a.Size, most.setting)
		}
	}
	got, err := b.Service.ArtifactGet(ctx, api.ArtifactGetInput{ID: a.ID})
	if err != nil {
		return "", err
	}
	defer got.Body.Close()
	path, err := run.PutInto(folder, a.Name, &announced{r: got.Body, left: a.Size, sum: a.SHA256, hash: sha256.New()})
	if err == nil {
		*room -= a.Size
	}
	return path, err
}

// announced reads what was announced with a size and a sum, and fails where it is something
// else.
type announced struct {
	r    io.Reader
	left int64
	sum  string
	hash hash.Hash
}

func (a *announced) Read(p []byte) (int, error) {
	n, err := a.r.Read(p)
	a.hash.Write(p[:n])
	switch a.left -= int64(n); {
	case a.left < 0, errors.Is(err, io.EOF) && a.left > 0:
		return 0, errors.New("its size is not the one that the run told")
	case errors.Is(err, io.EOF) && hex.EncodeToString(a.hash.Sum(nil)) != a.sum:
		return 0, errors.New("its bytes are not those that the run told of")
	}
	return n, err
}
