// Package fs is how a script reaches files: node:fs, node:fs/promises, and mcpx:fs for
// what scripts do most. What it does is asked of engine.Host, path by path as the script
// spelled it; the host resolves a relative one and decides.
//
//	op            head                           answer, and the body of either
//	fs.readFile   {path, flags}                  body: all of the file
//	fs.writeFile  {path, flags, mode}, body      nothing
//	fs.open       {path, flags, mode}            {fd}, which is 3 or more
//	fs.close      {fd}                           nothing
//	fs.read       {fd, max, position}            body: at most max bytes, none at the end
//	fs.write      {fd, position}, body           nothing: all of it is written
//	fs.sync       {fd}                           nothing
//	fs.truncate   {fd or path, size}             nothing
//	fs.stat       {fd or path, follow}           {stat}
//	fs.readdir    {path}                         body: JSON, [[name, type], …] in any order
//	fs.mkdir      {path, recursive, mode}        {first}: the first folder made, if recursive
//	fs.mkdtemp    {prefix}                       {path}: prefix and six characters more
//	fs.rmdir      {path}                         nothing
//	fs.unlink     {path}                         nothing
//	fs.rm         {path, recursive, force}       nothing: force takes what is not there
//	fs.rename     {path, dest}                   nothing
//	fs.copyFile   {path, dest, exclusive}        nothing
//	fs.access     {path, mode}                   nothing; mode is of read 4, write 2, execute 1
//	fs.realpath   {path}                         {path}
//	fs.readlink   {path}                         {path}
//
// flags is a list of read, write, append, create, exclusive, truncate, sync, directory
// and noFollow. A position that is left out is that of the handle. The numbers of a stat
// are texts of decimal digits, since they may be larger than what JSON is read with: dev
// ino mode nlink uid gid rdev size blksize blocks, and in nanoseconds atime mtime ctime
// birthtime. mode has the bits of the type as Linux has them. A type is file, directory,
// link, fifo, socket, character, block or unknown.
//
// An error of the file system is a fault.Error with the detail code, such as ENOENT: a
// script sees Node's error for it, with the path as the script spelled it. Any other
// error, such as one of the kind denied, it sees as it is.
//
// Descriptor 0 is the standard input of the run, which the op stdin reads: {max} is
// answered by {end} and a body. Descriptors 1 and 2 are its output.
//
// Links, owners, modes and times cannot be changed, and files not be watched: the
// functions say so.
package fs

import (
	"context"
	_ "embed"
	"encoding/json"
	"slices"

	"github.com/dop251/goja"

	"mcpx/engine"
	"mcpx/internal/fault"
	"mcpx/stdlib/internal/native"
	"mcpx/stdlib/internal/octets"
	"mcpx/stdlib/internal/source"
)

//go:embed fs.d.ts
var declarations string

//go:embed promises.d.ts
var promisesDeclarations string

//go:embed files.d.ts
var filesDeclarations string

//go:embed fs.js
var text string

//go:embed files.js
var filesText string

var (
	script      = source.New("mcpx:node-fs", text)
	filesScript = source.New("mcpx:files", filesText)
)

// Modules returns node:fs, node:fs/promises and mcpx:fs.
func Modules() []engine.Module {
	promises := func(rt *engine.Runtime) *goja.Object {
		return rt.Require("node:fs").Get("promises").(*goja.Object)
	}
	return []engine.Module{{
		Name:         "node:fs",
		Declarations: declarations,
		Make: func(rt *engine.Runtime) *goja.Object {
			m := &module{rt: rt, vm: rt.VM(), octets: octets.New(rt.VM())}
			return script.Make(rt, m.natives())
		},
	}, {
		Name:         "node:fs/promises",
		Declarations: promisesDeclarations,
		Make:         promises,
	}, {
		Name:         "mcpx:fs",
		Declarations: filesDeclarations,
		Make: func(rt *engine.Runtime) *goja.Object {
			return filesScript.Make(rt, source.Natives{
				"files": func(goja.FunctionCall) goja.Value { return promises(rt) },
				"matcher": func(call goja.FunctionCall) goja.Value {
					return matcher(rt.VM(), native.Text(rt.VM(), call.Argument(0), "pattern").String())
				},
			})
		},
	}}
}

// module is what the script's text needs of one runtime.
type module struct {
	rt     *engine.Runtime
	vm     *goja.Runtime
	octets *octets.Octets
}

func (m *module) natives() source.Natives {
	vm := m.vm
	return source.Natives{
		"call":     m.call,
		"ask":      m.ask,
		"output":   m.output,
		"encode":   m.encode,
		"decode":   m.decode,
		"isView":   func(call goja.FunctionCall) goja.Value { return vm.ToValue(m.octets.IsView(call.Argument(0))) },
		"length":   func(call goja.FunctionCall) goja.Value { return vm.ToValue(len(m.bytes(call.Argument(0)))) },
		"join":     m.join,
		"fill":     m.fill,
		"entries":  m.entries,
		"known":    known,
		"resolved": m.resolved,
		"tick": func(call goja.FunctionCall) goja.Value {
			fn := native.Callback(vm, call.Argument(0), "callback")
			m.rt.NextTick(func() { m.rt.Call(fn, goja.Undefined()) })
			return nil
		},
		"require": func(call goja.FunctionCall) goja.Value {
			if o := m.rt.Require(call.Argument(0).String()); o != nil {
				return o
			}
			panic(vm.NewTypeError("there is no module %q", call.Argument(0).String()))
		},
		"global": func(call goja.FunctionCall) goja.Value { return vm.GlobalObject().Get(call.Argument(0).String()) },
		"invalidValue": func(call goja.FunctionCall) goja.Value {
			return native.InvalidValue(vm, call.Argument(0).String(), call.Argument(1), call.Argument(2).String())
		},
		"outOfRange": func(call goja.FunctionCall) goja.Value {
			return native.OutOfRange(vm, call.Argument(0).String(), call.Argument(1).String(), call.Argument(2))
		},
	}
}

// known(encoding) says whether there is an encoding of the name.
func known(call goja.FunctionCall) goja.Value {
	_, ok := octets.Named(call.Argument(0).String())
	if ok {
		return call.Argument(0)
	}
	return goja.Undefined()
}

// request is what a script asks of the host.
type request struct {
	op   string
	head json.RawMessage
	body []byte
}

// answer is what the host answers.
type answer struct {
	head json.RawMessage
	body []byte
}

// request reads the arguments (op, head, bytes, start, end).
func (m *module) request(call goja.FunctionCall) request {
	head, _ := engine.EncodeJSON(m.rt, call.Argument(1), engine.EncodeOptions{})
	return request{call.Argument(0).String(), head, m.part(call, 2)}
}

// part returns the bytes that the arguments (bytes, start, end) mean, the first of which
// is at an index.
func (m *module) part(call goja.FunctionCall, at int) []byte {
	b := m.bytes(call.Argument(at))
	start, end := int64(0), int64(len(b))
	if v := call.Argument(at + 1); !goja.IsUndefined(v) {
		start = source.Integer(v, 0, int64(len(b)))
	}
	if v := call.Argument(at + 2); !goja.IsUndefined(v) {
		end = source.Integer(v, start, int64(len(b)))
	}
	return b[start:end]
}

// call(op, head, bytes, start, end) waits for the host's answer, a list of its head and
// its body.
func (m *module) call(call goja.FunctionCall) goja.Value {
	r := m.request(call)
	a, err := m.send(m.rt.Context(), r)
	if err != nil {
		panic(m.rt.NewError(err))
	}
	return m.answered(a)
}

// ask is call that returns a promise.
func (m *module) ask(call goja.FunctionCall) goja.Value {
	r := m.request(call)
	r.body = slices.Clone(r.body) // the script may change its own meanwhile
	class := "fs"
	if r.op == "stdin" {
		class = r.op // which may never come
	}
	return engine.Async(m.rt, class, func(ctx context.Context) (answer, error) { return m.send(ctx, r) }, m.answered)
}

func (m *module) send(ctx context.Context, r request) (answer, error) {
	host := m.rt.Host()
	if host == nil {
		return answer{}, fault.Unavailablef("there is no host to ask")
	}
	head, body, err := host.Call(ctx, r.op, r.head, r.body)
	return answer{head, body}, err
}

func (m *module) answered(a answer) goja.Value {
	head := goja.Value(m.vm.NewObject())
	if len(a.head) > 0 {
		v, err := engine.DecodeJSON(m.rt, a.head)
		if err != nil {
			panic(m.rt.NewError(fault.Internalf("reading an answer of the host: %w", err)))
		}
		if _, ok := v.(*goja.Object); ok {
			head = v
		}
	}
	return m.vm.NewArray(head, m.octets.Buffer(a.body))
}

// output(fd, bytes, start, end) writes to the run's output.
func (m *module) output(call goja.FunctionCall) goja.Value {
	stream := engine.Stdout
	if call.Argument(0).ToInteger() == engine.Stderr {
		stream = engine.Stderr
	}
	m.rt.Write(stream, m.part(call, 1))
	return nil
}

// bytes is the memory of an argument, which is none if it is something else.
func (m *module) bytes(v goja.Value) []byte {
	b, _ := m.octets.Bytes(v)
	return b
}

// encode(text, encoding) makes a Buffer of a text.
func (m *module) encode(call goja.FunctionCall) goja.Value {
	e, ok := octets.Named(call.Argument(1).String())
	if !ok {
		e = octets.UTF8
	}
	return m.octets.Buffer(e.Encode(native.String(m.vm, call.Argument(0))))
}

// decode(bytes, encoding) makes a text of bytes.
func (m *module) decode(call goja.FunctionCall) goja.Value {
	e, ok := octets.Named(call.Argument(1).String())
	if !ok {
		e = octets.UTF8
	}
	return e.Decode(m.vm, m.bytes(call.Argument(0)))
}

// join(list) copies a list of bytes into one Buffer.
func (m *module) join(call goja.FunctionCall) goja.Value {
	list, _ := call.Argument(0).(*goja.Object)
	var joined []byte
	for _, key := range list.Keys() {
		joined = append(joined, m.bytes(list.Get(key))...)
	}
	return m.octets.Buffer(joined)
}

// fill(target, offset, bytes) copies bytes into memory of the script, as far as they fit,
// and returns how many did.
func (m *module) fill(call goja.FunctionCall) goja.Value {
	target := m.bytes(call.Argument(0))
	offset := source.Integer(call.Argument(1), 0, int64(len(target)))
	return m.vm.ToValue(copy(target[offset:], m.bytes(call.Argument(2))))
}

// entries(bytes) reads the listing of a folder: a flat list of names and types, ordered
// by name.
func (m *module) entries(call goja.FunctionCall) goja.Value {
	var list [][2]string
	if err := json.Unmarshal(m.bytes(call.Argument(0)), &list); err != nil {
		panic(m.rt.NewError(fault.Internalf("reading an answer of the host: %w", err)))
	}
	slices.SortFunc(list, func(a, b [2]string) int { return compare(a[0], b[0]) })
	flat := make([]any, 0, 2*len(list))
	for _, e := range list {
		flat = append(flat, e[0], e[1])
	}
	return m.vm.NewArray(flat...)
}

func compare(a, b string) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// resolved(path) is an absolute path as node:path would make it of the script's folder.
func (m *module) resolved(call goja.FunctionCall) goja.Value {
	paths := m.rt.Require("node:path")
	if paths == nil {
		return call.Argument(0)
	}
	return native.Invoke(m.vm, paths, "resolve", call.Argument(0))
}
