package serve

import (
	"slices"
	"testing"

	"mcpx/internal/api"
	"mcpx/internal/task"
)

// TestTheToolsAreThoseOfTheTable holds that the tools of mcpx and the operations that say
// they have one are the same.
func TestTheToolsAreThoseOfTheTable(t *testing.T) {
	t.Parallel()
	var want []string
	for _, o := range api.Operations() {
		if o.Tool != "" {
			want = append(want, o.Tool)
		}
	}
	var got []string
	for _, tool := range newCode(Options{Tasks: &task.Keeper{}}).tools {
		got = append(got, tool.name)
	}
	slices.Sort(want)
	slices.Sort(got)
	if len(want) < 5 || !slices.Equal(got, want) {
		t.Errorf("tools of mcpx = %q, of the table %q", got, want)
	}
}
