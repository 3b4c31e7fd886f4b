package serve

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"mcpx/internal/api"
	"mcpx/internal/artifact"
	"mcpx/internal/fault"
	"mcpx/mcp"
	"mcpx/mcp/server"
)

const (
	// maxPart is how much of one part of an answer is shown; the whole is kept.
	maxPart = 32 << 10
	// shownTail is how much of that is its end.
	shownTail = 8 << 10
	// maxKept is how many artifacts are listed.
	maxKept = 1000
	// maxRead is how large an artifact may be that is handed out.
	maxRead = 16 << 20
)

// exec understands a call that runs a script.
func (c *code) exec(_ context.Context, call *server.Call) (*job, error) {
	in, err := arguments[struct {
		Code           string
		TimeoutMs      int64
		Args           []string
		Stdin          string
		NS             []string
		Export         string
		Placeholders   map[string]json.RawMessage
		Phases         api.Phases
		CaptureConsole bool
		Permissions    string
		Allow, Deny    map[string][]string
		Limits         map[string]string
		Task           *api.TaskWish
	}](call)
	switch {
	case err != nil:
		return nil, err
	case strings.TrimSpace(in.Code) == "":
		return nil, fmt.Errorf("mcpx_exec: there is nothing to run: code is empty")
	case in.TimeoutMs < 0:
		return nil, fmt.Errorf("mcpx_exec: timeoutMs is %d", in.TimeoutMs)
	}
	run := c.o.Exec
	run.Name, run.Code, run.Expression, run.Timeout = "exec", in.Code, true, c.o.Longest
	if in.TimeoutMs > 0 && in.TimeoutMs < c.o.Longest.Milliseconds() {
		run.Timeout = time.Duration(in.TimeoutMs) * time.Millisecond
	}
	run.Args, run.NS, run.Export, run.Placeholders = in.Args, in.NS, in.Export, in.Placeholders
	run.Phases, run.CaptureConsole, run.Output = in.Phases, in.CaptureConsole, api.OutputStructured
	if in.Permissions != "" || len(in.Allow)+len(in.Deny)+len(in.Limits) > 0 {
		run.Most = &api.Permissions{Profile: run.Permissions, Allow: run.Allow, Deny: run.Deny}
		run.Permissions, run.Allow, run.Deny, run.Limits = in.Permissions, in.Allow, in.Deny, in.Limits
	}
	if c.o.Artifacts.Dir != "" {
		run.Artifacts = &api.ArtifactWish{} // the answer links to them
	}
	return &job{kind: kindExec, what: run.Name, wish: in.Task, do: func(ctx context.Context, call *server.Call) (*outcome, error) {
		out, err := c.run(ctx, call, run, in.Stdin)
		if err != nil {
			return nil, err
		}
		asked := ""
		switch limit := limitOf(out.Error); {
		case limit == "time" && run.Timeout < c.o.Longest:
			asked = "timeoutMs"
		case in.Limits[limit] != "":
			asked = "limits." + limit
		}
		answer := c.answer(call, out, asked)
		return &outcome{output: struct {
			*api.ExecOutput
			Answer mcp.Raw `json:"answer"`
		}{out, answer}, answer: answer, failed: out.Error != nil || out.ExitCode != 0}, nil
	}}, nil
}

// run runs a script with the permissions that the server was started with.
func (c *code) run(ctx context.Context, call *server.Call, run api.ExecInput, input string) (*api.ExecOutput, error) {
	turn := &turn{c: c}
	if err := turn.begin(ctx); err != nil {
		return nil, err
	}
	defer turn.end()
	var stdin io.Reader
	if input != "" {
		stdin = strings.NewReader(input)
	}
	out, err := c.o.Runner.Run(ctx, run, api.Streams{
		Stdin: stdin,
		Progress: func(p api.Progress) {
			params := map[string]any{"progress": p.Done}
			if p.Total != nil {
				params["total"] = *p.Total
			}
			if p.Message != "" {
				params["message"] = p.Message
			}
			call.Tell(mcp.NotificationProgress, encode(params))
		},
		Peer:    scriptPeer{peer{c: call, named: true}, turn},
		Consent: consent{scriptPeer{peer{c: call}, turn}},
	})
	if ctx.Err() != nil {
		return nil, context.Cause(ctx) // how it ended is no answer
	}
	return out, err
}

// scriptPeer is who is asked while a script runs. How far the tools of a script are says
// nothing of the script.
type scriptPeer struct {
	peer
	turn *turn
}

// Notify implements api.Peer.
func (p scriptPeer) Notify(method string, params json.RawMessage) {
	if method != mcp.NotificationProgress {
		p.peer.Notify(method, params)
	}
}

// For is the same peer for what one server says.
func (p scriptPeer) For(server string) api.Peer {
	p.from = server
	return p
}

// Ask implements api.Peer.
func (p scriptPeer) Ask(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
	if err := p.turn.leave(); err != nil {
		return nil, err
	}
	defer p.turn.resume(ctx)
	return p.peer.Ask(ctx, method, params)
}

// turn is the place of one script among those that run. While the script waits for an
// answer another one runs.
type turn struct {
	c *code

	mu      sync.Mutex
	waiting int // questions
	held    bool
	over    bool
}

// begin waits for a place.
func (t *turn) begin(ctx context.Context) error {
	select {
	case t.c.runs <- struct{}{}:
		t.held = true // nobody else knows of it yet
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// end gives the place back.
func (t *turn) end() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.over = true
	t.release()
}

// release gives the place back if it is held. The caller holds mu.
func (t *turn) release() {
	if t.held {
		t.held = false
		<-t.c.runs
	}
}

// leave gives the place back until resume. The error says that too many scripts wait.
func (t *turn) leave() error {
	select {
	case t.c.waits <- struct{}{}:
	default:
		return mcp.Errorf(mcp.CodeInternalError, "the caller cannot be asked: %d questions of scripts wait for answers already", maxWaits)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.waiting++
	t.release()
	return nil
}

// resume waits for a place again when the last question has its answer.
func (t *turn) resume(ctx context.Context) {
	<-t.c.waits
	t.mu.Lock()
	t.waiting--
	left := t.waiting
	t.mu.Unlock()
	if left > 0 {
		return
	}
	select {
	case t.c.runs <- struct{}{}:
	case <-ctx.Done():
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.waiting > 0 || t.held || t.over {
		<-t.c.runs // it is not needed any more
		return
	}
	t.held = true
}

// answer is a run as the result of a tool: what a reader wants first as text, links to the
// artifacts, and the same as a value. What is too long is kept, and its beginning and
// end are shown.
//
// asked is the argument of the call that bounds what the run exceeded; empty if it is none.
func (c *code) answer(call *server.Call, out *api.ExecOutput, asked string) mcp.Raw {
	d := *out
	d.Artifacts = slices.Clone(out.Artifacts)
	var parts []string
	part := func(title, text string) {
		if text == "" {
			return
		}
		if title != "" {
			text = title + ":\n" + text
		}
		parts = append(parts, text)
	}
	if d.Error != nil {
		if d.Error = told(d.Error); asked != "" {
			d.Error.Hint = "give it more with " + asked + ", or leave that out"
		}
		part("error", d.Error.Text())
	}
	d.Stdout = c.shorten(&d, "stdout.txt", d.Stdout)
	part("", strings.TrimRight(d.Stdout, "\n"))
	for _, s := range d.Spilled {
		part(s.Stream, spilledText(s))
	}
	if len(d.Emits) > 0 {
		var lines strings.Builder
		for _, e := range d.Emits {
			lines.Write(e)
			lines.WriteByte('\n')
		}
		short := c.shorten(&d, "emitted.jsonl", lines.String())
		if short != lines.String() {
			d.Emits = nil
		}
		part("emitted", strings.TrimRight(short, "\n"))
	}
	if d.Value != nil && d.Error == nil && (!d.Implied || !d.Printed) {
		text := string(d.Value)
		var s string
		if json.Unmarshal(d.Value, &s) == nil {
			text = s
		}
		short := c.shorten(&d, "value.json", text)
		if short != text {
			d.Value = nil
		}
		part("", short)
	} else if len(d.Value) > maxPart {
		d.Value = nil
	}
	d.Stderr = c.shorten(&d, "stderr.txt", d.Stderr)
	part("log", strings.TrimRight(d.Stderr, "\n"))
	for _, n := range d.Notes {
		part("note", n)
	}
	if len(parts) == 0 {
		parts = []string{"done: nothing was returned or printed"}
		part("note", missed(d.Denials))
	} else if d.Error != nil && d.Error.Kind != fault.Denied {
		part("note", missed(d.Denials))
	}
	content := []any{}
	for _, text := range parts {
		content = append(content, map[string]string{"type": "text", "text": text})
	}
	for i := range d.Artifacts {
		a := &d.Artifacts[i]
		a.Path = "" // the caller may be on another machine; it reads the resource
		content = append(content, link(call.Revision(), a))
	}
	c.keep(d.Artifacts)
	// The answer, and not how it came about: hosts hand this to the model, too.
	d.Calls, d.Logs, d.Sandbox, d.Profile = nil, nil, "", ""
	o := map[string]any{"content": content, "structuredContent": d}
	if d.Error != nil || d.ExitCode != 0 {
		o["isError"] = true
	}
	return encode(o)
}

// limitOf is the limit that a run has exceeded; empty if it ended otherwise.
func limitOf(r *fault.Report) string {
	if r == nil || r.Kind != fault.Limit && r.Kind != fault.Timeout {
		return ""
	}
	return fault.Text(r.Details, "limit")
}

// missed names the variables that a script looked for and was not granted: to the script
// they looked like not set. It is told where that may be why there is no answer: most
// scripts look for some that do not matter.
func missed(denials []api.Denial) string {
	const most = 5
	var names []string
	for _, d := range denials {
		if d.Grant == "env" {
			names = append(names, d.Thing)
		}
	}
	more := ""
	if len(names) > most {
		names, more = names[:most], fmt.Sprintf(" and %d more", len(names)-most)
	}
	if len(names) == 0 {
		return ""
	}
	return "the script looked for variables that it was not granted, and found them not set: " + strings.Join(names, ", ") + more
}

// hasLinks reports whether a revision has blocks that refer to a resource.
func hasLinks(revision string) bool {
	return revision != mcp.Revision20241105 && revision != mcp.Revision20250326
}

// readable is a result with artifacts as a revision has it: where there are no links, the
// blocks of its content that are such become text.
func readable(revision string, result mcp.Raw, artifacts []api.Artifact) mcp.Raw {
	if len(artifacts) == 0 || hasLinks(revision) {
		return result
	}
	var content []mcp.Raw
	if json.Unmarshal(mcp.Member(result, "content"), &content) != nil {
		return result
	}
	for i, block := range content {
		var is struct{ Type, URI string }
		if json.Unmarshal(block, &is) != nil || is.Type != "resource_link" {
			continue
		}
		if at := slices.IndexFunc(artifacts, func(a api.Artifact) bool { return a.URI == is.URI }); at >= 0 {
			content[i] = encode(link(revision, &artifacts[at]))
		}
	}
	told, err := mcp.SetMember(result, "content", encode(content))
	if err != nil {
		return result
	}
	return told
}

// link refers to an artifact. The two oldest revisions have no such blocks.
func link(revision string, a *api.Artifact) any {
	if !hasLinks(revision) {
		return map[string]string{"type": "text", "text": fmt.Sprintf("kept %s (%d bytes, %s): %s", a.Name, a.Size, a.MIME, a.URI)}
	}
	return map[string]any{"type": "resource_link", "uri": a.URI, "name": a.Name, "mimeType": a.MIME, "size": a.Size}
}

// shorten returns text that is not too long: the beginning and the end of one that is,
// which is kept whole as an artifact of the run.
func (c *code) shorten(d *api.ExecOutput, name, text string) string {
	if len(text) <= maxPart {
		return text
	}
	head, tail := text[:maxPart-shownTail], text[len(text)-shownTail:]
	for len(head) > 0 && !utf8.RuneStart(text[len(head)]) {
		head = head[:len(head)-1]
	}
	for len(tail) > 0 && !utf8.RuneStart(tail[0]) {
		tail = tail[1:]
	}
	var whole string
	a, err := c.o.Artifacts.Put(context.Background(), name, "", []byte(text))
	if err != nil {
		whole = "the whole could not be kept: " + fault.From(err).Message
	} else {
		whole = "the whole is " + a.URI()
		d.Artifacts = append(d.Artifacts, api.Artifact{ID: a.ID, Name: a.Name, MIME: a.MIME, Size: a.Size, SHA256: a.SHA256, URI: a.URI()})
	}
	return fmt.Sprintf("%s\n… %d of %d bytes are left out here; %s …\n%s", head, len(text)-len(head)-len(tail), len(text), whole, tail)
}

// spilledText is what is shown of output that was too long to be held.
func spilledText(s api.Spilled) string {
	whole := "the whole is the artifact " + s.Artifact
	if s.Error != nil {
		whole = "the whole could not be kept: " + s.Error.Message
	}
	return fmt.Sprintf("%s\n… %d of %d bytes are left out here; %s …\n%s", s.Head, s.Bytes-int64(len(s.Head)+len(s.Tail)), s.Bytes, whole, s.Tail)
}

// keep remembers artifacts, to list them.
func (c *code) keep(artifacts []api.Artifact) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.kept = append(c.kept, artifacts...)
	if more := len(c.kept) - maxKept; more > 0 {
		c.kept = slices.Delete(c.kept, 0, more)
	}
}

// Ask answers for tasks, and lists and reads artifacts as resources.
func (c *code) Ask(ctx context.Context, caller server.Caller, m *mcp.Message) (mcp.Raw, error) {
	if c.desk != nil && served(caller, m.Method) {
		return c.desk.ask(ctx, caller, m)
	}
	if c.o.Artifacts.Dir == "" {
		return nil, server.NotFound(m.Method)
	}
	var out any
	switch m.Method {
	case "resources/list":
		c.mu.Lock()
		kept := slices.Clone(c.kept)
		c.mu.Unlock()
		slices.Reverse(kept)
		list := []any{}
		for _, a := range kept {
			list = append(list, map[string]any{"uri": a.URI, "name": a.Name, "mimeType": a.MIME, "size": a.Size})
		}
		out = map[string]any{"resources": list}
	case "resources/templates/list":
		out = map[string]any{"resourceTemplates": []any{}}
	case mcp.MethodRead:
		contents, err := c.read(ctx, m.Params, caller.Era())
		if err != nil {
			return nil, err
		}
		out = map[string]any{"contents": []any{contents}}
	default:
		return nil, server.NotFound(m.Method)
	}
	if caller.Era() == mcp.Modern {
		return modern(encode(out), true)
	}
	return encode(out), nil
}

// codeNoResource is what legacy revisions answer for a resource that is not there.
const codeNoResource = -32002

// read returns the contents of an artifact, whichever run has kept it: who knows its
// address was told it.
func (c *code) read(ctx context.Context, params mcp.Raw, era mcp.Era) (any, error) {
	var uri string
	if json.Unmarshal(mcp.Member(params, "uri"), &uri) != nil || uri == "" {
		return nil, mcp.Errorf(mcp.CodeInvalidParams, "%s needs the uri of a resource", mcp.MethodRead)
	}
	id, _, _ := strings.Cut(strings.TrimPrefix(uri, "artifact://"), "/")
	a, f, err := c.o.Artifacts.Open(ctx, id)
	switch {
	case errors.Is(err, artifact.ErrNone), err == nil && a.URI() != uri:
		if f != nil {
			f.Close()
		}
		return nil, noResource(uri, era)
	case err != nil:
		return nil, answered(err)
	}
	defer f.Close()
	if a.Size > maxRead {
		return nil, mcp.Errorf(mcp.CodeInvalidParams, "%s has %d bytes, and at most %d are handed out", uri, a.Size, maxRead)
	}
	data, err := io.ReadAll(f)
	if err != nil {
		return nil, answered(fault.Unavailablef("reading %s: %w", uri, err))
	}
	o := map[string]string{"uri": uri, "mimeType": a.MIME}
	if utf8.Valid(data) && isText(a.MIME) {
		o["text"] = string(data)
	} else {
		o["blob"] = base64.StdEncoding.EncodeToString(data)
	}
	return o, nil
}

// noResource is the error of an address that leads to nothing.
func noResource(uri string, era mcp.Era) error {
	number := codeNoResource
	if era == mcp.Modern {
		number = mcp.CodeInvalidParams
	}
	e := mcp.Errorf(number, "there is no resource %s: it is not kept any more, or never was", uri)
	e.Data = encode(map[string]string{"uri": uri})
	return e
}

func isText(kind string) bool {
	return strings.HasPrefix(kind, "text/") || strings.HasPrefix(kind, "application/json") || strings.HasSuffix(kind, "+json") || strings.HasSuffix(kind, "xml")
}
