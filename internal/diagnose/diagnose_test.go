package diagnose

import (
	"context"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"mcpx/internal/api"
	"mcpx/internal/daemon"
)

// folder is a new directory, as it is without links.
func folder(t *testing.T) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func write(t *testing.T, path, text string, mode os.FileMode) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, mode); err != nil {
		t.Fatal(err)
	}
}

// short is a folder whose path leaves room for the name of a socket.
func short(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "d") //nolint:usetesting // the name of the test would be in it
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

func detail(f api.Finding, name string) string {
	for _, d := range f.Details {
		if d.Name == name {
			return d.Value
		}
	}
	return ""
}

func TestProgramLeavesOutWhatIsNotThere(t *testing.T) {
	t.Parallel()
	f := Program("1.2", "/bin/mcpx", api.Caller{Dir: "/w", Environ: []string{"HOME=/a", "CI=", "HOME=/b"}})
	if f.State != api.Fine || !strings.HasPrefix(f.Message, "1.2 on ") || detail(f, "HOME") != "/b" || detail(f, "program") != "/bin/mcpx" {
		t.Errorf("program: %+v", f)
	}
	for _, d := range f.Details {
		if d.Value == "" || d.Name == "CI" || d.Name == "session" {
			t.Errorf("the detail %+v says nothing", d)
		}
	}
}

func TestRepositoryIsFoundOrSaysWhyNot(t *testing.T) {
	t.Parallel()
	root := folder(t)
	for _, dir := range []string{"plain/.git", "bare.git"} {
		write(t, filepath.Join(root, dir, "HEAD"), "ref: refs/heads/main\n", 0o600)
		for _, sub := range []string{"objects", "refs"} {
			if err := os.MkdirAll(filepath.Join(root, dir, sub), 0o700); err != nil {
				t.Fatal(err)
			}
		}
	}
	write(t, filepath.Join(root, "bare.git", "config"), "[core]\n\tbare = true\n", 0o600)
	write(t, filepath.Join(root, "odd", ".git"), "gitdir: ../nowhere\n", 0o600)
	write(t, filepath.Join(root, "linked", ".git"), "gitdir: "+filepath.ToSlash(filepath.Join(root, "plain", ".git"))+"\n", 0o600)
	if err := os.MkdirAll(filepath.Join(root, "plain", "deep"), 0o700); err != nil {
		t.Fatal(err)
	}
	ceiling := "GIT_CEILING_DIRECTORIES=" + filepath.Dir(root)
	tests := []struct {
		name, dir string
		environ   []string
		state     string
		message   string // in it
		by        string // in how it was found
	}{
		{"a folder of it", "plain/deep", nil, api.Fine, "repo:" + filepath.Join(root, "plain", ".git"), filepath.Join(root, "plain", ".git")},
		{"a bare one", "bare.git", nil, api.Fine, "repo:" + filepath.Join(root, "bare.git"), "has no worktree"},
		{"a file that leads there", "linked", nil, api.Fine, "repo:" + filepath.Join(root, "plain", ".git"), "leads to another folder"},
		{"a variable", ".", []string{"GIT_DIR=" + filepath.Join(root, "plain", ".git")}, api.Fine, "repo:", "GIT_DIR, which is"},
		{"none", ".", nil, api.Fine, "none; servers of the scopes repo and worktree are shared in cwd:" + root, ""},
		{"a file that leads nowhere", "odd", nil, api.Warning, "shared in cwd:" + filepath.Join(root, "odd"), ""},
		{"a variable that leads nowhere", ".", []string{"GIT_DIR=nowhere"}, api.Warning, "GIT_DIR names", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			f := Repository(api.Caller{Dir: filepath.Join(root, tt.dir), Environ: append([]string{ceiling}, tt.environ...)})
			if f.State != tt.state || !strings.Contains(f.Message, tt.message) || !strings.Contains(detail(f, "found by"), tt.by) {
				t.Errorf("%+v; want %s, %q, found by %q", f, tt.state, tt.message, tt.by)
			}
			if f.State != api.Fine && f.Hint == "" {
				t.Errorf("%+v has no hint", f)
			}
		})
	}
}

func TestFilesOfMcpxThatOthersCanRead(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("the mode of a file says nothing here")
	}
	tests := []struct {
		name    string
		open    []string // below the state directory
		mode    os.FileMode
		message string
	}{
		{"none", nil, 0, ""},
		{"the directory", []string{"."}, 0o755, "STATE is open to other users"},
		{"a login", []string{"auth/a"}, 0o644, "STATE/auth/a is open"},
		{"a group is others", []string{"trust.json"}, 0o640, "STATE/trust.json is open"},
		{"two", []string{"daemon", "daemon/x.json"}, 0o711, "are open"},
		{"many", []string{"daemon", "daemon/x.json", "auth/a"}, 0o711, "and 2 others are open"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			state := filepath.Join(folder(t), "state")
			for _, file := range []string{"trust.json", "daemon/x.json", "auth/a"} {
				write(t, filepath.Join(state, file), "{}", 0o600)
			}
			if err := os.Symlink("/", filepath.Join(state, "link")); err != nil {
				t.Fatal(err)
			}
			for _, name := range tt.open {
				if err := os.Chmod(filepath.Join(state, name), tt.mode); err != nil {
					t.Fatal(err)
				}
			}
			found := Files(state)
			if tt.message == "" {
				if len(found) > 0 {
					t.Errorf("%+v; want nothing", found)
				}
				return
			}
			want := strings.ReplaceAll(tt.message, "STATE", state)
			if len(found) != 1 || found[0].State != api.Warning || !strings.Contains(found[0].Message, want) || found[0].Hint != "chmod -R go-rwx "+state {
				t.Errorf("%+v; want a warning that %q", found, want)
			}
		})
	}
	if found := Files(filepath.Join(t.TempDir(), "none")); len(found) > 0 {
		t.Errorf("of a directory that is not there: %+v", found)
	}
	if found := Files(""); len(found) > 0 {
		t.Errorf("without a directory: %+v", found)
	}
}

// serve answers as the daemon of a place until the test ends.
func serve(t *testing.T, p daemon.Place, version string, handler http.Handler) {
	t.Helper()
	hold, err := daemon.Take(p)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ready, ended := make(chan struct{}), make(chan error, 1)
	go func() {
		ended <- hold.Serve(ctx, daemon.Options{
			Version: version, Idle: time.Hour, Handler: handler, Ready: func(daemon.Record) { close(ready) },
		})
	}()
	t.Cleanup(func() {
		cancel()
		<-ended
		hold.Release()
	})
	select {
	case <-ready:
	case err := <-ended:
		ended <- err
		t.Fatalf("the daemon has ended: %v", err)
	}
}

func TestDaemonsTellOfThemselves(t *testing.T) {
	t.Parallel()
	status := `{"version":"1","pid":1,"files":[],"instances":[
		{"server":"s","key":"global","pid":7,"era":"modern","state":"running","calls":1,"inFlight":1,"holders":["session:x"],"noise":2},
		{"server":"u","key":"call","state":"running","calls":3,"note":"the caller has no session"}],
		"problem":{"kind":"usage","message":"a comma is missing"}}`
	answers := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/v1/status" {
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write([]byte(status)) // the client sees it
			return
		}
		w.WriteHeader(http.StatusNotFound)
	})
	tests := []struct {
		name    string
		version string // that answers; empty for none
		record  string // that was left there
		handler http.Handler
		without string
		want    []string // STATE SUBJECT: in the message
	}{
		{"none", "", "", nil, "", []string{"ok daemon: none runs; the next command that needs one starts it"}},
		{"none is wanted", "", "", nil, "CI is set", []string{"ok daemon: none runs; commands do without one here: CI is set"}},
		{"one was killed", "", `{"pid": 1, "endpoint": "unix:SOCKET"}`, nil, "", []string{"ok daemon: none runs; the next"}},
		{"its record is damaged", "", "{", nil, "", []string{"ok daemon: none runs; the next"}},
		{"one answers", "1", "", answers, "", []string{
			"ok daemon: mcpx 1, at unix:", "warning daemon: is not in force: a comma is missing",
			"ok daemon's s: running for global, 1 call, 1 under way", "warning daemon's u: running for call, 3 calls; the caller has no session",
		}},
		{"one answers that is not used", "1", "", answers, "CI is set", []string{"ok daemon: commands do without it here: CI is set"}},
		{"another version", "2", "", answers, "", []string{"warning daemon: it is mcpx 2, and this is 1"}},
		{"it does not tell", "1", "", http.NotFoundHandler(), "", []string{"failed daemon: it does not tell of its servers"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			temp := short(t)
			here, elsewhere := daemon.At(temp, "here", temp), daemon.At(temp, "elsewhere", temp)
			if tt.record != "" {
				write(t, filepath.Join(here.Dir, here.Name+".json"), strings.ReplaceAll(tt.record, "SOCKET", here.Socket), 0o600)
			}
			if tt.version != "" {
				serve(t, here, tt.version, tt.handler)
				serve(t, elsewhere, "1", answers)
				tt.want = append(tt.want, "ok daemon: stands for other configuration files")
			}
			found := Daemons(t.Context(), Look{State: temp, Here: here, Version: "1", Caller: api.Caller{Dir: temp}, Without: tt.without})
			for _, want := range tt.want {
				begin, message, _ := strings.Cut(want, ": ")
				if !holds(found, begin, message) {
					t.Errorf("nothing says %q: %+v", want, found)
				}
			}
			for _, f := range found {
				if f.State != api.Fine && f.Hint == "" {
					t.Errorf("%+v has no hint", f)
				}
			}
		})
	}
}

func holds(found []api.Finding, begin, message string) bool {
	for _, f := range found {
		if f.State+" "+f.Subject == begin && strings.Contains(f.Message, message) {
			return true
		}
	}
	return false
}
