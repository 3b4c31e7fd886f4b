package demo

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"image/png"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"mcpx/mcp"
)

// session is a client of a demo server over pipes.
type session struct {
	t   *testing.T
	in  *io.PipeWriter
	out *bufio.Reader
	id  int
	// notes are the notifications that came before the last answer.
	notes []*mcp.Message
}

func start(t *testing.T) *session {
	t.Helper()
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	over := make(chan error, 1)
	go func() { over <- Serve(context.Background(), inR, outW); outW.Close() }()
	t.Cleanup(func() {
		inW.Close()
		go func() { _, _ = io.Copy(io.Discard, outR) }()
		if err := <-over; err != nil {
			t.Errorf("Serve: %v", err)
		}
	})
	return &session{t: t, in: inW, out: bufio.NewReader(outR)}
}

func (s *session) request(method, params string) *mcp.Message {
	s.t.Helper()
	s.id++
	id, _ := json.Marshal(s.id)
	s.send((&mcp.Message{ID: id, Method: method, Params: mcp.Raw(params)}).Encode())
	s.notes = nil
	for {
		m := s.receive()
		if m.Kind() == mcp.Response {
			if string(m.ID) != string(id) {
				s.t.Fatalf("answer has id %s, want %s", m.ID, id)
			}
			return m
		}
		s.notes = append(s.notes, m)
	}
}

func (s *session) send(line []byte) {
	s.t.Helper()
	if _, err := s.in.Write(append(line, '\n')); err != nil {
		s.t.Fatal(err)
	}
}

func (s *session) receive() *mcp.Message {
	s.t.Helper()
	line, err := s.out.ReadBytes('\n')
	if err != nil {
		s.t.Fatal(err)
	}
	m, err := mcp.Split(line)
	if err != nil {
		s.t.Fatalf("%s: %v", line, err)
	}
	return m
}

func (s *session) call(tool, arguments string) string {
	s.t.Helper()
	m := s.request("tools/call", `{"name":"`+tool+`","arguments":`+arguments+`}`)
	if m.Error != nil {
		return "error: " + m.Error.Message
	}
	return string(m.Result)
}

func said(text string) string {
	b, _ := json.Marshal(text)
	return `{"content":[{"text":` + string(b) + `,"type":"text"}]}`
}

func failed(text string) string {
	return strings.TrimSuffix(said(text), "}") + `,"isError":true}`
}

func TestTools(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ tool, arguments, want string }{
		{"echo", `{"message":"hello"}`, said("hello")},
		{"echo", `{"message":""}`, said("")},
		{"structured", `{}`, `{"content":[{"text":"{\"n\":42}","type":"text"}],"structuredContent":{"n":42}}`},
		{"state", `{}`, `{"content":[{"text":"{\"seen\":[]}","type":"text"}],"structuredContent":{"seen":[]}}`},
		{"slow", `{"ms":1}`, said("waited 1 ms")},
		{"slow", `{"ms":1e0}`, said("waited 1 ms")},
		{"boom", `{}`, failed("boom: this tool always fails")},
		{"fancy-name", `{}`, said("fancy")},
		{"wipe", `{}`, said("wiped 0")},
		{"ask", `{"question":"Why?"}`, failed("the question cannot be asked: this client does not offer elicitation")},

		{"echo", `{}`, failed(`echo: "message" is missing; it must be a string`)},
		{"echo", `{"message":7}`, failed(`echo: "message" is 7; it must be a string`)},
		{"echo", `{"message":null}`, failed(`echo: "message" is null; it must be a string`)},
		{"echo", `{"message":"a","loud":true}`, failed(`echo has no parameter "loud"; it takes "message"`)},
		{"boom", `{"loud":true}`, failed(`boom has no parameter "loud"; it takes none`)},
		{"slow", `{"ms":-1}`, failed(`slow: "ms" is -1; it must be an integer from 0 to 600000`)},
		{"slow", `{"ms":1.5}`, failed(`slow: "ms" is 1.5; it must be an integer from 0 to 600000`)},
		{"slow", `{"ms":"1"}`, failed(`slow: "ms" is "1"; it must be an integer from 0 to 600000`)},
		{"slow", `{"ms":1e300}`, failed(`slow: "ms" is 1e300; it must be an integer from 0 to 600000`)},
		{"slow", `{"ms":null}`, failed(`slow: "ms" is null; it must be an integer from 0 to 600000`)},
		{"nope", `{}`, "error: unknown tool: nope"},
		{"echo", `[]`, "error: the arguments of echo are not an object: []"},
	} {
		t.Run(tt.tool+tt.arguments, func(t *testing.T) {
			t.Parallel()
			if got := start(t).call(tt.tool, tt.arguments); got != tt.want {
				t.Errorf("%s(%s) = %s, want %s", tt.tool, tt.arguments, got, tt.want)
			}
		})
	}
}

func TestStateLastsBetweenCalls(t *testing.T) {
	t.Parallel()
	s := start(t)
	if got, want := s.call("open", `{"value":"a"}`), said("opened a"); got != want {
		t.Errorf("open = %s, want %s", got, want)
	}
	s.call("open", `{"value":"b"}`)
	if got, want := s.call("state", `{}`), `"structuredContent":{"seen":["a","b"]}`; !strings.Contains(got, want) {
		t.Errorf("state = %s, want %s in it", got, want)
	}
	if got, want := s.call("wipe", `{}`), said("wiped 2"); got != want {
		t.Errorf("wipe = %s, want %s", got, want)
	}
	if got, want := s.call("state", `{}`), `{"seen":[]}`; !strings.Contains(got, want) {
		t.Errorf("state after wipe = %s, want %s in it", got, want)
	}
	if got := start(t).call("state", `{}`); !strings.Contains(got, `{"seen":[]}`) {
		t.Errorf("state of another server = %s, want nothing seen", got)
	}
}

func TestSlowWaits(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := start(t)
		began := time.Now()
		s.call("slow", `{"ms":90000}`)
		if d := time.Since(began); d != 90*time.Second {
			t.Errorf("slow took %s, want 90s", d)
		}
	})
}

func TestImageIsAPNG(t *testing.T) {
	t.Parallel()
	var r struct {
		Content []struct {
			Type     string
			MimeType string
			Data     []byte
		}
	}
	got := start(t).call("image", `{}`)
	if err := json.Unmarshal([]byte(got), &r); err != nil || len(r.Content) != 1 {
		t.Fatalf("image = %s, %v", got, err)
	}
	if c := r.Content[0]; c.Type != "image" || c.MimeType != "image/png" {
		t.Errorf("image has type %s, %s", c.Type, c.MimeType)
	}
	if _, err := png.Decode(bytes.NewReader(r.Content[0].Data)); err != nil {
		t.Error(err)
	}
}

func TestChattyNotifies(t *testing.T) {
	t.Parallel()
	s := start(t)
	m := s.request("tools/call", `{"name":"chatty","arguments":{"lines":2},"_meta":{"progressToken":"p"}}`)
	if got, want := string(m.Result), said("said 2 lines"); got != want {
		t.Errorf("chatty = %s, want %s", got, want)
	}
	var got []string
	for _, n := range s.notes {
		got = append(got, n.Method+" "+string(n.Params))
	}
	want := []string{
		`notifications/progress {"message":"line 1 of 2","progress":1,"total":2,"progressToken":"p"}`,
		`notifications/message {"data":"line 1 of 2","level":"info","logger":"demo"}`,
		`notifications/progress {"message":"line 2 of 2","progress":2,"total":2,"progressToken":"p"}`,
		`notifications/message {"data":"line 2 of 2","level":"info","logger":"demo"}`,
	}
	if !slices.Equal(got, want) {
		t.Errorf("notifications:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestAskElicits(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, answer, want string }{
		{"accepted", `{"action":"accept","content":{"answer":"42"}}`, said("42")},
		{"declined", `{"action":"decline"}`, said("the question was not answered: decline")},
		{"nonsense", `{"action":"accept","content":7}`, failed("the answer is not what was asked for: 7")},
	} {
		t.Run(tt.name+", legacy", func(t *testing.T) {
			t.Parallel()
			s := start(t)
			s.request("initialize", `{"protocolVersion":"2025-11-25","capabilities":{"elicitation":{}}}`)
			s.send([]byte(`{"jsonrpc":"2.0","id":"q","method":"tools/call","params":{"name":"ask","arguments":{"question":"Why?"}}}`))
			question := s.receive()
			if question.Method != "elicitation/create" || !strings.Contains(string(question.Params), `"message":"Why?"`) {
				t.Fatalf("the server sent %s, want the question", question.Encode())
			}
			s.send((&mcp.Message{ID: question.ID, Result: mcp.Raw(tt.answer)}).Encode())
			if got := string(s.receive().Result); got != tt.want {
				t.Errorf("ask = %s, want %s", got, tt.want)
			}
		})
		t.Run(tt.name+", modern", func(t *testing.T) {
			t.Parallel()
			s := start(t)
			call := `"name":"ask","arguments":{"question":"Why?"},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"elicitation":{}}}`
			r := s.request("tools/call", `{`+call+`}`)
			var asked struct {
				ResultType    string
				InputRequests map[string]struct{ Method string }
			}
			if err := json.Unmarshal(r.Result, &asked); err != nil || asked.ResultType != "input_required" || len(asked.InputRequests) != 1 {
				t.Fatalf("ask = %s, %v, want a question", r.Result, err)
			}
			for key, q := range asked.InputRequests {
				if q.Method != "elicitation/create" {
					t.Errorf("the question is a %s", q.Method)
				}
				r = s.request("tools/call", `{`+call+`,"inputResponses":{"`+key+`":`+tt.answer+`}}`)
			}
			if got, want := string(r.Result), strings.TrimSuffix(tt.want, "}")+`,"resultType":"complete"}`; got != want {
				t.Errorf("ask with the answer = %s, want %s", got, want)
			}
		})
	}
}

func TestAnnotationsAreTruthful(t *testing.T) {
	t.Parallel()
	m := start(t).request("tools/list", `{}`)
	var r struct{ Tools []mcp.Raw }
	if err := json.Unmarshal(m.Result, &r); err != nil {
		t.Fatal(err)
	}
	type hints struct{ ReadOnlyHint, DestructiveHint, IdempotentHint, OpenWorldHint bool }
	want := map[string]hints{
		"open": {}, "wipe": {DestructiveHint: true, IdempotentHint: true}, "ask": {ReadOnlyHint: true, OpenWorldHint: true},
	}
	var names []string
	for _, raw := range r.Tools {
		d, err := mcp.DecodeTool(raw)
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, d.Name)
		var got hints
		if err := json.Unmarshal(d.Annotations, &got); err != nil {
			t.Fatal(err)
		}
		w, ok := want[d.Name]
		if !ok {
			w = hints{ReadOnlyHint: true}
		}
		if got != w {
			t.Errorf("%s has %+v, want %+v", d.Name, got, w)
		}
		if d.InputSchema == nil || d.Description == "" || d.Title == "" {
			t.Errorf("%s lacks a schema, a title or a description", d.Name)
		}
	}
	all := []string{"echo", "open", "state", "structured", "slow", "boom", "chatty", "fancy-name", "wipe", "image", "ask"}
	if !slices.Equal(names, all) {
		t.Errorf("tools are %v, want %v", names, all)
	}
}
