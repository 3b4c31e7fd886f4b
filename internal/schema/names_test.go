package schema

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestAliases(t *testing.T) {
	t.Parallel()
	type aliases = map[string][]string
	for _, test := range []struct {
		name  string
		names []string
		want  aliases
	}{
		{"a plain name has none", []string{"echo", "openTab"}, aliases{}},
		{"a dash", []string{"fancy-name"}, aliases{"fancy-name": {"fancy_name", "fancyName"}}},
		{"snake case", []string{"search_issues"}, aliases{"search_issues": {"searchIssues"}}},
		{"dots, slashes, colons, spaces", []string{"coding.start", "db/query", "ns:list", "two words"}, aliases{
			"coding.start": {"coding_start", "codingStart"}, "db/query": {"db_query", "dbQuery"},
			"ns:list": {"ns_list", "nsList"}, "two words": {"two_words", "twoWords"},
		}},
		{"a leading digit", []string{"3d_render"}, aliases{"3d_render": {"_3d_render", "_3dRender"}}},
		{"capitals", []string{"GET_USERS", "GetUser"}, aliases{"GET_USERS": {"getUsers"}, "GetUser": {"getUser"}}},
		{"letters of other scripts", []string{"查询", "größe-ändern"}, aliases{"größe-ändern": {"größe_ändern", "größeÄndern"}}},
		{"an exact name wins over a derived one", []string{"read-only", "read_only"}, aliases{}},
		{"every collision on one server", []string{"read-only", "read_only", "read.only", "readOnly", "read-only"}, aliases{}},
		{"two that derive the same get none", []string{"a-b", "a.b"}, aliases{}},
		{"a repeated name is one name", []string{"a-b", "a-b"}, aliases{"a-b": {"a_b", "aB"}}},
		{"nothing hides what every object has", []string{"to_string", "to-json", "value_of", "has own property", "then"}, aliases{
			"to-json": {"to_json", "toJson"}, "has own property": {"has_own_property"},
		}},
		{"reserved words are no aliases", []string{"-delete", "Default"}, aliases{"-delete": {"_delete"}}},
		{"names without letters", []string{"", "…"}, aliases{"…": {"_"}}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			got := Aliases(test.names)
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("Aliases(%q) (-want +got):\n%s", test.names, diff)
			}
			for name, spelled := range got {
				for _, alias := range spelled {
					if raw, ok := Resolve(test.names, alias); !ok || raw != name {
						t.Errorf("Resolve(%q) = %q, %v, want %q", alias, raw, ok, name)
					}
				}
			}
		})
	}
}

func TestResolve(t *testing.T) {
	t.Parallel()
	names := []string{
		"read-only", "read_only", "read.only", "readOnly", "delete", "default", "then", "constructor", "__proto__",
		"toString", "length", "name", "fancy-name", "fancy-name", "get-length",
	}
	for _, name := range names {
		if got, ok := Resolve(names, name); !ok || got != name {
			t.Errorf("Resolve(%q) = %q, %v, want itself", name, got, ok)
		}
	}
	for spelled, want := range map[string]string{
		"fancyName": "fancy-name", "fancy_name": "fancy-name", "getLength": "get-length",
		"valueOf": "", "hasOwnProperty": "", "ReadOnly": "", "fancy name": "", "": "", "toJSON": "",
	} {
		if got, ok := Resolve(names, spelled); got != want || ok != (want != "") {
			t.Errorf("Resolve(%q) = %q, %v, want %q", spelled, got, ok, want)
		}
	}
}

func TestIsIdentifier(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"a", "_", "$", "a1", "é", "查询", "ab\u0301", "of", "async", "type"} {
		if !IsIdentifier(name) {
			t.Errorf("IsIdentifier(%q) = false", name)
		}
	}
	for _, name := range []string{"", "1a", "a-b", "a b", "delete", "await", "let", "undefined", "😀", "\xff", "\u0301a"} {
		if IsIdentifier(name) {
			t.Errorf("IsIdentifier(%q) = true", name)
		}
	}
}

func TestNearest(t *testing.T) {
	t.Parallel()
	names := []string{"create_issue", "create_issue_comment", "list_issues", "search_issues", "echo", "get_me", "read-file", "write_file"}
	for _, test := range []struct {
		word string
		n    int
		want []string
	}{
		{"createIssue", 1, []string{"create_issue"}},
		{"creat_isue", 1, []string{"create_issue"}},
		{"ecoh", 3, []string{"echo"}},
		{"readfile", 3, []string{"read-file"}},
		{"read_flie", 1, []string{"read-file"}},
		{"search", 3, []string{"search_issues"}},
		{"issue", 2, []string{"list_issues", "create_issue"}},
		{"zzzzzz", 3, nil},
		{"", 3, nil},
		{"echo", 0, nil},
	} {
		if got := Nearest(test.word, names, test.n); !slices.Equal(got, test.want) {
			t.Errorf("Nearest(%q, %d) = %q, want %q", test.word, test.n, got, test.want)
		}
	}
}
