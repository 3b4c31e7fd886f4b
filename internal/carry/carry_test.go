package carry

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mcpx/internal/fault"
)

// program is something that looks like one of ours.
func program(head string) []byte {
	plain := image
	return []byte(head + strings.Repeat("code ", 100) + string(plain[:]) + strings.Repeat("data ", 100))
}

func written(t *testing.T, data []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "tool")
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestWhatIsCarriedIsFoundAgain(t *testing.T) {
	t.Parallel()
	for _, payload := range []string{"x", "", strings.Repeat("long ", 100_000), mark, string(image[:])} {
		for _, head := range []string{"\x7fELF", "MZ", "\xcf\xfa\xed\xfe"} {
			plain := program(head)
			before := bytes.Clone(plain)
			tool, err := Append(plain, []byte(payload))
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(plain, before) {
				t.Fatal("Append changed the program it was given")
			}
			path := written(t, tool)
			got, digest, err := Inspect(path)
			if err != nil || string(got) != payload || len(digest) != 64 {
				t.Errorf("Inspect() of %q behind %q = %d bytes, %s, %v", payload[:min(9, len(payload))], head, len(got), digest, err)
			}
			if _, err := Append(tool, []byte("more")); fault.KindOf(err) != fault.Usage {
				t.Errorf("Append() to what carries something = %v", err)
			}
		}
	}
}

func TestAppendTakesOnlyAProgramOfOurs(t *testing.T) {
	t.Parallel()
	for name, p := range map[string][]byte{
		"nothing": nil, "something else": []byte("\x7fELF and more"), "two": append(program("MZ"), program("MZ")...),
	} {
		if out, err := Append(p, []byte("x")); out != nil || fault.KindOf(err) != fault.Usage {
			t.Errorf("Append() to %s = %d bytes, %v", name, len(out), err)
		}
	}
}

// Whatever is cut off or changed behind the image is noticed.
func TestDamageIsAnError(t *testing.T) {
	t.Parallel()
	payload := []byte("what is carried")
	tool, err := Append(program("\x7fELF"), payload)
	if err != nil {
		t.Fatal(err)
	}
	end := len(tool)
	start := end - trailerSize - len(payload)
	for cut := start; cut < end; cut++ {
		if got, _, err := Inspect(written(t, tool[:cut])); err == nil {
			t.Fatalf("cut off at %d of %d: Inspect() = %q", cut, end, got)
		}
	}
	for at := start; at < end; at++ {
		changed := bytes.Clone(tool)
		changed[at] ^= 0x40
		if got, _, err := Inspect(written(t, changed)); err == nil {
			t.Fatalf("changed at %d of %d: Inspect() = %q", at, end, got)
		}
	}
	if _, _, err := Inspect(written(t, append(bytes.Clone(tool), 0))); err == nil {
		t.Error("something stands behind it, and nobody noticed")
	}
}

func TestAPlainProgramCarriesNothing(t *testing.T) {
	t.Parallel()
	for _, p := range [][]byte{program("\x7fELF"), []byte("short"), nil} {
		if got, _, err := Inspect(written(t, p)); got != nil || err != nil {
			t.Errorf("Inspect() = %q, %v", got, err)
		}
	}
	if Marked() {
		t.Error("this test carries something")
	}
}

func TestIsProgram(t *testing.T) {
	t.Parallel()
	plain := program("\x7fELF")
	carrying, err := Append(bytes.Clone(plain), []byte("x"))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		data []byte
		want bool
	}{
		{"mcpx", plain, true},
		{"one that carries", carrying, true},
		{"one that carries and is cut off", carrying[:len(carrying)-9], true},
		{"a text", []byte("mcpx carries something: notes"), false},
		{"another program", []byte("\x7fELF other"), false},
		{"nothing", nil, false},
	} {
		if got, err := IsProgram(written(t, c.data)); err != nil || got != c.want {
			t.Errorf("%s: %t, %v, want %t", c.name, got, err, c.want)
		}
	}
	if _, err := IsProgram(filepath.Join(t.TempDir(), "none")); err == nil {
		t.Error("a file that is not there: no error")
	}
}
