//go:build linux

package fs_test

import (
	"context"
	"encoding/json"
	"io"
	"strings"
	"sync/atomic"
	"testing"

	"mcpx/internal/effects/files"
	"mcpx/internal/fault"
	"mcpx/internal/grant"
)

// host answers as the broker does, for a run that may read and write a folder, but
// nothing called denied in it.
type host struct {
	files *files.Files
	input io.Reader
	open  atomic.Int64 // files that the script opened and did not close
}

func newHost(t *testing.T, dir, input string) *host {
	words := grant.Words{Allow: []string{dir}, Deny: []string{dir + "/denied"}}
	return newHostOf(t, dir, input, grant.Set{Read: words, Write: words})
}

func newHostOf(t *testing.T, dir, input string, set grant.Set) *host {
	t.Helper()
	gate, err := grant.OpenFiles(dir, set)
	if err != nil {
		t.Fatal(err)
	}
	h := &host{files: files.New(gate, 64<<20), input: strings.NewReader(input)}
	t.Cleanup(func() {
		h.files.Close()
		gate.Close()
	})
	return h
}

func (h *host) Call(ctx context.Context, op string, head any, body []byte) (json.RawMessage, []byte, error) {
	text, err := json.Marshal(head)
	if err != nil {
		return nil, nil, err
	}
	switch {
	case op == "stdin":
		var in struct{ Max int }
		if err := json.Unmarshal(text, &in); err != nil {
			return nil, nil, err
		}
		p := make([]byte, in.Max)
		n, err := h.input.Read(p)
		answer, e := json.Marshal(map[string]any{"end": err != nil})
		return answer, p[:n], e
	case !strings.HasPrefix(op, "fs."):
		return nil, nil, fault.Internalf("the host knows no request %q", op)
	}
	answer, out, err := h.files.Call(ctx, op, text, body)
	switch {
	case err != nil:
	case op == "fs.open":
		h.open.Add(1)
	case op == "fs.close":
		h.open.Add(-1)
	}
	return answer, out, err
}
