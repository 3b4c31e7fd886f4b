package mcptest

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"syscall"
	"time"

	"mcpx/mcp"
)

// HTTP says how a server behaves towards HTTP; what it says is up to its Script.
type HTTP struct {
	Script
	SSE       bool // HTTP+SSE instead of Streamable HTTP
	JSON      bool // answers are JSON and not streams of events
	Stateless bool // there are no session ids
	Silent    bool // there is no stream for what the server says of its own accord
}

// Request is a request that a Site has got.
type Request struct {
	Method, Path string
	Header       http.Header
	Body         string
}

// Site is a server that is reached over HTTP, on this machine.
type Site struct {
	URL string

	o      HTTP
	server http.Server
	served chan struct{}

	mu       sync.Mutex
	requests []Request
	sessions map[string]*visit
	next     int
	closed   bool
}

// visit is one session: a server and the streams that lead to its client.
type visit struct {
	id      string
	in      chan []byte
	gone    chan struct{}
	over    chan struct{}
	leave   sync.Once
	mu      sync.Mutex
	waiting map[string]chan []byte // streams of requests, by the key of their id
	own     chan []byte            // the server's own stream
}

// Serve starts a server at /mcp of a free port. The caller must Close it.
func Serve(o HTTP) *Site {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(fmt.Sprintf("mcptest: %v", err))
	}
	s := &Site{
		URL: "http://" + listener.Addr().String() + "/mcp", o: o,
		served: make(chan struct{}), sessions: map[string]*visit{},
	}
	s.server.Handler = s
	s.server.ReadHeaderTimeout = 10 * time.Second
	go func() {
		defer close(s.served)
		_ = s.server.Serve(listener)
	}()
	return s
}

// Close ends the server and breaks its connections.
func (s *Site) Close() {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.Forget()
	_ = s.server.Close()
	<-s.served
}

// Forget ends every session, as a server that is started again does.
func (s *Site) Forget() {
	s.mu.Lock()
	all := s.sessions
	s.sessions = map[string]*visit{}
	s.mu.Unlock()
	for _, v := range all {
		v.end()
	}
}

// Sessions returns how many sessions are open.
func (s *Site) Sessions() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.sessions)
}

// Requests returns what has come so far.
func (s *Site) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

// enter opens a session. It is nil if the server is closed.
func (s *Site) enter(id string) *visit {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil
	}
	if v := s.sessions[id]; id != "" && v != nil {
		return v
	}
	if id == "" {
		s.next++
		id = "session-" + strconv.Itoa(s.next)
	}
	v := &visit{
		id: id, in: make(chan []byte, 64), gone: make(chan struct{}), over: make(chan struct{}),
		waiting: map[string]chan []byte{},
	}
	s.sessions[id] = v
	sv := newServer(s.o.Script, v, io.Discard)
	go func() {
		sv.run()
		close(v.over)
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.sessions[id] == v {
			delete(s.sessions, id)
		}
	}()
	return v
}

func (v *visit) end() {
	v.leave.Do(func() { close(v.gone) })
	<-v.over
}

// input, send and die make a visit the wire of a server.
func (v *visit) input() (<-chan []byte, <-chan struct{}) { return v.in, v.gone }

func (v *visit) die(int, syscall.Signal) {}

// send puts a line on the stream where it belongs: that of the request that it answers
// or reports on, or else the server's own, or else that of the last request.
func (v *visit) send(line []byte) error {
	key := ""
	if m, err := mcp.Split(line); err == nil {
		key = mcp.IDKey(m.ID)
		if m.Kind() != mcp.Response {
			key = mcp.IDKey(mcp.Member(m.Params, "progressToken"))
			if sub := mcp.Member(mcp.Member(m.Params, "_meta"), mcp.MetaSubscriptionID); sub != nil {
				key = mcp.IDKey(sub)
			}
		}
	}
	v.mu.Lock()
	to := v.waiting[key]
	if to == nil {
		to = v.own
	}
	if to == nil {
		// Earlier requests may have been answered a moment ago.
		last := -1
		for key, stream := range v.waiting {
			if n, err := strconv.Atoi(key); err == nil && n > last {
				last, to = n, stream
			}
		}
	}
	v.mu.Unlock()
	if to == nil {
		return errors.New("nobody listens")
	}
	return v.put(to, line)
}

func (v *visit) put(to chan<- []byte, line []byte) error {
	select {
	case to <- line:
		return nil
	case <-v.gone:
		return io.ErrClosedPipe
	}
}

func (v *visit) hand(line []byte) {
	select {
	case v.in <- line:
	case <-v.over:
	}
}

func (v *visit) await(key string) chan []byte {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.waiting[key] = make(chan []byte, 64)
	return v.waiting[key]
}

func (v *visit) done(key string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	delete(v.waiting, key)
}

// ServeHTTP answers one request.
func (s *Site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	s.mu.Lock()
	s.requests = append(s.requests, Request{r.Method, r.URL.Path, r.Header.Clone(), string(body)})
	s.mu.Unlock()
	switch {
	case s.o.SSE && r.Method == http.MethodGet && r.URL.Path == "/mcp":
		v := s.enter("")
		if v == nil {
			return
		}
		defer func() {
			s.mu.Lock()
			delete(s.sessions, v.id)
			s.mu.Unlock()
			v.end()
		}()
		s.stream(w, r, v, "event: endpoint\ndata: /messages?session="+v.id+"\n\n")
	case s.o.SSE && r.Method == http.MethodPost && r.URL.Path == "/messages":
		s.mu.Lock()
		v := s.sessions[r.URL.Query().Get("session")]
		s.mu.Unlock()
		if v == nil {
			http.Error(w, "no such session", http.StatusNotFound)
			return
		}
		v.hand(body)
		w.WriteHeader(http.StatusAccepted)
	case s.o.SSE:
		http.Error(w, "Method Not Allowed", http.StatusMethodNotAllowed)
	case r.Method == http.MethodPost:
		s.post(w, r, body)
	case r.Method == http.MethodGet && !s.o.Silent:
		if v := s.visited(w, r); v != nil {
			s.stream(w, r, v, "")
		}
	case r.Method == http.MethodDelete:
		if v := s.visited(w, r); v != nil {
			s.mu.Lock()
			delete(s.sessions, v.id)
			s.mu.Unlock()
			v.end()
		}
	default:
		http.Error(w, "Method Not Allowed", http.StatusMethodNotAllowed)
	}
}

// visited finds the session of a request, or refuses it.
func (s *Site) visited(w http.ResponseWriter, r *http.Request) *visit {
	id := r.Header.Get("Mcp-Session-Id")
	if s.o.Stateless {
		return s.enter("one for all")
	}
	s.mu.Lock()
	v := s.sessions[id]
	s.mu.Unlock()
	if v == nil {
		refuse(w, http.StatusNotFound, -32001, "Session not found")
	}
	return v
}

func refuse(w http.ResponseWriter, status, code int, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write((&mcp.Message{Error: mcp.Errorf(code, "%s", message)}).Encode())
}

// stream is a stream of its own.
func (s *Site) stream(w http.ResponseWriter, r *http.Request, v *visit, first string) {
	own := make(chan []byte, 64)
	v.mu.Lock()
	v.own = own
	v.mu.Unlock()
	defer func() {
		v.mu.Lock()
		if v.own == own {
			v.own = nil
		}
		v.mu.Unlock()
	}()
	w.Header().Set("Content-Type", "text/event-stream")
	_, _ = io.WriteString(w, first)
	flush(w)
	for {
		select {
		case line := <-own:
			_, _ = fmt.Fprintf(w, "data: %s\n\n", line)
			flush(w)
		case <-r.Context().Done():
			return
		case <-v.over:
			return
		}
	}
}

func flush(w http.ResponseWriter) { _ = http.NewResponseController(w).Flush() }

// post takes one message, and answers it if it is a request.
func (s *Site) post(w http.ResponseWriter, r *http.Request, body []byte) {
	m, err := mcp.Split(body)
	if err != nil {
		refuse(w, http.StatusBadRequest, mcp.CodeParseError, err.Error())
		return
	}
	var v *visit
	switch version := metaVersion(m.Params); {
	case version != "" && s.o.Discover == DiscoverModern:
		name := member(m.Params, "name") + member(m.Params, "uri")
		if r.Header.Get("Mcp-Protocol-Version") != version || r.Header.Get("Mcp-Method") != m.Method || r.Header.Get("Mcp-Name") != name {
			refuse(w, http.StatusBadRequest, mcp.CodeHeaderMismatch, "Header mismatch")
			return
		}
		v = s.enter("modern")
	case m.Method == mcp.MethodInitialize && !s.o.Stateless:
		if v = s.enter(""); v != nil {
			w.Header().Set("Mcp-Session-Id", v.id)
		}
	case m.Method != mcp.MethodInitialize && r.Header.Get("Mcp-Protocol-Version") == "":
		refuse(w, http.StatusBadRequest, mcp.CodeInvalidRequest, "Mcp-Protocol-Version is missing")
		return
	default:
		v = s.visited(w, r)
	}
	if v == nil {
		return
	}
	if m.Kind() != mcp.Request {
		v.hand(body)
		w.WriteHeader(http.StatusAccepted)
		return
	}
	key := mcp.IDKey(m.ID)
	lines := v.await(key)
	defer v.done(key)
	v.hand(body)
	if !s.o.JSON {
		w.Header().Set("Content-Type", "text/event-stream")
		flush(w)
	}
	for {
		select {
		case line := <-lines:
			answer, err := mcp.Split(line)
			last := err == nil && answer.Kind() == mcp.Response && mcp.SameID(answer.ID, m.ID)
			if s.o.JSON && last {
				w.Header().Set("Content-Type", "application/json")
				_, _ = w.Write(line)
			} else if !s.o.JSON {
				_, _ = fmt.Fprintf(w, "event: message\ndata: %s\n\n", line)
				flush(w)
			}
			if last {
				return
			}
		case <-r.Context().Done():
			if version := metaVersion(m.Params); version != "" { // the modern way to cancel
				v.hand((&mcp.Message{Method: mcp.NotificationCancelled, Params: encode(object{"requestId": m.ID})}).Encode())
			}
			return
		case <-v.over:
			panic(http.ErrAbortHandler) // a server that ends breaks off what it was saying
		}
	}
}

func member(params mcp.Raw, key string) string {
	var s string
	_ = json.Unmarshal(mcp.Member(params, key), &s)
	return s
}
