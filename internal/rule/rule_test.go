package rule

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"mcpx/internal/schema"
)

func TestPatternsMeanTools(t *testing.T) {
	t.Parallel()
	tests := []struct {
		pattern string
		yes, no []string
		fails   bool
		mustSay string
	}{
		{pattern: "get", yes: []string{"get"}, no: []string{"Get", "get_x", "forget"}},
		{pattern: "get_*", yes: []string{"get_", "get_a/b", "get_a\nb"}, no: []string{"get", "forget_x"}},
		{pattern: "?et", yes: []string{"get", "éet"}, no: []string{"et", "gget"}},
		{pattern: "[a-c]x", yes: []string{"ax", "cx"}, no: []string{"dx", "-x", "a"}},
		{pattern: "[!a-c]x", yes: []string{"dx"}, no: []string{"ax"}},
		{pattern: "[^a]x", yes: []string{"bx"}, no: []string{"ax"}},
		{pattern: "[]]x", yes: []string{"]x"}, no: []string{"x"}},
		{pattern: `a\*`, yes: []string{"a*"}, no: []string{"a*b", "ab", `a\*`}},
		{pattern: `a\b`, yes: []string{`a\b`}, no: []string{"ab"}},
		{pattern: `a\**`, yes: []string{"a*", "a*b"}, no: []string{"ab"}},
		{pattern: "a.b*", yes: []string{"a.bc"}, no: []string{"axbc"}},
		{pattern: "/delete/", yes: []string{"delete", "undelete_x"}, no: []string{"Delete", "remove"}},
		{pattern: "/^(?!get_)/", yes: []string{"set_x"}, no: []string{"get_x"}},
		{pattern: "/", yes: []string{"/"}, no: []string{"a/"}},
		{pattern: "/a/b", yes: []string{"/a/b"}, no: []string{"a"}},
		{pattern: "", fails: true, mustSay: "empty"},
		{pattern: "//", fails: true, mustSay: "nothing between the slashes"},
		{pattern: "/(/", fails: true, mustSay: "no regular expression"},
		{pattern: "[a", fails: true, mustSay: "not closed"},
		{pattern: "[", fails: true, mustSay: "not closed"},
		{pattern: "*[", fails: true, mustSay: "not closed"},
		{pattern: "[z-a]", fails: true, mustSay: "no range"},
		{pattern: `*\`, fails: true, mustSay: "backslash"},
		{pattern: strings.Repeat("x", 2000), fails: true, mustSay: "2000 bytes"},
	}
	for _, tt := range tests {
		p, err := Parse(tt.pattern)
		if tt.fails {
			if err == nil || !strings.Contains(err.Error(), tt.mustSay) {
				t.Errorf("Parse(%.20q) = %v, want %q in it", tt.pattern, err, tt.mustSay)
			}
			continue
		}
		if err != nil {
			t.Errorf("Parse(%q): %v", tt.pattern, err)
			continue
		}
		for _, name := range tt.yes {
			if !p.Match(name, false) {
				t.Errorf("%q does not mean %q", tt.pattern, name)
			}
		}
		for _, name := range tt.no {
			if p.Match(name, true) {
				t.Errorf("%q means %q", tt.pattern, name)
			}
		}
	}
}

// FuzzPattern checks that no pattern makes it panic, and that a name without marks means
// itself.
func FuzzPattern(f *testing.F) {
	for _, s := range []string{"a", "a*", "[a-c]", "/^a/", `\`, "[", "[!]", "[^]]", "é?"} {
		f.Add(s, "a")
	}
	f.Fuzz(func(t *testing.T, pattern, name string) {
		p, err := Parse(pattern)
		if err != nil {
			return
		}
		p.Match(name, true)
		if p.re == nil && p.glob == nil && !p.Match(pattern, false) {
			t.Errorf("%q does not mean itself", pattern)
		}
	})
}

// block makes a Block of patterns.
func block(t *testing.T, guest bool, tools, exclude, extra string) *Block {
	t.Helper()
	list := func(key, words string) []Filter {
		if words == "-" { // not there
			return nil
		}
		out := []Filter{}
		for w := range strings.FieldsSeq(words) {
			p, err := Parse(w)
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, Filter{p, Origin{File: "/c.json", Line: 1, Key: key}})
		}
		return out
	}
	return &Block{Guest: guest, Tools: list("tools", tools), Exclude: list("excludeTools", exclude), Extra: list("extraIncludeTools", extra)}
}

func TestFiltersAddUp(t *testing.T) {
	t.Parallel()
	b := func(tools, exclude, extra string) *Block { return block(t, false, tools, exclude, extra) }
	g := func(tools, exclude, extra string) *Block { return block(t, true, tools, exclude, extra) }
	all := []string{"a", "b", "c", "d"}
	tests := []struct {
		name  string
		rules *Rules
		want  string // of all, those that can be seen
	}{
		{"none", nil, "a b c d"},
		{"nothing is said", &Rules{Own: b("-", "", "")}, "a b c d"},
		{"an allow list", &Rules{Own: b("a b", "", "")}, "a b"},
		{"an empty allow list", &Rules{Own: b("", "", "")}, ""},
		{"a denial wins", &Rules{Own: b("a b", "b", "b")}, "a"},
		{"more is added to an allow list", &Rules{Own: b("a", "", "c")}, "a c"},
		{"without an allow list what is added is the list", &Rules{Own: b("-", "", "c")}, "c"},
		{"the server's list stands in the place of that for all", &Rules{Own: b("a", "", ""), Pools: []*Block{b("b", "", "")}}, "a"},
		{"the list for all", &Rules{Pools: []*Block{b("b", "", "")}}, "b"},
		{"denials add up", &Rules{Own: b("-", "a", ""), Pools: []*Block{b("-", "b", ""), b("-", "c", "")}}, "d"},
		{"what is added adds up", &Rules{Own: b("a", "", "b"), Pools: []*Block{b("-", "", "c")}}, "a b c"},
		{"what is added for all is the list", &Rules{Pools: []*Block{b("-", "", "c"), b("-", "", "d")}}, "c d"},
		{"the nearest list for all counts", &Rules{Pools: []*Block{b("a", "", ""), b("b", "", "")}}, "a"},
		{"a replaced entry's list still holds", &Rules{Own: b("a b", "", ""), Replaced: []*Block{b("b c", "", "")}}, "b"},
		{"a replaced entry's denial still holds", &Rules{Own: b("-", "", ""), Replaced: []*Block{b("-", "a", "")}}, "b c d"},
		{"a replaced entry's list holds for one without", &Rules{Replaced: []*Block{b("a", "", "")}, Pools: []*Block{b("b", "", "")}}, "a"},
		{"a guest's list only tightens", &Rules{Own: g("a b", "", ""), Pools: []*Block{b("b c", "", "")}}, "b"},
		{"a guest's denial", &Rules{Own: g("-", "a", "")}, "b c d"},
		{"a guest adds nothing to the user's list", &Rules{Own: g("-", "", "a"), Pools: []*Block{b("b", "", "")}}, "b"},
		{"a guest adds nothing to what the user added", &Rules{Own: g("-", "", "a"), Pools: []*Block{b("-", "", "b")}}, "b"},
		{"a guest adds to its own list", &Rules{Own: g("a", "", "c")}, "a c"},
		{"what a guest adds is a list where there is none", &Rules{Own: g("-", "", "c")}, "c"},
		{"a guest's list for all", &Rules{Own: b("a b", "", ""), Pools: []*Block{g("b c", "", "")}}, "b"},
		{"all lists of guests hold", &Rules{Own: g("a b", "", ""), Pools: []*Block{g("b c", "", "")}}, "b"},
	}
	for _, tt := range tests {
		var seen []string
		for _, name := range all {
			why, hidden := tt.rules.Hidden(name)
			if !hidden {
				seen = append(seen, name)
			} else if why == "" {
				t.Errorf("%s: %s is hidden and nothing says why", tt.name, name)
			}
		}
		if got := strings.Join(seen, " "); got != tt.want {
			t.Errorf("%s: one sees %q, want %q", tt.name, got, tt.want)
		}
	}
}

func TestTheWritePolicyOfAServer(t *testing.T) {
	t.Parallel()
	b := func(p Policy) *Block { return &Block{Write: p, WriteFrom: Origin{Key: "k"}} }
	g := func(p Policy) *Block { return &Block{Guest: true, Write: p} }
	tests := []struct {
		name           string
		rules          *Rules
		inForce, asked Policy
		want           Policy
		own            bool // it stands with the server
	}{
		{"the setting", nil, Ask, "", Ask, false},
		{"a server that says nothing", &Rules{Own: &Block{}}, Deny, "", Deny, false},
		{"a server in the setting's place", &Rules{Own: b(Allow)}, Deny, "", Allow, true},
		{"a server that is tighter", &Rules{Own: b(Deny)}, Allow, Allow, Deny, true},
		{"for this run it is tightened", &Rules{Own: b(Allow)}, Deny, Deny, Deny, false},
		{"for this run it is not loosened", &Rules{Own: b(Ask)}, Allow, Allow, Ask, true},
		{"a guest loosens nothing", &Rules{Own: g(Allow)}, Ask, "", Ask, false},
		{"a guest tightens", &Rules{Own: g(Deny)}, Allow, "", Deny, true},
		{"a replaced entry loosens nothing", &Rules{Own: &Block{}, Replaced: []*Block{b(Allow)}}, Ask, "", Ask, false},
		{"a replaced entry tightens one that says nothing", &Rules{Own: &Block{}, Replaced: []*Block{b(Deny)}}, Allow, "", Deny, true},
		{"a replaced entry tightens a guest", &Rules{Own: g(Allow), Replaced: []*Block{b(Deny)}}, Allow, "", Deny, true},
		{"the nearer entry counts if it says something", &Rules{Own: b(Allow), Replaced: []*Block{b(Deny)}}, Ask, "", Allow, true},
	}
	for _, tt := range tests {
		got, from := tt.rules.Writing(tt.inForce, tt.asked)
		if got != tt.want || (from != nil) != tt.own {
			t.Errorf("%s: Writing(%s, %s) = %s, %v, want %s, %v", tt.name, tt.inForce, tt.asked, got, from, tt.want, tt.own)
		}
	}
}

func TestArgumentRulesOfAllPlacesHold(t *testing.T) {
	t.Parallel()
	arguments := func(pattern, text string) *Block {
		p, err := Parse(pattern)
		if err != nil {
			t.Fatal(err)
		}
		s, err := schema.CompileRule(json.RawMessage(text))
		if err != nil {
			t.Fatal(err)
		}
		return &Block{Arguments: []Arguments{{p, s, Origin{File: "/c", Line: 2, Server: "s", Key: pattern}}}}
	}
	r := &Rules{
		Own: arguments("get_*", `{"required":["a"]}`), Replaced: []*Block{arguments("get_x", `{"required":["b"]}`)},
		Pools: []*Block{arguments("/x$/", `{"required":["c"]}`), arguments("other", `{"required":["d"]}`)},
	}
	var keys []string
	for _, a := range r.For("get_x") {
		keys = append(keys, a.From.Key)
	}
	if !slices.Equal(keys, []string{"get_*", "get_x", "/x$/"}) {
		t.Errorf("the rules of get_x are %q", keys)
	}
	if len(r.For("nobody")) != 0 {
		t.Error("a tool that no pattern means has rules")
	}
	want := `{"type":"object","allOf":[{"required":["a"]},{"required":["b"]},{"required":["c"]}]}`
	if got := string(r.Tighten("get_x", json.RawMessage(`{"type":"object"}`))); got != want {
		t.Errorf("Tighten(get_x) = %s, want %s", got, want)
	}
	r.Own.Exclude, r.Own.Extra = block(t, false, "-", "gone later_*", "").Exclude, block(t, false, "-", "", "set_*").Extra
	r.Pools[1].Exclude = r.Own.Exclude
	var unmatched []string
	for _, u := range append(r.Unmatched([]string{"get_a"}, false), r.Unmatched([]string{"get_a"}, true)...) {
		unmatched = append(unmatched, u.Pattern.String())
	}
	if !slices.Equal(unmatched, []string{"set_*", "gone", "get_x", "/x$/", "other"}) {
		t.Errorf("of a server with get_a alone nothing is meant by %q", unmatched)
	}
}
