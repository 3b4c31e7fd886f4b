package engine

import (
	"math"
	"math/big"
	"reflect"

	"github.com/dop251/goja"
)

// mathNatives has the sum of an array of numbers, rounded once.
func mathNatives(rt *Runtime) natives {
	n := iterableNatives(rt)
	n["sum"] = func(c goja.FunctionCall) goja.Value {
		var numbers []float64
		rt.vm.ForOf(c.Argument(0), func(v goja.Value) bool {
			numbers = append(numbers, v.ToFloat())
			return true
		})
		return rt.vm.ToValue(preciseSum(numbers))
	}
	return n
}

// sumPrecision holds any sum of numbers exactly: it reaches from the smallest number to
// beyond the largest times how many there can be.
const sumPrecision = 2200

// preciseSum is the sum of numbers as if it were rounded once.
func preciseSum(numbers []float64) float64 {
	exact := new(big.Float).SetPrec(sumPrecision)
	special, zero := 0.0, math.Copysign(0, -1) // sums of those that are not finite, and of zeros
	finite, some := true, false
	for _, n := range numbers {
		switch {
		case math.IsNaN(n) || math.IsInf(n, 0):
			finite = false
			special += n
		case n == 0:
			zero += n
		default:
			some = true
			exact.Add(exact, big.NewFloat(n))
		}
	}
	switch {
	case !finite:
		return special
	case !some:
		return zero
	}
	sum, _ := exact.Float64()
	return sum
}

// installNumber makes Number right for whole numbers beyond 64 bits, of which goja's takes the lowest 64.
func (rt *Runtime) installNumber() {
	vm := rt.vm
	class := vm.Get("Number").(*goja.Object)
	call, _ := goja.AssertFunction(class)
	construct, _ := goja.AssertConstructor(class)
	rounded := func(args []goja.Value) []goja.Value {
		if len(args) == 0 || args[0].ExportType() != reflect.TypeFor[*big.Int]() {
			return args
		}
		n, ok := args[0].Export().(*big.Int)
		if !ok || n.IsInt64() {
			return args
		}
		f, _ := new(big.Float).SetInt(n).Float64()
		return []goja.Value{vm.ToValue(f)}
	}
	rt.Instances(class)
	number := vm.ToValue(vm.NewProxy(class, &goja.ProxyTrapConfig{
		Apply: func(_ *goja.Object, this goja.Value, args []goja.Value) goja.Value {
			v, err := call(this, rounded(args)...)
			must(err)
			return v
		},
		Construct: func(_ *goja.Object, args []goja.Value, newTarget *goja.Object) *goja.Object {
			o, err := construct(newTarget, rounded(args)...)
			must(err)
			return o
		},
	}))
	define(class.Get("prototype").(*goja.Object), "constructor", number)
	define(vm.GlobalObject(), "Number", number)
}

// float16Natives converts between numbers and their form of 16 bits.
func float16Natives(rt *Runtime) natives {
	return natives{
		"toBits": func(c goja.FunctionCall) goja.Value { return rt.vm.ToValue(toHalf(c.Argument(0).ToFloat())) },
		"fromBits": func(c goja.FunctionCall) goja.Value {
			return rt.vm.ToValue(fromHalf(uint16(c.Argument(0).ToInteger())))
		},
		"round": func(c goja.FunctionCall) goja.Value {
			return rt.vm.ToValue(fromHalf(toHalf(c.Argument(0).ToFloat())))
		},
	}
}

// toHalf rounds a number to binary16: to the nearest, and to the even of two.
func toHalf(f float64) uint16 {
	bits := math.Float64bits(f)
	sign := uint16(bits >> 48 & 0x8000)
	abs := math.Abs(f)
	switch {
	case math.IsNaN(f):
		return 0x7E00
	case abs >= 65520: // halfway from the largest to what would be next
		return sign | 0x7C00
	case abs < 0x1p-14:
		return sign | uint16(math.RoundToEven(abs*0x1p24))
	}
	fraction, exponent := math.Frexp(abs) // fraction in [0.5, 1)
	mantissa := uint16(math.RoundToEven(math.Ldexp(fraction, 11)))
	// A mantissa that rounded up to the next power carries into the exponent.
	return sign | (uint16(exponent+13)<<10 + mantissa)
}

func fromHalf(bits uint16) float64 {
	sign := 1.0
	if bits&0x8000 != 0 {
		sign = -1
	}
	exponent, mantissa := int(bits>>10&31), float64(bits&1023)
	switch exponent {
	case 0:
		return math.Copysign(mantissa*0x1p-24, sign)
	case 31:
		if mantissa != 0 {
			return math.NaN()
		}
		return math.Inf(int(sign))
	}
	return sign * math.Ldexp(1+mantissa/1024, exponent-15)
}
