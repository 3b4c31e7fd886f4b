package native

import (
	"math"
	"strconv"
	"strings"

	"github.com/dop251/goja"

	"mcpx/stdlib/internal/inspect"
)

// Error makes an error of a built-in class, such as TypeError, that carries a code as
// Node's errors do.
func Error(vm *goja.Runtime, class, code, message string) *goja.Object {
	o := newError(vm, class, message)
	if stack, ok := o.Get("stack").(goja.String); ok {
		if rest, ok := strings.CutPrefix(stack.String(), class); ok {
			text := vm.ToValue(class + " [" + code + "]" + rest)
			Must(o.DefineDataProperty("stack", text, goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE))
		}
	}
	Must(o.Set("code", code))
	return o
}

func newError(vm *goja.Runtime, class, message string) *goja.Object {
	o, err := vm.New(vm.Get(class), vm.ToValue(message))
	Must(err)
	return o
}

// DOMException makes the error of the web's interfaces. Where a runtime has no
// DOMException it is an Error of that name.
func DOMException(vm *goja.Runtime, name, message string) *goja.Object {
	if constructor, ok := vm.GlobalObject().Get("DOMException").(*goja.Object); ok {
		if _, ok := goja.AssertConstructor(constructor); ok {
			o, err := vm.New(constructor, vm.ToValue(message), vm.ToValue(name))
			Must(err)
			return o
		}
	}
	o := newError(vm, "Error", message)
	Must(o.DefineDataProperty("name", vm.ToValue(name), goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE))
	return o
}

// InvalidType is Node's error about an argument of the wrong type. Expected names the
// types: "of type string", "an instance of Buffer or Uint8Array".
func InvalidType(vm *goja.Runtime, name, expected string, got goja.Value) *goja.Object {
	what := `The "` + name + `" argument`
	switch {
	case strings.HasSuffix(name, " argument"):
		what = "The " + name
	case strings.Contains(name, "."):
		what = `The "` + name + `" property`
	}
	return Error(vm, "TypeError", "ERR_INVALID_ARG_TYPE", what+" must be "+expected+". "+inspect.New(vm).Received(got))
}

// InvalidValue is Node's error about an argument of the right type whose value is wrong.
func InvalidValue(vm *goja.Runtime, name string, got goja.Value, reason string) *goja.Object {
	kind := "argument"
	if strings.Contains(name, ".") {
		kind = "property"
	}
	text := inspect.New(vm).Inspect(got, inspect.Default())
	if len(text) > 128 {
		text = text[:128] + "..."
	}
	return Error(vm, "TypeError", "ERR_INVALID_ARG_VALUE", "The "+kind+" '"+name+"' "+reason+". Received "+text)
}

// OutOfRange is Node's error about a number that is too small or too large.
func OutOfRange(vm *goja.Runtime, name, want string, got goja.Value) *goja.Object {
	message := `The value of "` + name + `" is out of range. It must be ` + want + ". Received " + received(vm, got)
	return Error(vm, "RangeError", "ERR_OUT_OF_RANGE", message)
}

// received writes a number that is out of range, a large integer with separators.
func received(vm *goja.Runtime, v goja.Value) string {
	if goja.IsBigInt(v) {
		text := v.String()
		if digits := strings.TrimPrefix(text, "-"); len(digits) > 10 || len(digits) == 10 && digits > "4294967296" {
			text = separated(text)
		}
		return text + "n"
	}
	if goja.IsNumber(v) {
		if f := v.ToFloat(); f == math.Trunc(f) && math.Abs(f) > 1<<32 && !math.IsInf(f, 0) {
			return separated(v.String())
		}
	}
	return inspect.New(vm).Inspect(v, inspect.Default())
}

// separated puts an underscore between each three digits.
func separated(text string) string {
	sign := ""
	if rest, ok := strings.CutPrefix(text, "-"); ok {
		sign, text = "-", rest
	}
	var b strings.Builder
	for i, r := range text {
		if i > 0 && (len(text)-i)%3 == 0 {
			b.WriteByte('_')
		}
		b.WriteRune(r)
	}
	return sign + b.String()
}

// Integer checks that v is an integer from low to high, as Node's validateInteger does.
func Integer(vm *goja.Runtime, v goja.Value, name string, low, high float64) int64 {
	if !goja.IsNumber(v) {
		panic(InvalidType(vm, name, "of type number", v))
	}
	f := v.ToFloat()
	if f != math.Trunc(f) || math.IsInf(f, 0) || math.IsNaN(f) {
		panic(OutOfRange(vm, name, "an integer", v))
	}
	if f < low || f > high {
		panic(OutOfRange(vm, name, ">= "+number(low)+" && <= "+number(high), v))
	}
	return int64(f)
}

// MaxSafe is Number.MAX_SAFE_INTEGER.
const MaxSafe = 1<<53 - 1

func number(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }

// Text checks that v is a string.
func Text(vm *goja.Runtime, v goja.Value, name string) goja.String {
	s, ok := v.(goja.String)
	if !ok {
		panic(InvalidType(vm, name, "of type string", v))
	}
	return s
}

// Callback checks that v is a function.
func Callback(vm *goja.Runtime, v goja.Value, name string) goja.Callable {
	fn, ok := goja.AssertFunction(v)
	if !ok {
		panic(InvalidType(vm, name, "of type function", v))
	}
	return fn
}

// String is the conversion of the language to a string, which a symbol does not have.
func String(vm *goja.Runtime, v goja.Value) goja.String {
	switch v := v.(type) {
	case goja.String:
		return v
	case *goja.Symbol:
		panic(vm.NewTypeError("Cannot convert a Symbol value to a string"))
	case *goja.Object:
		return String(vm, v.ToString())
	}
	return vm.ToValue(v.String()).(goja.String)
}
