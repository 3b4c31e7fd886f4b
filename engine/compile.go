package engine

import (
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"

	"github.com/dop251/goja"
	"github.com/dop251/goja/file"
	"github.com/dop251/goja/parser"

	"mcpx/internal/fault"
)

// Program is a compiled script: one strict async function, the positions of its parts
// in the user's source, and what becomes of its value. It belongs to no runtime.
type Program struct {
	code      *goja.Program
	file      *file.File
	names     map[string]string // file names as goja writes them in a stack → as the user knows them
	texts     map[string]string // source texts by the user's name
	marks     []mark
	renamed   map[int]string    // by offset in the bundle, what the author called a variable that esbuild renamed
	functions map[string]string // what the author called functions, by what stacks call them; empty if that is no one name
	shape     shape
	src       Source
	uses      helperSet // what the code calls
	wants     wants     // what it may need of the additions
	lower     bool      // its fields have to be assigned in constructors
	links     []link    // what it imports of modules by name
	entry     string    // what the user calls the source of the script itself
	start     string    // the function that is called if nothing is exported; empty without one
	// literals are the regular expressions whose patterns were rewritten, by the new one.
	literals map[string]*regexpOrigin
	sites    sites
	// wrapped says that the whole text is one expression, which is the default export.
	wrapped bool
}

// bundleName is what positions outside the user's sources are called.
const bundleName = "mcpx:bundle"

// Compile turns a source into a program. Imports of modules by name are resolved
// against modules; the runtime that runs the program must have the same. Imports of
// files are resolved only if src.Files is set: esbuild then reads them.
//
// The report, of kind Usage, says where the source does not parse, or which import
// does not exist.
func Compile(src Source, modules []Module) (p *Program, report *fault.Report) {
	defer func() {
		if x := recover(); x != nil {
			p, report = nil, panicReport(x)
		}
	}()
	c := &compiler{src: src, modules: modules}
	return c.compile()
}

// compiler makes one program.
type compiler struct {
	src     Source
	modules []Module
	script  script
	lowered bool // class fields as assignments in constructors
	names   bool // functions and classes keep theirs where esbuild wraps or renames them
	legacy  bool // decorators as TypeScript had them first

	packages packageForm

	alone   bool // what is made is a script again
	foreign bool // it is for another runtime

	mu       sync.Mutex // esbuild loads modules on goroutines of its own
	requires []string   // the modules of the runtime that such a bundle requires
}

// compile builds the script as it stands, and again where what came of it calls for
// another form: returns that esbuild refuses, a function or expression as the whole
// text, syntax that goja lacks.
func (c *compiler) compile() (*Program, *fault.Report) {
	c.script = newScript(c.src.Text)
	c.script.prefix = len(c.src.Prefix)
	b, report := c.build()
	if report != nil && strings.HasPrefix(report.Message, "Parameter decorators only work") {
		c.legacy = true // there are none in the newer form
		b, report = c.build()
	}
	if report != nil && c.script.refusedReturns(b) {
		b, report = c.build()
	}
	if report != nil && !c.script.wrapped && c.script.startsWithFunction() {
		// function () {…} is no statement, but it is an expression.
		plain, refusal := c.script, report
		c.script.wrap()
		if b, report = c.build(); report != nil {
			c.script, report = plain, refusal
		}
	}
	if report != nil {
		return nil, report
	}
	p, report := c.finish(b)
	switch {
	case report != nil, p.lower:
		// goja refuses super in the initialiser of a field, and fields that are called async.
		c.lowered, c.names = true, true
		p, report = c.again(p, report)
	case strings.Contains(b.code, "__decorate"):
		c.names = true
		p, report = c.again(p, report)
	}
	if report != nil || c.script.wrapped {
		return p, report
	}
	// esbuild drops expressions that do nothing: the arrow function that may be the whole
	// text, the constant at the end of it.
	switch {
	case p.shape.empty:
		return c.otherwise(p, (*script).wrap), nil
	case p.shape.valueless && c.src.Expression:
		return c.otherwise(p, (*script).keepLast), nil
	}
	return p, nil
}

// again compiles the script with other settings, and returns what there was if it is no
// better.
func (c *compiler) again(p *Program, report *fault.Report) (*Program, *fault.Report) {
	b, refused := c.build()
	if refused != nil {
		return p, report
	}
	if other, refused := c.finish(b); refused == nil {
		return other, nil
	}
	return p, report
}

// otherwise compiles the script in another form, and returns p if it has none.
func (c *compiler) otherwise(p *Program, form func(*script) bool) *Program {
	plain := c.script
	if form(&c.script) {
		if b, report := c.build(); report == nil {
			if other, report := c.finish(b); report == nil && !other.shape.empty {
				return other
			}
		}
	}
	c.script = plain
	return p
}

// finish parses a bundle with goja, adds what the run needs and compiles it.
func (c *compiler) finish(b *bundle) (*Program, *fault.Report) {
	code := b.code
	b.restoreReturns(&code, c.script.marker)
	tree, refusal := b.parse(&code)
	m, err := parseSourceMap(b.mapping)
	if err != nil {
		return nil, panicReport(err)
	}
	p := &Program{src: c.src, entry: c.src.Name, wrapped: c.script.wrapped, names: map[string]string{}, texts: map[string]string{}, renamed: map[int]string{}}
	c.place(m, b, code, p)
	consumer, err := m.consumer()
	if err != nil {
		return nil, panicReport(err)
	}
	if tree == nil || refusal != nil {
		var list parser.ErrorList
		if !errors.As(refusal, &list) || len(list) == 0 {
			return nil, panicReport(refusal)
		}
		f := file.NewFile(bundleName, code, 0)
		f.SetSourceMap(consumer)
		p.file = f
		return nil, p.unsupported(list[0], code)
	}
	tree.File.SetSourceMap(consumer)
	p.file = tree.File
	if report := p.instrument(tree); report != nil {
		return nil, report
	}
	if p.code, err = goja.CompileAST(tree, true); err != nil {
		return nil, p.refused(err)
	}
	return p, nil
}

// unsupported reports syntax that esbuild passes and goja does not parse.
func (p *Program) unsupported(e *parser.Error, code string) *fault.Report {
	offset := lineOffset(code, e.Position.Line) + e.Position.Column - 1
	return &fault.Report{
		Kind: fault.Usage, Name: "SyntaxError", Message: e.Message,
		At: p.at(p.file.Position(min(max(offset, 0), len(code)))),
	}
}

// refused reports an error of goja's compiler, whose position counts in the bundle.
func (p *Program) refused(err error) *fault.Report {
	r := &fault.Report{Kind: fault.Usage, Name: "SyntaxError", Message: err.Error()}
	if syntax, ok := errors.AsType[*goja.CompilerSyntaxError](err); ok {
		r.Message = syntax.Message
		if syntax.File != nil {
			r.At = p.at(syntax.File.Position(syntax.Offset))
		}
	}
	return r
}

// lineOffset is where the line that counts from 1 starts.
func lineOffset(text string, line int) int {
	offset := 0
	for ; line > 1; line-- {
		i := strings.IndexByte(text[offset:], '\n')
		if i < 0 {
			break
		}
		offset += i + 1
	}
	return offset
}

// place moves both sides of the map to where the texts really are: the generated side
// to bytes, the script's to what the user wrote. It also learns the files' names.
func (c *compiler) place(m *sourceMap, b *bundle, code string, p *Program) {
	entry := -1
	for i, s := range m.sources {
		name, text := c.sourceName(s), ""
		if s == scriptSource {
			entry, text = i, c.src.Text
		} else if n, ok := prefixIndex(s); ok && n < len(c.src.Prefix) {
			text = c.src.Prefix[n]
		} else if i < len(m.texts) && c.shows(s) { // a map may claim any file to be its source
			text = m.texts[i]
		}
		m.sources[i] = name
		p.knows(name, text)
	}
	generated, start := strings.Split(code, "\n"), 0
	for i, segments := range m.lines {
		for j := range segments {
			s := &segments[j]
			s.column = b.generatedColumn(i, s.column)
			if i < len(generated) {
				s.column = byteColumn(generated[i], s.column)
			}
			if s.mapped && s.source == entry {
				s.at = c.script.originalColumn(s.line, s.at, utf16Length)
			}
			if s.name != "" {
				p.renamed[start+s.column] = s.name
			}
		}
		if i < len(generated) {
			start += len(generated[i]) + 1
		}
	}
	if inner := c.script.carried; inner != nil && entry >= 0 {
		before := len(m.sources)
		p.entry = m.sources[m.through(entry, inner)]
		for i := before; i < len(m.sources); i++ {
			p.knows(m.sources[i], m.texts[i])
		}
	}
}

// knows has a source that the user calls name be found by what goja calls it.
func (p *Program) knows(name, text string) {
	written := name
	if u := file.ResolveSourcemapURL(bundleName, name); u != nil {
		written = u.String()
	}
	p.names[written] = name
	p.texts[name] = text
}

// sourceName is how the user knows a source of the bundle.
func (c *compiler) sourceName(source string) string {
	switch {
	case source == scriptSource:
		return c.src.Name
	case strings.HasPrefix(source, nativeNamespace+":"):
		return bundleName
	case strings.HasPrefix(source, prefixNamespace+":"):
		return source
	case c.src.File != "" && !path.IsAbs(c.src.Name):
		return path.Join(path.Dir(filepath.ToSlash(c.src.Name)), source)
	case c.src.File != "" && !filepath.IsAbs(source):
		return filepath.Join(filepath.Dir(c.src.File), source)
	}
	return source
}

// at is a place of the user's source with its line, or nil if the place is not there.
func (p *Program) at(pos file.Position) *fault.Position {
	name, ok := p.names[pos.Filename]
	if !ok || name == bundleName || pos.Line < 1 {
		return nil
	}
	return &fault.Position{File: name, Line: pos.Line, Column: max(pos.Column, 1), Text: lineOf(p.texts[name], pos.Line)}
}

func lineOf(text string, line int) string {
	from := lineOffset(text, line)
	rest := text[min(from, len(text)):]
	if i := strings.IndexByte(rest, '\n'); i >= 0 {
		rest = rest[:i]
	}
	return strings.TrimSuffix(rest, "\r")
}

// byteColumn turns a column that counts UTF-16 code units into one of bytes.
func byteColumn(line string, column int) int {
	units := 0
	for i, r := range line {
		if units >= column {
			return i
		}
		units += utf16Units(r)
	}
	return len(line) + column - units
}

func utf16Length(s string) int {
	n := 0
	for _, r := range s {
		n += utf16Units(r)
	}
	return n
}

func utf16Units(r rune) int {
	if r > 0xFFFF {
		return 2
	}
	return 1
}

// FaultDetail is the detail of a report about a fault of the engine that says what Go
// has to say of it. It is for the log: nobody else can do anything with it.
const FaultDetail = "go"

// panicReport reports a fault of the engine itself, or that a script asked for a value
// so large that it cannot even be tried to make it.
func panicReport(x any) *fault.Report {
	if e, ok := x.(runtime.Error); ok && (strings.Contains(e.Error(), "makeslice: ") || strings.Contains(e.Error(), "growslice: ")) {
		return &fault.Report{
			Kind: fault.Script, Name: "RangeError", Message: "a value is larger than can be made",
			Hint: "a length or a number that the script computes is enormous",
		}
	}
	return &fault.Report{
		Kind: fault.Internal, Name: fault.Internal.ErrorName(),
		Message: "the script engine failed",
		Hint:    "this is a fault of mcpx, not of the script",
		Details: map[string]any{FaultDetail: fmt.Sprintf("%v\n%s", x, debug.Stack())},
	}
}
