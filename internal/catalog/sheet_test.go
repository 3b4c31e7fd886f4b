package catalog

import (
	"fmt"
	"strings"
	"testing"

	"mcpx/internal/schema"
)

// spaces makes namespaces of the servers of testdata, and the lines of their tools.
func spaces(t testing.TB) ([]Space, func(space, tool int) string) {
	t.Helper()
	var out []Space
	var tools [][]Doc
	for _, d := range servers(t) {
		if len(out) == 0 || out[len(out)-1].Name != d.Namespace {
			out = append(out, Space{Name: d.Namespace, Instructions: "Words of " + d.Namespace + ". " + strings.Repeat("And more of them. ", 40)})
			tools = append(tools, nil)
		}
		out[len(out)-1].Tools++
		tools[len(tools)-1] = append(tools[len(tools)-1], d)
	}
	return out, func(space, tool int) string {
		d := tools[space][tool]
		return schema.Call(d.Tool.Name, d.Tool.InputSchema, d.Tool.OutputSchema)
	}
}

func TestASheetFitsItsBudget(t *testing.T) {
	t.Parallel()
	all, line := spaces(t)
	before := 0
	for _, budget := range []int{20, 60, 100, 150, 250, 500, 1000, 2000, 4000, 8000, 20000} {
		s := Lay(all, budget, nil, line)
		if got := Tokens(s.Text); got > budget || got != s.Tokens {
			t.Errorf("budget %d: %d tokens, said %d", budget, got, s.Tokens)
		}
		shown, least, most := 0, 1000, 0
		for i, space := range all {
			n := len(s.Shown[i])
			shown += n
			if n < space.Tools {
				least = min(least, n)
			}
			most = max(most, n)
			if budget >= 150 && !strings.Contains(s.Text, "\n"+space.Name+": ") {
				t.Errorf("budget %d: %s is not in the text", budget, space.Name)
			}
			if s.Words[i] != "" && !strings.Contains(s.Text, s.Words[i]) {
				t.Errorf("budget %d: the words of %s are not in the text", budget, space.Name)
			}
			for _, tool := range s.Shown[i] {
				if !strings.Contains(s.Text, "\n  "+line(i, tool)+"\n") {
					t.Errorf("budget %d: %s is not in the text", budget, line(i, tool))
				}
			}
		}
		if shown < before {
			t.Errorf("budget %d shows %d tools, a smaller one %d", budget, shown, before)
		}
		if budget >= 250 && least == 0 {
			t.Errorf("budget %d: a namespace is starved:\n%s", budget, s.Text)
		}
		if budget >= 500 && s.Tokens < budget*3/4 && shown < 302 {
			t.Errorf("budget %d: %d tokens used", budget, s.Tokens)
		}
		before = shown
		if budget == 2000 && most-least > 30 {
			t.Errorf("budget %d: one namespace shows %d tools, another %d", budget, most, least)
		}
	}
	if before != 302 {
		t.Errorf("%d tools with the largest budget, want all", before)
	}
}

func TestEveryNamespaceHasItsTurn(t *testing.T) {
	t.Parallel()
	all := []Space{{Name: "big", Tools: 1000}, {Name: "small", Tools: 3}, {Name: "verbose", Tools: 20}}
	s := Lay(all, 400, nil, func(space, tool int) string {
		if space == 2 {
			return fmt.Sprintf("tool_%d(%s)", tool, strings.Repeat("and a long argument, ", 5))
		}
		return fmt.Sprintf("tool_%d()", tool)
	})
	if len(s.Shown[1]) != 3 || len(s.Shown[2]) < 2 || len(s.Shown[0]) < len(s.Shown[2]) {
		t.Errorf("shown %d, %d, %d:\n%s", len(s.Shown[0]), len(s.Shown[1]), len(s.Shown[2]), s.Text)
	}
}

func TestFavouredToolsComeFirst(t *testing.T) {
	t.Parallel()
	all := []Space{{Name: "a", Tools: 100}, {Name: "b", Tools: 100}}
	line := func(space, tool int) string { return fmt.Sprintf("t%d_%d()", space, tool) }
	s := Lay(all, 110, [][2]int{{0, 70}, {0, 50}, {0, 60}}, line)
	for _, want := range []string{"t0_70()", "t0_50()", "t0_60()", "t1_0()"} {
		if !strings.Contains(s.Text, want) {
			t.Errorf("%s is not in the text:\n%s", want, s.Text)
		}
	}
	if at50, at70 := strings.Index(s.Text, "t0_50()"), strings.Index(s.Text, "t0_70()"); at50 > at70 {
		t.Errorf("the order of the server is lost:\n%s", s.Text)
	}
}

func TestASheetOfOddNamespaces(t *testing.T) {
	t.Parallel()
	s := Lay([]Space{
		{Name: "broken", Problem: "no such\nfile " + strings.Repeat("x", 500)},
		{Name: "empty"},
		{Name: "my-server", Spelled: "my_server", Tools: 1, Instructions: "\x1b[31mbe\nkind\u202e"},
	}, 300, nil, func(int, int) string { return "one\n\x1b[0mline()" })
	for _, want := range []string{"\nbroken: no such file xxx", "\nempty: 0 tools\n", "\nmy-server (tools.my_server): 1 tool\n  // [31mbe kind\n  one [0mline()\n"} {
		if !strings.Contains(s.Text, want) {
			t.Errorf("no %q in:\n%s", want, s.Text)
		}
	}
	if strings.ContainsAny(s.Text, "\x1b\u202e") || strings.Contains(s.Text, strings.Repeat("x", 200)) {
		t.Errorf("the text holds what it must not:\n%q", s.Text)
	}
	if s := Lay(nil, 100, nil, nil); s.Text != "0 tools in 0 namespaces.\n" {
		t.Errorf("nothing is %q", s.Text)
	}
	var many []Space
	for i := range 500 {
		many = append(many, Space{Name: fmt.Sprintf("server-%d", i), Tools: i})
	}
	for budget := 10; budget < 3000; budget += 97 {
		if s := Lay(many, budget, nil, func(int, int) string { return "x()" }); s.Tokens > max(budget, 12) {
			t.Errorf("budget %d: %d tokens", budget, s.Tokens)
		}
	}
}

func BenchmarkLay(b *testing.B) {
	all, line := spaces(b)
	for b.Loop() {
		Lay(all, 2000, nil, line)
	}
}
