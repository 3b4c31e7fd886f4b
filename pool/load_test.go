//go:build unix

package pool_test

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"

	"mcpx/internal/api"
	"mcpx/internal/fault"
	"mcpx/mcp"
	"mcpx/mcp/mcptest"
	"mcpx/pool"
)

// Many callers at once, over a few processes of which one call in a hundred ends one:
// every call has its answer, or fails and says why. With MCPX_TEST_LOAD it is 50,000 calls
// instead of 2,000.
func TestManyCallsOverAFewProcesses(t *testing.T) {
	const callers, crashEach = 200, 100
	calls := 2000
	if os.Getenv("MCPX_TEST_LOAD") != "" {
		calls = 50_000
	}
	p := newPool(t, "pool-max", "4", "pool-busy", "8")
	def := server("s", mcptest.Script{})
	var next, answered, failed atomic.Int64
	var reasons sync.Map
	var memory sync.Once
	var early runtime.MemStats
	heap := func(m *runtime.MemStats) uint64 {
		runtime.GC()
		runtime.ReadMemStats(m)
		return m.HeapInuse
	}
	var all sync.WaitGroup
	for c := range callers {
		all.Go(func() {
			caller := api.Caller{Dir: "/", Session: "caller " + strconv.Itoa(c%10)}
			for {
				n := next.Add(1)
				if n > int64(calls) {
					return
				}
				if n > int64(calls)/4 {
					memory.Do(func() { heap(&early) })
				}
				l, err := p.Acquire(context.Background(), pool.Request{Def: def, Caller: caller})
				if err == nil {
					call := fmt.Sprintf(`{"name":"echo","arguments":{"message":"%d"}}`, n)
					if n%crashEach == 0 {
						call = `{"name":"crash","arguments":{"code":3}}`
					}
					var raw mcp.Raw
					raw, err = l.Session().Call(context.Background(), mcp.MethodToolsCall, mcp.Raw(call))
					l.Release()
					if err == nil {
						r, bad := mcp.DecodeResult(raw)
						if bad != nil || r.Text() != strconv.FormatInt(n, 10) {
							t.Errorf("call %d was answered with %s (%v)", n, raw, bad)
						}
					}
				}
				if err != nil {
					k, _ := reasons.LoadOrStore(err.Error(), new(atomic.Int64))
					k.(*atomic.Int64).Add(1)
				}
				switch {
				case err == nil:
					answered.Add(1)
				case fault.KindOf(err) == fault.Unavailable && fault.From(err).Details["mayHaveRun"] != nil:
					failed.Add(1)
				default:
					t.Errorf("call %d: %v, which does not say what became of it", n, err)
					failed.Add(1)
				}
			}
		})
	}
	all.Wait()
	if got := answered.Load() + failed.Load(); got != int64(calls) || failed.Load() < int64(calls/crashEach) {
		t.Errorf("%d calls were answered and %d failed, of %d with %d crashes", answered.Load(), failed.Load(), calls, calls/crashEach)
	}
	running := p.Instances()
	if len(running) > 4 || p.Waiting() != 0 || p.Sets() > 1 || len(p.Sessions()) != 10 {
		t.Errorf("%d instances, %d waiting, %d keys, %d sessions", len(running), p.Waiting(), p.Sets(), len(p.Sessions()))
	}
	for _, i := range running {
		if i.UnderWay != 0 || len(i.Holders) != 0 {
			t.Errorf("nobody calls any more, and yet %+v", i)
		}
	}
	var late runtime.MemStats
	if grown := int64(heap(&late)) - int64(early.HeapInuse); grown > 32<<20 {
		t.Errorf("the heap grew by %d bytes", grown)
	}
	reasons.Range(func(k, v any) bool { t.Log(k, v.(*atomic.Int64).Load()); return true })
	t.Logf("%d answered, %d failed; heap %d KiB after a quarter, %d KiB at the end", answered.Load(), failed.Load(), early.HeapInuse>>10, late.HeapInuse>>10)
}
