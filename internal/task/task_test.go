package task

import (
	"context"
	"encoding/json"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"mcpx/internal/api"
	"mcpx/internal/fault"
	"mcpx/internal/settings"
)

func keeper(t *testing.T, dir string) *Keeper {
	t.Helper()
	k := &Keeper{Dir: dir, Owner: "here", Settings: &settings.Set{}}
	t.Cleanup(k.Close)
	return k
}

// forever works until it is called off.
func forever(ctx context.Context, progress func(api.Progress)) (any, bool, error) {
	progress(api.Progress{Done: 1, Message: "begun"})
	<-ctx.Done()
	return nil, false, ctx.Err()
}

func start(t *testing.T, k *Keeper, wish api.TaskWish, work Work) string {
	t.Helper()
	// The caller goes at once.
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	task, err := k.Start(ctx, "call", "a.b", wish, work)
	if err != nil {
		t.Fatal(err)
	}
	if len(task.ID) < 26 || task.State != api.TaskWorking {
		t.Errorf("it began as %+v", task)
	}
	return task.ID
}

func TestATaskEndsAsItsWorkDoes(t *testing.T) {
	t.Parallel()
	k := keeper(t, filepath.Join(t.TempDir(), "tasks"))
	for _, tt := range []struct {
		name   string
		work   Work
		state  string
		result string
		kind   fault.Kind
	}{
		{"well", func(context.Context, func(api.Progress)) (any, bool, error) {
			return map[string]int{"a": 1}, false, nil
		}, api.TaskCompleted, `{"a":1}`, ""},
		{"badly, with a result", func(context.Context, func(api.Progress)) (any, bool, error) { return "oh", true, nil }, api.TaskFailed, `"oh"`, ""},
		{"with an error", func(context.Context, func(api.Progress)) (any, bool, error) {
			return nil, false, fault.Deniedf("no").Hintf("ask")
		}, api.TaskFailed, "", fault.Denied},
		{"with a result that is no JSON", func(context.Context, func(api.Progress)) (any, bool, error) { return func() {}, false, nil }, api.TaskFailed, "", fault.Internal},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			id := start(t, k, api.TaskWish{}, tt.work)
			out, err := k.TaskResult(t.Context(), api.TaskResultInput{ID: id, Wait: true})
			if tt.kind != "" {
				if fault.KindOf(err) != tt.kind {
					t.Errorf("it ended with %v", err)
				}
			} else if err != nil || string(out.Result) != tt.result {
				t.Errorf("the result is %+v, %v", out, err)
			}
			task, err := k.TaskGet(t.Context(), api.TaskGetInput{ID: id})
			if err != nil || task.State != tt.state || task.Ended == nil || task.Expires == nil || !task.Expires.After(*task.Ended) {
				t.Errorf("it is %+v, %v", task, err)
			}
		})
	}
}

func TestCancellingATaskEndsItsWork(t *testing.T) {
	t.Parallel()
	k := keeper(t, filepath.Join(t.TempDir(), "tasks"))
	ended := make(chan struct{})
	begun := make(chan struct{})
	id := start(t, k, api.TaskWish{}, func(ctx context.Context, progress func(api.Progress)) (any, bool, error) {
		defer close(ended)
		progress(api.Progress{Done: 1, Message: "begun"})
		close(begun)
		<-ctx.Done()
		return "too late", false, nil
	})
	<-begun
	if _, err := k.TaskResult(t.Context(), api.TaskResultInput{ID: id}); fault.KindOf(err) != fault.Unavailable {
		t.Errorf("the result of one that goes on: %v", err)
	}
	if task, err := k.TaskGet(t.Context(), api.TaskGetInput{ID: id}); err != nil || task.State != api.TaskWorking || task.Progress == nil || task.Progress.Message != "begun" {
		t.Errorf("it is %+v, %v", task, err)
	}
	if !k.Busy() {
		t.Error("nothing goes on")
	}
	out, err := k.TaskCancel(t.Context(), api.TaskCancelInput{ID: id})
	if err != nil || out.State != api.TaskCancelled {
		t.Fatalf("it is %+v, %v", out, err)
	}
	select {
	case <-ended:
	default:
		t.Error("the work goes on")
	}
	if _, err := k.TaskCancel(t.Context(), api.TaskCancelInput{ID: id}); fault.KindOf(err) != fault.Usage && err != nil {
		t.Errorf("once more: %v", err)
	}
	if _, err := k.TaskResult(t.Context(), api.TaskResultInput{ID: id}); fault.KindOf(err) != fault.Unavailable || fault.From(err).Details["state"] != api.TaskCancelled {
		t.Errorf("its result: %v", err)
	}
	if k.Busy() {
		t.Error("something goes on")
	}
}

func TestTasksSurviveTheProcessAndThoseUnfinishedAreLost(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "tasks")
	first := keeper(t, dir)
	done := start(t, first, api.TaskWish{}, func(context.Context, func(api.Progress)) (any, bool, error) { return 1, false, nil })
	if _, err := first.TaskResult(t.Context(), api.TaskResultInput{ID: done, Wait: true}); err != nil {
		t.Fatal(err)
	}
	ended := start(t, first, api.TaskWish{}, forever)
	first.Close()
	if _, err := first.Start(t.Context(), "call", "a.b", api.TaskWish{}, forever); fault.KindOf(err) != fault.Unavailable {
		t.Errorf("one begins after the end: %v", err)
	}
	// A process that is killed writes nothing down.
	killed := keeper(t, dir)
	id := start(t, killed, api.TaskWish{}, forever)
	other := &Keeper{Dir: dir, Owner: "elsewhere", Settings: &settings.Set{}}
	if err := other.Recover(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := other.TaskGet(t.Context(), api.TaskGetInput{ID: id}); fault.KindOf(err) != fault.NotFound {
		t.Errorf("another daemon sees it: %v", err)
	}
	next := keeper(t, dir)
	if task, err := next.TaskGet(t.Context(), api.TaskGetInput{ID: id}); err != nil || task.State != api.TaskWorking {
		t.Errorf("somebody else has ended it: %+v, %v", task, err)
	}
	if err := next.Recover(t.Context()); err != nil {
		t.Fatal(err)
	}
	for id, state := range map[string]string{done: api.TaskCompleted, ended: api.TaskLost, id: api.TaskLost} {
		task, err := next.TaskGet(t.Context(), api.TaskGetInput{ID: id})
		if err != nil || task.State != state || (state == api.TaskLost) != (task.Error != nil) {
			t.Errorf("%+v, %v, want %s", task, err, state)
		}
	}
	out, err := next.TaskResult(t.Context(), api.TaskResultInput{ID: done})
	if err != nil || string(out.Result) != "1" {
		t.Errorf("the result is %+v, %v", out, err)
	}
	// A command without a daemon sees all, and begins none.
	alone := &Keeper{Dir: dir, Settings: &settings.Set{}}
	if list, err := alone.TasksList(t.Context(), api.TasksListInput{}); err != nil || len(list.Tasks) != 3 {
		t.Errorf("there are %+v, %v", list, err)
	}
	// It sees which of them have lost their process, and those alone.
	other.Settings = &settings.Set{}
	t.Cleanup(other.Close)
	theirs, ours := start(t, other, api.TaskWish{}, forever), start(t, next, api.TaskWish{}, forever)
	alone.Held = func(owner string) bool { return owner == "elsewhere" }
	for id, state := range map[string]string{theirs: api.TaskWorking, ours: api.TaskLost, done: api.TaskCompleted} {
		if task, err := alone.TaskGet(t.Context(), api.TaskGetInput{ID: id}); err != nil || task.State != state {
			t.Errorf("%+v, %v, want %s", task, err, state)
		}
	}
	if _, err := alone.TaskResult(t.Context(), api.TaskResultInput{ID: theirs, Wait: true}); fault.KindOf(err) != fault.Unavailable || !strings.Contains(err.Error(), "in another daemon") {
		t.Errorf("waiting for a task of somebody else: %v", err)
	}
	if _, err := alone.Start(t.Context(), "call", "a.b", api.TaskWish{}, forever); fault.KindOf(err) != fault.Unavailable {
		t.Errorf("one begins without a daemon: %v", err)
	}
}

func TestTasksAreForgottenWhenTheirTimeHasCome(t *testing.T) {
	t.Parallel()
	k := keeper(t, filepath.Join(t.TempDir(), "tasks"))
	id := start(t, k, api.TaskWish{TTL: "1ms"}, func(context.Context, func(api.Progress)) (any, bool, error) { return 1, false, nil })
	for { // it is there while it goes on, and for a moment
		_, err := k.TaskGet(t.Context(), api.TaskGetInput{ID: id})
		if fault.KindOf(err) == fault.NotFound {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Millisecond)
	}
	for _, ttl := range []string{"x", "0s", "-1s"} {
		if _, err := k.Start(t.Context(), "call", "a.b", api.TaskWish{TTL: ttl}, forever); fault.KindOf(err) != fault.Usage {
			t.Errorf("kept for %s: %v", ttl, err)
		}
	}
}

func TestOnlySoManyTasksGoOnAtATime(t *testing.T) {
	t.Parallel()
	k := keeper(t, filepath.Join(t.TempDir(), "tasks"))
	if err := k.Settings.ApplyFlag("tasks-max", "2"); err != nil {
		t.Fatal(err)
	}
	first := start(t, k, api.TaskWish{}, forever)
	start(t, k, api.TaskWish{}, forever)
	if _, err := k.Start(t.Context(), "call", "a.b", api.TaskWish{}, forever); fault.KindOf(err) != fault.Limit {
		t.Errorf("a third: %v", err)
	}
	if _, err := k.TaskCancel(t.Context(), api.TaskCancelInput{ID: first}); err != nil {
		t.Fatal(err)
	}
	start(t, k, api.TaskWish{}, forever)
}

func TestThereIsNoTaskWhereNoneWas(t *testing.T) {
	t.Parallel()
	k := keeper(t, filepath.Join(t.TempDir(), "tasks"))
	list, err := k.TasksList(t.Context(), api.TasksListInput{})
	text, failed := json.Marshal(list)
	if err != nil || failed != nil || string(text) != `{"tasks":[]}` {
		t.Errorf("there are %s, %v", text, errors.Join(err, failed))
	}
	for _, f := range []func() error{
		func() error { _, err := k.TaskGet(t.Context(), api.TaskGetInput{ID: "x"}); return err },
		func() error {
			_, err := k.TaskResult(t.Context(), api.TaskResultInput{ID: "x", Wait: true})
			return err
		},
		func() error { _, err := k.TaskCancel(t.Context(), api.TaskCancelInput{ID: "x"}); return err },
	} {
		if err := f(); fault.KindOf(err) != fault.NotFound {
			t.Errorf("of none: %v", err)
		}
	}
}
