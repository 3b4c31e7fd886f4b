package crypto

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/dop251/goja"

	"mcpx/stdlib/internal/native"
)

// webClasses are those of the web's crypto, and its two objects.
type webClasses struct {
	cryptoClass, subtleClass, keyClass *native.Class
	crypto, subtle                     *goja.Object
}

func (m *module) webClassesOnce() *webClasses {
	if m.web != nil {
		return m.web
	}
	w := &webClasses{
		cryptoClass: native.NewAbstract(m.vm, "Crypto"),
		subtleClass: native.NewAbstract(m.vm, "SubtleCrypto"),
		keyClass:    native.NewAbstract(m.vm, "CryptoKey"),
	}
	m.web = w
	w.crypto, w.subtle = w.cryptoClass.New(), w.subtleClass.New()
	w.cryptoClass.Tag("Crypto")
	w.cryptoClass.Getter("subtle", func(this goja.Value) goja.Value {
		m.mustBe(this, w.crypto, "Crypto")
		return w.subtle
	})
	w.cryptoClass.Method("getRandomValues", 1, func(call goja.FunctionCall) goja.Value {
		m.mustBe(call.This, w.crypto, "Crypto")
		return m.getRandomValues(call)
	})
	w.cryptoClass.Method("randomUUID", 0, func(call goja.FunctionCall) goja.Value {
		m.mustBe(call.This, w.crypto, "Crypto")
		return m.vm.ToValue(uuid())
	})
	w.subtleClass.Tag("SubtleCrypto")
	for _, f := range []struct {
		name     string
		required int
		read     func(*arguments) job
	}{
		{"encrypt", 3, func(a *arguments) job { return a.crypt(true) }},
		{"decrypt", 3, func(a *arguments) job { return a.crypt(false) }},
		{"sign", 3, (*arguments).sign},
		{"verify", 4, (*arguments).verify},
		{"digest", 2, (*arguments).digest},
		{"generateKey", 3, (*arguments).generateKey},
		{"deriveKey", 5, (*arguments).deriveKey},
		{"deriveBits", 2, (*arguments).deriveBits},
		{"importKey", 4, (*arguments).importKey},
		{"exportKey", 2, (*arguments).exportKey},
		{"wrapKey", 4, (*arguments).wrapKey},
		{"unwrapKey", 6, (*arguments).unwrapKey},
	} {
		w.subtleClass.Method(f.name, f.required, func(call goja.FunctionCall) goja.Value {
			return m.promise(func() (func(*run) (any, error), func(any) goja.Value) {
				m.mustBe(call.This, w.subtle, "SubtleCrypto")
				a := &arguments{m: m, call: call, prefix: "Failed to execute '" + f.name + "' on 'SubtleCrypto': "}
				if n := len(call.Arguments); n < f.required {
					panic(m.error("TypeError", "ERR_MISSING_ARGS", fmt.Sprintf("%s%d arguments required, but only %d present.", a.prefix, f.required, n)))
				}
				j := f.read(a)
				return j.work, j.deliver
			})
		})
	}
	m.webKeyClass(w.keyClass)
	return w
}

func (m *module) mustBe(this goja.Value, want *goja.Object, class string) {
	if this != goja.Value(want) {
		panic(native.Error(m.vm, "TypeError", "ERR_INVALID_THIS", `Value of "this" must be of type `+class))
	}
}

// job is what a function of SubtleCrypto is to do, beside the script, and with the result.
type job struct {
	work    func(*run) (any, error)
	deliver func(any) goja.Value
}

// bytesJob is a job whose result is an ArrayBuffer.
func (a *arguments) bytesJob(work func(*run) ([]byte, error)) job {
	return job{
		func(r *run) (any, error) { return work(r) },
		func(v any) goja.Value { return a.m.octets.ArrayBuffer(v.([]byte)) },
	}
}

// arguments are those of a function of SubtleCrypto.
type arguments struct {
	m      *module
	call   goja.FunctionCall
	prefix string
}

var ordinals = [...]string{"1st", "2nd", "3rd", "4th", "5th", "6th", "7th"}

// bytes copies the argument at i.
func (a *arguments) bytes(i int) []byte {
	b, ok := a.m.octets.Bytes(a.call.Argument(i))
	if !ok {
		panic(a.m.error("TypeError", "ERR_INVALID_ARG_TYPE", a.prefix+ordinals[i]+" argument is not instance of ArrayBuffer, Buffer, TypedArray, or DataView."))
	}
	return append([]byte{}, b...)
}

// key is the key at i.
func (a *arguments) key(i int) *webKey {
	k, ok := a.m.webKeys.Get(a.call.Argument(i))
	if !ok {
		panic(a.m.error("TypeError", "ERR_INVALID_ARG_TYPE", a.prefix+ordinals[i]+" argument is not of type CryptoKey."))
	}
	return k
}

// use is the key at i if it may be used so, with an algorithm.
func (a *arguments) use(i int, usage string, with *parameters) *webKey {
	k := a.key(i)
	may, fits := slices.Contains(k.usages, usage), k.algorithm.name == with.name
	message := "The requested operation is not valid for the provided key"
	switch usage {
	case "sign", "verify":
		message = "Unable to use this key to " + usage
	case "deriveBits", "deriveKey":
		message = "baseKey does not have " + usage + " usage"
	default:
		may = may && fits
	}
	switch {
	case !may:
		panic(a.exception("InvalidAccessError", message))
	case !fits:
		panic(a.exception("InvalidAccessError", "Key algorithm mismatch"))
	}
	return k
}

func (a *arguments) exception(name, message string) *goja.Object {
	return native.DOMException(a.m.vm, name, message)
}

// oneOf reads an argument that is one of several words.
func (a *arguments) oneOf(v goja.Value, where, kind string, words ...string) string {
	s := native.String(a.m.vm, v).String()
	if !slices.Contains(words, s) {
		panic(a.m.error("TypeError", "ERR_INVALID_ARG_VALUE", fmt.Sprintf("%s%s value '%s' is not a valid enum value of type %s.", a.prefix, where, s, kind)))
	}
	return s
}

func (a *arguments) format() string {
	return a.oneOf(a.call.Argument(0), ordinals[0]+" argument", "KeyFormat", "raw", "pkcs8", "spki", "jwk")
}

// usages reads the list of usages at i.
func (a *arguments) usages(i int) []string {
	v := a.call.Argument(i)
	if _, ok := v.(*goja.Object); !ok {
		panic(a.m.error("TypeError", "ERR_INVALID_ARG_TYPE", a.prefix+ordinals[i]+" argument can not be converted to sequence."))
	}
	list := []string{}
	index := 0
	a.m.rt.ForOf(v, func(v goja.Value) bool {
		where := fmt.Sprintf("%s argument, index %d", ordinals[i], index)
		u := a.oneOf(v, where, "KeyUsage", "encrypt", "decrypt", "sign", "verify", "deriveKey", "deriveBits", "wrapKey", "unwrapKey")
		if !slices.Contains(list, u) {
			list = append(list, u)
		}
		index++
		return true
	})
	return list
}

// parameters are an algorithm as a script gives it.
type parameters struct {
	m      *module
	name   string
	object *goja.Object // nil if only the name was given
	kind   string       // what the standard calls the dictionary
}

// webAlgorithms has the operations that know each algorithm, and what the standard calls
// their parameters.
var webAlgorithms = sync.OnceValue(func() map[string]map[string]string {
	return map[string]map[string]string{
		"SHA-1": {"digest": ""}, "SHA-256": {"digest": ""}, "SHA-384": {"digest": ""}, "SHA-512": {"digest": ""},
		"HMAC":              {"generateKey": "HmacKeyGenParams", "importKey": "HmacImportParams", "sign": "", "verify": "", "length": "HmacImportParams"},
		"AES-CTR":           {"generateKey": "AesKeyGenParams", "importKey": "", "encrypt": "AesCtrParams", "decrypt": "AesCtrParams", "length": "AesDerivedKeyParams"},
		"AES-CBC":           {"generateKey": "AesKeyGenParams", "importKey": "", "encrypt": "AesCbcParams", "decrypt": "AesCbcParams", "length": "AesDerivedKeyParams"},
		"AES-GCM":           {"generateKey": "AesKeyGenParams", "importKey": "", "encrypt": "AesGcmParams", "decrypt": "AesGcmParams", "length": "AesDerivedKeyParams"},
		"AES-KW":            {"generateKey": "AesKeyGenParams", "importKey": "", "wrapKey": "", "unwrapKey": "", "length": "AesDerivedKeyParams"},
		"RSASSA-PKCS1-v1_5": {"generateKey": "RsaHashedKeyGenParams", "importKey": "RsaHashedImportParams", "sign": "", "verify": ""},
		"RSA-PSS":           {"generateKey": "RsaHashedKeyGenParams", "importKey": "RsaHashedImportParams", "sign": "RsaPssParams", "verify": "RsaPssParams"},
		"RSA-OAEP":          {"generateKey": "RsaHashedKeyGenParams", "importKey": "RsaHashedImportParams", "encrypt": "RsaOaepParams", "decrypt": "RsaOaepParams"},
		"ECDSA":             {"generateKey": "EcKeyGenParams", "importKey": "EcKeyImportParams", "sign": "EcdsaParams", "verify": "EcdsaParams"},
		"ECDH":              {"generateKey": "EcKeyGenParams", "importKey": "EcKeyImportParams", "deriveBits": "EcdhKeyDeriveParams"},
		"Ed25519":           {"generateKey": "", "importKey": "", "sign": "", "verify": ""},
		"X25519":            {"generateKey": "", "importKey": "", "deriveBits": "EcdhKeyDeriveParams"},
		"HKDF":              {"importKey": "", "deriveBits": "HkdfParams", "length": ""},
		"PBKDF2":            {"importKey": "", "deriveBits": "Pbkdf2Params", "length": ""},
	}
})

// parameters reads the algorithm at i, for an operation.
func (a *arguments) parameters(i int, operation string) *parameters {
	p, ok := a.m.parameters(a.call.Argument(i), operation)
	if !ok {
		panic(a.exception("NotSupportedError", "Unrecognized algorithm name"))
	}
	return p
}

func (m *module) parameters(v goja.Value, operation string) (*parameters, bool) {
	p := &parameters{m: m}
	name := v
	if o, ok := v.(*goja.Object); ok {
		p.object = o
		if name = o.Get("name"); name == nil || goja.IsUndefined(name) {
			panic(m.error("TypeError", "ERR_MISSING_OPTION",
				"Failed to normalize algorithm: passed algorithm can not be converted to 'Algorithm' because 'name' is required in 'Algorithm'."))
		}
	}
	want := native.String(m.vm, name).String()
	for known, operations := range webAlgorithms() {
		if strings.EqualFold(known, want) {
			kind, ok := operations[operation]
			p.name, p.kind = known, kind
			return p, ok
		}
	}
	return nil, false
}

// get reads a member, nil if it is not there.
func (p *parameters) get(name string) goja.Value {
	if p.object == nil {
		return nil
	}
	if v := p.object.Get(name); v != nil && !goja.IsUndefined(v) {
		return v
	}
	return nil
}

// required reads a member that must be there.
func (p *parameters) required(name string) goja.Value {
	v := p.get(name)
	if v == nil {
		panic(p.m.error("TypeError", "ERR_MISSING_OPTION", fmt.Sprintf(
			"Failed to normalize algorithm: passed algorithm can not be converted to '%s' because '%s' is required in '%[1]s'.", p.kind, name)))
	}
	return v
}

func (p *parameters) bytes(v goja.Value, name string) []byte {
	b, ok := p.m.octets.Bytes(v)
	if !ok {
		panic(p.m.error("TypeError", "ERR_INVALID_ARG_TYPE", fmt.Sprintf(
			"Failed to normalize algorithm: '%s' of '%s' (passed algorithm) is not instance of ArrayBuffer, Buffer, TypedArray, or DataView.", name, p.kind)))
	}
	return append([]byte{}, b...)
}

func (p *parameters) requiredBytes(name string) []byte { return p.bytes(p.required(name), name) }

func (p *parameters) optionalBytes(name string) []byte {
	if v := p.get(name); v != nil {
		return p.bytes(v, name)
	}
	return nil
}

// number reads a member that is an integer from 0 to most.
func (p *parameters) number(v goja.Value, name string, most float64) int {
	f := v.ToNumber().ToFloat()
	if !(f >= 0 && f <= most) {
		panic(p.m.error("TypeError", "ERR_OUT_OF_RANGE", fmt.Sprintf(
			"Failed to normalize algorithm: '%s' of '%s' (passed algorithm) is outside the expected range of 0 to %.0f.", name, p.kind, most)))
	}
	return int(f)
}

// digest reads the member hash.
func (p *parameters) digest() *digest {
	inner, ok := p.m.parameters(p.required("hash"), "digest")
	if !ok {
		panic(native.DOMException(p.m.vm, "NotSupportedError", "Unrecognized algorithm name"))
	}
	return webDigest(inner.name)
}

// curve reads the member namedCurve.
func (p *parameters) curve() *curve {
	name := native.String(p.m.vm, p.required("namedCurve")).String()
	for _, c := range curves() {
		if c.web == name {
			return &c
		}
	}
	panic(native.DOMException(p.m.vm, "NotSupportedError", "Unrecognized namedCurve"))
}

// digest is SubtleCrypto.digest.
func (a *arguments) digest() job {
	data := a.bytes(1)
	d := webDigest(a.parameters(0, "digest").name)
	return a.bytesJob(func(*run) ([]byte, error) { return d.sum(data), nil })
}
