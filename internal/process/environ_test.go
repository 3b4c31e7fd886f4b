package process

import (
	"runtime"
	"testing"
)

func TestLookupEnv(t *testing.T) {
	t.Parallel()
	environ := []string{"A=1", "B", "C=", "A=2=3", "AB=4"}
	for _, tt := range []struct {
		name, want string
		ok         bool
	}{{"A", "2=3", true}, {"B", "", false}, {"C", "", true}, {"D", "", false}, {"", "", false}} {
		if got, ok := LookupEnv(environ, tt.name); got != tt.want || ok != tt.ok || Getenv(environ, tt.name) != tt.want {
			t.Errorf("LookupEnv(%q) = %q, %t, want %q, %t", tt.name, got, ok, tt.want, tt.ok)
		}
	}
	if _, ok := LookupEnv(environ, "ab"); ok != (runtime.GOOS == "windows") {
		t.Errorf("AB is found as ab: %t", ok)
	}
}
