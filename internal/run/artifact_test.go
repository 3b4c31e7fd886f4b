package run

import (
	"context"
	"encoding/json"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"mcpx/internal/grant"
)

// A file that becomes an artifact is held in memory as a whole, whatever the number of
// requests.
func TestFilesBecomeArtifactsOneAtATime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		e := newEffects(grant.Set{Artifacts: true}, nil, nil)
		var now, most atomic.Int32
		unreadable := errors.New("unreadable")
		e.kept.files = func() (*grant.Files, error) {
			most.Store(max(most.Load(), now.Add(1)))
			defer now.Add(-1)
			time.Sleep(time.Second)
			return nil, unreadable
		}
		errs := make(chan error)
		ctx, cancel := context.WithTimeout(t.Context(), 3500*time.Millisecond)
		defer cancel()
		for range 5 {
			go func() {
				_, err := e.keep(ctx, json.RawMessage(`{"path":"x"}`), nil)
				errs <- err
			}()
		}
		count := map[error]int{}
		for range 5 {
			count[<-errs]++
		}
		if most.Load() != 1 || count[unreadable] != 4 || count[context.DeadlineExceeded] != 1 {
			t.Errorf("%d were read at a time, and they ended with %v", most.Load(), count)
		}
	})
}
