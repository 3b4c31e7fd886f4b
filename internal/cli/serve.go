package cli

import (
	"cmp"
	"strings"

	"mcpx/internal/api"
	"mcpx/internal/fault"

	"github.com/urfave/cli/v2"
)

// ServeOptions says what serve offers, and to whom.
type ServeOptions struct {
	Mode   string // code, full or passthrough; anything else is an error
	Server string // of passthrough; empty means the only one
	// Exec holds the permissions of what clients ask for.
	Exec api.ExecInput

	HTTP      string   // the address to listen at; empty means the standard streams
	TokenFile string   // absolute; empty means a token that is kept in the state directory
	NoAuth    bool     // no token is asked for
	Hosts     []string // names that the server may be called by
}

// serve offers mcpx to another program.
func (v *invocation) serve(c *cli.Context) error {
	if err := takes(c, 0, 0); err != nil {
		return err
	}
	o := ServeOptions{
		Mode: cmp.Or(c.String("mode"), "code"), Server: c.String("server"),
		HTTP: c.String("http"), NoAuth: c.Bool("no-auth"),
	}
	for name := range strings.SplitSeq(c.String("hosts"), ",") {
		if name = strings.TrimSpace(name); name != "" {
			o.Hosts = append(o.Hosts, name)
		}
	}
	switch file := c.String("token-file"); {
	case v.json:
		return fault.Usagef("serve has no answer that --json could print")
	case file != "" && o.NoAuth:
		return fault.Usagef("--no-auth asks for no token, and --token-file names one").Hintf("give one of them")
	case o.HTTP == "" && (file != "" || o.NoAuth || o.Hosts != nil):
		return fault.Usagef("--token-file, --no-auth and --hosts are for --http, which is not given")
	case file != "":
		o.TokenFile = v.path(file)
	}
	if err := v.permissions.apply(&o.Exec, v.profileGiven); err != nil {
		return err
	}
	b, err := v.openOwn(c.Context)
	if err != nil {
		return err
	}
	v.unmet(c.Context, b)
	v.standIn(c.Context, o.Server)
	return b.Serve(c.Context, o, v.p.Stdin, v.p.Stdout, func(text string) { v.say("%s", text) })
}
