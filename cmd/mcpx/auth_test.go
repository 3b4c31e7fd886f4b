package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"mcpx/mcp/mcptest"
)

// browsers are programs that stand in for a browser: one whose user agrees, one whose user
// does not, and one before which nobody sits.
func browsers() map[string]func() {
	return map[string]func(){
		"agree":   func() { visit(os.Args[1], false) },
		"decline": func() { visit(os.Args[1], true) },
		"nobody":  func() {},
		"get":     func() { get(os.Args[1]) },
	}
}

// visit opens an address, and goes where it is sent, or says no there.
func visit(address string, decline bool) {
	c := http.Client{Timeout: time.Minute, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	resp, err := c.Get(address) //nolint:noctx // a browser has none
	if err != nil {
		os.Exit(1)
	}
	_ = resp.Body.Close()
	back, err := resp.Location()
	if err != nil {
		os.Exit(1)
	}
	if decline {
		said := back.Query()
		said.Del("code")
		said.Set("error", "access_denied")
		back.RawQuery = said.Encode()
	}
	if resp, err = c.Get(back.String()); err == nil { //nolint:noctx // as above
		_ = resp.Body.Close()
	}
}

// get prints what an address answers.
func get(address string) {
	resp, err := http.Get(address) //nolint:noctx // it ends with the process
	if err != nil {
		os.Exit(1)
	}
	defer resp.Body.Close()
	_, _ = io.Copy(os.Stdout, resp.Body)
}

// guardSites starts a server that wants a login, linear, and one that does not, open, and
// writes a configuration that names them. $GUARD/expire makes the tokens worthless, and
// $GUARD/count?WHAT tells how often something was asked for.
func guardSites(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) > 0 {
		ts.Fatalf("usage: guard")
	}
	var g *mcptest.Guarded
	ready := make(chan struct{})
	g = mcptest.Guard(mcptest.Login{
		Scope: "read", More: map[string]string{"pid": "write"}, Rotates: true,
		Instead: func(w http.ResponseWriter, r *http.Request) bool {
			<-ready
			switch r.URL.Path {
			case "/expire":
				g.Expire()
			case "/count":
				fmt.Fprintln(w, g.Count(r.URL.RawQuery))
			default:
				return false
			}
			return true
		},
	})
	close(ready)
	ts.Defer(g.Close)
	ts.Setenv("GUARD", strings.TrimSuffix(g.URL, "/mcp"))
	free := mcptest.Serve(mcptest.HTTP{})
	ts.Defer(free.Close)
	config := fmt.Sprintf(`{"mcpServers": {
		"linear": {"url": %q}, "open": {"url": %q}, "local": {"command": "nothing"},
		"own": {"url": %[1]q, "headers": {"Authorization": "Bearer x"}},
		"off": {"url": %[1]q, "auth": false}
	}}`, g.URL, free.URL)
	home := ts.Getenv("HOME")
	ts.Check(os.WriteFile(filepath.Join(home, ".mcpx.json"), []byte(config), 0o600))
}

// paste runs a command that prints an address, opens that in a browser on another machine,
// and pastes the address at which it ends: paste PROGRAM [args…].
func paste(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 1 {
		ts.Fatalf("usage: paste PROGRAM [args…]")
	}
	path, err := exec.LookPath(args[0])
	ts.Check(err)
	cmd := exec.Command(path, args[1:]...) //nolint:noctx // it ends with its input
	cmd.Dir = ts.MkAbs(".")
	for _, name := range []string{"HOME", "PATH", "MCPX_STATE_DIR", "MCPX_DAEMON_INLINE", "LANG", "TZ"} {
		cmd.Env = append(cmd.Env, name+"="+ts.Getenv(name))
	}
	in, err := cmd.StdinPipe()
	ts.Check(err)
	said, err := cmd.StderrPipe()
	ts.Check(err)
	var out, problems bytes.Buffer
	cmd.Stdout = &out
	ts.Check(cmd.Start())
	// It has said all that it will before it is answered.
	for one := make([]byte, 1); !strings.Contains(problems.String(), "even if it shows an error"); {
		if _, err := io.ReadFull(said, one); err != nil {
			break
		}
		problems.Write(one)
	}
	answered := errors.New("it printed no address")
	for word := range strings.FieldsSeq(problems.String()) {
		if u, err := url.Parse(word); err == nil && u.Host != "" {
			c := http.Client{Timeout: time.Minute, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
			var resp *http.Response
			if resp, answered = c.Get(word); answered == nil { //nolint:noctx // a browser has none
				_ = resp.Body.Close()
				_, answered = io.WriteString(in, "what is that\n"+resp.Header.Get("Location")+"\n")
			}
		}
	}
	_, _ = io.Copy(&problems, said)
	err = cmd.Wait()
	_ = in.Close()
	ts.Check(os.WriteFile(ts.MkAbs("pasted.out"), out.Bytes(), 0o600))
	ts.Check(os.WriteFile(ts.MkAbs("pasted.err"), problems.Bytes(), 0o600))
	ts.Check(errors.Join(answered, err))
}
