package gateway_test

import (
	"context"
	"encoding/json"
	"os"
	"strings"
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

// TestSettingsOfACallChangeARunningGateway makes a call that is not bounded yet, puts the
// bound into one layer after the other, each in the way in which it gets there, and makes
// the call again. The other settings of a pool are tried in package pool.
func TestSettingsOfACallChangeARunningGateway(t *testing.T) {
	t.Parallel()
	layers := map[string]func(set *settings.Set, i settings.Info, value string) error{
		"file": func(set *settings.Set, i settings.Info, value string) error {
			return set.ApplyFile(settings.File{Entries: []settings.Entry{{Path: i.Path, Value: json.RawMessage(`"` + value + `"`), Origin: "f:1:1"}}})
		},
		"environment": func(set *settings.Set, i settings.Info, value string) error {
			return set.ApplyEnv(func(name string) (string, bool) { return value, name == i.Env })
		},
		"flag": func(set *settings.Set, i settings.Info, value string) error {
			return set.ApplyFlag(i.Flag, value)
		},
		"runtime": func(set *settings.Set, i settings.Info, value string) error {
			set.Override(map[string]string{i.Path: value})
			return nil
		},
	}
	calls := map[string]struct{ tool, args string }{
		"pool.callTimeout": {"stall", `{}`},
		"pool.callMax":     {"progress", `{"count":100000,"ms":50}`},
	}
	for path, made := range calls {
		for layer, put := range layers {
			t.Run(path+" by "+layer, func(t *testing.T) {
				t.Parallel()
				set := settingsOf(t)
				dir := t.TempDir()
				g := gateway.New(gateway.Options{
					Config: &config.Config{Servers: []*config.Server{entry("s", mcptest.Script{})}},
					Env:    config.Env{Lookup: func(string) (string, bool) { return "", false }, Dir: dir}, Settings: set,
					Pool: pool.New(pool.Options{Settings: set, Environ: os.Environ()}), Catalog: catalog.Open(dir),
				})
				t.Cleanup(g.Close)
				if _, err := call(t, g, "s", "echo", `{"message":"up"}`); err != nil {
					t.Fatal(err)
				}
				answer := func(wait time.Duration) error {
					ctx, cancel := context.WithTimeoutCause(t.Context(), wait, fault.Deniedf("no longer"))
					defer cancel()
					_, err := g.Call(ctx, api.CallInput{Server: "s", Tool: made.tool, Arguments: json.RawMessage(made.args)})
					return err
				}
				if err := answer(400 * time.Millisecond); err == nil || strings.Contains(err.Error(), path) {
					t.Fatalf("before: %v, want that it is given up by its caller", err)
				}
				next := set
				if layer != "runtime" {
					next = settingsOf(t)
				}
				for _, i := range settings.All() {
					if i.Path != path {
						continue
					}
					if err := put(next, i, "200ms"); err != nil {
						t.Fatal(err)
					}
				}
				if next != set {
					set.Become(next)
				}
				if err := answer(time.Minute); fault.KindOf(err) != fault.Timeout || !strings.Contains(err.Error(), path+" = 200ms") {
					t.Errorf("after: %v, want a timeout by %s", err, path)
				}
			})
		}
	}
}
