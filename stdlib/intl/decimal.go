package intl

import (
	"math"
	"strconv"
	"strings"

	"github.com/dop251/goja"
)

// decimal is a number by its digits: 0.DIGITS × 10^point. Digits have no zeros at either
// end; a zero has none.
type decimal struct {
	negative bool
	nan, inf bool
	digits   string
	point    int
}

// maxDigits bounds what a script can make us write.
const maxDigits = 1 << 16

func (d decimal) zero() bool { return d.digits == "" && !d.nan && !d.inf }

// magnitude is the power of ten of the first digit.
func (d decimal) magnitude() int {
	if d.digits == "" {
		return 0
	}
	return d.point - 1
}

// shift multiplies by a power of ten.
func (d decimal) shift(n int) decimal {
	if d.digits != "" {
		d.point += n
	}
	return d
}

func (d decimal) abs() decimal {
	d.negative = false
	return d
}

func decimalOf(f float64) decimal {
	d := decimal{negative: math.Signbit(f)}
	switch {
	case math.IsNaN(f):
		return decimal{nan: true}
	case math.IsInf(f, 0):
		d.inf = true
	case f != 0:
		text := strconv.FormatFloat(math.Abs(f), 'e', -1, 64)
		mantissa, exponent, _ := strings.Cut(text, "e")
		n, _ := strconv.Atoi(exponent)
		d.digits = strings.TrimRight(strings.Replace(mantissa, ".", "", 1), "0")
		d.point = n + 1
	}
	return d
}

// decimalOfText reads the text of a number as the language does. It is false for what is
// no number in decimal.
func decimalOfText(s string) (decimal, bool) {
	s = strings.Trim(s, " \t\n\v\f\r\u00a0\ufeff\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000")
	d := decimal{}
	if s == "" {
		return d, true
	}
	if s[0] == '-' || s[0] == '+' {
		d.negative = s[0] == '-'
		s = s[1:]
	}
	if s == "Infinity" {
		d.inf = true
		return d, true
	}
	mantissa, exponent, has := strings.Cut(strings.ToLower(s), "e")
	n := 0
	if has {
		var err error
		if n, err = strconv.Atoi(exponent); err != nil || n > 1e6 || n < -1e6 {
			return d, false
		}
	}
	whole, fraction, _ := strings.Cut(mantissa, ".")
	if whole+fraction == "" || whole != "" && !numeric(whole) || fraction != "" && !numeric(fraction) {
		return d, false
	}
	d.digits, d.point = whole+fraction, len(whole)+n
	return d.normal(), true
}

func (d decimal) normal() decimal {
	n := len(d.digits)
	d.digits = strings.TrimLeft(d.digits, "0")
	d.point -= n - len(d.digits)
	d.digits = strings.TrimRight(d.digits, "0")
	if d.digits == "" {
		d.point = 0
	}
	return d
}

// float is the number nearest to d.
func (d decimal) float() float64 {
	if d.nan {
		return math.NaN()
	}
	if d.inf {
		return math.Inf(1 - 2*bit(d.negative))
	}
	f, _ := strconv.ParseFloat("0."+d.digits+"0e"+strconv.Itoa(d.point), 64)
	return math.Copysign(f, float64(1-2*bit(d.negative)))
}

func bit(b bool) int {
	if b {
		return 1
	}
	return 0
}

// decimal reads a value as the language's ToIntlMathematicalValue: a BigInt and a text
// keep all their digits.
func (m *module) decimal(v goja.Value) decimal {
	if v == nil {
		return decimal{nan: true}
	}
	if o, ok := v.(*goja.Object); ok {
		v = m.primitive(o)
	}
	switch {
	case goja.IsBigInt(v):
		d, _ := decimalOfText(v.String())
		return d
	case goja.IsString(v):
		if d, ok := decimalOfText(v.String()); ok {
			return d
		}
	}
	if s, ok := v.(*goja.Symbol); ok {
		panic(m.vm.NewTypeError("Cannot convert a Symbol value to a number: %s", s))
	}
	return decimalOf(v.ToFloat())
}

// Modes of rounding.
const (
	roundCeil       = "ceil"
	roundFloor      = "floor"
	roundExpand     = "expand"
	roundTrunc      = "trunc"
	roundHalfCeil   = "halfCeil"
	roundHalfFloor  = "halfFloor"
	roundHalfExpand = "halfExpand"
	roundHalfTrunc  = "halfTrunc"
	roundHalfEven   = "halfEven"
)

// round keeps the digits down to 10^place, and of these multiples of increment.
func (d decimal) round(place, increment int, mode string) decimal {
	if d.nan || d.inf || d.digits == "" {
		return d
	}
	if increment > 1 {
		return d.roundTo(place, increment, mode)
	}
	keep := d.point - place // digits that stay
	if keep >= len(d.digits) {
		return d
	}
	half := -1 // how what goes compares with a half
	switch {
	case keep < 0:
	case d.digits[keep] > '5', d.digits[keep] == '5' && keep+1 < len(d.digits):
		half = 1
	case d.digits[keep] == '5':
		half = 0
	}
	odd := keep > 0 && (d.digits[keep-1]-'0')%2 == 1
	up := roundsUp(mode, d.negative, half, odd)
	if keep <= 0 {
		d.digits, d.point = "", 0
		if up {
			d.digits, d.point = "1", place+1
		}
		return d
	}
	b := []byte(d.digits[:keep])
	if up {
		i := len(b) - 1
		for ; i >= 0 && b[i] == '9'; i-- {
			b[i] = '0'
		}
		if i < 0 {
			b = append([]byte{'1'}, b...)
			d.point++
		} else {
			b[i]++
		}
	}
	d.digits = string(b)
	return d.normal()
}

// roundTo rounds to multiples of increment × 10^place, by division of the digits.
func (d decimal) roundTo(place, increment int, mode string) decimal {
	digits := max(d.point-place, 0)
	whole, rest := "", ""
	if d.point < place {
		rest = strings.Repeat("0", min(place-d.point, 2)) + d.digits
	} else {
		whole = (d.digits + strings.Repeat("0", max(digits-len(d.digits), 0)))[:digits]
		rest = d.digits[min(digits, len(d.digits)):]
	}
	// quotient and remainder of whole by increment
	quotient := make([]byte, 0, len(whole)+1)
	remainder := 0
	for i := range len(whole) {
		remainder = remainder*10 + int(whole[i]-'0')
		quotient = append(quotient, byte('0'+remainder/increment))
		remainder %= increment
	}
	if remainder == 0 && rest == "" {
		return d
	}
	half := -1
	switch twice := 2 * remainder; {
	case twice > increment, twice == increment && rest != "":
		half = 1
	case twice == increment:
		half = 0
	case twice == increment-1:
		half = strings.Compare(rest, "5")
	}
	odd := len(quotient) > 0 && (quotient[len(quotient)-1]-'0')%2 == 1
	q := decimal{digits: string(quotient), point: len(quotient)}.normal()
	if roundsUp(mode, d.negative, half, odd) {
		q = q.addOne()
	}
	return q.times(increment).shift(place).withSign(d.negative)
}

func (d decimal) withSign(negative bool) decimal {
	d.negative = negative
	return d
}

// integer is the digits of an integer.
func (d decimal) integer() string {
	if d.digits == "" {
		return "0"
	}
	return d.digits + strings.Repeat("0", max(min(d.point, maxDigits)-len(d.digits), 0))
}

func (d decimal) addOne() decimal {
	b := []byte("0" + d.integer())
	for i := len(b) - 1; ; i-- {
		if b[i] != '9' {
			b[i]++
			break
		}
		b[i] = '0'
	}
	return decimal{digits: string(b), point: len(b)}.normal()
}

func (d decimal) times(n int) decimal {
	digits := d.integer()
	b := make([]byte, len(digits)+5)
	carry := 0
	for i := range b {
		if j := len(digits) - 1 - i; j >= 0 {
			carry += int(digits[j]-'0') * n
		}
		b[len(b)-1-i] = byte('0' + carry%10)
		carry /= 10
	}
	return decimal{digits: string(b), point: len(b)}.normal()
}

func roundsUp(mode string, negative bool, half int, odd bool) bool {
	switch mode {
	case roundCeil:
		return !negative
	case roundFloor:
		return negative
	case roundExpand:
		return true
	case roundTrunc:
		return false
	}
	if half != 0 {
		return half > 0
	}
	switch mode {
	case roundHalfCeil:
		return !negative
	case roundHalfFloor:
		return negative
	case roundHalfTrunc:
		return false
	case roundHalfEven:
		return odd
	}
	return true
}
