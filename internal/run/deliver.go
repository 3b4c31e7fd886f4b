package run

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"mcpx/internal/api"
	"mcpx/internal/artifact"
	"mcpx/internal/fault"
	"mcpx/internal/settings"
)

// wish checks how a caller wants its artifacts.
func (r *Runner) wish(in api.ExecInput) error {
	w := in.Artifacts
	switch {
	case w == nil:
	case !slices.Contains([]string{"", api.DeliverReference, api.DeliverInline, api.DeliverStream}, w.Delivery):
		return fault.Usagef("artifacts.delivery: %q is not one of its values", w.Delivery).Hintf("write reference, inline or stream")
	case w.Delivery == api.DeliverStream && in.Output != api.OutputStream:
		return fault.Usagef("artifacts can only be streamed behind the frames of a run").Hintf("ask for output: stream, or for artifacts.delivery: inline")
	case w.MaxBytes < 0:
		return fault.Usagef("artifacts.maxBytes: %d is no size", w.MaxBytes)
	case w.Dir != "" && r.Artifacts == "":
		return fault.Unavailablef("artifacts cannot be put into %s: there is no state directory to keep them in first", w.Dir).
			Hintf("set MCPX_STATE_DIR or HOME")
	case w.Dir != "" && !filepath.IsAbs(w.Dir):
		return fault.Usagef("artifacts.dir: %q is not absolute", w.Dir).Hintf("give the whole path")
	}
	return nil
}

// deliver gives the artifacts of a run as the caller wants them, but for those that are
// streamed.
func (r *Runner) deliver(ctx context.Context, in api.ExecInput, out *api.ExecOutput) {
	if in.Artifacts == nil {
		return
	}
	w := *in.Artifacts
	inline := r.mostInline(w)
	for i := range out.Artifacts {
		a := &out.Artifacts[i]
		path := a.Path
		if w.Dir != "" {
			to, err := copyInto(w.Dir, a.Name, path)
			if err != nil {
				out.Warnings = append(out.Warnings, fault.Unavailablef("the artifact %s cannot be put into %s: %w", a.Name, w.Dir, reasonOf(err)).Message)
			} else {
				a.Path = to
			}
		}
		if w.Delivery == api.DeliverInline && a.Size <= inline && ctx.Err() == nil {
			data, err := os.ReadFile(path)
			if err != nil {
				out.Warnings = append(out.Warnings, fault.Unavailablef("the artifact %s cannot be read: %w", a.Name, reasonOf(err)).Message)
				continue
			}
			a.Data = data
		}
	}
}

// mostInline is how large an artifact may be that is given in the answer.
func (r *Runner) mostInline(w api.ArtifactWish) int64 {
	most := settings.ArtifactsInlineMaxBytes.Get(r.Settings)
	if w.MaxBytes > 0 {
		most = min(most, w.MaxBytes)
	}
	return most
}

// chunk is how many bytes of an artifact are in one frame.
const chunk = 48 << 10

// stream sends the bytes of artifacts behind the end of a run: who leaves at the end has
// paid for none.
func (t *telling) stream(ctx context.Context, in api.ExecInput, out *api.ExecOutput) {
	if t == nil || t.to == nil || in.Artifacts == nil || in.Artifacts.Delivery != api.DeliverStream {
		return
	}
	for _, a := range out.Artifacts {
		if most := in.Artifacts.MaxBytes; most > 0 && a.Size > most {
			continue // it is named
		}
		if err := t.body(ctx, a); err != nil {
			t.frame(api.Frame{Type: "artifact.end", Artifact: &api.Artifact{ID: a.ID, Size: a.Size}, Error: fault.ReportOf(err)})
		}
	}
}

func (t *telling) body(ctx context.Context, a api.Artifact) error {
	f, err := os.Open(a.Path)
	if err != nil {
		return fault.Unavailablef("the artifact %s cannot be read: %w", a.Name, reasonOf(err))
	}
	defer f.Close()
	buf := make([]byte, chunk)
	for seq := 0; ; seq++ {
		n, err := io.ReadFull(until{ctx, f}, buf)
		if n > 0 {
			t.frame(api.Frame{Type: "artifact.chunk", Seq: &seq, Artifact: &api.Artifact{ID: a.ID, Size: int64(n), Data: bytes.Clone(buf[:n])}})
		}
		switch {
		case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
			t.frame(api.Frame{Type: "artifact.end", Artifact: &api.Artifact{ID: a.ID, Size: a.Size}})
			return nil
		case err != nil:
			return fault.Unavailablef("the artifact %s cannot be read: %w", a.Name, reasonOf(err))
		}
	}
}

// copyInto copies a file into a folder, as PutInto does.
func copyInto(dir, name, from string) (string, error) {
	f, err := os.Open(from)
	if err != nil {
		return "", err
	}
	defer f.Close()
	return PutInto(dir, name, f)
}

// PutInto writes an artifact into a folder, under its name made harmless, or one like it that
// is free there, and returns its path. Nothing is overwritten, and the file has its name when
// it is whole.
func PutInto(dir, name string, from io.Reader) (string, error) {
	name = artifact.Clean(name)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	part, err := os.CreateTemp(dir, ".mcpx-*.part")
	if err != nil {
		return "", err
	}
	defer os.Remove(part.Name()) // it has another name by then
	_, err = io.Copy(part, from)
	if err == nil {
		err = part.Chmod(0o644)
	}
	if err := errors.Join(err, part.Close()); err != nil {
		return "", err
	}
	tried := map[string]bool{}
	for {
		free := artifact.Distinct(name, func(n string) bool {
			_, err := os.Lstat(filepath.Join(dir, n))
			return tried[n] || err == nil
		})
		to := filepath.Join(dir, free)
		switch err := os.Link(part.Name(), to); {
		case err == nil:
			return to, nil
		case errors.Is(err, fs.ErrExist):
			tried[free] = true // another process was faster
		default: // a file system without links
			return to, os.Rename(part.Name(), to)
		}
	}
}

// media is what makes artifacts of the media in the values of a run; nil leaves them.
func (r *Runner) media(in api.ExecInput, k *kept) func(context.Context, json.RawMessage) json.RawMessage {
	if in.Artifacts == nil || r.Artifacts == "" || settings.ArtifactsInterceptImages.Get(r.Settings) != "true" {
		return nil
	}
	return k.links
}

// links puts links in the place of the media in a value. What cannot be kept stays.
func (k *kept) links(ctx context.Context, value json.RawMessage) json.RawMessage {
	return artifact.Links(value, func(name, kind string, data []byte) (artifact.Artifact, bool) {
		a, err := k.store.Put(ctx, k.name(name), kind, data)
		if err != nil {
			k.unkept(err)
			return a, false
		}
		k.add(a)
		return a, true
	})
}
