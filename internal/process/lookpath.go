package process

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"

	"mcpx/internal/fault"
)

// LookPath finds a program. A name with a slash is a file, relative to dir; any other
// is searched in the directories of path, which is the text of a PATH variable. The
// result is absolute if dir is. The error's kind is Unavailable, and it says what was
// searched.
func LookPath(name, path, dir string) (string, error) {
	if name == "" {
		return "", fault.Unavailablef("no program is named").Hintf("set command to the program that starts the server")
	}
	if strings.ContainsRune(name, '/') || strings.ContainsRune(name, filepath.Separator) {
		file := within(dir, name)
		found, err := executable(file)
		if err == nil {
			return found, nil
		}
		if hint := notAlone(name); hint != "" && errors.Is(err, fs.ErrNotExist) {
			return "", fault.Unavailablef("cannot run %s: no such file", file).Hintf("%s", hint)
		}
		return "", notRunnable(file, err)
	}
	var passed string // a file of that name that is not executable
	for _, d := range filepath.SplitList(path) {
		file := filepath.Join(within(dir, d), name)
		found, err := executable(file)
		if err == nil {
			return found, nil
		}
		if passed == "" && errors.Is(err, fs.ErrPermission) {
			passed = file
		}
	}
	if passed != "" {
		return "", notRunnable(passed, fs.ErrPermission)
	}
	if path == "" {
		return "", fault.Unavailablef("cannot find the program %q: PATH is empty", name).
			Hintf("set PATH, or give the program with its full path")
	}
	e := fault.Unavailablef("cannot find the program %q in PATH (%s)", name, path)
	if hint := notAlone(name); hint != "" {
		return "", e.Hintf("%s", hint)
	}
	return "", e.Hintf("install %s, add its directory to PATH, or give the program with its full path", name)
}

// notAlone says that a name is more than that of a program; empty if it is not.
func notAlone(name string) string {
	program, arguments, more := strings.Cut(name, " ")
	switch {
	case strings.Contains(name, "://"):
		return fmt.Sprintf(`an address is no program: write "url": %q instead of the command`, name)
	case runtime.GOOS != "windows" && len(name) > 2 && name[1] == ':' && name[2] == '\\':
		return "this is a path of Windows; name the program as it is found here"
	case runtime.GOOS != "windows" && ofWindows(name):
		return `this is a name of Windows; name the program itself, as it is found here: "npx" in place of "cmd", "/c", "npx" or "npx.cmd"`
	case more:
		return fmt.Sprintf(`a program and its arguments stand apart: "command": %q, "args": [%s]`, program, quotedWords(arguments))
	}
	return ""
}

// ofWindows reports whether a name is that of a program as only Windows has them.
func ofWindows(name string) bool {
	name = strings.ToLower(name)
	return name == "cmd" || strings.HasSuffix(name, ".cmd") || strings.HasSuffix(name, ".exe") || strings.HasSuffix(name, ".bat")
}

// quotedWords are words as members of a list.
func quotedWords(text string) string {
	var out []string
	for word := range strings.FieldsSeq(text) {
		out = append(out, strconv.Quote(word))
	}
	return strings.Join(out, ", ")
}

func within(dir, name string) string {
	if filepath.IsAbs(name) || dir == "" {
		return filepath.Clean(name)
	}
	return filepath.Join(dir, name)
}

func notRunnable(file string, err error) error {
	if errors.Is(err, fs.ErrPermission) {
		return fault.Unavailablef("cannot run %s: it is not executable", file).Hintf("chmod +x %s", file)
	}
	if errors.Is(err, errDirectory) {
		return fault.Unavailablef("cannot run %s: it is a directory", file).Hintf("name the program inside it")
	}
	return fault.Unavailablef("cannot run %s: no such file", file).Hintf("check the path; relative ones start at the server's working directory")
}

var errDirectory = errors.New("is a directory")

// executable returns the file to start for a name, which on some systems has an
// extension more than was written.
func executable(file string) (string, error) {
	for _, candidate := range candidates(file) {
		info, err := os.Stat(candidate)
		switch {
		case err != nil:
			continue
		case info.IsDir():
			return "", errDirectory
		case !mayExecute(info):
			return "", fs.ErrPermission
		}
		return candidate, nil
	}
	return "", fs.ErrNotExist
}
