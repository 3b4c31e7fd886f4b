package config

import (
	"maps"
	"slices"
	"strings"
)

// Input is what is known of ${input:id}: a value that a person is asked for once.
type Input struct {
	ID          string
	Description string
	Default     string
	Password    bool     // it is not shown while it is typed
	Options     []string // if there are any it is one of them
	Key         string   // under which its answer is kept, with ID; see Env
}

// readInputs reads the definitions that stand beside the servers, as VS Code writes them.
func (r *reader) readInputs(root *node) {
	list := root.get("inputs")
	if list == nil {
		list = root.get("mcp").get("inputs")
	}
	if list == nil || list.kind != listKind {
		return
	}
	for _, n := range list.list {
		in := Input{ID: n.get("id").word(), Description: n.get("description").word(), Default: n.get("default").word()}
		in.Password = n.get("password").word() == "true"
		if o := n.get("options"); o != nil && n.get("type").word() == "pickString" {
			for _, e := range o.list {
				value := e.word()
				if e.isObject() { // of VS Code, with a label
					value = e.get("value").word()
				}
				in.Options = append(in.Options, value)
			}
		}
		if in.ID != "" {
			r.inputs = append(r.inputs, in)
		}
	}
}

// word is the text of a scalar, and nothing of anything else.
func (n *node) word() string {
	if n == nil || n.kind == null {
		return ""
	}
	return n.text
}

// Inputs lists the inputs that an entry refers to, in the order in which they stand there.
func (s *Server) Inputs() []Input {
	if s.alias != nil {
		return s.alias.Inputs()
	}
	var out []Input
	for _, t := range s.texts() {
		if s.Verbatim || !strings.Contains(t, "input:") {
			continue
		}
		_, _ = expand(t, func(ref reference) (string, bool, error) {
			if ref.form == "input" && !slices.ContainsFunc(out, func(in Input) bool { return in.ID == ref.name }) {
				out = append(out, s.input(ref.name))
			}
			return "", true, nil
		})
	}
	return out
}

// input is what is known of an input of the entry. Without a definition it is a password:
// that is what most of them are.
func (s *Server) input(id string) Input {
	for _, in := range s.inputs {
		if in.ID == id {
			in.Key = s.inputKey()
			return in
		}
	}
	return Input{ID: id, Password: true, Key: s.inputKey()}
}

// inputKey is what the entries with one and the same answer have in common: the file. In a
// file of a project that is not trusted it is also what is started or called, so that an
// answer does not go to another server than it was given for.
func (s *Server) inputKey() string {
	if !s.Guest {
		return s.Origin.File
	}
	return strings.Join(append([]string{s.Origin.File, s.Name, s.Command, s.URL}, s.Args...), "\x00")
}

// answer returns the answer to an input, if there is one that will do.
func (r *resolver) answer(id string) (string, bool) {
	if r.e.Input == nil {
		return "", false
	}
	in := r.s.input(id)
	value, ok := r.e.Input(in.Key, id)
	return value, ok && (len(in.Options) == 0 || slices.Contains(in.Options, value))
}

// texts are the strings of an entry that may hold placeholders.
func (s *Server) texts() []string {
	out := slices.Concat([]string{s.Command, s.Cwd, s.URL}, s.EnvFiles, s.Args)
	for _, m := range []map[string]string{s.Env, s.Headers} {
		for _, name := range slices.Sorted(maps.Keys(m)) {
			out = append(out, m[name])
		}
	}
	if a := s.Auth; a != nil {
		out = append(out, a.ClientID, a.ClientSecret, a.PrivateKey)
	}
	return out
}
