package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"mcpx/internal/fault"
	"mcpx/mcp"
)

func TestCallsGetTheirOwnAnswers(t *testing.T) {
	t.Parallel()
	// The server gathers three calls and answers them backwards, with strangers,
	// ids in other spellings, and everything twice.
	s, w := openWire(t, Options{}, func(p *peer) {
		var held []*mcp.Message
		p.legacy(func(m *mcp.Message) bool {
			if m.Method != "wait" {
				return false
			}
			if held = append(held, m); len(held) < 3 {
				return true
			}
			p.write(`{"jsonrpc":"2.0","id":99999,"result":"stranger"}` + "\n")
			p.write(`{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"nobody's"}}` + "\n")
			for i, h := range slices.Backward(held) {
				id := [...]string{`"%s"`, `%s.0`, `%s`}[i]
				tag := mcp.Member(h.Params, "tag")
				p.write(`{"jsonrpc":"2.0","id":`+id+`,"result":%s}`+"\n", h.ID, tag)
				p.write(`{"jsonrpc":"2.0","id":`+id+`,"error":{"code":1,"message":"duplicate"}}`+"\n", h.ID)
			}
			held = nil
			return true
		})
	})
	for round := range 2 { // late answers of the first round hit nobody in the second
		type answer struct{ got, want string }
		answers := make(chan answer)
		for i := range 3 {
			want := fmt.Sprintf(`"%d-%d"`, round, i)
			go func() {
				got, err := s.Call(t.Context(), "wait", mcp.Raw(`{"tag":`+want+`}`))
				answers <- answer{fmt.Sprint(string(got), err), want + "<nil>"}
			}()
		}
		for range 3 {
			if a := <-answers; a.got != a.want {
				t.Errorf("answer = %s, want %s", a.got, a.want)
			}
		}
	}
	if len(w.noise) != 0 {
		t.Errorf("noise = %q, want none", w.noise)
	}
}

func TestNoiseOnTheLineLosesNothing(t *testing.T) {
	t.Parallel()
	s, w := openWire(t, Options{}, func(p *peer) {
		p.write("\ufeffServer version : 1.2.3\r\n\n🖥️ mode: STDIO\n[INFO] loading {\"a\":1\n")
		p.legacy(func(m *mcp.Message) bool {
			if m.Method != "shops" {
				return false
			}
			p.write("Shops response: [\n  {\n    \"id\": 1\n  }\n]\n   \n")
			p.write(`{"level":"info","method":"GET","id":%s}`+"\n", m.ID)
			p.write("{\"jsonrpc\":\"2.0\",\"id\":")
			p.write("%s,\"result\":\"two", m.ID)
			p.write(" shops \xff\"}\r\n")
			return true
		})
	})
	if got, want := ask(t, s, "shops", ""), "\"two shops \ufffd\""; got != want {
		t.Errorf("answer = %s, want %s", got, want)
	}
	if got := ask(t, s, "shops", ""); !strings.HasPrefix(got, `"two shops`) {
		t.Errorf("second answer = %s", got)
	}
	if len(w.noise) != 3+2*6 {
		t.Errorf("%d lines were skipped, want 15: %q", len(w.noise), w.noise)
	}
}

// TestMessagesThatAreNotOneToALine is about servers that print their messages as they like.
func TestMessagesThatAreNotOneToALine(t *testing.T) {
	t.Parallel()
	indent := func(s string) string {
		var b bytes.Buffer
		if err := json.Indent(&b, []byte(s), "", "  "); err != nil {
			panic(err)
		}
		return b.String()
	}
	for name, dress := range map[string]func(message string) string{
		"behind a log line that does not end": func(m string) string { return "[INFO] started" + m + "\n" },
		"before one":                          func(m string) string { return m + "[INFO] answered\n" },
		"two on a line":                       func(m string) string { return m + `{"jsonrpc":"2.0","method":"notifications/x"}` + "\n" },
		"over several lines":                  func(m string) string { return indent(m) + "\n" },
		"over several lines, behind the like": func(m string) string { return "{\n  foo: 1\n}\n{\n\"a\": {\n" + m + "\n" + indent(m) + "\n" },
		"behind a header":                     func(m string) string { return fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(m), m) },
		"behind two headers": func(m string) string {
			return fmt.Sprintf("content-length:%d\nContent-Type: application/json\n\n%s", len(m), m)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, w := openWire(t, Options{}, func(p *peer) {
				for m := p.read(); m != nil; m = p.read() {
					result := `{"text":"a{\"b\u20ac€"}`
					if m.Method == mcp.MethodInitialize {
						result = `{"protocolVersion":"2025-11-25","capabilities":{}}`
					}
					if m.Kind() == mcp.Request {
						p.write("%s", dress(`{"jsonrpc":"2.0","id":`+string(m.ID)+`,"result":`+result+`}`))
					}
				}
			})
			for range 3 {
				if got := ask(t, s, "x", ""); !strings.Contains(got, `"a{\"b\u20ac€"`) {
					t.Errorf("answer = %s", got)
				}
			}
			for _, line := range w.noise {
				if strings.Contains(line, "jsonrpc") {
					t.Errorf("a message counted as noise: %q", line)
				}
			}
		})
	}
}

func TestErrorsWithoutAnIDFindTheirCall(t *testing.T) {
	t.Parallel()
	nobody := func(p *peer, code int, message string) {
		p.write(`{"jsonrpc":"2.0","id":null,"error":{"code":%d,"message":%q}}`+"\n", code, message)
	}
	var slow []*mcp.Message
	held := make(chan struct{})
	s := open(t, Options{}, func(p *peer) {
		p.legacy(func(m *mcp.Message) bool {
			switch m.Method {
			case mcp.NotificationInitialized:
				nobody(p, mcp.CodeMethodNotFound, "no such method") // about no call
			case "first":
				nobody(p, mcp.CodeMethodNotFound, "no such method")
				p.reply(m, `"done"`)
			case "bad":
				nobody(p, mcp.CodeMethodNotFound, "it is bad")
			case "slow":
				slow = append(slow, m)
				close(held)
			case "bad beside":
				nobody(p, -1, "it is bad beside another")
				p.reply(slow[0], `"slow"`)
			default:
				return false
			}
			return true
		})
	})
	if got := ask(t, s, "first", ""); got != `"done"` {
		t.Errorf("what is said of a notification hit a call: %s", got)
	}
	for range 2 {
		if _, err := s.Call(t.Context(), "bad", nil); err == nil || err.Error() != "it is bad" {
			t.Errorf("the only call under way: %v", err)
		}
	}
	waits := make(chan string)
	go func() {
		got, err := s.Call(t.Context(), "slow", nil)
		waits <- fmt.Sprint(string(got), err)
	}()
	<-held
	if _, err := s.Call(t.Context(), "bad beside", nil); err == nil || err.Error() != "it is bad beside another" {
		t.Errorf("the call that is left: %v", err)
	}
	if got := <-waits; got != `"slow"<nil>` {
		t.Errorf("the other one: %s", got)
	}
}

func TestBatchesAreTakenApart(t *testing.T) {
	t.Parallel()
	s, w := openWire(t, Options{}, func(p *peer) {
		p.legacy(func(m *mcp.Message) bool {
			switch m.Method {
			case "x":
				p.write(`[{"jsonrpc":"2.0","method":"notifications/a"},7,{"jsonrpc":"2.0","id":%s,"result":1}]`+"\n", m.ID)
			case "hollow":
				p.write(`[{"jsonrpc":"2.0","method":"notifications/a"},{"jsonrpc":"2.0","id":%s}]`+"\n", m.ID)
			default:
				return false
			}
			return true
		})
	})
	if got := ask(t, s, "x", ""); got != "1" {
		t.Errorf("answer = %s", got)
	}
	if got := ask(t, s, "hollow", ""); got != "null" {
		t.Errorf("an answer without a result = %s", got)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if !slices.Equal(w.noise, []string{"7"}) {
		t.Errorf("noise = %q, want what is no message", w.noise)
	}
}

func TestLongLines(t *testing.T) {
	t.Parallel()
	s := open(t, Options{}, func(p *peer) { // its transport allows 1 MiB a line
		p.legacy(func(m *mcp.Message) bool {
			if m.Method != "blob" {
				return false
			}
			pad := strings.Repeat("d", int(mustInt(mcp.Member(m.Params, "n"))))
			p.write(`{"result":{"id":"decoy","pad":"%s"},"jsonrpc":"2.0","id":%s}`+"\n", pad, m.ID)
			return true
		})
	})
	for _, n := range []int{1, 65_450, 65_535, 65_536, 70_000, 1_000_000} {
		if got := ask(t, s, "blob", fmt.Sprintf(`{"n":%d}`, n)); len(got) != n+len(`{"id":"decoy","pad":""}`) {
			t.Errorf("answer of %d bytes came as %d", n, len(got))
		}
	}
	_, err := s.Call(t.Context(), "blob", mcp.Raw(`{"n":3000000}`))
	if fault.KindOf(err) != fault.Limit || !strings.Contains(err.Error(), "stdio.maxLine (1048576 bytes)") {
		t.Errorf("error = %v, want one that names stdio.maxLine", err)
	}
	if got := ask(t, s, "blob", `{"n":1}`); got != `{"id":"decoy","pad":"d"}` {
		t.Errorf("the answer after the long one = %s", got)
	}
}

func mustInt(raw mcp.Raw) (n int64) {
	if _, err := fmt.Sscan(string(raw), &n); err != nil {
		panic(err)
	}
	return n
}

func TestErrorsOfTheServerComeWhole(t *testing.T) {
	t.Parallel()
	s := open(t, Options{}, func(p *peer) {
		p.legacy(func(m *mcp.Message) bool {
			if m.Method == "odd" {
				p.write(`{"jsonrpc":"2.0","id":%s,"result":null,"error":"just text"}`+"\n", m.ID)
				return true
			}
			if m.Method == "x" {
				p.refuse(m, -32602, "no such <thing>", `{"seen":[1, 2]}`)
				return true
			}
			return false
		})
	})
	_, err := s.Call(t.Context(), "x", nil)
	var e *mcp.Error
	if !errors.As(err, &e) || e.Code != -32602 || e.Message != "no such <thing>" || string(e.Data) != `{"seen":[1, 2]}` {
		t.Errorf("error = %#v", err)
	}
	if _, err := s.Call(t.Context(), "odd", nil); err == nil || err.Error() != "just text" {
		t.Errorf("error = %v, want just text", err)
	}
}

func TestParametersThatAreNoObjectAreNotSent(t *testing.T) {
	t.Parallel()
	s := open(t, Options{}, func(p *peer) { p.legacy(nil) })
	for _, params := range []string{`[1]`, `{`, `"x"`, ``, ` `} {
		if _, err := s.Call(t.Context(), "x", mcp.Raw(params)); fault.KindOf(err) != fault.Usage {
			t.Errorf("Call with %q: %v, want a usage error", params, err)
		}
	}
}

func TestModernRequestsCarryWhoAsks(t *testing.T) {
	t.Parallel()
	s := open(t, Options{Version: "1.2.3", Capabilities: mcp.Raw(`{"elicitation":{}}`)}, func(p *peer) {
		p.modern(func(m *mcp.Message) bool {
			if m.Method == "echo" {
				p.reply(m, `{"resultType":"complete","params":`+string(m.Params)+`}`)
			}
			return m.Method == "echo"
		})
	})
	meta := `"io.modelcontextprotocol/protocolVersion":"2026-07-28",` +
		`"io.modelcontextprotocol/clientInfo":{"name":"mcpx","version":"1.2.3"},` +
		`"io.modelcontextprotocol/clientCapabilities":{"elicitation":{}}`
	for params, want := range map[string]string{
		``:                             `{"_meta":{` + meta + `}}`,
		`{ "a": 1.0 }`:                 `{ "a": 1.0,"_meta":{` + meta + ` }`,
		`{"_meta":{"trace":1},"b":[]}`: `{"_meta":{"trace":1,` + meta + `},"b":[]}`,
	} {
		got := string(mcp.Member(mcp.Raw(ask(t, s, "echo", params)), "params"))
		want = strings.Replace(want, meta+` }`, meta+`} }`, 1)
		if got != want {
			t.Errorf("parameters %q went out as\n %s, want\n %s", params, got, want)
		}
	}
}

func TestModernResultsThatAreNoAnswer(t *testing.T) {
	t.Parallel()
	s := open(t, Options{}, func(p *peer) {
		p.modern(func(m *mcp.Message) bool {
			switch m.Method {
			case "ask":
				p.reply(m, `{"resultType":"input_required","inputRequests":{"a":{"method":"elicitation/create"}},"requestState":"s"}`)
			case "odd":
				p.reply(m, `{"resultType":"riddle"}`)
			case "untyped":
				p.reply(m, `{"content":[]}`)
			}
			return m.Method == "ask" || m.Method == "odd" || m.Method == "untyped"
		})
	})
	_, err := s.Call(t.Context(), "ask", nil)
	var e *fault.Error
	if !errors.As(err, &e) || e.Kind != fault.InputRequired || e.Details["inputRequests"] == nil {
		t.Errorf("error = %#v, want one of kind input_required with the questions", err)
	}
	if _, err := s.Call(t.Context(), "odd", nil); err == nil || !strings.Contains(err.Error(), `"riddle"`) {
		t.Errorf("error = %v, want one that names the type", err)
	}
	if got := ask(t, s, "untyped", ""); got != `{"content":[]}` {
		t.Errorf("result = %s", got)
	}
}

func TestCancellationTellsTheServerAndDoesNotWait(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var got []*mcp.Message
		s := open(t, Options{}, func(p *peer) {
			p.legacy(func(m *mcp.Message) bool {
				got = append(got, m)
				return m.Method == "hang"
			})
		})
		ctx, cancel := context.WithCancelCause(t.Context())
		done := pending(ctx, s, "hang", nil)
		synctest.Wait()
		cause := errors.New("nobody wants it any more")
		cancel(cause)
		if err := <-done; !errors.Is(err, cause) {
			t.Errorf("error = %v, want %v", err, cause)
		}
		synctest.Wait()
		last, hung := got[len(got)-1], got[len(got)-2]
		if last.Method != mcp.NotificationCancelled || !mcp.SameID(mcp.Member(last.Params, "requestId"), hung.ID) {
			t.Errorf("the server last heard %s, want the cancellation of %s", last.Encode(), hung.ID)
		}
		sent := len(got)
		if _, err := s.Call(ctx, "hang", nil); !errors.Is(err, cause) {
			t.Errorf("a call with a context that is over: %v", err)
		}
		synctest.Wait()
		if len(got) != sent {
			t.Errorf("it was sent: %s", got[len(got)-1].Encode())
		}
	})
}

func TestACallGivenUpBeforeItWasWrittenIsNeverSent(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		read := make(chan struct{})
		var got []string
		s := open(t, Options{}, func(p *peer) {
			p.legacy(func(m *mcp.Message) bool {
				got = append(got, m.Method)
				if m.Method == "first" {
					<-read
				}
				return m.Method != mcp.MethodInitialize && m.Method != mcp.MethodDiscover
			})
		})
		big := mcp.Raw(`{"pad":"` + strings.Repeat("x", 1<<16) + `"}`)
		first := pending(t.Context(), s, "first", nil)
		synctest.Wait()
		second := pending(t.Context(), s, "second", big) // stuck half way
		synctest.Wait()
		ctx, cancel := context.WithCancel(t.Context())
		third := pending(ctx, s, "third", nil)
		synctest.Wait()
		cancel()
		<-third
		close(read)
		synctest.Wait()
		if all := strings.Join(got, " "); strings.Contains(all, "third") || strings.Contains(all, "cancelled") || !strings.HasSuffix(all, "first second") {
			t.Errorf("the server heard %s", all)
		}
		s.Close()
		for name, done := range map[string]<-chan error{"first": first, "second": second} {
			if !mayHaveRun(t, <-done) {
				t.Errorf("mayHaveRun of %s is false", name)
			}
		}
	})
}

func TestPendingCallsSettleWhenTheServerEnds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		end := make(chan struct{})
		s := open(t, Options{}, func(p *peer) {
			p.legacy(func(m *mcp.Message) bool {
				if m.Method == "block" {
					<-end
					p.in.Reset(strings.NewReader(""))
				}
				return m.Method == "hang" || m.Method == "block"
			})
		})
		sent := pending(t.Context(), s, "hang", nil)
		synctest.Wait()
		blocking := pending(t.Context(), s, "block", nil)
		synctest.Wait()
		half := pending(t.Context(), s, "half", mcp.Raw(`{"pad":"`+strings.Repeat("x", 1<<16)+`"}`))
		synctest.Wait()
		queued := pending(t.Context(), s, "queued", nil)
		synctest.Wait()
		close(end)
		for name, c := range map[string]struct {
			done <-chan error
			want bool
		}{"sent": {sent, true}, "blocking": {blocking, true}, "queued": {queued, false}} {
			err := <-c.done
			if got := mayHaveRun(t, err); got != c.want {
				t.Errorf("mayHaveRun of the call %s = %v, want %v (%v)", name, got, c.want, err)
			}
		}
		<-half
		<-s.Done()
		if s.Err() == nil || s.Err().Error() != "stub closed the connection" {
			t.Errorf("Err = %v", s.Err())
		}
		_, err := s.Call(t.Context(), "late", nil)
		if mayHaveRun(t, err) || err.Error() != "stub closed the connection before the request was sent" {
			t.Errorf("a call after the end: %v", err)
		}
		if err := s.Notify(t.Context(), "notifications/x", nil); err == nil {
			t.Error("Notify after the end succeeded")
		}
	})
}

func TestAServerThatStopsReadingStillGetsItsAnswersThrough(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := open(t, Options{}, func(p *peer) {
			p.legacy(func(m *mcp.Message) bool {
				if m.Method != "last" {
					return false
				}
				// Its input breaks; the answer comes a moment later.
				p.in.Reset(strings.NewReader(""))
				time.Sleep(sendGrace / 2)
				p.reply(m, `"in time"`)
				return true
			})
		})
		if got := ask(t, s, "last", ""); got != `"in time"` {
			t.Errorf("answer = %s", got)
		}
	})
}

func TestCloseDoesNotWaitForACallThatHangs(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := open(t, Options{}, func(p *peer) { p.legacy(func(m *mcp.Message) bool { return m.Method == "hang" }) })
		done := pending(t.Context(), s, "hang", nil)
		synctest.Wait()
		start := time.Now()
		s.Close()
		s.Close()
		err := <-done
		if !mayHaveRun(t, err) || err.Error() != "the connection to stub was closed during the request, which may have taken effect" {
			t.Errorf("error = %v", err)
		}
		if took := time.Since(start); took != 0 {
			t.Errorf("Close took %s", took)
		}
	})
}

func TestAFloodOfOutputDoesNotBlockAHugeRequest(t *testing.T) {
	t.Parallel()
	// The server writes until the request has come whole, and answers then.
	s := open(t, Options{}, func(p *peer) {
		p.legacy(func(m *mcp.Message) bool {
			if m.Method != "huge" {
				return false
			}
			for range 2000 {
				p.write(`{"jsonrpc":"2.0","id":"p","method":"ping"}` + "\n")
			}
			p.reply(m, fmt.Sprint(len(m.Params)))
			return true
		})
	})
	params := `{"pad":"` + strings.Repeat("x", 8<<20) + `"}`
	if got := ask(t, s, "huge", params); got != fmt.Sprint(len(params)) {
		t.Errorf("answer = %s, want %d", got, len(params))
	}
}

func TestProgressReachesItsCall(t *testing.T) {
	t.Parallel()
	s := open(t, Options{}, func(p *peer) {
		p.legacy(func(m *mcp.Message) bool {
			if m.Method != "slow" {
				return false
			}
			token := mcp.Member(mcp.Member(m.Params, "_meta"), "progressToken")
			for i := range 3 {
				p.write(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%s,"progress":%d}}`+"\n", token, i)
			}
			p.write(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"other","progress":1}}` + "\n")
			p.reply(m, `1`)
			return true
		})
	})
	count := 0
	if _, err := s.Call(t.Context(), "slow", mcp.Raw(`{"name":"x"}`), CallOptions{OnProgress: func(mcp.Raw) { count++ }}); err != nil {
		t.Fatal(err)
	}
	if count != 3 {
		t.Errorf("progress was reported %d times, want 3", count)
	}
}

type recorder struct {
	heard   chan string
	release chan struct{}
}

func (r *recorder) Notify(method string, params mcp.Raw) { r.heard <- method + " " + string(params) }

func (r *recorder) Request(ctx context.Context, method string, params mcp.Raw) (mcp.Raw, *mcp.Error) {
	select {
	case <-r.release:
		return mcp.Raw(`{"action":"accept"}`), nil
	case <-ctx.Done():
		r.heard <- method + " taken back"
		return nil, mcp.Errorf(1, "taken back")
	}
}

func TestASinkHearsTheServerAndAnswersIt(t *testing.T) {
	t.Parallel()
	r := &recorder{heard: make(chan string, 10), release: make(chan struct{})}
	answers := make(chan *mcp.Message, 10)
	s := open(t, Options{Sink: r}, func(p *peer) {
		p.legacy(func(m *mcp.Message) bool {
			switch {
			case m.Kind() == mcp.Response:
				answers <- m
				return true
			case m.Method == "start":
				p.write(`{"jsonrpc":"2.0","method":"notifications/message","params":{"data":1}}` + "\n")
				p.write(`{"jsonrpc":"2.0","id":7,"method":"elicitation/create","params":{}}` + "\n")
				p.write(`{"jsonrpc":"2.0","id":8,"method":"elicitation/create","params":{}}` + "\n")
				p.write(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":8}}` + "\n")
				p.reply(m, `{}`)
				return true
			}
			return false
		})
	})
	ask(t, s, "start", "") // does not wait for the sink
	if got := <-r.heard; got != `notifications/message {"data":1}` {
		t.Errorf("the sink heard %s", got)
	}
	if got := <-r.heard; got != "elicitation/create taken back" {
		t.Errorf("the sink heard %s", got)
	}
	close(r.release)
	if m := <-answers; string(m.ID) != "7" || string(m.Result) != `{"action":"accept"}` {
		t.Errorf("answer = %s", m.Encode())
	}
}

func TestCloseEndsASinkThatIsStillAnswering(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := &recorder{heard: make(chan string, 10)}
		s := open(t, Options{Sink: r}, func(p *peer) {
			p.write(`{"jsonrpc":"2.0","id":7,"method":"elicitation/create","params":{}}` + "\n")
			p.legacy(nil)
		})
		s.Close()
		if got := <-r.heard; got != "elicitation/create taken back" {
			t.Errorf("the sink heard %s", got)
		}
	})
}

func TestAServerThatEchoesEverythingIsNoServer(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := dial(func(p *peer) { _, _ = io.Copy(p.out, p.in) })
		if _, err := Connect(t.Context(), w, Options{Name: "cat"}); err == nil {
			t.Error("Connect to an echo succeeded")
		}
	})
}

// A call goes on when a program logs JSON that has its number.
func TestWhatIsLoggedAsJSONIsNoBrokenAnswer(t *testing.T) {
	t.Parallel()
	for _, line := range []string{`{"level":30,"id":7,"error":null}`, `[{"id":7,"error":null}]`, `{"id":7,"method":"x","result":NaN}`, `{"id":7,"level":x}`} {
		if found := brokenAnswers([]byte(line)); found != nil {
			t.Errorf("%s is taken for an answer: %+v", line, found)
		}
	}
}

// TestAnswersThatCannotBeReadFailTheirCalls is about servers that write what is no JSON.
func TestAnswersThatCannotBeReadFailTheirCalls(t *testing.T) {
	t.Parallel()
	deep := strings.Repeat("[", 10_001) + strings.Repeat("]", 10_001)
	tests := map[string]struct {
		line string // %s is the id
		kind fault.Kind
		want string
	}{
		"too deep":                    {`{"jsonrpc":"2.0","id":%s,"result":` + deep + `}`, fault.Limit, "nests more than 10000 levels deep"},
		"too deep, the id behind it":  {`{"jsonrpc":"2.0","result":` + deep + `,"id":%s}`, fault.Limit, "nests more than 10000 levels deep"},
		"no number":                   {`{"jsonrpc":"2.0","id":%s,"result":{"v":NaN}}`, fault.Unavailable, "is not JSON: invalid character 'N'"},
		"a tab in a text":             {`{"jsonrpc":"2.0","id":"%s","result":"a` + "\t" + `b"}`, fault.Unavailable, `is not JSON: invalid character '\t'`},
		"a text over two lines":       {`{"jsonrpc":"2.0","id":%s,"result":"a` + "\n" + `b"}`, fault.Unavailable, "is not JSON: unexpected end"},
		"over lines":                  {"{\n\"jsonrpc\":\"2.0\",\n\"id\":%s,\n\"result\":[\n1,\n]\n}", fault.Unavailable, "is not JSON: invalid character ']'"},
		"over lines, with one astray": {"{\n\"jsonrpc\":\"2.0\",\n\"id\":%s,\n\"result\":[\nNaN\n]\n}", fault.Unavailable, "is not JSON"},
		"an error":                    {`{"jsonrpc":"2.0","id":%s,"error":{"code":-32000,"message":undefined}}`, fault.Unavailable, "is not JSON: invalid character 'u'"},
		"in a batch":                  {`[{"jsonrpc":"2.0","method":"n"},{"jsonrpc":"2.0","id":%s,"result":NaN}]`, fault.Unavailable, "is not JSON"},
		"alone in a batch":            {`[{"jsonrpc":"2.0","id":%s,"result":NaN}]`, fault.Unavailable, "is not JSON"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := open(t, Options{}, func(p *peer) {
				p.legacy(func(m *mcp.Message) bool {
					switch m.Method {
					case "broken":
						p.write(tt.line+"\n", m.ID)
					case "printed": // a program may print the beginning of what it is about to send
						p.write(`{"jsonrpc":"2.0","id":%s,"result":"whole…`+"\n", m.ID)
						p.reply(m, `"whole"`)
					default:
						return false
					}
					return true
				})
			})
			_, err := s.Call(t.Context(), "broken", nil)
			if e := fault.From(err); e.Kind != tt.kind || !strings.Contains(e.Message, tt.want) || e.Details["mayHaveRun"] != true || e.Hint == "" {
				t.Errorf("error %v (%+v), want %s: %s", err, e, tt.kind, tt.want)
			}
			if got := ask(t, s, "printed", ""); got != `"whole"` {
				t.Errorf("the next answer = %s", got)
			}
		})
	}
}
