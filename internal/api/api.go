// Package api is what can be asked of mcpx, as types: the operations on servers and
// tools (Service), the running of scripts (Runner), their inputs and their outputs.
//
// The command line is written against these types alone. Who answers is decided in
// cmd/mcpx: the gateway of this process, or a client of the daemon.
//
// Outputs are what --json prints. Their fields only ever grow.
package api

import (
	"context"
	"encoding/json"
	"io"
	"time"

	"mcpx/internal/fault"
	"mcpx/mcp"
)

// Service answers for everything that can be asked, for one caller. Errors are of package
// fault. It consists of parts so that what answers can be put together from parts.
type Service interface {
	Servers
	Offers
	Process
	Entries
	Tuning
	Scripts
	Artifacts
	Tasks
}

// Servers answers for servers and their tools.
type Servers interface {
	// Namespaces lists the configured servers with their tools, starting those whose
	// tools are not known yet. A server that fails is listed with its error.
	Namespaces(ctx context.Context, in NamespacesInput) (*NamespacesOutput, error)
	// Tools lists the tools of one namespace or of all.
	Tools(ctx context.Context, in ToolsInput) (*ToolsOutput, error)
	// Types declares tools in TypeScript.
	Types(ctx context.Context, in TypesInput) (*TypesOutput, error)
	// Search finds tools by words.
	Search(ctx context.Context, in SearchInput) (*SearchOutput, error)
	// Catalog fits all namespaces and as many signatures as it can into a number of tokens.
	Catalog(ctx context.Context, in CatalogInput) (*CatalogOutput, error)
	// Changes tells what changed in the tools of servers, without starting any.
	Changes(ctx context.Context, in ChangesInput) (*ChangesOutput, error)
	// Call calls one tool. A tool that answers with isError is no error of Call.
	Call(ctx context.Context, in CallInput) (*CallOutput, error)
	// Batch makes several calls; see RunBatch.
	Batch(ctx context.Context, in BatchInput) (*BatchOutput, error)
	// Config says which files and servers are in force, without starting anything.
	Config(ctx context.Context, in ConfigInput) (*ConfigOutput, error)
	// Doctor tries every server and the machine, and reports each finding.
	Doctor(ctx context.Context, in DoctorInput) (*DoctorOutput, error)
}

// Runner runs one script. The error is of package fault and says why no run took
// place; how a run that did ended is in its output.
type Runner interface {
	Run(ctx context.Context, in ExecInput, streams Streams) (*ExecOutput, error)
}

// NamespacesInput asks for the servers, or for one.
type NamespacesInput struct {
	Namespace string `json:"namespace,omitempty" doc:"this server only"`
	Refresh   bool   `json:"refresh,omitempty" flag:"refresh" doc:"ask the servers again instead of using what is known of them"`
}

// NamespacesOutput lists the servers in the order of their names.
type NamespacesOutput struct {
	Namespaces []Namespace `json:"namespaces"`
	Demo       bool        `json:"demo"` // nothing is configured, and the built-in demo server stands in
}

// Namespace is one server as a script sees it.
type Namespace struct {
	Name         string       `json:"name"`
	Alias        string       `json:"alias,omitempty"`  // how a script can write it behind a dot, if not so
	Transport    string       `json:"transport"`        // stdio, http, sse
	Origin       string       `json:"origin,omitempty"` // FILE:LINE of its entry
	Disabled     bool         `json:"disabled,omitempty"`
	Tools        []ToolBrief  `json:"tools"`
	Instructions string       `json:"instructions,omitempty"` // the server's own words
	Error        *fault.Error `json:"error,omitempty"`        // why its tools cannot be listed
	Warnings     []string     `json:"warnings,omitempty"`
}

// ToolBrief is a tool in a listing.
type ToolBrief struct {
	Name        string `json:"name"`
	Alias       string `json:"alias,omitempty"` // how a script can write it behind a dot, if not so
	Title       string `json:"title,omitempty"`
	Description string `json:"description,omitempty"`
}

// ToolsInput asks for the tools of Namespace, or of all servers if it is empty.
type ToolsInput struct {
	Namespace string `json:"namespace,omitempty" doc:"of this server only"`
	Refresh   bool   `json:"refresh,omitempty" flag:"refresh" doc:"ask the servers again instead of using what is known of them"`
}

// ToolsOutput lists tools, by namespace and then in the server's order.
type ToolsOutput struct {
	Tools []Tool `json:"tools"`
}

// Tool is one tool, whole.
type Tool struct {
	Namespace    string          `json:"namespace"`
	Name         string          `json:"name"`
	Aliases      []string        `json:"aliases,omitempty"` // other spellings a script may use
	Title        string          `json:"title,omitempty"`
	Description  string          `json:"description,omitempty"`
	InputSchema  json.RawMessage `json:"inputSchema,omitempty"`
	OutputSchema json.RawMessage `json:"outputSchema,omitempty"`
	Annotations  json.RawMessage `json:"annotations,omitempty"`
	// Definition is the tool's entry of tools/list, as the server sent it.
	Definition json.RawMessage `json:"-"`
}

// TypesInput names what to declare: NS, NS.TOOL, or everything if it is empty.
type TypesInput struct {
	Name    string `json:"name,omitempty" tool:"needed" doc:"NS or NS.TOOL"`
	Globals bool   `json:"globals,omitempty" flag:"globals" tool:"-" doc:"also declare what a script finds besides tools: globals and modules"`
	// Brief leaves out what all tools have in common, so that a declaration costs few
	// tokens; it does not stand on its own then.
	Brief bool `json:"brief,omitempty" tool:"-" doc:"leave out what all tools have in common"`
}

// TypesOutput is a TypeScript declaration file that stands on its own.
type TypesOutput struct {
	Declarations string `json:"declarations"`
}

// SearchInput is a request in words.
type SearchInput struct {
	Words     string `json:"words" doc:"what the tool should do"`
	Namespace string `json:"namespace,omitempty" flag:"ns" value:"NS" doc:"look in namespace NS only"`
	Limit     int    `json:"limit,omitempty" flag:"limit" value:"N" min:"1" doc:"at most N tools (default 10)"`
	// Grant bounds what is found to what may be called, and servers of which nothing may
	// be called are not asked for their tools; nil is no bound.
	Grant *ToolGrant `json:"grant,omitempty" tool:"-" doc:"what may be found; without it everything"`
}

// SearchOutput holds the tools found, best first.
type SearchOutput struct {
	Results []SearchResult `json:"results"`
}

// SearchResult is one tool found. Signature is one line of TypeScript.
type SearchResult struct {
	Namespace   string  `json:"namespace"`
	Name        string  `json:"name"`
	Alias       string  `json:"alias,omitempty"` // likewise
	Description string  `json:"description,omitempty"`
	Signature   string  `json:"signature"`
	Score       float64 `json:"score"`
}

// CatalogInput asks for an overview of the tools of all servers.
type CatalogInput struct {
	Budget  int    `json:"budget,omitempty" min:"1" doc:"tokens; without it the setting catalog.budget"`
	Bias    string `json:"bias,omitempty" flag:"bias" value:"WORDS" doc:"show the tools that fit WORDS before others"`
	Refresh bool   `json:"refresh,omitempty" flag:"refresh" tool:"-" doc:"ask the servers again instead of using what is known of them"`
}

// CatalogOutput is an overview of the tools of all servers.
type CatalogOutput struct {
	Budget     int                `json:"budget"`
	Tokens     int                `json:"tokens"` // of Text, by estimate; never more than Budget
	Tools      int                `json:"tools"`  // in all namespaces
	Shown      int                `json:"shown"`  // with their signatures
	Namespaces []CatalogNamespace `json:"namespaces"`
	Text       string             `json:"text"` // what the command prints
}

// CatalogNamespace is one server in an overview.
type CatalogNamespace struct {
	Name         string        `json:"name"`
	Tools        int           `json:"tools"`                  // how many there are
	Instructions string        `json:"instructions,omitempty"` // the server's own words, as far as there was room
	Shown        []CatalogTool `json:"shown"`
	Error        *fault.Error  `json:"error,omitempty"` // why its tools are not known
}

// CatalogTool is a tool in an overview. Signature is one short line: the call, and what
// it gives behind an arrow.
type CatalogTool struct {
	Name      string `json:"name"`
	Signature string `json:"signature"`
}

// ChangesInput asks for the changes of one server, of one tool (NS.TOOL), or of all.
type ChangesInput struct {
	Name string `json:"name,omitempty" doc:"NS or NS.TOOL"`
}

// ChangesOutput holds the changes by server, in the order of their names.
type ChangesOutput struct {
	Servers []ServerChanges `json:"servers"`
}

// ServerChanges is what is known of the past of one server.
type ServerChanges struct {
	Namespace string       `json:"namespace"`
	Since     *time.Time   `json:"since,omitempty"` // when its tools were first listed; absent if they never were
	Changes   []ToolChange `json:"changes"`         // the newest first
	// Pending are the tools that are not as they were when they were first seen, and that
	// nobody has accepted as they are now.
	Pending []string `json:"pending,omitempty"`
}

// AcceptInput names what is accepted as it is now: NS.TOOL, or all tools of NS.
type AcceptInput struct {
	Name string `json:"name"`
}

// AcceptOutput lists the tools that had changed and are accepted now, as NS.TOOL.
type AcceptOutput struct {
	Accepted []string `json:"accepted"`
}

// ToolChange is what became of one tool.
type ToolChange struct {
	When      time.Time      `json:"when"` // it was found
	Tool      string         `json:"tool"`
	Kind      string         `json:"kind"` // added, removed, changed
	Arguments []SchemaChange `json:"arguments,omitempty"`
	Result    []SchemaChange `json:"result,omitempty"`
	Reworded  bool           `json:"reworded,omitempty"` // its title, description or annotations changed
	// Was is the schema of its arguments until then, if that changed or the tool is gone.
	Was json.RawMessage `json:"was,omitempty"`
}

// SchemaChange is one way in which a schema changed. Before and After are types in
// TypeScript.
type SchemaChange struct {
	Kind   string `json:"kind"`            // added, required, optional, removed, retyped, reworded
	Field  string `json:"field,omitempty"` // a, a.b, a[].b; empty for the whole
	Before string `json:"before,omitempty"`
	After  string `json:"after,omitempty"`
}

// CallInput calls Tool of Server. Both are the server's own names or an alias.
// Arguments is a JSON object; absent means none.
type CallInput struct {
	Server    string          `json:"server" doc:"the server, by its name or an alias"`
	Tool      string          `json:"tool" doc:"the tool, by its name or an alias"`
	Arguments json.RawMessage `json:"arguments,omitempty" doc:"those of the tool, a JSON object"`
	// Grant bounds what may be called; nil is no bound: whoever asks is the user.
	Grant *ToolGrant `json:"grant,omitempty" tool:"-" doc:"what may be called; without it everything"`
	// Peer is told and asked what the server has to say and to ask while the call is under
	// way; nil is told nothing and cannot be asked.
	Peer Peer `json:"-"`
	// Consent is who may allow the call, if it is one that has to be asked about; nil:
	// nobody can be asked, and such a call is denied.
	Consent Consent `json:"-"`
	// InputResponses and RequestState answer what the server asked for with an unfinished
	// result of this call; they are passed on as they are.
	InputResponses json.RawMessage `json:"inputResponses,omitempty" tool:"-" doc:"answers to what an unfinished result asked for, by its names"`
	RequestState   json.RawMessage `json:"requestState,omitempty" tool:"-" doc:"the requestState of that result"`
	// Bare leaves Value and Text out of the output: they are made of its Result, which may be
	// long.
	Bare bool `json:"bare,omitempty" tool:"-" doc:"answer with the result alone, without value and text, which are made of it"`
	// Artifacts says that the caller takes artifacts: then media in the result become such,
	// and links stand in their place.
	Artifacts *ArtifactWish `json:"artifacts,omitempty" doc:"take media of the result as artifacts: links to them stand in their place; its one delivery is reference"`
	// Task has the call go on by itself; the output is the task then.
	Task *TaskWish `json:"task,omitempty" doc:"make a task of it, which goes on by itself; the answer is the task"`
}

// Caller is who asks, as far as it decides what is started for it and with whom it is
// shared. The zero Caller is this process in its own environment.
type Caller struct {
	Dir     string   `json:"dir"`               // the working directory, absolute
	Session string   `json:"session,omitempty"` // groups the calls of one user of the servers; empty for none
	Lasting bool     `json:"lasting,omitempty"` // the session was named, and outlives the process
	Pid     int      `json:"pid,omitempty"`     // of the process that asks
	Environ []string `json:"environ,omitempty"` // NAME=VALUE
	// Settings is what flags and variables of the caller say, by path, for its calls alone;
	// settings.Set.With puts them over those of the files. They travel in a header of their
	// own, and only those that are about a call.
	Settings map[string]string `json:"-"`
}

// Peer is whoever made a call, as far as the server that is called can reach it. Its
// methods may be called from several goroutines until the call has returned.
type Peer interface {
	// Notify tells what the server says of its own accord while the call is under way:
	// progress, messages of its log. Params are the server's, but for the progressToken,
	// which is gone. It must not block.
	Notify(method string, params json.RawMessage)
	// Ask puts a question of the server: elicitation/create, sampling/createMessage or
	// roots/list with the server's own parameters. The error is a *mcp.Error if the peer
	// refused; a peer that cannot be asked refuses with the code that MCP has for that.
	Ask(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error)
	// TakesUnfinished says that the peer takes a result that asks for input
	// (input_required) as the result of the call, and makes the call again with what was
	// asked for, as the modern era has it. Then Ask is only used for servers of the
	// legacy era.
	TakesUnfinished() bool
}

// Nobody is the error of a Peer that cannot be asked. A call whose server asks a person
// ends with it, and says what was asked.
func Nobody(method string) error {
	return mcp.Errorf(mcp.CodeMethodNotFound, "there is nobody here who answers %s", method)
}

// Client is a Peer that speaks MCP itself. What it declared is what servers of the
// modern era hear, and servers that speak both eras are spoken to in its own.
type Client interface {
	Peer
	Modern() bool                  // its era
	Capabilities() json.RawMessage // what it declared, an object or nil
	LogLevel() string              // the least severe messages of a server's log that it wants; empty for none
}

// ToolGrant is what a caller may call, in words of the grant tools.
type ToolGrant struct {
	Allow []string `json:"allow,omitempty"`
	Deny  []string `json:"deny,omitempty"`
}

// CallOutput is the answer of a tool: the CallToolResult as the server sent it, byte for byte.
type CallOutput struct {
	Server string          `json:"server"`
	Tool   string          `json:"tool"` // the server's own name
	Result json.RawMessage `json:"result"`
	// IsError says that the tool answered with an error; Text is then its message.
	IsError bool `json:"isError"`
	// Value is the result as JSON, by the rules that a script sees it; IsText says that
	// it is text, which then stands in Text instead.
	Value  json.RawMessage `json:"value,omitempty"`
	Text   string          `json:"text,omitempty"`
	IsText bool            `json:"isText,omitempty"`
	// Diagnostics is what the tool's schema has against the arguments of a call that failed.
	Diagnostics []string `json:"diagnostics,omitempty"`
	// Warnings is what mcpx has to say of the tool: that it is not as it was, for one.
	Warnings []string `json:"warnings,omitempty"`
	// Coerced lists the arguments that were converted to the type that the schema names.
	Coerced []string `json:"coerced,omitempty"`
	// Artifacts are the media of the result, if the caller takes them.
	Artifacts []Artifact `json:"artifacts,omitempty"`
	// Task is what goes on by itself, if that was asked for; there is nothing else then.
	Task *Task `json:"task,omitempty"`
}

// ConfigInput asks for the configuration in force.
type ConfigInput struct{}

// ConfigOutput is the configuration in force.
type ConfigOutput struct {
	Files    []ConfigFile   `json:"files"`
	Servers  []ConfigServer `json:"servers"`
	Demo     bool           `json:"demo"`
	Warnings []string       `json:"warnings,omitempty"`
}

// Err is what is wrong with the first file that is broken, without which too much would be
// missing to go on; nil if there is none.
func (o *ConfigOutput) Err() *fault.Error {
	for _, f := range o.Files {
		if f.Error != nil && !f.Apart {
			return f.Error
		}
	}
	return nil
}

// ConfigFile is a place where configuration is looked for.
type ConfigFile struct {
	Path  string       `json:"path"`
	State string       `json:"state"` // read, absent, broken
	Error *fault.Error `json:"error,omitempty"`
	// Project says that the file was found in a project; Trusted, that the user vouches
	// for what it holds now.
	Project bool `json:"project,omitempty"`
	Trusted bool `json:"trusted,omitempty"`
	// By is who names the file, FILE:LINE or paths.config; empty if it was searched for. Host
	// is the other program whose file it is.
	By   string `json:"by,omitempty"`
	Host string `json:"host,omitempty"`
	// Apart says that it is that program's alone: if it is broken, nothing but its servers is
	// missing.
	Apart bool `json:"apart,omitempty"`
}

// ConfigServer is one entry in force.
type ConfigServer struct {
	Name      string       `json:"name"`
	Transport string       `json:"transport"`
	Command   []string     `json:"command,omitempty"` // as written, before placeholders
	URL       string       `json:"url,omitempty"`     // as written
	Origin    string       `json:"origin"`            // FILE:LINE
	Disabled  bool         `json:"disabled,omitempty"`
	Error     *fault.Error `json:"error,omitempty"`
	Ignored   []string     `json:"ignored,omitempty"` // keys of other hosts that mcpx does not read
}

// TrustInput names a folder of a project; empty means those whose files are in force.
type TrustInput struct {
	Folder string `json:"folder,omitempty"`
	Revoke bool   `json:"revoke,omitempty"` // take it back
}

// TrustOutput lists the files that it was about.
type TrustOutput struct {
	Files []string `json:"files"`
}

// DoctorInput asks for a look at everything.
type DoctorInput struct{}

// TrustServerInput names a server whose tools may write.
type TrustServerInput struct {
	Name string `json:"name"`
}

// TrustServerOutput says which file says so now.
type TrustServerOutput struct {
	Name string `json:"name"`
	File string `json:"file"`
}

// EnableInput names a server that is to be in use, or to be left out.
type EnableInput struct {
	Name string `json:"name"`
	On   bool   `json:"on"`
}

// EnableOutput says which file says so now.
type EnableOutput struct {
	Name    string `json:"name"`
	Enabled bool   `json:"enabled"`
	File    string `json:"file"`
}

// DoctorOutput holds one finding a line. Healthy is false if any has state "failed".
type DoctorOutput struct {
	Healthy  bool      `json:"healthy"`
	Findings []Finding `json:"findings"`
}

// The states of a Finding.
const (
	Fine    = "ok"
	Warning = "warning" // it works, perhaps not as it is meant
	Failed  = "failed"
)

// Finding is the state of one thing that was looked at.
type Finding struct {
	Subject string   `json:"subject"` // "config /x/.mcp.json", "server demo", "state directory"
	State   string   `json:"state"`   // Fine, Warning or Failed
	Message string   `json:"message"`
	Hint    string   `json:"hint,omitempty"`    // what to do next; always there if the state is not Fine
	Details []Detail `json:"details,omitempty"` // what was seen, for whoever wants to know more
}

// Detail is one thing that was seen.
type Detail struct {
	Name  string `json:"name"` // "program", "started in", "standard error"
	Value string `json:"value"`
}

// Denial is one thing that a run was not granted.
type Denial struct {
	Grant string `json:"grant"`
	Thing string `json:"thing,omitempty"` // as the script spelled it
	Flag  string `json:"flag"`            // what would have allowed it
}

// Artifact is what a run has kept beyond its end.
type Artifact struct {
	ID     string `json:"id"`
	Name   string `json:"name,omitempty"` // harmless, whatever the script asked for
	MIME   string `json:"mime,omitempty"`
	Size   int64  `json:"size"`
	SHA256 string `json:"sha256,omitempty"`
	URI    string `json:"uri,omitempty"`
	Path   string `json:"path,omitempty"` // where the bytes are; a script is not told
	Data   []byte `json:"data,omitempty"` // the bytes, if the caller takes them inline
}

// Streams are the caller's, for the time of the run. Stdin may be nil: empty. Without
// Stdout or Stderr the ExecOutput holds what was written there.
type Streams struct {
	Stdin  io.Reader
	Stdout io.Writer
	Stderr io.Writer
	// Columns and Color describe the terminal behind Stdout; 0 and false without one.
	Columns int
	Color   bool
	// Progress is told how far the script is, between writes to the streams. It is nil
	// where nobody watches.
	Progress func(Progress)
	// Peer is told and asked what servers have to say and to ask while the script calls
	// them; nil is told nothing and cannot be asked.
	Peer Peer
	// Consent is who may allow calls that have to be asked about; nil: nobody can be asked.
	Consent Consent
	// Frames is told what happens, one frame after the other; nil tells nobody. Its error
	// ends the run.
	Frames func(Frame) error
}

// Progress says how far a script is.
type Progress struct {
	Done    float64  `json:"done"`
	Total   *float64 `json:"total,omitempty"` // nil if it is not known
	Message string   `json:"message,omitempty"`
}

// ExecOutput says how a run ended.
type ExecOutput struct {
	RunID    string          `json:"runId"`
	Value    json.RawMessage `json:"value,omitempty"` // absent if undefined
	Printed  bool            `json:"-"`               // the script wrote to standard output itself
	Implied  bool            `json:"-"`               // Value is that of the last expression
	Notes    []string        `json:"notes,omitempty"` // what of the value JSON could not hold
	ExitCode int             `json:"exitCode"`
	Duration time.Duration   `json:"-"`
	Millis   int64           `json:"durationMs"`
	Error    *fault.Report   `json:"error,omitempty"`
	// Sandbox says how far the system held the script's process: landlock+seccomp, one of
	// the two, best-effort; empty if there was none.
	Sandbox string `json:"sandbox,omitempty"`
	// Profile is what the run's permissions began with.
	Profile string `json:"permissions,omitempty"`
	// Warnings is what mcpx has to say of tools that the script called.
	Warnings []string `json:"warnings,omitempty"`
	// Denials are the things that the script asked for and was not granted.
	Denials []Denial `json:"denials,omitempty"`
	// Artifacts are what the script has kept.
	Artifacts []Artifact `json:"artifacts,omitzero"`
	// Emits holds what the script gave out with emit, if the caller gave no Stdout.
	// Otherwise each value was a line there.
	Emits []json.RawMessage `json:"emits,omitzero"`
	// Logs holds what the script wrote with log, likewise.
	Logs []Log `json:"logs,omitzero"`
	// Calls are the calls of tools that the script made, in the order in which they ended,
	// as many as are remembered.
	Calls []ToolCall `json:"calls,omitzero"`
	// Stdout is what the script printed, if the caller asked for one document.
	Stdout string `json:"stdout,omitempty"`
	// Stderr holds what the script wrote with log and to standard error, likewise.
	Stderr string `json:"stderr,omitempty"`
	// Spilled is what was too long for Stdout and Stderr.
	Spilled []Spilled `json:"spilled,omitempty"`
	// Limits is what bounded the run, by the names of the settings limits.…, and its time.
	Limits map[string]string `json:"limits,omitempty"`
	// Held are the names of those that bounded it besides its time, if not all did.
	Held []string `json:"-"`
	// Task is what goes on by itself, if that was asked for; there is nothing else then.
	Task *Task `json:"task,omitempty"`
	// Recording holds the calls of a run that was recorded, with their answers.
	Recording string `json:"recording,omitempty"`
}
