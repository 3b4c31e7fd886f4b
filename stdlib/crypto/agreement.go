package crypto

import (
	"crypto/ecdh"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"

	"github.com/dop251/goja"

	"mcpx/stdlib/internal/native"
)

// agreement is what stands behind an ECDH.
type agreement struct {
	curve   *curve
	private *ecdh.PrivateKey // nil before there is one
}

func (m *module) agreementExports(e native.Exports) {
	class := func() *native.Class { return m.ecdh.get(m.newECDH) }
	e.Func("createECDH", 1, func(call goja.FunctionCall) goja.Value {
		return native.Construct(class().Constructor, class().Constructor, call.Arguments...)
	})
	e.Lazy("ECDH", func() goja.Value { return class().Constructor })
	e.Func("getCurves", 0, func(goja.FunctionCall) goja.Value {
		var names []any
		for _, c := range curves() {
			names = append(names, c.openSSL)
		}
		return m.vm.NewArray(names...)
	})
	e.Func("diffieHellman", 1, func(call goja.FunctionCall) goja.Value {
		private, public := m.privateKey(option(call.Argument(0), "privateKey")), m.publicKey(option(call.Argument(0), "publicKey"))
		b, err := agree(private, public)
		if err != nil {
			panic(m.error("Error", "ERR_CRYPTO_INCOMPATIBLE_KEY", "Incompatible key type for Diffie-Hellman: "+private.algorithm()+" and "+public.algorithm()))
		}
		return m.octets.Buffer(b)
	})
}

// agree returns the secret that two keys have in common.
func agree(private, public *key) ([]byte, error) {
	p, err := dhPrivate(private)
	if err != nil {
		return nil, err
	}
	q, err := dhPublic(public)
	if err != nil {
		return nil, err
	}
	return p.ECDH(q)
}

func dhPrivate(k *key) (*ecdh.PrivateKey, error) {
	switch p := k.private.(type) {
	case *ecdsa.PrivateKey:
		return p.ECDH()
	case *ecdh.PrivateKey:
		return p, nil
	}
	return nil, errScheme
}

func dhPublic(k *key) (*ecdh.PublicKey, error) {
	switch p := k.public.(type) {
	case *ecdsa.PublicKey:
		return p.ECDH()
	case *ecdh.PublicKey:
		return p, nil
	}
	return nil, errScheme
}

func (m *module) newECDH() *native.Class {
	c := native.NewClass(m.vm, "ECDH", 1, func(call goja.ConstructorCall) *goja.Object {
		native.Text(m.vm, call.Argument(0), "curve")
		curve := curveNamed(call.Argument(0).String())
		if curve == nil {
			panic(m.error("TypeError", "ERR_CRYPTO_INVALID_CURVE", "Invalid EC curve name"))
		}
		m.agreed.Set(call.This, &agreement{curve: curve})
		return nil
	})
	of := func(this goja.Value) *agreement {
		a, ok := m.agreed.Get(this)
		if !ok {
			panic(m.vm.NewTypeError("Illegal invocation"))
		}
		return a
	}
	withKey := func(this goja.Value) *agreement {
		a := of(this)
		if a.private == nil {
			panic(m.error("Error", "ERR_CRYPTO_ECDH_INVALID_PUBLIC_KEY", "Failed to get ECDH key: there is none yet"))
		}
		return a
	}
	public := func(call goja.FunctionCall) goja.Value {
		point := withKey(call.This).private.PublicKey().Bytes()
		if option := call.Argument(1); !missing(option) && option.String() == "compressed" {
			point = compressed(point)
		}
		return m.output(point, call.Argument(0))
	}
	c.Method("generateKeys", 2, func(call goja.FunctionCall) goja.Value {
		a := of(call.This)
		k, err := a.curve.ecdh.GenerateKey(rand.Reader)
		if err != nil {
			panic(m.thrown(err))
		}
		a.private = k
		return public(call)
	})
	c.Method("getPublicKey", 2, public)
	c.Method("getPrivateKey", 1, func(call goja.FunctionCall) goja.Value {
		return m.output(withKey(call.This).private.Bytes(), call.Argument(0))
	})
	c.Method("setPrivateKey", 2, func(call goja.FunctionCall) goja.Value {
		a := of(call.This)
		b := m.bytes(call.Argument(0), call.Argument(1), "key", textOrMemory)
		n := a.curve.size()
		if len(b) < n {
			b = append(make([]byte, n-len(b)), b...)
		}
		k, err := a.curve.ecdh.NewPrivateKey(b)
		if err != nil {
			panic(m.error("Error", "ERR_CRYPTO_INVALID_KEYTYPE", "Private key is not valid for specified curve."))
		}
		a.private = k
		return call.This
	})
	c.Method("computeSecret", 3, func(call goja.FunctionCall) goja.Value {
		a := withKey(call.This)
		b := m.bytes(call.Argument(0), call.Argument(1), "otherPublicKey", textOrMemory)
		other, err := a.curve.ecdh.NewPublicKey(uncompressed(a.curve.elliptic, b))
		if err != nil {
			panic(m.error("Error", "ERR_CRYPTO_ECDH_INVALID_PUBLIC_KEY", "Public key is not valid for specified curve"))
		}
		secret, err := a.private.ECDH(other)
		if err != nil {
			panic(m.thrown(err))
		}
		return m.output(secret, call.Argument(2))
	})
	return c
}

// compressed leaves the second coordinate of a point out, but for its parity.
func compressed(point []byte) []byte {
	n := (len(point) - 1) / 2
	out := append([]byte(nil), point[:1+n]...)
	out[0] = 2 | point[len(point)-1]&1
	return out
}

func uncompressed(c elliptic.Curve, point []byte) []byte {
	if len(point) == 0 || point[0] != 2 && point[0] != 3 {
		return point
	}
	x, y := elliptic.UnmarshalCompressed(c, point)
	if x == nil {
		return nil
	}
	n := (c.Params().BitSize + 7) / 8
	out := make([]byte, 1+2*n)
	out[0] = 4
	x.FillBytes(out[1 : 1+n])
	y.FillBytes(out[1+n:])
	return out
}
