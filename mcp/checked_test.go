package mcp

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

func checked(t *testing.T, text string) Checked {
	t.Helper()
	c, err := Check(Raw(text))
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return c
}

func TestWhatIsNotJSONIsNotChecked(t *testing.T) {
	t.Parallel()
	for _, bad := range []string{``, ` `, `{`, `{"a":1}}`, `{"a":1},"b":2`, "{\"a\":\"\n\"}", `'a'`} {
		if c, err := Check(Raw(bad)); err == nil || c.Raw() != nil {
			t.Errorf("Check(%s) = %s, %v", bad, c.Raw(), err)
		}
	}
	for _, bad := range []string{`[]`, `1`, `"x"`} {
		if got, err := checked(t, bad).With("a", checked(t, `1`)); err == nil {
			t.Errorf("%s with a member is %s", bad, got.Raw())
		}
		m := Message{Method: "m"}
		if line, err := m.EncodeWith(checked(t, bad), "a", checked(t, `1`)); err == nil {
			t.Errorf("a message with the parameters %s is %s", bad, line)
		}
	}
	made := Message{ID: Raw(`1`), Result: Raw(`{"a":1},"b":{}`)}
	if c, err := made.CheckedResult(); err == nil {
		t.Errorf("the result of a message that was not read is %s", c.Raw())
	}
	read, err := Split([]byte(`{"jsonrpc":"2.0","id":1,"result":{"a":1}}`))
	if err != nil {
		t.Fatal(err)
	}
	if c, err := read.CheckedResult(); err != nil || string(c.Raw()) != `{"a":1}` || string(c.Member("a").Raw()) != `1` || c.Member("b").Raw() != nil {
		t.Errorf("the result of one that was read is %s, %v", c.Raw(), err)
	}
}

func TestParametersAreNotMadeAnewForAMember(t *testing.T) {
	t.Parallel()
	tests := []struct{ params, want string }{
		{``, `{"_meta":{"t":1}}`},
		{`{}`, `{"_meta":{"t":1}}`},
		{`{ "a" : [1,` + "\n" + `2] }`, `{ "a" : [1, 2],"_meta":{"t":1} }`},
		{`{"_meta":{"x":2},"a":1}`, `{"_meta":{"t":1},"a":1}`},
	}
	for _, tt := range tests {
		var params Checked
		if tt.params != "" {
			params = checked(t, tt.params)
		}
		m := Message{ID: Raw(`1`), Method: "m"}
		line, err := m.EncodeWith(params, "_meta", checked(t, `{"t":1}`))
		if want := `{"jsonrpc":"2.0","id":1,"method":"m","params":` + tt.want + `}`; err != nil || string(line) != want {
			t.Errorf("with the parameters %s it is %s, %v, want %s", tt.params, line, err, want)
		}
		if cap(line) == len(line) {
			t.Errorf("there is no room for the end of the line %s", line)
		}
	}
	if got := CallParams(`a"b`, checked(t, `{"x":"<"}`)).Raw(); string(got) != `{"name":"a\"b","arguments":{"x":"<"}}` {
		t.Errorf("the parameters of a call are %s", got)
	}
}

// TestALineIsTheMessage holds the parts of a line against the message in one piece.
func TestALineIsTheMessage(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 100<<10)
	split := 0
	for _, m := range []Message{
		{ID: Raw(`1`), Result: Raw(`{}`)},
		{ID: Raw(`1`), Result: Raw(`{}`), Complete: true},
		{ID: Raw(`1`), Result: Raw("{ \n} "), Complete: true},
		{ID: Raw(`1`), Result: Raw(`{"a":{}}`), Complete: true},
		{ID: Raw(`1`), Result: Raw(`[]`), Complete: true},
		{ID: Raw(`"a"`), Result: Raw(`{"a":"` + long + `"}`)},
		{ID: Raw(`"a"`), Result: Raw(`{"a":"` + long + `"} `), Complete: true},
		{ID: Raw(`1`), Result: Raw("{\"a\":\n\"" + long + `"}`), Complete: true},
		{ID: Raw(`1`), Result: Raw(`"` + long + `"`), Complete: true},
		{ID: Raw(`1`)},
		{ID: Raw(`1`), Error: Errorf(1, "%s", long)},
		{Method: "m", Params: Raw(`{"a":"` + long + `"}`)},
	} {
		line := m.Line()
		whole := slices.Concat(line...)
		if len(line) > 1 {
			split++
		}
		if want := append(m.Encode(), '\n'); !bytes.Equal(whole, want) {
			t.Errorf("the line is %.100s, want %.100s", whole, want)
		}
		if !json.Valid(whole) || bytes.Count(whole, []byte("\n")) != 1 {
			t.Errorf("%.100s is no line of JSON", whole)
		}
		read, err := Split(whole)
		if err != nil {
			t.Errorf("%.100s: %v", whole, err)
			continue
		}
		says := string(Member(read.Result, "resultType"))
		if isObject := firstByte(m.Result) == '{'; (says == `"complete"`) != (m.Complete && isObject) {
			t.Errorf("the type of the result of %.100s is %q", whole, says)
		}
	}
	if split != 3 {
		t.Errorf("%d lines came in parts, want those with a long result on one line", split)
	}
}

func TestPartsAreWhatCame(t *testing.T) {
	t.Parallel()
	for _, size := range []int{0, 1, 1000, 64 << 10, 300_000} {
		for _, n := range []int{0, 1, 2, 40} {
			var p Parts
			var want []byte
			for i := range n {
				part := bytes.Repeat([]byte{byte(i)}, size+i)
				p.Add(part)
				want = append(want, part...)
				clear(part) // it is the caller's
			}
			if got := p.Join(); !bytes.Equal(got, want) || p.Len() != len(want) || !bytes.Equal(slices.Concat(p.All()...), want) {
				t.Errorf("%d times %d bytes: %d came back, Len is %d", n, size, len(got), p.Len())
			}
			for _, part := range p.All() {
				if cap(part) > max(longestPart, size+n)+onePart {
					t.Errorf("a part has room for %d bytes", cap(part))
				}
			}
		}
	}
}

func TestHintsOfTools(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		annotations        string
		readOnly, destroys bool
	}{
		{``, false, true},
		{`{}`, false, true},
		{`{"readOnlyHint":true}`, true, false},
		{`{"readOnlyHint":false}`, false, true},
		{`{"readOnlyHint":"true"}`, false, true},
		{`{"readOnlyHint":1}`, false, true},
		{`{"readonlyhint":true}`, false, true},
		{`{"readOnlyHint":true,"readOnlyHint":false}`, false, true},
		{`{"readOnlyHint":true,"destructiveHint":true}`, true, true},
		{`{"readOnlyHint":false,"destructiveHint":false}`, false, false},
		{`{"destructiveHint":null,"readOnlyHint":true}`, true, false},
		{`{"destructiveHint":"no","readOnlyHint":true}`, true, true},
	} {
		tool := &Tool{Annotations: Raw(tt.annotations)}
		if tool.ReadOnly() != tt.readOnly || tool.Destructive() != tt.destroys {
			t.Errorf("%s: read-only %v and destructive %v, want %v and %v", tt.annotations, tool.ReadOnly(), tool.Destructive(), tt.readOnly, tt.destroys)
		}
	}
}
