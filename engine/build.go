package engine

import (
	"fmt"
	"maps"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"github.com/evanw/esbuild/pkg/api"

	"mcpx/internal/fault"
)

// bundle is what esbuild made of a script and the files that it imports.
type bundle struct {
	code    string
	mapping []byte
	errors  []api.Message
	moved   []moved
}

// moved says that what stands behind a column of a generated line is further right than esbuild wrote it, or further
// left, but not before the column.
type moved struct {
	line, column, by int
}

// Names inside a bundle. The identifiers are parameters of the function that it becomes.
const (
	scriptSource     = "mcpx-script"
	nativeNamespace  = "mcpx-native"
	absentNamespace  = "mcpx-absent"
	prefixNamespace  = "prefix"
	exportsParameter = "mcpx$exports"
	requireParameter = "mcpx$require"
)

const (
	bundleBefore = `(async (` + exportsParameter + `, ` + requireParameter + `) => {"use strict";`
	bundleAfter  = `})`
)

// supported is what differs between goja and the newest ECMAScript.
var supported = map[string]bool{
	"top-level-await": true,

	"async-generator":                 false,
	"for-await":                       false,
	"decorators":                      false,
	"using":                           false,
	"dynamic-import":                  false,
	"import-meta":                     false,
	"regexp-unicode-property-escapes": false,
	"regexp-set-notation":             false,
	"regexp-match-indices":            false,
}

// bundle bundles the script in the form of packages that c says.
func (c *compiler) bundle() (*bundle, *fault.Report) {
	features := supported
	if c.lowered {
		features = make(map[string]bool, len(supported)+2)
		maps.Copy(features, supported)
		features["class-field"], features["class-static-field"] = false, false
	}
	stdin := &api.StdinOptions{Contents: c.script.module(), Sourcefile: scriptSource, Loader: loaderOf(c.src.Name)}
	o := api.BuildOptions{
		Stdin:       stdin,
		Bundle:      true,
		Define:      map[string]string{"global": "globalThis"}, // Node's name for it; not a property that tells of a host
		Format:      api.FormatESModule,
		Platform:    api.PlatformNeutral,
		MainFields:  c.packages.mainFields(),
		Conditions:  c.packages.conditions(),
		Target:      api.ESNext,
		Supported:   features,
		Charset:     api.CharsetUTF8,
		TreeShaking: api.TreeShakingFalse,
		KeepNames:   c.names,
		Banner:      map[string]string{"js": bundleBefore},
		Footer:      map[string]string{"js": bundleAfter},
		Sourcemap:   api.SourceMapExternal,
		LogLevel:    api.LogLevelSilent,
		Plugins:     []api.Plugin{{Name: "mcpx", Setup: c.setup}},
	}
	if c.alone {
		o.Banner, o.Footer = map[string]string{}, nil
	}
	c.requires = nil
	if c.files() {
		o.AbsWorkingDir = filepath.Dir(c.src.File)
		stdin.ResolveDir = o.AbsWorkingDir
		o.Outfile = filepath.Join(o.AbsWorkingDir, "mcpx-bundle.js")
		o.SourcesContent = api.SourcesContentInclude
	} else {
		o.Outfile = "mcpx-bundle.js"
		o.TsconfigRaw = "{}"
		o.SourcesContent = api.SourcesContentExclude
	}
	if len(c.script.required) > 0 && !c.alone {
		o.Banner["js"] += requireParameter + ".files = " + filesFunction + ";"
	}
	if c.legacy {
		o.TsconfigRaw = `{"compilerOptions": {"experimentalDecorators": true}}`
	}
	r := api.Build(o)
	b := &bundle{errors: r.Errors}
	if len(r.Errors) > 0 {
		return b, c.report(r.Errors)
	}
	for _, f := range r.OutputFiles {
		if strings.HasSuffix(f.Path, ".map") {
			b.mapping = f.Contents
		} else {
			if b.code = string(f.Contents); !c.alone {
				b.code = handOver(b.code)
			}
		}
	}
	return b, nil
}

// handOver turns the export clause, which ends a bundle that has exports, into a call
// that hands over an object of getters, so that the bundle can be a function. It keeps
// the lines.
func handOver(code string) string {
	const open, end = "\nexport {\n", "\n};\n" + bundleAfter + "\n"
	at := strings.LastIndex(code, open)
	if at < 0 || !strings.HasSuffix(code, end) || at+len(open) > len(code)-len(end) {
		return code
	}
	var b strings.Builder
	b.WriteString(code[:at] + "\n" + exportsParameter + "({\n")
	for name := range strings.SplitSeq(code[at+len(open):len(code)-len(end)], ",\n") {
		local, exported, renamed := strings.Cut(strings.TrimSpace(name), " as ")
		if !renamed {
			exported = local
		}
		b.WriteString("  get " + exported + "() { return " + local + "; },\n")
	}
	return b.String() + "});\n" + bundleAfter + "\n"
}

// setup teaches esbuild what an import can name besides files.
func (c *compiler) setup(build api.PluginBuild) {
	build.OnResolve(api.OnResolveOptions{Filter: ".*"}, func(a api.OnResolveArgs) (api.OnResolveResult, error) {
		return c.resolve(a), nil
	})
	if c.files() {
		// Here a path is as it really is: links are followed.
		build.OnLoad(api.OnLoadOptions{Filter: ".*", Namespace: "file"}, func(a api.OnLoadArgs) (api.OnLoadResult, error) {
			if !c.admits(a.Path) {
				return api.OnLoadResult{Errors: []api.Message{refusedMessage(a.Path)}}, nil
			}
			return api.OnLoadResult{}, nil
		})
	}
	build.OnLoad(api.OnLoadOptions{Filter: ".*", Namespace: nativeNamespace}, func(a api.OnLoadArgs) (api.OnLoadResult, error) {
		text := c.required(a.Path)
		return api.OnLoadResult{Contents: &text, Loader: api.LoaderJS}, nil
	})
	if len(c.src.Prefix) > 0 {
		build.OnLoad(api.OnLoadOptions{Filter: ".*", Namespace: prefixNamespace}, func(a api.OnLoadArgs) (api.OnLoadResult, error) {
			i, ok := prefixIndex(prefixNamespace + ":" + a.Path)
			if !ok || i < 0 || i >= len(c.src.Prefix) {
				return api.OnLoadResult{}, fmt.Errorf("there is no prefix %s", a.Path)
			}
			return api.OnLoadResult{Contents: &c.src.Prefix[i], Loader: api.LoaderTS}, nil
		})
	}
	build.OnLoad(api.OnLoadOptions{Filter: ".*", Namespace: absentNamespace}, func(a api.OnLoadArgs) (api.OnLoadResult, error) {
		text := absent(a.Path)
		return api.OnLoadResult{Contents: &text, Loader: api.LoaderJS}, nil
	})
}

func (c *compiler) resolve(a api.OnResolveArgs) api.OnResolveResult {
	if a.Kind == api.ResolveEntryPoint {
		return api.OnResolveResult{}
	}
	if i, ok := prefixIndex(a.Path); ok && i < len(c.src.Prefix) {
		return api.OnResolveResult{Path: strings.TrimPrefix(a.Path, prefixNamespace+":"), Namespace: prefixNamespace}
	}
	for _, name := range []string{a.Path, "node:" + a.Path} {
		if c.hasModule(name) {
			if c.alone && a.Kind == api.ResolveJSImportStatement {
				return api.OnResolveResult{Path: name, External: true}
			}
			return api.OnResolveResult{Path: name, Namespace: nativeNamespace}
		}
	}
	if c.packages.hopeful() && a.Kind == api.ResolveJSRequireCall && isBuiltin(a.Path) && inPackage(a.Importer) {
		return api.OnResolveResult{Path: a.Path, Namespace: absentNamespace}
	}
	relative := strings.HasPrefix(a.Path, ".") || strings.HasPrefix(a.Path, "/")
	switch scheme, _, ok := strings.Cut(a.Path, ":"); {
	case ok && !relative:
		return c.unresolved(fmt.Sprintf("there is no module %q", a.Path), c.knownModules(scheme+":"))
	case relative && c.src.File != "" && c.src.Import != nil && c.src.Import(c.imported(a), a.Path) != nil:
		// What is outside is not looked for: it is refused whether it is there or not.
		return api.OnResolveResult{Errors: []api.Message{refusedMessage(c.imported(a))}}
	case c.files():
		return api.OnResolveResult{} // esbuild looks for the file
	case relative:
		return c.unresolved(fmt.Sprintf("there is no file %q: a script that is no file itself imports none", a.Path),
			"write the script into a file beside the ones that it imports, and run that")
	}
	return c.unresolved(fmt.Sprintf("there is no module %q", a.Path),
		"packages are found in node_modules by a script that is a file; besides them "+c.knownModules(""))
}

// missing says that an import names neither a module nor something that esbuild found,
// and what there is. esbuild's notes know more where a package lacks the part that was
// asked for.
func (c *compiler) missing(name string, notes []api.Note) (text, hint string) {
	if strings.HasPrefix(name, ".") || strings.HasPrefix(name, "/") {
		return fmt.Sprintf("there is no file %q", name), "imports of files are relative to the file that they are in"
	}
	text = fmt.Sprintf("there is no module %q", name)
	for _, n := range notes {
		if strings.Contains(n.Text, "exported") || strings.Contains(n.Text, "package.json") {
			return text, lowerFirst(n.Text)
		}
	}
	return text, "packages are found in node_modules, once they are installed there; besides them " + c.knownModules("")
}

// files reports whether imports can name files.
func (c *compiler) files() bool { return c.src.File != "" && c.src.Import != nil && c.src.Files }

// imported is the absolute path that an import of a path names.
func (c *compiler) imported(a api.OnResolveArgs) string {
	switch {
	case filepath.IsAbs(a.Path):
		return filepath.Clean(a.Path)
	case a.ResolveDir == "":
		return filepath.Join(filepath.Dir(c.src.File), a.Path)
	}
	return filepath.Join(a.ResolveDir, a.Path)
}

// refused is the detail of an error about a file that may not be imported.
type refused struct{ file string }

func refusedMessage(file string) api.Message {
	return api.Message{Text: "refused", Detail: refused{file}}
}

// refusal reports that a file may not be imported. esbuild knows where the import is,
// and so what it says.
func (c *compiler) refusal(file string, l *api.Location) *fault.Report {
	specifier := ""
	if l != nil && l.Column >= 0 && l.Length > 0 && l.Column+l.Length <= len(l.LineText) {
		specifier = strings.Trim(l.LineText[l.Column:l.Column+l.Length], "\"'`")
	}
	if e := c.src.Import(file, specifier); e != nil {
		return fault.ReportOf(e)
	}
	return panicReport("a file was refused and is not")
}

// closed is the file that an error of esbuild says it may not read, if the script may not import
// it: one that a tsconfig.json names.
func (c *compiler) closed(text string) (file string, ok bool) {
	file, ok = strings.CutPrefix(text, `Cannot read file "`)
	if ok {
		file, ok = strings.CutSuffix(file, `": permission denied`)
	}
	if !ok || c.src.Import == nil {
		return "", false
	}
	if file = filepath.FromSlash(file); !filepath.IsAbs(file) {
		file = filepath.Join(filepath.Dir(c.src.File), file)
	}
	return file, !c.admits(file)
}

// shows reports whether the text of a source that esbuild read may be repeated: of what
// may not be imported nothing is, though a package's description may name it.
func (c *compiler) shows(name string) bool {
	if !c.files() {
		return true
	}
	if u, err := url.Parse(name); err == nil && u.Scheme == "file" {
		name = filepath.FromSlash(u.Path)
	}
	if !filepath.IsAbs(name) {
		name = filepath.Join(filepath.Dir(c.src.File), filepath.FromSlash(name))
	}
	return c.admits(name)
}

// admits reports whether a file may be imported.
func (c *compiler) admits(file string) bool { return c.src.Import(file, "") == nil }

func lowerFirst(text string) string {
	return strings.TrimSuffix(strings.ToLower(text[:1])+text[1:], ":")
}

// unresolved is a failed import. esbuild adds its place.
func (c *compiler) unresolved(text, hint string) api.OnResolveResult {
	return api.OnResolveResult{Errors: []api.Message{{Text: text, Detail: hint}}}
}

func (c *compiler) hasModule(name string) bool {
	return slices.ContainsFunc(c.modules, func(m Module) bool { return m.Name == name })
}

// knownModules lists the modules whose names start with prefix, or all.
func (c *compiler) knownModules(prefix string) string {
	var all, some []string
	for _, m := range c.modules {
		if m.Name != "" {
			all = append(all, m.Name)
			if strings.HasPrefix(m.Name, prefix) {
				some = append(some, m.Name)
			}
		}
	}
	if len(some) == 0 {
		some = all
	}
	if len(some) == 0 {
		return "there are no modules to import here"
	}
	slices.Sort(some)
	return "there are " + strings.Join(slices.Compact(some), ", ")
}

// loaderOf chooses the language by the file's name. TypeScript includes JavaScript but
// for a few forms that no one writes by chance.
func loaderOf(name string) api.Loader {
	switch filepath.Ext(name) {
	case ".js", ".mjs", ".cjs":
		return api.LoaderJS
	case ".jsx":
		return api.LoaderJSX
	case ".tsx":
		return api.LoaderTSX
	}
	return api.LoaderTS
}

// report turns esbuild's first error into a report in the user's source.
func (c *compiler) report(list []api.Message) *fault.Report {
	first := list[0]
	for _, m := range list {
		// A return that could be repaired is the least of several errors.
		if !strings.HasPrefix(m.Text, "Top-level return") {
			first = m
			break
		}
	}
	r := &fault.Report{Kind: fault.Usage, Name: "SyntaxError", Message: first.Text}
	if hint, ok := first.Detail.(string); ok {
		r.Hint = hint
	}
	if name, ok := strings.CutPrefix(first.Text, "Could not resolve "); ok {
		r.Name = "ImportError"
		r.Message, r.Hint = c.missing(strings.Trim(name, `"`), first.Notes)
	}
	if first.PluginName != "" {
		r.Name = "ImportError"
	}
	l := first.Location
	if d, ok := first.Detail.(refused); ok {
		r = c.refusal(d.file, l)
	} else if file, ok := c.closed(first.Text); ok {
		r = c.refusal(file, l)
	}
	if l == nil {
		return r
	}
	at := &fault.Position{Line: l.Line, File: c.src.Name}
	column, text := l.Column, l.LineText
	if l.File == scriptSource && l.Line > strings.Count(c.script.text, "\n")+1 {
		// What esbuild found is what makes the text a module.
		r.Message = strings.ReplaceAll(r.Message, `"export"`, "end of script")
		r.At = endOf(c.src.Name, c.src.Text)
		return r
	}
	if l.File == scriptSource {
		column = c.script.originalColumn(l.Line-1, column, func(s string) int { return len(s) })
		text = lineOf(c.src.Text, l.Line)
	} else {
		at.File = c.sourceName(l.File)
		if !c.shows(l.File) {
			// Even the words of the error may be the file's.
			r.Message, text = "this is a file that the script may not import, and nothing that it could be taken for", ""
		}
	}
	at.Text = text
	at.Column = utf16Length(text[:min(max(column, 0), len(text))]) + 1
	r.At = at
	return r
}

// endOf is the place after the last character of a text that is no space.
func endOf(name, text string) *fault.Position {
	text = strings.TrimRight(text, " \t\r\n;")
	line := strings.Count(text, "\n") + 1
	last := lineOf(text, line)
	return &fault.Position{File: name, Line: line, Column: utf16Length(last) + 1, Text: last}
}

// restoreReturns turns the throws of marker in the code back into returns and remembers
// where the text shrank. The operand stays behind a comma, since a comment of several
// lines may come before it.
func (b *bundle) restoreReturns(code *string, marker string) {
	if marker == "" {
		return
	}
	const returned = "return 0,"
	thrown := "throw " + marker + ","
	lines := strings.Split(*code, "\n")
	for i, l := range lines {
		for {
			at := strings.Index(l, thrown)
			if at < 0 {
				break
			}
			l = l[:at] + returned + l[at+len(thrown):]
			b.moved = append(b.moved, moved{line: i, column: utf16Length(l[:at]), by: len(returned) - len(thrown)})
		}
		lines[i] = l
	}
	*code = strings.Join(lines, "\n")
}

// generatedColumn takes a column of the code that esbuild wrote to the code that goja gets.
func (b *bundle) generatedColumn(line, column int) int {
	for _, m := range b.moved {
		if m.line == line && column > m.column {
			column = max(column+m.by, m.column)
		}
	}
	return column
}
