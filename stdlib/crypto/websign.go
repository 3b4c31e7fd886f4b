package crypto

import (
	"crypto/hkdf"
	"crypto/hmac"
	"strings"

	"github.com/dop251/goja"

	"mcpx/stdlib/internal/native"
)

// signScheme reads the parameters of a signature with k.
func (a *arguments) signScheme(p *parameters, k *webKey) scheme {
	s := scheme{digest: k.algorithm.digest}
	switch p.name {
	case "ECDSA":
		s.digest, s.raw = p.digest(), true
	case "RSA-PSS":
		s.pss, s.salt = true, p.number(p.required("saltLength"), "saltLength", 1<<32-1)
		if s.salt == 0 {
			panic(a.exception("NotSupportedError", "mcpx does not have RSA-PSS with a salt of length 0"))
		}
	}
	return s
}

// sign is SubtleCrypto.sign.
func (a *arguments) sign() job {
	data := a.bytes(2)
	p := a.parameters(0, "sign")
	k := a.use(1, "sign", p)
	s := a.signScheme(p, k)
	return a.bytesJob(func(*run) ([]byte, error) {
		if k.kind == secretKey {
			return k.mac(data), nil
		}
		out, err := k.key.sign(s, data, nil)
		if err != nil {
			return nil, operationFailed
		}
		return out, nil
	})
}

// verify is SubtleCrypto.verify.
func (a *arguments) verify() job {
	signature, data := a.bytes(2), a.bytes(3)
	p := a.parameters(0, "verify")
	k := a.use(1, "verify", p)
	s := a.signScheme(p, k)
	return job{
		func(*run) (any, error) {
			if k.kind == secretKey {
				return hmac.Equal(k.mac(data), signature), nil
			}
			ok, err := k.key.verify(s, data, nil, signature)
			return ok && err == nil, nil
		},
		func(v any) goja.Value { return a.m.vm.ToValue(v) },
	}
}

func (w *webKey) mac(data []byte) []byte {
	h := hmac.New(w.algorithm.digest.new, w.secret)
	h.Write(data)
	return h.Sum(nil)
}

// derivation reads how bits are derived from the key at i; bits is how many, or -1 for
// all that there are.
func (a *arguments) derivation(i int, usage string, bits int) func(*run) ([]byte, error) {
	p := a.parameters(0, "deriveBits")
	switch p.name {
	case "HKDF":
		d, salt, info := p.digest(), p.requiredBytes("salt"), p.requiredBytes("info")
		k := a.use(i, usage, p)
		a.wholeBytes(bits)
		return func(*run) ([]byte, error) {
			out, err := hkdf.Key(d.new, k.secret, salt, string(info), bits/8)
			if err != nil {
				return nil, operationFailed
			}
			return out, nil
		}
	case "PBKDF2":
		d, salt := p.digest(), p.requiredBytes("salt")
		iterations := p.number(p.required("iterations"), "iterations", 1<<32-1)
		k := a.use(i, usage, p)
		if iterations == 0 {
			panic(a.exception("OperationError", "iterations cannot be zero"))
		}
		a.wholeBytes(bits)
		return func(r *run) ([]byte, error) { return r.pbkdf2(d, k.secret, salt, int64(iterations), bits/8) }
	}
	public, ok := a.m.webKeys.Get(p.required("public"))
	if !ok {
		panic(a.m.error("TypeError", "ERR_INVALID_ARG_TYPE", "Failed to normalize algorithm: 'public' of 'EcdhKeyDeriveParams' (passed algorithm) is not of type CryptoKey."))
	}
	k := a.use(i, usage, p)
	switch {
	case public.kind != publicKey:
		panic(a.exception("InvalidAccessError", "algorithm.public must be a public key"))
	case public.algorithm.name != p.name:
		panic(a.exception("InvalidAccessError", "algorithm.public must be an "+p.name+" key"))
	}
	return func(*run) ([]byte, error) {
		secret, err := agree(k.key, public.key)
		if err != nil {
			return nil, operationFailed
		}
		if bits < 0 {
			return secret, nil
		}
		n := (bits + 7) / 8
		if n > len(secret) {
			return nil, &failure{code: "OperationError", message: "derived bit length is too small"}
		}
		out := append([]byte{}, secret[:n]...)
		if rest := bits % 8; rest != 0 {
			out[n-1] &= 0xff << (8 - rest)
		}
		return out, nil
	}
}

func (a *arguments) wholeBytes(bits int) {
	if bits < 0 || bits%8 != 0 || bits/8 > maxDerived {
		panic(a.exception("OperationError", "length must be a multiple of 8"))
	}
}

// deriveBits is SubtleCrypto.deriveBits.
func (a *arguments) deriveBits() job {
	bits := -1
	if v := a.call.Argument(2); !missing(v) {
		bits = int(min(max(v.ToNumber().ToFloat(), 0), 1<<32-1))
	}
	return a.bytesJob(a.derivation(1, "deriveBits", bits))
}

// deriveKey is SubtleCrypto.deriveKey.
func (a *arguments) deriveKey() job {
	m := a.m
	as := a.parameters(2, "importKey")
	length, ok := m.parameters(a.call.Argument(2), "length")
	if !ok {
		panic(a.exception("NotSupportedError", "Unrecognized algorithm name"))
	}
	extractable, usages := a.call.Argument(3).ToBoolean(), a.usages(4)
	work := a.derivation(1, "deriveKey", a.keyBits(length))
	return job{
		func(r *run) (any, error) { return work(r) },
		func(v any) goja.Value {
			return m.newWebKey(m.importKey("raw", v.([]byte), nil, as, extractable, usages))
		},
	}
}

// keyBits is how long a key for an algorithm is, -1 if it may have any length.
func (a *arguments) keyBits(p *parameters) int {
	switch {
	case strings.HasPrefix(p.name, "AES-"):
		bits := p.number(p.required("length"), "length", 1<<16-1)
		if bits != 128 && bits != 192 && bits != 256 {
			panic(a.exception("OperationError", "Invalid key length"))
		}
		return bits
	case p.name == "HMAC":
		if v := p.get("length"); v != nil {
			bits := p.number(v, "length", 1<<32-1)
			if bits == 0 {
				panic(native.DOMException(a.m.vm, "OperationError", "Zero-length key is not supported"))
			}
			return bits
		}
		return 8 * p.digest().new().BlockSize()
	}
	return -1
}
