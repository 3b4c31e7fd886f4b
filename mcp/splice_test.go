package mcp

import (
	"bytes"
	"encoding/json"
	"reflect"
	"testing"
)

// FuzzSplice holds that what one side sends stays within the one line that it is passed on
// in, and says the same there.
func FuzzSplice(f *testing.F) {
	for _, s := range []string{
		`{"jsonrpc":"2.0","id":1,"result":{}}`, `{"jsonrpc":"2.0","id":1,"result":{ "a":1 } }`, "{\"id\":\"a\\n\",\r\"result\":{\n\"a\"\r:1,\"_meta\":{}\r\n}\n}",
		`{"id":1,"result":"}"}`, `{"id":1,"result":[{}]}`, `{"id":{},"result":{"a":"{"}}`, `{"jsonrpc":"2.0","method":"m\n","params":{"_meta":{"a":[]},"_meta":null}}`,
		`{"id":1,"error":{"code":1,"message":"\n","data":[1,` + "\n" + `2]}}`, "{\"id\":1,\"result\":{\"\xff\":\"\u2028\"}}", `{"id":1,"result":1,"result":{"a":1,"a":2}}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		m, err := Split(text)
		if err != nil {
			return
		}
		value := func(b []byte) (v any) {
			d := json.NewDecoder(bytes.NewReader(b))
			d.UseNumber()
			if err := d.Decode(&v); err != nil {
				t.Fatalf("%q of %q is no JSON: %v", b, text, err)
			}
			return v
		}
		whole := func(line []byte) map[string]any {
			if bytes.ContainsAny(line, "\r\n") || !json.Valid(line) {
				t.Fatalf("%q became %q", text, line)
			}
			return value(line).(map[string]any)
		}
		line := bytes.Join(m.Line(), nil)
		if !bytes.HasSuffix(line, []byte("\n")) || !bytes.Equal(line[:len(line)-1], m.Encode()) {
			t.Fatalf("the line of %q is %q, and its text %q", text, line, m.Encode())
		}
		got := whole(m.Encode())
		for key, raw := range map[string]Raw{"id": m.ID, "params": m.Params, "result": m.Result} {
			if m.Method == "" && key == "params" || m.Error != nil && key == "result" || raw == nil {
				continue
			}
			if !reflect.DeepEqual(got[key], value(raw)) {
				t.Fatalf("%s of %q became %q", key, text, m.Encode())
			}
		}
		if m.Error != nil && m.Error.Data != nil && !reflect.DeepEqual(got["error"].(map[string]any)["data"], value(m.Error.Data)) {
			t.Fatalf("the data of %q became %q", text, m.Encode())
		}
		one, err := Check(Raw(`{"x":"}"}`))
		if err != nil {
			t.Fatal(err)
		}
		if r, err := m.CheckedResult(); err == nil && r.IsObject() {
			own := value(r.Raw()).(map[string]any)
			with, err := r.With("_meta", one)
			if err != nil {
				t.Fatal(err)
			}
			own["_meta"] = value(one.Raw())
			if !reflect.DeepEqual(value(with.Raw()), any(own)) {
				t.Fatalf("%q with a member is %q", r.Raw(), with.Raw())
			}
			answer := Message{ID: m.ID, Result: m.Result, Complete: Member(m.Result, "resultType") == nil}
			if got := whole(answer.Encode())["result"].(map[string]any)["resultType"]; answer.Complete && got != ResultComplete {
				t.Fatalf("%q completed is %q", m.Result, answer.Encode())
			}
		}
		if params, err := Check(m.Params); m.Method != "" && err == nil && params.IsObject() {
			line, err := m.EncodeWith(params, "_meta", one)
			if err != nil {
				t.Fatal(err)
			}
			own := value(m.Params).(map[string]any)
			own["_meta"] = value(one.Raw())
			if got := whole(line); !reflect.DeepEqual(got["params"], any(own)) {
				t.Fatalf("%q with a member is sent as %q", m.Params, line)
			}
		}
	})
}
