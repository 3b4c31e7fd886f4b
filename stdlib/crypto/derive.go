package crypto

import (
	"crypto/hkdf"
	"crypto/hmac"
	"encoding/binary"
	"math"

	"github.com/dop251/goja"
	"golang.org/x/crypto/scrypt"

	"mcpx/stdlib/internal/native"
)

// maxScrypt bounds the work of one scrypt: N times r times p. The default is a 256th of
// it.
const maxScrypt = 1 << 25

// maxScryptMemory bounds how many bytes one scrypt takes, whatever maxmem says.
const maxScryptMemory = 1 << 30

// maxDerived bounds the length of derived keys.
const maxDerived = 1 << 28

func (m *module) deriveExports(e native.Exports) {
	pbkdf2 := func(call goja.FunctionCall, callback goja.Value) goja.Value {
		digestName := call.Argument(4)
		native.Text(m.vm, digestName, "digest")
		password := m.copied(call.Argument(0), "password", textOrMemory)
		salt := m.copied(call.Argument(1), "salt", textOrMemory)
		iterations := native.Integer(m.vm, call.Argument(2), "iterations", 1, math.MaxInt32)
		length := native.Integer(m.vm, call.Argument(3), "keylen", 0, math.MaxInt32)
		d := m.validDigest(digestName, "digest")
		m.fits(length)
		return answer(m, callback, func(r *run) ([]byte, error) {
			return r.pbkdf2(d, password, salt, iterations, int(length))
		}, m.buffer)
	}
	e.Func("pbkdf2Sync", 5, func(call goja.FunctionCall) goja.Value { return pbkdf2(call, goja.Undefined()) })
	e.Func("pbkdf2", 6, func(call goja.FunctionCall) goja.Value {
		callback := call.Argument(5)
		native.Callback(m.vm, callback, "callback")
		return pbkdf2(call, callback)
	})
	e.Func("scryptSync", 3, func(call goja.FunctionCall) goja.Value { return m.scrypt(call, call.Argument(3), goja.Undefined()) })
	e.Func("scrypt", 5, func(call goja.FunctionCall) goja.Value {
		options, callback := call.Argument(3), call.Argument(4)
		if _, ok := goja.AssertFunction(options); ok {
			options, callback = goja.Undefined(), options
		}
		native.Callback(m.vm, callback, "callback")
		return m.scrypt(call, options, callback)
	})
	derive := func(call goja.FunctionCall, callback goja.Value) goja.Value {
		native.Text(m.vm, call.Argument(0), "digest")
		key := append([]byte(nil), m.secret(call.Argument(1), goja.Undefined())...)
		salt := m.copied(call.Argument(2), "salt", textOrMemory)
		info := m.copied(call.Argument(3), "info", textOrMemory)
		length := native.Integer(m.vm, call.Argument(4), "length", 0, math.MaxInt32)
		if len(info) > 1024 {
			panic(native.OutOfRange(m.vm, "info", "must not contain more than 1024 bytes", m.vm.ToValue(len(info))))
		}
		d := m.validDigest(call.Argument(0), "digest")
		if int(length) > 255*d.new().Size() {
			panic(m.error("RangeError", "ERR_CRYPTO_INVALID_KEYLEN", "Invalid key length"))
		}
		return answer(m, callback, func(*run) ([]byte, error) {
			return hkdf.Key(d.new, key, salt, string(info), int(length))
		}, func(b []byte) []goja.Value { return []goja.Value{m.octets.ArrayBuffer(b)} })
	}
	e.Func("hkdfSync", 5, func(call goja.FunctionCall) goja.Value { return derive(call, goja.Undefined()) })
	e.Func("hkdf", 6, func(call goja.FunctionCall) goja.Value {
		native.Callback(m.vm, call.Argument(5), "callback")
		return derive(call, call.Argument(5))
	})
}

// copied is bytes whose memory the script cannot change later.
func (m *module) copied(v goja.Value, name, expected string) []byte {
	return append([]byte(nil), m.bytes(v, goja.Undefined(), name, expected)...)
}

func (m *module) fits(length int64) {
	if length > maxDerived {
		panic(m.error("RangeError", "ERR_OUT_OF_RANGE", "the derived key is longer than mcpx makes one"))
	}
}

// pbkdf2 derives a key as RFC 8018 says. It ends early with the run.
func (r *run) pbkdf2(d *digest, password, salt []byte, iterations int64, length int) ([]byte, error) {
	const pollEvery = 1 << 10
	mac := hmac.New(d.new, password)
	size := mac.Size()
	out := make([]byte, 0, length+size)
	u := make([]byte, 0, size)
	for block := uint32(1); len(out) < length; block++ {
		mac.Reset()
		mac.Write(salt)
		mac.Write(binary.BigEndian.AppendUint32(nil, block))
		out = mac.Sum(out)
		t := out[len(out)-size:]
		u = append(u[:0], t...)
		for i := int64(1); i < iterations; i++ {
			if i%pollEvery == 0 && r.over() != nil {
				return nil, r.over()
			}
			mac.Reset()
			mac.Write(u)
			u = mac.Sum(u[:0])
			for j, x := range u {
				t[j] ^= x
			}
		}
		if r.over() != nil {
			return nil, r.over()
		}
	}
	return out[:length], nil
}

func (m *module) scrypt(call goja.FunctionCall, options, callback goja.Value) goja.Value {
	password := m.copied(call.Argument(0), "password", textOrMemory)
	salt := m.copied(call.Argument(1), "salt", textOrMemory)
	length := native.Integer(m.vm, call.Argument(2), "keylen", 0, math.MaxInt32)
	m.fits(length)
	read := func(missingValue, most float64, names ...string) float64 {
		for _, name := range names {
			if v := option(options, name); !goja.IsUndefined(v) {
				return float64(native.Integer(m.vm, v, name, 0, most))
			}
		}
		return missingValue
	}
	n := read(16384, math.MaxUint32, "N", "cost")
	r := read(8, math.MaxUint32, "r", "blockSize")
	p := read(1, math.MaxUint32, "p", "parallelization")
	most := read(32<<20, native.MaxSafe, "maxmem")
	invalid := func(detail string) *goja.Object {
		return m.error("RangeError", "ERR_CRYPTO_INVALID_SCRYPT_PARAMS", "Invalid scrypt params"+detail)
	}
	if n < 2 || math.Exp2(math.Floor(math.Log2(n))) != n || r == 0 || p == 0 || r*p >= 1<<30 {
		panic(invalid(""))
	}
	if 128*n*r+128*r*p > most {
		panic(invalid(": error:030000AC:digital envelope routines::memory limit exceeded"))
	}
	if n*r*p > maxScrypt || n*r > maxScryptMemory/128 {
		panic(invalid(": the cost is higher than mcpx takes on"))
	}
	return answer(m, callback, func(*run) ([]byte, error) {
		if length == 0 {
			return nil, nil
		}
		return scrypt.Key(password, salt, int(n), int(r), int(p), int(length))
	}, m.buffer)
}
