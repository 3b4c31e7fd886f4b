package cli

import (
	"bufio"
	"context"
	"io"
	"strings"
	"time"

	"mcpx/internal/api"
	"mcpx/internal/fault"

	"github.com/urfave/cli/v2"
)

// Authority logs in to servers. It is made for one command.
type Authority interface {
	// Login has a person log in to a server.
	Login(ctx context.Context, in api.LoginInput, with Person) (*api.Login, error)
	// Logout forgets a login.
	Logout(ctx context.Context, in api.LogoutInput) (*api.LogoutOutput, error)
	// Logins tells who is logged in, without asking a server.
	Logins(ctx context.Context, in api.LoginsInput) (*api.LoginsOutput, error)
	// Notices is as in Backend.
	Notices() []string
}

// Person is whoever sits before the command.
type Person struct {
	// Say tells them something.
	Say func(text string)
	// Line waits for a line that they write; nil if they are not asked for one. The error is
	// io.EOF when nothing more will come.
	Line func(ctx context.Context) (string, error)
}

var authSettings = []string{"auth", "config"}

// authCommands are about logins. They are no operations: a login belongs to the process that
// has the person before it.
func (v *invocation) authCommands() []*cli.Command {
	return []*cli.Command{
		{
			Name: "auth login", Category: groupSetUp, Usage: "log in to a server that asks for it", ArgsUsage: "SERVER",
			Description: "Opens the address where you agree, and waits until the browser comes back. Whatever needs\n" +
				"the server finds the login then, and has it renewed before it expires. A server whose entry\n" +
				"says that mcpx logs in for itself (\"grant\": \"client_credentials\") needs no browser.\n" +
				"\n" +
				"Without a browser on this machine, --no-browser prints the address: open it anywhere, and\n" +
				"paste the address at which the browser ends, whether or not it shows a page.",
			Flags: append([]cli.Flag{
				&cli.BoolFlag{Name: "no-browser", Usage: "print the address, and read the one at which the browser ends from standard input"},
			}, settingFlags("auth", "config")...),
			Action:    v.authLogin,
			UsageText: "mcpx auth login linear\nmcpx auth login linear --no-browser",
		},
		{
			Name: "auth logout", Category: groupSetUp, Usage: "forget a login", ArgsUsage: "SERVER",
			Description: "Removes the tokens from this machine, and has the authorisation server take them back if it\n" +
				"can.",
			Flags:     settingFlags(authSettings...),
			Action:    v.authLogout,
			UsageText: "mcpx auth logout linear",
		},
		{
			Name: "auth status", Category: groupSetUp, Usage: "show who is logged in", ArgsUsage: "[SERVER]",
			Description: "Shows each server behind a url with its authorisation server, the scopes, when the token\n" +
				"expires, and where it is kept. No server is asked. With SERVER the exit code is 69 if\n" +
				"somebody has to log in there first.",
			Flags:     settingFlags(authSettings...),
			Action:    v.authStatus,
			UsageText: "mcpx auth status\nmcpx auth status linear --json",
		},
	}
}

// authority returns what logs in, and says on standard error what it has to say.
func (v *invocation) authority(ctx context.Context) (Authority, error) {
	o := OpenOptions{Config: v.config, Settings: v.settings}
	if v.verbose {
		o.Log = lines{v.stderr}
	}
	a, err := v.p.Authority(ctx, o)
	if err != nil {
		return nil, err
	}
	for _, n := range a.Notices() {
		v.say("%s", n)
	}
	return a, nil
}

func (v *invocation) authLogin(c *cli.Context) error {
	if err := takes(c, 1, 1); err != nil {
		return err
	}
	in := api.LoginInput{Server: c.Args().First(), NoBrowser: c.Bool("no-browser")}
	if err := named(c, in.Server); err != nil {
		return err
	}
	a, err := v.authority(c.Context)
	if err != nil {
		return err
	}
	with := Person{Say: func(text string) { v.say("%s", text) }}
	if in.NoBrowser {
		with.Line = linesOf(v.p.Stdin)
	}
	out, err := a.Login(c.Context, in, with)
	if err != nil {
		return err
	}
	return v.answer(out, func() string {
		var p page
		switch out.State {
		case api.LoggedIn:
			p.line("%s: logged in%s", word(out.Server), loginDetails(out))
		default:
			p.line("%s: %s", word(out.Server), loginState(out))
		}
		return p.String()
	})
}

func (v *invocation) authLogout(c *cli.Context) error {
	if err := takes(c, 1, 1); err != nil {
		return err
	}
	in := api.LogoutInput{Server: c.Args().First()}
	if err := named(c, in.Server); err != nil {
		return err
	}
	a, err := v.authority(c.Context)
	if err != nil {
		return err
	}
	out, err := a.Logout(c.Context, in)
	if err != nil {
		return err
	}
	return v.answer(out, func() string {
		var p page
		switch {
		case !out.Was:
			p.line("%s: nobody was logged in", word(out.Server))
		case out.Revoked:
			p.line("%s: logged out, and the tokens are taken back", word(out.Server))
		default:
			p.line("%s: logged out", word(out.Server))
		}
		return p.String()
	})
}

func (v *invocation) authStatus(c *cli.Context) error {
	if err := takes(c, 0, 1); err != nil {
		return err
	}
	in := api.LoginsInput{Server: c.Args().First()}
	if c.NArg() == 1 {
		if err := named(c, in.Server); err != nil {
			return err
		}
	}
	a, err := v.authority(c.Context)
	if err != nil {
		return err
	}
	out, err := a.Logins(c.Context, in)
	if err != nil {
		return err
	}
	err = v.answer(out, func() string {
		var p page
		if len(out.Logins) == 0 {
			p.line("no server is behind a url, so there is nowhere to log in")
		}
		for i := range out.Logins {
			l := &out.Logins[i]
			p.line("%s: %s%s", word(l.Server), loginState(l), loginDetails(l))
		}
		return p.String()
	})
	if err == nil && in.Server != "" && len(out.Logins) == 1 {
		if s := out.Logins[0].State; s == api.LoggedOut || s == api.Expired {
			return status(fault.Unavailable.ExitCode())
		}
	}
	return err
}

// loginState is a state in words.
func loginState(l *api.Login) string {
	text := map[string]string{
		api.LoggedIn: "logged in", api.LoggedOut: "nobody is logged in", api.Expired: "the login has expired",
		api.OwnToken: "its entry has an Authorization header", api.NoLogin: "nobody logs in there",
	}[l.State]
	if l.Message != "" {
		text += ": " + l.Message
	}
	return text
}

// loginDetails is what is known of a login, on lines of their own.
func loginDetails(l *api.Login) string {
	var p page
	row := func(name, value string) {
		if value != "" {
			p.line("  %-8s %s", name, word(value))
		}
	}
	row("by", l.Issuer)
	row("as", l.Client)
	row("scopes", strings.Join(l.Scopes, " "))
	row("wanted", strings.Join(l.Wanted, " "))
	if l.Expires != nil {
		what := l.Expires.Local().Format(time.DateTime)
		if l.Renews {
			what += ", renewed before"
		}
		row("until", what)
	}
	row("kept in", map[string]string{"file": "a file of yours alone", "keyring": "a file sealed with a key in the keyring"}[l.Store])
	if p.Len() == 0 {
		return ""
	}
	return "\n" + strings.TrimSuffix(p.String(), "\n")
}

// linesOf reads lines one at a time. A read that nobody waits for any more goes on until a
// line comes: a terminal cannot be told to stop.
func linesOf(in io.Reader) func(ctx context.Context) (string, error) {
	type line struct {
		text string
		err  error
	}
	r := bufio.NewReader(in)
	came := make(chan line, 1)
	reading := false
	return func(ctx context.Context) (string, error) {
		if !reading {
			reading = true
			go func() {
				text, err := r.ReadString('\n')
				if text != "" {
					err = nil
				}
				came <- line{text, err}
			}()
		}
		select {
		case l := <-came:
			reading = false
			return l.text, l.err
		case <-ctx.Done():
			return "", context.Cause(ctx)
		}
	}
}
