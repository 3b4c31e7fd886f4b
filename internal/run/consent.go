package run

import (
	"context"
	"slices"
	"sync"

	"mcpx/internal/api"
)

// consenter asks the person behind a run about its calls. The time of the run stands still
// while they think.
type consenter struct {
	of    api.Consent
	limit *limit
}

// Consent implements api.Consent.
func (c *consenter) Consent(ctx context.Context, q api.ConsentQuestion) (bool, error) {
	release := c.limit.hold()
	defer release()
	return c.of.Consent(ctx, q)
}

// warnings are what mcpx has to say of the tools that a run has called.
type warnings struct {
	mu   sync.Mutex
	said []string
}

// maxWarnings bounds them: more are hardly read.
const maxWarnings = 20

func (w *warnings) add(texts []string) {
	if len(texts) == 0 {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, text := range texts {
		if len(w.said) < maxWarnings && !slices.Contains(w.said, text) {
			w.said = append(w.said, text)
		}
	}
}

func (w *warnings) all() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.said)
}
