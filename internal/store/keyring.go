package store

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/zalando/go-keyring"
)

// keyringTimeout bounds how long a keyring may take, which may be waiting for a person to
// unlock it.
const keyringTimeout = 20 * time.Second

// SystemKeyring returns the keyring of the user's session, or nil if there is none. Lookup
// is the environment. It is not asked for anything yet.
func SystemKeyring(lookup func(name string) (string, bool)) Keyring {
	switch runtime.GOOS {
	case "darwin", "windows":
		return system{}
	}
	// Without a bus the library would start one.
	if address, ok := lookup("DBUS_SESSION_BUS_ADDRESS"); ok && address != "" {
		return system{}
	}
	if dir, ok := lookup("XDG_RUNTIME_DIR"); ok && filepath.IsAbs(dir) && isThere(filepath.Join(dir, "bus")) {
		return system{}
	}
	return nil
}

func isThere(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// system is the keyring of macOS, of Windows, or the Secret Service.
type system struct{}

const (
	keyringService = "mcpx"
	keyringUser    = "key of the logins"
)

func (system) Get() (string, error) {
	text, err := bounded(func() (string, error) { return keyring.Get(keyringService, keyringUser) })
	if errors.Is(err, keyring.ErrNotFound) {
		return "", ErrNoKey
	}
	return text, err
}

func (system) Set(text string) error {
	_, err := bounded(func() (string, error) { return "", keyring.Set(keyringService, keyringUser, text) })
	return err
}

// bounded runs what cannot be called off. One that is given up on goes on until the keyring
// answers or the process ends.
func bounded(f func() (string, error)) (string, error) {
	type answer struct {
		text string
		err  error
	}
	came := make(chan answer, 1)
	go func() {
		text, err := f()
		came <- answer{text, err}
	}()
	t := time.NewTimer(keyringTimeout)
	defer t.Stop()
	select {
	case a := <-came:
		return a.text, a.err
	case <-t.C:
		return "", fmt.Errorf("the keyring has not answered within %s", keyringTimeout)
	}
}
