package api

import (
	"bufio"
	"encoding/base64"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"mcpx/internal/fault"
)

// FuzzEvents reads what comes as a stream of events.
func FuzzEvents(f *testing.F) {
	for _, s := range []string{"", "event: a\ndata: {}\n\n", "data: 1\ndata:2\r\n\r\n:\n\ndata", "id: 1\n\nevent\n\n"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		r := reader{r: bufio.NewReader(strings.NewReader(text))}
		for n := 0; ; n++ {
			e, err := r.next()
			if err != nil {
				return
			}
			if e.data == nil || n > len(text) {
				t.Fatalf("event %d of %q: %+v", n, text, e)
			}
		}
	})
}

// FuzzRequests sends what is no request to every route.
func FuzzRequests(f *testing.F) {
	f.Add(0, "", "", "")
	f.Add(3, `{"words":"a","limit":1}`, "name=a&globals=true", `{"dir":"/","environ":["A=1"]}`)
	f.Add(9, `{"calls":[{"server":"a","tool":"b","arguments":{}}]}`, "env=A=1", `[`)
	handler := Handler(echo{}, HandlerOptions{Version: "1"})
	f.Fuzz(func(t *testing.T, n int, body, query, caller string) {
		o := table[uint(n)%uint(len(table))]
		if o.Route == "" || o.Name == "events" {
			return
		}
		r := httptest.NewRequest(o.Method(), o.Path(), strings.NewReader(body))
		r.URL.RawQuery = query
		if caller != "" {
			r.Header.Set(callerHeader, base64.StdEncoding.EncodeToString([]byte(caller)))
		}
		w := httptest.NewRecorder()
		func() {
			defer func() {
				if reason := recover(); reason != nil && !arrived(reason) {
					panic(reason)
				}
			}()
			handler.ServeHTTP(w, r)
		}()
		if w.Code == http.StatusInternalServerError {
			t.Errorf("%s with %q, %q, %q: %s", o.Route, body, query, caller, w.Body)
		}
	})
}

// echo is a Host whose service has no methods: a request that makes sense ends in it.
type echo struct{}

func (echo) For(Caller) Service { return blank{} }

// arrived reports whether a panic is that of a service without methods.
func arrived(reason any) bool {
	err, ok := reason.(error)
	return ok && strings.Contains(err.Error(), "nil pointer dereference")
}

// FuzzFailure reads what comes as an error.
func FuzzFailure(f *testing.F) {
	f.Add(`{"kind":"usage","message":"m","details":{"at":{"line":1},"a":[1]}}`)
	f.Fuzz(func(t *testing.T, text string) {
		var e fault.Error
		if e.UnmarshalJSON([]byte(text)) != nil {
			return
		}
		if _, err := e.MarshalJSON(); err != nil {
			t.Errorf("%q cannot be written again: %v", text, err)
		}
		_ = fault.ReportOf(&e).Text()
	})
}
