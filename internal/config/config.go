// Package config finds and reads the configuration: which servers there are, how each
// is reached, and which settings stand beside them.
//
// Any file that another host of MCP servers writes can be read; which one it is is told
// by what it holds. Whatever is wrong with one entry is kept with that entry, and
// whatever is wrong with one file is kept with that file, so that neither affects the
// others. What a setting means is left to package settings, starting a server to pool.
package config

import (
	"cmp"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"mcpx/internal/fault"
	"mcpx/internal/settings"
)

// Env is what configuration depends on besides its files: those of the caller, which
// need not be this process.
type Env struct {
	Lookup func(name string) (value string, ok bool) // environment variables
	Home   string                                    // absolute; empty if there is none
	Dir    string                                    // the working directory, absolute
	// Input returns the answer to ${input:id} for entries with a key of Input; nil knows none.
	Input func(key, id string) (value string, ok bool)
	// Read returns what a file holds that an entry names; nil is Text.
	Read func(path string) ([]byte, error)
}

func (e Env) read(path string) (string, error) {
	read := e.Read
	if read == nil {
		read = Text
	}
	text, err := read(path)
	return strings.TrimPrefix(string(text), "\ufeff"), err
}

func (e Env) variable(name string) (string, bool) {
	if e.Lookup == nil {
		return "", false
	}
	return e.Lookup(name)
}

// Options says what to load.
type Options struct {
	Env  Env
	File string // the one file to read instead of searching; MCPX_CONFIG if empty
	// Text, if it is not nil, is what File holds, which need not be there then.
	Text []byte
	// Paths is the setting paths.config, as flag or variable give it: a list of files as in
	// PATH, in which null or nothing stands for those that are searched for.
	Paths string
	// Among, if it is not nil, holds the only files that are looked at of those that are
	// searched for.
	Among []string
	// Trusted reports whether the user vouches for what a file of the project holds. nil
	// vouches for none.
	Trusted func(path string, text []byte) bool
}

// Config is the configuration in force.
type Config struct {
	Files    []File          // the places that were looked at, nearest first
	Servers  []*Server       // by name; of two entries with one name the nearer
	Settings []settings.File // of the files that hold any, nearest first
	Profiles []Profile       // of permissions, nearest first; two may have one name
	Faults   []*fault.Error  // what is wrong with profiles, each with its place
	Explicit bool            // one file was named instead of searching
	Warnings []string        // what is in a file and has no effect, or not the one that it seems to have
	Unread   []string        // what goes with the news that a server is not there: where one may stand that was not read
	Astray   []string        // what every command says: what somebody wrote and nothing reads, and servers that are missing

	about   gathered       // rules about tools besides those of the entries
	unknown []*fault.Error // keys beside the servers that nobody knows
}

// State says what became of a file.
type State string

// The states of a file.
const (
	Read   State = "read"
	Absent State = "absent"
	Broken State = "broken"
)

// File is a place where configuration is looked for.
type File struct {
	Path    string
	State   State
	Err     *fault.Error // if it is broken: what is wrong, and where
	Ignored []string     // top-level keys that mcpx does not read
	Project bool         // found in the project
	Trusted bool         // of the project, and the user vouches for what it holds
	By      string       // who names it: FILE:LINE, or paths.config; empty if it was searched for
	Host    string       // the host whose file it is, if it is read in place; see Hosts
	Apart   bool         // of another host alone: if it is broken, nothing but its servers is missing
}

// Origin is where an entry begins. Line and Column count from 1, Column in UTF-16 code units.
type Origin struct {
	File         string
	Line, Column int
}

// String returns FILE:LINE, or FILE alone for what is in no file.
func (o Origin) String() string {
	if o.Line == 0 {
		return o.File
	}
	return fmt.Sprintf("%s:%d", o.File, o.Line)
}

// Load reads the configuration. The error is of kind Usage, for a file that was named
// and does not exist. A file that cannot be read or parsed is no error of Load: it is
// kept in Files, and Err reports it.
func Load(o Options) (*Config, error) {
	places, err := o.places()
	if err != nil {
		return nil, err
	}
	return load(places, o), nil
}

func load(places []place, o Options) *Config {
	c := &Config{Explicit: len(places) == 1 && places[0].explicit}
	named := map[string]*Server{} // nil: removed by a nearer file
	about := &c.about
	about.replaced = map[string][]*Server{}
	for _, p := range places {
		file, found := p.read(o)
		c.Files = append(c.Files, file)
		c.Warnings = append(c.Warnings, found.warnings...)
		c.Unread = append(c.Unread, found.unread...)
		c.Astray = append(c.Astray, found.astray...)
		if len(found.settings.Entries) > 0 {
			c.Settings = append(c.Settings, found.settings)
		}
		c.Profiles = append(c.Profiles, found.profiles...)
		c.Faults = append(c.Faults, found.faults...)
		c.unknown = append(c.unknown, found.unknown...)
		about.add(&found)
		for _, e := range found.entries {
			switch _, nearer := named[e.name]; {
			case nearer && e.server != nil:
				about.replaced[e.name] = append(about.replaced[e.name], e.server)
			case !nearer:
				named[e.name] = e.server
				if e.server != nil {
					c.Warnings = append(c.Warnings, e.warnings...)
					c.Astray = append(c.Astray, e.astray...)
				}
			}
		}
	}
	for _, s := range named {
		if s != nil {
			c.Servers = append(c.Servers, s)
		}
	}
	slices.SortFunc(c.Servers, func(a, b *Server) int { return cmp.Compare(a.Name, b.Name) })
	for _, s := range c.Servers {
		s.findAlias(c)
	}
	about.give(c)
	return c
}

// Err returns an error of kind Usage if a file is broken. Commands that need servers
// return it; those that look for what is wrong go on with the others. A broken file of
// another host costs its own servers only, and is in Astray.
func (c *Config) Err() error {
	var first *fault.Error
	var more []string
	for _, f := range c.Files {
		switch {
		case f.Err == nil, f.Apart:
		case first == nil:
			first = f.Err
		default:
			more = append(more, f.Path)
		}
	}
	if first == nil {
		return nil
	}
	if len(more) > 0 {
		return fault.New(fault.Usage, "%w", first).With("alsoBroken", more)
	}
	return first
}

// Strict refuses what mcpx does not know: an entry with keys of other hosts has a Problem
// from now on, and a key beside the servers is one of the Faults.
func (c *Config) Strict() {
	for _, s := range c.Servers {
		if unknown := slices.Concat(s.Ignored, s.misplaced); len(unknown) > 0 && s.Problem == nil {
			s.Problem = s.wrong("", "mcpx does not read %s there, and plumbing.strictUnknownKeys is on", strings.Join(unknown, ", ")).
				Hintf("remove the keys, or switch the setting off")
		}
	}
	c.Faults = append(c.Faults, c.unknown...)
}

// Server returns the entry of that name.
func (c *Config) Server(name string) (*Server, bool) {
	i, ok := slices.BinarySearchFunc(c.Servers, name, func(s *Server, name string) int { return cmp.Compare(s.Name, name) })
	if !ok {
		return nil, false
	}
	return c.Servers[i], true
}

// Mentions reports whether an entry refers to the variable, perhaps to hand it on.
func (c *Config) Mentions(variable string) bool {
	return slices.ContainsFunc(c.Servers, func(s *Server) bool {
		texts := slices.Concat([]string{s.Command, s.Cwd, s.URL}, s.EnvFiles, s.Args, s.pass,
			slices.Collect(maps.Keys(s.Env)), slices.Collect(maps.Values(s.Env)), slices.Collect(maps.Values(s.Headers)))
		return slices.ContainsFunc(texts, func(text string) bool { return strings.Contains(text, variable) })
	})
}

// place is one file that may exist.
type place struct {
	path     string
	explicit bool // named by the user rather than found
	project  bool // found in the project: whoever wrote the project wrote it
	nowhere  bool // its own folder means nothing to the servers in it

	by        string       // who names it; empty if it was searched for
	late      bool         // a list names it, so that it has none itself
	host      string       // it is read in place as a file of that host
	listFault *fault.Error // what is wrong with its paths.config
	text      []byte       // what is in it, if that is known already
}

// ProjectFiles are the files that are looked for in a folder, the one that counts first
// in front.
func ProjectFiles(dir string) []string {
	return []string{filepath.Join(dir, ".mcpx.json"), filepath.Join(dir, ".mcpx", "config.json"), filepath.Join(dir, ".mcp.json")}
}

const systemFile = "/etc/mcpx/config.json"

// places lists the files to look at, nearest first.
func (o Options) places() ([]place, error) {
	named, by := o.File, "--config"
	if named == "" {
		named, _ = o.Env.variable("MCPX_CONFIG")
		by = "MCPX_CONFIG"
	}
	if named != "" {
		p := place{path: absolute(o.Env.Dir, named), explicit: true}
		if o.File != "" && o.Text != nil {
			p.text = o.Text
		} else if !p.exists() {
			return nil, fault.Usagef("the configuration file %s does not exist", p.path).
				Hintf("%s names it", by).With("file", p.path)
		}
		return []place{p}, nil
	}

	places, err := o.chained(o.walk())
	if err != nil {
		return nil, err
	}
	if o.Among != nil {
		places = slices.DeleteFunc(places, func(p place) bool { return !slices.Contains(o.Among, p.path) })
	}
	return places, nil
}

// walk lists the places where files are searched for, nearest first.
func (o Options) walk() []place {
	var places []place
	add := func(p place) {
		if !slices.ContainsFunc(places, func(other place) bool { return other.path == p.path }) {
			places = append(places, p)
		}
	}
	for dir := filepath.Clean(o.Env.Dir); ; dir = filepath.Dir(dir) {
		for _, path := range ProjectFiles(dir) {
			add(place{path: path, project: dir != o.Env.Home})
		}
		if dir == filepath.Dir(dir) {
			break
		}
	}
	xdg, _ := o.Env.variable("XDG_CONFIG_HOME")
	if !filepath.IsAbs(xdg) && o.Env.Home != "" {
		xdg = filepath.Join(o.Env.Home, ".config")
	}
	if filepath.IsAbs(xdg) {
		add(place{path: filepath.Join(xdg, "mcpx", "config.json"), nowhere: true})
	}
	if o.Env.Home != "" {
		add(place{path: filepath.Join(o.Env.Home, ".mcpx.json")})
	}
	add(place{path: systemFile, nowhere: true})
	return places
}

// own reports whether a file is mcpx's alone, so that every key in it is meant for mcpx.
// That is told by its name, whoever names it.
func (p place) own() bool {
	base, dir := filepath.Base(p.path), filepath.Base(filepath.Dir(p.path))
	return base == ".mcpx.json" || base == "config.json" && (dir == ".mcpx" || dir == "mcpx")
}

// apart reports whether a file is another host's alone. A .mcp.json is shared with mcpx, also
// where a host is named that reads it.
func (p place) apart() bool { return p.host != "" && filepath.Base(p.path) != ".mcp.json" }

// folder is the directory that the file is about: its own, or the one above a folder
// that only holds configuration. It is empty if there is none.
func (p place) folder() string {
	if p.nowhere {
		return ""
	}
	dir := filepath.Dir(p.path)
	above := filepath.Dir(dir)
	switch filepath.Base(dir) {
	case ".mcpx", ".vscode", ".cursor", ".gemini", ".codex", ".zed", ".amazonq", ".qwen", ".roo":
		return above
	case "settings", "mcp":
		if name := filepath.Base(above); name == ".kiro" || name == ".junie" {
			return filepath.Dir(above)
		}
	}
	return dir
}

func absolute(dir, path string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(dir, path)
}
