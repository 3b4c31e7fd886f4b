package mcp

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

func TestSplit(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, line string
		kind       Kind
		want       string // the message encoded again
	}{
		{"request", `{"jsonrpc":"2.0","id":1,"method":"ping"}`, Request, `{"jsonrpc":"2.0","id":1,"method":"ping"}`},
		{"request with text id", `{"jsonrpc":"2.0","id":"a\"b","method":"x","params":{"b":1.0,"a":[ ]}}`, Request, `{"jsonrpc":"2.0","id":"a\"b","method":"x","params":{"b":1.0,"a":[ ]}}`},
		{"notification", `{"method":"n","params":{},"jsonrpc":"2.0"}`, Notification, `{"jsonrpc":"2.0","method":"n","params":{}}`},
		{"null id", `{"jsonrpc":"2.0","id":null,"method":"n"}`, Notification, `{"jsonrpc":"2.0","method":"n"}`},
		{"response", `{"jsonrpc":"2.0","id":1.0,"result":{"x":1e400}}`, Response, `{"jsonrpc":"2.0","id":1.0,"result":{"x":1e400}}`},
		{"response without a version", `{"id":1,"result":[]}`, Response, `{"jsonrpc":"2.0","id":1,"result":[]}`},
		{"null result", `{"jsonrpc":"2.0","id":1,"result":null}`, Response, `{"jsonrpc":"2.0","id":1,"result":null}`},
		{"null error beside a result", `{"jsonrpc":"2.0","id":1,"result":2,"error":null}`, Response, `{"jsonrpc":"2.0","id":1,"result":2}`},
		{"null result beside an error", `{"jsonrpc":"2.0","id":1,"result":null,"error":{"code":-1,"message":"<no>"}}`, Response, `{"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":"<no>"}}`},
		{"error as text", `{"jsonrpc":"2.0","id":1,"error":"oh"}`, Response, `{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"oh"}}`},
		{"error with odd members", `{"jsonrpc":"2.0","id":1,"error":{"code":"-5","message":{"a":1},"data":[1, 2]}}`, Response, `{"jsonrpc":"2.0","id":1,"error":{"code":-5,"message":"{\"a\":1}","data":[1, 2]}}`},
		{"unknown members and space", " { \"jsonrpc\" : \"2.0\" , \"x\" : {\"id\":9} , \"id\" : 1 , \"result\" : { } } \r", Response, `{"jsonrpc":"2.0","id":1,"result":{ }}`},
		{"repeated members", `{"jsonrpc":"2.0","id":1,"id":2,"result":1,"result":2}`, Response, `{"jsonrpc":"2.0","id":2,"result":2}`},
		{"escaped key", `{"jsonrpc":"2.0","\u0069d":1,"result":1}`, Response, `{"jsonrpc":"2.0","id":1,"result":1}`},
		{"invalid UTF-8", "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":\"a\xff\xfeb\xc3\"}", Response, `{"jsonrpc":"2.0","id":1,"result":"a` + "\ufffd\ufffdb\ufffd" + `"}`},
		{"byte order mark", "\ufeff" + `{"jsonrpc":"2.0","id":1,"result":1}`, Response, `{"jsonrpc":"2.0","id":1,"result":1}`},
		{"lone surrogate", `{"jsonrpc":"2.0","id":1,"result":"\ud800"}`, Response, `{"jsonrpc":"2.0","id":1,"result":"\ud800"}`},
		{"error response to nothing", `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"Parse error"}}`, Response, `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"Parse error"}}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			m, err := Split([]byte(tt.line))
			if err != nil {
				t.Fatal(err)
			}
			if m.Kind() != tt.kind {
				t.Errorf("Kind = %v, want %v", m.Kind(), tt.kind)
			}
			if got := string(m.Encode()); got != tt.want {
				t.Errorf("encoded again: %s, want %s", got, tt.want)
			}
		})
	}
}

func TestSplitRefusesWhatIsNoMessage(t *testing.T) {
	t.Parallel()
	for _, line := range []string{
		"", "  ", "hello", "[INFO] loading {\"a\":1", "{", "}", "7", `"x"`, "null", "[]", "[1]", "{}", `{"id":1}`, `{"jsonrpc":"2.0"}`,
		`{"level":"info","method":"GET","id":3}`, `{"jsonrpc":"2.0","method":7}`, `{"jsonrpc":"2.0","id":1,"error":null}`,
		`{"jsonrpc":"2.0","id":1,"result":1} trailing`, strings.Repeat("[", 100_000),
	} {
		if m, err := Split([]byte(line)); err == nil {
			t.Errorf("Split(%.60q) = %s", line, m.Encode())
		}
	}
}

func TestSplitBatch(t *testing.T) {
	t.Parallel()
	got, others, err := SplitBatch([]byte(` [ {"jsonrpc":"2.0","method":"a"} , null, {"x":1}, {"jsonrpc":"2.0","id":1,"result":[{},"]"]} ] `))
	if err != nil || len(got) != 2 || got[0].Method != "a" || string(got[1].Result) != `[{},"]"]` || fmt.Sprintf("%s", others) != `[null {"x":1}]` {
		t.Errorf("SplitBatch = %v, %s, %v", got, others, err)
	}
	for _, line := range []string{"[]", `[1,"x"]`, "[INFO] x"} {
		if _, _, err := SplitBatch([]byte(line)); err == nil {
			t.Errorf("SplitBatch(%s) succeeded", line)
		}
	}
}

func TestHear(t *testing.T) {
	t.Parallel()
	const a, b = `{"jsonrpc":"2.0","id":1,"result":{"s":"}{"}}`, `{"jsonrpc":"2.0","id":2,"result":2}`
	const note, asks = `{"jsonrpc":"2.0","method":"n"}`, `{"jsonrpc":"2.0","id":7,"method":"m"}`
	hollow := `{"jsonrpc":"2.0","id":1,"result":null}`
	tests := []struct {
		line string
		want []string
	}{
		{a, []string{a}},
		{"[" + a + "," + b + "]", []string{a, b}},
		{"[7," + hollow[:len(hollow)-len(`,"result":null}`)] + "}," + b + "]", []string{hollow, b}},
		{`[{"jsonrpc":"2.0","id":3,"result":NaN},` + b + "]", []string{b}},
		{"\ufeff[" + a + "]", []string{a}},
		{a + b, []string{a, b}},
		{" " + note + " " + asks + "\t" + a + " done", []string{note, asks, a}},
		{a + "[INFO] answered" + b, []string{a, b}},
		{"[{worker 1}] started" + a, []string{a}},
		{"[1," + a + "] sent", nil},
		{"loading fsspec" + a, []string{a}},
		{"\x1b]0;npm exec\x07" + a, []string{a}},
		{"\x00" + a, []string{a}},
		{"got {a: 1}x{" + a, nil}, // the brace is not closed
		{`{"jsonrpc":"2.0","id":1}`, []string{hollow}},
		{`{"jsonrpc":"2.0","id":1,"error":null}`, []string{hollow}},
		// What is quoted in a log is no message.
		{"received " + a, nil},
		{"received:" + a, nil},
		{"response=" + a, nil},
		{"<<" + a, nil},
		{"'" + a + "'", nil},
		{"loading" + a + " quoted", nil},
		{"loading" + asks, nil},
		{"loading" + note, nil},
		{`{"level":"info"}` + a[1:], nil},
		{`{"jsonrpc":"2.0","id":null}`, nil},
		{`{"jsonrpc":"2.0","id":1,"method":7}`, nil},
		{`{"jsonrpc":"2.0","id":1,"params":{}}`, nil},
		{`{"id":1}`, nil},
		{strings.Repeat("x{", 100_000), nil},
	}
	for _, tt := range tests {
		var got []string
		messages, _ := Hear([]byte(tt.line))
		for _, m := range messages {
			got = append(got, string(m.Encode()))
		}
		if strings.Join(got, "\n") != strings.Join(tt.want, "\n") {
			t.Errorf("Hear(%.80q) = %q, want %q", tt.line, got, tt.want)
		}
	}
}

func TestEncodeIsOneLine(t *testing.T) {
	t.Parallel()
	m := Message{ID: Raw("1"), Method: "x", Params: Raw("{\n  \"a\": \"b\\n\"\r\n}")}
	got := m.Encode()
	if bytes.ContainsAny(got, "\r\n") || !json.Valid(got) {
		t.Errorf("Encode = %q", got)
	}
}

func TestSameID(t *testing.T) {
	t.Parallel()
	for _, same := range [][2]string{{`3`, `"3"`}, {`3`, `3.0`}, {`"3"`, `3.0`}, {`3`, `3e0`}, {`"a"`, `"\u0061"`}, {`3`, ` 3 `}, {`9007199254740993`, `"9007199254740993"`}} {
		if !SameID(Raw(same[0]), Raw(same[1])) {
			t.Errorf("%s and %s differ", same[0], same[1])
		}
	}
	for _, other := range [][2]string{{`3`, `4`}, {`3`, `3.5`}, {`3`, `"3x"`}, {`9007199254740993`, `9007199254740992`}, {`"a"`, `"b"`}, {`"true"`, `true`}, {`""`, `0`}} {
		if SameID(Raw(other[0]), Raw(other[1])) {
			t.Errorf("%s and %s are the same", other[0], other[1])
		}
	}
}

func TestSetMember(t *testing.T) {
	t.Parallel()
	tests := []struct{ obj, key, value, want string }{
		{``, "a", `1`, `{"a":1}`},
		{`null`, "a", `1`, `{"a":1}`},
		{` { } `, "a", `1`, ` {"a":1 } `},
		{`{"b":1.0}`, "a", `[ ]`, `{"b":1.0,"a":[ ]}`},
		{"{\n \"b\" : 1\n}", "a", `2`, "{\n \"b\" : 1,\"a\":2\n}"},
		{`{ "a" : "old" , "b":{"a":1}}`, "a", `2`, `{ "a" : 2 , "b":{"a":1}}`},
		{`{"\u0061":1}`, "a", `2`, `{"\u0061":2}`},
		{`{"a":1,"a":2}`, "a", `3`, `{"a":1,"a":3}`},
		{`{}`, `q"<`, `1`, `{"q\"<":1}`},
	}
	for _, tt := range tests {
		got, err := SetMember(Raw(tt.obj), tt.key, Raw(tt.value))
		if err != nil || string(got) != tt.want {
			t.Errorf("SetMember(%s, %s, %s) = %s, %v, want %s", tt.obj, tt.key, tt.value, got, err, tt.want)
		}
	}
	for _, bad := range [][2]string{{`[]`, `1`}, {`{`, `1`}, {`"x"`, `1`}, {`{}`, ``}, {`{}`, `{`}} {
		if got, err := SetMember(Raw(bad[0]), "a", Raw(bad[1])); err == nil {
			t.Errorf("SetMember(%s, a, %s) = %s", bad[0], bad[1], got)
		}
	}
}

func TestWithoutMember(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ obj, key, want string }{
		{`{"a":1}`, "a", `{}`},
		{`{ "a" : 1 , "b" : [ 1.0 ] , "c":"<" }`, "a", `{"b":[ 1.0 ],"c":"<"}`},
		{`{"a":1,"b":2,"\u0061":3}`, "a", `{"b":2}`},
		{`{ "b" : 2 }`, "a", `{ "b" : 2 }`},
		{`{"x":{"a":1}}`, "a", `{"x":{"a":1}}`},
		{`[1]`, "a", `[1]`},
		{``, "a", ``},
		{`null`, "a", `null`},
	} {
		if got := WithoutMember(Raw(tt.obj), tt.key); string(got) != tt.want {
			t.Errorf("WithoutMember(%s, %s) = %s, want %s", tt.obj, tt.key, got, tt.want)
		}
	}
}

func TestDecodeTool(t *testing.T) {
	t.Parallel()
	for _, raw := range []string{`null`, `"x"`, `[]`, `{}`, `{"name":""}`, `{"name":7}`, `{"description":"no name"}`, ``, `{`} {
		if tool, err := DecodeTool(Raw(raw)); err == nil {
			t.Errorf("DecodeTool(%s) = %+v", raw, tool)
		}
	}
	raw := `{"name":"a","title":null,"description":7,"inputSchema":"object","outputSchema":{"type":"string"},"annotations":[],"x":{"name":"b"}}`
	tool, err := DecodeTool(Raw(raw))
	if err != nil {
		t.Fatal(err)
	}
	if tool.Name != "a" || tool.Title != "" || tool.Description != "" || tool.InputSchema != nil || string(tool.OutputSchema) != `{"type":"string"}` || tool.Annotations != nil {
		t.Errorf("DecodeTool = %+v", tool)
	}
	var again []*Tool
	if err := json.Unmarshal([]byte(`[`+raw+`]`), &again); err != nil || string(again[0].Raw) != raw {
		t.Errorf("through encoding/json: %v, %v", again, err)
	}
	if got, err := json.Marshal(again); err != nil || string(got) != `[`+raw+`]` {
		t.Errorf("Marshal = %s, %v", got, err)
	}
}

func TestResultValue(t *testing.T) {
	t.Parallel()
	block := func(s string) string { return `{"type":"text","text":` + string(quote(s)) + `}` }
	tests := []struct {
		name, result string
		value, text  string // one of them
	}{
		{"structured", `{"structuredContent":{"b":1.0,"a":2},"content":[` + block("x") + `]}`, `{"b":1.0,"a":2}`, ""},
		{"structured list", `{"structuredContent":[]}`, `[]`, ""},
		{"structured null beside content", `{"structuredContent":null,"content":[` + block("x") + `]}`, "", "x"},
		{"structured null alone", `{"structuredContent":null,"content":[]}`, "null", ""},
		{"one text", `{"content":[` + block("just <text>") + `]}`, "", "just <text>"},
		{"several texts", `{"content":[` + block("1") + `,` + block("2") + `]}`, "", "1\n2"},
		{"object text", `{"content":[` + block(" {\"b\": 1, \"a\": 2}\n") + `]}`, `{"b": 1, "a": 2}`, ""},
		{"array text", `{"content":[` + block("[1]") + `]}`, `[1]`, ""},
		{"object text over two blocks", `{"content":[` + block("{") + `,` + block("}") + `]}`, "{\n}", ""},
		{"nearly an object", `{"content":[` + block("{a}") + `]}`, "", "{a}"},
		{"number text", `{"content":[` + block("007") + `]}`, "", "007"},
		{"null text", `{"content":[` + block("null") + `]}`, "", "null"},
		{"nothing", `{"content":[]}`, "", ""},
		{"null", `null`, "", ""},
		{"no members", `{}`, "", ""},
		{"image", `{"content":[{"type":"image","data":"AA=="}]}`, `{"type":"image","data":"AA=="}`, ""},
		{"content that is one block", `{"content":` + block("x") + `}`, "", "x"},
		{"content that is a text", `{"content":"x"}`, "", "x"},
		{"content that is none", `{"content":7}`, `{"content":7}`, ""},
		{"texts in place of blocks", `{"content":["a","b",7,null]}`, "", "a\nb\n7"},
		{"no content, but something else", `{"_meta":{},"isError":false,"content":null,"answer":42,"x":[1]}`, `{"answer":42,"x":[1]}`, ""},
		{"other members beside content", `{"content":[],"answer":42}`, "", ""},
		{"as in the first drafts", `{"_meta":{},"toolResult":{"a":1}}`, `{"a":1}`, ""},
		{"a text as in the first drafts", `{"toolResult":"hi"}`, "", "hi"},
		{"a whole result in that", `{"toolResult":{"content":[` + block("x") + `]}}`, "", "x"},
		{"nothing in that", `{"toolResult":null}`, "", ""},
		{"text and image", `{"content":[` + block("see") + `,{"type":"image"}, null]}`, `{"content":[` + block("see") + `,{"type":"image"}],"text":"see"}`, ""},
		{"unknown blocks", `{"content":[{"type":"hologram"},{"text":"untyped"}]}`, `{"content":[{"type":"hologram"},{"text":"untyped"}],"text":""}`, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r, err := DecodeResult(Raw(tt.result))
			if err != nil {
				t.Fatal(err)
			}
			v, text, isText := r.Value()
			if string(v) != tt.value || text != tt.text || isText != (tt.value == "") {
				t.Errorf("Value = %s, %q, %v, want %s, %q", v, text, isText, tt.value, tt.text)
			}
		})
	}
	for _, bad := range []string{`[]`, `"x"`, `7`, `{`} {
		if _, err := DecodeResult(Raw(bad)); err == nil {
			t.Errorf("DecodeResult(%s) succeeded", bad)
		}
	}
	for result, want := range map[string]string{
		`{"isError":true}`: "",
		`{"isError":"true","content":[` + block("why") + `,` + block("else") + `],"structuredContent":{"a":1}}`:                 "why\nelse",
		`{"isError":true,"content":[{"type":"resource","resource":{"uri":"a:b","text":"why"}},{"type":"image","data":"AA=="}]}`: "why",
		`{"isError":true,"content":[` + block(" ") + `],"structuredContent":{"message":"why"}}`:                                 `{"message":"why"}`,
		`{"isError":true,"content":[{"type":"json","json":{"a":1}}]}`:                                                           `{"type":"json","json":{"a":1}}`,
		`{"isError":true,"error":"disk full"}`:                                                                                  `{"error":"disk full"}`,
		`{"isError":true,"toolResult":"disk full"}`:                                                                             "disk full",
	} {
		r, err := DecodeResult(Raw(result))
		if err != nil || !r.IsError || r.Failure() != want {
			t.Errorf("%s: %+v, %v: Failure = %q, want %q", result, r, err, r.Failure(), want)
		}
	}
}

func FuzzSplit(f *testing.F) {
	for _, s := range []string{`{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":[1,{"b":"\""}]}}`, `{"id":"3","result":{}}`, `[{"jsonrpc":"2.0","method":"a"}]`, "{\"a\xff\":1}", `{"error":{"code":1.5}}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		list, _, err := SplitBatch(line)
		if err != nil {
			return
		}
		for _, m := range list {
			again, err := Split(m.Encode())
			if err != nil {
				t.Fatalf("%q became %q: %v", line, m.Encode(), err)
			}
			if again.Kind() != m.Kind() || !SameID(again.ID, m.ID) || again.Method != m.Method || !bytes.Equal(again.Encode(), m.Encode()) {
				t.Fatalf("%q became %q", m.Encode(), again.Encode())
			}
		}
	})
}

// FuzzMembers holds the walk over members against encoding/json.
func FuzzMembers(f *testing.F) {
	for _, s := range []string{`{"a":1,"b":[{"c":"}"}],"d":"\\"}`, `{ }`, `{"a"`, `[1]`, `{"a":1 "b"`, `{"\u0061":null}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, obj []byte) {
		got := map[string]string{}
		for k, v := range Members(obj) { // must end, and not panic, whatever it is given
			got[k] = string(v)
		}
		if _, err := SetMember(obj, "k", Raw("1")); err != nil && json.Valid(obj) && firstByte(obj) == '{' {
			t.Fatalf("SetMember(%q): %v", obj, err)
		}
		var want map[string]Raw
		if json.Unmarshal(obj, &want) != nil || want == nil || bytes.Contains(obj, []byte(`\u`)) || !bytes.Equal(obj, bytes.ToValidUTF8(obj, nil)) {
			return
		}
		if len(got) != len(want) {
			t.Fatalf("%q has members %q, want %q", obj, got, want)
		}
		for k, v := range want {
			if got[k] != string(v) {
				t.Fatalf("%q: member %q is %q, want %q", obj, k, got[k], v)
			}
		}
	})
}

func BenchmarkSplit(b *testing.B) {
	line := []byte(`{"jsonrpc":"2.0","id":12,"result":{"content":[{"type":"text","text":"` + strings.Repeat("hello ", 100) + `"}]}}`)
	b.SetBytes(int64(len(line)))
	for b.Loop() {
		if _, err := Split(line); err != nil {
			b.Fatal(err)
		}
	}
}
