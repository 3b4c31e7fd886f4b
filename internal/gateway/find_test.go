package gateway_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"mcpx/internal/api"
	"mcpx/internal/catalog"
	"mcpx/internal/config"
	"mcpx/internal/fault"
	"mcpx/internal/gateway"
	"mcpx/internal/settings"
	"mcpx/mcp/mcptest"
	"mcpx/pool"
)

const (
	openDoor  = `{"name":"open-door","description":"Open the door of a room","inputSchema":{"type":"object","properties":{"room":{"type":"string"}},"required":["room"]}}`
	shutDoor  = `{"name":"shut_door","description":"Shut the door of a room","inputSchema":{"type":"object","properties":{"room":{"type":"string"}},"required":["room"]}}`
	openDoor2 = `{"name":"open-door","description":"Open the door of a room","inputSchema":{"type":"object","properties":{"room":{"type":"number"},"wide":{"type":"boolean"}}}}`
)

func names(results []api.SearchResult) string {
	var out []string
	for _, r := range results {
		out = append(out, r.Namespace+"."+r.Name)
	}
	return strings.Join(out, " ")
}

func TestSearchAsksNoServerThatIsKnown(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	servers := []*config.Server{entry("house", mcptest.Script{Tools: tools(openDoor, shutDoor)}), entry("s", mcptest.Script{})}
	first := open(t, dir, servers)
	out, err := first.Search(t.Context(), api.SearchInput{Words: "opening doors", Limit: 1})
	if err != nil || names(out.Results) != "house.open-door" || out.Results[0].Signature != "open_door(args: { room: string }): Promise<any>" {
		t.Fatalf("Search = %+v, %v", out, err)
	}
	second := open(t, dir, servers)
	for range 3 {
		out, err = second.Search(t.Context(), api.SearchInput{Words: "shut", Namespace: "house"})
		if err != nil || names(out.Results) != "house.shut_door" {
			t.Fatalf("Search = %+v, %v", out, err)
		}
		types, err := second.Types(t.Context(), api.TypesInput{Name: "house.openDoor", Brief: true})
		if err != nil || !strings.Contains(types.Declarations, `"open-door"(args: { room: string }): Promise<any>`) || strings.Contains(types.Declarations, "ToolResult") {
			t.Fatalf("Types = %+v, %v", types, err)
		}
	}
	if got := second.pool.Running(); len(got) != 0 {
		t.Errorf("searching started %v", got)
	}
}

func TestSearchFollowsTheCatalog(t *testing.T) {
	t.Parallel()
	g := open(t, t.TempDir(), []*config.Server{entry("house", mcptest.Script{Tools: tools(openDoor)})})
	search := func() string {
		t.Helper()
		out, err := g.Search(t.Context(), api.SearchInput{Words: "window"})
		if err != nil {
			t.Fatal(err)
		}
		return names(out.Results)
	}
	if got := search(); got != "" {
		t.Fatalf("found %q", got)
	}
	// Another process learns of a change.
	files, err := filepath.Glob(filepath.Join(g.dir, "*.json"))
	if err != nil || len(files) != 1 {
		t.Fatalf("%v, %v", files, err)
	}
	text, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(files[0], []byte(strings.ReplaceAll(string(text), "open-door", "open_window")), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := search(); got != "house.open_window" {
		t.Errorf("found %q after a change", got)
	}
}

func TestSearchersShareAnIndex(t *testing.T) {
	t.Parallel()
	g := open(t, t.TempDir(), []*config.Server{entry("house", mcptest.Script{Tools: tools(openDoor, shutDoor)})})
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			for range 20 {
				if out, err := g.Search(t.Context(), api.SearchInput{Words: "door", Limit: 5}); err != nil || len(out.Results) != 2 {
					t.Errorf("Search = %+v, %v", out, err)
				}
			}
		})
	}
	group.Wait()
}

func TestSearchFindsWhatMayBeCalled(t *testing.T) {
	t.Parallel()
	readDoor := `{"name":"see_door","description":"Look at the door of a room","annotations":{"readOnlyHint":true}}`
	g := open(t, t.TempDir(), []*config.Server{
		entry("house", mcptest.Script{Tools: tools(openDoor, shutDoor, readDoor)}), entry("shed", mcptest.Script{Tools: tools(openDoor)}),
	})
	for _, test := range []struct {
		allow, deny []string
		ns, want    string
	}{
		{allow: []string{"house.shut_door"}, want: "house.shut_door"},
		{allow: []string{"house"}, deny: []string{"house.open-door"}, want: "house.see_door house.shut_door"},
		{allow: []string{"house:read"}, want: "house.see_door"},
		{allow: []string{"nobody"}, want: ""},
		{allow: []string{"house"}, ns: "shed", want: "denied"},
	} {
		out, err := g.Search(t.Context(), api.SearchInput{Words: "door", Namespace: test.ns, Limit: 2, Grant: &api.ToolGrant{Allow: test.allow, Deny: test.deny}})
		got := ""
		if err != nil {
			got = string(fault.KindOf(err))
		} else {
			got = names(out.Results)
		}
		if got != test.want {
			t.Errorf("allowed %q without %q: found %q, want %q", test.allow, test.deny, got, test.want)
		}
	}
	if running := g.pool.Running(); len(running) != 1 {
		t.Errorf("%d servers were started, want the one that may be called", len(running))
	}
}

func TestSearchDoesNotWaitAgainForAServerThatFails(t *testing.T) {
	t.Parallel()
	g := open(t, t.TempDir(), []*config.Server{entry("house", mcptest.Script{Tools: tools(openDoor)}), entry("mute", mcptest.Script{Mute: true})},
		"pool-start-timeout", "10s", "upstream-probe-timeout", "200ms")
	for i := range 5 {
		start := time.Now()
		out, err := g.Search(t.Context(), api.SearchInput{Words: "door"})
		if err != nil || names(out.Results) != "house.open-door" {
			t.Fatalf("Search = %+v, %v", out, err)
		}
		if took := time.Since(start); i > 0 && took > 9*time.Second {
			t.Errorf("search %d took %v", i, took)
		}
	}
	// Whoever asks for this one by name does wait.
	if _, err := g.Search(t.Context(), api.SearchInput{Words: "door", Namespace: "mute"}); err == nil {
		t.Error("a server that says nothing was searched")
	}
}

func TestCatalogOverview(t *testing.T) {
	t.Parallel()
	broken := entry("broken", mcptest.Script{Exit: 3})
	disabled := entry("parked", mcptest.Script{})
	disabled.Disabled = true
	g := open(t, t.TempDir(), []*config.Server{
		broken, entry("my-house", mcptest.Script{Tools: tools(openDoor, shutDoor), Instructions: "Knock\nfirst."}), disabled,
	}, "catalog-budget", "300")
	out, err := g.Catalog(t.Context(), api.CatalogInput{})
	if err != nil {
		t.Fatal(err)
	}
	if out.Budget != 300 || out.Tools != 2 || out.Shown != 2 || out.Tokens > 300 || out.Tokens != catalog.Tokens(out.Text) || len(out.Namespaces) != 2 {
		t.Errorf("Catalog = %+v", out)
	}
	for _, want := range []string{
		"2 tools in 2 namespaces", "\nbroken: ", "\nmy-house (tools.my_house): 2 tools\n  // Knock first.\n  open_door({ room: string })\n  shut_door({ room: string })\n",
	} {
		if !strings.Contains(out.Text, want) {
			t.Errorf("no %q in\n%s", want, out.Text)
		}
	}
	ns := out.Namespaces[1]
	if out.Namespaces[0].Error.Kind != fault.Unavailable || ns.Instructions != "Knock first." || ns.Shown[0] != (api.CatalogTool{Name: "open-door", Signature: "open_door({ room: string })"}) {
		t.Errorf("namespaces %+v", out.Namespaces)
	}
	// With room for one tool it is the one that the words are about.
	for budget := 60; budget < 200; budget++ {
		out, err := g.Catalog(t.Context(), api.CatalogInput{Budget: budget, Bias: "shutting"})
		if err != nil || out.Tokens > budget {
			t.Fatalf("%+v, %v", out, err)
		}
		if out.Shown == 1 {
			if out.Namespaces[1].Shown[0].Name != "shut_door" {
				t.Errorf("shown %+v", out.Namespaces[1].Shown)
			}
			return
		}
	}
	t.Error("no budget shows one tool")
}

func TestChangesOfAServerAreKept(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	before := open(t, dir, []*config.Server{entry("house", mcptest.Script{Tools: tools(openDoor, shutDoor)}), entry("s", mcptest.Script{})})
	if out, err := before.Changes(t.Context(), api.ChangesInput{}); err != nil || len(out.Servers) != 2 || out.Servers[0].Since != nil || len(before.pool.Running()) != 0 {
		t.Fatalf("Changes = %+v, %v", out, err)
	}
	if _, err := before.Namespaces(t.Context(), api.NamespacesInput{}); err != nil {
		t.Fatal(err)
	}
	// Its command is another one now, and its tools changed.
	after := open(t, dir, []*config.Server{entry("house", mcptest.Script{Tools: tools(openDoor2)}), entry("s", mcptest.Script{})})
	if _, err := after.Namespaces(t.Context(), api.NamespacesInput{}); err != nil {
		t.Fatal(err)
	}
	third := open(t, dir, []*config.Server{entry("house", mcptest.Script{Tools: tools(openDoor2)}), entry("s", mcptest.Script{})})
	out, err := third.Changes(t.Context(), api.ChangesInput{})
	if err != nil || len(out.Servers) != 2 || len(third.pool.Running()) != 0 {
		t.Fatalf("Changes = %+v, %v", out, err)
	}
	house := out.Servers[0]
	if !strings.Contains(after.log.String(), "catalog.changed server=house tools=2") || strings.Contains(after.log.String(), "catalog.changed server=s") {
		t.Errorf("logged %q", after.log)
	}
	if house.Since == nil || len(house.Changes) != 2 || len(out.Servers[1].Changes) != 0 || out.Servers[1].Since == nil {
		t.Fatalf("Changes = %+v", out.Servers)
	}
	changed, gone := house.Changes[0], house.Changes[1]
	if gone.Tool != "shut_door" || gone.Kind != "removed" || len(gone.Was) == 0 || changed.Tool != "open-door" || changed.Kind != "changed" || time.Since(changed.When) > time.Hour {
		t.Errorf("changes %+v", house.Changes)
	}
	got, err := json.Marshal(changed.Arguments)
	if err != nil {
		t.Fatal(err)
	}
	if want := `[{"kind":"retyped","field":"room","before":"string","after":"number"},{"kind":"optional","field":"room","before":"string","after":"number"},{"kind":"added","field":"wide","after":"boolean"}]`; string(got) != want {
		t.Errorf("arguments %s, want %s", got, want)
	}
	for name, want := range map[string]int{"house": 2, "house.open-door": 1, "house.openDoor": 1, "house.shut_door": 1, "s.echo": 0} {
		out, err := third.Changes(t.Context(), api.ChangesInput{Name: name})
		if err != nil || len(out.Servers) != 1 || len(out.Servers[0].Changes) != want {
			t.Errorf("Changes(%s) = %+v, %v, want %d", name, out, err, want)
		}
	}
	if _, err := third.Changes(t.Context(), api.ChangesInput{Name: "house.opendoor"}); fault.KindOf(err) != fault.NotFound || !strings.Contains(fault.From(err).Hint, "open-door") {
		t.Errorf("Changes(house.opendoor): %v", err)
	}
	if _, err := third.Changes(t.Context(), api.ChangesInput{Name: "nobody"}); fault.KindOf(err) != fault.NotFound {
		t.Errorf("Changes(nobody): %v", err)
	}
}

// BenchmarkSearch is a search as a script makes it, over 10,000 tools of 100 servers.
func BenchmarkSearch(b *testing.B) {
	var set settings.Set
	p := pool.New(pool.Options{Settings: &set})
	known := catalog.Open(b.TempDir())
	cfg := &config.Config{}
	env := config.Env{Lookup: func(string) (string, bool) { return "", false }, Dir: b.TempDir()}
	for i := range 100 {
		s := &config.Server{Name: fmt.Sprintf("server%d", i), Transport: "stdio", Command: "none", Args: []string{fmt.Sprint(i)}}
		cfg.Servers = append(cfg.Servers, s)
		def, err := s.Resolve(env)
		if err != nil {
			b.Fatal(err)
		}
		var tools []string
		for j := range 100 {
			tools = append(tools, fmt.Sprintf(`{"name":"create_thing%d_%d","description":"Create the thing %d of the server","inputSchema":{"type":"object","properties":{"id%d":{"type":"string","description":"Which one"}}}}`, i, j, j, j))
		}
		e := &catalog.Entry{Fingerprint: def.CatalogKey(os.Stat)}
		if err := json.Unmarshal([]byte("["+strings.Join(tools, ",")+"]"), &e.Tools); err != nil {
			b.Fatal(err)
		}
		if err := known.Put(e); err != nil {
			b.Fatal(err)
		}
	}
	g := gateway.New(gateway.Options{Config: cfg, Env: env, Settings: &set, Pool: p, Catalog: known})
	defer g.Close()
	for b.Loop() {
		out, err := g.Search(b.Context(), api.SearchInput{Words: "create a new thing77"})
		if err != nil || len(out.Results) != 10 {
			b.Fatal(len(out.Results), err)
		}
	}
}
