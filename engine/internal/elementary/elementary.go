// Package elementary computes exp, log, pow, the trigonometric functions and their kin for
// JavaScript's Math, correctly rounded: the result is the number nearest to the true value,
// but for what falls within a hair's breadth of the middle between two.
//
// The functions of Go's math package may be off by one in the last place, in ways that
// differ between architectures; those of other engines for JavaScript are off less often,
// and all of them tend to the nearest. What ends up in a script's output should not tell
// where it was run.
//
// Arguments that are no finite numbers give what ECMAScript says.
package elementary

import (
	"math"
	"math/bits"
)

// Exp returns e to the power of x.
func Exp(x float64) float64 {
	if math.IsNaN(x) || x > 710 || x < -746 {
		return math.Exp(x)
	}
	m, k := exp(double{x, 0})
	return scaled(m, k)
}

// Log10 returns the logarithm of x to the base 10.
func Log10(x float64) float64 {
	if !(x > 0) || math.IsInf(x, 1) {
		return math.Log(x)
	}
	return log(x).times(invLn10).value()
}

// Log2 returns the logarithm of x to the base 2.
func Log2(x float64) float64 {
	if !(x > 0) || math.IsInf(x, 1) {
		return math.Log(x)
	}
	m, k := split(x)
	return logOf(m).times(invLn2).plus(float64(k)).value()
}

// Cbrt returns the cube root of x.
func Cbrt(x float64) float64 {
	y := math.Cbrt(x)
	if x == 0 || math.IsNaN(y) || math.IsInf(y, 0) {
		return y
	}
	fraction, e := math.Frexp(x)
	third := e / 3
	fraction = math.Ldexp(fraction, e-3*third)
	y = math.Cbrt(fraction)
	square := product(y, y)
	wrong := square.timesNumber(y).plus(-fraction)
	return math.Ldexp(sum(y, -wrong.value()/(3*square.hi)).value(), third)
}

// Pow returns x to the power of y, as the operator ** does.
func Pow(x, y float64) float64 {
	switch {
	case math.IsNaN(y) || math.IsInf(y, 0) && math.Abs(x) == 1:
		return math.NaN()
	case y == 0 || y == 1 || x == 0 || math.IsNaN(x) || math.IsInf(x, 0) || math.IsInf(y, 0):
		return math.Pow(x, y)
	}
	negative := false
	if x < 0 {
		if y != math.Trunc(y) {
			return math.NaN()
		}
		negative = math.Mod(y, 2) != 0
		x = -x
	}
	r := power(x, y)
	if negative {
		return -r
	}
	return r
}

// power is x to the power of y for a finite x greater than 0.
func power(x, y float64) float64 {
	if n, ok := integerPower(x, y); ok {
		return n
	}
	switch y { // one operation, which rounds once
	case 2:
		return x * x
	case 0.5:
		return math.Sqrt(x)
	case -1:
		return 1 / x
	}
	l := log(x).timesNumber(y)
	switch {
	case l.hi > 710:
		return math.Inf(1)
	case l.hi < -746:
		return 0
	}
	m, k := exp(l)
	return scaled(m, k)
}

// integerPower is x to the power of y if both are integers and so is the exact result.
func integerPower(x, y float64) (r float64, ok bool) {
	if y < 0 || y > 1024 || x > 1<<53 || x != math.Trunc(x) || y != math.Trunc(y) {
		return 0, false
	}
	if x == 2 {
		return math.Ldexp(1, int(y)), true
	}
	n, factor := uint64(1), uint64(x)
	for i := uint64(y); i > 0; i-- {
		if n*factor > 1<<53 || bits.Len64(n)+bits.Len64(factor) > 64 {
			return 0, false
		}
		n *= factor
	}
	return float64(n), true
}

// Sinh returns the hyperbolic sine of x.
func Sinh(x float64) float64 {
	size := math.Abs(x)
	if !(size > 1e-8) || size > 711 {
		return math.Sinh(x)
	}
	if size < 0.5 {
		return sinhSeries(x).value()
	}
	m, k := exp(double{size, 0})
	return math.Copysign(scaled(m.minus(reciprocal(m, k)), k-1), x)
}

// Cosh returns the hyperbolic cosine of x.
func Cosh(x float64) float64 {
	size := math.Abs(x)
	if math.IsNaN(x) || size > 711 {
		return math.Cosh(x)
	}
	m, k := exp(double{size, 0})
	return scaled(m.add(reciprocal(m, k)), k-1)
}

// Tanh returns the hyperbolic tangent of x.
func Tanh(x float64) float64 {
	size := math.Abs(x)
	switch {
	case !(size > 1e-8):
		return x
	case size > 22:
		return math.Copysign(1, x)
	}
	m, k := exp(double{size, 0})
	back := reciprocal(m, k)
	above := m.minus(back)
	if size < 0.5 {
		above = sinhSeries(size).timesNumber(math.Ldexp(2, -k))
	}
	return math.Copysign(above.over(m.add(back)).value(), x)
}

// reciprocal is what 1/(m·2^k) is in units of 2^k.
func reciprocal(m double, k int) double {
	return double{1, 0}.over(m).timesNumber(math.Ldexp(1, max(-2*k, -1000)))
}

// sinhSeries is the series of the hyperbolic sine, for small x.
func sinhSeries(x float64) double {
	square := product(x, x)
	total, term := double{x, 0}, double{x, 0}
	for n := 2.0; n < 22; n += 2 {
		term = term.times(square).over(double{n * (n + 1), 0})
		total = total.add(term)
	}
	return total
}
