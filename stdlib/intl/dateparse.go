package intl

import (
	"math"
	"sync"
	"unicode"
)

// parseDate reads the text of a date as V8 does, in milliseconds; NaN if it is none.
//
// There are two grammars. The first is that of the language's standard, a profile of
// ISO 8601. Where the text leaves it before the time, the second goes on with what was read
// so far: it takes numbers, names of months, times, zones and comments in parentheses in about any
// order, and ignores words before the first number.
func parseDate(text string) float64 {
	s := newDateScanner(text)
	p := dateParser{scanner: s, hour: none, minute: none, offset: none, month: none}
	token, form := p.iso()
	if form == broken || form == other && !p.legacy(token) {
		return math.NaN()
	}
	return p.result()
}

// none is a number that was not given.
const none = math.MinInt32

// dateToken is a piece of the text: a number, a word, a sign, or the end.
type dateToken struct {
	kind   byte // '0' a number, 'w' a word, ' ' white space, 0 the end, '?' what is skipped, else the character itself
	number int
	length int // in characters
	word   dateWord
}

func (t dateToken) digits(n int) bool { return t.kind == '0' && t.length == n }

func (t dateToken) between(low, high int) bool { return t.number >= low && t.number <= high }

func (t dateToken) sign() bool { return t.kind == '+' || t.kind == '-' }

// dateWord is what a word means.
type dateWord struct {
	kind  byte // 'M' a month, 'a' am or pm, 'z' a zone, 'T' the letter T, 0 anything else
	value int
}

// dateWords are known by their first three letters. Only months may have more.
var dateWords = sync.OnceValue(func() map[string]dateWord {
	return map[string]dateWord{
		"jan": {'M', 1}, "feb": {'M', 2}, "mar": {'M', 3}, "apr": {'M', 4}, "may": {'M', 5}, "jun": {'M', 6},
		"jul": {'M', 7}, "aug": {'M', 8}, "sep": {'M', 9}, "oct": {'M', 10}, "nov": {'M', 11}, "dec": {'M', 12},
		"am": {'a', 0}, "pm": {'a', 12}, "ut": {'z', 0}, "utc": {'z', 0}, "z": {'z', 0}, "gmt": {'z', 0},
		"cdt": {'z', -5}, "cst": {'z', -6}, "edt": {'z', -4}, "est": {'z', -5}, "mdt": {'z', -6}, "mst": {'z', -7},
		"pdt": {'z', -7}, "pst": {'z', -8}, "t": {'T', 0},
	}
})

// dateScanner cuts a text into tokens.
type dateScanner struct {
	text []rune
	peek dateToken
}

func newDateScanner(text string) *dateScanner {
	if len(text) > maxDateText {
		text = text[:maxDateText]
	}
	s := &dateScanner{text: []rune(text)}
	s.peek = s.scan()
	return s
}

// maxDateText is longer than any date.
const maxDateText = 1 << 12

func (s *dateScanner) next() dateToken {
	t := s.peek
	s.peek = s.scan()
	return t
}

// skip takes the next token if it is a symbol.
func (s *dateScanner) skip(symbol byte) bool {
	if s.peek.kind != symbol {
		return false
	}
	s.next()
	return true
}

func blank(r rune) bool { return unicode.IsSpace(r) || r == '\ufeff' }

func (s *dateScanner) scan() dateToken {
	if len(s.text) == 0 {
		return dateToken{}
	}
	switch r := s.text[0]; {
	case isDigit(r):
		return s.number()
	case blank(r):
		s.text = s.text[1:]
		return dateToken{kind: ' '}
	case r >= 'A':
		return s.letters()
	case r == '(':
		s.parentheses()
		return dateToken{kind: '?'}
	default:
		s.text = s.text[1:]
		return dateToken{kind: byte(r)}
	}
}

// maxSignificant is how many digits of a number count.
const maxSignificant = 9

func (s *dateScanner) number() dateToken {
	t := dateToken{kind: '0'}
	significant := 0
	for len(s.text) > 0 && isDigit(s.text[0]) {
		if d := int(s.text[0] - '0'); d > 0 || significant > 0 {
			if significant < maxSignificant {
				t.number = t.number*10 + d
			}
			significant++
		}
		t.length++
		s.text = s.text[1:]
	}
	return t
}

func (s *dateScanner) letters() dateToken {
	t := dateToken{kind: 'w'}
	var prefix []rune
	for len(s.text) > 0 && s.text[0] >= 'A' && !blank(s.text[0]) {
		if t.length < 3 {
			prefix = append(prefix, unicode.ToLower(s.text[0]))
		}
		t.length++
		s.text = s.text[1:]
	}
	if w, ok := dateWords()[string(prefix)]; ok && (t.length <= 3 || w.kind == 'M') {
		t.word = w
	}
	return t
}

func (s *dateScanner) parentheses() {
	depth := 0
	for len(s.text) > 0 {
		switch s.text[0] {
		case '(':
			depth++
		case ')':
			depth--
		}
		s.text = s.text[1:]
		if depth == 0 {
			return
		}
	}
}

// dateParser collects what a date is made of.
type dateParser struct {
	scanner *dateScanner
	days    []int // numbers of the date, in the order of the text
	month   int   // by its name
	strict  bool  // it is all as the standard says
	times   []int // hour, minute, second, millisecond
	half    int   // 0 or 12 of am and pm, if paired
	paired  bool
	// The zone: 1 or -1, hours and minutes.
	offset, hour, minute int
}

func (p *dateParser) zone(hours int) {
	p.offset, p.hour, p.minute = 1, hours, 0
	if hours < 0 {
		p.offset, p.hour = -1, -hours
	}
}

// What a text is in the standard's grammar.
const (
	standard = iota
	other    // something else
	broken   // nothing, as it has the standard's date and letter T
)

// iso reads the standard's form. If the text is something else it returns the token that
// the other grammar goes on with.
func (p *dateParser) iso() (token dateToken, form int) {
	s := p.scanner
	switch {
	case s.peek.sign():
		token := s.next()
		if !s.peek.digits(6) {
			return token, other
		}
		year := s.next().number
		if token.kind == '-' {
			if year == 0 {
				return token, other
			}
			year = -year
		}
		p.days = append(p.days, year)
	case s.peek.digits(4):
		p.days = append(p.days, s.next().number)
	default:
		return s.next(), other
	}
	if s.skip('-') {
		if !s.peek.digits(2) || !s.peek.between(1, 12) {
			return s.next(), other
		}
		p.days = append(p.days, s.next().number)
		if s.skip('-') {
			if !s.peek.digits(2) || !s.peek.between(1, 31) {
				return s.next(), other
			}
			p.days = append(p.days, s.next().number)
		}
	}
	if s.peek.kind == 'w' && s.peek.word.kind == 'T' {
		s.next()
		if !p.isoTime() || s.peek.kind != 0 {
			return token, broken
		}
	}
	if s.peek.kind != 0 {
		return s.next(), other
	}
	if p.offset == none && len(p.times) == 0 {
		p.zone(0)
	}
	p.strict = true
	return token, standard
}

func (p *dateParser) isoTime() bool {
	s := p.scanner
	if !s.peek.digits(2) || !s.peek.between(0, 24) {
		return false
	}
	high := 59
	if s.peek.number == 24 {
		high = 0
	}
	p.times = append(p.times, s.next().number)
	if !s.skip(':') || !s.peek.digits(2) || !s.peek.between(0, high) {
		return false
	}
	p.times = append(p.times, s.next().number)
	if s.skip(':') {
		if !s.peek.digits(2) || !s.peek.between(0, high) {
			return false
		}
		p.times = append(p.times, s.next().number)
		if s.skip('.') {
			if s.peek.kind != '0' || high == 0 && s.peek.number > 0 {
				return false
			}
			p.times = append(p.times, milliseconds(s.next()))
		}
	}
	switch {
	case s.peek.kind == 'w' && s.peek.word.kind == 'z' && s.peek.length == 1:
		s.next()
		p.zone(0)
	case s.peek.sign():
		return p.isoZone()
	}
	return true
}

func (p *dateParser) isoZone() bool {
	s := p.scanner
	p.offset = 1
	if s.next().kind == '-' {
		p.offset = -1
	}
	if s.peek.digits(4) {
		n := s.next().number
		if n/100 > 23 || n%100 > 59 {
			return false
		}
		p.hour, p.minute = n/100, n%100
		return true
	}
	if !s.peek.digits(2) || !s.peek.between(0, 23) {
		return false
	}
	p.hour = s.next().number
	if !s.skip(':') || !s.peek.digits(2) || !s.peek.between(0, 59) {
		return false
	}
	p.minute = s.next().number
	return true
}

// milliseconds reads the digits after the point of a second.
func milliseconds(t dateToken) int {
	n := t.number
	for i := t.length; i < 3; i++ {
		n *= 10
	}
	for i := min(t.length, maxSignificant); i > 3; i-- {
		n /= 10
	}
	return n
}

// legacy reads the rest of a text that is not in the standard's form.
func (p *dateParser) legacy(token dateToken) bool {
	s := p.scanner
	numbers := len(p.days) > 0
	for ; token.kind != 0; token = s.next() {
		switch {
		case token.kind == '0':
			numbers = true
			if !p.legacyNumber(token.number) {
				return false
			}
		case token.kind == 'w':
			if !p.legacyWord(token.word, numbers) {
				return false
			}
		case token.sign() && (p.hour == 0 && p.minute == 0 || len(p.times) > 0):
			numbers = true
			if !p.legacyZone(token) {
				return false
			}
		case (token.sign() || token.kind == ')') && numbers:
			return false
		}
	}
	return true
}

func (p *dateParser) legacyNumber(n int) bool {
	s := p.scanner
	switch {
	case s.skip(':'):
		if s.skip(':') {
			if len(p.times) > 0 {
				return false
			}
			p.times = append(p.times, n, 0)
			return true
		}
		if len(p.times) == 4 {
			return false
		}
		p.times = append(p.times, n)
		s.skip('.')
	case s.peek.kind == '.':
		s.next()
		if p.expects(n) {
			p.times = append(p.times, n)
			if s.peek.kind != '0' {
				return false
			}
			return p.lastTime(milliseconds(s.next()))
		}
		return p.number(n)
	default:
		return p.number(n)
	}
	return true
}

// number takes a number that no colon or point follows.
func (p *dateParser) number(n int) bool {
	s := p.scanner
	switch {
	case p.hour != none && p.minute == none && n >= 0 && n < 60:
		p.minute = n
	case p.expects(n):
		if !p.lastTime(n) {
			return false
		}
		next := s.peek
		return next.kind == 0 || next.kind == ' ' || next.sign() || next.kind == 'w' && next.word.kind == 'z' && next.length == 1
	default:
		if len(p.days) == 3 {
			return false
		}
		p.days = append(p.days, n)
		s.skip('-')
	}
	return true
}

// expects reports whether n can be the next part of a time that was begun.
func (p *dateParser) expects(n int) bool {
	switch len(p.times) {
	case 1, 2:
		return n >= 0 && n < 60
	case 3:
		return n >= 0 && n < 1000
	}
	return false
}

func (p *dateParser) lastTime(n int) bool {
	if len(p.times) == 4 {
		return false
	}
	p.times = append(p.times, n)
	for len(p.times) < 4 {
		p.times = append(p.times, 0)
	}
	return true
}

func (p *dateParser) legacyWord(w dateWord, numbers bool) bool {
	switch {
	case w.kind == 'a' && len(p.times) > 0:
		p.half, p.paired = w.value, true
	case w.kind == 'M':
		p.month = w.value
		p.scanner.skip('-')
	case w.kind == 'z' && numbers:
		p.zone(w.value)
	default:
		return !numbers && p.scanner.peek.kind != '0'
	}
	return true
}

func (p *dateParser) legacyZone(sign dateToken) bool {
	s := p.scanner
	p.offset = 1
	if sign.kind == '-' {
		p.offset = -1
	}
	n, length := 0, 0
	if s.peek.kind == '0' {
		t := s.next()
		n, length = t.number, t.length
	}
	switch {
	case s.peek.kind == ':':
		p.hour, p.minute = n, none
	case length == 1 || length == 2:
		p.hour, p.minute = n, 0
	case length == 3 || length == 4:
		p.hour, p.minute = n/100, n%100
	default:
		return false
	}
	return true
}

// result is the moment that was read.
func (p *dateParser) result() float64 {
	year, month, day, ok := p.date()
	if !ok {
		return math.NaN()
	}
	for len(p.times) < 4 {
		p.times = append(p.times, 0)
	}
	hour, minute, second, ms := p.times[0], p.times[1], p.times[2], p.times[3]
	if p.paired {
		if hour > 12 {
			return math.NaN()
		}
		hour = hour%12 + p.half
	}
	if (hour > 23 || minute > 59 || second > 59 || ms > 999) && (hour != 24 || minute+second+ms != 0) {
		return math.NaN()
	}
	wall := makeDate(float64(year), float64(month-1), float64(day), float64(hour), float64(minute), float64(second), float64(ms))
	if p.offset == none {
		return timeClip(localToUTC(wall))
	}
	return timeClip(wall - float64(p.offset)*float64(max(p.hour, 0)*60+max(p.minute, 0))*60_000)
}

// date sorts out which number is what.
func (p *dateParser) date() (year, month, day int, ok bool) {
	if len(p.days) == 0 {
		return 0, 0, 0, false
	}
	days := [3]int{1, 1, 1}
	copy(days[:], p.days)
	isDay := func(n int) bool { return n >= 1 && n <= 31 }
	switch {
	case p.month == none && (p.strict || !isDay(days[0])):
		year, month, day = days[0], days[1], days[2]
	case p.month == none:
		month, day, year = days[0], days[1], days[2]
	case !isDay(days[0]):
		month, year, day = p.month, days[0], days[1]
	default:
		month, day, year = p.month, days[0], days[1]
	}
	if !p.strict {
		switch {
		case year >= 0 && year < 50:
			year += 2000
		case year >= 50 && year < 100:
			year += 1900
		}
	}
	return year, month, day, month >= 1 && month <= 12 && isDay(day)
}
