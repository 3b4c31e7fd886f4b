package api

import "context"

// Entries changes which servers the configuration files name.
type Entries interface {
	// ServersList lists the entries in force, without starting anything.
	ServersList(ctx context.Context, in ServersListInput) (*ServersListOutput, error)
	// ServersAdd writes an entry into a configuration file, and makes the file if there is
	// none. What stands there already stays as it is, comments too.
	ServersAdd(ctx context.Context, in ServersAddInput) (*ServersAddOutput, error)
	// ServersRemove takes the entry of a server out of the file that it is in.
	ServersRemove(ctx context.Context, in ServersRemoveInput) (*ServersRemoveOutput, error)
}

// ServersListInput asks for the entries in force.
type ServersListInput struct{}

// ServersListOutput lists the entries in force, by name.
type ServersListOutput struct {
	Servers []ConfigServer `json:"servers"`
	Demo    bool           `json:"demo"` // nothing is configured, and the built-in demo server stands in
}

// ServersAddInput is a new entry: Command or URL. Of Project, User and File one is given
// at most; without any it is Project.
type ServersAddInput struct {
	Name    string            `json:"name" doc:"what the server is called"`
	Command []string          `json:"command,omitempty" doc:"a program and its arguments"`
	URL     string            `json:"url,omitempty" flag:"url" value:"URL" doc:"the server runs elsewhere, at URL"`
	Headers map[string]string `json:"headers,omitempty" flag:"header" value:"KEY=VALUE" doc:"send the header KEY=VALUE with every request to --url"`
	Env     map[string]string `json:"env,omitempty" flag:"env" value:"KEY=VALUE" doc:"start the program with the variable KEY=VALUE, which may name ${OTHERS}"`
	Project bool              `json:"project,omitempty" flag:"project" doc:"write into .mcpx.json of the project (default)"`
	User    bool              `json:"user,omitempty" flag:"user" doc:"write into your own file"`
	File    string            `json:"file,omitempty" flag:"file" value:"FILE" doc:"write into FILE"`
	Replace bool              `json:"replace,omitempty" flag:"replace" doc:"take the place of an entry of the same name"`
	// WritePolicy is the entry's; empty leaves it to the setting policy.write.
	WritePolicy string `json:"writePolicy,omitempty" flag:"write-policy" value:"POLICY" words:"allow|ask|deny" doc:"POLICY for tools that change things: allow, ask or deny (default policy.write)"`
}

// ServersAddOutput says where the entry is now.
type ServersAddOutput struct {
	Name     string `json:"name"`
	File     string `json:"file"`
	Replaced bool   `json:"replaced,omitempty"`
	Created  bool   `json:"created,omitempty"` // the file was not there before
	// Spelled is how a script writes the server, if not as tools.NAME.
	Spelled string `json:"spelled,omitempty"`
	// Plain are variables and headers that look like secrets whose values stand in a file of
	// the project, which others may read.
	Plain []string `json:"plain,omitempty"`
	// HiddenBy is the nearer entry of the same name, FILE:LINE, which is in force instead.
	HiddenBy string `json:"hiddenBy,omitempty"`
}

// ServersRemoveInput names the server. Without Project, User and File the entry in force
// goes.
type ServersRemoveInput struct {
	Name    string `json:"name" doc:"what the server is called"`
	Project bool   `json:"project,omitempty" flag:"project" doc:"take it out of .mcpx.json of the project"`
	User    bool   `json:"user,omitempty" flag:"user" doc:"take it out of your own file"`
	File    string `json:"file,omitempty" flag:"file" value:"FILE" doc:"take it out of FILE"`
}

// ServersRemoveOutput says where the entry was.
type ServersRemoveOutput struct {
	Name string `json:"name"`
	File string `json:"file"`
	// Now is the farther entry of the same name, FILE:LINE, which is in force from now on.
	Now string `json:"now,omitempty"`
}
