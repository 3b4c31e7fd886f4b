package config

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tailscale/hujson"

	"mcpx/internal/fault"
)

// HostFile is a place where a host keeps servers.
type HostFile struct {
	Path    string
	State   State
	Err     *fault.Error // if it is broken
	Project bool         // of a project rather than of the user
	Near    bool         // in the working directory, or of the user: worth telling of if it is absent
	Entries []HostEntry
}

// HostEntry is a server of another host, as it would stand in a file of ours.
type HostEntry struct {
	New    NewServer
	Inputs []Input      // that it refers to
	Notes  []string     // what is left behind, or not understood
	Err    *fault.Error // why it cannot be taken over
	// Project is the folder of the project that it is for, where the file is the user's.
	Project string
}

// HostFiles reads the files of a host, nearest first. Of two entries of one name the nearer
// is meant, as that host does. It returns nil for a host that there is not.
func (o Options) HostFiles(name string) []HostFile {
	h := hostNamed(name)
	if h == nil {
		return nil
	}
	out := []HostFile{}
	for _, p := range h.places(o.Env) {
		file, found := p.read(o)
		f := HostFile{Path: p.path, State: file.State, Err: file.Err, Project: p.project}
		f.Near = !p.project || p.folder() == filepath.Clean(o.Env.Dir)
		seen := map[string]bool{}
		for _, e := range found.entries {
			if e.server != nil && !seen[e.project+"\x00"+e.name] {
				seen[e.project+"\x00"+e.name] = true
				f.Entries = append(f.Entries, takeOver(e))
			}
		}
		out = append(out, f)
	}
	return out
}

// takeOver makes an entry of ours.
func takeOver(e entry) HostEntry {
	s := e.server
	out := HostEntry{New: NewServer{Name: s.Name}, Err: s.Problem, Inputs: s.Inputs(), Project: e.project}
	if s.Problem != nil {
		return out
	}
	n := &out.New
	n.Disabled = s.Disabled
	switch s.Transport {
	case Stdio:
		n.Command = append([]string{s.Command}, s.Args...)
		n.Env, n.EnvVars, n.Cwd = s.Env, s.pass, s.Cwd
		n.EnvFiles = slices.Clone(s.EnvFiles)
		for _, path := range append([]*string{&n.Cwd}, pointers(n.EnvFiles)...) {
			if *path != "" && !strings.HasPrefix(*path, "$") && !strings.HasPrefix(*path, "~/") && s.base != "" {
				*path = absolute(s.base, *path)
			}
		}
	default:
		n.URL, n.Headers = s.URL, s.Headers
		if !s.Untyped {
			n.Type = s.Transport
		}
	}
	for _, key := range []string{"auth", "oauth"} {
		if v := e.node.get(key); v != nil && n.URL != "" && v.kind != null {
			n.Auth = v.encode()
		}
	}
	block := e.node.get("mcpx")
	var rules []member
	for _, m := range e.node.members {
		if own, ok := ruleOfOthers(m); ok {
			rules = append(rules, member{own, m.at, m.value})
		}
	}
	if block.isObject() || rules != nil {
		whole := &node{kind: object, members: rules}
		if block.isObject() {
			whole.members = append(slices.Clone(block.members), rules...)
		}
		n.Block = whole.encode()
	}
	if left := slices.Concat(s.Ignored, s.misplaced); len(left) > 0 {
		out.Notes = append(out.Notes, "left behind, since mcpx does not read it: "+strings.Join(left, ", "))
	}
	for _, form := range s.foreign() {
		out.Notes = append(out.Notes, "mcpx does not fill in "+form)
	}
	if slices.ContainsFunc(s.texts(), func(t string) bool { return strings.Contains(t, "{file:.") }) {
		out.Notes = append(out.Notes, "the file of {file:…} is looked for beside the file that the entry stands in")
	}
	return out
}

func pointers(list []string) []*string {
	out := make([]*string, len(list))
	for i := range list {
		out[i] = &list[i]
	}
	return out
}

// encode writes a value as JSON on one line.
func (n *node) encode() []byte {
	var b bytes.Buffer
	switch n.kind {
	case object:
		b.WriteString("{")
		for i, m := range n.members {
			if i > 0 {
				b.WriteString(",")
			}
			b.WriteString(" " + quoted(m.key) + ": ")
			b.Write(m.value.encode())
		}
		b.WriteString(" }")
	case listKind:
		b.WriteString("[")
		for i, e := range n.list {
			if i > 0 {
				b.WriteString(", ")
			}
			b.Write(e.encode())
		}
		b.WriteString("]")
	case text:
		b.WriteString(quoted(n.text))
	default:
		if !json.Valid([]byte(n.text)) { // TOML has numbers that JSON has not
			b.WriteString(quoted(n.text))
			break
		}
		b.WriteString(n.text)
	}
	return b.Bytes()
}

// hidden stands for a value that is not shown.
const hidden = "[not shown]"

// Shown is the entry as it would be written, without the values that are secret by their
// name and written out.
func (s NewServer) Shown() []byte {
	mask := func(m map[string]string) map[string]string {
		var out map[string]string
		for name, value := range m {
			if tells(name) && !strings.Contains(value, "$") && !strings.Contains(value, "{env:") {
				value = hidden
			}
			out = with(out, name, value)
		}
		return out
	}
	s.Env, s.Headers = mask(s.Env), mask(s.Headers)
	if len(s.Auth) > 0 {
		var a map[string]any
		if json.Unmarshal(s.Auth, &a) == nil {
			for name, value := range a {
				if text, ok := value.(string); ok && tells(name) && !strings.Contains(text, "$") {
					a[name] = hidden
				}
			}
			if safe, err := json.Marshal(a); err == nil {
				s.Auth = safe
			}
		}
	}
	return []byte(s.text("", "  ", "\n", false))
}

// Plain names the secrets that are written out in the entry rather than taken from a variable.
func (s NewServer) Plain() []string {
	var out []string
	for _, m := range []map[string]string{s.Env, s.Headers} {
		for name, value := range m {
			if tells(name) && value != "" && !strings.Contains(value, "$") && !strings.Contains(value, "{env:") {
				out = append(out, name)
			}
		}
	}
	slices.Sort(out)
	return out
}

// Import returns the text of a configuration file with more servers, and with the
// definitions of the inputs that they refer to. Entries whose name is taken there are left
// out, and taken names them. Errors are those of Add.
func Import(path string, raw []byte, entries []HostEntry) (text []byte, taken []string, err error) {
	text = raw
	var inputs []Input
	for _, h := range entries {
		e, wrong := openEdit(path, text)
		if wrong != nil {
			return nil, nil, wrong
		}
		servers, _, wrong := e.container()
		if wrong != nil {
			return nil, nil, wrong
		}
		if len(e.named(servers, h.New.Name)) > 0 {
			taken = append(taken, h.New.Name)
			continue
		}
		if text, _, err = Add(path, text, h.New, false); err != nil {
			return nil, nil, err
		}
		inputs = append(inputs, h.Inputs...)
	}
	text, err = addInputs(path, text, inputs)
	return text, taken, err
}

// addInputs adds the definitions that are not there yet.
func addInputs(path string, raw []byte, inputs []Input) ([]byte, error) {
	for _, in := range inputs {
		e, wrong := openEdit(path, raw)
		if wrong != nil {
			return nil, wrong
		}
		root := e.object()
		list := member1(root, "inputs")
		if list == nil {
			empty, wrong := e.value("[]")
			if wrong != nil {
				return nil, wrong
			}
			e.append(root, "inputs", *empty)
			list = member1(root, "inputs")
		}
		array, ok := list.Value.(*hujson.Array)
		if !ok {
			return nil, e.doc.broken(list.StartOffset, "inputs is not a list", `write "inputs": [ … ]`)
		}
		if slices.ContainsFunc(array.Elements, func(v hujson.Value) bool {
			o, ok := v.Value.(*hujson.Object)
			if !ok {
				return false
			}
			id := member1(o, "id")
			if id == nil {
				return false
			}
			l, ok := id.Value.(hujson.Literal)
			return ok && l.String() == in.ID
		}) {
			continue
		}
		value, wrong := e.value(in.text())
		if wrong != nil {
			return nil, wrong
		}
		_, unit := e.indent(root, -1)
		value.BeforeExtra = hujson.Extra(e.newline + unit + unit)
		if n := len(array.Elements); n > 0 && array.Elements[n-1].AfterExtra != nil { // a trailing comma
			value.AfterExtra = hujson.Extra{}
		} else if n == 0 {
			array.AfterExtra = hujson.Extra(e.newline + unit)
		}
		array.Elements = append(array.Elements, *value)
		raw = e.pack()
	}
	return raw, nil
}

// text writes the definition as VS Code does.
func (in Input) text() string {
	fields := []string{`"id": ` + quoted(in.ID)}
	kind := "promptString"
	if len(in.Options) > 0 {
		kind = "pickString"
	}
	fields = append(fields, `"type": `+quoted(kind))
	if in.Description != "" {
		fields = append(fields, `"description": `+quoted(in.Description))
	}
	if in.Default != "" {
		fields = append(fields, `"default": `+quoted(in.Default))
	}
	if len(in.Options) > 0 {
		options := make([]string, len(in.Options))
		for i, o := range in.Options {
			options[i] = quoted(o)
		}
		fields = append(fields, `"options": [`+strings.Join(options, ", ")+"]")
	}
	if in.Password {
		fields = append(fields, `"password": true`)
	}
	return "{ " + strings.Join(fields, ", ") + " }"
}

// Sketch is the text of a new configuration file: comments that show what can stand there,
// no server, and the hosts whose servers are to be read in place.
func Sketch(imports []string) []byte {
	var b strings.Builder
	b.WriteString(`{
  // Servers that mcpx starts or calls. "mcpx servers add NAME -- COMMAND ARGS" adds one here.
  "mcpServers": {
    // "files":  { "command": "npx", "args": ["-y", "@modelcontextprotocol/server-filesystem", "."] },
    // "remote": { "url": "https://example.com/mcp", "headers": { "Authorization": "Bearer ${TOKEN}" } }
  },

  // Hosts whose servers are used as they stand there; "mcpx import" lists them.
  `)
	if len(imports) == 0 {
		b.WriteString(`// "imports": ["cursor"],`)
	} else {
		words := make([]string, len(imports))
		for i, name := range imports {
			words[i] = quoted(name)
		}
		b.WriteString(`"imports": [` + strings.Join(words, ", ") + "],")
	}
	b.WriteString(`

  // Settings stand beside the servers; "mcpx settings list" shows them all.
  // "exec": { "timeout": "60s" },
  // "policy": { "write": "ask" }
}
`)
	return []byte(b.String())
}
