package cli

import (
	"flag"
	"io"
	"slices"
	"strconv"
	"strings"
	"sync"

	"mcpx/internal/api"
	"mcpx/internal/fault"
	"mcpx/internal/settings"

	"github.com/urfave/cli/v2"
)

// Groups of commands, in the order of the help.
const (
	groupLook  = "Look"
	groupDo    = "Do"
	groupSetUp = "Set up"
	groupServe = "Run it"
	groupAbout = "About it"
)

var groups = []string{groupLook, groupDo, groupSetUp, groupServe, groupAbout}

// Settings that a command reads, by the groups that package settings knows them by.
var (
	serverSettings = []string{"pool", "upstream", "stdio", "config", "session", "daemon.autostart", "daemon.inline", "daemon.endpoint", "daemon.tokenFile", "daemon.leaseTTL", "daemon.reapInterval"}
	callSettings   = append([]string{"policy", "elicit.confirmDestructive"}, serverSettings...)
	runSettings    = append([]string{"exec.timeout", "exec.max", "script", "limits", "artifacts"}, callSettings...)
	execSettings   = append([]string{"exec.where"}, runSettings...)
)

// A view is how the command line does an operation and shows its answer.
type view struct {
	group    string
	settings []string   // groups or paths
	flags    []cli.Flag // besides those of the operation's input
	action   cli.ActionFunc
}

// views holds a view of every operation that has a command, by its name.
func (v *invocation) views() map[string]view {
	output := func(what string) cli.Flag {
		return &cli.StringFlag{Name: "output", Aliases: []string{"o"}, Usage: "write to `FILE` instead of standard output" + what}
	}
	return map[string]view{
		"namespaces":         {groupLook, serverSettings, nil, v.ls},
		"search":             {groupLook, serverSettings, nil, v.search},
		"types":              {groupLook, serverSettings, []cli.Flag{output("")}, v.types},
		"catalog":            {groupLook, append([]string{"catalog"}, serverSettings...), nil, v.catalog},
		"catalog_history":    {groupLook, []string{"config"}, nil, v.changes},
		"history":            {groupLook, []string{"config"}, nil, v.changes},
		"tools":              {groupLook, serverSettings, nil, v.tools},
		"resources":          {groupLook, serverSettings, nil, v.resources},
		"resource_templates": {groupLook, serverSettings, nil, v.resourceTemplates},
		"resource_read":      {groupLook, serverSettings, []cli.Flag{output("")}, v.readResource},
		"prompts":            {groupLook, serverSettings, nil, v.prompts},
		"prompt_get":         {groupLook, serverSettings, nil, v.getPrompt},
		"call":               {groupDo, callSettings, taskFlags(), v.call},
		"batch":              {groupDo, callSettings, nil, v.batch},
		"exec":               {groupDo, execSettings, slices.Concat(scriptFlags(), taskFlags(), v.tape.flags(), grantFlags()), v.exec},
		"tasks_list":         {groupDo, nil, nil, v.tasks},
		"task_get":           {groupDo, nil, nil, v.getTask},
		"task_result":        {groupDo, nil, nil, v.taskResult},
		"task_cancel":        {groupDo, nil, nil, v.cancelTask},
		"artifacts_list":     {groupDo, nil, nil, v.artifacts},
		"artifact_get":       {groupDo, nil, []cli.Flag{output("")}, v.getArtifact},
		"artifact_put":       {groupDo, []string{"artifacts.maxBytes", "artifacts.quota", "artifacts.ttl"}, nil, v.putArtifact},
		"artifact_delete":    {groupDo, nil, nil, v.deleteArtifact},
		"config":             {groupSetUp, []string{"config"}, configFlags(), v.configuration},
		"diagnose":           {groupSetUp, serverSettings, nil, v.doctor},
		"servers_list":       {groupSetUp, []string{"config"}, nil, v.serversList},
		"servers_add":        {groupSetUp, []string{"config", "elicit.confirmDestructive"}, []cli.Flag{&cli.BoolFlag{Name: "no-check", Usage: "do not start it to see what it offers"}}, v.serversAdd},
		"servers_remove":     {groupSetUp, []string{"config"}, nil, v.serversRemove},
		"settings_list":      {groupSetUp, allSettings(), nil, v.settingsList},
		"settings_get":       {groupSetUp, allSettings(), nil, v.settingsGet},
		"settings_set":       {groupSetUp, nil, nil, v.settingsSet},
		"settings_unset":     {groupSetUp, nil, nil, v.settingsUnset},
		"status":             {groupServe, nil, nil, v.status},
		"refresh":            {groupServe, serverSettings, nil, v.refresh},
		"session_list":       {groupServe, nil, nil, v.sessionList},
		"session_release":    {groupServe, nil, nil, v.sessionRelease},
		"session_restart":    {groupServe, nil, nil, v.sessionRestart},
		"daemon_restart":     {groupServe, nil, nil, v.daemonRestart},
		"shutdown":           {groupServe, nil, []cli.Flag{&cli.BoolFlag{Name: "all", Usage: "also those that stand for other configuration files"}}, v.daemonStop},
		"events":             {groupServe, nil, nil, v.daemonEvents},
	}
}

// app declares the commands: those of the operations, and those that are about the
// command line itself. It is made anew for every invocation: urfave/cli writes into what
// it is given.
func (v *invocation) app() *cli.App {
	app := &cli.App{
		Name:  "mcpx",
		Usage: "every MCP server behind one command, and TypeScript that calls them all",
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "json", Usage: "print exactly one JSON document on standard output"},
			&cli.StringFlag{Name: "config", Usage: "read this configuration `FILE` and no other"},
			&cli.StringFlag{Name: "session", Usage: "share the servers of the session `NAME`, which lasts until it is released"},
			&cli.BoolFlag{Name: "verbose", Aliases: []string{"v"}, Usage: "say on standard error what mcpx does: runs, grants, servers"},
			&cli.BoolFlag{Name: "no-color", Usage: "let scripts print without colours (as NO_COLOR does)"},
			&cli.BoolFlag{Name: "version", Usage: "print the version"},
			&cli.BoolFlag{Name: "help", Aliases: []string{"h"}, Usage: "print help, of a command if one is named"},
		},
		// What is printed, and with which code the process ends, is decided in finish.
		HideHelp: true, HideVersion: true,
		Writer: io.Discard, ErrWriter: io.Discard,
		ExitErrHandler:            func(*cli.Context, error) {},
		DisableSliceFlagSeparator: true, // a value may hold commas
	}
	views := v.views()
	for _, o := range api.Operations() {
		w, ok := views[o.Name]
		if o.Command == "" || !ok {
			continue
		}
		app.Commands = append(app.Commands, &cli.Command{
			Name: o.Command, Category: w.group, Usage: o.Summary, ArgsUsage: o.Args, Description: o.Description, UsageText: o.Example,
			Flags: slices.Concat(inputFlags(o), settingFlags(w.settings...), w.flags), Action: w.action,
		})
	}
	app.Commands = append(app.Commands, v.own()...)
	app.Commands = append(app.Commands, v.makeCommands()...)
	app.Commands = append(app.Commands, v.authCommands()...)
	app.Commands = append(app.Commands, v.ruleCommands()...)
	app.Commands = append(app.Commands, v.fileCommands()...)
	slices.SortStableFunc(app.Commands, func(a, b *cli.Command) int { return place(a.Name) - place(b.Name) })
	for _, c := range app.Commands {
		c.HideHelp = true
		c.OnUsageError = func(_ *cli.Context, err error, _ bool) error {
			return fault.Internalf("a command line that was in order: %w", err)
		}
	}
	return app
}

// order is that of the commands in the help, by their names or the first word of them.
var order = strings.Fields(`
	ls search types catalog tools resources prompts history
	call batch exec run bundle build task artifact
	init servers import auth config settings doctor
	status refresh serve daemon session
	help docs completion man version
`)

// seconds puts the commands about a daemon in the order of its life.
var seconds = []string{"daemon start", "daemon stop", "daemon restart", "daemon status", "daemon logs", "daemon events"}

func place(name string) int {
	first, _, _ := strings.Cut(name, " ")
	return slices.Index(order, first)*(len(seconds)+1) + slices.Index(seconds, name) + 1
}

// own declares the commands that are no operations: they belong to this process, its
// terminal and its files.
func (v *invocation) own() []*cli.Command {
	return []*cli.Command{
		{
			Name: "run", Category: groupDo, Usage: "run a script", ArgsUsage: "FILE|- [args…]",
			Description: "Runs a TypeScript or JavaScript file as exec runs text. Flags of mcpx stand before FILE:\n" +
				"everything behind it belongs to the script, which finds it unchanged in process.argv. -\n" +
				"reads the script from standard input. The command may be left out before a path that ends\n" +
				"in .ts, .js, .mts or .mjs, or that exists.",
			Flags:     slices.Concat(settingFlags(execSettings...), scriptFlags(), taskFlags(), v.tape.flags(), grantFlags()),
			Action:    v.runFile,
			UsageText: "mcpx run report.ts --since yesterday\nmcpx run --timeout 1m --json report.ts\nmcpx run --permissions none --allow-tools=github:read theirs.ts\nmcpx ./report.ts a b",
		},
		{
			Name: "serve", Category: groupServe, Usage: "offer the tools to another program, as an MCP server",
			Description: "Speaks MCP on the standard streams, or over HTTP with --http, until the client is gone or\n" +
				"it is interrupted. What is offered depends on the mode:\n" +
				"\n" +
				"code         mcpx_exec, which runs scripts as exec does, and tools that find, describe and\n" +
				"             call the tools of all servers\n" +
				"full         every tool of every server, as SERVER__TOOL\n" +
				"passthrough  one server as it is\n" +
				"\n" +
				"Permissions are given here, for all that the client asks: a script has no more, and a tool\n" +
				"that is not granted is not offered.\n" +
				"\n" +
				"Over HTTP every request needs the token that is in the file --token-file names; without that\n" +
				"flag it is made, and kept in the state directory. --no-auth asks for none, on a loopback\n" +
				"address only: then every program on this machine may do what you may.\n" +
				"\"mcpx docs serve\" tells more.",
			Flags: append(append([]cli.Flag{
				&cli.StringFlag{Name: "mode", Usage: "what is offered: `MODE` is code, full or passthrough (default code)"},
				&cli.StringFlag{Name: "server", Usage: "with --mode passthrough: the server is `NS`; without it the only one there is"},
				&cli.StringFlag{Name: "http", Usage: "listen at `ADDR`: HOST:PORT, or :PORT for 127.0.0.1 (default the standard streams)"},
				&cli.StringFlag{Name: "token-file", Usage: "the token that clients must have is in `FILE`; without it one is made and kept"},
				&cli.BoolFlag{Name: "no-auth", Usage: "ask for no token; on a loopback address only"},
				&cli.StringFlag{Name: "hosts", Usage: "clients may call it by these `NAMES` besides its address, separated by commas"},
			}, settingFlags(append([]string{"catalog", "elicit", "serve", "tasks"}, runSettings...)...)...), grantFlags()...),
			Action: v.serve,
			UsageText: "mcpx serve\n" +
				"mcpx serve --mode full --deny-tools=github.delete_repository\n" +
				"mcpx serve --mode passthrough --server files\n" +
				"mcpx serve --http 127.0.0.1:7777",
		},
		{
			Name: "session name", Category: groupServe, Usage: "print the session that commands here belong to",
			Description: "A session groups the calls that share the servers of the scope session: the one of --session,\n" +
				"of MCPX_SESSION_ID, of the agent that mcpx was started from, or of the terminal that it runs\n" +
				"in; \"mcpx docs sessions\" says how each is told. Starts nothing. The exit code is 2 if\n" +
				"there is none.",
			Flags:     settingFlags("session"),
			Action:    v.sessionName,
			UsageText: "mcpx session name\nMCPX_SESSION_ID=review mcpx session name",
		},
		{
			Name: "daemon start", Category: groupServe, Usage: "start the daemon, unless it runs",
			Description: "The daemon holds the servers, so that they are there for the next command. It is started\n" +
				"when it is first needed; daemon.inline and daemon.autostart say otherwise.\n" +
				"\"mcpx docs daemon\" tells more.",
			Flags:     settingFlags(append(daemonSettings(), "config")...),
			Action:    v.daemonStart,
			UsageText: "mcpx daemon start",
		},
		{
			Name: "daemon status", Category: groupServe, Usage: "show the daemon, as status does",
			Description: "It is the same as \"mcpx status\".",
			Action:      v.status,
			UsageText:   "mcpx daemon status",
		},
		{
			Name: "daemon logs", Category: groupServe, Usage: "print the end of the daemon's log",
			Description: "The log has a line of JSON for each thing that the daemon did: servers that start, end or fail,\n" +
				"configuration files that change. It is there too when the daemon has ended; the next one\n" +
				"begins it anew.",
			Flags: append([]cli.Flag{
				&cli.StringFlag{Name: "lines", Aliases: []string{"n"}, Usage: "print the last `N` lines (default 20)"},
				&cli.BoolFlag{Name: "follow", Aliases: []string{"f"}, Usage: "go on with what is written, until it is interrupted"},
			}, settingFlags("config", "daemon.endpoint")...),
			Action:    v.daemonLogs,
			UsageText: "mcpx daemon logs\nmcpx daemon logs -n 100\nmcpx daemon logs -f | jq -c '{time, msg, server}'",
		},
		{
			Name: "help", Category: groupAbout, Usage: "print help, of a command if one is named", ArgsUsage: "[COMMAND]",
			Description: "With -v the help of a command explains every setting that it reads. The name of a page of\n" +
				"the documentation prints that page, if no command has the name: \"mcpx docs\" lists them.",
			Action:    v.help,
			UsageText: "mcpx help exec\nmcpx help servers add\nmcpx help -v exec\nmcpx exec --help\nmcpx help permissions",
		},
		{
			Name: "docs", Category: groupAbout, Usage: "print a page of the documentation, or list the pages", ArgsUsage: "[PAGE]",
			Description: "The pages are part of this file, in Markdown. A page about a command has the command's name:\n" +
				"\"mcpx help serve\" is about its flags, \"mcpx docs serve\" about what it is for. Where a page\n" +
				"has a link to another, \"mcpx docs\" takes the link, too: permissions.md, guide/ci.md.",
			Action:    v.docs,
			UsageText: "mcpx docs\nmcpx docs guide/scripts\nmcpx docs permissions | less",
		},
		{
			Name: "completion", Category: groupAbout, Usage: "print a script that has a shell complete commands, flags and tools", ArgsUsage: "bash|zsh|fish",
			Description: "The names of tools are those that are known already: no server is started for a key that is\n" +
				"pressed. mcpx ls makes them known.",
			Action:    v.completion,
			UsageText: "source <(mcpx completion bash)\nmcpx completion zsh > ~/.zfunc/_mcpx\nmcpx completion fish > ~/.config/fish/completions/mcpx.fish",
		},
		{
			Name: "man", Category: groupAbout, Usage: "print the manual, as a page for man",
			Action:    v.man,
			UsageText: "mcpx man > ~/.local/share/man/man1/mcpx.1\nmcpx man | man -l -",
		},
		{
			Name: "version", Category: groupAbout, Usage: "print the version",
			Action:    v.version,
			UsageText: "mcpx version",
		},
	}
}

// inputFlags makes the flags of an operation's input.
func inputFlags(o *api.Operation) []cli.Flag {
	var out []cli.Flag
	for _, f := range o.Fields() {
		doc := strings.Replace(f.Doc, f.Value, "`"+f.Value+"`", 1)
		switch {
		case f.Flag == "":
		case f.Kind == api.Switch:
			out = append(out, &cli.BoolFlag{Name: f.Flag, Usage: f.Doc})
		case f.Kind == api.List || f.Kind == api.Pairs:
			out = append(out, &cli.StringSliceFlag{Name: f.Flag, Usage: doc})
		default:
			out = append(out, &cli.StringFlag{Name: f.Flag, Usage: doc})
		}
	}
	return out
}

// input reads the input of an operation off the flags.
func input[In any](c *cli.Context) (In, error) {
	return api.FromFlags[In](func(f api.Field) []string {
		switch {
		case !c.IsSet(f.Flag):
			return nil
		case f.Kind == api.Switch:
			return []string{strconv.FormatBool(c.Bool(f.Flag))}
		case f.Flag == "header":
			return headers(c.StringSlice(f.Flag))
		case f.Kind == api.List || f.Kind == api.Pairs:
			return c.StringSlice(f.Flag)
		}
		return []string{c.String(f.Flag)}
	})
}

// settingFlag is the flag of a setting. Its value goes to a settings.Set: urfave/cli only
// knows that it is there, writes nothing into it, and so all commands share one.
type settingFlag struct {
	info  settings.Info
	names []string // as urfave/cli has them: the short spelling first
}

func (f *settingFlag) Names() []string           { return f.names }
func (f *settingFlag) String() string            { return dashed(f.names[0]) }
func (f *settingFlag) IsSet() bool               { return false }
func (f *settingFlag) Apply(*flag.FlagSet) error { return nil }

// everySettingFlag has those with a short spelling first.
var everySettingFlag = sync.OnceValue(func() []*settingFlag {
	var short, long []*settingFlag
	for _, i := range settings.All() {
		if i.Alias != "" {
			short = append(short, &settingFlag{i, []string{i.Alias, i.Flag}})
		} else {
			long = append(long, &settingFlag{i, []string{i.Flag}})
		}
	}
	return append(short, long...)
})

// settingFlags are the flags of settings, by their groups or whole paths.
func settingFlags(of ...string) []cli.Flag {
	var out []cli.Flag
	for _, f := range everySettingFlag() {
		group, _, _ := strings.Cut(f.info.Path, ".")
		if group == "paths" || group == "plumbing" {
			group = "config" // whoever reads the files reads these
		}
		if slices.Contains(of, group) || slices.Contains(of, f.info.Path) {
			out = append(out, f)
		}
	}
	return out
}

// ask opens the backend and asks it one thing.
func ask[In, Out any](v *invocation, c *cli.Context, o *api.Op[In, Out], in In) (*Out, error) {
	b, err := v.open(c.Context)
	if err != nil {
		return nil, err
	}
	defer v.waiting("asking the servers", boundedCall)()
	return o.Do(c.Context, b, in)
}

func (v *invocation) version(c *cli.Context) error {
	if err := takes(c, 0, 0); err != nil {
		return err
	}
	doc := struct {
		Version string `json:"version"`
	}{v.p.Version}
	return v.answer(doc, func() string { return "mcpx " + v.p.Version + "\n" })
}
