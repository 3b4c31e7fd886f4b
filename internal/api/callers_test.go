package api

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestCallersAreReadOnceAndNotMixedUp(t *testing.T) {
	t.Parallel()
	var k callers
	header := func(n int) (string, Caller) {
		c := Caller{Dir: fmt.Sprintf("/d%d", n), Environ: []string{fmt.Sprintf("A=%d", n)}}
		b, err := encode(c)
		if err != nil {
			t.Fatal(err)
		}
		return base64.StdEncoding.EncodeToString(b), c
	}
	for range 3 {
		for n := range 3 * maxKnown {
			text, want := header(n)
			for range 2 {
				got, err := k.read(text)
				if err != nil || !cmp.Equal(got, want) {
					t.Fatalf("read %+v, %v, want %+v", got, err, want)
				}
			}
			if len(k.known) > maxKnown {
				t.Fatalf("%d are kept", len(k.known))
			}
		}
	}
	for _, bad := range []string{"%", base64.StdEncoding.EncodeToString([]byte(`{"dir":"/","more":1}`)), strings.Repeat("A", 2*maxCaller)} {
		for range 2 {
			if c, err := k.read(bad); err == nil {
				t.Errorf("%.20s was read as %+v", bad, c)
			}
		}
	}
	before := len(k.known)
	long, err := encode(Caller{Dir: "/", Environ: []string{"A=" + strings.Repeat("x", maxKnownBytes)}})
	if err != nil {
		t.Fatal(err)
	}
	if c, err := k.read(base64.StdEncoding.EncodeToString(long)); err != nil || c.Dir != "/" || len(k.known) != before {
		t.Errorf("a long one: %q, %v, and %d are kept", c.Dir, err, len(k.known))
	}
}
