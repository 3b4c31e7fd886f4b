package engine

import (
	"fmt"
	"sync"
	"testing"
)

// esbuild loads what a script imports on goroutines of its own: each module is noted once,
// whichever comes first.
func TestModulesAreNotedFromManyGoroutines(t *testing.T) {
	t.Parallel()
	const goroutines, each = 8, 500
	c := &compiler{}
	var loading sync.WaitGroup
	for g := range goroutines {
		loading.Go(func() {
			for i := range each {
				c.required(fmt.Sprintf("test:%d", i*goroutines+g))
				c.required("test:all")
			}
		})
	}
	loading.Wait()
	seen := map[string]bool{}
	for _, name := range c.requires {
		if seen[name] {
			t.Errorf("%s is noted twice", name)
		}
		seen[name] = true
	}
	if want := goroutines*each + 1; len(seen) != want {
		t.Errorf("%d modules are noted, want %d", len(seen), want)
	}
}
