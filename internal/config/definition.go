package config

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"maps"
	"net/url"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"mcpx/internal/dotenv"
	"mcpx/internal/fault"
)

// Definition is what a server is started from: a Server with its placeholders replaced
// in the environment of a caller. It holds secrets, and is not to be printed.
type Definition struct {
	Name       string
	Transport  string // Stdio, HTTP or SSE
	Command    string
	Args       []string
	Env        map[string]string
	Headers    map[string]string
	Dir        string // absolute
	URL        string
	Untyped    bool // Transport is HTTP because nothing else is said; SSE will do as well
	InheritEnv bool
	Auth       *Auth // how to log in; nil if nothing is said
	Process    Process

	secrets []string // values that are not to be shown
	words   []string // Command and Args as they may be shown, for a shell
	cwd     string   // Dir likewise, if the caller's variables are in it
	ownDir  bool     // the entry names Dir, rather than the caller being there
}

// Resolve replaces the placeholders of the entry. The error names the file, the
// server, the key and the variable. It is of kind Usage if the entry is written wrong, as its
// Problem is, and Unavailable if a placeholder has no value, or one that does not do.
func (s *Server) Resolve(e Env) (*Definition, error) {
	if s.Problem != nil {
		return nil, s.Problem
	}
	if s.alias != nil {
		return s.alias.Resolve(e)
	}
	r := resolver{s: s, e: e}
	d := &Definition{Name: s.Name, Transport: s.Transport, Untyped: s.Untyped, InheritEnv: s.InheritEnv, Process: s.Process, Dir: e.Dir}
	if s.Transport == Stdio {
		d.Command = e.home(r.text("command", s.Command))
		d.words = append(d.words, r.shown(s.Command, d.Command))
		for i, a := range s.Args {
			d.Args = append(d.Args, r.text("args["+strconv.Itoa(i)+"]", a))
			d.words = append(d.words, r.shown(a, d.Args[i]))
		}
		d.Env = r.table("env", s.Env)
		for _, name := range s.pass {
			if value, ok := e.variable(name); ok {
				if _, written := d.Env[name]; !written {
					d.Env = with(d.Env, name, value)
				}
			}
		}
		base := s.base
		if base == "" {
			base = e.Dir
		}
		for i, path := range s.EnvFiles {
			key := "envFile"
			if len(s.EnvFiles) > 1 {
				key += "[" + strconv.Itoa(i) + "]"
			}
			d.Env = r.variables(d.Env, key, e.named(base, r.text(key, path)))
		}
		if cwd := r.text("cwd", s.Cwd); cwd != "" {
			d.Dir, d.ownDir = e.named(base, cwd), true
			if r.secret(s.Cwd) {
				d.cwd = r.shown(s.Cwd, cwd)
			}
		}
		if r.err == nil && strings.TrimSpace(d.Command) == "" {
			r.err = s.fault("command", "it is empty once its placeholders are replaced")
		}
	} else {
		d.URL = r.text("url", s.URL)
		d.Headers = r.table("headers", s.Headers)
		d.Auth = r.auth(s.Auth)
		if r.err == nil && !isHTTP(d.URL) {
			r.err = s.filled("url", s.URL, d.URL, "it is not the address of an HTTP server").Hintf("write http://… or https://…")
		}
		r.checkHeaders(d.Headers)
	}
	if r.err != nil {
		return nil, r.err
	}
	d.secrets = r.secrets(d)
	return d, nil
}

// isHTTP reports whether text is the address of an HTTP server.
func isHTTP(text string) bool {
	u, err := url.Parse(text)
	return err == nil && u.Host != "" && (u.Scheme == "http" || u.Scheme == "https")
}

// checkHeaders looks for what cannot be sent as a header. Values are not quoted: they may
// be secret.
func (r *resolver) checkHeaders(headers map[string]string) {
	for _, name := range slices.Sorted(maps.Keys(headers)) {
		switch {
		case r.err != nil:
			return
		case name == "" || strings.ContainsFunc(name, func(c rune) bool { return c <= ' ' || c > '~' || strings.ContainsRune(`"(),/:;<=>?@[\]{}`, c) }):
			r.err = r.s.wrong("headers."+name, "%q cannot be the name of a header", name)
		case strings.ContainsFunc(headers[name], func(c rune) bool { return c < ' ' && c != '\t' || c == 0x7f }):
			r.err = r.s.filled("headers."+name, r.s.Headers[name], headers[name], "its value holds a line break or another control character").
				Hintf("a value that was read from a file may end with a line break")
		}
	}
}

// ByHand is the command line with which a person starts the same server in a shell. What
// came from a variable is shown as it was written, since it may be a secret; variables and
// headers are left out.
func (d *Definition) ByHand() string {
	words := d.words
	if words == nil { // it was not resolved from an entry
		for _, word := range append([]string{d.Command}, d.Args...) {
			words = append(words, fault.ShellWord(word))
		}
	}
	line := strings.Join(words, " ")
	switch {
	case d.cwd != "":
		return "cd " + d.cwd + " && " + line
	case d.Dir != "":
		return "cd " + fault.ShellWord(d.Dir) + " && " + line
	}
	return line
}

// shown is a word for ByHand. In double quotes a shell fills in what it can of a
// placeholder.
func (r *resolver) shown(written, resolved string) string {
	if !r.secret(written) {
		return fault.ShellWord(resolved)
	}
	return `"` + strings.NewReplacer(`"`, `\"`, `\`, `\\`, "`", "\\`").Replace(written) + `"`
}

// secret reports whether a text takes a value from the caller's variables or answers.
func (r *resolver) secret(written string) bool {
	if r.s.Verbatim {
		return false
	}
	found := false
	_, _ = expand(written, func(ref reference) (string, bool, error) {
		found = found || ref.form != "folder"
		return "", true, nil
	})
	return found
}

// resolver keeps the first error.
type resolver struct {
	s      *Server
	e      Env
	err    *fault.Error
	hidden []string // values that are not to be shown
}

func (r *resolver) table(key string, m map[string]string) map[string]string {
	if m == nil {
		return nil
	}
	out := make(map[string]string, len(m))
	for _, name := range slices.Sorted(maps.Keys(m)) {
		out[name] = r.text(key+"."+name, m[name])
	}
	return out
}

func (r *resolver) text(key, written string) string {
	if r.err != nil {
		return ""
	}
	if r.s.Verbatim {
		return written
	}
	text, err := expand(written, func(ref reference) (string, bool, error) {
		if ref.form == "file" {
			value, err := r.file(key, ref.name)
			return value, err == nil, err
		}
		value, ok := r.value(ref)
		r.note(key, ref, value)
		switch {
		case ok, ref.fallback:
			return value, ok, nil
		case ref.form == "input":
			return "", false, r.s.fault(key, "the input %s has no answer", ref.name).
				Hintf("give it once: mcpx servers input %s %s", fault.ShellWord(r.s.Name), fault.ShellWord(ref.name)).
				With("input", ref.name)
		case ref.form == "folder":
			return "", false, r.s.fault(key, "${%s} is not known here", ref.name).Hintf("set the variable HOME")
		}
		return "", false, r.s.fault(key, "the variable %s is not set", ref.name).
			Hintf("set it, or give it a default as in ${%s:-default}", ref.name).
			With("variable", ref.name)
	})
	if err == nil && strings.ContainsRune(text, 0) {
		err = r.s.filled(key, written, text, "it holds a NUL character")
	}
	if err != nil {
		r.err = r.s.asFault(key, err)
		return ""
	}
	return text
}

// variables adds those of a file to a table, but for what is in there already.
func (r *resolver) variables(to map[string]string, key, path string) map[string]string {
	if r.err != nil {
		return to
	}
	text, err := r.e.read(path)
	if err != nil {
		r.err = r.unread(key, path, err)
		return to
	}
	file := map[string]string{}
	for name, value := range dotenv.Parse(text) {
		if strings.ContainsRune(name+value, 0) {
			r.err = r.s.fault(key, "%s holds a NUL character", path).Hintf("save the file as UTF-8 text")
			return to
		}
		file[name] = value
	}
	for name, value := range file {
		if _, set := to[name]; !set {
			to = with(to, name, value)
		}
	}
	return to
}

// unread makes the error for a file that an entry names and that cannot be read.
func (r *resolver) unread(key, path string, err error) *fault.Error {
	return r.s.fault(key, "%s cannot be read: %v", path, reason(err)).
		Hintf("paths are relative to the folder of the project, or absolute; ~/ is your home directory")
}

// home is a path in which ~/ stands for the home directory, and any other text as it is.
func (e Env) home(path string) string {
	if strings.HasPrefix(path, "~/") {
		return e.named("", path)
	}
	return path
}

// asFault gives an error that is not yet about the entry its place in it.
func (s *Server) asFault(key string, err error) *fault.Error {
	if e, ok := err.(*fault.Error); ok { //nolint:errorlint // made by s.fault, and not wrapped
		return e
	}
	return s.fault(key, "%v", err)
}

// value returns what a reference stands for. With a default, an empty variable counts
// as one that is not set, as in a shell.
func (r *resolver) value(ref reference) (string, bool) {
	switch ref.form {
	case "env":
		value, ok := r.e.variable(ref.name)
		return value, ok && (value != "" || !ref.fallback)
	case "input":
		return r.answer(ref.name)
	case "folder":
		workspace := cmp.Or(r.s.workspace, r.e.Dir)
		switch ref.name {
		case "userHome":
			return r.e.Home, r.e.Home != ""
		case "workspaceFolderBasename":
			return filepath.Base(workspace), workspace != ""
		case "workspaceFolder":
			return workspace, workspace != ""
		}
		return string(filepath.Separator), true
	}
	return "", false
}

// file returns the text of a file whose name stands in the entry, without space around it.
func (r *resolver) file(key, path string) (string, error) {
	if r.s.Guest {
		return "", r.s.fault(key, "{file:%s} is not filled in for a file of the project unless you trust it", path).Hintf("look at what it does, and trust it: mcpx config trust")
	}
	path = r.e.named(filepath.Dir(r.s.Origin.File), path)
	text, err := r.e.read(path)
	if err != nil {
		return "", r.unread(key, path, err).Hintf("it is looked for beside the file that the entry stands in, unless it is absolute; ~/ is your home directory")
	}
	text = strings.TrimSpace(text)
	r.hide(text)
	return text, nil
}

// formatVersion is part of every fingerprint: raise it when a fingerprint comes to mean
// something else.
const formatVersion = 1

// Fingerprint is equal for equal definitions only, and shows nothing of what is in them.
func (d *Definition) Fingerprint() string { return d.hash(d.Dir, nil) }

// ProcessKey is equal for definitions that one process can serve. The caller's working
// directory is part of it only if a file or folder on the command line is relative to it;
// stat is os.Stat.
func (d *Definition) ProcessKey(stat func(path string) (fs.FileInfo, error)) string {
	dir := d.Dir
	if !d.ownDir && !d.relative(stat) {
		dir = ""
	}
	return d.hash(dir, nil)
}

// relative reports whether a word of the command line is a path below Dir, as far as can
// be seen.
func (d *Definition) relative(stat func(path string) (fs.FileInfo, error)) bool {
	for i, word := range append([]string{d.Command}, d.Args...) {
		if word == "" || filepath.IsAbs(word) || i == 0 && !strings.ContainsRune(word, filepath.Separator) {
			continue
		}
		if _, err := stat(filepath.Join(d.Dir, word)); err == nil {
			return true
		}
	}
	return false
}

// CatalogKey is a fingerprint under which what the server said about itself can be
// kept. It changes when a file that the command line names is edited, so that a server
// under development is asked again; stat is os.Stat. The caller's working directory is
// part of it only if a file or folder on the command line is relative to it.
func (d *Definition) CatalogKey(stat func(path string) (fs.FileInfo, error)) string {
	var files []string
	dir := ""
	if d.ownDir {
		dir = d.Dir
	}
	for i, word := range append([]string{d.Command}, d.Args...) {
		if word == "" || i == 0 && !strings.ContainsRune(word, filepath.Separator) { // a name to be looked up in PATH
			continue
		}
		path := absolute(d.Dir, word)
		info, err := stat(path)
		switch {
		case err != nil:
		case info.Mode().IsRegular():
			files = append(files, path, strconv.FormatInt(info.Size(), 10), strconv.FormatInt(info.ModTime().UnixNano(), 10))
		default:
			files = append(files, path)
		}
	}
	return d.hash(dir, files)
}

func (d *Definition) hash(dir string, files []string) string {
	sum := sha256.New()
	// Quoting keeps every byte and every boundary; maps are written in the order of their keys.
	_, _ = fmt.Fprintf(sum, "%d %q %q %q %q %q %q %q %q %t %q", formatVersion,
		d.Name, d.Transport, d.Command, d.Args, d.Env, d.Headers, dir, d.URL, d.InheritEnv, files)
	if d.Untyped {
		_, _ = fmt.Fprint(sum, " untyped")
	}
	if a := d.Auth; a != nil {
		_, _ = fmt.Fprintf(sum, " auth %q %q %q %q %q %q %t %t", a.ClientID, a.ClientSecret, a.PrivateKey, a.Issuer, a.Scopes, a.RedirectURL, a.Credentials, a.Off)
	}
	return hex.EncodeToString(sum.Sum(nil))
}
