package config

import (
	"bytes"
	"slices"
	"strings"

	"github.com/tailscale/hujson"

	"mcpx/internal/fault"
	"mcpx/internal/settings"
)

// SetSetting returns the text of a configuration file in which a setting has a value, as it
// is to be written; raw is the text that it has, nil if there is no file yet. What stands
// there already stays as it is, comments too.
//
// Errors are of kind Usage: no such setting, none of its values, a file that cannot be read
// or is of another form than JSON.
func SetSetting(path string, raw []byte, setting, value string) ([]byte, error) {
	if _, err := settings.Canonical(setting, value); err != nil {
		return nil, err
	}
	if setting == "paths.config" {
		return nil, fault.Usagef("%s is a list in a file, which mcpx does not write", setting).Hintf("edit the file by hand")
	}
	e, wrong := openEdit(path, raw)
	if wrong != nil {
		return nil, wrong
	}
	text := quoted(value)
	if settings.IsBare(setting) {
		text = value
	}
	in, key := e.object(), setting
	for group, rest, ok := strings.Cut(key, "."); ok; group, rest, ok = strings.Cut(key, ".") {
		v := member1(in, group)
		if v == nil || v.Value.Kind() == 'n' {
			at, unit := e.indent(in, -1)
			made, wrong := e.value("{" + e.newline + at + unit + nested(rest, text) + e.newline + at + "}")
			if wrong != nil {
				return nil, wrong
			}
			if v != nil {
				v.Value = made.Value
			} else {
				e.append(in, group, *made)
			}
			return e.settled(path, setting)
		}
		next, isObject := v.Value.(*hujson.Object)
		if !isObject {
			return nil, e.doc.broken(v.StartOffset, group+" is not an object", `write "`+group+`": { `+nested(rest, text)+` }`)
		}
		in, key = next, rest
	}
	made, wrong := e.value(text)
	if wrong != nil {
		return nil, wrong
	}
	if old := member1(in, key); old != nil {
		made.BeforeExtra, made.AfterExtra = old.BeforeExtra, old.AfterExtra
		*old = *made
		return e.settled(path, setting)
	}
	if oneLine(in) {
		e.appendInline(in, key, *made)
	} else {
		e.append(in, key, *made)
	}
	return e.settled(path, setting)
}

// UnsetSetting returns the text without the setting, and whether it was there. A group in
// which nothing is left goes as well, unless there is a comment in it.
func UnsetSetting(path string, raw []byte, setting string) ([]byte, bool, error) {
	e, wrong := openEdit(path, raw)
	if wrong != nil {
		return nil, false, wrong
	}
	if !e.unset(e.object(), setting) {
		return raw, false, nil
	}
	return e.pack(), true, nil
}

// unset takes a setting out of an object, and reports whether it was there.
func (e *edit) unset(in *hujson.Object, setting string) (was bool) {
	group, rest, grouped := strings.Cut(setting, ".")
	for _, at := range slices.Backward(e.named(in, group)) {
		if !grouped {
			cut(in, at)
			was = true
			continue
		}
		inner, ok := in.Members[at].Value.Value.(*hujson.Object)
		if !ok || !e.unset(inner, rest) {
			continue
		}
		was = true
		if len(inner.Members) == 0 && len(bytes.TrimSpace(inner.AfterExtra)) == 0 {
			cut(in, at)
		}
	}
	return was
}

// nested writes a member of an object; a dotted key is a member of an object in that.
func nested(key, text string) string {
	if group, rest, ok := strings.Cut(key, "."); ok {
		return quoted(group) + ": { " + nested(rest, text) + " }"
	}
	return quoted(key) + ": " + text
}

// oneLine reports whether the members of an object stand on the line on which it begins.
func oneLine(o *hujson.Object) bool {
	return len(o.Members) > 0 && !bytes.ContainsRune(bytes.Join([][]byte{o.Members[0].Name.BeforeExtra, o.AfterExtra}, nil), '\n')
}

// appendInline adds a member on the line of the others.
func (e *edit) appendInline(o *hujson.Object, name string, value hujson.Value) {
	value.BeforeExtra = hujson.Extra(" ")
	if o.Members[len(o.Members)-1].Value.AfterExtra != nil { // a comma stands behind the last one
		value.AfterExtra = hujson.Extra{}
	}
	o.Members = append(o.Members, hujson.ObjectMember{
		Name:  hujson.Value{BeforeExtra: hujson.Extra(" "), Value: hujson.String(name)},
		Value: value,
	})
}

// settled writes the file, and makes sure that the setting is read from it.
func (e *edit) settled(path, setting string) ([]byte, error) {
	text := e.pack()
	doc, wrong := newDocument(path, text)
	if wrong != nil {
		return nil, wrong
	}
	root, wrong := doc.parse()
	if wrong != nil {
		return nil, wrong
	}
	r := reader{place: place{path: path}, doc: doc}
	if wrong := r.read(root); wrong != nil {
		return nil, wrong
	}
	for _, entry := range r.settings.Entries {
		if entry.Path == setting {
			return text, nil
		}
	}
	return nil, fault.Usagef("%s is a file of another host, in which mcpx reads no settings", path).Hintf("name another place with --persist").With("file", path)
}
