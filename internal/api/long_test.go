package api

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// filled is a struct of which every field that may be long is.
func filled(t reflect.Type, n int) reflect.Value {
	v := reflect.New(t)
	for name, i := range longFields(t) {
		text := strings.Repeat(name+" \"<\u2028ä\n", n)
		if f := v.Elem().Field(i); f.Kind() == reflect.String {
			f.SetString(text)
		} else {
			q, _ := json.Marshal([]string{text}) // texts can be encoded
			f.SetBytes(q)
		}
	}
	return v
}

// TestLongMembersGoThroughWhole writes and reads every input and output of an operation with
// members that are long, and compares it with what encoding/json makes of it.
func TestLongMembersGoThroughWhole(t *testing.T) {
	t.Parallel()
	looked := 0
	for _, o := range Operations() {
		for _, of := range []reflect.Type{o.input, o.output} {
			if of.Kind() != reflect.Struct || len(longFields(of)) == 0 {
				continue
			}
			looked++
			for _, n := range []int{0, 1, long} {
				v := filled(of, n)
				got, err := encode(v.Interface())
				if err != nil {
					t.Fatalf("%s: %v", of, err)
				}
				want, err := encodeSlim(v.Interface())
				if err != nil {
					t.Fatal(err)
				}
				if !json.Valid(got) || bytes.ContainsAny(got, "\r\n") {
					t.Fatalf("%s of %d: %.200s", of, n, got)
				}
				var a, b any
				if json.Unmarshal(got, &a) != nil || json.Unmarshal(want, &b) != nil || !cmp.Equal(a, b) {
					t.Errorf("%s of %d says something else: %.300s", of, n, got)
				}
				for _, loose := range []bool{true, false} {
					back := reflect.New(of)
					if err := decode(got, back.Interface(), loose); err != nil {
						t.Errorf("%s of %d: %v", of, n, err)
						continue
					}
					plain := reflect.New(of)
					if err := json.Unmarshal(got, plain.Interface()); err != nil {
						t.Fatal(err)
					}
					again, _ := encodeSlim(back.Interface())
					if wanted, _ := encodeSlim(plain.Interface()); !bytes.Equal(again, wanted) {
						t.Errorf("%s of %d is read as %.300s", of, n, again)
					}
				}
			}
		}
	}
	if looked < 5 {
		t.Errorf("only %d types have members that may be long", looked)
	}
}

// TestALongResultIsNotRewritten holds that the bytes of a result stay as they are, but for
// ends of lines.
func TestALongResultIsNotRewritten(t *testing.T) {
	t.Parallel()
	result := `{"content" : [ 1.0e2, "<\/\u003c>" ],` + "\n" + `"x":"` + strings.Repeat("x", long) + `"}`
	b, err := encode(&CallOutput{Server: "s", Tool: "t", Result: json.RawMessage(result)})
	if err != nil {
		t.Fatal(err)
	}
	flat := strings.ReplaceAll(result, "\n", " ")
	if !bytes.Contains(b, []byte(flat)) {
		t.Errorf("got %.100s", b)
	}
	var out CallOutput
	if err := decode(b, &out, true); err != nil || string(out.Result) != flat || out.Server != "s" {
		t.Errorf("read as %.100s, %v", out.Result, err)
	}
}

func TestWhatIsNoMessageIsRefusedAlsoIfItIsLong(t *testing.T) {
	t.Parallel()
	text := `"` + strings.Repeat("x", long) + `"`
	for _, tt := range []struct{ text, want string }{
		{`{"server":"s","tool":"t","arguments":{"a":` + text + `}`, "unexpected EOF"},
		{`{"server":"s","tool":"t","arguments":` + text + `} {}`, "something stands behind the JSON value"},
		{`{"server":"s","tool":"t","arguments":` + text + `,"more":1}`, `unknown field "more"`},
		{`{"server":"s","tool":"t","more":` + text + `}`, `unknown field "more"`},
		{`{"server":["` + strings.Repeat("x", long) + `"]}`, "cannot unmarshal array"},
		{`{"arguments":` + text + `,"server":7}`, "cannot unmarshal number"},
		{`[` + text + `]`, "cannot unmarshal array"},
		{text, "cannot unmarshal string"},
		{`{"arguments":"` + strings.Repeat("x", long) + "\x01\"}", "invalid character"},
	} {
		var in CallInput
		if err := strict(strings.NewReader(tt.text), &in); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%.60s: %v, want %s", tt.text, err, tt.want)
		}
	}
	if _, err := encode(CallInput{Arguments: json.RawMessage(`{"a":` + text)}); err == nil {
		t.Error("arguments that are no JSON were sent")
	}
}

// TestOfEqualNamesTheLastCounts holds for members of any length.
func TestOfEqualNamesTheLastCounts(t *testing.T) {
	t.Parallel()
	text := `"` + strings.Repeat("x", long) + `"`
	for _, tt := range []string{
		`{"arguments":` + text + `,"arguments":1}`, `{"arguments":1,"arguments":` + text + `}`,
		`{"arguments":` + text + `,"Arguments":2}`, `{"Server":` + text + `,"server":"b"}`, `{"server":"a","SERVER":` + text + `}`,
	} {
		var got, want CallInput
		if err := strict(strings.NewReader(tt), &got); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal([]byte(tt), &want); err != nil {
			t.Fatal(err)
		}
		if string(got.Arguments) != string(want.Arguments) || got.Server != want.Server {
			t.Errorf("%.40s: read as %.20s and %.20s, want %.20s and %.20s", tt, got.Arguments, got.Server, want.Arguments, want.Server)
		}
	}
}

// BenchmarkLongResult writes and reads the answer of a tool with 20 MB of text.
func BenchmarkLongResult(b *testing.B) {
	text := strings.Repeat("some words of a long text\n", 20<<20/26)
	q, err := json.Marshal(text)
	if err != nil {
		b.Fatal(err)
	}
	out := &CallOutput{Server: "s", Tool: "t", Result: json.RawMessage(`{"content":[{"type":"text","text":` + string(q) + `}]}`), Text: text, IsText: true}
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		raw, err := encode(out)
		if err != nil {
			b.Fatal(err)
		}
		var back CallOutput
		if err := decode(raw, &back, true); err != nil || len(back.Text) != len(text) {
			b.Fatal(err)
		}
	}
}
