package crypto

import (
	"crypto/rsa"
	"encoding/pem"
	"errors"
	"fmt"
	"math"
	"math/big"

	"github.com/dop251/goja"

	"mcpx/stdlib/internal/native"
)

// keyClasses are KeyObject and its heirs.
type keyClasses struct{ base, secret, public, private *native.Class }

func (m *module) keyClassesOnce() *keyClasses {
	if m.keyObject != nil {
		return m.keyObject
	}
	abstract := func(name string) *native.Class {
		return native.NewClass(m.vm, name, 2, func(goja.ConstructorCall) *goja.Object {
			panic(m.error("TypeError", "ERR_ILLEGAL_CONSTRUCTOR", "Illegal constructor"))
		})
	}
	c := &keyClasses{abstract("KeyObject"), abstract("SecretKeyObject"), abstract("PublicKeyObject"), abstract("PrivateKeyObject")}
	c.base.Hidden().Tag("KeyObject")
	c.base.Getter("type", func(this goja.Value) goja.Value { return m.vm.ToValue(m.key(this).kind) })
	c.base.Method("equals", 1, func(call goja.FunctionCall) goja.Value {
		k := m.key(call.This)
		other, ok := m.keys.Get(call.Argument(0))
		if !ok {
			panic(native.InvalidType(m.vm, "otherKeyObject", "an instance of KeyObject", call.Argument(0)))
		}
		return m.vm.ToValue(k.equal(other))
	})
	c.base.Static("from", 1, func(call goja.FunctionCall) goja.Value {
		k, ok := m.webKeys.Get(call.Argument(0))
		if !ok {
			panic(native.InvalidType(m.vm, "key", "an instance of CryptoKey", call.Argument(0)))
		}
		return m.wrapKey(k.key)
	})
	for _, heir := range []*native.Class{c.secret, c.public, c.private} {
		heir.Hidden().Extends(c.base.Constructor)
		heir.Method("export", 1, func(call goja.FunctionCall) goja.Value {
			return m.export(m.key(call.This), call.Argument(0))
		})
		if heir == c.secret {
			heir.Getter("symmetricKeySize", func(this goja.Value) goja.Value { return m.vm.ToValue(len(m.key(this).secret)) })
			continue
		}
		heir.Getter("asymmetricKeyType", func(this goja.Value) goja.Value { return m.vm.ToValue(m.key(this).algorithm()) })
		heir.Getter("asymmetricKeyDetails", func(this goja.Value) goja.Value { return m.details(m.key(this)) })
	}
	m.keyObject = c
	return c
}

func (m *module) key(this goja.Value) *key {
	k, ok := m.keys.Get(this)
	if !ok {
		panic(m.vm.NewTypeError("Illegal invocation"))
	}
	return k
}

// wrapKey returns the KeyObject of a key.
func (m *module) wrapKey(k *key) *goja.Object {
	c := m.keyClassesOnce()
	o := map[string]*native.Class{secretKey: c.secret, publicKey: c.public, privateKey: c.private}[k.kind].New()
	m.keys.Set(o, k)
	return o
}

func (m *module) details(k *key) goja.Value {
	o := m.vm.NewObject()
	switch public := k.public.(type) {
	case *rsa.PublicKey:
		native.Must(o.Set("modulusLength", public.N.BitLen()))
		native.Must(o.Set("publicExponent", big.NewInt(int64(public.E))))
	default:
		if c := curveOf(public); c != nil {
			native.Must(o.Set("namedCurve", c.openSSL))
		}
	}
	return o
}

func (m *module) keyExports(e native.Exports) {
	e.Lazy("KeyObject", func() goja.Value { return m.keyClassesOnce().base.Constructor })
	e.Func("createSecretKey", 2, func(call goja.FunctionCall) goja.Value {
		b := append([]byte(nil), m.bytes(call.Argument(0), call.Argument(1), "key", textOrMemory)...)
		return m.wrapKey(&key{kind: secretKey, secret: b})
	})
	e.Func("createPrivateKey", 1, func(call goja.FunctionCall) goja.Value { return m.wrapKey(m.privateKey(call.Argument(0))) })
	e.Func("createPublicKey", 1, func(call goja.FunctionCall) goja.Value { return m.wrapKey(m.publicKey(call.Argument(0))) })
	e.Func("generateKeyPairSync", 2, func(call goja.FunctionCall) goja.Value {
		r := m.recipe(call.Argument(0), call.Argument(1))
		k, err := r.generate()
		if err != nil {
			panic(m.thrown(err))
		}
		o := m.vm.NewObject()
		pair := m.pair(k, call.Argument(1))
		native.Must(o.Set("publicKey", pair[0]))
		native.Must(o.Set("privateKey", pair[1]))
		return o
	})
	e.Func("generateKeyPair", 3, func(call goja.FunctionCall) goja.Value {
		options, callback := call.Argument(1), call.Argument(2)
		if _, ok := goja.AssertFunction(options); ok {
			options, callback = goja.Undefined(), options
		}
		native.Callback(m.vm, callback, "callback")
		r := m.recipe(call.Argument(0), options)
		return answer(m, callback, func(*run) (*key, error) { return r.generate() }, func(k *key) []goja.Value { return m.pair(k, options) })
	})
	generate := func(call goja.FunctionCall, callback goja.Value) goja.Value {
		kind := native.Text(m.vm, call.Argument(0), "type").String()
		length := option(call.Argument(1), "length")
		var bits int64
		switch kind {
		case "hmac":
			bits = native.Integer(m.vm, length, "options.length", 8, math.MaxInt32)
		case "aes":
			bits = native.Integer(m.vm, length, "options.length", 0, native.MaxSafe)
			if bits != 128 && bits != 192 && bits != 256 {
				panic(native.InvalidValue(m.vm, "options.length", length, "must be one of: 128, 192, 256"))
			}
		default:
			panic(native.InvalidValue(m.vm, "type", call.Argument(0), "must be a supported key type"))
		}
		b := m.octets.Make(bits / 8)
		return answer(m, callback, func(*run) ([]byte, error) { return b, fill(b) }, func(b []byte) []goja.Value {
			return []goja.Value{m.wrapKey(&key{kind: secretKey, secret: b})}
		})
	}
	e.Func("generateKeySync", 2, func(call goja.FunctionCall) goja.Value { return generate(call, goja.Undefined()) })
	e.Func("generateKey", 3, func(call goja.FunctionCall) goja.Value {
		native.Callback(m.vm, call.Argument(2), "callback")
		return generate(call, call.Argument(2))
	})
}

// recipe reads the arguments of the functions that make pairs of keys.
func (m *module) recipe(kind, options goja.Value) *recipe {
	r := &recipe{algorithm: native.Text(m.vm, kind, "type").String()}
	switch r.algorithm {
	case "rsa", "rsa-pss":
		bits := native.Integer(m.vm, option(options, "modulusLength"), "options.modulusLength", 0, math.MaxUint32)
		if bits < minModulus || bits > maxModulus {
			panic(native.OutOfRange(m.vm, "options.modulusLength", fmt.Sprintf(">= %d && <= %d", minModulus, maxModulus), option(options, "modulusLength")))
		}
		if v := option(options, "publicExponent"); !goja.IsUndefined(v) && v.ToInteger() != 65537 {
			panic(native.InvalidValue(m.vm, "options.publicExponent", v, "must be 65537"))
		}
		r.bits = int(bits)
	case "ec":
		name := native.Text(m.vm, option(options, "namedCurve"), "options.namedCurve").String()
		if r.curve = curveNamed(name); r.curve == nil {
			panic(m.error("TypeError", "ERR_CRYPTO_INVALID_CURVE", "Invalid EC curve name"))
		}
	case "ed25519", "x25519":
	default:
		panic(native.InvalidValue(m.vm, "type", kind, "must be a supported key type"))
	}
	return r
}

// pair returns the two keys of a pair, written as options say.
func (m *module) pair(k *key, options goja.Value) []goja.Value {
	write := func(k *key, name string) goja.Value {
		if encoding := option(options, name); !missing(encoding) {
			return m.export(k, encoding)
		}
		return m.wrapKey(k)
	}
	return []goja.Value{write(k.publicHalf(), "publicKeyEncoding"), write(k, "privateKeyEncoding")}
}

// export writes a key as options say.
func (m *module) export(k *key, options goja.Value) goja.Value {
	format := option(options, "format")
	if format.String() == "jwk" {
		j, err := k.jwk()
		if err != nil {
			panic(m.thrown(err))
		}
		return m.jwkObject(j)
	}
	if k.kind == secretKey {
		return m.octets.Buffer(append([]byte(nil), k.secret...))
	}
	form := option(options, "type")
	if missing(form) {
		panic(native.InvalidValue(m.vm, "options.type", form, "is invalid"))
	}
	if !missing(option(options, "cipher")) {
		panic(m.error("Error", "ERR_FEATURE_UNAVAILABLE_ON_PLATFORM", "mcpx does not write encrypted private keys"))
	}
	der, err := k.der(form.String())
	if err != nil {
		panic(native.InvalidValue(m.vm, "options.type", form, "is invalid"))
	}
	switch format.String() {
	case "der":
		return m.octets.Buffer(der)
	case "pem":
		return m.vm.ToValue(string(pem.EncodeToMemory(&pem.Block{Type: k.label(form.String()), Bytes: der})))
	}
	panic(native.InvalidValue(m.vm, "options.format", format, "is invalid"))
}

func (m *module) jwkObject(j jwk) *goja.Object {
	o := m.vm.NewObject()
	m.writeJWK(o, j)
	return o
}

func (m *module) writeJWK(o *goja.Object, j jwk) {
	for _, name := range j.order() {
		if text, ok := j[name]; ok {
			native.Must(o.Set(name, text))
		}
	}
}

// jwkOf reads a JSON Web Key.
func (m *module) jwkOf(v goja.Value) jwk {
	o, ok := v.(*goja.Object)
	if !ok {
		panic(native.InvalidType(m.vm, "key.key", "of type object", v))
	}
	j := jwk{}
	for _, name := range jwkMembers {
		if s, ok := o.Get(name).(goja.String); ok {
			j[name] = s.String()
		}
	}
	return j
}

// privateKey reads an argument that is a private key.
func (m *module) privateKey(v goja.Value) *key {
	k := m.anyKey(v, privateKey)
	if k.kind != privateKey {
		if _, object := m.keys.Get(v); !object {
			panic(m.thrown(errUnsupported))
		}
		panic(m.error("TypeError", "ERR_CRYPTO_INVALID_KEY_OBJECT_TYPE", "Invalid key object type "+k.kind+", expected private."))
	}
	return k
}

// publicKey reads an argument that is a public key, or the private one it belongs to.
func (m *module) publicKey(v goja.Value) *key {
	switch k := m.anyKey(v, publicKey); k.kind {
	case privateKey:
		return k.publicHalf()
	case publicKey:
		return k
	}
	panic(m.error("TypeError", "ERR_CRYPTO_INVALID_KEY_OBJECT_TYPE", "Invalid key object type secret, expected private or public."))
}

// anyKey reads a key in any of the ways that Node takes one.
func (m *module) anyKey(v goja.Value, kind string) *key {
	if k, ok := m.keys.Get(v); ok {
		return k
	}
	if k, ok := m.webKeys.Get(v); ok {
		return k.key
	}
	format, form, inner := "pem", "", v
	if _, isBytes := m.octets.Bytes(v); !isBytes {
		if o, ok := v.(*goja.Object); ok {
			inner = option(o, "key")
			if k, ok := m.keys.Get(inner); ok {
				return k
			}
			if k, ok := m.webKeys.Get(inner); ok {
				return k.key
			}
			if f := option(o, "format"); !missing(f) {
				format = f.String()
			}
			if f := option(o, "type"); !missing(f) {
				form = f.String()
			}
		}
	}
	k, err := m.readKey(inner, format, form, kind)
	if err != nil {
		failure := &failure{}
		if errors.As(err, &failure) {
			err = errUnsupported
		}
		panic(m.thrown(err))
	}
	return k
}

func (m *module) readKey(v goja.Value, format, form, kind string) (*key, error) {
	if format == "jwk" {
		return m.jwkOf(v).key()
	}
	b := m.bytes(v, goja.Undefined(), "key", textOrKey)
	if format == "der" {
		if form == "" {
			form = formSPKI
			if kind == privateKey {
				form = formPKCS8
			}
		}
		if k, err := fromDER(b, form, kind); err == nil {
			return k, nil
		}
		return fromDER(b, form, privateKey)
	}
	return fromPEM(b)
}
