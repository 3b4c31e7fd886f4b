package elementary

import (
	"math"
	"sync"
)

var (
	ln2     = double{0.6931471805599453, 2.3190468138462996e-17}
	invLn2  = double{1.4426950408889634, 2.0355273740931033e-17}
	invLn10 = double{0.4342944819032518, 1.098319650216765e-17}
)

// steps is how many parts an interval has whose points are in a table.
const steps = 128

// logarithms are those of the numbers that the argument is brought close to 1 with.
var logarithms = sync.OnceValue(func() (t [steps + 1]double) {
	for i := range t {
		c := factor(i)
		s := double{c - 1, 0}.over(double{c + 1, 0})
		t[i] = atanhSeries(s, 40)
	}
	return t
})

// factor is close to 1/m for an m of the part i of [√½, √2].
func factor(i int) float64 {
	m := math.Sqrt2/2 + (float64(i)+0.5)*(math.Sqrt2/2/steps)
	if math.Abs(m-1) < 0.006 {
		return 1
	}
	return math.Round(1024/m) / 1024
}

// atanhSeries is 2·atanh(s), which is the logarithm of (1+s)/(1-s).
func atanhSeries(s double, terms int) double {
	square := s.times(s)
	total, power := s, s
	for i := range terms {
		power = power.times(square)
		total = total.add(power.over(double{float64(2*i + 3), 0}))
	}
	return double{2 * total.hi, 2 * total.lo}
}

// split is x as m·2^k, with m between √½ and √2.
func split(x float64) (m float64, k int) {
	m, k = math.Frexp(x)
	if m < math.Sqrt2/2 {
		m, k = 2*m, k-1
	}
	return m, k
}

// log is the natural logarithm of an x greater than 0.
func log(x float64) double {
	m, k := split(x)
	l := logOf(m)
	if k == 0 {
		return l
	}
	return ln2.timesNumber(float64(k)).add(l)
}

// logOf is the logarithm of an m between √½ and √2.
func logOf(m float64) double {
	i := min(max(int((m-math.Sqrt2/2)*(steps/(math.Sqrt2/2))), 0), steps)
	c := factor(i)
	// m·c is close to 1, and what it lacks is known exactly.
	p := product(m, c)
	r := sum(p.hi-1, p.lo)
	s := r.over(r.plus(2))
	square := s.times(s)
	w := square.hi
	tail := w * (1.0/7 + w*(1.0/9+w*(1.0/11+w/13)))
	series := third.add(square.times(fifth.plus(tail)))
	l := s.add(s.times(square).times(series))
	l = double{2 * l.hi, 2 * l.lo}
	if c == 1 {
		return l
	}
	return l.minus(logarithms()[i])
}

var (
	third = double{1.0 / 3, 1.850371707708594e-17}
	fifth = double{1.0 / 5, -1.1102230246251566e-17}
)

// powers are those of 2 with the exponents i/steps.
var powers = sync.OnceValue(func() (t [steps]double) {
	for i := range t {
		t[i] = expSeries(ln2.timesNumber(float64(i)/steps), 40)
	}
	return t
})

// expSeries is the series of the exponential function.
func expSeries(x double, terms int) double {
	total, term := double{1, 0}, double{1, 0}
	for n := 1; n <= terms; n++ {
		term = term.times(x).over(double{float64(n), 0})
		total = total.add(term)
	}
	return total
}

// exp is e to the power of x as m·2^k.
func exp(x double) (m double, k int) {
	n := math.Round(x.hi * (steps / math.Ln2))
	r := x.minus(ln2.timesNumber(n / steps))
	whole := int(n)
	k = whole >> 7
	h := r.hi
	// The terms of the series from the fifth on need no double.
	tail := h * (1.0/120 + h*(1.0/720+h*(1.0/5040+h*(1.0/40320+h/362880))))
	series := r.times(double{1.0 / 24, 2.3129646346357427e-18}.plus(tail))
	series = r.times(double{1.0 / 6, 9.25185853854297e-18}.add(series))
	series = r.times(double{0.5, 0}.add(series))
	series = r.times(double{1, 0}.add(series))
	p := powers()[whole&(steps-1)]
	return p.add(p.times(series)), k
}
