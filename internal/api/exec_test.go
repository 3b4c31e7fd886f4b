package api

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"mcpx/internal/fault"
)

// actor is a Service that runs scripts as a test says.
type actor struct {
	Service
	exec func(ctx context.Context, in ExecInput) (*ExecOutput, error)
}

func (a actor) For(Caller) Service { return a }

func (a actor) Exec(ctx context.Context, in ExecInput) (*ExecOutput, error) { return a.exec(ctx, in) }

// tells is a run that says a few things, if somebody listens.
func tells(_ context.Context, in ExecInput) (*ExecOutput, error) {
	code, millis, ok := 0, int64(7), true
	out := &ExecOutput{RunID: "r", Value: json.RawMessage(`{"n":1}`), Implied: true, Emits: []json.RawMessage{}, Logs: []Log{}, Calls: []ToolCall{}, Artifacts: []Artifact{}}
	if in.Code == "fail" {
		out = &ExecOutput{RunID: "r", ExitCode: 1, Error: &fault.Report{Kind: fault.Script, Name: "Error", Message: "né\nx"}}
		code = 1
	}
	if in.Frames == nil {
		return out, nil
	}
	frames := []Frame{
		{Type: "start", RunID: "r"},
		{Type: "stdout", Text: "a\nb"},
		{Type: "log", Level: "warn", Text: "w"},
		{Type: "emit", Value: json.RawMessage(`[1]`)},
		{Type: "call", Server: "s", Tool: "t", ArgsHash: "h", OK: &ok, Millis: &millis},
		{Type: "artifact", Artifact: &Artifact{ID: "i", Name: "n", MIME: "m", SHA256: "s", URI: "artifact://i/n"}},
	}
	if out.Error != nil {
		frames = append(frames, Frame{Type: "error", Error: out.Error})
	} else {
		frames = append(frames, Frame{Type: "result", Value: out.Value, Implied: true})
	}
	for _, f := range append(frames, Frame{Type: "end", ExitCode: &code, Millis: &millis}) {
		if err := in.Frames(f); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func TestAScriptIsToldInThreeForms(t *testing.T) {
	t.Parallel()
	const events = `event: start
data: {"type":"start","runId":"r"}

event: stdout
data: {"type":"stdout","text":"a\nb"}

event: log
data: {"type":"log","level":"warn","text":"w"}

event: emit
data: {"type":"emit","value":[1]}

event: call
data: {"type":"call","server":"s","tool":"t","argsHash":"h","ok":true,"durationMs":7}

event: artifact
data: {"type":"artifact","id":"i","name":"n","mime":"m","size":0,"sha256":"s","uri":"artifact://i/n"}

event: result
data: {"type":"result","value":{"n":1},"implied":true}

event: end
data: {"type":"end","exitCode":0,"durationMs":7}

`
	var lines strings.Builder
	for line := range strings.Lines(events) {
		if data, ok := strings.CutPrefix(line, "data: "); ok {
			lines.WriteString(data)
		}
	}
	server := httptest.NewServer(Handler(actor{exec: tells}, HandlerOptions{}))
	defer server.Close()
	tests := []struct {
		name, body, accept string
		kind, want         string
		exit               string
	}{
		{"events", `{"code": "1", "output": "stream"}`, "", eventsType, events, ""},
		{"events asked for by the header", `{"code": "1"}`, eventsType, eventsType, events, ""},
		{"lines", `{"code": "1", "output": "stream"}`, lineType, lineType, lines.String(), ""},
		{"one document", `{"code": "1"}`, "", "application/json", `{"runId":"r","value":{"n":1},"exitCode":0,"durationMs":0,"artifacts":[],"emits":[],"logs":[],"calls":[]}` + "\n", ""},
		{"text", `{"code": "1", "output": "text"}`, "", "text/plain; charset=utf-8", "a\nb[1]\n{\"n\":1}\n", "0"},
		{"text of a script that fails", `{"code": "fail", "output": "text"}`, "", "text/plain; charset=utf-8", "a\nb[1]\n", "1"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			code, kind, body, trailer := post(t, server, tt.body, tt.accept)
			if code != http.StatusOK || kind != tt.kind || body != tt.want || trailer.Get(exitTrailer) != tt.exit {
				t.Errorf("%d %s, exit code %q:\n%s\nwant %s, exit code %q:\n%s", code, kind, trailer.Get(exitTrailer), body, tt.kind, tt.exit, tt.want)
			}
		})
	}
}

func post(t *testing.T, server *httptest.Server, body, accept string) (code int, kind, text string, trailer http.Header) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, server.URL+"/v1/exec", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if accept != "" {
		r.Header.Set("Accept", accept)
	}
	answer, err := server.Client().Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	b, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer.StatusCode, answer.Header.Get("Content-Type"), string(b), answer.Trailer
}

func TestARunThatCannotBeIsAnError(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(Handler(actor{exec: func(context.Context, ExecInput) (*ExecOutput, error) {
		return nil, fault.Deniedf("not you")
	}}, HandlerOptions{}))
	defer server.Close()
	for body, want := range map[string]int{
		`{"code": "1"}`:                            http.StatusForbidden,
		`{"code": "1", "output": "stream"}`:        http.StatusForbidden,
		`{"code": "1", "output": "text"}`:          http.StatusForbidden,
		`{"code": "1", "output": "smoke signals"}`: http.StatusBadRequest,
		`{"code": ""}`:                             http.StatusBadRequest,
		`{"code": "1", "where": "local"}`:          http.StatusBadRequest,
		`{"code": 1}`:                              http.StatusBadRequest,
	} {
		if code, kind, text, _ := post(t, server, body, ""); code != want || kind != "application/json" || !strings.Contains(text, `"kind"`) {
			t.Errorf("%s: %d %s %s, want %d", body, code, kind, text, want)
		}
	}
}

// A reader that goes away ends the run.
func TestAReaderThatGoesAwayEndsTheRun(t *testing.T) {
	t.Parallel()
	for _, accept := range []string{eventsType, lineType} {
		ended := make(chan error, 1)
		server := httptest.NewServer(Handler(actor{exec: func(ctx context.Context, in ExecInput) (*ExecOutput, error) {
			_ = in.Frames(Frame{Type: "start", RunID: "r"})
			<-ctx.Done()
			ended <- context.Cause(ctx)
			return &ExecOutput{ExitCode: 130}, nil
		}}, HandlerOptions{}))
		ctx, cancel := context.WithCancel(t.Context())
		r, err := http.NewRequestWithContext(ctx, http.MethodPost, server.URL+"/v1/exec", strings.NewReader(`{"code": "1", "output": "stream"}`))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Accept", accept)
		answer, err := server.Client().Do(r)
		if err != nil {
			t.Fatal(err)
		}
		if line, err := bufio.NewReader(answer.Body).ReadString('\n'); err != nil || !strings.Contains(line, "start") {
			t.Errorf("the first line is %q, %v", line, err)
		}
		cancel()
		select {
		case err := <-ended:
			if !errors.Is(err, context.Canceled) {
				t.Errorf("the run ended by %v", err)
			}
		case <-time.After(time.Minute):
			t.Error("the run goes on")
		}
		answer.Body.Close()
		server.Close()
	}
}

// The client hears of every frame before it has the answer, however slow it is.
func TestARemoteRunIsToldOf(t *testing.T) {
	t.Parallel()
	const many = 2 * queued
	server := httptest.NewServer(Handler(actor{exec: func(ctx context.Context, in ExecInput) (*ExecOutput, error) {
		if in.Within != "30s" || in.Code != "1" || in.Timeout != 0 {
			t.Errorf("the run is %+v", in)
		}
		for range many {
			if err := in.Frames(Frame{Type: "emit", Value: json.RawMessage("1")}); err != nil {
				return nil, err
			}
		}
		if ok, err := in.Consent.Consent(ctx, ConsentQuestion{Tool: "t"}); !ok || err != nil {
			t.Errorf("Consent = %t, %v", ok, err)
		}
		return &ExecOutput{RunID: "r", Calls: []ToolCall{}}, nil
	}}, HandlerOptions{}))
	defer server.Close()
	heard := 0
	client := NewRemote(server.Client(), server.URL, Caller{})
	out, err := client.Exec(t.Context(), ExecInput{Code: "1", Timeout: 30 * time.Second, Consent: agrees{}, Frames: func(f Frame) error {
		heard++
		return nil
	}})
	if err != nil || out.RunID != "r" || heard != many {
		t.Errorf("Exec = %+v, %v after %d frames, want %d", out, err, heard, many)
	}
}

type agrees struct{}

func (agrees) Consent(context.Context, ConsentQuestion) (bool, error) { return true, nil }
