package crypto

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/rsa"
	"encoding/asn1"
	"hash"
	"math/big"

	"github.com/dop251/goja"

	"mcpx/stdlib/internal/native"
)

// scheme says how a signature is made.
type scheme struct {
	digest *digest // nil for Ed25519
	pss    bool
	salt   int  // of PSS: bytes, or one of rsa.PSSSaltLength…
	raw    bool // ECDSA signatures are two numbers of fixed size, and not DER
}

var errScheme = &failure{
	"Error", "ERR_OSSL_EVP_OPERATION_NOT_SUPPORTED_FOR_THIS_KEYTYPE",
	"error:03000096:digital envelope routines::operation not supported for this keytype",
}

// sign signs data, or, if hashed is given, what has been hashed already.
func (k *key) sign(s scheme, data []byte, hashed hash.Hash) ([]byte, error) {
	if p, ok := k.private.(ed25519.PrivateKey); ok {
		if hashed != nil || s.digest != nil {
			return nil, errScheme
		}
		return ed25519.Sign(p, data), nil
	}
	sum, err := s.sum(data, hashed)
	if err != nil {
		return nil, err
	}
	switch p := k.private.(type) {
	case *rsa.PrivateKey:
		if s.pss || k.pss {
			return rsa.SignPSS(rand.Reader, p, s.digest.id, sum, &rsa.PSSOptions{SaltLength: s.salt})
		}
		return rsa.SignPKCS1v15(nil, p, s.digest.id, sum)
	case *ecdsa.PrivateKey:
		der, err := ecdsa.SignASN1(rand.Reader, p, sum)
		if err != nil || !s.raw {
			return der, err
		}
		return rawSignature(der, curveOf(&p.PublicKey).size())
	}
	return nil, errScheme
}

func (s scheme) sum(data []byte, hashed hash.Hash) ([]byte, error) {
	if s.digest == nil || s.digest.id == 0 {
		return nil, errScheme
	}
	if hashed != nil {
		return hashed.Sum(nil), nil
	}
	return s.digest.sum(data), nil
}

// verify reports whether a signature is right.
func (k *key) verify(s scheme, data []byte, hashed hash.Hash, signature []byte) (bool, error) {
	if p, ok := k.public.(ed25519.PublicKey); ok {
		if hashed != nil || s.digest != nil {
			return false, errScheme
		}
		return ed25519.Verify(p, data, signature), nil
	}
	sum, err := s.sum(data, hashed)
	if err != nil {
		return false, err
	}
	switch p := k.public.(type) {
	case *rsa.PublicKey:
		if s.pss || k.pss {
			return rsa.VerifyPSS(p, s.digest.id, sum, signature, &rsa.PSSOptions{SaltLength: s.salt}) == nil, nil
		}
		return rsa.VerifyPKCS1v15(p, s.digest.id, sum, signature) == nil, nil
	case *ecdsa.PublicKey:
		if s.raw {
			if signature, err = derSignature(signature, curveOf(p).size()); err != nil {
				return false, nil //nolint:nilerr // a signature that is none does not fit
			}
		}
		return ecdsa.VerifyASN1(p, sum, signature), nil
	}
	return false, errScheme
}

type numbers struct{ R, S *big.Int }

func rawSignature(der []byte, size int) ([]byte, error) {
	var n numbers
	if _, err := asn1.Unmarshal(der, &n); err != nil {
		return nil, err
	}
	out := make([]byte, 2*size)
	n.R.FillBytes(out[:size])
	n.S.FillBytes(out[size:])
	return out, nil
}

func derSignature(raw []byte, size int) ([]byte, error) {
	if len(raw) != 2*size {
		return nil, errScheme
	}
	return asn1.Marshal(numbers{new(big.Int).SetBytes(raw[:size]), new(big.Int).SetBytes(raw[size:])})
}

// signing is what stands behind a Sign or Verify.
type signing struct {
	digest *digest
	hash   hash.Hash
}

func (m *module) signExports(e native.Exports) {
	class := func(name string, once *classOnce, finish func(c *native.Class)) func() *native.Class {
		return func() *native.Class {
			return once.get(func() *native.Class {
				c := native.NewClass(m.vm, name, 2, func(call goja.ConstructorCall) *goja.Object {
					d := m.validDigest(call.Argument(0), "algorithm")
					m.signers.Set(call.This, &signing{d, d.new()})
					return nil
				})
				update := func(call goja.FunctionCall) goja.Value {
					m.signing(call.This).hash.Write(m.bytes(call.Argument(0), call.Argument(1), "data", textOrView))
					return call.This
				}
				c.Method("update", 2, update)
				c.Method("write", 2, update)
				c.Method("end", 1, func(call goja.FunctionCall) goja.Value {
					if !missing(call.Argument(0)) {
						update(call)
					}
					return call.This
				})
				finish(c)
				return c
			})
		}
	}
	signClass := class("Sign", &m.sign, func(c *native.Class) {
		c.Method("sign", 2, func(call goja.FunctionCall) goja.Value {
			s := m.signing(call.This)
			if missing(call.Argument(0)) {
				panic(m.error("Error", "ERR_CRYPTO_SIGN_KEY_REQUIRED", "No key provided to sign"))
			}
			out, err := m.privateKey(call.Argument(0)).sign(m.scheme(s.digest, call.Argument(0), true), nil, s.hash)
			if err != nil {
				panic(m.thrown(err))
			}
			return m.output(out, call.Argument(1))
		})
	})
	verifyClass := class("Verify", &m.verify, func(c *native.Class) {
		c.Method("verify", 3, func(call goja.FunctionCall) goja.Value {
			s := m.signing(call.This)
			signature := m.bytes(call.Argument(1), call.Argument(2), "signature", textOrView)
			ok, err := m.publicKey(call.Argument(0)).verify(m.scheme(s.digest, call.Argument(0), false), nil, s.hash, signature)
			if err != nil {
				panic(m.thrown(err))
			}
			return m.vm.ToValue(ok)
		})
	})
	construct := func(class func() *native.Class) native.Function {
		return func(call goja.FunctionCall) goja.Value {
			return native.Construct(class().Constructor, class().Constructor, call.Arguments...)
		}
	}
	e.Func("createSign", 2, construct(signClass))
	e.Func("createVerify", 2, construct(verifyClass))
	e.Lazy("Sign", func() goja.Value { return signClass().Constructor })
	e.Lazy("Verify", func() goja.Value { return verifyClass().Constructor })
	e.Func("sign", 4, func(call goja.FunctionCall) goja.Value {
		d := m.optionalDigest(call.Argument(0))
		data := m.copied(call.Argument(1), "data", memory)
		k, s := m.privateKey(call.Argument(2)), m.scheme(d, call.Argument(2), true)
		return answer(m, call.Argument(3), func(*run) ([]byte, error) { return k.sign(k.fit(s), data, nil) }, m.buffer)
	})
	e.Func("verify", 5, func(call goja.FunctionCall) goja.Value {
		d := m.optionalDigest(call.Argument(0))
		data := m.copied(call.Argument(1), "data", memory)
		k, s := m.publicKey(call.Argument(2)), m.scheme(d, call.Argument(2), false)
		signature := m.copied(call.Argument(3), "signature", memory)
		return answer(m, call.Argument(4), func(*run) (bool, error) { return k.verify(k.fit(s), data, nil, signature) },
			func(ok bool) []goja.Value { return []goja.Value{m.vm.ToValue(ok)} })
	})
	m.encryptExports(e)
}

func (m *module) signing(this goja.Value) *signing {
	s, ok := m.signers.Get(this)
	if !ok {
		panic(m.vm.NewTypeError("Illegal invocation"))
	}
	return s
}

// optionalDigest reads the name of a hash function that the kind of key may decide.
func (m *module) optionalDigest(v goja.Value) *digest {
	if missing(v) {
		return nil
	}
	return m.validDigest(v, "algorithm")
}

// fit chooses SHA-256 for keys that need a hash function and were given none.
func (k *key) fit(s scheme) scheme {
	if _, edwards := k.public.(ed25519.PublicKey); s.digest == nil && !edwards {
		s.digest = digestNamed("sha256")
	}
	return s
}

// scheme reads how a signature is to be made from the argument that has the key.
func (m *module) scheme(d *digest, v goja.Value, signs bool) scheme {
	s := scheme{digest: d, salt: rsa.PSSSaltLengthAuto}
	if _, isBytes := m.octets.Bytes(v); isBytes {
		return s
	}
	if padding := option(v, "padding"); !missing(padding) {
		switch padding.ToInteger() {
		case pssPadding:
			s.pss = true
		case pkcs1Padding:
		default:
			panic(m.error("Error", "ERR_OSSL_RSA_ILLEGAL_OR_UNSUPPORTED_PADDING_MODE", "error:1C8000A5:Provider routines::illegal or unsupported padding mode"))
		}
	}
	if salt := option(v, "saltLength"); !missing(salt) {
		switch n := salt.ToInteger(); {
		case n == -1:
			s.salt = rsa.PSSSaltLengthEqualsHash
		case n == -2:
		case n == 0 && signs:
			panic(native.InvalidValue(m.vm, "options.saltLength", salt, "must not be 0 in mcpx"))
		case n < 0 || n > 1<<16:
			panic(native.InvalidValue(m.vm, "options.saltLength", salt, "is invalid"))
		default:
			s.salt = int(n)
		}
	}
	switch encoding := option(v, "dsaEncoding"); {
	case missing(encoding), encoding.String() == "der":
	case encoding.String() == "ieee-p1363":
		s.raw = true
	default:
		panic(native.InvalidValue(m.vm, "options.dsaEncoding", encoding, "is invalid"))
	}
	return s
}

// encryptExports adds encryption with RSA keys.
func (m *module) encryptExports(e native.Exports) {
	read := func(v goja.Value) (padding int, d *digest, label []byte) {
		padding, d = oaepPadding, digestNamed("sha1")
		if _, isBytes := m.octets.Bytes(v); isBytes {
			return padding, d, nil
		}
		if p := option(v, "padding"); !missing(p) {
			padding = int(p.ToInteger())
		}
		if name := option(v, "oaepHash"); !missing(name) {
			d = m.validDigest(name, "options.oaepHash")
		}
		if l := option(v, "oaepLabel"); !missing(l) {
			label = m.bytes(l, goja.Undefined(), "key.oaepLabel", memory)
		}
		return padding, d, label
	}
	failed := func(err error) {
		if err != nil {
			panic(m.error("Error", "ERR_OSSL_RSA_OAEP_DECODING_ERROR", "error:02000079:rsa routines::oaep decoding error"))
		}
	}
	unsupported := func() *goja.Object {
		return m.error("Error", "ERR_OSSL_RSA_ILLEGAL_OR_UNSUPPORTED_PADDING_MODE", "error:1C8000A5:Provider routines::illegal or unsupported padding mode")
	}
	e.Func("publicEncrypt", 2, func(call goja.FunctionCall) goja.Value {
		p, ok := m.publicKey(call.Argument(0)).public.(*rsa.PublicKey)
		if !ok {
			panic(m.thrown(errScheme))
		}
		data := m.bytes(call.Argument(1), option(call.Argument(0), "encoding"), "buffer", textOrMemory)
		padding, d, label := read(call.Argument(0))
		var out []byte
		var err error
		switch padding {
		case oaepPadding:
			out, err = rsa.EncryptOAEP(d.new(), rand.Reader, p, data, label)
		case pkcs1Padding:
			out, err = rsa.EncryptPKCS1v15(rand.Reader, p, data) //nolint:staticcheck // so does Node, where it is asked to
		default:
			panic(unsupported())
		}
		if err != nil {
			panic(m.error("Error", "ERR_OSSL_RSA_DATA_TOO_LARGE_FOR_KEY_SIZE", "error:0200006E:rsa routines::data too large for key size"))
		}
		return m.octets.Buffer(out)
	})
	e.Func("privateDecrypt", 2, func(call goja.FunctionCall) goja.Value {
		p, ok := m.privateKey(call.Argument(0)).private.(*rsa.PrivateKey)
		if !ok {
			panic(m.thrown(errScheme))
		}
		data := m.bytes(call.Argument(1), option(call.Argument(0), "encoding"), "buffer", textOrMemory)
		padding, d, label := read(call.Argument(0))
		var out []byte
		var err error
		switch padding {
		case oaepPadding:
			out, err = rsa.DecryptOAEP(d.new(), nil, p, data, label)
		case pkcs1Padding:
			// Whoever can ask often enough learns the text.
			panic(m.error("TypeError", "ERR_INVALID_ARG_VALUE", "RSA_PKCS1_PADDING is no longer supported for private decryption"))
		default:
			panic(unsupported())
		}
		failed(err)
		return m.octets.Buffer(out)
	})
	e.Func("privateEncrypt", 2, func(call goja.FunctionCall) goja.Value {
		p, ok := m.privateKey(call.Argument(0)).private.(*rsa.PrivateKey)
		if !ok {
			panic(m.thrown(errScheme))
		}
		out, err := rsa.SignPKCS1v15(nil, p, crypto.Hash(0), m.bytes(call.Argument(1), goja.Undefined(), "buffer", textOrMemory))
		if err != nil {
			panic(m.error("Error", "ERR_OSSL_RSA_DATA_TOO_LARGE_FOR_KEY_SIZE", "error:0200006E:rsa routines::data too large for key size"))
		}
		return m.octets.Buffer(out)
	})
	e.Func("publicDecrypt", 2, func(call goja.FunctionCall) goja.Value {
		p, ok := m.publicKey(call.Argument(0)).public.(*rsa.PublicKey)
		if !ok {
			panic(m.thrown(errScheme))
		}
		out, ok := recovered(p, m.bytes(call.Argument(1), goja.Undefined(), "buffer", textOrMemory))
		if !ok {
			panic(m.error("Error", "ERR_OSSL_RSA_PADDING_CHECK_FAILED", "error:02000072:rsa routines::padding check failed"))
		}
		return m.octets.Buffer(out)
	})
}

// recovered returns what was encrypted with a private key, padded as PKCS #1 says.
func recovered(p *rsa.PublicKey, b []byte) ([]byte, bool) {
	n := p.Size()
	x := new(big.Int).SetBytes(b)
	if len(b) != n || x.Cmp(p.N) >= 0 || p.N.BitLen() > 1<<14 {
		return nil, false
	}
	padded := x.Exp(x, big.NewInt(int64(p.E)), p.N).FillBytes(make([]byte, n))
	if n < 11 || padded[0] != 0 || padded[1] != 1 {
		return nil, false
	}
	for i, c := range padded[2:] {
		switch {
		case c == 0 && i >= 8:
			return padded[2+i+1:], true
		case c != 0xff:
			return nil, false
		}
	}
	return nil, false
}
