package run

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net"
	"os"
	"sync"
	"time"

	"mcpx/internal/api"
	"mcpx/internal/frame"
	"mcpx/internal/grant"
	"mcpx/internal/sandbox"
	"mcpx/internal/settings"
	"mcpx/internal/worker"
)

// stage is what surrounds a run in a test. Its tools answer with their arguments unless
// call says otherwise.
type stage struct {
	call    func(ctx context.Context, in api.CallInput) (*api.CallOutput, error)
	list    func(ctx context.Context) error
	streams api.Streams
	log     *slog.Logger
	set     *grant.Set // nil is the profile tools
	environ []string

	settings *settings.Set
	room     int64 // 0 is the broker's
}

func (s stage) granted() grant.Set {
	if s.set != nil {
		return *s.set
	}
	return grant.Set{Profile: "tools", Tools: grant.Words{Allow: []string{grant.Any}}, Stdin: true}
}

func (s stage) Call(ctx context.Context, in api.CallInput) (*api.CallOutput, error) {
	if s.call != nil {
		return s.call(ctx, in)
	}
	return &api.CallOutput{Result: in.Arguments}, nil
}

func (stage) Config(context.Context, api.ConfigInput) (*api.ConfigOutput, error) {
	return &api.ConfigOutput{Servers: []api.ConfigServer{{Name: "demo"}, {Name: "off", Disabled: true}}}, nil
}

func (s stage) Tools(ctx context.Context, in api.ToolsInput) (*api.ToolsOutput, error) {
	if s.list != nil {
		if err := s.list(ctx); err != nil {
			return nil, err
		}
	}
	return &api.ToolsOutput{Tools: []api.Tool{
		{Namespace: in.Namespace, Name: "echo"},
		{Namespace: in.Namespace, Name: "fancy-name", Aliases: []string{"fancy_name", "fancyName"}},
	}}, nil
}

func (stage) Types(_ context.Context, in api.TypesInput) (*api.TypesOutput, error) {
	return &api.TypesOutput{Declarations: "declare const " + in.Name}, nil
}

func (stage) Search(_ context.Context, in api.SearchInput) (*api.SearchOutput, error) {
	if in.Words == "nothing" {
		return &api.SearchOutput{}, nil
	}
	return &api.SearchOutput{Results: []api.SearchResult{{Name: fmt.Sprint(in.Words, " ", in.Namespace, " ", in.Limit)}}}, nil
}

// actor is a worker that does what a test says, over a pipe that holds nothing: a send
// waits until the broker reads it. It implements peer.
type actor struct {
	near, far net.Conn
	conn      *frame.Conn // its own end
	build     string
	words     string // what it wrote before it died
	killed    sync.Once
	done      chan struct{}
}

func newActor() *actor {
	a := &actor{done: make(chan struct{}), build: worker.Build()}
	a.near, a.far = net.Pipe()
	a.conn = frame.NewConn(a.far, 1<<30)
	return a
}

func (a *actor) Read(p []byte) (int, error)        { return a.near.Read(p) }
func (a *actor) Write(p []byte) (int, error)       { return a.near.Write(p) }
func (a *actor) Done() <-chan struct{}             { return a.done }
func (a *actor) Ended() (*os.ProcessState, string) { <-a.done; return nil, a.words }

func (a *actor) Kill() {
	a.killed.Do(func() {
		_ = a.far.Close()
		close(a.done)
	})
}

func (a *actor) send(t frame.Type, id uint32, head any, body string) error {
	b, err := json.Marshal(head)
	if err != nil {
		return err
	}
	return a.conn.Send(frame.Frame{Type: t, ID: id, Head: b, Body: []byte(body)})
}

func (a *actor) call(id uint32, op string, head any, body string) error {
	b, err := json.Marshal(head)
	if err != nil {
		return err
	}
	return a.send(frame.Call, id, worker.Call{Op: op, Head: b}, body)
}

// greet says that it is ready and takes the script.
func (a *actor) greet() error {
	if err := a.send(frame.Ready, 0, worker.Ready{Build: a.build, Level: sandbox.LevelNone}, ""); err != nil {
		return err
	}
	_, err := a.conn.Receive()
	return err
}

// end says that the script ended with the value 1.
func (a *actor) end() error { return a.send(frame.End, 0, worker.End{Value: 1}, "1") }

// inFlight is the room of a class under perform.
const inFlight = 4

// perform runs an actor under a broker. When act returns the actor is at its end: its
// pipe closes.
func (s stage) perform(ctx context.Context, act func(a *actor) error) (*api.ExecOutput, error) {
	return s.performAs(ctx, newActor(), act)
}

func (s stage) performAs(ctx context.Context, a *actor, act func(a *actor) error) (*api.ExecOutput, error) {
	limit := worker.Run{InFlight: inFlight, MaxBody: 1 << 20}
	b := newBroker(a, s, s, limit, s.streams)
	b.build = worker.Build()
	b.budget = budget{memory: 1 << 20, cpu: 2 * time.Second}
	b.effects = newEffects(s.granted(), nil, s.environ)
	if s.log != nil {
		b.log = s.log
	}
	if s.room > 0 {
		b.room = s.room
	}
	acted := make(chan struct{})
	go func() {
		defer close(acted)
		defer a.Kill()
		_ = act(a) // an error is the end of the pipe
	}()
	out, err := b.run(ctx, limit, "code")
	a.Kill()
	_ = a.near.Close()
	<-acted
	return out, err
}
