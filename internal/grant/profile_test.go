package grant

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mcpx/internal/fault"
)

// brief writes a set as text: what is granted, and what is taken away behind a minus.
func brief(s Set) string {
	var out []string
	for _, g := range Grants {
		w := *s.words(g)
		if len(w.Allow)+len(w.Deny) == 0 {
			continue
		}
		text := g + "=" + strings.Join(w.Allow, ",")
		if len(w.Deny) > 0 {
			text += "-" + strings.Join(w.Deny, ",")
		}
		out = append(out, text)
	}
	for name, granted := range map[string]bool{"artifacts": s.Artifacts, "stdin": s.Stdin, "ask": s.Ask, "everything": s.Everything} {
		if granted {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return strings.Join(out, " ")
}

func TestProfilesGiveWhatTheirNamesSay(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"none":        "",
		"strict":      "",
		"":            "artifacts ask stdin tools=*",
		"tools":       "artifacts ask stdin tools=*",
		"read":        "artifacts ask read=/w stdin tools=*",
		"net":         "artifacts ask net=public stdin tools=*",
		"readnet":     "artifacts ask net=public read=/w stdin tools=*",
		"read-net":    "artifacts ask net=public read=/w stdin tools=*",
		"project":     "artifacts ask read=/w stdin tools=* write=/w",
		"all":         "artifacts ask env=* everything imports=* net=* read=* run=* stdin tools=* write=*",
		"unsandboxed": "artifacts ask env=* everything imports=* net=* read=* run=* stdin tools=* write=*",
	} {
		set, err := Profiles{}.Resolve(Request{Profile: name}, Place{Dir: "/w"})
		if got := brief(set); err != nil || got != want {
			t.Errorf("the profile %q gives %q, %v, want %q", name, got, err, want)
		}
		if want := alias(name); name != "" && set.Profile != want {
			t.Errorf("the profile %q is called %q, want %q", name, set.Profile, want)
		}
	}
}

func TestWhatAFlagAddsAndTakesAway(t *testing.T) {
	t.Parallel()
	type words = map[string][]string
	for _, test := range []struct {
		name, profile string
		allow, deny   words
		want          string
	}{
		{"paths are relative to the working directory", "none", words{"read": {"a", "/b/../c", "~/d"}}, nil, "read=/w/a,/c,/home/d"},
		{"a flag alone gives all", "none", words{"read": {}, "env": {}, "tools": {}}, nil, "env=* read=* tools=*"},
		{"of the network only what is public", "none", words{"net": {}}, nil, "net=public"},
		{"words beside everything replace it", "tools", words{"tools": {"github:read"}}, nil, "artifacts ask stdin tools=github:read"},
		{"otherwise they are added", "read", words{"read": {"/x"}}, nil, "artifacts ask read=/w,/x stdin tools=*"},
		{"once each", "read", words{"read": {".", "/w"}}, nil, "artifacts ask read=/w stdin tools=*"},
		{"a denial alone takes all", "read", nil, words{"read": {}, "tools": {}}, "artifacts ask read=/w-* stdin tools=*-*"},
		{"one with words takes these", "read", nil, words{"read": {".env"}}, "artifacts ask read=/w-/w/.env stdin tools=*"},
	} {
		set, err := Profiles{}.Resolve(Request{Profile: test.profile, Allow: test.allow, Deny: test.deny}, Place{Dir: "/w", Home: "/home"})
		if got := brief(set); err != nil || got != test.want {
			t.Errorf("%s: %q, %v, want %q", test.name, got, err, test.want)
		}
	}
}

func TestWhatCannotBeMeantIsRefused(t *testing.T) {
	t.Parallel()
	own := map[string]Definition{"a": {Extends: "b", Origin: "f:1"}, "b": {Extends: "a", Origin: "f:2"}, "c": {Extends: "gone", Origin: "f:3"}}
	for _, test := range []struct {
		profile, grant, word, want string
	}{
		{"off", "", "", "ambiguous"},
		{"toolz", "", "", `there is no profile "toolz"`},
		{"a", "", "", "f:1: the profile a extends itself: a → b → a"},
		{"c", "", "", `there is no profile "gone"`},
		{"none", "raed", "x", `there is no grant "raed"`},
		{"none", "read", " ", "empty word"},
		{"none", "read", "a\x00b", "empty word"},
		{"none", "run", "git", `"git" is none`},
		{"none", "env", "A=b", `"A=b" has a value`},
		{"none", "net", "http://x/", "is a URL"},
		{"none", "net", "x/y", "is none"},
	} {
		r := Request{Profile: test.profile}
		if test.grant != "" {
			r.Allow = map[string][]string{test.grant: {test.word}}
		}
		_, err := Profiles{Own: own}.Resolve(r, Place{Dir: "/w"})
		if fault.KindOf(err) != fault.Usage || !strings.Contains(err.Error(), test.want) || fault.From(err).Hint == "" && test.profile != "a" {
			t.Errorf("%+v: %v, want an error of kind usage with %q and a hint", test, err, test.want)
		}
	}
}

func TestAGuestOnlyTightens(t *testing.T) {
	t.Parallel()
	own := map[string]Definition{
		"theirs": {Extends: "tools", Allow: map[string][]string{"write": {"out"}, "net": {"example.com"}, "tools": {"db"}}, Dir: "/w", Guest: true},
		"ours":   {Extends: "project", Dir: "/w"},
		"greedy": {Extends: "all", Dir: "/w", Guest: true},
		"half":   {Extends: "greedy", Allow: map[string][]string{"env": {"X"}}, Dir: "/w"},
		"on":     {Extends: "theirs", Allow: map[string][]string{"env": {"X"}}, Dir: "/w"},
	}
	for _, test := range []struct {
		name     string
		profiles Profiles
		request  Request
		want     string
	}{
		{"a guest's profile gives no more than the default", Profiles{}, Request{Profile: "theirs"}, "artifacts ask stdin tools=db"},
		{"whatever that is", Profiles{Default: "ours"}, Request{Profile: "theirs"}, "artifacts ask stdin tools=db write=/w/out"},
		{"and what extends it adds its own", Profiles{}, Request{Profile: "on"}, "artifacts ask env=X stdin tools=db"},
		{"a guest's default takes away", Profiles{Guest: "none"}, Request{}, ""},
		{"and adds nothing", Profiles{Guest: "all"}, Request{}, "artifacts ask stdin tools=*"},
		{"nor does its profile", Profiles{Guest: "theirs"}, Request{}, "artifacts ask stdin tools=db"},
		{"who runs it may say more", Profiles{Guest: "none"}, Request{Profile: "read"}, "artifacts ask read=/w stdin tools=*"},
		{"and add", Profiles{Guest: "none"}, Request{Allow: map[string][]string{"read": {"x"}}}, "read=/w/x"},
		{"the user's default", Profiles{Default: "ours"}, Request{}, "artifacts ask read=/w stdin tools=* write=/w"},
		{"a default that is the guest's", Profiles{Default: "greedy"}, Request{}, "artifacts ask stdin tools=*"},
		{"or is made of it", Profiles{Default: "half"}, Request{}, "artifacts ask env=X stdin tools=*"},
	} {
		test.profiles.Own = own
		set, err := test.profiles.Resolve(test.request, Place{Dir: "/w"})
		if got := brief(set); err != nil || got != test.want {
			t.Errorf("%s: %q, %v, want %q", test.name, got, err, test.want)
		}
	}
}

func TestNarrowNeverGivesMore(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ grant, a, b, want string }{
		{Read, "/a", "/a/b,/c", "/a/b"},
		{Read, "/a/b", "/a", "/a/b"},
		{Read, "/ab", "/a", ""},
		{Read, "*", "/a", "/a"},
		{Tool, "github", "github:read", "github/*:read"},
		{Tool, "github:read", "github.search", ""},
		{Tool, "github.*", "github.search", "github/search"},
		{Tool, "git*", "github.search:read", "github/search:read"},
		{Tool, "github", "github.search", "github/search"},
		{Tool, "*", "github.search", "github.search"},
		{Tool, "prod.admin", "prod.admin.drop", "prod.admin/drop"},
		{Tool, "prod.admin", "prod.admin:read", ""}, // a tool of one, or all of the other
		{Tool, "a.b.c*", "a.b.cd", ""},              // likewise
		{Tool, "a.b*", "a.bc", "a/bc"},
		{Tool, "*.x", "a.x", "a/x"},
		{Tool, "a*", "*b", ""}, // it cannot be told
		{Network, "*.example.com", "api.example.com", "api.example.com"},
		{Network, "*.example.com", "example.com", ""},
		{Network, "api.example.com", "api.example.com:443", "api.example.com:443"},
		{Network, "api.example.com:80", "api.example.com:443", ""},
		{Network, "10.0.0.0/8", "10.1.0.0/16,11.0.0.1", "10.1.0.0/16"},
		{Network, "10.0.0.0/8", "10.1.2.3", "10.1.2.3"},
		{Network, "::/0", "::ffff:10.0.0.0/104,::ffff:10.0.0.1,fd00::/8", "fd00::/8"}, // IPv4, in other words
		{Network, "10.0.0.0/8", "::ffff:10.1.0.0/112", "::ffff:10.1.0.0/112"},
		{Network, "public", "api.example.com", "api.example.com"},
		{Network, "public", "*.example.com:443", "*.example.com:443"},
		{Network, "public", "8.8.8.8,10.0.0.1,[::1]:80", "8.8.8.8"},
		{Network, "public", "localhost,a.localhost:80,*", "public"},
		{Network, "public", "8.8.8.0/24", ""}, // it cannot be told
		{Variable, "AWS_*", "AWS_REGION,HOME", "AWS_REGION"},
		{Program, "/bin/a", "/bin/b", ""},
	} {
		var a, b Set
		*a.words(test.grant) = Words{Allow: strings.Split(test.a, ","), Deny: []string{"x"}}
		*b.words(test.grant) = Words{Allow: strings.Split(test.b, ","), Deny: []string{"y"}}
		for _, pair := range [][2]Set{{a, b}, {b, a}} {
			n := Narrow(pair[0], pair[1])
			got := n.words(test.grant)
			if strings.ReplaceAll(strings.Join(got.Allow, ","), serverEnd, "/") != test.want || len(got.Deny) != 2 {
				t.Errorf("%s: %q and %q give %q, want %q, and both denials: %q", test.grant, test.a, test.b, got.Allow, test.want, got.Deny)
			}
		}
	}
}

func TestAWordOfAGuestThatLeadsOutIsNotWithin(t *testing.T) {
	t.Parallel()
	project, outside := t.TempDir(), t.TempDir()
	link := filepath.Join(project, "link")
	if err := os.Symlink(outside, link); err != nil {
		t.Skip(err)
	}
	if err := os.Mkdir(filepath.Join(project, "data"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, grant := range []string{Read, Write, Import} {
		var users, guests Set
		*users.words(grant) = Words{Allow: []string{project}}
		*guests.words(grant) = Words{Allow: []string{link, filepath.Join(link, "below"), filepath.Join(project, "data")}}
		both := Narrow(users, guests)
		if got := both.words(grant).Allow; !slices.Equal(got, []string{filepath.Join(project, "data")}) {
			t.Errorf("%s: a guest makes of %s the grants %q", grant, project, got)
		}
	}
}

func TestAServerDoesNotChangeWhatAGuestMayNarrowTo(t *testing.T) {
	t.Parallel()
	users := Set{Tools: Words{Allow: []string{"prod"}}}
	guests := Set{Tools: Words{Allow: []string{"prod.admin"}}}
	for _, pair := range [][2]Set{{users, guests}, {guests, users}} {
		gate := OpenTools(Narrow(pair[0], pair[1]).Tools, []string{"prod", "prod.admin"})
		if gate.Touches("prod.admin") || !gate.Allows("prod", "admin", false) || gate.Allows("prod", "other", false) {
			t.Error("a guest has made another server of a tool of the user's")
		}
	}
}

func TestToolsAreGrantedByTheirOwnNames(t *testing.T) {
	t.Parallel()
	namespaces := []string{"github", "my.server", "my.server.more", "a:read", "probe"}
	for _, test := range []struct {
		words, server, tool string
		readOnly, want      bool
	}{
		{"*", "anything", "at all", false, true},
		{"github", "github", "search", false, true},
		{"github", "githubx", "search", false, false},
		{"github.search", "github", "search", false, true},
		{"github.search", "github", "search_all", false, false},
		{"github.search*", "github", "search_all", false, true},
		{"github:read", "github", "search", true, true},
		{"github:read", "github", "search", false, false},
		{"*:read", "probe", "echo", true, true},
		{"*:read", "probe", "write", false, false},
		{"*.search", "probe", "search", false, true},
		{"my.server", "my.server", "x", false, true},
		{"my.server", "my", "server", false, false},
		{"my.server.more", "my.server.more", "x", false, true},
		{"my.server.more", "my.server", "more", false, false},
		{"my.server.x.y", "my.server", "x.y", false, true},
		{"a:read", "a:read", "w", false, true}, // its very name
		{"github,-github.delete", "github", "delete", false, false},
		{"github,-github.delete", "github", "search", false, true},
		{"*,-*", "github", "search", true, false},
		{"*,-probe:read", "probe", "echo", true, false},
		{"*,-probe:read", "probe", "write", false, true},
		// Who takes away may know the name that scripts use.
		{"*,-probe.fancyName", "probe", "fancy-name", true, false},
		{"*,-probe.fancy_name", "probe", "fancy-name", true, false},
		{"*,-probe.ECHO", "probe", "echo", true, false},
		{"*,-my_server.x", "my.server", "x", true, false},
		{"*,-probe.fancyName:read", "probe", "fancy-name", false, true},
		{"*,-probe.--", "probe", "++", true, true},
		{"*,-probe.fancy", "probe", "fancy-name", true, true},
		{"probe.fancyName", "probe", "fancy-name", true, false},
		// Another server does not turn a word away from what it took away without it.
		{"*,-my.server", "my.server", "x", true, false},
		{"*,-my.server", "my", "server", true, false},
		{"*,-my.server.more", "my.server", "more", true, false},
		{"*,-my.server.more", "my.server", "other", true, true},
		{"*,-a:read", "a", "look", true, false},
		{"*,-a:read", "a", "write", false, true},
		{"", "github", "search", true, false},
		{"probe.echo", "probe", "echo ", false, false},
		{"probe.echo", "Probe", "echo", false, false},
		{"probe.echo", "__proto__", "echo", false, false},
	} {
		var w Words
		for word := range strings.SplitSeq(test.words, ",") {
			if denied, ok := strings.CutPrefix(word, "-"); ok {
				w.Deny = append(w.Deny, denied)
			} else if word != "" {
				w.Allow = append(w.Allow, word)
			}
		}
		gate := OpenTools(w, namespaces)
		if got := gate.Allows(test.server, test.tool, test.readOnly); got != test.want {
			t.Errorf("%q allows %s.%s (read-only %v): %v, want %v", test.words, test.server, test.tool, test.readOnly, got, test.want)
		}
		if test.want && !gate.Touches(test.server) {
			t.Errorf("%q does not touch %s", test.words, test.server)
		}
	}
	for _, words := range []Words{{}, {Allow: []string{"github.search"}}, {Allow: []string{Any}, Deny: []string{"probe"}}, {Allow: []string{Any}, Deny: []string{Any}}} {
		if OpenTools(words, namespaces).Touches("probe") {
			t.Errorf("%v touches probe", words)
		}
	}
}

func TestVariablesAreGrantedByName(t *testing.T) {
	t.Parallel()
	gate := OpenEnv(Words{Allow: []string{"HOME", "AWS_*"}, Deny: []string{"AWS_SECRET*"}})
	got, err := json.Marshal(gate.Granted([]string{
		"HOME=/h", "home=x", "AWS_REGION=eu=1", "AWS_SECRET_KEY=s", "TOKEN=t", "AWS_=", "=C:=x", "AWS_A B=c", "AWS_Ü=d", "NOVALUE",
	}))
	if want := `{"AWS_":"","AWS_REGION":"eu=1","HOME":"/h"}`; err != nil || string(got) != want {
		t.Errorf("%s is granted, want %s", got, want)
	}
	for _, name := range []string{"", "__proto__x ", "HOME\x00", "HOME=x", " HOME", "*", "HOMEX", "1"} {
		if gate.Allows(name) {
			t.Errorf("%q is granted", name)
		}
	}
	if all := OpenEnv(Words{Allow: []string{Any}}); !all.All() || !all.Allows("__proto__") || all.Allows("") {
		t.Error("everything is not everything")
	}
}

func TestADenialSaysWhatWouldAllowIt(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ grant, thing, message, hint string }{
		{Read, "../x", `denied: read "../x": outside the run's grants`, "allow it with --allow-read=../x"},
		{Read, "a b'c", `denied: read "a b'c": outside the run's grants`, `allow it with '--allow-read=a b'\''c'`},
		{Network, "", "denied: net: outside the run's grants", "allow it with --allow-net"},
		{Input, "", "denied: stdin: outside the run's grants", "allow it with --permissions=tools"},
	} {
		e := Denied(test.grant, test.thing)
		if e.Kind != fault.Denied || e.Message != test.message || e.Hint != test.hint || e.Details["grant"] != test.grant || e.Details["thing"] != test.thing {
			t.Errorf("Denied(%s, %s) = %q, %q, %v", test.grant, test.thing, e.Message, e.Hint, e.Details)
		}
	}
	if e := Denied(Read, strings.Repeat("é", 500)); len(e.Details["thing"].(string)) > maxThing+len("…") || !strings.HasSuffix(e.Details["thing"].(string), "é…") {
		t.Errorf("a long path is repeated as %q", e.Details["thing"])
	}
}

func TestAScriptImportsFromItsOwnFolder(t *testing.T) {
	t.Parallel()
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{"p/node_modules", "p/scripts/deep", "home"} {
		if err := os.MkdirAll(filepath.Join(top, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	at := func(path string) string { return filepath.Join(top, path) }
	for name, to := range map[string]string{"linked": "home", "shared": "p/node_modules"} {
		if err := os.MkdirAll(filepath.Join(top, name, "src"), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(at(to), at(filepath.Join(name, "node_modules"))); err != nil {
			t.Skip(err)
		}
	}
	for _, test := range []struct {
		file string
		want []string
	}{
		{"", nil},
		{at("linked/src/x.ts"), []string{at("linked/src")}}, // its packages lead to a home
		{at("shared/src/x.ts"), []string{at("shared/src"), at("shared/node_modules")}},
		{at("p/scripts/x.ts"), []string{at("p/scripts"), at("p/node_modules")}},
		{at("p/x.ts"), []string{at("p")}},
		{at("home/x.ts"), nil},                     // a home is no folder of a script
		{filepath.Join(os.TempDir(), "x.ts"), nil}, //nolint:usetesting // it is about that very folder
		{"/x.ts", nil},
	} {
		set, err := Profiles{}.Resolve(Request{}, Place{Dir: top, File: test.file, Home: at("home")})
		var got []string
		for _, root := range set.Imports.Allow {
			if strings.HasPrefix(root, top) {
				got = append(got, root)
			} else if filepath.Base(root) != "node_modules" {
				t.Errorf("the script %s may import from %s", test.file, root)
			}
		}
		if err != nil || !slices.Equal(got, test.want) {
			t.Errorf("the script %q may import from %q, %v, want %q", test.file, got, err, test.want)
		}
	}
}
