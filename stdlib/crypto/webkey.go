package crypto

import (
	"crypto/ecdh"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rsa"
	"errors"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/dop251/goja"

	"mcpx/engine"
	"mcpx/stdlib/internal/native"
)

// webKey is what stands behind a CryptoKey.
type webKey struct {
	*key
	algorithm   keyAlgorithm
	extractable bool
	usages      []string

	// As a script sees them, the same each time.
	algorithmObject, usagesArray *goja.Object
}

// keyAlgorithm is what a key is for.
type keyAlgorithm struct {
	name   string
	digest *digest // of HMAC and RSA
	bits   int     // of HMAC
	made   bool    // and not imported
}

func (m *module) webKeyClass(c *native.Class) {
	c.Tag("CryptoKey")
	of := func(this goja.Value) *webKey {
		k, ok := m.webKeys.Get(this)
		if !ok {
			panic(native.Error(m.vm, "TypeError", "ERR_INVALID_THIS", `Value of "this" must be of type CryptoKey`))
		}
		return k
	}
	c.Getter("type", func(this goja.Value) goja.Value { return m.vm.ToValue(of(this).kind) })
	c.Getter("extractable", func(this goja.Value) goja.Value { return m.vm.ToValue(of(this).extractable) })
	c.Getter("algorithm", func(this goja.Value) goja.Value { return m.algorithmObject(of(this)) })
	c.Getter("usages", func(this goja.Value) goja.Value { return m.usagesArray(of(this)) })
	c.Inspected(1, func(this goja.Value) *goja.Object {
		k := of(this)
		o := m.vm.NewObject()
		native.Must(o.Set("type", k.kind))
		native.Must(o.Set("extractable", k.extractable))
		native.Must(o.Set("algorithm", m.algorithmObject(k)))
		native.Must(o.Set("usages", m.usagesArray(k)))
		return o
	})
}

func (m *module) usagesArray(k *webKey) *goja.Object {
	if k.usagesArray == nil {
		list := make([]any, len(k.usages))
		for i, u := range k.usages {
			list[i] = u
		}
		k.usagesArray = m.vm.NewArray(list...)
	}
	return k.usagesArray
}

func (m *module) algorithmObject(k *webKey) *goja.Object {
	if k.algorithmObject != nil {
		return k.algorithmObject
	}
	o := m.vm.NewObject()
	k.algorithmObject = o
	set := func(name string, v any) { native.Must(o.Set(name, v)) }
	set("name", k.algorithm.name)
	if p, ok := k.public.(*rsa.PublicKey); ok {
		set("modulusLength", p.N.BitLen())
		set("publicExponent", m.octets.Uint8Array(big.NewInt(int64(p.E)).Bytes()))
	}
	if k.algorithm.name == "HMAC" && k.algorithm.made {
		set("length", k.algorithm.bits) // the order is Node's
	}
	if d := k.algorithm.digest; d != nil {
		hash := m.vm.NewObject()
		native.Must(hash.Set("name", d.webName()))
		set("hash", hash)
	}
	switch {
	case k.algorithm.name == "HMAC":
		set("length", k.algorithm.bits)
	case strings.HasPrefix(k.algorithm.name, "AES-"):
		set("length", 8*len(k.secret))
	}
	if c := curveOf(k.public); c != nil {
		set("namedCurve", c.web)
	}
	return o
}

// newWebKey returns the CryptoKey of a key.
func (m *module) newWebKey(k *webKey) *goja.Object {
	o := m.webClassesOnce().keyClass.New()
	m.webKeys.Set(o, k)
	return o
}

// permitted lists what a key of an algorithm and a kind may be used for.
func permitted(name, kind string) []string {
	switch name {
	case "HMAC":
		return []string{"sign", "verify"}
	case "AES-CTR", "AES-CBC", "AES-GCM":
		return []string{"encrypt", "decrypt", "wrapKey", "unwrapKey"}
	case "AES-KW":
		return []string{"wrapKey", "unwrapKey"}
	case "HKDF", "PBKDF2":
		return []string{"deriveKey", "deriveBits"}
	}
	public := kind == publicKey
	switch name {
	case "RSA-OAEP":
		if public {
			return []string{"encrypt", "wrapKey"}
		}
		return []string{"decrypt", "unwrapKey"}
	case "ECDH", "X25519":
		if public {
			return nil
		}
		return []string{"deriveKey", "deriveBits"}
	}
	if public {
		return []string{"verify"}
	}
	return []string{"sign"}
}

// checkUsages throws if a usage is not among those permitted.
func (m *module) checkUsages(name string, usages, permitted []string) {
	for _, u := range usages {
		if slices.Contains(permitted, u) {
			continue
		}
		kind := map[bool]string{true: "an AES", false: "a " + name}[strings.HasPrefix(name, "AES-")]
		if strings.HasPrefix(name, "RSA") || strings.HasPrefix(name, "EC") || strings.HasPrefix(name, "Ed") || strings.HasPrefix(name, "HMAC") || strings.HasPrefix(name, "X") {
			kind = "an " + strings.TrimSuffix(name, "-v1_5")
		}
		panic(native.DOMException(m.vm, "SyntaxError", "Unsupported key usage for "+kind+" key"))
	}
}

func intersection(list, with []string) []string {
	return slices.DeleteFunc(slices.Clone(list), func(s string) bool { return !slices.Contains(with, s) })
}

// generateKey is SubtleCrypto.generateKey.
func (a *arguments) generateKey() job {
	m := a.m
	extractable, usages := a.call.Argument(1).ToBoolean(), a.usages(2)
	p := a.parameters(0, "generateKey")
	algorithm := keyAlgorithm{name: p.name, made: true}
	var bits int
	switch {
	case p.name == "HMAC":
		algorithm.digest = p.digest()
		bits = 8 * algorithm.digest.new().BlockSize()
		if v := p.get("length"); v != nil {
			bits = p.number(v, "length", 1<<32-1)
		}
		if bits == 0 || bits > 8*maxDerived {
			panic(a.exception("OperationError", "Zero-length key is not supported"))
		}
		algorithm.bits = bits
	case strings.HasPrefix(p.name, "AES-"):
		bits = p.number(p.required("length"), "length", 1<<16-1)
		if bits != 128 && bits != 192 && bits != 256 {
			panic(a.exception("OperationError", "AES key length must be 128, 192, or 256 bits"))
		}
	default:
		return a.generatePair(p, algorithm, extractable, usages)
	}
	m.checkUsages(p.name, usages, permitted(p.name, secretKey))
	if len(usages) == 0 {
		panic(a.exception("SyntaxError", "Usages cannot be empty when creating a key."))
	}
	secret := m.octets.Make(int64((bits + 7) / 8))
	return job{
		func(*run) (any, error) { return nil, fill(secret) },
		func(any) goja.Value {
			return m.newWebKey(&webKey{key: &key{kind: secretKey, secret: secret}, algorithm: algorithm, extractable: extractable, usages: usages})
		},
	}
}

func (a *arguments) generatePair(p *parameters, algorithm keyAlgorithm, extractable bool, usages []string) job {
	m := a.m
	r := &recipe{}
	switch p.name {
	case "ECDSA", "ECDH":
		r.algorithm, r.curve = "ec", p.curve()
	case "Ed25519", "X25519":
		r.algorithm = strings.ToLower(p.name)
	default:
		r.algorithm = "rsa"
		algorithm.digest = p.digest()
		r.bits = p.number(p.required("modulusLength"), "modulusLength", 1<<32-1)
		exponent := new(big.Int).SetBytes(p.requiredBytes("publicExponent"))
		if r.bits < minModulus || r.bits > maxModulus || exponent.Cmp(big.NewInt(65537)) != 0 {
			panic(a.exception("OperationError", "mcpx makes RSA keys of "+strconv.Itoa(minModulus)+" to "+strconv.Itoa(maxModulus)+" bits with the exponent 65537"))
		}
	}
	forPublic, forPrivate := permitted(p.name, publicKey), permitted(p.name, privateKey)
	m.checkUsages(p.name, usages, slices.Concat(forPublic, forPrivate))
	if len(intersection(usages, forPrivate)) == 0 {
		panic(a.exception("SyntaxError", "Usages cannot be empty when creating a key."))
	}
	return job{
		func(*run) (any, error) { return r.generate() },
		func(v any) goja.Value {
			k := v.(*key)
			o := m.vm.NewObject()
			native.Must(o.Set("publicKey", m.newWebKey(&webKey{key: k.publicHalf(), algorithm: algorithm, extractable: true, usages: intersection(usages, forPublic)})))
			native.Must(o.Set("privateKey", m.newWebKey(&webKey{key: k, algorithm: algorithm, extractable: extractable, usages: intersection(usages, forPrivate)})))
			return o
		},
	}
}

// done is a job that has nothing to do but to hand over what there is already.
func done(v goja.Value) job {
	return job{func(*run) (any, error) { return nil, nil }, func(any) goja.Value { return v }}
}

// importKey is SubtleCrypto.importKey.
func (a *arguments) importKey() job {
	m := a.m
	format := a.format()
	usages := []string{}
	if len(a.call.Arguments) > 4 {
		usages = a.usages(4)
	}
	p := a.parameters(2, "importKey")
	var data []byte
	var object goja.Value
	if format == "jwk" {
		object = a.call.Argument(1)
		if _, ok := object.(*goja.Object); !ok || m.octets.IsView(object) || m.octets.IsArrayBuffer(object) {
			panic(m.error("TypeError", "ERR_INVALID_ARG_TYPE", a.prefix+"2nd argument must be a JsonWebKey."))
		}
	} else {
		data = a.bytes(1)
	}
	return done(m.newWebKey(m.importKey(format, data, object, p, a.call.Argument(3).ToBoolean(), usages)))
}

// importKey makes a key of bytes or, if the format is jwk, of an object.
func (m *module) importKey(format string, data []byte, object goja.Value, p *parameters, extractable bool, usages []string) *webKey {
	exception := func(name, message string) *goja.Object { return native.DOMException(m.vm, name, message) }
	w := &webKey{algorithm: keyAlgorithm{name: p.name}, extractable: extractable, usages: usages}
	if strings.HasPrefix(p.name, "RSA") || p.name == "HMAC" {
		w.algorithm.digest = p.digest()
	}
	var curve *curve
	if p.name == "ECDSA" || p.name == "ECDH" {
		curve = p.curve()
	}
	k, err := m.readWebKey(format, data, object, p.name, curve)
	if errors.Is(err, errForm) {
		panic(exception("NotSupportedError", "Unable to import "+p.name+" key with format "+format))
	}
	if err != nil || !k.suits(p.name, curve) {
		panic(exception("DataError", "Invalid keyData"))
	}
	w.key = k
	if format == "jwk" {
		m.checkJWK(object.(*goja.Object), w)
	}
	m.checkUsages(p.name, usages, permitted(p.name, k.kind))
	switch {
	case p.name == "HKDF" || p.name == "PBKDF2":
		if extractable {
			panic(exception("SyntaxError", p.name+" keys are not extractable"))
		}
	case strings.HasPrefix(p.name, "AES-"):
		if n := len(k.secret); n != 16 && n != 24 && n != 32 {
			panic(exception("DataError", "Invalid key length"))
		}
	case p.name == "HMAC":
		w.algorithm.bits = 8 * len(k.secret)
		if len(k.secret) == 0 {
			panic(exception("DataError", "Zero-length key is not supported"))
		}
		if v := p.get("length"); v != nil {
			if n := p.number(v, "length", 1<<32-1); n != w.algorithm.bits {
				panic(exception("DataError", "Invalid key length"))
			}
		}
	}
	if len(usages) == 0 && k.kind != publicKey {
		panic(exception("SyntaxError", "Usages cannot be empty when importing a "+k.kind+" key."))
	}
	return w
}

// readWebKey reads a key in a format, errForm if an algorithm's keys do not have it.
func (m *module) readWebKey(format string, data []byte, object goja.Value, name string, c *curve) (*key, error) {
	symmetric := name == "HMAC" || name == "HKDF" || name == "PBKDF2" || strings.HasPrefix(name, "AES-")
	switch format {
	case "jwk":
		if name == "HKDF" || name == "PBKDF2" {
			return nil, errForm
		}
		return m.jwkOf(object).key()
	case "spki", "pkcs8":
		if symmetric {
			return nil, errForm
		}
		return fromDER(data, format, "")
	}
	switch {
	case symmetric:
		return &key{kind: secretKey, secret: data}, nil
	case c != nil:
		point := uncompressed(c.elliptic, data)
		public, err := ecdsa.ParseUncompressedPublicKey(c.elliptic, point)
		if err != nil {
			return nil, err
		}
		return newKey(public)
	case name == "Ed25519":
		if len(data) != ed25519.PublicKeySize {
			return nil, errJWK
		}
		return newKey(ed25519.PublicKey(data))
	case name == "X25519":
		public, err := ecdh.X25519().NewPublicKey(data)
		if err != nil {
			return nil, err
		}
		return newKey(public)
	}
	return nil, errForm
}

// suits reports whether a key is of the kind that an algorithm has.
func (k *key) suits(name string, c *curve) bool {
	switch k.public.(type) {
	case nil:
		return !strings.HasPrefix(name, "RSA") && !strings.HasPrefix(name, "EC") && name != "Ed25519" && name != "X25519"
	case *rsa.PublicKey:
		return strings.HasPrefix(name, "RSA")
	case *ecdsa.PublicKey:
		own := curveOf(k.public)
		return c != nil && own != nil && own.web == c.web
	case ed25519.PublicKey:
		return name == "Ed25519"
	}
	return name == "X25519"
}

// jwkAlgorithm is what a JSON Web Key calls an algorithm, or "".
func (w *webKey) jwkAlgorithm() string {
	hash := ""
	if d := w.algorithm.digest; d != nil {
		hash = strings.TrimPrefix(d.webName(), "SHA-")
	}
	switch name := w.algorithm.name; name {
	case "Ed25519":
		return name
	case "HMAC":
		return "HS" + hash
	case "RSASSA-PKCS1-v1_5":
		return "RS" + hash
	case "RSA-PSS":
		return "PS" + hash
	case "RSA-OAEP":
		if hash == "1" {
			return "RSA-OAEP"
		}
		return "RSA-OAEP-" + hash
	case "AES-CTR", "AES-CBC", "AES-GCM", "AES-KW":
		return "A" + strconv.Itoa(8*len(w.secret)) + strings.TrimPrefix(name, "AES-")
	}
	return ""
}

// checkJWK throws if a JSON Web Key says that it is for something else.
func (m *module) checkJWK(o *goja.Object, w *webKey) {
	wrong := func(message string) { panic(native.DOMException(m.vm, "DataError", message)) }
	if s, ok := o.Get("alg").(goja.String); ok {
		if want := w.jwkAlgorithm(); want != "" && s.String() != want && (want != "Ed25519" || s.String() != "EdDSA") {
			wrong("JWK \"alg\" does not match the requested algorithm")
		}
	}
	if v := o.Get("ext"); v != nil && !goja.IsUndefined(v) && !v.ToBoolean() && w.extractable {
		wrong("JWK \"ext\" Parameter and extractable mismatch")
	}
	if list, ok := o.Get("key_ops").(*goja.Object); ok {
		var allowed []string
		m.rt.ForOf(list, func(v goja.Value) bool {
			allowed = append(allowed, v.String())
			return true
		})
		for _, u := range w.usages {
			if !slices.Contains(allowed, u) {
				wrong("Key operations and usage mismatch")
			}
		}
	}
	if s, ok := o.Get("use").(goja.String); ok && len(w.usages) > 0 {
		signs := slices.Contains(w.usages, "sign") || slices.Contains(w.usages, "verify")
		if s.String() == "sig" && !signs || s.String() == "enc" && signs {
			wrong("Invalid JWK \"use\" Parameter")
		}
	}
}

// exportKey is SubtleCrypto.exportKey.
func (a *arguments) exportKey() job {
	format, k := a.format(), a.key(1)
	return done(a.m.exportKey(format, k))
}

// exportKey writes a key: an object if the format is jwk, else an ArrayBuffer.
func (m *module) exportKey(format string, k *webKey) goja.Value {
	if !k.extractable {
		panic(native.DOMException(m.vm, "InvalidAccessError", "key is not extractable"))
	}
	if format == "jwk" {
		j, err := k.jwk()
		if err != nil {
			panic(m.thrown(operationFailed))
		}
		o := m.vm.NewObject()
		native.Must(o.Set("key_ops", native.Invoke(m.vm, m.usagesArray(k), "slice")))
		native.Must(o.Set("ext", true))
		if name := k.jwkAlgorithm(); name != "" {
			j["alg"] = name
		}
		m.writeJWK(o, j)
		return o
	}
	b, err := k.export(format)
	if err != nil {
		panic(native.DOMException(m.vm, "NotSupportedError", "Unable to export a "+k.kind+" "+k.algorithm.name+" key with format "+format))
	}
	return m.octets.ArrayBuffer(b)
}

// export writes a key in a format of bytes.
func (w *webKey) export(format string) ([]byte, error) {
	switch {
	case format == "raw" && w.kind == secretKey:
		return slices.Clone(w.secret), nil
	case format == "raw" && w.kind == publicKey:
		switch p := w.public.(type) {
		case *ecdsa.PublicKey:
			return p.Bytes()
		case ed25519.PublicKey:
			return slices.Clone(p), nil
		case *ecdh.PublicKey:
			return p.Bytes(), nil
		}
	case format == "spki" && w.kind == publicKey, format == "pkcs8" && w.kind == privateKey:
		return w.der(format)
	}
	return nil, errForm
}

// json writes a key as JSON text, for wrapping.
func (m *module) json(v goja.Value) []byte {
	b, _ := engine.EncodeJSON(m.rt, v, engine.EncodeOptions{})
	return b
}
