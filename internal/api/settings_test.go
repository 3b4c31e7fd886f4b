package api

import (
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"mcpx/internal/fault"
	"mcpx/internal/settings"
)

// heard is a Service that remembers who asked, and answers with an error that says so.
type heard struct {
	Service
	caller *Caller
}

func (h heard) For(c Caller) Service { *h.caller = c; return h }

func (heard) Health(context.Context, HealthInput) (*HealthOutput, error) {
	return &HealthOutput{Version: "1"}, nil
}

func (heard) ServersAdd(context.Context, ServersAddInput) (*ServersAddOutput, error) {
	return &ServersAddOutput{}, nil
}

func (heard) Call(context.Context, CallInput) (*CallOutput, error) { return &CallOutput{}, nil }

func TestSettingsTravelInAHeaderOfTheirOwn(t *testing.T) {
	t.Parallel()
	var got Caller
	s := httptest.NewServer(Handler(heard{caller: &got}, HandlerOptions{Version: "1"}))
	defer s.Close()
	asked := map[string]string{"pool.callTimeout": "5s", "script.permissions": "größer", "pool.max": "3", "daemon.inline": "never"}
	if _, err := NewRemote(s.Client(), s.URL, Caller{Dir: "/w", Settings: asked}).Health(t.Context(), HealthInput{}); err != nil {
		t.Fatal(err)
	}
	if want := map[string]string{"pool.callTimeout": "5s", "script.permissions": "größer"}; got.Dir != "/w" || !maps.Equal(got.Settings, want) {
		t.Errorf("the caller is %+v, want the settings %v", got, want)
	}
	for _, tt := range []struct {
		name, header string
		want         map[string]string
		wrong        string
	}{
		{"without a caller", `{"pool.callTimeout": "5s"}`, map[string]string{"pool.callTimeout": "5s"}, ""},
		{"no JSON", `pool.callTimeout=5s`, nil, "holds no settings"},
		{"no texts", `{"pool.callTimeout": 5}`, nil, "holds no settings"},
		{"two values", `{} {}`, nil, "holds no settings"},
		{"too long", `{"a": "` + strings.Repeat("x", maxAsked) + `"}`, nil, "is longer than"},
	} {
		got = Caller{}
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL+"/v1/health", http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set(settingsHeader, tt.header)
		response, err := s.Client().Do(r)
		if err != nil {
			t.Fatal(err)
		}
		var w wireFailure
		failed := json.NewDecoder(response.Body).Decode(&w)
		response.Body.Close()
		switch {
		case failed != nil:
			t.Errorf("%s: %v", tt.name, failed)
		case tt.wrong != "" && (w.Error == nil || w.Error.Kind != fault.Usage || !strings.Contains(w.Error.Message, tt.wrong) || w.Error.Hint == ""):
			t.Errorf("%s: %v, want %s", tt.name, w.Error, tt.wrong)
		case tt.wrong == "" && (w.Error != nil || !maps.Equal(got.Settings, tt.want)):
			t.Errorf("%s: %v, %v", tt.name, got.Settings, w.Error)
		}
	}
}

// TestBodiesAreBounded changes the settings of a handler that answers already.
func TestBodiesAreBounded(t *testing.T) {
	t.Parallel()
	set := &settings.Set{}
	handler := Handler(heard{caller: new(Caller)}, HandlerOptions{Version: "1", Settings: set})
	post := func(path, body string) *fault.Error {
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, httptest.NewRequest(http.MethodPost, path, strings.NewReader(body)))
		var f wireFailure
		if err := json.Unmarshal(w.Body.Bytes(), &f); err != nil {
			t.Fatal(err)
		}
		return f.Error
	}
	long := strings.Repeat("x", 2<<20)
	add, call := `{"name":"`+long+`","url":"https://a"}`, `{"server":"a","tool":"b","arguments":{"x":"`+long+`"}}`
	if err := post("/v1/servers", add); err == nil || err.Kind != fault.Limit || !strings.Contains(err.Message, "http.bodyLimit") {
		t.Errorf("a long entry: %v", err)
	}
	if err := post("/v1/call", call); err != nil {
		t.Errorf("a long call: %v", err)
	}
	set.Override(map[string]string{"http.bodyLimit": "4MiB", "http.callBodyLimit": "1MiB"})
	if err := post("/v1/servers", add); err != nil {
		t.Errorf("a long entry, with room for it: %v", err)
	}
	if err := post("/v1/call", call); err == nil || err.Kind != fault.Limit || !strings.Contains(err.Message, "http.callBodyLimit") {
		t.Errorf("a long call, with no room for it: %v", err)
	}
}
