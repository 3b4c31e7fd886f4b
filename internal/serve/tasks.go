package serve

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"mcpx/internal/api"
	"mcpx/internal/fault"
	"mcpx/internal/task"
	"mcpx/mcp"
	"mcpx/mcp/server"
)

// Tasks keeps calls that go on without whoever made them. It is a *task.Keeper.
type Tasks interface {
	Begin(ctx context.Context, b task.Beginning, work task.Work) (*api.Task, error)
	Of(caller string) api.Tasks
}

const (
	// pollInterval is how often a client is told to ask, in milliseconds.
	pollInterval = 1000
	// moment is how the protocol writes times.
	moment = "2006-01-02T15:04:05.000Z07:00"
	// taskPage is how many tasks are on one page of a list.
	taskPage = 100
)

// job is a call that is understood, and may go on as a task.
type job struct {
	kind, what string        // of the task
	wish       *api.TaskWish // the arguments say that it is to be one
	do         func(ctx context.Context, call *server.Call) (*outcome, error)
}

// outcome is what came of a job.
type outcome struct {
	output any     // what is kept of it: that of the operation, with the answer
	answer mcp.Raw // as the result of the tool
	failed bool
}

// desk holds what is known here of tasks that go on, besides what is kept of them: who
// began them, and what they ask.
type desk struct {
	keep  Tasks
	after time.Duration // how long a client that takes tasks waits for an answer

	mu       sync.Mutex
	errands  map[string]*errand
	watchers map[*watcher]bool
}

// watcher is told when one of some tasks stands otherwise.
type watcher struct {
	ids []string
	say func(method string, params mcp.Raw)
}

func newDesk(keep Tasks, after time.Duration) *desk {
	return &desk{keep: keep, after: after, errands: map[string]*errand{}, watchers: map[*watcher]bool{}}
}

// callerOf is the name under which the tasks of a client are kept.
func callerOf(c server.Caller) string {
	if cl := c.Client(); cl != nil {
		return "mcp " + cl.ID()
	}
	return "mcp"
}

// of answers for the tasks that a client may know of.
func (d *desk) of(c server.Caller) api.Tasks { return d.keep.Of(callerOf(c)) }

// find is the errand of a task that goes on here; nil if it is none.
func (d *desk) find(id string) *errand {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.errands[id]
}

// errand is the caller of a call that is a task, or may become one: who made the call, until
// it is one, and then whoever asks for it.
type errand struct {
	server.Caller
	desk  *desk
	token mcp.Raw       // for progress once it is a task; nil if none is told then
	begun chan struct{} // closed when there is an id

	mu      sync.Mutex
	id      string
	away    bool          // nobody waits for the answer of the call
	back    chan struct{} // closed when somebody waits again: no task could be begun
	asking  int           // questions put to who waits for the answer
	note    func(api.Progress)
	far     *api.Progress // what was told last
	done    float64       // the most that was
	updated time.Time
	last    int
	open    []*inquiry
	moved   chan struct{} // closed when the questions have changed
}

// inquiry is a question of a task.
type inquiry struct {
	ctx    context.Context // done when nobody wants the answer any more
	key    string
	method string
	params mcp.Raw
	put    bool      // somebody is being asked it
	reply  chan said // has room for one
}

type said struct {
	result mcp.Raw
	err    error
}

func (d *desk) errand(call *server.Call) *errand {
	var token mcp.Raw
	if call.Revision() == mcp.Revision20251125 && mcp.Member(call.Params, "task") != nil {
		token = mcp.Member(mcp.Member(call.Params, "_meta"), "progressToken") // elsewhere it ends with the answer
	}
	return &errand{
		Caller: call.Caller, desk: d, token: token,
		begun: make(chan struct{}), back: make(chan struct{}), moved: make(chan struct{}), updated: time.Now(), note: func(api.Progress) {},
	}
}

// of is the call as the errand makes it.
func (e *errand) of(call *server.Call) *server.Call {
	return &server.Call{Caller: e, Name: call.Name, Arguments: call.Arguments, Params: call.Params}
}

// begin makes a task of an errand, which is away from then on.
func (d *desk) begin(ctx context.Context, e *errand, j *job, wish api.TaskWish, do func(ctx context.Context) (*outcome, error)) (*api.Task, error) {
	e.mu.Lock()
	e.away = true
	e.mu.Unlock()
	t, err := d.keep.Begin(ctx, task.Beginning{
		Kind: j.kind, What: j.what, Caller: callerOf(e), Wish: wish, Ended: func() { d.ended(e) },
	}, func(ctx context.Context, progress func(api.Progress)) (any, bool, error) {
		<-e.begun
		e.mu.Lock()
		e.note = progress
		far := e.far
		e.mu.Unlock()
		if far != nil {
			progress(*far)
		}
		o, err := do(ctx)
		if err != nil {
			return nil, false, err
		}
		return o.output, o.failed, nil
	})
	e.mu.Lock()
	defer e.mu.Unlock()
	if err != nil {
		e.away = false
		close(e.back)
		return nil, err
	}
	e.id, e.updated = t.ID, t.Created
	d.mu.Lock()
	d.errands[t.ID] = e
	d.mu.Unlock()
	close(e.begun)
	return t, nil
}

// wait has a job done and waits for the answer, for so long as its client would rather have
// that than a task. Then it is one; out is nil.
func (d *desk) wait(ctx context.Context, call *server.Call, j *job) (*outcome, *api.Task, error) {
	e := d.errand(call)
	own, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	var out *outcome
	var err error
	over := make(chan struct{})
	go func() {
		defer close(over)
		out, err = j.do(own, e.of(call))
	}()
	soon := time.NewTimer(d.after)
	defer soon.Stop()
	for {
		select {
		case <-over:
			cancel(nil)
			return out, nil, err
		case <-ctx.Done():
			cancel(context.Cause(ctx))
			<-over
			return nil, nil, context.Cause(ctx)
		case <-soon.C:
		}
		if !e.free() {
			soon.Reset(d.after) // a question is being asked as part of the call
			continue
		}
		t, failed := d.begin(ctx, e, j, api.TaskWish{}, func(ctx context.Context) (*outcome, error) {
			defer cancel(nil)
			select {
			case <-over:
			case <-ctx.Done():
				cancel(context.Cause(ctx))
				<-over
			}
			return out, err
		})
		if failed == nil {
			return nil, t, nil
		}
		// No more tasks may be begun: then the client waits as others do.
	}
}

// free reports whether no question is being put to who waits for the call. If so there will
// be none: from then on who asks for the task is asked.
func (e *errand) free() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.asking > 0 {
		return false
	}
	e.away = true
	return true
}

// Logs implements server.Caller: the log of its tools is nothing that a task tells.
func (e *errand) Logs(level string) bool { return !e.isAway() && e.Caller.Logs(level) }

func (e *errand) isAway() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.away
}

// Notify implements server.Caller.
func (e *errand) Notify(ctx context.Context, method string, params mcp.Raw) error {
	if e.isAway() {
		return nil
	}
	return e.Caller.Notify(ctx, method, params)
}

// Tell implements server.Caller. What is known of a task is its progress.
func (e *errand) Tell(method string, params mcp.Raw) {
	away := e.isAway()
	if !away {
		e.Caller.Tell(method, params)
	}
	var p struct {
		Progress *float64
		Total    *float64
		Message  string
	}
	if method != mcp.NotificationProgress || json.Unmarshal(params, &p) != nil || p.Progress == nil {
		return
	}
	e.mu.Lock()
	grows := e.far == nil || *p.Progress > e.done
	if grows {
		e.done = *p.Progress
	}
	e.far, e.updated = &api.Progress{Done: *p.Progress, Total: p.Total, Message: p.Message}, time.Now()
	note, id, far := e.note, e.id, *e.far
	e.mu.Unlock()
	note(far)
	if !away || !grows || e.token == nil || id == "" {
		return
	}
	if with, err := mcp.SetMember(related(params, id), "progressToken", e.token); err == nil {
		e.tell(mcp.NotificationProgress, with)
	}
}

// tell tells who has begun the task, on its connection.
func (e *errand) tell(method string, params mcp.Raw) {
	if cl := e.Client(); cl != nil {
		cl.Tell(method, params)
	}
}

// Request implements server.Caller: it asks who waits for the answer of the call, or leaves
// the question for who asks for the task.
func (e *errand) Request(ctx context.Context, method string, params mcp.Raw) (mcp.Raw, error) {
	e.mu.Lock()
	if !e.away {
		e.asking++
		e.mu.Unlock()
		defer func() {
			e.mu.Lock()
			defer e.mu.Unlock()
			e.asking--
		}()
		return e.Caller.Request(ctx, method, params)
	}
	e.last++
	q := &inquiry{ctx: ctx, key: fmt.Sprintf("question-%d", e.last), method: method, params: params, reply: make(chan said, 1)}
	e.open = append(e.open, q)
	e.stir()
	e.mu.Unlock()
	e.changed()
	defer func() {
		e.mu.Lock()
		e.open = slices.DeleteFunc(e.open, func(o *inquiry) bool { return o == q })
		e.stir()
		e.mu.Unlock()
		e.changed()
	}()
	select {
	case a := <-q.reply:
		return a.result, a.err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	case <-e.back:
		return e.Caller.Request(ctx, method, params)
	}
}

// stir wakes who waits for questions. The caller holds mu.
func (e *errand) stir() {
	e.updated = time.Now()
	close(e.moved)
	e.moved = make(chan struct{})
}

// changed tells of how the task stands now.
func (e *errand) changed() {
	e.mu.Lock()
	id := e.id
	e.mu.Unlock()
	if id != "" {
		e.desk.changed(e, id)
	}
}

// requests are the questions that nobody has answered, by their keys; nil if there are none.
func (e *errand) requests() map[string]any {
	e.mu.Lock()
	defer e.mu.Unlock()
	if len(e.open) == 0 {
		return nil
	}
	out := map[string]any{}
	for _, q := range e.open {
		request := map[string]any{"method": q.method}
		if q.params != nil {
			request["params"] = q.params
		}
		out[q.key] = request
	}
	return out
}

// reply gives a question its answer, if it waits for one.
func (e *errand) reply(key string, a said) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, q := range e.open {
		if q.key == key {
			select {
			case q.reply <- a:
			default: // it has one
			}
		}
	}
}

// next is a question that nobody is being asked, and what is closed when there may be one.
func (e *errand) next() (*inquiry, <-chan struct{}) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, q := range e.open {
		if !q.put {
			q.put = true
			return q, nil
		}
	}
	return nil, e.moved
}

// attend puts the questions of the task to a client that waits for its end, until ctx is
// done.
func (e *errand) attend(ctx context.Context, c server.Caller) {
	var asking sync.WaitGroup
	defer asking.Wait()
	for {
		q, moved := e.next()
		if q == nil {
			select {
			case <-moved:
				continue
			case <-ctx.Done():
				return
			}
		}
		asking.Go(func() {
			until, cancel := context.WithCancel(ctx)
			defer cancel()
			defer context.AfterFunc(q.ctx, cancel)()
			result, err := c.Request(until, q.method, e.relate(c, q.params))
			if ctx.Err() != nil {
				e.mu.Lock()
				defer e.mu.Unlock()
				q.put = false // the next one who waits is asked
				e.stir()
				return
			}
			e.reply(q.key, said{result, err})
		})
	}
}

// relate says which task a question belongs to, where the protocol has a place for it.
func (e *errand) relate(c server.Caller, params mcp.Raw) mcp.Raw {
	if c.Revision() != mcp.Revision20251125 {
		return params
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	return related(params, e.id)
}

// related adds to parameters, or a result, which task it belongs to.
func related(object mcp.Raw, id string) mcp.Raw {
	if len(object) == 0 {
		object = mcp.Raw("{}")
	}
	meta := mcp.Member(object, "_meta")
	if !bytes.HasPrefix(meta, []byte("{")) {
		meta = mcp.Raw("{}")
	}
	meta, err := mcp.SetMember(meta, mcp.MetaRelatedTask, encode(map[string]string{"taskId": id}))
	if err == nil {
		var with mcp.Raw
		if with, err = mcp.SetMember(object, "_meta", meta); err == nil {
			return with
		}
	}
	return object // it is no object: then it says nothing of itself
}

// ended forgets an errand whose end is kept, and tells of it.
func (d *desk) ended(e *errand) {
	e.mu.Lock()
	id := e.id
	e.mu.Unlock()
	d.mu.Lock()
	delete(d.errands, id)
	d.mu.Unlock()
	d.changed(e, id)
}

// changed tells those who want to know how a task stands: who has begun it, and who listens.
func (d *desk) changed(e *errand, id string) {
	d.mu.Lock()
	var say []func(string, mcp.Raw)
	for w := range d.watchers {
		if slices.Contains(w.ids, id) {
			say = append(say, w.say)
		}
	}
	d.mu.Unlock()
	legacy := e.Revision() == mcp.Revision20251125
	if len(say) == 0 && !legacy {
		return
	}
	ctx := context.Background() // nobody's request
	t, err := d.of(e).TaskGet(ctx, api.TaskGetInput{ID: id})
	if err != nil {
		return // whoever asks is told
	}
	if legacy {
		e.tell(mcp.NotificationTaskStatus, encode(d.object(&t.Task, mcp.Legacy)))
	}
	if len(say) > 0 {
		if o, err := d.detailed(ctx, d.of(e), &t.Task); err == nil {
			for _, s := range say {
				s(mcp.NotificationTask, encode(o))
			}
		}
	}
}

// status is how a task stands in the words of an era, and what there is to say of it.
func (d *desk) status(t *api.Task, era mcp.Era) (status, message string) {
	switch t.State {
	case api.TaskCompleted:
		return "completed", ""
	case api.TaskCancelled:
		return "cancelled", "somebody has cancelled it"
	case api.TaskLost:
		return "failed", told(fault.ReportOf(t.Error)).Text()
	case api.TaskFailed:
		message = "the tool answered with an error"
		if t.Error != nil {
			message = told(fault.ReportOf(t.Error)).Text()
		}
		if era == mcp.Modern {
			return "completed", message // failed is for errors of the protocol there
		}
		return "failed", message
	}
	if e := d.find(t.ID); e != nil && e.requests() != nil {
		return "input_required", "a question waits for its answer"
	}
	if p := t.Progress; p != nil {
		message = p.Message
		if message == "" && p.Total != nil {
			message = fmt.Sprintf("%g of %g", p.Done, *p.Total)
		}
	}
	return "working", message
}

// object is a task as an era has it.
func (d *desk) object(t *api.Task, era mcp.Era) map[string]any {
	status, message := d.status(t, era)
	updated := t.Created
	if e := d.find(t.ID); e != nil {
		e.mu.Lock()
		updated = e.updated
		e.mu.Unlock()
	}
	ttl := t.Within // from its end on: until then it is kept all the longer
	if t.Ended != nil {
		updated = *t.Ended
		if t.Expires != nil {
			ttl = t.Expires.Sub(t.Created)
		}
	}
	o := map[string]any{
		"taskId": t.ID, "status": status,
		"createdAt": t.Created.UTC().Format(moment), "lastUpdatedAt": updated.UTC().Format(moment),
	}
	if message != "" {
		o["statusMessage"] = message
	}
	if era == mcp.Modern {
		o["ttlMs"], o["pollIntervalMs"] = ttl.Milliseconds(), pollInterval
	} else {
		o["ttl"], o["pollInterval"] = ttl.Milliseconds(), pollInterval
	}
	return o
}

// detailed is a task as the modern era has it, with what it asks or what came of it.
func (d *desk) detailed(ctx context.Context, tasks api.Tasks, t *api.Task) (map[string]any, error) {
	o := d.object(t, mcp.Modern)
	switch o["status"] {
	case "input_required":
		if e := d.find(t.ID); e != nil {
			o["inputRequests"] = e.requests()
		}
	case "completed":
		answer, err := answerOf(ctx, tasks, api.TaskResultInput{ID: t.ID})
		if err != nil {
			return nil, err
		}
		if mcp.Member(answer, "resultType") == nil {
			if answer, err = mcp.SetMember(answer, "resultType", encode(mcp.ResultComplete)); err != nil {
				return nil, err
			}
		}
		o["result"] = answer
	case "failed":
		o["error"] = &mcp.Error{Code: mcp.CodeInternalError, Message: o["statusMessage"].(string)}
	}
	return o, nil
}

// answerOf is what the call would have been answered with that a task is. The error is that
// there is no answer: the task has not ended, was lost or was cancelled.
func answerOf(ctx context.Context, tasks api.Tasks, in api.TaskResultInput) (mcp.Raw, error) {
	out, err := tasks.TaskResult(ctx, in)
	if err != nil {
		if t, gone := tasks.TaskGet(ctx, api.TaskGetInput{ID: in.ID}); gone == nil && t.State == api.TaskFailed {
			return server.Failure(told(fault.ReportOf(t.Error)).Text()), nil
		}
		return nil, err
	}
	member := "result" // of a call
	if out.Kind == kindExec {
		member = "answer"
	}
	answer := mcp.Member(out.Result, member)
	if answer == nil {
		return nil, fault.Internalf("what is kept of the task %s is no answer", out.ID)
	}
	return mcp.SoundResult(bytes.Clone(answer)), nil
}

// The kinds of tasks.
const (
	kindCall = "call"
	kindExec = "exec"
)

// result waits for the end of a task and is what the call would have been answered with. The
// questions that come up meanwhile are put to c.
func (d *desk) result(ctx context.Context, c server.Caller, id string) (mcp.Raw, error) {
	attended, leave := context.WithCancel(ctx)
	var attending sync.WaitGroup
	if e := d.find(id); e != nil {
		attending.Go(func() { e.attend(attended, c) })
	}
	answer, err := answerOf(ctx, d.of(c), api.TaskResultInput{ID: id, Wait: true})
	leave()
	attending.Wait()
	return answer, err
}

// served reports whether a method is one of tasks that a revision has.
func served(c server.Caller, method string) bool {
	switch method {
	case mcp.MethodTasksGet, mcp.MethodTasksCancel:
		return c.Era() == mcp.Modern || c.Revision() == mcp.Revision20251125
	case mcp.MethodTasksList, mcp.MethodTasksResult:
		return c.Era() == mcp.Legacy && c.Revision() == mcp.Revision20251125
	case mcp.MethodTasksUpdate:
		return c.Era() == mcp.Modern
	}
	return false
}

// ask answers the requests about tasks.
func (d *desk) ask(ctx context.Context, c server.Caller, m *mcp.Message) (mcp.Raw, error) {
	modern := c.Era() == mcp.Modern
	if modern && !server.TakesTasks(c) {
		return nil, server.NeedsTasks()
	}
	if m.Method == mcp.MethodTasksList {
		return d.list(ctx, c, m)
	}
	var id string
	if json.Unmarshal(mcp.Member(m.Params, "taskId"), &id) != nil || id == "" {
		return nil, mcp.Errorf(mcp.CodeInvalidParams, "%s needs the taskId of a task", m.Method)
	}
	var o map[string]any
	switch m.Method {
	case mcp.MethodTasksResult:
		answer, err := d.result(ctx, c, id)
		if err != nil {
			return nil, wrong(ctx, err)
		}
		return related(mcp.LegacyResult(answer), id), nil
	case mcp.MethodTasksCancel:
		t, err := d.of(c).TaskGet(ctx, api.TaskGetInput{ID: id})
		if err == nil && !modern && t.State != api.TaskWorking {
			return nil, mcp.Errorf(mcp.CodeInvalidParams, "the task %s has ended: it is %s", id, t.State)
		}
		if _, err := d.of(c).TaskCancel(ctx, api.TaskCancelInput{ID: id}); err != nil && (!modern || fault.KindOf(err) != fault.Usage) {
			return nil, wrong(ctx, err) // one that has ended is no error in the modern era
		}
	case mcp.MethodTasksUpdate:
		if _, err := d.of(c).TaskGet(ctx, api.TaskGetInput{ID: id}); err != nil {
			return nil, wrong(ctx, err)
		}
		if e := d.find(id); e != nil {
			for key, answer := range mcp.Members(mcp.Member(m.Params, "inputResponses")) {
				if bytes.HasPrefix(answer, []byte("{")) {
					e.reply(key, said{result: bytes.Clone(answer)})
				}
			}
		}
	}
	if modern && m.Method != mcp.MethodTasksGet {
		return encode(map[string]string{"resultType": mcp.ResultComplete}), nil
	}
	t, err := d.of(c).TaskGet(ctx, api.TaskGetInput{ID: id})
	if err != nil {
		return nil, wrong(ctx, err)
	}
	if !modern {
		return encode(d.object(&t.Task, mcp.Legacy)), nil
	}
	if o, err = d.detailed(ctx, d.of(c), &t.Task); err != nil {
		return nil, wrong(ctx, err)
	}
	o["resultType"] = mcp.ResultComplete
	return encode(o), nil
}

// list lists the tasks that a client has begun, the newest first. The cursor is the id of the
// last one of a page.
func (d *desk) list(ctx context.Context, c server.Caller, m *mcp.Message) (mcp.Raw, error) {
	out, err := d.of(c).TasksList(ctx, api.TasksListInput{})
	if err != nil {
		return nil, wrong(ctx, err)
	}
	rest := out.Tasks
	if cursor := mcp.Member(m.Params, "cursor"); cursor != nil && string(cursor) != "null" {
		var last string
		_ = json.Unmarshal(cursor, &last)
		at := slices.IndexFunc(rest, func(t api.Task) bool { return t.ID == last })
		if at < 0 {
			return nil, mcp.Errorf(mcp.CodeInvalidParams, "invalid cursor: %s", cursor)
		}
		rest = rest[at+1:]
	}
	page := map[string]any{}
	if len(rest) > taskPage {
		rest = rest[:taskPage]
		page["nextCursor"] = rest[taskPage-1].ID
	}
	list := []any{}
	for i := range rest {
		list = append(list, d.object(&rest[i], mcp.Legacy))
	}
	page["tasks"] = list
	return encode(page), nil
}

// wrong is the error of a request about a task.
func wrong(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return err
	}
	text := fault.ReportOf(err).Message
	switch fault.KindOf(err) {
	case fault.NotFound:
		return mcp.Errorf(mcp.CodeInvalidParams, "%s: it has expired, or never was", text)
	case fault.Usage:
		return mcp.Errorf(mcp.CodeInvalidParams, "%s", text)
	}
	return mcp.Errorf(mcp.CodeInternalError, "%s", text)
}

// Listen tells how tasks stand, to who knows their ids.
func (c *code) Listen(ctx context.Context, caller server.Caller, want server.Filter, say func(method string, params mcp.Raw)) (server.Filter, error) {
	var got server.Filter
	if c.desk == nil {
		return got, nil
	}
	d, w := c.desk, &watcher{say: say}
	var now []*api.TaskGetOutput
	for _, id := range want.Tasks {
		t, err := d.of(caller).TaskGet(ctx, api.TaskGetInput{ID: id})
		switch {
		case fault.KindOf(err) == fault.NotFound:
			continue
		case err != nil:
			return got, wrong(ctx, err)
		}
		got.Tasks, now = append(got.Tasks, id), append(now, t)
	}
	if len(got.Tasks) == 0 {
		return got, nil
	}
	w.ids = got.Tasks
	d.mu.Lock()
	d.watchers[w] = true
	d.mu.Unlock()
	context.AfterFunc(ctx, func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		delete(d.watchers, w)
	})
	// What has ended before anybody listened is told as well.
	for _, t := range now {
		if t, err := d.of(caller).TaskGet(ctx, api.TaskGetInput{ID: t.ID}); err == nil {
			if o, err := d.detailed(ctx, d.of(caller), &t.Task); err == nil {
				say(mcp.NotificationTask, encode(o))
			}
		}
	}
	return got, nil
}

// perform answers a call that may be a task: by the arguments, by the parameters as revision
// 2025-11-25 has it, or because its client takes one and it takes long.
func (c *code) perform(ctx context.Context, call *server.Call, j *job) (mcp.Raw, error) {
	asked := mcp.Member(call.Params, "task")
	switch {
	case c.desk == nil && j.wish != nil:
		return nil, answered(fault.Unavailablef("no tasks are kept here").Hintf("set MCPX_STATE_DIR or HOME, and leave task out until then"))
	case c.desk == nil:
	case call.Revision() == mcp.Revision20251125 && asked != nil:
		wish, err := wished(asked)
		if err != nil {
			return nil, err
		}
		t, err := c.begin(ctx, call, j, wish)
		if err != nil {
			return nil, mcp.Errorf(mcp.CodeInternalError, "%s", told(fault.ReportOf(err)).Text())
		}
		return encode(map[string]any{"task": c.desk.object(t, mcp.Legacy)}), nil
	case j.wish != nil:
		t, err := c.begin(ctx, call, j, *j.wish)
		if err != nil {
			return nil, answered(err)
		}
		return result("the task "+t.ID+" goes on by itself: mcpx_task_get says how it stands, mcpx_task_result gives what came of it, mcpx_task_cancel ends it",
			encode(map[string]any{"task": t})), nil
	case server.TakesTasks(call):
		out, t, err := c.desk.wait(ctx, call, j)
		switch {
		case t != nil:
			o := c.desk.object(t, mcp.Modern)
			o["resultType"] = mcp.ResultTask
			return encode(o), nil
		case err != nil:
			return nil, failed(ctx, err)
		}
		return out.answer, nil
	}
	out, err := j.do(ctx, call)
	if err != nil {
		return nil, failed(ctx, err)
	}
	return out.answer, nil
}

// failed is the error of a call.
func failed(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx) // how it ended is no answer
	}
	return answered(err)
}

// begin makes a task of a call at once.
func (c *code) begin(ctx context.Context, call *server.Call, j *job, wish api.TaskWish) (*api.Task, error) {
	e := c.desk.errand(call)
	return c.desk.begin(ctx, e, j, wish, func(ctx context.Context) (*outcome, error) { return j.do(ctx, e.of(call)) })
}

// wished reads the member task of the parameters of a call.
func wished(raw mcp.Raw) (api.TaskWish, error) {
	var in struct{ TTL *float64 }
	bad := mcp.Errorf(mcp.CodeInvalidParams, "task: %s is no object whose ttl is a number of milliseconds", raw)
	switch {
	case !bytes.HasPrefix(raw, []byte("{")), json.Unmarshal(raw, &in) != nil:
		return api.TaskWish{}, bad
	case in.TTL == nil:
		return api.TaskWish{}, nil
	case *in.TTL < 1 || *in.TTL > float64(longestTTL.Milliseconds()):
		bad.Message += fmt.Sprintf(", from 1 to %d", longestTTL.Milliseconds())
		return api.TaskWish{}, bad
	}
	return api.TaskWish{TTL: fmt.Sprintf("%dms", int64(*in.TTL))}, nil
}

// longestTTL is the longest time that can be asked for; the setting tasks.ttl gives less.
const longestTTL = 100 * 365 * 24 * time.Hour

// The tools of mcpx about tasks, for clients that do not have them in their protocol.

func (c *code) taskTools() []tool {
	says := func(text string) func(context.Context) string { return func(context.Context) string { return text } }
	of := func(o *api.Operation, title, text string, call func(context.Context, *server.Call) (mcp.Raw, error)) tool {
		return tool{
			name: o.Tool, title: title, annotations: string(o.ToolAnnotations()), schema: string(o.ToolSchema()),
			description: says(text), call: call,
		}
	}
	return []tool{
		of(api.ListTasks.Operation, "List tasks", "Lists the calls and scripts that were begun with task on this connection and go on, or ended not long ago.", c.listTasks),
		of(api.GetTask.Operation, "Ask how a task stands", "Says how a task stands, and how far it is.", c.getTask),
		of(api.GetTaskResult.Operation, "Get the result of a task", "Answers as the call would have that the task is. With wait it waits for the end, and puts the questions that the task has meanwhile.", c.resultOfTask),
		of(api.CancelTask.Operation, "Cancel a task", "Ends the work of a task.", c.cancelTask),
	}
}

func (c *code) listTasks(ctx context.Context, call *server.Call) (mcp.Raw, error) {
	if _, err := arguments[struct{}](call); err != nil {
		return nil, err
	}
	out, err := c.desk.of(call).TasksList(ctx, api.TasksListInput{})
	if err != nil {
		return nil, answered(err)
	}
	lines := make([]string, 0, len(out.Tasks))
	for i := range out.Tasks {
		lines = append(lines, c.desk.line(&out.Tasks[i]))
	}
	return result(cmp.Or(strings.Join(lines, "\n"), "no task was begun on this connection"), encode(out)), nil
}

// line tells of a task in a line.
func (d *desk) line(t *api.Task) string {
	status, message := d.status(t, mcp.Legacy)
	text := fmt.Sprintf("%s %s %s: %s", t.ID, t.Kind, t.What, strings.ReplaceAll(status, "_", " "))
	if message != "" {
		text += ", " + message
	}
	return text
}

func (c *code) getTask(ctx context.Context, call *server.Call) (mcp.Raw, error) {
	id, err := taskID(call)
	if err != nil {
		return nil, err
	}
	out, err := c.desk.of(call).TaskGet(ctx, api.TaskGetInput{ID: id.ID})
	if err != nil {
		return nil, answered(tooled(err))
	}
	return result(c.desk.line(&out.Task), encode(out)), nil
}

func (c *code) resultOfTask(ctx context.Context, call *server.Call) (mcp.Raw, error) {
	in, err := taskID(call)
	if err != nil {
		return nil, err
	}
	if in.Wait {
		answer, err := c.desk.result(ctx, call, in.ID)
		if err != nil {
			return nil, failed(ctx, tooled(err))
		}
		return answer, nil
	}
	answer, err := answerOf(ctx, c.desk.of(call), api.TaskResultInput{ID: in.ID})
	if err != nil {
		return nil, failed(ctx, tooled(err))
	}
	return answer, nil
}

func (c *code) cancelTask(ctx context.Context, call *server.Call) (mcp.Raw, error) {
	in, err := taskID(call)
	if err != nil {
		return nil, err
	}
	out, err := c.desk.of(call).TaskCancel(ctx, api.TaskCancelInput{ID: in.ID})
	if err != nil {
		return nil, failed(ctx, tooled(err))
	}
	return result("cancelled "+out.ID, encode(out)), nil
}

func taskID(call *server.Call) (api.TaskResultInput, error) {
	type id struct{ ID string }
	var in api.TaskResultInput
	var err error
	if call.Name == api.GetTaskResult.Tool {
		in, err = arguments[api.TaskResultInput](call)
	} else {
		var only id
		only, err = arguments[id](call)
		in.ID = only.ID
	}
	if err == nil && strings.TrimSpace(in.ID) == "" {
		err = fmt.Errorf("%s needs the id of a task", call.Name)
	}
	return in, err
}

// tooled has an error say what a client can do that has no command line.
func tooled(err error) error {
	e, ok := errors.AsType[*fault.Error](err)
	if !ok || e.Hint == "" {
		return err
	}
	told := *e
	told.Details = maps.Clone(e.Details)
	switch e.Kind {
	case fault.NotFound:
		told.Hint = "one that has ended is kept for as long as the ttl says that it was begun with"
	case fault.Unavailable:
		told.Hint = "with wait it is waited for; mcpx_task_get says how it stands"
	}
	return &told
}
