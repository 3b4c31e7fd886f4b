package childprocess

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"github.com/dop251/goja"

	"mcpx/engine"
	"mcpx/internal/fault"
	"mcpx/stdlib/internal/native"
	"mcpx/stdlib/internal/source"
)

// chunkSize is how much of an output is asked for at a time.
const chunkSize = 64 << 10

type startHead struct {
	File    string            `json:"file"`
	Args    []string          `json:"args"`
	Argv0   string            `json:"argv0"`
	Cwd     string            `json:"cwd,omitempty"`
	Env     map[string]string `json:"env"`
	Inherit bool              `json:"inherit"`
	Stdin   bool              `json:"stdin"`
	Stdout  bool              `json:"stdout"`
	Stderr  bool              `json:"stderr"`
}

type started struct {
	ID  int64 `json:"id"`
	PID int64 `json:"pid"`
}

type writeHead struct {
	ID  int64 `json:"id"`
	End bool  `json:"end"`
}

type readHead struct {
	ID     int64 `json:"id"`
	Stream int   `json:"stream"`
	Max    int   `json:"max"`
}

type idHead struct {
	ID int64 `json:"id"`
}

type killHead struct {
	ID     int64  `json:"id"`
	Signal string `json:"signal"`
}

// exit is how a program ended.
type exit struct {
	Code   *int64 `json:"code"`
	Signal string `json:"signal"`
}

// chunk is a part of an output, or of standard input.
type chunk struct {
	stream int
	bytes  []byte
	end    bool
	err    error
}

// host asks the host. Any goroutine may call its methods.
type host struct{ engine.Host }

func (m *module) host() host { return host{m.rt.Host()} }

func (h host) ask(ctx context.Context, op string, head any, body []byte, into any) ([]byte, error) {
	if h.Host == nil {
		return nil, fault.Unavailablef("there is no host to ask")
	}
	answer, out, err := h.Call(ctx, op, head, body)
	if err != nil || into == nil {
		return out, err
	}
	return out, decode(op, answer, into)
}

func (h host) write(ctx context.Context, id int64, b []byte, end bool) error {
	_, err := h.ask(ctx, "run.write", writeHead{id, end}, b, nil)
	return err
}

func (h host) read(ctx context.Context, id int64, stream int) chunk {
	var head struct {
		End bool `json:"end"`
	}
	b, err := h.ask(ctx, "run.read", readHead{id, stream, chunkSize}, nil, &head)
	return chunk{stream, b, head.End || len(b) == 0, err}
}

func (h host) wait(ctx context.Context, id int64) (exit, error) {
	var e exit
	_, err := h.ask(ctx, "run.wait", idHead{id}, nil, &e)
	return e, err
}

func (h host) kill(ctx context.Context, id int64, signal string) (bool, error) {
	var head struct {
		Sent bool `json:"sent"`
	}
	_, err := h.ask(ctx, "run.kill", killHead{id, signal}, nil, &head)
	return head.Sent, err
}

func (h host) input(ctx context.Context) chunk {
	var head struct {
		End bool `json:"end"`
	}
	b, err := h.ask(ctx, "stdin", map[string]int{"max": chunkSize}, nil, &head)
	return chunk{0, b, head.End, err}
}

// startHead reads the argument that says what to start.
func (m *module) startHead(v goja.Value) startHead {
	var head startHead
	encoded, _ := engine.EncodeJSON(m.rt, v, engine.EncodeOptions{})
	if err := json.Unmarshal(encoded, &head); err != nil {
		panic(m.rt.NewError(fault.Internalf("reading what to start: %w", err)))
	}
	return head
}

// start(head) starts a program and returns its id and its pid.
func (m *module) start(call goja.FunctionCall) goja.Value {
	var s started
	if _, err := m.host().ask(m.rt.Context(), "run.start", m.startHead(call.Argument(0)), nil, &s); err != nil {
		panic(m.rt.NewError(err))
	}
	o := m.vm.NewObject()
	native.Must(o.Set("id", s.ID))
	native.Must(o.Set("pid", s.PID))
	return o
}

// write(id, bytes, end) returns a promise.
func (m *module) write(call goja.FunctionCall) goja.Value {
	id, end, h := call.Argument(0).ToInteger(), call.Argument(2).ToBoolean(), m.host()
	b, _ := m.octets.Bytes(call.Argument(1))
	b = slices.Clone(b)
	return engine.Background(m.rt, "run.write", func(ctx context.Context) (struct{}, error) {
		return struct{}{}, h.write(ctx, id, b, end)
	}, nil)
}

// read(id, stream) returns a promise of bytes, or of null at the end.
func (m *module) read(call goja.FunctionCall) goja.Value {
	id, stream, h := call.Argument(0).ToInteger(), int(call.Argument(1).ToInteger()), m.host()
	return engine.Background(m.rt, "run.read", func(ctx context.Context) (chunk, error) {
		c := h.read(ctx, id, stream)
		return c, c.err
	}, m.piece)
}

// input() is read of the run's standard input.
func (m *module) input(goja.FunctionCall) goja.Value {
	h := m.host()
	return engine.Background(m.rt, "stdin", func(ctx context.Context) (chunk, error) {
		c := h.input(ctx)
		return c, c.err
	}, m.piece)
}

// piece shows a chunk: a list of its bytes and of whether they were the last.
func (m *module) piece(c chunk) goja.Value {
	return m.vm.NewArray(m.octets.Buffer(c.bytes), c.end)
}

// wait(id) returns a promise of a list of code and signal, one of them null.
func (m *module) wait(call goja.FunctionCall) goja.Value {
	id, h := call.Argument(0).ToInteger(), m.host()
	return engine.Background(m.rt, "run.wait", func(ctx context.Context) (exit, error) { return h.wait(ctx, id) },
		func(e exit) goja.Value {
			code, signal := m.ended(e)
			return m.vm.NewArray(code, signal)
		})
}

func (m *module) ended(e exit) (code, signal goja.Value) {
	code, signal = goja.Null(), goja.Null()
	if e.Signal != "" {
		signal = m.vm.ToValue(e.Signal)
	} else if e.Code != nil {
		code = m.vm.ToValue(*e.Code)
	}
	return code, signal
}

// kill(id, signal) returns whether the signal was sent.
func (m *module) kill(call goja.FunctionCall) goja.Value {
	sent, err := m.host().kill(m.rt.Context(), call.Argument(0).ToInteger(), call.Argument(1).String())
	if err != nil {
		panic(m.rt.NewError(err))
	}
	return m.vm.ToValue(sent)
}

// milliseconds is an argument as a duration, at most a month.
func milliseconds(v goja.Value) time.Duration {
	const month = 31 * 24 * 60 * 60 * 1000
	return time.Duration(source.Integer(v, 0, month)) * time.Millisecond
}

// sync(head, input, how) runs a program to its end: input is bytes, true for that of the
// run, or undefined; how is {timeout, killSignal, maxBuffer, show}, where show lists the
// streams that go to the run's output. It returns {pid, code, signal, stdout, stderr,
// failed}, where failed is ETIMEDOUT or ENOBUFS if the program was killed for it.
func (m *module) sync(call goja.FunctionCall) goja.Value {
	head := m.startHead(call.Argument(0))
	how := call.Argument(2).ToObject(m.vm)
	s := &synchronous{
		module: m, host: m.host(), signal: how.Get("killSignal").String(),
		most: how.Get("maxBuffer").ToFloat(), show: map[int]int{},
	}
	for i, name := range []string{"showStdout", "showStderr"} {
		if v := how.Get(name); v != nil && !goja.IsUndefined(v) {
			s.show[i+1] = stream(v.ToInteger())
		}
	}
	if v := how.Get("timeout"); v != nil && goja.IsNumber(v) && v.ToFloat() > 0 {
		timer := time.NewTimer(milliseconds(v))
		defer timer.Stop()
		s.timeout = timer.C
	}
	input := call.Argument(1)
	var given []byte
	if b, ok := m.octets.Bytes(input); ok {
		given = slices.Clone(b)
	}
	end, err := s.run(head, given, input.StrictEquals(m.vm.ToValue(true)))
	if err != nil {
		panic(m.rt.NewError(err))
	}
	o := m.vm.NewObject()
	code, signal := m.ended(end)
	native.Must(o.Set("pid", s.pid))
	native.Must(o.Set("code", code))
	native.Must(o.Set("signal", signal))
	native.Must(o.Set("stdout", m.octets.Buffer(s.output[1])))
	native.Must(o.Set("stderr", m.octets.Buffer(s.output[2])))
	if s.failed != "" {
		native.Must(o.Set("failed", s.failed))
	}
	return o
}

// synchronous is one program that the script waits for.
type synchronous struct {
	*module
	host    host
	signal  string
	most    float64 // bytes of each output
	show    map[int]int
	timeout <-chan time.Time

	pid    int64
	output [3][]byte
	failed string
}

// run starts the program, feeds and reads it on goroutines that have ended when it
// returns, and shows what it writes as it comes.
func (s *synchronous) run(head startHead, given []byte, inherit bool) (exit, error) {
	ctx, cancel := context.WithCancel(s.rt.Context())
	defer cancel()
	var begun started
	if _, err := s.host.ask(ctx, "run.start", head, nil, &begun); err != nil {
		return exit{}, err
	}
	s.pid = begun.PID
	id := begun.ID

	feeding, stopFeeding := context.WithCancel(ctx)
	fed := make(chan struct{})
	go func() {
		defer close(fed)
		if head.Stdin {
			s.feed(feeding, id, given, inherit)
		}
	}()
	defer func() {
		stopFeeding()
		<-fed
	}()

	chunks := make(chan chunk)
	open := 0
	for stream, piped := range map[int]bool{1: head.Stdout, 2: head.Stderr} {
		if piped {
			open++
			go func() {
				for {
					c := s.host.read(ctx, id, stream)
					chunks <- c
					if c.end || c.err != nil {
						return
					}
				}
			}()
		}
	}
	type ending struct {
		exit
		err error
	}
	ended := make(chan ending, 1)
	go func() {
		e, err := s.host.wait(ctx, id)
		ended <- ending{e, err}
	}()

	var end ending
	for running := true; running || open > 0; {
		select {
		case c := <-chunks:
			s.take(c)
			if c.err != nil {
				end.err = errors.Join(end.err, c.err)
			}
			if c.end || c.err != nil {
				open--
			}
			if float64(len(s.output[c.stream])) > s.most {
				s.output[c.stream] = s.output[c.stream][:int(s.most)]
				s.stop(ctx, id, "ENOBUFS")
			}
		case e := <-ended:
			running = false
			end.exit, end.err = e.exit, errors.Join(end.err, e.err)
			stopFeeding()
		case <-s.timeout:
			s.timeout = nil
			s.stop(ctx, id, "ETIMEDOUT")
		}
	}
	return end.exit, end.err
}

// feed writes the program's input. A program that does not read it is no error.
func (s *synchronous) feed(ctx context.Context, id int64, given []byte, inherit bool) {
	for inherit {
		c := s.host.input(ctx)
		end := c.end || c.err != nil
		if err := s.host.write(ctx, id, c.bytes, end); err != nil || end {
			return
		}
	}
	const size = 1 << 20
	for {
		n := min(size, len(given))
		if err := s.host.write(ctx, id, given[:n], n == len(given)); err != nil || n == len(given) {
			return
		}
		given = given[n:]
	}
}

// take keeps or shows a part of the output.
func (s *synchronous) take(c chunk) {
	if to, ok := s.show[c.stream]; ok {
		s.rt.Write(to, c.bytes)
	} else if s.failed != "ENOBUFS" {
		s.output[c.stream] = append(s.output[c.stream], c.bytes...)
	}
}

// stop kills the program, once.
func (s *synchronous) stop(ctx context.Context, id int64, why string) {
	if s.failed == "" {
		s.failed = why
		_, _ = s.host.kill(ctx, id, s.signal) // it may have ended by itself
	}
}
