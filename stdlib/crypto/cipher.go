package crypto

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/des"
	"crypto/subtle"
	"slices"
	"strings"

	"github.com/dop251/goja"
	"golang.org/x/crypto/chacha20"
	"golang.org/x/crypto/chacha20poly1305"

	"mcpx/stdlib/internal/native"
)

// algorithm is a cipher.
type algorithm struct {
	name     string
	mode     string // cbc, ecb, ctr, gcm, stream
	key      int
	iv       int // how many bytes it has; GCM takes others too
	newBlock func(key []byte) (cipher.Block, error)
}

// algorithms lists the ciphers.
func algorithms() []algorithm {
	var list []algorithm
	for _, bits := range []string{"128", "192", "256"} {
		key := map[string]int{"128": 16, "192": 24, "256": 32}[bits]
		for _, mode := range []struct {
			name string
			iv   int
		}{{"cbc", 16}, {"ctr", 16}, {"ecb", 0}, {"gcm", 12}} {
			list = append(list, algorithm{"aes-" + bits + "-" + mode.name, mode.name, key, mode.iv, aes.NewCipher})
		}
	}
	return append(list,
		algorithm{"chacha20-poly1305", "stream", chacha20.KeySize, chacha20.NonceSize, nil},
		algorithm{"des-ede3-cbc", "cbc", 24, 8, des.NewTripleDESCipher},
	)
}

func algorithmNamed(name string) *algorithm {
	name = strings.ToLower(name)
	switch name {
	case "aes128", "aes192", "aes256":
		name = "aes-" + name[3:] + "-cbc"
	case "id-aes128-gcm", "id-aes192-gcm", "id-aes256-gcm":
		name = "aes-" + name[6:9] + "-gcm"
	}
	for _, a := range algorithms() {
		if a.name == name {
			return &a
		}
	}
	return nil
}

func (a *algorithm) authenticated() bool { return a.mode == "gcm" || a.mode == "stream" }

// ciphering is what stands behind a Cipheriv or Decipheriv.
type ciphering struct {
	algorithm *algorithm
	encrypts  bool
	done      bool

	// Of modes that work on blocks.
	blocks  cipher.BlockMode
	pending []byte
	padded  bool

	stream cipher.Stream // of all others

	// Of modes that authenticate.
	aead      cipher.AEAD
	nonce     []byte
	plain     []byte // all of it, to authenticate it in the end
	aad       []byte
	tag       []byte
	tagLength int
}

func (m *module) cipherExports(e native.Exports) {
	e.Func("createCipheriv", 4, func(call goja.FunctionCall) goja.Value {
		return native.Construct(m.cipherClass(true).Constructor, m.cipherClass(true).Constructor, call.Arguments...)
	})
	e.Func("createDecipheriv", 4, func(call goja.FunctionCall) goja.Value {
		return native.Construct(m.cipherClass(false).Constructor, m.cipherClass(false).Constructor, call.Arguments...)
	})
	e.Func("getCiphers", 0, func(goja.FunctionCall) goja.Value {
		var names []any
		for _, a := range algorithms() {
			names = append(names, a.name)
		}
		return m.vm.NewArray(names...)
	})
	e.Func("getCipherInfo", 2, func(call goja.FunctionCall) goja.Value {
		a := algorithmNamed(call.Argument(0).String())
		if a == nil {
			return goja.Undefined()
		}
		o := m.vm.NewObject()
		native.Must(o.Set("mode", a.mode))
		native.Must(o.Set("name", a.name))
		if a.mode == "cbc" || a.mode == "ecb" {
			block := 16
			if strings.HasPrefix(a.name, "des") {
				block = 8
			}
			native.Must(o.Set("blockSize", block))
		}
		if a.iv > 0 {
			native.Must(o.Set("ivLength", a.iv))
		}
		native.Must(o.Set("keyLength", a.key))
		return o
	})
	e.Lazy("Cipheriv", func() goja.Value { return m.cipherClass(true).Constructor })
	e.Lazy("Decipheriv", func() goja.Value { return m.cipherClass(false).Constructor })
}

func (m *module) cipherClass(encrypts bool) *native.Class {
	name, once := "Cipheriv", &m.cipher
	if !encrypts {
		name, once = "Decipheriv", &m.decipher
	}
	return once.get(func() *native.Class {
		c := native.NewClass(m.vm, name, 4, func(call goja.ConstructorCall) *goja.Object {
			m.ciphers.Set(call.This, m.newCiphering(call, encrypts))
			return nil
		})
		m.cipherMethods(c)
		return c
	})
}

func (m *module) newCiphering(call goja.ConstructorCall, encrypts bool) *ciphering {
	name := native.Text(m.vm, call.Argument(0), "cipher").String()
	options := call.Argument(3)
	key := m.secret(call.Argument(1), option(options, "encoding"))
	var iv []byte
	if !goja.IsNull(call.Argument(2)) {
		iv = m.copied(call.Argument(2), "iv", textOrMemory)
	}
	a := algorithmNamed(name)
	if a == nil {
		panic(m.error("Error", "ERR_CRYPTO_UNKNOWN_CIPHER", "Unknown cipher"))
	}
	if len(iv) != a.iv && (a.mode != "gcm" || len(iv) == 0) {
		panic(m.error("TypeError", "ERR_CRYPTO_INVALID_IV", "Invalid initialization vector"))
	}
	if len(key) != a.key {
		panic(m.error("RangeError", "ERR_CRYPTO_INVALID_KEYLEN", "Invalid key length"))
	}
	c := &ciphering{algorithm: a, encrypts: encrypts, padded: true, tagLength: 16}
	if v := option(options, "authTagLength"); !goja.IsUndefined(v) {
		n := native.Integer(m.vm, v, "options.authTagLength", 0, native.MaxSafe)
		if a.authenticated() && !validTag(int(n)) {
			panic(m.error("TypeError", "ERR_CRYPTO_INVALID_AUTH_TAG", "Invalid authentication tag length: "+v.String()))
		}
		c.tagLength = int(n)
	}
	if err := c.start(key, iv); err != nil {
		panic(m.error("Error", "", err.Error()))
	}
	return c
}

func validTag(n int) bool { return n == 4 || n == 8 || n >= 12 && n <= 16 }

func (c *ciphering) start(key, iv []byte) error {
	if c.algorithm.mode == "stream" {
		stream, err := chacha20.NewUnauthenticatedCipher(key, iv)
		if err != nil {
			return err
		}
		stream.SetCounter(1)
		c.stream, c.nonce = stream, iv
		c.aead, err = chacha20poly1305.New(key)
		return err
	}
	block, err := c.algorithm.newBlock(key)
	if err != nil {
		return err
	}
	switch c.algorithm.mode {
	case "cbc":
		c.blocks = cipher.NewCBCDecrypter(block, iv)
		if c.encrypts {
			c.blocks = cipher.NewCBCEncrypter(block, iv)
		}
	case "ecb":
		c.blocks = &bookMode{block, c.encrypts}
	case "ctr":
		c.stream = cipher.NewCTR(block, iv)
	case "gcm":
		c.nonce = iv
		c.aead, c.stream, err = gcm(block, iv)
	}
	return err
}

// gcm returns GCM and the key stream that is in it, for text that comes in parts.
func gcm(block cipher.Block, nonce []byte) (cipher.AEAD, cipher.Stream, error) {
	aead, err := cipher.NewGCMWithNonceSize(block, len(nonce))
	if err != nil {
		return nil, nil, err
	}
	// The tag of nothing is the first counter, encrypted.
	first := aead.Seal(nil, nonce, nil, nil)
	block.Decrypt(first, first)
	return aead, newCounter(block, first, 32, 1), nil
}

// counter is CTR whose counter has some of a block's bits only, and begins again at zero.
type counter struct {
	block cipher.Block
	value []byte
	bits  int
	pad   []byte // what is left of the key stream
}

func newCounter(block cipher.Block, first []byte, bits, skip int) *counter {
	c := &counter{block: block, value: slices.Clone(first), bits: bits}
	for range skip {
		c.increment()
	}
	return c
}

func (c *counter) increment() {
	for i, left := len(c.value)-1, c.bits; left > 0; i, left = i-1, left-8 {
		mask := byte(0xff)
		if left < 8 {
			mask = 1<<left - 1
		}
		next := c.value[i] + 1
		c.value[i] = c.value[i]&^mask | next&mask
		if next&mask != 0 {
			return
		}
	}
}

// untilWrap is how many blocks there are before the counter begins again, at most some.
func (c *counter) untilWrap(most int) int {
	left := 0
	for i, bits := 0, min(c.bits, 31); bits > 0; i, bits = i+1, bits-8 {
		mask := byte(0xff)
		if bits < 8 {
			mask = 1<<bits - 1
		}
		left |= int(^c.value[len(c.value)-1-i]&mask) << (8 * i)
	}
	return min(left+1, most)
}

// XORKeyStream uses the CTR of the library between the places where the counter begins
// again.
func (c *counter) XORKeyStream(dst, src []byte) {
	n := subtle.XORBytes(dst, src, c.pad)
	c.pad, dst, src = c.pad[n:], dst[n:], src[n:]
	size := c.block.BlockSize()
	for len(src) > 0 {
		blocks := c.untilWrap((len(src) + size - 1) / size)
		part := min(blocks*size, len(src))
		stream := cipher.NewCTR(c.block, c.value)
		stream.XORKeyStream(dst[:part], src[:part])
		if rest := part % size; rest > 0 {
			c.pad = make([]byte, size-rest)
			stream.XORKeyStream(c.pad, c.pad)
		}
		c.advance(blocks)
		dst, src = dst[part:], src[part:]
	}
}

// advance moves the counter on by a number of blocks, to where it begins again at most.
func (c *counter) advance(blocks int) {
	carry := uint64(blocks)
	for i, left := len(c.value)-1, c.bits; left > 0 && carry > 0; i, left = i-1, left-8 {
		mask := byte(0xff)
		if left < 8 {
			mask = 1<<left - 1
		}
		sum := uint64(c.value[i]&mask) + carry&0xff
		c.value[i] = c.value[i]&^mask | byte(sum)&mask
		carry = carry>>8 + sum>>8
	}
}

// bookMode is ECB.
type bookMode struct {
	cipher.Block
	encrypts bool
}

func (b *bookMode) CryptBlocks(dst, src []byte) {
	for n := b.BlockSize(); len(src) > 0; dst, src = dst[n:], src[n:] {
		if b.encrypts {
			b.Encrypt(dst[:n], src[:n])
		} else {
			b.Decrypt(dst[:n], src[:n])
		}
	}
}

// update takes the next part of the text and returns what comes out.
func (c *ciphering) update(data []byte) []byte {
	if c.stream != nil {
		out := make([]byte, len(data))
		c.stream.XORKeyStream(out, data)
		if c.aead != nil {
			if c.encrypts {
				c.plain = append(c.plain, data...)
			} else {
				c.plain = append(c.plain, out...)
			}
		}
		return out
	}
	all := append(c.pending, data...)
	size := c.blocks.BlockSize()
	whole := len(all) / size * size
	if whole == len(all) && whole > 0 && !c.encrypts && c.padded {
		whole -= size // the last block may be the padding
	}
	out := make([]byte, whole)
	c.blocks.CryptBlocks(out, all[:whole])
	c.pending = slices.Clone(all[whole:])
	return out
}

var (
	wrongLength  = &failure{"Error", "ERR_OSSL_WRONG_FINAL_BLOCK_LENGTH", "error:1C80006B:Provider routines::wrong final block length"}
	badDecrypt   = &failure{"Error", "ERR_OSSL_BAD_DECRYPT", "error:1C800064:Provider routines::bad decrypt"}
	notAuthentic = &failure{"Error", "", "Unsupported state or unable to authenticate data"}
)

// final returns the rest of what comes out.
func (c *ciphering) final() ([]byte, error) {
	switch {
	case c.aead != nil && c.encrypts:
		c.tag = c.seal()[:c.tagLength]
		return nil, nil
	case c.aead != nil:
		if c.tag == nil || subtle.ConstantTimeCompare(c.seal()[:len(c.tag)], c.tag) != 1 {
			return nil, notAuthentic
		}
		return nil, nil
	case c.stream != nil:
		return nil, nil
	}
	size := c.blocks.BlockSize()
	switch {
	case !c.padded && len(c.pending) > 0:
		return nil, wrongLength
	case !c.padded:
		return nil, nil
	case c.encrypts:
		out := pad(c.pending, size)
		c.blocks.CryptBlocks(out, out)
		return out, nil
	case len(c.pending) != size:
		return nil, wrongLength
	}
	out := make([]byte, size)
	c.blocks.CryptBlocks(out, c.pending)
	plain, ok := unpad(out, size)
	if !ok {
		return nil, badDecrypt
	}
	return plain, nil
}

// seal returns the whole tag of the text.
func (c *ciphering) seal() []byte {
	return c.aead.Seal(nil, c.nonce, c.plain, c.aad)[len(c.plain):]
}

// pad fills the last block as PKCS #7 says.
func pad(b []byte, size int) []byte {
	n := size - len(b)%size
	out := slices.Clone(b)
	for range n {
		out = append(out, byte(n))
	}
	return out
}

func unpad(b []byte, size int) ([]byte, bool) {
	if len(b) == 0 {
		return nil, false
	}
	n := int(b[len(b)-1])
	if n == 0 || n > size || n > len(b) {
		return nil, false
	}
	for _, c := range b[len(b)-n:] {
		if int(c) != n {
			return nil, false
		}
	}
	return b[:len(b)-n], true
}

func (m *module) cipherMethods(c *native.Class) {
	of := func(this goja.Value) *ciphering {
		c, ok := m.ciphers.Get(this)
		if !ok {
			panic(m.vm.NewTypeError("Illegal invocation"))
		}
		return c
	}
	invalidState := func(operation string) *goja.Object {
		if operation != "" {
			operation = " for operation " + operation
		}
		return m.error("Error", "ERR_CRYPTO_INVALID_STATE", "Invalid state"+operation)
	}
	c.Method("update", 3, func(call goja.FunctionCall) goja.Value {
		c := of(call.This)
		data := m.bytes(call.Argument(0), call.Argument(1), "data", textOrView)
		if c.done {
			panic(m.error("Error", "", "Trying to add data in unsupported state"))
		}
		return m.output(c.update(data), call.Argument(2))
	})
	c.Method("final", 1, func(call goja.FunctionCall) goja.Value {
		c := of(call.This)
		if c.done {
			panic(invalidState(""))
		}
		c.done = true
		out, err := c.final()
		if err != nil {
			panic(m.thrown(err))
		}
		return m.output(out, call.Argument(0))
	})
	c.Method("setAutoPadding", 1, func(call goja.FunctionCall) goja.Value {
		c := of(call.This)
		if c.done {
			panic(invalidState("setAutoPadding"))
		}
		c.padded = goja.IsUndefined(call.Argument(0)) || call.Argument(0).ToBoolean()
		return call.This
	})
	c.Method("setAAD", 2, func(call goja.FunctionCall) goja.Value {
		c := of(call.This)
		aad := m.bytes(call.Argument(0), option(call.Argument(1), "encoding"), "buffer", memory)
		if c.done || !c.algorithm.authenticated() {
			panic(invalidState("setAAD"))
		}
		c.aad = append(c.aad, aad...)
		return call.This
	})
	m.streamed(c, func(this, chunk, encoding goja.Value) []byte {
		c := of(this)
		if c.done {
			panic(m.error("Error", "", "Trying to add data in unsupported state"))
		}
		return c.update(m.bytes(chunk, encoding, "data", textOrView))
	}, func(this goja.Value) []byte {
		c := of(this)
		c.done = true
		out, err := c.final()
		if err != nil {
			panic(m.thrown(err))
		}
		return out
	})
	if c.Name == "Cipheriv" {
		c.Method("getAuthTag", 0, func(call goja.FunctionCall) goja.Value {
			c := of(call.This)
			if !c.done || c.tag == nil {
				panic(invalidState("getAuthTag"))
			}
			return m.octets.Buffer(slices.Clone(c.tag))
		})
		return
	}
	c.Method("setAuthTag", 2, func(call goja.FunctionCall) goja.Value {
		c := of(call.This)
		tag := m.copied(call.Argument(0), "buffer", memory)
		if c.done || !c.algorithm.authenticated() || c.tag != nil {
			panic(invalidState("setAuthTag"))
		}
		if !validTag(len(tag)) {
			panic(m.error("TypeError", "ERR_CRYPTO_INVALID_AUTH_TAG", "Invalid authentication tag length: "+m.vm.ToValue(len(tag)).String()))
		}
		c.tag = tag
		return call.This
	})
}
