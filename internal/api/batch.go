package api

import (
	"context"
	"sync"

	"mcpx/internal/fault"
)

// BatchInput is several calls.
type BatchInput struct {
	Calls []CallInput `json:"calls" doc:"the calls, each as POST /v1/call takes it"`
	// Concurrent is how many are under way at a time; 0 and 1 mean one after the other.
	Concurrent int  `json:"concurrent,omitempty" flag:"concurrent" value:"N" min:"1" max:"64" doc:"make up to N calls at a time; without it one after the other"`
	Stop       bool `json:"stop,omitempty" flag:"stop" doc:"begin no further call after the first that fails"`
	// Peer is as in CallInput, for all calls.
	Peer Peer `json:"-"`
	// Consent is as in CallInput, for all calls.
	Consent Consent `json:"-"`
}

// BatchOutput holds a result for each call, in their order.
type BatchOutput struct {
	Results []BatchResult `json:"results"`
	Failed  int           `json:"failed"` // how many have an error, or were answered with one
}

// BatchResult is what became of one call: Output or Error; neither if it was not begun.
type BatchResult struct {
	Output  *CallOutput  `json:"output,omitempty"`
	Error   *fault.Error `json:"error,omitempty"`
	Skipped bool         `json:"skipped,omitempty"`
}

// maxBatch bounds the calls of one batch.
const maxBatch = 10_000

// RunBatch makes the calls of a batch with s. The error is of the batch as a whole; what
// is wrong with one call stands in its result.
func RunBatch(ctx context.Context, s interface {
	Call(ctx context.Context, in CallInput) (*CallOutput, error)
}, in BatchInput,
) (*BatchOutput, error) {
	if len(in.Calls) > maxBatch {
		return nil, fault.Limitf("%d calls in one batch; %d is the most", len(in.Calls), maxBatch).Hintf("make several batches")
	}
	out := &BatchOutput{Results: make([]BatchResult, len(in.Calls))}
	var mu sync.Mutex // guards next and out.Failed
	next := 0
	take := func() (int, bool) {
		mu.Lock()
		defer mu.Unlock()
		if next == len(in.Calls) || ctx.Err() != nil || in.Stop && out.Failed > 0 {
			return 0, false
		}
		next++
		return next - 1, true
	}
	work := func() {
		for {
			i, ok := take()
			if !ok {
				return
			}
			call := in.Calls[i]
			if call.Peer == nil {
				call.Peer = in.Peer
			}
			if call.Consent == nil {
				call.Consent = in.Consent
			}
			answer, err := s.Call(ctx, call)
			out.Results[i] = BatchResult{Output: answer, Error: fault.From(err)}
			if err != nil || answer.IsError {
				mu.Lock()
				out.Failed++
				mu.Unlock()
			}
		}
	}
	var workers sync.WaitGroup
	for range max(1, min(in.Concurrent, len(in.Calls))) {
		workers.Go(work)
	}
	workers.Wait()
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	for i := next; i < len(in.Calls); i++ {
		out.Results[i].Skipped = true
	}
	return out, nil
}
