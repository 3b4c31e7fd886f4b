//go:build unix

package grant_test

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"mcpx/internal/fault"
	"mcpx/internal/grant"
)

// The tree of a test: what a path ending in a slash is a folder, a text that begins with
// -> a link, = another name of a file, | a pipe; any other is the text of a file.
type tree map[string]string

// plant makes a tree in a folder of its own, and returns the folder.
func plant(t *testing.T, files tree) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	paths := make([]string, 0, len(files))
	for path := range files {
		paths = append(paths, path)
	}
	slices.SortFunc(paths, func(a, b string) int { // other names come last
		return strings.Compare(files[a][:min(1, len(files[a]))]+"\x01"+a, files[b][:min(1, len(files[b]))]+"\x01"+b)
	})
	later := []string{}
	for _, path := range paths {
		if strings.HasPrefix(files[path], "=") {
			later = append(later, path)
			continue
		}
		grow(t, dir, path, files[path])
	}
	for _, path := range later {
		grow(t, dir, path, files[path])
	}
	return dir
}

func grow(t *testing.T, dir, path, text string) {
	t.Helper()
	at := filepath.Join(dir, path)
	err := os.MkdirAll(filepath.Dir(at), 0o777)
	if err == nil {
		switch {
		case strings.HasSuffix(path, "/"):
			err = os.MkdirAll(at, 0o777)
		case strings.HasPrefix(text, "->"):
			err = os.Symlink(strings.ReplaceAll(text[2:], "DIR", dir), at)
		case strings.HasPrefix(text, "="):
			err = os.Link(filepath.Join(dir, text[1:]), at)
		case text == "|":
			err = syscall.Mkfifo(at, 0o666)
		default:
			err = os.WriteFile(at, []byte(text), 0o666)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
}

// open makes a gate. Paths of the words are relative to base.
func open(t *testing.T, base string, read, write grant.Words) *grant.Files {
	t.Helper()
	absolute := func(paths []string) []string {
		var list []string
		for _, p := range paths {
			if p != grant.Any && !filepath.IsAbs(p) {
				p = filepath.Join(base, p)
			}
			list = append(list, p)
		}
		return list
	}
	words := func(w grant.Words) grant.Words {
		return grant.Words{Allow: absolute(w.Allow), Deny: absolute(w.Deny)}
	}
	f, err := grant.OpenFiles(base, grant.Set{Read: words(read), Write: words(write)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(f.Close)
	return f
}

func allow(paths ...string) grant.Words { return grant.Words{Allow: paths} }

// read reads a file through the gate.
func read(f *grant.Files, path string) (string, error) {
	file, err := f.Open(path, grant.How{Read: true})
	if err != nil {
		return "", err
	}
	defer file.Close()
	var b strings.Builder
	_, err = file.WriteTo(&b)
	return b.String(), err
}

func write(f *grant.Files, path, text string) error {
	return f.Replace(context.Background(), path, strings.NewReader(text), grant.How{Create: true, Truncate: true, Mode: 0o666})
}

// outcome is how an error reads in a table: its kind if that is denied, or its code.
func outcome(err error) string {
	switch {
	case err == nil:
		return ""
	case fault.KindOf(err) == fault.Denied:
		return "denied"
	}
	if code := grant.CodeOf(err); code != "" {
		return code
	}
	return err.Error()
}

func content(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestWhatIsReadAndWhatIsNot(t *testing.T) {
	t.Parallel()
	dir := plant(t, tree{
		"root/ok": "ok", "root/sub/deep/file": "deep", "root/link": "->sub/deep", "root/absolute": "->DIR/root/sub/deep/file", "root/other": "->../other/file",
		"root/to_secret": "->../secret", "root/to_secret_absolute": "->DIR/secret", "root/up": "->..", "root/loop": "->loop", "root/loop2/a": "->../loop2/a/b",
		"root/fifo": "|", "root/null": "->/dev/null", "root/proc": "->/proc/self/environ", "root/.hidden": "hidden", "root/a b~%2e": "odd", "root/hard": "=secret",
		"root/chain1": "->chain2", "root/chain2": "->sub/../chain3", "root/chain3": "->link/file", "root/dangling": "->nothing", "root/dir_link/": "", "root/file_slash": "->ok/",
		"rootsecret/x": "SECRET", "secret": "SECRET", "other/file": "other", "single/yes": "yes", "single/no": "SECRET", "linked": "->root",
	})
	f := open(t, filepath.Join(dir, "root"), allow(filepath.Join(dir, "root"), filepath.Join(dir, "other"), filepath.Join(dir, "single/yes")), grant.Words{})
	long := strings.Repeat("a", 5000)
	for _, test := range []struct{ path, want, fails string }{
		{path: "ok", want: "ok"},
		{path: "./ok", want: "ok"},
		{path: "sub//deep///file", want: "deep"},
		{path: "sub/../ok", want: "ok"},
		{path: "sub/deep/../../ok", want: "ok"},
		{path: "../root/ok", want: "ok"},
		{path: "../other/file", want: "other"},
		{path: "sub/deep/../../../other/file", want: "other"},
		{path: dir + "/root/ok", want: "ok"},
		{path: dir + "//root/./sub/../ok", want: "ok"},
		{path: dir + "/nothing/../root/ok", want: "ok"},
		{path: "link/file", want: "deep"},
		{path: "link/../deep/file", want: "deep"}, // as the system has it: the link first
		{path: "link/../ok", fails: "ENOENT"},
		{path: "absolute", want: "deep"},
		{path: "other", want: "other"},
		{path: "chain1", want: "deep"},
		{path: ".hidden", want: "hidden"},
		{path: "a b~%2e", want: "odd"},
		{path: "hard", want: "SECRET"}, // who can make it can read the file
		{path: "../single/yes", want: "yes"},
		{path: "up/root/ok", want: "ok"},

		{path: "../secret", fails: "denied"},
		{path: "../nothing", fails: "denied"},
		{path: "sub/../../secret", fails: "denied"},
		{path: dir + "/root/../secret", fails: "denied"},
		{path: dir + "/rootsecret/x", fails: "denied"},
		{path: "../rootsecret/x", fails: "denied"},
		{path: "..", fails: "denied"},
		{path: "/", fails: "denied"},
		{path: "/etc/passwd", fails: "denied"},
		{path: "//etc//passwd", fails: "denied"},
		{path: "../../../../../../../../etc/passwd", fails: "denied"},
		{path: "../single/no", fails: "denied"},
		{path: "../single", fails: "denied"},
		{path: "../single/", fails: "denied"},
		{path: "../single/yes/../no", fails: "ENOTDIR"},
		{path: "../single/nothing", fails: "denied"},
		{path: "to_secret", fails: "denied"},
		{path: "to_secret/", fails: "denied"},
		{path: "to_secret_absolute", fails: "denied"},
		{path: "up", fails: "denied"},
		{path: "up/", fails: "denied"},
		{path: "up/secret", fails: "denied"},
		{path: "up/secret/", fails: "denied"},
		{path: "up/nothing", fails: "denied"},
		{path: dir + "/linked/ok", fails: "denied"}, // text decides where to begin
		{path: "proc", fails: "denied"},
		{path: "null", fails: "denied"},
		{path: "fifo", fails: "denied"},
		{path: "/proc/self/root/etc/passwd", fails: "denied"},
		{path: "ok\x00", fails: "denied"},
		{path: "ok\x00/../../secret", fails: "denied"},

		{path: "loop", fails: "ELOOP"},
		{path: "loop2/a", fails: "ELOOP"},
		{path: "", fails: "ENOENT"},
		{path: "nothing", fails: "ENOENT"},
		{path: "dangling", fails: "ENOENT"},
		{path: "nothing/../ok", fails: "ENOENT"},
		{path: "ok/", fails: "ENOTDIR"},
		{path: "ok/.", fails: "ENOTDIR"},
		{path: "ok/..", fails: "ENOTDIR"},
		{path: "ok/x", fails: "ENOTDIR"},
		{path: "file_slash", fails: "ENOTDIR"},
		{path: "fifo/x", fails: "ENOTDIR"},
		{path: "../single/yes/x", fails: "ENOTDIR"},
		{path: long, fails: "ENAMETOOLONG"},
		{path: long[:300], fails: "ENAMETOOLONG"},
		{path: "/" + long, fails: "ENAMETOOLONG"},

		{path: "~/ok", fails: "ENOENT"},
		{path: "$HOME/ok", fails: "ENOENT"},
		{path: "%2e%2e/secret", fails: "ENOENT"},
		{path: "..%2fsecret", fails: "ENOENT"},
		{path: "..\\secret", fails: "ENOENT"},
		{path: "\uff0e\uff0e/secret", fails: "ENOENT"},
		{path: ".. /secret", fails: "ENOENT"},
		{path: "....//secret", fails: "ENOENT"},
		{path: "file://" + dir + "/root/ok", fails: "ENOENT"},
		{path: strings.Repeat("sub/../", 500) + "ok", want: "ok"},
		{path: strings.Repeat("sub/deep/../../", 270) + "../secret", fails: "denied"},
	} {
		got, err := read(f, test.path)
		if got != test.want || outcome(err) != test.fails {
			t.Errorf("read(%.60q) = %q, %v, want %q %s", test.path, got, err, test.want, test.fails)
		}
		if err != nil && (strings.Contains(err.Error(), dir) && !strings.Contains(test.path, dir) || len(err.Error()) > 400) {
			t.Errorf("the error for %.60q says too much: %v", test.path, err)
		}
	}
}

func TestWhatIsOutsideLooksTheSame(t *testing.T) {
	t.Parallel()
	dir := plant(t, tree{
		"root/": "", "there": "x", "folder/": "", "fifo": "|", "link": "->there", "dangling": "->gone", "dir/file": "",
		"root/l1": "->../there", "root/l2": "->../absent",
	})
	f := open(t, filepath.Join(dir, "root"), allow("."), allow("."))
	ctx := context.Background()
	acts := map[string]func(string) error{
		"open": func(p string) error { _, err := f.Open(p, grant.How{Read: true}); return err },
		"append": func(p string) error {
			_, err := f.Open(p, grant.How{Write: true, Append: true, Create: true})
			return err
		},
		"both": func(p string) error { _, err := f.Open(p, grant.How{Read: true, Write: true}); return err },
		"new": func(p string) error {
			_, err := f.Open(p, grant.How{Write: true, Create: true, Exclusive: true})
			return err
		},
		"list":     func(p string) error { _, err := f.Open(p, grant.How{Read: true, Directory: true}); return err },
		"nofollow": func(p string) error { _, err := f.Open(p, grant.How{Read: true, NoFollow: true}); return err },
		"write":    func(p string) error { return write(f, p, "x") },
		"stat":     func(p string) error { _, err := f.Stat(p, true); return err },
		"lstat":    func(p string) error { _, err := f.Stat(p, false); return err },
		"mkdir":    func(p string) error { return f.Mkdir(p, 0o777) },
		"mkdirs":   func(p string) error { _, err := f.MkdirAll(p, 0o777); return err },
		"mkdtemp":  func(p string) error { _, err := f.MkdirTemp(p); return err },
		"rmdir":    f.Rmdir,
		"unlink":   f.Unlink,
		"rm":       func(p string) error { return f.Remove(ctx, p, false, false) },
		"rm -r":    func(p string) error { return f.Remove(ctx, p, true, false) },
		"rm -rf":   func(p string) error { return f.Remove(ctx, p, true, true) },
		"from":     func(p string) error { return f.Rename(p, "new") },
		"access":   func(p string) error { return f.Access(p, 0) },
		"writable": func(p string) error { return f.Access(p, 2) },
		"realpath": func(p string) error { _, err := f.Realpath(p); return err },
		"readlink": func(p string) error { _, err := f.Readlink(p); return err },
	}
	grow(t, dir, "root/mine", "")
	acts["to"] = func(p string) error { return f.Rename("mine", p) }
	harmless := map[string]bool{"open": true, "list": true, "nofollow": true, "stat": true, "lstat": true, "access": true, "writable": true, "realpath": true, "readlink": true}
	for name, act := range acts {
		said := map[string]string{}
		paths := []string{"../there", "../absent", "../folder", "../fifo", "../link", "../dangling", "../dir/file", "../absent/file", "../there/", "../there/x", "..", dir + "/there", dir + "/absent", dir}
		if harmless[name] { // a gate with a fault would let the others do harm
			paths = append(paths, "/etc/passwd", "/etc/absent", "/root/x", "/")
		}
		for _, path := range paths {
			if name == "mkdtemp" && path == ".." {
				continue // which is a name in the folder that begins so
			}
			err := act(path)
			if outcome(err) != "denied" {
				t.Errorf("%s(%q) = %v, want a denial", name, path, err)
				continue
			}
			e := fault.From(err)
			b, err := json.Marshal(e)
			if err != nil {
				t.Fatal(err)
			}
			quoted, _ := json.Marshal(path)
			said[strings.ReplaceAll(strings.ReplaceAll(string(b), strings.Trim(string(quoted), `"`), "PATH"), path, "PATH")] = path
		}
		if len(said) != 1 {
			t.Errorf("%s says %d different things of what is outside: %v", name, len(said), said)
		}
	}
	for _, path := range []string{"l1", "l2"} { // links that lead there
		if _, err := read(f, path); outcome(err) != "denied" || strings.Contains(err.Error(), "there") || strings.Contains(err.Error(), "absent") {
			t.Errorf("read(%q) = %v", path, err)
		}
		if text, err := f.Readlink(path); outcome(err) != "denied" {
			t.Errorf("Readlink(%q) = %q, %v, want a denial", path, text, err)
		}
	}
	if got := content(t, filepath.Join(dir, "there")); got != "x" {
		t.Errorf("what is outside became %q", got)
	}
}

func TestNothingIsGrantedByDefault(t *testing.T) {
	t.Parallel()
	dir := plant(t, tree{"f": "x"})
	for name, f := range map[string]*grant.Files{
		"the zero set":  open(t, dir, grant.Words{}, grant.Words{}),
		"all of it off": open(t, dir, grant.Words{Allow: []string{"."}, Deny: []string{grant.Any}}, grant.Words{Allow: []string{grant.Any}, Deny: []string{grant.Any}}),
		"another":       open(t, dir, allow("nothing"), allow("nothing")),
	} {
		if _, err := read(f, "f"); outcome(err) != "denied" {
			t.Errorf("%s: read: %v", name, err)
		}
		if err := write(f, "f", "y"); outcome(err) != "denied" {
			t.Errorf("%s: write: %v", name, err)
		}
	}
	if got := content(t, filepath.Join(dir, "f")); got != "x" {
		t.Errorf("the file became %q", got)
	}
}

func TestReadingIsNotWriting(t *testing.T) {
	t.Parallel()
	dir := plant(t, tree{"in/f": "in", "out/f": "out", "both/f": "both"})
	f := open(t, dir, allow("in", "both"), allow("out", "both"))
	ctx := context.Background()
	// grant, of a denial.
	of := func(err error) string {
		e, ok := errors.AsType[*fault.Error](err)
		if !ok || e.Kind != fault.Denied {
			return outcome(err)
		}
		g, _ := e.Details["grant"].(string)
		return g
	}
	close := func(file *os.File, err error) error {
		if err == nil {
			file.Close()
		}
		return err
	}
	for _, test := range []struct {
		name string
		do   func(path string) error
		want [3]string // for in, out, both
	}{
		{"read", func(p string) error { _, err := read(f, p); return err }, [3]string{"", "read", ""}},
		{"stat", func(p string) error { _, err := f.Stat(p, true); return err }, [3]string{"", "read", ""}},
		{"exists", func(p string) error { return f.Access(p, 0) }, [3]string{"", "read", ""}},
		{"realpath", func(p string) error { _, err := f.Realpath(p); return err }, [3]string{"", "read", ""}},
		{"writable", func(p string) error { return f.Access(p, 2) }, [3]string{"write", "", ""}},
		{"readable and writable", func(p string) error { return f.Access(p, 6) }, [3]string{"write", "read", ""}},
		{"write", func(p string) error { return write(f, p, "new") }, [3]string{"write", "", ""}},
		{"append", func(p string) error { return close(f.Open(p, grant.How{Write: true, Append: true})) }, [3]string{"write", "", ""}},
		{"r+", func(p string) error { return close(f.Open(p, grant.How{Read: true, Write: true})) }, [3]string{"write", "read", ""}},
		{"a+ of a new file", func(p string) error {
			return close(f.Open(p+"2", grant.How{Read: true, Write: true, Append: true, Create: true, Mode: 0o666}))
		}, [3]string{"write", "read", ""}},
		{"mkdir", func(p string) error { return f.Mkdir(p+"d", 0o777) }, [3]string{"write", "", ""}},
		{"rmdir", func(p string) error { return f.Rmdir(p + "d") }, [3]string{"write", "", ""}},
		{"rename", func(p string) error { return f.Rename(p, "both/renamed") }, [3]string{"write", "read", ""}},
		{"rename into", func(p string) error { return f.Rename("both/renamed", p) }, [3]string{"write", "", "ENOENT"}},
		{"remove", func(p string) error { return f.Remove(ctx, p, false, true) }, [3]string{"write", "", ""}},
	} {
		for i, path := range []string{"in/f", "out/f", "both/f"} {
			if got := of(test.do(path)); got != test.want[i] {
				t.Errorf("%s of %s: %q, want %q", test.name, path, got, test.want[i])
			}
		}
	}
	if got := content(t, filepath.Join(dir, "in/f")); got != "in" {
		t.Errorf("what could only be read became %q", got)
	}
}

func TestWritingThroughLinks(t *testing.T) {
	t.Parallel()
	start := tree{
		"root/f": "old", "root/inner": "->f", "root/out": "->../victim", "root/new": "->../made", "root/dir_out": "->..", "root/hard": "=victim", "root/fifo": "|",
		"root/d/": "", "root/dangling": "->made_inside", "root/null": "->/dev/null", "victim": "VICTIM",
	}
	appended := func(f *grant.Files, path string) error {
		file, err := f.Open(path, grant.How{Write: true, Append: true, Create: true, Mode: 0o666})
		if err == nil {
			_, err = file.WriteString("+")
			file.Close()
		}
		return err
	}
	emptied := func(f *grant.Files, path string) error {
		file, err := f.Open(path, grant.How{Write: true, Truncate: true, Create: true, Mode: 0o666})
		if err == nil {
			_, err = file.WriteString("stream")
			file.Close()
		}
		return err
	}
	inPlace := func(f *grant.Files, path string) error {
		file, err := f.Open(path, grant.How{Write: true})
		if err == nil {
			_, err = file.WriteString("P")
			file.Close()
		}
		return err
	}
	fresh := func(f *grant.Files, path string) error {
		file, err := f.Open(path, grant.How{Write: true, Create: true, Exclusive: true, Mode: 0o666})
		if err == nil {
			file.Close()
		}
		return err
	}
	whole := func(f *grant.Files, path string) error { return write(f, path, "whole") }
	for _, test := range []struct {
		name, path  string
		do          func(*grant.Files, string) error
		fails       string
		file, after string // what is in a file of root then
	}{
		{"a link inside is followed", "inner", whole, "", "f", "whole"},
		{"a link inside is followed by a stream", "inner", emptied, "", "f", "stream"},
		{"a link inside is followed to append", "inner", appended, "", "f", "old+"},
		{"a link to what is not there yet", "dangling", whole, "", "made_inside", "whole"},
		{"a link out", "out", whole, "denied", "", ""},
		{"a link out, appended", "out", appended, "denied", "", ""},
		{"a link out, in place", "out", inPlace, "denied", "", ""},
		{"a link out to what is not there", "new", whole, "denied", "", ""},
		{"a link out to what is not there, appended", "new", appended, "denied", "", ""},
		{"a new file where a link is", "new", fresh, "EEXIST", "", ""},
		{"a linked folder", "dir_out/victim", whole, "denied", "", ""},
		{"a linked folder, new", "dir_out/made", whole, "denied", "", ""},
		{"another name is cut off", "hard", whole, "", "hard", "whole"},
		{"another name is cut off by a stream", "hard", emptied, "", "hard", "stream"},
		{"another name, appended", "hard", appended, "denied", "", ""},
		{"another name, in place", "hard", inPlace, "denied", "", ""},
		{"a pipe", "fifo", whole, "denied", "", ""},
		{"a pipe, appended", "fifo", appended, "denied", "", ""},
		{"a device", "null", whole, "denied", "", ""},
		{"a folder", "d", whole, "EISDIR", "", ""},
		{"a folder, appended", "d", appended, "EISDIR", "", ""},
		{"a folder that is not there", "x/", whole, "EISDIR", "", ""},
		{"a file as a folder", "f/x", whole, "ENOTDIR", "", ""},
	} {
		dir := plant(t, start)
		f := open(t, filepath.Join(dir, "root"), grant.Words{}, allow("."))
		err := test.do(f, test.path)
		if outcome(err) != test.fails {
			t.Errorf("%s: %v, want %q", test.name, err, test.fails)
		}
		if test.file != "" {
			if got := content(t, filepath.Join(dir, "root", test.file)); got != test.after {
				t.Errorf("%s: %s is %q, want %q", test.name, test.file, got, test.after)
			}
		}
		if got := content(t, filepath.Join(dir, "victim")); got != "VICTIM" {
			t.Errorf("%s: what is outside became %q", test.name, got)
		}
		if _, err := os.Lstat(filepath.Join(dir, "made")); err == nil {
			t.Errorf("%s: a file was made outside", test.name)
		}
		if left := names(t, filepath.Join(dir, "root"), ".tmp"); len(left) > 0 {
			t.Errorf("%s: left %v", test.name, left)
		}
	}
}

// names returns the names in a folder that end with a text.
func names(t *testing.T, dir, end string) (found []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), end) {
			found = append(found, e.Name())
		}
	}
	return found
}

func TestReplacingKeepsTheModeAndLeavesNothing(t *testing.T) {
	t.Parallel()
	dir := plant(t, tree{"f": "old", "one": "old"})
	for _, name := range []string{"f", "one"} {
		if err := os.Chmod(filepath.Join(dir, name), 0o640); err != nil {
			t.Fatal(err)
		}
	}
	f := open(t, dir, grant.Words{}, allow("f", "new"))
	reader, err := os.Open(filepath.Join(dir, "f"))
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	if err := write(f, "f", "new"); err != nil {
		t.Fatal(err)
	}
	if err := f.Replace(context.Background(), "new", strings.NewReader("x"), grant.How{Create: true, Mode: 0o600}); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]fs.FileMode{"f": 0o640, "new": 0o600} {
		if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.Mode() != want {
			t.Errorf("%s: %v, %v, want %v", name, info.Mode(), err, want)
		}
	}
	b := make([]byte, 3)
	if _, err := reader.Read(b); err != nil || string(b) != "old" {
		t.Errorf("who had the file open reads %q, %v, want the old one", b, err)
	}
	failing := errors.New("the source broke")
	err = f.Replace(context.Background(), "f", &breaks{failing}, grant.How{Create: true, Mode: 0o666})
	if err == nil || content(t, filepath.Join(dir, "f")) != "new" {
		t.Errorf("a text that breaks off: %v, and the file is %q", err, content(t, filepath.Join(dir, "f")))
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(failing)
	if err := f.Replace(ctx, "f", strings.NewReader("later"), grant.How{Create: true}); err == nil || content(t, filepath.Join(dir, "f")) != "new" {
		t.Errorf("after the end: %v, and the file is %q", err, content(t, filepath.Join(dir, "f")))
	}
	if err := write(f, "one", "x"); outcome(err) != "denied" {
		t.Errorf("a file beside a granted one: %v", err)
	}
	if left := names(t, dir, ".tmp"); len(left) > 0 {
		t.Errorf("left %v", left)
	}
}

// breaks is a text that breaks off after some of it.
type breaks struct{ err error }

func (b *breaks) Read(p []byte) (int, error) { return copy(p, "part"), b.err }

func TestWhatIsNotThereYet(t *testing.T) {
	t.Parallel()
	dir := plant(t, tree{"f": ""})
	f := open(t, dir, allow("out"), allow("out", "new.json", "a/b/deep", "a/b/file.txt"))
	ctx := context.Background()
	step := func(name string, err error, want string) {
		t.Helper()
		if outcome(err) != want {
			t.Errorf("%s: %v, want %q", name, err, want)
		}
	}
	_, err := read(f, "out/f")
	step("read in it", err, "ENOENT")
	step("write in it", write(f, "out/f", "x"), "ENOENT")
	step("write it", write(f, "new.json", "{}"), "")
	step("write beside it", write(f, "new.json2", "{}"), "denied")
	step("make what is beside it", f.Mkdir("out2", 0o777), "denied")
	step("make what is above it", f.Mkdir("a", 0o777), "denied")
	_, err = f.MkdirAll("a", 0o777)
	step("make what is above it, with all above", err, "denied")
	_, err = f.MkdirAll("a/b", 0o777)
	step("make what is right above it", err, "denied")
	step("make it where the folder above is missing", f.Mkdir("a/b/deep", 0o777), "ENOENT")
	first, err := f.MkdirAll("a/b/deep/er", 0o777)
	step("make it with all above", err, "")
	if want := filepath.Join(dir, "a"); first != want {
		t.Errorf("the first folder made is %q, want %q", first, want)
	}
	step("a file in it", write(f, "a/b/deep/er/f", "x"), "")
	step("a file of the same folder", write(f, "a/b/file.txt", "x"), "")
	step("a file beside it", write(f, "a/b/other.txt", "x"), "denied")
	step("from it to what is beside it", write(f, "a/b/deep/../other.txt", "x"), "denied")
	step("make it", f.Mkdir("out", 0o777), "")
	step("make it again", f.Mkdir("out", 0o777), "EEXIST")
	step("write in it now", write(f, "out/f", "x"), "")
	step("remove it", f.Remove(ctx, "out", true, false), "")
	step("make it once more", f.Mkdir("out", 0o777), "")
	step("write in it once more", write(f, "out/g", "x"), "")
	text, err := read(f, "out/g")
	step("read it", err, "")
	if text != "x" {
		t.Errorf("read %q", text)
	}
	if got := names(t, filepath.Join(dir, "a/b"), ""); !slices.Equal(got, []string{"deep", "file.txt"}) {
		t.Errorf("in a/b are %v", got)
	}
}

func TestAGrantedNameThatBecomesALink(t *testing.T) {
	t.Parallel()
	dir := plant(t, tree{"a/l": "->../secret", "a/near": "->secret", "a/d/l": "->..", "secret/f": "SECRET"})
	f := open(t, dir, allow("a", "b", "c", "a/d/secret"), allow("a", "b", "c"))
	if err := f.Rename("a/near", "c"); err != nil {
		t.Fatal(err)
	}
	if err := f.Rename("a/l", "b"); err != nil { // a script has no links but those it finds
		t.Fatal(err)
	}
	for _, path := range []string{"b", "b/f", "b/", "c", "c/f"} {
		if got, err := read(f, path); outcome(err) != "denied" {
			t.Errorf("read(%q) = %q, %v, want a denial", path, got, err)
		}
	}
	// Nor may it choose where a grant begins that is not in use yet.
	lazy := plant(t, tree{"x/l": "->../outside", "a/d/": "", "outside/secret/f": "SECRET"})
	g := open(t, lazy, allow("x", "a/d/secret"), allow("x", "a"))
	if err := g.Rmdir("a/d"); err != nil {
		t.Fatal(err)
	}
	if err := g.Rename("x/l", "a/d"); err != nil {
		t.Fatal(err)
	}
	if got, err := read(g, "a/d/secret/f"); outcome(err) != "denied" {
		t.Errorf("a grant that was turned elsewhere before it was used = %q, %v, want a denial", got, err)
	}
	if err := f.Rename("a/d", "a/e"); err != nil {
		t.Fatal(err)
	}
	if err := f.Rename("a/e/l", "a/d"); err != nil {
		t.Fatal(err)
	}
	only := open(t, dir, allow("a/d/secret"), allow("a"))
	if got, err := read(only, "a/d/secret/f"); err != nil || got != "SECRET" {
		t.Errorf("a grant through a link of the user's = %q, %v", got, err)
	}
	if got, err := read(f, "a/d/secret/f"); outcome(err) != "denied" {
		t.Errorf("a grant that was turned elsewhere = %q, %v, want a denial", got, err)
	}
}

func TestWhatIsTakenAwayInside(t *testing.T) {
	t.Parallel()
	start := tree{
		"root/open/f": "ok", "root/secret/deep/f": "SECRET", "root/link": "->secret", "root/link2": "->open/../secret/deep/f", "root/key": "KEY", "root/keylink": "->key",
		"root/other": "=root/key", "root/a/b/c/f": "C", "root/a/keep": "keep", "root/a/k1": "", "root/a/k2": "", "root/a/k3": "", "root/a/k4": "", "root/a/k5": "", "root/a/k6": "", "root/a/b/keep": "keep", "root/a/b/m1": "", "root/a/b/m2": "", "root/a/b/m3": "", "root/a/b/z": "", "alias": "->root",
	}
	deny := []string{"secret", "key", "a/b/c", "later", "open/../open/none"}
	for name, words := range map[string]grant.Words{
		"a folder":   {Allow: []string{"."}, Deny: deny},
		"everything": {Allow: []string{grant.Any}, Deny: deny},
		"through a link": {Allow: []string{"."}, Deny: []string{
			"../alias/secret", "../alias/key", "../alias/a/b/c", "../alias/later", "../alias/open/none",
		}},
		"what is inside is granted again": {Allow: []string{".", "secret/deep", "a/b/c/f"}, Deny: deny},
	} {
		dir := plant(t, start)
		root := filepath.Join(dir, "root")
		f := open(t, root, words, words)
		ctx := context.Background()
		for _, path := range []string{
			"secret", "secret/", "secret/deep/f", "secret/nothing", "./open/../secret/deep/f", "link", "link/deep/f", "link2", "key", "keylink", "other", "a/b/c", "a/b/c/f", "later", "later/x", "LATER", "open/none",
			root + "/secret/deep/f", "../root/secret/deep/f",
		} {
			if path == "LATER" {
				continue // another name where names differ by case; made below where they do not
			}
			for act, err := range map[string]error{
				"read":   func() error { _, err := read(f, path); return err }(),
				"stat":   func() error { _, err := f.Stat(path, true); return err }(),
				"write":  write(f, path, "changed"),
				"mkdir":  func() error { _, err := f.MkdirAll(path+"/more", 0o777); return err }(),
				"access": f.Access(path, 0),
			} {
				if outcome(err) != "denied" {
					t.Errorf("%s: %s(%q) = %v, want a denial", name, act, path, err)
				}
			}
		}
		for act, err := range map[string]error{
			"rm it":                    f.Remove(ctx, "secret", true, false),
			"rm above it":              f.Remove(ctx, "a", true, false),
			"rename it":                f.Rename("key", "mine"),
			"rename above it":          f.Rename("a", "z"),
			"rename right above it":    f.Rename("a/b", "z"),
			"rename onto it":           f.Rename("open/f", "key"),
			"rename to what may be":    f.Rename("open/f", "later"),
			"unlink it":                f.Unlink("key"),
			"rmdir it":                 f.Rmdir("a/b/c"),
			"truncate it":              func() error { _, err := f.Open("key", grant.How{Write: true, Truncate: true}); return err }(),
			"make it":                  f.Mkdir("later", 0o777),
			"make it with all above":   func() error { _, err := f.MkdirAll("later/x", 0o777); return err }(),
			"make a file of that name": func() error { _, err := f.Open("later", grant.How{Write: true, Create: true}); return err }(),
		} {
			if outcome(err) != "denied" {
				t.Errorf("%s: %s: %v, want a denial", name, act, err)
			}
		}
		if got := content(t, filepath.Join(root, "secret/deep/f")) + content(t, filepath.Join(root, "key")) + content(t, filepath.Join(root, "a/b/c/f")) + content(t, filepath.Join(root, "a/keep")) + content(t, filepath.Join(root, "a/b/keep")); got != "SECRETKEYCkeepkeep" {
			t.Errorf("%s: what was taken away became %q", name, got)
		}
		if left := len(names(t, filepath.Join(root, "a"), "")) + len(names(t, filepath.Join(root, "a/b"), "")); left != 8+6 {
			t.Errorf("%s: of what is beside it %d are left, want 14", name, left)
		}
		if _, err := os.Lstat(filepath.Join(root, "later")); err == nil {
			t.Errorf("%s: what was taken away was made", name)
		}
		if got, err := read(f, "open/f"); got != "ok" || err != nil {
			t.Errorf("%s: what is beside it = %q, %v", name, got, err)
		}
		if err := f.Rename("open", "opened"); outcome(err) != "denied" { // open/none lies below it
			t.Errorf("%s: rename above what may be = %v", name, err)
		}
		if err := write(f, "open/g", "g"); err != nil {
			t.Errorf("%s: writing beside it: %v", name, err)
		}
		// It stays away where somebody else moves it, as does what takes its place.
		grow(t, root, "elsewhere/", "")
		if err := os.Rename(filepath.Join(root, "key"), filepath.Join(root, "elsewhere/key")); err != nil {
			t.Fatal(err)
		}
		if err := f.Remove(ctx, "elsewhere", true, false); outcome(err) != "denied" || content(t, filepath.Join(root, "elsewhere/key")) != "KEY" {
			t.Errorf("%s: removing where it was moved = %v, want a denial", name, err)
		}
		grow(t, root, "key", "NEW")
		if got, err := read(f, "key"); outcome(err) != "denied" {
			t.Errorf("%s: what took its place = %q, %v, want a denial", name, got, err)
		}
	}
}

func TestWhatIsGrantedInsideWhatWasTakenAway(t *testing.T) {
	t.Parallel()
	dir := plant(t, tree{"secret/deep/f": "SECRET", "link": "->secret"})
	for _, deny := range []string{"secret", "link"} {
		words := grant.Words{Allow: []string{"secret/deep", "secret/deep/f", "secret/new"}, Deny: []string{deny}}
		f := open(t, dir, words, words)
		for _, path := range []string{"secret/deep/f", "secret/deep"} {
			if _, err := read(f, path); outcome(err) != "denied" {
				t.Errorf("read(%q) = %v, want a denial", path, err)
			}
		}
		if err := write(f, "secret/new", "x"); outcome(err) != "denied" {
			t.Errorf("write = %v, want a denial", err)
		}
	}
}

func TestADenialOfWritingLeavesReading(t *testing.T) {
	t.Parallel()
	dir := plant(t, tree{"node_modules/m": "m", "f": "f"})
	f := open(t, dir, allow("."), grant.Words{Allow: []string{"."}, Deny: []string{"node_modules"}})
	if got, err := read(f, "node_modules/m"); got != "m" || err != nil {
		t.Errorf("read = %q, %v", got, err)
	}
	if err := write(f, "node_modules/m", "x"); outcome(err) != "denied" {
		t.Errorf("write = %v, want a denial", err)
	}
	if err := f.Remove(context.Background(), ".", true, false); outcome(err) != "EINVAL" {
		t.Errorf("removing the working directory = %v, want EINVAL", err)
	}
	if got := content(t, filepath.Join(dir, "node_modules/m")); got != "m" {
		t.Errorf("became %q", got)
	}
}

func TestKernelFileSystemsAreNotFiles(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("only Linux has them as files")
	}
	dir := plant(t, tree{"link": "->/proc/self", "root": "->/proc/self/root"})
	for name, words := range map[string]grant.Words{
		"the root": allow("/"), "everything": allow(grant.Any), "by name": allow("/proc", "/sys"), "below the name": allow("/proc/self", "/proc/1", "/sys/kernel"), "everything but": {Allow: []string{grant.Any}, Deny: []string{"/opt/nothing"}},
	} {
		f := open(t, dir, words, words)
		for _, path := range []string{
			"/proc/self/environ", "/proc/self/mem", "/proc/self/root/etc/passwd", "/proc/self/cwd", "/proc/self/fd/0", "/proc/self/exe", "/proc/1/status", "/proc", "/proc/", "/proc/absent", "/proc/self/absent",
			"/sys/kernel", "/sys/kernel/absent", "/../proc/self/environ", "/etc/../proc/self/environ", "/proc/self/task/../environ", "link/environ", "root/etc/passwd",
		} {
			if name == "everything" && strings.HasSuffix(path, "/etc/passwd") {
				continue // a file like others, if by another name
			}
			if got, err := read(f, path); outcome(err) != "denied" {
				t.Errorf("%s: read(%q) = %.20q, %v, want a denial", name, path, got, err)
			}
			if _, err := f.Stat(path, true); outcome(err) != "denied" {
				t.Errorf("%s: stat(%q) = %v, want a denial", name, path, err)
			}
		}
		if err := write(f, "/proc/self/comm", "x"); outcome(err) != "denied" {
			t.Errorf("%s: write to /proc = %v, want a denial", name, err)
		}
		if _, err := f.MkdirAll("/proc/self/x/y", 0o777); outcome(err) != "denied" {
			t.Errorf("%s: mkdir in /proc = %v, want a denial", name, err)
		}
		for _, path := range []string{"/dev/zero", "/dev/null", "/dev/tty", "/dev/stdin"} {
			if _, err := read(f, path); outcome(err) != "denied" {
				t.Errorf("%s: read(%q) = %v, want a denial", name, path, err)
			}
		}
		if strings.HasSuffix(name, "name") {
			continue
		}
		if got, err := read(f, "/etc/passwd"); err != nil || got == "" {
			t.Errorf("%s: /etc/passwd = %d bytes, %v", name, len(got), err)
		}
	}
	f, err := grant.OpenFiles(dir, grant.Set{Everything: true, Read: allow(grant.Any), Write: allow(grant.Any)})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for _, path := range []string{"/proc/self/status", "link/status", "/dev/null"} {
		if got, err := read(f, path); err != nil || got == "" && path != "/dev/null" {
			t.Errorf("everything and the kernel's: read(%q) = %.20q, %v", path, got, err)
		}
	}
	if err := write(f, "/dev/null", "x"); err != nil {
		t.Errorf("write to /dev/null: %v", err)
	}
}

// swapper returns what swaps a name in a folder for a link, and back, until it is stopped.
func swapper(t *testing.T, root string) (swap func(name, target string), stop func()) {
	var swaps sync.WaitGroup
	stopped := make(chan struct{})
	swap = func(name, target string) {
		at, aside, link := filepath.Join(root, name), filepath.Join(root, name+".aside"), filepath.Join(root, name+".link")
		if err := os.Symlink(target, link); err != nil {
			t.Fatal(err)
		}
		swaps.Go(func() {
			for {
				select {
				case <-stopped:
					return
				default:
				}
				_ = os.Rename(at, aside)
				_ = os.Rename(link, at)
				_ = os.Rename(at, link)
				_ = os.Rename(aside, at)
			}
		})
	}
	stop = sync.OnceFunc(func() {
		close(stopped)
		swaps.Wait()
	})
	t.Cleanup(stop)
	return swap, stop
}

// os.Root alone would follow a link that stays inside, to what was taken away there.
func TestSwapsForLinksInside(t *testing.T) {
	t.Parallel()
	dir := plant(t, tree{"dir/f": "inside", "taken/f": "SECRET", "file": "inside", "key": "SECRET"})
	f := open(t, dir, grant.Words{Allow: []string{"."}, Deny: []string{"taken", "key"}}, grant.Words{})
	swap, stop := swapper(t, dir)
	defer stop()
	swap("dir", "taken")
	swap("file", "key")
	for _, path := range []string{"dir/f", "file"} {
		hits := 0
		for i, end := 0, time.Now().Add(time.Second); time.Now().Before(end) || hits == 0 && i < 10000; i++ {
			switch got, _ := read(f, path); got {
			case "SECRET":
				t.Fatalf("%s leaked what was taken away in round %d", path, i)
			case "inside":
				hits++
			}
		}
		if hits == 0 {
			t.Errorf("never read %s at all: nothing was tried", path)
		}
	}
}

func TestSwapsByAnotherProcess(t *testing.T) {
	t.Parallel()
	dir := plant(t, tree{
		"root/real/f": "inside", "out/f": "SECRET", "root/d/x/f": "inside", "root/w/": "", "out/w/": "", "root/del/": "", "out/del/keep": "x",
	})
	root := filepath.Join(dir, "root")
	swap, stop := swapper(t, root)
	swap("real", filepath.Join("..", "out"))
	swap("w", filepath.Join(dir, "out", "w"))
	swap("d", filepath.Join("..", "out"))
	swap("del", filepath.Join("..", "out", "del"))
	f := open(t, root, allow("."), allow("."))
	hits := 0
	for i, end := 0, time.Now().Add(time.Second); time.Now().Before(end) || hits == 0 && i < 10000; i++ {
		if got, _ := read(f, "real/f"); got == "SECRET" {
			t.Fatalf("leaked in round %d", i)
		} else if got == "inside" {
			hits++
		}
		_ = write(f, "w/f", "x")
		_ = f.Mkdir("w/dir", 0o777)
		_, _ = f.MkdirAll("w/a/b", 0o777)
		if info, err := f.Stat("d/f", true); err == nil {
			t.Fatalf("saw what is outside in round %d: %v", i, info.Name())
		}
		if i%16 == 0 {
			_ = f.Remove(context.Background(), "del", true, true)
			_ = os.Mkdir(filepath.Join(root, "del"), 0o777)
		}
	}
	stop()
	if hits == 0 {
		t.Error("never read the file at all: nothing was tried")
	}
	if made := names(t, filepath.Join(dir, "out", "w"), ""); len(made) > 0 {
		t.Errorf("made outside: %v", made)
	}
	if got := content(t, filepath.Join(dir, "out/del/keep")); got != "x" {
		t.Errorf("what is outside became %q", got)
	}
}

func TestRemovingFollowsNoLink(t *testing.T) {
	t.Parallel()
	dir := plant(t, tree{
		"root/d/out": "->../../victim", "root/d/outdir": "->../..", "root/d/deep/er/f": "x", "root/d/fifo": "|", "root/d/.hidden/x": "", "root/link": "->../victims", "victim": "V", "victims/f": "V",
		"root/many/": "",
	})
	for i := range 1200 {
		grow(t, dir, "root/many/"+strings.Repeat("n", 1+i%50)+string(rune('a'+i%26))+strings.Repeat("m", i/50), "")
	}
	root := filepath.Join(dir, "root")
	f := open(t, root, allow("."), allow("."))
	ctx := context.Background()
	if err := f.Remove(ctx, "d", false, false); outcome(err) != "EISDIR" {
		t.Errorf("a folder = %v, want EISDIR", err)
	}
	for _, path := range []string{"d", "link/", "many"} {
		if err := f.Remove(ctx, path, true, false); err != nil {
			t.Errorf("remove(%q): %v", path, err)
		}
	}
	if err := f.Remove(ctx, "d", true, false); outcome(err) != "ENOENT" {
		t.Errorf("again = %v, want ENOENT", err)
	}
	if err := f.Remove(ctx, "d/x", true, true); err != nil {
		t.Errorf("force: %v", err)
	}
	if left := names(t, root, ""); len(left) > 0 {
		t.Errorf("left %v", left)
	}
	if got := content(t, filepath.Join(dir, "victim")) + content(t, filepath.Join(dir, "victims/f")); got != "VV" {
		t.Errorf("what is outside became %q", got)
	}
	grow(t, root, "more/f", "")
	ended, cancel := context.WithCancel(ctx)
	cancel()
	if err := f.Remove(ended, "more", true, false); !errors.Is(err, context.Canceled) {
		t.Errorf("after the end = %v", err)
	}
}

func TestRenaming(t *testing.T) {
	t.Parallel()
	dir := plant(t, tree{"a/f": "f", "a/d/g": "g", "b/f": "old", "b/d/": "", "b/full/x": "", "b/fifo": "|", "b/link": "->f", "out/": ""})
	f := open(t, dir, allow("a", "b"), allow("a", "b"))
	for _, test := range []struct{ from, to, fails string }{
		{"a/f", "out/f", "denied"},
		{"a/f", "f", "denied"},
		{"a/f", "b/fifo", "denied"},
		{"a/none", "b/x", "ENOENT"},
		{"a/f", "b/none/x", "ENOENT"},
		{"a/f", "b/d", "EISDIR"},
		{"a/d/.", "b/new", "EBUSY"},
		{"a/d", "b/full/..", "EBUSY"},
		{"a/f", "b/x/", "ENOTDIR"},
		{"a/d", "b/full", "ENOTEMPTY"},
		{"a/d", "b/f", "ENOTDIR"},
		{"a/d", "a/d/e", "EINVAL"},
		{"a/f", "b/f", ""},
		{"a/d", "b/d", ""},
		{"b/d/g", "b/link", ""}, // the link is replaced, not what it leads to
		{"b/full", "b/moved", ""},
	} {
		if err := f.Rename(test.from, test.to); outcome(err) != test.fails {
			t.Errorf("Rename(%q, %q) = %v, want %q", test.from, test.to, err, test.fails)
		}
	}
	if got := content(t, filepath.Join(dir, "b/f")) + content(t, filepath.Join(dir, "b/link")); got != "fg" {
		t.Errorf("files are %q", got)
	}
}

func TestLooking(t *testing.T) {
	t.Parallel()
	dir := plant(t, tree{"root/d/f": "text", "root/link": "->d/f", "root/dirlink": "->d", "root/away": "->../f", "root/fifo": "|", "root/gone": "->nothing", "f": ""})
	f := open(t, filepath.Join(dir, "root"), allow("."), allow("."))
	info, err := f.Stat("link", true)
	if err != nil || info.Size() != 4 || !info.Mode().IsRegular() {
		t.Errorf("Stat(link) = %v, %v", info, err)
	}
	if runtime.GOOS == "linux" && info.Birth.IsZero() {
		t.Log("this file system does not say when a file was made")
	}
	if info, err := f.Stat("link", false); err != nil || info.Mode().Type() != fs.ModeSymlink {
		t.Errorf("Stat(link) itself = %v, %v", info, err)
	}
	if info, err := f.Stat("away", false); err != nil || info.Mode().Type() != fs.ModeSymlink {
		t.Errorf("a link that leads away is there = %v, %v", info, err)
	}
	if info, err := f.Stat("fifo", true); err != nil || info.Mode().Type() != fs.ModeNamedPipe {
		t.Errorf("a pipe is there = %v, %v", info, err)
	}
	if info, err := f.Stat(".", true); err != nil || !info.IsDir() {
		t.Errorf("Stat(.) = %v, %v", info, err)
	}
	root := filepath.Join(dir, "root")
	for path, want := range map[string]string{"link": root + "/d/f", "dirlink/f": root + "/d/f", ".": root, "d/..": root, "dirlink/": root + "/d", root: root} {
		if got, err := f.Realpath(path); got != want || err != nil {
			t.Errorf("Realpath(%q) = %q, %v, want %q", path, got, err, want)
		}
	}
	for path, want := range map[string]string{"link": "d/f", "gone": "nothing"} {
		if got, err := f.Readlink(path); got != want || err != nil {
			t.Errorf("Readlink(%q) = %q, %v, want %q", path, got, err, want)
		}
	}
	if _, err := f.Readlink("d"); outcome(err) != "EINVAL" {
		t.Errorf("Readlink(d) = %v, want EINVAL", err)
	}
	if _, err := f.Open("link", grant.How{Read: true, NoFollow: true}); outcome(err) != "ELOOP" {
		t.Errorf("a link that is not followed = %v, want ELOOP", err)
	}
	if _, err := f.Open("d/f", grant.How{Read: true, Directory: true}); outcome(err) != "ENOTDIR" {
		t.Errorf("a file as a folder = %v, want ENOTDIR", err)
	}
	made, err := f.MkdirTemp("d/t-")
	if err != nil || !strings.HasPrefix(made, "d/t-") || len(made) != len("d/t-")+6 {
		t.Errorf("MkdirTemp = %q, %v", made, err)
	}
	if info, err := f.Stat(made, true); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("its mode = %v, %v", info.Mode(), err)
	}
}

func TestNothingIsHeldOpenBeforeItIsNeededOrAfterwards(t *testing.T) {
	dir := plant(t, tree{"a/f": "a", "b/f": "b", "a/l": "->../b/f", "a/d/e/f": ""}) // not parallel: it counts what is open
	before := descriptors(t)
	words := grant.Words{Allow: []string{"a", "b", "a/f"}, Deny: []string{"a/x"}}
	f := open(t, dir, words, words)
	if n := descriptors(t); n != before {
		t.Errorf("%d files are open before anything was asked, %d were", n, before)
	}
	for range 20 {
		_, _ = read(f, "a/f")
		_, _ = read(f, "a/l")
		_, _ = read(f, "a/d/e/f/x")
		_, _ = read(f, "a/d/../../b/f")
		_, _ = read(f, "a/x")
		_ = write(f, "a/new", "x")
		_ = write(f, "a/d", "x")
		_, _ = f.Stat("a/d/e", true)
		_, _ = f.Realpath("a/l")
		_ = f.Rename("a/new", "b/new")
		_, _ = f.MkdirAll("b/x/y/z", 0o777)
		_ = f.Remove(context.Background(), "b/x", true, false)
		_ = f.Access("a/f", 7)
	}
	if n := descriptors(t); n > before+6 {
		t.Errorf("%d files are open, %d were: more than one for each grant", n, before)
	}
	f.Close()
	if n := descriptors(t); n != before {
		t.Errorf("%d files are open after the end, %d were", n, before)
	}
	if _, err := read(f, "a/f"); outcome(err) != "EBADF" {
		t.Errorf("reading after the end = %v, want EBADF", err)
	}
}

// descriptors counts the files that this process has open.
func descriptors(t *testing.T) (n int) {
	t.Helper()
	for fd := range 1024 {
		var st syscall.Stat_t
		if syscall.Fstat(fd, &st) == nil {
			n++
		}
	}
	return n
}

func TestManyAtOnce(t *testing.T) {
	t.Parallel()
	dir := plant(t, tree{"d/e/f": "text"})
	f := open(t, dir, allow("."), allow("."))
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 100 {
				if got, err := read(f, "d/e/f"); err != nil || !strings.HasPrefix(got, "text") {
					t.Errorf("read = %q, %v", got, err)
				}
				if err := write(f, "d/e/f", "text, again"); err != nil {
					t.Errorf("write = %v", err)
				}
				if _, err := f.MkdirAll("x/y/z", 0o777); err != nil {
					t.Errorf("mkdir = %v", err)
				}
			}
		})
	}
	all.Wait()
	if left := names(t, filepath.Join(dir, "d/e"), ".tmp"); len(left) > 0 {
		t.Errorf("left %v", left)
	}
}

func TestWordsThatAreNoPaths(t *testing.T) {
	t.Parallel()
	for _, words := range []grant.Words{allow("relative"), allow(""), {Allow: []string{"/x"}, Deny: []string{"y"}}} {
		if _, err := grant.OpenFiles("/", grant.Set{Read: words}); fault.KindOf(err) != fault.Usage {
			t.Errorf("OpenFiles with %v = %v, want a usage error", words, err)
		}
	}
	if _, err := grant.OpenFiles("here", grant.Set{}); err == nil {
		t.Error("a working directory that is not absolute is taken")
	}
}

// TestAsNobody runs the other tests without the rights that root has.
func TestAsNobody(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("only root can become somebody else")
	}
	const nobody = 65534
	dir, err := os.MkdirTemp("", "grant") //nolint:usetesting // others have to get into it
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	// Not written here: a child that is forked meanwhile would hold it open for writing.
	err = exec.Command("cp", self, filepath.Join(dir, "test")).Run()
	for _, path := range []string{dir, filepath.Join(dir, "test")} {
		err = errors.Join(err, os.Chmod(path, 0o755), os.Chown(path, nobody, nobody))
	}
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(filepath.Join(dir, "test"), "-test.v", "-test.timeout=60s", "-test.run=^Test(What|Nothing|Reading|Writing|Replacing|AGranted|ADenial|Kernel|Swaps|Removing|Renaming|Looking|Rights)")
	cmd.Dir = dir
	cmd.Env = []string{"TMPDIR=" + dir}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "--- PASS: TestRightsOfTheSystem") {
		t.Errorf("%v\n%s", err, out)
	}
}

func TestRightsOfTheSystem(t *testing.T) {
	t.Parallel()
	if os.Geteuid() == 0 {
		t.Skip("root may do everything; TestAsNobody runs this")
	}
	dir := plant(t, tree{
		"above/root/f": "f", "above/root/shut/f": "x", "above/root/locked": "x", "above/root/frozen/f": "old", "above/root/frozen/two": "=above/root/frozen/f",
		"above/root/frozen/one": "old", "above/root/blind": "x", "above/root/run": "x",
	})
	root := filepath.Join(dir, "above/root")
	for path, mode := range map[string]os.FileMode{"above/root/shut": 0, "above/root/locked": 0o444, "above/root/frozen": 0o555, "above/root/blind": 0, "above/root/run": 0o755, "above": 0o311} {
		if err := os.Chmod(filepath.Join(dir, path), mode); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = os.Chmod(filepath.Join(dir, path), 0o755) })
	}
	f := open(t, root, allow("."), allow(".")) // the folder above cannot be opened
	ctx := context.Background()
	for name, test := range map[string]struct {
		err  error
		want string
	}{
		"read":                         {func() error { _, err := read(f, "f"); return err }(), ""},
		"read what may not be":         {func() error { _, err := read(f, "blind"); return err }(), "EACCES"},
		"through a shut folder":        {func() error { _, err := read(f, "shut/f"); return err }(), "EACCES"},
		"stat what may not be read":    {func() error { _, err := f.Stat("blind", true); return err }(), ""},
		"write what may not be":        {write(f, "locked", "y"), "EACCES"},
		"write where nothing is made":  {write(f, "frozen/one", "in place"), ""},
		"make where nothing is made":   {write(f, "frozen/new", "y"), "EACCES"},
		"another name there":           {write(f, "frozen/f", "y"), "EACCES"},
		"remove there":                 {f.Remove(ctx, "frozen", true, false), "EACCES"},
		"readable":                     {f.Access("locked", 4), ""},
		"writable":                     {f.Access("locked", 2), "EACCES"},
		"executable":                   {f.Access("run", 1), ""},
		"not executable":               {f.Access("f", 1), "EACCES"},
		"outside":                      {func() error { _, err := read(f, "/etc/shadow"); return err }(), "denied"},
		"the folder above":             {func() error { _, err := f.Stat("..", true); return err }(), "denied"},
		"beside, by the folder above":  {func() error { _, err := read(f, "../other"); return err }(), "denied"},
		"out and in again":             {func() error { _, err := read(f, "../root/f"); return err }(), ""},
		"the granted folder":           {func() error { _, err := f.Stat(".", true); return err }(), ""},
		"make it again":                {f.Mkdir(".", 0o777), "EEXIST"},
		"remove the granted folder":    {f.Rmdir("../root"), "EBUSY"},
		"a path that ends in the root": {func() error { _, err := f.Realpath("frozen/.."); return err }(), ""},
	} {
		if got := outcome(test.err); got != test.want {
			t.Errorf("%s: %v, want %q", name, test.err, test.want)
		}
	}
	if got := content(t, filepath.Join(root, "frozen/one")); got != "in place" {
		t.Errorf("what could only be written in place is %q", got)
	}
	if got := content(t, filepath.Join(root, "frozen/f")); got != "old" {
		t.Errorf("what has another name is %q", got)
	}
	free := open(t, root, allow(grant.Any), allow(grant.Any))
	if err := write(free, "frozen/f", "y"); err != nil { // no name is outside of what is granted
		t.Errorf("everything granted, another name: %v", err)
	}
}

// BenchmarkRead is one small file, five folders down, through the gate and without one.
func BenchmarkRead(b *testing.B) {
	dir := b.TempDir()
	at := filepath.Join(dir, "a/b/c/d/e")
	if err := os.MkdirAll(at, 0o777); err != nil {
		b.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(at, "f"), []byte("text"), 0o666); err != nil {
		b.Fatal(err)
	}
	words := grant.Words{Allow: []string{dir}}
	f, err := grant.OpenFiles(dir, grant.Set{Read: words})
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	b.Run("gate", func(b *testing.B) {
		for b.Loop() {
			if text, err := read(f, "a/b/c/d/e/f"); text != "text" {
				b.Fatal(text, err)
			}
		}
	})
	b.Run("os", func(b *testing.B) {
		for b.Loop() {
			if text, err := os.ReadFile(filepath.Join(at, "f")); string(text) != "text" {
				b.Fatal(text, err)
			}
		}
	})
}
