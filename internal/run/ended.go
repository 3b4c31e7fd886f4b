package run

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strings"
	"syscall"
	"time"

	"mcpx/internal/api"
	"mcpx/internal/fault"
	"mcpx/internal/frame"
	"mcpx/internal/process"
	"mcpx/internal/sandbox"
	"mcpx/internal/worker"
)

// Exit codes of runs that ended without an error of their own.
const (
	exitInterrupted = 130
	exitClosed      = 141 // as of a program that the system ends by SIGPIPE
)

const pleaseReport = "this is a fault of mcpx: please report it with the script that shows it"

// broken is why a run ends whose worker does what an honest one never does.
func broken(err error) *fault.Error {
	return fault.Internalf("the worker broke the protocol: %w", err).Hintf("%s", pleaseReport)
}

// errStranger is for a worker that is none.
var errStranger = errors.New("what was started as a worker is not one")

// mismatch is for a worker of another build.
type mismatch struct{ want, got string }

func (m *mismatch) Error() string {
	return fmt.Sprintf("the worker is of another build than this process (%q, not %q)", m.got, m.want)
}

// result says how a run ended and why. What was decided here comes first, then what the
// worker said itself, then its standard error, then the signal that ended it.
func (b *broker) result(ctx context.Context, l last) (*api.ExecOutput, error) {
	out := &api.ExecOutput{Printed: b.out.printed.Load(), Emits: b.out.emits, Logs: b.out.logs, Sandbox: string(b.level), Profile: b.set.Profile, Denials: b.denials.all()}
	b.out.given(ctx, out)
	out.Artifacts = b.kept.all()
	out.Warnings = append(out.Warnings, b.kept.warnings()...)
	var said *fault.Report // by the worker
	switch l.frame.Type {
	case frame.End:
		var err error
		if said, err = b.readEnd(ctx, l.frame, out); err != nil {
			said = fault.ReportOf(broken(err))
			out.ExitCode = 0
		}
	case frame.Fail:
		said = b.readFail(ctx, l.frame)
	}

	said = b.ownWords(said)
	cause := context.Cause(ctx)
	if cause == nil && b.spent.Load() && !b.isLimit(said, limitCalls) {
		cause = b.budget.exceeded(limitCalls) // the script took it for an answer
	}
	switch {
	case cause != nil:
		out.Error, out.ExitCode = ended(cause)
		if e := out.Error; e != nil && said != nil && e.At == nil {
			e.At, e.Frames = said.At, said.Frames // where the script was
		}
	case said != nil:
		out.Error = said
		if out.ExitCode == 0 {
			out.ExitCode = said.Kind.ExitCode()
		}
	case l.frame.Type == frame.End:
		return out, nil
	default:
		var err error
		if out.Error, err = b.death(ctx, l.err); err != nil {
			return nil, err
		}
		out.ExitCode = out.Error.Kind.ExitCode()
	}
	out.Value, out.Implied, out.Notes = nil, false, nil
	return out, nil
}

// ended says how a run ends that was ended by its broker or by the caller.
func ended(cause error) (report *fault.Report, exit int) {
	var e *fault.Error
	switch {
	case errors.As(cause, &e):
	case errors.Is(cause, errClosed):
		return nil, exitClosed
	case errors.Is(cause, context.DeadlineExceeded):
		e = fault.Timeoutf("time limit exceeded")
	default:
		return nil, exitInterrupted
	}
	return fault.ReportOf(e), e.Kind.ExitCode()
}

func (b *broker) readEnd(ctx context.Context, f frame.Frame, out *api.ExecOutput) (*fault.Report, error) {
	var end worker.End
	if err := json.Unmarshal(f.Head, &end); err != nil {
		return nil, err
	}
	if end.Fault != "" {
		b.log.LogAttrs(ctx, slog.LevelError, "engine.failed", slog.String("fault", end.Fault))
	}
	if end.Value < 0 || end.Value > len(f.Body) {
		return nil, fmt.Errorf("a value of %d bytes in %d", end.Value, len(f.Body))
	}
	value, rest := f.Body[:end.Value], f.Body[end.Value:]
	if len(value) > 0 {
		if !json.Valid(value) {
			return nil, errors.New("a value that is not JSON")
		}
		out.Value, out.Implied = value, end.Implied
	}
	out.ExitCode, out.Notes = end.ExitCode&0xFF, end.Notes
	if len(rest) == 0 {
		return nil, nil
	}
	if len(rest) > worker.MaxReport {
		return nil, fmt.Errorf("a report of %d bytes", len(rest))
	}
	report := &fault.Report{}
	if err := json.Unmarshal(rest, report); err != nil {
		return nil, err
	}
	return report, nil
}

func (b *broker) readFail(ctx context.Context, f frame.Frame) *fault.Report {
	e := &fault.Error{}
	if err := json.Unmarshal(f.Body, e); err != nil {
		e = fault.Internalf("the worker failed and could not say why: %w", err)
	}
	if e.Kind == fault.Limit {
		return fault.ReportOf(e)
	}
	var s worker.Stack
	_ = json.Unmarshal(f.Head, &s) // without a stack there is none in the log
	b.log.LogAttrs(ctx, slog.LevelError, "worker.failed", slog.String("error", e.Message), slog.String("stack", s.Stack))
	if e.Kind == fault.Unavailable {
		b.crashed = true
		return fault.ReportOf(fault.Unavailablef("the system did not let the script's process lock itself").
			Hintf("the log, which -v shows, says what it refused, and mcpx doctor how far it goes here"))
	}
	return fault.ReportOf(b.crash())
}

// death says why a worker ended that did not say it itself. The error is for one that
// never was our worker, so that no run took place.
func (b *broker) death(ctx context.Context, err error) (*fault.Report, error) {
	var other *mismatch
	switch {
	case errors.As(err, &other):
		return nil, fault.Unavailablef("%w", err).
			Hintf("the program's file was replaced while it ran: start it again")
	case errors.Is(err, errStranger):
		return nil, fault.Unavailablef("%w", err).Hintf("%s", pleaseReport)
	}
	state, words := b.worker.Ended()
	how := process.Ended(state)
	b.log.LogAttrs(ctx, slog.LevelError, "worker.died", slog.String("how", how), slog.String("words", words))
	report := fault.ReportOf(b.autopsy(state, words))
	if report.Kind == fault.Script {
		report.Name = "RangeError"
	}
	return report, nil
}

// autopsy says in the user's terms what a worker died of. What it wrote itself tells
// more than how it ended, and neither is repeated: both are about the inside of mcpx.
func (b *broker) autopsy(state *os.ProcessState, words string) *fault.Error {
	signal := process.Signal(state)
	var used time.Duration
	if state != nil {
		used = state.UserTime() + state.SystemTime()
	}
	switch cause := lastWords(words); {
	case cause == diedOfNesting:
		return fault.New(fault.Script, "nesting too deep").
			Hintf("a value, a source or a recursion is nested deeper than the engine can follow")
	case cause == diedOfMemory && !b.cramped():
		return b.budget.exceeded(worker.LimitMemory)
	case cause == diedOfMemory:
		return fault.Limitf("the system gave the script's process no more memory").
			Hintf("raise what mcpx itself may have: ulimit -v, ulimit -d, or the memory of its container").With("limit", worker.LimitMemory)
	case cause == diedOfThreads:
		b.crashed = true // of the machine's want, and not of what the script did: it may be tried again
		return fault.Unavailablef("the system gave the script's process no more threads").
			Hintf("raise the limit of processes: ulimit -u, or that of the container")
	case signal == "SIGXCPU", signal == "SIGKILL" && b.budget.cpu > 0 && used >= b.budget.cpu:
		return b.budget.exceeded(worker.LimitCPU)
	case signal == "SIGKILL":
		return fault.Limitf("the script's process was killed by SIGKILL, and not by mcpx").
			Hintf("the system does that when memory runs out, or the processor time that it gives one process (ulimit -t)")
	case signal == "SIGSYS":
		return fault.Internalf("the script's process asked the system for what it has given up").Hintf("%s", pleaseReport)
	case signal == "", slices.Contains(faults, signal):
		return b.crash()
	}
	return fault.Internalf("the script's process was killed by %s, and not by mcpx", signal).
		Hintf("something else on this machine ended it")
}

// cramped reports whether a worker comes to the end of what the system gives it before it
// comes to the limit of its run.
func (b *broker) cramped() bool {
	return b.budget.memory <= 0 || b.level == "" || b.memory > 0 && b.memory < sandbox.Reserve(b.budget.memory)
}

// faults are the signals that a program sends itself by what it does.
var faults = []string{"SIGSEGV", "SIGBUS", "SIGABRT", "SIGILL", "SIGFPE", "SIGTRAP"}

// crash is for a worker that died of a fault of its own: the log knows of what.
func (b *broker) crash() *fault.Error {
	b.crashed = true
	return fault.Internalf("the script engine crashed").Hintf("%s", pleaseReport)
}

// stillborn reports whether the worker of a run that is over died of a fault of its own
// before its script had done anything that can be seen.
func (b *broker) stillborn() bool { return b.crashed && !b.heard }

// ownWords replaces what a worker said of a limit of its own by what was set.
func (b *broker) ownWords(said *fault.Report) *fault.Report {
	for _, limit := range []string{worker.LimitMemory, worker.LimitCPU} {
		if b.isLimit(said, limit) {
			own := fault.ReportOf(b.budget.exceeded(limit))
			own.At, own.Frames = said.At, said.Frames
			return own
		}
	}
	return said
}

func (b *broker) isLimit(r *fault.Report, limit string) bool {
	if r == nil || r.Kind != fault.Limit {
		return false
	}
	return fault.Text(r.Details, "limit") == limit
}

type cause int

const (
	unknownCause cause = iota
	diedOfNesting
	diedOfMemory
	diedOfThreads
)

// noMoreThreads is how the runtime writes EAGAIN, the error for one thread too many.
var noMoreThreads = fmt.Sprintf("errno=%d)", int(syscall.EAGAIN))

// lastWords knows what the Go runtime writes when it dies of a script.
func lastWords(words string) cause {
	for line := range strings.Lines(words) {
		switch {
		case strings.HasPrefix(line, "runtime: goroutine stack exceeds"),
			strings.HasPrefix(line, "fatal error: stack overflow"):
			return diedOfNesting
		case strings.HasPrefix(line, "panic: libc_") && strings.Contains(line, ":mustMalloc"): // of SQLite's
			return diedOfMemory
		case strings.Contains(line, "failed to create new OS thread"), strings.Contains(line, "pthread_create failed"):
			if strings.Contains(line, noMoreThreads) {
				return diedOfThreads
			}
			return diedOfMemory
		case !strings.HasPrefix(line, "runtime: ") && !strings.HasPrefix(line, "fatal error: "):
		case strings.Contains(line, "out of memory"), strings.Contains(line, "annot allocate"),
			strings.Contains(line, "failed to reserve"), strings.Contains(line, "cannot map pages"):
			return diedOfMemory
		}
	}
	return unknownCause
}
