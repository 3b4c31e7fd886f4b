package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"unicode/utf8"

	"mcpx/internal/api"
)

// consent asks the person at the terminal whether a call may be made.
type consent struct {
	v    *invocation
	keys *keyboard

	mu     sync.Mutex
	always map[[2]string]bool // servers and tools that are allowed for the rest of the command
}

var _ api.Consent = (*consent)(nil)

// asker is who may allow calls of this command; nil if nobody sits there.
func (v *invocation) asker() api.Consent {
	keys := v.keyboard()
	if keys == nil {
		return nil
	}
	return &consent{v: v, keys: keys, always: map[[2]string]bool{}}
}

// keyboard is standard input if somebody can be asked there and read the question; else nil.
func (v *invocation) keyboard() *keyboard {
	if !v.p.Terminal.Stdin || !v.p.Terminal.Stderr || v.p.Stdin == nil {
		return nil
	}
	if v.keys == nil {
		v.keys = newKeyboard(v.p.Stdin, v.p.Forget)
	}
	return v.keys
}

// errNoAnswer is for a terminal at which nobody types any more.
var errNoAnswer = errors.New("the terminal's input has ended")

// Consent implements api.Consent. Only y and a allow the call.
func (c *consent) Consent(ctx context.Context, q api.ConsentQuestion) (bool, error) {
	tool := [2]string{q.Server, q.Tool}
	allowed := func() bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		return c.always[tool]
	}
	settled := false
	answer, err := c.keys.ask(ctx, func() bool {
		if settled = allowed(); !settled {
			c.keys.forget()
			c.v.stderr.clear()
			_, _ = io.WriteString(c.v.stderr, consentText(q)) // who cannot read it does not allow it
			c.v.stderr.flush()
		}
		return !settled
	})
	c.v.stderr.endLine()
	switch {
	case settled:
		return true, nil
	case errors.Is(err, io.EOF):
		_, _ = io.WriteString(c.v.stderr, "\n") // what was asked has no end yet
		return false, errNoAnswer
	case err != nil:
		return false, err
	}
	switch strings.ToLower(strings.TrimSpace(answer)) {
	case "a", "always":
		c.mu.Lock()
		c.always[tool] = true
		c.mu.Unlock()
		return true, nil
	case "y", "yes":
		return true, nil
	}
	return false, nil
}

// maxShown bounds the arguments that are shown with a question.
const maxShown = 2000

// consentText is the question. What comes from a server or a script stands on a line of
// its own, and cannot look like a line of ours.
func consentText(q api.ConsentQuestion) string {
	does := "may change something"
	if q.Destructive {
		does = "may destroy something"
	}
	var args bytes.Buffer
	if json.Compact(&args, q.Arguments) != nil {
		args.Reset()
		args.Write(q.Arguments)
	}
	shown := args.String()
	if len(shown) > maxShown {
		cut := maxShown
		for !utf8.RuneStart(shown[cut]) {
			cut--
		}
		shown = fmt.Sprintf("%s… (%d bytes in all)", shown[:cut], len(shown))
	}
	return fmt.Sprintf("mcpx: %s.%s %s (%s)\n  %s\nmcpx: call it? y = yes, a = yes to this tool in this run, anything else = no: ",
		word(q.Server), word(q.Tool), does, word(q.Why), word(shown))
}

// mayAskPolicy reports whether somebody can be asked about the tools of a new server, and has
// a reason to say yes.
func (v *invocation) mayAskPolicy(check *api.CheckOutput) bool {
	return check != nil && check.Error == nil && !check.Guest && len(check.Write) > 0 && !v.json && v.keyboard() != nil
}

// askPolicy asks whoever sits at the terminal, once for a new server, whether its tools may
// change things without a question. What is no yes leaves that to the setting policy.write.
func (v *invocation) askPolicy(ctx context.Context, server string) (yes bool, err error) {
	keys := v.keyboard()
	answer, err := keys.ask(ctx, func() bool {
		keys.forget()
		fmt.Fprintf(v.stderr, "mcpx: may these tools of %s change things without a question? y = yes, anything else = as policy.write says: ", word(server))
		v.stderr.flush()
		return true
	})
	v.stderr.endLine()
	if err != nil && !errors.Is(err, io.EOF) {
		return false, err
	}
	answer = strings.ToLower(strings.TrimSpace(answer))
	return answer == "y" || answer == "yes", nil
}
