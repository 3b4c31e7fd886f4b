// Package programs is the broker's half of node:child_process: it answers the operations
// that the package stdlib/childprocess asks for, with programs that the gate of a run lets
// it start.
//
// A program is started without a shell, with the arguments and the environment that it was
// given and nothing of this process but what every program needs. It leads a process group
// of its own: what is left of the group when it ends, or when the run does, is killed. Its
// output is read as the script asks for it, and the program waits meanwhile.
//
// An error of the system has the detail code, such as ENOENT.
package programs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"mcpx/internal/fault"
	"mcpx/internal/grant"
	"mcpx/internal/process"
)

const (
	// maxPrograms is how many programs may be under way at a time.
	maxPrograms = 256
	// maxRead is how much of an output one answer has at most.
	maxRead = 256 << 10
	// killGrace is how long programs that were killed are waited for.
	killGrace = 5 * time.Second
)

// Programs are the programs of one run.
type Programs struct {
	gate    *grant.Programs
	files   *grant.Files
	dir     string
	environ map[string]string

	mu      sync.Mutex
	last    int64
	running map[int64]*program
	closed  bool
}

// program is one that was started, until everything about it was told.
type program struct {
	proc  *process.Process
	stdin *os.File    // ours of the pipes; nil if there is none
	out   [3]*os.File // of the streams 1 and 2

	mu   sync.Mutex
	over [3]bool // the output was read to its end
	told bool    // how the program ended was told
}

// New makes the programs of a run. dir is its working directory, environ the caller's
// environment, and files the gate that a working directory of the script's choice must
// pass; if that is nil, only dir passes. The caller must Close it.
func New(gate *grant.Programs, files *grant.Files, dir string, environ []string) *Programs {
	p := &Programs{gate: gate, files: files, dir: dir, environ: map[string]string{}, running: map[int64]*program{}}
	for _, v := range environ {
		if name, value, ok := strings.Cut(v, "="); ok && name != "" {
			p.environ[name] = value
		}
	}
	return p
}

// errEnded is the error of what was under way when the run ended.
var errEnded = fault.New(fault.Unavailable, "the run has ended")

// Close kills what still runs and returns when it has ended.
func (p *Programs) Close() {
	p.mu.Lock()
	p.closed = true
	running := p.running
	p.running = nil
	p.mu.Unlock()
	for _, g := range running {
		g.proc.Kill()
	}
	t := time.NewTimer(killGrace)
	defer t.Stop()
	for _, g := range running {
		select {
		case <-g.proc.Done():
		case <-t.C: // the system holds it, and will let it die
			t.Reset(0)
		}
		g.close()
	}
}

// close closes the pipes. Whoever reads or writes fails.
func (g *program) close() {
	for _, f := range []*os.File{g.stdin, g.out[1], g.out[2]} {
		if f != nil {
			_ = f.Close()
		}
	}
}

// request is the head of every operation.
type request struct {
	ID      int64             `json:"id"`
	File    string            `json:"file"`
	Args    []string          `json:"args"`
	Argv0   string            `json:"argv0"`
	Cwd     string            `json:"cwd"`
	Env     map[string]string `json:"env"`
	Inherit bool              `json:"inherit"`
	Stdin   bool              `json:"stdin"`
	Stdout  bool              `json:"stdout"`
	Stderr  bool              `json:"stderr"`
	End     bool              `json:"end"`
	Stream  int               `json:"stream"`
	Max     int               `json:"max"`
	Signal  string            `json:"signal"`
}

// Call answers one operation of stdlib/childprocess. It may be called from several
// goroutines, and returns soon after its context has ended.
func (p *Programs) Call(ctx context.Context, op string, head json.RawMessage, body []byte) (answer, output []byte, err error) {
	var in request
	if err := json.Unmarshal(head, &in); err != nil {
		return nil, nil, fault.Internalf("reading the request %s of the script: %w", op, err)
	}
	if op == "run.start" {
		answer, err := p.start(in)
		return answer, nil, err
	}
	p.mu.Lock()
	g, closed := p.running[in.ID], p.closed
	p.mu.Unlock()
	switch {
	case closed:
		return nil, nil, errEnded
	case g == nil && op == "run.kill":
		return []byte(`{"sent":false}`), nil, nil
	case g == nil:
		return nil, nil, fault.Internalf("%s of a program that is over", op)
	}
	switch op {
	case "run.write":
		return nil, nil, g.write(ctx, body, in.End)
	case "run.read":
		answer, output, err = g.read(ctx, in.Stream, in.Max)
	case "run.wait":
		answer, err = g.wait(ctx)
	case "run.kill":
		sent, err := g.kill(in.Signal)
		return fmt.Appendf(nil, `{"sent":%t}`, sent), nil, err
	default:
		return nil, nil, fault.Internalf("the host knows no request %q", op)
	}
	p.forget(in.ID, g)
	return answer, output, err
}

// forget lets go of a program about which everything was told.
func (p *Programs) forget(id int64, g *program) {
	g.mu.Lock()
	done := g.told && (g.out[1] == nil || g.over[1]) && (g.out[2] == nil || g.over[2])
	g.mu.Unlock()
	if done {
		p.mu.Lock()
		delete(p.running, id)
		p.mu.Unlock()
		g.close()
	}
}

// start starts a program.
func (p *Programs) start(in request) ([]byte, error) {
	for _, s := range append([]string{in.Argv0, in.Cwd}, in.Args...) {
		if strings.ContainsRune(s, 0) {
			return nil, fault.Usagef("what a program is given cannot hold a NUL")
		}
	}
	env, err := p.environment(in)
	if err != nil {
		return nil, err
	}
	dir, done, err := p.folder(in.Cwd)
	if err != nil {
		return nil, err
	}
	defer done()
	path, ok := in.Env["PATH"]
	if !ok {
		path = p.environ["PATH"]
	}
	file, err := p.gate.Find(in.File, path, dir)
	if err != nil {
		return nil, err
	}
	if !p.gate.Any() && in.Argv0 != "" && !sameProgram(in.Argv0, file) {
		// Some files are many programs, and this name says which is meant.
		return nil, grant.Denied(grant.Program, in.Argv0).
			Hintf("it is another name than that of the program: leave argv0 out, or allow every program with --allow-run")
	}
	spec := process.Spec{Path: file, Name: in.Argv0, Args: in.Args, Env: env, Dir: dir, Kept: true}
	g, err := p.pipes(in, &spec)
	if err != nil {
		return nil, err
	}

	// Nothing is started once Close has begun.
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.closed:
		err = errEnded
	case len(p.running) >= maxPrograms:
		err = fault.Limitf("%d programs run already", maxPrograms).With("code", "EAGAIN")
	default:
		g.proc, err = process.Start(spec)
		if err != nil {
			err = startError(in.File, err)
		}
	}
	for _, f := range []*os.File{spec.Stdin, spec.Stdout, spec.Stderr} {
		if f != nil {
			_ = f.Close()
		}
	}
	if err != nil {
		g.close()
		return nil, err
	}
	p.last++
	p.running[p.last] = g
	return fmt.Appendf(nil, `{"id":%d,"pid":%d}`, p.last, g.proc.Pid()), nil
}

// sameProgram reports whether two names end alike.
func sameProgram(a, b string) bool {
	a, b = filepath.Base(a), filepath.Base(b)
	if runtime.GOOS == "windows" {
		return strings.EqualFold(strings.TrimSuffix(strings.ToLower(a), ".exe"), strings.TrimSuffix(strings.ToLower(b), ".exe"))
	}
	return a == b
}

// pipes makes the pipes of a program, its ends in spec.
func (p *Programs) pipes(in request, spec *process.Spec) (*program, error) {
	g := &program{}
	for _, s := range []struct {
		piped     bool
		ours, its **os.File
	}{{in.Stdin, &g.stdin, &spec.Stdin}, {in.Stdout, &g.out[1], &spec.Stdout}, {in.Stderr, &g.out[2], &spec.Stderr}} {
		if !s.piped {
			continue
		}
		r, w, err := os.Pipe()
		if err != nil {
			g.close()
			(&program{stdin: spec.Stdin, out: [3]*os.File{nil, spec.Stdout, spec.Stderr}}).close()
			return nil, startError(in.File, err)
		}
		*s.ours, *s.its = r, w
		if s.ours == &g.stdin {
			*s.ours, *s.its = w, r
		}
	}
	return g, nil
}

// startError is the error of a program that the system did not start, by the script's own
// name for it.
func startError(file string, err error) error {
	code := "ENOENT" // or a script whose interpreter is missing
	if no, ok := errors.AsType[syscall.Errno](err); ok {
		code = grant.CodeOf(grant.FileError("", no))
	}
	return fault.Unavailablef("starting %q: %s", file, code).With("code", code)
}

// folder returns the working directory of a program. done is called when it has been started.
func (p *Programs) folder(cwd string) (dir string, done func(), err error) {
	done = func() {}
	dir = cwd
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(p.dir, dir)
	}
	if filepath.Clean(dir) == filepath.Clean(p.dir) {
		return p.dir, done, nil
	}
	if p.gate.Any() {
		info, err := os.Stat(dir)
		if err == nil && !info.IsDir() {
			return "", nil, fault.NotFoundf("%q is no folder", cwd).With("code", "ENOTDIR")
		}
		if err != nil {
			return "", nil, startError(cwd, err)
		}
		return dir, done, nil
	}
	if p.files == nil {
		return "", nil, grant.Denied(grant.Read, cwd)
	}
	f, err := p.files.Open(cwd, grant.How{Read: true, Directory: true})
	if err != nil {
		return "", nil, err
	}
	// The name could lead elsewhere by the time that the program starts, and the system may
	// read what is in it another way than the gate.
	dir, err = p.files.Realpath(cwd)
	if err != nil {
		_ = f.Close()
		return "", nil, err
	}
	return openAt(f, dir), func() { _ = f.Close() }, nil
}

// openAt is a path by which a process that is being started finds a folder that is open here;
// path where the system has none.
func openAt(f *os.File, path string) string {
	at := fmt.Sprintf("/proc/self/fd/%d", f.Fd())
	opened, err := f.Stat()
	if err != nil {
		return path
	}
	if info, err := os.Stat(at); err == nil && os.SameFile(info, opened) {
		return at
	}
	return path
}

// needed are the variables that every program gets if the script gave none of its own.
var needed = []string{
	"PATH", "HOME", "USER", "LOGNAME", "SHELL", "TERM", "TMPDIR", "TZ", "LANG", "LC_ALL", "LC_CTYPE", "LC_MESSAGES", "LC_COLLATE", "LC_NUMERIC", "LC_TIME",
}

// neededHere are those of Windows, without which programs do not work there at all.
var neededHere = []string{
	"SYSTEMROOT", "SYSTEMDRIVE", "WINDIR", "COMSPEC", "PATHEXT", "TEMP", "TMP", "USERPROFILE", "USERNAME", "APPDATA", "LOCALAPPDATA",
	"PROGRAMDATA", "PROGRAMFILES", "HOMEDRIVE", "HOMEPATH",
}

// environment returns the whole environment of a program. Unless every program may be
// started, mcpx's own variables are left out, and those that put code into any program are
// the script's only as far as the caller has them.
func (p *Programs) environment(in request) ([]string, error) {
	env := map[string]string{}
	for name, value := range in.Env {
		if name == "" || strings.ContainsRune(name[1:], '=') || strings.ContainsRune(name+value, 0) {
			return nil, fault.Usagef("the environment cannot hold the variable %q", name)
		}
		if !p.gate.Any() {
			upper := strings.ToUpper(name)
			if strings.HasPrefix(upper, "MCPX_") {
				continue
			}
			if loads(upper) && p.environ[name] != value {
				return nil, grant.Denied(grant.Program, name).
					Hintf("it puts code into the program: leave it out, or allow every program with --allow-run")
			}
		}
		env[name] = value
	}
	add := []string{}
	if in.Inherit {
		add = needed
	}
	if runtime.GOOS == "windows" {
		add = append(slices.Clone(add), neededHere...)
	}
	for _, name := range add {
		p.need(env, name)
	}
	list := make([]string, 0, len(env))
	for _, name := range slices.Sorted(maps.Keys(env)) {
		list = append(list, name+"="+env[name])
	}
	return list, nil
}

// need gives env the caller's variable, unless it has one of that name.
func (p *Programs) need(env map[string]string, name string) {
	if runtime.GOOS != "windows" {
		if _, ok := env[name]; !ok {
			if value, ok := p.environ[name]; ok {
				env[name] = value
			}
		}
		return
	}
	for has := range env {
		if strings.EqualFold(has, name) {
			return
		}
	}
	for has, value := range p.environ {
		if strings.EqualFold(has, name) {
			env[has] = value
		}
	}
}

// loads reports whether a variable puts code into programs that know nothing of it: into
// those of a linker, a shell, an interpreter or a library that many have.
func loads(name string) bool {
	for _, prefix := range []string{"LD_", "DYLD_", "BASH_FUNC_", "LUA_", "CORECLR_"} {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	switch name {
	case "GCONV_PATH", "GLIBC_TUNABLES", "BASH_ENV", "ENV", "SHELLOPTS", "BASHOPTS", "PS4", "ZDOTDIR",
		"PERL5OPT", "PERL5LIB", "PERLLIB", "PERL5DB", "RUBYOPT", "RUBYLIB", "PHPRC", "PHP_INI_SCAN_DIR",
		"PYTHONSTARTUP", "PYTHONPATH", "PYTHONHOME", "PYTHONUSERBASE", "PYTHONPYCACHEPREFIX", "PYTHONPLATLIBDIR", "PYTHONWARNINGS",
		"NODE_OPTIONS", "NODE_PATH", "BUN_OPTIONS", "JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS", "JDK_JAVA_OPTIONS", "CLASSPATH",
		"DOTNET_STARTUP_HOOKS", "ERL_FLAGS", "ERL_AFLAGS", "ERL_ZFLAGS", "ERL_LIBS",
		"OPENSSL_CONF", "OPENSSL_ENGINES", "OPENSSL_MODULES", "GIO_MODULE_DIR", "GIO_EXTRA_MODULES", "GTK_MODULES":
		return true
	}
	return false
}

// past is a deadline that has passed.
var past = time.Unix(1, 0)

// write hands input to the program, and waits until it has taken it.
func (g *program) write(ctx context.Context, b []byte, end bool) error {
	if g.stdin == nil {
		return fault.Internalf("the program has no input")
	}
	defer context.AfterFunc(ctx, func() { _ = g.stdin.SetWriteDeadline(past) })()
	for len(b) > 0 {
		_ = g.stdin.SetWriteDeadline(time.Time{})
		n, err := g.stdin.Write(b)
		b = b[n:]
		switch {
		case err == nil, errors.Is(err, os.ErrDeadlineExceeded) && ctx.Err() == nil: // of an earlier call
		case ctx.Err() != nil:
			return context.Cause(ctx)
		default:
			return fault.Unavailablef("the program takes no more input").With("code", "EPIPE")
		}
	}
	if end {
		_ = g.stdin.Close() // a second time, if the script gives up what it has ended
	}
	return nil
}

// read returns the next bytes of an output.
func (g *program) read(ctx context.Context, stream, most int) (answer, output []byte, err error) {
	if stream != 1 && stream != 2 || g.out[stream] == nil {
		return nil, nil, fault.Internalf("the program has no output %d", stream)
	}
	f := g.out[stream]
	defer context.AfterFunc(ctx, func() { _ = f.SetReadDeadline(past) })()
	b := make([]byte, min(max(most, 1), maxRead))
	var n int
	for ctx.Err() == nil {
		_ = f.SetReadDeadline(time.Time{})
		n, err = f.Read(b)
		if !errors.Is(err, os.ErrDeadlineExceeded) { // else it is one of an earlier call
			break
		}
	}
	switch {
	case n > 0:
		return []byte(`{"end":false}`), b[:n], nil
	case ctx.Err() != nil:
		return nil, nil, context.Cause(ctx)
	case err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, os.ErrClosed):
		return nil, nil, fault.Unavailablef("reading the program's output: %w", err).With("code", "EIO")
	}
	g.mu.Lock()
	g.over[stream] = true
	g.mu.Unlock()
	return []byte(`{"end":true}`), nil, nil
}

// wait waits until the program has ended and says how.
func (g *program) wait(ctx context.Context) ([]byte, error) {
	select {
	case <-g.proc.Done():
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	g.mu.Lock()
	g.told = true
	g.mu.Unlock()
	state := g.proc.State()
	if name := process.Signal(state); name != "" {
		return fmt.Appendf(nil, `{"signal":%q}`, name), nil
	}
	code := -1
	if state != nil {
		code = state.ExitCode()
	}
	return fmt.Appendf(nil, `{"code":%d}`, code), nil
}

// kill sends a signal to the program, and reports whether it was there to take it.
func (g *program) kill(name string) (bool, error) {
	s, ok := signalOf(name)
	if !ok {
		return false, fault.Usagef("there is no signal %q", name)
	}
	select {
	case <-g.proc.Done():
		return false, nil
	default:
		return g.proc.Send(s), nil
	}
}
