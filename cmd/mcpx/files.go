package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"slices"
	"strings"

	"mcpx/internal/api"
	"mcpx/internal/cli"
	"mcpx/internal/config"
	"mcpx/internal/fault"
	"mcpx/internal/gateway"
	"mcpx/internal/run"
	"mcpx/internal/settings"
	"mcpx/internal/store"
	"mcpx/internal/worker"
	"mcpx/pool"
)

var _ cli.Files = (*backend)(nil)

// options say which configuration is meant. What is trusted is so as of now: a command may
// just have changed it.
func (c *command) options() config.Options {
	return config.Options{Env: c.env, File: c.Config, Text: c.load.text(), Paths: settings.PathsConfig.Get(c.Settings), Trusted: store.OpenTrust(c.state).Trusted}
}

// inputs is where answers to inputs are kept.
func inputs(state string, set *settings.Set) *store.Secrets {
	return store.OpenInputs(state, settings.AuthStore.Get(set), store.SystemKeyring(os.LookupEnv))
}

// answers finds answers to inputs, for config.Env.
func answers(state string) func(key, id string) (string, bool) {
	kept := inputs(state, nil)
	return func(key, id string) (string, bool) {
		text, err := kept.Load(inputName(key, id))
		return string(text), err == nil && text != nil
	}
}

// inputName is the name of the file that an answer is kept in.
func inputName(key, id string) string {
	sum := sha256.Sum256([]byte(key + "\x00\x00" + id))
	return hex.EncodeToString(sum[:16])
}

// Import implements cli.Files.
func (b *backend) Import(ctx context.Context, in api.ImportInput) (*api.ImportOutput, error) {
	out := &api.ImportOutput{Hosts: []api.ImportHost{}}
	o := b.c.options()
	var host *config.Host
	for _, h := range config.Hosts() {
		if in.Host == "" || in.Host == h.Name {
			host = &h
			out.Hosts = append(out.Hosts, importHost(h, o.HostFiles(h.Name)))
		}
	}
	if in.Host == "" {
		return out, nil
	}
	if host == nil {
		e := fault.NotFoundf("there is no host %q", in.Host)
		var longer []string
		for _, h := range config.HostNames() {
			if strings.HasPrefix(h, in.Host+"-") {
				longer = append(longer, h)
			}
		}
		if len(longer) > 0 {
			return nil, e.Hintf("did you mean %s?", strings.Join(longer, " or "))
		}
		if near := settings.Nearest(in.Host, config.HostNames()); near != "" {
			return nil, e.Hintf("did you mean %s?", near)
		}
		return nil, e.Hintf("the hosts are %s", strings.Join(config.HostNames(), ", "))
	}
	own, err := b.c.own()
	if err != nil {
		return nil, err
	}
	destinations, err := destinationsOf(own.entries, in, o.HostFiles(in.Host), out)
	if err != nil {
		return nil, err
	}
	for _, d := range destinations {
		if err := d.in.takeOver(ctx, d.path, d.list, in.Write); err != nil {
			return nil, err
		}
	}
	for _, d := range destinations {
		for _, t := range d.list {
			out.Entries = append(out.Entries, t.told)
		}
	}
	out.Written = in.Write
	return out, nil
}

func importHost(h config.Host, files []config.HostFile) api.ImportHost {
	out := api.ImportHost{Name: h.Name, Title: h.Title, Files: []api.ImportFile{}}
	for _, f := range files {
		if f.State == config.Absent && !f.Near {
			continue
		}
		file := api.ImportFile{Path: f.Path, State: string(f.State), Project: f.Project, Error: f.Err}
		for _, e := range f.Entries {
			file.Servers = append(file.Servers, e.New.Name)
		}
		out.Files = append(out.Files, file)
	}
	return out
}

// taking is an entry on its way into a file.
type taking struct {
	entry config.HostEntry
	told  api.ImportEntry
}

// destination is a file that entries go into.
type destination struct {
	path string
	in   *entries // of the project that it belongs to
	list []*taking
}

// destinationsOf says which entries go into which file, in the order in which they were found.
func destinationsOf(e *entries, in api.ImportInput, files []config.HostFile, out *api.ImportOutput) (all []*destination, err error) {
	given, err := e.place(in.Project, in.User, in.File)
	if err != nil {
		return nil, err
	}
	of := map[string]*destination{}
	seen := map[string]bool{}
	for _, f := range files {
		for _, h := range f.Entries {
			told := api.ImportEntry{Name: h.New.Name, From: f.Path, Notes: h.Notes}
			to, its := given, e
			if to == "" {
				project := f.Project
				if h.Project != "" {
					project, its = true, e.at(h.Project)
				}
				if to, err = its.place(project, !project, ""); err != nil {
					return nil, err
				}
			}
			told.To = to
			err := h.Err
			switch {
			case err != nil:
			case seen[h.New.Name]:
				err = fault.Usagef("a server of that name stands nearer").Hintf("only that one is taken over")
			case to == f.Path:
				err = fault.Usagef("%s is the file that it stands in", f.Path).Hintf("mcpx reads it there; name another file with --file to copy it")
			}
			if err != nil {
				told.State, told.Error = api.ImportLeft, err
				out.Entries = append(out.Entries, told)
				continue
			}
			seen[h.New.Name] = true
			for _, i := range h.Inputs {
				told.Inputs = append(told.Inputs, i.ID)
			}
			if plain := h.New.Plain(); len(plain) > 0 && to == its.env.ProjectFile() {
				told.Notes = append(told.Notes, "written out, in a file that others may read: "+strings.Join(plain, ", "))
			}
			told.Entry = json.RawMessage(h.New.Shown())
			if of[to] == nil {
				of[to] = &destination{path: to, in: its}
				all = append(all, of[to])
			}
			of[to].list = append(of[to].list, &taking{h, told})
		}
	}
	return all, nil
}

// takeOver puts entries into a file, or only says what would become of them.
func (e *entries) takeOver(ctx context.Context, path string, list []*taking, write bool) error {
	var all []config.HostEntry
	for _, t := range list {
		all = append(all, t.entry)
	}
	var taken []string
	change := func(raw []byte) (text []byte, err error) {
		text, taken, err = config.Import(path, raw, all)
		return text, err
	}
	state := api.ImportNew
	if write {
		state = api.ImportWritten
		if _, err := e.edit(ctx, path, true, change); err != nil {
			return err
		}
	} else {
		raw, err := config.Text(path)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fault.Usagef("the configuration file %s cannot be read: %w", path, err).With("file", path)
		}
		if _, err := change(raw); err != nil {
			return err
		}
	}
	for _, t := range list {
		t.told.State = state
		if slices.Contains(taken, t.told.Name) {
			t.told.State, t.told.Entry, t.told.Inputs, t.told.Notes = api.ImportTaken, nil, nil, nil
		}
	}
	return nil
}

// Enable implements cli.Files.
func (b *backend) Enable(ctx context.Context, in api.EnableInput) (*api.EnableOutput, error) {
	own, err := b.c.own()
	if err != nil {
		return nil, err
	}
	s, err := b.c.server(in.Name)
	if err != nil {
		return nil, err
	}
	path := s.Origin.File
	_, err = own.entries.edit(ctx, path, false, func(raw []byte) ([]byte, error) { return config.Enable(path, raw, in.Name, in.On) })
	if err != nil {
		return nil, err
	}
	return &api.EnableOutput{Name: in.Name, Enabled: in.On, File: path}, nil
}

// Init implements cli.Files.
func (b *backend) Init(ctx context.Context, in api.InitInput) (*api.InitOutput, error) {
	own, err := b.c.own()
	if err != nil {
		return nil, err
	}
	e := own.entries
	path := e.named()
	if path == "" || in.User {
		if path, err = e.place(!in.User, in.User, ""); err != nil {
			return nil, err
		}
	}
	there := func() error {
		return fault.Usagef("%s is there already, and stays as it is", path).Hintf("mcpx servers add puts a server into it").With("file", path)
	}
	if _, err := os.Lstat(path); err == nil {
		return nil, there()
	}
	if in.Look {
		return &api.InitOutput{File: path}, nil
	}
	made := false
	_, err = e.edit(ctx, path, true, func(raw []byte) ([]byte, error) {
		if raw != nil {
			return nil, there()
		}
		made = true
		return config.Sketch(in.Imports), nil
	})
	if err != nil {
		return nil, err
	}
	if !made {
		return nil, there()
	}
	return &api.InitOutput{File: path, Imports: in.Imports}, nil
}

// Inputs implements cli.Files.
func (b *backend) Inputs(_ context.Context, in api.InputsInput) (*api.InputsOutput, error) {
	s, err := b.c.server(in.Server)
	if err != nil {
		return nil, err
	}
	kept := inputs(b.c.state, b.c.Settings)
	out := &api.InputsOutput{Server: in.Server, Inputs: []api.ServerInput{}}
	for _, i := range s.Inputs() {
		out.Inputs = append(out.Inputs, api.ServerInput{
			ID: i.ID, Description: i.Description, Default: i.Default, Options: i.Options, Password: i.Password,
			Store: kept.Where(inputName(i.Key, i.ID)),
		})
	}
	return out, nil
}

// server finds an entry in the files as they are now.
func (c *command) server(name string) (*config.Server, error) {
	cfg, err := config.Load(c.options())
	if err != nil {
		return nil, err
	}
	return entryOf(cfg, name)
}

// Give implements cli.Files.
func (b *backend) Give(_ context.Context, in api.GiveInput) (*api.GivenInput, error) {
	return b.c.give(in)
}

func (c *command) give(in api.GiveInput) (*api.GivenInput, error) {
	s, err := c.server(in.Server)
	if err != nil {
		return nil, err
	}
	all := s.Inputs()
	at := slices.IndexFunc(all, func(i config.Input) bool { return i.ID == in.ID })
	if at < 0 {
		return nil, fault.NotFoundf("the server %q has no input %q", in.Server, in.ID)
	}
	i := all[at]
	kept, name := inputs(c.state, c.Settings), inputName(i.Key, i.ID)
	out := &api.GivenInput{Server: in.Server, ID: in.ID}
	if in.Forget {
		return out, kept.Delete(name)
	}
	switch {
	case in.Value == "":
		return nil, fault.Usagef("no value was given for %s", in.ID)
	case len(i.Options) > 0 && !slices.Contains(i.Options, in.Value):
		return nil, fault.Usagef("the value of %s is none of those that it may have", in.ID).
			Hintf("it is one of %s", strings.Join(i.Options, ", "))
	case strings.ContainsRune(in.Value, 0):
		return nil, fault.Usagef("the value of %s holds a NUL character", in.ID)
	}
	if err := kept.Save(name, []byte(in.Value)); err != nil {
		return nil, err
	}
	out.Store = kept.Where(name)
	return out, nil
}

// maxAsked bounds how many inputs a person is asked for on behalf of one call.
const maxAsked = 16

// Call implements api.Servers: what the server needs from the person at the terminal is asked
// for, and kept, before the call is made again.
func (b *backend) Call(ctx context.Context, in api.CallInput) (*api.CallOutput, error) {
	return b.c.asking(ctx, b.Service, in)
}

// asker makes the calls of a script, as backend.Call does.
type asker struct {
	c  *command
	to run.Caller
}

func (a asker) Call(ctx context.Context, in api.CallInput) (*api.CallOutput, error) {
	if l, ok := a.to.(*lazily); ok {
		_, _ = l.servers(ctx) // the daemon is waited for before the server is; the call has the error
	}
	if a.c.Waiting != nil {
		defer a.c.Waiting(in.Server)()
	}
	return a.c.asking(ctx, a.to, in)
}

func (c *command) asking(ctx context.Context, to run.Caller, in api.CallInput) (*api.CallOutput, error) {
	for n := 0; ; n++ {
		out, err := to.Call(ctx, in)
		if n == maxAsked || !c.asksFor(ctx, err) {
			return out, err
		}
	}
}

// asksFor asks the person for the input that an error says there is no answer to, and reports
// whether it is known now.
func (c *command) asksFor(ctx context.Context, err error) bool {
	e, ok := errors.AsType[*fault.Error](err)
	if !ok || c.AskInput == nil {
		return false
	}
	id, _ := e.Details["input"].(string)
	server, _ := e.Details["server"].(string)
	return id != "" && server != "" && c.askFor(ctx, server, id)
}

// askFor asks the person for an input, one at a time, and reports whether it is known now.
func (c *command) askFor(ctx context.Context, server, id string) bool {
	c.questions.Lock()
	defer c.questions.Unlock()
	s, err := c.server(server)
	if err != nil {
		return false
	}
	all := s.Inputs()
	at := slices.IndexFunc(all, func(i config.Input) bool { return i.ID == id })
	if at < 0 {
		return false
	}
	i := all[at]
	if value, ok := c.env.Input(i.Key, i.ID); ok && (len(i.Options) == 0 || slices.Contains(i.Options, value)) {
		return true // another call of the script has asked meanwhile
	}
	value, err := c.AskInput(ctx, server, api.ServerInput{
		ID: i.ID, Description: i.Description, Default: i.Default, Options: i.Options, Password: i.Password,
	})
	if err != nil || value == "" {
		return false
	}
	_, err = c.give(api.GiveInput{Server: server, ID: id, Value: value})
	return err == nil
}

// Check implements cli.Files.
func (b *backend) Check(ctx context.Context, in api.CheckInput) (*api.CheckOutput, error) {
	c := b.c
	cfg, err := config.Load(c.options())
	if err != nil {
		return nil, err
	}
	if err := cfg.Err(); err != nil {
		return nil, fault.Usagef("%s was not tried: %w", in.Server, err)
	}
	servers := pool.New(pool.Options{
		Settings: c.Settings, Environ: os.Environ(), Version: version, Log: c.log, Caller: c.caller,
		Tokens: secrets(c.state, c.Settings),
	})
	g := gateway.New(gateway.Options{
		Config: cfg, Env: c.env, Settings: c.Settings, Pool: servers, Log: c.log,
		Catalog: catalogIn(c.state),
		Globals: worker.Declarations,
	})
	defer g.Close()
	out := &api.CheckOutput{}
	if s, ok := cfg.Server(in.Server); ok {
		out.Guest = s.Guest
	}
	list, err := g.Tools(ctx, api.ToolsInput{Namespace: in.Server, Refresh: true})
	for n := 0; n < maxAsked && c.asksFor(ctx, err); n++ {
		list, err = g.Tools(ctx, api.ToolsInput{Namespace: in.Server, Refresh: true})
	}
	if err != nil {
		if ctx.Err() != nil {
			return nil, err
		}
		out.Error = fault.From(err)
		return out, nil
	}
	for _, t := range list.Tools {
		var a struct {
			ReadOnly bool `json:"readOnlyHint"`
		}
		if len(t.Annotations) > 0 {
			_ = json.Unmarshal(t.Annotations, &a) // what is no annotation vouches for nothing
		}
		if !a.ReadOnly {
			out.Write = append(out.Write, t.Name)
		}
	}
	out.Tools = len(list.Tools)
	return out, nil
}
