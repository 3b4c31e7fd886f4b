package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"mcpx/internal/api"
	"mcpx/internal/cli"
	"mcpx/internal/config"
	"mcpx/internal/fault"
	"mcpx/internal/process"
	"mcpx/internal/schema"
	"mcpx/internal/settings"
	"mcpx/internal/store"
	"mcpx/mcp"
	"mcpx/mcp/auth"
	"mcpx/mcp/client"
	"mcpx/pool"
)

// authority logs in to servers, in the process that has the person before it.
type authority struct {
	config   *config.Config
	env      config.Env
	settings *settings.Set
	tokens   *store.Secrets
	log      *slog.Logger
}

var _ cli.Authority = (*authority)(nil)

// openAuthority reads the configuration. No server is asked or started.
func openAuthority(o cli.OpenOptions, dir string) (*authority, error) {
	home, _ := os.UserHomeDir() // without one there are no files of the user's
	state := stateDir(home, dir)
	env := config.Env{Lookup: os.LookupEnv, Home: home, Dir: dir, Input: answers(state)}
	trust := store.OpenTrust(state)
	if err := o.Settings.ApplyEnv(os.LookupEnv); err != nil {
		return nil, err
	}
	cfg, err := config.Load(config.Options{Env: env, File: o.Config, Paths: settings.PathsConfig.Get(o.Settings), Trusted: trust.Trusted})
	if err != nil {
		return nil, err
	}
	if err := apply(o.Settings, cfg); err != nil {
		return nil, err
	}
	log := slog.New(slog.DiscardHandler)
	if o.Log != nil {
		log = slog.New(slog.NewTextHandler(o.Log, &slog.HandlerOptions{Level: slog.LevelDebug, ReplaceAttr: withoutTime}))
	}
	return &authority{config: cfg, env: env, settings: o.Settings, tokens: secrets(state, o.Settings), log: log}, nil
}

// stateDir is the state directory, absolute; empty if there is none.
func stateDir(home, dir string) string {
	state := store.Dir(os.LookupEnv, home)
	if state != "" && !filepath.IsAbs(state) {
		state = filepath.Join(dir, state)
	}
	return state
}

// secrets is where logins are kept.
func secrets(state string, set *settings.Set) *store.Secrets {
	return store.OpenSecrets(state, settings.AuthStore.Get(set), store.SystemKeyring(os.LookupEnv))
}

// Notices implements cli.Authority.
func (a *authority) Notices() []string { return a.settings.Notices() }

// Login implements cli.Authority.
func (a *authority) Login(ctx context.Context, in api.LoginInput, with cli.Person) (*api.Login, error) {
	def, err := a.server(in.Server)
	if err != nil {
		return nil, err
	}
	timeout := settings.AuthLoginTimeout.Get(a.settings)
	login := &auth.Login{
		Timeout: timeout, Paste: with.Line,
		Show: func(address string) error { return show(address, def.Name, in.NoBrowser, with.Say) },
	}
	h := pool.Authorizer(def, os.Environ(), a.options(login))
	if h == nil {
		return nil, notHere(def)
	}
	told, failed := a.knock(ctx, def, h, timeout)
	out, err := a.login(def)
	switch {
	case err != nil:
		return nil, err
	case h.LoggedIn():
		if failed != nil {
			out.Message = failed.Error()
		}
		return out, nil
	case failed != nil:
		return nil, failed
	case told:
		return nil, fault.Internalf("logging in to %s came to nothing", def.Name)
	}
	// It answers without a login. Some want one only for some of what they have.
	if offers, err := h.Offers(ctx); err != nil {
		return nil, err
	} else if !offers {
		out.State, out.Message = api.NoLogin, "it answers without a login"
		return out, nil
	}
	if err := h.Login(ctx); err != nil {
		return nil, err
	}
	return a.login(def)
}

// knock opens a session with a server, and asks it for its tools: on the way it says whether
// it wants a login, and h sees to that. Told says that it did.
func (a *authority) knock(ctx context.Context, def *config.Definition, h *auth.Handler, timeout time.Duration) (told bool, err error) {
	o := pool.Options{Settings: a.settings, Environ: os.Environ(), Version: version}
	e := pool.Endpoint(def, o)
	e.Authorizer = h
	ctx, cancel := context.WithTimeoutCause(ctx, timeout+time.Minute, fault.Timeoutf("%s has not answered within %s", def.Name, timeout+time.Minute))
	defer cancel()
	sse := func(ctx context.Context) (client.Transport, error) { return client.OpenSSE(ctx, e) }
	copt := client.Options{Name: def.Name, Version: version, ProbeTimeout: timeout + time.Minute, Log: a.log}
	var t client.Transport
	if def.Transport == config.SSE {
		t, err = sse(ctx)
	} else {
		t, err = client.OpenHTTP(e)
		if def.Untyped {
			copt.Fallback = sse
		}
	}
	if err != nil {
		return false, err
	}
	s, err := client.Connect(ctx, t, copt)
	if err != nil {
		return h.LoggedIn(), err
	}
	defer s.Close()
	_, err = s.Call(ctx, mcp.MethodToolsList, nil)
	if _, answered := errors.AsType[*mcp.Error](err); answered {
		err = nil // it has no tools, perhaps
	}
	return h.LoggedIn(), err
}

func (a *authority) options(l *auth.Login) auth.Options {
	return auth.Options{Store: a.tokens, Version: version, Login: l}
}

// Logout implements cli.Authority.
func (a *authority) Logout(ctx context.Context, in api.LogoutInput) (*api.LogoutOutput, error) {
	def, err := a.server(in.Server)
	if err != nil {
		return nil, err
	}
	h := pool.Authorizer(def, os.Environ(), a.options(nil))
	if h == nil {
		return nil, notHere(def)
	}
	was, revoked, err := h.Logout(ctx)
	if err != nil {
		return nil, err
	}
	return &api.LogoutOutput{Server: def.Name, Was: was, Revoked: revoked}, nil
}

// Logins implements cli.Authority.
func (a *authority) Logins(_ context.Context, in api.LoginsInput) (*api.LoginsOutput, error) {
	out := &api.LoginsOutput{Logins: []api.Login{}}
	if in.Server != "" {
		def, err := a.server(in.Server)
		if err != nil {
			return nil, err
		}
		l, err := a.login(def)
		if err != nil {
			return nil, err
		}
		out.Logins = append(out.Logins, *l)
		return out, nil
	}
	for _, s := range a.config.Servers {
		if s.Disabled || s.Transport == config.Stdio {
			continue
		}
		l := &api.Login{Server: s.Name, State: api.LoggedOut}
		def, err := s.Resolve(a.env)
		if err == nil {
			l, err = a.login(def)
		}
		if err != nil {
			l = &api.Login{Server: s.Name, State: api.LoggedOut, Message: err.Error()}
		}
		out.Logins = append(out.Logins, *l)
	}
	slices.SortFunc(out.Logins, func(x, y api.Login) int { return cmp.Compare(x.Server, y.Server) })
	return out, nil
}

// login tells of one login.
func (a *authority) login(def *config.Definition) (*api.Login, error) {
	l := &api.Login{Server: def.Name, State: api.NoLogin}
	h := pool.Authorizer(def, os.Environ(), a.options(nil))
	if h == nil {
		if def.Transport != config.Stdio && (def.Auth == nil || !def.Auth.Off) {
			l.State = api.OwnToken
		}
		return l, nil
	}
	s, err := h.Status()
	if err != nil {
		return nil, err
	}
	l.State = api.LoggedOut
	if s == nil {
		return l, nil
	}
	l.State, l.Store = api.LoggedIn, a.tokens.Where(h.Key())
	if !s.Valid() {
		l.State = api.Expired
	}
	l.Issuer, l.Client, l.Scopes, l.Wanted, l.Renews = s.Issuer, s.Client, s.Scopes, s.Wanted, s.Renews
	if !s.Expires.IsZero() {
		l.Expires = &s.Expires
	}
	return l, nil
}

// server finds an entry by its name, or by what scripts call it.
func (a *authority) server(name string) (*config.Definition, error) {
	if err := a.config.Err(); err != nil {
		return nil, err
	}
	var names []string
	for _, s := range a.config.Servers {
		names = append(names, s.Name)
	}
	raw, ok := name, slices.Contains(names, name)
	if !ok {
		raw, ok = schema.Resolve(names, name)
	}
	if !ok {
		e := fault.NotFoundf("no server is called %q", name).With("server", name).Hintf("mcpx auth status lists the servers behind a url")
		if near := schema.Nearest(name, names, 1); len(near) > 0 {
			e.Hintf("did you mean %s?", near[0])
		}
		return nil, e
	}
	at := slices.IndexFunc(a.config.Servers, func(s *config.Server) bool { return s.Name == raw })
	return a.config.Servers[at].Resolve(a.env)
}

// notHere says why nobody logs in to a server.
func notHere(def *config.Definition) error {
	switch {
	case def.Transport == config.Stdio:
		return fault.Usagef("%s is a program that mcpx starts, and not a server to log in to", def.Name).
			Hintf("what it needs goes into env of its entry")
	case def.Auth != nil && def.Auth.Off:
		return fault.Usagef("the entry of %s says that nobody logs in there", def.Name).Hintf("remove auth from its entry")
	}
	return fault.Usagef("the entry of %s shows the server itself who asks", def.Name).
		Hintf("remove the Authorization header, or the user in its url, to log in in its place")
}

// show brings the address where a person agrees before them. It is printed in any case: a
// browser may not be there, or open where nobody sits.
func show(address, server string, noBrowser bool, say func(string)) error {
	if noBrowser {
		say("open this address to log in to " + server + ":\n" + address + "\nand paste the address at which the browser ends, even if it shows an error:")
		return nil
	}
	say("opening the browser to log in to " + server + "; if it does not open, go to:\n" + address)
	if err := browse(address); err != nil {
		say(fmt.Sprintf("no browser could be started (%v); with --no-browser you can use one elsewhere", err))
	}
	return nil
}

// browse opens an address in the user's browser. What it starts goes on by itself.
func browse(address string) error {
	if u, err := url.Parse(address); err != nil || u.Scheme != "https" && u.Scheme != "http" {
		return errors.New("it is no web address")
	}
	var words []string
	switch browser := os.Getenv("BROWSER"); {
	case browser != "" && runtime.GOOS != "windows":
		words = strings.Fields(browser)
	case runtime.GOOS == "windows":
		words = []string{"rundll32", "url.dll,FileProtocolHandler"}
	case runtime.GOOS == "darwin":
		words = []string{"open"}
	default:
		if os.Getenv("DISPLAY") == "" && os.Getenv("WAYLAND_DISPLAY") == "" {
			return errors.New("there is no screen")
		}
		words = []string{"xdg-open"}
	}
	path, err := process.LookPath(words[0], os.Getenv("PATH"), "")
	if err != nil {
		return err
	}
	cmd := exec.Command(path, append(words[1:], address)...) //nolint:gosec,noctx // it outlives the command, and is the user's own browser
	if err := cmd.Start(); err != nil {
		return err
	}
	return cmd.Process.Release()
}
