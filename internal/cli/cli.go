// Package cli is the command line of mcpx: it reads arguments, asks a Backend, and
// writes answers, errors and the exit code.
//
// It knows the operations of package api and nothing of how they are done: servers,
// scripts and configuration files are the business of the Backend that cmd/mcpx hands
// in. Streams, arguments and environment come from there too.
//
// Answers go to standard output, everything else to standard error. With --json a
// command writes exactly one document to standard output, also when it fails.
package cli

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"strings"

	"mcpx/internal/api"
	"mcpx/internal/fault"
	"mcpx/internal/settings"

	"github.com/urfave/cli/v2"
)

// Program is one process of mcpx, seen from its command line.
type Program struct {
	Version        string
	Args           []string // without the program's name
	Environ        []string
	Dir            string // the working directory, absolute
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	Terminal       Terminal
	// Hide has the terminal not show what is typed there, until show is called. nil if it
	// cannot.
	Hide func() (show func(), err error)
	// Forget drops what was typed there and not read yet. nil if it cannot.
	Forget func()
	// Session names the session that a command belongs to; empty without one.
	Session func(o OpenOptions) (string, error)
	// Others returns the daemons of the user that stand for other configuration files than the
	// command, and ends them if that is asked for. nil if there cannot be any.
	Others func(ctx context.Context, o OpenOptions, end bool) ([]api.OtherDaemon, error)
	// LogFile is the path of the log of the daemon for the configuration files of the command.
	LogFile func(o OpenOptions) (string, error)
	// Open is called once by a command that needs servers or runs a script. What it
	// returns is closed before Run returns.
	Open func(ctx context.Context, o OpenOptions) (Backend, error)
	// Pages is the documentation, as the folder docs has it. nil if there is none.
	Pages fs.FS
	// Schema is the JSON Schema of a configuration file.
	Schema func() []byte
	// Tool is what is run instead of a command, if this program carries a script.
	Tool *Tool
	// Authority is called once by a command that is about logins.
	Authority func(ctx context.Context, o OpenOptions) (Authority, error)
}

// Terminal says which streams are terminals, and how wide the one behind Stdout is.
type Terminal struct {
	Stdin, Stdout, Stderr bool
	Columns               int
}

// OpenOptions is what the command line says about the configuration.
type OpenOptions struct {
	Config string // the value of --config as it was written; empty if not given
	// Settings holds the flags. Open adds what files and variables say.
	Settings *settings.Set
	// Script says that the command will run one, so that what holds it can be started
	// while the configuration is read.
	Script bool
	// Log is where to say what is done, line by line; nil if nobody wants to know.
	Log io.Writer
	// File says that the script is a file, which may import others.
	File bool
	// Session names the session that the calls belong to, which lasts; empty is the one
	// that the environment tells of.
	Session string
	// Daemon says which process is to answer.
	Daemon Daemon
	// AskInput asks the person at the terminal for what a server needs; nil if there is none.
	AskInput func(ctx context.Context, server string, in api.ServerInput) (string, error)
	// Waiting is told of each call that a script makes, and its end of the end of the call; nil
	// if nobody looks.
	Waiting func(server string) (end func())
	// Reaching is told when a daemon is looked for, and its end that it was found or not. Never
	// nil in what Open is given.
	Reaching func() (end func())
	// Survey says that the command looks for what is wrong: settings whose values mean
	// nothing are findings, and no errors of Open.
	Survey bool
}

// Daemon says which process is to answer a command.
type Daemon int

// Without a daemon, and where none may be started, the error of Open wraps
// api.ErrNoDaemon.
const (
	AnyDaemon     Daemon = iota // a daemon or this process, as the settings say
	RunningDaemon               // a daemon that runs already
	StartedDaemon               // a daemon, which is started if none runs
	OwnProcess                  // this process: the command is about what is its own
	PresentDaemon               // a daemon that runs already, or this process, as the settings say
)

// Backend answers for one command.
type Backend interface {
	Files
	api.Service
	api.Runner
	api.Maker
	// Trust vouches for the configuration files of a project's folder, or takes that back.
	Trust(ctx context.Context, in api.TrustInput) (*api.TrustOutput, error)
	// TrustServer lets the tools of a server write, for good.
	TrustServer(ctx context.Context, in api.TrustServerInput) (*api.TrustServerOutput, error)
	// Known are the names of a server's tools as far as they are known. Nothing is started.
	Known(server string) []string
	// KnownInput is the schema of a tool's arguments as far as it is known. Nothing is started.
	KnownInput(server, tool string) json.RawMessage
	// Accept takes tools that have changed for what they are now.
	Accept(ctx context.Context, in api.AcceptInput) (*api.AcceptOutput, error)
	// Serve offers what there is to another program, until ctx is done or, over the
	// standard streams, until in ends. say tells people where, and what to mind.
	Serve(ctx context.Context, o ServeOptions, in io.Reader, out io.Writer, say func(text string)) error
	// Notices are sentences for people about the configuration, one a line on standard
	// error, that hold whatever the command is.
	Notices() []string
	Close() error
}

// Exit codes that no kind of error has.
const (
	exitUnwritten   = 1 // standard output took no more
	exitInterrupted = 130
	exitBrokenPipe  = 141 // what a shell reports of a program that SIGPIPE ended
)

// Run does what the arguments say and returns the exit code. When ctx is cancelled the
// command ends as interrupted.
func (p *Program) Run(ctx context.Context) int {
	inner, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	v := &invocation{
		p:           p,
		stdout:      &stream{w: p.Stdout, terminal: p.Terminal.Stdout, failed: cancel},
		stderr:      &stream{w: p.Stderr, terminal: p.Terminal.Stderr},
		settings:    &settings.Set{},
		interrupted: func() bool { return ctx.Err() != nil },
	}
	if p.Tool != nil {
		return v.finish(v.tool(inner))
	}
	return v.finish(v.run(inner))
}

// invocation is one command under way.
type invocation struct {
	p              *Program
	stdout, stderr *stream
	settings       *settings.Set
	interrupted    func() bool

	permissions  permissions
	tape         tape
	profileGiven bool // --permissions

	json     bool
	stream   bool          // of frames
	wanted   api.ExecInput // what flags say of a run
	noColor  bool
	verbose  bool
	config   string
	session  string
	keys     *keyboard // once it was needed
	answered bool      // the document of --json is written
	quiet    bool      // what the backend has to say is no matter of the command, or the command says it
	backend  Backend
}

// status ends a command with a code whose reason has been said already.
type status int

func (status) Error() string { return "the command failed" }

func (v *invocation) run(ctx context.Context) (err error) {
	app := v.app()
	l, err := grammarOf(app, v.kindOfPath).parse(v.p.Args)
	l = l.asked()
	var flags []string
	for _, f := range l.flags {
		switch {
		case f.name == "json":
			v.json = true
		case f.name == "verbose":
			v.verbose = true
		case f.name == "no-color":
			v.noColor = true
		case f.name == "config":
			v.config = f.value
		case f.name == "session":
			v.session = f.value
		case f.grant != "":
			v.permissions.add(f)
		case f.name == "allow-all":
			v.permissions.all = true
		case f.setting:
			v.profileGiven = v.profileGiven || f.name == "permissions"
			err = errors.Join(err, v.settings.ApplyFlag(f.spelled, f.value))
		default:
			flags = append(flags, f.String())
		}
	}
	defer func() {
		if v.backend != nil {
			if failure := v.backend.Close(); err == nil {
				err = failure
			}
		}
	}()
	if err != nil && l.unknown {
		return v.meant(ctx, l.command, err)
	}
	if err != nil {
		return err
	}
	// The line is in order now: urfave/cli finds flags, then "--", then positionals.
	args := append([]string{app.Name, l.command}, flags...)
	return app.RunContext(ctx, append(append(args, "--"), l.args...))
}

// open returns the backend, and says on standard error what it has to say.
func (v *invocation) open(ctx context.Context) (Backend, error) {
	return v.openFor(ctx, OpenOptions{Config: v.config, Settings: v.settings})
}

// openOwn returns a backend that is this process, for what is its own business.
func (v *invocation) openOwn(ctx context.Context) (Backend, error) {
	return v.openFor(ctx, OpenOptions{Config: v.config, Settings: v.settings, Daemon: OwnProcess})
}

func (v *invocation) openFor(ctx context.Context, o OpenOptions) (Backend, error) {
	if v.verbose {
		o.Log = lines{v.stderr}
	}
	o.Session = v.session
	o.Reaching = func() func() {
		return v.waiting("waiting for the daemon", "it is given up within a minute, or when you interrupt this")
	}
	if v.p.Tool != nil {
		o.Daemon = OwnProcess // it starts nothing that outlives it
	}
	if v.p.Terminal.Stdin && v.p.Terminal.Stderr && v.p.Stdin != nil && !v.json {
		o.AskInput = v.askInput
	}
	b, err := v.p.Open(ctx, o)
	if err != nil {
		return nil, err
	}
	v.backend = b
	if !v.quiet {
		for _, n := range b.Notices() {
			v.say("%s", n)
		}
	}
	return b, nil
}

// lines writes to a stream what programs have said, which a terminal must not obey.
type lines struct{ to *stream }

func (l lines) Write(p []byte) (int, error) {
	_, err := io.WriteString(l.to, "mcpx: "+clean(string(p)))
	return len(p), err
}

// finish reports err and returns the exit code.
func (v *invocation) finish(err error) int {
	v.stdout.flush()
	defer v.stderr.flush()
	if failure := v.stdout.failure(); failure != nil {
		if brokenPipe(failure) {
			return exitBrokenPipe
		}
		v.say("standard output could not be written: %v\n%s", plain(failure), "what it leads to is full or broken: send the answer elsewhere")
		return exitUnwritten
	}
	var code status
	switch {
	case err == nil:
		return 0
	case errors.As(err, &code):
		return int(code)
	case v.interrupted():
		v.failed(interruption{"interrupted"})
		v.say("interrupted")
		return exitInterrupted
	}
	e := fault.From(err)
	v.failed(e)
	v.say("%s", errorText(e))
	return e.Kind.ExitCode()
}

// interruption is the error of an interrupted command in the document of --json. It has
// no kind: nothing is at fault.
type interruption struct {
	Message string `json:"message"`
}

// failed writes the document of a command that has none yet, if one was asked for. If
// that fails too, the words on standard error remain.
func (v *invocation) failed(why any) {
	if !v.json || v.answered {
		return
	}
	_ = v.document(struct {
		Error any `json:"error"`
	}{why})
	v.stdout.flush()
}

// errorText is an error for people: its message, the place that it names with a caret,
// and the hint on a line of its own.
func errorText(e *fault.Error) string {
	r := fault.ReportOf(e)
	r.Name = ""
	if at, ok := e.Details["at"].(*fault.Position); ok {
		r.At = at
	}
	return r.Text()
}

// answer writes the answer of a command: doc with --json, else the text.
func (v *invocation) answer(doc any, text func() string) error {
	if v.json {
		return v.document(doc)
	}
	_, err := io.WriteString(v.stdout, text())
	return err
}

// columns is the width that listings keep to; 0 if nobody looks.
func (v *invocation) columns() int {
	switch {
	case !v.p.Terminal.Stdout:
		return 0
	case v.p.Terminal.Columns <= 0:
		return 80
	}
	return v.p.Terminal.Columns
}

// color reports whether a script may print in colour.
func (v *invocation) color() bool {
	return v.p.Terminal.Stdout && !v.noColor && v.p.getenv("NO_COLOR") == "" && v.p.getenv("TERM") != "dumb"
}

func (p *Program) getenv(name string) string {
	for _, pair := range p.Environ {
		if value, ok := strings.CutPrefix(pair, name+"="); ok {
			return value
		}
	}
	return ""
}

// takes refuses arguments that a command has no use for, and the lack of those it needs.
func takes(c *cli.Context, atLeast, atMost int) error {
	switch n := c.NArg(); {
	case n < atLeast:
		return fault.Usagef("%s needs %s", c.Command.Name, c.Command.ArgsUsage).Hintf("usage: %s", usage(c.Command))
	case n > atMost:
		return fault.Usagef("%s: unexpected argument %q", c.Command.Name, c.Args().Get(atMost)).Hintf("usage: %s", usage(c.Command))
	}
	return nil
}
