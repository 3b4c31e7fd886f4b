package engine

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// testAgainstNode runs a script here and under node and compares what they print.
// known holds the lines that are expected to differ.
func testAgainstNode(t *testing.T, file string, known ...string) {
	t.Helper()
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("there is no node to compare with")
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	want, err := exec.Command(node, file).Output()
	if err != nil {
		t.Fatal(err)
	}
	o, got := testRun(t, strings.ReplaceAll(string(text), "console.log", "log"))
	if o.Report != nil {
		t.Fatal(o.Report.Text())
	}
	theirs, ours := strings.Split(string(want), "\n"), strings.Split(got, "\n")
	if len(theirs) != len(ours) {
		t.Errorf("%d lines, want %d", len(ours), len(theirs))
	}
	head, wrong := "", 0
	for i := range min(len(theirs), len(ours)) {
		if strings.HasPrefix(theirs[i], "/") {
			head = theirs[i]
		}
		if theirs[i] == ours[i] {
			continue
		}
		line := head + "\n\t" + ours[i]
		expected := false
		for _, k := range known {
			expected = expected || strings.Contains(line, k)
		}
		if !expected {
			if wrong++; wrong > 30 {
				t.Fatal("and more")
			}
			t.Errorf("line %d, %s\nwant\t%s", i+1, line, theirs[i])
		}
	}
}

func TestRegExpAsInNode(t *testing.T) {
	t.Parallel()
	testAgainstNode(t, "testdata/regexp.js",
		"ſ", `/s/gi is`, `/\w/gi is`, // goja has more cases of k and s without the flag u
		`/[^\P{Lu}]/giu is`, `/\W/giu is`, // and of all letters, from the second match on
		`/./gu is`,         // the second match of a dot may be U+2028
		`/(?:(a)|b)*/d is`, // a group keeps what it matched in an earlier round
	)
}
