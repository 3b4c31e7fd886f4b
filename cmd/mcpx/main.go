// Mcpx puts every MCP server behind one command and runs TypeScript against all of them.
//
// This package wires the process to the program: arguments, environment, standard
// streams, signals and the exit code are touched here and nowhere else. The same binary
// is also the process that holds one script (worker), the one that ends servers if mcpx is
// killed (keeper) and the built-in demo server: hidden commands, dispatched before anything
// else.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	_ "time/tzdata" // a scratch container has no zone files

	"mcpx/docs"
	"mcpx/internal/api"
	"mcpx/internal/cli"
	"mcpx/internal/config"
	"mcpx/internal/demo"
	"mcpx/internal/fault"
	"mcpx/internal/process"
	"mcpx/internal/sandbox"
	"mcpx/internal/worker"
)

// version is set by the linker.
var version = "dev"

// build tells one build from another where version does not: a daemon of an older one is
// not to answer for a newer.
func build() string {
	if version != "dev" {
		return version
	}
	program, err := os.Executable()
	if err != nil {
		return version
	}
	info, err := os.Stat(program)
	if err != nil {
		return version
	}
	return fmt.Sprintf("%s+%x", version, info.ModTime().UnixNano()^info.Size())
}

func main() { os.Exit(start()) }

// demoCommand is the hidden command that serves the demo server on the standard streams.
const demoCommand = "demo-server"

func start() int {
	if ours() {
		worker.Dispatch(os.Args[1:])
		process.Dispatch(os.Args[1:])
	}
	log.SetOutput(io.Discard) // libraries write there what a server at the other end likes
	load, damage := aboard()
	process.Keep(sandbox.Program)
	defer process.RestKeeper()
	defer process.ReapOrphans()()
	// A closed pipe is an error of the write, so that what was started is still ended.
	// The signal is caught, not ignored: children would inherit that.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	switch {
	case damage != nil:
		return refuse(damage)
	case load != nil: // all arguments are those of its script
	case len(os.Args) == 2 && os.Args[1] == demoCommand:
		return serveDemo()
	case len(os.Args) > 2 && os.Args[1] == "daemon" && os.Args[2] == "serve":
		return serveDaemon(os.Args[3:])
	}

	signals := []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP}
	ctx, stop := signal.NotifyContext(context.Background(), signals...)
	defer stop()
	defer context.AfterFunc(ctx, func() {
		// The second signal ends the process at once, and its children with theirs.
		second := make(chan os.Signal, 1)
		signal.Notify(second, signals...)
		stop()
		<-second
		process.KillAll()
		os.Exit(130)
	})()

	dir, gone := workingDirectory()
	if len(os.Args) == 3 && os.Args[1] == "daemon" && os.Args[2] == "connect" {
		return bridgeToDaemon(ctx, dir)
	}
	p := cli.Program{
		Version: version,
		Args:    os.Args[1:],
		Environ: os.Environ(),
		Dir:     dir,
		Schema:  config.Schema,
		Pages:   docs.Pages,
		Stdin:   os.Stdin,
		Stdout:  os.Stdout,
		Stderr:  os.Stderr,
		Terminal: cli.Terminal{
			Stdin: isTerminal(os.Stdin), Stdout: isTerminal(os.Stdout), Stderr: isTerminal(os.Stderr),
			Columns: columns(os.Stdout),
		},
		Hide:   func() (func(), error) { return hideTyping(os.Stdin) },
		Forget: func() { forgetTyped(os.Stdin) },
		Session: func(o cli.OpenOptions) (string, error) {
			if err := o.Settings.ApplyEnv(os.LookupEnv); err != nil {
				return "", err
			}
			return callerOf(o, dir).Session, nil
		},
		Others: func(ctx context.Context, o cli.OpenOptions, end bool) ([]api.OtherDaemon, error) {
			return others(ctx, o, dir, end)
		},
		LogFile: func(o cli.OpenOptions) (string, error) { return logFile(o, dir) },
		Open: func(ctx context.Context, o cli.OpenOptions) (cli.Backend, error) {
			if gone != nil {
				return nil, gone
			}
			return open(ctx, o, dir, load)
		},
		Authority: func(_ context.Context, o cli.OpenOptions) (cli.Authority, error) {
			if gone != nil {
				return nil, gone
			}
			return openAuthority(o, dir)
		},
	}
	if load != nil {
		p.Tool = load.tool()
	}
	return p.Run(ctx)
}

// workingDirectory returns where the program was started. If that is not there any more,
// dir says where it was, as far as that is known, and the error tells the user.
func workingDirectory() (dir string, gone error) {
	dir, err := os.Getwd()
	if err == nil {
		return dir, nil
	}
	if dir = os.Getenv("PWD"); !filepath.IsAbs(dir) {
		dir = "/"
	}
	if errors.Is(err, fs.ErrNotExist) {
		return dir, fault.Usagef("the working directory is gone: it has been removed").
			Hintf("cd to another directory and try again")
	}
	return dir, fault.Usagef("the working directory cannot be found: %w", err).
		Hintf("cd to another directory and try again")
}

// refuse says that this program does nothing, and why.
func refuse(why error) int {
	e := fault.From(why)
	fmt.Fprintf(os.Stderr, "mcpx: %s\n  %s\n", e.Message, e.Hint)
	return e.Kind.ExitCode()
}

func serveDemo() int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := demo.Serve(ctx, os.Stdin, os.Stdout); err != nil && !errors.Is(err, context.Canceled) {
		fmt.Fprintf(os.Stderr, "demo server: %v\n", err)
		return 1
	}
	return 0
}
