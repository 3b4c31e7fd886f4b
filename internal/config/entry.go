package config

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"mcpx/internal/fault"
	"mcpx/internal/rule"
	"mcpx/internal/settings"
)

// The ways to reach a server.
const (
	Stdio = "stdio" // a child process
	HTTP  = "http"  // Streamable HTTP
	SSE   = "sse"   // HTTP+SSE, its predecessor
)

// Server is one entry, as it was written: placeholders are not expanded. Resolve makes
// a Definition of it, which is what a server is started from.
type Server struct {
	Name       string
	Transport  string // Stdio, HTTP or SSE
	Command    string
	Args       []string
	Env        map[string]string
	Headers    map[string]string
	Cwd        string   // empty for the caller's working directory
	EnvFiles   []string // with variables for the child; those of Env count for more
	URL        string
	Untyped    bool // the entry has a url and does not say how it is spoken to: SSE will do where HTTP does not
	Disabled   bool
	InheritEnv bool  // the child gets the caller's whole environment
	Auth       *Auth // how to log in; nil if nothing is said
	Process    Process
	AliasOf    string // the server whose process this one shares; empty for none
	Guest      bool   // of a project's file that the user does not vouch for
	Verbatim   bool   // there are no placeholders in it, whatever it looks like; no file says so
	Origin     Origin
	Ignored    []string     // keys of other hosts that mcpx does not read
	Warnings   []string     // those of the Config that are about this entry
	Problem    *fault.Error // why this entry cannot be used; of kind Usage
	Rules      *rule.Rules  // about its tools; nil for none

	base      string         // what a relative Cwd is relative to; empty for the caller's working directory
	workspace string         // ${workspaceFolder}; empty for the caller's working directory
	pass      []string       // variables that the child gets if the caller has them
	lines     map[string]int // of the keys whose strings may hold placeholders
	alias     *Server        // the entry that AliasOf names
	broken    *fault.Error   // what is wrong with its Rules
	inputs    []Input        // those that its file defines
	misplaced []string       // keys of the mcpx block that stand beside it, where mcpx reads none
}

// Process is what an entry says about the processes of its server. What is zero is left
// to the settings of the group pool.
type Process struct {
	Scope       string // with whom they are shared
	Sharing     string // shared or exclusive
	Max         int    // how many there may be for one scope
	IdleTimeout time.Duration
	CallTimeout time.Duration
}

// wrong makes the error for a key that is written wrong: no server can come of the entry,
// whatever the environment holds. key may be empty.
func (s *Server) wrong(key, format string, args ...any) *fault.Error {
	e := s.fault(key, format, args...)
	e.Kind = fault.Usage
	return e
}

// filled makes the error for a key whose text is not right: wrong, unless it was only made by
// what its placeholders stand for.
func (s *Server) filled(key, written, text, what string) *fault.Error {
	if written == text {
		return s.wrong(key, "%s", what)
	}
	return s.fault(key, "%s", what)
}

// fault makes the error for one key of the entry that cannot be used here and now; key may
// be empty.
func (s *Server) fault(key, format string, args ...any) *fault.Error {
	at := s.Origin
	if line, ok := s.lines[key]; ok {
		at.Line = line
	}
	what := fmt.Sprintf(format, args...)
	if key != "" {
		what = key + ": " + what
	}
	e := fault.Unavailablef("%s: server %q: %s", at, s.Name, what).
		With("server", s.Name).With("file", at.File).With("line", at.Line)
	if key != "" {
		e = e.With("key", key)
	}
	return e
}

// entry reads one server. What is wrong with it stays with it.
func (r *reader) entry(m member) entry {
	if m.value.kind == null {
		return entry{name: m.key}
	}
	s := &Server{
		Name: m.key, Transport: Stdio, Origin: r.doc.origin(m.at), Guest: r.guest,
		lines: map[string]int{}, base: r.folder(), inputs: r.inputs,
	}
	if r.project {
		s.workspace = r.folder()
	}
	er := entryReader{reader: r, s: s}
	if er.want(m.value, "", object, `write { "command": "PROGRAM", "args": […] } or { "url": "https://…" }`) {
		er.read(m.value)
	}
	if s.Name == "" {
		er.fail("", "", "the name is empty")
	}
	if name, ok := strings.CutSuffix(s.Name, ":read"); ok {
		er.fail("", "call it something else", "where tools are granted, %q means the reading tools of %q", s.Name, name)
	}
	for _, w := range r.doc.warnings {
		if m.at <= w.at && w.at < m.value.end {
			s.Warnings = append(s.Warnings, w.text)
		}
	}
	s.Warnings = append(s.Warnings, er.warnings...)
	return entry{name: m.key, server: s, warnings: er.warnings, astray: er.astray, node: m.value}
}

// entryReader fills one Server.
type entryReader struct {
	*reader
	s         *Server
	transport string            // as written
	program   bool              // a command is written, whether or not it can be used
	address   *member           // what is the url if nothing says how the server is reached
	said      map[string]string // keys of the mcpx block that were read, with how they are written
	warnings  []string
	astray    []string // those of them that every command says
}

// fail keeps the first problem of the entry.
func (r *entryReader) fail(key, hint, format string, args ...any) {
	if r.s.Problem == nil {
		r.s.Problem = r.s.wrong(key, format, args...).Hintf("%s", hint)
	}
}

// want reports whether n is of a kind, and fails the entry otherwise.
func (r *entryReader) want(n *node, key string, k kind, hint string) bool {
	if n.kind == k {
		return true
	}
	r.line(key, n)
	if key == "" {
		r.fail("", hint, "the entry is %s where %s is needed", n.kind, k)
	} else {
		r.fail(key, hint, "%s where %s is needed", n.kind, k)
	}
	return false
}

func (r *entryReader) line(key string, n *node) {
	if key != "" {
		r.s.lines[key] = r.doc.line(n.at)
	}
}

func (r *entryReader) read(n *node) {
	r.members(n)
	if r.address != nil && !r.program && r.s.URL == "" && r.s.lines["url"] == 0 {
		r.url(r.address.key, r.address.value)
	} else if r.address != nil {
		r.s.Ignored = append(r.s.Ignored, r.address.key)
	}
	r.decide()
	r.unfilled()
	r.beside(n)
	s := r.s
	if s.Transport == Stdio && s.Auth != nil {
		s.Auth, s.Ignored = nil, append(s.Ignored, "auth")
	}
	if s.Transport != Stdio && s.EnvFiles != nil {
		s.EnvFiles, s.Ignored = nil, append(s.Ignored, "envFile")
	}
}

// members reads the keys of the entry, and of an object in it that holds some of them.
func (r *entryReader) members(n *node) {
	s := r.s
	for _, m := range n.members {
		key, v := m.key, m.value
		if v.kind == null { // no host means anything by it
			continue
		}
		switch key {
		case "command", "cmd": // also Goose's
			r.program = true
			r.command(v)
		case "args":
			s.Args = append(s.Args, r.texts(key, v)...)
		case "env", "environment", "envs": // also opencode's; Goose's
			s.Env = r.table(s.Env, key, v)
		case "envFile", "env_file": // VS Code's and Cursor's
			r.envFiles(v)
		case "headers", "http_headers":
			s.Headers = r.table(s.Headers, key, v)
		case "requestInit", "requestOptions": // as libraries pass it to fetch; Continue's
			if h := v.get("headers"); h != nil {
				s.Headers = r.table(s.Headers, "headers", h)
			}
		case "bearerToken", "bearer_token":
			s.Headers = with(s.Headers, "Authorization", "Bearer "+r.string(key, v))
			r.line("headers.Authorization", v)
		case "bearer_token_env_var", "bearerTokenEnv": // Codex's and mcporter's: the name of a variable
			if r.want(v, key, text, `write the name of an environment variable`) {
				s.Headers = with(s.Headers, "Authorization", "Bearer ${"+v.text+"}")
				r.line("headers.Authorization", v)
			}
		case "env_http_headers": // Codex: names of variables
			for name, variable := range r.table(nil, key, v) {
				s.Headers = with(s.Headers, name, "${"+variable+"}")
				r.line("headers."+name, v)
			}
		case "env_vars", "env_keys": // Codex's and Goose's: variables to pass on
			s.pass = r.texts(key, v)
		case "cwd", "workingDirectory", "working_directory", "workingDir":
			s.Cwd = r.string("cwd", v)
		case "url", "serverUrl", "httpUrl":
			r.url(key, v)
		case "server_url", "baseUrl", "base_url", "uri": // mcporter's; Goose's
			r.address = &m
		case "type", "transport", "transportType":
			if v.kind == object { // how the server is reached stands in it
				r.members(v)
				continue
			}
			r.kindOf(key, v)
		case "disabled":
			s.Disabled = r.boolean(key, v, false) || s.Disabled
		case "enabled", "isActive": // also Cherry Studio's
			s.Disabled = !r.boolean(key, v, true) || s.Disabled
		case "auth", "oauth":
			r.auth(key, v)
		case "mcpx":
			r.block(v)
		default:
			own, ok := ruleOfOthers(m)
			switch {
			case ok:
				r.ours(key, member{own, m.at, v})
			case r.own() && slices.Contains(blockKeys, key):
				r.ours(key, m)
			case slices.Contains(blockKeys, key) && key != "tools": // other hosts write that too, in ways of their own
				s.misplaced = append(s.misplaced, key)
			default:
				s.Ignored = append(s.Ignored, key)
			}
		}
	}
}

// beside warns of keys of the mcpx block that stand beside it in a file of other programs too,
// to which they may mean something else.
func (r *entryReader) beside(n *node) {
	if len(r.s.misplaced) == 0 {
		return
	}
	at := n.at
	for _, m := range n.members {
		if m.key == r.s.misplaced[0] {
			at = m.at
		}
	}
	words := make([]string, len(r.s.misplaced))
	for i, key := range r.s.misplaced {
		words[i] = quoted(key)
	}
	r.note(member{at: at}, "%s of the entry itself: nothing reads that in a file of other programs; write it under \"mcpx\"", strings.Join(words, ", "))
	r.astray = append(r.astray, r.warnings[len(r.warnings)-1])
}

// envFiles reads the names of files with variables.
func (r *entryReader) envFiles(n *node) {
	r.line("envFile", n)
	if n.kind == list {
		r.s.EnvFiles = r.texts("envFile", n)
	} else if path := r.string("envFile", n); path != "" {
		r.s.EnvFiles = []string{path}
	}
}

// unfilled warns of placeholders of other hosts that stay as they are written.
func (r *entryReader) unfilled() {
	for _, form := range r.s.foreign() {
		r.warnings = append(r.warnings, fmt.Sprintf("%s: server %q: mcpx does not fill in %s, and passes it on as it is", r.s.Origin, r.s.Name, form))
	}
}

// foreign lists the placeholders in an entry that other hosts fill in and mcpx does not.
func (s *Server) foreign() []string {
	var out []string
	for _, form := range []string{"${command:", "${config:", "${{"} {
		if slices.ContainsFunc(s.texts(), func(t string) bool { return strings.Contains(t, form) }) {
			out = append(out, form+"…}")
		}
	}
	return out
}

// ruleOfOthers is our name for a key by which another host hides tools of a server.
func ruleOfOthers(m member) (string, bool) {
	switch m.key {
	case "tools": // Copilot's; others keep something else there
		return "tools", m.value.kind == listKind && !slices.ContainsFunc(m.value.list, func(n *node) bool { return n.kind != text })
	case "includeTools", "enabled_tools": // Gemini's; Codex's
		return "tools", m.value.kind == listKind
	case "excludeTools", "disabled_tools", "disabledTools": // Gemini's; Codex's; Windsurf's
		return "excludeTools", m.value.kind == listKind
	}
	return "", false
}

// misspelled is a hint about a key that most likely was to say how the server is reached; else
// it is otherwise.
func (r *entryReader) misspelled(otherwise string) string {
	for _, key := range r.s.Ignored {
		if near := settings.Nearest(key, []string{"command", "url"}); near != "" && len(key) > 2 {
			return fmt.Sprintf("did you mean %q by %q?", near, key)
		}
	}
	return otherwise
}

// decide finds out how the server is reached from what is written.
func (r *entryReader) decide() {
	s := r.s
	const hint = `write "command": "PROGRAM" for a server to be started, or "url": "https://…" for a remote one`
	remote := s.URL != "" || s.lines["url"] != 0
	switch {
	case s.AliasOf != "" && (r.program || remote):
		r.fail(s.aliasKey(), "leave out the command and the url: those of the other server are used", "an alias has a command or a url of its own")
	case s.AliasOf != "":
		return
	case !r.program && !remote:
		r.fail("", r.misspelled(hint), "neither a command nor a url")
	case r.transport == "" && r.program && remote:
		r.fail("", `say which is meant with "type": "stdio" or "type": "http"`, "both a command and a url")
	case r.transport == "" && remote:
		s.Transport, s.Untyped = HTTP, true
	case r.transport == "":
	case s.Transport == Stdio && !r.program:
		r.fail("", hint, "it is of type %s and has no command", r.transport)
	case s.Transport != Stdio && !remote:
		r.fail("", hint, "it is of type %s and has no url", r.transport)
	}
	if s.Transport != Stdio && remote && s.URL == "" {
		r.fail("url", hint, "it is empty")
	}
	if s.Transport == Stdio && r.program && strings.TrimSpace(s.Command) == "" {
		r.fail("command", hint, "it is empty")
	}
}

// command reads the program: a string, with its arguments in one list (opencode), or
// an object (older Zed).
func (r *entryReader) command(n *node) {
	s := r.s
	switch n.kind {
	case list:
		words := r.texts("command", n)
		if len(words) > 0 {
			s.Command, s.Args = words[0], append(words[1:], s.Args...)
			for i := range words[1:] {
				s.lines["args["+strconv.Itoa(i)+"]"] = s.lines["command["+strconv.Itoa(i+1)+"]"]
			}
		}
		r.line("command", n)
	case object:
		for _, m := range n.members {
			switch m.key {
			case "path":
				s.Command = r.string("command", m.value)
			case "args":
				s.Args = append(s.Args, r.texts("args", m.value)...)
			case "env":
				s.Env = r.table(s.Env, "env", m.value)
			default:
				s.Ignored = append(s.Ignored, "command."+m.key)
			}
		}
	default:
		s.Command = r.string("command", n)
	}
}

func (r *entryReader) url(key string, n *node) {
	s := r.s
	value := r.string(key, n)
	if key == "httpUrl" || s.URL == "" { // Gemini: httpUrl before url
		s.URL = value
		s.lines["url"] = r.doc.position(n.at).Line
	}
}

// kindOf reads the transport under one of its names.
func (r *entryReader) kindOf(key string, n *node) {
	if r.transport != "" || !r.want(n, key, text, `write "stdio", "http" or "sse"`) {
		return
	}
	r.line(key, n)
	r.transport = n.text
	switch strings.NewReplacer("-", "", "_", "").Replace(strings.ToLower(n.text)) {
	case "stdio", "local":
		r.s.Transport = Stdio
	case "http", "streamablehttp", "httpstream", "streaminghttp", "remote":
		r.s.Transport = HTTP
	case "sse":
		r.s.Transport = SSE
	default:
		r.fail(key, `write "stdio", "http" or "sse"`, "there is no transport %q", n.text)
	}
}

// boolean reads true or false; what is neither fails the entry and counts as otherwise.
func (r *entryReader) boolean(key string, n *node, otherwise bool) bool {
	if n.kind == text && (n.text == "true" || n.text == "false") {
		return n.text == "true"
	}
	if !r.want(n, key, boolean, "write true or false") {
		return otherwise
	}
	return n.text == "true"
}

func (r *entryReader) string(key string, n *node) string {
	r.line(key, n)
	if !r.want(n, key, text, "write it in double quotes") {
		return ""
	}
	return n.text
}

// texts reads a list of strings. A number or a boolean in it is taken as it is written.
func (r *entryReader) texts(key string, n *node) []string {
	if !r.want(n, key, list, `write ["FIRST", "SECOND"], one string an argument; nothing is split at spaces`) {
		return nil
	}
	out := make([]string, 0, len(n.list))
	for i, e := range n.list {
		out = append(out, r.scalar(key+"["+strconv.Itoa(i)+"]", e))
	}
	return out
}

// table adds an object of strings to one. A member that is null counts as not there.
func (r *entryReader) table(to map[string]string, key string, n *node) map[string]string {
	if !r.want(n, key, object, `write { "NAME": "VALUE" }`) {
		return to
	}
	subject := "env"
	if strings.HasSuffix(key, "headers") {
		subject = "headers"
	}
	for _, m := range n.members {
		if m.value.kind == null {
			continue
		}
		if subject == "env" && (m.key == "" || strings.ContainsAny(m.key, "=\x00")) {
			r.line(key, n)
			r.fail(key, "", "%q cannot be the name of a variable", m.key)
			continue
		}
		to = with(to, m.key, r.scalar(subject+"."+m.key, m.value))
	}
	return to
}

func (r *entryReader) scalar(key string, n *node) string {
	r.line(key, n)
	switch n.kind {
	case text, number, boolean:
		return n.text
	}
	r.want(n, key, text, "write it in double quotes")
	return ""
}

func with(m map[string]string, key, value string) map[string]string {
	if m == nil {
		m = map[string]string{}
	}
	m[key] = value
	return m
}

// block reads what an entry says to mcpx alone. An unknown key is a mistake: no other
// host writes here.
func (r *entryReader) block(n *node) {
	if !r.want(n, "mcpx", object, `write "mcpx": { … }`) {
		return
	}
	for _, m := range n.members {
		key := "mcpx." + m.key
		switch {
		case m.value.kind == null: // as elsewhere in an entry
		case slices.Contains(blockKeys, m.key):
			r.ours(key, m)
		default:
			r.line(key, m.value)
			hint := "the keys of the mcpx block are " + strings.Join(blockKeys, ", ")
			if near := settings.Nearest(m.key, blockKeys); near != "" {
				hint = "did you mean " + near + "?"
			}
			r.fail(key, hint, "there is no such key")
		}
	}
}

// blockKeys are the keys of the mcpx block. In mcpx's own files they may stand on the entry too.
var blockKeys = slices.Concat([]string{"inheritEnv"}, processKeys, ruleKeys)

// ours reads one of them, which is written as key. One of two that say the same would be lost.
func (r *entryReader) ours(key string, m member) {
	if first, twice := r.said[m.key]; twice {
		r.line(key, m.value)
		const format, hint = "%s says the same, and both are in the entry", "keep one of them"
		r.fail(key, hint, format, first)
		if r.s.broken == nil && slices.Contains(ruleKeys, m.key) {
			r.s.broken = r.s.fault(key, format, first).Hintf(hint)
		}
		return
	}
	r.said = with(r.said, m.key, key)
	switch {
	case slices.Contains(ruleKeys, m.key):
		r.rules(key, m)
	case m.key == "inheritEnv":
		inherit := r.boolean(key, m.value, false)
		if inherit && r.guest {
			r.note(m, `inheritEnv is not honoured from a file of the project unless you trust it: "mcpx config trust", or an entry in ~/.mcpx.json`)
			return
		}
		r.s.InheritEnv = inherit
	default:
		r.process(key, m)
	}
}

// processKeys are the keys of the mcpx block about the processes of the server.
var processKeys = []string{"scope", "sharing", "max", "idleTimeout", "callTimeout", "aliasOf"}

// process reads one of them.
func (r *entryReader) process(key string, m member) {
	v, p := m.value, &r.s.Process
	if v.kind == null {
		return
	}
	r.line(key, v)
	if m.key == "aliasOf" {
		if r.s.AliasOf = r.string(key, v); r.s.AliasOf == "" {
			r.fail(key, "write the name of another server", "it names no server")
		}
		return
	}
	if m.key == "max" && v.kind != number || m.key != "max" && v.kind != text {
		want := text
		if m.key == "max" {
			want = number
		}
		r.want(v, key, want, map[bool]string{true: "write a number such as 2", false: "write it in double quotes"}[m.key == "max"])
		return
	}
	var what, hint string
	switch m.key {
	case "scope":
		p.Scope, what, hint = settings.PoolScope.Parse(v.text)
	case "sharing":
		p.Sharing, what, hint = settings.PoolSharing.Parse(v.text)
	case "max":
		p.Max, what, hint = settings.PoolMax.Parse(v.text)
	case "idleTimeout":
		p.IdleTimeout, what, hint = settings.PoolIdleTimeout.Parse(v.text)
	case "callTimeout":
		p.CallTimeout, what, hint = settings.PoolCallTimeout.Parse(v.text)
	}
	if what != "" {
		r.fail(key, hint, "%s", what)
	}
}

func (r *entryReader) note(m member, format string, args ...any) {
	r.warnings = append(r.warnings, fmt.Sprintf("%s: server %q: ", r.doc.origin(m.at), r.s.Name)+fmt.Sprintf(format, args...))
}
