package run

import (
	"context"
	"encoding/json"
	"strings"
	"sync"

	"mcpx/internal/api"
	"mcpx/internal/fault"
	"mcpx/internal/grant"
)

// effects does what a script asks of the machine, as far as its grants go. The zero
// effects grant nothing.
type effects struct {
	set     grant.Set
	tools   *grant.Tools
	env     *grant.Env
	environ []string // the caller's, as of os.Environ
	kinds   map[string]*effect
	last    func() // closes what several kinds share, after them; may be nil
	denials denials
	kept    kept
	closing sync.Once
}

// effect is one kind of effect, made when a script first asks for it.
type effect struct {
	once sync.Once
	make func() (doer, error)
	doer doer
	err  error
}

// doer answers requests of one kind. What a script leaves open ends with Close.
type doer interface {
	Call(ctx context.Context, op string, head json.RawMessage, body []byte) (answer, answerBody []byte, err error)
	Close()
}

// newEffects makes the effects of a run. namespaces are the configured servers.
func newEffects(set grant.Set, namespaces, environ []string) *effects {
	return &effects{
		set: set, environ: environ,
		tools: grant.OpenTools(set.Tools, namespaces),
		env:   grant.OpenEnv(set.Env),
		kinds: map[string]*effect{},
		kept:  kept{turn: make(chan struct{}, 1)},
	}
}

// offer says how a kind of effect is made; op is the part of an operation's name before
// the dot.
func (e *effects) offer(op string, make func() (doer, error)) { e.kinds[op] = &effect{make: make} }

// do answers a request of a kind that was offered. ok is false for any other.
func (e *effects) do(ctx context.Context, op string, head json.RawMessage, body []byte) (answer, answerBody []byte, ok bool, err error) {
	kind, _, dotted := strings.Cut(op, ".")
	f := e.kinds[kind]
	if !dotted || f == nil {
		return nil, nil, false, nil
	}
	f.once.Do(func() { f.doer, f.err = f.make() })
	if f.err != nil {
		return nil, nil, true, f.err
	}
	answer, answerBody, err = f.doer.Call(ctx, op, head, body)
	return answer, answerBody, true, err
}

// close ends what the script left open. Nothing may be asked any more. It may be called
// again.
func (e *effects) close() { e.closing.Do(e.end) }

func (e *effects) end() {
	for _, f := range e.kinds {
		f.once.Do(func() { f.err = fault.New(fault.Script, "the run is over") })
		if f.doer != nil {
			f.doer.Close()
		}
	}
	if e.last != nil {
		e.last()
	}
}

// toolGrant is what a tool call of the run may name; nil if that is everything.
func (e *effects) toolGrant() *api.ToolGrant {
	if e.set.Tools.All() {
		return nil
	}
	return &api.ToolGrant{Allow: e.set.Tools.Allow, Deny: e.set.Tools.Deny}
}

// variables answers with the environment that is granted, or says whether one variable
// is: a script is told that what it looked for and did not find is not granted to it,
// whether the caller has it or not.
func (e *effects) variables(head json.RawMessage) ([]byte, error) {
	var in struct {
		Name string `json:"name"`
	}
	if err := decode(head, &in); err != nil {
		return nil, err
	}
	if in.Name != "" {
		if !e.env.Allows(in.Name) {
			return nil, grant.Denied(grant.Variable, in.Name)
		}
		return []byte(`{}`), nil
	}
	answer, err := json.Marshal(struct {
		Env map[string]string `json:"env"`
		All bool              `json:"all"`
	}{e.env.Granted(e.environ), e.env.All()})
	if err != nil {
		return nil, fault.Internalf("encoding the environment: %w", err)
	}
	return answer, nil
}
