package record

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"mcpx/internal/api"
	"mcpx/internal/fault"
	"mcpx/internal/grant"
	"mcpx/internal/schema"
)

// Player answers from a recording. Each question is answered as often as it was asked when
// it was recorded, in that order; whichever questions come between. It may be used by
// several goroutines at once.
type Player struct {
	namespaces []string

	mu        sync.Mutex
	calls     []*entry
	questions []*entry
}

// entry is one line, ready to be found.
type entry struct {
	line
	arguments any    // decoded; an object
	key       string // the arguments or the input, as canonical JSON
	tool      string // the server's own name of the tool, as NS.TOOL; else as it was spelled
	output    *api.CallOutput
	used      bool
}

// Read reads a recording. The error's kind is usage, and it names the line.
func Read(text string) (*Player, error) {
	p := &Player{}
	number := 0
	for l := range strings.Lines(text) {
		number++
		if strings.TrimSpace(l) == "" {
			continue
		}
		e := &entry{}
		if err := json.Unmarshal([]byte(l), &e.line); err != nil {
			return nil, unreadable(number, notJSON(err))
		}
		first := p.namespaces == nil
		if err := p.add(e, first); err != nil {
			return nil, unreadable(number, err.Error())
		}
	}
	if p.namespaces == nil {
		return nil, unreadable(1, "there is nothing in it")
	}
	return p, nil
}

// notJSON says why a line is no entry.
func notJSON(err error) string {
	if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
		return fmt.Sprintf("it is no JSON from column %d on", max(syntax.Offset, 1))
	}
	return "its JSON is not what a recording has"
}

func unreadable(number int, why string) error {
	return fault.Usagef("the recording cannot be read: line %d: %s", number, why).
		Hintf("mcpx run --record FILE writes one")
}

func (p *Player) add(e *entry, first bool) (err error) {
	switch {
	case first && e.Op != opRecording:
		return fmt.Errorf("it does not say that this is a recording")
	case first && e.Version != version:
		return fmt.Errorf("the recording is of version %d, and this is version %d", e.Version, version)
	case first:
		p.namespaces = append([]string{}, e.Namespaces...)
		return nil
	}
	asked := e.Input
	if e.Op == opCall {
		asked = e.Arguments
	}
	if e.arguments, e.key, err = canonical(asked); err != nil {
		return err
	}
	if e.Output == nil && e.Error == nil && !e.Unfinished {
		return fmt.Errorf("it has neither an output nor an error")
	}
	switch e.Op {
	case opCall:
		e.tool = e.Server + "." + e.Tool
		if e.Output != nil {
			e.output = &api.CallOutput{}
			if err := json.Unmarshal(e.Output, e.output); err != nil {
				return err
			}
			e.tool = e.output.Server + "." + e.output.Tool
		}
		p.calls = append(p.calls, e)
	case opTools, opTypes, opSearch:
		p.questions = append(p.questions, e)
	default:
		return fmt.Errorf("it is about %q, and that is nothing that is recorded", e.Op)
	}
	return nil
}

// canonical decodes arguments and writes them with their keys in order. Numbers are
// compared as they are written. No arguments are an empty object.
func canonical(text json.RawMessage) (value any, key string, err error) {
	if len(text) == 0 {
		return map[string]any{}, "{}", nil
	}
	d := json.NewDecoder(strings.NewReader(string(text)))
	d.UseNumber()
	if err := d.Decode(&value); err != nil {
		return nil, "", err
	}
	b, err := json.Marshal(value)
	return value, string(b), err
}

// Unused counts the recorded calls that have not been made.
func (p *Player) Unused() (n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, e := range p.calls {
		if !e.used {
			n++
		}
	}
	return n
}

// Call implements Servers. A call that the recording does not hold is an error of kind
// not found that names the nearest one it holds, and where the arguments differ first. What
// the grant takes away is denied as it would be by a server; of a tool that was called it is
// taken that it may be where those that only read are granted.
func (p *Player) Call(ctx context.Context, in api.CallInput) (*api.CallOutput, error) {
	value, key, err := canonical(in.Arguments)
	if err != nil {
		return nil, fault.Usagef("the arguments of %s.%s cannot be read: %w", in.Server, in.Tool, err)
	}
	e, err := p.find(in, value, key)
	if err != nil {
		return nil, err
	}
	if in.Grant != nil {
		gate := grant.OpenTools(grant.Words{Allow: in.Grant.Allow, Deny: in.Grant.Deny}, p.namespaces)
		server, tool := e.Server, e.Tool
		if e.output != nil {
			server, tool = e.output.Server, e.output.Tool
		}
		if !gate.Allows(server, tool, true) {
			p.mu.Lock()
			e.used = false // it was not made
			p.mu.Unlock()
			return nil, grant.Denied(grant.Tool, in.Server+"."+in.Tool)
		}
	}
	switch {
	case e.Unfinished:
		<-ctx.Done() // as it was
		return nil, context.Cause(ctx)
	case e.Error != nil:
		return nil, e.Error
	}
	out := *e.output
	return &out, nil
}

func (p *Player) find(in api.CallInput, value any, key string) (*entry, error) {
	name := in.Server + "." + in.Tool
	p.mu.Lock()
	defer p.mu.Unlock()
	times := 0
	var alike []*entry // of the tool, with other arguments
	for _, e := range p.calls {
		switch {
		case e.tool != name && e.Server+"."+e.Tool != name:
		case e.key != key:
			alike = append(alike, e)
		case e.used:
			times++
		default:
			e.used = true
			return e, nil
		}
	}
	miss := func(format string, args ...any) *fault.Error {
		return fault.NotFoundf("the recording holds no such call: "+format, args...)
	}
	switch {
	case times > 0:
		return nil, miss("%s has these arguments %s in it, and this is one call more", name, counted(times)).
			With("server", in.Server).With("tool", in.Tool)
	case len(alike) > 0:
		best, least := alike[0], -1
		for _, e := range alike {
			if n := len(differences(e.arguments, value, "", maxDifferences)); least < 0 || n < least {
				best, least = e, n
			}
		}
		d := differences(best.arguments, value, "", 1)[0]
		return nil, miss("%s: the nearest has %s %s and this one %s", name, d.path, d.recorded, d.given).
			Hintf("record the run again, or give the arguments that it has").
			With("server", in.Server).With("tool", in.Tool).With("path", d.path)
	}
	var names []string
	for _, e := range p.calls {
		if !slices.Contains(names, e.tool) {
			names = append(names, e.tool)
		}
	}
	e := miss("%s was not called when it was made", name).With("server", in.Server).With("tool", in.Tool)
	if near := schema.Nearest(name, names, 1); len(near) > 0 {
		return nil, e.Hintf("the nearest that was is %s", near[0])
	}
	if len(names) == 0 {
		return nil, e.Hintf("no tool was")
	}
	return nil, e.Hintf("those that were are %s", strings.Join(names[:min(len(names), maxNames)], ", "))
}

const (
	maxNames       = 20   // how many tools a hint lists
	maxDifferences = 1000 // how many are counted
	maxShown       = 80   // bytes of a value in an error
)

func counted(n int) string {
	switch n {
	case 1:
		return "once"
	case 2:
		return "twice"
	}
	return strconv.Itoa(n) + " times"
}

// difference is a place where two values differ.
type difference struct{ path, recorded, given string }

// differences lists where two values differ, at most limit of them: members in the order of
// their names.
func differences(a, b any, path string, limit int) (found []difference) {
	switch x := a.(type) {
	case map[string]any:
		y, ok := b.(map[string]any)
		if !ok {
			break
		}
		keys := make([]string, 0, len(x)+len(y))
		for k := range x {
			keys = append(keys, k)
		}
		for k := range y {
			if _, both := x[k]; !both {
				keys = append(keys, k)
			}
		}
		slices.Sort(keys)
		for _, k := range keys {
			if len(found) >= limit {
				return found
			}
			va, inA := x[k]
			vb, inB := y[k]
			at := member(path, k)
			if !inA || !inB {
				found = append(found, difference{at, shown(va, inA), shown(vb, inB)})
				continue
			}
			found = append(found, differences(va, vb, at, limit-len(found))...)
		}
		return found
	case []any:
		y, ok := b.([]any)
		if !ok {
			break
		}
		for i := range max(len(x), len(y)) {
			if len(found) >= limit {
				return found
			}
			at := path + "[" + strconv.Itoa(i) + "]"
			if i >= len(x) || i >= len(y) {
				var va, vb any
				if i < len(x) {
					va = x[i]
				} else {
					vb = y[i]
				}
				found = append(found, difference{at, shown(va, i < len(x)), shown(vb, i < len(y))})
				continue
			}
			found = append(found, differences(x[i], y[i], at, limit-len(found))...)
		}
		return found
	default:
		if a == b {
			return nil
		}
	}
	if path == "" {
		path = "arguments"
	}
	return []difference{{path, shown(a, true), shown(b, true)}}
}

func member(path, key string) string {
	switch {
	case !schema.IsIdentifier(key):
		return path + "[" + strconv.Quote(key) + "]"
	case path == "":
		return key
	}
	return path + "." + key
}

// shown is a value for people.
func shown(v any, there bool) string {
	if !there {
		return "nothing"
	}
	text, err := plainJSON(v)
	if err != nil {
		return "a value"
	}
	if len(text) > maxShown {
		return strings.ToValidUTF8(string(text[:maxShown]), "") + "…"
	}
	return string(text)
}

// Config implements Servers.
func (p *Player) Config(context.Context, api.ConfigInput) (*api.ConfigOutput, error) {
	out := &api.ConfigOutput{}
	for _, name := range p.namespaces {
		out.Servers = append(out.Servers, api.ConfigServer{Name: name})
	}
	return out, nil
}

// Tools implements Servers.
func (p *Player) Tools(ctx context.Context, in api.ToolsInput) (*api.ToolsOutput, error) {
	return replayed[api.ToolsOutput](ctx, p, opTools, in)
}

// Types implements Servers.
func (p *Player) Types(ctx context.Context, in api.TypesInput) (*api.TypesOutput, error) {
	return replayed[api.TypesOutput](ctx, p, opTypes, in)
}

// Search implements Servers.
func (p *Player) Search(ctx context.Context, in api.SearchInput) (*api.SearchOutput, error) {
	in.Grant = nil
	return replayed[api.SearchOutput](ctx, p, opSearch, in)
}

// replayed answers a question that is no call. Asking about tools changes nothing, so the
// last answer stands for whatever more is asked.
func replayed[Out any](ctx context.Context, p *Player, op string, in any) (*Out, error) {
	input, err := plainJSON(in)
	if err != nil {
		return nil, fault.Internalf("encoding a question: %w", err)
	}
	_, key, err := canonical(input)
	if err != nil {
		return nil, fault.Internalf("encoding a question: %w", err)
	}
	e := p.question(op, key)
	switch {
	case e == nil:
		return nil, fault.NotFoundf("the recording does not hold this question: %s %s", op, shown(json.RawMessage(key), true)).
			Hintf("record the run again")
	case e.Unfinished:
		<-ctx.Done()
		return nil, context.Cause(ctx)
	case e.Error != nil:
		return nil, e.Error
	}
	out := new(Out)
	if err := json.Unmarshal(e.Output, out); err != nil {
		return nil, fault.Usagef("the recording cannot be read: the answer to %s: %w", op, err)
	}
	return out, nil
}

func (p *Player) question(op, key string) (last *entry) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, e := range p.questions {
		if e.Op != op || e.key != key {
			continue
		}
		last = e
		if !e.used {
			break
		}
	}
	if last != nil {
		last.used = true
	}
	return last
}
