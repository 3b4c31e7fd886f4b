package crypto

import (
	"context"
	"errors"

	"github.com/dop251/goja"

	"mcpx/engine"
	"mcpx/stdlib/internal/native"
)

// run is the course of a work, which long ones look at.
type run struct{ ctx context.Context }

// over returns why the run has ended, or nil.
func (r *run) over() error { return context.Cause(r.ctx) }

// failure is an error of JavaScript that Go code far from the script found.
type failure struct {
	class   string // of the error; "" for a DOMException
	code    string // of the error, or the DOMException's name
	message string
}

func (f *failure) Error() string { return f.message }

// operationFailed is what the standard says of whatever went wrong in an algorithm.
var operationFailed = &failure{code: "OperationError", message: "The operation failed for an operation-specific reason"}

// thrown makes the error that a script sees.
func (m *module) thrown(err error) goja.Value {
	var f *failure
	if !errors.As(err, &f) {
		return m.rt.NewError(err)
	}
	if f.class == "" {
		return native.DOMException(m.vm, f.code, f.message)
	}
	return m.error(f.class, f.code, f.message)
}

// lane is the class of works that compute.
const lane = "crypto"

// outcome is what a work came to.
type outcome struct {
	value any
	err   error
}

// async runs work on another goroutine, and then done on the script's.
func (m *module) async(work func(*run) (any, error), done func(v any, err error)) {
	engine.Async(m.rt, lane, func(ctx context.Context) (outcome, error) {
		v, err := work(&run{ctx: ctx})
		return outcome{v, err}, nil
	}, func(o outcome) goja.Value {
		done(o.value, o.err)
		return nil
	})
}

// promise returns the promise of a function of the web: prepare reads the arguments and
// returns the work, which must not touch JavaScript, and what makes a value of its
// result. What any of them throws rejects the promise.
func (m *module) promise(prepare func() (work func(*run) (any, error), deliver func(any) goja.Value)) goja.Value {
	var work func(*run) (any, error)
	var deliver func(any) goja.Value
	if ex := m.vm.Try(func() { work, deliver = prepare() }); ex != nil {
		promise, _, reject := m.vm.NewPromise()
		_ = reject(ex.Value())
		return m.vm.ToValue(promise)
	}
	return engine.Async(m.rt, lane, func(ctx context.Context) (outcome, error) {
		v, err := work(&run{ctx: ctx})
		return outcome{v, err}, nil
	}, func(o outcome) goja.Value {
		if o.err != nil {
			panic(m.thrown(o.err))
		}
		return deliver(o.value)
	})
}
