package daemon

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
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

// running is a real pool as a Live knows it.
type running struct{ *pool.Pool }

func (r running) Instances() []api.Instance {
	var out []api.Instance
	for _, i := range r.Pool.Instances() {
		out = append(out, api.Instance{Server: i.Server, Pid: i.Pid, Calls: i.Calls, InFlight: i.UnderWay})
	}
	return out
}
func (running) Sessions() []api.Session { return nil }
func (r running) Retire(over func(string) bool) {
	r.Pool.Retire(func(def *config.Definition) bool { return over(def.Name) })
}
func (running) RestartSession(string) (int, bool) { return 0, false }

// world is a Live over a file that tests write.
type world struct {
	t      *testing.T
	live   *Live
	file   string
	pool   running
	events *api.Events
}

// entryOf is an entry of the file; each text makes another one.
func entryOf(text string) string {
	cmd := mcptest.Command(mcptest.Script{Instructions: text})
	env := map[string]string{}
	for _, pair := range cmd.Env {
		name, value, _ := strings.Cut(pair, "=")
		env[name] = strings.ReplaceAll(value, "$", "$$")
	}
	entry, err := json.Marshal(map[string]any{"command": cmd.Path, "args": append([]string{}, cmd.Args...), "env": env})
	if err != nil {
		panic(err)
	}
	return string(entry)
}

func newWorld(t *testing.T, servers map[string]string) *world {
	t.Helper()
	w := &world{t: t, file: filepath.Join(t.TempDir(), "mcpx.json")}
	w.write(servers)
	dir := filepath.Dir(w.file)
	set := &settings.Set{}
	if err := set.ApplyFlag("policy-write", "allow"); err != nil {
		t.Fatal(err)
	}
	w.events = api.NewEvents(set)
	w.pool = running{pool.New(pool.Options{Settings: set, Environ: os.Environ()})}
	env := config.Env{Lookup: func(string) (string, bool) { return "", false }, Dir: dir}
	live, err := NewLive(LiveOptions{
		Load: func() (*Generation, error) {
			cfg, err := config.Load(config.Options{Env: env, File: w.file})
			if err != nil {
				return nil, err
			}
			set := &settings.Set{}
			for _, f := range cfg.Settings {
				if err := set.ApplyFile(f); err != nil {
					return nil, err
				}
			}
			return &Generation{Config: cfg, Settings: set, Gateway: gateway.New(gateway.Options{
				Config: cfg, Env: env, Settings: set, Pool: w.pool.Pool, KeepPool: true, Catalog: catalog.Open(filepath.Join(dir, "catalog")),
			})}, nil
		},
		Files: []string{w.file}, Pool: w.pool, Events: w.events, State: dir,
		Entries: func(api.Caller, api.Servers) Files { return nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	w.live = live
	t.Cleanup(func() {
		live.Close()
		w.pool.Close()
		if left := w.pool.Running(); len(left) > 0 {
			t.Errorf("left: %v", left)
		}
	})
	return w
}

// write puts another file in the place of the one there is.
func (w *world) write(servers map[string]string) {
	w.t.Helper()
	var entries []string
	for name, entry := range servers {
		entries = append(entries, `"`+name+`": `+entry)
	}
	slices.Sort(entries)
	w.text(`{"policy": {"write": "allow"}, "mcpServers": {` + strings.Join(entries, ",\n") + `}}`)
}

func (w *world) text(text string) {
	w.t.Helper()
	if err := os.WriteFile(w.file+".new", []byte(text), 0o600); err != nil {
		w.t.Fatal(err)
	}
	if err := os.Rename(w.file+".new", w.file); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) service() api.Service { return w.live.For(api.Caller{}) }

func (w *world) call(server, tool, args string) (*api.CallOutput, error) {
	w.t.Helper()
	return w.service().Call(w.t.Context(), api.CallInput{Server: server, Tool: tool, Arguments: json.RawMessage(args)})
}

// pids are the processes of a server.
func (w *world) pids(server string) []int {
	var out []int
	for _, i := range w.pool.Instances() {
		if i.Server == server {
			out = append(out, i.Pid)
		}
	}
	return out
}

// listed is a pool with these instances.
type listed struct {
	Pool
	instances []api.Instance
}

func (l listed) Instances() []api.Instance { return l.instances }

// What is behind a url goes on, and what nobody has called has nothing to lose.
func TestOnlyProcessesThatAnsweredCallsLoseWhatTheyRemember(t *testing.T) {
	t.Parallel()
	l := &Live{o: LiveOptions{Pool: listed{instances: []api.Instance{
		{Server: "used", Pid: 1, Calls: 1}, {Server: "new", Pid: 2}, {Server: "far", Calls: 1}, {Server: "same", Pid: 3, Calls: 1},
	}}}}
	if got := l.used([]string{"used", "new", "far"}); !slices.Equal(got, []string{"used"}) {
		t.Errorf("used = %q, want used alone", got)
	}
}

func TestAChangeRestartsOnlyWhatChanged(t *testing.T) {
	t.Parallel()
	w := newWorld(t, map[string]string{"same": entryOf("a"), "other": entryOf("b"), "gone": entryOf("c")})
	for _, name := range []string{"same", "other", "gone"} {
		if _, err := w.call(name, "echo", `{"message":"x"}`); err != nil {
			t.Fatal(err)
		}
	}
	same, other, warned := w.pids("same"), w.pids("other"), map[string][]string{}
	w.write(map[string]string{"same": entryOf("a"), "other": entryOf("B"), "new": entryOf("d")})
	for _, name := range []string{"same", "other", "new", "other"} {
		out, err := w.call(name, "echo", `{"message":"x"}`)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		warned[name] = append(warned[name], out.Warnings...)
	}
	if len(warned["other"]) != 1 || !strings.Contains(warned["other"][0], "started anew") || len(warned["same"])+len(warned["new"]) > 0 {
		t.Errorf("callers were told %q, want that other has started anew, once", warned)
	}
	if _, err := w.call("gone", "echo", `{"message":"x"}`); fault.KindOf(err) != fault.NotFound {
		t.Errorf("a call of a server that was removed: %v", err)
	}
	eventually(t, "those that are over end", func() bool { return len(w.pids("gone")) == 0 && len(w.pids("other")) == 1 })
	if now := w.pids("same"); !slices.Equal(now, same) {
		t.Errorf("the process of an entry that did not change was %v and is %v", same, now)
	}
	if now := w.pids("other"); slices.Equal(now, other) {
		t.Errorf("the process of an entry that changed is still %v", now)
	}
	w.write(map[string]string{"same": entryOf("A")})
	echo := api.CallInput{Server: "same", Tool: "echo", Arguments: json.RawMessage(`{"message":"x"}`)}
	batch, err := w.service().Batch(t.Context(), api.BatchInput{Calls: []api.CallInput{echo, echo}})
	if err != nil || batch.Failed > 0 || len(batch.Results[0].Output.Warnings) != 1 || len(batch.Results[1].Output.Warnings) != 0 {
		t.Errorf("a batch was answered %+v, %v, want that its first call says that same has started anew", batch, err)
	}
}

// A call that is under way ends although its server has been removed meanwhile.
func TestACallOutlivesItsEntry(t *testing.T) {
	t.Parallel()
	w := newWorld(t, map[string]string{"s": entryOf("a")})
	if _, err := w.call("s", "echo", `{"message":"x"}`); err != nil {
		t.Fatal(err)
	}
	result := make(chan error, 1)
	go func() {
		_, err := w.live.For(api.Caller{}).Call(context.Background(), api.CallInput{Server: "s", Tool: "slow", Arguments: json.RawMessage(`{"ms":1000}`)})
		result <- err
	}()
	eventually(t, "the call is under way", func() bool {
		return slices.ContainsFunc(w.pool.Instances(), func(i api.Instance) bool { return i.InFlight > 0 })
	})
	w.write(nil)
	w.live.Check()
	if out, err := w.service().Namespaces(t.Context(), api.NamespacesInput{}); err != nil || len(out.Namespaces) != 0 {
		t.Errorf("Namespaces = %+v, %v", out, err)
	}
	if err := <-result; err != nil {
		t.Errorf("the call: %v", err)
	}
	eventually(t, "its server ends", func() bool { return len(w.pids("s")) == 0 })
}

func TestABrokenFileKeepsTheLastState(t *testing.T) {
	t.Parallel()
	w := newWorld(t, map[string]string{"s": entryOf("a")})
	for _, broken := range []string{`{"mcpServers": oops}`, `{"mcpServers": {}, "limits": {"memory": "much"}}`} {
		w.text(broken)
		if _, err := w.call("s", "echo", `{"message":"x"}`); err != nil {
			t.Errorf("a call with the file %s: %v", broken, err)
		}
		notices := w.live.Notices()
		if len(notices) == 0 || !strings.Contains(notices[0], "mcpx.json:1:") {
			t.Errorf("notices with the file %s: %q", broken, notices)
		}
		status, err := w.service().Status(t.Context(), api.StatusInput{})
		if err != nil || status.Problem == nil {
			t.Errorf("status = %+v, %v", status, err)
		}
		if _, err := w.service().Refresh(t.Context(), api.RefreshInput{}); fault.KindOf(err) != fault.Usage {
			t.Errorf("Refresh = %v", err)
		}
	}
	w.write(map[string]string{"s": entryOf("a"), "t": entryOf("b")})
	if _, err := w.call("t", "echo", `{"message":"x"}`); err != nil {
		t.Errorf("a call with a mended file: %v", err)
	}
	if notices := w.live.Notices(); len(notices) != 0 {
		t.Errorf("notices = %q", notices)
	}
}

func TestRefreshReadsTheFilesThoughNobodyWatches(t *testing.T) {
	t.Parallel()
	w := newWorld(t, map[string]string{"s": entryOf("a")})
	w.text(`{"daemon": {"watchConfig": false}, "mcpServers": {"s": ` + entryOf("a") + `}}`)
	w.live.Check()
	w.text(`{"daemon": {"watchConfig": false}, "mcpServers": {"t": ` + entryOf("a") + `}}`)
	if out, err := w.service().Config(t.Context(), api.ConfigInput{}); err != nil || len(out.Servers) != 1 || out.Servers[0].Name != "s" {
		t.Errorf("Config = %+v, %v", out, err)
	}
	out, err := w.service().Refresh(t.Context(), api.RefreshInput{})
	if err != nil || len(out.Servers) != 1 || out.Servers[0].Name != "t" || out.Servers[0].Tools == 0 {
		t.Errorf("Refresh = %+v, %v", out, err)
	}
}

// consents says yes to everything.
type consents struct{}

func (consents) Consent(context.Context, api.ConsentQuestion) (bool, error) { return true, nil }

func TestCallersFromElsewhereOnlyTighten(t *testing.T) {
	t.Parallel()
	w := newWorld(t, map[string]string{"s": entryOf("a")})
	w.text(`{"policy": {"write": "deny"}, "mcpServers": {"s": ` + entryOf("a") + `}}`)
	loosened := api.Caller{Settings: map[string]string{"policy.write": "allow"}}
	in := api.CallInput{Server: "s", Tool: "echo", Arguments: json.RawMessage(`{"message":"x"}`)}
	if _, err := w.live.Foreign().For(loosened).Call(t.Context(), in); fault.KindOf(err) != fault.Denied {
		t.Errorf("a call from elsewhere that allows itself: %v", err)
	}
	w.text(`{"mcpServers": {"s": ` + entryOf("a") + `}}`)
	if _, err := w.live.Foreign().For(loosened).Call(t.Context(), in); fault.KindOf(err) != fault.Denied {
		t.Errorf("a call from elsewhere that goes beyond the default: %v", err)
	}
	if _, err := w.live.For(loosened).Call(t.Context(), in); err != nil {
		t.Errorf("a call of the user: %v", err)
	}
	asks := in
	asks.Consent = consents{}
	if _, err := w.live.For(api.Caller{}).Call(t.Context(), asks); err != nil {
		t.Errorf("a call that the user consents to: %v", err)
	}
	if _, err := w.live.Foreign().For(api.Caller{}).Call(t.Context(), asks); fault.KindOf(err) != fault.Denied {
		t.Errorf("a call from elsewhere that consents to itself: %v", err)
	}
	if out, err := w.live.Foreign().For(api.Caller{}).Batch(t.Context(), api.BatchInput{Calls: []api.CallInput{in}, Consent: consents{}}); err != nil || out.Failed != 1 {
		t.Errorf("a batch from elsewhere that consents to itself: %+v, %v", out, err)
	}
	if _, err := w.live.For(api.Caller{Settings: map[string]string{"pool.callTimeout": "soon"}}).Call(t.Context(), in); fault.KindOf(err) != fault.Usage {
		t.Errorf("a call with a setting that is none: %v", err)
	}
}

// A caller over TCP changes no files, and does not choose which program is started, or with
// what.
func TestCallersFromElsewhereChooseNoPrograms(t *testing.T) {
	t.Parallel()
	w := newWorld(t, map[string]string{"s": entryOf("a")})
	s := w.live.Foreign().For(api.Caller{Dir: "/tmp", Pid: 1, Environ: []string{"PATH=/planted", "SECRET=x"}, Session: "theirs"})
	if _, err := s.ServersAdd(t.Context(), api.ServersAddInput{Name: "evil", Command: []string{"sh"}, WritePolicy: "allow"}); fault.KindOf(err) != fault.Denied {
		t.Errorf("ServersAdd = %v", err)
	}
	if _, err := s.ServersRemove(t.Context(), api.ServersRemoveInput{Name: "s"}); fault.KindOf(err) != fault.Denied {
		t.Errorf("ServersRemove = %v", err)
	}
	w.text(`{"mcpServers": {"s": {"command": "${SECRET:-true}", "args": ["${workspaceFolder}"]}}}`)
	_, err := s.Tools(t.Context(), api.ToolsInput{Namespace: "s"})
	if text := fmt.Sprint(err, fault.From(err).Details); err == nil || strings.Contains(text, "/planted") || strings.Contains(text, "[/tmp]") {
		t.Errorf("Tools = %s", text)
	}
}

// Whoever listens hears of a change of the configuration, and listens on.
func TestListenersOutliveTheConfiguration(t *testing.T) {
	t.Parallel()
	w := newWorld(t, map[string]string{"s": entryOf("a")})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var mu sync.Mutex
	heard := 0
	_, err := w.live.View(api.Caller{}).Listen(ctx, gateway.ListenInput{Tools: true}, func(_, method string, _ json.RawMessage) {
		if method == "notifications/tools/list_changed" {
			mu.Lock()
			defer mu.Unlock()
			heard++
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		w.write(map[string]string{"s": entryOf(strings.Repeat("b", i+1))})
		w.live.Check()
		eventually(t, "the listener hears of it", func() bool {
			mu.Lock()
			defer mu.Unlock()
			return heard > i
		})
	}
}

// What a server says of its lists is an event.
func TestAListThatChangesIsAnEvent(t *testing.T) {
	t.Parallel()
	w := newWorld(t, map[string]string{"s": entryOf("a")})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	kinds := make(chan string, 1000)
	var following sync.WaitGroup
	following.Go(func() {
		_ = w.service().Events(ctx, api.EventsInput{}, func(e api.Event) error {
			select {
			case kinds <- e.Kind + " " + string(e.Data):
			default:
			}
			return nil
		})
	})
	defer following.Wait()
	defer cancel()
	eventually(t, "tools.changed", func() bool {
		if _, err := w.call("s", "announce", `{"method":"notifications/tools/list_changed"}`); err != nil {
			t.Fatal(err)
		}
		for {
			select {
			case kind := <-kinds:
				if kind == `tools.changed {"server":"s"}` {
					return true
				}
			default:
				return false
			}
		}
	})
}

func TestEventsEndWithTheDaemon(t *testing.T) {
	t.Parallel()
	w := newWorld(t, map[string]string{"s": entryOf("a")})
	ended := make(chan error, 1)
	began := make(chan struct{}, 100)
	go func() {
		ended <- w.service().Events(context.Background(), api.EventsInput{}, func(api.Event) error {
			select {
			case began <- struct{}{}:
			default:
			}
			return nil
		})
	}()
	for begun := false; !begun; {
		w.events.Publish("test", nil)
		select {
		case <-began:
			begun = true
		case <-time.After(5 * time.Millisecond):
		}
	}
	w.live.EndFollowing()
	if err := <-ended; fault.KindOf(err) != fault.Unavailable {
		t.Errorf("Events = %v", err)
	}
}
