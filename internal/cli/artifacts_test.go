package cli

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"mcpx/internal/api"
	"mcpx/internal/fault"
)

var keptThere = api.KeptArtifact{
	Artifact: api.Artifact{ID: "abc", Name: "a.bin", MIME: "application/octet-stream", Size: 3, SHA256: "ff", URI: "artifact://abc/a.bin"},
	Created:  noon,
}

func (d *desk) ArtifactsList(context.Context, api.ArtifactsListInput) (*api.ArtifactsListOutput, error) {
	until := time.Date(2026, 1, 2, 3, 4, 5, 0, time.Local)
	brief := keptThere
	brief.Expires = &until
	return &api.ArtifactsListOutput{Artifacts: []api.KeptArtifact{keptThere, brief}}, d.broken
}

func (d *desk) ArtifactGet(_ context.Context, in api.ArtifactGetInput) (*api.ArtifactGetOutput, error) {
	text, ok := map[string]string{"abc": "\x00\x01\xff", "artifact://t/t.txt": "hi"}[in.ID]
	if !ok {
		return nil, fault.NotFoundf("there is no such artifact: %q", in.ID)
	}
	return &api.ArtifactGetOutput{KeptArtifact: keptThere, Body: io.NopCloser(strings.NewReader(text))}, nil
}

func (d *desk) ArtifactPut(_ context.Context, in api.ArtifactPutInput) (*api.ArtifactPutOutput, error) {
	d.put = in
	return &api.ArtifactPutOutput{KeptArtifact: keptThere}, nil
}

func (d *desk) ArtifactDelete(_ context.Context, in api.ArtifactDeleteInput) (*api.ArtifactDeleteOutput, error) {
	if in.ID != "abc" {
		return nil, fault.NotFoundf("there is no such artifact: %q", in.ID)
	}
	return &api.ArtifactDeleteOutput{KeptArtifact: keptThere}, nil
}

func TestArtifactsAreShownAndChanged(t *testing.T) {
	t.Parallel()
	d := &desk{}
	drive(t, d, "artifact", "list").want(t, 0, ""+
		"abc  a.bin  3 bytes  application/octet-stream  for ever\n"+
		"abc  a.bin  3 bytes  application/octet-stream  until 2026-01-02 03:04:05\n", "")
	if d.options.Daemon != PresentDaemon {
		t.Error("artifact list would start a daemon, or want one")
	}
	drive(t, d, "artifact", "get", "abc").want(t, 0, "\x00\x01\xff", "")
	drive(t, d, "artifact", "get", "artifact://t/t.txt").want(t, 0, "hi", "")
	drive(t, d, "artifact", "delete", "abc").want(t, 0, "deleted a.bin\n", "")
	if s := drive(t, d, "artifact", "get", "--json", "abc"); s.code != 0 || !strings.Contains(s.stdout.String(), `"data":"AAH/"`) {
		t.Errorf("as JSON: exit %d, %s", s.code, s.stdout.String())
	}
	for _, bad := range [][]string{{"get"}, {"get", ""}, {"get", "a", "b"}, {"delete"}, {"list", "x"}, {"put"}} {
		if s := drive(t, d, append([]string{"artifact"}, bad...)...); s.code != 2 {
			t.Errorf("artifact %q: exit %d", bad, s.code)
		}
	}
	for _, none := range [][]string{{"get", "x"}, {"delete", "x"}} {
		if s := drive(t, d, append([]string{"artifact"}, none...)...); s.code != fault.NotFound.ExitCode() || s.stdout.String() != "" {
			t.Errorf("artifact %q: exit %d, %s", none, s.code, s.stdout.String())
		}
	}
}

func TestArtifactsAreReadFromFilesAndWrittenToThem(t *testing.T) {
	t.Parallel()
	d := &desk{}
	file := filepath.Join(t.TempDir(), "a b.csv")
	if err := os.WriteFile(file, []byte("a,b"), 0o600); err != nil {
		t.Fatal(err)
	}
	drive(t, d, "artifact", "put", file).want(t, 0, "abc\n", "")
	if d.put.Name != "a b.csv" || string(d.put.Data) != "a,b" {
		t.Errorf("put %+v", d.put)
	}
	drive(t, d, "artifact", "put", "--name", "x.csv", "--mime", "text/csv", file).want(t, 0, "abc\n", "")
	if d.put.Name != "x.csv" || d.put.MIME != "text/csv" {
		t.Errorf("put %+v", d.put)
	}
	if s := drive(t, d, "artifact", "put", file+".none"); s.code != fault.NotFound.ExitCode() {
		t.Errorf("a file that is not there: exit %d", s.code)
	}
	drive(t, d, "artifact", "get", "-o", file, "abc").want(t, 0, "", "")
	if got, err := os.ReadFile(file); err != nil || !bytes.Equal(got, []byte{0, 1, 0xff}) {
		t.Errorf("the file holds %q, %v", got, err)
	}
}
