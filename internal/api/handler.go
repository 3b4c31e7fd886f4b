package api

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"reflect"
	"strings"
	"time"

	"mcpx/internal/body"
	"mcpx/internal/fault"
	"mcpx/internal/settings"
)

// Host finds who answers for a caller.
type Host interface{ For(c Caller) Service }

// Heeding is a Service that may go by other settings than its caller asks for.
type Heeding interface {
	// Unheeded says, a sentence each, what the caller asks for and does not get.
	Unheeded() []string
}

// HandlerOptions say how the operations are offered.
type HandlerOptions struct {
	Version string // of the program, for the OpenAPI document
	// Settings are those of the process; nil stands for the defaults.
	Settings *settings.Set
}

const (
	callerHeader     = "X-Mcpx-Caller"
	settingsHeader   = "X-Mcpx-Settings"
	unfinishedHeader = "X-Mcpx-Unfinished"
	noticeHeader     = "X-Mcpx-Notice" // one for each setting that is not as the caller asks for

	maxCaller  = 512 << 10 // of the header, decoded
	maxAsked   = 64 << 10  // of the settings in a header
	eventsType = "text/event-stream"
)

// handler answers requests.
type handler struct {
	host    Host
	o       HandlerOptions
	talks   talks
	callers callers
	bodies  *body.Room
}

// Handler answers for every operation that has a route. Who may ask is decided before:
// by the socket's mode, or by Access.
func Handler(host Host, o HandlerOptions) http.Handler {
	h := &handler{host: host, o: o, bodies: body.NewRoom(maxBodies, shortBody, bodyPatience)}
	mux := http.NewServeMux()
	for _, op := range table {
		if op.Route != "" {
			mux.HandleFunc(op.Route, op.mount(h))
		}
	}
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		refuse(w, fault.NotFoundf("there is no operation %s %s", r.Method, r.URL.Path).Hintf("GET /v1/openapi.json lists them"))
	})
	return mux
}

// service finds who answers r, and says in the head of the answer which settings are not as
// the caller asks for.
func (h *handler) service(w http.ResponseWriter, r *http.Request) (Service, error) {
	c, err := h.callerOf(r.Header)
	if err != nil {
		return nil, err
	}
	s := h.host.For(c)
	if n, ok := s.(Heeding); ok && len(c.Settings) > 0 {
		for _, text := range n.Unheeded() {
			w.Header().Add(noticeHeader, printable(text))
		}
	}
	return s, nil
}

// printable is text as a header can carry it.
func printable(text string) string {
	return strings.Map(func(c rune) rune {
		if c < ' ' || c > '~' {
			return '?'
		}
		return c
	}, text)
}

// callerOf reads who asks. Without the header it is nobody in particular.
func (h *handler) callerOf(header http.Header) (c Caller, err error) {
	if text := header.Get(callerHeader); text != "" {
		if c, err = h.callers.read(text); err != nil {
			return c, err
		}
	}
	c.Settings, err = askedIn(header)
	return c, err
}

// askedIn reads what a request asks of settings, by path: a JSON object of texts.
func askedIn(header http.Header) (map[string]string, error) {
	text := header.Get(settingsHeader)
	if text == "" {
		return nil, nil
	}
	var out map[string]string
	hint := `it is a JSON object such as {"pool.callTimeout": "5s"}`
	if len(text) > maxAsked {
		return nil, fault.Usagef("the header "+settingsHeader+" is longer than %d bytes", maxAsked).Hintf("%s", hint)
	}
	if err := strict(strings.NewReader(text), &out); err != nil {
		return nil, fault.Usagef("the header "+settingsHeader+" holds no settings: %w", err).Hintf("%s", hint)
	}
	return out, nil
}

// strict decodes exactly one JSON value whose members are all known.
func strict(r io.Reader, v any) error {
	b, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	return decode(b, v, false)
}

// handler makes the HTTP handler of an operation.
func (o *Op[In, Out]) handler(h *handler) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		in, err := read[In](h, w, r, o.Open)
		if err != nil {
			refuse(w, err)
			return
		}
		s, err := h.service(w, r)
		if err != nil {
			refuse(w, err)
			return
		}
		if o.peer != nil && strings.Contains(r.Header.Get("Accept"), eventsType) {
			h.talk(w, r, func(ctx context.Context, p Peer) (any, error) {
				*o.peer(&in) = p
				if c, ok := any(&in).(consented); ok {
					*c.consent() = distant{p}
				}
				if f, ok := any(&in).(framed); ok {
					if k, ok := p.(*talk); ok {
						*f.frames() = func(one Frame) error { return k.frame(ctx, one) }
					}
				}
				out, err := o.method(s, ctx, in)
				if err != nil {
					return nil, err
				}
				return out, nil
			})
			return
		}
		out, err := o.method(s, r.Context(), in)
		if err != nil {
			refuse(w, err)
			return
		}
		answer(w, out)
	}
}

// read reads the input of a request and holds it against its declaration.
func read[In any](h *handler, w http.ResponseWriter, r *http.Request, calls bool) (In, error) {
	var in In
	v := reflect.ValueOf(&in).Elem()
	if inQuery(r.Method) {
		err := fromQuery(v, r)
		if err == nil {
			err = check(v)
		}
		return in, err
	}
	if r.URL.RawQuery != "" {
		return in, fault.Usagef("%s %s takes no query: its input stands in the body", r.Method, r.URL.Path)
	}
	text, err := h.body(w, r, calls)
	if err != nil {
		return in, err
	}
	if err := decode(orEmpty(text), &in, false); err != nil {
		return in, fault.Usagef("the body of %s %s: %w", r.Method, r.URL.Path, err).Hintf("GET /v1/openapi.json says what it takes")
	}
	for _, f := range fieldsOf(v.Type()) {
		if value := r.PathValue(f.Name); value != "" && f.Kind == Text {
			v.Field(f.index).SetString(value)
		}
	}
	return in, check(v)
}

const (
	// shortBody is how long the body of a request may be that needs no room.
	shortBody = 1 << 20
	// maxBodies is how many bytes all longer ones have that are under way.
	maxBodies = 256 << 20
	// bodyPatience is how long a request waits for room, and then for its body.
	bodyPatience = time.Minute
)

// body reads what a request holds, as far as it may be long. A long one takes room until the
// request is over, and waits until there is some.
func (h *handler) body(w http.ResponseWriter, r *http.Request, calls bool) ([]byte, error) {
	limit := settings.HTTPBodyLimit.Get(h.o.Settings)
	if calls {
		limit = settings.HTTPCallBodyLimit.Get(h.o.Settings)
	}
	text, done, err := h.bodies.Read(r.Context(), w, r, limit)
	tooLong, long := errors.AsType[*http.MaxBytesError](err)
	switch {
	case long:
		return nil, h.tooLong(tooLong.Limit, calls)
	case errors.Is(err, body.ErrNoRoom):
		return nil, fault.Unavailablef("%w", err).Hintf("send it again when some of them are over")
	case err != nil:
		return nil, fault.Usagef("the body of %s %s: %w", r.Method, r.URL.Path, err)
	}
	context.AfterFunc(r.Context(), done)
	return text, nil
}

func (h *handler) tooLong(limit int64, calls bool) error {
	path := "http.bodyLimit"
	if calls {
		path = "http.callBodyLimit"
	}
	return fault.Limitf("the request is longer than the %d bytes of %s", limit, path).
		Hintf("mcpx settings set %s SIZE lets it be longer", path)
}

// ping is how often a stream on which nothing happens says that it is there.
func (h *handler) ping() time.Duration { return settings.HTTPSSEPing.Get(h.o.Settings) }

// inQuery reports whether inputs stand in the query with a method.
func inQuery(method string) bool { return method == http.MethodGet || method == http.MethodDelete }

// orEmpty stands an empty object in for an empty body.
func orEmpty(body []byte) []byte {
	if len(body) == 0 {
		return []byte("{}")
	}
	return body
}

// fromQuery reads an input off the query and the path of a request.
func fromQuery(v reflect.Value, r *http.Request) error {
	values, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return fault.Usagef("the query is not one: %w", err)
	}
	err = fill(v, func(f Field) ([]string, string) {
		if value := r.PathValue(f.Name); value != "" {
			return []string{value}, "the path"
		}
		given := values[f.Name]
		delete(values, f.Name)
		return given, "the parameter " + f.Name
	})
	if err != nil {
		return err
	}
	for name := range values {
		return fault.Usagef("there is no parameter %q", name).Hintf("GET /v1/openapi.json says which there are")
	}
	return nil
}

// answer writes the answer of an operation.
func answer(w http.ResponseWriter, v any) {
	b, err := encode(v)
	if err != nil {
		refuse(w, fault.Internalf("an answer that is no JSON: %w", err))
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Write(append(b, '\n')) //nolint:errcheck // whoever asked may have gone
}

// wireFailure is an error as it travels.
type wireFailure struct {
	Error *fault.Error `json:"error"`
}

// refuse answers with an error, and the status of its kind.
func refuse(w http.ResponseWriter, err error) {
	refuseAs(w, fault.KindOf(err).HTTPStatus(), err)
}

func refuseAs(w http.ResponseWriter, code int, err error) {
	e := fault.From(err)
	b, failed := encode(wireFailure{e})
	if failed != nil { // a detail that is no JSON
		b, _ = encode(wireFailure{&fault.Error{Kind: e.Kind, Message: e.Message, Hint: e.Hint}})
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	w.Write(append(b, '\n')) //nolint:errcheck // whoever asked may have gone
}
