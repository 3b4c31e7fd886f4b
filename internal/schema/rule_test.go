package schema

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

func TestRulesDecide(t *testing.T) {
	t.Parallel()
	const work = `{"properties":{"path":{"type":"string","pattern":"^/srv/(?!.*\\.\\.)"}},"required":["path"]}`
	tests := []struct {
		name, rule, args string
		want             string // what the violation says; empty for none
	}{
		{"fits", work, `{"path":"/srv/a"}`, ""},
		{"a pattern that looks ahead", work, `{"path":"/srv/../etc"}`, `argument "path": "/srv/../etc" does not match the pattern ^/srv/(?!.*\.\.)`},
		{"missing", work, `{}`, `argument "path" is required`},
		{"another type", work, `{"path":7}`, `argument "path": 7 is not of the type string`},
		{"given twice", work, `{"path":"/srv/a","path":"/etc/passwd"}`, `argument "path" is given twice`},
		{"given twice in another spelling", work, `{"path":"/srv/a","pa\u0074h":"/etc/passwd"}`, `argument "path" is given twice`},
		{"not JSON", work, `{"path":`, `the arguments are not valid JSON`},
		{"no object", `{"required":["a"]}`, `[]`, `the arguments are no JSON object`},
		{"a bound", `{"properties":{"n":{"maximum":10}}}`, `{"n":50}`, `argument "n": 50 is more than the maximum 10`},
		{"a bound that no float holds", `{"properties":{"n":{"maximum":9007199254740992}}}`, `{"n":9007199254740993}`, `argument "n": 9007199254740993 is more than the maximum 9007199254740992`},
		{"a number that cannot be compared", `{"properties":{"n":{"maximum":10}}}`, `{"n":1e999}`, `argument "n": 1e999 cannot be compared with 10`},
		{"exclusive", `{"properties":{"n":{"exclusiveMinimum":0}}}`, `{"n":0}`, `argument "n": 0 is not more than 0`},
		{"multiple", `{"properties":{"n":{"multipleOf":0.1}}}`, `{"n":0.3}`, ``},
		{"a pattern for what is no string", `{"properties":{"path":{"pattern":"^drafts/"}}}`, `{"path":["/etc"]}`, `argument "path": ["/etc"] is not of the type string, which pattern is about`},
		{"a pattern for null", `{"properties":{"path":{"pattern":"^drafts/"}}}`, `{"path":null}`, `argument "path": null is not of the type string, which pattern is about`},
		{"a bound for what is no number", `{"properties":{"n":{"maximum":5}}}`, `{"n":"0x6"}`, `argument "n": "0x6" is not of the type number, which maximum is about`},
		{"members of what is no object", `{"properties":{"o":{"properties":{"cmd":{"const":"ls"}}}}}`, `{"o":"cmd=rm"}`, `argument "o": "cmd=rm" is not of the type object, which properties is about`},
		{"a pattern or null", `{"properties":{"path":{"type":["string","null"],"pattern":"^drafts/"}}}`, `{"path":null}`, ``},
		{"a pattern or a list of them", `{"properties":{"path":{"pattern":"^a","items":{"pattern":"^a"}}}}`, `{"path":["ab"]}`, ``},
		{"a pattern in any of", `{"properties":{"path":{"anyOf":[{"pattern":"^a"},{"maximum":3}]}}}`, `{"path":true}`, `argument "path": true fits none of the 2 forms of anyOf`},
		{"a pattern that is excluded", `{"properties":{"path":{"not":{"pattern":"secret"}}}}`, `{"path":["secret"]}`, `argument "path": ["secret"] is what the rule excludes: not {"pattern":"secret"}`},
		{"a pattern behind a reference", `{"properties":{"path":{"$ref":"#/$defs/p"}},"$defs":{"p":{"pattern":"^a"}}}`, `{"path":{"a":1}}`, `argument "path": {"a":1} is not of the type string, which pattern is about`},
		{"enum", `{"properties":{"m":{"enum":["a","b"]}}}`, `{"m":"c"}`, `argument "m": "c" is none of "a", "b"`},
		{"const", `{"properties":{"m":{"const":1}}}`, `{"m":1.0}`, ``},
		{"nested", `{"properties":{"o":{"properties":{"l":{"items":{"maxLength":2}}}}}}`, `{"o":{"l":["ab","abc"]}}`, `argument "o.l[1]": "abc" has 3 characters, more than maxLength 2`},
		{"no others", `{"properties":{"a":true},"additionalProperties":false}`, `{"a":1,"b":2}`, `argument "b" must not be given`},
		{"forbidden", `{"properties":{"force":false}}`, `{"force":true}`, `argument "force" must not be given`},
		{"not", `{"not":{"required":["force"]}}`, `{"force":true}`, `the arguments: {"force":true} is what the rule excludes: not {"required":["force"]}`},
		{"any of", `{"anyOf":[{"required":["a"]},{"required":["b"]}]}`, `{"b":1}`, ``},
		{"none of any", `{"properties":{"x":{"anyOf":[{"const":1},{"const":2}]}}}`, `{"x":3}`, `argument "x": 3 fits none of the 2 forms of anyOf`},
		{"one of", `{"properties":{"x":{"oneOf":[{"type":"integer"},{"minimum":2}]}}}`, `{"x":3}`, `argument "x": 3 fits 2 forms of oneOf, and one is wanted`},
		{"if then", `{"if":{"required":["a"]},"then":{"required":["b"]},"else":{"required":["c"]}}`, `{"a":1}`, `argument "b" is required`},
		{"if else", `{"if":{"required":["a"]},"then":{"required":["b"]},"else":{"required":["c"]}}`, `{}`, `argument "c" is required`},
		{"dependent", `{"dependentRequired":{"a":["b"]}}`, `{"a":1}`, `argument "b" is required beside a`},
		{"a reference", `{"properties":{"p":{"$ref":"#/$defs/p"}},"$defs":{"p":{"pattern":"^a"}}}`, `{"p":"b"}`, `argument "p": "b" does not match the pattern ^a`},
		{"names", `{"propertyNames":{"pattern":"^[a-z]+$"}}`, `{"A":1}`, `argument "A": "A" does not match the pattern ^[a-z]+$, as the name of an argument`},
		{"contains", `{"properties":{"l":{"contains":{"const":1}}}}`, `{"l":[2]}`, `argument "l": [2] holds 0 items of those that contains wants`},
		{"unique", `{"properties":{"l":{"uniqueItems":true}}}`, `{"l":[1,1.0]}`, `argument "l": [1,1.0] holds an item twice`},
		{"what is left", `{"allOf":[{"properties":{"a":true}}],"unevaluatedProperties":false}`, `{"a":1,"b":2}`, `argument "b" must not be given`},
		{"what is left is nothing", `{"allOf":[{"properties":{"a":true}}],"properties":{"b":true},"unevaluatedProperties":false}`, `{"a":1,"b":2}`, ``},
		{"an address", `{"properties":{"u":{"format":"uri"}}}`, `{"u":"no address"}`, `argument "u": "no address" is not of the format uri`},
		{"a secret by its name", `{"properties":{"apiToken":{"maxLength":3}}}`, `{"apiToken":"hush-hush"}`, `argument "apiToken" has 9 characters, more than maxLength 3`},
		{"a secret within", `{"properties":{"auth":{"maxProperties":1}}}`, `{"auth":{"password":"hush","b":1}}`, `argument "auth" has 2 members, more than maxProperties 1`},
		{"a secret that the rule marks", `{"properties":{"k":{"writeOnly":true,"maxLength":3}}}`, `{"k":"hush"}`, `argument "k" has 4 characters, more than maxLength 3`},
		{"a long value is cut", `{"properties":{"k":{"maxLength":3}}}`, `{"k":"` + strings.Repeat("x", 1000) + `"}`, `argument "k": "` + strings.Repeat("x", 59) + `… has 1000 characters, more than maxLength 3`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r, err := CompileRule(json.RawMessage(tt.rule))
			if err != nil {
				t.Fatalf("CompileRule(%s): %v", tt.rule, err)
			}
			got := ""
			if v := r.Check(json.RawMessage(tt.args)); v != nil {
				got = v.Error()
			}
			if got != tt.want {
				t.Errorf("Check(%s)\n got %s\nwant %s", tt.args, got, tt.want)
			}
		})
	}
}

func TestRulesThatCannotBeUnderstoodAreRefused(t *testing.T) {
	t.Parallel()
	tests := []struct{ rule, want string }{
		{`true`, "no JSON Schema object"},
		{`{"type":"strng"}`, `at /type: "strng" where the name of a JSON type`},
		{`{"properties":{"a":{"patern":"x"}}}`, "at /properties/a/patern: there is no keyword patern; did you mean pattern?"},
		{`{"properties":{"a":{"maxlength":1}}}`, "did you mean maxLength?"},
		{`{"properties":{"a":{"pattern":"("}}}`, "at /properties/a/pattern: the pattern (: "},
		{`{"patternProperties":{"[":{}}}`, "the pattern ["},
		{`{"properties":[]}`, "at /properties: [] where an object of schemas is needed"},
		{`{"properties":{"a":1}}`, "at /properties/a: a number where a schema is needed"},
		{`{"minimum":"1"}`, `at /minimum: "1" where a number is needed`},
		{`{"maxLength":-1}`, "where a whole number is needed"},
		{`{"exclusiveMinimum":true}`, "where a number is needed"},
		{`{"required":"a"}`, "where a list of names is needed"},
		{`{"allOf":[]}`, "where a list of schemas is needed"},
		{`{"$ref":"#/$defs/none"}`, "is nowhere in the rule"},
		{`{"$ref":"https://example.com/schema.json"}`, "other documents are not fetched"},
		{`{"format":"iri"}`, "is not checked here"},
		{`{"unevaluatedItems":false}`, "not supported"},
		{`{"type":"string","type":"number"}`, "a keyword is written twice"},
	}
	for _, tt := range tests {
		_, err := CompileRule(json.RawMessage(tt.rule))
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("CompileRule(%s) = %v, want %q in it", tt.rule, err, tt.want)
		}
	}
	for _, rule := range []string{`{}`, `{"x-note":1,"title":"t","description":"d","$comment":"c","examples":[1]}`, `{"items":[{"type":"string"}],"additionalItems":false}`} {
		if _, err := CompileRule(json.RawMessage(rule)); err != nil {
			t.Errorf("CompileRule(%s) = %v", rule, err)
		}
	}
}

func TestRulesRefuseWhatTakesTooLong(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, rule, args string }{
		{"a pattern that goes back", `{"properties":{"s":{"pattern":"^(a+)+(?=b)$"}}}`, `{"s":"` + strings.Repeat("a", 5000) + `"}`},
		{"the same pattern behind not", `{"properties":{"s":{"not":{"pattern":"^(a+)+(?=b)$"}}}}`, `{"s":"` + strings.Repeat("a", 5000) + `"}`},
		{"a schema that refers to itself", `{"$ref":"#"}`, `{}`},
		{"two that refer to each other", `{"anyOf":[{"$ref":"#/$defs/a"}],"$defs":{"a":{"not":{"$ref":"#/$defs/b"}},"b":{"not":{"$ref":"#/$defs/a"}}}}`, `{}`},
		{"very many values", `{"additionalProperties":{"type":"integer"}}`, `{"l":[` + strings.Repeat("1,", 300_000) + `1]}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r, err := CompileRule(json.RawMessage(tt.rule))
			if err != nil {
				t.Fatal(err)
			}
			if r.Check(json.RawMessage(tt.args)) == nil {
				t.Error("it was let through")
			}
		})
	}
}

func TestTightenedSchemasHoldTheirRules(t *testing.T) {
	t.Parallel()
	rule := func(text string) *Rule {
		r, err := CompileRule(json.RawMessage(text))
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	path := rule(`{"properties":{"path":{"$ref":"#/$defs/p"}},"$defs":{"p":{"pattern":"^/srv/"}}}`)
	small := rule(`{"properties":{"n":{"maximum":3}}}`)
	tests := []struct {
		name, input string
		rules       []*Rule
		want        string
	}{
		{"none", `{"type":"object"}`, nil, `{"type":"object"}`},
		{
			"one", `{"type":"object","properties":{"n":{"type":"integer"}}}`,
			[]*Rule{small},
			`{"type":"object","properties":{"n":{"type":"integer"}},"allOf":[{"properties":{"n":{"maximum":3}}}]}`,
		},
		{
			"beside others, with a reference", `{"allOf":[{"required":["n"]}],"type":"object"}`,
			[]*Rule{small, path},
			`{"type":"object","allOf":[{"required":["n"]},{"properties":{"n":{"maximum":3}}},` +
				`{"properties":{"path":{"$ref":"#/allOf/2/$defs/p"}},"$defs":{"p":{"pattern":"^/srv/"}}}]}`,
		},
		{"of a tool without a schema", ``, []*Rule{small}, `{"type":"object","allOf":[{"properties":{"n":{"maximum":3}}}]}`},
	}
	for _, tt := range tests {
		got := string(Tighten(json.RawMessage(tt.input), tt.rules))
		if got != tt.want {
			t.Errorf("%s:\n got %s\nwant %s", tt.name, got, tt.want)
		}
		again, err := CompileRule(json.RawMessage(got))
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		if len(tt.rules) == 2 && (again.Check(json.RawMessage(`{"n":1,"path":"/etc"}`)) == nil || again.Check(json.RawMessage(`{"n":1,"path":"/srv/a"}`)) != nil) {
			t.Errorf("%s: the reference within does not lead to its place", tt.name)
		}
	}
}

func TestRegularExpressionsAreThoseOfECMAScript(t *testing.T) {
	t.Parallel()
	tests := []struct {
		source, text string
		want         bool
	}{
		{`^a.c$`, "abc", true},
		{`^a.c$`, "a\nc", false},
		{`^a.c$`, "a\u2028c", false},
		{`^a$`, "a\n", false},
		{`\d`, "٣", false},
		{`^\w+$`, "é", false},
		{`^\s$`, "\u00a0", true},
		{`^[\s,]+$`, "\u2003,", true},
		{`^\S$`, "\ufeff", false},
		{`^[^]$`, "\n", true},
		{`^\u0041\x42\u{1F600}$`, "AB😀", true},
		{`^\p{Lu}$`, "É", true},
		{`^(?!.*\.\.)/srv/`, "/srv/a", true},
		{`^(?!.*\.\.)/srv/`, "/srv/../a", false},
		{`(?<!a)b`, "ab", false},
		{`^(a|b)\1$`, "aa", true},
		{`^(a|b)\1$`, "ab", false},
		{`^(?<y>\d{4})$`, "2026", true},
		{`[[]`, "[", true},
		{`\/x\-y`, "/x-y", true},
		{`^.$`, "😀", true},
	}
	for _, tt := range tests {
		re, err := CompileRegexp(tt.source)
		if err != nil {
			t.Errorf("CompileRegexp(%s): %v", tt.source, err)
			continue
		}
		if got, err := re.Match(tt.text); got != tt.want || err != nil {
			t.Errorf("%s in %q = %v, %v, want %v", tt.source, tt.text, got, err, tt.want)
		}
	}
	for _, source := range []string{`(`, `[a`, `a**`, `(?<n`, `\`, strings.Repeat("a", 20_000)} {
		if _, err := CompileRegexp(source); err == nil {
			t.Errorf("CompileRegexp(%.20s) has no error", source)
		} else if strings.Contains(err.Error(), "in `") {
			t.Errorf("CompileRegexp(%.20s): %v repeats the source", source, err)
		}
	}
}

// FuzzRule checks that no rule and no arguments make it panic, and that what two rules
// let through one by one passes them together.
func FuzzRule(f *testing.F) {
	f.Add(`{"properties":{"a":{"pattern":"^a"}},"required":["a"]}`, `{"a":"b"}`)
	f.Add(`{"anyOf":[{"$ref":"#/$defs/x"}],"$defs":{"x":{"not":{"enum":[1]}}}}`, `1`)
	f.Add(`{"if":{"minimum":1},"then":{"maxProperties":0},"unevaluatedProperties":false}`, `{"a":{"a":[1,2,{}]}}`)
	f.Fuzz(func(t *testing.T, rule, args string) {
		r, err := CompileRule(json.RawMessage(rule))
		if err != nil {
			return
		}
		alone := r.Check(json.RawMessage(args))
		both, err := CompileRule(json.RawMessage(fmt.Sprintf(`{"allOf":[%s]}`, r.within("#/allOf/0"))))
		if err != nil {
			return // deeper than is looked at, or an anchor twice
		}
		if together := both.Check(json.RawMessage(args)); alone == nil && together != nil && !strings.Contains(together.Error(), "too long") {
			t.Errorf("%s lets %s through, and within allOf it says: %v", rule, args, together)
		}
	})
}

// FuzzRegexp checks that an expression means the same to both engines.
func FuzzRegexp(f *testing.F) {
	for _, s := range []string{`^a.c$`, `[\s,]+`, `\bx\b`, `^(a|b)*?c{2,3}$`, `\u00e9|\x41`, `[^a-z\d]`} {
		f.Add(s, "abc é\n")
	}
	f.Fuzz(func(t *testing.T, source, text string) {
		if len(source) > 50 || len(text) > 50 {
			return
		}
		re, err := CompileRegexp(source)
		if err != nil {
			return
		}
		got, err := re.Match(text)
		if err != nil || re.linear == nil {
			return
		}
		back, err := compileBack(source)
		if err != nil {
			return
		}
		back.MatchTimeout = longestMatch
		want, err := (&Regexp{source: source, back: back}).Match(text)
		if err == nil && got != want {
			t.Errorf("%q in %q: one engine says %v, the other %v", source, text, got, want)
		}
	})
}
