package cli

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestPermissionsReachTheRun(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		args []string
		want string // permissions, allow, deny
	}{
		{[]string{"exec", "1"}, `["",null,null]`},
		{[]string{"exec", "-A", "1"}, `["all",null,null]`},
		{[]string{"--allow-all", "exec", "1"}, `["all",null,null]`},
		{[]string{"exec", "--allow-read", "1"}, `["",{"read":[]},null]`},
		{[]string{"exec", "--allow-read=a,b", "--allow-read=c", "1"}, `["",{"read":["a","b","c"]},null]`},
		{[]string{"exec", "--allow-read=a", "--allow-read", "1"}, `["",{"read":[]},null]`},
		{[]string{"exec", "--allow-read", "--allow-read=a", "1"}, `["",{"read":[]},null]`},
		{[]string{"exec", "1", "--allow-net=x:1, y", "--deny-net", "--deny-tools=a.b"}, `["",{"net":["x:1","y"]},{"net":[],"tools":["a.b"]}]`},
		{[]string{"exec", "--allow-read", "--", "1", "--allow-write"}, `["",{"read":[]},null]`},
	} {
		d := &desk{}
		if s := drive(t, d, test.args...); s.code != 0 {
			t.Errorf("%q ended with %d: %s", test.args, s.code, s.stderr.String())
		}
		got, err := json.Marshal([]any{d.script.Permissions, d.script.Allow, d.script.Deny})
		if err != nil || string(got) != test.want {
			t.Errorf("%q asks for %s, want %s", test.args, got, test.want)
		}
		if d.script.Code != "1" {
			t.Errorf("%q runs %q", test.args, d.script.Code)
		}
	}
}

func TestPermissionsThatCannotBeMeantAreRefused(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		args []string
		want string
	}{
		{[]string{"exec", "--allow-read=", "1"}, "--allow-read= names nothing"}, // $UNSET
		{[]string{"exec", "--allow-read= ", "1"}, "--allow-read= names nothing"},
		{[]string{"exec", "-A", "--permissions=none", "1"}, "-A is --permissions=all"},
		{[]string{"exec", "--allow-raed=x", "1"}, "unknown flag --allow-raed"},
		{[]string{"ls", "--allow-read"}, "unknown flag --allow-read of mcpx ls"},
	} {
		s := drive(t, &desk{}, test.args...)
		if text := s.stderr.String(); s.code != 2 || !strings.Contains(text, test.want) {
			t.Errorf("%q ended with %d: %q, want 2 and %q", test.args, s.code, text, test.want)
		}
	}
}

func TestTrustNamesWhatItIsAbout(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		args   []string
		folder string
		revoke bool
		out    string
	}{
		{[]string{"config", "trust"}, "", false, "trusted as it is now: /p/.mcpx.json\n"},
		{[]string{"config", "trust", "/q"}, "/q", false, "trusted as it is now: /p/.mcpx.json\n"},
		{[]string{"config", "untrust"}, "", true, "not trusted any more: /p/.mcpx.json\n"},
	} {
		d := &desk{}
		s := drive(t, d, test.args...)
		if out := s.stdout.String(); s.code != 0 || out != test.out || d.trusted.Folder != test.folder || d.trusted.Revoke != test.revoke {
			t.Errorf("%q ended with %d: %q, and was about %+v", test.args, s.code, out, d.trusted)
		}
	}
	if s := drive(t, &desk{}, "config", "truts"); s.code != 2 || !strings.Contains(s.stderr.String(), "mcpx config trust") {
		t.Errorf("a wrong word ended with %d: %s", s.code, s.stderr.String())
	}
}
