package settings

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"mcpx/internal/fault"
)

func TestWhatACallerAsksForTravels(t *testing.T) {
	t.Parallel()
	caller := &Set{}
	env := map[string]string{"MCPX_POOL_CALL_TIMEOUT": "3s", "MCPX_POOL_CALL_MAX": "5s"}
	if err := caller.ApplyEnv(func(name string) (string, bool) { v, ok := env[name]; return v, ok }); err != nil {
		t.Fatal(err)
	}
	if err := caller.ApplyFlag("pool-call-timeout", "4s"); err != nil {
		t.Fatal(err)
	}
	asked := caller.Asked()
	if len(asked) != 2 || asked["pool.callTimeout"] != "4s" || asked["pool.callMax"] != "5s" {
		t.Fatalf("asked = %v", asked)
	}
	daemon := &Set{}
	if err := daemon.ApplyFlag("pool-call-max", "1h"); err != nil { // of the daemon's own command line
		t.Fatal(err)
	}
	file := File{Entries: []Entry{
		{Path: "limits.toolCalls", Value: json.RawMessage("10"), Origin: "f:1:1"},
		{Path: "pool.startTimeout", Value: json.RawMessage(`"7s"`), Origin: "f:2:1"},
	}}
	if err := daemon.ApplyFile(file); err != nil {
		t.Fatal(err)
	}
	asked["limits.toolCalls"] = "5000" // more than the file allows
	got, err := daemon.With(asked)
	if err != nil {
		t.Fatal(err)
	}
	if v := PoolCallTimeout.Get(got); v != 4*time.Second {
		t.Errorf("pool.callTimeout = %s, want the caller's", v)
	}
	if v := PoolCallMax.Get(got); v != 5*time.Second {
		t.Errorf("pool.callMax = %s, want the caller's", v)
	}
	if v := PoolStartTimeout.Get(got); v != 7*time.Second {
		t.Errorf("pool.startTimeout = %s, want the file's", v)
	}
	if v := LimitsToolCalls.Get(got); v != 10 {
		t.Errorf("limits.toolCalls = %d, want the file's: it is a ceiling", v)
	}
	if v := PoolCallMax.Get(daemon); v != time.Hour {
		t.Errorf("the daemon's own set has changed: pool.callMax = %s", v)
	}
	if got, err = daemon.With(nil); err != nil || PoolCallMax.Get(got) != time.Hour {
		t.Errorf("a caller that asks for nothing has pool.callMax = %s, %v; want the daemon's own", PoolCallMax.Get(got), err)
	}
	for _, bad := range []map[string]string{{"pool.callMax": "soon"}, {"pool.nothing": "1"}, {"pool.max": "1"}, {"daemon.inline": "never"}} {
		if _, err := daemon.With(bad); fault.KindOf(err) != fault.Usage || !strings.Contains(err.Error(), "the caller: ") {
			t.Errorf("With(%v) = %v", bad, err)
		}
	}
	var none *Set
	if got, err := none.With(map[string]string{"pool.callMax": "1s"}); err != nil || PoolCallMax.Get(got) != time.Second {
		t.Errorf("without a set: %v", err)
	}
}
