package main

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

func TestServersThatStartTogetherHaveOneToken(t *testing.T) {
	t.Parallel()
	b := &inline{state: filepath.Join(t.TempDir(), "state")}
	const servers = 16
	tokens := make([]string, servers)
	var wg sync.WaitGroup
	for i := range servers {
		wg.Go(func() {
			token, kept, err := b.token("")
			if err != nil || kept != filepath.Join(b.state, "serve-token") {
				t.Errorf("token: %q, %v", kept, err)
			}
			tokens[i] = token
		})
	}
	wg.Wait()
	for _, token := range tokens {
		if token != tokens[0] || len(token) < leastToken {
			t.Errorf("one has the token %q, another %q", token, tokens[0])
		}
	}
	files, err := os.ReadDir(b.state)
	if err != nil || len(files) != 1 {
		t.Errorf("%d files are left, %v", len(files), err)
	}
}

func TestTokenOfAFile(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"abcdefghijklmnop":               "abcdefghijklmnop",
		"  abcdefghijklmnop\r\n":         "abcdefghijklmnop",
		"":                               "is not one word",
		"abcdefghijklmno\n":              "is not one word",
		"abcdefgh ijklmnop\n":            "is not one word",
		"abcdefghijklmnopé":              "is not one word",
		strings.Repeat("x", mostToken+1): "cannot be read",
	} {
		file := filepath.Join(t.TempDir(), "token")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		got, _, err := (&inline{}).token(file)
		if err != nil {
			got = err.Error()
		}
		if !strings.Contains(got, want) || err == nil && got != want {
			t.Errorf("%.40q: %q, want %q", text, got, want)
		}
	}
	if _, _, err := (&inline{}).token(""); err == nil || !strings.Contains(err.Error(), "no state directory") {
		t.Errorf("without a state directory: %v", err)
	}
}
