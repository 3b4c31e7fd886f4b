package mcptest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"mcpx/mcp"
)

// server runs one script over one wire.
type server struct {
	Script
	wire    wire
	stderr  io.Writer
	spawned int // process id

	ctx    context.Context
	hangUp context.CancelFunc

	mu      sync.Mutex
	methods []string                      // received, in order
	ended   []string                      // ids that were cancelled
	calls   int                           // taken so far
	running map[string]context.CancelFunc // calls, by the key of their id
	asked   map[string]chan *mcp.Message  // requests to the client
	nextAsk int

	subscriptions []*subscription
}

func newServer(s Script, w wire, stderr io.Writer) *server {
	sv := &server{
		Script: s, wire: w, stderr: stderr,
		running: map[string]context.CancelFunc{},
		asked:   map[string]chan *mcp.Message{},
	}
	sv.ctx, sv.hangUp = context.WithCancel(context.Background())
	return sv
}

// run serves until the client hangs up or the server ends itself. Calls are over
// when it returns.
func (s *server) run() {
	for _, line := range s.Stderr {
		fmt.Fprintln(s.stderr, line)
	}
	if s.Exit != 0 {
		s.end(s.Exit, 0)
		return
	}
	s.noise()

	lines, gone := s.wire.input()
	var calls sync.WaitGroup
	for over := false; !over; {
		select {
		case line, ok := <-lines:
			if over = !ok; !over {
				s.take(line, &calls)
			}
		case <-gone:
			over = true
		case <-s.ctx.Done():
			over = true
		}
	}
	s.hangUp()
	calls.Wait()
}

// end is how a server dies. In memory, the connection ends instead.
func (s *server) end(code int, sig syscall.Signal) {
	s.wire.die(code, sig)
	s.hangUp()
}

func (s *server) noise() {
	for _, line := range s.Noise {
		_ = s.wire.send([]byte(line))
	}
}

func (s *server) take(line []byte, calls *sync.WaitGroup) {
	m, err := mcp.Split(line)
	if err != nil {
		s.send(&mcp.Message{Error: mcp.Errorf(mcp.CodeParseError, "%v", err)})
		return
	}
	if m.Kind() == mcp.Response {
		s.mu.Lock()
		answer := s.asked[mcp.IDKey(m.ID)]
		delete(s.asked, mcp.IDKey(m.ID))
		s.mu.Unlock()
		if answer != nil {
			answer <- m
		}
		return
	}
	s.mu.Lock()
	s.methods = append(s.methods, m.Method)
	s.mu.Unlock()
	if s.Mute {
		return
	}
	if m.Kind() == mcp.Notification {
		if m.Method == mcp.NotificationCancelled {
			s.cancel(mcp.Member(m.Params, "requestId"))
		}
		return
	}
	if m.Method == mcp.MethodListen && s.modern(m) {
		s.listen(m)
		return
	}
	if m.Method != mcp.MethodToolsCall {
		s.answer(m, s.handle(m))
		return
	}
	ctx, cancel := context.WithCancel(s.ctx)
	s.mu.Lock()
	s.running[mcp.IDKey(m.ID)] = cancel
	s.calls++
	crash := s.CrashEvery > 0 && s.calls%s.CrashEvery == 0
	s.mu.Unlock()
	if crash {
		cancel()
		s.end(9, 0)
		return
	}
	calls.Go(func() {
		defer cancel()
		r := s.call(ctx, m)
		s.mu.Lock()
		delete(s.running, mcp.IDKey(m.ID))
		s.mu.Unlock()
		s.answer(m, r)
	})
}

func (s *server) cancel(id mcp.Raw) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.subscriptions = slices.DeleteFunc(s.subscriptions, func(sub *subscription) bool { return mcp.SameID(sub.id, id) })
	s.ended = append(s.ended, string(id))
	if stop := s.running[mcp.IDKey(id)]; stop != nil {
		stop()
	}
}

// answer sends the response to m; nil is silence.
func (s *server) answer(m, r *mcp.Message) {
	if r == nil {
		return
	}
	s.noise()
	r.ID = m.ID
	switch s.IDs {
	case IDsText:
		if m.ID[0] != '"' {
			r.ID = mcp.Raw(strconv.Quote(string(m.ID)))
		}
	case IDsFloat:
		if _, err := strconv.Atoi(string(m.ID)); err == nil {
			r.ID = mcp.Raw(string(m.ID) + ".0")
		}
	case IDsTwice:
		s.send(r)
	case IDsWrong:
		foreign := *r
		foreign.ID = mcp.Raw(`"of somebody else"`)
		s.send(&foreign)
	case IDsAsGiven:
	}
	s.send(r)
}

func (s *server) send(m *mcp.Message) { _ = s.wire.send(m.Encode()) }

// result and failure make responses.
func result(v any) *mcp.Message { return &mcp.Message{Result: encode(v)} }

func failure(code int, format string, args ...any) *mcp.Message {
	return &mcp.Message{Error: mcp.Errorf(code, format, args...)}
}

type object map[string]any

func encode(v any) mcp.Raw {
	b, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("mcptest: %v", err))
	}
	return b
}

// handle answers everything but calls.
func (s *server) handle(m *mcp.Message) *mcp.Message {
	if version := metaVersion(m.Params); version != "" && m.Method != mcp.MethodDiscover {
		if r := s.checkModern(version); r != nil {
			return r
		}
	}
	switch m.Method {
	case mcp.MethodDiscover:
		return s.discover(m)
	case mcp.MethodInitialize:
		return s.initialize(m)
	case mcp.MethodPing, mcp.MethodSetLevel, mcp.MethodSubscribe, mcp.MethodUnsubscribe:
		return result(object{})
	case mcp.MethodToolsList:
		return s.list(m)
	}
	if r := s.scripted(m); r != nil {
		return r
	}
	return failure(mcp.CodeMethodNotFound, "Method not found: %s", m.Method)
}

func metaVersion(params mcp.Raw) string {
	var version string
	_ = json.Unmarshal(mcp.Member(mcp.Member(params, "_meta"), mcp.MetaProtocolVersion), &version)
	return version
}

func (s *server) checkModern(version string) *mcp.Message {
	var supported []string
	switch s.Discover {
	case DiscoverModern:
		supported = mcp.ModernRevisions()
	case DiscoverOther:
		supported = []string{"2099-12-31"}
	default:
		return nil // a legacy server does not look
	}
	if slices.Contains(supported, version) {
		return nil
	}
	r := failure(mcp.CodeUnsupportedVersion, "Unsupported protocol version")
	r.Error.Data = encode(object{"supported": supported, "requested": version})
	return r
}

func (s *server) discover(m *mcp.Message) *mcp.Message {
	switch s.Discover {
	case DiscoverEmpty:
		return result(object{})
	case DiscoverSilent:
		return nil
	case DiscoverFatal:
		s.end(1, 0)
		return nil
	case DiscoverModern, DiscoverOther:
		if r := s.checkModern(metaVersion(m.Params)); r != nil {
			return r
		}
		return result(object{
			"resultType": mcp.ResultComplete, "supportedVersions": mcp.ModernRevisions(),
			"capabilities": s.declared(object{"tools": object{}}), "instructions": s.Instructions,
			"_meta": object{mcp.MetaServerInfo: identity()}, "ttlMs": 0, "cacheScope": "private",
		})
	case DiscoverUnknown:
	}
	return failure(mcp.CodeMethodNotFound, "Method not found: %s", m.Method)
}

// declared is what the script declares, or else what the server can do by itself.
func (s *server) declared(own object) any {
	if s.Capabilities != nil {
		return s.Capabilities
	}
	return own
}

func identity() object { return object{"name": "mcptest", "version": "1.0.0"} }

func (s *server) initialize(m *mcp.Message) *mcp.Message {
	for _, ask := range s.Before {
		s.send(&mcp.Message{ID: ask.ID, Method: ask.Method, Params: ask.Params})
	}
	var asked string
	_ = json.Unmarshal(mcp.Member(m.Params, "protocolVersion"), &asked)
	accepted := s.Revisions
	if accepted == nil {
		accepted = mcp.LegacyRevisions()
	}
	version := asked
	if !slices.Contains(accepted, asked) {
		if s.Strict {
			r := failure(mcp.CodeInvalidParams, "Unsupported protocol version")
			r.Error.Data = encode(object{"supported": accepted, "requested": asked})
			return r
		}
		version = accepted[0]
	}
	if s.Bare {
		return result(object{"protocolVersion": version})
	}
	r := object{
		"protocolVersion": version, "serverInfo": identity(),
		"capabilities": s.declared(object{"tools": object{}, "logging": object{}}),
	}
	if s.Instructions != "" {
		r["instructions"] = s.Instructions
	}
	return result(r)
}

// list answers one page of tools/list. Cursors are indexes.
func (s *server) list(m *mcp.Message) *mcp.Message {
	entries := s.Tools
	if entries == nil {
		entries = builtIn()
	}
	var cursor string
	_ = json.Unmarshal(mcp.Member(m.Params, "cursor"), &cursor)
	from, _ := strconv.Atoi(strings.TrimPrefix(cursor, "page-"))
	if from < 0 || from > len(entries) {
		return failure(mcp.CodeInvalidParams, "Invalid cursor: %s", cursor)
	}
	to := len(entries)
	if s.PageSize > 0 {
		to = min(to, from+s.PageSize)
	}
	r := object{"tools": append([]json.RawMessage{}, entries[from:to]...)}
	switch {
	case to < len(entries):
		r["nextCursor"] = "page-" + strconv.Itoa(to)
	case s.Loop:
		r["nextCursor"] = "page-0"
	}
	if s.modern(m) {
		r["resultType"], r["ttlMs"], r["cacheScope"] = mcp.ResultComplete, 0, "private"
	}
	return result(r)
}

func (s *server) modern(m *mcp.Message) bool {
	return s.Discover == DiscoverModern && metaVersion(m.Params) != ""
}

// builtIn lists the tools that are always there.
func builtIn() []json.RawMessage {
	text, number := object{"type": "string"}, object{"type": "integer"}
	tool := func(name string, properties object, required ...string) json.RawMessage {
		schema := object{"type": "object", "properties": properties}
		if required != nil {
			schema["required"] = required
		}
		return encode(object{"name": name, "description": "mcptest " + name, "inputSchema": schema})
	}
	return []json.RawMessage{
		tool("echo", object{"message": text}, "message"),
		tool("stall", object{}),
		tool("slow", object{"ms": number}),
		tool("crash", object{"code": number, "signal": number, "stderr": object{"type": "array", "items": text}}),
		tool("fail", object{"message": text}),
		tool("error", object{"code": number, "message": text, "data": object{}}),
		tool("huge", object{"bytes": number}),
		tool("result", object{"value": object{}}),
		tool("ask", object{
			"method": text, "params": object{"type": "object"}, "count": number,
			"together": object{"type": "boolean"}, "related": object{"type": "boolean"},
		}, "method"),
		tool("need", object{"params": object{"type": "object"}, "count": number}),
		tool("announce", object{"method": text, "params": object{"type": "object"}, "count": number}, "method"),
		tool("progress", object{"count": number, "ms": number}),
		tool("log", object{"lines": object{"type": "array", "items": text}}),
		tool("stderr", object{"lines": object{"type": "array", "items": text}}),
		tool("received", object{}),
		tool("cancelled", object{}),
		tool("pid", object{}),
	}
}

// arguments are those of all built-in tools.
type arguments struct {
	Message string   `json:"message"`
	MS      int      `json:"ms"`
	Code    int      `json:"code"`
	Signal  int      `json:"signal"`
	Stderr  []string `json:"stderr"`
	Data    mcp.Raw  `json:"data"`
	Bytes   int      `json:"bytes"`
	Value   mcp.Raw  `json:"value"`
	Method  string   `json:"method"`
	Params  mcp.Raw  `json:"params"`
	Count   int      `json:"count"`
	Lines   []string `json:"lines"`
	Related bool     `json:"related"`

	Together bool `json:"together"`
}

// call runs one tool. Nil means that it is not answered.
func (s *server) call(ctx context.Context, m *mcp.Message) *mcp.Message {
	if version := metaVersion(m.Params); version != "" {
		if r := s.checkModern(version); r != nil {
			return r
		}
	}
	var params struct {
		Name      string    `json:"name"`
		Arguments arguments `json:"arguments"`
		Meta      struct {
			ProgressToken mcp.Raw `json:"progressToken"`
		} `json:"_meta"`
	}
	if err := json.Unmarshal(m.Params, &params); err != nil {
		return failure(mcp.CodeInvalidParams, "%v", err)
	}
	a := params.Arguments
	answer := func(text string) *mcp.Message {
		r := object{"content": []object{{"type": "text", "text": text}}}
		if s.modern(m) {
			r["resultType"] = mcp.ResultComplete
		}
		return result(r)
	}
	switch params.Name {
	case "echo":
		return answer(a.Message)
	case "stall":
		<-ctx.Done()
		return nil
	case "slow":
		if !pause(ctx, a.MS) {
			return nil
		}
		return answer("done")
	case "crash":
		for _, line := range a.Stderr {
			fmt.Fprintln(s.stderr, line)
		}
		s.end(a.Code, syscall.Signal(a.Signal))
		return nil
	case "fail":
		return result(object{"content": []object{{"type": "text", "text": a.Message}}, "isError": true})
	case "error":
		r := failure(a.Code, "%s", a.Message)
		r.Error.Data = a.Data
		return r
	case "huge":
		return answer(strings.Repeat("x", a.Bytes))
	case "result":
		return &mcp.Message{Result: bytes.Clone(a.Value)}
	case "ask":
		var of mcp.Raw
		if a.Related {
			of = m.ID
		}
		answers := s.questions(ctx, of, a)
		switch {
		case answers == nil:
			return nil
		case a.Count == 0:
			return answer(string(answers[0]))
		}
		return answer(string(encode(answers)))
	case "need":
		return s.need(m, a)
	case "announce":
		for i := range max(a.Count, 1) {
			params := a.Params
			if a.Count > 0 {
				params = event(params, i)
			}
			s.announce(s.modern(m), a.Method, params)
		}
		return answer("done")
	case "progress":
		for i := range a.Count {
			if !pause(ctx, a.MS) {
				return nil
			}
			s.send(&mcp.Message{Method: mcp.NotificationProgress, Params: encode(object{
				"progressToken": params.Meta.ProgressToken, "progress": i + 1, "total": a.Count,
			})})
		}
		return answer("done")
	case "log":
		for _, line := range a.Lines {
			var of mcp.Raw
			if a.Related {
				of = m.ID
			}
			s.sendFor(of, &mcp.Message{Method: mcp.NotificationMessage, Params: encode(object{"level": "info", "data": line})})
		}
		return answer("done")
	case "stderr":
		for _, line := range a.Lines {
			fmt.Fprintln(s.stderr, line)
		}
		return answer("done")
	case "received", "cancelled":
		s.mu.Lock()
		defer s.mu.Unlock()
		list := s.methods
		if params.Name == "cancelled" {
			list = s.ended
		}
		return answer(string(encode(append([]string{}, list...))))
	case "pid":
		return answer(string(encode([]int{os.Getpid(), s.spawned})))
	}
	return failure(mcp.CodeInvalidParams, "Unknown tool: %s", params.Name)
}

// pause waits, and reports false if the call was cancelled meanwhile.
func pause(ctx context.Context, ms int) bool {
	t := time.NewTimer(time.Duration(ms) * time.Millisecond)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// ask sends a request to the client and waits for the response, or for ctx: then nil. Of is
// the id of the request that it belongs to, or nil if that is not to be known.
func (s *server) ask(ctx context.Context, of mcp.Raw, method string, params mcp.Raw) *mcp.Message {
	s.mu.Lock()
	s.nextAsk++
	id := mcp.Raw(strconv.Quote("ask-" + strconv.Itoa(s.nextAsk)))
	answer := make(chan *mcp.Message, 1)
	s.asked[mcp.IDKey(id)] = answer
	s.mu.Unlock()
	s.sendFor(of, &mcp.Message{ID: id, Method: method, Params: params})
	select {
	case m := <-answer:
		return m
	case <-ctx.Done():
		return nil
	}
}
