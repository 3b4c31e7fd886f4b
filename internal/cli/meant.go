package cli

import (
	"context"
	"slices"
	"strings"

	"mcpx/internal/api"
	"mcpx/internal/fault"
)

// meant says more about a word that is no command, where what is configured tells: it is the
// name of a server, or looks like that of a tool and is none.
func (v *invocation) meant(ctx context.Context, command string, err error) error {
	name, isTool := toolName(command)
	if !isTool && !plainWord(command) {
		return err
	}
	e := fault.From(err)
	is := func(server string) bool { return strings.EqualFold(server, name) }
	of := func(server string) bool { return strings.HasPrefix(strings.ToLower(name), strings.ToLower(server)+".") }
	servers := v.servers(ctx)
	switch i := slices.IndexFunc(servers, is); {
	case i >= 0:
		s := fault.ShellWord(servers[i])
		return e.Hintf(`it is a server: "mcpx tools %s" shows its tools, "mcpx call %s.TOOL" calls one`, s, s)
	case !isTool && !strings.HasPrefix(e.Hint, "did you mean"):
		return e.Hintf("%s%s", didYouMean(name, servers, `"mcpx tools %s"`), e.Hint)
	case len(servers) == 0 || !strings.Contains(name, ".") || slices.ContainsFunc(servers, of):
		return e
	}
	hint := v.elsewhere(command)
	if server, _, _ := strings.Cut(name, "."); !strings.HasPrefix(hint, "did you mean") {
		hint = didYouMean(server, servers, "%s, which is a server") + `"mcpx ls" lists the servers and their tools`
	}
	return e.Hintf("it is neither a file nor a tool: %s", hint)
}

// servers are the names of those that are configured; none if that cannot be told.
func (v *invocation) servers(ctx context.Context) []string {
	b, err := v.p.Open(ctx, OpenOptions{Config: v.config, Settings: v.settings, Daemon: OwnProcess})
	if err != nil {
		return nil // which the command that is meant will say
	}
	v.backend = b
	out, err := b.ServersList(ctx, api.ServersListInput{})
	if err != nil {
		return nil
	}
	var names []string
	for _, s := range out.Servers {
		names = append(names, s.Name)
	}
	return names
}
