package engine

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"mcpx/internal/fault"
)

// Bundled is a script as one text of plain JavaScript.
type Bundled struct {
	// Code is the text. Of Bundle it is a script that runs as any other does, with its source
	// map at its end. Of Translate it is a function:
	//
	//	(async (mcpx$exports, mcpx$require) => {…})
	//
	// mcpx$exports takes an object of getters with the script's exports, and mcpx$require
	// returns the modules that Requires lists.
	Code string `json:"code"`
	// Map is the source map of Code, in its usual form.
	Map string `json:"map,omitempty"`
	// Requires are the modules of the runtime that it needs.
	Requires []string `json:"requires,omitempty"`
	// Starts says that the function returns what is called if nothing was exported: a main
	// that the script itself does not call, or the one function that it consists of.
	Starts bool `json:"starts,omitempty"`
}

// Bundle makes one script of a source and the files that it imports, which does what the
// source does: modules of the runtime stay imports. Errors in it have the positions of the
// sources. import.meta is the new script's, but for main, which is false in what was
// imported. The report is as that of Compile.
func Bundle(src Source, modules []Module) (*Bundled, *fault.Report) {
	return bundleOf(src, modules, false)
}

// Translate makes a function of a source and the files that it imports, for another
// runtime, whose modules are those of names: node:path and the like.
func Translate(src Source, names []string) (*Bundled, *fault.Report) {
	var modules []Module
	for _, n := range names {
		modules = append(modules, Module{Name: n})
	}
	return bundleOf(src, modules, true)
}

func bundleOf(src Source, modules []Module, foreign bool) (out *Bundled, report *fault.Report) {
	defer func() {
		if x := recover(); x != nil {
			out, report = nil, panicReport(x)
		}
	}()
	c := &compiler{src: src, modules: modules}
	p, report := c.compile()
	if report != nil {
		return nil, report
	}
	if len(c.script.required) > 0 {
		return nil, &fault.Report{
			Kind: fault.Usage, Name: "ImportError", Message: "a require that the script makes itself (createRequire) cannot be bundled",
			Hint: "import the file instead",
		}
	}
	c.lowered = false
	c.alone, c.foreign = !foreign, foreign
	if c.script.wrapped && c.alone {
		c.script.wrapAlone()
	}
	b, report := c.build()
	if report != nil {
		return nil, report
	}
	code := b.code
	b.restoreReturns(&code, c.script.marker)
	m, err := parseSourceMap(b.mapping)
	if err != nil {
		return nil, panicReport(err)
	}
	entry := c.trace(m, b)
	out = &Bundled{Requires: c.requires}
	if foreign {
		out.Starts = p.start != ""
		if out.Starts {
			code = strings.TrimSuffix(strings.TrimRight(code, "\n"), bundleAfter) + ";return " + p.start + ";" + bundleAfter
		}
	} else {
		code = c.standalone(code, m)
	}
	text, err := m.text(entry)
	if err != nil {
		return nil, panicReport(err)
	}
	out.Code, out.Map = code, string(text)
	if !foreign {
		out.Code = strings.TrimRight(code, "\n") + "\n" + mapComment + base64.StdEncoding.EncodeToString(text) + "\n"
	}
	return out, nil
}

// trace takes a map to the sources as the user knows them, and returns which of them is
// the script itself.
func (c *compiler) trace(m *sourceMap, b *bundle) (entry int) {
	entry = -1
	texts := make([]string, len(m.sources))
	for i, s := range m.sources {
		switch {
		case s == scriptSource:
			entry, texts[i] = i, c.src.Text
		case i < len(m.texts):
			texts[i] = m.texts[i]
		}
		m.sources[i] = c.sourceName(s)
	}
	m.texts = texts
	for i, segments := range m.lines {
		for j := range segments {
			s := &segments[j]
			s.column = b.generatedColumn(i, s.column)
			if s.mapped && s.source == entry {
				s.at = c.script.originalColumn(s.line, s.at, utf16Length)
			}
		}
	}
	if c.script.carried != nil && entry >= 0 {
		entry = m.through(entry, c.script.carried)
	}
	return entry
}

// metaObject matches what stands for an import.meta in a bundle.
const metaObject = `^(\s*(?:(?:var|const|let) )?import_meta\w* = )\{\};$`

// standalone makes a script of a bundle: what it requires of the runtime is imported in
// its first line.
func (c *compiler) standalone(code string, m *sourceMap) string {
	lines := strings.Split(code, "\n")
	if strings.Contains(code, "import_meta") {
		object, source := regexp.MustCompile(metaObject), ""
		for i, l := range lines {
			if name, ok := strings.CutPrefix(l, "// "); ok {
				source = name
			}
			if at := object.FindStringSubmatch(l); at != nil {
				lines[i] = at[1] + "import.meta;"
				if source != scriptSource {
					lines[i] = at[1] + "{ ...import.meta, main: false };"
				}
			}
		}
	}
	for i, l := range lines {
		if l == "// "+scriptSource {
			lines[i] = "// " + strings.NewReplacer("\n", " ", "\r", " ", "\u2028", " ", "\u2029", " ").Replace(c.src.Name)
		}
	}
	if len(c.requires) == 0 {
		return strings.Join(lines, "\n")
	}
	var imports strings.Builder
	for i, name := range c.requires {
		fmt.Fprintf(&imports, "import %s from %q; ", nativeName(i), name)
	}
	m.lines = append([][]segment{nil}, m.lines...)
	return strings.TrimSuffix(imports.String(), " ") + "\n" + strings.Join(lines, "\n")
}

// nativeName is the variable of a module that a standalone script requires.
func nativeName(i int) string { return fmt.Sprintf("mcpx$%d", i) }

// required is the text of a module of the runtime that is required rather than imported.
func (c *compiler) required(name string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	i := slices.Index(c.requires, name)
	if i < 0 {
		i = len(c.requires)
		c.requires = append(c.requires, name)
	}
	if c.alone {
		return "module.exports = " + nativeName(i)
	}
	return fmt.Sprintf("module.exports = %s(%q)", requireParameter, name)
}

// mapComment begins the last line of a bundle.
const mapComment = "//# sourceMappingURL=data:application/json;base64,"

// carriedMap is the source map of a script that is a bundle of ours; nil if it is none. It
// is cut off the text then: what is left has the same lines.
func carriedMap(text *string) *sourceMap {
	body := strings.TrimRight(*text, "\r\n")
	at := strings.LastIndexByte(body, '\n') + 1
	encoded, ok := strings.CutPrefix(body[at:], mapComment)
	if !ok {
		return nil
	}
	decoded, err := base64.StdEncoding.DecodeString(encoded)
	var t sourceMapText
	if err != nil || json.Unmarshal(decoded, &t) != nil {
		*text = body[:at] // it is a comment, and esbuild would not take it for one
		return nil
	}
	if t.Entry == nil || *t.Entry < 0 || *t.Entry >= len(t.Sources) {
		return nil
	}
	m, err := parseSourceMap(decoded)
	if err != nil {
		return nil
	}
	m.entry = *t.Entry
	for _, segments := range m.lines {
		for _, s := range segments {
			if s.mapped && (s.source < 0 || s.source >= len(m.sources) || s.line < 0 || s.at < 0) {
				return nil
			}
		}
	}
	*text = body[:at]
	return m
}

// through takes the places of one source, which is a bundle itself, to those that its own
// map has for them, and returns which source is that of the script.
func (m *sourceMap) through(source int, inner *sourceMap) (entry int) {
	base := len(m.sources)
	m.sources = append(m.sources, inner.sources...)
	for len(m.texts) < base {
		m.texts = append(m.texts, "")
	}
	m.texts = append(m.texts[:base], inner.texts...)
	for len(m.texts) < len(m.sources) {
		m.texts = append(m.texts, "")
	}
	for _, segments := range m.lines {
		for i := range segments {
			s := &segments[i]
			if !s.mapped || s.source != source {
				continue
			}
			to, ok := inner.find(s.line, s.at)
			if !ok {
				*s = segment{column: s.column}
				continue
			}
			s.source, s.line, s.at = base+to.source, to.line, to.at
		}
	}
	return base + inner.entry
}

// find returns what a generated place is mapped to. Both count from 0.
func (m *sourceMap) find(line, column int) (s segment, ok bool) {
	if line < 0 || line >= len(m.lines) {
		return segment{}, false
	}
	segments := m.lines[line]
	i, exact := slices.BinarySearchFunc(segments, column, func(s segment, column int) int { return s.column - column })
	if !exact {
		i--
	}
	if i < 0 || !segments[i].mapped {
		return segment{}, false
	}
	return segments[i], true
}

// Map leads from places in a text to those of its sources.
type Map struct{ m *sourceMap }

// ReadMap reads the map of a Bundled.
func ReadMap(text string) (*Map, error) {
	m, err := parseSourceMap([]byte(text))
	if err != nil {
		return nil, err
	}
	return &Map{m}, nil
}

// Find returns the place of the source that a place of the text is from; nil if it is from
// none. Lines and columns count from 1.
func (m *Map) Find(line, column int) *fault.Position {
	s, ok := m.m.find(line-1, column-1)
	if !ok || s.source < 0 || s.source >= len(m.m.sources) {
		return nil
	}
	at := &fault.Position{File: m.m.sources[s.source], Line: s.line + 1, Column: s.at + 1}
	if s.source < len(m.m.texts) {
		at.Text = lineOf(m.m.texts[s.source], at.Line)
	}
	return at
}
