package crypto

import (
	"crypto/ecdh"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rsa"
	"encoding/base64"
	"math/big"
)

// jwk is a JSON Web Key: its members of text.
type jwk map[string]string

// order is the order in which the members of a kind of key are written.
func (j jwk) order() []string {
	switch j["kty"] {
	case "EC":
		return []string{"kty", "x", "y", "crv", "d", "alg"}
	case "OKP":
		return []string{"crv", "d", "x", "kty", "alg"}
	case "RSA":
		return []string{"kty", "n", "e", "d", "p", "q", "dp", "dq", "qi", "alg"}
	}
	return []string{"kty", "k", "alg"}
}

// jwkMembers are all members that are read.
var jwkMembers = [...]string{"kty", "k", "crv", "n", "e", "d", "p", "q", "dp", "dq", "qi", "x", "y"}

func encode64(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }

func (j jwk) bytes(name string) []byte {
	b, err := base64.RawURLEncoding.DecodeString(j[name])
	if err != nil {
		return nil
	}
	return b
}

func (j jwk) number(name string) *big.Int { return new(big.Int).SetBytes(j.bytes(name)) }

// jwk writes the key.
func (k *key) jwk() (jwk, error) {
	switch public := k.public.(type) {
	case nil:
		return jwk{"kty": "oct", "k": encode64(k.secret)}, nil
	case *rsa.PublicKey:
		j := jwk{"kty": "RSA", "n": encode64(public.N.Bytes()), "e": encode64(big.NewInt(int64(public.E)).Bytes())}
		if p, ok := k.private.(*rsa.PrivateKey); ok {
			if len(p.Primes) != 2 {
				return nil, errForm
			}
			p.Precompute()
			j["d"], j["p"], j["q"] = encode64(p.D.Bytes()), encode64(p.Primes[0].Bytes()), encode64(p.Primes[1].Bytes())
			j["dp"], j["dq"], j["qi"] = encode64(p.Precomputed.Dp.Bytes()), encode64(p.Precomputed.Dq.Bytes()), encode64(p.Precomputed.Qinv.Bytes())
		}
		return j, nil
	case *ecdsa.PublicKey:
		c := curveOf(public)
		if c == nil {
			return nil, errForm
		}
		point, err := public.Bytes()
		if err != nil {
			return nil, err
		}
		n := c.size()
		j := jwk{"kty": "EC", "crv": c.web, "x": encode64(point[1 : 1+n]), "y": encode64(point[1+n:])}
		if p, ok := k.private.(*ecdsa.PrivateKey); ok {
			d, err := p.Bytes()
			if err != nil {
				return nil, err
			}
			j["d"] = encode64(d)
		}
		return j, nil
	case ed25519.PublicKey:
		j := jwk{"kty": "OKP", "crv": "Ed25519", "x": encode64(public)}
		if p, ok := k.private.(ed25519.PrivateKey); ok {
			j["d"] = encode64(p.Seed())
		}
		return j, nil
	case *ecdh.PublicKey:
		j := jwk{"kty": "OKP", "crv": "X25519", "x": encode64(public.Bytes())}
		if p, ok := k.private.(*ecdh.PrivateKey); ok {
			j["d"] = encode64(p.Bytes())
		}
		return j, nil
	}
	return nil, errForm
}

var errJWK = &failure{"Error", "ERR_CRYPTO_INVALID_JWK", "Invalid JWK data"}

// key reads a key.
func (j jwk) key() (*key, error) {
	_, private := j["d"]
	switch j["kty"] {
	case "oct":
		if _, ok := j["k"]; !ok {
			return nil, errJWK
		}
		return &key{kind: secretKey, secret: j.bytes("k")}, nil
	case "RSA":
		return j.rsa(private)
	case "EC":
		return j.elliptic(private)
	case "OKP":
		return j.edwards(private)
	}
	return nil, errJWK
}

func (j jwk) rsa(private bool) (*key, error) {
	e := j.number("e")
	n := j.number("n")
	if !e.IsInt64() || e.Int64() > 1<<31-1 || e.Sign() <= 0 || n.Sign() <= 0 {
		return nil, errJWK
	}
	public := rsa.PublicKey{N: n, E: int(e.Int64())}
	if !private {
		return newKey(&public)
	}
	p := &rsa.PrivateKey{PublicKey: public, D: j.number("d"), Primes: []*big.Int{j.number("p"), j.number("q")}}
	if err := p.Validate(); err != nil {
		return nil, errJWK
	}
	p.Precompute()
	return newKey(p)
}

func (j jwk) elliptic(private bool) (*key, error) {
	c := curveNamed(j["crv"])
	if c == nil {
		return nil, &failure{"Error", "ERR_CRYPTO_INVALID_CURVE", "Invalid EC curve name"}
	}
	n := c.size()
	point := make([]byte, 1+2*n)
	point[0] = 4
	x, y := j.bytes("x"), j.bytes("y")
	if len(x) > n || len(y) > n {
		return nil, errJWK
	}
	copy(point[1+n-len(x):], x)
	copy(point[1+2*n-len(y):], y)
	public, err := ecdsa.ParseUncompressedPublicKey(c.elliptic, point)
	if err != nil {
		return nil, errJWK
	}
	if !private {
		return newKey(public)
	}
	d := j.bytes("d")
	if len(d) > n {
		return nil, errJWK
	}
	p, err := ecdsa.ParseRawPrivateKey(c.elliptic, append(make([]byte, n-len(d)), d...))
	if err != nil || !p.PublicKey.Equal(public) {
		return nil, errJWK
	}
	return newKey(p)
}

func (j jwk) edwards(private bool) (*key, error) {
	x, d := j.bytes("x"), j.bytes("d")
	switch {
	case len(x) != 32, private && len(d) != 32:
		return nil, errJWK
	case j["crv"] == "Ed25519" && private:
		return newKey(ed25519.NewKeyFromSeed(d))
	case j["crv"] == "Ed25519":
		return newKey(ed25519.PublicKey(x))
	case j["crv"] == "X25519" && private:
		p, err := ecdh.X25519().NewPrivateKey(d)
		if err != nil {
			return nil, errJWK
		}
		return newKey(p)
	case j["crv"] == "X25519":
		p, err := ecdh.X25519().NewPublicKey(x)
		if err != nil {
			return nil, errJWK
		}
		return newKey(p)
	}
	return nil, errJWK
}
