package cli

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"mcpx/internal/api"
	"mcpx/internal/fault"
)

// registry is an Authority with the answers that a test laid out.
type registry struct {
	login  *api.Login
	err    error
	pasted string
}

func (r *registry) Login(ctx context.Context, in api.LoginInput, with Person) (*api.Login, error) {
	with.Say("open this:\nhttps://as.example/?x=\x1b[31m")
	if in.NoBrowser {
		r.pasted, _ = with.Line(ctx)
	} else if with.Line != nil {
		return nil, errors.New("a line is read though nobody asked for it")
	}
	return r.login, r.err
}

func (r *registry) Logout(_ context.Context, in api.LogoutInput) (*api.LogoutOutput, error) {
	return &api.LogoutOutput{Server: in.Server, Was: true}, r.err
}

func (r *registry) Logins(context.Context, api.LoginsInput) (*api.LoginsOutput, error) {
	if r.login == nil {
		return &api.LoginsOutput{Logins: []api.Login{}}, r.err
	}
	return &api.LoginsOutput{Logins: []api.Login{*r.login}}, r.err
}

func (r *registry) Notices() []string { return []string{"mind this"} }

func TestAuthCommands(t *testing.T) {
	t.Parallel()
	until := time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
	in := &api.Login{
		Server: "linear", State: api.LoggedIn, Issuer: "https://as.example", Client: "id", Scopes: []string{"a", "b"}, Expires: &until, Renews: true, Store: "keyring",
	}
	out := &api.Login{Server: "linear", State: api.LoggedOut}
	local := until.Local().Format(time.DateTime)
	for _, tt := range []struct {
		name   string
		args   string
		r      *registry
		stdin  string
		code   int
		stdout string
		stderr string
		pasted string
	}{
		{
			"login", "auth login linear", &registry{login: in}, "", 0,
			"linear: logged in\n  by       https://as.example\n  as       id\n  scopes   a b\n  until    " + local + ", renewed before\n  kept in  a file sealed with a key in the keyring\n",
			"mcpx: mind this\nmcpx: open this:\n  https://as.example/?x=\ufffd[31m\n", "",
		},
		{"login without a browser", "auth login linear --no-browser", &registry{login: in}, "answer\nrest\n", 0, "linear: logged in\n", "open this", "answer\n"},
		{"login that fails", "auth login linear", &registry{err: fault.Unavailablef("no way").Hintf("try")}, "", 69, "", "mcpx: no way\n  try\n", ""},
		{
			"login where none is needed", "auth login linear", &registry{login: &api.Login{Server: "linear", State: api.NoLogin, Message: "it answers without a login"}}, "", 0,
			"linear: nobody logs in there: it answers without a login\n", "", "",
		},
		{
			"login as JSON", "auth login linear --json", &registry{login: in}, "", 0,
			`{"server":"linear","state":"loggedIn","issuer":"https://as.example","client":"id","scopes":["a","b"],"expires":"2030-01-02T03:04:05Z","renews":true,"store":"keyring"}`, "", "",
		},
		{"logout", "auth logout linear", &registry{}, "", 0, "linear: logged out\n", "", ""},
		{"status", "auth status", &registry{login: out}, "", 0, "linear: nobody is logged in\n", "", ""},
		{"status of one", "auth status linear", &registry{login: out}, "", 69, "linear: nobody is logged in\n", "", ""},
		{"status of one that is logged in", "auth status linear", &registry{login: in}, "", 0, "linear: logged in\n", "", ""},
		{"status of none", "auth status", &registry{}, "", 0, "no server is behind a url, so there is nowhere to log in\n", "", ""},
		{"status of none as JSON", "auth status --json", &registry{}, "", 0, `{"logins":[]}`, "", ""},
		{"too many words", "auth logout a b", &registry{}, "", 2, "", "unexpected argument", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var stdout, stderr bytes.Buffer
			p := Program{
				Args: strings.Fields(tt.args), Stdin: strings.NewReader(tt.stdin), Stdout: &stdout, Stderr: &stderr,
				Authority: func(context.Context, OpenOptions) (Authority, error) { return tt.r, nil },
			}
			if tt.stderr != "" && strings.Contains(tt.stderr, "\ufffd") {
				p.Terminal.Stderr = true
			}
			if code := p.Run(t.Context()); code != tt.code {
				t.Errorf("exit code %d, want %d", code, tt.code)
			}
			if got := stdout.String(); !strings.HasPrefix(got, tt.stdout) || tt.stdout == "" && got != "" {
				t.Errorf("standard output %q, want %q", got, tt.stdout)
			}
			if got := stderr.String(); !strings.Contains(got, tt.stderr) {
				t.Errorf("standard error %q, want %q", got, tt.stderr)
			}
			if tt.r.pasted != tt.pasted {
				t.Errorf("pasted %q, want %q", tt.r.pasted, tt.pasted)
			}
		})
	}
}

// A wait for a line that is given up leaves the line to the next.
func TestLinesOf(t *testing.T) {
	t.Parallel()
	r, w := io.Pipe()
	next := linesOf(r)
	gone := errors.New("gone")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(gone)
	if _, err := next(ctx); !errors.Is(err, gone) {
		t.Errorf("err = %v, want the cause", err)
	}
	go func() {
		_, _ = io.WriteString(w, "one\ntwo")
		_ = w.Close()
	}()
	for _, want := range []string{"one\n", "two"} {
		if line, err := next(t.Context()); line != want || err != nil {
			t.Errorf("line = %q, %v, want %q", line, err, want)
		}
	}
	if line, err := next(t.Context()); line != "" || !errors.Is(err, io.EOF) {
		t.Errorf("line = %q, %v, want the end", line, err)
	}
}
