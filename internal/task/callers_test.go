package task

import (
	"context"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"mcpx/internal/api"
	"mcpx/internal/fault"
	"mcpx/internal/settings"
)

func TestCallersOverMCPSeeTheirOwnTasks(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "tasks")
	k := keeper(t, dir)
	ended := make(chan string, 1)
	begin := func(caller string, wish api.TaskWish, work Work) string {
		t.Helper()
		told, err := k.Begin(t.Context(), Beginning{Kind: "call", What: "a.b", Caller: caller, Wish: wish, Ended: func() {
			ended <- caller
		}}, work)
		if err != nil {
			t.Fatal(err)
		}
		return told.ID
	}
	done := func(context.Context, func(api.Progress)) (any, bool, error) { return 1, false, nil }
	ids := map[string]string{}
	for _, caller := range []string{"one", "two", ""} {
		ids[caller] = begin(caller, api.TaskWish{}, done)
		if got := <-ended; got != caller {
			t.Errorf("told that the task of %q has ended, want %q", got, caller)
		}
	}
	for _, tt := range []struct {
		name   string
		tasks  api.Tasks
		listed []string
		known  map[string]bool
	}{
		{"one", k.Of("one"), []string{"one"}, map[string]bool{"one": true, "two": true, "": false}},
		{"a stranger", k.Of("stranger"), nil, map[string]bool{"one": true, "two": true, "": false}},
		{"nobody", k.Of(""), nil, map[string]bool{"one": false, "two": false, "": false}},
		{"the user", k, []string{"", "two", "one"}, map[string]bool{"one": true, "two": true, "": true}},
	} {
		list, err := tt.tasks.TasksList(t.Context(), api.TasksListInput{})
		if err != nil || len(list.Tasks) != len(tt.listed) {
			t.Errorf("%s is shown %+v, %v, want those of %q", tt.name, list, err, tt.listed)
		}
		for caller, known := range tt.known {
			id := ids[caller]
			_, getting := tt.tasks.TaskGet(t.Context(), api.TaskGetInput{ID: id})
			_, resulting := tt.tasks.TaskResult(t.Context(), api.TaskResultInput{ID: id, Wait: true})
			_, cancelling := tt.tasks.TaskCancel(t.Context(), api.TaskCancelInput{ID: id})
			for what, err := range map[string]error{"get": getting, "result": resulting, "cancel": cancelling} {
				if is := fault.KindOf(err) == fault.NotFound; is == known {
					t.Errorf("%s: %s of the task of %q: %v", tt.name, what, caller, err)
				}
			}
		}
	}
	// A caller over MCP gets no more time than the settings give.
	set := &settings.Set{}
	if err := set.ApplyFlag("tasks-ttl", "1h"); err != nil {
		t.Fatal(err)
	}
	k.Settings = set
	for caller, want := range map[string]time.Duration{"one": time.Hour, "": 2 * time.Hour} {
		told, err := k.Begin(t.Context(), Beginning{Caller: caller, Wish: api.TaskWish{TTL: "2h"}}, done)
		if err != nil || told.Within != want {
			t.Errorf("%q has its result kept for %s, %v, want %s", caller, told.Within, err, want)
		}
	}
}

func TestTasksOfProcessesThatAreGoneAreLost(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "tasks")
	gone := &Keeper{Dir: dir, Owner: "gone", Settings: &settings.Set{}}
	t.Cleanup(gone.Close)
	begun, err := gone.Begin(t.Context(), Beginning{Kind: "call", What: "a.b", Caller: "one"}, forever)
	if err != nil {
		t.Fatal(err)
	}
	there := true
	k := &Keeper{Dir: dir, Owner: "here", Settings: &settings.Set{}, Held: func(owner string) bool {
		if owner != "gone" {
			t.Errorf("asked for %s", owner)
		}
		return there
	}}
	t.Cleanup(k.Close)
	own, err := k.Begin(t.Context(), Beginning{Kind: "call", What: "a.b", Caller: "one"}, forever)
	if err != nil {
		t.Fatal(err)
	}
	stands := func(id, want string) {
		t.Helper()
		if told, err := k.Of("two").TaskGet(t.Context(), api.TaskGetInput{ID: id}); err != nil || told.State != want {
			t.Errorf("it stands %+v, %v, want %s", told, err, want)
		}
	}
	stands(begun.ID, api.TaskWorking)
	if _, err := k.Of("one").TaskCancel(t.Context(), api.TaskCancelInput{ID: begun.ID}); fault.KindOf(err) != fault.Unavailable {
		t.Errorf("cancelling what another process does: %v", err)
	}
	there = false
	stands(begun.ID, api.TaskLost)
	stands(own.ID, api.TaskWorking)
}

// TestWhatIsKeptForCallersIsBounded: they can begin one task after the other.
func TestWhatIsKeptForCallersIsBounded(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		kept map[string]string
		size int // of a result
		want int // how many are kept
	}{
		{"by their number", map[string]string{"tasks-keep": "3"}, 10, 3},
		{"by their size", map[string]string{"tasks-max-bytes": "2500B"}, 1000, 2},
		{"but for the last", map[string]string{"tasks-max-bytes": "10B"}, 1000, 1},
		{"by default", nil, 1000, 6},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			k := keeper(t, filepath.Join(t.TempDir(), "tasks"))
			for flag, value := range tt.kept {
				if err := k.Settings.ApplyFlag(flag, value); err != nil {
					t.Fatal(err)
				}
			}
			ended := make(chan bool, 1)
			run := func(caller string) string {
				told, err := k.Begin(t.Context(), Beginning{Kind: "call", What: "a.b", Caller: caller, Ended: func() { ended <- true }},
					func(context.Context, func(api.Progress)) (any, bool, error) {
						return strings.Repeat("x", tt.size), false, nil
					})
				if err != nil {
					t.Fatal(err)
				}
				<-ended
				return told.ID
			}
			own := run("") // the user's is not theirs to push out
			var ids []string
			for range 6 {
				ids = append(ids, run("one"))
				time.Sleep(2 * time.Millisecond) // the times of their ends differ
			}
			for i, id := range ids {
				_, err := k.Of("two").TaskResult(t.Context(), api.TaskResultInput{ID: id})
				if kept := i >= len(ids)-tt.want; kept != (err == nil) || !kept && fault.KindOf(err) != fault.NotFound {
					t.Errorf("the task %d of %d: %v", i, len(ids), err)
				}
			}
			if _, err := k.TaskResult(t.Context(), api.TaskResultInput{ID: own}); err != nil {
				t.Error(err)
			}
		})
	}
}
