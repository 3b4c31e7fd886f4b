package gateway

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"mcpx/mcp"
)

var (
	errSilent = errors.New("silent")
	errLong   = errors.New("long")
)

func newTestClock() *clock {
	return &clock{
		idle: time.Minute, longest: time.Hour,
		silent: func() error { return errSilent }, long: func() error { return errLong },
	}
}

// slow is a peer that takes a while to answer.
type slow time.Duration

func (slow) Notify(string, json.RawMessage) {}

func (s slow) Ask(ctx context.Context, _ string, _ json.RawMessage) (json.RawMessage, error) {
	select {
	case <-time.After(time.Duration(s)):
		return json.RawMessage(`{}`), nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

func (slow) TakesUnfinished() bool { return false }

func TestWhileAQuestionWaitsTheSilenceIsNotCounted(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newTestClock()
		ctx := c.start(t.Context())
		defer c.stop()
		time.Sleep(59 * time.Second)
		w := &relay{r: request{peer: slow(30 * time.Minute)}, clock: c}
		if result, err := w.Request(ctx, mcp.MethodElicitation, nil); err != nil || string(result) != "{}" {
			t.Fatalf("got %s, %v", result, err)
		}
		if ctx.Err() != nil {
			t.Fatalf("ended while the question waited: %v", context.Cause(ctx))
		}
		time.Sleep(59 * time.Second) // the silence begins anew with the answer
		if ctx.Err() != nil {
			t.Fatalf("ended too early after the answer: %v", context.Cause(ctx))
		}
		time.Sleep(2 * time.Second)
		if cause := context.Cause(ctx); !errors.Is(cause, errSilent) {
			t.Errorf("ended with %v", cause)
		}
	})
}

func TestTheLongestTimeOfACallGoesOnWhileAQuestionWaits(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newTestClock()
		ctx := c.start(t.Context())
		defer c.stop()
		release := c.hold()
		defer release()
		time.Sleep(59 * time.Minute)
		if ctx.Err() != nil {
			t.Fatalf("ended too early: %v", context.Cause(ctx))
		}
		time.Sleep(2 * time.Minute)
		if cause := context.Cause(ctx); !errors.Is(cause, errLong) {
			t.Errorf("ended with %v", cause)
		}
	})
}

func TestAClockThatIsHeldTwiceIsReleasedTwice(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newTestClock()
		first := c.hold() // before it is started
		ctx := c.start(t.Context())
		second := c.hold()
		first()
		first()
		time.Sleep(10 * time.Minute)
		if ctx.Err() != nil {
			t.Fatalf("ended while it was held: %v", context.Cause(ctx))
		}
		second()
		c.reset()
		time.Sleep(61 * time.Second)
		if cause := context.Cause(ctx); !errors.Is(cause, errSilent) {
			t.Errorf("ended with %v", cause)
		}
		third := c.hold()
		c.stop()
		third() // starts nothing
		c.reset()
	})
}

func TestAClockThatIsEndedBeforeItStarts(t *testing.T) {
	t.Parallel()
	c := newTestClock()
	why := errors.New("why")
	c.end(why)
	ctx := c.start(t.Context())
	defer c.stop()
	if cause := context.Cause(ctx); !errors.Is(cause, why) {
		t.Errorf("ended with %v", cause)
	}
}
