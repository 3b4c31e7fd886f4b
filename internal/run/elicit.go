package run

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync"

	"mcpx/internal/api"
	"mcpx/internal/fault"
	"mcpx/internal/schema"
	"mcpx/mcp"
	"mcpx/stdlib/elicit"
)

// respondent is the handler that a script has given to onElicit, as its broker sees it.
// The worker fetches each question with a request that waits, and answers it with another:
// nothing here waits for a worker without an end of its own.
type respondent struct {
	mu      sync.Mutex
	on      bool
	last    int64
	waiting []*question               // that the worker has not fetched
	fetched map[int64]*question       // that it has, and not answered
	more    chan struct{}             // has room for one: something waits
	calls   map[string]map[string]int // that are under way, by server and tool
}

// question is one that a server asks. Whoever asked takes it back when it ends.
type question struct {
	id   int64
	text []byte
	done chan reply // has room for the one answer
}

// reply is what became of a question. Without an action and an error there is none.
type reply struct {
	action  string
	content json.RawMessage
	err     string // what went wrong in the handler
}

func newRespondent() *respondent {
	return &respondent{fetched: map[int64]*question{}, more: make(chan struct{}, 1), calls: map[string]map[string]int{}}
}

// listening reports whether the script has a handler.
func (r *respondent) listening() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.on
}

// do answers what the worker asks; ok is false for what is not about questions.
func (r *respondent) do(ctx context.Context, op string, head json.RawMessage, body []byte) (answer, text []byte, ok bool, err error) {
	switch op {
	case "elicit.listen":
		var in elicit.Listen
		if err = decode(head, &in); err == nil {
			r.listen(in.On)
		}
		return nil, nil, true, err
	case "elicit.next":
		answer, text, err = r.next(ctx)
		return answer, text, true, err
	case "elicit.answer":
		var in elicit.Answer
		if err = decode(head, &in); err == nil {
			r.answer(in, body)
		}
		return nil, nil, true, err
	}
	return nil, nil, false, nil
}

// listen notes whether there is a handler. Questions that nobody has fetched have no
// answer if there is none any more.
func (r *respondent) listen(on bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.on = on
	if !on {
		for _, q := range r.waiting {
			q.done <- reply{}
		}
		r.waiting = nil
	}
}

// next waits for a question.
func (r *respondent) next(ctx context.Context) (head, text []byte, err error) {
	for {
		r.mu.Lock()
		if len(r.waiting) > 0 {
			q := r.waiting[0]
			r.waiting = r.waiting[1:]
			r.fetched[q.id] = q
			r.signal()
			r.mu.Unlock()
			head, err = json.Marshal(elicit.Next{ID: q.id})
			return head, q.text, err
		}
		r.mu.Unlock()
		select {
		case <-r.more:
		case <-ctx.Done():
			return nil, nil, context.Cause(ctx)
		}
	}
}

// signal wakes one who waits, if there is something to wake them for.
func (r *respondent) signal() {
	if len(r.waiting) == 0 {
		return
	}
	select {
	case r.more <- struct{}{}:
	default:
	}
}

// answer takes what the script says. A question that is over needs none.
func (r *respondent) answer(in elicit.Answer, content []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if q := r.fetched[in.ID]; q != nil {
		delete(r.fetched, in.ID)
		q.done <- reply{in.Action, content, in.Error}
	}
}

// ask puts a question to the script and waits for what it says.
func (r *respondent) ask(ctx context.Context, text []byte) (reply, error) {
	q := &question{text: text, done: make(chan reply, 1)}
	r.mu.Lock()
	if !r.on {
		r.mu.Unlock()
		return reply{}, nil
	}
	r.last++
	q.id = r.last
	r.waiting = append(r.waiting, q)
	r.signal()
	r.mu.Unlock()
	select {
	case a := <-q.done:
		return a, nil
	case <-ctx.Done():
		r.mu.Lock()
		defer r.mu.Unlock()
		delete(r.fetched, q.id)
		r.waiting = slices.DeleteFunc(r.waiting, func(other *question) bool { return other == q })
		return reply{}, context.Cause(ctx)
	}
}

// maxQuestion is how long a question may be that a script is asked. One that is longer is
// no form, and goes on to whoever else there is.
const maxQuestion = 1 << 20

// form is a question of a server that a script may be asked; ok is false if it is none.
// Addresses to open and secrets are for a person, and so is what only wants a yes.
func form(method string, params json.RawMessage) (message string, wants json.RawMessage, ok bool) {
	var q struct {
		Mode    string          `json:"mode"`
		Message string          `json:"message"`
		URL     json.RawMessage `json:"url"`
		Schema  json.RawMessage `json:"requestedSchema"`
	}
	if method != mcp.MethodElicitation || len(params) > maxQuestion || json.Unmarshal(params, &q) != nil {
		return "", nil, false
	}
	if cmp.Or(q.Mode, "form") != "form" || q.URL != nil || schema.WantsSecret(q.Schema) {
		return "", nil, false
	}
	fields := 0
	only := ""
	for _, of := range mcp.Members(mcp.Member(q.Schema, "properties")) {
		fields++
		_ = json.Unmarshal(mcp.Member(of, "type"), &only) // else it is no boolean
	}
	return q.Message, q.Schema, fields > 1 || fields == 1 && only != "boolean"
}

// respond asks the script. The answer is nil if it has none; refused says that it declined,
// which a person may yet think better of.
func (a *asker) respond(ctx context.Context, method string, params json.RawMessage) (answer json.RawMessage, refused bool, err error) {
	if !a.script.listening() {
		return nil, false, nil
	}
	message, wants, ok := form(method, params)
	if !ok {
		return nil, false, nil
	}
	text, err := json.Marshal(struct {
		Server  string          `json:"server"`
		Tool    string          `json:"tool,omitempty"`
		Message string          `json:"message"`
		Schema  json.RawMessage `json:"schema"`
	}{a.server, a.script.asking(a.server), message, wants})
	if err != nil {
		return nil, false, nil //nolint:nilerr // a schema that is no JSON is no form
	}
	said, err := a.script.ask(ctx, text)
	wrong := func(format string, args ...any) *fault.Error {
		return fault.Usagef("the handler of onElicit has no answer for %s: "+format, append([]any{a.server}, args...)...).With("server", a.server)
	}
	switch {
	case err != nil:
		return nil, false, err
	case said.err != "":
		e := wrong("%s", said.err)
		return nil, false, e.Hintf("the server was given no answer; a handler that has none returns undefined")
	}
	switch said.action {
	case "":
		return nil, false, nil
	case "decline":
		return nil, true, nil
	case "cancel":
		return json.RawMessage(`{"action":"cancel"}`), false, nil
	case "accept":
		if err := fits(wants, said.content); err != nil {
			return nil, false, wrong("%w", err).Hintf("the question's schema says which fields it has; the server was given no answer")
		}
		return slices.Concat([]byte(`{"action":"accept","content":`), said.content, []byte("}")), false, nil
	}
	return nil, false, wrong("it said %q", said.action).Hintf("the actions are accept, decline and cancel")
}

// fits checks the content of an answer. A form has the fields that it lists, and no others.
func fits(wants, content json.RawMessage) error {
	if !json.Valid(content) || !strings.HasPrefix(string(content), "{") {
		return fault.Usagef("the content is no object")
	}
	var fields []string
	for name := range mcp.Members(mcp.Member(wants, "properties")) {
		fields = append(fields, name)
	}
	for name := range mcp.Members(content) {
		if !slices.Contains(fields, name) {
			return fault.Usagef("there is no field %q; there is %s", name, strings.Join(fields, ", "))
		}
	}
	if err := schema.Validate(wants, content); err != nil {
		return errors.New(fault.From(err).Message)
	}
	return nil
}

// begin notes that the script calls a tool. end notes that the call is over.
func (r *respondent) begin(server, tool string) (end func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.calls[server] == nil {
		r.calls[server] = map[string]int{}
	}
	r.calls[server][tool]++
	return func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		if r.calls[server][tool]--; r.calls[server][tool] == 0 {
			delete(r.calls[server], tool)
		}
	}
}

// asking is the tool of a server that asks; empty if calls of several are under way.
func (r *respondent) asking(server string) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.calls[server]) != 1 {
		return ""
	}
	for tool := range r.calls[server] {
		return tool
	}
	return ""
}

// suggest tells a script whose call failed for want of an answer how to give one, if it may.
func (b *broker) suggest(err error) error {
	e, ok := errors.AsType[*fault.Error](err)
	if !ok || e.Kind != fault.InputRequired || b.script.listening() {
		return err
	}
	requests, encodeErr := json.Marshal(e.Details["inputRequests"])
	if encodeErr != nil {
		return err
	}
	for q := range mcp.Elements(requests) {
		var method string
		if json.Unmarshal(mcp.Member(q, "method"), &method) != nil {
			continue
		}
		if _, _, asked := form(method, mcp.Member(q, "params")); asked {
			told := *e
			told.Hint = strings.TrimPrefix(told.Hint+"; a script can answer by itself, with onElicit", "; ")
			return &told
		}
	}
	return err
}

// reachable is the peer of a call; nil if nobody can be told or asked.
func (b *broker) reachable() api.Peer {
	if a, ok := b.peer.(*asker); ok && a.peer == nil && !a.script.listening() {
		return nil
	}
	return b.peer
}
