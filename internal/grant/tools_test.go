package grant

import "testing"

// Scripts spell names otherwise that are no identifiers, and whoever grants has seen those.
func TestAWordMayNameAToolAsScriptsDo(t *testing.T) {
	t.Parallel()
	namespaces := []string{"s", "my server", "a-b", "a.b"}
	for _, test := range []struct {
		allow, deny, server, tool string
		aliases                   []string
		want                      bool
	}{
		{"s.get_sum", "", "s", "get-sum", []string{"get_sum", "getSum"}, true},
		{"s.getSum", "", "s", "get-sum", []string{"get_sum", "getSum"}, true},
		{"my_server", "", "my server", "echo", nil, true},
		{"my_server.get_sum", "", "my server", "get-sum", []string{"get_sum"}, true},
		{"my_server:read", "", "my server", "echo", nil, false}, // it may write
		{"s.get_sum", "", "s", "get-sum", nil, false},           // the spelling is another's as well, or another tool's own name
		{"s.get_sum", "", "s", "get_sum_all", []string{"getSumAll"}, false},
		{"a_b", "", "a-b", "echo", nil, false}, // of two servers, so of neither
		{"a_b", "", "a.b", "echo", nil, false},
		{"s.get_sum", "s.getSum", "s", "get-sum", []string{"get_sum", "getSum"}, false},
		{"my_server", "my_server", "my server", "echo", nil, false},
	} {
		w := Words{Allow: []string{test.allow}}
		if test.deny != "" {
			w.Deny = []string{test.deny}
		}
		if got := OpenTools(w, namespaces).Allows(test.server, test.tool, false, test.aliases...); got != test.want {
			t.Errorf("%q without %q allows %s.%s: %v, want %v", test.allow, test.deny, test.server, test.tool, got, test.want)
		}
	}
}
