package config

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"

	"mcpx/internal/fault"
)

// maxTOML bounds a TOML file.
const maxTOML = 1 << 20

// parseTOML reads TOML, which only Codex writes.
func (d *document) parseTOML() (*node, *fault.Error) {
	if len(d.text) > maxTOML {
		return nil, d.broken(maxTOML, fmt.Sprintf("the file is larger than %d MiB", maxTOML>>20), "")
	}
	var root map[string]any
	if err := toml.Unmarshal(d.text, &root); err != nil {
		var at *toml.DecodeError
		if !errors.As(err, &at) {
			return nil, d.broken(0, strings.TrimPrefix(err.Error(), "toml: "), "")
		}
		line, column := at.Position()
		what, hint := strings.TrimPrefix(at.Error(), "toml: "), ""
		if strings.HasPrefix(what, "expected keyword") {
			what, hint = "this is no value", "strings stand in quotes"
		}
		return nil, d.broken(d.offset(line, column), what, hint)
	}
	if deeper(root, maxDepth) {
		return nil, d.broken(0, tooDeep, "")
	}
	return fromTOML(root, "", tomlPlaces(d.text)), nil
}

// deeper reports whether a decoded value is nested more than n deep. Dotted keys nest as
// brackets do.
func deeper(v any, n int) bool {
	if n < 0 {
		return true
	}
	switch v := v.(type) {
	case map[string]any:
		for _, e := range v {
			if deeper(e, n-1) {
				return true
			}
		}
	case []any:
		for _, e := range v {
			if deeper(e, n-1) {
				return true
			}
		}
	}
	return false
}

// fromTOML makes a node of a decoded value. Members are in the order of their names,
// since the decoder keeps no other.
func fromTOML(v any, path string, places map[string]int) *node {
	n := &node{at: places[path]}
	switch v := v.(type) {
	case map[string]any:
		n.kind = object
		for _, key := range slices.Sorted(maps.Keys(v)) {
			value := fromTOML(v[key], tomlPath(path, key), places)
			if value.at == 0 {
				value.at = n.at
			}
			n.members = append(n.members, member{key, value.at, value})
		}
	case []any:
		n.kind = list
		for _, e := range v {
			child := fromTOML(e, "", nil)
			child.at = n.at
			n.list = append(n.list, child)
		}
	case bool:
		n.kind, n.text = boolean, strconv.FormatBool(v)
	case int64:
		n.kind, n.text = number, strconv.FormatInt(v, 10)
	case float64:
		n.kind, n.text = number, strconv.FormatFloat(v, 'g', -1, 64)
	default: // strings, dates and times
		n.kind, n.text = text, fmt.Sprint(v)
	}
	return n
}

func tomlPath(path, key string) string { return path + "\x00" + key }

// tomlPlaces finds where each table and key is first written. The text is known to parse.
func tomlPlaces(b []byte) map[string]int {
	places := map[string]int{}
	var p unstable.Parser
	p.Reset(b)
	table := ""
	for p.NextExpression() {
		e := p.Expression()
		if e.Kind != unstable.Table && e.Kind != unstable.ArrayTable && e.Kind != unstable.KeyValue {
			continue
		}
		path := table
		if e.Kind != unstable.KeyValue {
			path = ""
		}
		for key := e.Key(); key.Next(); {
			path = tomlPath(path, string(key.Node().Data))
			if _, earlier := places[path]; !earlier {
				at := int(key.Node().Raw.Offset)
				places[path] = max(at, 0)
			}
		}
		if e.Kind == unstable.KeyValue {
			placeInline(e.Value(), path, places)
		} else {
			table = path
		}
	}
	return places
}

func placeInline(v *unstable.Node, path string, places map[string]int) {
	if v.Kind != unstable.InlineTable {
		return
	}
	for it := v.Children(); it.Next(); {
		inner := path
		for key := it.Node().Key(); key.Next(); {
			inner = tomlPath(inner, string(key.Node().Data))
			places[inner] = int(key.Node().Raw.Offset)
		}
		placeInline(it.Node().Value(), inner, places)
	}
}
