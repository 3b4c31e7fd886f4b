package elicit_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"mcpx/internal/fault"
	"mcpx/stdlib/console"
	"mcpx/stdlib/elicit"
	"mcpx/stdlib/internal/declared"
	"mcpx/stdlib/internal/trial"
	"mcpx/stdlib/timers"
)

// host asks some questions, one after the other, as soon as there is a handler.
type host struct {
	questions []string
	refuses   bool

	mu    sync.Mutex
	next  int
	heard []string
}

func (h *host) Call(ctx context.Context, op string, head any, body []byte) (json.RawMessage, []byte, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	text, err := json.Marshal(head)
	switch {
	case err != nil:
		return nil, nil, err
	case h.refuses:
		return nil, nil, fault.Internalf("the host knows no request %q", op)
	case op != "elicit.next":
		h.heard = append(h.heard, op+" "+string(text)+" "+string(body))
		return nil, nil, nil
	case h.next == len(h.questions):
		h.mu.Unlock()
		<-ctx.Done()
		h.mu.Lock()
		return nil, nil, context.Cause(ctx)
	}
	h.next++
	return fmt.Appendf(nil, `{"id":%d}`, h.next), []byte(h.questions[h.next-1]), nil
}

func TestOnElicit(t *testing.T) {
	t.Parallel()
	h := &host{questions: []string{`{"message":"one"}`, `{"message":"two"}`, `{"message":"three"}`, `{"message":"four"}`}}
	stdout, stderr := trial.Run(`
		onElicit(({ message }) => {
			console.log(message);
			switch (message) {
			case "one": return { n: 1, bytes: new Uint8Array([1, 2]) };
			case "two": return new Promise((resolve) => setTimeout(resolve, 5, "decline"));
			case "three": return null;
			default: throw new Error(message);
			}
		});
		await new Promise((resolve) => setTimeout(resolve, 2000));
		onElicit(null);
		console.log(onElicit.name, onElicit.length);
		for (const bad of [undefined, 7, {}]) try { onElicit(bad); console.log("?") } catch (e) { console.log(e.code) }`,
		h, console.Module(), elicit.Module(), timers.Modules()[0])
	if want := "one\ntwo\nthree\nfour\nonElicit 1\n" + strings.Repeat("ERR_INVALID_ARG_TYPE\n", 3); stdout+stderr != want {
		t.Errorf("wrote %q, want %q", stdout+stderr, want)
	}
	if first, last := h.heard[0], h.heard[len(h.heard)-1]; first != `elicit.listen {"on":true} ` || last != `elicit.listen {"on":false} ` {
		t.Errorf("began with %s and ended with %s", first, last)
	}
	answers := slices.Sorted(slices.Values(h.heard[1 : len(h.heard)-1]))
	want := []string{
		`elicit.answer {"id":1,"action":"accept"} {"n":1,"bytes":"AQI="}`,
		`elicit.answer {"id":2,"action":"decline"} `,
		`elicit.answer {"id":3,"error":"it returned null; `,
		`elicit.answer {"id":4,"error":"Error: four (exec:8:`,
	}
	if !slices.EqualFunc(answers, want, strings.HasPrefix) {
		t.Errorf("answered %q, want %q", answers, want)
	}
}

// TestAHandlerDoesNotKeepTheRunAlive: nothing is left to ask.
func TestAHandlerDoesNotKeepTheRunAlive(t *testing.T) {
	t.Parallel()
	stdout, stderr := trial.Run(`onElicit(() => "cancel"); console.log("done")`, &host{}, console.Module(), elicit.Module())
	if stdout+stderr != "done\n" {
		t.Errorf("wrote %q", stdout+stderr)
	}
}

func TestAHostThatDoesNotAsk(t *testing.T) {
	t.Parallel()
	_, stderr := trial.Run(`onElicit(() => "cancel")`, &host{refuses: true}, elicit.Module())
	if !strings.Contains(stderr, `the host knows no request "elicit.listen"`) {
		t.Errorf("wrote %q", stderr)
	}
}

func TestDeclarations(t *testing.T) {
	t.Parallel()
	declared.Check(t, elicit.Module())
}
