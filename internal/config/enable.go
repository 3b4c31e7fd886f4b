package config

import (
	"slices"

	"github.com/tailscale/hujson"
)

// Enable returns the text of a configuration file in which the entry of a server is in use,
// or left out (on is false). raw is the text that it has; what else stands there stays as it
// is. The error is of kind NotFound if the server is not in there, and Usage if the file
// cannot be edited.
func Enable(path string, raw []byte, name string, on bool) ([]byte, error) {
	e, wrong := openEdit(path, raw)
	if wrong != nil {
		return nil, wrong
	}
	entry := e.entry(name)
	if entry == nil {
		return nil, notFound(path, name)
	}
	e.enable(entry, on)
	return e.pack(), nil
}

// enable keeps the word that the entry has for it. Each of them can leave the server out.
func (e *edit) enable(entry *hujson.Object, on bool) {
	said := false
	for _, key := range []string{"enabled", "isActive"} {
		for _, i := range e.named(entry, key) {
			entry.Members[i].Value.Value = hujson.Bool(on)
			said = true
		}
	}
	for at := e.named(entry, "disabled"); len(at) > 0; at = at[:len(at)-1] {
		if i := at[len(at)-1]; on {
			cut(entry, i)
		} else {
			entry.Members[i].Value.Value = hujson.Bool(true)
			said = true
		}
	}
	if on || said {
		return
	}
	disabled := hujson.Value{Value: hujson.Bool(true)}
	if n := len(entry.Members); n > 0 && !slices.Contains(entry.Members[n-1].Name.BeforeExtra, '\n') { // all on one line
		disabled.BeforeExtra = hujson.Extra(" ")
		entry.Members = append(entry.Members, hujson.ObjectMember{
			Name: hujson.Value{BeforeExtra: hujson.Extra(" "), Value: hujson.String("disabled")}, Value: disabled,
		})
		moveExtra(entry)
		return
	}
	e.append(entry, "disabled", disabled)
}
