package api

import (
	"context"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strings"
	"time"

	"mcpx/internal/fault"
)

// Artifacts answers for what was kept of runs.
type Artifacts interface {
	// ArtifactsList lists what is kept, the newest first.
	ArtifactsList(ctx context.Context, in ArtifactsListInput) (*ArtifactsListOutput, error)
	// ArtifactGet opens one. The caller must close its Body. The error's kind is notfound if
	// nothing of that id is kept.
	ArtifactGet(ctx context.Context, in ArtifactGetInput) (*ArtifactGetOutput, error)
	// ArtifactPut keeps data.
	ArtifactPut(ctx context.Context, in ArtifactPutInput) (*ArtifactPutOutput, error)
	// ArtifactDelete forgets one; its bytes go with the last that holds the same.
	ArtifactDelete(ctx context.Context, in ArtifactDeleteInput) (*ArtifactDeleteOutput, error)
}

// ArtifactsListInput asks for all artifacts.
type ArtifactsListInput struct{}

// ArtifactsListOutput lists artifacts.
type ArtifactsListOutput struct {
	Artifacts []KeptArtifact `json:"artifacts"`
}

// KeptArtifact is an artifact with its times.
type KeptArtifact struct {
	Artifact
	Created time.Time  `json:"created"`
	Expires *time.Time `json:"expires,omitempty"` // without it: never
}

// ArtifactGetInput names an artifact.
type ArtifactGetInput struct {
	ID string `json:"id" doc:"its id, or its address artifact://ID/NAME"`
}

// ArtifactGetOutput is an artifact with its bytes.
type ArtifactGetOutput struct {
	KeptArtifact
	Body io.ReadCloser `json:"-"`
}

// ArtifactPutInput is what is to be kept: Text or Data.
type ArtifactPutInput struct {
	Name string `json:"name,omitempty" flag:"name" value:"NAME" doc:"keep it as NAME; it is made harmless"`
	MIME string `json:"mime,omitempty" flag:"mime" value:"TYPE" doc:"the media type TYPE; without it one that fits name and contents"`
	Text string `json:"text,omitempty" doc:"what is to be kept, if it is text"`
	Data []byte `json:"data,omitempty" doc:"what is to be kept, in base64"`
}

// ArtifactPutOutput is the artifact.
type ArtifactPutOutput struct{ KeptArtifact }

// ArtifactDeleteInput names an artifact.
type ArtifactDeleteInput struct {
	ID string `json:"id" doc:"its id, or its address artifact://ID/NAME"`
}

// ArtifactDeleteOutput is what has gone.
type ArtifactDeleteOutput struct{ KeptArtifact }

// ArtifactID is the id in what names an artifact: an id, or an address.
func ArtifactID(name string) string {
	rest, ok := strings.CutPrefix(name, "artifact://")
	if !ok {
		return name
	}
	id, _, _ := strings.Cut(rest, "/")
	return id
}

// ArtifactWish says how a caller takes the artifacts of a run. With one it says that it
// takes them at all: then media in the value and among the emits become artifacts as well.
type ArtifactWish struct {
	// Delivery is one of the constants below; empty is DeliverReference.
	Delivery string `json:"delivery,omitempty" words:"reference|inline|stream" doc:"name them, give the bytes in the answer, or send them behind it"`
	// MaxBytes bounds what is given inline or streamed; a larger one is named. 0 is no bound
	// besides the settings.
	MaxBytes int64 `json:"maxBytes,omitempty" doc:"give only those that have no more bytes; others are named"`
	// SharedFS says that the caller sees the disk of whoever runs the script.
	SharedFS bool `json:"sharedFs,omitempty" doc:"the caller sees the same disk, and takes paths"`
	// Dir is a folder that they are copied to, by their names.
	Dir string `json:"dir,omitempty" doc:"copy them into this folder, absolute"`
}

// The values of ArtifactWish.Delivery.
const (
	DeliverReference = "reference" // id, name and address
	DeliverInline    = "inline"    // with their bytes in the answer
	DeliverStream    = "stream"    // with frames artifact.chunk and artifact.end behind end
)

// Spilled is a stream of output that was too long for a document.
type Spilled struct {
	Stream   string       `json:"stream"` // stdout or stderr
	Bytes    int64        `json:"bytes"`  // of all of it
	Head     string       `json:"head"`   // how it begins
	Tail     string       `json:"tail"`   // how it ends
	Artifact string       `json:"artifact,omitempty"`
	Error    *fault.Error `json:"error,omitempty"` // why it could not be kept whole
}

// serveArtifact answers with the bytes of an artifact: whole, in part, or not at all if the
// caller has them. A browser is to save it, not to show it.
func (h *handler) serveArtifact(w http.ResponseWriter, r *http.Request) {
	in, err := read[ArtifactGetInput](h, w, r, false)
	if err != nil {
		refuse(w, err)
		return
	}
	s, err := h.service(w, r)
	if err != nil {
		refuse(w, err)
		return
	}
	out, err := s.ArtifactGet(r.Context(), in)
	if err != nil {
		refuse(w, err)
		return
	}
	defer out.Body.Close()
	header := w.Header()
	header.Set("Content-Type", out.MIME)
	header.Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": out.Name}))
	header.Set("ETag", `"`+out.SHA256+`"`)
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Content-Security-Policy", "sandbox")
	header.Set("Cache-Control", "private, no-cache")
	about, err := encode(out.KeptArtifact)
	if err != nil {
		refuse(w, fault.Internalf("an artifact that is no JSON: %w", err))
		return
	}
	header.Set(artifactHeader, string(about))
	if seeks, ok := out.Body.(io.ReadSeeker); ok {
		http.ServeContent(w, r, "", out.Created, seeks)
		return
	}
	w.WriteHeader(http.StatusOK)
	io.Copy(w, out.Body) //nolint:errcheck // whoever asked may have gone
}

// artifactHeader tells what is known of the artifact whose bytes an answer is: a JSON object.
// All that is in it is ASCII.
const artifactHeader = "X-Mcpx-Artifact"

// artifact asks the service for the bytes of an artifact.
func (s *Remote) artifact(ctx context.Context, in ArtifactGetInput) (*ArtifactGetOutput, error) {
	r, err := s.request(ctx, GetArtifact.Operation, in)
	if err != nil {
		return nil, err
	}
	response, err := s.do(ctx, r, true)
	if err != nil {
		return nil, err
	}
	out := &ArtifactGetOutput{Body: response.Body}
	if err := strict(strings.NewReader(response.Header.Get(artifactHeader)), &out.KeptArtifact); err != nil {
		_ = response.Body.Close()
		return nil, fault.Unavailablef("the daemon sent an artifact without saying which: %w", err)
	}
	out.Body = &measured{response.Body, out.Size, in.ID}
	return out, nil
}

// measured reads an artifact, and fails if it is not whole.
type measured struct {
	io.ReadCloser
	left int64
	id   string
}

func (m *measured) Read(p []byte) (int, error) {
	n, err := m.ReadCloser.Read(p)
	switch m.left -= int64(n); {
	case m.left < 0:
		return 0, fmt.Errorf("the artifact %s is longer than the daemon said", m.id)
	case err == io.EOF && m.left != 0:
		return n, fmt.Errorf("the artifact %s ended %d bytes too early", m.id, m.left)
	}
	return n, err
}
