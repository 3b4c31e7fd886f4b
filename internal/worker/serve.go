package worker

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"runtime/debug"

	"mcpx/bindings"
	"mcpx/engine"
	"mcpx/internal/fault"
	"mcpx/internal/frame"
	"mcpx/internal/sandbox"
)

// maxRun bounds what a broker may send to its worker.
const maxRun = 1 << 30

// Process is what a worker is and does besides its script. Functions that are nil do
// nothing.
type Process struct {
	Level   sandbox.Level // empty is none
	Missing string        // see Ready
	Room    uint64

	// Prepare is called before the script is compiled and returns what it will find.
	Prepare func(Run) []engine.Module
	// Limit bounds the process, before it looks at the script.
	Limit func(Limits) error
	// Wall leaves the process the files to import, and Seal nothing, before the first
	// line of the script runs. An error of either ends the run.
	Wall func(roots []string) error
	Seal func() error
	// Exit ends the process: the broker is gone, or the script is over a limit and
	// cannot be interrupted. It is called on another goroutine, and may return.
	Exit func(status int)
}

// Serve is the work of a worker over any connection: one script. It returns when it has
// said how the script ended, and io.EOF if it was given none.
func Serve(broker io.ReadWriter, p Process) error {
	conn := frame.NewConn(broker, maxRun)
	ready := Ready{Build: Build(), Level: p.Level, Missing: p.Missing, Room: p.Room}
	if ready.Level == "" {
		ready.Level = sandbox.LevelNone
	}
	if err := send(conn, frame.Ready, ready, nil); err != nil {
		return err
	}
	f, err := conn.Receive()
	if err != nil {
		return err
	}
	var run Run
	if err := json.Unmarshal(f.Head, &run); err != nil || f.Type != frame.Run {
		return fmt.Errorf("the broker sent a frame %s instead of a script: %w", f.Type, err)
	}
	h := newHost(conn, run)
	ctx, interrupt := context.WithCancelCause(context.Background())
	go func() {
		interrupt(lost(h.serve(interrupt)))
		p.exit(exitOrphaned)
	}()
	if err := p.limit(run.Limits); err != nil {
		return fail(h, err)
	}
	watching := watch(run.Limits, interrupt, func(why error) {
		h.out.flush()
		_ = send(h.conn, frame.Fail, Stack{}, encode(why))
		p.exit(exitOverLimit)
	})
	out, err := script(ctx, h, run, string(f.Body), p)
	watching.stop()
	if err != nil {
		return fail(h, err)
	}
	return end(h, out)
}

// script compiles and runs one script. The error is a fault of this program.
func script(
	ctx context.Context, h *host, run Run, text string, p Process,
) (out *engine.Outcome, err error) {
	defer func() {
		if x := recover(); x != nil {
			err = &crash{what: x, stack: debug.Stack()}
		}
	}()
	source := engine.Source{Name: run.Name, Text: text, File: run.File, Expression: run.Expression, Export: run.Export, Prefix: run.Prefix}
	im := newImporter(run.Imports, run.Reads)
	source.Import, source.Files = im.decide, run.File != "" && len(run.Imports.Allow) > 0
	if source.Files {
		err = p.wall(im.roots())
	} else {
		err = p.seal() // there is nothing to read: what parses the text has nothing either
	}
	if err != nil {
		return nil, err
	}
	var found []engine.Module
	if p.Prepare != nil {
		found = p.Prepare(run)
	}
	if len(run.Given) > 0 {
		found = append(found, bindings.Given(run.Given))
	}
	if run.Make != "" {
		return made(source, run, found)
	}
	program, report := engine.Compile(source, found)
	if report != nil {
		return &engine.Outcome{ExitCode: report.Kind.ExitCode(), Report: report}, nil
	}
	if source.Files {
		if err := p.seal(); err != nil {
			return nil, err
		}
	}
	rt := engine.New(engine.Options{
		Host:     h,
		Modules:  found,
		Ambient:  run.Ambient,
		Output:   func(stream int, p []byte) { h.out.write(ctx, stream, p) },
		InFlight: run.InFlight,
	})
	return rt.Run(ctx, program), nil
}

// made makes something of a script instead of running it.
func made(source engine.Source, run Run, modules []engine.Module) (*engine.Outcome, error) {
	var bundled *engine.Bundled
	var report *fault.Report
	if run.Make == MakeTranslation {
		bundled, report = engine.Translate(source, run.Modules)
	} else {
		bundled, report = engine.Bundle(source, modules)
	}
	if report != nil {
		return &engine.Outcome{ExitCode: report.Kind.ExitCode(), Report: report}, nil
	}
	value, err := json.Marshal(bundled)
	return &engine.Outcome{Value: value}, err
}

func end(h *host, out *engine.Outcome) error {
	value, report := out.Value, out.Report
	head := End{Implied: out.Implied, ExitCode: out.ExitCode, Notes: out.Notes}
	if int64(len(value)) > h.maxBody {
		report = fault.ReportOf(ValueTooLarge(len(value), h.maxBody))
		value, head = nil, End{ExitCode: report.Kind.ExitCode()}
	}
	head.Value = len(value)
	body := value
	if report != nil {
		if said, ok := report.Details[engine.FaultDetail].(string); ok {
			head.Fault = said
			delete(report.Details, engine.FaultDetail)
		}
		text, err := json.Marshal(report)
		if err != nil || len(text) > MaxReport || int64(len(value)+len(text)) > h.maxBody {
			if text, err = json.Marshal(reduced(report)); err != nil {
				return fail(h, fmt.Errorf("encoding the report of a script: %w", err))
			}
		}
		body = append(bytes.Clone(value), text...)
	}
	h.out.drain()
	return send(h.conn, frame.End, head, body)
}

// ValueTooLarge is the error of a run whose value has n bytes where most are allowed.
func ValueTooLarge(n int, most int64) *fault.Error {
	return fault.Limitf("the value of the run has %d bytes, %d are allowed", n, most).
		Hintf("return less, or raise limits.result")
}

// crash is a panic of this program.
type crash struct {
	what  any
	stack []byte
}

func (c *crash) Error() string { return fmt.Sprintf("panic: %v", c.what) }

// fail says that the worker could not go on.
func fail(h *host, why error) error {
	h.out.drain()
	var stack Stack
	if c, ok := why.(*crash); ok { //nolint:errorlint // nothing wraps it on the way here
		stack.Stack = string(c.stack)
	}
	if fault.KindOf(why) != fault.Unavailable {
		why = fault.Internalf("%w", why)
	}
	return send(h.conn, frame.Fail, stack, encode(why))
}

// encode makes a body of an error.
func encode(why error) []byte {
	body, err := json.Marshal(fault.From(why))
	if err != nil {
		return []byte(`{"kind":"internal","message":"an error that cannot be encoded"}`)
	}
	return body
}

// unlocked is the error of a step of the lockdown: the system has refused it.
func unlocked(err error) error {
	if err == nil {
		return nil
	}
	return fault.Unavailablef("%w", err)
}

func (p Process) limit(l Limits) error {
	if p.Limit == nil {
		return nil
	}
	return unlocked(p.Limit(l))
}

func (p Process) wall(roots []string) error {
	if p.Wall == nil {
		return nil
	}
	return unlocked(p.Wall(roots))
}

func (p Process) seal() error {
	if p.Seal == nil {
		return nil
	}
	return unlocked(p.Seal())
}

func (p Process) exit(status int) {
	if p.Exit != nil {
		p.Exit(status)
	}
}

func send(conn *frame.Conn, typ frame.Type, head any, body []byte) error {
	b, err := json.Marshal(head)
	if err != nil {
		return fmt.Errorf("encoding a frame %s: %w", typ, err)
	}
	return conn.Send(frame.Frame{Type: typ, Head: b, Body: body})
}
