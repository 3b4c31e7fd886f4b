package api

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"mcpx/internal/fault"
)

// Scripts runs scripts where the servers are.
type Scripts interface {
	// Exec runs one script. The error is of package fault and says why no run took place;
	// how a run that did ended is in its output. With in.Frames what happens is told as it
	// happens.
	Exec(ctx context.Context, in ExecInput) (*ExecOutput, error)
}

// ExecInput is one run of a script. Working directory, variables and standard input are
// the caller's, wherever the script runs.
type ExecInput struct {
	// Code is the source text.
	Code string `json:"code" doc:"the script, TypeScript or JavaScript"`
	// Name is how positions call the source: the file as the user wrote it, "exec" or "stdin".
	Name string `json:"name,omitempty" doc:"what positions in it are called; exec without it"`
	// File is the absolute path of the source, if it is a file: relative imports start there.
	File string `json:"file,omitempty" doc:"the absolute path of the script if it is a file, whose imports are found from there"`
	// Expression says that the value of the last expression statement is the run's value
	// if nothing else is (exec).
	Expression bool `json:"expression,omitempty" doc:"take the last expression for the value if nothing is returned; a script without a name or file does that anyway"`
	// Args is what the script finds after process.argv[1].
	Args []string `json:"args,omitempty" doc:"what the script finds in process.argv, from the third on"`
	// Export names the export that is the run's value, called if it is a function. Empty is
	// the default export.
	Export string `json:"export,omitempty" doc:"the export that is the value, called if it is a function; the default export without it"`
	// Permissions is the profile of the run; empty means the setting script.permissions.
	Permissions string `json:"permissions,omitempty" doc:"the profile: none, tools, read, net, readnet, project, all, or one of the configuration's"`
	// Allow and Deny add to the profile and take away from it: words by the name of a
	// grant (tools, read, write, imports, net, env, run). No words are all that the grant
	// can give, or all that it gives. Paths are relative to the working directory.
	Allow map[string][]string `json:"allow,omitempty" doc:"what is granted besides, by grant: tools, read, write, imports, net, env, run"`
	Deny  map[string][]string `json:"deny,omitempty" doc:"what is taken away, by grant"`
	// Most is the most that the run may be given; nil is no bound. One that asks for more is
	// denied. Where Permissions is empty, Allow and Deny change what Most says.
	Most *Permissions `json:"-"`
	// Timeout bounds the run; 0 means Within, and without that the setting exec.timeout.
	Timeout time.Duration `json:"-"`
	Within  string        `json:"timeout,omitempty" doc:"how long it may take, as in 30s; the setting exec.timeout without it"`
	// Limits are those of the settings limits.…, by their last word.
	Limits map[string]string `json:"limits,omitempty" doc:"limits of this run, by the names of the settings limits.…, as they are written there"`
	// Session is the session that the calls belong to.
	Session string `json:"session,omitempty" doc:"the session that its calls belong to"`
	// Cwd and Env are the caller's working directory, and variables besides the caller's.
	Cwd   string            `json:"cwd,omitempty" doc:"the working directory, absolute"`
	Env   map[string]string `json:"env,omitempty" doc:"variables, which the script sees as far as they are granted"`
	Stdin string            `json:"stdin,omitempty" doc:"what it reads as standard input"`
	// NS limits the namespaces that the script finds; empty is all.
	NS []string `json:"ns,omitempty" doc:"the namespaces that it finds; without them all"`
	// Output is one of the constants below; empty is OutputStructured.
	Output string `json:"output,omitempty" words:"text|structured|stream" doc:"one document (structured), standard output as it comes (text), or frames as things happen (stream)"`
	// CaptureConsole makes what the script prints by console logs of the run instead of output.
	CaptureConsole bool `json:"captureConsole,omitempty" doc:"take what it prints for logs, so that only emit and the value are output"`
	// Placeholders fill in @NAME in the source, each with a JSON value.
	Placeholders map[string]json.RawMessage `json:"placeholders,omitempty" doc:"values for @NAME in the source, by name"`
	// Phases surround the script.
	Phases Phases `json:"phases,omitzero" doc:"scripts around it: before, prefix, onSuccess, onError, suffix, each a list of sources"`
	// Typecheck has TypeScript's own compiler check the source first.
	Typecheck string `json:"typecheck,omitempty" words:"off|on|strict" doc:"have TypeScript's compiler check it first: on or strict"`
	// Runtime is another one that runs it: deno, bun or node, or the path of one.
	Runtime string `json:"runtime,omitempty" tool:"-" doc:"run it on another runtime that is installed: deno, bun or node"`
	// Record has the output hold a recording of the calls. Replay is such a text, from which
	// calls are answered: no server is asked then.
	Record bool   `json:"record,omitempty" tool:"-" doc:"give a recording of its calls with the answer"`
	Replay string `json:"replay,omitempty" tool:"-" doc:"a recording, from which its calls are answered instead of by servers"`

	// Artifacts says how the caller takes what is kept; nil says that it does not take it.
	Artifacts *ArtifactWish `json:"artifacts,omitempty" doc:"how artifacts are given; with it, media in the value and among the emits become artifacts"`

	// Task has the run go on by itself; the output is the task then.
	Task *TaskWish `json:"task,omitempty" doc:"make a task of it, which goes on by itself; the answer is the task"`

	// Frames is told what happens, one frame after the other; its error ends the run.
	Frames func(Frame) error `json:"-"`
	// Peer and Consent are as those of a call.
	Peer    Peer    `json:"-"`
	Consent Consent `json:"-"`
}

// Permissions are those of a run, as ExecInput has them.
type Permissions struct {
	Profile     string
	Allow, Deny map[string][]string
}

// The values of ExecInput.Output.
const (
	OutputText       = "text"
	OutputStructured = "structured"
	OutputStream     = "stream"
)

// The values of ExecInput.Typecheck; empty is TypecheckOff.
const (
	TypecheckOff    = "off"
	TypecheckOn     = "on"
	TypecheckStrict = "strict"
)

// Phases are sources that run around a script, with its grants. Each but Prefix is a
// script of its own, which finds in the global hook how the run stands. One of Before
// that fails ends the run. What one of OnSuccess returns, if it returns something, takes
// the place of the value; what one of OnError returns takes the place of the error, which
// one that throws replaces. Suffix runs in any case.
type Phases struct {
	Before    []string `json:"before,omitempty" doc:"run before the script; one that fails ends the run"`
	Prefix    []string `json:"prefix,omitempty" doc:"run in the script's own process, before its first line"`
	OnSuccess []string `json:"onSuccess,omitempty" doc:"see the value in hook.value, and replace it by what they return"`
	OnError   []string `json:"onError,omitempty" doc:"see the error in hook.error; what they return is the value instead"`
	Suffix    []string `json:"suffix,omitempty" doc:"run after all, whatever the outcome is"`
}

// Frame is one thing that happened in a run. Arguments of tools are in none.
type Frame struct {
	// Type is start, hook, log, emit, stdout, stderr, call, progress, artifact, result,
	// error or end; behind that artifact.chunk and artifact.end, if they are wanted.
	Type  string `json:"type"`
	RunID string `json:"runId,omitempty"` // start
	Phase string `json:"phase,omitempty"` // hook

	Level string `json:"level,omitempty"` // log
	Text  string `json:"text,omitempty"`  // log, stdout, stderr

	Value json.RawMessage `json:"value,omitempty"` // emit, result; hook, if it changed
	// Implied says that the value of a result is that of the last expression.
	Implied bool `json:"implied,omitempty"`
	// Original and OriginalError are what a hook has replaced.
	Original      json.RawMessage `json:"original,omitempty"`
	OriginalError *fault.Report   `json:"originalError,omitempty"`

	Server      string `json:"server,omitempty"` // call
	Tool        string `json:"tool,omitempty"`
	ArgsHash    string `json:"argsHash,omitempty"` // sha256 of the arguments as they were given
	OK          *bool  `json:"ok,omitempty"`
	Destructive *bool  `json:"destructiveHint,omitempty"`

	Done    *float64 `json:"done,omitempty"` // progress
	Total   *float64 `json:"total,omitempty"`
	Message string   `json:"message,omitempty"`

	*Artifact      // artifact; of artifact.chunk and artifact.end id, size and data alone
	Seq       *int `json:"seq,omitempty"` // artifact.chunk

	Error    *fault.Report `json:"error,omitempty"` // error, and a call or hook that failed
	Notes    []string      `json:"notes,omitempty"` // result
	ExitCode *int          `json:"exitCode,omitempty"`
	Millis   *int64        `json:"durationMs,omitempty"`
}

// Log is what a script has logged.
type Log struct {
	Level string `json:"level"` // debug, info, warn, error
	Text  string `json:"text"`
}

// ToolCall is a call that a script has made.
type ToolCall struct {
	Server      string        `json:"server"`
	Tool        string        `json:"tool"`
	ArgsHash    string        `json:"argsHash"`
	Millis      int64         `json:"durationMs"`
	OK          bool          `json:"ok"`
	Error       *fault.Report `json:"error,omitempty"`
	Destructive *bool         `json:"destructiveHint,omitempty"`
}

// framed is an input that can be told of as it is worked on.
type framed interface{ frames() *func(Frame) error }

func (in *ExecInput) frames() *func(Frame) error { return &in.Frames }
func (in *ExecInput) consent() *Consent          { return &in.Consent }

// framesHeader says that a request is that of a Remote, which is told and asked as in any
// other operation, and hears of frames besides.
const framesHeader = "X-Mcpx-Frames"

const lineType = "application/x-ndjson"

// runs declares the operation that runs scripts: besides what every operation can, it
// answers with frames, or with text.
func runs(o *Op[ExecInput, ExecOutput]) *Op[ExecInput, ExecOutput] {
	plain := o.mount
	o.mount = func(h *handler) http.HandlerFunc {
		usual := plain(h)
		return func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get(framesHeader) != "" {
				usual(w, r)
				return
			}
			h.exec(w, r)
		}
	}
	return o
}

// exec answers a request to run a script in one of the three forms of output.
func (h *handler) exec(w http.ResponseWriter, r *http.Request) {
	in, err := read[ExecInput](h, w, r, true)
	if err != nil {
		refuse(w, err)
		return
	}
	s, err := h.service(w, r)
	if err != nil {
		refuse(w, err)
		return
	}
	accept := r.Header.Get("Accept")
	if in.Output == "" && (strings.Contains(accept, eventsType) || strings.Contains(accept, lineType)) {
		in.Output = OutputStream
	}
	switch in.Output {
	case OutputStream:
		lines := strings.Contains(accept, lineType)
		f := &frameWriter{w: w, lines: lines}
		h.telling(w, r, s, in, f)
	case OutputText:
		h.telling(w, r, s, in, &textWriter{w: w})
	default:
		out, err := s.Exec(r.Context(), in)
		if err != nil {
			refuse(w, err)
			return
		}
		answer(w, out)
	}
}

// teller writes what happens.
type teller interface {
	tell(f Frame) error
	beat() error
	begun() bool
	end(out *ExecOutput)
}

// telling runs a script whose caller is told as it goes. A caller that goes away ends it.
func (h *handler) telling(w http.ResponseWriter, r *http.Request, s Service, in ExecInput, t teller) {
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	var mu sync.Mutex
	in.Frames = func(f Frame) error {
		mu.Lock()
		defer mu.Unlock()
		if err := t.tell(f); err != nil {
			cancel()
			return err
		}
		return nil
	}
	stop := make(chan struct{})
	var beating sync.WaitGroup
	beating.Go(func() {
		tick := time.NewTicker(h.ping())
		defer tick.Stop()
		for {
			select {
			case <-stop:
				return
			case <-tick.C:
				mu.Lock()
				if t.begun() && t.beat() != nil {
					cancel()
				}
				mu.Unlock()
			}
		}
	})
	out, err := s.Exec(ctx, in)
	close(stop)
	beating.Wait()
	mu.Lock()
	defer mu.Unlock()
	if err != nil {
		if !t.begun() {
			refuse(w, err)
			return
		}
		code, millis := fault.KindOf(err).ExitCode(), int64(0)
		_ = t.tell(Frame{Type: "error", Error: fault.ReportOf(err)})
		_ = t.tell(Frame{Type: "end", ExitCode: &code, Millis: &millis})
		return
	}
	t.end(out)
}

// frameWriter writes frames as server-sent events, or as lines of JSON.
type frameWriter struct {
	w     http.ResponseWriter
	lines bool
	out   *stream
}

func (f *frameWriter) begun() bool { return f.out != nil }

func (f *frameWriter) tell(frame Frame) error {
	if f.out == nil {
		if f.lines {
			f.w.Header().Set("Content-Type", lineType)
			f.w.Header().Set("Cache-Control", "no-store")
			f.w.WriteHeader(http.StatusOK)
			f.out = &stream{f.w, http.NewResponseController(f.w)}
		} else {
			f.out = newStream(f.w)
		}
	}
	if !f.lines {
		return f.out.send(event{kind: frame.Type, data: frame})
	}
	line, err := encode(frame)
	if err != nil {
		return err
	}
	return f.out.write(append(line, '\n'))
}

// beat says that the stream is there. A blank line is no line of JSON, and readers of
// such lines pass over it.
func (f *frameWriter) beat() error {
	if f.lines {
		return f.out.write([]byte("\n"))
	}
	return f.out.beat()
}

func (f *frameWriter) end(*ExecOutput) {
	if f.out != nil {
		f.out.end()
	}
}

// textWriter writes what a script prints, as it comes, and its value after it. How it ended
// stands behind the text, in the trailers X-Mcpx-Exit-Code and X-Mcpx-Error.
type textWriter struct {
	w   http.ResponseWriter
	out *stream
}

const (
	exitTrailer  = "X-Mcpx-Exit-Code"
	errorTrailer = "X-Mcpx-Error"
)

func (t *textWriter) begun() bool { return t.out != nil }
func (t *textWriter) beat() error { return nil } // there is nothing to say in text

func (t *textWriter) begin() {
	if t.out == nil {
		t.w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		t.w.Header().Set("Cache-Control", "no-store")
		t.w.Header().Set("X-Content-Type-Options", "nosniff")
		t.w.Header().Set("Trailer", exitTrailer+", "+errorTrailer)
		t.w.WriteHeader(http.StatusOK)
		t.out = &stream{t.w, http.NewResponseController(t.w)}
	}
}

func (t *textWriter) tell(f Frame) error {
	switch f.Type {
	case "start":
		t.begin()
		return t.out.control.Flush()
	case "stdout":
		t.begin()
		return t.out.write([]byte(f.Text))
	case "emit":
		t.begin()
		return t.out.write(append(bytes.Clone(f.Value), '\n'))
	case "error":
		if f.Error != nil {
			// A header is one line of printable characters.
			text, err := json.Marshal(f.Error.Message)
			if err == nil {
				t.w.Header().Set(errorTrailer, strconv.QuoteToASCII(string(text[1:len(text)-1])))
			}
		}
	case "end":
		if f.ExitCode != nil {
			t.w.Header().Set(exitTrailer, strconv.Itoa(*f.ExitCode))
		}
	}
	return nil
}

func (t *textWriter) end(out *ExecOutput) {
	t.begin()
	if out.Value != nil && out.Error == nil && (!out.Implied || !out.Printed) {
		var s string
		if json.Unmarshal(out.Value, &s) != nil {
			s = string(out.Value)
		}
		if _, err := io.WriteString(t.w, s+"\n"); err != nil {
			return // whoever asked may have gone
		}
	}
	t.out.end()
}

// frame tells of a frame, and waits for a reader that is slow.
func (k *talk) frame(ctx context.Context, f Frame) error {
	select {
	case k.events <- event{kind: "frame", data: f}:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
