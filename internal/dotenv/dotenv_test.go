package dotenv

import (
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"A=1\r\nB = two words # and more\n# C=3\nexport D=4\n\nE=\nnothing\n=x\nF=a=b": "A=1|B=two words|D=4|E=|F=a=b",
		"A=\"x # y\\nz\" # more\nB='a\\n'\nC=`t`\nA=again":                             "A=x # y\nz|B=a\\n|C=t|A=again",
		"A=\"two\nlines\"\nB=\"open\nC=1":                                              "A=two\nlines|B=\"open|C=1",
		"A=$B ${C}":                                                                    "A=$B ${C}",
		"A=x#y":                                                                        "A=x",
		"":                                                                             "",
	} {
		var got []string
		for name, value := range Parse(text) {
			got = append(got, name+"="+value)
		}
		if got := strings.Join(got, "|"); got != want {
			t.Errorf("Parse(%q) = %q, want %q", text, got, want)
		}
	}
	for name := range Parse("A=1\nB=2") {
		if name != "A" {
			t.Errorf("%s came after the end", name)
		}
		break
	}
}

func FuzzParse(f *testing.F) {
	f.Add("A=1\n\"B='x\n")
	f.Fuzz(func(t *testing.T, text string) {
		n := 0
		for range Parse(text) {
			n++
		}
		if n > strings.Count(text, "=") {
			t.Errorf("%d variables in %q", n, text)
		}
	})
}
