package schema

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"testing"
)

// Arguments come from scripts, which are not trusted: what is looked into is bounded, and so
// is the memory that it takes.
func TestArgumentsOfVeryManyValuesAreLeftToTheServer(t *testing.T) {
	t.Parallel()
	schema := json.RawMessage(`{"type":"object","properties":{"i":{"type":"integer"},"s":{"type":"string"}}}`)
	for _, test := range []struct {
		name, more string
		looked     bool
	}{
		{"few", `[0]`, true},
		{"as many as are looked into", "[" + strings.Repeat("0,", maxValues-10) + "0]", true},
		{"more", "[" + strings.Repeat("0,", maxValues) + "0]", false},
		{"objects in each other", strings.Repeat("[", 9000) + strings.Repeat("]", 9000), true},
		{"empty ones", "[" + strings.Repeat("{},", maxValues) + "0]", false},
		{"one long text", `"` + strings.Repeat("x", 10*maxValues) + `"`, true},
	} {
		args := json.RawMessage(`{"i":"5","more":` + test.more + `}`)
		out, changed := Coerce(schema, args)
		if looked := len(changed) == 1; looked != test.looked || !looked && !bytes.Equal(out, args) {
			t.Errorf("%s: Coerce changes %v", test.name, changed)
		}
		if err := Validate(schema, json.RawMessage(`{"i":"x","more":`+test.more+`}`)); err != nil && !test.looked {
			t.Errorf("%s: Validate says %v", test.name, err)
		}
	}
}

func TestCoerce(t *testing.T) {
	t.Parallel()
	const props = `{"type":"object","properties":{
		"i":{"type":"integer"},"n":{"type":"number"},"b":{"type":"boolean"},"s":{"type":"string"},
		"a":{"type":"array","items":{"type":"integer"}},"o":{"type":"object","properties":{"x":{"type":"integer"}}},
		"si":{"type":["string","integer"]},"in":{"type":["integer","null"]},"u":{"anyOf":[{"type":"integer"},{"type":"null"}]},
		"us":{"anyOf":[{"type":"integer"},{"type":"string"}]},"any":{},"e":{"enum":[1,2,3]},"es":{"enum":[1,"2"]},
		"all":{"allOf":[{"type":["string","integer"]},{"type":"integer"}]},"ref":{"$ref":"#/$defs/N"},"loop":{"$ref":"#/$defs/L"},
		"nullable":{"type":"integer","nullable":true},"int":{"type":"int"},"odd":{"type":"thing"},"k":{"const":7},
		"t":{"prefixItems":[{"type":"integer"},{"type":"string"}],"items":{"type":"boolean"},"type":"array"},
		"m":{"type":"object","additionalProperties":{"type":"number"}},"tree":{"$ref":"#/$defs/T"},
		"d":{"oneOf":[{"type":"object","properties":{"kind":{"const":"x"},"v":{"type":"integer"}}},{"type":"object","properties":{"kind":{"const":"y"},"v":{"type":"string"}}}]},
		"same":{"oneOf":[{"type":"null"},{"type":"object","properties":{"v":{"type":"integer"}}}]}},
		"$defs":{"N":{"type":"number"},"L":{"allOf":[{"$ref":"#/$defs/L"},{"type":"integer"}]},
		"T":{"type":"object","properties":{"n":{"type":"integer"},"c":{"type":"array","items":{"$ref":"#/$defs/T"}}}}}}`
	for _, test := range []struct{ in, want, changed string }{
		{`{"i":"5"}`, `{"i":5}`, "i"},
		{`{"i":"-5"}`, `{"i":-5}`, "i"},
		{`{"i":"9007199254740993"}`, `{"i":9007199254740993}`, "i"},
		{`{"i":"123456789012345678901234567890"}`, `{"i":123456789012345678901234567890}`, "i"},
		{`{"i":"007"}`, ``, ""},
		{`{"i":"5.0"}`, ``, ""},
		{`{"i":" 5"}`, ``, ""},
		{`{"i":"+5"}`, ``, ""},
		{`{"i":"-0"}`, ``, ""},
		{`{"i":"1e3"}`, ``, ""},
		{`{"i":""}`, ``, ""},
		{`{"i":"true"}`, ``, ""},
		{`{"i":"0x10"}`, ``, ""},
		{`{"i":5,"s":"5"}`, ``, ""},
		{`{"n":"1.5"}`, `{"n":1.5}`, "n"},
		{`{"n":"1e+21"}`, `{"n":1e+21}`, "n"},
		{`{"n":"1.50"}`, ``, ""},
		{`{"n":"NaN"}`, ``, ""},
		{`{"n":"Infinity"}`, ``, ""},
		{`{"n":"1_000"}`, ``, ""},
		{`{"n":"5"}`, `{"n":5}`, "n"},
		{`{"b":"true","n":"0"}`, `{"b":true,"n":0}`, "b n"},
		{`{"b":"True"}`, ``, ""},
		{`{"b":"1"}`, ``, ""},
		{`{"s":"5","any":"5","odd":"5","si":"5","us":"5","es":"2"}`, ``, ""},
		{`{"a":"[1, 2]"}`, `{"a":[1, 2]}`, "a"},
		{`{"a":"[\"1\", 2]"}`, `{"a":[1, 2]}`, "a a[0]"},
		{`{"a":"[1"}`, ``, ""},
		{`{"a":" [1]"}`, ``, ""},
		{`{"a":["1","x",3]}`, `{"a":[1,"x",3]}`, "a[0]"},
		{`{"o":"{\"x\":\"4\"}"}`, `{"o":{"x":4}}`, "o o.x"},
		{`{"o":"[1]"}`, ``, ""},
		{`{"in":"5","u":"6"}`, `{"in":5,"u":6}`, "in u"},
		{`{"in":"null"}`, ``, ""},
		{`{"e":"2","all":"3","ref":"4","nullable":"6","int":"7","k":"7"}`, `{"e":2,"all":3,"ref":4,"nullable":6,"int":7,"k":7}`, "e all ref nullable int k"},
		{`{"loop":"5"}`, `{"loop":5}`, "loop"},
		{`{"t":["1","2","true"]}`, `{"t":[1,"2",true]}`, "t[0] t[2]"},
		{`{"m":{"odd key":"1"}}`, `{"m":{"odd key":1}}`, `m["odd key"]`},
		{`{"tree":{"n":"1","c":[{"n":"2","c":[{"n":"3"}]}]}}`, `{"tree":{"n":1,"c":[{"n":2,"c":[{"n":3}]}]}}`, "tree.n tree.c[0].n tree.c[0].c[0].n"},
		{`{"d":{"kind":"x","v":"1"}}`, ``, ""},
		{`{"same":{"v":"1"}}`, `{"same":{"v":1}}`, "same.v"},
		{` { "z" : "1", "i":"2" , "i" : "3","A":1.0 } `, ` { "z" : "1", "i":2 , "i" : 3,"A":1.0 } `, "i i"},
		{`"5"`, ``, ""},
		{`not json`, ``, ""},
	} {
		if test.want == "" {
			test.want = test.in
		}
		got, changed := Coerce(json.RawMessage(props), json.RawMessage(test.in))
		if string(got) != test.want || strings.Join(changed, " ") != test.changed {
			t.Errorf("Coerce(%s) = %s, %q, want %s, %q", test.in, got, changed, test.want, test.changed)
		}
	}
	for _, schema := range []string{``, `null`, `[]`, `true`, `{}`, `{"properties":[]}`, `{"properties":{"i":[]}}`, `{"$ref":"#"}`, `{"allOf":[{"$ref":"#"}]}`} {
		if got, changed := Coerce(json.RawMessage(schema), json.RawMessage(`{"i":"5"}`)); string(got) != `{"i":"5"}` || changed != nil {
			t.Errorf("Coerce(%s, …) = %s, %q, want no change", schema, got, changed)
		}
	}
}

// TestAnInputServesManyCallsAtOnce converts the same arguments again and again.
func TestAnInputServesManyCallsAtOnce(t *testing.T) {
	t.Parallel()
	schema := json.RawMessage(`{"properties":{"i":{"$ref":"#/$defs/N"},"m":{"additionalProperties":{"anyOf":[{"$ref":"#/$defs/N"},{"type":"boolean"}]}}},"$defs":{"N":{"type":"integer"}}}`)
	in := NewInput(schema)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 100 {
				got, changed := in.Coerce(json.RawMessage(`{"i":"5","m":{"a":"true","b":"x","\u0063":"7"}}`))
				if want := `{"i":5,"m":{"a":true,"b":"x","\u0063":7}}`; string(got) != want || strings.Join(changed, " ") != "i m.a m.c" {
					t.Errorf("Coerce = %s, %q, want %s", got, changed, want)
					return
				}
			}
		})
	}
	wg.Wait()
	nothing := NewInput(nil)
	if got, changed := nothing.Coerce(json.RawMessage(`{"i":"5"}`)); string(got) != `{"i":"5"}` || changed != nil {
		t.Errorf("an input without a schema makes %s, %q", got, changed)
	}
}

func TestCoerceIsBoundedOnSchemasThatBranch(t *testing.T) {
	t.Parallel()
	schema := `{"$ref":"#/$defs/T","$defs":{"T":{"anyOf":[` +
		`{"type":"object","properties":{"c":{"$ref":"#/$defs/T"},"i":{"type":"integer"}}},` +
		`{"type":"object","properties":{"c":{"anyOf":[{"$ref":"#/$defs/T"},{"$ref":"#/$defs/T"}]},"i":{"type":"integer"}}}]}}}`
	args := strings.Repeat(`{"c":`, 300) + `{"i":"1"}` + strings.Repeat(`}`, 300)
	if got, _ := Coerce(json.RawMessage(schema), json.RawMessage(args)); !json.Valid(got) {
		t.Errorf("Coerce made %.80s…", got)
	}
}

// FuzzCoerce checks that nothing but strings changes, and those only into what their
// text says.
func FuzzCoerce(f *testing.F) {
	f.Add(`{"type":"object","properties":{"a":{"type":"integer"}}}`, `{"a":"1","b":"2"}`)
	f.Add(`{"additionalProperties":{"anyOf":[{"type":"array"},{"$ref":"#"}]}}`, `{"a":"[1,\"2\"]","b":{"c":"[]"}}`)
	f.Add(`{"type":"object","additionalProperties":{"type":["object","boolean"]}}`, `{"a":"{\"b\":\"true\"}","a":"false"}`)
	f.Add(`{"items":[{"type":"number"}],"additionalItems":{"type":"number"}}`, `["1e5","-1.5","\ud800"]`)
	f.Fuzz(func(t *testing.T, schema, args string) {
		out, changed := Coerce(json.RawMessage(schema), json.RawMessage(args))
		before, ok := parse([]byte(args))
		if !ok {
			if string(out) != args {
				t.Fatalf("Coerce changed what is not JSON: %q", out)
			}
			return
		}
		after, ok := parse(out)
		if !ok {
			t.Fatalf("Coerce(%s, %s) = %s, which is not JSON", schema, args, out)
		}
		if n := conversions(t, before, after); n != len(changed) {
			t.Fatalf("Coerce(%s, %s) = %s reports %d conversions, and there are %d", schema, args, out, len(changed), n)
		}
	})
}

func conversions(t *testing.T, before, after *value) int {
	t.Helper()
	if before.kind == kindString && after.kind != kindString {
		inner, ok := parse([]byte(before.str))
		if !ok {
			t.Fatalf("%s became %s", before.text, after.text)
		}
		return 1 + conversions(t, inner, after)
	}
	if before.kind != after.kind || len(before.items) != len(after.items) || len(before.members) != len(after.members) {
		t.Fatalf("%s became %s", before.text, after.text)
	}
	n := 0
	for i := range before.items {
		n += conversions(t, &before.items[i], &after.items[i])
	}
	for i := range before.members {
		if !bytes.Equal(before.members[i].key, after.members[i].key) {
			t.Fatalf("%s became %s", before.text, after.text)
		}
		n += conversions(t, &before.members[i].value, &after.members[i].value)
	}
	if before.items == nil && before.members == nil && !slices.Equal(before.text, after.text) {
		t.Fatalf("%s became %s", before.text, after.text)
	}
	return n
}

func BenchmarkCoerce(b *testing.B) {
	schema := json.RawMessage(`{"type":"object","properties":{"message":{"type":"string","description":"What to say"},"count":{"type":"integer"}},"required":["message"]}`)
	args := json.RawMessage(`{"message":"hello","count":3}`)
	b.ReportAllocs()
	for b.Loop() {
		if out, _ := Coerce(schema, args); len(out) != len(args) {
			b.Fatal(string(out))
		}
	}
}
