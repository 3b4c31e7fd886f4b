package api

import (
	"strings"
	"testing"
)

// TestFlagsThatTakeAValueNameIt checks that the sentence about a flag holds the word for its
// value: the command line knows by it that one follows.
func TestFlagsThatTakeAValueNameIt(t *testing.T) {
	t.Parallel()
	looked := 0
	for _, o := range Operations() {
		for _, f := range o.Fields() {
			if f.Value == "" {
				continue
			}
			looked++
			if !strings.Contains(f.Doc, f.Value) {
				t.Errorf("%s: --%s %s: %q does not name its value", o.Name, f.Flag, f.Value, f.Doc)
			}
		}
	}
	if looked == 0 {
		t.Error("no flag takes a value: nothing is guarded")
	}
}
