package api

import (
	"context"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"mcpx/internal/fault"
)

// shelf keeps one artifact.
type shelf struct {
	Service
	path string
	size int64 // that it says it has
}

func (s *shelf) For(Caller) Service { return s }

func (s *shelf) ArtifactGet(_ context.Context, in ArtifactGetInput) (*ArtifactGetOutput, error) {
	if in.ID != "abc" {
		return nil, fault.NotFoundf("there is none of the id %q", in.ID)
	}
	f, err := os.Open(s.path)
	return &ArtifactGetOutput{
		KeptArtifact: KeptArtifact{
			Artifact: Artifact{ID: "abc", Name: "a.html", MIME: "text/html; charset=utf-8", Size: s.size, SHA256: "beef", URI: "artifact://abc/a.html"},
			Created:  time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC),
		}, Body: f,
	}, err
}

func TestBytesOfArtifactsAreServedInPartAndNotTwice(t *testing.T) {
	t.Parallel()
	s := &shelf{path: filepath.Join(t.TempDir(), "a"), size: 10}
	if err := os.WriteFile(s.path, []byte("0123456789"), 0o600); err != nil {
		t.Fatal(err)
	}
	url, client := listenTo(t, s)
	for _, test := range []struct {
		name   string
		path   string
		header map[string]string
		code   int
		body   string
	}{
		{"whole", "/v1/artifacts/abc", nil, 200, "0123456789"},
		{"its middle", "/v1/artifacts/abc", map[string]string{"Range": "bytes=2-4"}, 206, "234"},
		{"its end", "/v1/artifacts/abc", map[string]string{"Range": "bytes=-3"}, 206, "789"},
		{"beyond its end", "/v1/artifacts/abc", map[string]string{"Range": "bytes=10-"}, 416, ""},
		{"a part of what it was", "/v1/artifacts/abc", map[string]string{"Range": "bytes=2-4", "If-Range": `"other"`}, 200, "0123456789"},
		{"known already", "/v1/artifacts/abc", map[string]string{"If-None-Match": `"beef"`}, 304, ""},
		{"known as it was", "/v1/artifacts/abc", map[string]string{"If-None-Match": `"other"`}, 200, "0123456789"},
		{"not changed since", "/v1/artifacts/abc", map[string]string{"If-Modified-Since": "Fri, 02 Jan 2026 03:04:05 GMT"}, 304, ""},
		{"none", "/v1/artifacts/x", nil, 404, ""},
		{"no path", "/v1/artifacts/..%2Fx", nil, 404, ""},
		{"an address", "/v1/artifacts/abc?id=x", nil, 400, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url+test.path, nil)
			if err != nil {
				t.Fatal(err)
			}
			for key, value := range test.header {
				r.Header.Set(key, value)
			}
			response, err := http.DefaultClient.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			defer response.Body.Close()
			body, err := io.ReadAll(response.Body)
			if err != nil || response.StatusCode != test.code || test.code < 300 && string(body) != test.body {
				t.Fatalf("%d %q, %v, want %d %q", response.StatusCode, body, err, test.code, test.body)
			}
			h := response.Header
			if test.code < 300 && (h.Get("Content-Disposition") != "attachment; filename=a.html" || h.Get("X-Content-Type-Options") != "nosniff" || h.Get("ETag") != `"beef"`) {
				t.Errorf("it is not an attachment: %v", h)
			}
		})
	}
	out, err := client.ArtifactGet(t.Context(), ArtifactGetInput{ID: "abc"})
	if err != nil {
		t.Fatal(err)
	}
	defer out.Body.Close()
	body, err := io.ReadAll(out.Body)
	if err != nil || string(body) != "0123456789" || out.Name != "a.html" || out.Size != 10 || out.Created.IsZero() {
		t.Errorf("the client has %+v and %q, %v", out.KeptArtifact, body, err)
	}
	if _, err := client.ArtifactGet(t.Context(), ArtifactGetInput{ID: "x"}); fault.KindOf(err) != fault.NotFound {
		t.Errorf("of none: %v", err)
	}
}

// A client that has not got all of it says so.
func TestAnArtifactThatIsCutOffIsAnError(t *testing.T) {
	t.Parallel()
	s := &shelf{path: filepath.Join(t.TempDir(), "a"), size: 11}
	if err := os.WriteFile(s.path, []byte("0123456789"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, client := listenTo(t, s)
	out, err := client.ArtifactGet(t.Context(), ArtifactGetInput{ID: "abc"})
	if err != nil {
		t.Fatal(err)
	}
	defer out.Body.Close()
	if _, err := io.ReadAll(out.Body); err == nil || !strings.Contains(err.Error(), "1 bytes too early") {
		t.Errorf("reading it: %v", err)
	}
}

func TestAnArtifactIsNamedByIDOrAddress(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{"abc": "abc", "artifact://abc/x.txt": "abc", "artifact://abc": "abc", "": "", "http://abc/x": "http://abc/x"} {
		if got := ArtifactID(name); got != want {
			t.Errorf("ArtifactID(%q) = %q, want %q", name, got, want)
		}
	}
}
