// Package sql is mcpx:sql: databases of SQLite in memory, for a script's own data.
//
// They are held by the process of the script, outside of Go's heap (see Held), and end
// with the run. Nothing leads from them to the machine: there is no file, no other database
// to be attached, no extension and no pragma about either.
package sql

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"math"
	"math/big"
	"runtime"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/dop251/goja"
	sqlite "modernc.org/sqlite/lib"

	"mcpx/engine"
	"mcpx/stdlib/internal/data"
	"mcpx/stdlib/internal/native"
	"mcpx/stdlib/internal/octets"
)

//go:embed sql.d.ts
var declarations string

// Module returns mcpx:sql.
func Module() engine.Module {
	return engine.Module{
		Name:         "mcpx:sql",
		Declarations: declarations,
		Make: func(rt *engine.Runtime) *goja.Object {
			vm := rt.VM()
			m := &module{rt: rt, vm: vm, bytes: octets.New(vm), dbs: native.NewSlot[*conn]()}
			m.class = native.NewAbstract(vm, "Database")
			m.class.Method("exec", 1, m.exec)
			m.class.Method("query", 1, m.query)
			m.class.Method("run", 1, m.run)
			m.class.Method("insert", 2, m.insert)
			end := m.class.Method("close", 0, m.close)
			if dispose, ok := vm.Get("Symbol").ToObject(vm).Get("dispose").(*goja.Symbol); ok {
				m.class.Symbol(dispose, end)
			}
			e := native.NewExports(vm)
			e.Func("open", 0, m.open)
			return e.Object
		},
	}
}

type module struct {
	rt    *engine.Runtime
	vm    *goja.Runtime
	bytes *octets.Octets
	class *native.Class
	dbs   *native.Slot[*conn]
}

func (m *module) open(goja.FunctionCall) goja.Value {
	c, err := openConn(m.rt.Context())
	if err != nil {
		panic(m.error(err, ""))
	}
	end := func(c *conn) {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.close()
	}
	o := m.class.New()
	m.dbs.Set(o, c)
	// What the script leaves open ends with the run, and what it forgets before that.
	context.AfterFunc(m.rt.Context(), func() { end(c) })
	runtime.AddCleanup(o, end, c)
	return o
}

// use calls fn with the database that a method is called on.
func (m *module) use(this goja.Value, text string, fn func(c *conn) error) {
	c, ok := m.dbs.Get(this)
	if !ok {
		panic(m.vm.NewTypeError("it is called on something that is no Database"))
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.db == 0 {
		panic(native.Error(m.vm, "Error", "SQLITE_MISUSE", "the database is closed"))
	}
	if err := fn(c); err != nil {
		if exhausted.Load() {
			m.await()
		}
		panic(m.error(err, text))
	}
}

// patience is how long a script that got no memory is held up: where memory is limited, its
// run ends meanwhile.
const patience = 20 * time.Millisecond

func (m *module) await() {
	t := time.NewTimer(patience)
	defer t.Stop()
	select {
	case <-m.rt.Context().Done():
	case <-t.C:
	}
}

func (m *module) close(call goja.FunctionCall) goja.Value {
	c, ok := m.dbs.Get(call.This)
	if !ok {
		panic(m.vm.NewTypeError("close is called on something that is no Database"))
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.close()
	return nil
}

func (m *module) exec(call goja.FunctionCall) goja.Value {
	text := native.Text(m.vm, call.Argument(0), "sql").String()
	if len(call.Arguments) > 1 {
		panic(m.vm.NewTypeError("exec takes no values, because its text may hold several statements; run and query do"))
	}
	m.use(call.This, text, func(c *conn) error { return c.exec(text) })
	return nil
}

func (m *module) query(call goja.FunctionCall) goja.Value {
	text, values := m.arguments(call)
	var rows []any
	m.use(call.This, text, func(c *conn) error {
		return m.each(c, text, values, func(s *statement, names []string) {
			row := m.vm.NewObject()
			for i, name := range names {
				data.Define(row, name, m.value(c.value(s, i)))
			}
			rows = append(rows, row)
		})
	})
	return m.vm.NewArray(rows...)
}

func (m *module) run(call goja.FunctionCall) goja.Value {
	text, values := m.arguments(call)
	var changes, last int64
	m.use(call.This, text, func(c *conn) error {
		before := c.total()
		err := m.each(c, text, values, nil)
		if c.total() != before {
			changes = c.changes()
		}
		last = c.lastRow()
		return err
	})
	out := m.vm.NewObject()
	native.Must(out.Set("changes", m.value(changes)))
	native.Must(out.Set("lastInsertRowid", m.value(last)))
	return out
}

// each runs one statement. row may be nil.
func (m *module) each(c *conn, text string, values arguments, row func(s *statement, names []string)) error {
	s, err := c.one(text)
	if err != nil {
		return err
	}
	defer c.done(s)
	if err := values.bind(c, s); err != nil {
		return err
	}
	var names []string
	for {
		more, err := c.step(s)
		if err != nil || !more {
			return err
		}
		if row == nil {
			continue
		}
		if names == nil {
			names = c.columns(s)
		}
		row(s, names)
	}
}

// arguments are the values of the parameters of a statement, as conn.bind takes them: by
// place, or by name.
type arguments struct {
	list  []any
	named map[string]any
}

// arguments reads the text of a statement and its values.
func (m *module) arguments(call goja.FunctionCall) (text string, a arguments) {
	text = native.Text(m.vm, call.Argument(0), "sql").String()
	if len(call.Arguments) == 2 {
		if o, ok := call.Arguments[1].(*goja.Object); ok && o.ClassName() == "Object" && m.plain(o) {
			a.named = map[string]any{}
			for _, key := range o.Keys() {
				a.named[key] = m.read(o.Get(key), key, false)
			}
			return text, a
		}
	}
	for i, v := range call.Arguments {
		if i > 0 {
			a.list = append(a.list, m.read(v, fmt.Sprintf("params[%d]", i-1), false))
		}
	}
	return text, a
}

// plain reports whether an object is one of values by their names.
func (m *module) plain(o *goja.Object) bool {
	_, isBytes := m.bytes.Bytes(o)
	_, isFunction := goja.AssertFunction(o)
	return !isBytes && !isFunction
}

func (a arguments) bind(c *conn, s *statement) error {
	misuse := func(format string, args ...any) error {
		return &failure{code: sqlite.SQLITE_MISUSE, message: fmt.Sprintf(format, args...), offset: -1}
	}
	if a.named == nil {
		if len(a.list) != s.params {
			return misuse("the statement has %d parameters, and %d values are given", s.params, len(a.list))
		}
		for i, v := range a.list {
			if err := c.bind(s, i+1, v); err != nil {
				return err
			}
		}
		return nil
	}
	used := map[string]bool{}
	for i := 1; i <= s.params; i++ {
		name := c.name(s, i)
		if name == "" || name[0] == '?' {
			return misuse("parameter %d has no name; give the values by their place", i)
		}
		v, ok := a.named[name[1:]]
		if !ok {
			return misuse("there is no value for %s", name)
		}
		used[name[1:]] = true
		if err := c.bind(s, i, v); err != nil {
			return err
		}
	}
	for key := range a.named {
		if !used[key] {
			return misuse("the statement has no parameter :%s", key)
		}
	}
	return nil
}

// read makes of a value of JavaScript what SQLite can store. Objects have a form only where
// they are stored as JSON.
func (m *module) read(v goja.Value, name string, asJSON bool) any {
	switch {
	case goja.IsUndefined(v), goja.IsNull(v):
		return nil
	case goja.IsString(v):
		return octets.ValidUTF8([]byte(v.String()))
	case goja.IsBigInt(v):
		n, ok := v.Export().(*big.Int)
		if !ok || !n.IsInt64() {
			panic(native.OutOfRange(m.vm, name, ">= -2n ** 63n and < 2n ** 63n", v))
		}
		return n.Int64()
	case goja.IsNumber(v):
		f := v.ToFloat()
		if f == math.Trunc(f) && math.Abs(f) <= native.MaxSafe && !(f == 0 && math.Signbit(f)) {
			return int64(f)
		}
		return f
	}
	if b, ok := v.Export().(bool); ok {
		if b {
			return int64(1)
		}
		return int64(0)
	}
	if b, ok := m.bytes.Bytes(v); ok {
		return slices.Clone(b)
	}
	if o, ok := v.(*goja.Object); ok && o.ClassName() == "Date" {
		if text, ok := native.Invoke(m.vm, o, "toISOString").(goja.String); ok {
			return text.String()
		}
	}
	if asJSON {
		text, ok := engine.EncodeJSON(m.rt, v, engine.EncodeOptions{})
		if !ok {
			return nil
		}
		return string(text)
	}
	panic(native.InvalidType(m.vm, name, "a number, a bigint, a string, a boolean, bytes, a Date or null", v))
}

// value makes a value of JavaScript.
func (m *module) value(v any) goja.Value {
	switch v := v.(type) {
	case int64:
		if v < -native.MaxSafe || v > native.MaxSafe {
			return m.vm.ToValue(big.NewInt(v))
		}
		return m.vm.ToValue(v)
	case float64:
		return m.vm.ToValue(v)
	case string:
		if !utf8.ValidString(v) {
			v = octets.ValidUTF8([]byte(v))
		}
		return m.vm.ToValue(v)
	case []byte:
		return m.bytes.Uint8Array(v)
	}
	return goja.Null()
}

// maxColumns is how many columns a table may have that insert makes: what SQLite takes.
const maxColumns = 2000

// insert puts objects into a table, which it makes if there is none. All go in, or none.
func (m *module) insert(call goja.FunctionCall) goja.Value {
	table := native.Text(m.vm, call.Argument(0), "table").String()
	list, ok := call.Argument(1).(*goja.Object)
	if !ok || list.GetSymbol(goja.SymIterator) == nil {
		panic(native.InvalidType(m.vm, "rows", "an instance of Array", call.Argument(1)))
	}
	// Everything is read first: what that runs of the script may use the database as well.
	var columns []string
	places := map[string]int{}
	var rows [][]any
	m.rt.ForOf(list, func(v goja.Value) bool {
		o, ok := v.(*goja.Object)
		if !ok || o.ClassName() == "Array" {
			panic(native.InvalidType(m.vm, fmt.Sprintf("rows[%d]", len(rows)), "of type object", v))
		}
		var row []any
		for _, key := range o.Keys() {
			at, known := places[key]
			if !known {
				at = len(columns)
				if at == maxColumns {
					panic(native.OutOfRange(m.vm, "the number of columns", fmt.Sprintf("<= %d", maxColumns), m.vm.ToValue(at+1)))
				}
				places[key] = at
				columns = append(columns, key)
			}
			for len(row) <= at {
				row = append(row, nil)
			}
			row[at] = m.read(o.Get(key), key, true)
		}
		rows = append(rows, row)
		return true
	})
	if len(columns) == 0 {
		return m.vm.ToValue(0)
	}
	names := make([]string, len(columns))
	for i, c := range columns {
		names[i] = quoted(c)
	}
	into := fmt.Sprintf("INSERT INTO %s (%s) VALUES (?%s)", quoted(table), strings.Join(names, ", "), strings.Repeat(", ?", len(columns)-1))
	m.use(call.This, into, func(c *conn) (err error) {
		if err := c.exec("SAVEPOINT mcpx_insert"); err != nil {
			return err
		}
		defer func() {
			if err != nil {
				_ = c.exec("ROLLBACK TO mcpx_insert") // what matters is why
			}
			if released := c.exec("RELEASE mcpx_insert"); err == nil {
				err = released
			}
		}()
		if err := c.exec(fmt.Sprintf("CREATE TABLE IF NOT EXISTS %s (%s)", quoted(table), strings.Join(names, ", "))); err != nil {
			return err
		}
		s, err := c.one(into)
		if err != nil {
			return err
		}
		defer c.done(s)
		for _, row := range rows {
			for i := range columns {
				var v any
				if i < len(row) {
					v = row[i]
				}
				if err := c.bind(s, i+1, v); err != nil {
					return err
				}
			}
			if _, err := c.step(s); err != nil {
				return err
			}
			c.again(s)
		}
		return nil
	})
	return m.vm.ToValue(len(rows))
}

// quoted writes a name as SQL has it.
func quoted(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

// error makes the error of a statement. Its code is that of SQLite.
func (m *module) error(err error, text string) *goja.Object {
	var f *failure
	if !errors.As(err, &f) {
		return m.rt.NewError(err)
	}
	message := f.message
	if f.offset >= 0 && f.offset < len(text) {
		line, column := data.Place(text, f.offset)
		message += fmt.Sprintf(" (line %d, column %d)", line, column)
	}
	class := "Error"
	if f.code&0xFF == sqlite.SQLITE_NOMEM || f.code&0xFF == sqlite.SQLITE_TOOBIG {
		class = "RangeError"
	}
	return native.Error(m.vm, class, codeOf(f.code), message)
}

// codes are SQLite's errors that a script may meet.
var codes = []struct {
	code int32
	name string
}{
	{sqlite.SQLITE_ERROR, "SQLITE_ERROR"},
	{sqlite.SQLITE_INTERNAL, "SQLITE_INTERNAL"},
	{sqlite.SQLITE_ABORT, "SQLITE_ABORT"},
	{sqlite.SQLITE_BUSY, "SQLITE_BUSY"},
	{sqlite.SQLITE_LOCKED, "SQLITE_LOCKED"},
	{sqlite.SQLITE_NOMEM, "SQLITE_NOMEM"},
	{sqlite.SQLITE_READONLY, "SQLITE_READONLY"},
	{sqlite.SQLITE_INTERRUPT, "SQLITE_INTERRUPT"},
	{sqlite.SQLITE_CORRUPT, "SQLITE_CORRUPT"},
	{sqlite.SQLITE_FULL, "SQLITE_FULL"},
	{sqlite.SQLITE_CANTOPEN, "SQLITE_CANTOPEN"},
	{sqlite.SQLITE_SCHEMA, "SQLITE_SCHEMA"},
	{sqlite.SQLITE_TOOBIG, "SQLITE_TOOBIG"},
	{sqlite.SQLITE_CONSTRAINT, "SQLITE_CONSTRAINT"},
	{sqlite.SQLITE_MISMATCH, "SQLITE_MISMATCH"},
	{sqlite.SQLITE_MISUSE, "SQLITE_MISUSE"},
	{sqlite.SQLITE_AUTH, "SQLITE_AUTH"},
	{sqlite.SQLITE_RANGE, "SQLITE_RANGE"},
	{sqlite.SQLITE_CONSTRAINT_CHECK, "SQLITE_CONSTRAINT_CHECK"},
	{sqlite.SQLITE_CONSTRAINT_FOREIGNKEY, "SQLITE_CONSTRAINT_FOREIGNKEY"},
	{sqlite.SQLITE_CONSTRAINT_NOTNULL, "SQLITE_CONSTRAINT_NOTNULL"},
	{sqlite.SQLITE_CONSTRAINT_PRIMARYKEY, "SQLITE_CONSTRAINT_PRIMARYKEY"},
	{sqlite.SQLITE_CONSTRAINT_UNIQUE, "SQLITE_CONSTRAINT_UNIQUE"},
	{sqlite.SQLITE_CONSTRAINT_TRIGGER, "SQLITE_CONSTRAINT_TRIGGER"},
}

// codeOf is the name of an error, or of its kind.
func codeOf(code int32) string {
	for _, wanted := range []int32{code, code & 0xFF} {
		for _, c := range codes {
			if c.code == wanted {
				return c.name
			}
		}
	}
	return fmt.Sprintf("SQLITE_%d", code)
}
