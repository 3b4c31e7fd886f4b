//go:build unix

package run

import (
	"bufio"
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	programs "os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"mcpx/internal/api"
	"mcpx/internal/artifact"
	"mcpx/internal/fault"
)

// keeper is a Runner that keeps artifacts.
func keeper(t *testing.T, flags ...string) *Runner {
	t.Helper()
	r := stage{settings: given(t, flags...)}.runner()
	r.Dir = t.TempDir()
	r.Artifacts = filepath.Join(t.TempDir(), "artifacts")
	return r
}

// contents are the bytes of an artifact.
func contents(t *testing.T, r *Runner, id string) string {
	t.Helper()
	a, err := artifact.In(r.Artifacts, r.Settings).Get(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(a.Path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestScriptsKeepArtifacts(t *testing.T) {
	t.Parallel()
	const png = "\x89PNG\r\n\x1a\n"
	image := `{type: "image", mimeType: "image/png", data: "` + base64.StdEncoding.EncodeToString([]byte(png)) + `"}`
	for _, tt := range []struct{ name, code, kept, mime, as string }{
		{"text", `artifact("a b.txt", "hi")`, "hi", "text/plain; charset=utf-8", "a-b.txt"},
		{"bytes", `artifact("x", new Uint8Array([1, 2]))`, "\x01\x02", "application/octet-stream", "x"},
		{"a file", `artifact("", {path: "in.csv"})`, "a,b", "text/csv; charset=utf-8", "in.csv"},
		{"an image", `artifact("x", ` + image + `)`, png, "image/png", "x"},
		{"an answer with one", `artifact("x", {content: [{type: "text", text: "t"}, ` + image + `]})`, png, "image/png", "x"},
		{"a resource", `artifact("x", {type: "resource", resource: {uri: "u:x", text: "hi"}})`, "hi", "text/plain", "x"},
		{"a value", `artifact("x.json", {a: 1})`, "{\n  \"a\": 1\n}\n", "application/json", "x.json"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := keeper(t)
			if err := os.WriteFile(filepath.Join(r.Dir, "in.csv"), []byte("a,b"), 0o600); err != nil {
				t.Fatal(err)
			}
			out := exec(t, r, "return await "+tt.code, api.ExecInput{Permissions: "read"})
			if out.Error != nil || len(out.Artifacts) != 1 {
				t.Fatalf("%v, %v", out.Error, out.Artifacts)
			}
			a := out.Artifacts[0]
			if got := contents(t, r, a.ID); got != tt.kept || a.MIME != tt.mime || a.Name != tt.as {
				t.Errorf("%+v holds %q", a, got)
			}
			var told api.Artifact
			if err := json.Unmarshal(out.Value, &told); err != nil || told.ID != a.ID || told.Path != "" {
				t.Errorf("the script was told %s, %v", out.Value, err)
			}
		})
	}
}

func TestNamesOfOneRunAreDistinct(t *testing.T) {
	t.Parallel()
	out := exec(t, keeper(t), `for (const n of ["a.txt", "a.txt", "/x/a.txt"]) await artifact(n, "same")`, api.ExecInput{})
	var names []string
	for _, a := range out.Artifacts {
		names = append(names, a.Name)
	}
	if got := strings.Join(names, " "); got != "a.txt a-1.txt a-2.txt" {
		t.Errorf("they are called %s", got)
	}
}

// What may never end or never answer is not read, and nothing waits for it.
func TestPipesBecomeNoArtifacts(t *testing.T) {
	t.Parallel()
	r := keeper(t)
	if err := syscall.Mkfifo(filepath.Join(r.Dir, "pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, permissions := range []string{"read", "all"} {
		for _, path := range []string{"pipe", ".", "/dev/zero"} {
			if permissions == "read" && path == "/dev/zero" {
				continue // outside
			}
			out := exec(t, r, `await artifact("x", {path: "`+path+`"})`, api.ExecInput{Permissions: permissions, Timeout: time.Minute})
			if out.Error == nil || out.Error.Kind == fault.Timeout || len(out.Artifacts) > 0 {
				t.Errorf("%s with %s: %v, %v", path, permissions, out.Error, out.Artifacts)
			}
		}
	}
}

func TestOutputThatIsTooLongIsSpilled(t *testing.T) {
	t.Parallel()
	const code = `const line = "0123456789abcdé".repeat(64); for (let i = 0; i < 2000; i++) console.log(line); console.error("short")`
	want := strings.Repeat(strings.Repeat("0123456789abcdé", 64)+"\n", 2000)
	t.Run("kept whole", func(t *testing.T) {
		t.Parallel()
		r := keeper(t, "--artifacts-output-max-bytes=64KiB")
		out := exec(t, r, code, api.ExecInput{})
		if out.Error != nil || len(out.Spilled) != 1 || out.Stdout != "" || out.Stderr != "short\n" || len(out.Artifacts) != 1 {
			t.Fatalf("%v, %d spilled, %d bytes of stdout, %q, %v", out.Error, len(out.Spilled), len(out.Stdout), out.Stderr, out.Artifacts)
		}
		s := out.Spilled[0]
		if s.Stream != "stdout" || s.Bytes != int64(len(want)) || s.Artifact != out.Artifacts[0].ID || s.Error != nil ||
			!strings.HasPrefix(want, s.Head) || !strings.HasSuffix(want, s.Tail) || len(s.Head) < spillHead-4 || len(s.Tail) < spillTail-4 {
			t.Errorf("it was spilled as %+v", s)
		}
		if got := contents(t, r, s.Artifact); got != want || out.Artifacts[0].Name != "stdout.txt" {
			t.Errorf("%+v holds %d bytes, want %d", out.Artifacts[0], len(got), len(want))
		}
	})
	for name, r := range map[string]*Runner{
		"too long to keep":   keeper(t, "--artifacts-output-max-bytes=64KiB", "--artifacts-max-bytes=128KiB"),
		"nowhere to keep it": stage{settings: given(t, "--artifacts-output-max-bytes=64KiB")}.runner(),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			out := exec(t, r, code, api.ExecInput{})
			if out.Error != nil || len(out.Spilled) != 1 || len(out.Artifacts) != 0 {
				t.Fatalf("%v, %+v", out.Error, out.Spilled)
			}
			s := out.Spilled[0]
			if s.Bytes != int64(len(want)) || s.Artifact != "" || s.Error == nil || !strings.HasPrefix(want, s.Head) || !strings.HasSuffix(want, s.Tail) {
				t.Errorf("it was spilled as %+v", s)
			}
			left, _ := os.ReadDir(filepath.Join(r.Artifacts, "making"))
			if r.Artifacts != "" && len(left) > 0 {
				t.Errorf("%d files are left", len(left))
			}
		})
	}
}

func TestLogsHaveRoomInADocumentToo(t *testing.T) {
	t.Parallel()
	r := keeper(t, "--artifacts-output-max-bytes=64KiB")
	out := exec(t, r, `for (let i = 0; i < 200; i++) log("x".repeat(1000))`, api.ExecInput{})
	bytes := 0
	for _, l := range out.Logs {
		bytes += len(l.Text)
	}
	if out.Error != nil || bytes > 64<<10 || len(out.Logs) < 50 || len(out.Spilled) != 1 || out.Spilled[0].Bytes != 200*1001 || len(out.Warnings) != 1 {
		t.Errorf("%v, %d logs of %d bytes, %d spilled, %q", out.Error, len(out.Logs), bytes, len(out.Spilled), out.Warnings)
	}
}

const picture = `({content: [{type: "text", text: "t"}, {type: "image", mimeType: "image/png", data: "AAEC"}], z: 1, a: [1, {"b": "data"}]})`

func TestMediaBecomeLinksForThoseWhoTakeThem(t *testing.T) {
	t.Parallel()
	code := "emit(" + picture + "); return " + picture
	for _, tt := range []struct {
		name  string
		wish  *api.ArtifactWish
		flags []string
		links bool
	}{
		{"who takes them", &api.ArtifactWish{}, nil, true},
		{"who does not say so", nil, nil, false},
		{"by the settings", &api.ArtifactWish{}, []string{"--artifacts-intercept-images=false"}, false},
		{"that find no room", &api.ArtifactWish{}, []string{"--artifacts-quota=1"}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := keeper(t, tt.flags...)
			out := exec(t, r, code, api.ExecInput{Artifacts: tt.wish})
			if out.Error != nil || len(out.Emits) != 1 {
				t.Fatalf("%v, %s", out.Error, out.Emits)
			}
			for _, value := range []json.RawMessage{out.Value, out.Emits[0]} {
				var got struct {
					Content []struct {
						Type, URI, Name, MimeType, Data string
						Size                            int
					}
				}
				if err := json.Unmarshal(value, &got); err != nil || len(got.Content) != 2 {
					t.Fatalf("%s, %v", value, err)
				}
				one := got.Content[1]
				if linked := one.Type == "resource_link" && one.Size == 3 && one.MimeType == "image/png" && one.Data == ""; linked != tt.links {
					t.Errorf("the image became %+v", one)
				}
				if tt.links && contents(t, r, api.ArtifactID(one.URI)) != "\x00\x01\x02" {
					t.Error("the link leads elsewhere")
				}
				if !bytes.HasSuffix(value, []byte(`"z":1,"a":[1,{"b":"data"}]}`)) {
					t.Errorf("the rest became %s", value)
				}
			}
			if tt.links != (len(out.Artifacts) == 2) || (tt.name == "that find no room") != (len(out.Warnings) > 0) {
				t.Errorf("there are %v, and %q", out.Artifacts, out.Warnings)
			}
		})
	}
}

func TestArtifactsAreDelivered(t *testing.T) {
	t.Parallel()
	const code = `await artifact("a.txt", "small"); await artifact("a.txt", "x".repeat(100000))`
	t.Run("inline, as far as they are small", func(t *testing.T) {
		t.Parallel()
		for _, wish := range []api.ArtifactWish{{MaxBytes: 1000}, {}} {
			wish.Delivery = api.DeliverInline
			flags := []string{"--artifacts-inline-max-bytes=1KiB"}
			if wish.MaxBytes > 0 {
				flags = nil
			}
			out := exec(t, keeper(t, flags...), code, api.ExecInput{Artifacts: &wish})
			if len(out.Artifacts) != 2 || string(out.Artifacts[0].Data) != "small" || out.Artifacts[1].Data != nil {
				t.Errorf("%+v: %+v", wish, out.Artifacts)
			}
		}
	})
	t.Run("into a folder, where nothing is overwritten", func(t *testing.T) {
		t.Parallel()
		dir := filepath.Join(t.TempDir(), "new")
		r := keeper(t)
		for range 2 {
			exec(t, r, code, api.ExecInput{Artifacts: &api.ArtifactWish{Dir: dir, SharedFS: true}})
		}
		entries, err := os.ReadDir(dir)
		var names []string
		for _, e := range entries {
			names = append(names, e.Name())
		}
		if err != nil || len(names) != 4 {
			t.Errorf("the folder holds %q, %v", names, err)
		}
		if got, err := os.ReadFile(filepath.Join(dir, "a.txt")); err != nil || string(got) != "small" {
			t.Errorf("the first was overwritten: %d bytes, %v", len(got), err)
		}
	})
	t.Run("as a stream behind the end", func(t *testing.T) {
		t.Parallel()
		var mu sync.Mutex
		var types []string
		got := map[string][]byte{}
		ended := map[string]bool{}
		r := keeper(t)
		out, err := r.Run(t.Context(), api.ExecInput{Name: "exec", Code: code, Output: api.OutputStream, Artifacts: &api.ArtifactWish{Delivery: api.DeliverStream}},
			api.Streams{Frames: func(f api.Frame) error {
				mu.Lock()
				defer mu.Unlock()
				types = append(types, f.Type)
				switch f.Type {
				case "artifact.chunk":
					if *f.Seq != len(got[f.ID])/chunk {
						t.Errorf("chunk %d after %d bytes", *f.Seq, len(got[f.ID]))
					}
					got[f.ID] = append(got[f.ID], f.Data...)
				case "artifact.end":
					ended[f.ID] = true
				}
				return nil
			}})
		if err != nil || len(out.Artifacts) != 2 {
			t.Fatal(err)
		}
		for _, a := range out.Artifacts {
			if string(got[a.ID]) != contents(t, r, a.ID) || !ended[a.ID] {
				t.Errorf("%s came with %d bytes (%v), want %d", a.Name, len(got[a.ID]), ended[a.ID], a.Size)
			}
		}
		all := strings.Join(types, " ")
		if !strings.Contains(all, "result end artifact.chunk artifact.end artifact.chunk artifact.chunk artifact.chunk artifact.end") {
			t.Errorf("the frames are %s", all)
		}
	})
}

func TestAWishThatMakesNoSenseIsRefused(t *testing.T) {
	t.Parallel()
	for _, wish := range []api.ArtifactWish{{Delivery: "post"}, {Delivery: api.DeliverStream}, {MaxBytes: -1}, {Dir: "x"}} {
		_, err := keeper(t).Run(t.Context(), api.ExecInput{Code: "1", Artifacts: &wish}, api.Streams{})
		if fault.KindOf(err) != fault.Usage {
			t.Errorf("%+v: %v", wish, err)
		}
	}
}

func TestLinksLeaveValuesThatAreDeepOrBroken(t *testing.T) {
	t.Parallel()
	k := &kept{}
	for _, value := range []string{``, `null`, `"data"`, `{"data"`, strings.Repeat("[", 5000) + `"data"` + strings.Repeat("]", 5000), `{"type":"image","data":"no base64!"}`, `{"type":"image","data":7}`} {
		if got := k.links(context.Background(), json.RawMessage(value)); string(got) != value {
			t.Errorf("%.40s became %.40s", value, got)
		}
	}
}

// putsIn is the folder of a process that is to put artifacts there until it is killed.
const putsIn = "MCPX_TEST_PUTS"

// Whoever is killed while it puts an artifact into a folder leaves nothing there that looks
// whole and is not.
func TestAnArtifactIsInItsFolderWholeOrNotAtAll(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "out")
	told := 0
	for i := range 30 {
		c := programs.CommandContext(t.Context(), os.Args[0], "-test.run=^TestPutsUntilItIsKilled$")
		c.Env = append(os.Environ(), putsIn+"="+dir)
		out, err := c.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewReader(out)
		for range 1 + i%3 { // the first says that it begins
			if _, err := lines.ReadString('\n'); err != nil {
				t.Fatal(err)
			}
		}
		told += i % 3
		time.Sleep(rand.N(2 * time.Millisecond)) // somewhere in the middle; it makes no difference where
		if err := c.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = c.Wait() // it was killed
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	whole := 0
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), ".mcpx-") && strings.HasSuffix(e.Name(), ".part") {
			continue // it does not look whole
		}
		data, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil || !bytes.Equal(data, putData) {
			t.Errorf("%s has %d bytes, %v", e.Name(), len(data), err)
		}
		whole++
	}
	if whole < told {
		t.Errorf("%d are there, and %d were said to be", whole, told)
	}
}

// putData is what such a process puts.
var putData = bytes.Repeat([]byte("0123456789abcdef"), 16<<10)

func TestPutsUntilItIsKilled(t *testing.T) {
	t.Parallel()
	dir := os.Getenv(putsIn)
	if dir == "" {
		t.Skip("this is what another test starts")
	}
	fmt.Println("begins")
	for {
		if _, err := PutInto(dir, "a.bin", bytes.NewReader(putData)); err != nil {
			t.Fatal(err)
		}
		fmt.Println("put")
	}
}
