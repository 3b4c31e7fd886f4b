package grant

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"mcpx/internal/fault"
)

// TestACallerNarrowsAndNeverWidens holds what a caller gets that asks for permissions of its
// own, within those that somebody else has given: as much or less, or a denial that names
// what is too much.
func TestACallerNarrowsAndNeverWidens(t *testing.T) {
	t.Parallel()
	all := map[string][]string{Tool: {"*"}, Read: {"*"}, Write: {"*"}, Import: {"*"}, Network: {"*"}, Variable: {"*"}, Program: {"*"}}
	for _, tt := range []struct {
		name       string
		most, asks Request
		want       string // what is given, or
		denied     string // what is named
	}{
		{"nothing besides", Request{Profile: "tools"}, Request{}, "artifacts ask stdin tools=*", ""},
		{"the same", Request{Profile: "project"}, Request{Profile: "project"}, "artifacts ask read=/w stdin tools=* write=/w", ""},
		{"a lesser profile", Request{Profile: "all"}, Request{Profile: "none"}, "", ""},
		{"one server", Request{Profile: "tools"}, Request{Allow: map[string][]string{Tool: {"github"}}}, "artifacts ask stdin tools=github", ""},
		{"the reading half of one", Request{Profile: "tools"}, Request{Allow: map[string][]string{Tool: {"github:read"}}}, "artifacts ask stdin tools=github:read", ""},
		{"exactly one folder", Request{Profile: "read"}, Request{Profile: "none", Allow: map[string][]string{Read: {"/w/a"}}}, "read=/w/a", ""},
		{"less of everything", Request{Profile: "read"}, Request{Deny: map[string][]string{Read: {}}}, "artifacts ask read=/w-* stdin tools=*", ""},
		{"what is taken away stays away", Request{Profile: "tools", Deny: map[string][]string{Tool: {"prod"}}}, Request{Profile: "tools"}, "artifacts ask stdin tools=*-prod", ""},
		{"a host of those", Request{Profile: "net", Allow: map[string][]string{Network: {"*.example.com"}}}, Request{Profile: "none", Allow: map[string][]string{Network: {"a.example.com:443"}}}, "net=a.example.com:443", ""},
		{"a public host", Request{Profile: "net"}, Request{Profile: "none", Allow: map[string][]string{Network: {"api.example.com"}}}, "net=api.example.com", ""},
		{"what it takes away itself", Request{Profile: "tools"}, Request{Profile: "net", Deny: map[string][]string{Network: {}}}, "artifacts ask net=-* stdin tools=*", ""},
		{"all but not its name", Request{Profile: "tools", Allow: all}, Request{Profile: "all"}, "artifacts ask env=* imports=* net=* read=* run=* stdin tools=* write=*", ""},

		{"another folder", Request{Profile: "read"}, Request{Allow: map[string][]string{Read: {"/x"}}}, "", `read "/x"`},
		{"the folder above", Request{Profile: "read"}, Request{Allow: map[string][]string{Read: {".."}}}, "", `read "/"`},
		{"a folder with the same beginning", Request{Profile: "read"}, Request{Allow: map[string][]string{Read: {"/work"}}}, "", `read "/work"`},
		{"a grant that is not there", Request{Profile: "tools"}, Request{Allow: map[string][]string{Write: {"a"}}}, "", `write "/w/a"`},
		{"programs", Request{Profile: "project"}, Request{Allow: map[string][]string{Program: {}}}, "", `run "*"`},
		{"variables", Request{Profile: "tools", Allow: map[string][]string{Variable: {"A_*"}}}, Request{Allow: map[string][]string{Variable: {"A*"}}}, "", `env "A*"`},
		{"private addresses", Request{Profile: "net"}, Request{Allow: map[string][]string{Network: {"127.0.0.1"}}}, "", `net "127.0.0.1"`},
		{"this machine", Request{Profile: "net"}, Request{Allow: map[string][]string{Network: {"localhost:80"}}}, "", `net "localhost:80"`},
		{"every port", Request{Profile: "tools", Allow: map[string][]string{Network: {"a.com:443"}}}, Request{Allow: map[string][]string{Network: {"a.com"}}}, "", `net "a.com"`},
		{"a greater profile", Request{Profile: "tools"}, Request{Profile: "net"}, "", `net "public"`},
		{"everything", Request{Profile: "read"}, Request{Profile: "all"}, "", `read "*"`},
		{"another server", Request{Profile: "none", Allow: map[string][]string{Tool: {"github"}}}, Request{Allow: map[string][]string{Tool: {"prod"}}}, "", `tools "prod"`},
		{"tools that write", Request{Profile: "none", Allow: map[string][]string{Tool: {"github:read"}}}, Request{Allow: map[string][]string{Tool: {"github"}}}, "", `tools "github"`},
		{"all tools", Request{Profile: "none"}, Request{Profile: "tools"}, "", `tools "*"`},
		{"what was taken away as a whole", Request{Profile: "tools", Deny: map[string][]string{Tool: {}}}, Request{Profile: "tools"}, "", `tools "*"`},
		{"to ask", Request{Profile: "none", Allow: all}, Request{Profile: "tools"}, "", "artifacts"},
	} {
		at := Place{Dir: "/w"}
		most, err := Profiles{}.Resolve(tt.most, at)
		if err != nil {
			t.Fatal(err)
		}
		before := brief(most)
		var asked Set
		if tt.asks.Profile == "" {
			asked, err = most.Further(tt.asks, at)
		} else {
			asked, err = Profiles{}.Resolve(tt.asks, at)
		}
		if err != nil {
			t.Fatal(err)
		}
		got, err := asked.Within(most)
		if tt.denied != "" {
			if fault.KindOf(err) != fault.Denied || !strings.Contains(err.Error(), "denied: "+tt.denied+": outside the run's grants") {
				t.Errorf("%s: %q, %v, want a denial of %s", tt.name, brief(got), err, tt.denied)
			}
			if e, ok := errors.AsType[*fault.Error](err); ok && !strings.HasPrefix(e.Hint, "allow it with ") {
				t.Errorf("%s: the hint is %q", tt.name, e.Hint)
			}
		} else if err != nil || brief(got) != tt.want {
			t.Errorf("%s: %q, %v, want %q", tt.name, brief(got), err, tt.want)
		}
		if brief(most) != before {
			t.Errorf("%s: the most has become %q, and was %q", tt.name, brief(most), before)
		}
	}
	if _, err := (Set{}).Further(Request{Allow: map[string][]string{"moon": {"x"}}}, Place{Dir: "/w"}); fault.KindOf(err) != fault.Usage {
		t.Errorf("a grant that there is not: %v", err)
	}
}

// TestWithinGivesNoMoreThanEither holds Within against Narrow, which never denies.
func TestWithinGivesNoMoreThanEither(t *testing.T) {
	t.Parallel()
	n := 0
	for _, a := range Names {
		for _, b := range Names {
			x, _ := Profiles{}.Resolve(Request{Profile: a}, Place{Dir: "/w"})
			y, _ := Profiles{}.Resolve(Request{Profile: b}, Place{Dir: "/w"})
			got, err := x.Within(y)
			if err != nil {
				continue
			}
			n++
			narrowed := Narrow(x, y)
			for _, g := range Grants {
				mine, theirs := got.words(g).Allow, narrowed.words(g).Allow
				slices.Sort(mine)
				slices.Sort(theirs)
				if !slices.Equal(mine, theirs) {
					t.Errorf("%s within %s gives %s=%q, both give %q", a, b, g, mine, theirs)
				}
			}
		}
	}
	if n < len(Names)*2 {
		t.Errorf("%d pairs are compared", n)
	}
}
