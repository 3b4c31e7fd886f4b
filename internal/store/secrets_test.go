package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// ring is a keyring in memory.
type ring struct {
	mu   sync.Mutex
	text string
	err  error // of everything
	sets int
}

func (r *ring) Get() (string, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.err != nil:
		return "", r.err
	case r.text == "":
		return "", ErrNoKey
	}
	return r.text, nil
}

func (r *ring) Set(text string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err == nil {
		r.text, r.sets = text, r.sets+1
	}
	return r.err
}

func TestSecrets(t *testing.T) {
	t.Parallel()
	locked := errors.New("the keyring is locked")
	for _, tt := range []struct {
		name, choice string
		ring         *ring
		where        string
		want         string // of the error of Save
	}{
		{"no keyring", "auto", nil, InFile, ""},
		{"a keyring", "auto", &ring{}, InKeyring, ""},
		{"a keyring that is locked", "auto", &ring{err: locked}, InFile, ""},
		{"a keyring that is not wanted", "file", &ring{}, InFile, ""},
		{"a keyring that is wanted", "keyring", &ring{}, InKeyring, ""},
		{"a keyring that is wanted and locked", "keyring", &ring{err: locked}, "", "the keyring is locked"},
		{"a keyring that is wanted and not there", "keyring", nil, "", "there is no keyring"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			state := t.TempDir()
			open := func() *Secrets {
				if tt.ring == nil {
					return OpenSecrets(state, tt.choice, nil)
				}
				return OpenSecrets(state, tt.choice, tt.ring)
			}
			s := open()
			if text, err := s.Load("a"); text != nil || err != nil || s.Where("a") != "" {
				t.Errorf("before: %q, %v, in %q", text, err, s.Where("a"))
			}
			err := s.Save("a", []byte("secret"))
			if tt.want != "" {
				if err == nil || !strings.Contains(err.Error(), tt.want) {
					t.Errorf("Save = %v, want %q", err, tt.want)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			text, err := open().Load("a")
			if string(text) != "secret" || err != nil || s.Where("a") != tt.where {
				t.Errorf("Load = %q, %v, in %q; want it in %q", text, err, s.Where("a"), tt.where)
			}
			path := filepath.Join(state, "auth", "a")
			onDisk, err := os.ReadFile(path)
			if err != nil || bytes.Contains(onDisk, []byte("secret")) != (tt.where == InFile) {
				t.Errorf("the file holds %q, %v", onDisk, err)
			}
			if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
				t.Errorf("the file's mode is %v, %v", info.Mode(), err)
			}
			if tt.where == InKeyring {
				// Sealed under one name, it cannot pass for another.
				if err := os.WriteFile(filepath.Join(state, "auth", "b"), onDisk, 0o600); err != nil {
					t.Fatal(err)
				}
				if _, err := open().Load("b"); err == nil {
					t.Error("a text can be read under another name")
				}
				tt.ring.err = locked
				if _, err := open().Load("a"); err == nil || !strings.Contains(err.Error(), "locked") {
					t.Errorf("with the keyring locked: %v", err)
				}
			}
			for range 2 {
				if err := s.Delete("a"); err != nil {
					t.Errorf("Delete: %v", err)
				}
			}
			if text, err := open().Load("a"); text != nil || err != nil {
				t.Errorf("after Delete: %q, %v", text, err)
			}
		})
	}
}

func TestSecretsWithoutAStateDirectory(t *testing.T) {
	t.Parallel()
	s := OpenSecrets("", "auto", &ring{})
	if text, err := s.Load("a"); text != nil || err != nil {
		t.Errorf("Load = %q, %v", text, err)
	}
	if err := s.Save("a", nil); err == nil || !strings.Contains(err.Error(), "no state directory") {
		t.Errorf("Save = %v", err)
	}
	if err := s.Delete("a"); err != nil {
		t.Errorf("Delete = %v", err)
	}
	unlock, err := s.Lock(t.Context(), "a")
	if err != nil {
		t.Fatal(err)
	}
	unlock()
}

// Processes that seal their first login at once agree on one key.
func TestOneKeyForAll(t *testing.T) {
	t.Parallel()
	state, r := t.TempDir(), &ring{}
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			if err := OpenSecrets(state, "keyring", r).Save(fmt.Sprint(i), []byte("secret")); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	for i := range 8 {
		if text, err := OpenSecrets(state, "auto", r).Load(fmt.Sprint(i)); string(text) != "secret" {
			t.Errorf("Load = %q, %v", text, err)
		}
	}
	if r.sets != 1 {
		t.Errorf("%d keys were made, want one", r.sets)
	}
}

func TestLock(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "new", "lock")
	inside, most := 0, 0
	var mu sync.Mutex
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			unlock, err := Lock(t.Context(), path)
			if err != nil {
				t.Error(err)
				return
			}
			mu.Lock()
			inside++
			most = max(most, inside)
			mu.Unlock()
			time.Sleep(time.Millisecond)
			mu.Lock()
			inside--
			mu.Unlock()
			unlock()
		})
	}
	wg.Wait()
	if most != 1 {
		t.Errorf("%d held the lock at once", most)
	}
	unlock, err := Lock(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer unlock()
	cause := errors.New("no more patience")
	ctx, cancel := context.WithTimeoutCause(t.Context(), 50*time.Millisecond, cause)
	defer cancel()
	if _, err := Lock(ctx, path); !errors.Is(err, cause) {
		t.Errorf("Lock = %v, want the cause", err)
	}
}

func TestSystemKeyringIsNotStarted(t *testing.T) {
	t.Parallel()
	if _, ok := os.LookupEnv("DBUS_SESSION_BUS_ADDRESS"); ok {
		t.Skip("there is a bus here")
	}
	dir := t.TempDir()
	for _, tt := range []struct {
		env  map[string]string
		want bool
	}{
		{nil, false},
		{map[string]string{"XDG_RUNTIME_DIR": dir}, false},
		{map[string]string{"DBUS_SESSION_BUS_ADDRESS": ""}, false},
		{map[string]string{"DBUS_SESSION_BUS_ADDRESS": "unix:path=/x"}, true},
	} {
		ring := SystemKeyring(func(name string) (string, bool) { v, ok := tt.env[name]; return v, ok })
		if (ring != nil) != tt.want && os.PathSeparator == '/' && !isThere("/System/Library") {
			t.Errorf("with %v there is a keyring: %t, want %t", tt.env, ring != nil, tt.want)
		}
	}
}
