package native

import (
	"runtime"
	"testing"

	"github.com/dop251/goja"
)

func TestClass(t *testing.T) {
	t.Parallel()
	vm := goja.New()
	slot := NewSlot[int]()
	c := NewClass(vm, "Thing", 1, func(call goja.ConstructorCall) *goja.Object {
		slot.Set(call.This, int(call.Argument(0).ToInteger()))
		return nil
	})
	c.Tag("Thing")
	c.Accessor("n", func(this goja.Value) goja.Value {
		n, ok := slot.Get(this)
		if !ok {
			panic(vm.NewTypeError("no Thing"))
		}
		return vm.ToValue(n)
	}, func(this, v goja.Value) { slot.Set(this.(*goja.Object), int(v.ToInteger())) })
	c.Method("double", 0, func(call goja.FunctionCall) goja.Value {
		n, _ := slot.Get(call.This)
		return vm.ToValue(2 * n)
	})
	c.Static("of", 1, func(call goja.FunctionCall) goja.Value {
		return Construct(c.Constructor, c.Constructor, call.Arguments...)
	})
	Must(vm.Set("Thing", c.Constructor))
	for code, want := range map[string]string{
		`new Thing(3).n`: "3",
		`class More extends Thing { triple() { return 3 * this.n } } const m = new More(2); m.n = 5; [m.triple(), m.double(), m instanceof Thing, m.constructor.name].join()`: "15,10,true,More",
		`Thing.of(4).double()`:                                          "8",
		`String(new Thing(1))`:                                          "[object Thing]",
		`[Thing.name, Thing.length].join()`:                             "Thing,1",
		`Object.keys(new Thing(1)).length`:                              "0",
		`try { Thing.call({}, 1) } catch (e) { e.name }`:                "TypeError",
		`try { Object.create(new Thing(1)).n } catch (e) { e.message }`: "no Thing",
		`try { new Proxy(new Thing(1), {}).n } catch (e) { e.message }`: "no Thing",
	} {
		v, err := vm.RunString(code)
		if err != nil {
			t.Errorf("%s: %v", code, err)
			continue
		}
		if v.String() != want {
			t.Errorf("%s = %s, want %s", code, v, want)
		}
	}
}

func TestSlotForgets(t *testing.T) {
	t.Parallel()
	vm := goja.New()
	slot := NewSlot[[]byte]()
	kept := vm.NewObject()
	slot.Set(kept, []byte("kept"))
	for range 1000 {
		slot.Set(vm.NewObject(), make([]byte, 1))
	}
	held := func() int {
		slot.mu.Lock()
		defer slot.mu.Unlock()
		return len(slot.values)
	}
	for range 100 {
		runtime.GC()
		if held() < 10 {
			break
		}
	}
	if n := held(); n >= 10 {
		t.Errorf("the slot holds %d values, want few", n)
	}
	if b, ok := slot.Get(kept); !ok || string(b) != "kept" {
		t.Errorf("Get = %q, %v", b, ok)
	}
}

func TestErrors(t *testing.T) {
	t.Parallel()
	vm := goja.New()
	for _, tt := range []struct {
		got  *goja.Object
		want string
	}{
		{InvalidType(vm, "size", "of type number", vm.ToValue("x")), `TypeError ERR_INVALID_ARG_TYPE The "size" argument must be of type number. Received type string ('x')`},
		{InvalidType(vm, "options.level", "of type number", goja.Null()), `TypeError ERR_INVALID_ARG_TYPE The "options.level" property must be of type number. Received null`},
		{InvalidType(vm, "first argument", "of type string", goja.Undefined()), `TypeError ERR_INVALID_ARG_TYPE The first argument must be of type string. Received undefined`},
		{OutOfRange(vm, "n", ">= 0", vm.ToValue(4294967297)), `RangeError ERR_OUT_OF_RANGE The value of "n" is out of range. It must be >= 0. Received 4_294_967_297`},
		{OutOfRange(vm, "n", ">= 0", vm.ToValue(-1.5)), `RangeError ERR_OUT_OF_RANGE The value of "n" is out of range. It must be >= 0. Received -1.5`},
		{InvalidValue(vm, "value", vm.ToValue("zz"), "is invalid"), `TypeError ERR_INVALID_ARG_VALUE The argument 'value' is invalid. Received 'zz'`},
	} {
		got := tt.got.Get("name").String() + " " + tt.got.Get("code").String() + " " + tt.got.Get("message").String()
		if got != tt.want {
			t.Errorf("got  %s\nwant %s", got, tt.want)
		}
	}
}
