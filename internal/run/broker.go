package run

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"mcpx/internal/api"
	"mcpx/internal/fault"
	"mcpx/internal/frame"
	"mcpx/internal/grant"
	"mcpx/internal/jsontext"
	"mcpx/internal/sandbox"
	"mcpx/internal/worker"
)

const (
	// stopGrace is what a script has, between being interrupted and being killed.
	stopGrace = 150 * time.Millisecond
	// endGrace is what a write or call has, between the end of a run that was ended and
	// being left to itself.
	endGrace = time.Second
	// The requests without an answer may hold so many bodies of the largest size together,
	// or so many bytes if that is more.
	maxHeld      = 4
	maxHeldBytes = 64 << 20
)

// broker answers one worker.
//
// One goroutine reads what the worker sends and never waits: output goes to a queue
// with a goroutine of its own, every other request to a goroutine of its own, and the
// number of both is bounded by what the worker was told there is room for.
type broker struct {
	worker  peer
	conn    *frame.Conn
	caller  Caller
	peer    api.Peer    // of the calls; nil if nobody can be told or asked
	script  *respondent // answers what is asked, if the script has said so
	consent api.Consent // to the calls; nil if nobody can be asked
	warned  warnings
	tell    *telling // of what happens
	spaces  []string // the namespaces that there are; nil is all
	catalog Tools
	build   string
	budget  budget
	limit   worker.Run // inFlight and maxBody
	log     *slog.Logger

	calls atomic.Int64 // tool calls
	open  [worker.Classes]atomic.Int64
	held  atomic.Int64   // bytes of the requests without an answer
	room  int64          // how many they may be
	owned sync.WaitGroup // every goroutine but the reader
	out   *output
	in    *input
	*effects

	stop    context.CancelCauseFunc // ends the run
	level   sandbox.Level           // of the worker, once it is ready
	memory  uint64                  // that the system's own limits leave the worker; 0 if they bound none
	printed int64                   // bytes of output, counted by the reader
	spent   atomic.Bool             // the script asked for more tool calls than it has
	heard   bool                    // the worker has sent something of its script; the reader's
	crashed bool                    // the worker has died of a fault of its own

	mu     sync.Mutex
	cancel map[uint32]context.CancelFunc // of requests without an answer
}

// peer is a worker as its broker sees it. Read and Write are the socket.
type peer interface {
	io.ReadWriter
	Kill()                             // ends it at once; reads and writes end too
	Done() <-chan struct{}             // closed at its end
	Ended() (*os.ProcessState, string) // waits for its end; what it wrote besides frames
}

var _ peer = (*sandbox.Child)(nil)

func newBroker(w peer, caller Caller, tools Tools, limit worker.Run, streams api.Streams) *broker {
	return &broker{
		worker: w,
		// A value of the largest size still has a report beside it.
		conn:    frame.NewConn(w, limit.MaxBody+frame.MaxHead),
		caller:  caller,
		catalog: tools,
		limit:   limit,
		room:    max(maxHeld*limit.MaxBody, maxHeldBytes),
		log:     slog.New(slog.DiscardHandler),
		out:     newOutput(streams, limit.MaxBody),
		in:      newInput(streams.Stdin),
		effects: newEffects(grant.Set{}, nil, nil),
		script:  newRespondent(),
		cancel:  map[uint32]context.CancelFunc{},
	}
}

// run gives the worker its script and returns when the run is over and everything that
// belongs to it has ended.
func (b *broker) run(ctx context.Context, head worker.Run, code string) (*api.ExecOutput, error) {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	b.stop = stop
	requests, dismiss := context.WithCancel(ctx)
	defer dismiss()

	b.owned.Go(func() { b.out.serve(ctx, b, stop) })
	final := make(chan last, 1)
	go func() { final <- b.read(requests, stop, head, code) }()

	var l last
	ended := ctx.Done()
	var kill <-chan time.Time
	for reading := true; reading; {
		select {
		case l = <-final:
			reading = false
		case <-ended:
			ended = nil
			b.owned.Go(func() { b.interrupt(context.Cause(ctx)) })
			kill = time.After(stopGrace)
		case <-kill:
			b.worker.Kill()
		}
	}
	if l.frame.Type == 0 {
		b.linger()
	}
	b.worker.Kill()
	dismiss()
	b.out.close()
	b.settle(ctx)
	b.effects.close()
	return b.result(ctx, l)
}

// linger lets a worker that has closed its socket die its own death, which says why.
func (b *broker) linger() {
	t := time.NewTimer(stopGrace)
	defer t.Stop()
	select {
	case <-b.worker.Done():
	case <-t.C:
	}
}

// settle waits for what the run has started: for output until it is written or the run
// is ended, and then for a moment.
func (b *broker) settle(ctx context.Context) {
	settled := make(chan struct{})
	go func() {
		b.owned.Wait()
		close(settled)
	}()
	select {
	case <-settled:
		return
	case <-ctx.Done():
	}
	t := time.NewTimer(endGrace)
	defer t.Stop()
	select {
	case <-settled:
	case <-t.C:
		b.log.LogAttrs(ctx, slog.LevelWarn, "run.abandoned")
	}
}

// interrupt tells the worker that the script must end.
func (b *broker) interrupt(why error) {
	var e *fault.Error
	if !errors.As(why, &e) {
		e = fault.New(fault.Script, "interrupted")
	}
	body, err := json.Marshal(e)
	if err == nil {
		_ = b.conn.Send(frame.Frame{Type: frame.Interrupt, Body: body}) // a worker that is gone needs no telling
	}
}

// last is the end of what a worker sent: an End or Fail frame, or the reason why there
// is none.
type last struct {
	frame frame.Frame
	err   error
}

// read reads all that the worker sends.
func (b *broker) read(ctx context.Context, stop context.CancelCauseFunc, head worker.Run, code string) last {
	if err := b.greet(ctx, head, code); err != nil {
		return last{err: err}
	}
	for {
		f, err := b.conn.Receive()
		if err == nil {
			if f.Type == frame.End || f.Type == frame.Fail {
				return last{frame: f}
			}
			b.heard = true
			err = b.receive(ctx, f)
		}
		if err != nil {
			if errors.Is(err, frame.ErrMalformed) || errors.Is(err, frame.ErrTooLarge) || errors.Is(err, errHostile) {
				stop(broken(err))
			}
			return last{err: err}
		}
	}
}

// greet waits for the worker to be ready and gives it its script.
func (b *broker) greet(ctx context.Context, head worker.Run, code string) error {
	f, err := b.conn.Receive()
	if err != nil {
		return fmt.Errorf("waiting for the worker: %w", err)
	}
	var ready worker.Ready
	if err := json.Unmarshal(f.Head, &ready); err != nil || f.Type != frame.Ready {
		return errStranger
	}
	if ready.Build != b.build {
		return &mismatch{want: b.build, got: ready.Build}
	}
	b.level, b.memory = ready.Level, ready.Room
	b.log.LogAttrs(ctx, slog.LevelDebug, "worker.ready", slog.String("sandbox", string(ready.Level)))
	if ready.Missing != "" {
		b.log.LogAttrs(ctx, slog.LevelWarn, "worker.sandbox", slog.String("level", string(ready.Level)), slog.String("missing", ready.Missing))
	}
	text, err := json.Marshal(head)
	if err != nil {
		return fmt.Errorf("encoding the run: %w", err)
	}
	// Not here: this goroutine reads, and the worker may not.
	b.owned.Go(func() {
		_ = b.conn.Send(frame.Frame{Type: frame.Run, Head: text, Body: []byte(code)}) // else the reader sees the end
	})
	return nil
}

// errHostile is for what an honest worker never sends.
var errHostile = errors.New("not an honest worker")

func (b *broker) receive(ctx context.Context, f frame.Frame) error {
	switch f.Type {
	case frame.Stdout, frame.Stderr:
		if len(f.Body) > worker.MaxOutput {
			return fmt.Errorf("%w: %d bytes of output at once", errHostile, len(f.Body))
		}
		if err := b.admit(worker.Output); err != nil {
			return err
		}
		b.out.put(item{id: f.ID, stream: f.Type, text: f.Body[:b.charge(len(f.Body))]})
	case frame.Call:
		var c worker.Call
		if err := json.Unmarshal(f.Head, &c); err != nil {
			return fmt.Errorf("%w: a request that cannot be read: %w", errHostile, err)
		}
		class := worker.ClassOf(c.Op)
		if class == worker.Pending && (len(f.Body) > 0 || len(f.Head) > worker.MaxPending) {
			return fmt.Errorf("%w: %d bytes with a request that waits", errHostile, len(f.Head)+len(f.Body))
		}
		if class == worker.Catalog && len(f.Body) > 0 {
			return fmt.Errorf("%w: %d bytes with a question", errHostile, len(f.Body))
		}
		if err := b.admit(class); err != nil {
			return err
		}
		if class == worker.Output {
			i, err := b.out.item(f.ID, c, f.Body)
			if err != nil {
				return err
			}
			if n := max(len(f.Body), len(i.text)); b.charge(n) < n {
				i.text, i.err = nil, b.budget.exceeded(limitOutput)
			}
			b.out.put(i)
			return nil
		}
		return b.start(ctx, f.ID, class, c, f.Body)
	case frame.Cancel:
		b.mu.Lock()
		cancel := b.cancel[f.ID]
		b.mu.Unlock()
		if cancel != nil {
			cancel()
		}
	default:
		return fmt.Errorf("%w: a frame %s at the wrong time", errHostile, f.Type)
	}
	return nil
}

// admit counts a request of a class.
func (b *broker) admit(c worker.Class) error {
	if n, room := b.open[c].Add(1), c.Room(b.limit.InFlight); n > int64(room) {
		return fmt.Errorf("%w: more than %d requests of one class at a time", errHostile, room)
	}
	return nil
}

// start answers a request on a goroutine of its own.
func (b *broker) start(ctx context.Context, id uint32, class worker.Class, c worker.Call, body []byte) error {
	ctx, cancel := context.WithCancel(ctx)
	b.mu.Lock()
	_, taken := b.cancel[id]
	if !taken {
		b.cancel[id] = cancel
	}
	b.mu.Unlock()
	if taken {
		cancel()
		return fmt.Errorf("%w: request %d twice", errHostile, id)
	}
	size := int64(len(body))
	crowded := b.held.Add(size) > b.room && size > 0
	if crowded {
		b.held.Add(-size)
		size, body = 0, nil
	}
	b.owned.Go(func() {
		defer cancel() // which says that the answer is out
		defer b.held.Add(-size)
		var head []byte
		var err error
		if crowded {
			err = b.tooMuch()
		} else {
			head, body, err = b.answer(ctx, c, body)
		}
		err = b.explain(err)
		if d, ok := b.denials.note(err); ok {
			b.log.LogAttrs(ctx, slog.LevelInfo, "run.denied", slog.String("grant", d.Grant), slog.String("thing", d.Thing))
		}
		b.mu.Lock()
		delete(b.cancel, id)
		b.mu.Unlock()
		b.reply(id, class, head, body, err)
	})
	return nil
}

// tooMuch refuses a request that would make this process hold more than it has room for.
func (b *broker) tooMuch() error {
	return fault.Limitf("what is under way holds nearly %d bytes already, and no more are taken at a time", b.room).
		Hintf("wait for some of it before you send more")
}

// reply answers a request, and so frees its place in its class.
func (b *broker) reply(id uint32, class worker.Class, head, body []byte, err error) {
	f := frame.Frame{Type: frame.Answer, ID: id, Head: head, Body: body}
	switch {
	case err != nil:
	case int64(len(body)) > b.limit.MaxBody:
		err = b.tooLarge(body)
	case len(head) > frame.MaxHead:
		err = fault.Limitf("the answer has a list of %d bytes, %d are allowed", len(head), frame.MaxHead).
			Hintf("ask for less")
	}
	if err != nil {
		f = frame.Frame{Type: frame.Refusal, ID: id, Body: refusal(err)}
	}
	b.open[class].Add(-1) // before the answer is out: the next request may follow at once
	_ = b.conn.Send(f)    // a worker that is gone needs no answer
}

// tooLarge refuses an answer that is larger than a script is given.
func (b *broker) tooLarge(answer []byte) error {
	return fault.Limitf("the answer has %d bytes, %d are allowed", len(answer), b.limit.MaxBody).
		Hintf("ask for less, or raise limits.result").With("mayHaveRun", true)
}

// refusal encodes an error for the script.
func refusal(err error) []byte {
	e := fault.From(err)
	body, encodeErr := json.Marshal(e)
	if encodeErr != nil || len(body) > frame.MaxHead {
		// A detail that is no JSON, or no detail any more.
		body, encodeErr = json.Marshal(&fault.Error{Kind: e.Kind, Message: e.Message, Hint: e.Hint})
	}
	if encodeErr != nil {
		return []byte(`{"kind":"internal","message":"an error that cannot be encoded"}`)
	}
	return body
}

// answer does what a script asks.
func (b *broker) answer(ctx context.Context, c worker.Call, body []byte) (head, answer []byte, err error) {
	switch c.Op {
	case "tool":
		return b.tool(ctx, c.Head, body)
	case "tools":
		return b.list(ctx, c.Head)
	case "search":
		return b.search(ctx, c.Head)
	case "describe":
		return b.describe(ctx, c.Head)
	case "input":
		return b.input(ctx, c.Head)
	case "stdin":
		return b.stdin(ctx, c.Head)
	case "artifact":
		answer, err := b.keep(ctx, c.Head, body)
		return answer, nil, err
	case "env":
		answer, err := b.variables(c.Head)
		return answer, nil, err
	}
	if head, text, ok, err := b.script.do(ctx, c.Op, c.Head, body); ok {
		return head, text, err
	}
	if head, body, ok, err := b.effects.do(ctx, c.Op, c.Head, body); ok {
		return head, body, err
	}
	return nil, nil, fault.Internalf("the host knows no request %q", c.Op)
}

func decode(head json.RawMessage, into any) error {
	if err := json.Unmarshal(head, into); err != nil {
		return fault.Internalf("reading a request of the script: %w", err)
	}
	return nil
}

func (b *broker) tool(ctx context.Context, head json.RawMessage, args []byte) (answer, result []byte, err error) {
	var in struct {
		Namespace string `json:"ns"`
		Name      string `json:"name"`
	}
	if err := decode(head, &in); err != nil {
		return nil, nil, err
	}
	// The bytes go on as they are; what is no JSON text could become another message.
	if len(args) > 0 && !jsontext.Valid(args) {
		return nil, nil, fault.Internalf("the arguments of %s.%s are not JSON", in.Namespace, in.Name)
	}
	if n := b.calls.Add(1); b.budget.calls > 0 && n > int64(b.budget.calls) {
		return nil, nil, b.overspent()
	}
	if b.spaces != nil && !slices.Contains(b.spaces, in.Namespace) {
		return nil, nil, fault.NotFoundf("there is no namespace %q in this run", in.Namespace).Hintf("it was given %s", strings.Join(b.spaces, ", "))
	}
	begin, end := time.Now(), b.script.begin(in.Namespace, in.Name)
	defer end()
	out, err := b.caller.Call(ctx, api.CallInput{Server: in.Namespace, Tool: in.Name, Arguments: args, Grant: b.toolGrant(), Peer: b.reachable(), Consent: b.consent, Bare: true})
	b.told(ctx, in.Namespace, in.Name, args, time.Since(begin), out, err)
	if err != nil {
		return nil, nil, b.suggest(err)
	}
	b.warned.add(out.Warnings)
	return notes(out), out.Result, nil
}

// notes is what mcpx itself has to say of an answer; nil if nothing.
func notes(out *api.CallOutput) []byte {
	if len(out.Diagnostics) == 0 {
		return nil
	}
	head, err := json.Marshal(struct {
		Diagnostics []string `json:"diagnostics"`
	}{out.Diagnostics})
	if err != nil {
		return nil // strings can be encoded
	}
	return head
}

func (b *broker) list(ctx context.Context, head json.RawMessage) (answer, _ []byte, err error) {
	var in struct {
		Namespace string `json:"ns"`
	}
	if err := decode(head, &in); err != nil {
		return nil, nil, err
	}
	if b.spaces != nil && !slices.Contains(b.spaces, in.Namespace) {
		return nil, nil, fault.NotFoundf("there is no namespace %q in this run", in.Namespace)
	}
	if !b.effects.tools.Touches(in.Namespace) { // a server is not started for a script that may not call it
		return nil, nil, grant.Denied(grant.Tool, in.Namespace)
	}
	out, err := b.catalog.Tools(ctx, api.ToolsInput{Namespace: in.Namespace})
	if err != nil {
		return nil, nil, err
	}
	type tool struct {
		Name    string   `json:"name"`
		Aliases []string `json:"aliases,omitempty"`
	}
	list := struct {
		Tools []tool `json:"tools"`
	}{Tools: []tool{}}
	for _, t := range out.Tools {
		list.Tools = append(list.Tools, tool{t.Name, t.Aliases})
	}
	answer, err = json.Marshal(list)
	return answer, nil, err
}

func (b *broker) search(ctx context.Context, head json.RawMessage) (_, results []byte, err error) {
	var in struct {
		Words     string  `json:"words"`
		Namespace string  `json:"ns"`
		Limit     float64 `json:"limit"`
	}
	if err := decode(head, &in); err != nil {
		return nil, nil, err
	}
	if b.set.Tools.None() {
		return nil, nil, grant.Denied(grant.Tool, "")
	}
	out, err := b.catalog.Search(ctx, api.SearchInput{Words: in.Words, Namespace: in.Namespace, Limit: int(in.Limit), Grant: b.toolGrant()})
	if err != nil {
		return nil, nil, err
	}
	found := []api.SearchResult{}
	for _, f := range out.Results {
		if b.spaces == nil || slices.Contains(b.spaces, f.Namespace) {
			found = append(found, f)
		}
	}
	results, err = json.Marshal(found)
	return nil, results, err
}

// describable reports whether a script may see the declaration of NS or NS.TOOL: the
// server may have to be started for it.
func (b *broker) describable(name string) bool {
	return b.set.Tools.All() && b.spaces == nil || slices.ContainsFunc(b.limit.Namespaces, func(ns string) bool {
		return (name == ns || strings.HasPrefix(name, ns+".")) && b.effects.tools.Touches(ns)
	})
}

func (b *broker) describe(ctx context.Context, head json.RawMessage) (_, text []byte, err error) {
	var in struct {
		Name string `json:"name"`
	}
	if err := decode(head, &in); err != nil {
		return nil, nil, err
	}
	if !b.describable(in.Name) {
		return nil, nil, grant.Denied(grant.Tool, in.Name)
	}
	out, err := b.catalog.Types(ctx, api.TypesInput{Name: in.Name, Brief: true})
	if err != nil {
		return nil, nil, err
	}
	return nil, []byte(out.Declarations), nil
}
