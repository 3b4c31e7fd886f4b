package store

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"mcpx/internal/fault"
)

const (
	// maxSecret bounds one text that is kept.
	maxSecret = 1 << 20
	// sealedMark begins a file whose key is in the keyring.
	sealedMark = "mcpx sealed 1\n"
	keyLength  = 32
)

// Where secrets are kept.
const (
	InFile    = "file"
	InKeyring = "keyring"
)

// Keyring keeps one short text of the user's, where the system keeps passwords.
type Keyring interface {
	// Get returns the text. The error is ErrNoKey if there is none, and another if it
	// cannot be known.
	Get() (string, error)
	Set(text string) error
}

// ErrNoKey says that a keyring works and does not hold the text.
var ErrNoKey = errors.New("the keyring does not hold the key")

// Secrets keeps texts that nobody else may read: one file for each, of the user's alone. With
// a keyring the files are sealed, with a key that the keyring holds: keyrings have no room
// for tokens as some servers give them.
type Secrets struct {
	dir    string
	what   string // the kind of thing that is kept, for errors
	again  string // what to do about one that is lost
	choice string // auto, file or keyring
	ring   Keyring

	mu  sync.Mutex
	key []byte // of the keyring, once it is known
}

// OpenSecrets opens the logins. It reads nothing yet. State is the state directory; without
// one nothing can be kept. Choice says where new texts go: file, keyring, or auto for the keyring if there is
// one. What was kept before is read where it is. Ring is nil if there is none.
func OpenSecrets(state, choice string, ring Keyring) *Secrets {
	return openSecrets(&Secrets{what: "login", again: "log in again", choice: choice, ring: ring}, state, "auth")
}

// OpenInputs opens the answers to inputs, as OpenSecrets does the logins.
func OpenInputs(state, choice string, ring Keyring) *Secrets {
	return openSecrets(&Secrets{what: "input", again: "give it again with mcpx servers input", choice: choice, ring: ring}, state, "inputs")
}

func openSecrets(s *Secrets, state, folder string) *Secrets {
	if state != "" {
		s.dir = filepath.Join(state, folder)
	}
	return s
}

func (s *Secrets) path(name string) string { return filepath.Join(s.dir, name) }

// Load returns a text, or nil if none is kept.
func (s *Secrets) Load(name string) ([]byte, error) {
	if s.dir == "" {
		return nil, nil
	}
	data, err := ReadFile(s.path(name), maxSecret)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, fault.Unavailablef("what is known of the %s cannot be read: %w", s.what, err)
	case len(data) < len(sealedMark) || string(data[:len(sealedMark)]) != sealedMark:
		return data, nil
	}
	key, err := s.ringKey(false)
	if err != nil {
		return nil, fault.Unavailablef("the %s is sealed with a key in the keyring, which cannot be read: %w", s.what, err).
			Hintf("unlock the keyring, or %s with MCPX_AUTH_STORE=file", s.again)
	}
	text, err := open(key, name, data[len(sealedMark):])
	if err != nil {
		return nil, fault.Unavailablef("the %s is sealed with another key than the keyring holds", s.what).
			Hintf("%s", s.again)
	}
	return text, nil
}

// Save keeps a text in place of what was kept under the name.
func (s *Secrets) Save(name string, text []byte) error {
	if s.dir == "" {
		return fault.Unavailablef("there is no state directory to keep the %s in", s.what).Hintf("set MCPX_STATE_DIR or HOME")
	}
	if s.choice != InFile {
		key, err := s.ringKey(true)
		if err != nil && s.choice == InKeyring {
			return fault.Unavailablef("the %s cannot be kept: %w", s.what, err).
				Hintf("unlock the keyring, or set auth.store to auto or file")
		}
		if err == nil {
			sealed, err := seal(key, name, text)
			if err != nil {
				return fault.Internalf("sealing the %s: %w", s.what, err)
			}
			text = append([]byte(sealedMark), sealed...)
		}
	}
	if err := WriteFile(s.path(name), text, 0o600); err != nil {
		return fault.Unavailablef("the %s cannot be kept: %w", s.what, err).
			Hintf("set MCPX_STATE_DIR to a directory that can be written")
	}
	return nil
}

// Delete forgets a text, if there is one.
func (s *Secrets) Delete(name string) error {
	if s.dir == "" {
		return nil
	}
	if err := os.Remove(s.path(name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fault.Unavailablef("the %s cannot be removed: %w", s.what, err)
	}
	return nil
}

// Lock keeps other processes from changing a text until unlock is called.
func (s *Secrets) Lock(ctx context.Context, name string) (unlock func(), err error) {
	if s.dir == "" {
		return func() {}, nil
	}
	return Lock(ctx, s.path(name)+".lock")
}

// Where says where a text is kept: InFile, InKeyring, or nowhere.
func (s *Secrets) Where(name string) string {
	if s.dir == "" {
		return ""
	}
	data, err := ReadFile(s.path(name), maxSecret)
	switch {
	case err != nil:
		return ""
	case len(data) >= len(sealedMark) && string(data[:len(sealedMark)]) == sealedMark:
		return InKeyring
	}
	return InFile
}

// ringKey returns the key that the keyring holds; create has one made if it holds none.
func (s *Secrets) ringKey(create bool) ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.key != nil {
		return s.key, nil
	}
	if s.ring == nil {
		return nil, errors.New("there is no keyring")
	}
	text, err := s.ring.Get()
	if errors.Is(err, ErrNoKey) && create {
		return s.newKey()
	}
	if err != nil {
		return nil, err
	}
	return s.take(text)
}

// newKey has the keyring hold a new key. Of two processes that do so at once one waits.
func (s *Secrets) newKey() ([]byte, error) {
	unlock, err := Lock(context.Background(), s.path("keyring.lock"))
	if err != nil {
		return nil, err
	}
	defer unlock()
	text, err := s.ring.Get()
	if errors.Is(err, ErrNoKey) {
		key := make([]byte, keyLength)
		_, _ = rand.Read(key) // never fails
		text = base64.StdEncoding.EncodeToString(key)
		if err := s.ring.Set(text); err != nil {
			return nil, err
		}
		// Some keyrings take what they do not keep.
		text, err = s.ring.Get()
	}
	if err != nil {
		return nil, err
	}
	return s.take(text)
}

// take remembers the key that the keyring holds.
func (s *Secrets) take(text string) ([]byte, error) {
	key, err := base64.StdEncoding.DecodeString(text)
	if err != nil || len(key) != keyLength {
		return nil, errors.New("what the keyring holds is no key")
	}
	s.key = key
	return key, nil
}

// seal encrypts a text, which can then be opened under its own name only.
func seal(key []byte, name string, text []byte) ([]byte, error) {
	aead, err := sealer(key)
	if err != nil {
		return nil, err
	}
	return aead.Seal(nil, nil, text, []byte(name)), nil
}

func open(key []byte, name string, sealed []byte) ([]byte, error) {
	aead, err := sealer(key)
	if err != nil {
		return nil, err
	}
	return aead.Open(nil, nil, sealed, []byte(name))
}

func sealer(key []byte) (cipher.AEAD, error) {
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, fmt.Errorf("the key: %w", err)
	}
	return cipher.NewGCMWithRandomNonce(block)
}
