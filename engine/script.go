package engine

import (
	"cmp"
	"crypto/rand"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// script is the text of a source on its way to esbuild: what it looks like after the
// repairs that make it a module, and the edits that lead back to what the user wrote.
type script struct {
	text    string
	lines   []string // of the text before edits
	edits   []edit   // in order
	marker  string   // stands for a top-level return; empty without one
	wrapped bool     // the whole text is the operand of export default
	// required are files that it gets by a require of its own making.
	required []string
	prefix   int        // how many sources run before it
	carried  *sourceMap // its own, if it is a bundle
}

// edit says that old bytes at a byte column of a line (both from 0) became new ones.
type edit struct {
	line, column, old int
	text              string
}

// newScript takes away what surrounds code without being code: a byte order mark, a
// Markdown fence, the interpreter line. Lines keep their numbers.
func newScript(text string) script {
	text = strings.TrimPrefix(text, "\ufeff")
	text = withoutFence(text)
	if strings.HasPrefix(text, "#!") {
		text = "//" + text[2:]
	}
	carried := carriedMap(&text)
	return script{text: text, lines: strings.Split(text, "\n"), required: requiredFiles(text), carried: carried}
}

// required matches a require that a script makes itself.
var required = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`([\w$]+)\s*=\s*(?:[\w$]+\.)?createRequire\s*\(\s*import\.meta\.(?:url|filename)\s*\)`)
})

// requiredFiles are the files that a script gets by such a require, as far as their names
// are in the text. esbuild only knows its own require.
func requiredFiles(text string) (files []string) {
	if !strings.Contains(text, "createRequire") {
		return nil
	}
	for _, m := range required().FindAllStringSubmatch(text, -1) {
		calls := regexp.MustCompile(`(?:^|[^\w$.])` + regexp.QuoteMeta(m[1]) + `\s*\(\s*(?:"([^"\\\n]+)"|'([^'\\\n]+)')\s*\)`)
		for _, c := range calls.FindAllStringSubmatch(text, -1) {
			if name := c[1] + c[2]; !slices.Contains(files, name) && !isBuiltin(name) {
				files = append(files, name)
			}
		}
	}
	return files
}

// filesFunction is the name of the function of a bundle that requires such a file.
const filesFunction = "mcpx$files"

// requires is the text of that function, empty without files.
func (s *script) requires() string {
	if len(s.required) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString(" function " + filesFunction + "(name) { switch (name) {")
	for _, name := range s.required {
		fmt.Fprintf(&b, " case %[1]q: return require(%[1]q);", name)
	}
	return b.String() + " } }"
}

// fence matches a text that is one fenced code block.
var fence = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile("^(\\s*)(```+|~~~+)[ \\t]*[\\w+#.-]*[ \\t]*\\r?\\n((?s:.*?))\\n?[ \\t]*(```+|~~~+)\\s*$")
})

func withoutFence(text string) string {
	start := strings.TrimLeft(text, " \t\r\n")
	if !strings.HasPrefix(start, "```") && !strings.HasPrefix(start, "~~~") {
		return text
	}
	m := fence().FindStringSubmatch(text)
	if m == nil || m[2] != m[4] {
		return text
	}
	return strings.Repeat("\n", strings.Count(m[1], "\n")+1) + m[3]
}

// module returns the text that esbuild gets: a module even if nothing in it says so,
// so that it is part of the bundle's one function and not a function of its own.
func (s *script) module() string {
	lines := s.lines
	if len(s.edits) > 0 {
		lines = append([]string(nil), s.lines...)
		for _, e := range slices.Backward(s.edits) {

			l := lines[e.line]
			lines[e.line] = l[:e.column] + e.text + l[e.column+e.old:]
		}
	}
	var before strings.Builder // imports come first, wherever they stand
	for i := range s.prefix {
		fmt.Fprintf(&before, " import %q;", prefixName(i))
	}
	return strings.Join(lines, "\n") + "\nexport {};" + before.String() + s.requires()
}

// prefixName is what a source that runs before a script is called, and prefixIndex which it is.
func prefixName(i int) string { return prefixNamespace + ":" + strconv.Itoa(i+1) }

func prefixIndex(name string) (i int, ok bool) {
	number, ok := strings.CutPrefix(name, prefixNamespace+":")
	if !ok {
		return 0, false
	}
	i, err := strconv.Atoi(number)
	return i - 1, err == nil && i > 0
}

// refusedReturns replaces the top-level returns that esbuild refused in b by throws of
// a marker, which restoreReturns turns back. It reports whether there were any, and
// nothing else stood in the way.
func (s *script) refusedReturns(b *bundle) bool {
	if s.marker != "" || len(b.errors) == 0 {
		return false
	}
	var edits []edit
	for _, e := range b.errors {
		if e.Location == nil || e.Location.File != scriptSource ||
			!strings.HasPrefix(e.Text, "Top-level return cannot be used") {
			return false
		}
		edits = append(edits, edit{line: e.Location.Line - 1, column: e.Location.Column, old: len("return")})
	}
	s.marker = "mcpx$" + rand.Text()
	for i := range edits {
		e := &edits[i]
		e.text = "throw " + s.marker + ","
		if bareReturn(s.lines[e.line][e.column+e.old:]) {
			e.text += "void 0"
		}
	}
	s.edits = edits
	return true
}

// bareReturn reports whether what follows a return on its line leaves it without an operand.
func bareReturn(rest string) bool {
	for {
		rest = strings.TrimLeft(rest, " \t\r")
		comment, ok := strings.CutPrefix(rest, "/*")
		if !ok {
			return rest == "" || rest[0] == ';' || rest[0] == '}' || strings.HasPrefix(rest, "//")
		}
		if _, rest, ok = strings.Cut(comment, "*/"); !ok {
			return true // the comment goes on in the next line, which ends the statement
		}
	}
}

// bareFunction matches the start of a text that is an anonymous function.
var bareFunction = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(\s|//[^\n]*\n|/\*(?s:.*?)\*/)*(async\s+)?function\s*\*?\s*\(`)
})

func (s *script) startsWithFunction() bool {
	return strings.Contains(s.text, "function") && bareFunction().MatchString(s.text)
}

const wrapBefore = "export default ("

// wrapAlone has a text that is one expression be the default export only if it is a
// function: any other value would become that of a run that has none.
func (s *script) wrapAlone() {
	s.edits = []edit{{line: 0, column: 0, text: "const mcpx$value = ("}}
	s.lines[len(s.lines)-1] = `); export default typeof mcpx$value === "function" ? mcpx$value : void 0;`
}

// wrap makes the whole text one expression, the default export. Semicolons after it go.
func (s *script) wrap() bool {
	text := strings.TrimRight(s.text, "; \t\r\n")
	s.marker = ""
	s.wrapped = true
	s.lines = append(strings.Split(text, "\n"), ")")
	s.edits = []edit{{line: 0, column: 0, text: wrapBefore}}
	return true
}

// lastConstant matches what may be an expression at the end of a line.
var lastConstant = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile("(?:^|[;}])[ \\t]*((?:[\\w$\"'`(\\[!~+-])[^;]*?)[; \\t\\r]*$")
})

// declares matches the start of a declaration that would be an expression elsewhere.
var declares = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(async\s+)?(function|class)\b`)
})

// keepLast makes the expression at the end of the text one that esbuild keeps even if it
// folds to a constant. It only looks at the last line: whether what it finds is an
// expression is for the build to say.
func (s *script) keepLast() bool {
	last := len(s.lines) - 1
	for last > 0 && strings.TrimSpace(s.lines[last]) == "" {
		last--
	}
	m := lastConstant().FindStringSubmatchIndex(s.lines[last])
	if m == nil || declares().MatchString(s.lines[last][m[2]:]) {
		return false
	}
	s.edits = append(slices.Clone(s.edits),
		edit{line: last, column: m[2], text: "await ("},
		edit{line: last, column: m[3], text: ")"})
	slices.SortStableFunc(s.edits, func(a, b edit) int {
		return cmp.Or(cmp.Compare(a.line, b.line), cmp.Compare(a.column, b.column))
	})
	return true
}

// originalColumn takes a column of the edited text back to what the user wrote. length
// measures text in the unit of the column.
func (s *script) originalColumn(line, column int, length func(string) int) int {
	shift := 0
	for _, e := range s.edits {
		if e.line != line {
			continue
		}
		start := length(s.lines[line][:e.column])
		grown := length(e.text) - e.old
		switch at := column - shift; {
		case at < start:
			return at
		case at < start+length(e.text):
			return start
		}
		shift += grown
	}
	return column - shift
}
