package intl

import (
	"slices"
	"strings"
)

// digitOptions say how many digits of a number are written.
type digitOptions struct {
	kind                           string // one of the below
	minInteger                     int
	minFraction, maxFraction       int
	minSignificant, maxSignificant int
	increment                      int
	mode, priority, trailing       string
}

// Kinds of digitOptions.
const (
	byFraction    = "fractionDigits"
	bySignificant = "significantDigits"
	byMore        = "morePrecision"
	byLess        = "lessPrecision"
)

var increments = []int{1, 2, 5, 10, 20, 25, 50, 100, 200, 250, 500, 1000, 2000, 2500, 5000}

// maxFraction is how many digits Node writes after the point.
const maxFraction = 20

// digits reads the options of digits, of which number formats and plural rules have the
// same. low and high are the usual digits of a fraction.
func (o options) digits(low, high int, compact bool) digitOptions {
	d := digitOptions{minInteger: o.number("minimumIntegerDigits", 1, 21, 1)}
	lowFraction, highFraction := o.value("minimumFractionDigits"), o.value("maximumFractionDigits")
	lowSignificant, highSignificant := o.value("minimumSignificantDigits"), o.value("maximumSignificantDigits")
	d.increment = o.number("roundingIncrement", 1, 5000, 1)
	if !slices.Contains(increments, d.increment) {
		panic(o.m.rangeError("roundingIncrement value is out of range."))
	}
	d.mode = o.text("roundingMode", roundHalfExpand, roundCeil, roundFloor, roundExpand, roundTrunc, roundHalfCeil, roundHalfFloor, roundHalfExpand, roundHalfTrunc, roundHalfEven)
	d.priority = o.text("roundingPriority", "auto", "auto", byMore, byLess)
	d.trailing = o.text("trailingZeroDisplay", "auto", "auto", "stripIfInteger")
	if d.increment != 1 {
		high = low
	}
	significant, fraction := lowSignificant != nil || highSignificant != nil, lowFraction != nil || highFraction != nil
	needSignificant, needFraction := true, true
	if d.priority == "auto" {
		needSignificant = significant
		needFraction = !significant && (fraction || !compact)
	}
	if needSignificant {
		d.minSignificant, d.maxSignificant = 1, 21
		if lowSignificant != nil {
			d.minSignificant = o.inRange("minimumSignificantDigits", lowSignificant, 1, 21)
		}
		if highSignificant != nil {
			d.maxSignificant = o.inRange("maximumSignificantDigits", highSignificant, d.minSignificant, 21)
		}
	}
	if needFraction {
		d.minFraction, d.maxFraction = low, high
		if lowFraction != nil {
			d.minFraction = o.inRange("minimumFractionDigits", lowFraction, 0, maxFraction)
		}
		if highFraction != nil {
			d.maxFraction = o.inRange("maximumFractionDigits", highFraction, 0, maxFraction)
		}
		switch {
		case lowFraction == nil:
			d.minFraction = min(d.minFraction, d.maxFraction)
		case highFraction == nil:
			d.maxFraction = max(d.maxFraction, d.minFraction)
		case d.minFraction > d.maxFraction:
			panic(o.m.rangeError("maximumFractionDigits value is out of range."))
		}
	}
	switch {
	case !needSignificant && !needFraction:
		d.minSignificant, d.maxSignificant = 1, 2
		d.kind = byMore
	case d.priority != "auto":
		d.kind = d.priority
	case significant:
		d.kind = bySignificant
	default:
		d.kind = byFraction
	}
	if d.increment != 1 {
		if d.kind != byFraction {
			panic(o.m.vm.NewTypeError("RoundingType is not fractionDigits"))
		}
		if d.minFraction != d.maxFraction {
			panic(o.m.rangeError("maximumFractionDigits not equal to minimumFractionDigits"))
		}
	}
	return d
}

// resolved lists the options as resolvedOptions shows them.
func (d digitOptions) resolved(add func(name string, value any)) {
	add("minimumIntegerDigits", d.minInteger)
	if d.kind != byFraction {
		add("minimumSignificantDigits", d.minSignificant)
		add("maximumSignificantDigits", d.maxSignificant)
	}
	if d.kind != bySignificant {
		add("minimumFractionDigits", d.minFraction)
		add("maximumFractionDigits", d.maxFraction)
	}
}

// shownPriority is the priority as resolvedOptions shows it.
func (d digitOptions) shownPriority() string {
	if d.kind == byMore || d.kind == byLess {
		return d.kind
	}
	return "auto"
}

// rounded is a number as it is written.
type rounded struct {
	decimal
	fraction int // digits after the point, at least
}

func (d digitOptions) round(x decimal) rounded {
	if x.nan || x.inf {
		return rounded{x, 0}
	}
	bySize := func() rounded {
		r := x.round(x.magnitude()-d.maxSignificant+1, 1, d.mode)
		return rounded{r, max(d.minSignificant-1-r.magnitude(), 0)}
	}
	byPlace := func() rounded { return rounded{x.round(-d.maxFraction, d.increment, d.mode), d.minFraction} }
	var r rounded
	switch d.kind {
	case bySignificant:
		r = bySize()
	case byMore, byLess:
		finer := x.magnitude()-d.maxSignificant+1 <= -d.maxFraction
		if finer == (d.kind == byMore) {
			r = bySize()
		} else {
			r = byPlace()
		}
	default:
		r = byPlace()
	}
	if d.trailing == "stripIfInteger" && r.point >= len(r.digits) {
		r.fraction = 0
	}
	return r
}

// text writes the digits before and after the point.
func (r rounded) text(minInteger int) (whole, fraction string) {
	switch {
	case r.point <= 0:
		fraction = strings.Repeat("0", min(-r.point, maxDigits)) + r.digits
		if r.digits == "" {
			fraction = ""
		}
	case r.point >= len(r.digits):
		whole = r.integer()
		if r.digits == "" {
			whole = ""
		}
	default:
		whole, fraction = r.digits[:r.point], r.digits[r.point:]
	}
	if n := minInteger - len(whole); n > 0 {
		whole = strings.Repeat("0", n) + whole
	}
	if n := r.fraction - len(fraction); n > 0 {
		fraction += strings.Repeat("0", n)
	}
	return whole, fraction
}
