package crypto

import (
	"crypto/hmac"
	"hash"

	"github.com/dop251/goja"

	"mcpx/stdlib/internal/native"
)

// hashing is what stands behind a Hash or an Hmac.
type hashing struct {
	digest *digest
	hash   hash.Hash
	done   bool
	hmac   bool
}

func (m *module) hashExports(e native.Exports) {
	e.Func("createHash", 2, func(call goja.FunctionCall) goja.Value {
		return native.Construct(m.hashClass().Constructor, m.hashClass().Constructor, call.Arguments...)
	})
	e.Func("createHmac", 3, func(call goja.FunctionCall) goja.Value {
		return native.Construct(m.hmacClass().Constructor, m.hmacClass().Constructor, call.Arguments...)
	})
	e.Func("hash", 3, func(call goja.FunctionCall) goja.Value {
		d := m.digest(native.Text(m.vm, call.Argument(0), "algorithm"))
		data := m.bytes(call.Argument(1), goja.Undefined(), "input", textOrView)
		encoding := call.Argument(2)
		if goja.IsUndefined(encoding) {
			encoding = m.vm.ToValue("hex")
		}
		return m.output(d.sum(data), encoding)
	})
	e.Func("getHashes", 0, func(goja.FunctionCall) goja.Value {
		list := make([]any, len(digestNames))
		for i, name := range digestNames {
			list[i] = name
		}
		return m.vm.NewArray(list...)
	})
	e.Lazy("Hash", func() goja.Value { return m.hashClass().Constructor })
	e.Lazy("Hmac", func() goja.Value { return m.hmacClass().Constructor })
}

// digest returns the hash function of a name and throws if there is none.
func (m *module) digest(name goja.Value) *digest {
	d := digestNamed(name.String())
	if d == nil {
		panic(m.error("Error", "", "Digest method not supported"))
	}
	return d
}

// validDigest is digest where Node checks the argument itself.
func (m *module) validDigest(v goja.Value, name string) *digest {
	native.Text(m.vm, v, name)
	d := digestNamed(v.String())
	if d == nil {
		panic(m.error("TypeError", "ERR_CRYPTO_INVALID_DIGEST", "Invalid digest: "+v.String()))
	}
	return d
}

func (m *module) hashClass() *native.Class {
	return m.hash.get(func() *native.Class {
		c := native.NewClass(m.vm, "Hash", 2, func(call goja.ConstructorCall) *goja.Object {
			native.Text(m.vm, call.Argument(0), "algorithm")
			d := m.digest(call.Argument(0))
			h := &hashing{digest: d, hash: d.new()}
			if length := option(call.Argument(1), "outputLength"); !goja.IsUndefined(length) {
				n := native.Integer(m.vm, length, "options.outputLength", 0, maxOutput)
				switch {
				case d.xof != nil:
					h.hash = d.xof(int(n))
				case int(n) != h.hash.Size():
					panic(m.error("Error", "ERR_OSSL_EVP_NOT_XOF_OR_INVALID_LENGTH", "error:030000B2:digital envelope routines::not XOF or invalid length"))
				}
			}
			m.hashes.Set(call.This, h)
			return nil
		})
		c.Method("copy", 1, func(call goja.FunctionCall) goja.Value {
			h := m.hashing(call.This)
			if h.done {
				panic(m.finalized())
			}
			copied, err := h.digest.cloned(h.hash)
			if err != nil {
				panic(m.thrown(err))
			}
			o := c.New()
			m.hashes.Set(o, &hashing{digest: h.digest, hash: copied})
			return o
		})
		m.hashMethods(c)
		return c
	})
}

// maxOutput bounds an output whose length a script chooses.
const maxOutput = 1 << 28

func (m *module) hmacClass() *native.Class {
	return m.hmac.get(func() *native.Class {
		c := native.NewClass(m.vm, "Hmac", 3, func(call goja.ConstructorCall) *goja.Object {
			native.Text(m.vm, call.Argument(0), "hmac")
			key := m.secret(call.Argument(1), option(call.Argument(2), "encoding"))
			d := m.validDigest(call.Argument(0), "hmac")
			m.hashes.Set(call.This, &hashing{digest: d, hash: hmac.New(d.new, key), hmac: true})
			return nil
		})
		m.hashMethods(c)
		return c
	})
}

// secret reads an argument that is a secret key.
func (m *module) secret(v, encoding goja.Value) []byte {
	if k, ok := m.keys.Get(v); ok {
		if k.kind != secretKey {
			panic(m.error("TypeError", "ERR_CRYPTO_INVALID_KEY_OBJECT_TYPE", "Invalid key object type "+k.kind+", expected secret."))
		}
		return k.secret
	}
	if k, ok := m.webKeys.Get(v); ok && k.kind == secretKey {
		return k.secret
	}
	return m.bytes(v, encoding, "key", textOrKey)
}

func (m *module) hashing(this goja.Value) *hashing {
	h, ok := m.hashes.Get(this)
	if !ok {
		panic(m.vm.NewTypeError("Illegal invocation"))
	}
	return h
}

func (m *module) finalized() *goja.Object {
	return m.error("Error", "ERR_CRYPTO_HASH_FINALIZED", "Digest already called")
}

// hashMethods adds what Hash and Hmac have in common.
func (m *module) hashMethods(c *native.Class) {
	update := func(call goja.FunctionCall) {
		h := m.hashing(call.This)
		if h.done {
			panic(m.finalized())
		}
		h.hash.Write(m.bytes(call.Argument(0), call.Argument(1), "data", textOrView))
	}
	c.Method("update", 2, func(call goja.FunctionCall) goja.Value {
		update(call)
		return call.This
	})
	c.Method("digest", 1, func(call goja.FunctionCall) goja.Value {
		h := m.hashing(call.This)
		var sum []byte
		switch {
		case !h.done:
			sum = h.hash.Sum(nil)
		case !h.hmac:
			panic(m.finalized())
		}
		h.done = true
		return m.output(sum, call.Argument(0))
	})
	m.streamed(c, func(this, chunk, encoding goja.Value) []byte {
		update(goja.FunctionCall{This: this, Arguments: []goja.Value{chunk, encoding}})
		return nil
	}, func(this goja.Value) []byte {
		h := m.hashing(this)
		if h.done {
			panic(m.finalized())
		}
		h.done = true
		return h.hash.Sum(nil)
	})
}
