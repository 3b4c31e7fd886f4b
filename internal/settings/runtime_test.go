package settings

import (
	"encoding/json"
	"maps"
	"strings"
	"sync"
	"testing"
	"time"

	"mcpx/internal/fault"
)

// said makes a Set of what each layer says: "file", "project", "env" and "flag" by path.
func said(t *testing.T, layers map[string]map[string]string) *Set {
	t.Helper()
	set := &Set{}
	for path, value := range layers["file"] {
		if err := set.ApplyFile(File{Entries: []Entry{{path, json.RawMessage(`"` + value + `"`), "/home/u/config.json:3:5"}}}); err != nil {
			t.Fatal(err)
		}
	}
	for path, value := range layers["project"] {
		if err := set.ApplyFile(File{Project: true, Entries: []Entry{{path, json.RawMessage(`"` + value + `"`), "/w/.mcpx.json:1:1"}}}); err != nil {
			t.Fatal(err)
		}
	}
	for _, i := range All() {
		if value, ok := layers["env"][i.Path]; ok {
			if err := set.ApplyEnv(variable(i.Env, value)); err != nil {
				t.Fatal(err)
			}
		}
		if value, ok := layers["flag"][i.Path]; ok {
			if err := set.ApplyFlag(i.Flag, value); err != nil {
				t.Fatal(err)
			}
		}
	}
	return set
}

func TestAValueRemembersWhereItCameFromAndWhatItDisplaced(t *testing.T) {
	t.Parallel()
	one := func(path, value string) map[string]string { return map[string]string{path: value} }
	tests := []struct {
		name    string
		path    string
		layers  map[string]map[string]string
		runtime string
		want    string // VALUE LAYER ORIGIN, then each displaced one
	}{
		{"nothing", "pool.max", nil, "", "4 default "},
		{"a file", "pool.max", map[string]map[string]string{"file": one("pool.max", "5")}, "", "5 file /home/u/config.json:3:5; 4 default "},
		{
			"every layer", "pool.callTimeout",
			map[string]map[string]string{
				"file": one("pool.callTimeout", "5s"), "project": one("pool.callTimeout", "6s"), "env": one("pool.callTimeout", "7s"), "flag": one("pool.callTimeout", "8s"),
			},
			"9s",
			"9s runtime mcpx settings set; 8s flag --pool-call-timeout; 7s environment MCPX_POOL_CALL_TIMEOUT; 6s file /w/.mcpx.json:1:1; 5s file /home/u/config.json:3:5; 2m default ",
		},
		{
			"a ceiling, which asks for more than a file allows", "limits.toolCalls",
			map[string]map[string]string{"file": one("limits.toolCalls", "50"), "flag": one("limits.toolCalls", "70")},
			"60",
			"50 file /home/u/config.json:3:5; 60 runtime mcpx settings set; 70 flag --limits-tool-calls; 1000 default ",
		},
		{
			"a ceiling that the daemon has set, and less of a flag", "limits.toolCalls",
			map[string]map[string]string{"flag": one("limits.toolCalls", "40")},
			"60",
			"40 flag --limits-tool-calls; 60 runtime mcpx settings set; 1000 default ",
		},
		{
			"a ceiling that the daemon has set, and more of a flag", "limits.toolCalls",
			map[string]map[string]string{"flag": one("limits.toolCalls", "80")},
			"60",
			"60 runtime mcpx settings set; 80 flag --limits-tool-calls; 1000 default ",
		},
	}
	for _, tt := range tests {
		set := said(t, tt.layers)
		if tt.runtime != "" {
			set.Override(one(tt.path, tt.runtime))
		}
		e, err := set.Explain(tt.path)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, v := range append([]Value{e.Value}, e.Displaced...) {
			got = append(got, v.Text+" "+string(v.Layer)+" "+v.Origin)
		}
		if text := strings.Join(got, "; "); text != tt.want {
			t.Errorf("%s:\n got %s\nwant %s", tt.name, text, tt.want)
		}
	}
	// An environment that is read again is told once.
	set := said(t, map[string]map[string]string{"file": one("limits.toolCalls", "50"), "env": one("limits.toolCalls", "70")})
	if err := set.ApplyEnv(variable("MCPX_LIMITS_TOOL_CALLS", "80")); err != nil {
		t.Fatal(err)
	}
	if e, err := set.Explain("limits.toolCalls"); err != nil || e.Value.Text != "50" || len(e.Displaced) != 2 || e.Displaced[0].Text != "80" || e.Displaced[1].Layer != ByDefault {
		t.Errorf("an environment that is read twice: %+v, %v", e, err)
	}
	_, err := (&Set{}).Explain("pool.idleTimout")
	if e := fault.From(err); e.Kind != fault.Usage || !strings.Contains(e.Hint, "pool.idleTimeout") {
		t.Errorf("an unknown setting: %v, %q", err, e.Hint)
	}
}

func TestOverriddenSaysWhatCannotBeSet(t *testing.T) {
	t.Parallel()
	set := said(t, map[string]map[string]string{"file": {"limits.toolCalls": "50"}, "env": {"limits.memory": "1GiB"}})
	set.Override(map[string]string{"limits.inFlight": "5"})
	daemon, err := set.With(nil)
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct{ name, path, value, want string }{
		{"no such setting", "pool.maxx", "1", "there is no setting pool.maxx"},
		{"none of its values", "pool.max", "many", "pool.max: "},
		{"cold", "daemon.idleExit", "1h", "is read when the daemon starts"},
		{"of the command", "daemon.inline", "never", "is read by each command"},
		{"looser than a file", "limits.toolCalls", "51", "/home/u/config.json:3:5 says 50"},
		{"looser than what the daemon was given", "limits.memory", "2GiB", "MCPX_LIMITS_MEMORY of the daemon says 1GiB"},
		{"as tight as a file", "limits.toolCalls", "50", ""},
		{"looser than the default, which binds nobody", "limits.cpu", "10m", ""},
		{"looser than what was set before", "limits.inFlight", "7", ""},
		{"a plain one", "pool.max", "9", ""},
	}
	for _, tt := range tests {
		got, err := daemon.Overridden(tt.path, tt.value)
		switch {
		case tt.want == "" && (err != nil || got[tt.path] != tt.value || tt.path != "limits.inFlight" && got["limits.inFlight"] != "5"):
			t.Errorf("%s: %v, %v", tt.name, got, err)
		case tt.want != "" && (fault.KindOf(err) != fault.Usage || !strings.Contains(err.Error(), tt.want) || fault.From(err).Hint == ""):
			t.Errorf("%s: %v, want %s and a hint", tt.name, err, tt.want)
		}
	}
	if _, was, err := daemon.Restored("limits.inFlight"); err != nil || !was {
		t.Errorf("Restored = %v, %v", was, err)
	}
	if _, was, err := daemon.Restored("pool.max"); err != nil || was {
		t.Errorf("Restored of what was not set = %v, %v", was, err)
	}
	if _, _, err := daemon.Restored("pool.maxx"); fault.KindOf(err) != fault.Usage {
		t.Errorf("Restored of what there is not = %v", err)
	}
}

// Whoever is not known to be the user tightens, in any form, and nothing else.
func TestLoosens(t *testing.T) {
	t.Parallel()
	set := said(t, map[string]map[string]string{"file": {"limits.toolCalls": "50"}})
	set.Override(map[string]string{"pool.max": "3"})
	for _, tt := range []struct {
		values map[string]string
		want   bool
	}{
		{map[string]string{"pool.max": "3"}, false},
		{map[string]string{"pool.max": "2"}, false},
		{map[string]string{"pool.max": "3", "policy.write": "deny"}, false},
		{map[string]string{"pool.max": "3", "policy.write": "allow"}, true},
		{map[string]string{"pool.max": "3", "script.permissions": "all"}, true},
		{map[string]string{"pool.max": "5"}, true},
		{nil, true}, // it takes the user's 3 back
	} {
		if got := set.Loosens(tt.values); got != tt.want {
			t.Errorf("Loosens(%v) = %v, want %v", tt.values, got, tt.want)
		}
	}
}

func TestASetIsFollowedWhileItIsRead(t *testing.T) {
	t.Parallel()
	live := said(t, map[string]map[string]string{"file": {"pool.max": "2", "daemon.idleExit": "1h", "http.shutdownGrace": "1s"}})
	next := said(t, map[string]map[string]string{"file": {"pool.max": "3", "daemon.idleExit": "2h", "daemon.port": "80"}})
	var readers sync.WaitGroup
	stop := make(chan struct{})
	for range 4 {
		readers.Go(func() {
			for {
				if n := PoolMax.Get(live); n < 2 || n > 4 {
					t.Errorf("pool.max = %d", n)
				}
				select {
				case <-stop:
					return
				default:
				}
			}
		})
	}
	for range 200 {
		live.Override(map[string]string{"pool.max": "4"})
		next.Override(live.Runtime())
		live.Become(next)
		live.Override(nil)
	}
	close(stop)
	readers.Wait()
	if n := PoolMax.Get(live); n != 3 {
		t.Errorf("pool.max = %d, want the new file's", n)
	}
	if d := DaemonIdleExit.Get(live); d != time.Hour {
		t.Errorf("daemon.idleExit = %s: a cold setting has changed", d)
	}
	if d := HTTPShutdownGrace.Get(live); d != time.Second {
		t.Errorf("http.shutdownGrace = %s: a cold setting has gone", d)
	}
	if n := DaemonPort.Get(live); n != 0 {
		t.Errorf("daemon.port = %d: a cold setting has come", n)
	}
	if n := PoolMax.Get(next); n != 4 {
		t.Errorf("pool.max of the other set = %d, want its own runtime value", n)
	}
}

func TestWhatADaemonTellsOfItself(t *testing.T) {
	t.Parallel()
	set := said(t, map[string]map[string]string{"env": {"pool.max": "9", "pool.callTimeout": "1s"}})
	set.Override(map[string]string{"exec.timeout": "90s", "of.another": "version", "pool.busy": "none"})
	if got := set.OfDaemon(); got["pool.max"] != "9" || got["pool.idleTimeout"] != "5m" || got["pool.callTimeout"] != "" {
		t.Errorf("OfDaemon() = %v", got)
	}
	if got := set.Runtime(); !maps.Equal(got, map[string]string{"exec.timeout": "90s"}) {
		t.Errorf("Runtime() = %v", got)
	}
	if got := Travels(map[string]string{"pool.max": "9", "pool.callTimeout": "1s", "daemon.inline": "never", "x.y": "z"}); !maps.Equal(got, map[string]string{"pool.callTimeout": "1s"}) {
		t.Errorf("Travels = %v", got)
	}
	caller := said(t, map[string]map[string]string{"flag": {"exec.timeout": "5s", "limits.cpu": "10m"}})
	caller.Override(map[string]string{"exec.timeout": "90s", "limits.cpu": "1m"})
	want := "--exec-timeout asks for 5s of exec.timeout; 90s is in force, by mcpx settings set\n" +
		"--limits-cpu asks for 10m of limits.cpu; 1m is the most that mcpx settings set allows"
	if got := strings.Join(caller.Notices(), "\n"); got != want {
		t.Errorf("Notices:\n%s\nwant\n%s", got, want)
	}
	if text, err := Canonical("exec.timeout", "90s"); err != nil || text != "1m30s" {
		t.Errorf("Canonical = %q, %v", text, err)
	}
}
