// Package task keeps calls and runs that go on without whoever began them: what is done
// in this process (Keeper), and what is known of all of them in an index on disk, which
// outlives it.
//
// What a task does is given as a function. Its context ends when the task is cancelled, or
// when the Keeper is closed: then the task is lost.
package task

import (
	"context"
	"crypto/rand"
	"database/sql"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"mcpx/internal/api"
	"mcpx/internal/fault"
	"mcpx/internal/settings"
	"mcpx/internal/store"
)

// Work is what a task does. The result is what is kept of it; failed says that it did not
// end well although there is one. progress may be told how far it is, from any goroutine.
type Work func(ctx context.Context, progress func(api.Progress)) (result any, failed bool, err error)

// Keeper keeps the tasks of one process. A Keeper without an Owner begins none, and shows
// those of all.
type Keeper struct {
	Dir      string // of the index, absolute; empty keeps nothing
	Owner    string // who begins tasks here: one process at a time is that
	Settings *settings.Set
	// Held reports whether the process that begins the tasks of another owner is there. What
	// is left of those that are gone is marked as lost when it is come across; nil leaves
	// that to the next Recover.
	Held func(owner string) bool

	mu      sync.Mutex
	closed  bool
	running map[string]*running
	working sync.WaitGroup
}

// running is a task that this process works on.
type running struct {
	cancel context.CancelCauseFunc
	done   chan struct{} // closed when its end is on disk

	mu       sync.Mutex
	progress *api.Progress
}

// Why work ends before it is done.
var (
	errCancelled = errors.New("the task was cancelled")
	errEnding    = errors.New("the daemon ended")
)

const indexFile = "index.db"

const schema = `
CREATE TABLE task (
	id TEXT PRIMARY KEY, owner TEXT NOT NULL, kind TEXT NOT NULL, what TEXT NOT NULL, state TEXT NOT NULL,
	created INTEGER NOT NULL, ended INTEGER NOT NULL, expires INTEGER NOT NULL, ttl INTEGER NOT NULL,
	progress TEXT NOT NULL, error TEXT NOT NULL, result BLOB
) WITHOUT ROWID;
CREATE INDEX task_expires ON task(expires);
CREATE INDEX task_owner ON task(owner, state);`

// callers adds who has begun a task over MCP; empty for others.
const callers = `ALTER TABLE task ADD COLUMN caller TEXT NOT NULL DEFAULT '';`

var _ api.Tasks = (*Keeper)(nil)

// Beginning is what a task begins with.
type Beginning struct {
	Kind, What string
	// Caller is who begins it over MCP; empty for others.
	Caller string
	Wish   api.TaskWish
	// Ended is called once the end is on disk; nil is not. It must not wait for the task.
	Ended func()
}

// Recover marks as lost what a process before this one has left unfinished, and forgets what
// is past its time.
func (k *Keeper) Recover(ctx context.Context) error {
	if !k.exists() {
		return nil
	}
	return k.index(ctx, func(db *sql.DB) error {
		if err := lose(ctx, db, "owner", k.Owner); err != nil {
			return err
		}
		return sweep(ctx, db, time.Now())
	})
}

// lose marks as lost the unfinished tasks whose column, owner or id, has a value.
func lose(ctx context.Context, db *sql.DB, column, value string) error {
	text, err := json.Marshal(lost())
	if err != nil {
		return fault.Internalf("encoding an error: %w", err)
	}
	now := time.Now().UnixMilli()
	_, err = db.ExecContext(ctx, "UPDATE task SET state = ?, ended = ?, expires = ? + ttl, error = ? WHERE "+column+" = ? AND state = ?",
		api.TaskLost, now, now, string(text), value, api.TaskWorking)
	return err
}

// lost is the error of a task that its process did not finish.
func lost() *fault.Error { return fault.Unavailablef("the daemon ended before the task did") }

// bury marks as lost what processes that are gone have left unfinished. Tasks are looked for
// before their owners are: one that is begun meanwhile is not among them.
func (k *Keeper) bury(ctx context.Context, db *sql.DB) error {
	if k.Held == nil {
		return nil
	}
	rows, err := db.QueryContext(ctx, "SELECT id, owner FROM task WHERE state = ? AND owner <> ?", api.TaskWorking, k.Owner)
	if err != nil {
		return err
	}
	defer rows.Close()
	unfinished := map[string][]string{}
	for rows.Next() {
		var id, owner string
		if err := rows.Scan(&id, &owner); err != nil {
			return err
		}
		unfinished[owner] = append(unfinished[owner], id)
	}
	if err := rows.Err(); err != nil {
		return err
	}
	_ = rows.Close() // all are read
	for owner, ids := range unfinished {
		if k.Held(owner) {
			continue
		}
		for _, id := range ids {
			if err := lose(ctx, db, "id", id); err != nil {
				return err
			}
		}
	}
	return nil
}

// sweep forgets the tasks that are past their time.
func sweep(ctx context.Context, db *sql.DB, now time.Time) error {
	_, err := db.ExecContext(ctx, "DELETE FROM task WHERE expires > 0 AND expires <= ?", now.UnixMilli())
	return err
}

// Start begins a task, which goes on after ctx is done. The caller must Close the Keeper.
func (k *Keeper) Start(ctx context.Context, kind, what string, wish api.TaskWish, work Work) (*api.Task, error) {
	return k.Begin(ctx, Beginning{Kind: kind, What: what, Wish: wish}, work)
}

// Begin is Start, for whoever has more to say of the task.
func (k *Keeper) Begin(ctx context.Context, b Beginning, work Work) (*api.Task, error) {
	ttl := settings.TasksTTL.Get(k.Settings)
	if wish := b.Wish; wish.TTL != "" {
		given, err := settings.ParseDuration(wish.TTL)
		if err != nil || given <= 0 {
			return nil, fault.Usagef("task.ttl: %q is no duration", wish.TTL).Hintf("give one such as 10m or 1h")
		}
		ttl = given
	}
	if b.Caller != "" { // who keeps more than the user wants kept is not the user
		ttl = min(ttl, settings.TasksTTL.Get(k.Settings))
	}
	if k.Dir == "" {
		return nil, fault.Unavailablef("there is no state directory to keep tasks in").Hintf("set MCPX_STATE_DIR or HOME")
	}
	t := &api.Task{
		ID: strings.ToLower(rand.Text()), Kind: b.Kind, What: b.What, State: api.TaskWorking,
		Created: time.Now().UTC().Truncate(time.Millisecond), Within: ttl,
	}
	own, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	r := &running{cancel: cancel, done: make(chan struct{})}
	if err := k.admit(t.ID, r); err != nil {
		cancel(nil)
		return nil, err
	}
	err := k.index(ctx, func(db *sql.DB) error {
		if err := sweep(ctx, db, t.Created); err != nil {
			return err
		}
		_, err := db.ExecContext(ctx, "INSERT INTO task (id, owner, caller, kind, what, state, created, ended, expires, ttl, progress, error) VALUES (?, ?, ?, ?, ?, ?, ?, 0, 0, ?, '', '')",
			t.ID, k.Owner, b.Caller, t.Kind, t.What, t.State, t.Created.UnixMilli(), ttl.Milliseconds())
		return err
	})
	if err != nil {
		k.dismiss(t.ID, r)
		return nil, err
	}
	go func() {
		defer k.dismiss(t.ID, r)
		k.work(own, t.ID, r, ttl, work)
		if b.Caller != "" {
			k.trim(t.ID)
		}
		if b.Ended != nil {
			b.Ended()
		}
	}()
	return t, nil
}

// admit counts a task among those that go on.
func (k *Keeper) admit(id string, r *running) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	switch most := settings.TasksMax.Get(k.Settings); {
	case k.closed || k.Owner == "":
		return fault.Unavailablef("no task is begun here: there is no daemon, or it is ending").Hintf("mcpx daemon start starts one")
	case len(k.running) >= most:
		return fault.Limitf("%d tasks are going on, and no more may", len(k.running)).
			Hintf("wait for one (mcpx task result --wait ID), cancel one, or raise tasks.max")
	}
	if k.running == nil {
		k.running = map[string]*running{}
	}
	k.running[id] = r
	k.working.Add(1)
	return nil
}

func (k *Keeper) dismiss(id string, r *running) {
	r.cancel(nil)
	k.mu.Lock()
	delete(k.running, id)
	k.mu.Unlock()
	close(r.done)
	k.working.Done()
}

// work does a task and writes down what came of it.
func (k *Keeper) work(ctx context.Context, id string, r *running, ttl time.Duration, work Work) {
	result, failed, err := work(ctx, func(p api.Progress) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.progress = &p
	})
	state := api.TaskCompleted
	switch cause := context.Cause(ctx); {
	case errors.Is(cause, errCancelled):
		state, err = api.TaskCancelled, fault.Unavailablef("%w", cause).With("state", api.TaskCancelled)
	case errors.Is(cause, errEnding):
		state, err = api.TaskLost, lost()
	case err != nil, failed:
		state = api.TaskFailed
	}
	var text, told []byte
	if result != nil && err == nil {
		if text, err = json.Marshal(result); err != nil {
			state, err = api.TaskFailed, fault.Internalf("a result that is no JSON: %w", err)
		}
	}
	if err != nil {
		told, _ = json.Marshal(fault.From(err)) // without it the state says enough
	}
	r.mu.Lock()
	progress, _ := json.Marshal(r.progress)
	r.mu.Unlock()
	now := time.Now()
	ctx = context.WithoutCancel(ctx)
	// If it cannot be written, the next process finds that it did not end.
	_ = k.index(ctx, func(db *sql.DB) error {
		_, err := db.ExecContext(ctx, "UPDATE task SET state = ?, ended = ?, expires = ?, progress = ?, error = ?, result = ? WHERE id = ?",
			state, now.UnixMilli(), now.Add(ttl).UnixMilli(), string(progress), string(told), text, id)
		return err
	})
}

// trim forgets the tasks begun over MCP that ended first, as far as there are too many or too
// large ones: a client can begin one after the other. It leaves the one that has just ended.
func (k *Keeper) trim(last string) {
	keep, maxBytes := settings.TasksKeep.Get(k.Settings), settings.TasksMaxBytes.Get(k.Settings)
	ctx := context.Background() // the work is over
	// If it cannot be done, it is when the next one ends.
	_ = k.index(ctx, func(db *sql.DB) error {
		_, err := db.ExecContext(ctx, `DELETE FROM task WHERE id <> ? AND id IN (SELECT id FROM (
			SELECT id, row_number() OVER newest AS n, sum(coalesce(length(result), 0)) OVER newest AS size
			FROM task WHERE caller <> '' AND ended > 0 AND owner = ?
			WINDOW newest AS (ORDER BY ended DESC, id = ? DESC, id ROWS UNBOUNDED PRECEDING)
		) WHERE n > ? OR size > ?)`, last, k.Owner, last, keep, maxBytes)
		return err
	})
}

// Busy reports whether a task goes on.
func (k *Keeper) Busy() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return len(k.running) > 0
}

// Close ends what goes on, which is lost, and returns when that has ended. It may be called
// more than once.
func (k *Keeper) Close() {
	k.mu.Lock()
	k.closed = true
	for _, r := range k.running {
		r.cancel(errEnding)
	}
	k.mu.Unlock()
	k.working.Wait()
}

// find is the task of an id that this process works on; nil if it is none.
func (k *Keeper) find(id string) *running {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.running[id]
}

// view is which tasks somebody sees.
type view struct {
	k      *Keeper
	listed string // a condition, with its arguments
	known  string // likewise, of those that it can ask about by their ids
	args   []any  // of either
}

var _ api.Tasks = view{}

// all are the tasks of the Keeper's Owner; without one, all.
func (k *Keeper) all() view {
	const own = "(owner = ? OR ? = '')"
	return view{k, own, own, []any{k.Owner, k.Owner}}
}

// Of answers for the tasks that were begun over MCP: it lists those of one caller. An id,
// which nobody can guess, is known to whoever was told it, and to nobody else; so it is the
// key to a task, whoever has begun it, in whichever process. A caller that was lost, or never
// had a name, finds its task again with it.
func (k *Keeper) Of(caller string) api.Tasks {
	return view{k, "caller <> '' AND caller = ?", "caller <> '' AND ? <> ''", []any{caller}}
}

// TasksList implements api.Tasks.
func (k *Keeper) TasksList(ctx context.Context, in api.TasksListInput) (*api.TasksListOutput, error) {
	return k.all().TasksList(ctx, in)
}

// TaskGet implements api.Tasks.
func (k *Keeper) TaskGet(ctx context.Context, in api.TaskGetInput) (*api.TaskGetOutput, error) {
	return k.all().TaskGet(ctx, in)
}

// TaskResult implements api.Tasks.
func (k *Keeper) TaskResult(ctx context.Context, in api.TaskResultInput) (*api.TaskResultOutput, error) {
	return k.all().TaskResult(ctx, in)
}

// TaskCancel implements api.Tasks.
func (k *Keeper) TaskCancel(ctx context.Context, in api.TaskCancelInput) (*api.TaskCancelOutput, error) {
	return k.all().TaskCancel(ctx, in)
}

// TasksList implements api.Tasks.
func (v view) TasksList(ctx context.Context, _ api.TasksListInput) (*api.TasksListOutput, error) {
	k := v.k
	out := &api.TasksListOutput{Tasks: []api.Task{}}
	if !k.exists() {
		return out, nil
	}
	err := k.index(ctx, func(db *sql.DB) error {
		if err := k.bury(ctx, db); err != nil {
			return err
		}
		rows, err := db.QueryContext(ctx, query+" AND "+v.listed+" ORDER BY created DESC, id", append([]any{time.Now().UnixMilli()}, v.args...)...)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			t, err := k.scan(rows)
			if err != nil {
				return err
			}
			out.Tasks = append(out.Tasks, *t)
		}
		return rows.Err()
	})
	return out, err
}

// TaskGet implements api.Tasks.
func (v view) TaskGet(ctx context.Context, in api.TaskGetInput) (*api.TaskGetOutput, error) {
	t, err := v.get(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	return &api.TaskGetOutput{Task: *t}, nil
}

// TaskResult implements api.Tasks.
func (v view) TaskResult(ctx context.Context, in api.TaskResultInput) (*api.TaskResultOutput, error) {
	k := v.k
	t, err := v.get(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	if r := k.find(in.ID); r != nil && in.Wait {
		select {
		case <-r.done:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
		if t, err = v.get(ctx, in.ID); err != nil {
			return nil, err
		}
	} else if t.State == api.TaskWorking {
		t, err = v.get(ctx, in.ID) // it may have ended between the two looks
		if err != nil {
			return nil, err
		}
	}
	out := &api.TaskResultOutput{Task: *t}
	if t.State == api.TaskWorking && in.Wait {
		return nil, fault.Unavailablef("the task %s has not ended yet, and goes on in another daemon", t.ID).
			Hintf("ask again later, or with the configuration with which it was begun")
	}
	if t.State == api.TaskWorking {
		return nil, fault.Unavailablef("the task %s has not ended yet", t.ID).Hintf("--wait waits for it; mcpx task get says how far it is")
	}
	if t.Error != nil {
		return nil, t.Error
	}
	err = k.index(ctx, func(db *sql.DB) error {
		return db.QueryRowContext(ctx, "SELECT coalesce(result, 'null') FROM task WHERE id = ?", t.ID).Scan((*[]byte)(&out.Result))
	})
	if errors.Is(err, sql.ErrNoRows) {
		return nil, none(in.ID) // it has gone at this moment
	}
	return out, err
}

// TaskCancel implements api.Tasks.
func (v view) TaskCancel(ctx context.Context, in api.TaskCancelInput) (*api.TaskCancelOutput, error) {
	k := v.k
	if _, err := v.get(ctx, in.ID); err != nil {
		return nil, err
	}
	if r := k.find(in.ID); r != nil {
		r.cancel(errCancelled)
		select {
		case <-r.done:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
	t, err := v.get(ctx, in.ID)
	switch {
	case err != nil:
		return nil, err
	case t.State == api.TaskWorking:
		return nil, fault.Unavailablef("the task %s is not this process's: the daemon that began it ends it", t.ID)
	case t.State != api.TaskCancelled:
		return nil, fault.Usagef("the task %s has ended: it is %s", t.ID, t.State)
	}
	return &api.TaskCancelOutput{Task: *t}, nil
}

const query = "SELECT id, kind, what, state, created, ended, expires, ttl, progress, error FROM task WHERE (expires = 0 OR expires > ?)"

func (v view) get(ctx context.Context, id string) (*api.Task, error) {
	k := v.k
	if !k.exists() {
		return nil, none(id)
	}
	var t *api.Task
	err := k.index(ctx, func(db *sql.DB) error {
		err := k.bury(ctx, db)
		if err != nil {
			return err
		}
		args := append([]any{time.Now().UnixMilli()}, v.args...)
		t, err = k.scan(db.QueryRowContext(ctx, query+" AND "+v.known+" AND id = ?", append(args, id)...))
		return err
	})
	if errors.Is(err, sql.ErrNoRows) {
		return nil, none(id)
	}
	return t, err
}

func none(id string) error {
	return fault.NotFoundf("there is no task %q", id).Hintf("mcpx task list shows them; those that have ended are kept as long as tasks.ttl says")
}

func (k *Keeper) scan(row interface{ Scan(to ...any) error }) (*api.Task, error) {
	t := &api.Task{}
	var created, ended, expires, ttl int64
	var progress, failure string
	if err := row.Scan(&t.ID, &t.Kind, &t.What, &t.State, &created, &ended, &expires, &ttl, &progress, &failure); err != nil {
		return nil, err
	}
	t.Created, t.Within = time.UnixMilli(created).UTC(), time.Duration(ttl)*time.Millisecond
	if ended != 0 {
		t.Ended = new(time.UnixMilli(ended).UTC())
	}
	if expires != 0 {
		t.Expires = new(time.UnixMilli(expires).UTC())
	}
	if r := k.find(t.ID); r != nil {
		r.mu.Lock()
		t.Progress = r.progress
		r.mu.Unlock()
	} else if progress != "" {
		_ = json.Unmarshal([]byte(progress), &t.Progress) // it is a hint
	}
	if failure != "" {
		e := &fault.Error{}
		if err := json.Unmarshal([]byte(failure), e); err != nil {
			e = fault.Internalf("an error that cannot be read: %w", err)
		}
		t.Error = e
	}
	return t, nil
}

// exists reports whether there ever was a task.
func (k *Keeper) exists() bool {
	if k.Dir == "" {
		return false
	}
	_, err := os.Stat(filepath.Join(k.Dir, indexFile))
	return err == nil
}

// index has f use the index.
func (k *Keeper) index(ctx context.Context, f func(db *sql.DB) error) error {
	return store.UseDatabase(ctx, filepath.Join(k.Dir, indexFile), f, schema, callers)
}
