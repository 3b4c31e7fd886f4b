package config

import (
	"github.com/tailscale/hujson"

	"mcpx/internal/rule"
)

// AllowWrites returns the text of a configuration file in which the entry of a server says
// that tools which write may be called (writePolicy). raw is the text that it has; what
// else stands there stays as it is. The error is of kind NotFound if the server is not in
// there, and Usage if the file cannot be edited.
func AllowWrites(path string, raw []byte, name string) ([]byte, error) {
	e, wrong := openEdit(path, raw)
	if wrong != nil {
		return nil, wrong
	}
	entry := e.entry(name)
	if entry == nil {
		return nil, notFound(path, name)
	}
	allow := hujson.String(string(rule.Allow))
	if at := member1(entry, "writePolicy"); at != nil && (place{path: path}).own() {
		at.Value = allow
		text := e.pack()
		return text, loads(path, text, name)
	}
	block := member1(entry, "mcpx")
	if block == nil {
		value, wrong := e.value(`{ "writePolicy": "allow" }`)
		if wrong != nil {
			return nil, wrong
		}
		e.append(entry, "mcpx", *value)
		text := e.pack()
		return text, loads(path, text, name)
	}
	inner, ok := block.Value.(*hujson.Object)
	if !ok {
		return nil, e.doc.broken(block.StartOffset, "mcpx is not an object", `write "mcpx": { … }`)
	}
	if at := member1(inner, "writePolicy"); at != nil {
		at.Value = allow
	} else {
		inner.Members = append(inner.Members, hujson.ObjectMember{
			Name:  hujson.Value{BeforeExtra: hujson.Extra(" "), Value: hujson.String("writePolicy")},
			Value: hujson.Value{BeforeExtra: hujson.Extra(" "), Value: allow},
		})
		moveExtra(inner)
	}
	text := e.pack()
	return text, loads(path, text, name)
}

// moveExtra has the last member, which is new, stand as the one before it does: on a line
// of its own, and with a comma behind it.
func moveExtra(o *hujson.Object) {
	n := len(o.Members)
	if n < 2 {
		return
	}
	before, last := &o.Members[n-2], &o.Members[n-1]
	if space, broken := lastLine(before.Name.BeforeExtra); broken {
		last.Name.BeforeExtra = hujson.Extra("\n" + space)
	}
	if before.Value.AfterExtra != nil { // a trailing comma
		last.Value.AfterExtra, before.Value.AfterExtra = hujson.Extra{}, nil
	}
}
