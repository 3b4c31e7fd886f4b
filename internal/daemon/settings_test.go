package daemon

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"mcpx/internal/api"
	"mcpx/internal/fault"
)

// set sets a value as the user, and fails the test if that is refused.
func (w *world) set(path, value string) *api.SettingsSetOutput {
	w.t.Helper()
	out, err := w.service().SettingsSet(w.t.Context(), api.SettingsSetInput{Path: path, Value: value})
	if err != nil {
		w.t.Fatal(err)
	}
	return out
}

// get is what is in force for a caller.
func (w *world) get(c api.Caller, path string) api.Setting {
	w.t.Helper()
	out, err := w.live.For(c).SettingsGet(w.t.Context(), api.SettingsGetInput{Path: path})
	if err != nil {
		w.t.Fatal(err)
	}
	return out.Setting
}

func TestSettingsAreFollowedAtRuntime(t *testing.T) {
	t.Parallel()
	w := newWorld(t, map[string]string{"s": entryOf("a")})
	call := api.CallInput{Server: "s", Tool: "echo", Arguments: json.RawMessage(`{"message":"x"}`)}
	if _, err := w.service().Call(t.Context(), call); err != nil {
		t.Fatal(err)
	}
	if out := w.set("policy.write", "deny"); !out.Followed || out.Value != "deny" || out.Layer != "runtime" {
		t.Errorf("set: %+v", out)
	}
	if _, err := w.service().Call(t.Context(), call); fault.KindOf(err) != fault.Denied {
		t.Errorf("a call under policy.write deny: %v", err)
	}
	allowed := api.Caller{Settings: map[string]string{"policy.write": "allow"}}
	if _, err := w.live.For(allowed).Call(t.Context(), call); fault.KindOf(err) != fault.Denied {
		t.Errorf("a call whose flag goes beyond what the daemon says: %v", err)
	}
	// It outlives a change of the files.
	w.text(`{"policy": {"write": "allow"}, "exec": {"timeout": "5s"}, "mcpServers": {"s": ` + entryOf("a") + `}}`)
	if s := w.get(api.Caller{}, "exec.timeout"); s.Value != "5s" || s.Layer != "file" {
		t.Errorf("the file is not followed: %+v", s)
	}
	if s := w.get(api.Caller{}, "policy.write"); s.Value != "deny" || s.Displaced[0].Layer != "file" {
		t.Errorf("what was set is gone: %+v", s)
	}
	out, err := w.service().SettingsUnset(t.Context(), api.SettingsUnsetInput{Path: "policy.write"})
	if err != nil || !out.Was || out.Value != "allow" {
		t.Errorf("unset: %+v, %v", out, err)
	}
	if _, err := w.service().Call(t.Context(), call); err != nil {
		t.Errorf("a call after that: %v", err)
	}
	// A caller's own value is below what was set, and above the file.
	caller := api.Caller{Settings: map[string]string{"pool.callTimeout": "7s"}}
	if s := w.get(caller, "pool.callTimeout"); s.Value != "7s" {
		t.Errorf("the caller's: %+v", s)
	}
	w.set("pool.callTimeout", "9s")
	if s := w.get(caller, "pool.callTimeout"); s.Value != "9s" || s.Displaced[0] != (api.SettingValue{Value: "7s", Layer: "flag", Origin: "the caller"}) {
		t.Errorf("over the caller's: %+v", s)
	}
	list, err := w.live.For(caller).SettingsList(t.Context(), api.SettingsListInput{Daemon: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range list.Settings {
		if s.Layer == "default" && s.Restart == "" && len(s.Displaced) == 0 {
			t.Errorf("%s is listed, and nothing has changed it", s.Path)
		}
		if s.Path == "pool.callTimeout" && len(s.Displaced) != 1 {
			t.Errorf("the daemon's own pool.callTimeout: %+v", s)
		}
	}
}

func TestAColdSettingWaitsForTheNextStart(t *testing.T) {
	t.Parallel()
	w := newWorld(t, map[string]string{"s": entryOf("a")})
	w.text(`{"daemon": {"idleExit": "1h", "leaseTTL": "1m"}, "mcpServers": {"s": ` + entryOf("a") + `}}`)
	if s := w.get(api.Caller{}, "daemon.idleExit"); s.Value != "4h" || s.Restart != "1h" {
		t.Errorf("a cold setting: %+v", s)
	}
	if s := w.get(api.Caller{}, "daemon.leaseTTL"); s.Value != "1m" || s.Restart != "" {
		t.Errorf("a hot setting: %+v", s)
	}
	if _, err := w.service().SettingsSet(t.Context(), api.SettingsSetInput{Path: "daemon.idleExit", Value: "2h"}); fault.KindOf(err) != fault.Usage || !strings.Contains(err.Error(), "cannot be changed while it runs") {
		t.Errorf("a cold setting at runtime: %v", err)
	}
}

func TestWhoIsNotTheUserOnlyTightensSettings(t *testing.T) {
	t.Parallel()
	w := newWorld(t, map[string]string{"s": entryOf("a")})
	theirs := w.live.Foreign().For(api.Caller{})
	w.set("pool.max", "3")
	before, err := os.ReadFile(w.file)
	if err != nil {
		t.Fatal(err)
	}
	for _, in := range []api.SettingsSetInput{
		{Path: "policy.write", Value: "allow"},
		{Path: "limits.toolCalls", Value: "2000"}, // more than the default
		{Path: "script.permissions", Value: "all"},
		{Path: "pool.max", Value: "9"},
		{Path: "policy.write", Value: "deny", Persist: api.PersistUser},
		{Path: "pool.max", Value: "1", Persist: api.PersistProject},
	} {
		if in.Path == "policy.write" && in.Persist == "" {
			w.text(`{"mcpServers": {"s": ` + entryOf("a") + `}}`)
			if before, err = os.ReadFile(w.file); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := theirs.SettingsSet(t.Context(), in); fault.KindOf(err) != fault.Denied {
			t.Errorf("%+v: %v", in, err)
		}
	}
	if _, err := theirs.SettingsUnset(t.Context(), api.SettingsUnsetInput{Path: "pool.max"}); fault.KindOf(err) != fault.Denied {
		t.Errorf("taking back what the user has set: %v", err)
	}
	if _, err := theirs.SettingsUnset(t.Context(), api.SettingsUnsetInput{Path: "pool.max", Persist: api.PersistUser}); fault.KindOf(err) != fault.Denied {
		t.Errorf("taking a value out of a file: %v", err)
	}
	if out, err := theirs.SettingsSet(t.Context(), api.SettingsSetInput{Path: "limits.toolCalls", Value: "9"}); err != nil || out.Value != "9" {
		t.Errorf("tightening: %+v, %v", out, err)
	}
	if after, err := os.ReadFile(w.file); err != nil || string(after) != string(before) {
		t.Errorf("the file has changed: %s, %v", after, err)
	}
	for _, asked := range []map[string]string{{"pool.max": "1"}, {"daemon.idleExit": "1s"}, {"config.trust": "servers"}} {
		if _, err := theirs.Tools(t.Context(), api.ToolsInput{}); err != nil {
			t.Fatal(err)
		}
		if _, err := w.live.For(api.Caller{Settings: asked}).Tools(t.Context(), api.ToolsInput{}); fault.KindOf(err) != fault.Usage {
			t.Errorf("a request that asks for %v: %v", asked, err)
		}
	}
}

// TestTimeLimitsOfCallsChangeARunningServer says a limit in each way in which it can be said;
// pool.TestEachSettingChangesARunningPool has the other settings of the group.
func TestTimeLimitsOfCallsChangeARunningServer(t *testing.T) {
	t.Parallel()
	stall := api.CallInput{Server: "s", Tool: "stall", Arguments: json.RawMessage(`{}`)}
	withKeys := func(keys string) string {
		return strings.TrimSuffix(entryOf("a"), "}") + keys + "}"
	}
	for _, limit := range []string{"callTimeout", "callMax"} {
		path := "pool." + limit
		for name, say := range map[string]func(w *world) api.Caller{
			"file": func(w *world) api.Caller {
				w.text(`{"policy": {"write": "allow"}, "pool": {"` + limit + `": "150ms"}, "mcpServers": {"s": ` + entryOf("a") + `}}`)
				return api.Caller{}
			},
			"caller": func(*world) api.Caller { return api.Caller{Settings: map[string]string{path: "150ms"}} },
			"runtime": func(w *world) api.Caller {
				w.set(path, "150ms")
				return api.Caller{Settings: map[string]string{path: "1h"}}
			},
			"entry": func(w *world) api.Caller {
				if limit == "callMax" {
					return api.Caller{Settings: map[string]string{path: "150ms"}} // an entry cannot say it
				}
				w.text(`{"policy": {"write": "allow"}, "mcpServers": {"s": ` + withKeys(`,"mcpx": {"callTimeout": "150ms"}`) + `}}`)
				return api.Caller{}
			},
		} {
			t.Run(path+" by "+name, func(t *testing.T) {
				t.Parallel()
				w := newWorld(t, map[string]string{"s": entryOf("a")})
				if out, err := w.call("s", "echo", `{"message":"x"}`); err != nil {
					t.Fatal(out, err)
				}
				_, err := w.live.For(say(w)).Call(t.Context(), stall)
				if fault.KindOf(err) != fault.Timeout || !strings.Contains(err.Error(), limit) || !strings.Contains(err.Error(), "= 150ms)") {
					t.Errorf("the call ended with %v", err)
				}
			})
		}
	}
}
