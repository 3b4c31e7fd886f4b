package crypto

import (
	"crypto"
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha3"
	"crypto/sha512"
	"encoding"
	"hash"
	"strings"

	"golang.org/x/crypto/blake2b"
	"golang.org/x/crypto/blake2s"
	"golang.org/x/crypto/ripemd160" //nolint:staticcheck // scripts may name any hash that Node has
)

// digest is a hash function.
type digest struct {
	name string
	new  func() hash.Hash
	id   crypto.Hash                // what signatures call it; 0 if they do not
	xof  func(length int) hash.Hash // if the length of the output may be chosen
}

// digestNames are those that getHashes lists.
var digestNames = []string{
	"RSA-MD5", "RSA-RIPEMD160", "RSA-SHA1", "RSA-SHA224", "RSA-SHA256", "RSA-SHA3-224", "RSA-SHA3-256", "RSA-SHA3-384", "RSA-SHA3-512",
	"RSA-SHA384", "RSA-SHA512", "RSA-SHA512/224", "RSA-SHA512/256", "blake2b512", "blake2s256", "md5", "ripemd", "ripemd160", "rmd160",
	"sha1", "sha224", "sha256", "sha3-224", "sha3-256", "sha3-384", "sha3-512", "sha384", "sha512", "sha512-224", "sha512-256",
	"shake128", "shake256",
}

// digestNamed returns the hash function of a name as OpenSSL spells it, or nil.
func digestNamed(name string) *digest {
	name = strings.TrimPrefix(strings.ToLower(name), "rsa-")
	name = strings.TrimSuffix(name, "withrsaencryption")
	if rest, ok := strings.CutPrefix(name, "sha2-"); ok {
		name = "sha" + rest
	}
	switch strings.ReplaceAll(name, "/", "-") {
	case "md5":
		return &digest{name: "md5", new: md5.New, id: crypto.MD5}
	case "sha1", "sha-1":
		return &digest{name: "sha1", new: sha1.New, id: crypto.SHA1}
	case "sha224", "sha-224":
		return &digest{name: "sha224", new: sha256.New224, id: crypto.SHA224}
	case "sha256", "sha-256":
		return &digest{name: "sha256", new: sha256.New, id: crypto.SHA256}
	case "sha384", "sha-384":
		return &digest{name: "sha384", new: sha512.New384, id: crypto.SHA384}
	case "sha512", "sha-512":
		return &digest{name: "sha512", new: sha512.New, id: crypto.SHA512}
	case "sha512-224", "sha-512-224":
		return &digest{name: "sha512-224", new: sha512.New512_224, id: crypto.SHA512_224}
	case "sha512-256", "sha-512-256":
		return &digest{name: "sha512-256", new: sha512.New512_256, id: crypto.SHA512_256}
	case "sha3-224":
		return &digest{name: "sha3-224", new: func() hash.Hash { return sha3.New224() }, id: crypto.SHA3_224}
	case "sha3-256":
		return &digest{name: "sha3-256", new: func() hash.Hash { return sha3.New256() }, id: crypto.SHA3_256}
	case "sha3-384":
		return &digest{name: "sha3-384", new: func() hash.Hash { return sha3.New384() }, id: crypto.SHA3_384}
	case "sha3-512":
		return &digest{name: "sha3-512", new: func() hash.Hash { return sha3.New512() }, id: crypto.SHA3_512}
	case "ripemd160", "ripemd", "rmd160":
		return &digest{name: "ripemd160", new: func() hash.Hash { return &recorded{Hash: ripemd160.New(), new: ripemd160.New} }, id: crypto.RIPEMD160}
	case "blake2b512":
		return &digest{name: "blake2b512", new: func() hash.Hash { return must(blake2b.New512(nil)) }}
	case "blake2s256":
		return &digest{name: "blake2s256", new: func() hash.Hash { return must(blake2s.New256(nil)) }}
	case "shake128":
		return shake("shake128", sha3.NewSHAKE128, 16)
	case "shake256":
		return shake("shake256", sha3.NewSHAKE256, 32)
	}
	return nil
}

// must is for functions that fail only for arguments that are not passed to them.
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func shake(name string, make func() *sha3.SHAKE, size int) *digest {
	xof := func(length int) hash.Hash { return &extendable{SHAKE: make(), make: make, size: length} }
	return &digest{name: name, new: func() hash.Hash { return xof(size) }, xof: xof}
}

// extendable is a hash function whose output is as long as one likes.
type extendable struct {
	*sha3.SHAKE
	make func() *sha3.SHAKE
	size int
}

func (e *extendable) Size() int { return e.size }

func (e *extendable) Sum(b []byte) []byte {
	out := make([]byte, e.size)
	copied, _ := e.Clone()
	if _, err := copied.(*extendable).Read(out); err != nil {
		return b
	}
	return append(b, out...)
}

func (e *extendable) Clone() (hash.Cloner, error) {
	state, err := e.MarshalBinary()
	if err != nil {
		return nil, err
	}
	c := &extendable{SHAKE: e.make(), make: e.make, size: e.size}
	return c, c.UnmarshalBinary(state)
}

// recorded is a hash function that cannot be copied otherwise than by hashing again.
type recorded struct {
	hash.Hash
	new  func() hash.Hash
	data []byte
}

func (r *recorded) Write(p []byte) (int, error) {
	r.data = append(r.data, p...)
	return r.Hash.Write(p)
}

func (r *recorded) Reset() {
	r.data = nil
	r.Hash.Reset()
}

func (r *recorded) Clone() (hash.Cloner, error) {
	c := &recorded{Hash: r.new(), new: r.new}
	_, err := c.Write(r.data)
	return c, err
}

// cloned returns a copy of a hash function in its state.
func (d *digest) cloned(h hash.Hash) (hash.Hash, error) {
	if c, ok := h.(hash.Cloner); ok {
		return c.Clone()
	}
	state, err := h.(encoding.BinaryMarshaler).MarshalBinary()
	if err != nil {
		return nil, err
	}
	out := d.new()
	return out, out.(encoding.BinaryUnmarshaler).UnmarshalBinary(state)
}

// sum hashes data.
func (d *digest) sum(data []byte) []byte {
	h := d.new()
	h.Write(data)
	return h.Sum(nil)
}

// webDigest returns a hash function of the web, such as SHA-256, or nil.
func webDigest(name string) *digest {
	switch strings.ToUpper(name) {
	case "SHA-1", "SHA-256", "SHA-384", "SHA-512":
		return digestNamed(name)
	}
	return nil
}

// webName is what the web calls a hash function.
func (d *digest) webName() string { return "SHA-" + strings.TrimPrefix(d.name, "sha") }
