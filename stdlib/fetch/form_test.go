package fetch

import "testing"

func FuzzParseForm(f *testing.F) {
	f.Add([]byte("--x\r\nContent-Disposition: form-data; name=\"n\"; filename=\"f\"\r\nContent-Type: a/b\r\n\r\nv\r\n--x--\r\n"), "multipart/form-data; boundary=x")
	f.Add([]byte("--x--"), `multipart/form-data; boundary="x"`)
	f.Fuzz(func(t *testing.T, b []byte, mediaType string) {
		fields, ok := parseForm(b, boundaryOf(mediaType))
		size := 0
		for _, field := range fields {
			size += len(field.content)
		}
		if !ok && fields != nil || size > len(b) {
			t.Errorf("%d fields with %d bytes of %d, %v", len(fields), size, len(b), ok)
		}
	})
}

func FuzzMIME(f *testing.F) {
	f.Add(`Text/HTML; Charset="a\"b"; x=y;z`)
	f.Fuzz(func(t *testing.T, s string) {
		once := parseMIME(s)
		if again := parseMIME(once); again != once {
			t.Errorf("%q became %q and then %q", s, once, again)
		}
	})
}
