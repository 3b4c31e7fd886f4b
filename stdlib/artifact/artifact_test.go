package artifact_test

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"

	"mcpx/internal/fault"
	"mcpx/stdlib/artifact"
	"mcpx/stdlib/blob"
	"mcpx/stdlib/console"
	"mcpx/stdlib/internal/declared"
	"mcpx/stdlib/internal/trial"
)

type host struct{}

func (host) Call(_ context.Context, op string, head any, body []byte) (json.RawMessage, []byte, error) {
	text, err := json.Marshal(head)
	if err != nil {
		return nil, nil, err
	}
	if string(text) == `{"name":"denied"}` {
		return nil, nil, fault.Deniedf("denied: artifacts")
	}
	answer, err := json.Marshal(map[string]string{"id": fmt.Sprintf("%s %s %q", op, text, body)})
	return answer, nil, err
}

func TestWhatIsKept(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ data, want string }{
		{`"é"`, `artifact {"name":"n"} "é"`},
		{`""`, `artifact {"name":"n"} ""`},
		{`new Uint8Array([1, 2, 3]).subarray(1)`, `artifact {"name":"n"} "\x02\x03"`},
		{`new Uint8Array([1]).buffer`, `artifact {"name":"n"} "\x01"`},
		{`new Blob(["x"], { type: "text/x" })`, `artifact {"name":"n","mime":"text/x"} "x"`},
		{`{ type: "image", data: "AQI=", mimeType: "image/png" }`, `artifact {"name":"n","mime":"image/png"} "\x01\x02"`},
		{`{ type: "audio", data: "AQI", mimeType: "audio/wav" }`, `artifact {"name":"n","mime":"audio/wav"} "\x01\x02"`},
		{`{ type: "resource", resource: { uri: "x:", text: "t" } }`, `artifact {"name":"n","mime":"text/plain"} "t"`},
		{`{ type: "resource", resource: { uri: "x:", blob: "AQ==", mimeType: "a/b" } }`, `artifact {"name":"n","mime":"a/b"} "\x01"`},
		{`{ content: [{ type: "text", text: "here" }, { type: "image", data: "AQ==", mimeType: "image/gif" }] }`, `artifact {"name":"n","mime":"image/gif"} "\x01"`},
		{`{ path: "a/b" }`, `artifact {"name":"n","path":"a/b"} ""`},
		{`{ path: "a/b", mime: "x/y" }`, `artifact {"name":"n","mime":"x/y","path":"a/b"} ""`},
		{`{ path: "a/b", size: 1 }`, `artifact {"name":"n","mime":"application/json"} "{\n  \"path\": \"a/b\",\n  \"size\": 1\n}\n"`},
		{`[1]`, `artifact {"name":"n","mime":"application/json"} "[\n  1\n]\n"`},
		{`{ type: "image", data: "?", mimeType: "image/png" }`, `TypeError: the data of the block is not base64: illegal base64 data at input byte 0`},
		{`{ content: [1, 2].map(() => ({ type: "image", data: "AQ==" })) }`, `TypeError: the answer holds 2 blocks that could be kept: give one of its content`},
		{`{ toJSON() {} }`, `TypeError: the data is nothing that JSON has`},
		{`1`, `TypeError: The "data" argument must be of type string, an instance of ArrayBuffer, ArrayBufferView or Blob, or an object. Received type number (1)`},
	} {
		stdout, stderr := trial.Run(`try { console.log((await artifact("n", `+test.data+`)).id) } catch (e) { console.log(e.name + ": " + e.message) }`,
			host{}, console.Module(), blob.Module(), artifact.Module())
		if stdout+stderr != test.want+"\n" {
			t.Errorf("%s: %q, want %q", test.data, stdout+stderr, test.want)
		}
	}
	stdout, stderr := trial.Run(`for (const name of ["denied", 1]) try { await artifact(name, "x") } catch (e) { console.log(e.name, e.kind) }`,
		host{}, console.Module(), artifact.Module())
	if want := "DeniedError denied\nTypeError undefined\n"; stdout+stderr != want {
		t.Errorf("wrote %q, want %q", stdout+stderr, want)
	}
}

func TestDeclarations(t *testing.T) {
	t.Parallel()
	declared.Check(t, artifact.Module(), blob.Module())
}
