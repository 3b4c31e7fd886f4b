package client

import (
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"time"
	"unicode/utf8"

	"mcpx/mcp"
)

// eventsOf reads a stream to its end and writes down what came.
func eventsOf(r *eventReader) []string {
	var got []string
	for {
		ev, err := r.next()
		var long *LongLineError
		switch {
		case errors.As(err, &long):
			got = append(got, "long "+string(long.ID))
		case err != nil:
			return got
		default:
			got = append(got, ev.name+"|"+string(ev.data))
		}
	}
}

func TestEventsAreCutAsTheStandardSays(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 300)
	tests := []struct {
		name, in string
		want     []string
		id       string
		retry    time.Duration
	}{
		{"newlines", "data: a\n\ndata: b\n\n", []string{"|a", "|b"}, "", 0},
		{"carriage returns", "event: e\rdata: a\r\rdata: b\r\r", []string{"e|a", "|b"}, "", 0},
		{"both", "data: a\r\n\r\ndata: b\r\n\r\n", []string{"|a", "|b"}, "", 0},
		{"a mark at the start", "\ufeffdata: a\n\n", []string{"|a"}, "", 0},
		{"no space, two spaces", "data:a\n\ndata:  b\n\n", []string{"|a", "| b"}, "", 0},
		{"many lines", "data: a\ndata\ndata:b\n\n", []string{"|a\n\nb"}, "", 0},
		{"comments and strangers", ": hello\n:\nfoo: bar\ndatax: y\ndata: a\n\n", []string{"|a"}, "", 0},
		{"an event without data is none", "event: e\n\ndata: a\n\n", []string{"|a"}, "", 0},
		{"id and retry", "id: 7\nretry: 1500\n\nid: 8\ndata: a\n\n", []string{"|a"}, "8", 1500 * time.Millisecond},
		{"ids that are none", "id: 7\n\nid: a\x00b\n\nid: " + strings.Repeat("i", maxEventID+1) + "\n\n", nil, "7", 0},
		{"a retry that is none", "retry: soon\nretry: -1\n\n", nil, "", 0},
		{"a retry beyond all time", "retry: 9223372036854775807\n\n", nil, "", 9223372036854 * time.Millisecond},
		{"no end", "event: message\ndata: a", []string{"message|a"}, "", 0},
		{"half an end", "data: a\n", []string{"|a"}, "", 0},
		{"too long", "data: {\"result\":\"" + long + "\",\"id\":5}\n\ndata: b\n\n", []string{"long 5", "|b"}, "", 0},
		{"too long, in many lines", "data: {\"id\":\"q\",\ndata: \"result\":\"" + long + "\"\ndata: }\n\ndata: b\n\n", []string{`long "q"`, "|b"}, "", 0},
		{"too long, and cut", "data: " + long, []string{"long "}, "", 0},
		{"a long comment, a long field", ":" + long + "\n" + long + ": y\nid: 1\ndata: a\n\n", []string{"|a"}, "1", 0},
		{"nothing", "", nil, "", 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			for way, r := range map[string]io.Reader{"at once": strings.NewReader(tt.in), "byte by byte": iotest.OneByteReader(strings.NewReader(tt.in))} {
				e := newEventReader(r, 200)
				if got, want := strings.Join(eventsOf(e), "\x01"), strings.Join(tt.want, "\x01"); got != want {
					t.Errorf("%s: events %q, want %q", way, got, want)
				}
				if e.lastID != tt.id || e.retry != tt.retry {
					t.Errorf("%s: id %q, retry %s; want %q, %s", way, e.lastID, e.retry, tt.id, tt.retry)
				}
			}
		})
	}
}

// Whatever comes, and however it is cut, the same events come out, and none is longer
// than allowed.
func FuzzEvents(f *testing.F) {
	for _, seed := range []string{"data: a\n\n", ":c\r\nid:1\r\ndata: {\"id\":1}\r\r\n", "\ufeffevent: x\rdata\rdata: y", "data: " + strings.Repeat("z", 100) + "\n\n", "retry: 1\n\nid\n"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, in string) {
		whole, bytewise := newEventReader(strings.NewReader(in), 64), newEventReader(iotest.OneByteReader(strings.NewReader(in)), 64)
		a, b := eventsOf(whole), eventsOf(bytewise)
		if strings.Join(a, "\x01") != strings.Join(b, "\x01") || whole.lastID != bytewise.lastID || whole.retry != bytewise.retry {
			t.Errorf("%q: %q and, byte by byte, %q", in, a, b)
		}
		for _, ev := range a {
			_, data, _ := strings.Cut(ev, "|")
			if len(data) > maxEventID+64 {
				t.Errorf("%q: an event of %d bytes", in, len(data))
			}
		}
		if !headerText(whole.lastID) || whole.retry < 0 {
			t.Errorf("%q: id %q, retry %s", in, whole.lastID, whole.retry)
		}
	})
}

func TestHeaderValuesSurvive(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"us-west1": "us-west1", "": "", "a b": "a b",
		"Hello, 世界": "=?base64?SGVsbG8sIOS4lueVjA==?=", " padded ": "=?base64?IHBhZGRlZCA=?=",
		"line1\nline2": "=?base64?bGluZTEKbGluZTI=?=", "=?base64?literal?=": "=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?=",
	} {
		if got := headerValue(in); got != want {
			t.Errorf("headerValue(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestArgumentsBecomeHeaders(t *testing.T) {
	t.Parallel()
	const schema = `{"type":"object","properties":{
		"region":{"type":"string","x-mcp-header":"Region"},
		"deep":{"type":"object","properties":{"n":{"type":"integer","x-mcp-header":"N"},"b":{"x-mcp-header":"B","type":"boolean"}}},
		"x":{"description":"x-mcp-header is no mark here"}}}`
	tests := []struct {
		name, schema, arguments string
		want                    map[string]string
		err                     string
	}{
		{"all", schema, `{"region":"é","deep":{"n":42.0,"b":false}}`, map[string]string{"Region": "=?base64?w6k=?=", "N": "42", "B": "false"}, ""},
		{"absent and null", schema, `{"region":null,"deep":{}}`, map[string]string{}, ""},
		{"not even objects", schema, `{"deep":7}`, map[string]string{}, ""},
		{"too great", schema, `{"deep":{"n":9007199254740993}}`, nil, "beyond the integers"},
		{"no name", `{"properties":{"a":{"type":"string","x-mcp-header":""}}}`, `{}`, nil, "is not a name"},
		{"no token", `{"properties":{"a":{"type":"string","x-mcp-header":"a b"}}}`, `{}`, nil, "name of a header"},
		{"twice", `{"properties":{"a":{"type":"string","x-mcp-header":"A"},"b":{"type":"string","x-mcp-header":"a"}}}`, `{}`, nil, "more than once"},
		{"a number", `{"properties":{"a":{"type":"number","x-mcp-header":"A"}}}`, `{}`, nil, `of type "number"`},
		{"in items", `{"properties":{"a":{"type":"array","items":{"type":"string","x-mcp-header":"A"}}}}`, `{}`, nil, "where no argument is"},
		{"in a choice", `{"oneOf":[{"properties":{"a":{"type":"string","x-mcp-header":"A"}}}]}`, `{}`, nil, "where no argument is"},
		{"too deep", strings.Repeat(`{"properties":{"a":`, 80) + `{"x-mcp-header":"A"}` + strings.Repeat(`}}`, 80), `{}`, nil, "nested"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			m := &mcp.Message{Method: mcp.MethodToolsCall, Params: mcp.Raw(`{"name":"t","arguments":` + tt.arguments + `}`)}
			h, err := modernHeaders(m, "2026-07-28", mcp.Raw(tt.schema))
			if tt.err != "" {
				if err == nil || !strings.Contains(err.Error(), tt.err) {
					t.Errorf("error %v, want %q", err, tt.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if len(h) != 3+len(tt.want) || h.Get("Mcp-Method") != "tools/call" || h.Get("Mcp-Name") != "t" {
				t.Errorf("headers %v", h)
			}
			for name, want := range tt.want {
				if got := h.Get("Mcp-Param-" + name); got != want {
					t.Errorf("%s = %q, want %q", name, got, want)
				}
			}
		})
	}
}

// Whatever a server answers in place of the protocol, what is quoted of it is short and
// on one line, and what it marks in a schema is found or refused.
func FuzzRefusals(f *testing.F) {
	for _, seed := range []string{"<html><script>x</script><p>no", "<script", "</style><style>", `{"error":{"message":"a\nb"}}`, `{"properties":{"a":{"type":"string","x-mcp-header":"A"}}}`, "\xff\x00"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, in string) {
		got := quoteBody([]byte(in))
		if len(got) > maxQuote+len("…") || strings.ContainsAny(got, "\r\n\x00\x1b") || !utf8.ValidString(got) {
			t.Errorf("quoteBody(%q) = %q", in, got)
		}
		if e := rpcError([]byte(in)); e != nil && !json.Valid([]byte(in)) && utf8.ValidString(in) && !strings.HasPrefix(in, "\ufeff") {
			t.Errorf("rpcError(%q) = %v", in, e)
		}
		list, err := mirrors(mcp.Raw(in))
		for _, m := range list {
			if err != nil || !headerToken(m.header) {
				t.Errorf("mirrors(%q) = %v, %v", in, list, err)
			}
		}
	})
}
