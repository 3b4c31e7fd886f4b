package intl

import (
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/dop251/goja"

	"mcpx/engine"
	"mcpx/stdlib/internal/native"
)

// goja's Date reads texts otherwise than V8, is an hour off for local times that a change
// of the clock leaves out or repeats, and writes abbreviations of zones and years of more
// than four digits wrongly. So what takes or writes local time is replaced here.

// maxMoment is the last moment of the language, in milliseconds.
const maxMoment = 8.64e15

const msPerDay = 86_400_000

// makeDate is the language's MakeDate, of a month from 0. It is NaN if something is not
// finite or out of all bounds.
func makeDate(year, month, day, hour, minute, second, ms float64) float64 {
	for _, f := range []float64{year, month, day, hour, minute, second, ms} {
		if math.IsNaN(f) || math.IsInf(f, 0) {
			return math.NaN()
		}
	}
	year += math.Floor(month / 12)
	month -= math.Floor(month/12) * 12
	if math.Abs(year) > 400_000 {
		return math.NaN()
	}
	first := time.Date(int(year), time.Month(int(month)+1), 1, 0, 0, 0, 0, time.UTC)
	days := float64(first.Unix()/86_400) + day - 1
	return days*msPerDay + hour*3_600_000 + minute*60_000 + second*1000 + ms
}

func timeClip(ms float64) float64 {
	if math.IsNaN(ms) || math.Abs(ms) > maxMoment {
		return math.NaN()
	}
	return math.Trunc(ms) + 0
}

// offsetAt is how far the local zone is ahead of UTC at a moment.
func offsetAt(ms float64) float64 {
	_, seconds := localTime(ms).Zone()
	return float64(seconds) * 1000
}

func localTime(ms float64) time.Time {
	return time.UnixMilli(int64(ms)).Local() //nolint:gosmopolitan // the zone of the script is that of the process
}

// localToUTC finds the moment at which clocks show wall. Of two it takes the first; where
// clocks jump over wall it goes on from before the jump.
func localToUTC(wall float64) float64 {
	if math.IsNaN(wall) || math.Abs(wall) > maxMoment+msPerDay {
		return math.NaN()
	}
	before, after := offsetAt(wall-msPerDay), offsetAt(wall+msPerDay)
	if before == after || offsetAt(wall-before) == before || offsetAt(wall-after) != after {
		return wall - before
	}
	return wall - after
}

// dates replaces parts of Date in one runtime.
type dates struct {
	vm        *goja.Runtime
	module    func() *module
	class     *goja.Object // goja's
	construct goja.Constructor
	setTime   goja.Callable
}

// newDates repairs the prototype and returns the constructor that takes the place of
// goja's.
func newDates(rt *engine.Runtime, class *goja.Object, module func() *module) goja.Value {
	d := &dates{vm: rt.VM(), module: module, class: class}
	d.construct, _ = goja.AssertConstructor(class)
	prototype := class.Get("prototype").(*goja.Object)
	d.setTime, _ = goja.AssertFunction(prototype.Get("setTime"))
	d.writers(prototype)
	d.setters(prototype)
	native.Hide(class, "parse", native.Func(d.vm, "parse", 1, func(call goja.FunctionCall) goja.Value {
		return d.vm.ToValue(parseDate(native.String(d.vm, call.Argument(0)).String()))
	}))
	rt.Instances(class)
	var outer goja.Value
	outer = d.vm.ToValue(d.vm.NewProxy(class, &goja.ProxyTrapConfig{
		Apply: func(*goja.Object, goja.Value, []goja.Value) goja.Value {
			return d.vm.ToValue(d.text(float64(time.Now().UnixMilli()), true, true))
		},
		Construct: func(_ *goja.Object, args []goja.Value, newTarget *goja.Object) *goja.Object {
			if newTarget == outer {
				newTarget = nil
			}
			return d.make(args, newTarget)
		},
	}))
	native.Hide(prototype, "constructor", outer)
	return outer
}

func (d *dates) make(args []goja.Value, newTarget *goja.Object) *goja.Object {
	if len(args) == 0 {
		return d.new(newTarget)
	}
	var ms float64
	if len(args) == 1 {
		ms = d.one(args[0])
	} else {
		fields := [7]float64{0, 0, 1}
		for i := range min(len(args), 7) {
			fields[i] = integer(d.number(args[i]))
		}
		if fields[0] >= 0 && fields[0] <= 99 {
			fields[0] += 1900
		}
		ms = timeClip(localToUTC(makeDate(fields[0], fields[1], fields[2], fields[3], fields[4], fields[5], fields[6])))
	}
	return d.new(newTarget, d.vm.ToValue(ms))
}

func (d *dates) new(newTarget *goja.Object, args ...goja.Value) *goja.Object {
	o, err := d.construct(newTarget, args...)
	native.Must(err)
	return o
}

// one is the moment of the only argument of Date.
func (d *dates) one(v goja.Value) float64 {
	if o, ok := v.(*goja.Object); ok {
		if ms, ok := momentOf(o); ok {
			return ms
		}
		v = d.primitive(o)
	}
	if goja.IsString(v) {
		return parseDate(v.String())
	}
	return timeClip(d.number(v))
}

// primitive is the conversion of an object without a preference.
func (d *dates) primitive(o *goja.Object) goja.Value {
	if fn, ok := goja.AssertFunction(o.GetSymbol(goja.SymToPrimitive)); ok {
		if v := native.Call(fn, o, d.vm.ToValue("default")); !isObject(v) {
			return v
		}
		panic(d.vm.NewTypeError("Cannot convert object to primitive value"))
	}
	return d.module().primitive(o)
}

func (d *dates) number(v goja.Value) float64 {
	if f, ok := v.(goja.String); ok {
		return f.ToFloat()
	}
	if isObject(v) || goja.IsBigInt(v) {
		return d.module().number(v)
	}
	if _, ok := v.(*goja.Symbol); ok {
		return d.module().number(v)
	}
	return v.ToFloat()
}

func integer(f float64) float64 {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return math.NaN()
	}
	return math.Trunc(f)
}

// momentOf is the moment of a Date, NaN for an invalid one.
func momentOf(v goja.Value) (ms float64, ok bool) {
	o, isObject := v.(*goja.Object)
	if !isObject || o.ClassName() != "Date" {
		return 0, false
	}
	t, ok := o.Export().(time.Time)
	if !ok {
		return math.NaN(), true
	}
	return float64(t.UnixMilli()), true
}

func (d *dates) this(call goja.FunctionCall) float64 {
	ms, ok := momentOf(call.This)
	if !ok {
		panic(d.vm.NewTypeError("this is not a Date object."))
	}
	return ms
}

// receiver is the same for the methods that V8 names in the error.
func (d *dates) receiver(call goja.FunctionCall, name string) float64 {
	ms, ok := momentOf(call.This)
	if !ok {
		panic(d.vm.NewTypeError("Method Date.prototype." + name + " called on incompatible receiver " + describe(call.This)))
	}
	return ms
}

// writers are the methods that turn a Date into text.
func (d *dates) writers(prototype *goja.Object) {
	method := func(name string, write func(ms float64) string) *goja.Object {
		fn := native.Func(d.vm, name, 0, func(call goja.FunctionCall) goja.Value {
			ms := d.this(call)
			if math.IsNaN(ms) {
				return d.vm.ToValue("Invalid Date")
			}
			return d.vm.ToValue(write(ms))
		})
		native.Hide(prototype, name, fn)
		return fn
	}
	method("toString", func(ms float64) string { return d.text(ms, true, true) })
	method("toDateString", func(ms float64) string { return d.text(ms, true, false) })
	method("toTimeString", func(ms float64) string { return d.text(ms, false, true) })
	utc := method("toUTCString", func(ms float64) string {
		t := time.UnixMilli(int64(ms)).UTC()
		return t.Format("Mon, 02 Jan ") + year(t.Year()) + t.Format(" 15:04:05 GMT")
	})
	native.Hide(prototype, "toGMTString", utc)
	native.Hide(prototype, "toISOString", native.Func(d.vm, "toISOString", 0, func(call goja.FunctionCall) goja.Value {
		ms := d.this(call)
		if math.IsNaN(ms) {
			panic(d.module().rangeError("Invalid time value"))
		}
		return d.vm.ToValue(isoText(time.UnixMilli(int64(ms)).UTC()))
	}))
	locale := func(name, required, defaults string) {
		native.Hide(prototype, name, native.Func(d.vm, name, 0, func(call goja.FunctionCall) goja.Value {
			ms := d.receiver(call, name)
			if math.IsNaN(ms) {
				return d.vm.ToValue("Invalid Date")
			}
			f := d.module().dateFormat(call, required, defaults)
			return d.vm.ToValue(f.text(f.parts(ms)))
		}))
	}
	locale("toLocaleString", "any", "all")
	locale("toLocaleDateString", "date", "date")
	locale("toLocaleTimeString", "time", "time")
}

func isoText(t time.Time) string {
	y := t.Year()
	if y >= 0 && y <= 9999 {
		return t.Format("2006-01-02T15:04:05.000Z")
	}
	s := "+"
	if y < 0 {
		s, y = "-", -y
	}
	return s + strings.Repeat("0", 6-len(strconv.Itoa(y))) + strconv.Itoa(y) + t.Format("-01-02T15:04:05.000Z")
}

// year writes a year with four digits at least.
func year(y int) string {
	s := ""
	if y < 0 {
		s, y = "-", -y
	}
	digits := strconv.Itoa(y)
	return s + strings.Repeat("0", max(4-len(digits), 0)) + digits
}

// text is what toString and its parts write.
func (d *dates) text(ms float64, date, clock bool) string {
	t := localTime(ms)
	s := ""
	if date {
		s = t.Format("Mon Jan 02 ") + year(t.Year())
	}
	if !clock {
		return s
	}
	if date {
		s += " "
	}
	return s + t.Format("15:04:05 GMT-0700") + " (" + d.module().localName(t) + ")"
}

// localName is the name of the local zone at a moment.
func (m *module) localName(t time.Time) string {
	return load[zoneData](source(m.usual()), "zone").display(m.local(), t, "long", nil)
}

// setters are the methods that change fields of local time.
func (d *dates) setters(prototype *goja.Object) {
	// Fields: year, month, day, hour, minute, second, millisecond.
	define := func(name string, first, count int) {
		native.Hide(prototype, name, native.Func(d.vm, name, count, func(call goja.FunctionCall) goja.Value {
			ms := d.receiver(call, name)
			values := make([]float64, 0, count)
			for i := range max(min(len(call.Arguments), count), 1) {
				values = append(values, integer(d.number(call.Argument(i))))
			}
			if math.IsNaN(ms) && first > 0 {
				return d.vm.ToValue(math.NaN())
			}
			fields := [7]float64{1970, 0, 1}
			if !math.IsNaN(ms) {
				t := localTime(ms)
				fields = [7]float64{
					float64(t.Year()), float64(t.Month() - 1), float64(t.Day()), float64(t.Hour()), float64(t.Minute()), float64(t.Second()),
					float64(t.Nanosecond() / int(time.Millisecond)),
				}
			}
			copy(fields[first:], values)
			wall := makeDate(fields[0], fields[1], fields[2], fields[3], fields[4], fields[5], fields[6])
			return native.Call(d.setTime, call.This, d.vm.ToValue(timeClip(localToUTC(wall))))
		}))
	}
	define("setFullYear", 0, 3)
	define("setMonth", 1, 2)
	define("setDate", 2, 1)
	define("setHours", 3, 4)
	define("setMinutes", 4, 3)
	define("setSeconds", 5, 2)
	define("setMilliseconds", 6, 1)
	native.Hide(prototype, "getTimezoneOffset", native.Func(d.vm, "getTimezoneOffset", 0, func(call goja.FunctionCall) goja.Value {
		ms := d.this(call)
		if math.IsNaN(ms) {
			return d.vm.ToValue(ms)
		}
		return d.vm.ToValue(math.Trunc(-offsetAt(ms)/60_000) + 0)
	}))
}
