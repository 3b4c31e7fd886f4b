package elementary

import (
	"math"
	"math/big"
	"sync"
)

// Sin returns the sine of x.
func Sin(x float64) float64 {
	if x == 0 || math.IsNaN(x) || math.IsInf(x, 0) {
		return math.Sin(x)
	}
	sin, _ := sinCos(x)
	return sin.value()
}

// Cos returns the cosine of x.
func Cos(x float64) float64 {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return math.NaN()
	}
	_, cos := sinCos(x)
	return cos.value()
}

// Tan returns the tangent of x.
func Tan(x float64) float64 {
	if x == 0 || math.IsNaN(x) || math.IsInf(x, 0) {
		return math.Tan(x)
	}
	if math.Abs(x) < 1e-8 {
		return x
	}
	sin, cos := sinCos(x)
	return sin.over(cos).value()
}

// Atan returns the angle whose tangent is x.
func Atan(x float64) float64 { return Atan2(x, 1) }

// Asin returns the angle whose sine is x.
func Asin(x float64) float64 {
	if x == 0 || !(math.Abs(x) < 1) {
		return math.Asin(x)
	}
	return angle(double{x, 0}, other(x)).value()
}

// Acos returns the angle whose cosine is x.
func Acos(x float64) float64 {
	if !(math.Abs(x) < 1) {
		return math.Acos(x)
	}
	return angle(other(x), double{x, 0}).value()
}

// other is √(1-x²).
func other(x float64) double { return sum(1, -x).times(sum(1, x)).root() }

// Atan2 returns the angle of the point (x, y).
func Atan2(y, x float64) float64 {
	r := math.Atan2(y, x)
	if x == 0 || y == 0 || math.IsNaN(r) || math.IsInf(x, 0) || math.IsInf(y, 0) {
		return r
	}
	_, ex := math.Frexp(x)
	_, ey := math.Frexp(y)
	switch {
	case ey-ex > 70 || ex-ey > 900:
		return r
	case ex-ey > 30 && x > 0:
		return y / x // the angle and its tangent are the same
	}
	e := -max(ex, ey)
	return angle(double{math.Ldexp(y, e), 0}, double{math.Ldexp(x, e), 0}).value()
}

// angle is the angle of the point (x, y), of which one is about 1.
func angle(y, x double) double {
	a := math.Atan2(y.hi, x.hi)
	sin, cos := sinCos(a)
	across := y.times(cos).minus(x.times(sin))
	along := x.times(cos).add(y.times(sin))
	return sum(a, across.value()/along.hi)
}

// halfPi is π/2 in parts of 53 digits each.
var halfPi = [...]float64{1.5707963267948966, 6.123233995736766e-17, -1.4973849048591833e-33}

// sinCos is the sine and cosine of a finite x.
func sinCos(x float64) (sin, cos double) {
	r, quarter := reduced(x)
	sin, cos = circle(r)
	switch quarter & 3 {
	case 1:
		return cos, sin.negative()
	case 2:
		return sin.negative(), cos.negative()
	case 3:
		return cos.negative(), sin
	}
	return sin, cos
}

// reduced is x less as many quarters of the circle as bring it closest to 0.
func reduced(x float64) (r double, quarter int) {
	switch size := math.Abs(x); {
	case size <= math.Pi/4:
		return double{x, 0}, 0
	case size > 1<<25:
		return reducedLarge(x)
	}
	n := math.Round(x * (2 / math.Pi))
	p := product(n, halfPi[0])
	r = sum(x-p.hi, -p.lo)
	r = r.minus(product(n, halfPi[1]))
	return r.minus(product(n, halfPi[2])), int(n)
}

// precision is how many digits of π the largest number takes.
const precision = 1300

// quarterTurn is π/2 with as many digits as are ever needed.
var quarterTurn = sync.OnceValue(func() *big.Float {
	// π/4 = 4·atan(1/5) − atan(1/239), in integers.
	one := new(big.Int).Lsh(big.NewInt(1), precision+64)
	arctan := func(n int64) *big.Int {
		total, term, square := new(big.Int), new(big.Int).Div(one, big.NewInt(n)), big.NewInt(n*n)
		for k := int64(1); term.Sign() != 0; k += 2 {
			part := new(big.Int).Div(term, big.NewInt(k))
			if k%4 == 1 {
				total.Add(total, part)
			} else {
				total.Sub(total, part)
			}
			term.Div(term, square)
		}
		return total
	}
	quarter := arctan(5)
	quarter.Lsh(quarter, 2).Sub(quarter, arctan(239))
	f := new(big.Float).SetPrec(precision).SetInt(quarter)
	return f.SetMantExp(f, 1-(precision+64))
})

// reducedLarge is reduced for numbers of which most digits go.
func reducedLarge(x float64) (r double, quarter int) {
	turn := quarterTurn()
	f := new(big.Float).SetPrec(precision).SetFloat64(x)
	q := new(big.Float).SetPrec(precision).Quo(f, turn)
	half := big.NewFloat(math.Copysign(0.5, x))
	n, _ := q.Add(q, half).Int(nil)
	f.Sub(f, new(big.Float).SetPrec(precision).Mul(turn, new(big.Float).SetPrec(precision).SetInt(n)))
	r.hi, _ = f.Float64()
	f.Sub(f, new(big.Float).SetFloat64(r.hi))
	r.lo, _ = f.Float64()
	return r, int(new(big.Int).And(n, big.NewInt(3)).Int64())
}

// points are the sines and cosines of i/64, up to those of π/4.
var points = sync.OnceValue(func() (t [52]struct{ sin, cos double }) {
	for i := range t {
		t[i].sin, t[i].cos = circleSeries(double{float64(i) / 64, 0}, 30)
	}
	return t
})

// circleSeries are the series of sine and cosine.
func circleSeries(x double, terms int) (sin, cos double) {
	term := double{1, 0}
	for n := range terms {
		switch n & 3 {
		case 0:
			cos = cos.add(term)
		case 1:
			sin = sin.add(term)
		case 2:
			cos = cos.minus(term)
		case 3:
			sin = sin.minus(term)
		}
		term = term.times(x).over(double{float64(n + 1), 0})
	}
	return sin, cos
}

// circle is the sine and cosine of an r between -π/4 and π/4.
func circle(r double) (sin, cos double) {
	if r.hi < 0 {
		sin, cos = circle(r.negative())
		return sin.negative(), cos
	}
	i := math.Round(r.hi * 64)
	t := r.plus(-i / 64)
	square := t.times(t)
	w := square.hi
	// sin t = t - t³/6 + …, and what cos t lacks: t²/2 - t⁴/24 + …
	s := square.times(double{1.0 / 6, 9.25185853854297e-18}.minus(square.times(double{1.0 / 120, 1.1564823173178714e-19}.plus(-w * (1.0/5040 - w*(1.0/362880-w/39916800))))))
	s = t.minus(t.times(s))
	c := square.times(double{0.5, 0}.minus(square.times(double{1.0 / 24, 2.3129646346357427e-18}.plus(-w * (1.0/720 - w*(1.0/40320-w/3628800))))))
	if i == 0 {
		return s, double{1, 0}.minus(c)
	}
	p := points()[int(i)]
	sin = p.sin.add(p.cos.times(s).minus(p.sin.times(c)))
	cos = p.cos.minus(p.sin.times(s).add(p.cos.times(c)))
	return sin, cos
}
