//go:build unix

package run

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"mcpx/internal/api"
	"mcpx/internal/fault"
	"mcpx/mcp"
)

// asks is a tool that asks its question of the peer and answers with what it was told. It
// names its server as the gateway does.
func asks(params string) stage {
	return stage{call: func(ctx context.Context, in api.CallInput) (*api.CallOutput, error) {
		var answer json.RawMessage
		err := api.Nobody(mcp.MethodElicitation)
		if in.Peer != nil {
			peer := in.Peer
			if n, ok := peer.(interface{ For(server string) api.Peer }); ok {
				peer = n.For(in.Server)
			}
			answer, err = peer.Ask(ctx, mcp.MethodElicitation, json.RawMessage(params))
		}
		if err != nil {
			return nil, err
		}
		return &api.CallOutput{Result: []byte(`{"content":[],"structuredContent":` + string(answer) + `}`)}, nil
	}}
}

// A teller answers a question in one way.
type teller struct {
	person
	says string
}

func (t *teller) Ask(context.Context, string, json.RawMessage) (json.RawMessage, error) {
	t.asked++
	return json.RawMessage(t.says), nil
}

// plain is a form that a script may be asked.
const plain = `{"message":"Where?","requestedSchema":{"type":"object","properties":{"path":{"type":"string"},"depth":{"type":"integer","maximum":9}},"required":["path"]}}`

func TestAScriptAnswersQuestionsByItsHandler(t *testing.T) {
	t.Parallel()
	const (
		said  = `{"action":"accept","content":{"path":"of the person"}}`
		yesNo = `{"message":"Sure?","requestedSchema":{"type":"object","properties":{"confirm":{"type":"boolean"}}}}`
	)
	tests := []struct {
		name, params, handler string
		person                bool   // there is one
		want                  string // what the server is told
		fails                 string // what the call throws instead
		asked                 int    // of the person
	}{
		{name: "with the fields", handler: `(q) => ({ path: q.message })`, want: `{"action":"accept","content":{"path":"Where?"}}`},
		{name: "and keeps its person out of it", handler: `() => ({ path: "/" })`, person: true, want: `{"action":"accept","content":{"path":"/"}}`},
		{name: "with an action", handler: `() => ({ action: "accept", content: { path: "/", depth: 2 } })`, want: `{"action":"accept","content":{"path":"/","depth":2}}`},
		{name: "after a while", handler: `async () => { await new Promise((r) => setTimeout(r, 20)); return { path: "/" } }`, want: `{"action":"accept","content":{"path":"/"}}`},
		{name: "knowing who asks", handler: `(q) => ({ path: q.server + "." + q.tool + " " + Object.keys(q.schema.properties) })`, want: `{"action":"accept","content":{"path":"demo.echo path,depth"}}`},
		{name: "with cancel", handler: `() => "cancel"`, person: true, want: `{"action":"cancel"}`},
		{name: "with a refusal", handler: `() => "decline"`, want: `{"action":"decline"}`},
		{name: "with the action of a refusal", handler: `() => ({ action: "decline" })`, want: `{"action":"decline"}`},
		{name: "with a refusal, and the person does not", handler: `() => "decline"`, person: true, want: said, asked: 1},
		{name: "with nothing, and the person does", handler: `() => {}`, person: true, want: said, asked: 1},
		{name: "with nothing", handler: `() => undefined`, fails: "there is nobody here"},
		{name: "not any more", handler: `() => ({ path: "/" })); onElicit(null`, fails: "there is nobody here"},
		{name: "by the last handler", handler: `() => ({ path: "first" })); onElicit(() => ({ path: "second" })`, want: `{"action":"accept","content":{"path":"second"}}`},
		{name: "with what does not fit", handler: `() => ({ path: "/", depth: 10 })`, person: true, fails: `UsageError: the handler of onElicit has no answer for demo: argument "depth"`},
		{name: "without what is required", handler: `() => ({ depth: 1 })`, fails: `argument "path" is required`},
		{name: "with a field that there is not", handler: `() => ({ path: "/", dept: 1 })`, fails: `there is no field "dept"; there is path, depth`},
		{name: "with rubbish", handler: `() => 7`, fails: "it returned a number"},
		{name: "with what has no JSON", handler: `() => ({ path: 1n })`, fails: "TypeError"},
		{name: "with an exception", handler: `() => { throw new RangeError("oh") }`, person: true, fails: "RangeError: oh (exec:1:"},
		{name: "with a promise that is rejected", handler: `async () => { throw "words" }`, fails: "words"},
		{name: "a field that is called action", params: `{"message":"?","requestedSchema":{"type":"object","properties":{"action":{"type":"string"},"n":{"type":"integer"}}}}`, handler: `() => ({ action: "accept", n: 1 })`, want: `{"action":"accept","content":{"action":"accept","n":1}}`},

		// What is for a person is asked of no script.
		{name: "but no yes or no", params: yesNo, handler: `() => ({ confirm: true })`, fails: "there is nobody here"},
		{name: "but no yes or no, which the person says", params: yesNo, handler: `() => ({ confirm: true })`, person: true, want: said, asked: 1},
		{name: "but nothing without a field", params: `{"message":"Go on?","requestedSchema":{"type":"object","properties":{}}}`, handler: `() => ({})`, fails: "there is nobody here"},
		{name: "but no address", params: `{"mode":"url","message":"?","url":"https://example.com","elicitationId":"1"}`, handler: `() => ({ action: "accept" })`, fails: "there is nobody here"},
		{name: "but no address in a form", params: strings.Replace(plain, `"message"`, `"url":"https://example.com","message"`, 1), handler: `() => ({ path: "/" })`, fails: "there is nobody here"},
		{name: "but no secret", params: `{"message":"?","requestedSchema":{"type":"object","properties":{"user":{"type":"string"},"password":{"type":"string"}}}}`, handler: `() => ({ user: "u", password: "p" })`, person: true, want: said, asked: 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if tt.params == "" {
				tt.params = plain
			}
			r := asks(tt.params).runner()
			t.Cleanup(func() { _ = r.Close() })
			p := &teller{says: said}
			var streams api.Streams
			if tt.person {
				streams.Peer, streams.Consent = p, p
			}
			code := `onElicit(` + tt.handler + `); try { return await tools.demo.echo({}) } catch (e) { return e.name + ": " + e.message }`
			out, err := r.Run(t.Context(), api.ExecInput{Name: "exec", Code: code}, streams)
			if err != nil || out.Error != nil {
				t.Fatalf("%v, %+v", err, out)
			}
			got := string(out.Value)
			if tt.fails == "" && got != tt.want || tt.fails != "" && !strings.Contains(strings.ReplaceAll(got, `\"`, `"`), tt.fails) {
				t.Errorf("the script got %s, want %s%s", got, tt.want, tt.fails)
			}
			if p.asked != tt.asked {
				t.Errorf("the person was asked %d times, want %d", p.asked, tt.asked)
			}
		})
	}
}

// TestAHandlerGivesNoConsent has a call asked about by mcpx itself.
func TestAHandlerGivesNoConsent(t *testing.T) {
	t.Parallel()
	var peer api.Peer
	var consent api.Consent
	r := stage{call: func(_ context.Context, in api.CallInput) (*api.CallOutput, error) {
		peer, consent = in.Peer, in.Consent
		return &api.CallOutput{Result: in.Arguments}, nil
	}}.runner()
	t.Cleanup(func() { _ = r.Close() })
	if out := exec(t, r, `onElicit(() => ({ allow: true })); await tools.demo.echo({})`, api.ExecInput{}); out.Error != nil {
		t.Fatal(out.Error)
	}
	if peer == nil || consent != nil {
		t.Errorf("the call had the peer %v and the consent %v", peer, consent)
	}
	if _, err := peer.Ask(t.Context(), api.MethodConsent, json.RawMessage(plain)); err == nil {
		t.Error("the handler was asked for consent")
	}
}

// TestTheTimeOfARunGoesOnWhileItsHandlerThinks: only a person stops it.
func TestTheTimeOfARunGoesOnWhileItsHandlerThinks(t *testing.T) {
	t.Parallel()
	r := asks(plain).runner()
	t.Cleanup(func() { _ = r.Close() })
	begin := time.Now()
	out := exec(t, r, `onElicit(() => new Promise(() => {})); await tools.demo.echo({})`, api.ExecInput{Timeout: 500 * time.Millisecond})
	if out.Error == nil || out.Error.Kind != fault.Timeout || time.Since(begin) > 20*time.Second {
		t.Errorf("ended with %+v after %s", out.Error, time.Since(begin))
	}
}

// TestManyQuestionsAtOnce has each answered by the handler's own clock.
func TestManyQuestionsAtOnce(t *testing.T) {
	t.Parallel()
	r := asks(plain).runner()
	t.Cleanup(func() { _ = r.Close() })
	out := exec(t, r, `let n = 0, open = 0, most = 0;
		onElicit(async () => { most = Math.max(most, ++open); const i = n++; await new Promise((r) => setTimeout(r, 60 - i)); open--; return { path: String(i) } });
		const all = await Promise.all(Array.from({ length: 50 }, () => tools.demo.echo({})));
		return [new Set(all.map((a) => a.content.path)).size, most > 1]`, api.ExecInput{})
	if out.Error != nil || string(out.Value) != `[50,true]` {
		t.Errorf("got %s, %+v", out.Value, out.Error)
	}
}

func TestAQuestionThatIsOverIsForgotten(t *testing.T) {
	t.Parallel()
	r := newRespondent()
	r.listen(true)
	ctx, cancel := context.WithCancel(t.Context())
	over := make(chan error, 2)
	for range 2 {
		go func() {
			_, err := r.ask(ctx, []byte(`{}`))
			over <- err
		}()
	}
	if _, _, err := r.next(t.Context()); err != nil { // one is fetched, the other waits
		t.Fatal(err)
	}
	cancel()
	for range 2 {
		if err := <-over; err == nil {
			t.Error("a question without an answer was answered")
		}
	}
	if len(r.waiting)+len(r.fetched) != 0 {
		t.Errorf("kept %d and %d", len(r.waiting), len(r.fetched))
	}
}

// TestQuestionsThatNobodyFetchedGoOnWithoutAHandler takes the handler back.
func TestQuestionsThatNobodyFetchedGoOnWithoutAHandler(t *testing.T) {
	t.Parallel()
	r := newRespondent()
	r.listen(true)
	done := make(chan reply, 1)
	go func() {
		a, _ := r.ask(t.Context(), []byte(`{}`))
		done <- a
	}()
	for {
		r.mu.Lock()
		n := len(r.waiting)
		r.mu.Unlock()
		if n == 1 {
			break
		}
		time.Sleep(time.Millisecond)
	}
	r.listen(false)
	if a := <-done; a.action != "" || a.err != "" {
		t.Errorf("answered %+v", a)
	}
}

// TestWhoIsAskedIsTheScript: of two scripts of one client each answers its own server.
func TestWhoIsAskedIsTheScript(t *testing.T) {
	t.Parallel()
	p := &person{}
	one, other := &asker{peer: p, script: newRespondent()}, &asker{peer: p, script: newRespondent()}
	if one.Same() != other.Same() {
		t.Error("two runs of one caller are two callers")
	}
	one.script.listen(true)
	if one.Same() == other.Same() {
		t.Error("a script that answers by itself stands for another")
	}
	if alone := (&asker{script: newRespondent()}); alone.Same() == (&asker{script: newRespondent()}).Same() {
		t.Error("two runs without anybody stand for one")
	}
}
