package runtimes

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"crypto/subtle"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"mcpx/internal/fault"
	"mcpx/internal/grant"
	"mcpx/internal/process"
)

//go:embed client.js
var client string

// Broker answers what a script asks besides what its runtime gives it.
type Broker interface {
	// Call answers a tool call with the fields result, value, text, isText, isError and
	// diagnostics.
	Call(ctx context.Context, server, tool string, args json.RawMessage) (any, error)
	// Ask answers search, describe and artifact.
	Ask(ctx context.Context, op string, head json.RawMessage, body []byte) (any, error)
	// Tell takes emit and progress.
	Tell(op string, head json.RawMessage)
}

// Spec is one run.
type Spec struct {
	Set     grant.Set
	Dir     string   // the working directory
	Environ []string // the whole environment of the process
	Script  string   // what the script finds as its own name, in process.argv
	Args    []string

	Code     string   // a function, as engine.Translate makes it
	Requires []string // the modules that it needs
	Starts   bool     // see engine.Bundled
	// Find leads from a place in Code, whose lines and columns count from 1, to that of the
	// user's source; nil if there is none.
	Find func(line, column int) *fault.Position

	Namespaces     []string
	Text           bool // what is emitted is a line of standard output
	Stdin          io.Reader
	Stdout, Stderr io.Writer // their errors end the run
	Broker         Broker
	InFlight       int   // calls at a time
	MaxLine        int64 // bytes of one request
}

// Ended is how a run ended.
type Ended struct {
	Value    json.RawMessage // nil if it is undefined
	Failed   *fault.Report   // what the script threw, or why the runtime ended
	ExitCode int
}

// endGrace is what a runtime has, between being asked to end and being killed.
const endGrace = time.Second

// Run runs a script and waits until nothing of it is left. An error says why no run took
// place; if ctx ended the run it is the cause of that.
func (rt *Runtime) Run(ctx context.Context, spec Spec) (*Ended, error) {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	dir, err := os.MkdirTemp("", "mcpx-runtime-")
	if err != nil {
		return nil, fault.Unavailablef("there is no place for the program that %s is to run: %w", rt.Name, err).Hintf("set TMPDIR to a directory that can be written")
	}
	defer os.RemoveAll(dir)
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fault.Unavailablef("there is no socket for %s: %w", rt.Name, err)
	}
	defer listener.Close()
	s := &session{spec: spec, runtime: rt.Name, token: rand.Text(), port: listener.Addr().(*net.TCPAddr).Port, file: filepath.Join(dir, "main.mjs")}
	args, err := rt.arguments(spec.Set, spec.Dir, s.file, s.port)
	if err != nil {
		return nil, err
	}
	text, err := s.program()
	if err != nil {
		return nil, err
	}
	if err := os.WriteFile(s.file, text, 0o600); err != nil {
		return nil, fault.Unavailablef("writing the program that %s is to run: %w", rt.Name, err)
	}

	streams, err := openStreams()
	if err != nil {
		return nil, fault.Unavailablef("there are no pipes for the streams of %s: %w", rt.Name, err)
	}
	env := append([]string{}, spec.Environ...)
	if rt.Name == "deno" {
		env = append(env, "DENO_DIR="+filepath.Join(dir, "cache"), "DENO_NO_UPDATE_CHECK=1")
	}
	child, err := process.Start(process.Spec{
		Path: rt.Path, Args: append(append(args, s.file), spec.Args...), Env: env, Dir: spec.Dir,
		Stdin: streams.in[0], Stdout: streams.out[1], Stderr: streams.err[1], Kept: true,
	})
	streams.given()
	if err != nil {
		streams.close()
		return nil, err
	}

	var owned sync.WaitGroup
	owned.Go(func() { s.accept(ctx, listener) })
	copied := make(chan struct{})
	var outputs sync.WaitGroup
	for _, c := range []struct {
		to   io.Writer
		from *os.File
	}{{spec.Stdout, streams.out[0]}, {spec.Stderr, streams.err[0]}} {
		outputs.Go(func() {
			if _, err := io.Copy(c.to, c.from); err != nil {
				stop(err)
			}
		})
	}
	go func() {
		outputs.Wait()
		close(copied)
	}()
	if spec.Stdin != nil && spec.Set.Stdin {
		go func() { // ends with the program, or when the caller's stream lets it
			_, _ = io.Copy(streams.in[1], spec.Stdin)
			_ = streams.in[1].Close()
		}()
	} else {
		_ = streams.in[1].Close()
	}

	select {
	case <-child.Done():
	case <-ctx.Done():
	}
	cause := context.Cause(ctx)
	child.End(endGrace) // and what is left of its group
	<-child.Done()
	s.drain()
	_ = listener.Close()
	s.close()
	stop(nil) // ends the calls that are under way
	owned.Wait()
	select {
	case <-copied:
	case <-time.After(endGrace): // something that left the group holds the streams
	}
	streams.close()
	<-copied
	if cause != nil {
		return nil, cause
	}
	return s.ended(rt, child.State()), nil
}

// streams are the pipes of a child; of each, the first end is read and the second written.
type streams struct{ in, out, err [2]*os.File }

func openStreams() (s *streams, err error) {
	s = &streams{}
	for _, pair := range []*[2]*os.File{&s.in, &s.out, &s.err} {
		if pair[0], pair[1], err = os.Pipe(); err != nil {
			s.close()
			return nil, err
		}
	}
	return s, nil
}

// given closes the ends that the child has.
func (s *streams) given() {
	_, _, _ = s.in[0].Close(), s.out[1].Close(), s.err[1].Close()
}

func (s *streams) close() {
	for _, pair := range [][2]*os.File{s.in, s.out, s.err} {
		for _, f := range pair {
			if f != nil {
				_ = f.Close() // some are closed already
			}
		}
	}
}

// session is one run, as what is said over its socket.
type session struct {
	spec    Spec
	runtime string // its name
	token   string
	port    int
	file    string // of the program
	lines   int    // of the program before the script's code

	mu     sync.Mutex
	conn   net.Conn
	read   chan struct{} // closed when nothing more comes from the script
	valued bool          // the script has ended with a value
	value  json.RawMessage
	failed *failure
	broken *fault.Error // why nothing more is read from the script
}

// failure is what the script threw.
type failure struct {
	Name    string   `json:"name"`
	Message string   `json:"message"`
	Stack   string   `json:"stack"`
	Kind    string   `json:"kind"`
	Code    string   `json:"code"`
	Hint    string   `json:"hint"`
	Cause   *failure `json:"cause"`
}

// codeBefore stands before the script's code, in its first line.
const codeBefore = "const mcpx$program = "

// program is the text that the runtime runs: the modules, the client, the script.
func (s *session) program() ([]byte, error) {
	spec := s.spec
	namespaces, args := spec.Namespaces, spec.Args
	if namespaces == nil {
		namespaces = []string{}
	}
	if args == nil {
		args = []string{}
	}
	given, err := json.Marshal(map[string]any{
		"port": s.port, "token": s.token, "namespaces": namespaces, "args": args, "script": spec.Script,
		"text": spec.Text, "stdin": spec.Set.Stdin, "starts": spec.Starts,
	})
	if err != nil {
		return nil, fault.Internalf("encoding a run: %w", err)
	}
	quoted, err := json.Marshal(string(given))
	if err != nil {
		return nil, fault.Internalf("encoding a run: %w", err)
	}
	var b bytes.Buffer
	for _, m := range []string{"net", "process", "util", "buffer", "fs"} {
		fmt.Fprintf(&b, "import mcpx$%s from \"node:%s\";\n", m, m)
	}
	for i, name := range spec.Requires {
		fmt.Fprintf(&b, "import * as mcpx$m%d from %q;\n", i, name)
	}
	b.WriteString("const mcpx$modules = {")
	for i, name := range spec.Requires {
		fmt.Fprintf(&b, " %q: mcpx$m%d.default ?? mcpx$m%d,", name, i, i)
	}
	fmt.Fprintf(&b, " };\nconst mcpx$text = %s;\n", quoted)
	s.lines = bytes.Count(b.Bytes(), []byte("\n"))
	// The script's function comes first, so that its place is known; functions of the client
	// are called when it runs, which is at the end.
	b.WriteString(codeBefore + strings.TrimRight(spec.Code, "\n") + ";\n")
	b.WriteString(client)
	return b.Bytes(), nil
}

// accept serves the one connection that has the token.
func (s *session) accept(ctx context.Context, l net.Listener) {
	var serving sync.WaitGroup
	defer serving.Wait()
	for {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		serving.Go(func() {
			defer conn.Close()
			defer context.AfterFunc(ctx, func() { _ = conn.Close() })()
			s.serve(ctx, conn)
		})
	}
}

// request is one line from the script.
type request struct {
	Token  string          `json:"token"`
	ID     int64           `json:"id"`
	Op     string          `json:"op"`
	Server string          `json:"server"`
	Tool   string          `json:"tool"`
	Args   json.RawMessage `json:"args"`
	Head   json.RawMessage `json:"head"`
	Body   []byte          `json:"body"`
	Value  json.RawMessage `json:"value"`
	Error  *failure        `json:"error"`
}

// maxToken bounds the first line, in bytes.
const maxToken = 256

// admit reports whether the first line of a connection has the token, and is the first that
// has it.
func (s *session) admit(conn net.Conn, in *bufio.Reader) bool {
	_ = conn.SetReadDeadline(time.Now().Add(askTimeout))
	first, err := readLine(in, maxToken)
	var r request
	if err != nil || json.Unmarshal(first, &r) != nil || subtle.ConstantTimeCompare([]byte(r.Token), []byte(s.token)) != 1 {
		return false
	}
	_ = conn.SetReadDeadline(time.Time{})
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.conn != nil {
		return false
	}
	s.conn, s.read = conn, make(chan struct{})
	return true
}

// serve answers the requests of a connection until nothing more comes.
func (s *session) serve(ctx context.Context, conn net.Conn) {
	in := bufio.NewReader(conn)
	if !s.admit(conn, in) {
		return
	}
	defer close(s.read)
	var out sync.Mutex
	reply := func(id int64, value any, err error) {
		answer := map[string]any{"id": id, "value": value}
		if err != nil {
			e := fault.From(err)
			answer = map[string]any{"id": id, "error": map[string]any{
				"kind": e.Kind, "name": e.Kind.ErrorName(), "message": e.Message, "hint": e.Hint, "details": e.Details,
			}}
		}
		text, err := json.Marshal(answer)
		if err != nil {
			text = fmt.Appendf(nil, `{"id":%d,"error":{"kind":"internal","name":"Error","message":"an answer that cannot be encoded"}}`, id)
		}
		out.Lock()
		defer out.Unlock()
		_, _ = conn.Write(append(text, '\n')) // a script that is gone needs no answer
	}
	room := make(chan struct{}, max(s.spec.InFlight, 1))
	var calls sync.WaitGroup
	defer calls.Wait()
	for {
		line, err := readLine(in, s.spec.MaxLine)
		if errors.Is(err, errLong) {
			s.breaks(fault.Limitf("the script has sent more than %d bytes at once", s.spec.MaxLine).Hintf("send less, or raise limits.result"))
		}
		if err != nil {
			return
		}
		var r request
		if json.Unmarshal(line, &r) != nil || r.Op == "" {
			s.breaks(fault.New(fault.Script, "the script has sent mcpx something that it cannot read").
				Hintf("leave JSON.stringify, and toJSON of objects that are not yours, as they are"))
			return
		}
		switch r.Op {
		case "emit":
			s.spec.Broker.Tell(r.Op, r.Value)
			continue
		case "progress":
			s.spec.Broker.Tell(r.Op, r.Head)
			continue
		case "value", "failed":
			s.mu.Lock()
			if r.Op == "value" {
				s.valued, s.value = true, r.Value
			} else if s.failed == nil && r.Error != nil {
				s.failed = r.Error
			}
			s.mu.Unlock()
			reply(r.ID, nil, nil)
			continue
		}
		select {
		case room <- struct{}{}:
		case <-ctx.Done():
			return
		}
		calls.Go(func() {
			defer func() { <-room }()
			var value any
			var err error
			if r.Op == "call" {
				value, err = s.spec.Broker.Call(ctx, r.Server, r.Tool, r.Args)
			} else {
				value, err = s.spec.Broker.Ask(ctx, r.Op, r.Head, r.Body)
			}
			reply(r.ID, value, err)
		})
	}
}

// breaks says why nothing more is read: what the script has to say of its end is not heard. No
// call that is under way keeps it waiting for an answer.
func (s *session) breaks(why *fault.Error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.broken = why
	_ = s.conn.Close()
}

var errLong = errors.New("a line is too long")

// readLine reads a line of at most limit bytes, if that is not 0.
func readLine(in *bufio.Reader, limit int64) (line []byte, err error) {
	for {
		part, err := in.ReadSlice('\n')
		line = append(line, part...)
		switch {
		case limit > 0 && int64(len(line)) > limit:
			return nil, errLong
		case err == nil:
			return line, nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, err
		}
	}
}

// drain waits until all that the script has sent was read: it has ended, so its end of the
// socket is closed.
func (s *session) drain() {
	s.mu.Lock()
	read := s.read
	s.mu.Unlock()
	if read == nil {
		return
	}
	select {
	case <-read:
	case <-time.After(endGrace):
	}
}

func (s *session) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.conn != nil {
		_ = s.conn.Close()
	}
}

// exitUnsettled is the exit code of a program whose script waits for something that never
// comes; see client.js.
const exitUnsettled = 13

// ended says how the run ended.
func (s *session) ended(rt *Runtime, state *os.ProcessState) *Ended {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := &Ended{ExitCode: state.ExitCode() & 0xFF}
	signal := process.Signal(state)
	switch {
	case s.failed != nil:
		out.Failed = s.report(s.failed)
		out.ExitCode = out.Failed.Kind.ExitCode()
	case s.broken != nil:
		out.Failed = fault.ReportOf(s.broken)
		out.ExitCode = out.Failed.Kind.ExitCode()
	case signal != "":
		out.Failed = fault.ReportOf(fault.New(fault.Script, "%s was ended by %s", rt.Name, signal))
		out.ExitCode = out.Failed.Kind.ExitCode()
	case s.valued:
		out.Value = s.value
	case out.ExitCode == exitUnsettled && s.conn != nil:
		out.Failed = &fault.Report{Kind: fault.Script, Name: "Error", Message: "the script waits for something that never comes"}
		out.ExitCode = fault.Script.ExitCode()
	case s.conn == nil && out.ExitCode != 0:
		out.Failed = fault.ReportOf(fault.Unavailablef("%s %s ended before the script began", rt.Name, rt.Version).
			Hintf("what it said stands on standard error"))
		out.ExitCode = out.Failed.Kind.ExitCode()
	}
	return out
}

// report is what was thrown, with the places of the user's source.
func (s *session) report(f *failure) *fault.Report {
	r := &fault.Report{Kind: fault.Script, Name: f.Name, Message: f.Message, Hint: f.Hint}
	if kind := fault.Kind(f.Kind); slices.Contains(fault.Kinds(), kind) {
		r.Kind = kind
	}
	if f.Name == "NotCapable" || f.Code == "ERR_ACCESS_DENIED" { // Deno's and Node's
		r.Kind, r.Name = fault.Denied, fault.Denied.ErrorName()
		r.Message = "denied by " + s.runtime + ": " + r.Message
		if r.Hint == "" {
			r.Hint = "it is outside the run's grants: --allow-read, --allow-write, --allow-net, --allow-run"
		}
	}
	for line := range strings.Lines(f.Stack) {
		frame, at := s.frame(strings.TrimSpace(line))
		if at == nil {
			continue
		}
		if r.At == nil {
			r.At = at
		}
		r.Frames = append(r.Frames, frame)
	}
	if f.Cause != nil {
		r.Cause = s.report(f.Cause)
	}
	return r
}

// frame reads one line of a stack: at NAME (PLACE), or at PLACE. Only places in the user's
// source count.
func (s *session) frame(line string) (fault.Frame, *fault.Position) {
	line, ok := strings.CutPrefix(line, "at ")
	if !ok {
		return fault.Frame{}, nil
	}
	place, name := line, ""
	if at := strings.LastIndex(line, " ("); at >= 0 && strings.HasSuffix(line, ")") {
		name, place = line[:at], line[at+2:len(line)-1]
	}
	name = strings.TrimPrefix(name, "async ")
	place = strings.TrimPrefix(strings.TrimPrefix(strings.TrimPrefix(place, "async "), "file://"), "file:")
	numbers, ok := strings.CutPrefix(place, s.file+":")
	if !ok {
		return fault.Frame{}, nil
	}
	l, c, _ := strings.Cut(numbers, ":")
	row, err := strconv.Atoi(l)
	column, err2 := strconv.Atoi(c)
	if err != nil || err2 != nil {
		return fault.Frame{}, nil
	}
	row -= s.lines
	if row == 1 {
		column -= len(codeBefore)
	}
	at := s.spec.Find(row, column)
	if at == nil {
		return fault.Frame{}, nil
	}
	if strings.HasPrefix(name, "mcpx$") || name == "<anonymous>" {
		name = ""
	}
	return fault.Frame{Function: name, File: at.File, Line: at.Line, Column: at.Column}, at
}
