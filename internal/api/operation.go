package api

import (
	"context"
	"net/http"
	"reflect"
	"strings"
)

// Meta is what an operation is called on every surface.
type Meta struct {
	Name string // "session_list"
	// Route is its method and path: "GET /v1/sessions". With GET the input stands in the
	// query, else it is a JSON object in the body. Empty: the operation has no route.
	Route   string
	Command string // its words behind mcpx: "session list"; empty: none
	Args    string // what stands behind the command, besides flags
	Tool    string // its MCP tool; empty: none
	Summary string // one clause without a period
	// Description says more, in lines of at most 90 columns.
	Description string
	Example     string // command lines, or a request where there is no command
	// ReadOnly says that nothing changes by it; Destructive, that what it changes may be
	// lost; Open, that what it does with the world outside is not known beforehand.
	ReadOnly, Destructive, Open bool
}

// Operation is one thing that can be asked, as it was declared.
type Operation struct {
	Meta
	input, output reflect.Type
	streams       bool // it answers with events, or can
	bytes         bool // it answers with bytes
	mount         func(h *handler) http.HandlerFunc
}

// Op is an operation with its types. In is a struct.
type Op[In, Out any] struct {
	*Operation
	method func(s Service, ctx context.Context, in In) (*Out, error)
	peer   func(in *In) *Peer
}

// table holds every operation in the order of declaration.
var table []*Operation

// Operations returns every operation, in the order in which pages list them.
func Operations() []*Operation { return table }

func declare(m Meta, in, out reflect.Type) *Operation {
	for _, o := range table {
		if o.Name == m.Name || m.Route != "" && o.Route == m.Route || m.Command != "" && o.Command == m.Command || m.Tool != "" && o.Tool == m.Tool {
			panic("api: " + m.Name + " and " + o.Name + " share a name, route, command or tool")
		}
	}
	o := &Operation{Meta: m, input: in, output: out}
	table = append(table, o)
	return o
}

// define declares an operation that a method of Service does. peer, if there is one, is
// where its input holds whoever can be told and asked meanwhile.
func define[In, Out any](m Meta, method func(Service, context.Context, In) (*Out, error), peer ...func(*In) *Peer) *Op[In, Out] {
	o := &Op[In, Out]{Operation: declare(m, reflect.TypeFor[In](), reflect.TypeFor[Out]()), method: method}
	if len(peer) > 0 {
		o.peer = peer[0]
		o.streams = true
	}
	o.mount = o.handler
	return o
}

// special declares an operation that is answered otherwise than by one method of Service.
func special[In, Out any](m Meta, mount func(h *handler) http.HandlerFunc) *Operation {
	o := declare(m, reflect.TypeFor[In](), reflect.TypeFor[Out]())
	o.mount = mount
	return o
}

// follow declares an operation that is answered with events.
func follow[In, Out any](m Meta, mount func(h *handler) http.HandlerFunc) *Operation {
	o := special[In, Out](m, mount)
	o.streams = true
	return o
}

// serves declares that an operation answers with bytes instead of a document.
func serves(o *Op[ArtifactGetInput, ArtifactGetOutput]) *Op[ArtifactGetInput, ArtifactGetOutput] {
	o.bytes = true
	o.mount = func(h *handler) http.HandlerFunc { return h.serveArtifact }
	return o
}

// Do has s do the operation.
func (o *Op[In, Out]) Do(ctx context.Context, s Service, in In) (*Out, error) {
	return o.method(s, ctx, in)
}

// Method and Path are the halves of Route.
func (o *Operation) Method() string { m, _, _ := strings.Cut(o.Route, " "); return m }

// Path is where its route is; empty if it has none.
func (o *Operation) Path() string { _, p, _ := strings.Cut(o.Route, " "); return p }

// inPath reports whether a field of its input stands in its path.
func (o *Operation) inPath(name string) bool { return strings.Contains(o.Path(), "{"+name+"}") }

// Streams says that it answers with server-sent events, always or if asked for them.
func (o *Operation) Streams() bool { return o.streams }

// Fields describes its input.
func (o *Operation) Fields() []Field { return fieldsOf(o.input) }
