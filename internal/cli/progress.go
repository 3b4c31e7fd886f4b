package cli

import (
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/text/width"

	"mcpx/internal/api"
)

// progress shows how far a script is, in one line of standard error that the next one,
// and any other text on the terminal, takes the place of.
func (v *invocation) progress() func(api.Progress) {
	if v.stdout.terminal {
		v.stdout.before = v.stderr.clear
	}
	most := v.p.Terminal.Columns - 1
	if most < 1 {
		most = 79
	}
	return func(p api.Progress) {
		if !v.stdout.terminal || !v.stdout.inLine() {
			v.stderr.show(progressLine(p, most))
		}
	}
}

// progressLine writes how far a script is in at most the given number of columns.
func progressLine(p api.Progress, most int) string {
	number := func(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }
	line := number(p.Done)
	if p.Total != nil {
		line += "/" + number(*p.Total)
		if *p.Total > 0 {
			line += " (" + strconv.Itoa(int(100*min(max(p.Done / *p.Total, 0), 1))) + "%)"
		}
	}
	if p.Message != "" {
		line += " " + strings.Join(strings.Fields(p.Message), " ")
	}
	safe, _ := visible([]byte(line), false)
	columns := 0
	for i, r := range string(safe) {
		columns++
		if k := width.LookupRune(r).Kind(); k == width.EastAsianWide || k == width.EastAsianFullwidth {
			columns++
		}
		if columns > most {
			return string(safe[:i])
		}
	}
	return string(safe)
}

// How long a command is silent before it says what it is at: at a terminal, and elsewhere,
// where what is said stays.
const (
	waitingAfter = 2 * time.Second
	notedAfter   = 10 * time.Second
)

// What bounds a wait, for waiting.
const (
	boundedCall  = "pool.startTimeout and pool.callTimeout say how long at most"
	boundedStart = "pool.startTimeout says how long at most"
)

// waiting says what the command is at, if that takes long: nobody is to wonder for a minute
// whether anything happens. At a terminal the line goes away with end, and with any text;
// elsewhere it is a note, with what bounds the wait.
func (v *invocation) waiting(what, bound string) (end func()) {
	after := notedAfter
	if v.stderr.terminal {
		after = waitingAfter
		if v.stdout.terminal {
			v.stdout.before = v.stderr.clear
		}
	}
	var mu sync.Mutex
	over, shown := false, false
	timer := time.AfterFunc(after, func() {
		mu.Lock()
		defer mu.Unlock()
		switch {
		case over:
		case !v.stderr.terminal:
			v.say("%s, for %s now; %s", what, after, bound)
		case !v.stdout.terminal || !v.stdout.inLine():
			shown = v.stderr.showFirst(what + "…")
		}
	})
	return func() {
		timer.Stop()
		mu.Lock()
		defer mu.Unlock()
		if over = true; shown {
			v.stderr.clear()
		}
	}
}

// toStart goes to the start of the line and erases it.
const toStart = "\r\x1b[K"

// show writes a line without its end, in the place of the one shown before.
func (s *stream) show(line string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.within {
		return // it would take the script's text away with it
	}
	s.erase()
	s.line = true
	s.write([]byte(line)) //nolint:errcheck // kept in s.err
}

// showFirst is show where no such line stands yet. It reports whether it has shown the line.
func (s *stream) showFirst(line string) bool {
	s.mu.Lock()
	stands := s.line || s.within
	s.mu.Unlock()
	if !stands {
		s.show(line)
	}
	return !stands
}

// inLine reports whether the last line has no end yet.
func (s *stream) inLine() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.within
}

// clear takes away the line that show wrote.
func (s *stream) clear() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.erase()
}

func (s *stream) erase() {
	if s.line {
		s.line = false
		s.write([]byte(toStart)) //nolint:errcheck // kept in s.err
	}
}
