package intl

import (
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"
)

// zone is a time zone by the name that ICU has for it.
type zone struct {
	name     string
	location *time.Location
}

// zoneNames are the canonical names of zones by any name in lower case.
var zoneNames = sync.OnceValue(func() map[string]string {
	names := map[string]string{}
	for line := range strings.SplitSeq(world().Aliases, "\n") {
		canonical, _, _ := strings.Cut(line, " ")
		for name := range strings.SplitSeq(line, " ") {
			names[strings.ToLower(name)] = canonical
		}
	}
	for _, name := range []string{"utc", "gmt", "uct", "gmt0", "gmt+0", "gmt-0", "greenwich", "universal", "zulu"} {
		names[name], names["etc/"+name] = "UTC", "UTC"
	}
	for hours := -14; hours <= 12; hours++ { // their signs are the other way round
		if hours != 0 {
			name := fmt.Sprintf("Etc/GMT%+d", hours)
			names[strings.ToLower(name)] = name
		}
	}
	return names
})

// zoneOf finds a zone by name. It is false if there is none.
func zoneOf(name string) (zone, bool) {
	canonical, ok := zoneNames()[strings.ToLower(name)]
	if !ok {
		return zone{}, false
	}
	location, err := time.LoadLocation(canonical)
	return zone{canonical, location}, err == nil
}

// local is the zone of the run.
func (m *module) local() zone {
	name := m.rt.Ambient().Zone
	if name == "" {
		name = time.Local.String() //nolint:gosmopolitan // the engine's Date is in the same zone
	}
	z := zone{"UTC", time.Local} //nolint:gosmopolitan // as above
	if canonical, ok := zoneNames()[strings.ToLower(name)]; ok {
		z.name = canonical
	}
	return z
}

// summer reports whether a zone is ahead of the standard time of the year at t. What the
// time zone database calls standard is not what people do in every zone.
func summer(t time.Time) bool {
	_, now := t.Zone()
	least := now
	for _, month := range []time.Month{time.January, time.July} {
		_, other := time.Date(t.Year(), month, 1, 0, 0, 0, 0, t.Location()).Zone()
		least = min(least, other)
	}
	return now > least
}

// display writes the zone at a moment in one of the styles of the option timeZoneName.
func (d *zoneData) display(z zone, t time.Time, style string, digits []string) string {
	_, seconds := t.Zone()
	long := strings.HasPrefix(style, "long")
	if strings.HasSuffix(style, "Offset") {
		return figures(digits, d.offset(seconds, long))
	}
	if z.name == "UTC" {
		return d.UTC[bit(long)]
	}
	place := 0
	switch style {
	case "long", "short":
		place = bit(summer(t))
	default:
		place = 2
	}
	if !long {
		place += 3
	}
	if names := d.Zones[z.name]; place < len(names) && names[place] != "" {
		return names[place]
	}
	return figures(digits, d.offset(seconds, long))
}

// offset writes how far a zone is from Greenwich.
func (d *zoneData) offset(seconds int, long bool) string {
	if seconds == 0 {
		return d.Zero[bit(long)]
	}
	before, rest, _ := strings.Cut(d.East, "09")
	separator, after, _ := strings.Cut(rest, "00")
	if seconds < 0 {
		before, _, _ = strings.Cut(d.West, "07")
		seconds = -seconds
	}
	hours := strconv.Itoa(seconds / 3600)
	if long {
		hours = two(seconds / 3600)
	}
	text := before + hours
	if minutes := seconds / 60 % 60; long || minutes != 0 || seconds%60 != 0 {
		text += separator + two(minutes)
	}
	if seconds%60 != 0 {
		text += separator + two(seconds%60)
	}
	return text + after
}

func two(n int) string {
	if n < 10 {
		return "0" + strconv.Itoa(n)
	}
	return strconv.Itoa(n)
}
