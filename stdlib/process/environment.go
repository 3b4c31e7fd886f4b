package process

import (
	"encoding/json"
	"slices"

	"github.com/dop251/goja"

	"mcpx/engine"
	"mcpx/stdlib/internal/native"
)

// environment is process.env: text by name. A script may change its own copy.
type environment struct {
	rt     *engine.Runtime
	vm     *goja.Runtime
	names  []string // in order
	values map[string]goja.Value
	missed map[string]bool // looked for and not there; nil if nothing is kept back
}

// maxMissed bounds how many variables that are not there the host is asked about.
const maxMissed = 64

// newEnvironment asks the host for the variables that the run was granted.
func newEnvironment(rt *engine.Runtime) *goja.Object {
	e := &environment{rt: rt, vm: rt.VM(), values: map[string]goja.Value{}}
	var granted struct {
		Env map[string]string `json:"env"`
		All bool              `json:"all"`
	}
	if host := rt.Host(); host != nil {
		head, _, err := host.Call(rt.Context(), "env", struct{}{}, nil)
		if err == nil {
			err = json.Unmarshal(head, &granted)
		}
		if err != nil {
			granted.Env = nil
		} else if !granted.All {
			e.missed = map[string]bool{}
		}
	}
	for name, value := range granted.Env {
		e.names = append(e.names, name)
		e.values[name] = e.vm.ToValue(value)
	}
	slices.Sort(e.names)
	return e.vm.NewDynamicObject(e)
}

// Get implements goja.DynamicObject.
func (e *environment) Get(name string) goja.Value {
	v := e.values[name]
	if v == nil && e.missed != nil && !e.missed[name] && len(e.missed) < maxMissed && variable(name) {
		// What is not granted reads as what is not set. The host hears of it, so that it can
		// tell whoever runs the script what to grant; the script is told nothing.
		e.missed[name] = true
		_, _, _ = e.rt.Host().Call(e.rt.Context(), "env", map[string]string{"name": name}, nil)
	}
	return v
}

// variable reports whether a name is one that an environment has.
func variable(name string) bool {
	switch name {
	case "then", "toJSON", "constructor", "toString", "valueOf", "hasOwnProperty", "__proto__":
		return false // asked by the language, of every object
	}
	for i, r := range name {
		if r != '_' && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (i == 0 || r < '0' || r > '9') {
			return false
		}
	}
	return name != ""
}

// Set implements goja.DynamicObject.
func (e *environment) Set(name string, v goja.Value) bool {
	text := native.String(e.vm, v)
	if _, known := e.values[name]; !known {
		e.names = append(e.names, name)
	}
	e.values[name] = text
	return true
}

// Has implements goja.DynamicObject.
func (e *environment) Has(name string) bool { return e.values[name] != nil }

// Delete implements goja.DynamicObject.
func (e *environment) Delete(name string) bool {
	if _, known := e.values[name]; known {
		delete(e.values, name)
		e.names = slices.DeleteFunc(e.names, func(n string) bool { return n == name })
	}
	return true
}

// Keys implements goja.DynamicObject.
func (e *environment) Keys() []string { return slices.Clone(e.names) }
