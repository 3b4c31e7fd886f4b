package settings

import (
	"cmp"
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

func duration(def time.Duration, spec Spec) *Key[time.Duration] {
	return declare(def, form[time.Duration]{name: "duration", parse: parseDuration, format: FormatDuration, less: cmp.Less[time.Duration]}, spec)
}

func integer(def int, spec Spec) *Key[int] {
	return declare(def, form[int]{name: "integer", parse: parseInteger, format: strconv.Itoa, less: cmp.Less[int]}, spec)
}

// size is a number of bytes.
func size(def int64, spec Spec) *Key[int64] {
	return declare(def, form[int64]{name: "size", parse: parseSize, format: formatSize, less: cmp.Less[int64]}, spec)
}

// text is a word that means something elsewhere; kind says what it is.
func text(def, kind string, spec Spec) *Key[string] {
	parse := func(text string) (string, *problem) {
		if strings.TrimSpace(text) == "" {
			return "", &problem{"it is empty", "write the name of a " + kind}
		}
		return text, nil
	}
	format := func(s string) string { return s }
	return declare(def, form[string]{name: kind, parse: parse, format: format, less: func(a, b string) bool { return false }}, spec)
}

// choice is one of a few words, those that allow less before those that allow more.
func choice(words []string, def string, spec Spec) *Key[string] {
	parse := func(text string) (string, *problem) {
		if !slices.Contains(words, text) {
			return "", &problem{strconv.Quote(text) + " is not one of its values", "write " + strings.Join(words, " or ")}
		}
		return text, nil
	}
	less := func(a, b string) bool { return slices.Index(words, a) < slices.Index(words, b) }
	return declare(def, form[string]{name: strings.Join(words, "|"), parse: parse, format: func(s string) string { return s }, less: less, words: words}, spec)
}

// port is the number of a TCP port; 0 is none.
func port(def int, spec Spec) *Key[int] {
	parse := func(text string) (int, *problem) {
		n, err := strconv.Atoi(text)
		if err != nil || n < 0 || n > math.MaxUint16 {
			return 0, &problem{strconv.Quote(text) + " is not the number of a port", "write a number from 1 to 65535, or 0 for none"}
		}
		return n, nil
	}
	return declare(def, form[int]{name: "port", parse: parse, format: strconv.Itoa, less: cmp.Less[int]}, spec)
}

// boolean is true or false. Its values are the words, which have an order.
func boolean(def bool, spec Spec) *Key[string] {
	return choice([]string{"false", "true"}, strconv.FormatBool(def), spec)
}

// confirm is true or false, where true allows less.
func confirm(def bool, spec Spec) *Key[string] {
	return choice([]string{"true", "false"}, strconv.FormatBool(def), spec)
}

const durationHint = "write a number with its unit, such as 500ms, 60s, 10m or 2h"

// ParseDuration reads a duration as settings are written.
func ParseDuration(text string) (time.Duration, error) {
	d, p := parseDuration(text)
	if p != nil {
		return 0, errors.New(p.what)
	}
	return d, nil
}

func parseDuration(text string) (time.Duration, *problem) {
	if _, err := strconv.ParseFloat(text, 64); err == nil {
		return 0, &problem{strconv.Quote(text) + " is a duration without a unit", durationHint}
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		return 0, &problem{strconv.Quote(text) + " is not a duration", durationHint}
	}
	if d <= 0 {
		return 0, &problem{strconv.Quote(text) + " is no time at all", "write a duration of more than 0, such as 500ms, 60s, 10m or 2h"}
	}
	return d, nil
}

// FormatDuration writes a duration as a setting is written: 10m, not 10m0s.
func FormatDuration(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

func parseInteger(text string) (int, *problem) {
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		return 0, &problem{strconv.Quote(text) + " is not a whole number of at least 1", "write a number such as 64"}
	}
	return n, nil
}

var units = []struct {
	name  string
	bytes int64
}{
	{"GiB", 1 << 30},
	{"MiB", 1 << 20},
	{"KiB", 1 << 10},
	{"GB", 1e9},
	{"MB", 1e6},
	{"KB", 1e3},
	{"B", 1},
	{"", 1},
}

// parseSize reads a whole number of bytes with or without a unit.
func parseSize(text string) (int64, *problem) {
	bad := &problem{
		strconv.Quote(text) + " is not a size",
		"write a whole number of bytes, or one with a unit such as 512KiB, 64MiB or 1GiB",
	}
	digits := len(text) - len(strings.TrimLeft(text, "0123456789"))
	n, err := strconv.ParseInt(text[:digits], 10, 64)
	if err != nil {
		return 0, bad
	}
	unit := strings.TrimSpace(text[digits:])
	for _, u := range units {
		if !strings.EqualFold(u.name, unit) {
			continue
		}
		if n < 1 || n > math.MaxInt64/u.bytes {
			return 0, bad
		}
		return n * u.bytes, nil
	}
	return 0, bad
}

func formatSize(n int64) string {
	for _, u := range units {
		if n%u.bytes == 0 && (u.bytes == 1 || u.bytes&(u.bytes-1) == 0) {
			return strconv.FormatInt(n/u.bytes, 10) + u.name
		}
	}
	return strconv.FormatInt(n, 10) + "B"
}
