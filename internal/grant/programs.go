package grant

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"mcpx/internal/fault"
	"mcpx/internal/process"
)

// Programs is the gate of the grant run: programs that a script may start, each by its
// absolute path as the grant has it. A script may also call one by its name alone; it is
// then the first of that name in the grant, and PATH has no part in it. With the word Any
// a script may start what the user could, found as a shell finds it.
//
// A program does what it does: one that runs what it is told to (a shell, an interpreter,
// and many a tool that can be told to call another) is everything that the user may do.
// A program that is taken away is known by its file, under whatever name; a copy of it is
// another program.
type Programs struct {
	any         bool
	allow, deny []string
}

// OpenPrograms makes the gate of a grant. A word that is no absolute path is an error of
// the kind usage that names it.
func OpenPrograms(words Words) (*Programs, error) {
	p := &Programs{}
	for _, list := range []struct{ from, to *[]string }{{&words.Allow, &p.allow}, {&words.Deny, &p.deny}} {
		for _, w := range *list.from {
			switch {
			case w == Any && list.to == &p.allow:
				p.any = true
			case w != Any && (!filepath.IsAbs(w) || strings.ContainsRune(w, 0)):
				return nil, fault.Usagef("%s %q cannot be read: it is no absolute path of a program", Program, w).
					Hintf("write the whole path, such as /usr/bin/git")
			default:
				*list.to = append(*list.to, w)
			}
		}
	}
	if slices.Contains(p.deny, Any) {
		return &Programs{}, nil
	}
	return p, nil
}

// Any reports whether every program may be started but those that are taken away.
func (p *Programs) Any() bool { return p.any }

// Find returns the absolute path of the program that a script means by file. path is the
// PATH, and dir the working directory, that it is looked for in if every program may be
// started. The error is a Denied; or, if every program may be started and there is none of
// that name, of the kind not_found.
func (p *Programs) Find(file, path, dir string) (string, error) {
	if strings.ContainsRune(file, 0) || file == "" {
		return "", deniedProgram(file)
	}
	bare := !strings.ContainsRune(file, '/') && !strings.ContainsRune(file, filepath.Separator)
	found := ""
	for _, w := range p.allow {
		if same(w, file) || bare && sameName(w, file) {
			found = w
			break
		}
	}
	switch {
	case found != "":
	case !p.any:
		return "", deniedProgram(file)
	case !bare && filepath.IsAbs(file):
		found = file
	case !bare:
		found = filepath.Join(dir, file)
	default:
		var err error
		if found, err = process.LookPath(file, path, dir); err != nil {
			return "", fault.NotFoundf("there is no program %q in PATH", clip(file)).With("code", "ENOENT")
		}
	}
	if p.denies(found) {
		return "", deniedProgram(file)
	}
	return found, nil
}

// deniedProgram is the error for a program, as the script spelled it.
func deniedProgram(file string) error {
	e := Denied(Program, file)
	if file != "" && !strings.ContainsAny(file, `/\`) {
		e.Hintf("allow it by its whole path, as in %s", fault.ShellWord("--allow-run=/usr/bin/"+clip(file)))
	}
	return e
}

// denies reports whether a program is taken away.
func (p *Programs) denies(found string) bool {
	if slices.ContainsFunc(p.deny, func(w string) bool { return same(w, found) }) {
		return true
	}
	if len(p.deny) == 0 {
		return false
	}
	info, err := os.Stat(found)
	if err != nil {
		return false // it cannot be started either
	}
	return slices.ContainsFunc(p.deny, func(w string) bool {
		other, err := os.Stat(w)
		return err == nil && os.SameFile(info, other)
	})
}

// same reports whether two paths are spelled alike.
func same(a, b string) bool {
	return a == b || runtime.GOOS == "windows" && strings.EqualFold(a, b)
}

// sameName reports whether a program is called by a name alone.
func sameName(program, name string) bool {
	base := filepath.Base(program)
	return same(base, name) || runtime.GOOS == "windows" && same(strings.TrimSuffix(strings.ToLower(base), ".exe"), strings.ToLower(name))
}
