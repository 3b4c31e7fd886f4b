package elementary

import "math"

// double is a number of twice the usual precision: the sum of two, the second of which is
// too small to change the first.
type double struct{ hi, lo float64 }

func (a double) value() float64 { return a.hi + a.lo }

// sum is a+b.
func sum(a, b float64) double {
	s := a + b
	c := s - a
	return double{s, (a - (s - c)) + (b - c)}
}

// ordered is a+b where a is not the smaller.
func ordered(a, b float64) double {
	s := a + b
	return double{s, b - (s - a)}
}

// product is a·b.
func product(a, b float64) double {
	p := a * b
	return double{p, math.FMA(a, b, -p)}
}

func (a double) plus(b float64) double {
	s := sum(a.hi, b)
	return ordered(s.hi, s.lo+a.lo)
}

func (a double) add(b double) double {
	s, t := sum(a.hi, b.hi), sum(a.lo, b.lo)
	s = ordered(s.hi, s.lo+t.hi)
	return ordered(s.hi, s.lo+t.lo)
}

func (a double) negative() double { return double{-a.hi, -a.lo} }

func (a double) minus(b double) double { return a.add(b.negative()) }

func (a double) timesNumber(b float64) double {
	p := product(a.hi, b)
	return ordered(p.hi, math.FMA(a.lo, b, p.lo))
}

func (a double) times(b double) double {
	p := product(a.hi, b.hi)
	return ordered(p.hi, p.lo+math.FMA(a.hi, b.lo, a.lo*b.hi))
}

func (a double) over(b double) double {
	q := a.hi / b.hi
	r := a.minus(b.timesNumber(q))
	q2 := r.hi / b.hi
	r = r.minus(b.timesNumber(q2))
	return ordered(q, q2).plus(r.hi / b.hi)
}

func (a double) root() double {
	q := math.Sqrt(a.hi)
	if q == 0 {
		return double{}
	}
	r := a.minus(product(q, q))
	return ordered(q, r.hi/(2*q))
}

// scaled is a·2^k.
func scaled(a double, k int) float64 {
	if k > -1000 {
		return math.Ldexp(a.value(), k)
	}
	// What is lost at the end of the range is lost once.
	r := math.Ldexp(a.hi, k)
	return r + math.Ldexp(a.hi-math.Ldexp(r, -k)+a.lo, k)
}
