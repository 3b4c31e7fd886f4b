package engine

import (
	"errors"
	"slices"
	"strings"

	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/parser"
)

// refusedDefault is what goja's parser says of a default in the pattern of an array that has a default itself,
// in the pattern of an object or behind the first parameter of an arrow function: { a: [b = 1] = [] }.
const refusedDefault = "Invalid destructuring binding target"

// What a refused default is put between: it becomes a pattern that goja takes, and that no bundle has otherwise.
const (
	boxBefore = "{ 0:"
	boxAfter  = "}"
)

// parse parses the code with goja. What goja refuses without reason is rewritten before, and taken back in the tree
// by unbox.
func (b *bundle) parse(code *string) (*ast.Program, error) {
	for {
		tree, err := parseText(*code)
		if err == nil || !b.boxDefaults(code, err) {
			return tree, err
		}
	}
}

func parseText(code string) (*ast.Program, error) {
	return parser.ParseFile(nil, bundleName, code, 0, parser.WithDisableSourceMaps)
}

// boxDefaults boxes the defaults that goja refused, and reports whether there were any.
func (b *bundle) boxDefaults(code *string, err error) (some bool) {
	var list parser.ErrorList
	if !errors.As(err, &list) {
		return false
	}
	list.Sort()
	next := len(*code)
	for _, e := range slices.Backward(list) {
		from := lineOffset(*code, e.Position.Line) + e.Position.Column - 1
		if e.Message != refusedDefault || from >= next || strings.HasSuffix((*code)[:from], boxBefore) {
			continue
		}
		if to := endOfDefault(*code, from); to > 0 {
			b.insert(code, to, boxAfter)
			b.insert(code, from, boxBefore)
			next, some = from, true
		}
	}
	return some
}

// insert puts text, which is ASCII, into the code and remembers where the line grew.
func (b *bundle) insert(code *string, at int, text string) {
	before := (*code)[:at]
	line := strings.LastIndexByte(before, '\n') + 1
	b.moved = append(b.moved, moved{line: strings.Count(before, "\n"), column: utf16Length(before[line:]) - 1, by: len(text)})
	*code = before + text + (*code)[at:]
}

// endOfDefault is where the element of a pattern ends that begins at from, -1 if it does not: the first place that
// could end one up to which it can be read.
func endOfDefault(code string, from int) int {
	for to := from; to < len(code); to++ {
		if c := code[to]; c != ',' && c != ']' {
			continue
		}
		_, err := parseText("(class { async *m() { (" + code[from:to] + ") } })")
		var list parser.ErrorList
		if !errors.As(err, &list) || !slices.ContainsFunc(list, func(e *parser.Error) bool { return e.Message != refusedDefault }) {
			return to
		}
	}
	return -1
}

// unbox takes the boxes of boxDefaults away.
func (in *instrumenter) unbox(n *ast.ArrayPattern) {
	for i, e := range n.Elements {
		if box, ok := e.(*ast.ObjectPattern); ok && strings.HasPrefix(in.p.file.Source()[int(box.LeftBrace)-in.base:], boxBefore) {
			n.Elements[i] = box.Properties[0].(*ast.PropertyKeyed).Value
		}
	}
}
