//go:build unix

package run

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	_ "time/tzdata" // as the program has it

	"mcpx/internal/api"
)

// lookup is an environment.
func lookup(env map[string]string) func(string) (string, bool) {
	return func(name string) (string, bool) {
		v, ok := env[name]
		return v, ok
	}
}

func TestLocale(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		env  map[string]string
		want string
	}{
		{nil, "en-US"},
		{map[string]string{"LANG": "de_DE.UTF-8"}, "de-DE"},
		{map[string]string{"LANG": "de_DE.UTF-8", "LC_ALL": "fr_CH@euro"}, "fr-CH"},
		{map[string]string{"LANG": "de_DE", "LC_ALL": ""}, "de-DE"},
		{map[string]string{"LANG": "de_DE", "LC_ALL": "C.UTF-8"}, "en-US"},
		{map[string]string{"LANG": "POSIX"}, "en-US"},
		{map[string]string{"LANG": "sr_RS@latin"}, "sr-RS"},
	} {
		if got := locale(lookup(tt.env)); got != tt.want {
			t.Errorf("locale(%v) = %q, want %q", tt.env, got, tt.want)
		}
	}
}

func TestZone(t *testing.T) {
	t.Parallel()
	tree := func(files map[string]string) string {
		root := t.TempDir()
		for name, content := range files {
			path := filepath.Join(root, name)
			if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
				t.Fatal(err)
			}
			var err error
			if to, ok := strings.CutPrefix(content, "-> "); ok {
				err = os.Symlink(to, path)
			} else {
				err = os.WriteFile(path, []byte(content), 0o600)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		return root
	}
	rome := map[string]string{"usr/share/zoneinfo/Europe/Rome": "TZif rome", "usr/share/zoneinfo/zone.tab": "a table"}
	with := func(name, content string) map[string]string {
		return map[string]string{name: content, "usr/share/zoneinfo/Europe/Rome": "TZif rome", "etc/zones/X": "TZif x"}
	}
	for _, tt := range []struct {
		name  string
		env   map[string]string
		files map[string]string
		zone  string
		data  string
	}{
		{"nothing", nil, nil, "UTC", ""},
		{"TZ", map[string]string{"TZ": "Europe/Rome"}, rome, "Europe/Rome", "TZif rome"},
		{"TZ with a colon", map[string]string{"TZ": ":Europe/Rome"}, rome, "Europe/Rome", "TZif rome"},
		{"an empty TZ", map[string]string{"TZ": ""}, with("etc/localtime", "-> ../usr/share/zoneinfo/Europe/Rome"), "UTC", ""},
		{"TZ without files", map[string]string{"TZ": "Asia/Tokyo"}, nil, "Asia/Tokyo", ""},
		{"TZ as a path", map[string]string{"TZ": "/usr/share/zoneinfo/Europe/Rome"}, rome, "Europe/Rome", "TZif rome"},
		{"TZ as a path elsewhere", map[string]string{"TZ": "/etc/zones/X"}, with("x", ""), "", "TZif x"},
		{"TZ that climbs", map[string]string{"TZ": "../../../etc/passwd"}, nil, "UTC", ""},
		{"TZ that is no zone", map[string]string{"TZ": "zone.tab"}, rome, "zone.tab", ""},
		{"localtime, a link", nil, with("etc/localtime", "-> ../usr/share/zoneinfo/Europe/Rome"), "Europe/Rome", "TZif rome"},
		{"localtime, a copy", nil, with("etc/localtime", "TZif copy"), "Local", "TZif copy"},
		{"localtime, a copy with its name beside", nil, map[string]string{"etc/localtime": "TZif copy", "etc/timezone": "Europe/Rome\n"}, "Europe/Rome", "TZif copy"},
		{"localtime, a directory", nil, map[string]string{"etc/localtime/x": ""}, "UTC", ""},
	} {
		name, data := zone(lookup(tt.env), tree(tt.files))
		if name != tt.zone || string(data) != tt.data {
			t.Errorf("%s: zone() = %q, %q, want %q, %q", tt.name, name, data, tt.zone, tt.data)
		}
	}
}

// The engine shows little of its surroundings to scripts yet, so the facts are looked
// at where they leave; the zone, which is wrong most easily, in a real run.
func TestAmbientFactsOfARun(t *testing.T) {
	t.Parallel()
	a := ambient(lookup(map[string]string{"LANG": "de_AT.UTF-8", "TZ": "UTC"}), "/here", []string{"x", "--y"}, api.Streams{Columns: 90, Color: true})
	if a.Cwd != "/here" || !slices.Equal(a.Args, []string{"x", "--y"}) || a.Locale != "de-AT" || a.Columns != 90 || !a.Color {
		t.Errorf("ambient() = %+v", a)
	}
	if a.Platform == "" || a.Arch == "" || a.Arch == "amd64" || a.Platform == "windows" {
		t.Errorf("ambient() has platform %q and architecture %q, want Node's names", a.Platform, a.Arch)
	}
	for zone, want := range map[string]string{
		"America/New_York": `[300,240,19]`,
		"Asia/Kolkata":     `[-330,-330,5]`,
		"":                 `[0,0,0]`,
		"Nowhere/Atall":    `[0,0,0]`,
	} {
		t.Run(zone, func(t *testing.T) {
			t.Parallel()
			r := stage{}.runner()
			r.Lookup = lookup(map[string]string{"TZ": zone})
			out := exec(t, r, `[new Date(0).getTimezoneOffset(), new Date("2026-07-01T00:00:00Z").getTimezoneOffset(), new Date(0).getHours()]`, api.ExecInput{})
			var got, wanted []int
			if err := json.Unmarshal(out.Value, &got); err != nil {
				t.Fatalf("the run ended with %+v: %v", out, err)
			}
			if err := json.Unmarshal([]byte(want), &wanted); err != nil || !slices.Equal(got, wanted) {
				t.Errorf("offsets and hour are %v, want %s", got, want)
			}
		})
	}
}
