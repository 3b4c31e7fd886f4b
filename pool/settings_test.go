//go:build unix

package pool_test

import (
	"context"
	"encoding/json"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"mcpx/internal/api"
	"mcpx/internal/config"
	"mcpx/internal/fault"
	"mcpx/internal/settings"
	"mcpx/mcp/mcptest"
	"mcpx/pool"
)

// layers put a setting into a Set that a running pool goes by, each in the way in which it
// gets there: a new configuration, the start of a daemon, mcpx settings set.
var layers = map[string]func(t *testing.T, set *settings.Set, path, value string){
	"file": func(t *testing.T, set *settings.Set, path, value string) {
		t.Helper()
		raw, err := json.Marshal(value)
		if err != nil {
			t.Fatal(err)
		}
		next := &settings.Set{}
		if err := next.ApplyFile(settings.File{Entries: []settings.Entry{{Path: path, Value: raw, Origin: "f:1:1"}}}); err != nil {
			t.Fatal(err)
		}
		set.Become(next)
	},
	"environment": func(t *testing.T, set *settings.Set, path, value string) {
		t.Helper()
		next := &settings.Set{}
		err := next.ApplyEnv(func(name string) (string, bool) {
			for _, i := range settings.All() {
				if i.Env == name && i.Path == path {
					return value, true
				}
			}
			return "", false
		})
		if err != nil {
			t.Fatal(err)
		}
		set.Become(next)
	},
	"flag": func(t *testing.T, set *settings.Set, path, value string) {
		t.Helper()
		next := &settings.Set{}
		for _, i := range settings.All() {
			if i.Path == path {
				if err := next.ApplyFlag(i.Flag, value); err != nil {
					t.Fatal(err)
				}
			}
		}
		set.Become(next)
	},
	"runtime": func(t *testing.T, set *settings.Set, path, value string) {
		t.Helper()
		values, err := set.Overridden(path, value)
		if err != nil {
			t.Fatal(err)
		}
		set.Override(values)
	},
}

// TestEachSettingChangesARunningPool looks at what a pool does, changes one setting in one
// layer, or what the server's own entry says, and looks again.
func TestEachSettingChangesARunningPool(t *testing.T) {
	t.Parallel()
	in := func(session string) api.Caller { return api.Caller{Dir: "/", Session: session} }
	// held acquires n leases, one after the other, and says how many processes there are.
	held := func(t *testing.T, p *pool.Pool, def *config.Definition, n int) string {
		t.Helper()
		for range n {
			defer acquire(t, p, def, in("")).Release()
			patiently(t, "nothing is starting", func() bool {
				for _, i := range p.Instances() {
					if i.State != "running" {
						return false
					}
				}
				return true
			})
		}
		return strconv.Itoa(len(p.Instances()))
	}
	tests := []struct {
		path, value string
		entry       func(*config.Process) // says the same; nil if an entry cannot
		look        func(t *testing.T, p *pool.Pool, def *config.Definition, changed bool) string
		before      string
		after       string
		with        map[string]string // what else is set
	}{
		{"pool.scope", "session", func(p *config.Process) { p.Scope = "session" }, func(t *testing.T, p *pool.Pool, def *config.Definition, _ bool) string {
			t.Helper()
			return strconv.FormatBool(pidFor(t, p, def, in("a")) == pidFor(t, p, def, in("b")))
		}, "true", "false", nil},
		{"pool.sharing", "exclusive", func(p *config.Process) { p.Sharing = "exclusive" }, func(t *testing.T, p *pool.Pool, def *config.Definition, _ bool) string {
			t.Helper()
			first := acquire(t, p, def, in(""))
			given := make(chan error, 1)
			ctx, cancel := context.WithCancel(t.Context())
			go func() {
				l, err := p.Acquire(ctx, pool.Request{Def: def, Caller: in("")})
				if err == nil {
					l.Release()
				}
				given <- err
			}()
			out := ""
			patiently(t, "the second is answered or waits", func() bool {
				select {
				case err := <-given:
					given <- err
					out = "at once"
				default:
					if p.Waiting() > 0 {
						out = "waits"
					}
				}
				return out != ""
			})
			first.Release()
			if err := <-given; err != nil {
				t.Error(err)
			}
			cancel()
			return out
		}, "at once", "waits", nil},
		{"pool.max", "1", func(p *config.Process) { p.Max = 1 }, func(t *testing.T, p *pool.Pool, def *config.Definition, _ bool) string {
			t.Helper()
			p.End(func(pool.Instance) bool { return true })
			patiently(t, "all have ended", func() bool { return len(p.Instances()) == 0 })
			return held(t, p, def, 10)
		}, "4", "1", map[string]string{"pool.busy": "1"}},
		{"pool.busy", "1", nil, func(t *testing.T, p *pool.Pool, def *config.Definition, _ bool) string {
			t.Helper()
			return held(t, p, def, 3)
		}, "1", "2", nil},
		{"pool.idleTimeout", "1s", func(p *config.Process) { p.IdleTimeout = time.Second }, func(t *testing.T, p *pool.Pool, def *config.Definition, _ bool) string {
			t.Helper()
			acquire(t, p, def, in("")).Release()
			ended := 0
			p.Reap(time.Now().Add(time.Minute))
			for _, i := range p.Instances() {
				if i.State == "running" {
					ended++
				}
			}
			return strconv.Itoa(ended)
		}, "1", "0", nil},
		{"pool.startTimeout", "150ms", nil, func(t *testing.T, p *pool.Pool, _ *config.Definition, changed bool) string {
			t.Helper()
			mute := server("mute", mcptest.Script{Mute: true})
			mute.Env["ANOTHER"] = strconv.Itoa(p.Sets()) // a failed start is not repeated at once
			wait := 300 * time.Millisecond
			if changed {
				wait = time.Minute
			}
			ctx, cancel := context.WithTimeoutCause(t.Context(), wait, fault.Timeoutf("no longer"))
			defer cancel()
			_, err := p.Acquire(ctx, pool.Request{Def: mute, Caller: in("")})
			return strconv.FormatBool(err != nil && strings.Contains(err.Error(), "150ms"))
		}, "false", "true", map[string]string{"upstream.probeTimeout": "50ms"}},
	}
	for _, tt := range tests {
		change := map[string]func(*testing.T, *settings.Set, *config.Definition){}
		for name, layer := range layers {
			change[name] = func(t *testing.T, set *settings.Set, _ *config.Definition) {
				t.Helper()
				layer(t, set, tt.path, tt.value)
			}
		}
		if tt.entry != nil {
			change["entry"] = func(_ *testing.T, _ *settings.Set, def *config.Definition) { tt.entry(&def.Process) }
		}
		for name, change := range change {
			t.Run(tt.path+" by "+name, func(t *testing.T) {
				t.Parallel()
				set := &settings.Set{}
				set.Override(tt.with)
				p := pool.New(pool.Options{Settings: set, Environ: os.Environ()})
				t.Cleanup(p.Close)
				def := server("s", mcptest.Script{})
				acquire(t, p, def, in("")).Release()
				if got := tt.look(t, p, def, false); got != tt.before {
					t.Fatalf("before: %s, want %s", got, tt.before)
				}
				after := *def
				change(t, set, &after)
				if name != "runtime" {
					set.Override(tt.with)
				}
				if got := tt.look(t, p, &after, true); got != tt.after {
					t.Errorf("after: %s, want %s", got, tt.after)
				}
			})
		}
	}
}
