package serve

import (
	"encoding/base64"
	"os"
	"strings"
	"testing"
	"time"

	"mcpx/internal/artifact"
	"mcpx/internal/catalog"
	"mcpx/internal/config"
	"mcpx/internal/gateway"
	"mcpx/internal/settings"
	"mcpx/mcp"
	"mcpx/mcp/mcptest"
	"mcpx/pool"
)

func TestMediaOfACallAreResources(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	set := &settings.Set{}
	if err := set.ApplyFlag("policy-write", "allow"); err != nil {
		t.Fatal(err)
	}
	g := gateway.New(gateway.Options{
		Config: &config.Config{Servers: []*config.Server{entry("s", mcptest.Script{})}}, Env: config.Env{Lookup: func(string) (string, bool) { return "", false }, Dir: dir},
		Settings: set, Pool: pool.New(pool.Options{Settings: set, Environ: os.Environ()}), Catalog: catalog.Open(dir), Artifacts: folderOf(dir),
	})
	t.Cleanup(g.Close)
	h := offer(t, Options{Mode: Code, Gateway: g, Longest: time.Minute, Artifacts: artifact.In(folderOf(dir), set)})
	picture := base64.StdEncoding.EncodeToString([]byte("\x89PNG\r\n\x1a\n picture"))
	call := func(more string) string {
		return `{"name":"mcpx_call","arguments":{"server":"s","tool":"result","arguments":{"value":{"content":[{"type":"text","text":"see"},{"type":"image","mimeType":"image/png","data":"` + picture + `"}]}}` + more + `}}`
	}
	if plain := must(t, h, legacy, "tools/call", call("")); !strings.Contains(plain, picture) || strings.Contains(plain, "resource_link") {
		t.Errorf("who says nothing gets %s", plain)
	}
	if list := must(t, h, legacy, "resources/list", ""); !strings.Contains(list, `"resources":[]`) {
		t.Errorf("before: %s", list)
	}
	for _, c := range []caller{legacy, modernOne, {era: mcp.Legacy, revision: mcp.Revision20250618}, {era: mcp.Legacy, revision: mcp.Revision20250326}, {era: mcp.Legacy, revision: mcp.Revision20241105}} {
		got := must(t, h, c, "tools/call", call(`,"artifacts":{}`))
		if strings.Contains(got, picture) || !strings.Contains(got, "artifact://") || strings.Contains(got, "resource_link") != hasLinks(c.revision) {
			t.Errorf("%s: %s", c.revision, got)
			continue
		}
		_, rest, _ := strings.Cut(got, "artifact://")
		uri := "artifact://" + rest[:strings.IndexByte(rest, '"')]
		if read := must(t, h, c, "resources/read", `{"uri":"`+uri+`"}`); !strings.Contains(read, picture) {
			t.Errorf("%s: %s reads %s", c.revision, uri, read)
		}
		if list := must(t, h, c, "resources/list", ""); !strings.Contains(list, uri) {
			t.Errorf("%s: %s is not listed: %s", c.revision, uri, list)
		}
	}
	if got := must(t, h, legacy, "tools/call", call(`,"artifacts":{"delivery":"inline"}`)); !strings.Contains(got, `"isError":true`) || !strings.Contains(got, "can only be named") {
		t.Errorf("inline: %s", got)
	}
}
