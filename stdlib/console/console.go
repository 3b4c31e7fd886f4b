// Package console is the global console of a script, which prints as that of Node 20 does.
// error, warn, trace, assert and warnings go to standard error, everything else to standard
// output.
//
// How values look is for stdlib/internal/inspect. Only what goes to standard output has
// colours, and only if the run says that a terminal shows them.
package console

import (
	_ "embed"
	"strconv"
	"strings"
	"time"

	"github.com/dop251/goja"

	"mcpx/engine"
	"mcpx/stdlib/internal/inspect"
)

//go:embed console.d.ts
var declarations string

// Module returns the global console.
func Module() engine.Module {
	return engine.Module{
		Globals:      []string{"console"},
		Declarations: declarations,
		Make: func(rt *engine.Runtime) *goja.Object {
			exports := rt.VM().NewObject()
			define(exports, "console", newConsole(rt).object())
			return exports
		},
	}
}

// console is the console of one runtime. What a script sees of it (object) needs no this.
type console struct {
	rt     *engine.Runtime
	vm     *goja.Runtime
	made   *inspect.Inspector // nil until a value needs it; see inspector
	groups int                // how many are open
	counts map[string]int
	times  map[string]time.Time
}

func newConsole(rt *engine.Runtime) *console {
	return &console{rt: rt, vm: rt.VM(), counts: map[string]int{}, times: map[string]time.Time{}}
}

// object makes what the script sees.
func (c *console) object() *goja.Object {
	o := c.vm.NewObject()
	method := func(name string, fn func(args []goja.Value)) {
		f := c.vm.ToValue(func(call goja.FunctionCall) goja.Value {
			fn(call.Arguments)
			return goja.Undefined()
		}).(*goja.Object)
		if err := f.DefineDataProperty("name", c.vm.ToValue(name), goja.FLAG_FALSE, goja.FLAG_TRUE, goja.FLAG_FALSE); err != nil {
			panic(err)
		}
		define(o, name, f)
	}
	printTo := func(stream int) func([]goja.Value) {
		return func(args []goja.Value) { c.write(stream, c.format(stream, args)) }
	}
	for _, name := range []string{"log", "info", "debug", "dirxml"} {
		method(name, printTo(engine.Stdout))
	}
	for _, name := range []string{"error", "warn"} {
		method(name, printTo(engine.Stderr))
	}
	method("trace", c.trace)
	method("assert", c.assert)
	method("dir", c.dir)
	method("table", c.table)
	for _, name := range []string{"group", "groupCollapsed"} {
		method(name, c.group)
	}
	method("groupEnd", func([]goja.Value) { c.groups = max(0, c.groups-1) })
	method("count", c.count)
	method("countReset", c.countReset)
	method("time", c.time)
	method("timeLog", c.timeLog)
	method("timeEnd", c.timeEnd)
	method("clear", c.clear)
	tag := c.vm.ToValue("console")
	if err := o.DefineDataPropertySymbol(goja.SymToStringTag, tag, goja.FLAG_FALSE, goja.FLAG_TRUE, goja.FLAG_FALSE); err != nil {
		panic(err)
	}
	return o
}

func define(o *goja.Object, name string, v goja.Value) {
	if err := o.Set(name, v); err != nil {
		panic(err)
	}
}

func (c *console) inspector() *inspect.Inspector {
	if c.made == nil {
		c.made = inspect.New(c.vm)
	}
	return c.made
}

// options are those for a stream: colours only where a terminal shows them.
func (c *console) options(stream int) inspect.Options {
	o := c.inspector().Defaults()
	o.Colors = c.colored(stream)
	return o
}

func (c *console) colored(stream int) bool { return stream == engine.Stdout && c.rt.Ambient().Color }

func (c *console) format(stream int, args []goja.Value) string {
	if s, ok := simple(args); ok && (len(args) == 1 && goja.IsString(args[0]) || !c.colored(stream)) {
		return s
	}
	return c.inspector().Format(c.options(stream), args...)
}

// simple writes arguments that need no inspector: making one costs as much as many a
// script, and most lines are texts and numbers.
func simple(args []goja.Value) (string, bool) {
	var b strings.Builder
	for i, v := range args {
		s, ok := inspect.Simple(v)
		if !ok || i == 0 && len(args) > 1 && goja.IsString(v) && strings.Contains(s, "%") {
			return "", false
		}
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(s)
	}
	return b.String(), true
}

// write writes a text as lines, indented by the open groups.
func (c *console) write(stream int, text string) {
	if c.groups > 0 {
		indent := strings.Repeat("  ", c.groups)
		text = indent + strings.ReplaceAll(text, "\n", "\n"+indent)
	}
	c.rt.Write(stream, []byte(text+"\n"))
}

func (c *console) warn(text string) { c.write(engine.Stderr, "Warning: "+text) }

func argument(args []goja.Value, i int) goja.Value {
	if i < len(args) {
		return args[i]
	}
	return goja.Undefined()
}

// label is the name of a counter or a timer.
func (c *console) label(args []goja.Value) string {
	v := argument(args, 0)
	if goja.IsUndefined(v) {
		return "default"
	}
	return c.text(v)
}

// text is a value as String makes it, but of a symbol.
func (c *console) text(v goja.Value) string {
	if _, ok := v.(*goja.Symbol); ok {
		panic(c.vm.NewTypeError("Cannot convert a Symbol value to a string"))
	}
	return v.String()
}

func (c *console) trace(args []goja.Value) {
	text := strings.TrimSuffix("Trace: "+c.format(engine.Stderr, args), ": ")
	c.write(engine.Stderr, text+c.inspector().CallStack())
}

func (c *console) assert(args []goja.Value) {
	if argument(args, 0).ToBoolean() {
		return
	}
	text := "Assertion failed"
	rest := args[min(1, len(args)):]
	if len(rest) == 0 {
		c.write(engine.Stderr, text)
		return
	}
	first := c.vm.ToValue(text + ": " + c.text(rest[0]))
	c.write(engine.Stderr, c.format(engine.Stderr, append([]goja.Value{first}, rest[1:]...)))
}

func (c *console) dir(args []goja.Value) {
	o := c.options(engine.Stdout)
	o.CustomInspect = false
	if given, ok := argument(args, 1).(*goja.Object); ok {
		o = c.inspector().ReadOptions(given, o)
	}
	c.write(engine.Stdout, c.inspector().Inspect(argument(args, 0), o))
}

func (c *console) group(args []goja.Value) {
	if len(args) > 0 {
		c.write(engine.Stdout, c.format(engine.Stdout, args))
	}
	c.groups++
}

func (c *console) count(args []goja.Value) {
	label := c.label(args)
	c.counts[label]++
	c.write(engine.Stdout, label+": "+strconv.Itoa(c.counts[label]))
}

func (c *console) countReset(args []goja.Value) {
	label := c.label(args)
	if _, ok := c.counts[label]; !ok {
		c.warn("Count for '" + label + "' does not exist")
		return
	}
	delete(c.counts, label)
}

func (c *console) time(args []goja.Value) {
	label := c.label(args)
	if _, ok := c.times[label]; ok {
		c.warn("Label '" + label + "' already exists for console.time()")
		return
	}
	c.times[label] = time.Now()
}

func (c *console) timeLog(args []goja.Value) {
	c.elapsed("timeLog", c.label(args), args[min(1, len(args)):])
}

func (c *console) timeEnd(args []goja.Value) {
	label := c.label(args)
	c.elapsed("timeEnd", label, nil)
	delete(c.times, label)
}

// elapsed writes how long the timer label has run.
func (c *console) elapsed(method, label string, data []goja.Value) {
	start, ok := c.times[label]
	if !ok {
		c.warn("No such label '" + label + "' for console." + method + "()")
		return
	}
	text := label + ": " + duration(time.Since(start))
	if len(data) > 0 {
		// %s keeps a text with placeholders from being filled.
		text = c.format(engine.Stdout, append([]goja.Value{c.vm.ToValue("%s"), c.vm.ToValue(text)}, data...))
	}
	c.write(engine.Stdout, text)
}

// duration writes a time span as console.timeEnd does: 1.234ms, 1.234s, 1:02.345 (m:ss.mmm).
func duration(d time.Duration) string {
	switch {
	case d < time.Second:
		ms := float64(d) / float64(time.Millisecond)
		rounded, _ := strconv.ParseFloat(strconv.FormatFloat(ms, 'f', 3, 64), 64)
		return strconv.FormatFloat(rounded, 'f', -1, 64) + "ms"
	case d < time.Minute:
		return strconv.FormatFloat(d.Seconds(), 'f', 3, 64) + "s"
	}
	pad := func(s string) string {
		if whole, _, _ := strings.Cut(s, "."); len(whole) < 2 {
			return "0" + s
		}
		return s
	}
	hours, minutes := int(d/time.Hour), int(d%time.Hour/time.Minute)
	seconds := pad(strconv.FormatFloat((d % time.Minute).Seconds(), 'f', 3, 64))
	if hours > 0 {
		return strconv.Itoa(hours) + ":" + pad(strconv.Itoa(minutes)) + ":" + seconds + " (h:mm:ss.mmm)"
	}
	return strconv.Itoa(minutes) + ":" + seconds + " (m:ss.mmm)"
}

// clear clears a terminal; a run that writes to one has colours.
func (c *console) clear([]goja.Value) {
	if c.colored(engine.Stdout) {
		c.rt.Write(engine.Stdout, []byte("\x1b[1;1H\x1b[0J"))
	}
}
