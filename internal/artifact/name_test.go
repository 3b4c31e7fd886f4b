package artifact

import (
	"regexp"
	"slices"
	"strings"
	"testing"
)

func TestNamesAreMadeHarmless(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"report.csv": "report.csv", "a b.txt": "a-b.txt", "../up": "up", "/abs": "abs", `c:\x\y.z`: "y.z", "..": "artifact", ".": "artifact",
		"": "artifact", "a\x00b": "a_b", "CON": "_CON", "nul.txt": "_nul.txt", "Com1.x": "_Com1.x", "com10": "com10", "tab\there": "tab_here",
		"\u202Egnp.exe": "_gnp.exe", ".hidden": "hidden", "-rf": "rf", "a.": "a", "é.md": "_.md", "%2e%2e/x": "x", "a/": "artifact",
	} {
		if got := Clean(name); got != want {
			t.Errorf("Clean(%q) = %q, want %q", name, got, want)
		}
	}
	long := Clean(strings.Repeat("x", 300) + ".tar.gz")
	if len(long) != maxName || !strings.HasSuffix(long, ".gz") {
		t.Errorf("a long name becomes %q", long)
	}
}

func FuzzNamesAreMadeHarmless(f *testing.F) {
	f.Add("..\\a/../CON .")
	harmless := regexp.MustCompile(`^[A-Za-z0-9_+][A-Za-z0-9._+-]*$`)
	f.Fuzz(func(t *testing.T, name string) {
		got := Clean(name)
		if !harmless.MatchString(got) || strings.HasSuffix(got, ".") || len(got) > maxName+1 || Clean(got) != got {
			t.Errorf("Clean(%q) = %q, and that becomes %q", name, got, Clean(got))
		}
	})
}

func TestNamesBecomeDistinct(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", maxName-4) + ".txt"
	for _, test := range []struct {
		name  string
		taken []string
		want  string
	}{
		{"a.txt", nil, "a.txt"},
		{"a.txt", []string{"a.txt"}, "a-1.txt"},
		{"a.txt", []string{"a.txt", "a-1.txt"}, "a-2.txt"},
		{"a", []string{"a"}, "a-1"},
		{"a.tar.gz", []string{"a.tar.gz"}, "a.tar-1.gz"},
		{long, []string{long}, strings.Repeat("x", maxName-6) + "-1.txt"},
	} {
		got := Distinct(test.name, func(name string) bool { return slices.Contains(test.taken, name) })
		if got != test.want || Clean(got) != got {
			t.Errorf("Distinct(%q) beside %q = %q, want %q", test.name, test.taken, got, test.want)
		}
	}
}
