package engine

import "testing"

func TestVarsOfTheNameOfAParameter(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"function f({ b }) { var b = b || 1; return b } return [f({}), f({ b: 3 }), f.length]":                                                                                  "[1,3,1]",
		"function f([a], ...r) { var r = r || [], a; return [a, r] } return [f([1], 2), f.length]":                                                                              "[[1,[2]],1]",
		"const f = ({ x }) => { for (var x = 0; x < 2; x++); return x }; return f({ x: 9 })":                                                                                    "2",
		"class K { m({ a: { b = 5 }, ...c } = { a: {}, z: 1 }, d = 2) { if (d) { var b = b + d } var c; return [b, c] } }; return [new K().m(), new K().m({ a: { b: 1 } }, 0)]": `[[7,{"z":1}],[1,{}]]`,
		"async function f({ q }) { for (var q of [q, 2]) await null; return q } return f({ q: 1 })":                                                                             "2",
		"function* g({ z }) { var z = z * 2; yield z } return [...g({ z: 4 })]":                                                                                                 "[8]",
		"const v = 1; function f({ a = v }) { var a = a + 1; return a } return f({})":                                                                                           "2",
		"function f({ b }) { var g = ({ b }) => { var b = b + 1; return b }; var b = b + 10; return [b, g({ b: 1 })] } return f({ b: 5 })":                                      "[15,2]",
		"function f({ b }) { var b = 1 } try { f() } catch (e) { return e.name }":                                                                                               `"TypeError"`,
	} {
		if got := testValue(t, text); got != want {
			t.Errorf("%s = %s, want %s", text, got, want)
		}
	}
}

func TestAVarIsRefusedWhereAFunctionHasTheNameOfAParameter(t *testing.T) {
	t.Parallel()
	text := "function f({ a, b }) { var b = 1; function a() {} return typeof a } return f({ a: 1 })"
	if _, report := Compile(Source{Name: "exec", Text: text}, nil); report == nil {
		t.Errorf("%s is a program, in which a parameter hides a function", text)
	}
}
