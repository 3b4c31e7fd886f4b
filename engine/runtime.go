package engine

import (
	"context"

	"github.com/dop251/goja"
	"github.com/dop251/goja/parser"
)

// maxCallStack is how deep calls may nest, native ones counted. Plain recursion to 10,000
// works; what goes deeper is the RangeError of other engines (see overflowing). More would
// cost: where calls go through native functions, each takes some of Go's own stack.
const maxCallStack = 10_240

// defaultInFlight is how many works of a class Async runs at a time.
const defaultInFlight = 64

// Runtime is one JavaScript runtime for one run: make it with New, call Run once and
// drop it. But for Async's works, everything about it belongs to the goroutine that
// calls Run.
type Runtime struct {
	vm   *goja.Runtime
	o    Options
	ctx  context.Context // done when the run ends
	stop context.CancelCauseFunc

	loop       loop
	works      works
	entry      entry
	intrinsics intrinsics
	classes    errorClasses
	modules    modules
	rejected   rejections
	ticks      ticks
	context    any // see AsyncContext
	lifecycle  Lifecycle
	waits      waits
	expected   expected

	regexps    regexps
	concats    concats
	matches    matches
	iterations iterations

	program *Program
	textKit goja.Value // what the texts of additions share; nil until one is installed
	kept    []*goja.Object
	value   result
	thrown  thrown
	end     ending
	written bool // the script wrote something

	iterators bool // the methods of iterators are there
	preparing bool // Error.prepareStackTrace is running
}

// New makes a runtime with the globals of o.Modules. Nothing of a module is made before
// the script touches it.
func New(o Options) *Runtime {
	if o.InFlight <= 0 {
		o.InFlight = defaultInFlight
	}
	rt := &Runtime{vm: goja.New(), o: o}
	rt.ctx, rt.stop = context.WithCancelCause(context.Background())
	rt.vm.SetMaxCallStackSize(maxCallStack)
	rt.vm.SetParserOptions(parser.WithDisableSourceMaps)
	rt.vm.SetPromiseRejectionTracker(rt.rejected.track)
	rt.waits.rt, rt.rejected.vm, rt.expected.rt = rt, rt.vm, rt
	rt.vm.SetAsyncContextTracker(&rt.waits)
	rt.loop.init()
	rt.works.init(rt, o.InFlight)
	rt.concats.rt = rt
	rt.matches.rt = rt
	rt.iterations.rt = rt
	rt.entry.init(rt)
	rt.intrinsics.init(rt.vm)
	rt.installPrelude()
	rt.modules.install(rt)
	return rt
}

// VM is the JavaScript runtime, for making values and functions. Promise jobs of what
// is called on it directly run too early: use Call.
func (rt *Runtime) VM() *goja.Runtime { return rt.vm }

// Host is the script's way out. It may be nil in tests.
func (rt *Runtime) Host() Host { return rt.o.Host }

// Ambient returns the facts that surround the script.
func (rt *Runtime) Ambient() Ambient { return rt.o.Ambient }

// Context is done when the run ends; its cause is why. It may be used by any goroutine.
func (rt *Runtime) Context() context.Context { return rt.ctx }

// Write hands p to the run's output and does not keep it. What comes after the end of
// the run is dropped.
func (rt *Runtime) Write(stream int, p []byte) {
	if rt.end.reached() {
		return
	}
	rt.written = true
	if rt.o.Output != nil {
		rt.o.Output(stream, p)
	}
}
