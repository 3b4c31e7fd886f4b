package crypto

import (
	"crypto/ecdh"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/rsa"
)

// RSA keys that are made have at least and at most so many bits. Larger ones would take
// longer than one may have to wait for the end of a run.
const (
	minModulus = 1024
	maxModulus = 4096
)

// recipe says what key is to be made.
type recipe struct {
	algorithm string // rsa, rsa-pss, ec, ed25519, x25519
	bits      int
	curve     *curve
}

// generate makes a private key.
func (r *recipe) generate() (*key, error) {
	var v any
	var err error
	switch r.algorithm {
	case "rsa", "rsa-pss":
		v, err = rsa.GenerateKey(rand.Reader, r.bits)
	case "ec":
		v, err = ecdsa.GenerateKey(r.curve.elliptic, rand.Reader)
	case "ed25519":
		_, v, err = ed25519.GenerateKey(rand.Reader)
	default:
		v, err = ecdh.X25519().GenerateKey(rand.Reader)
	}
	if err != nil {
		return nil, err
	}
	k, err := newKey(v)
	if k != nil {
		k.pss = r.algorithm == "rsa-pss"
	}
	return k, err
}
