package mcp

import (
	"fmt"
	"strings"
	"testing"
)

func TestSound(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		`{"uri":"x:a", "name":"a","size":5,"annotations":{"audience":["user"]},"icons":[],"other":{"a":null}}`: "",
		`{"name":"p","title":null,"description":7,"arguments":null,"_meta":[],"other":null,"more":[null]}`:     `{"name":"p","more":[null]}`,
	} {
		if want == "" {
			want = in
		}
		if got := Sound(Raw(in)); string(got) != want {
			t.Errorf("Sound(%s) = %s, want %s", in, got, want)
		}
	}
}

func TestSoundResult(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		`{ "content":[{"type":"text","text":"null"}],"structuredContent":{"a":null}}`: "",
		`null`:                             "",
		`{"resultType":"task","ttl":null}`: "",
		`{"resultType":"complete","content":[],"structuredContent":null}`:                                                                               "",
		`{"_meta":null,"content":[{"type":"text","text":"x","annotations":null},{"type":"text", "text":"y"}],"structuredContent":null,"isError":false}`: `{"content":[{"type":"text","text":"x"},{"type":"text", "text":"y"}],"isError":false}`,
		`{"content":null,"structuredContent":{"a":null}}`:                                                                                               `{"content":[],"structuredContent":{"a":null}}`,
	} {
		if want == "" {
			want = in
		}
		if got := SoundResult(Raw(in)); string(got) != want {
			t.Errorf("SoundResult(%s)\n= %s,\nwant %s", in, got, want)
		}
	}
}

// What grows faster than its input would take minutes here.
func TestManyMembersAreMadeSoundAtOnce(t *testing.T) {
	t.Parallel()
	var nulls, schemas strings.Builder
	for i := range 100_000 {
		fmt.Fprintf(&nulls, `,"k%d":null`, i)
		fmt.Fprintf(&schemas, `,"k%d":true`, i)
	}
	for _, tt := range []struct {
		got  Raw
		want int
	}{
		{Sound(Raw(`{"a":1` + nulls.String() + `}`)), len(`{"a":1}`)},
		{SoundResult(Raw(`{"content":[{"a":1` + nulls.String() + `}]` + nulls.String() + `}`)), len(`{"content":[{"a":1}]}`)},
		{LegacyTool(Raw(`{"inputSchema":{"properties":{"a":{}` + schemas.String() + `}}}`)), len(`{"inputSchema":{"properties":{"a":{}}}}`) + schemas.Len() - 2*100_000},
	} {
		if len(tt.got) != tt.want {
			t.Errorf("%d bytes, want %d", len(tt.got), tt.want)
		}
	}
}

func TestSoundTool(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		`{ "name":"a","inputSchema":{"properties":{"x":{}}, "type":"object","required":["x"]},"outputSchema":{"type":"object"},"annotations":{"readOnlyHint":true,"x":1}}`: "",
		`{"name":"a"}`:                                             `{"name":"a","inputSchema":{"type":"object"}}`,
		`{"name":"a","inputSchema":null}`:                          `{"name":"a","inputSchema":{"type":"object"}}`,
		`{"name":"a","inputSchema":true}`:                          `{"name":"a","inputSchema":{"type":"object"}}`,
		`{"name":"a","inputSchema":"{}"}`:                          `{"name":"a","inputSchema":{"type":"object"}}`,
		`{"name":"a","inputSchema":{}}`:                            `{"name":"a","inputSchema":{"type":"object"}}`,
		`{"name":"a","inputSchema":{"anyOf":[{"type":"object"}]}}`: `{"name":"a","inputSchema":{"anyOf":[{"type":"object"}],"type":"object"}}`,
		`{"name":"a","inputSchema":{"type":["object"],"properties":[],"required":null}}`:                                                            `{"name":"a","inputSchema":{"type":"object"}}`,
		`{"name":"a","inputSchema":{"type":"object","required":"x"}}`:                                                                               `{"name":"a","inputSchema":{"type":"object"}}`,
		`{"name":"a","inputSchema":{"type":"object","required":["x",1]}}`:                                                                           `{"name":"a","inputSchema":{"type":"object"}}`,
		`{"name":"a","outputSchema":null,"annotations":null,"title":null,"inputSchema":{"type":"object"}}`:                                          `{"name":"a","inputSchema":{"type":"object"}}`,
		`{"name":"a","annotations":[],"inputSchema":{"type":"object"}}`:                                                                             `{"name":"a","inputSchema":{"type":"object"}}`,
		`{"name":"a","annotations":{"title":1,"readOnlyHint":"true","openWorldHint":null,"destructiveHint":false},"inputSchema":{"type":"object"}}`: `{"name":"a","annotations":{"destructiveHint":false},"inputSchema":{"type":"object"}}`,
	} {
		if want == "" {
			want = in
		}
		if got := SoundTool(Raw(in)); string(got) != want {
			t.Errorf("SoundTool(%s)\n= %s,\nwant %s", in, got, want)
		}
	}
}

func TestLegacy(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		`{ "name":"a","inputSchema":{"properties":{"x":{}}, "type":"object"},"outputSchema":{"type":"object"}}`:         "",
		`{"name":"a","inputSchema":{"type":"object","properties":{"t":true,"f":false,"n":null,"o":{"type":"string"}}}}`: `{"name":"a","inputSchema":{"type":"object","properties":{"t":{},"f":{"not":{}},"n":{},"o":{"type":"string"}}}}`,
		`{"name":"a","outputSchema":{"type":"array"},"inputSchema":{"type":"object"}}`:                                  `{"name":"a","inputSchema":{"type":"object"}}`,
	} {
		if want == "" {
			want = in
		}
		if got := LegacyTool(Raw(in)); string(got) != want {
			t.Errorf("LegacyTool(%s)\n= %s,\nwant %s", in, got, want)
		}
	}
	for in, want := range map[string]string{
		`{"content":[], "structuredContent":{"a":1}}`:   `{"content":[], "structuredContent":{"a":1}}`,
		`{"content":[],"structuredContent":[1]}`:        `{"content":[]}`,
		`{"content":[],"structuredContent":null,"x":1}`: `{"content":[],"x":1}`,
		`{"content":[]}`: `{"content":[]}`,
	} {
		if got := LegacyResult(Raw(in)); string(got) != want {
			t.Errorf("LegacyResult(%s) = %s, want %s", in, got, want)
		}
	}
}
