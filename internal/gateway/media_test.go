package gateway_test

import (
	"encoding/base64"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mcpx/internal/api"
	"mcpx/internal/artifact"
	"mcpx/internal/fault"
	"mcpx/mcp/mcptest"
)

// TestMediaLeaveAsLinksForWhoTakesArtifacts holds what a caller gets of a result with media:
// links to what is kept if it says that it takes artifacts, and else what the server sent.
func TestMediaLeaveAsLinksForWhoTakesArtifacts(t *testing.T) {
	t.Parallel()
	picture := base64.StdEncoding.EncodeToString([]byte("\x89PNG\r\n\x1a\n picture"))
	sound := base64.StdEncoding.EncodeToString([]byte("RIFF sound"))
	result := `{"content":[{"type":"text","text":"see"},{"type":"image","mimeType":"image/png","data":"` + picture + `"},` +
		`{"type":"image","mimeType":"image/png","data":"` + sound + `"},` +
		`{"type":"audio","mimeType":"audio/wav","data":"` + sound + `"},{"type":"resource","resource":{"uri":"file:///a/b c.bin","mimeType":"a/b","blob":"` + sound + `"}},` +
		`{"type":"resource","resource":{"uri":"file:///t.txt","text":"words"}}],"structuredContent":{"shot":{"type":"image","mimeType":"image/png","data":"` + picture + `"},"n":1e400},"odd":[1.0]}`
	for _, tt := range []struct {
		name  string
		wish  *api.ArtifactWish
		flags []string
		kept  []string // the names of what is kept
	}{
		{"who says nothing", nil, nil, nil},
		{"who takes them", &api.ArtifactWish{}, nil, []string{"image.png", "image-1.png", "audio.wav", "b-c.bin", "image-2.png"}},
		{"who takes them by name", &api.ArtifactWish{Delivery: api.DeliverReference}, nil, []string{"image.png", "image-1.png", "audio.wav", "b-c.bin", "image-2.png"}},
		{"where the settings do not want it", &api.ArtifactWish{}, []string{"artifacts-intercept-images", "false"}, nil},
	} {
		g := one(t, mcptest.Script{}, tt.flags...)
		out, err := g.Call(t.Context(), api.CallInput{Server: "s", Tool: "result", Arguments: json.RawMessage(`{"value":` + result + `}`), Artifacts: tt.wish})
		if err != nil {
			t.Fatal(err)
		}
		if len(out.Artifacts) != len(tt.kept) || (string(out.Result) == result) != (tt.kept == nil) || len(out.Warnings) != 0 {
			t.Errorf("%s: %d are kept of %s, %q", tt.name, len(out.Artifacts), out.Result, out.Warnings)
			continue
		}
		if tt.kept == nil {
			continue
		}
		if strings.Contains(string(out.Result)+string(out.Value), picture) || strings.Contains(string(out.Result), sound) || strings.Count(string(out.Result), `"resource_link"`) != 5 {
			t.Errorf("%s: the result is %s, with the value %s", tt.name, out.Result, out.Value)
		}
		for _, left := range []string{`{"type":"text","text":"see"}`, `"text":"words"`, `"n":1e400`, `"odd":[1.0]`} {
			if !strings.Contains(string(out.Result), left) {
				t.Errorf("%s: %s is no more in %s", tt.name, left, out.Result)
			}
		}
		store := artifact.Store{Dir: filepath.Join(g.dir, "artifacts")}
		for i, a := range out.Artifacts {
			_, f, err := store.Open(t.Context(), a.ID)
			if err != nil || a.Name != tt.kept[i] || a.Path != "" || a.URI != "artifact://"+a.ID+"/"+a.Name || !strings.Contains(string(out.Result), a.URI) {
				t.Errorf("%s: %+v, %v, want %s", tt.name, a, err, tt.kept[i])
				continue
			}
			_ = f.Close()
		}
	}
}

func TestMediaThatCannotBeKeptStay(t *testing.T) {
	t.Parallel()
	picture := base64.StdEncoding.EncodeToString([]byte(strings.Repeat("x", 2000)))
	block := `{"type":"image","mimeType":"image/png","data":"` + picture + `"}`
	arguments := json.RawMessage(`{"value":{"content":[` + block + `]}}`)
	g := one(t, mcptest.Script{}, "artifacts-max-bytes", "1KiB")
	out, err := g.Call(t.Context(), api.CallInput{Server: "s", Tool: "result", Arguments: arguments, Artifacts: &api.ArtifactWish{}})
	if err != nil || !strings.Contains(string(out.Result), picture) || len(out.Artifacts) != 0 || len(out.Warnings) != 1 || !strings.Contains(out.Warnings[0], "1024 are allowed") {
		t.Errorf("one that is too large: %q, %v", out.Warnings, err)
	}
	for _, rubbish := range []string{`{"type":"image","data":"no base64 !"}`, `{"type":"image","data":7}`, `{"type":"image"}`, `{"type":"moon","data":"eA=="}`} {
		out, err := g.Call(t.Context(), api.CallInput{Server: "s", Tool: "result", Arguments: json.RawMessage(`{"value":{"content":[` + rubbish + `]}}`), Artifacts: &api.ArtifactWish{}})
		if err != nil || !strings.Contains(string(out.Result), rubbish) || len(out.Artifacts) != 0 {
			t.Errorf("%s: %+v, %v", rubbish, out, err)
		}
	}
	if left, _ := os.ReadDir(filepath.Join(g.dir, "artifacts", "blobs")); len(left) != 0 {
		t.Errorf("%d things are kept", len(left))
	}
}

func TestTheMediaOfACallAreOnlyNamed(t *testing.T) {
	t.Parallel()
	g := one(t, mcptest.Script{})
	for _, wish := range []api.ArtifactWish{{Delivery: api.DeliverInline}, {Delivery: api.DeliverStream}, {Delivery: "x"}, {Dir: "/x"}, {SharedFS: true}, {MaxBytes: 1}} {
		_, err := g.Call(t.Context(), api.CallInput{Server: "s", Tool: "echo", Arguments: json.RawMessage(`{"message":"x"}`), Artifacts: &wish})
		if fault.KindOf(err) != fault.Usage || !strings.Contains(err.Error(), "can only be named") {
			t.Errorf("%+v: %v", wish, err)
		}
	}
}
