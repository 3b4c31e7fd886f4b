package data

import (
	"math/big"
	"reflect"
	"slices"
	"strconv"
	"time"

	"github.com/dop251/goja"

	"mcpx/stdlib/internal/native"
)

// Object is a plain Go value: members in the order of the script's object.
type Object []Member

// Member is one of them.
type Member struct {
	Key   string
	Value any
}

// maxValues bounds what is written: an array may claim any length.
const maxValues = 10_000_000

// Plain makes a plain Go value of what a script wants to have written: nil, bool,
// float64, *big.Int, string, time.Time, []byte, []any or Object. toJSON and getters run;
// a Map is an Object and a Set a list; members that JSON has no form for are left out.
// ok is false if v itself is such. A cycle is a TypeError, and what nests deeper than
// MaxDepth a RangeError.
func (k *Kit) Plain(v goja.Value) (plain any, ok bool) {
	w := &walk{kit: k}
	w.isArray, _ = goja.AssertFunction(k.VM.Get("Array").(*goja.Object).Get("isArray"))
	return w.value("", v)
}

type walk struct {
	kit     *Kit
	isArray goja.Callable
	stack   []*goja.Object // being read, from outside to inside
	count   int
}

func (w *walk) value(key string, v goja.Value) (any, bool) {
	w.room(1)
	w.count++
	switch v := v.(type) {
	case nil, *goja.Symbol:
		return nil, false
	case goja.String:
		return v.String(), true
	case *goja.Object:
		return w.object(key, v)
	}
	switch {
	case goja.IsUndefined(v):
		return nil, false
	case goja.IsNull(v):
		return nil, true
	case goja.IsNumber(v):
		return v.ToFloat(), true
	case goja.IsBigInt(v):
		n, ok := new(big.Int).SetString(v.String(), 10)
		return n, ok
	}
	return v.ToBoolean(), true
}

// room throws if there is none for more values.
func (w *walk) room(more int64) {
	if int64(w.count)+more > maxValues {
		panic(w.kit.RangeError("more than " + strconv.Itoa(maxValues) + " values"))
	}
}

func (w *walk) object(key string, o *goja.Object) (any, bool) {
	if _, callable := goja.AssertFunction(o); callable {
		return nil, false
	}
	if o.ClassName() == "Date" {
		t, ok := o.Export().(time.Time)
		if !ok {
			return nil, true
		}
		return t, true
	}
	if b, ok := w.kit.Octets.Bytes(o); ok {
		return slices.Clone(b), true
	}
	if toJSON, ok := goja.AssertFunction(o.Get("toJSON")); ok {
		v := native.Call(toJSON, o, w.kit.VM.ToValue(key))
		inner, ok := v.(*goja.Object)
		if !ok {
			return w.value(key, v)
		}
		o = inner
	}
	switch o.ClassName() {
	case "Number":
		return o.ToNumber().ToFloat(), true
	case "String":
		return o.ToString().String(), true
	case "Boolean":
		return o.Export() == true, true
	}
	if o.ExportType() == reflect.TypeFor[*big.Int]() {
		return o.Export(), true
	}
	if slices.Contains(w.stack, o) {
		panic(w.kit.TypeError("the value contains itself"))
	}
	if len(w.stack) == MaxDepth {
		panic(w.kit.RangeError("the value is nested more than " + strconv.Itoa(MaxDepth) + " deep"))
	}
	w.stack = append(w.stack, o)
	plain := w.structure(o)
	w.stack = w.stack[:len(w.stack)-1]
	return plain, true
}

func (w *walk) structure(o *goja.Object) any {
	if native.Call(w.isArray, goja.Undefined(), o).ToBoolean() {
		list := []any{}
		length := o.Get("length").ToInteger()
		w.room(length)
		for i := range length {
			item, _ := w.value("", o.Get(strconv.FormatInt(i, 10))) // what has no form is null, as in JSON
			list = append(list, item)
		}
		return list
	}
	switch w.kit.inspect.Class(o) {
	case "Set":
		list := []any{}
		w.kit.VM.ForOf(o, func(v goja.Value) bool {
			item, _ := w.value("", v)
			list = append(list, item)
			return true
		})
		return list
	case "Map":
		members := Object{}
		w.kit.VM.ForOf(o, func(v goja.Value) bool {
			pair := v.(*goja.Object)
			key := native.String(w.kit.VM, pair.Get("0")).String()
			if value, ok := w.value(key, pair.Get("1")); ok {
				members = append(members, Member{key, value})
			}
			return true
		})
		return members
	}
	members := Object{}
	for _, key := range o.Keys() {
		if value, ok := w.value(key, o.Get(key)); ok {
			members = append(members, Member{key, value})
		}
	}
	return members
}

// RangeError makes a RangeError.
func (k *Kit) RangeError(message string) *goja.Object {
	o, err := k.VM.New(k.VM.Get("RangeError"), k.VM.ToValue(k.format+": "+message))
	native.Must(err)
	return o
}

// Timestamp writes a time as Date.prototype.toISOString does.
func Timestamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }
