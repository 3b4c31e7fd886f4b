package jsontext

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
)

// texts are JSON and nearly JSON.
func texts() []string {
	deep := func(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }
	return []string{
		``, ` `, `null`, ` true `, `false`, `nul`, `nullx`, `tru`, `True`,
		`0`, `-0`, `01`, `-`, `-01`, `1.`, `.5`, `1.5`, `1e`, `1e+`, `1e5`, `1E-5`, `1.5e+10`, `1e400`, `+1`, `0x1`, `1 2`, `1a`,
		`""`, `"`, `"a`, `"\"`, `"\\"`, `"\""`, `"\n\t\b\f\r\/"`, `"\u00e4"`, `"\u00E4"`, `"\u00g4"`, `"\u12"`, `"\x"`, "\"\t\"", "\"\x1f\"", "\"\x7f\"", "\"\x00\"",
		"\"\xff\"", "\"\xed\xa0\x80\"", `"\ud83d\ude00"`, `"\ud83d"`, `"\ude00\ud83d"`, `"\ud83d\u0041"`, `"\ud83d\n"`, `"\ud83dx"`, `"\ud83d\ud83d\ude00"`, `"\ufffd"`,
		`"1234567"`, `"12345678"`, `"1234567\n"`, `"12345678\""`, "\"1234567\n\"", "\"12345678é\"", "\"éééééééééééé\"", "\"\u2028 \u2029\"",
		`[]`, `[`, `]`, `[1,]`, `[,1]`, `[1,2]`, `[1 2]`, `[ 1 , [ ] , { } ]`, `[1}`, `[[]`, `[]]`,
		`{}`, `{`, `}`, `{"a"}`, `{"a":}`, `{"a":1}`, `{"a":1,}`, `{,}`, `{a:1}`, `{"a" : [1, {"b": null}], "a": 2}`, `{"a":1 "b":2}`, `{"a":1]`, `{1:2}`, `{"a":1}{`, `{"":{"":[]}}`,
		"\ufeff{}", "{}\n", "\v{}", "/* */ 1", "NaN", "'a'",
		deep(10_000), deep(10_001), strings.Repeat(`{"a":`, 10_000) + "1" + strings.Repeat("}", 10_000), strings.Repeat("[", 20_000),
		`"` + strings.Repeat("long ", 100) + `"`, `"` + strings.Repeat(`\"`, 100) + `"`, `"` + strings.Repeat(`\\`, 100), `"` + strings.Repeat("ä", 100) + "\x01\"",
	}
}

func TestValidAgreesWithEncodingJSON(t *testing.T) {
	t.Parallel()
	valid := 0
	for _, s := range texts() {
		want := json.Valid([]byte(s))
		if got := Valid([]byte(s)); got != want {
			t.Errorf("Valid(%.60q) = %v, want %v", s, got, want)
		}
		if want {
			valid++
		}
	}
	if valid < 20 {
		t.Errorf("only %d texts are JSON", valid)
	}
}

// TestEveryByteInAString puts each byte at each place of a word, and escaped.
func TestEveryByteInAString(t *testing.T) {
	t.Parallel()
	for at := range 20 {
		for c := range 256 {
			for _, sep := range []string{"", `\`} {
				s := `"` + strings.Repeat("x", at) + sep + string([]byte{byte(c)}) + strings.Repeat("y", 20-at) + `"`
				agree(t, []byte(s))
			}
		}
	}
}

// agree holds all that reads a text against encoding/json.
func agree(t *testing.T, b []byte) {
	t.Helper()
	valid := json.Valid(b)
	if got := Valid(b); got != valid {
		t.Fatalf("Valid(%q) = %v, want %v", b, got, valid)
	}
	var want string
	isString := json.Unmarshal(b, &want) == nil && bytes.HasPrefix(bytes.TrimLeft(b, " \t\r\n"), []byte(`"`))
	got, ok := Unquote(b)
	if ok != isString || ok && got != want {
		t.Fatalf("Unquote(%q) = %q, %v, want %q, %v", b, got, ok, want, isString)
	}
	from := Space(b, 0)
	to := Value(b, from)
	if to < from || to > len(b) {
		t.Fatalf("Value(%q, %d) = %d", b, from, to)
	}
	if valid && (!json.Valid(b[from:to]) || Space(b, to) != len(b)) {
		t.Fatalf("Value(%q, %d) = %d, want the end of the value", b, from, to)
	}
}

func TestUnquoteAgreesWithEncodingJSON(t *testing.T) {
	t.Parallel()
	for _, s := range texts() {
		agree(t, []byte(s))
	}
}

// TestValueEndsWhereTheNextBegins reads values one after the other.
func TestValueEndsWhereTheNextBegins(t *testing.T) {
	t.Parallel()
	for _, s := range texts() {
		if !json.Valid([]byte(s)) {
			continue
		}
		list := []byte("[" + s + " ," + s + "]")
		i := Space(list, 1)
		end := Value(list, i)
		if got, want := string(list[i:end]), strings.Trim(s, " \n"); got != want {
			t.Errorf("the first value of %.60q is %.60q", list, got)
		}
	}
}

func TestQuotedAgreesWithEncodingJSON(t *testing.T) {
	t.Parallel()
	for _, s := range append(texts(), "<b>&amp;</b>", "a\u2028b\u2029c", "\xff\xfe", "a\xe2\x80", "\x7f", "\u0085", "\U0001F600") {
		quotes(t, s)
	}
	for c := range 256 {
		quotes(t, "1234567"+string([]byte{byte(c)})+"8\xffrest of it")
		quotes(t, string([]byte{byte(c)}))
	}
}

func quotes(t *testing.T, s string) {
	t.Helper()
	var want bytes.Buffer
	e := json.NewEncoder(&want)
	e.SetEscapeHTML(false)
	if err := e.Encode(s); err != nil {
		t.Fatal(err)
	}
	if got := AppendQuoted([]byte("head "), s); string(got)+"\n" != "head "+want.String() {
		t.Fatalf("AppendQuoted(%q) = %s, want %s", s, got, want.String())
	}
}

func TestFlatIsOneLine(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"": "", "\n": " ", "{\r\n \"a\":\n\n1\r}\n": `{   "a":  1 } `, `"a\n"`: `"a\n"`,
	} {
		if got := string(AppendFlat([]byte("\n"), []byte(text))); got != "\n"+want {
			t.Errorf("AppendFlat(%q) = %q, want %q, and nothing else changed", text, got, want)
		}
	}
}

func TestSpecialFindsTheFirst(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		s    string
		from int
		want int
	}{
		{"", 0, 0},
		{"abc", 0, 3},
		{"abcdefgh", 0, 8},
		{`abcdefgh"`, 0, 8},
		{`"\`, 0, 0},
		{`"\`, 1, 1},
		{"aaaaaaaaaaaa\n\"", 0, 12},
		{"ääääääääää\x00", 0, 20},
		{"\x80\x81\x9f\xa0\xa2\xdc\xff\xfe\x1f", 0, 8},
		{`aaaaaaaaaaaaa\"`, 3, 13},
	} {
		if got := Special(tt.s, tt.from); got != tt.want {
			t.Errorf("Special(%q, %d) = %d, want %d", tt.s, tt.from, got, tt.want)
		}
	}
}

func FuzzJSON(f *testing.F) {
	for _, s := range texts() {
		if len(s) < 1000 {
			f.Add([]byte(s))
		}
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		agree(t, b)
		quotes(t, string(b))
	})
}

// BenchmarkJSON reads and writes a text of 20 MB, beside encoding/json.
func BenchmarkJSON(b *testing.B) {
	text := strings.Repeat("a long text of a server, in plain words\n", 500_000)
	quoted := AppendQuoted(nil, text)
	object := append(append([]byte(`{"content":[{"type":"text","text":`), quoted...), "}]}"...)
	for _, bench := range []struct {
		name string
		do   func() bool
	}{
		{"Valid", func() bool { return Valid(object) }},
		{"Valid/encoding", func() bool { return json.Valid(object) }},
		{"Value", func() bool { return Value(object, 0) == len(object) }},
		{"Unquote", func() bool { s, ok := Unquote(quoted); return ok && len(s) == len(text) }},
		{"Unquote/encoding", func() bool { var s string; return json.Unmarshal(quoted, &s) == nil }},
		{"AppendQuoted", func() bool { return len(AppendQuoted(nil, text)) == len(quoted) }},
		{"AppendQuoted/encoding", func() bool { q, err := json.Marshal(text); return err == nil && len(q) > 0 }},
	} {
		b.Run(bench.name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				if !bench.do() {
					b.Fatal("wrong")
				}
			}
		})
	}
}
