package crypto

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"crypto/rsa"
	"crypto/subtle"
	"encoding/binary"

	"github.com/dop251/goja"

	"mcpx/engine"
	"mcpx/stdlib/internal/native"
)

// crypt is SubtleCrypto.encrypt or decrypt.
func (a *arguments) crypt(encrypt bool) job {
	usage := "decrypt"
	if encrypt {
		usage = "encrypt"
	}
	data := a.bytes(2)
	p := a.parameters(0, usage)
	fn := a.m.crypter(p, encrypt)
	k := a.use(1, usage, p)
	return a.bytesJob(func(*run) ([]byte, error) { return fn(k, data) })
}

// crypter reads the parameters of a cipher and returns what encrypts or decrypts with
// them.
func (m *module) crypter(p *parameters, encrypt bool) func(k *webKey, data []byte) ([]byte, error) {
	operation := func(message string) *goja.Object { return native.DOMException(m.vm, "OperationError", message) }
	switch p.name {
	case "AES-CBC":
		iv := p.requiredBytes("iv")
		if len(iv) != aes.BlockSize {
			panic(operation("algorithm.iv must contain exactly 16 bytes"))
		}
		return func(k *webKey, data []byte) ([]byte, error) { return cbc(k.secret, iv, data, encrypt) }
	case "AES-CTR":
		first := p.requiredBytes("counter")
		bits := p.number(p.required("length"), "length", 255)
		if len(first) != aes.BlockSize {
			panic(operation("algorithm.counter must contain exactly 16 bytes"))
		}
		if bits == 0 || bits > 128 {
			panic(operation("AES-CTR algorithm.length must be between 1 and 128"))
		}
		return func(k *webKey, data []byte) ([]byte, error) { return ctr(k.secret, first, bits, data) }
	case "AES-GCM":
		iv, aad, tag := p.requiredBytes("iv"), p.optionalBytes("additionalData"), 128
		if v := p.get("tagLength"); v != nil {
			tag = p.number(v, "tagLength", 255)
		}
		if tag%8 != 0 || !validTag(tag/8) {
			panic(operation(m.vm.ToValue(tag).String() + " is not a valid AES-GCM tag length"))
		}
		return func(k *webKey, data []byte) ([]byte, error) { return sealed(k.secret, iv, aad, tag/8, data, encrypt) }
	case "RSA-OAEP":
		label := p.optionalBytes("label")
		return func(k *webKey, data []byte) ([]byte, error) {
			var out []byte
			err := error(operationFailed)
			if public, ok := k.public.(*rsa.PublicKey); ok && encrypt && k.kind == publicKey {
				out, err = rsa.EncryptOAEP(k.algorithm.digest.new(), rand.Reader, public, data, label)
			} else if private, ok := k.private.(*rsa.PrivateKey); ok && !encrypt {
				out, err = rsa.DecryptOAEP(k.algorithm.digest.new(), nil, private, data, label)
			}
			if err != nil {
				return nil, operationFailed
			}
			return out, nil
		}
	}
	return func(k *webKey, data []byte) ([]byte, error) { return wrap(k.secret, data, encrypt) }
}

func cbc(secret, iv, data []byte, encrypt bool) ([]byte, error) {
	block, err := aes.NewCipher(secret)
	if err != nil {
		return nil, operationFailed
	}
	if encrypt {
		out := pad(data, aes.BlockSize)
		cipher.NewCBCEncrypter(block, iv).CryptBlocks(out, out)
		return out, nil
	}
	if len(data) == 0 || len(data)%aes.BlockSize != 0 {
		return nil, operationFailed
	}
	cipher.NewCBCDecrypter(block, iv).CryptBlocks(data, data)
	out, ok := unpad(data, aes.BlockSize)
	if !ok {
		return nil, operationFailed
	}
	return out, nil
}

func ctr(secret, first []byte, bits int, data []byte) ([]byte, error) {
	block, err := aes.NewCipher(secret)
	if err != nil || bits < 31 && (len(data)+aes.BlockSize-1)/aes.BlockSize > 1<<bits {
		return nil, operationFailed
	}
	newCounter(block, first, bits, 0).XORKeyStream(data, data)
	return data, nil
}

// sealed is GCM whose tag may be short.
func sealed(secret, iv, aad []byte, tag int, data []byte, encrypt bool) ([]byte, error) {
	block, err := aes.NewCipher(secret)
	if err != nil || len(iv) == 0 {
		return nil, operationFailed
	}
	aead, stream, err := gcm(block, iv)
	if err != nil {
		return nil, operationFailed
	}
	if encrypt {
		out := aead.Seal(nil, iv, data, aad)
		return out[:len(data)+tag], nil
	}
	if len(data) < tag {
		return nil, operationFailed
	}
	text, given := data[:len(data)-tag], data[len(data)-tag:]
	if tag == aead.Overhead() {
		if text, err = aead.Open(nil, iv, data, aad); err != nil {
			return nil, operationFailed
		}
		return text, nil
	}
	stream.XORKeyStream(text, text)
	want := aead.Seal(nil, iv, text, aad)[len(text):]
	if subtle.ConstantTimeCompare(want[:tag], given) != 1 {
		return nil, operationFailed
	}
	return text, nil
}

// wrap is AES key wrap, RFC 3394.
func wrap(secret, data []byte, encrypt bool) ([]byte, error) {
	const unit = 8
	block, err := aes.NewCipher(secret)
	if err != nil || len(data)%unit != 0 || encrypt && len(data) < 2*unit || !encrypt && len(data) < 3*unit {
		return nil, operationFailed
	}
	out := make([]byte, 0, len(data)+unit)
	if encrypt {
		out = append(out, 0xa6, 0xa6, 0xa6, 0xa6, 0xa6, 0xa6, 0xa6, 0xa6)
	}
	out = append(out, data...)
	n := len(out)/unit - 1
	b := make([]byte, 2*unit)
	step := func(i, t int) {
		copy(b[unit:], out[unit*i:])
		if encrypt {
			copy(b, out[:unit])
			block.Encrypt(b, b)
		}
		mask := binary.BigEndian.AppendUint64(nil, uint64(t))
		if encrypt {
			subtle.XORBytes(b[:unit], b[:unit], mask)
		} else {
			subtle.XORBytes(b[:unit], out[:unit], mask)
			block.Decrypt(b, b)
		}
		copy(out, b[:unit])
		copy(out[unit*i:], b[unit:])
	}
	for j := range 6 {
		for i := 1; i <= n; i++ {
			if encrypt {
				step(i, n*j+i)
			} else {
				step(n+1-i, n*(5-j)+n+1-i)
			}
		}
	}
	if encrypt {
		return out, nil
	}
	for _, c := range out[:unit] {
		if c != 0xa6 {
			return nil, operationFailed
		}
	}
	return out[unit:], nil
}

// wrapping reads the algorithm at i that wraps or unwraps keys.
func (a *arguments) wrapping(i int, operation, cipherOperation string) *parameters {
	if p, ok := a.m.parameters(a.call.Argument(i), operation); ok {
		return p
	}
	return a.parameters(i, cipherOperation)
}

// wrapKey is SubtleCrypto.wrapKey.
func (a *arguments) wrapKey() job {
	m := a.m
	format, k := a.format(), a.key(1)
	p := a.wrapping(3, "wrapKey", "encrypt")
	fn := m.crypter(p, true)
	with := a.use(2, "wrapKey", p)
	exported := m.exportKey(format, k)
	var data []byte
	if format == "jwk" {
		data = m.json(exported)
		for p.name == "AES-KW" && len(data)%8 != 0 {
			data = append(data[:len(data)-1], ' ', '}')
		}
	} else {
		data, _ = m.octets.Bytes(exported)
	}
	return a.bytesJob(func(*run) ([]byte, error) { return fn(with, data) })
}

// unwrapKey is SubtleCrypto.unwrapKey.
func (a *arguments) unwrapKey() job {
	m := a.m
	format, wrapped := a.format(), a.bytes(1)
	p := a.wrapping(3, "unwrapKey", "decrypt")
	fn := m.crypter(p, false)
	with := a.use(2, "unwrapKey", p)
	as := a.parameters(4, "importKey")
	extractable, usages := a.call.Argument(5).ToBoolean(), []string{}
	if len(a.call.Arguments) > 6 {
		usages = a.usages(6)
	}
	return job{
		func(*run) (any, error) { return fn(with, wrapped) },
		func(v any) goja.Value {
			data := v.([]byte)
			var object goja.Value
			if format == "jwk" {
				decoded, err := engine.DecodeJSON(m.rt, data)
				if _, ok := decoded.(*goja.Object); err != nil || !ok {
					panic(native.DOMException(m.vm, "DataError", "Invalid wrapped JWK key"))
				}
				object = decoded
			}
			return m.newWebKey(m.importKey(format, data, object, as, extractable, usages))
		},
	}
}
