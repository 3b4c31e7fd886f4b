package run

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"mcpx/internal/api"
)

// thinker is a peer that takes a while to answer.
type thinker struct {
	api.Peer
	d time.Duration
}

func (p thinker) Ask(context.Context, string, json.RawMessage) (json.RawMessage, error) {
	time.Sleep(p.d)
	return json.RawMessage(`{}`), nil
}

func TestTheTimeOfARunStandsStillWhileAQuestionWaits(t *testing.T) {
	t.Parallel()
	errTime, errMost := errors.New("time"), errors.New("most")
	synctest.Test(t, func(t *testing.T) {
		ctx, l, end := limited(t.Context(), 10*time.Minute, errTime, 30*time.Minute, errMost)
		defer end()
		time.Sleep(9 * time.Minute)
		a := &asker{peer: thinker{d: 15 * time.Minute}, limit: l, script: newRespondent()}
		if _, err := a.Ask(ctx, "", nil); err != nil {
			t.Fatal(err)
		}
		if ctx.Err() != nil {
			t.Fatalf("ended while the question waited: %v", context.Cause(ctx))
		}
		time.Sleep(59 * time.Second) // of the minute that was left
		if ctx.Err() != nil {
			t.Fatalf("ended too early: %v", context.Cause(ctx))
		}
		time.Sleep(2 * time.Second)
		if cause := context.Cause(ctx); !errors.Is(cause, errTime) {
			t.Errorf("ended with %v", cause)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		ctx, l, end := limited(t.Context(), 10*time.Minute, errTime, 30*time.Minute, errMost)
		release := l.hold()
		time.Sleep(31 * time.Minute)
		if cause := context.Cause(ctx); !errors.Is(cause, errMost) {
			t.Errorf("ended with %v", cause)
		}
		end()
		release() // starts nothing
	})
	synctest.Test(t, func(t *testing.T) {
		ctx, _, end := limited(t.Context(), time.Hour, errTime, 30*time.Minute, errMost)
		defer end()
		time.Sleep(59 * time.Minute)
		if ctx.Err() != nil {
			t.Errorf("exec.max ends a run that may take longer: %v", context.Cause(ctx))
		}
	})
}
