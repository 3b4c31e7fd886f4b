package config

import (
	"encoding/json"
	"strings"
	"testing"
)

func profilesOf(t *testing.T, text string, trusted bool) ([]Profile, []string) {
	t.Helper()
	d, err := newDocument("/p/.mcpx.json", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	root, err := d.parse()
	if err != nil {
		t.Fatal(err)
	}
	r := reader{place: place{path: "/p/.mcpx.json", project: true}, doc: d, guest: !trusted}
	if err := r.read(root); err != nil {
		t.Fatal(err)
	}
	var faults []string
	for _, f := range r.faults {
		faults = append(faults, f.Message+" ("+f.Hint+")")
	}
	if len(r.settings.Entries) != 0 {
		t.Errorf("profiles became settings: %v", r.settings.Entries)
	}
	return r.profiles, faults
}

func TestAProfileIsReadAsWritten(t *testing.T) {
	t.Parallel()
	got, faults := profilesOf(t, `{"script": {"profiles": {"report": {
		"extends": "read", "write": ["./out", "log.txt"], "net": "api.example.com", "tools": true, "env": false,
		"deny": {"read": [".env"]}, "stdin": false
	}}}}`, false)
	if len(faults) != 0 || len(got) != 1 {
		t.Fatalf("profiles %v, faults %q", got, faults)
	}
	p := got[0]
	text, err := json.Marshal([]any{p.Name, p.Extends, p.Allow, p.Deny, p.Dir, p.Guest, p.Origin.String(), p.Artifacts == nil, *p.Stdin})
	if err != nil {
		t.Fatal(err)
	}
	want := `["report","read",{"env":null,"net":["api.example.com"],"tools":["*"],"write":["./out","log.txt"]},{"read":[".env"]},"/p",true,"/p/.mcpx.json:1",true,false]`
	if string(text) != want {
		t.Errorf("the profile is\n%s, want\n%s", text, want)
	}
	if got, _ := profilesOf(t, `{"script": {"profiles": {"x": {}}}}`, true); len(got) != 1 || got[0].Guest || got[0].Extends != "tools" {
		t.Errorf("an empty profile of a trusted file is %+v, want one that extends tools and is no guest", got)
	}
}

func TestWhatIsWrongWithAProfileIsSaid(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ text, want string }{
		{`{"script": {"profiles": []}}`, "/p/.mcpx.json:1:25: script.profiles: script.profiles is a list"},
		{`{"script": {"profiles": {"all": {}}}}`, "the profile all is built in"},
		{`{"script": {"profiles": {" ": {}}}}`, "empty name"},
		{`{"script": {"profiles": {"x": 1}}}`, "the profile x is a number where an object is needed"},
		{`{"script": {"profiles": {"x": {"raed": ["."]}}}}`, "x has no key raed (did you mean read?)"},
		{`{"script": {"profiles": {"x": {"deny": {"nett": true}}}}}`, "x.deny has no key nett (did you mean net?)"},
		{`{"script": {"profiles": {"x": {"read": [1]}}}}`, "x.read holds a number where a string is needed"},
		{`{"script": {"profiles": {"x": {"read": {}}}}}`, "x.read is an object where a list is needed"},
		{`{"script": {"profiles": {"x": {"extends": true}}}}`, "x.extends is true or false where a string is needed"},
		{`{"script": {"profiles": {"x": {"ask": "yes"}}}}`, "x.ask is a string where true or false is needed"},
	} {
		got, faults := profilesOf(t, test.text, true)
		if len(got) != 0 || len(faults) != 1 || !strings.Contains(faults[0], test.want) {
			t.Errorf("%s: profiles %v, faults %q, want one with %q", test.text, got, faults, test.want)
		}
	}
}
