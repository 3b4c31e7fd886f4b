// Package fetch is how a script speaks HTTP: fetch with Headers, Request and Response, as
// the Fetch Standard and Node 20 have them. Addresses with the scheme data are answered
// here; everything else is asked of engine.Host:
//
//	op           head                                      body      answer
//	fetch.open   {url, method, headers, redirect, stream}  all of    the response, see below; if stream, only
//	                                                       it        {id}, as soon as the request is permitted
//	fetch.write  {id, end}                                 a piece   {over}: a piece of a streamed request body; end
//	                                                                 says that it was the last, over that no more
//	                                                                 is wanted, whatever became of the request
//	fetch.head   {id}                                                the response, when a streamed one is there
//	fetch.read   {id, max}                                           head: {end}; body: the next bytes of the
//	                                                                 response, at most max and at least one,
//	                                                                 unless it has ended
//	fetch.close  {id}                                                nothing: the exchange is given up; an id
//	                                                                 that is forgotten is no error
//
// A response is a head {id, status, statusText, headers, url, redirected, end} and a body
// with as much of the content as was there at once. end says that it is all of it; the id
// is then forgotten, as after a fetch.read that answers end. headers are lists of two
// texts, name and value, both ways, a name as often as it has values, and a character of
// a value is one byte. The host decodes the content; the headers are the server's all the
// same. It does not send the headers that are not a script's to set, and leaves out what
// could tell a secret when a redirect leads to another origin. redirect is follow, manual
// or error, and it is the host that follows. The scheme of url is http or https, and it
// has no fragment.
//
// An error of the kind unavailable means that the network did not answer: a script sees
// the TypeError "fetch failed" with it as its cause. Any other error, such as one of the
// kind denied, it sees as it is. One of the kind limit with the detail busy says that the
// host has too many exchanges at the moment: the request is sent again, after responses
// that the script let go of were closed. A call whose context is done is to be given up.
package fetch

import (
	"bytes"
	_ "embed"

	"github.com/dop251/goja"

	"mcpx/engine"
	"mcpx/stdlib/internal/octets"
	"mcpx/stdlib/internal/source"
)

//go:embed fetch.d.ts
var declarations string

//go:embed fetch.js
var text string

var script = source.New("mcpx:fetch", text)

// Module returns the globals.
func Module() engine.Module {
	return engine.Module{
		Globals:      []string{"fetch", "Headers", "Request", "Response"},
		Declarations: declarations,
		Make:         func(rt *engine.Runtime) *goja.Object { return newModule(rt).exports() },
	}
}

// module is fetch in one runtime.
type module struct {
	rt     *engine.Runtime
	vm     *goja.Runtime
	octets *octets.Octets

	abandoned *abandonment
}

func newModule(rt *engine.Runtime) *module {
	return &module{rt: rt, vm: rt.VM(), octets: octets.New(rt.VM()), abandoned: &abandonment{}}
}

func (m *module) exports() *goja.Object {
	return script.Make(m.rt, source.Natives{
		"exchange":  func(goja.FunctionCall) goja.Value { return m.newExchange() },
		"copy":      func(call goja.FunctionCall) goja.Value { return m.octets.Uint8Array(m.copied(call.Argument(0))) },
		"utf8":      func(call goja.FunctionCall) goja.Value { return m.octets.Uint8Array(encoded(call.Argument(0))) },
		"join":      m.join,
		"text":      m.text,
		"mime":      m.mime,
		"parse":     m.parse,
		"dataURL":   m.dataURL,
		"parseForm": m.parseForm,
	})
}

// copied returns a copy of the bytes of an ArrayBuffer or view.
func (m *module) copied(v goja.Value) []byte {
	b, _ := m.octets.Bytes(v)
	return append(make([]byte, 0, len(b)), b...)
}

func encoded(v goja.Value) []byte { return octets.UTF8.Encode(v.ToString().(goja.String)) }

// join(parts) copies texts and bytes into one Uint8Array.
func (m *module) join(call goja.FunctionCall) goja.Value {
	parts, _ := call.Argument(0).(*goja.Object)
	var joined []byte
	for _, key := range parts.Keys() {
		part := parts.Get(key)
		b, ok := m.octets.Bytes(part)
		if !ok {
			b = encoded(part)
		}
		joined = append(joined, b...)
	}
	return m.octets.Uint8Array(joined)
}

// text(bytes) decodes UTF-8 without its byte order mark.
func (m *module) text(call goja.FunctionCall) goja.Value {
	b, _ := m.octets.Bytes(call.Argument(0))
	return octets.UTF8.Decode(m.vm, withoutMark(b))
}

// parse(bytes) makes a value of JSON, or undefined if it is none.
func (m *module) parse(call goja.FunctionCall) goja.Value {
	b, _ := m.octets.Bytes(call.Argument(0))
	v, err := engine.DecodeJSON(m.rt, withoutMark(b))
	if err != nil {
		return goja.Undefined()
	}
	return v
}

// withoutMark takes the byte order mark of UTF-8 away.
func withoutMark(b []byte) []byte { return bytes.TrimPrefix(b, []byte("\xef\xbb\xbf")) }
