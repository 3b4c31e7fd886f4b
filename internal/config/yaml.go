package config

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"
	"go.yaml.in/yaml/v4/plugin/loaderlimits"

	"mcpx/internal/fault"
)

// maxYAML bounds a YAML file, and maxYAMLNodes what its aliases make of it.
const (
	maxYAML      = 1 << 20
	maxYAMLNodes = 100_000
)

// parseYAML reads YAML, which Goose and Continue write.
func (d *document) parseYAML() (*node, *fault.Error) {
	if len(d.text) > maxYAML {
		return nil, d.broken(maxYAML, fmt.Sprintf("the file is larger than %d MiB", maxYAML>>20), "")
	}
	limits := loaderlimits.New(loaderlimits.DepthValue(maxDepth), loaderlimits.AliasNone()) // aliases are counted here
	loader, err := yaml.NewLoader(strings.NewReader(string(d.text)), yaml.WithPlugin(limits))
	var root yaml.Node
	if err == nil {
		err = loader.Load(&root)
	}
	switch {
	case errors.Is(err, io.EOF) || err == nil && len(root.Content) == 0:
		return &node{kind: object}, nil
	case err != nil:
		return nil, d.yamlError(err)
	}
	r := yamlReader{d: d, left: maxYAMLNodes}
	n := r.node(root.Content[0], 0)
	if r.err != nil {
		return nil, r.err
	}
	if n.kind == null {
		n.kind = object
	}
	return n, nil
}

func (d *document) yamlError(err error) *fault.Error {
	var at *yaml.LoadError
	if !errors.As(err, &at) {
		return d.broken(0, strings.TrimPrefix(err.Error(), "yaml: "), "")
	}
	what := at.Message
	if at.ContextMsg != "" {
		what = at.ContextMsg + ": " + what
	}
	return d.broken(d.offset(at.Mark.Line, at.Mark.Column), what, "")
}

// yamlReader makes nodes of those of YAML, and keeps the first error.
type yamlReader struct {
	d    *document
	left int
	err  *fault.Error
}

func (r *yamlReader) fail(at int, what string) {
	if r.err == nil {
		r.err = r.d.broken(at, what, "")
	}
}

func (r *yamlReader) node(y *yaml.Node, depth int) *node {
	n := &node{kind: null, at: r.d.offset(y.Line, y.Column)}
	if r.left--; r.left < 0 || depth > maxDepth {
		r.fail(n.at, "there is more here than a configuration has")
	}
	if r.err != nil {
		return n
	}
	switch y.Kind {
	case yaml.AliasNode:
		of := *r.node(y.Alias, depth+1)
		of.at = n.at
		return &of
	case yaml.SequenceNode:
		n.kind = list
		for _, item := range y.Content {
			n.list = append(n.list, r.node(item, depth+1))
		}
	case yaml.MappingNode:
		n.kind = object
		r.members(n, y, depth)
	default:
		n.kind, n.text = yamlScalar(y)
	}
	n.end = n.at + 1
	if y.Kind != yaml.ScalarNode { // up to where its last part ends
		for _, m := range n.members {
			n.end = max(n.end, m.value.end)
		}
		for _, e := range n.list {
			n.end = max(n.end, e.end)
		}
	}
	return n
}

// members adds those of a mapping. What << brings in gives way to what is written.
func (r *yamlReader) members(n *node, y *yaml.Node, depth int) {
	var merged []member
	for i := 0; i+1 < len(y.Content); i += 2 {
		key, value := y.Content[i], r.node(y.Content[i+1], depth+1)
		at := r.d.offset(key.Line, key.Column)
		switch {
		case key.Kind != yaml.ScalarNode:
			r.fail(at, "a key that is no text has no place here")
		case key.Tag == "!!merge":
			merged = append(merged, value.members...)
			for _, of := range value.list {
				merged = append(merged, of.members...)
			}
		case n.get(key.Value) != nil:
			r.fail(at, "the key "+strconv.Quote(key.Value)+" is written a second time")
		default:
			n.members = append(n.members, member{key.Value, at, value})
		}
	}
	for _, m := range merged {
		if n.get(m.key) == nil {
			n.members = append(n.members, m)
		}
	}
}

// yamlScalar is the value of a scalar by the core schema; what is in quotes is text.
func yamlScalar(y *yaml.Node) (kind, string) {
	switch y.ShortTag() {
	case "!!null":
		return null, ""
	case "!!bool":
		return boolean, strings.ToLower(y.Value)
	case "!!int", "!!float":
		return number, y.Value
	}
	return text, y.Value
}
