package crypto

import (
	"crypto"
	"crypto/ecdh"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rsa"
	"crypto/subtle"
	"crypto/x509"
	"encoding/pem"
	"errors"
)

// Kinds of keys.
const (
	secretKey  = "secret"
	publicKey  = "public"
	privateKey = "private"
)

// key is what stands behind a KeyObject or a CryptoKey.
type key struct {
	kind    string
	secret  []byte
	public  crypto.PublicKey // *rsa.PublicKey, *ecdsa.PublicKey, ed25519.PublicKey or *ecdh.PublicKey of X25519
	private crypto.PrivateKey
	pss     bool // an RSA key for PSS only
}

// newKey returns the key of what a function of Go's made or read.
func newKey(v any) (*key, error) {
	switch k := v.(type) {
	case *rsa.PublicKey, *ecdsa.PublicKey, ed25519.PublicKey:
		return &key{kind: publicKey, public: k}, nil
	case *ecdh.PublicKey:
		if k.Curve() == ecdh.X25519() {
			return &key{kind: publicKey, public: k}, nil
		}
	case *rsa.PrivateKey:
		return &key{kind: privateKey, private: k, public: &k.PublicKey}, nil
	case *ecdsa.PrivateKey:
		return &key{kind: privateKey, private: k, public: &k.PublicKey}, nil
	case ed25519.PrivateKey:
		return &key{kind: privateKey, private: k, public: k.Public()}, nil
	case *ecdh.PrivateKey:
		if k.Curve() == ecdh.X25519() {
			return &key{kind: privateKey, private: k, public: k.PublicKey()}, nil
		}
	}
	return nil, errors.New("a kind of key that mcpx does not know")
}

// publicHalf returns the public key of a private one.
func (k *key) publicHalf() *key { return &key{kind: publicKey, public: k.public, pss: k.pss} }

// algorithm is what Node calls the kind of an asymmetric key.
func (k *key) algorithm() string {
	switch k.public.(type) {
	case *rsa.PublicKey:
		if k.pss {
			return "rsa-pss"
		}
		return "rsa"
	case *ecdsa.PublicKey:
		return "ec"
	case ed25519.PublicKey:
		return "ed25519"
	}
	return "x25519"
}

func (k *key) equal(other *key) bool {
	if k.kind != other.kind {
		return false
	}
	if k.kind == secretKey {
		return subtle.ConstantTimeCompare(k.secret, other.secret) == 1
	}
	a, ok := k.public.(interface{ Equal(crypto.PublicKey) bool })
	if !ok || !a.Equal(other.public) {
		return false
	}
	p, ok := k.private.(interface{ Equal(crypto.PrivateKey) bool })
	return k.kind == publicKey || ok && p.Equal(other.private)
}

// curve is a curve by its names.
type curve struct {
	openSSL, web string
	elliptic     elliptic.Curve
	ecdh         ecdh.Curve
}

func curves() []curve {
	return []curve{
		{"prime256v1", "P-256", elliptic.P256(), ecdh.P256()},
		{"secp384r1", "P-384", elliptic.P384(), ecdh.P384()},
		{"secp521r1", "P-521", elliptic.P521(), ecdh.P521()},
	}
}

// curveNamed returns a curve by any of its names, or nil.
func curveNamed(name string) *curve {
	if name == "secp256r1" {
		name = "prime256v1"
	}
	for _, c := range curves() {
		if c.openSSL == name || c.web == name {
			return &c
		}
	}
	return nil
}

// curveOf returns the curve of an elliptic key, or nil.
func curveOf(public crypto.PublicKey) *curve {
	if k, ok := public.(*ecdsa.PublicKey); ok {
		return curveNamed(k.Curve.Params().Name)
	}
	return nil
}

// size is how many bytes a coordinate has.
func (c *curve) size() int { return (c.elliptic.Params().BitSize + 7) / 8 }

// Forms that keys are written in.
const (
	formPKCS1 = "pkcs1"
	formPKCS8 = "pkcs8"
	formSPKI  = "spki"
	formSEC1  = "sec1"
)

var errForm = errors.New("a key of this kind cannot be written in this form")

// der writes the key in a form.
func (k *key) der(form string) ([]byte, error) {
	switch form {
	case formSPKI:
		return x509.MarshalPKIXPublicKey(k.public)
	case formPKCS8:
		if k.private != nil {
			return x509.MarshalPKCS8PrivateKey(k.private)
		}
	case formPKCS1:
		if p, ok := k.private.(*rsa.PrivateKey); ok {
			return x509.MarshalPKCS1PrivateKey(p), nil
		}
		if p, ok := k.public.(*rsa.PublicKey); ok && k.private == nil {
			return x509.MarshalPKCS1PublicKey(p), nil
		}
	case formSEC1:
		if p, ok := k.private.(*ecdsa.PrivateKey); ok {
			return x509.MarshalECPrivateKey(p)
		}
	}
	return nil, errForm
}

// label is what PEM calls a key in a form.
func (k *key) label(form string) string {
	switch {
	case form == formSPKI:
		return "PUBLIC KEY"
	case form == formPKCS8:
		return "PRIVATE KEY"
	case form == formSEC1:
		return "EC PRIVATE KEY"
	case k.kind == publicKey:
		return "RSA PUBLIC KEY"
	}
	return "RSA PRIVATE KEY"
}

// errUnsupported is about what is no key.
var errUnsupported = &failure{"Error", "ERR_OSSL_UNSUPPORTED", "error:1E08010C:DECODER routines::unsupported"}

// fromPEM reads the first key of a text.
func fromPEM(text []byte) (*key, error) {
	for {
		block, rest := pem.Decode(text)
		if block == nil {
			return nil, errUnsupported
		}
		if block.Headers["DEK-Info"] != "" || block.Type == "ENCRYPTED PRIVATE KEY" {
			return nil, &failure{"Error", "ERR_OSSL_CRYPTO_INTERRUPTED_OR_CANCELLED", "mcpx does not read encrypted private keys"}
		}
		switch block.Type {
		case "PUBLIC KEY":
			return fromDER(block.Bytes, formSPKI, publicKey)
		case "RSA PUBLIC KEY":
			return fromDER(block.Bytes, formPKCS1, publicKey)
		case "PRIVATE KEY":
			return fromDER(block.Bytes, formPKCS8, privateKey)
		case "RSA PRIVATE KEY":
			return fromDER(block.Bytes, formPKCS1, privateKey)
		case "EC PRIVATE KEY":
			return fromDER(block.Bytes, formSEC1, privateKey)
		case "CERTIFICATE":
			c, err := x509.ParseCertificate(block.Bytes)
			if err != nil {
				return nil, err
			}
			return newKey(c.PublicKey)
		}
		text = rest
	}
}

// fromDER reads a key of a kind from a form.
func fromDER(der []byte, form, kind string) (*key, error) {
	var v any
	err := errForm
	switch form {
	case formSPKI:
		v, err = x509.ParsePKIXPublicKey(der)
	case formPKCS8:
		v, err = x509.ParsePKCS8PrivateKey(der)
	case formPKCS1:
		if kind == publicKey {
			v, err = x509.ParsePKCS1PublicKey(der)
		} else {
			v, err = x509.ParsePKCS1PrivateKey(der)
		}
	case formSEC1:
		v, err = x509.ParseECPrivateKey(der)
	}
	if err != nil {
		return nil, err
	}
	return newKey(v)
}
