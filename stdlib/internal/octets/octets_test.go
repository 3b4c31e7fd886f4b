package octets

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/dop251/goja"
)

func TestEncodingsRoundTrip(t *testing.T) {
	t.Parallel()
	vm := goja.New()
	data := make([]byte, 256)
	for i := range data {
		data[i] = byte(i)
	}
	for _, e := range []Encoding{UTF16LE, Latin1, Hex, Base64, Base64URL} {
		for n := range 9 {
			in := data[len(data)-2*n:]
			text, ok := e.Decode(vm, in).(goja.String)
			if !ok {
				t.Fatalf("%s: Decode returned no string", e)
			}
			if got := e.Encode(text); !bytes.Equal(got, in) {
				t.Errorf("%s: %x became %q and %x", e, in, text, got)
			}
		}
	}
}

func TestNamed(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"utf8": "utf8", "UTF-8": "utf8", "ucs2": "utf16le", "UTF-16LE": "utf16le", "binary": "latin1", "Hex": "hex", "BASE64URL": "base64url",
		"": "", "utf": "", "utf-16be": "", "base64urlx": "",
	} {
		e, ok := Named(name)
		if ok != (want != "") || ok && e.String() != want {
			t.Errorf("Named(%q) = %v, %v, want %q", name, e, ok, want)
		}
	}
}

func TestBytes(t *testing.T) {
	t.Parallel()
	vm := goja.New()
	oc := New(vm)
	for _, tt := range []struct {
		code string
		want string
		ok   bool
		is8  bool
	}{
		{`new Uint8Array([1, 2])`, "\x01\x02", true, true},
		{`new Uint8Array(new Uint8Array([1, 2, 3]).buffer, 1, 1)`, "\x02", true, true},
		{`new Uint8ClampedArray([1])`, "\x01", true, false},
		{`new Uint16Array([1])`, "\x01\x00", true, false},
		{`new DataView(new Uint8Array([1, 2, 3]).buffer, 1)`, "\x02\x03", true, false},
		{`new Uint8Array([7]).buffer`, "\x07", true, false},
		{`new (class extends Uint8Array {})([5])`, "\x05", true, true},
		{`Object.setPrototypeOf(new Uint8Array([5]), null)`, "\x05", true, true},
		{`[1, 2]`, "", false, false},
		{`({length: 2})`, "", false, false},
		{`Object.create(Uint8Array.prototype)`, "", false, false},
		{`new Proxy(new Uint8Array(1), {})`, "", false, false},
		{`"text"`, "", false, false},
		{`undefined`, "", false, false},
	} {
		v, err := vm.RunString("(" + tt.code + ")")
		if err != nil {
			t.Fatal(err)
		}
		if b, ok := oc.Bytes(v); string(b) != tt.want || ok != tt.ok {
			t.Errorf("Bytes(%s) = %q, %v, want %q, %v", tt.code, b, ok, tt.want, tt.ok)
		}
		if is := oc.IsUint8Array(v); is != tt.is8 {
			t.Errorf("IsUint8Array(%s) = %v, want %v", tt.code, is, tt.is8)
		}
	}
}

func TestBytesThatWereGivenAway(t *testing.T) {
	t.Parallel()
	vm := goja.New()
	oc := New(vm)
	array := oc.Uint8Array([]byte{1, 2, 3})
	if b, ok := oc.Bytes(array); !ok || len(b) != 3 {
		t.Fatalf("Bytes = %v, %v", b, ok)
	}
	buffer, ok := array.Get("buffer").Export().(goja.ArrayBuffer)
	if !ok || !buffer.Detach() {
		t.Fatal("the buffer cannot be given away")
	}
	if b, ok := oc.Bytes(array); !ok || len(b) != 0 {
		t.Errorf("Bytes = %v, %v, want none", b, ok)
	}
}

func FuzzValidUTF8(f *testing.F) {
	for _, s := range []string{"", "héllo", "\xff", "\xe2\x82", "\xf0\x9f\x98\x80", "\xed\xa0\x80", "\xc0\xaf", "a\xf4\x90\x80b"} {
		f.Add([]byte(s), 1)
	}
	f.Fuzz(func(t *testing.T, b []byte, cut int) {
		whole := ValidUTF8(b)
		if !utf8.ValidString(whole) {
			t.Fatalf("ValidUTF8(%q) = %q", b, whole)
		}
		if utf8.Valid(b) && whole != string(b) {
			t.Fatalf("ValidUTF8(%q) = %q", b, whole)
		}
		// In two parts it is the same.
		cut = min(max(cut, 0), len(b))
		have, missing := Unfinished(b[:cut])
		if have > cut || (have == 0) != (missing == 0) || have+missing > 4 {
			t.Fatalf("Unfinished(%q) = %d, %d", b[:cut], have, missing)
		}
		if parts := ValidUTF8(b[:cut-have]) + ValidUTF8(b[cut-have:]); parts != whole {
			t.Fatalf("%q cut at %d: %q, want %q", b, cut-have, parts, whole)
		}
	})
}

func FuzzDecodersOfText(f *testing.F) {
	for _, s := range []string{"", "aGk=", "a-_b", "zz", "616", "é", "=a"} {
		f.Add(s)
	}
	vm := goja.New()
	f.Fuzz(func(t *testing.T, s string) {
		text, ok := vm.ToValue(strings.ToValidUTF8(s, "")).(goja.String)
		if !ok {
			t.Fatal("no string")
		}
		for _, e := range []Encoding{Hex, Base64, Base64URL} {
			if b := e.Encode(text); len(b) > text.Length() {
				t.Fatalf("%s of %q has %d bytes", e, s, len(b))
			}
		}
	})
}
