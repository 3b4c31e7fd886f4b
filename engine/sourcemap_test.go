package engine

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestSourceMapPositionsCountFromOne(t *testing.T) {
	t.Parallel()
	m, err := parseSourceMap([]byte(`{"version":3,"sources":["a.ts","b.ts"],"names":[],"mappings":";AAAA,IAAM;;ACCN,iBAA2B,C"}`))
	if err != nil {
		t.Fatal(err)
	}
	c, err := m.consumer()
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []struct {
		line, column int
		source       string
		at           [2]int
	}{
		{2, 1, "a.ts", [2]int{1, 1}},
		{2, 5, "a.ts", [2]int{1, 7}},
		{2, 9, "a.ts", [2]int{1, 7}},
		{4, 1, "b.ts", [2]int{2, 1}},
		{4, 18, "b.ts", [2]int{2, 28}},
	} {
		source, _, line, column, ok := c.Source(want.line, want.column)
		if !ok || source != want.source || [2]int{line, column} != want.at {
			t.Errorf("%d:%d is %s:%d:%d, %v, want %s:%d:%d", want.line, want.column, source, line, column, ok, want.source, want.at[0], want.at[1])
		}
	}
}

func TestNoMappingsMakeNoMap(t *testing.T) {
	t.Parallel()
	m, err := parseSourceMap([]byte(`{"version":3,"sources":[],"mappings":";;;A"}`))
	if err != nil {
		t.Fatal(err)
	}
	if c, err := m.consumer(); c != nil || err != nil {
		t.Errorf("consumer = %v, %v, want neither", c, err)
	}
}

func FuzzSourceMap(f *testing.F) {
	f.Add(";AAAA,IAAM;;ACCN,iBAA2B,C")
	f.Fuzz(func(t *testing.T, mappings string) {
		text, err := json.Marshal(sourceMapText{Version: 3, Sources: []string{"a"}, Mappings: mappings})
		if err != nil {
			t.Skip()
		}
		m, err := parseSourceMap(text)
		if err != nil {
			return
		}
		if strings.Count(mappings, ";")+1 != len(m.lines) {
			t.Errorf("%q has %d lines", mappings, len(m.lines))
		}
	})
}

func FuzzVLQ(f *testing.F) {
	f.Add(0, 1, -1, 1<<20, -(1 << 28))
	f.Fuzz(func(t *testing.T, a, b, c, d, e int) {
		const limit = 1 << 29
		want := [5]int{a % limit, b % limit, c % limit, d % limit, e % limit}
		var text strings.Builder
		for _, n := range want {
			encodeVLQ(&text, n)
		}
		var got [5]int
		if n, err := decodeVLQ(text.String(), &got); n != 5 || err != nil || got != want {
			t.Errorf("%v → %q → %v, %v", want, text.String(), got, err)
		}
	})
}
