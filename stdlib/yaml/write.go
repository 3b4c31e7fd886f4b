package yaml

import (
	"encoding/base64"
	"math"
	"math/big"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v4"

	"mcpx/stdlib/internal/data"
)

// node makes what the library writes of a plain value.
func node(kit *data.Kit, v any) *yaml.Node {
	scalar := func(tag, text string) *yaml.Node {
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: tag, Value: text}
	}
	switch v := v.(type) {
	case bool:
		return scalar("!!bool", strconv.FormatBool(v))
	case float64:
		return number(kit, v)
	case *big.Int:
		return scalar("!!int", v.String())
	case string:
		return text(v)
	case time.Time:
		return text(data.Timestamp(v))
	case []byte:
		n := scalar("!!binary", base64.StdEncoding.EncodeToString(v))
		n.Style = yaml.TaggedStyle
		return n
	case []any:
		n := &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq"}
		for _, item := range v {
			n.Content = append(n.Content, node(kit, item))
		}
		return n
	case data.Object:
		n := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}
		for _, m := range v {
			n.Content = append(n.Content, text(m.Key), node(kit, m.Value))
		}
		return n
	}
	return scalar("!!null", "null")
}

func number(kit *data.Kit, f float64) *yaml.Node {
	n := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!float"}
	switch {
	case math.IsNaN(f):
		n.Value = ".nan"
	case math.IsInf(f, 1):
		n.Value = ".inf"
	case math.IsInf(f, -1):
		n.Value = "-.inf"
	case f == 0 && math.Signbit(f):
		n.Value = "-0.0"
	default:
		n.Value = kit.Number(f)
		if !strings.ContainsAny(n.Value, ".e") {
			n.Tag = "!!int"
		}
	}
	return n
}

// text is a node of text, in quotes where a reader could take it for something else.
func text(s string) *yaml.Node {
	n := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: s}
	switch {
	case strings.ContainsAny(s, "\r\u0085\u2028\u2029\uFEFF") || strings.HasPrefix(s, "\n") || strings.HasSuffix(s, "\n ") || strings.Contains(s, " \n"):
		n.Style = yaml.DoubleQuotedStyle // a block would not keep it
	case isOldWord(s):
		n.Style = yaml.SingleQuotedStyle
	}
	return n
}

// isOldWord reports whether YAML 1.1 has another meaning for text that is text today:
// booleans, and numbers to the base 60.
func isOldWord(s string) bool {
	switch strings.ToLower(s) {
	case "yes", "no", "on", "off":
		return true
	}
	return strings.Contains(s, ":") && made(s, "0123456789_:.+-")
}
