package daemon

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"mcpx/internal/fault"
	"mcpx/mcp/mcptest"
)

// TestMain makes this test binary a daemon when a test starts it as one:
// daemon STATE VERSION IDLE MODE.
func TestMain(m *testing.M) {
	mcptest.Main()
	if len(os.Args) == 6 && os.Args[1] == "daemon" {
		os.Exit(become(os.Args[2], os.Args[3], os.Args[4], os.Args[5]))
	}
	os.Exit(m.Run())
}

// become is a daemon that tells its process number at /pid and waits at /wait until it ends.
func become(state, version, idle, mode string) int {
	if mode == "broken" {
		fmt.Fprintln(os.Stderr, "the reason is here")
		return 3
	}
	stay, err := time.ParseDuration(idle)
	if err != nil {
		return 2
	}
	mux := http.NewServeMux()
	mux.HandleFunc("/pid", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, strconv.Itoa(os.Getpid())) })
	mux.HandleFunc("/wait", func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusOK)
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	})
	told := false
	hold, err := Take(At(state, "test", os.Getenv("DAEMON_TEST_TEMP")))
	if err != nil {
		TellReady(os.Stdout, err)
		return 1
	}
	defer hold.Release()
	err = hold.Serve(context.Background(), Options{
		Version: version, Handler: mux, Auto: mode == "auto",
		Idle: stay, Tick: 50 * time.Millisecond, Grace: 200 * time.Millisecond,
		Ready: func(Record) { told = true; TellReady(os.Stdout, nil) },
	})
	if !told {
		TellReady(os.Stdout, err)
	}
	if err != nil {
		return 1
	}
	return 0
}

// patience bounds what must happen sooner or later.
const patience = 60 * time.Second

// ground is a state directory with the daemons of one test, which end with it.
type ground struct {
	t     *testing.T
	state string
	temp  string // for sockets whose path is too long
	place Place
}

// short is a folder whose path leaves room for the name of a socket.
func short(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "d") //nolint:usetesting // t.TempDir holds the name of the test
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

func newGround(t *testing.T) *ground {
	t.Helper()
	g := &ground{t: t, state: t.TempDir(), temp: short(t)}
	g.place = At(g.state, "test", g.temp)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		if l, err := Find(ctx, g.place); err == nil {
			_, _ = l.Leave(ctx, false)
			l.Close()
		}
		if err := WaitGone(ctx, g.place); err != nil {
			t.Errorf("a daemon is left in %s: %v", g.state, err)
		}
	})
	return g
}

func (g *ground) wish(version, idle, mode string) Wish {
	program, err := os.Executable()
	if err != nil {
		g.t.Fatal(err)
	}
	return Wish{Place: g.place, Version: version, Start: &Command{
		Path: program, Args: []string{"daemon", g.state, version, idle, mode}, Env: append(os.Environ(), "DAEMON_TEST_TEMP="+g.temp),
	}}
}

func (g *ground) connect(w Wish) *Link {
	g.t.Helper()
	l, err := Connect(g.t.Context(), w)
	if err != nil {
		g.t.Fatalf("Connect: %v (%s)", err, fault.From(err).Hint)
	}
	g.t.Cleanup(l.Close)
	return l
}

func get(t *testing.T, l *Link, path string) string {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, BaseURL+path, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := l.HTTP.Do(r)
	if err != nil {
		t.Fatalf("GET %s: %v", path, err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// eventually waits until something holds.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !holds(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("it did not happen in %s: %s", patience, what)
		}
	}
}

func TestOfManyClientsOneStartsTheDaemon(t *testing.T) {
	t.Parallel()
	g := newGround(t)
	var mu sync.Mutex
	pids := map[string]int{}
	var clients sync.WaitGroup
	for range 20 {
		clients.Go(func() {
			l, err := Connect(t.Context(), g.wish("1", "1h", "auto"))
			if err != nil {
				t.Errorf("Connect: %v (%s)", err, fault.From(err).Hint)
				return
			}
			defer l.Close()
			pid := get(t, l, "/pid")
			mu.Lock()
			defer mu.Unlock()
			pids[pid]++
		})
	}
	clients.Wait()
	if len(pids) != 1 {
		t.Errorf("the clients reached the daemons %v, want one", pids)
	}
}

func TestTheFilesOfADaemonAreTheUsersAlone(t *testing.T) {
	t.Parallel()
	g := newGround(t)
	if err := os.MkdirAll(g.place.Dir, 0o755); err != nil {
		t.Fatal(err)
	}
	g.connect(g.wish("1", "1h", "auto"))
	for path, want := range map[string]os.FileMode{
		g.place.Dir: 0o700, filepath.Dir(g.place.Socket): 0o700, g.place.Socket: 0o600, g.place.record(): 0o600, g.place.Log(): 0o600, g.place.lock(): 0o600,
	} {
		info, err := os.Stat(path)
		if err != nil || permissions && info.Mode().Perm() != want {
			t.Errorf("%s has mode %v, %v, want %v", path, info.Mode(), err, want)
		}
	}
}

func TestADaemonLeavesNothing(t *testing.T) {
	t.Parallel()
	g := newGround(t)
	l := g.connect(g.wish("1", "1h", "auto"))
	if ends, err := l.Leave(t.Context(), false); err != nil || !ends {
		t.Fatalf("Leave = %v, %v", ends, err)
	}
	if err := WaitGone(t.Context(), g.place); err != nil {
		t.Fatal(err)
	}
	left, err := filepath.Glob(filepath.Join(g.place.Dir, "*"))
	if want := []string{g.place.lock(), g.place.Log()}; err != nil || !slices.Equal(left, want) {
		t.Errorf("left: %v, %v, want %v", left, err, want)
	}
	if _, err := os.Lstat(g.place.Socket); !gone(err) {
		t.Errorf("the socket is left: %v", err)
	}
	if _, err := Find(t.Context(), g.place); !errors.Is(err, ErrNone) {
		t.Errorf("Find = %v, want ErrNone", err)
	}
}

func TestALongPathMovesTheSocket(t *testing.T) {
	t.Parallel()
	g := newGround(t)
	g.state = filepath.Join(g.state, strings.Repeat("long", 30))
	g.place = At(g.state, "test", g.temp)
	if len(g.place.Socket) > longest || strings.HasPrefix(g.place.Socket, g.state) {
		t.Fatalf("the socket is at %s", g.place.Socket)
	}
	if other := At(g.state+"er", "test", g.temp); other.Socket == g.place.Socket {
		t.Error("two state directories share a socket")
	}
	l := g.connect(g.wish("1", "1h", "auto"))
	if got := get(t, l, "/pid"); got != strconv.Itoa(l.Pid) {
		t.Errorf("/pid = %s, want %d", got, l.Pid)
	}
	// A temporary directory that is too deep itself is refused with the reason.
	deep := At(g.state, "test", filepath.Join(g.state, "tmp"))
	_, err := Connect(t.Context(), Wish{Place: deep, Start: g.wish("1", "1h", "auto").Start})
	if fault.KindOf(err) != fault.Unavailable || !strings.Contains(err.Error(), "too long") {
		t.Errorf("Connect = %v", err)
	}
}

func TestWhatAKilledDaemonLeftIsReplaced(t *testing.T) {
	t.Parallel()
	g := newGround(t)
	l := g.connect(g.wish("1", "1h", "auto"))
	proc, err := os.FindProcess(l.Pid)
	if err != nil {
		t.Fatal(err)
	}
	if err := proc.Kill(); err != nil {
		t.Fatal(err)
	}
	_, _ = proc.Wait()
	if _, err := os.Lstat(g.place.Socket); err != nil {
		t.Fatalf("nothing is left, so nothing is tried: %v", err)
	}
	if _, err := Find(t.Context(), g.place); !errors.Is(err, ErrNone) {
		t.Errorf("Find = %v, want ErrNone", err)
	}
	var said []string
	w := g.wish("1", "1h", "auto")
	w.Say = func(text string) { said = append(said, text) }
	if again := g.connect(w); again.Pid == l.Pid {
		t.Errorf("the new daemon is the old one, %d", l.Pid)
	}
	g.connect(w)
	if want := fmt.Sprintf("the daemon (process %d) was killed", l.Pid); len(said) != 1 || !strings.HasPrefix(said[0], want) {
		t.Errorf("said %q, want once %q", said, want)
	}
}

func TestWhatIsNoSocketStays(t *testing.T) {
	t.Parallel()
	g := newGround(t)
	if err := g.place.prepare(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(g.place.Socket, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := Connect(t.Context(), g.wish("1", "1h", "auto"))
	if fault.KindOf(err) != fault.Unavailable || !strings.Contains(err.Error(), "no socket") {
		t.Errorf("Connect = %v", err)
	}
	if text, err := os.ReadFile(g.place.Socket); string(text) != "mine" {
		t.Errorf("the file is %q, %v", text, err)
	}
}

func TestAFolderOfSomebodyElseIsRefused(t *testing.T) {
	t.Parallel()
	if os.Getuid() != 0 || !permissions {
		t.Skip("only root can give a folder away")
	}
	dir := filepath.Join(t.TempDir(), "d")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chown(dir, 12345, 12345); err != nil {
		t.Skip(err)
	}
	if err := private(dir); err == nil || !strings.Contains(err.Error(), "belongs to somebody else") {
		t.Errorf("private = %v", err)
	}
	link := dir + "-link"
	if err := os.Symlink(dir, link); err != nil {
		t.Skip(err)
	}
	if err := private(link); err == nil || !strings.Contains(err.Error(), "no directory") {
		t.Errorf("private of a link = %v", err)
	}
}

// What listens where somebody else could have put it is not spoken to: it would be given
// the variables of whoever asks.
func TestASocketOfSomebodyElseIsNotSpokenTo(t *testing.T) {
	t.Parallel()
	if !permissions {
		t.Skip("the mode of a folder means nothing here")
	}
	g := newGround(t)
	g.state = filepath.Join(g.state, strings.Repeat("long", 30))
	g.place = At(g.state, "test", g.temp)
	l := g.connect(g.wish("1", "1h", "auto"))
	folder := filepath.Dir(g.place.Socket)
	unsafe := map[string]func() error{
		"a folder in which others write": func() error { return os.Chmod(folder, 0o777) },
		"a link": func() error {
			if err := os.Rename(folder, folder+"-real"); err != nil {
				return err
			}
			return os.Symlink(folder+"-real", folder)
		},
	}
	safe := map[string]func() error{
		"a folder in which others write": func() error { return os.Chmod(folder, 0o700) },
		"a link": func() error {
			if err := os.Remove(folder); err != nil {
				return err
			}
			return os.Rename(folder+"-real", folder)
		},
	}
	if os.Getuid() == 0 {
		unsafe["a folder of somebody else"] = func() error { return os.Chown(folder, 12345, 12345) }
		safe["a folder of somebody else"] = func() error { return os.Chown(folder, 0, 0) }
	}
	for what, make := range unsafe {
		if err := make(); err != nil {
			t.Fatal(err)
		}
		if found, err := Find(t.Context(), g.place); !errors.Is(err, ErrNone) {
			t.Errorf("Find in %s = %+v, %v, want ErrNone", what, found, err)
		}
		if err := safe[what](); err != nil {
			t.Fatal(err)
		}
	}
	found, err := Find(t.Context(), g.place)
	if err != nil || found.Pid != l.Pid {
		t.Fatalf("Find = %+v, %v", found, err)
	}
	found.Close()
}

func TestADaemonThatNobodyAsksLeaves(t *testing.T) {
	t.Parallel()
	g := newGround(t)
	l := g.connect(g.wish("1", "50ms", "auto"))
	l.Close()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if err := WaitGone(ctx, g.place); err != nil {
		t.Fatal(err)
	}
}

func TestADaemonWithoutItsFilesLeaves(t *testing.T) {
	t.Parallel()
	g := newGround(t)
	l := g.connect(g.wish("1", "1h", "auto"))
	if err := os.RemoveAll(g.state); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the daemon ends", func() bool {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, BaseURL+"/pid", http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		answer, err := l.HTTP.Do(r)
		if err == nil {
			_ = answer.Body.Close()
		}
		return err != nil
	})
}

func TestVersionsDiffer(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, mode string
		busy       bool
		replaced   bool
	}{
		{"a command started it and it is idle", "auto", false, true},
		{"a command started it and it is busy", "auto", true, false},
		{"a person started it", "person", false, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			g := newGround(t)
			old := g.connect(g.wish("1", "1h", test.mode))
			if test.busy {
				r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, BaseURL+"/wait", http.NoBody)
				if err != nil {
					t.Fatal(err)
				}
				answer, err := old.HTTP.Do(r)
				if err != nil {
					t.Fatal(err)
				}
				defer answer.Body.Close()
			}
			var said []string
			w := g.wish("2", "1h", "auto")
			w.Say = func(text string) { said = append(said, text) }
			now := g.connect(w)
			if replaced := now.Pid != old.Pid; replaced != test.replaced {
				t.Errorf("replaced: %v, want %v", replaced, test.replaced)
			}
			is := fmt.Sprintf("the daemon (process %d) is mcpx 1, and this is 2", old.Pid)
			if len(said) != 1 || !strings.HasPrefix(said[0], is) {
				t.Errorf("said %q, want %q…", said, is)
			}
		})
	}
}

func TestADaemonThatDoesNotStartSaysWhy(t *testing.T) {
	t.Parallel()
	g := newGround(t)
	_, err := Connect(t.Context(), g.wish("1", "1h", "broken"))
	e := fault.From(err)
	if e == nil || e.Kind != fault.Unavailable || !strings.Contains(e.Message, "exit status 3") || !strings.Contains(e.Hint, "the reason is here") {
		t.Errorf("Connect = %+v", e)
	}
	w := g.wish("1", "1h", "auto")
	w.Start.Path = filepath.Join(g.state, "nothing")
	if _, err := Connect(t.Context(), w); fault.KindOf(err) != fault.Unavailable {
		t.Errorf("Connect with no program = %v", err)
	}
	w.Start = nil
	if _, err := Connect(t.Context(), w); !errors.Is(err, ErrNone) {
		t.Errorf("Connect without a way to start = %v, want ErrNone", err)
	}
}

// The record is what a daemon says of itself for those who cannot ask it.
func TestADamagedRecordHidesNoDaemon(t *testing.T) {
	t.Parallel()
	g := newGround(t)
	was := g.connect(g.wish("1", "1h", "auto"))
	if err := os.WriteFile(g.place.record(), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if now := g.connect(g.wish("1", "1h", "auto")); now.Pid != was.Pid {
		t.Errorf("the daemon %d became %d", was.Pid, now.Pid)
	}
}

// What answers and is no daemon is not taken for one, nor for nobody.
func TestAnotherProgramIsNoDaemon(t *testing.T) {
	t.Parallel()
	g := newGround(t)
	if err := g.place.prepare(); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("unix", g.place.Socket)
	if err != nil {
		t.Fatal(err)
	}
	other := &http.Server{
		Handler:           http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "nope") }),
		ReadHeaderTimeout: time.Minute,
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = other.Serve(l) // until it is closed
	}()
	defer func() {
		_ = other.Close()
		<-ended
	}()
	if err := g.place.write(&Record{Pid: 1, Endpoint: "unix:" + g.place.Socket}); err != nil {
		t.Fatal(err)
	}
	defer os.Remove(g.place.record())
	if _, err := Find(t.Context(), g.place); err == nil || !strings.Contains(err.Error(), "no daemon of mcpx") {
		t.Errorf("Find = %v", err)
	}
	for _, record := range []string{"{", `{"endpoint":"unix:/elsewhere"}`} {
		if err := os.WriteFile(g.place.record(), []byte(record), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Find(t.Context(), g.place); err == nil {
			t.Errorf("Find with the record %s found one", record)
		}
	}
}

func TestTCPIsGuarded(t *testing.T) {
	t.Parallel()
	hold, err := Take(At(t.TempDir(), "test", short(t)))
	if err != nil {
		t.Fatal(err)
	}
	defer hold.Release()
	ctx, cancel := context.WithCancel(t.Context())
	ready, ended := make(chan Record, 1), make(chan error, 1)
	go func() {
		ended <- hold.Serve(ctx, Options{
			Version: "1", TCP: "127.0.0.1:0", Idle: time.Hour,
			Handler: http.NotFoundHandler(),
			Foreign: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) }),
			Guard: func(token string, _ net.Addr, next http.Handler) http.Handler {
				return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					if r.Header.Get("Authorization") != "Bearer "+token {
						w.WriteHeader(http.StatusUnauthorized)
						return
					}
					next.ServeHTTP(w, r)
				})
			},
			Ready: func(r Record) { ready <- r },
		})
	}()
	record := <-ready
	for _, path := range []string{"/", "/daemon/hello", "/daemon/leave"} {
		for header, want := range map[string]bool{"": false, "Bearer wrong": false, "Bearer " + record.Token: path == "/"} {
			r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, record.HTTP+path, http.NoBody)
			if err != nil {
				t.Fatal(err)
			}
			r.Header.Set("Authorization", header)
			if header != "" && path != "/" && strings.HasSuffix(header, record.Token) {
				continue // it may
			}
			answer, err := http.DefaultClient.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			_ = answer.Body.Close()
			if got := answer.StatusCode == http.StatusNoContent; got != want {
				t.Errorf("%s with %q: %s", path, header, answer.Status)
			}
		}
	}
	http.DefaultClient.CloseIdleConnections()
	cancel()
	if err := <-ended; err != nil {
		t.Errorf("Serve = %v", err)
	}
}

func TestASecondDaemonDoesNotStart(t *testing.T) {
	t.Parallel()
	g := newGround(t)
	l := g.connect(g.wish("1", "1h", "auto"))
	if _, err := Take(g.place); !errors.Is(err, ErrRunning) {
		t.Errorf("Take = %v, want ErrRunning", err)
	}
	if again := g.connect(g.wish("1", "1h", "auto")); again.Pid != l.Pid {
		t.Errorf("the daemon %d became %d", l.Pid, again.Pid)
	}
}
