package config

import (
	"bytes"
	"maps"
	"slices"
	"strings"
	"unicode"

	"github.com/tailscale/hujson"

	"mcpx/internal/fault"
	"mcpx/internal/jsontext"
	"mcpx/internal/rule"
)

// NewServer is an entry to be written: a Command, or a URL.
type NewServer struct {
	Name    string
	Command []string // a program and its arguments
	Env     map[string]string
	URL     string
	Headers map[string]string
	// WritePolicy is allow, ask or deny; empty if the entry says nothing.
	WritePolicy string

	// What an entry of another host may say besides.
	Type     string   // http or sse, if it is not to be found out
	EnvVars  []string // variables that the program gets if the caller has them
	EnvFiles []string // with further ones
	Cwd      string
	Disabled bool
	Auth     []byte // the block auth, as JSON
	Block    []byte // the block mcpx, as JSON, without a WritePolicy
}

// check reports what no entry can be, before any file is looked at.
func (s NewServer) check() *fault.Error {
	switch {
	case s.Name == "":
		return fault.Usagef("the name of the server is empty")
	case strings.ContainsFunc(s.Name, unicode.IsControl), strings.TrimSpace(s.Name) != s.Name:
		return fault.Usagef("server %q: the name has a line break, a control character or blanks at its ends", s.Name).Hintf("give it a name that can be typed")
	case len(s.Command) == 0 && s.URL == "":
		return fault.Usagef("server %q: neither a command nor a URL", s.Name).Hintf("give a command behind --, or a URL with --url")
	case len(s.Command) > 0 && s.URL != "":
		return fault.Usagef("server %q: both a command and a URL", s.Name).Hintf("give one of them")
	case len(s.Command) > 0 && len(s.Headers) > 0:
		return fault.Usagef("server %q: headers are sent to a URL, and it is a command", s.Name).Hintf("a variable for it is given with --env")
	case s.WritePolicy != "" && !rule.IsPolicy(s.WritePolicy):
		return fault.Usagef("server %q: there is no write policy %q", s.Name, s.WritePolicy).Hintf("the write policies are allow, ask and deny")
	case s.URL != "" && len(s.Env) > 0:
		return fault.Usagef("server %q: variables are for a command, and it is a URL", s.Name).Hintf("a header is given with --header")
	}
	return nil
}

// Add returns the text of a configuration file with one more server, as it is to be
// written; raw is the text that it has, nil if there is no file yet. What stands there stays
// as it is. replaced says that an entry of that name was there, which is an error unless
// replace is set.
//
// Errors are of kind Usage: an entry that would not load, a file that cannot be read or is
// of another form than JSON, a name that is taken.
func Add(path string, raw []byte, s NewServer, replace bool) (text []byte, replaced bool, err error) {
	if wrong := s.check(); wrong != nil {
		return nil, false, wrong
	}
	if s.URL != "" && !strings.ContainsAny(s.URL, "${") && !isHTTP(s.URL) { // no line of the file has it yet
		return nil, false, fault.Usagef("--url %q: it is not the address of an HTTP server", s.URL).
			Hintf("write http://… or https://…").With("server", s.Name)
	}
	e, wrong := openEdit(path, raw)
	if wrong != nil {
		return nil, false, wrong
	}
	servers, typed, wrong := e.container()
	if wrong != nil {
		return nil, false, wrong
	}
	if found := e.named(servers, s.Name); len(found) > 0 {
		last := found[len(found)-1]
		old := &servers.Members[last]
		if !replace {
			at := e.doc.origin(max(0, old.Name.StartOffset))
			return nil, false, fault.Usagef("%s: there is a server %q already", at, s.Name).
				Hintf("--replace puts the new entry in its place").With("server", s.Name).With("file", path)
		}
		at, unit := e.indent(servers, last)
		value, wrong := e.value(s.text(at, unit, e.newline, typed))
		if wrong != nil {
			return nil, false, wrong
		}
		value.BeforeExtra, value.AfterExtra = old.Value.BeforeExtra, old.Value.AfterExtra
		old.Value, replaced = *value, true
	} else {
		at, unit := e.indent(servers, -1)
		value, wrong := e.value(s.text(at, unit, e.newline, typed))
		if wrong != nil {
			return nil, false, wrong
		}
		e.append(servers, s.Name, *value)
	}
	text = e.pack()
	return text, replaced, loads(path, text, s.Name)
}

// Remove returns the text of a configuration file without a server. The error is of kind
// NotFound if it is not in there, and Usage if the file cannot be edited.
func Remove(path string, raw []byte, name string) ([]byte, error) {
	e, wrong := openEdit(path, raw)
	if wrong != nil {
		return nil, wrong
	}
	removed := false
	for _, servers := range e.containers() {
		for found := e.named(servers, name); len(found) > 0; found = e.named(servers, name) {
			cut(servers, found[0])
			removed = true
		}
	}
	if !removed {
		return nil, notFound(path, name)
	}
	return e.pack(), nil
}

// entry is the object of a server, the one that counts; nil if there is none.
func (e *edit) entry(name string) *hujson.Object {
	for _, servers := range e.containers() {
		found := e.named(servers, name)
		if len(found) == 0 {
			continue
		}
		if entry, ok := servers.Members[found[len(found)-1]].Value.Value.(*hujson.Object); ok { // else null, or a mistake
			return entry
		}
	}
	return nil
}

// notFound is the error of a server that is not in a file, or in a form that is not edited.
func notFound(path, name string) *fault.Error {
	return fault.NotFoundf("%s has no server %q that can be edited", path, name).With("server", name).With("file", path).
		Hintf("if the file lists its servers, or has them under no key, edit it by hand")
}

// loads makes sure that an entry which was written reads as one.
func loads(path string, text []byte, name string) error {
	doc, wrong := newDocument(path, text)
	if wrong != nil {
		return wrong
	}
	root, wrong := doc.parse()
	if wrong != nil {
		return wrong
	}
	r := reader{place: place{path: path}, doc: doc}
	if wrong := r.read(root); wrong != nil {
		return wrong
	}
	for _, e := range r.entries {
		if e.name != name || e.server == nil {
			continue
		}
		if err := e.server.usable(); err != nil {
			return fault.New(fault.Usage, "%w", err)
		}
		return nil
	}
	return fault.Internalf("%s: the entry %q was written and is not read", path, name)
}

// usable reports what is wrong with an entry whatever its placeholders stand for, and its
// files hold.
func (s *Server) usable() error {
	if s.Problem != nil {
		return s.Problem
	}
	texts := slices.Concat([]string{s.URL}, slices.Collect(maps.Values(s.Env)), slices.Collect(maps.Values(s.Headers)))
	if strings.ContainsAny(s.URL, "${") || slices.ContainsFunc(texts, func(t string) bool { return strings.Contains(t, "input:") }) {
		return nil // nobody knows yet
	}
	_, err := s.Resolve(Env{
		Lookup: func(string) (string, bool) { return "x", true }, Home: "/", Dir: "/",
		Read: func(string) ([]byte, error) { return []byte("x"), nil },
	})
	return err
}

// edit is a configuration file that is being changed.
type edit struct {
	doc     *document
	root    hujson.Value
	mark    bool // it begins with a byte-order mark
	broken  bool // the parser was given one line break more at the end
	newline string
}

func openEdit(path string, raw []byte) (*edit, *fault.Error) {
	doc, wrong := newDocument(path, raw)
	if wrong != nil {
		return nil, wrong
	}
	e := &edit{doc: doc, mark: bytes.HasPrefix(raw, []byte("\xEF\xBB\xBF")), newline: "\n"}
	if len(raw) > 0 && !bytes.HasSuffix(raw, doc.text) {
		return nil, fault.Usagef("%s is written in UTF-16, and mcpx edits only UTF-8", path).Hintf("save it as UTF-8").With("file", path)
	}
	if len(bytes.TrimSpace(doc.text)) > 0 && doc.isTOML() {
		return nil, fault.Usagef("%s is TOML, and mcpx edits only JSON: it would lose comments and order", path).
			Hintf("edit it by hand, or name a JSON file with --file").With("file", path)
	}
	if line, _, found := bytes.Cut(doc.text, []byte("\n")); found && bytes.HasSuffix(line, []byte("\r")) {
		e.newline = "\r\n"
	}
	parsed, wrong := doc.parseJSON()
	if wrong != nil {
		return nil, wrong
	}
	if parsed.kind != object {
		return nil, doc.broken(parsed.at, "the file holds "+string(parsed.kind)+" where an object is needed", `write { "mcpServers": { … } }`)
	}
	source := append(bytes.Clone(doc.text), '\n')
	e.broken = true
	root, err := hujson.Parse(source)
	if err != nil { // nothing but space and comments
		e.broken = false
		source = append(bytes.TrimRight(source, " \t\r\n"), e.newline...)
		root, err = hujson.Parse([]byte(strings.TrimLeft(string(source)+"{}"+e.newline, "\r\n")))
		if err != nil {
			return nil, doc.jsonError(err)
		}
	}
	e.root = root
	return e, nil
}

func (e *edit) object() *hujson.Object { return e.root.Value.(*hujson.Object) } //nolint:forcetypeassert // openEdit has looked

// container returns the object whose members are the servers, and makes one if there is
// none. typed says that entries have a type, as VS Code wants.
func (e *edit) container() (servers *hujson.Object, typed bool, wrong *fault.Error) {
	root := e.object()
	if v := member1(root, "mcpServers"); v != nil {
		if o, ok := v.Value.(*hujson.Object); ok {
			return o, false, nil
		}
		if v.Value.Kind() != 'n' {
			return nil, false, e.doc.broken(v.StartOffset, "mcpServers is not an object", `write "mcpServers": { "NAME": { "command": … } }`)
		}
		o := &hujson.Object{}
		v.Value = o
		return o, false, nil
	}
	if v := member1(root, "servers"); v != nil {
		if o, ok := v.Value.(*hujson.Object); ok {
			return o, true, nil
		}
	}
	for _, other := range []string{"mcp", "context_servers", "mcp_servers"} {
		if v := member1(root, other); v != nil && v.Value.Kind() == '{' {
			return nil, false, fault.Usagef("%s has the form of another host, whose servers stand under %q; mcpx does not write that", e.doc.path, other).
				Hintf("edit it by hand, or name another file with --file").With("file", e.doc.path)
		}
	}
	o := &hujson.Object{}
	e.append(root, "mcpServers", hujson.Value{Value: o})
	return o, false, nil
}

// containers returns every object whose members are servers for whoever reads the file.
func (e *edit) containers() []*hujson.Object {
	var out []*hujson.Object
	add := func(o *hujson.Object, path ...string) {
		for i, key := range path {
			v := member1(o, key)
			if v == nil {
				return
			}
			inner, ok := v.Value.(*hujson.Object)
			if !ok {
				return
			}
			if i == len(path)-1 {
				out = append(out, inner)
			}
			o = inner
		}
	}
	root := e.object()
	if member1(root, "mcpServers") != nil {
		add(root, "mcpServers")
		return out
	}
	for _, path := range [][]string{{"servers"}, {"mcp", "servers"}, {"mcp", "mcpServers"}, {"mcp"}, {"context_servers"}, {"mcp_servers"}} {
		if add(root, path...); len(out) > 0 {
			return out
		}
	}
	return out
}

// member1 returns the value of a key, or nil. Of two the last counts.
func member1(o *hujson.Object, key string) *hujson.Value {
	for i := len(o.Members) - 1; i >= 0; i-- {
		if isNamed(o.Members[i], key) {
			return &o.Members[i].Value
		}
	}
	return nil
}

func isNamed(m hujson.ObjectMember, key string) bool {
	l, ok := m.Name.Value.(hujson.Literal)
	return ok && l.String() == key
}

// named returns where the members of a name are.
func (e *edit) named(o *hujson.Object, name string) []int {
	var out []int
	for i, m := range o.Members {
		if isNamed(m, name) {
			out = append(out, i)
		}
	}
	return out
}

// indent returns the white space before the members of an object, as far as others show
// it, and the step from one level to the next. at is the member that is meant, -1 for a new
// one. Without a line break the object stands on one line, and at is empty.
func (e *edit) indent(o *hujson.Object, at int) (string, string) {
	unit := "  "
	if first := e.object().Members; len(first) > 0 {
		if space, broken := lastLine(first[0].Name.BeforeExtra); broken && space != "" {
			unit = space
		}
	}
	if at < 0 {
		at = len(o.Members) - 1
	}
	if at >= 0 {
		if space, broken := lastLine(o.Members[at].Name.BeforeExtra); broken {
			return space, unit
		}
	}
	if o == e.object() {
		return unit, unit
	}
	return unit + unit, unit
}

// lastLine returns what of an extra stands on its last line, if that is white space.
func lastLine(extra hujson.Extra) (space string, broken bool) {
	i := bytes.LastIndexByte(extra, '\n')
	if i < 0 {
		return "", false
	}
	space = string(extra[i+1:])
	return space, strings.Trim(space, " \t") == ""
}

// append adds a member behind all others. Comments that stand there stay before it.
func (e *edit) append(o *hujson.Object, name string, value hujson.Value) {
	at, unit := e.indent(o, -1)
	trailing := len(o.Members) > 0 && o.Members[len(o.Members)-1].Value.AfterExtra != nil
	closing := strings.TrimSuffix(at, unit)
	before := bytes.TrimRight(o.AfterExtra, " \t\r\n")
	value.BeforeExtra = hujson.Extra(" ")
	if trailing {
		value.AfterExtra = hujson.Extra{}
	}
	o.Members = append(o.Members, hujson.ObjectMember{
		Name: hujson.Value{
			BeforeExtra: hujson.Extra(string(before) + e.newline + at),
			Value:       hujson.String(name),
		},
		Value: value,
	})
	o.AfterExtra = hujson.Extra(e.newline + closing)
}

// cut takes a member out. Comments stay.
func cut(o *hujson.Object, i int) {
	gone := o.Members[i]
	last := i == len(o.Members)-1
	kept := bytes.TrimRight(gone.Name.BeforeExtra, " \t\r\n")
	o.Members = slices.Delete(o.Members, i, i+1)
	if !last {
		if len(kept) > 0 {
			o.Members[i].Name.BeforeExtra = slices.Concat(hujson.Extra(kept), o.Members[i].Name.BeforeExtra)
		}
		return
	}
	if len(kept) > 0 {
		o.AfterExtra = slices.Concat(hujson.Extra(kept), o.AfterExtra)
	}
	if i > 0 {
		before := &o.Members[i-1].Value
		switch {
		case gone.Value.AfterExtra != nil && before.AfterExtra == nil:
			before.AfterExtra = hujson.Extra{}
		case gone.Value.AfterExtra == nil && len(bytes.TrimSpace(before.AfterExtra)) == 0:
			before.AfterExtra = nil
		}
	}
}

// value parses what was written here.
func (e *edit) value(text string) (*hujson.Value, *fault.Error) {
	v, err := hujson.Parse([]byte(text))
	if err != nil {
		return nil, fault.Internalf("an entry that was written here: %w", err)
	}
	return &v, nil
}

// pack writes the file.
func (e *edit) pack() []byte {
	text := e.root.Pack()
	if e.broken {
		text = bytes.TrimSuffix(text, []byte("\n"))
	}
	if e.mark {
		text = append([]byte("\xEF\xBB\xBF"), text...)
	}
	return text
}

// text writes the entry as JSON, with lines that begin with at.
func (s NewServer) text(at, unit, newline string, typed bool) string {
	type field struct{ key, value string }
	var fields []field
	table := func(t map[string]string) string {
		var b strings.Builder
		b.WriteString("{")
		for i, key := range slices.Sorted(maps.Keys(t)) {
			if i > 0 {
				b.WriteString(",")
			}
			b.WriteString(newline + at + unit + unit + quoted(key) + ": " + quoted(t[key]))
		}
		return b.String() + newline + at + unit + "}"
	}
	kind := s.Type
	switch {
	case !typed || kind != "":
	case s.URL != "":
		kind = HTTP
	default:
		kind = Stdio
	}
	if kind != "" {
		fields = append(fields, field{"type", quoted(kind)})
	}
	words := func(list []string) string {
		out := make([]string, len(list))
		for i, a := range list {
			out[i] = quoted(a)
		}
		return "[" + strings.Join(out, ", ") + "]"
	}
	if len(s.Command) > 0 {
		fields = append(fields, field{"command", quoted(s.Command[0])})
		if args := s.Command[1:]; len(args) > 0 {
			fields = append(fields, field{"args", words(args)})
		}
	} else {
		fields = append(fields, field{"url", quoted(s.URL)})
	}
	if len(s.Env) > 0 {
		fields = append(fields, field{"env", table(s.Env)})
	}
	if len(s.Headers) > 0 {
		fields = append(fields, field{"headers", table(s.Headers)})
	}
	if len(s.EnvFiles) > 0 {
		fields = append(fields, field{"envFile", words(s.EnvFiles)})
	}
	if len(s.EnvVars) > 0 {
		fields = append(fields, field{"env_vars", words(s.EnvVars)})
	}
	if s.Cwd != "" {
		fields = append(fields, field{"cwd", quoted(s.Cwd)})
	}
	if s.Disabled {
		fields = append(fields, field{"disabled", "true"})
	}
	if len(s.Auth) > 0 {
		fields = append(fields, field{"auth", string(s.Auth)})
	}
	if len(s.Block) > 0 {
		fields = append(fields, field{"mcpx", string(s.Block)})
	}
	if s.WritePolicy != "" {
		fields = append(fields, field{"mcpx", `{ "writePolicy": ` + quoted(s.WritePolicy) + " }"})
	}
	var b strings.Builder
	b.WriteString("{")
	for i, f := range fields {
		if i > 0 {
			b.WriteString(",")
		}
		b.WriteString(newline + at + unit + quoted(f.key) + ": " + f.value)
	}
	return b.String() + newline + at + "}"
}

// quoted writes a string as JSON, with the characters that people write.
func quoted(s string) string { return string(jsontext.AppendQuoted(nil, s)) }
