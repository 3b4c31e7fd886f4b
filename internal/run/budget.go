package run

import (
	"strconv"
	"strings"
	"time"

	"mcpx/internal/fault"
	"mcpx/internal/settings"
	"mcpx/internal/worker"
)

// Limits that are watched here; those of the worker are worker.LimitMemory and LimitCPU.
// Errors have the name in the detail limit, and what was set in value.
const (
	limitCalls  = "toolCalls"
	limitOutput = "output"
	limitSource = "source"
)

// swallowGrace is what a script has, after it was refused a tool call, to end by itself
// and to say where it was.
const swallowGrace = 50 * time.Millisecond

// fewBytes is what nobody means as a limit of memory: the unit was left out, most likely MiB.
const fewBytes = 1 << 16

// budget is what one run may use up; 0 is no limit.
type budget struct {
	raise  map[string]string // the setting that gives more, by limit, where it is not limits.LIMIT
	held   map[string]string // why no flag gives more, by limit, where none does
	memory int64             // bytes
	cpu    time.Duration
	calls  int
	output int64 // bytes
	source int64 // bytes
}

func (r *Runner) budget() budget {
	return budget{
		raise: map[string]string{
			worker.LimitMemory: settings.LimitsMemory.Raise(r.Settings),
			worker.LimitCPU:    settings.LimitsCPU.Raise(r.Settings),
			limitCalls:         settings.LimitsToolCalls.Raise(r.Settings),
			limitOutput:        settings.LimitsOutput.Raise(r.Settings),
		},
		held: map[string]string{
			worker.LimitMemory: settings.LimitsMemory.Held(r.Settings),
			worker.LimitCPU:    settings.LimitsCPU.Held(r.Settings),
			limitCalls:         settings.LimitsToolCalls.Held(r.Settings),
			limitOutput:        settings.LimitsOutput.Held(r.Settings),
			limitSource:        settings.LimitsSource.Held(r.Settings),
		},
		memory: settings.LimitsMemory.Get(r.Settings),
		cpu:    settings.LimitsCPU.Get(r.Settings),
		calls:  settings.LimitsToolCalls.Get(r.Settings),
		output: settings.LimitsOutput.Get(r.Settings),
		source: settings.LimitsSource.Get(r.Settings),
	}
}

// exceeded is the error for a limit, with how to raise it.
func (b budget) exceeded(limit string) *fault.Error {
	var what, value, give string
	var setting any // as the setting is written
	switch limit {
	case worker.LimitMemory:
		what, value, give = "memory", sizeText(b.memory), settings.LimitsMemory.Give(2*b.memory)
		if b.memory < fewBytes {
			give = settings.LimitsMemory.Give(b.memory << 20)
		}
	case worker.LimitCPU:
		what, value, give = "CPU", durationText(b.cpu), settings.LimitsCPU.Give(2*b.cpu)
		setting = settings.FormatDuration(b.cpu)
	case limitCalls:
		what, value, give = "tool call", strconv.Itoa(b.calls), settings.LimitsToolCalls.Give(2*b.calls)
		setting = b.calls
	case limitOutput:
		what, value, give = "output", sizeText(b.output), settings.LimitsOutput.Give(2*b.output)
	case limitSource:
		what, value, give = "source", sizeText(b.source), settings.LimitsSource.Give(2*b.source)
	}
	if setting == nil {
		setting = strings.ReplaceAll(value, " ", "")
	}
	hint := "give it more with " + give + ", or with the setting limits." + limit
	if raise := b.raise[limit]; raise != "" && raise != "limits."+limit {
		hint = "give it more with the setting " + raise
	}
	if held := b.held[limit]; held != "" {
		hint = held
	}
	if limit == worker.LimitMemory && b.memory < fewBytes {
		hint = "a size without a unit is a number of bytes; " + hint
	}
	return fault.Limitf("%s limit of %s exceeded", what, value).
		Hintf("%s", hint).
		With("limit", limit).With("value", setting)
}

// longer says how to give a run more time than it was given.
func (r *Runner) longer(given time.Duration) string {
	if raise := settings.ExecTimeout.Raise(r.Settings); raise != "exec.timeout" && given >= settings.ExecTimeout.Get(r.Settings) {
		return "give it longer with the setting " + raise
	}
	if held := settings.ExecTimeout.Held(r.Settings); held != "" && given >= settings.ExecTimeout.Get(r.Settings) {
		return held
	}
	return "give it longer with " + settings.ExecTimeout.Give(2*given) + ", or with the setting exec.timeout"
}

// sizeText writes a number of bytes as people do.
func sizeText(n int64) string {
	for _, u := range []struct {
		name  string
		bytes int64
	}{{"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}} {
		if n >= u.bytes && n%u.bytes == 0 {
			return strconv.FormatInt(n/u.bytes, 10) + " " + u.name
		}
	}
	return strconv.FormatInt(n, 10) + " B"
}

// durationText writes a duration with a space before its unit, if it has one unit.
func durationText(d time.Duration) string {
	for _, u := range []struct {
		name string
		unit time.Duration
	}{{"h", time.Hour}, {"min", time.Minute}, {"s", time.Second}, {"ms", time.Millisecond}} {
		if d >= u.unit && d%u.unit == 0 {
			return strconv.FormatInt(int64(d/u.unit), 10) + " " + u.name
		}
	}
	return d.String()
}

// charge counts output and returns how much of it fits. What does not ends the run. Only
// the reader calls it.
func (b *broker) charge(n int) (fits int) {
	room := b.budget.output - b.printed
	b.printed += int64(n)
	if int64(n) <= room || b.budget.output <= 0 {
		return n
	}
	b.stop(b.budget.exceeded(limitOutput))
	return int(max(room, 0))
}

// overspent refuses a tool call beyond the last. The script is told, so that it ends with
// the place of the call; if it takes that for an answer, it is ended.
func (b *broker) overspent() error {
	e := b.budget.exceeded(limitCalls)
	if !b.spent.Swap(true) {
		time.AfterFunc(swallowGrace, func() { b.stop(e) }) // nothing, if the run is over by then
	}
	return e
}
