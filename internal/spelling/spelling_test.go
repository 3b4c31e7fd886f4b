package spelling

import "testing"

func TestDistance(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		a, b        string
		limit, want int
	}{
		{"", "", 2, 0},
		{"abc", "abc", 0, 0},
		{"abc", "abd", 2, 1},
		{"abc", "acb", 2, 1},
		{"abc", "ab", 2, 1},
		{"abc", "xabc", 2, 1},
		{"abc", "xyz", 2, 3},
		{"abc", "abcdef", 2, 3},
		{"é", "e", 1, 1},
	} {
		if got := Distance(test.a, test.b, test.limit); got != test.want {
			t.Errorf("Distance(%q, %q, %d) = %d, want %d", test.a, test.b, test.limit, got, test.want)
		}
	}
}

func TestSame(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		a, b string
		want bool
	}{
		{"read-only", "readOnly", true},
		{"read_only", "READ.ONLY", true},
		{"größe", "Größe", true},
		{"read", "reads", false},
		{"", "", true},
		{"-", "-", true},
		{"-", "_", false},
		{"", "-", false},
	} {
		if got := Same(test.a, test.b); got != test.want {
			t.Errorf("Same(%q, %q) = %t, want %t", test.a, test.b, got, test.want)
		}
	}
}
