package serve

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"mcpx/internal/api"
	"mcpx/internal/settings"
	"mcpx/internal/task"
	"mcpx/mcp"
	"mcpx/mcp/mcptest"
)

// taking is what a modern client declares that takes tasks.
const taking = `{"elicitation":{"form":{}},"extensions":{"io.modelcontextprotocol/tasks":{}}}`

// keep makes a keeper of tasks with settings, as flags have them.
func keep(t *testing.T, flags ...string) *task.Keeper {
	t.Helper()
	set := &settings.Set{}
	for i := 0; i < len(flags); i += 2 {
		if err := set.ApplyFlag(flags[i], flags[i+1]); err != nil {
			t.Fatal(err)
		}
	}
	k := &task.Keeper{Dir: filepath.Join(t.TempDir(), "tasks"), Owner: "here", Settings: set}
	t.Cleanup(k.Close)
	return k
}

// scripts is a Runner of a few scripts: ends, fails, asks, progresses, and anything else goes
// on until it is ended.
func scripts(ended chan<- string) runs {
	return func(ctx context.Context, in api.ExecInput, s api.Streams) (*api.ExecOutput, error) {
		switch in.Code {
		case "ends":
			return &api.ExecOutput{Value: json.RawMessage(`"done"`), Artifacts: []api.Artifact{}}, nil
		case "fails":
			return &api.ExecOutput{ExitCode: 3, Stdout: "so far"}, nil
		case "asks":
			answer, err := s.Peer.Ask(ctx, mcp.MethodElicitation, json.RawMessage(`{"message":"Your name?","requestedSchema":{"type":"object","properties":{}}}`))
			if err != nil {
				return nil, err
			}
			return &api.ExecOutput{Value: answer}, nil
		}
		if s.Progress != nil {
			s.Progress(api.Progress{Done: 1, Message: "begun"})
		}
		<-ctx.Done()
		if ended != nil {
			ended <- in.Code
		}
		return nil, ctx.Err()
	}
}

// member is a member of an object, or of those in it, as text.
func member(raw mcp.Raw, path ...string) string {
	for _, key := range path {
		raw = mcp.Member(raw, key)
	}
	var s string
	if json.Unmarshal(raw, &s) == nil && len(raw) > 0 && raw[0] == '"' {
		return s
	}
	return string(raw)
}

// stands asks how a task stands until it is in a state.
func (w *wire) stands(id, status string) mcp.Raw {
	w.t.Helper()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
		m := w.once("tasks/get", `{"taskId":"`+id+`"}`, "")
		if m.Error != nil {
			w.t.Fatalf("tasks/get: %v", m.Error)
		}
		if member(m.Result, "status") == status {
			return m.Result
		}
		if time.Now().After(deadline) {
			w.t.Fatalf("it stands %s, want %s", m.Result, status)
		}
	}
}

// began is the id of the task that a call was answered with.
func (w *wire) began(m *mcp.Message) string {
	w.t.Helper()
	id := member(m.Result, "task", "taskId") + member(m.Result, "taskId") + member(m.Result, "structuredContent", "task", "id")
	if m.Error != nil || len(id) < 26 {
		w.t.Fatalf("no task began: %s", m.Encode())
	}
	return id
}

func execParams(code, more string) string {
	return fmt.Sprintf(`{"name":"mcpx_exec","arguments":{"code":%q}%s}`, code, more)
}

// TestTasksAreDeclaredWhereTheyAreTaken holds what is declared of tasks, by revision and mode.
func TestTasksAreDeclaredWhereTheyAreTaken(t *testing.T) {
	t.Parallel()
	g := open(t, entry("s", mcptest.Script{}))
	for _, tt := range []struct {
		mode  string
		tasks Tasks
	}{{Code, keep(t)}, {Code, nil}, {Full, keep(t)}, {Passthrough, keep(t)}} {
		h := offer(t, Options{Mode: tt.mode, Gateway: g, Longest: time.Minute, Tasks: tt.tasks})
		for _, revision := range mcp.LegacyRevisions() {
			c := caller{era: mcp.Legacy, revision: revision}
			has := tt.mode == Code && tt.tasks != nil && revision == mcp.Revision20251125
			want := ""
			if has {
				want = `{"cancel":{},"list":{},"requests":{"tools":{"call":{}}}}`
			}
			if got := member(mcp.Raw(must(t, h, c, "initialize", `{"protocolVersion":"`+revision+`","capabilities":{}}`)), "capabilities", "tasks"); got != want {
				t.Errorf("%s with %v in %s declares tasks %s, want %s", tt.mode, tt.tasks != nil, revision, got, want)
			}
			list := must(t, h, c, "tools/list", "")
			if n := strings.Count(list, `"execution":{"taskSupport":"optional"}`); has && n != 2 || !has && n != 0 {
				t.Errorf("%s in %s: %d tools can be tasks: %s", tt.mode, revision, n, list)
			}
			for _, method := range []string{"tasks/get", "tasks/list", "tasks/result", "tasks/cancel"} {
				_, err := ask(t, h, c, method, `{"taskId":"x"}`)
				if is := err != nil && strings.Contains(err.Error(), "method not found"); is == has {
					t.Errorf("%s in %s: %s: %v", tt.mode, revision, method, err)
				}
			}
		}
		// Where no tasks are declared, the wish for one is passed over.
		if tool := map[string]string{Full: "s__echo", Passthrough: "echo"}[tt.mode]; tool != "" {
			if got := must(t, h, legacy, "tools/call", `{"name":"`+tool+`","arguments":{"message":"hi"},"task":{"ttl":1000}}`); !strings.Contains(got, `"text":"hi"`) {
				t.Errorf("%s: %s", tt.mode, got)
			}
		}
		discovered := must(t, h, modernOne, "server/discover", "")
		if got := member(mcp.Raw(discovered), "capabilities", "extensions"); (got != "") != (tt.mode == Code && tt.tasks != nil) {
			t.Errorf("%s with %v: %s", tt.mode, tt.tasks != nil, discovered)
		}
		if list := must(t, h, modernOne, "tools/list", ""); strings.Contains(list, "taskSupport") || strings.Contains(list, "mcpx_task_") != (tt.mode == Code && tt.tasks != nil) {
			t.Errorf("%s: %s", tt.mode, list)
		}
		for _, method := range []string{"tasks/list", "tasks/result"} { // the extension has none
			if _, err := ask(t, h, modernOne, method, `{"taskId":"x"}`); err == nil || !strings.Contains(err.Error(), "method not found") {
				t.Errorf("%s: %s: %v", tt.mode, method, err)
			}
		}
	}
}

func TestACallIsATask(t *testing.T) {
	t.Parallel()
	g := open(t, entry("s", mcptest.Script{}))
	k := keep(t)
	w := dial(t, offer(t, Options{Mode: Code, Gateway: g, Longest: time.Minute, Tasks: k}), false, declared)
	m := w.once("tools/call", `{"name":"mcpx_call","arguments":{"server":"s","tool":"echo","arguments":{"message":"hi"}},"task":{"ttl":60000}}`, "")
	id := w.began(m)
	if got := member(m.Result, "task", "ttl"); got != "60000" || member(m.Result, "task", "createdAt") == "" || member(m.Result, "content") != "" {
		t.Errorf("it began as %s", m.Result)
	}
	got := w.once("tasks/result", `{"taskId":"`+id+`"}`, "")
	if !strings.Contains(string(got.Result), `"text":"hi"`) || member(got.Result, "_meta", mcp.MetaRelatedTask, "taskId") != id {
		t.Errorf("its result is %s", got.Encode())
	}
	w.await(`notifications/tasks/status {"createdAt"`)
	if s := w.stands(id, "completed"); member(s, "pollInterval") != "1000" {
		t.Errorf("it stands %s", s)
	}
	if list := w.once("tasks/list", `{}`, ""); member(mcp.Member(list.Result, "tasks"), "x") != "" || !strings.Contains(string(list.Result), id) {
		t.Errorf("listed: %s", list.Encode())
	}
	// A result is as a call that is no task would have it.
	odd := w.began(w.once("tools/call", `{"name":"mcpx_call","arguments":{"server":"s","tool":"result","arguments":{"value":{"content":[{"type":"text","text":"x","_meta":null}],"structuredContent":[1]}}},"task":{}}`, ""))
	if got := string(w.once("tasks/result", `{"taskId":"`+odd+`"}`, "").Result); !strings.Contains(got, `"content":[{"type":"text","text":"x"}]`) || strings.Contains(got, "structuredContent") {
		t.Errorf("an odd result is %s", got)
	}
	// What is kept is what every other caller of mcpx would read.
	out, err := k.TaskResult(t.Context(), api.TaskResultInput{ID: id})
	if err != nil || out.Kind != "call" || out.What != "s.echo" || member(out.Result, "text") != "hi" {
		t.Errorf("kept: %+v, %v", out, err)
	}
}

func TestACallerSeesOnlyItsOwnTasks(t *testing.T) {
	t.Parallel()
	k := keep(t)
	h := offer(t, Options{Mode: Code, Gateway: open(t), Longest: time.Minute, Tasks: k, Runner: scripts(nil)})
	one, other := dial(t, h, false, "{}"), dial(t, h, false, "{}")
	id := one.began(one.once("tools/call", execParams("ends", `,"task":{}`), ""))
	foreign, err := k.Start(t.Context(), "call", "a.b", api.TaskWish{}, func(context.Context, func(api.Progress)) (any, bool, error) {
		return map[string]int{}, false, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for w, has := range map[*wire]bool{one: true, other: false} {
		for _, list := range []*mcp.Message{w.once("tasks/list", `{}`, ""), w.once("tools/call", `{"name":"mcpx_task_list","arguments":{}}`, "")} {
			if strings.Contains(string(list.Result), id) != has || strings.Contains(string(list.Result), foreign.ID) {
				t.Errorf("listed: %s", list.Encode())
			}
		}
		// What was begun otherwise than over MCP is not there, even for who knows its id.
		for _, id := range []string{foreign.ID, "x", id[:25], ""} {
			for _, method := range []string{"tasks/get", "tasks/result", "tasks/cancel"} {
				if m := w.once(method, `{"taskId":"`+id+`"}`, ""); m.Error == nil || m.Error.Code != mcp.CodeInvalidParams {
					t.Errorf("%s of %q: %s", method, id, m.Encode())
				}
			}
		}
		for _, tool := range []string{"mcpx_task_get", "mcpx_task_result", "mcpx_task_cancel"} {
			if m := w.once("tools/call", `{"name":"`+tool+`","arguments":{"id":"`+foreign.ID+`"}}`, ""); member(m.Result, "isError") != "true" || !strings.Contains(string(m.Result), "there is no task") {
				t.Errorf("%s: %s", tool, m.Encode())
			}
		}
	}
	// Who knows an id has been told it: a client that lost its connection finds its task.
	if m := other.once("tasks/result", `{"taskId":"`+id+`"}`, ""); !strings.Contains(string(m.Result), "done") {
		t.Errorf("by its id: %s", m.Encode())
	}
	// So does one of the next program that serves.
	next := &task.Keeper{Dir: k.Dir, Owner: "next", Settings: k.Settings}
	again := dial(t, offer(t, Options{Mode: Code, Gateway: open(t), Longest: time.Minute, Tasks: next}), true, "")
	again.caps = taking
	if s := again.stands(id, "completed"); !strings.Contains(member(s, "result"), "done") {
		t.Errorf("later: %s", s)
	}
}

func TestATaskIsCancelled(t *testing.T) {
	t.Parallel()
	for _, modern := range []bool{false, true} {
		ended := make(chan string, 8)
		h := offer(t, Options{Mode: Code, Gateway: open(t), Longest: time.Minute, Tasks: keep(t), Runner: scripts(ended), TaskAfter: time.Millisecond})
		w := dial(t, h, modern, "{}")
		w.caps = taking
		m := w.once("tools/call", execParams("goes on", map[bool]string{false: `,"task":{}`}[modern]), "")
		id := w.began(m)
		var asked []*mcp.Message
		for deadline := time.Now().Add(time.Minute); !strings.Contains(member(w.stands(id, "working"), "statusMessage"), "begun"); time.Sleep(time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatal("it makes no progress")
			}
		}
		waited := make(chan *mcp.Message, 1)
		if !modern {
			w.await("notifications/progress")
			go func() { waited <- w.once("tasks/result", `{"taskId":"`+id+`"}`, "") }()
		}
		asked = append(asked, w.once("tasks/cancel", `{"taskId":"`+id+`"}`, ""))
		if got := <-ended; got != "goes on" {
			t.Errorf("%q has ended", got)
		}
		w.stands(id, "cancelled")
		again := w.once("tasks/cancel", `{"taskId":"`+id+`"}`, "")
		if modern {
			for _, m := range append(asked, again) { // an acknowledgement, in any case
				if member(m.Result, "resultType") != "complete" || member(m.Result, "taskId") != "" {
					t.Errorf("cancelling: %s", m.Encode())
				}
			}
			continue
		}
		if got := asked[0]; member(got.Result, "status") != "cancelled" {
			t.Errorf("cancelling: %s", got.Encode())
		}
		if again.Error == nil || again.Error.Code != mcp.CodeInvalidParams {
			t.Errorf("cancelling once more: %s", again.Encode())
		}
		if m := <-waited; m.Error == nil || !strings.Contains(m.Error.Message, "cancelled") {
			t.Errorf("its result: %s", m.Encode())
		}
	}
}

func TestATaskThatFails(t *testing.T) {
	t.Parallel()
	g := open(t, entry("s", mcptest.Script{}))
	h := offer(t, Options{Mode: Code, Gateway: g, Longest: time.Minute, Tasks: keep(t), Runner: scripts(nil), TaskAfter: time.Nanosecond})
	legacy, modern := dial(t, h, false, "{}"), dial(t, h, true, "")
	modern.caps = taking
	for name, tt := range map[string]struct{ call, want string }{
		"a script":             {`"name":"mcpx_exec","arguments":{"code":"fails"}`, "so far"},
		"a tool that is none":  {`"name":"mcpx_call","arguments":{"server":"s","tool":"nope"}`, "nope"},
		"a tool that says so":  {`"name":"mcpx_call","arguments":{"server":"s","tool":"fail","arguments":{"message":"oh"}}`, ""},
		"a server that is not": {`"name":"mcpx_call","arguments":{"server":"nope","tool":"x"}`, "nope"},
	} {
		plain := legacy.once("tools/call", `{`+tt.call+`}`, "")
		if member(plain.Result, "isError") != "true" || !strings.Contains(string(plain.Result), tt.want) {
			t.Errorf("%s: called at once: %s", name, plain.Encode())
			continue
		}
		id := legacy.began(legacy.once("tools/call", `{`+tt.call+`,"task":{}}`, ""))
		legacy.stands(id, "failed")
		got := legacy.once("tasks/result", `{"taskId":"`+id+`"}`, "")
		if member(got.Result, "isError") != "true" || member(got.Result, "content") != member(plain.Result, "content") {
			t.Errorf("%s: the result of the task is %s, of the call %s", name, got.Encode(), plain.Encode())
		}
		// In the modern era what a tool says of its failure is a result like another.
		if s := modern.stands(id, "completed"); member(s, "result", "isError") != "true" || member(s, "result", "content") != member(plain.Result, "content") || member(s, "result", "resultType") != "complete" {
			t.Errorf("%s: %s", name, s)
		}
	}
	// What is wrong with the call itself is its answer: no task begins.
	for _, params := range []string{`"name":"mcpx_exec","arguments":{"code":""}`, `"name":"mcpx_exec","arguments":{"cod":"1"}`, `"name":"nope"`} {
		if got := legacy.once("tools/call", `{`+params+`,"task":{}}`, ""); member(got.Result, "task") != "" {
			t.Errorf("%s: %s", params, got.Encode())
		}
	}
}

func TestATaskAsks(t *testing.T) {
	t.Parallel()
	for _, params := range []string{
		execParams("asks", ""),
		`{"name":"mcpx_call","arguments":{"server":"s","tool":"ask","arguments":{"method":"elicitation/create","count":1,"params":{"message":"Your name?","requestedSchema":{"type":"object","properties":{}}}}}}`,
	} {
		g := open(t, entry("s", mcptest.Script{}))
		k := keep(t)
		h := offer(t, Options{Mode: Code, Gateway: g, Longest: time.Minute, Tasks: k, Runner: scripts(nil)})
		w := dial(t, h, false, declared)
		id := w.began(w.once("tools/call", strings.TrimSuffix(params, "}")+`,"task":{}}`, ""))
		w.stands(id, "input_required")
		w.await(`"status":"input_required"`)
		if asked := w.questions(); len(asked) != 0 {
			t.Errorf("nobody waits for it, and %q was asked", asked)
		}
		// Who waits for the end is asked, on that request.
		got := w.once("tasks/result", `{"taskId":"`+id+`"}`, "")
		asked := w.questions()
		if !strings.Contains(string(got.Result), "Ada") || len(asked) != 1 || !strings.Contains(asked[0], `"io.modelcontextprotocol/related-task":{"taskId":"`+id+`"}`) {
			t.Errorf("%s after %q", got.Encode(), asked)
		}
		// Who declares nothing is not asked.
		mute := dial(t, h, false, "{}")
		id = mute.began(mute.once("tools/call", strings.TrimSuffix(params, "}")+`,"task":{}}`, ""))
		if got := mute.once("tasks/result", `{"taskId":"`+id+`"}`, ""); member(got.Result, "isError") != "true" || len(mute.questions()) != 0 {
			t.Errorf("%s after %q", got.Encode(), mute.questions())
		}
		// With the tools of mcpx it goes the same way, in both eras.
		for _, modern := range []bool{false, true} {
			w := dial(t, h, modern, declared)
			m := w.once("tools/call", strings.Replace(params, `"arguments":{`, `"arguments":{"task":{"ttl":"1h"},`, 1), "")
			id := w.began(m)
			if got := w.ask("tools/call", `{"name":"mcpx_task_result","arguments":{"id":"`+id+`","wait":true}}`); !strings.Contains(string(got.Result), "Ada") || len(w.questions()) != 1 {
				t.Errorf("modern %v: %s after %q", modern, got.Encode(), w.questions())
			}
		}
	}
}

// TestAClientThatLeavesDoesNotTakeTheQuestionWithIt holds that the next who waits is asked.
func TestAClientThatLeavesDoesNotTakeTheQuestionWithIt(t *testing.T) {
	t.Parallel()
	h := offer(t, Options{Mode: Code, Gateway: open(t), Longest: time.Minute, Tasks: keep(t), Runner: scripts(nil)})
	w := dial(t, h, false, declared)
	id := w.began(w.once("tools/call", execParams("asks", `,"task":{}`), ""))
	silent := dial(t, h, true, "") // a modern client is asked by the result of its request
	got := silent.once("tools/call", `{"name":"mcpx_task_result","arguments":{"id":"`+id+`","wait":true}}`, "")
	if member(got.Result, "resultType") != "input_required" {
		t.Fatalf("it is not asked: %s", got.Encode())
	}
	silent.in.Close()
	if got := w.once("tasks/result", `{"taskId":"`+id+`"}`, ""); !strings.Contains(string(got.Result), "Ada") {
		t.Errorf("%s after %q", got.Encode(), w.questions())
	}
}

func TestAModernCallBecomesATaskWhenItTakesLong(t *testing.T) {
	t.Parallel()
	quick := dial(t, offer(t, Options{Mode: Code, Gateway: open(t), Longest: time.Minute, Tasks: keep(t), Runner: scripts(nil), TaskAfter: time.Minute}), true, "")
	quick.caps = taking
	if m := quick.once("tools/call", execParams("ends", ""), ""); !strings.Contains(member(m.Result, "content"), "done") || member(m.Result, "resultType") != "complete" {
		t.Errorf("a quick one: %s", m.Encode())
	}
	h := offer(t, Options{Mode: Code, Gateway: open(t), Longest: time.Minute, Tasks: keep(t), Runner: scripts(nil), TaskAfter: 100 * time.Millisecond})
	w := dial(t, h, true, "")
	w.caps = taking
	m := w.once("tools/call", execParams("goes on", ""), "")
	id := w.began(m)
	if member(m.Result, "resultType") != "task" || member(m.Result, "status") != "working" || member(m.Result, "ttlMs") != "86400000" || member(m.Result, "task") != "" {
		t.Errorf("it began as %s", m.Result)
	}
	// Without the extension nothing of tasks is there.
	plain := dial(t, h, true, "")
	for _, method := range []string{"tasks/get", "tasks/update", "tasks/cancel", "subscriptions/listen"} {
		m := plain.once(method, `{"taskId":"`+id+`","inputResponses":{},"notifications":{"taskIds":["`+id+`"]}}`, "")
		if m.Error == nil || m.Error.Code != mcp.CodeMissingCapability || !strings.Contains(string(m.Error.Data), mcp.ExtensionTasks) {
			t.Errorf("%s: %s", method, m.Encode())
		}
	}
	w.stands(id, "working") // what was refused has not ended it
	answered := make(chan *mcp.Message, 1)
	go func() { answered <- plain.once("tools/call", execParams("goes on", ""), "") }()
	select {
	case m := <-answered:
		t.Errorf("it takes no tasks, and was answered %s", m.Encode())
	case <-time.After(500 * time.Millisecond):
	}
	plain.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":5}}`)
	for _, method := range []string{"tasks/get", "tasks/update", "tasks/cancel"} {
		if m := w.once(method, `{"taskId":"x","inputResponses":{}}`, ""); m.Error == nil || m.Error.Code != mcp.CodeInvalidParams {
			t.Errorf("%s of none: %s", method, m.Encode())
		}
	}
}

func TestAModernTaskAsks(t *testing.T) {
	t.Parallel()
	const after = time.Second
	goOn := make(chan struct{})
	h := offer(t, Options{Mode: Code, Gateway: open(t), Longest: time.Minute, Tasks: keep(t), TaskAfter: after, Runner: runs(func(ctx context.Context, _ api.ExecInput, s api.Streams) (*api.ExecOutput, error) {
		var got []string
		for i := range 2 {
			if i == 1 {
				select { // by then it is a task
				case <-goOn:
				case <-ctx.Done():
					return nil, ctx.Err()
				}
			}
			answer, err := s.Peer.Ask(ctx, mcp.MethodElicitation, json.RawMessage(`{"message":"Your name?","requestedSchema":{}}`))
			if err != nil {
				return nil, err
			}
			got = append(got, string(answer))
		}
		return &api.ExecOutput{Value: json.RawMessage(`[` + strings.Join(got, ",") + `]`)}, nil
	})})
	w := dial(t, h, true, "")
	w.caps = taking
	// The first question belongs to the call, which is no task while it waits for the answer.
	first := w.once("tools/call", execParams("x", ""), "")
	if member(first.Result, "resultType") != "input_required" {
		t.Fatalf("it does not ask: %s", first.Encode())
	}
	time.Sleep(after + after/2) // longer than a call may take of which nothing is asked
	m := w.once("tools/call", execParams("x", ""), `"requestState":`+string(mcp.Member(first.Result, "requestState"))+`,"inputResponses":{"question-1":{"action":"accept","content":{"n":1}}},`)
	id := w.began(m)
	close(goOn)
	listening := make(chan *mcp.Message, 1)
	go func() {
		listening <- w.once("subscriptions/listen", `{"notifications":{"taskIds":["`+id+`","none"]}}`, "")
	}()
	if got := w.await("notifications/subscriptions/acknowledged"); !strings.Contains(got, `"notifications":{"taskIds":["`+id+`"]}`) {
		t.Errorf("acknowledged: %s", got)
	}
	s := w.stands(id, "input_required")
	if member(s, "inputRequests", "question-1", "method") != mcp.MethodElicitation || !strings.Contains(member(s, "inputRequests"), "Your name?") {
		t.Errorf("it asks %s", s)
	}
	for _, responses := range []string{`{}`, `{"question-7":{"action":"accept"}}`, `{"question-1":"rubbish"}`} {
		if m := w.once("tasks/update", `{"taskId":"`+id+`","inputResponses":`+responses+`}`, ""); member(m.Result, "resultType") != "complete" {
			t.Errorf("%s: %s", responses, m.Encode())
		}
	}
	w.stands(id, "input_required") // nothing of that was an answer
	w.once("tasks/update", `{"taskId":"`+id+`","inputResponses":{"question-1":{"action":"accept","content":{"n":2}}}}`, "")
	s = w.stands(id, "completed")
	if !strings.Contains(member(s, "result", "content"), `{\"n\":1}`) || !strings.Contains(member(s, "result", "content"), `{\"n\":2}`) {
		t.Errorf("it was answered %s", s)
	}
	// Who listens was told the same.
	told := w.await(`"status":"completed"`)
	if !strings.HasPrefix(told, mcp.NotificationTask+" ") || !strings.Contains(told, `\"n\":2`) || !strings.Contains(told, mcp.MetaSubscriptionID) {
		t.Errorf("told %s", told)
	}
	w.await(`"status":"input_required"`)
	if len(listening) != 0 {
		t.Errorf("nobody is listened to any more: %s", (<-listening).Encode())
	}
}

func TestTasksAreRefused(t *testing.T) {
	t.Parallel()
	g := open(t, entry("s", mcptest.Script{}))
	h := offer(t, Options{Mode: Code, Gateway: g, Longest: time.Minute, Tasks: keep(t, "tasks-max", "1", "tasks-ttl", "1h"), Runner: scripts(nil), TaskAfter: time.Millisecond})
	w := dial(t, h, false, "{}")
	for _, wish := range []string{`{"ttl":0}`, `{"ttl":-1}`, `{"ttl":"1h"}`, `{"ttl":1e300}`, `true`, `[]`} {
		if m := w.once("tools/call", execParams("ends", `,"task":`+wish), ""); m.Error == nil || m.Error.Code != mcp.CodeInvalidParams || !strings.Contains(m.Error.Message, "milliseconds") {
			t.Errorf("task %s: %s", wish, m.Encode())
		}
	}
	if m := w.once("tools/call", `{"name":"mcpx_search","arguments":{"words":"x"},"task":{}}`, ""); m.Error == nil || m.Error.Code != mcp.CodeMethodNotFound {
		t.Errorf("a tool that is no task: %s", m.Encode())
	}
	if m := w.once("tools/call", execParams("ends", ""), ""); !strings.Contains(string(m.Result), "done") || member(m.Result, "task") != "" {
		t.Errorf("without asking for one: %s", m.Encode())
	}
	// Nobody keeps anything longer than the settings say.
	m := w.once("tools/call", execParams("goes on", `,"task":{"ttl":7200000}`), "")
	if id := w.began(m); id == "" || member(m.Result, "task", "ttl") != "3600000" {
		t.Errorf("it began as %s", m.Result)
	}
	if m := w.once("tools/call", execParams("ends", `,"task":{}`), ""); m.Error == nil || !strings.Contains(m.Error.Message, "1 tasks are going on") {
		t.Errorf("one too many: %s", m.Encode())
	}
	if m := w.once("tools/call", `{"name":"mcpx_exec","arguments":{"code":"ends","task":{}}}`, ""); member(m.Result, "isError") != "true" || !strings.Contains(string(m.Result), "1 tasks are going on") {
		t.Errorf("one too many: %s", m.Encode())
	}
	// A modern client that cannot be given a task is answered as others are.
	modern := dial(t, h, true, "")
	modern.caps = taking
	slow := `{"name":"mcpx_call","arguments":{"server":"s","tool":"slow","arguments":{"ms":300}}}`
	if m := modern.once("tools/call", slow, ""); member(m.Result, "resultType") != "complete" || m.Error != nil {
		t.Errorf("with no room for a task: %s", m.Encode())
	}
	if m := w.once("tools/call", `{"name":"mcpx_exec","arguments":{"code":"ends","task":{"ttl":"soon"}}}`, ""); member(m.Result, "isError") != "true" || !strings.Contains(string(m.Result), "is no duration") {
		t.Errorf("a ttl that is none: %s", m.Encode())
	}
	without := dial(t, offer(t, Options{Mode: Code, Gateway: g, Longest: time.Minute, Runner: scripts(nil)}), false, "{}")
	if m := without.once("tools/call", execParams("ends", `,"task":{}`), ""); !strings.Contains(string(m.Result), "done") {
		t.Errorf("where there are none, asking for one is nothing: %s", m.Encode())
	}
	if m := without.once("tools/call", `{"name":"mcpx_exec","arguments":{"code":"ends","task":{}}}`, ""); member(m.Result, "isError") != "true" || !strings.Contains(string(m.Result), "no tasks are kept here") {
		t.Errorf("by the arguments: %s", m.Encode())
	}
}

func TestOlderRevisionsPassOverTheWishForATask(t *testing.T) {
	t.Parallel()
	h := offer(t, Options{Mode: Code, Gateway: open(t), Longest: time.Minute, Tasks: keep(t), Runner: scripts(nil)})
	for _, revision := range mcp.LegacyRevisions()[1:] {
		c := caller{era: mcp.Legacy, revision: revision}
		if got := must(t, h, c, "tools/call", execParams("ends", `,"task":{"ttl":1000}`)); !strings.Contains(got, "done") || strings.Contains(got, "taskId") {
			t.Errorf("%s: %s", revision, got)
		}
	}
}

func TestATaskIsForgottenAfterItsTime(t *testing.T) {
	t.Parallel()
	h := offer(t, Options{Mode: Code, Gateway: open(t), Longest: time.Minute, Tasks: keep(t), Runner: scripts(nil)})
	w := dial(t, h, false, "{}")
	id := w.began(w.once("tools/call", execParams("ends", `,"task":{"ttl":200}`), ""))
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		m := w.once("tasks/get", `{"taskId":"`+id+`"}`, "")
		if m.Error != nil {
			if m.Error.Code != mcp.CodeInvalidParams || !strings.Contains(m.Error.Message, "expired") {
				t.Errorf("after its time: %s", m.Encode())
			}
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("it is still there: %s", m.Encode())
		}
	}
	if list := w.once("tasks/list", `{}`, ""); member(list.Result, "tasks") != "[]" {
		t.Errorf("listed: %s", list.Encode())
	}
}

func TestManyTasksAreListedByPages(t *testing.T) {
	t.Parallel()
	h := offer(t, Options{Mode: Code, Gateway: open(t), Longest: time.Minute, Tasks: keep(t, "tasks-max", "1000"), Runner: scripts(nil)})
	w := dial(t, h, false, "{}")
	want := map[string]bool{}
	for range taskPage + 20 {
		want[w.began(w.once("tools/call", execParams("ends", `,"task":{}`), ""))] = true
	}
	var pages []int
	params := `{}`
	for params != "" {
		m := w.once("tasks/list", params, "")
		var page struct {
			Tasks      []struct{ TaskID string }
			NextCursor string
		}
		if err := json.Unmarshal(m.Result, &page); err != nil {
			t.Fatalf("%v: %s", err, m.Encode())
		}
		for _, task := range page.Tasks {
			if !want[task.TaskID] {
				t.Errorf("%s is listed twice, or was never begun", task.TaskID)
			}
			delete(want, task.TaskID)
		}
		pages, params = append(pages, len(page.Tasks)), ""
		if page.NextCursor != "" {
			params = `{"cursor":"` + page.NextCursor + `"}`
		}
	}
	if !slices.Equal(pages, []int{taskPage, 20}) || len(want) != 0 {
		t.Errorf("pages of %d, and %d are missing", pages, len(want))
	}
	if m := w.once("tasks/list", `{"cursor":"x"}`, ""); m.Error == nil || m.Error.Code != mcp.CodeInvalidParams {
		t.Errorf("a cursor that is none: %s", m.Encode())
	}
}

func TestTheToolsOfTasks(t *testing.T) {
	t.Parallel()
	ended := make(chan string, 1)
	h := offer(t, Options{Mode: Code, Gateway: open(t), Longest: time.Minute, Tasks: keep(t), Runner: scripts(ended)})
	for _, modern := range []bool{false, true} {
		w := dial(t, h, modern, "{}")
		tool := func(name, arguments string) *mcp.Message {
			return w.once("tools/call", `{"name":"`+name+`","arguments":`+arguments+`}`, "")
		}
		if m := tool("mcpx_task_list", `{}`); !strings.Contains(string(m.Result), "no task was begun") {
			t.Errorf("before: %s", m.Encode())
		}
		m := tool("mcpx_exec", `{"code":"goes on","task":{}}`)
		id := w.began(m)
		defer func() {
			if told := w.heard(); slices.ContainsFunc(told, func(s string) bool { return strings.HasPrefix(s, mcp.NotificationProgress) }) {
				t.Errorf("modern %v: told of progress behind the answer: %q", modern, told)
			}
		}()
		if text := member(m.Result, "content"); !strings.Contains(text, id) || !strings.Contains(text, "mcpx_task_result") {
			t.Errorf("it began as %s", m.Result)
		}
		for deadline := time.Now().Add(time.Minute); !strings.Contains(member(tool("mcpx_task_get", `{"id":"`+id+`"}`).Result, "content"), "exec exec: working, begun"); {
			if time.Now().After(deadline) {
				t.Fatalf("it stands %s", tool("mcpx_task_get", `{"id":"`+id+`"}`).Encode())
			}
		}
		if m := tool("mcpx_task_list", `{}`); !strings.Contains(member(m.Result, "structuredContent", "tasks"), id) {
			t.Errorf("listed: %s", m.Encode())
		}
		if m := tool("mcpx_task_result", `{"id":"`+id+`"}`); member(m.Result, "isError") != "true" || !strings.Contains(string(m.Result), "with wait it is waited for") {
			t.Errorf("its result: %s", m.Encode())
		}
		if m := tool("mcpx_task_cancel", `{"id":"`+id+`"}`); !strings.Contains(string(m.Result), "cancelled "+id) || <-ended != "goes on" {
			t.Errorf("cancelling: %s", m.Encode())
		}
		if m := tool("mcpx_task_result", `{"id":"`+id+`","wait":true}`); member(m.Result, "isError") != "true" {
			t.Errorf("its result: %s", m.Encode())
		}
		id = w.began(tool("mcpx_exec", `{"code":"ends","task":{"ttl":"1h"}}`))
		if m := tool("mcpx_task_result", `{"id":"`+id+`","wait":true}`); !strings.Contains(member(m.Result, "content"), "done") || member(m.Result, "isError") != "" {
			t.Errorf("its result: %s", m.Encode())
		}
		for name, arguments := range map[string]string{"mcpx_task_get": `{}`, "mcpx_task_result": `{"id":" "}`, "mcpx_task_cancel": `{"task":"x"}`, "mcpx_task_list": `{"all":true}`} {
			if m := tool(name, arguments); member(m.Result, "isError") != "true" || !strings.Contains(string(m.Result), name) {
				t.Errorf("%s %s: %s", name, arguments, m.Encode())
			}
		}
	}
}

// declaring is a client that declares something.
type declaring struct {
	caller
	text string
}

func (d declaring) Capabilities() mcp.Raw { return mcp.Raw(d.text) }

func TestServersHearNothingOfTasks(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ declares, heard string }{
		{`{"elicitation":{"form":{}},"tasks":{"list":{}},"x":1}`, `{"elicitation":{"form":{}},"x":1}`},
		{`{"extensions":{"io.modelcontextprotocol/tasks":{},"a/b":{"c":1}}}`, `{"extensions":{"a/b":{"c":1}}}`},
		{`{"extensions":{"a/b":{}}}`, `{"extensions":{"a/b":{}}}`},
		{`{}`, `{}`},
	} {
		if got := string(peer{c: declaring{modernOne, tt.declares}}.Capabilities()); got != tt.heard {
			t.Errorf("of %s servers hear %s, want %s", tt.declares, got, tt.heard)
		}
	}
}
