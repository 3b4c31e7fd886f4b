package config

import (
	"bytes"
	"path/filepath"
	"slices"
	"strings"

	"mcpx/internal/fault"
	"mcpx/internal/settings"
)

// Which files are read is decided before any of them is: a first pass looks into those
// that are found for two keys only. paths.config lists further files, which take the place
// of the farther ones, or stand beside them where null is in the list. imports names other
// hosts, whose files are read too. A list in a file that was itself listed is not followed.

// chain collects the files of a configuration, nearest first.
type chain struct {
	o      Options
	walk   []place // where files are found without any list
	places []place
	lists  []string // the files whose list is being followed, the first one first
}

// item is a member of a list of files.
type item struct {
	path string // absolute
	rest bool   // null: what would follow without the list
	by   string // who says so: FILE:LINE, or the variable
}

// chained lists the files to look at, nearest first.
func (o Options) chained(walk []place) ([]place, error) {
	c := &chain{o: o, walk: walk}
	if o.Paths == "" {
		c.follow(walk)
		return c.places, nil
	}
	var items []item
	for _, word := range filepath.SplitList(o.Paths) {
		if word == "" || word == "null" {
			items = append(items, item{rest: true})
			continue
		}
		items = append(items, item{path: o.Env.named(o.Env.Dir, word), by: "paths.config"})
	}
	for _, i := range items {
		if i.rest {
			c.follow(walk)
			continue
		}
		p := c.listed(i)
		if !p.exists() {
			return nil, fault.Usagef("the configuration file %s does not exist", p.path).
				Hintf("paths.config names it: %s", settings.PathsConfig.Give(o.Paths)).With("file", p.path)
		}
		c.follow([]place{p})
	}
	return c.places, nil
}

// named is a path as it stands in a list: ~ is the home directory, and what is not absolute
// is relative to dir.
func (e Env) named(dir, path string) string {
	if rest, ok := strings.CutPrefix(path, "~/"); ok && e.Home != "" {
		return filepath.Join(e.Home, rest)
	}
	return absolute(dir, path)
}

// follow adds places, and those that the files there name.
func (c *chain) follow(places []place) {
	for i, p := range places {
		if !c.add(p) {
			continue
		}
		at := len(c.places) - 1
		root, d := c.peek(p)
		if root == nil {
			continue
		}
		guest := p.project && (c.o.Trusted == nil || !c.o.Trusted(p.path, d.raw))
		c.imports(p, d, root, guest)
		items, wrong := c.list(p, d, root, guest)
		if wrong != nil {
			c.places[at].listFault = wrong
		}
		if items == nil {
			continue
		}
		c.lists = append(c.lists, p.path)
		rest := places[i+1:]
		for _, it := range items {
			if it.rest {
				c.follow(rest)
				continue
			}
			q := c.listed(it)
			if c.add(q) {
				c.places[len(c.places)-1].late = true
				if root, d := c.peek(q); root != nil {
					c.imports(q, d, root, q.project && (c.o.Trusted == nil || !c.o.Trusted(q.path, d.raw)))
				}
			}
		}
		c.lists = c.lists[:len(c.lists)-1]
		return
	}
}

// add adds a place, unless it is there already.
func (c *chain) add(p place) bool {
	if slices.ContainsFunc(c.places, func(other place) bool { return other.path == p.path }) {
		return false
	}
	c.places = append(c.places, p)
	return true
}

// listed is the place of a file that a list names. A file that would be found anyway stays
// what it is: a list does not make a project's file the user's own.
func (c *chain) listed(i item) place {
	for _, p := range c.walk {
		if p.path == i.path {
			p.by = i.by
			return p
		}
	}
	return place{path: i.path, by: i.by, project: c.ofProject()}
}

// ofProject reports whether what is listed now is a project's: the list is in a file of one.
func (c *chain) ofProject() bool {
	if len(c.lists) == 0 {
		return false
	}
	by := c.lists[len(c.lists)-1]
	return slices.ContainsFunc(c.places, func(p place) bool { return p.path == by && p.project })
}

// peek parses a file that may say something about other files; nil if it says nothing, or
// cannot be read, which is told when its turn comes.
func (c *chain) peek(p place) (*node, *document) {
	d, err := p.document()
	if d == nil || err != nil {
		return nil, nil
	}
	if !bytes.Contains(d.text, []byte("paths")) && !bytes.Contains(d.text, []byte("imports")) && !bytes.Contains(d.text, []byte(`\u`)) {
		return nil, nil
	}
	root, err := d.parse()
	if err != nil {
		return nil, nil
	}
	return root, d
}

// list reads paths.config of a file. nil says that there is none to follow.
func (c *chain) list(p place, d *document, root *node, guest bool) ([]item, *fault.Error) {
	const form = `write "paths": { "config": ["FILE", null] }; null stands for the files that are found without it`
	paths := root.get("paths")
	dotted := root.get("paths.config")
	var list *node
	if paths.isObject() {
		list = paths.get("config")
	}
	switch {
	case list != nil && dotted != nil:
		return nil, d.broken(dotted.at, `"paths": { "config": … } and "paths.config" are the same setting, and both are here`, "keep one of them")
	case list == nil:
		list = dotted
	}
	if list == nil || list.kind == null || guest {
		return nil, nil // what a guest says is warned of when the file is read
	}
	if list.kind == text {
		list = &node{kind: listKind, at: list.at, list: []*node{list}}
	}
	if list.kind != listKind {
		return nil, d.broken(list.at, "paths.config is "+string(list.kind)+" where a list is needed", form)
	}
	items := []item{}
	for _, n := range list.list {
		switch {
		case n.kind == null:
			items = append(items, item{rest: true})
			continue
		case n.kind != text || strings.TrimSpace(n.text) == "":
			return nil, d.broken(n.at, "paths.config names files, and this is "+string(n.kind), form)
		}
		path, err := expand(n.text, func(ref reference) (string, bool, error) {
			r := resolver{s: &Server{workspace: p.folder()}, e: c.o.Env}
			value, ok := r.value(ref)
			if !ok && !ref.fallback {
				return "", false, fault.Usagef("%s is not set", ref.name)
			}
			return value, ok, nil
		})
		if err != nil {
			return nil, d.broken(n.at, "paths.config: "+err.Error(), "set the variable, or give it a default")
		}
		path = c.o.Env.named(filepath.Dir(p.path), path)
		if path == p.path || slices.Contains(c.lists, path) {
			return nil, d.broken(n.at, "paths.config leads in a circle: "+strings.Join(append(slices.Clone(c.lists), p.path, path), " → "),
				"take "+path+" out of the list; the file that has the list is read anyway")
		}
		items = append(items, item{path: path, by: d.origin(n.at).String()})
	}
	return items, nil
}

const listKind = list

// imports adds the files of the hosts that a file names.
func (c *chain) imports(p place, d *document, root *node, guest bool) {
	n := root.get("imports")
	if n == nil || p.host != "" || n.kind != listKind {
		return // what is wrong with it is told when the file is read
	}
	for _, e := range n.list {
		h := hostNamed(e.text)
		if e.kind != text || h == nil {
			continue
		}
		for _, q := range h.places(c.o.Env) {
			if guest && !q.project {
				continue
			}
			q.by = d.origin(e.at).String()
			c.add(q)
		}
	}
}

// aboutFiles checks the keys that say which files are read, once the file is, and reports
// whether m is one of them.
func (r *reader) aboutFiles(m member) bool {
	switch m.key {
	case "paths", "paths.config":
		at := m.at
		if m.key == "paths" {
			if m.value.kind != object {
				r.missing(m.at, `paths is %s, and has no effect; write "paths": { "config": ["FILE", null] }`, m.value.kind)
				return true
			}
			for _, s := range m.value.members {
				if s.key != "config" {
					r.setting("paths."+s.key, s.value)
				} else {
					at = s.at
				}
			}
			if m.value.get("config") == nil {
				return true
			}
		}
		switch {
		case r.explicit:
			r.unfollowed(at, "paths.config is not followed in a file that --config or MCPX_CONFIG names: that file is read alone")
		case r.late:
			r.unfollowed(at, "paths.config is not followed here, since %s names this file; list the files there", r.by)
		case r.guest:
			r.missing(at, `paths.config is not followed in a file of the project unless you trust it: "mcpx config trust"`)
		}
	case "imports":
		r.checkImports(m)
	case "inputs":
	default:
		return false
	}
	return true
}

func (r *reader) checkImports(m member) {
	if m.value.kind != listKind {
		r.missing(m.at, `imports is %s, and has no effect; write "imports": ["cursor"]`, m.value.kind)
		return
	}
	if r.explicit {
		r.unfollowed(m.at, "imports has no effect in a file that --config or MCPX_CONFIG names: that file is read alone")
		return
	}
	for _, n := range m.value.list {
		h := hostNamed(n.text)
		switch {
		case n.kind != text:
			r.missing(n.at, "imports names hosts, and this is %s", n.kind)
		case h == nil:
			meant := "the hosts are " + strings.Join(HostNames(), ", ")
			if near := settings.Nearest(n.text, HostNames()); near != "" {
				meant = "did you mean " + near + "?"
			}
			r.missing(n.at, "imports: there is no host %q; %s", n.text, meant)
		case r.guest && len(h.user(r.env, goos)) > 0:
			tell := r.unfollowed
			if slices.ContainsFunc(h.user(r.env, goos), func(path string) bool { return place{path: path}.exists() }) {
				tell = r.missing // there is something that is not read
			}
			tell(n.at, `imports: from a file of the project only the project's own files of %s are read unless you trust it: "mcpx config trust"`, h.Name)
		}
	}
}
