package artifact

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"
)

// linked is what Links makes of a value where everything can be kept, and how much is.
func linked(value string) (out string, kept int) {
	got := Links(json.RawMessage(value), func(name, kind string, data []byte) (Artifact, bool) {
		kept++
		return Artifact{ID: fmt.Sprint(kept), Name: name, MIME: kind, Size: int64(len(data))}, true
	})
	return string(got), kept
}

func TestLinksLeaveTheRestAsItIs(t *testing.T) {
	t.Parallel()
	const head, tail = "{ \"a\\ud800\" : [1e400 ,\n", "] , \"a\":{\"data\":\"AAEC\"},\"a\":null }\n"
	got, kept := linked(head + `{"mimeType":"image/svg+xml","data":"AAEC","type":"im\u0061ge"}` + tail)
	want := head + `{"type":"resource_link","uri":"artifact://1/image.svg","name":"image.svg","mimeType":"image/svg+xml","size":3}` + tail
	if got != want || kept != 1 {
		t.Errorf("%d are kept of\n%s, want\n%s", kept, got, want)
	}
	for _, value := range []string{
		`[{"type":"image","data":"AAEC"}`, `[{"type":"image","data":"AAEC"}]]`, `{"type":"image","data":"AAEC"} x`,
		`{"type":["image"],"data":"AAEC"}`, `{"type":"resource","resource":[{"blob":"AAEC"}]}`, `{"Type":"image","data":"AAEC"}`,
	} {
		if got, kept := linked(value); got != value || kept != 0 {
			t.Errorf("%d are kept of %s, which became %s", kept, value, got)
		}
	}
}

// TestLinksAreBounded is about a server that sends very many small media.
func TestLinksAreBounded(t *testing.T) {
	t.Parallel()
	const image = `{"type":"image","data":"AA=="}`
	got, kept := linked("[" + strings.Repeat(image+",", 5000) + image + "]")
	if kept != most || strings.Count(got, image) != 5001-most || strings.Count(got, `"resource_link"`) != most || !json.Valid([]byte(got)) {
		t.Errorf("%d of 5001 images are kept", kept)
	}
}

// TestLinksOfWhatIsNestedTakeNoTime: each level was read several times, slowly.
func TestLinksOfWhatIsNestedTakeNoTime(t *testing.T) {
	t.Parallel()
	inner := `"` + strings.Repeat("x", 8<<20) + `","data",` + `{"type":"image","data":"AA=="}`
	value := strings.Repeat(`{"type":"image","a":[`, deepest/2-1) + inner + strings.Repeat(`]}`, deepest/2-1)
	begin := time.Now()
	if got, kept := linked(value); kept != 1 || !json.Valid([]byte(got)) {
		t.Errorf("%d are kept", kept)
	}
	if took := time.Since(begin); took > time.Minute {
		t.Errorf("it took %s", took)
	}
}

func TestVeryManyNamesBecomeDistinct(t *testing.T) {
	t.Parallel()
	taken := map[string]bool{}
	asked := 0
	const many = 20_000
	for i := range many {
		name := Distinct("image.png", func(n string) bool { asked++; return taken[n] })
		want := "image.png"
		if i > 0 {
			want = fmt.Sprintf("image-%d.png", i)
		}
		if taken[name] || name != want {
			t.Fatalf("the name %d is %s, want %s", i, name, want)
		}
		taken[name] = true
	}
	if asked > many*64 {
		t.Errorf("%d names were tried for %d", asked, many)
	}
}

func FuzzLinks(f *testing.F) {
	for _, s := range []string{`[{"type":"image","data":"AA=="}]`, `{"a":[{"type":"resource","resource":{"blob":"AA=="}}],"b":1}`, `[ {"data":1} , {} ]`, `{"":"data"}`, `[[`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, value []byte) {
		before := bytes.Clone(value)
		got, kept := linked(string(value))
		if json.Valid(before) != json.Valid([]byte(got)) || kept == 0 && got != string(before) {
			t.Errorf("%q became %q", before, got)
		}
	})
}
