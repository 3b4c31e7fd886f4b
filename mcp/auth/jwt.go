package auth

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"strings"
	"time"
)

// assertionLife is how long a client's signed word is good for.
const assertionLife = 5 * time.Minute

// assertion is the client's signed word that it is who it says, for one authorisation
// server: RFC 7523. The key is a PEM text.
func assertion(key, client, issuer string, now time.Time) (string, error) {
	block, _ := pem.Decode([]byte(strings.ReplaceAll(key, `\n`, "\n"))) // as it stands in variables
	if block == nil {
		return "", errors.New("it is no PEM text")
	}
	private, err := parseKey(block)
	if err != nil {
		return "", err
	}
	var alg string
	var sign func(text []byte) ([]byte, error)
	switch k := private.(type) {
	case *ecdsa.PrivateKey:
		if k.Curve.Params().BitSize != 256 {
			return "", errors.New("only elliptic curve keys on P-256 can sign (ES256)")
		}
		alg, sign = "ES256", func(text []byte) ([]byte, error) {
			sum := sha256.Sum256(text)
			r, s, err := ecdsa.Sign(rand.Reader, k, sum[:])
			if err != nil {
				return nil, err
			}
			out := make([]byte, 64)
			r.FillBytes(out[:32])
			s.FillBytes(out[32:])
			return out, nil
		}
	case *rsa.PrivateKey:
		alg, sign = "RS256", func(text []byte) ([]byte, error) {
			sum := sha256.Sum256(text)
			return rsa.SignPKCS1v15(rand.Reader, k, crypto.SHA256, sum[:])
		}
	case ed25519.PrivateKey:
		alg, sign = "EdDSA", func(text []byte) ([]byte, error) { return ed25519.Sign(k, text), nil }
	default:
		return "", errors.New("it is a key of a kind that cannot sign")
	}
	header, err := json.Marshal(map[string]string{"alg": alg, "typ": "JWT"})
	if err != nil {
		return "", err
	}
	claims, err := json.Marshal(map[string]any{
		"iss": client, "sub": client, "aud": issuer, "jti": rand.Text(),
		"iat": now.Unix(), "exp": now.Add(assertionLife).Unix(),
	})
	if err != nil {
		return "", err
	}
	text := base64.RawURLEncoding.EncodeToString(header) + "." + base64.RawURLEncoding.EncodeToString(claims)
	signature, err := sign([]byte(text))
	if err != nil {
		return "", err
	}
	return text + "." + base64.RawURLEncoding.EncodeToString(signature), nil
}

func parseKey(block *pem.Block) (any, error) {
	if key, err := x509.ParsePKCS8PrivateKey(block.Bytes); err == nil {
		return key, nil
	}
	if key, err := x509.ParseECPrivateKey(block.Bytes); err == nil {
		return key, nil
	}
	if key, err := x509.ParsePKCS1PrivateKey(block.Bytes); err == nil {
		return key, nil
	}
	return nil, errors.New("its PEM text holds no private key of PKCS #8, PKCS #1 or SEC 1")
}
