package serve

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"mcpx/internal/api"
	"mcpx/mcp"
	"mcpx/mcp/mcptest"
	"mcpx/mcp/server"
)

// onlyModern is a server that refuses to be spoken to in the legacy era.
var onlyModern = mcptest.Script{Discover: mcptest.DiscoverModern, Strict: true, Revisions: []string{"1999-01-01"}}

// wire is a client over pipes.
type wire struct {
	t      *testing.T
	in     *io.PipeWriter
	modern bool
	level  string // of a modern client
	caps   string // likewise: what it declares, instead of declared

	mu      sync.Mutex
	last    int
	waiting map[string]chan *mcp.Message
	told    []string // notifications
	asked   []string // requests of the server, with their parameters
}

const declared = `{"elicitation":{"form":{}},"sampling":{},"roots":{}}`

// dial connects a client that declares capabilities to a handler.
func dial(t *testing.T, h server.Handler, modern bool, capabilities string) *wire {
	t.Helper()
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	w := &wire{t: t, in: inW, modern: modern, waiting: map[string]chan *mcp.Message{}}
	over := make(chan struct{})
	go func() {
		defer close(over)
		if err := server.Serve(context.Background(), inR, outW, h); err != nil {
			t.Errorf("Serve: %v", err)
		}
		outW.Close()
	}()
	read := make(chan struct{})
	go func() {
		defer close(read)
		lines := bufio.NewReader(outR)
		for {
			line, err := lines.ReadBytes('\n')
			if err != nil {
				return
			}
			w.take(line)
		}
	}()
	t.Cleanup(func() { inW.Close(); <-over; <-read })
	if !modern {
		w.ask("initialize", `{"protocolVersion":"2025-11-25","capabilities":`+capabilities+`}`)
		w.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	}
	return w
}

func (w *wire) send(text string) {
	if _, err := io.WriteString(w.in, text+"\n"); err != nil {
		w.t.Error(err)
	}
}

// take does with a message what a client does.
func (w *wire) take(line []byte) {
	m, err := mcp.Split(line)
	if err != nil {
		w.t.Errorf("%v: %s", err, line)
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	switch m.Kind() {
	case mcp.Response:
		w.waiting[mcp.IDKey(m.ID)] <- m
	case mcp.Notification:
		w.told = append(w.told, m.Method+" "+string(m.Params))
	case mcp.Request:
		w.asked = append(w.asked, m.Method+" "+string(m.Params))
		go w.send(`{"jsonrpc":"2.0","id":` + string(m.ID) + `,"result":` + reply(m.Method) + `}`)
	}
}

// reply is how the clients of these tests answer a question.
func reply(method string) string {
	switch method {
	case mcp.MethodElicitation:
		return `{"action":"accept","content":{"name":"Ada"}}`
	case mcp.MethodSampling:
		return `{"role":"assistant","model":"m","content":{"type":"text","text":"Paris"}}`
	}
	return `{"roots":[{"uri":"file:///r"}]}`
}

const clientCapabilities = `"io.modelcontextprotocol/clientCapabilities":`

// ask sends a request and answers what is asked, in either era, until the result is there.
func (w *wire) ask(method, params string) *mcp.Message {
	w.t.Helper()
	more := ""
	for range 100 {
		m := w.once(method, params, more)
		if string(mcp.Member(m.Result, "resultType")) != `"input_required"` {
			return m
		}
		var answers []string
		for key, request := range mcp.Members(mcp.Member(m.Result, "inputRequests")) {
			var asked string
			_ = json.Unmarshal(mcp.Member(request, "method"), &asked)
			w.mu.Lock()
			w.asked = append(w.asked, asked+" "+string(mcp.Member(request, "params")))
			w.mu.Unlock()
			answers = append(answers, fmt.Sprintf("%q:%s", key, reply(asked)))
		}
		more = `"inputResponses":{` + strings.Join(answers, ",") + `},`
		if state := mcp.Member(m.Result, "requestState"); state != nil {
			more += `"requestState":` + string(state) + `,`
		}
	}
	w.t.Fatalf("%s %s does not come to an end", method, params)
	return nil
}

// once sends a request and returns the answer. more stands before the members of params.
func (w *wire) once(method, params, more string) *mcp.Message {
	w.t.Helper()
	w.mu.Lock()
	w.last++
	id := fmt.Sprint(w.last)
	answered := make(chan *mcp.Message, 1)
	w.waiting[mcp.IDKey(mcp.Raw(id))] = answered
	w.mu.Unlock()
	meta := `"progressToken":"t` + id + `"`
	if w.modern {
		meta += `,"io.modelcontextprotocol/protocolVersion":"2026-07-28",` + clientCapabilities + cmp.Or(w.caps, declared)
		if w.level != "" {
			meta += `,"io.modelcontextprotocol/logLevel":"` + w.level + `"`
		}
	}
	body := strings.TrimPrefix(params, "{")
	if body != "}" {
		body = "," + body
	}
	w.send(`{"jsonrpc":"2.0","id":` + id + `,"method":"` + method + `","params":{` + more + `"_meta":{` + meta + `}` + body + `}`)
	select {
	case m := <-answered:
		return m
	case <-time.After(2 * time.Minute):
		w.t.Fatalf("no answer to %s %s", method, params)
		return nil
	}
}

// await waits until the client was told what fits, and returns that.
func (w *wire) await(part string) string {
	w.t.Helper()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
		for _, told := range w.heard() {
			if strings.Contains(told, part) {
				return told
			}
		}
		if time.Now().After(deadline) {
			w.t.Fatalf("told %q, want %s", w.heard(), part)
		}
	}
}

func (w *wire) heard() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.told)
}

func (w *wire) questions() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.asked)
}

// everySide runs a test for clients of both eras before servers of both.
func everySide(t *testing.T, test func(t *testing.T, modern bool, script mcptest.Script)) {
	for _, modern := range []bool{false, true} {
		for name, script := range map[string]mcptest.Script{"legacy": {}, "both": {Discover: mcptest.DiscoverModern}, "modern": onlyModern} {
			client := map[bool]string{false: "legacy", true: "modern"}[modern]
			t.Run(client+" client, "+name+" server", func(t *testing.T) {
				t.Parallel()
				test(t, modern, script)
			})
		}
	}
}

// question is how a server asks: the tool and its arguments, for so many questions.
func question(script mcptest.Script, modern bool, method string, count int, together bool) string {
	if script.Strict || modern && script.Discover == mcptest.DiscoverModern {
		params := map[string]any{"a": map[string]any{"method": method, "params": map[string]any{"message": "Your name?", "requestedSchema": map[string]any{"type": "object", "properties": map[string]any{}}}}}
		text, _ := json.Marshal(map[string]any{"params": params, "count": count})
		return `"name":"need","arguments":` + string(text)
	}
	return fmt.Sprintf(`"name":"ask","arguments":{"method":%q,"count":%d,"together":%v,"params":{"message":"Your name?","requestedSchema":{"type":"object","properties":{}}}}`, method, count, together)
}

func TestQuestionsReachTheClient(t *testing.T) {
	t.Parallel()
	everySide(t, func(t *testing.T, modern bool, script mcptest.Script) {
		g := open(t, entry("s", script))
		w := dial(t, offer(t, Options{Mode: Passthrough, Gateway: g}), modern, declared)
		for method, want := range map[string]string{mcp.MethodElicitation: "Ada", mcp.MethodSampling: "Paris", mcp.MethodRootsList: "file:///r"} {
			for _, count := range []int{1, 3} {
				before := len(w.questions())
				got := w.ask("tools/call", `{`+question(script, modern, method, count, false)+`}`)
				if n := strings.Count(string(got.Result), want); n != count {
					t.Errorf("%s: %s %v, want %d times %q", method, got.Result, got.Error, count, want)
				}
				if n := len(w.questions()) - before; n != count {
					t.Errorf("%s: %d questions, want %d", method, n, count)
				}
			}
		}
	})
}

func TestQuestionsOfOneCallTogether(t *testing.T) {
	t.Parallel()
	for _, modern := range []bool{false, true} {
		g := open(t, entry("s", mcptest.Script{}))
		w := dial(t, offer(t, Options{Mode: Passthrough, Gateway: g}), modern, declared)
		got := w.ask("tools/call", `{`+question(mcptest.Script{}, modern, mcp.MethodElicitation, 4, true)+`}`)
		if strings.Count(string(got.Result), "Ada") != 4 || len(w.questions()) != 4 {
			t.Errorf("modern %v: %s %v after %q", modern, got.Result, got.Error, w.questions())
		}
	}
}

func TestClientIsAskedOnlyWhatItDeclares(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, declares, method, params, want string }{
		{"nothing", `{}`, mcp.MethodElicitation, `{"message":"m","requestedSchema":{}}`, "nobody can be asked"},
		{"no sampling", `{"elicitation":{}}`, mcp.MethodSampling, `{}`, "does not answer sampling/createMessage"},
		{"no roots", `{"elicitation":{}}`, mcp.MethodRootsList, `{}`, "does not answer roots/list"},
		{"forms only", `{"elicitation":{"form":{}}}`, mcp.MethodElicitation, `{"mode":"url","url":"https://x","message":"m"}`, `does not take questions of the mode`},
		{"pages only", `{"elicitation":{"url":{}}}`, mcp.MethodElicitation, `{"message":"m","requestedSchema":{}}`, `does not take questions of the mode`},
		{"something else", `{"elicitation":{}}`, "x/y", `{}`, "x/y"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			g := open(t, entry("s", mcptest.Script{}))
			w := dial(t, offer(t, Options{Mode: Passthrough, Gateway: g}), false, tt.declares)
			got := w.ask("tools/call", `{"name":"ask","arguments":{"method":"`+tt.method+`","params":`+tt.params+`}}`)
			if !strings.Contains(string(got.Encode()), tt.want) || len(w.questions()) != 0 {
				t.Errorf("%s, asked %q, want %q", got.Encode(), w.questions(), tt.want)
			}
		})
	}
}

func TestForeignStateIsRefused(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{Full, Passthrough, Code} {
		g := open(t, entry("s", mcptest.Script{}))
		w := dial(t, offer(t, Options{Mode: mode, Gateway: g, Longest: time.Minute}), true, "")
		params := map[string]string{Full: `"name":"s__echo","arguments":{"message":"hi"}`, Passthrough: `"name":"echo","arguments":{"message":"hi"}`, Code: `"name":"mcpx_call","arguments":{"server":"s","tool":"echo","arguments":{"message":"hi"}}`}[mode]
		if got := w.once("tools/call", `{`+params+`}`, ""); !strings.Contains(string(got.Result), "hi") {
			t.Fatalf("%s: %s", mode, got.Encode())
		}
		got := w.once("tools/call", `{`+params+`}`, `"requestState":"somebody's",`)
		if got.Error == nil || got.Error.Code != mcp.CodeInvalidParams || !strings.Contains(got.Error.Message, "requestState") {
			t.Errorf("%s: %s", mode, got.Encode())
		}
	}
}

func TestQuestionsNameTheServer(t *testing.T) {
	t.Parallel()
	g := open(t, entry("s", mcptest.Script{}))
	script := runs(func(ctx context.Context, _ api.ExecInput, s api.Streams) (*api.ExecOutput, error) {
		out, err := g.Call(ctx, api.CallInput{Server: "s", Tool: "ask", Peer: s.Peer, Arguments: json.RawMessage(`{"method":"elicitation/create","params":{"message":"Your name?","requestedSchema":{"type":"object","properties":{}}}}`)})
		if err != nil {
			return nil, err
		}
		return &api.ExecOutput{Value: out.Result}, nil
	})
	for mode, params := range map[string]string{
		Full: strings.Replace(question(mcptest.Script{}, false, mcp.MethodElicitation, 1, false), `"ask"`, `"s__ask"`, 1),
		Code: `"name":"mcpx_exec","arguments":{"code":"1"}`,
	} {
		for _, modern := range []bool{false, true} {
			w := dial(t, offer(t, Options{Mode: mode, Gateway: g, Runner: script, Longest: time.Minute}), modern, declared)
			got := w.ask("tools/call", `{`+params+`}`)
			asked := w.questions()
			if !strings.Contains(string(got.Encode()), "Ada") || len(asked) != 1 || !strings.Contains(asked[0], `"s asks: Your name?"`) {
				t.Errorf("%s, modern %v: %s after %q", mode, modern, got.Encode(), asked)
			}
		}
	}
}

func TestScriptsThatWaitForAnswersLetOthersRun(t *testing.T) {
	t.Parallel()
	script := runs(func(ctx context.Context, in api.ExecInput, s api.Streams) (*api.ExecOutput, error) {
		if in.Code == "asks" {
			var wg sync.WaitGroup
			for range 2 {
				wg.Go(func() {
					_, _ = s.Peer.Ask(ctx, mcp.MethodElicitation, json.RawMessage(`{"message":"m","requestedSchema":{}}`))
				})
			}
			wg.Wait()
		}
		return &api.ExecOutput{Value: json.RawMessage(`"ended"`)}, nil
	})
	h := newCode(Options{Mode: Code, Gateway: open(t), Runner: script, Longest: time.Minute})
	w := dial(t, server.Of(h), true, "")
	for range maxRuns { // each with two questions: as many as may wait
		if got := w.once("tools/call", `{"name":"mcpx_exec","arguments":{"code":"asks"}}`, ""); !strings.Contains(string(got.Result), "input_required") {
			t.Fatalf("answered %s", got.Encode())
		}
	}
	for deadline := time.Now().Add(time.Minute); len(h.waits) < maxWaits; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%d questions wait", len(h.waits))
		}
	}
	for _, code := range []string{"1", "asks"} { // the questions of the last are refused
		if got := w.once("tools/call", `{"name":"mcpx_exec","arguments":{"code":"`+code+`"}}`, ""); !strings.Contains(string(got.Result), "ended") {
			t.Errorf("%s: answered %s", code, got.Encode())
		}
	}
	if len(h.runs) != 0 || len(h.waits) != maxWaits {
		t.Errorf("%d scripts run and %d questions wait", len(h.runs), len(h.waits))
	}
}

func TestProgressAndLogReachTheClient(t *testing.T) {
	t.Parallel()
	everySide(t, func(t *testing.T, modern bool, script mcptest.Script) {
		g := open(t, entry("s", script))
		w := dial(t, offer(t, Options{Mode: Passthrough, Gateway: g}), modern, declared)
		w.level = "info"
		if !modern {
			w.ask("logging/setLevel", `{"level":"info"}`)
		}
		w.ask("tools/call", `{"name":"progress","arguments":{"count":3}}`)
		token := fmt.Sprintf(`"t%d"`, w.last)
		var progress []string
		for _, told := range w.heard() {
			if strings.HasPrefix(told, mcp.NotificationProgress) {
				progress = append(progress, told)
			}
		}
		if len(progress) != 3 || !strings.Contains(progress[2], token) {
			t.Errorf("told %q, want three with the token %s", progress, token)
		}
		w.ask("tools/call", `{"name":"log","arguments":{"lines":["first","second"]}}`)
		w.await("second")
		if n := strings.Count(strings.Join(w.heard(), "\n"), "first"); n != 1 {
			t.Errorf("told %d times: %q", n, w.heard())
		}
	})
}

func TestChangesReachTheClient(t *testing.T) {
	t.Parallel()
	const capabilities = `{"tools":{"listChanged":true},"resources":{"subscribe":true,"listChanged":true},"prompts":{},"logging":{}}`
	for _, mode := range []string{Passthrough, Full} {
		for _, upstream := range []mcptest.Discover{mcptest.DiscoverUnknown, mcptest.DiscoverModern} {
			for _, modern := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s, server %q, modern client %v", mode, upstream, modern), func(t *testing.T) {
					t.Parallel()
					g := open(t, entry("s", mcptest.Script{
						Discover: upstream, Capabilities: json.RawMessage(capabilities),
						Answers: map[string]json.RawMessage{"resources/list": json.RawMessage(`{"resources":[{"uri":"a:1","name":"a"}]}`), "resources/subscribe": json.RawMessage(`{}`), "resources/unsubscribe": json.RawMessage(`{}`)},
					}))
					w := dial(t, offer(t, Options{Mode: mode, Gateway: g}), modern, declared)
					announce := map[string]string{Passthrough: "announce", Full: "s__announce"}[mode]
					changed := func(method, params string) {
						w.ask("tools/call", `{"name":"`+announce+`","arguments":{"method":"`+method+`","params":`+params+`}}`)
					}
					if modern {
						w.send(`{"jsonrpc":"2.0","id":"l","method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true,"resourceSubscriptions":["a:1"]},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",` + clientCapabilities + declared + `}}}`)
						if ack := w.await("acknowledged"); !strings.Contains(ack, `"resourceSubscriptions":["a:1"]`) || !strings.Contains(ack, `"toolsListChanged":true`) {
							t.Fatalf("told %s", ack)
						}
					} else if got := w.ask("resources/subscribe", `{"uri":"a:1"}`); got.Error != nil {
						t.Fatal(got.Error)
					}
					changed(mcp.NotificationResourcesUpdated, `{"uri":"a:1"}`)
					w.await(`"uri":"a:1"`)
					// What is listened to of all servers may begin after the answer to initialize.
					for deadline := time.Now().Add(time.Minute); !strings.Contains(strings.Join(w.heard(), "\n"), "tools/list_changed"); {
						if time.Now().After(deadline) {
							t.Fatalf("told %q", w.heard())
						}
						changed(mcp.NotificationToolsListChanged, `{}`)
						time.Sleep(10 * time.Millisecond)
					}
					if modern {
						for _, told := range w.heard() {
							if strings.Contains(told, "list_changed") && !strings.Contains(told, `"io.modelcontextprotocol/subscriptionId":"l"`) {
								t.Errorf("told %s without the subscription", told)
							}
						}
						w.mu.Lock()
						w.waiting[mcp.IDKey(mcp.Raw(`"l"`))] = make(chan *mcp.Message, 1) // the end of the server answers it
						w.mu.Unlock()
						return
					}
					if got := w.ask("resources/unsubscribe", `{"uri":"a:1"}`); got.Error != nil {
						t.Error(got.Error)
					}
				})
			}
		}
	}
}

func TestFullOffersPromptsAndResourcesOfAllServers(t *testing.T) {
	t.Parallel()
	script := func(name string) mcptest.Script {
		return mcptest.Script{
			Capabilities: json.RawMessage(`{"tools":{},"prompts":{},"resources":{},"completions":{}}`),
			Answers: map[string]json.RawMessage{
				"prompts/list":             json.RawMessage(`{"prompts":[{"name":"p","odd":[1.0]}]}`),
				"prompts/get p":            json.RawMessage(`{"messages":[],"of":"` + name + `"}`),
				"resources/list":           json.RawMessage(`{"resources":[{"uri":"same:","name":"` + name + `"},{"uri":"` + name + `:1","name":"own"}]}`),
				"resources/read same:":     json.RawMessage(`{"contents":[],"of":"` + name + `"}`),
				"resources/read x:9":       json.RawMessage(`{"contents":[],"of":"` + name + ` by template"}`),
				"resources/templates/list": json.RawMessage(`{"resourceTemplates":[{"uriTemplate":"` + map[string]string{"a": "y", "b": "x"}[name] + `:{n}","name":"t"}]}`),
				"completion/complete":      json.RawMessage(`{"completion":{"values":["` + name + `"]}}`),
			},
		}
	}
	g := open(t, entry("a", script("a")), entry("b", script("b")), entry("none", mcptest.Script{}), entry("broken", mcptest.Script{Exit: 3}))
	h := offer(t, Options{Mode: Full, Gateway: g})
	for _, tt := range []struct{ method, params, want string }{
		{"initialize", `{}`, `"capabilities":{"completions":{},"logging":{},"prompts":{"listChanged":true},"resources":{"listChanged":true},"tools":{"listChanged":true}}`},
		{"prompts/list", ``, `{"prompts":[{"name":"a__p","odd":[1.0]},{"name":"b__p","odd":[1.0]}]}`},
		{"prompts/get", `{"name":"b__p"}`, `"of":"b"`},
		{"resources/list", ``, `{"resources":[{"uri":"same:","name":"a"},{"uri":"a:1","name":"own"},{"uri":"b:1","name":"own"}]}`},
		{"resources/templates/list", ``, `{"resourceTemplates":[{"uriTemplate":"y:{n}","name":"t"},{"uriTemplate":"x:{n}","name":"t"}]}`},
		{"resources/read", `{"uri":"same:"}`, `"of":"a"`},
		{"resources/read", `{"uri":"x:9"}`, `"of":"b by template"`},
		{"completion/complete", `{"ref":{"type":"ref/prompt","name":"b__p"},"argument":{"name":"n","value":""}}`, `"values":["b"]`},
		{"completion/complete", `{"ref":{"type":"ref/resource","uri":"y:{n}"},"argument":{"name":"n","value":""}}`, `"values":["a"]`},
	} {
		if got := must(t, h, legacy, tt.method, tt.params); !strings.Contains(got, tt.want) {
			t.Errorf("%s %s: %s, want %s", tt.method, tt.params, got, tt.want)
		}
	}
	for _, tt := range []struct{ method, params, want string }{
		{"prompts/get", `{"name":"c__p"}`, "unknown prompt"},
		{"prompts/get", `{}`, "needs the name"},
		{"prompts/list", `{"cursor":"x"}`, "invalid cursor"},
		{"resources/read", `{"uri":"z:"}`, "there is no resource z:"},
		{"resources/read", `{}`, "needs the uri"},
		{"completion/complete", `{"ref":{"uri":"z:{n}"}}`, "no template"},
		{"completion/complete", `{"ref":{"name":"c__p"}}`, "unknown prompt"},
		{"x", `{}`, "method not found"},
	} {
		if got, err := ask(t, h, legacy, tt.method, tt.params); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s %s: %s, %v, want %s", tt.method, tt.params, got, err, tt.want)
		}
	}
	// Of a server whose tools are all denied nothing is offered.
	denied := offer(t, Options{Mode: Full, Gateway: g, Grant: &api.ToolGrant{Allow: []string{"*"}, Deny: []string{"a"}}})
	if got := must(t, denied, legacy, "prompts/list", ``); strings.Contains(got, "a__p") || !strings.Contains(got, "b__p") {
		t.Errorf("prompts/list without the server a: %s", got)
	}
	if got := must(t, denied, legacy, "resources/read", `{"uri":"same:"}`); !strings.Contains(got, `"of":"b"`) {
		t.Errorf("resources/read without the server a: %s", got)
	}
}
