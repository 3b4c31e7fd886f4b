package engine

import (
	"slices"
	"strings"

	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/token"
)

var relations = []token.Token{token.LESS, token.LESS_OR_EQUAL, token.GREATER, token.GREATER_OR_EQUAL, token.INSTANCEOF, token.IN}

// regroup mends a chain of relations: goja reads a < b < c as a < (b < c), also where what
// was written is (a < b) < c, which esbuild writes without the parentheses.
func (in *instrumenter) regroup(n *ast.BinaryExpression) {
	if !slices.Contains(relations, n.Operator) {
		return
	}
	for {
		right, ok := n.Right.(*ast.BinaryExpression)
		if !ok || !slices.Contains(relations, right.Operator) || in.parenthesized(right) {
			return
		}
		n.Left = &ast.BinaryExpression{Operator: n.Operator, Left: n.Left, Right: right.Left, Comparison: n.Comparison}
		n.Operator, n.Right, n.Comparison = right.Operator, right.Right, right.Comparison
	}
}

// parenthesized reports whether an expression stands in parentheses of its own.
func (in *instrumenter) parenthesized(e *ast.BinaryExpression) bool {
	text := in.p.file.Source()
	start := int(e.Idx0()) - in.base
	opened := 0
	before := strings.TrimRight(text[:start], " \t\r\n")
	for strings.HasSuffix(before, "(") {
		opened++
		before = strings.TrimRight(before[:len(before)-1], " \t\r\n")
	}
	// Some of them may be about the left side only.
	return opened > 0 && opened > closed(text[start:int(e.Right.Idx0())-in.base])
}

// closed is how many parentheses a text closes that it does not open.
func closed(text string) (n int) {
	open := 0
	var quote byte
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\\':
			i++
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '"' || c == '\'' || c == '`':
			quote = c
		case c == '(':
			open++
		case c == ')' && open > 0:
			open--
		case c == ')':
			n++
		}
	}
	return n
}
