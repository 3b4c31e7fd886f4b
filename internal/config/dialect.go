package config

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"mcpx/internal/fault"
	"mcpx/internal/rule"
	"mcpx/internal/settings"
)

// contents is what one file contributes.
type contents struct {
	entries  []entry // of two with one name the first counts
	settings settings.File
	profiles []Profile
	faults   []*fault.Error
	warnings []string
	unread   []string // see Config.Unread
	astray   []string // see Config.Astray

	unknown    []*fault.Error // keys beside the servers that nobody knows
	rules      *rule.Block    // about the tools of every server; nil for none
	rulesFault *fault.Error   // what is wrong with them
}

// entry is a server as one file has it. A nil server removes a farther one.
type entry struct {
	name     string
	server   *Server
	warnings []string
	astray   []string // those of the warnings that every command says
	node     *node
	project  string // the folder of the project that it is for, if its file is of no project
}

// read reads one file, and says what it holds as far as that can be understood.
func (p place) read(o Options) (File, contents) {
	file := File{Path: p.path, State: Absent, Project: p.project, By: p.by, Host: p.host, Apart: p.apart()}
	d, err := p.document()
	if d == nil && err == nil {
		var none contents
		if p.by != "" && p.host == "" {
			none.warnings = []string{p.by + ": paths.config names " + p.path + ", which does not exist"}
		}
		return file, none
	}
	file.State = Read
	var found contents
	if err == nil {
		var root *node
		if root, err = d.parse(); err == nil {
			file.Trusted = p.project && o.Trusted != nil && o.Trusted(p.path, d.raw)
			r := reader{place: p, doc: d, env: o.Env, guest: p.project && !file.Trusted}
			err = r.read(root)
			found, file.Ignored = r.contents, r.ignored
		}
	}
	if err == nil {
		err = p.listFault
	}
	if err != nil {
		file.State, file.Err = Broken, err
		if file.Apart { // otherwise it is an error of the commands themselves
			what, _, _ := strings.Cut(err.Message, "\n")
			missing := what + "; the servers that " + p.host + " has there are missing"
			found.unread, found.astray = append(found.unread, missing), append(found.astray, missing)
		}
	}
	return file, found
}

// reader takes apart one document.
type reader struct {
	place
	doc     *document
	env     Env
	guest   bool // of the project, and the user does not vouch for it
	ignored []string
	inputs  []Input // that the file defines
	contents
}

func (r *reader) read(root *node) *fault.Error {
	containers, ours, err := r.containers(root)
	if err != nil {
		return err
	}
	for _, w := range r.doc.warnings {
		r.contents.warnings = append(r.contents.warnings, w.text)
		hides := func(m member) bool { return m.at == w.at && (m.key == "mcpServers" || slices.Contains(others, m.key)) }
		if slices.ContainsFunc(root.members, hides) {
			r.unread = append(r.unread, w.text)
		}
	}
	r.readInputs(root)
	off := r.switchedOff(root)
	dir, project := r.nearestProject(root.get("projects"))
	local := project.get("mcpServers")
	for _, c := range containers {
		for _, m := range c.members {
			if r.builtIn(m.value) {
				continue
			}
			e := r.entry(m)
			if c == local && dir != r.env.Home { // what is for all below that is the user's
				e.project = dir
			}
			if e.server != nil && off(m.key) {
				e.server.Disabled = true
			}
			r.entries = append(r.entries, e)
		}
	}
	if r.host == "" && (ours || r.own()) {
		r.settings.Project = r.guest
		for _, m := range root.members {
			r.topLevel(m, ours)
		}
	}
	return nil
}

// containers finds the objects whose members are servers, the one that counts first.
// ours says that the file is of the form that mcpx documents, where settings may stand
// beside the servers.
func (r *reader) containers(root *node) (found []*node, ours bool, err *fault.Error) {
	if h := hostNamed(r.host); h != nil {
		return h.containers(r, root), false, nil
	}
	if projects := root.get("projects"); projects.isObject() { // Claude Code's ~/.claude.json
		if _, p := r.nearestProject(projects); p.get("mcpServers").isObject() {
			c := p.get("mcpServers")
			found = append(found, c)
		}
		if c := root.get("mcpServers"); c.isObject() {
			found = append(found, c)
		}
		return found, false, nil
	}
	if c := root.get("mcpServers"); c != nil {
		r.hidden(root)
		if named := c.byName(); named != nil {
			return []*node{named}, true, nil
		}
		if c.kind == null {
			return nil, true, nil
		}
		return nil, true, r.doc.broken(c.at, "mcpServers is "+string(c.kind)+" where an object is needed",
			`write "mcpServers": { "NAME": { "command": … } }`)
	}
	if c := root.get("servers").byName(); c != nil { // VS Code's mcp.json
		return []*node{c}, false, nil
	}
	if c := root.get("mcp"); c.isObject() {
		for _, key := range []string{"servers", "mcpServers"} { // VS Code's settings.json, and others'
			inner := c.get(key)
			if !inner.isObject() || inner.get("type") == nil && inner.get("command") == nil && inner.get("url") == nil {
				if named := inner.byName(); named != nil {
					return []*node{named}, false, nil
				}
			}
		}
		return []*node{c}, false, nil // opencode
	}
	for _, key := range []string{"context_servers", "mcp_servers", "extensions"} { // Zed; Codex and Hermes; Goose
		if c := root.get(key).byName(); c != nil && (key != "extensions" || r.doc.isYAML()) {
			return []*node{c}, false, nil
		}
	}
	if c := unwrapped(root); c != nil && !r.own() {
		return []*node{c}, false, nil
	}
	return nil, true, nil
}

// hidden warns of servers that stand beside mcpServers under the key of another host.
func (r *reader) hidden(root *node) {
	for _, m := range root.members {
		if servers := m.value.byName(); servers != nil && slices.Contains(others, m.key) && unwrapped(servers) != nil {
			r.unfollowed(m.at, "the servers under %q are not read: those under \"mcpServers\" count", m.key)
		}
	}
}

// byName returns servers by their names: an object as it is, a list of servers with names
// as an object; nil for what is neither.
func (n *node) byName() *node {
	if n == nil || n.kind == object {
		return n
	}
	if n.kind != listKind || len(n.list) == 0 {
		return nil
	}
	out := &node{kind: object, at: n.at, end: n.end}
	for _, e := range n.list {
		name := e.get("name")
		if name == nil || name.kind != text {
			return nil
		}
		entry := *e
		entry.members = slices.DeleteFunc(slices.Clone(e.members), func(m member) bool { return m.key == "name" })
		out.members = append(out.members, member{name.text, e.at, &entry})
	}
	return out
}

// unwrapped returns the servers of a file that holds nothing but them, by their names, as plugins
// of Claude Code may have it; nil if that is not how it looks.
func unwrapped(root *node) *node {
	out := &node{kind: object, at: root.at, end: root.end}
	for _, m := range root.members {
		if m.value.kind != object {
			continue
		}
		if settings.IsGroup(m.key) || m.value.get("command") == nil && m.value.get("url") == nil && m.value.get("httpUrl") == nil && m.value.get("serverUrl") == nil {
			return nil
		}
		out.members = append(out.members, m)
	}
	if len(out.members) == 0 {
		return nil
	}
	return out
}

// nearestProject is the entry for the working directory, or for the nearest directory
// above it that has one, and that directory.
func (r *reader) nearestProject(projects *node) (dir string, of *node) {
	dirs := []string{r.env.Dir}
	if real, err := filepath.EvalSymlinks(r.env.Dir); err == nil && real != r.env.Dir {
		dirs = append(dirs, real)
	}
	if projects == nil {
		return "", nil
	}
	for _, m := range projects.members {
		project := filepath.Clean(m.key)
		for _, here := range dirs {
			rel, err := filepath.Rel(project, here)
			above := err == nil && filepath.IsAbs(project) && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
			if above && len(project) > len(dir) {
				dir, of = project, m.value
			}
		}
	}
	return dir, of
}

// others are the keys under which other hosts keep servers and what belongs to them.
var others = []string{"servers", "mcp", "context_servers", "mcp_servers", "projects", "inputs"}

// topLevel reads a key that stands beside the servers.
func (r *reader) topLevel(m member, ours bool) {
	switch {
	case m.key == "mcpServers", m.key == "$schema", !ours && slices.Contains(others, m.key), r.aboutFiles(m):
	case settings.IsGroup(m.key) && m.value.kind != object:
		r.setting(m.key, m.value)
	case settings.IsGroup(m.key):
		for _, s := range m.value.members {
			if m.key == "pool" && r.poolRules(s) {
				continue
			}
			if m.key == "script" && s.key == "profiles" {
				r.readProfiles(s.value)
				continue
			}
			if strings.Contains(s.key, ".") && settings.IsPath(m.key+"."+s.key) {
				r.misspelled(s)
				continue
			}
			r.setting(m.key+"."+s.key, s.value)
		}
	case r.own() && settings.IsPath(m.key):
		r.misspelled(m)
	case settings.Nearest(m.key, []string{"mcpServers"}) != "":
		r.missing(m.at, "the key %q is not read; the servers stand under \"mcpServers\"", m.key)
	case r.own():
		r.strange(m)
		if near := settings.Nearest(m.key, append(settings.Groups(), "imports")); near != "" && len(m.key) > 3 {
			r.stray(m.at, "the key %q has no effect: did you mean %q?", m.key, near)
		} else {
			r.stray(m.at, "the key %q has no effect: nothing reads it", m.key)
		}
	default:
		r.strange(m)
		r.ignored = append(r.ignored, m.key)
	}
}

// misspelled refuses a setting that is called by its path.
func (r *reader) misspelled(m member) {
	last := strings.LastIndexByte(m.key, '.')
	r.faults = append(r.faults, fault.Usagef("%s: %q is no key of a file; the setting stands in its group, as %q in %q", r.doc.position(m.at), m.key, m.key[last+1:], m.key[:last]).
		Hintf("write %s", nested(m.key, "…")))
}

// strange remembers a key beside the servers, for those who want none.
func (r *reader) strange(m member) {
	p := r.doc.position(m.at)
	r.unknown = append(r.unknown, fault.Usagef("%s: mcpx does not know the key %q, and plumbing.strictUnknownKeys is on", p, m.key).
		Hintf("remove the key, or switch the setting off").With("file", p.File).With("line", p.Line).With("key", m.key))
}

func (r *reader) setting(path string, n *node) {
	if n.kind == object && len(n.members) > 0 {
		for _, m := range n.members {
			r.setting(path+"."+m.key, m.value)
		}
		return
	}
	r.settings.Entries = append(r.settings.Entries, settings.Entry{
		Path: path, Value: n.json(), Origin: r.doc.position(n.at).String(),
	})
}

// warn keeps a warning for those who ask, and returns it.
func (r *reader) warn(at int, format string, args ...any) string {
	text := r.doc.origin(at).String() + ": " + fmt.Sprintf(format, args...)
	r.contents.warnings = append(r.contents.warnings, text)
	return text
}

// stray keeps a warning that every command says.
func (r *reader) stray(at int, format string, args ...any) {
	r.astray = append(r.astray, r.warn(at, format, args...))
}

// unfollowed keeps a warning that goes with the news that a server is not there.
func (r *reader) unfollowed(at int, format string, args ...any) {
	r.unread = append(r.unread, r.warn(at, format, args...))
}

// missing keeps a warning that is both.
func (r *reader) missing(at int, format string, args ...any) {
	r.stray(at, format, args...)
	r.unread = append(r.unread, r.astray[len(r.astray)-1])
}

// json writes a scalar as JSON, and anything else as what it is.
func (n *node) json() json.RawMessage {
	switch n.kind {
	case text:
		b, _ := json.Marshal(n.text) //nolint:errchkjson // a string can always be encoded
		return b
	case list:
		return json.RawMessage("[]")
	case object:
		return json.RawMessage("{}")
	}
	return json.RawMessage(n.text)
}
