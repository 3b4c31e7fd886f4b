package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"

	"github.com/rogpeppe/go-internal/testscript"
)

// serveSites gives a script two servers of HTTP on 127.0.0.1, as $SITE and $OTHER, the port of
// the first as $PORT: /to?URL redirects there, /more sends more than it announces, every other path answers "INTERNAL" and the
// headers it was sent.
func serveSites(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) > 0 {
		ts.Fatalf("usage: serve")
	}
	for _, name := range []string{"SITE", "OTHER"} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/to" {
				w.Header().Set("Location", r.URL.RawQuery)
				w.WriteHeader(http.StatusFound)
				return
			}
			if r.URL.Path == "/more" {
				if conn, _, err := http.NewResponseController(w).Hijack(); err == nil {
					defer conn.Close()
					_, _ = conn.Write([]byte("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nthis and more"))
				}
				return
			}
			fmt.Fprintf(w, "INTERNAL %s %s\n", r.Method, r.URL)
			names := make([]string, 0, len(r.Header))
			for header := range r.Header {
				names = append(names, header)
			}
			slices.Sort(names)
			for _, header := range names {
				fmt.Fprintf(w, "%s: %s\n", header, r.Header[header])
			}
		}))
		ts.Defer(server.Close)
		ts.Setenv(name, server.URL)
		if name == "SITE" {
			ts.Setenv("PORT", server.URL[len("http://127.0.0.1:"):])
		}
	}
}
