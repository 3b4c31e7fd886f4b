package settings

import "testing"

// What bounds a run in the place of its own limits counts, less counts always, and more only
// for the user, where nobody has said anything.
func TestWithinIsWhatBoundsARun(t *testing.T) {
	t.Parallel()
	const own, by = "limits.toolCalls", "daemon.limits.toolCalls"
	for _, tt := range []struct {
		name  string
		says  map[string]map[string]string // by source
		asked map[string]string
		user  bool
		want  int
		raise string
	}{
		{"nobody says anything", nil, nil, true, 500, by},
		{"the caller asks for less", nil, map[string]string{own: "3"}, false, 3, own},
		{"the user asks for more", nil, map[string]string{own: "900"}, true, 900, own},
		{"somebody else asks for more", nil, map[string]string{own: "900"}, false, 500, by},
		{"a file says more than a command may", map[string]map[string]string{"file": {by: "5000"}}, nil, true, 5000, by},
		{"the user asks for more than a file says", map[string]map[string]string{"file": {by: "7"}}, map[string]string{own: "900"}, true, 7, by},
		{"a project says more", map[string]map[string]string{"project": {by: "5000"}}, nil, true, 500, by},
		{"a project says less", map[string]map[string]string{"project": {by: "4"}}, map[string]string{own: "900"}, true, 4, by},
		{"a file says more of a command", map[string]map[string]string{"file": {own: "5000"}}, nil, true, 500, by},
		{"a file says less of a command", map[string]map[string]string{"file": {own: "5"}}, nil, true, 5, own},
		{"the user asks for more than a file says of a command", map[string]map[string]string{"file": {own: "600"}}, map[string]string{own: "900"}, true, 600, own},
		{"the daemon was told less", map[string]map[string]string{"env": {by: "6"}}, map[string]string{own: "900"}, true, 6, by},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			daemon := said(t, tt.says)
			set, err := daemon.With(tt.asked)
			if err != nil {
				t.Fatal(err)
			}
			got := set.Within(tt.user, LimitsToolCalls.Most(DaemonLimitsToolCalls.Get(set), DaemonLimitsToolCalls))
			if n := LimitsToolCalls.Get(got); n != tt.want || LimitsToolCalls.Raise(got) != tt.raise {
				t.Errorf("%d, which %s raises; want %d and %s", n, LimitsToolCalls.Raise(got), tt.want, tt.raise)
			}
		})
	}
	var none *Set
	got := none.Within(false, LimitsToolCalls.Most(DaemonLimitsToolCalls.Get(none), DaemonLimitsToolCalls))
	if n := LimitsToolCalls.Get(got); n != 500 || !DaemonLimitsToolCalls.IsDefault(none) {
		t.Errorf("without a set: %d", n)
	}
}

func TestHeldSaysWhatNoFlagCanRaise(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name           string
		says           map[string]map[string]string
		runtime        map[string]string
		calls, timeout string
	}{
		{"nothing", nil, nil, "", ""},
		{"a flag", map[string]map[string]string{"flag": {"limits.toolCalls": "3", "exec.timeout": "1s"}}, nil, "", ""},
		{"a file, whose ceiling counts", map[string]map[string]string{"file": {"limits.toolCalls": "3", "exec.timeout": "1s"}}, nil, "/home/u/config.json:3:5 says so, and no flag allows more; change it there", ""},
		{
			"settings set",
			map[string]map[string]string{"flag": {"limits.toolCalls": "6", "exec.timeout": "5s"}},
			map[string]string{"limits.toolCalls": "3", "exec.timeout": "1s"},
			"mcpx settings set says so; take it back with mcpx settings unset limits.toolCalls", "mcpx settings set says so; take it back with mcpx settings unset exec.timeout",
		},
		{"a flag that asks for less", map[string]map[string]string{"flag": {"limits.toolCalls": "2"}}, map[string]string{"limits.toolCalls": "3"}, "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			set := said(t, tt.says)
			set.Override(tt.runtime)
			if got := LimitsToolCalls.Held(set); got != tt.calls {
				t.Errorf("limits.toolCalls: %q, want %q", got, tt.calls)
			}
			if got := ExecTimeout.Held(set); got != tt.timeout {
				t.Errorf("exec.timeout: %q, want %q", got, tt.timeout)
			}
		})
	}
	if got := LimitsToolCalls.Held(nil); got != "" {
		t.Errorf("without a set: %q", got)
	}
}
