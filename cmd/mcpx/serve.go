package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strings"

	"mcpx/internal/artifact"
	"mcpx/internal/cli"
	"mcpx/internal/fault"
	"mcpx/internal/serve"
	"mcpx/internal/settings"
	"mcpx/internal/store"
	"mcpx/mcp/server"
)

// Serve implements cli.Backend.
func (b *inline) Serve(ctx context.Context, o cli.ServeOptions, in io.Reader, out io.Writer, say func(string)) error {
	grant, err := b.runner.ToolGrant(o.Exec)
	if err != nil {
		return err
	}
	offered := serve.Options{
		Mode: o.Mode, Gateway: b.Gateway, Version: version, Server: o.Server, Grant: grant,
		Runner: b.runner, Exec: o.Exec, Longest: settings.ExecTimeout.Get(b.settings),
		Artifacts: artifact.In(b.runner.Artifacts, b.settings), Overview: overview(b.settings),
		Questions: settings.ElicitTTL.Get(b.settings),
	}
	if o.Mode == serve.Code {
		switch tasks, leave, err := b.serving(); {
		case err != nil:
			say("calls cannot be tasks: " + fault.From(err).Message)
		case tasks != nil:
			defer leave()
			offered.Tasks, offered.TaskAfter = tasks, settings.TasksAfter.Get(b.settings)
		}
	}
	h, err := serve.New(ctx, offered)
	if err != nil {
		return err
	}
	if o.HTTP != "" {
		return b.serveHTTP(ctx, o, h, say)
	}
	if o.Mode == serve.Code {
		b.runner.KeepWarm(1)
	}
	if err := server.Serve(ctx, in, out, h); err != nil && ctx.Err() == nil {
		return fault.Unavailablef("%w", err)
	}
	return nil
}

// serveHTTP listens until ctx is done: whoever ends it gets what it wanted.
func (b *inline) serveHTTP(ctx context.Context, o cli.ServeOptions, h server.Handler, say func(string)) error {
	l, err := listen(ctx, o.HTTP)
	if err != nil {
		return err
	}
	defer l.Close()
	at := l.Addr().(*net.TCPAddr).AddrPort()
	if o.NoAuth && !at.Addr().IsLoopback() {
		return fault.Deniedf("--no-auth lets everybody in who reaches %s, which is not a loopback address", at).
			Hintf("leave --no-auth out, or listen at 127.0.0.1")
	}
	token, kept := "", ""
	if !o.NoAuth {
		if token, kept, err = b.token(o.TokenFile); err != nil {
			return err
		}
	}
	b.runner.Own = append(b.runner.Own, netip.AddrPortFrom(at.Addr().Unmap(), at.Port()))
	if o.Mode == serve.Code {
		b.runner.KeepWarm(1)
	}
	say(fmt.Sprintf("serving MCP at http://%s%s (%s)", at, server.Path, o.Mode))
	if o.NoAuth {
		say("no token is asked for: every program on this machine may do through it what you may")
	} else {
		say("clients need the header Authorization: Bearer TOKEN; the token is in " + kept)
	}
	err = server.ServeHTTP(ctx, l, server.HTTPOptions{Handler: h, Token: token, Hosts: o.Hosts, Log: b.runner.Log})
	if err != nil && ctx.Err() == nil {
		return fault.Unavailablef("serving at %s: %w", at, err)
	}
	return nil
}

// listen opens a TCP address. Without a host it is one that only this machine reaches.
func listen(ctx context.Context, addr string) (net.Listener, error) {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, fault.Usagef("--http %s is no address: %w", addr, err).Hintf("give HOST:PORT, such as 127.0.0.1:7777, or :7777")
	}
	if host == "" {
		host = "127.0.0.1"
	}
	var c net.ListenConfig
	l, err := c.Listen(ctx, "tcp", net.JoinHostPort(host, port))
	if err != nil {
		return nil, fault.Usagef("--http %s: %w", addr, reason(err)).Hintf("is another program there? port 0 takes one that is free")
	}
	return l, nil
}

// reason leaves out of a network error what the sentence around it says.
func reason(err error) error {
	if op, ok := errors.AsType[*net.OpError](err); ok {
		return op.Err
	}
	return err
}

// Bounds of a token.
const (
	leastToken = 16
	mostToken  = 4096
)

// token returns what clients must know, and the file that holds it: the one that is named,
// or one of the state directory, which is made if it is not there.
func (b *inline) token(file string) (token, kept string, err error) {
	kept = file
	if kept == "" {
		if b.state == "" {
			return "", "", fault.Unavailablef("there is no state directory to keep a token in").
				Hintf("name a file with --token-file, or set MCPX_STATE_DIR or HOME")
		}
		kept = filepath.Join(b.state, "serve-token")
	}
	text, err := store.ReadFile(kept, mostToken)
	switch {
	case errors.Is(err, fs.ErrNotExist) && file == "":
		if err := makeToken(kept); err != nil {
			return "", "", fault.Unavailablef("the token cannot be kept: %w", err).Hintf("name a file that holds one with --token-file")
		}
		return b.token(kept)
	case err != nil:
		return "", "", fault.Usagef("the token cannot be read: %w", err)
	}
	token = strings.TrimSpace(string(text))
	if len(token) < leastToken || strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return "", "", fault.Usagef("the token in %s is not one word of at least %d letters and digits", kept, leastToken).
			Hintf("put a long random word there")
	}
	return token, kept, nil
}

// makeToken puts a new token into a file, unless another process has put one there.
func makeToken(file string) error {
	token := rand.Text()
	own := file + "-" + token[:8]
	if err := store.WriteFile(own, []byte(token+"\n"), 0o600); err != nil {
		return err
	}
	defer os.Remove(own)
	if err := os.Link(own, file); err == nil || errors.Is(err, fs.ErrExist) {
		return nil
	}
	return os.Rename(own, file) // a file system without links
}

// overview is how many tokens clients read of an overview that they have not asked for.
func overview(set *settings.Set) int {
	return min(settings.ServeOverview.Get(set), settings.CatalogBudget.Get(set))
}
