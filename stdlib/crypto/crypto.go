// Package crypto is the global crypto of the web, and node:crypto: random numbers,
// digests, ciphers, signatures, keys.
//
// The algorithms are those of Go. What takes long runs beside the script, where its API
// lets it, and ends with the run: the costs that a script may ask for are bounded by
// maxIterations, maxScrypt and maxModulus. It has no Ed448, X448, secp256k1, DSA or
// Diffie-Hellman over prime fields, no RSA keys below 1024 bits, no certificates, and no
// salt of length zero in RSA-PSS.
package crypto

import (
	_ "embed"

	"github.com/dop251/goja"

	"mcpx/engine"
	"mcpx/stdlib/internal/native"
	"mcpx/stdlib/internal/octets"
)

//go:embed crypto.d.ts
var declarations string

// Module returns the globals and node:crypto.
func Module() engine.Module {
	return engine.Module{
		Name:         "node:crypto",
		Globals:      []string{"crypto", "Crypto", "SubtleCrypto", "CryptoKey"},
		Declarations: declarations,
		Make:         func(rt *engine.Runtime) *goja.Object { return newModule(rt).exports() },
	}
}

type module struct {
	rt     *engine.Runtime
	vm     *goja.Runtime
	octets *octets.Octets

	hashes  *native.Slot[*hashing]
	ciphers *native.Slot[*ciphering]
	signers *native.Slot[*signing]
	keys    *native.Slot[*key]
	agreed  *native.Slot[*agreement]
	webKeys *native.Slot[*webKey]

	// Classes, once they are needed.
	hash, hmac, cipher, decipher, sign, verify, ecdh classOnce
	keyObject                                        *keyClasses
	web                                              *webClasses
}

// classOnce makes a class when it is first needed.
type classOnce struct{ class *native.Class }

func (c *classOnce) get(make func() *native.Class) *native.Class {
	if c.class == nil {
		c.class = make()
	}
	return c.class
}

func newModule(rt *engine.Runtime) *module {
	return &module{
		rt: rt, vm: rt.VM(), octets: octets.New(rt.VM()),
		hashes: native.NewSlot[*hashing](), ciphers: native.NewSlot[*ciphering](), signers: native.NewSlot[*signing](),
		keys: native.NewSlot[*key](), agreed: native.NewSlot[*agreement](), webKeys: native.NewSlot[*webKey](),
	}
}

func (m *module) exports() *goja.Object {
	e := native.NewExports(m.vm)
	m.hashExports(e)
	m.randomExports(e)
	m.deriveExports(e)
	m.cipherExports(e)
	m.keyExports(e)
	m.signExports(e)
	m.agreementExports(e)
	e.Lazy("constants", func() goja.Value {
		o := m.vm.NewObject()
		for _, c := range constants {
			native.Must(o.Set(c.name, c.value))
		}
		return o
	})
	e.Lazy("webcrypto", func() goja.Value { return m.webClassesOnce().crypto })
	e.Lazy("subtle", func() goja.Value { return m.webClassesOnce().subtle })
	e.Func("getRandomValues", 1, m.getRandomValues)
	e.Hidden("crypto", func() goja.Value { return m.webClassesOnce().crypto })
	e.Hidden("Crypto", func() goja.Value { return m.webClassesOnce().cryptoClass.Constructor })
	e.Hidden("SubtleCrypto", func() goja.Value { return m.webClassesOnce().subtleClass.Constructor })
	e.Hidden("CryptoKey", func() goja.Value { return m.webClassesOnce().keyClass.Constructor })
	return e.Object
}

// constants are those of node:crypto that something here takes.
var constants = [...]struct {
	name  string
	value int
}{
	{"RSA_PKCS1_PADDING", pkcs1Padding},
	{"RSA_PKCS1_OAEP_PADDING", oaepPadding},
	{"RSA_PKCS1_PSS_PADDING", pssPadding},
	{"RSA_PSS_SALTLEN_DIGEST", -1},
	{"RSA_PSS_SALTLEN_MAX_SIGN", -2},
	{"RSA_PSS_SALTLEN_AUTO", -2},
}

const (
	pkcs1Padding = 1
	oaepPadding  = 4
	pssPadding   = 6
)

// error makes an error with a code, which may be empty.
func (m *module) error(class, code, message string) *goja.Object {
	if code == "" {
		e, err := m.vm.New(m.vm.Get(class), m.vm.ToValue(message))
		native.Must(err)
		return e
	}
	return native.Error(m.vm, class, code, message)
}

// bytes reads an argument that is memory, or text in an encoding.
func (m *module) bytes(v, encoding goja.Value, name, expected string) []byte {
	if s, ok := v.(goja.String); ok {
		return encodingOf(encoding).Encode(s)
	}
	b, ok := m.octets.Bytes(v)
	if !ok {
		panic(native.InvalidType(m.vm, name, expected, v))
	}
	return b
}

// What arguments of bytes may be, as errors say it.
const (
	textOrView   = "of type string or an instance of Buffer, TypedArray, or DataView"
	textOrMemory = "of type string or an instance of ArrayBuffer, Buffer, TypedArray, or DataView"
	memory       = "an instance of ArrayBuffer, Buffer, TypedArray, or DataView"
	textOrKey    = "of type string or an instance of ArrayBuffer, Buffer, TypedArray, DataView, KeyObject, or CryptoKey"
)

// encodingOf reads an argument that may name an encoding; what it is not means UTF-8.
func encodingOf(v goja.Value) octets.Encoding {
	if s, ok := v.(goja.String); ok {
		e, _ := octets.Named(s.String())
		return e
	}
	return octets.UTF8
}

// output returns bytes as text in an encoding, or as a Buffer if there is none.
func (m *module) output(b []byte, encoding goja.Value) goja.Value {
	name, ok := encoding.(goja.String)
	if !ok || name.String() == "buffer" {
		return m.octets.Buffer(b)
	}
	e, ok := octets.Named(name.String())
	if !ok {
		panic(native.Error(m.vm, "TypeError", "ERR_UNKNOWN_ENCODING", "Unknown encoding: "+name.String()))
	}
	return e.Decode(m.vm, b)
}

// option reads a member of options, undefined if there are none.
func option(options goja.Value, name string) goja.Value {
	if o, ok := options.(*goja.Object); ok {
		if v := o.Get(name); v != nil {
			return v
		}
	}
	return goja.Undefined()
}

// missing reports whether v is undefined or null.
func missing(v goja.Value) bool { return v == nil || goja.IsUndefined(v) || goja.IsNull(v) }

// answer hands a result to the callback of a function of Node, beside the script, or
// returns it if there is no callback. work runs on another goroutine and must not touch
// JavaScript.
func answer[T any](m *module, callback goja.Value, work func(*run) (T, error), deliver func(T) []goja.Value) goja.Value {
	fn, ok := goja.AssertFunction(callback)
	if !ok {
		v, err := work(&run{ctx: m.rt.Context()})
		if err != nil {
			panic(m.thrown(err))
		}
		return deliver(v)[0]
	}
	m.async(func(r *run) (any, error) { return work(r) }, func(v any, err error) {
		if err != nil {
			m.rt.Call(fn, goja.Undefined(), m.thrown(err))
			return
		}
		m.rt.Call(fn, goja.Undefined(), append([]goja.Value{goja.Null()}, deliver(v.(T))...)...)
	})
	return goja.Undefined()
}
