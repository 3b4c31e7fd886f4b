package engine

import (
	"reflect"
	"sync"
	"unsafe"

	"github.com/dop251/goja"
)

// machineLayout is where goja keeps how deep calls nest and which promise jobs wait. Its
// API tells neither.
//
// The places are looked up as those of arrayLayout are: if they are not there, an overflow
// of the stack ends the run and cannot be caught, and a test fails. The test also looks
// whether they mean what they should.
type machineLayout struct {
	known bool
	vm    uintptr // in goja.Runtime: a pointer to the machine
	jobs  uintptr // in goja.Runtime: a list of functions
	calls uintptr // in the machine: a list of what is returned to
	tries uintptr // in the machine: a list of who catches
	base  uintptr // in the machine: where the values of the call begin, an int
}

var machine = sync.OnceValue(func() *machineLayout {
	l := &machineLayout{}
	runtime := reflect.TypeFor[goja.Runtime]()
	vm, hasVM := runtime.FieldByName("vm")
	jobs, hasJobs := runtime.FieldByName("jobQueue")
	if !hasVM || !hasJobs || vm.Type.Kind() != reflect.Pointer || vm.Type.Elem().Kind() != reflect.Struct || jobs.Type != reflect.TypeFor[[]func()]() {
		return l
	}
	calls, hasCalls := vm.Type.Elem().FieldByName("callStack")
	tries, hasTries := vm.Type.Elem().FieldByName("tryStack")
	base, hasBase := vm.Type.Elem().FieldByName("sb")
	if !hasCalls || !hasTries || !hasBase || calls.Type.Kind() != reflect.Slice || tries.Type.Kind() != reflect.Slice || base.Type.Kind() != reflect.Int {
		return l
	}
	l.vm, l.jobs, l.calls, l.tries, l.base = vm.Offset, jobs.Offset, calls.Offset, tries.Offset, base.Offset
	l.known = true
	return l
})

// anyList is a slice whose elements have a type of goja's own.
type anyList struct {
	_        unsafe.Pointer
	len, cap int
}

func (l *machineLayout) inside(vm *goja.Runtime, at uintptr) unsafe.Pointer {
	return unsafe.Add(*(*unsafe.Pointer)(unsafe.Add(unsafe.Pointer(vm), l.vm)), at)
}

// depth is how many calls nest.
func (l *machineLayout) depth(vm *goja.Runtime) int { return (*anyList)(l.inside(vm, l.calls)).len }

// unwind takes back what goja has begun when a call overflows: for a generator or an async
// function it has noted who catches what it throws, and forgets that only when it returns.
func (l *machineLayout) unwind(vm *goja.Runtime) {
	const beginning = -1
	if tries := (*anyList)(l.inside(vm, l.tries)); *(*int)(l.inside(vm, l.base)) == beginning && tries.len > 0 {
		tries.len--
	}
}

// queue holds the promise jobs that wait.
func (l *machineLayout) queue(vm *goja.Runtime) *[]func() {
	return (*[]func())(unsafe.Add(unsafe.Pointer(vm), l.jobs))
}

// runJobs runs the promise jobs that wait, and those that they add.
func (rt *Runtime) runJobs() {
	l := machine()
	if !l.known {
		return // goja does it when the last call has returned
	}
	queue := l.queue(rt.vm)
	var jobs []func()
	for len(*queue) > 0 {
		jobs, *queue = *queue, jobs[:0]
		for i, job := range jobs {
			jobs[i] = nil
			job()
		}
	}
}
