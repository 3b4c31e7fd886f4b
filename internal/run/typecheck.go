package run

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	osexec "os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"mcpx/internal/api"
	"mcpx/internal/fault"
	"mcpx/internal/process"
)

const (
	// checkTimeout bounds one check.
	checkTimeout = 2 * time.Minute
	// maxComplaints is how many errors of a check are told.
	maxComplaints = 50
	// codeReturn is the error of TypeScript for a return outside of a function, which a
	// script may have.
	codeReturn = "TS1108"
	// codeModule is its error for a module that is not found.
	codeModule = "error TS2307: "
)

// Check is what Run does first for a script that is to be checked.
func (r *Runner) Check(ctx context.Context, in api.ExecInput) (*fault.Report, error) {
	r, in, err := r.prepare(in)
	if err != nil {
		return nil, fault.From(err)
	}
	report, err := r.typecheck(ctx, in)
	if err != nil {
		return nil, fault.From(err)
	}
	return report, nil
}

// typecheck has TypeScript's own compiler check a script against the declarations of what
// it finds. The report holds what it has against the script, in positions of the source;
// nil is nothing. The error says why nothing could be checked.
func (r *Runner) typecheck(ctx context.Context, in api.ExecInput) (*fault.Report, error) {
	begin := r.Dir
	if in.File != "" {
		begin = filepath.Dir(in.File)
	}
	compiler, err := r.compiler(begin)
	if err != nil {
		return nil, err
	}
	types, err := r.Tools.Types(ctx, api.TypesInput{Globals: true})
	if err != nil {
		return nil, fault.From(err)
	}
	dir, err := os.MkdirTemp("", "mcpx-check-")
	if err != nil {
		return nil, fault.Unavailablef("typecheck: %w", err).Hintf("TMPDIR names a folder that can be written")
	}
	defer os.RemoveAll(dir)
	declared := types.Declarations
	for name := range in.Placeholders {
		declared += "\ndeclare const " + holeMark + name + ": any;\n"
	}
	ctx, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	c := &check{dir: dir, compiler: compiler, environ: r.Environ, strict: in.Typecheck == api.TypecheckStrict}
	code := withoutInterpreter(in.Code)
	checked := code
	if strings.Contains(code, "return") {
		if checked, err = c.returnsChecked(ctx, code, filepath.Ext(in.File)); err != nil {
			return nil, err
		}
	}
	if err := c.write("mcpx.d.ts", declared); err != nil {
		return nil, err
	}
	script := in.File
	switch {
	case in.File == "":
		script = filepath.Join(dir, "script.ts")
		err = c.write("script.ts", checked)
	case len(in.Placeholders) > 0 || checked != code:
		script, err = c.mirror(in.File, checked)
	}
	if err != nil {
		return nil, err
	}
	library := map[string]any{"lib": []string{"esnext"}, "resolveJsonModule": true}
	said, err := c.run(ctx, library, "mcpx.d.ts", script)
	if err != nil {
		return nil, err
	}
	if c.root != "" && len(in.Placeholders) == 0 && strings.Contains(said, codeModule) {
		// Something is found only where the file is: it is checked there, as it is.
		c.root, script = "", in.File
		if said, err = c.run(ctx, library, "mcpx.d.ts", script); err != nil {
			return nil, err
		}
	}
	complaints, other := r.complaints(said, dir, script, in)
	switch {
	case len(complaints) > 0:
		first := complaints[0]
		first.Errors = complaints[1:]
		return first, nil
	case c.failed && other != "":
		return nil, fault.Unavailablef("typecheck: %s failed: %s", compiler, other).Hintf("%s", checkHint)
	}
	return nil, nil
}

const checkHint = "npm install --save-dev typescript puts it into node_modules; it needs node"

// check is one script's way through the compiler.
type check struct {
	dir      string // a folder of its own
	compiler string
	environ  []string
	strict   bool
	root     string // what stands for the root of the file system; empty if nothing does
	volume   string // of which volume
	failed   bool   // the last run ended with an error
}

// write writes a file of the check.
func (c *check) write(name, text string) error {
	if err := os.WriteFile(filepath.Join(c.dir, name), []byte(text), 0o600); err != nil {
		return fault.Unavailablef("typecheck: %w", err)
	}
	return nil
}

// run runs the compiler over files, and is what it said.
func (c *check) run(ctx context.Context, more map[string]any, files ...string) (string, error) {
	options := map[string]any{
		"noEmit": true, "target": "esnext", "module": "esnext", "moduleResolution": "bundler", "moduleDetection": "force",
		"types": []string{}, "allowJs": true, "checkJs": true, "skipLibCheck": true,
		"allowImportingTsExtensions": true, "strict": c.strict,
	}
	if c.root != "" {
		options["rootDirs"] = []string{c.root, c.volume + string(filepath.Separator)}
	}
	maps.Copy(options, more)
	text, err := json.Marshal(map[string]any{"compilerOptions": options, "files": files})
	if err != nil {
		return "", fault.Internalf("typecheck: %w", err)
	}
	if err := c.write("tsconfig.json", string(text)); err != nil {
		return "", err
	}
	p := osexec.CommandContext(ctx, c.compiler, "--pretty", "false", "-p", filepath.Join(c.dir, "tsconfig.json"))
	p.Dir, p.Env, p.WaitDelay = c.dir, c.environ, time.Second
	said, err := p.CombinedOutput()
	var exit *osexec.ExitError
	switch {
	case ctx.Err() != nil:
		return "", fault.Timeoutf("typecheck: %s did not end in %s", c.compiler, checkTimeout)
	case err != nil && !errors.As(err, &exit):
		return "", fault.Unavailablef("typecheck: %s cannot be run: %w", c.compiler, err).Hintf("%s", checkHint)
	}
	c.failed = err != nil
	return string(said), nil
}

// noLibrary declares the types without which the compiler does not look at a script.
const noLibrary = "interface Array<T> {} interface Boolean {} interface CallableFunction {} interface Function {} interface IArguments {} " +
	"interface NewableFunction {} interface Number {} interface Object {} interface RegExp {} interface String {}\n"

// returnsChecked is a script with its returns at the top made what the compiler does check.
// It passes over the value of a return outside of a function. A throw ends the same paths
// and is as free to have a value of any type, and with a space it is as long. Where such
// returns are the compiler says itself, in a first look without libraries and imports.
func (c *check) returnsChecked(ctx context.Context, code, ext string) (string, error) {
	name := "returns" + cmp.Or(ext, ".ts")
	if err := c.write("library.d.ts", noLibrary); err != nil {
		return "", err
	}
	if err := c.write(name, code); err != nil {
		return "", err
	}
	said, err := c.run(ctx, map[string]any{"noLib": true, "noResolve": true}, "library.d.ts", name)
	if err != nil {
		return "", err
	}
	lines := textLines(code)
	for line := range strings.Lines(said) {
		_, at, word, _, ok := complaint(strings.TrimRight(line, "\r\n"))
		if !ok || word != codeReturn || at[0] > len(lines) {
			continue
		}
		text := lines[at[0]-1]
		begin := byteOf(text, at[1])
		if value, found := strings.CutPrefix(text[begin:], "return"); found && hasValue(value) {
			lines[at[0]-1] = text[:begin] + "throw " + value
		}
	}
	return strings.Join(lines, ""), nil
}

// textLines are the lines of a script as the compiler counts them, with their ends.
func textLines(code string) (lines []string) {
	for code != "" {
		n := strings.IndexAny(code, "\r\n\u2028\u2029")
		if n < 0 {
			break
		}
		_, size := utf8.DecodeRuneInString(code[n:])
		if strings.HasPrefix(code[n:], "\r\n") {
			size = 2
		}
		lines, code = append(lines, code[:n+size]), code[n+size:]
	}
	return append(lines, code)
}

// byteOf is where a column, of UTF-16 and from 1, begins in a line.
func byteOf(line string, column int) int {
	units := 1
	for i, c := range line {
		if units >= column {
			return i
		}
		units += max(1, utf16.RuneLen(c))
	}
	return len(line)
}

// hasValue tells whether a return that is followed by rest of its line has a value: one in
// the next line is not its own.
func hasValue(rest string) bool {
	for {
		rest = strings.TrimLeftFunc(rest, unicode.IsSpace)
		comment, found := strings.CutPrefix(rest, "/*")
		if !found {
			return rest != "" && rest[0] != ';' && rest[0] != '}' && !strings.HasPrefix(rest, "//")
		}
		_, after, closed := strings.Cut(comment, "*/")
		if !closed {
			return false
		}
		rest = after
	}
}

// mirror writes a script that stands for a file, at the file's place below a root of its
// own: with rootDirs what it imports by a relative path is found beside the file, and links
// lead to the packages.
func (c *check) mirror(file, code string) (string, error) {
	c.volume, c.root = filepath.VolumeName(file), filepath.Join(c.dir, "root")
	at := func(path string) string { return filepath.Join(c.root, path[len(c.volume):]) }
	script := at(file)
	err := os.MkdirAll(filepath.Dir(script), 0o700)
	for dir := filepath.Dir(file); err == nil; dir = filepath.Dir(dir) {
		packages := filepath.Join(dir, "node_modules")
		if info, bad := os.Stat(packages); bad == nil && info.IsDir() {
			err = os.Symlink(packages, at(packages))
		}
		if dir == filepath.Dir(dir) {
			break
		}
	}
	if err == nil {
		err = os.WriteFile(script, []byte(code), 0o600)
	}
	if err != nil {
		return "", fault.Unavailablef("typecheck: %w", err)
	}
	return script, nil
}

// compiler finds TypeScript's: in node_modules from a folder upwards, else on the PATH.
func (r *Runner) compiler(dir string) (string, error) {
	searched := []string{}
	for at := dir; filepath.IsAbs(at); at = filepath.Dir(at) {
		name := filepath.Join(at, "node_modules", ".bin")
		searched = append(searched, filepath.Join(name, "tsc"))
		if file, err := process.LookPath(filepath.Join(name, "tsc"), "", dir); err == nil {
			return file, nil
		}
		if at == filepath.Dir(at) {
			break
		}
	}
	path := process.Getenv(r.Environ, "PATH")
	if file, err := process.LookPath("tsc", path, dir); err == nil {
		return file, nil
	}
	return "", fault.Usagef("typecheck needs TypeScript's compiler, and there is no tsc").
		Hintf("%s; looked at %s and on the PATH", checkHint, strings.Join(searched[:min(len(searched), 3)], ", ")).
		With("searched", append(searched, filepath.SplitList(path)...))
}

// withoutInterpreter makes a comment of an interpreter line.
func withoutInterpreter(code string) string {
	code = strings.TrimPrefix(code, "\ufeff")
	if strings.HasPrefix(code, "#!") {
		return "//" + code[2:]
	}
	return code
}

// complaints reads what the compiler has said: FILE(LINE,COLUMN): error CODE: TEXT, and
// further lines of a text indented. other is what it said of anything else.
func (r *Runner) complaints(said, dir, script string, in api.ExecInput) (out []*fault.Report, other string) {
	more := 0
	for line := range strings.Lines(said) {
		line = strings.TrimRight(line, "\r\n")
		if strings.HasPrefix(line, " ") && len(out) > 0 {
			out[len(out)-1].Message += "\n" + line
			continue
		}
		file, at, code, text, ok := complaint(line)
		switch {
		case !ok:
			if other == "" {
				other = strings.TrimSpace(line)
			}
			continue
		case code == codeReturn:
			continue
		case len(out) >= maxComplaints:
			more++
			continue
		}
		if !filepath.IsAbs(file) {
			file = filepath.Join(dir, file)
		}
		p := &fault.Position{Line: at[0], Column: at[1]}
		source := in.Code
		switch {
		case filepath.Clean(file) == filepath.Clean(script):
			p.File = in.Name
		case filepath.Dir(file) == dir:
			if other == "" {
				other = line // our own declarations
			}
			continue
		default:
			p.File = file
			b, err := os.ReadFile(file)
			if err != nil {
				b = nil
			}
			source = string(b)
		}
		if lines := strings.Split(source, "\n"); p.Line <= len(lines) {
			p.Text = strings.TrimSuffix(lines[p.Line-1], "\r")
		}
		out = append(out, &fault.Report{Kind: fault.Usage, Name: fault.Usage.ErrorName(), Message: code + ": " + text, At: p})
	}
	if more > 0 {
		out[0].Hint = fmt.Sprintf("%d more errors are left out", more)
	}
	for _, c := range out {
		restore(c, in.Placeholders)
	}
	return out, other
}

func complaint(line string) (file string, at [2]int, code, text string, ok bool) {
	place, rest, found := strings.Cut(line, "): error ")
	open := strings.LastIndex(place, "(")
	if !found || open < 0 {
		return "", at, "", "", false
	}
	row, column, _ := strings.Cut(place[open+1:], ",")
	code, text, found = strings.Cut(rest, ": ")
	var bad error
	at[0], bad = strconv.Atoi(row)
	if bad != nil || at[0] < 1 || !found {
		return "", at, "", "", false
	}
	at[1], bad = strconv.Atoi(column)
	return place[:open], at, code, text, bad == nil && at[1] > 0
}
