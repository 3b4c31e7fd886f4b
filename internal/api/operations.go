package api

import "net/http"

// The operations, in the order in which pages list them.

// Health says who answers.
var Health = define(Meta{
	Name: "health", Route: "GET /v1/health", ReadOnly: true,
	Summary: "say who answers",
	Example: "GET /v1/health",
}, Service.Health)

// Status tells of the process that holds the servers.
var Status = define(Meta{
	Name: "status", Route: "GET /v1/status", Command: "status", ReadOnly: true,
	Summary: "show the process that holds the servers, and what runs in it",
	Description: "Shows the daemon, or says that there is none, and each running instance of a server: who\n" +
		"shares it, its process, how many calls it has had, and how long it has been idle.",
	Example: "mcpx status\nmcpx status --json | jq '.instances[].pid'",
}, Service.Status)

// ListNamespaces lists the servers with their tools.
var ListNamespaces = define(Meta{
	Name: "namespaces", Route: "GET /v1/namespaces", Command: "ls", Args: "[NS]", ReadOnly: true,
	Summary: "list the servers and their tools",
	Description: "Lists every configured server, or one, with its tools below it. Other commands take the name\n" +
		"of a server (NS), or of a tool with its server's before it (NS.TOOL). Behind a name that a\n" +
		"script cannot write as it is stands the one that it can: get-sum (get_sum). A server that\n" +
		"cannot be asked is listed with the reason; the others are not held up by it. If none can be\n" +
		"asked the exit code is 69. With -v each running instance is listed as well.",
	Example: "mcpx ls\n" +
		"mcpx ls github\n" +
		"mcpx ls --json | jq -r '.namespaces[].name'",
}, Service.Namespaces)

// SearchTools finds tools by words.
var SearchTools = define(Meta{
	Name: "search", Route: "POST /v1/search", Command: "search", Args: "WORDS…", Tool: "mcpx_search", ReadOnly: true,
	Summary: "find tools by words",
	Description: "Looks for the words in names, descriptions, parameters and their values, and prints the\n" +
		"signatures of the tools that fit, best first. Other forms of a word, words of the same\n" +
		"meaning, abbreviations and slips of the pen are found as well.",
	Example: "mcpx search open issues\nmcpx search --ns github --limit 3 review comment",
}, Service.Search)

// DeclareTypes declares tools in TypeScript.
var DeclareTypes = define(Meta{
	Name: "types", Route: "GET /v1/types", Command: "types", Args: "[NS|NS.TOOL]", Tool: "mcpx_types", ReadOnly: true,
	Summary: "print tools as TypeScript declarations",
	Description: "Declares one tool, the tools of a server, or all, as a declaration file that stands on\n" +
		"its own: with it an editor and tsc check a script.",
	Example: "mcpx types demo.echo\nmcpx types github -o github.d.ts\nmcpx types --globals -o mcpx.d.ts",
}, Service.Types)

// ShowCatalog fits all namespaces into a number of tokens.
var ShowCatalog = define(Meta{
	Name: "catalog", Route: "GET /v1/catalog", Command: "catalog", Tool: "mcpx_catalog", ReadOnly: true,
	Summary: "print an overview of all tools that fits a number of tokens",
	Description: "Prints every server with its number of tools and what its server says of itself, and as\n" +
		"many tools as there is room for, one line each: the call, and what it gives behind an\n" +
		"arrow. It is for a model that is to know what there is. Servers take turns, so that none is\n" +
		"left out. Tokens are estimated; \"mcpx docs tokens\" says how.",
	Example: "mcpx catalog --budget 1000\n" +
		"mcpx catalog --bias 'review pull requests'",
}, Service.Catalog)

// CatalogHistory tells what changed in the tools of servers.
var CatalogHistory = define(Meta{
	Name: "catalog_history", Route: "GET /v1/catalog/history", Command: "catalog history", Args: "[NS|NS.TOOL]", ReadOnly: true,
	Summary: "tell what changed in the tools of the servers",
	Description: "Tells of tools that came and went, and of arguments that were added, removed or retyped,\n" +
		"the newest first. It starts no server.",
	Example: "mcpx catalog history\nmcpx catalog history github.create_issue",
}, Service.Changes)

// History is CatalogHistory under a name of its own.
var History = define(Meta{
	Name: "history", Route: "GET /v1/history", Command: "history", Args: "[NS|NS.TOOL]", ReadOnly: true,
	Summary: "tell what changed in the tools of the servers, and what is not accepted yet",
	Description: "Tells of tools that came and went, and of arguments that were added, removed or retyped,\n" +
		"the newest first, and which tools are not as they were when they were first seen. It starts\n" +
		"no server.",
	Example: "mcpx history\nmcpx history github.create_issue\nmcpx history accept github.create_issue",
}, Service.Changes)

// ListTools lists tools whole.
var ListTools = define(Meta{
	Name: "tools", Route: "GET /v1/tools", Command: "tools", Args: "[NS|NS.TOOL]", ReadOnly: true,
	Summary: "describe tools and their parameters",
	Description: "Describes one tool, the tools of a server, or all, in full. With --json their schemas\n" +
		"come as the server sent them.",
	Example: "mcpx tools demo\nmcpx tools demo --json | jq '.tools[0].inputSchema'",
}, Service.Tools)

// CallTool calls one tool.
var CallTool = define(Meta{
	Name: "call", Route: "POST /v1/call", Command: "call", Args: "NS.TOOL [JSON | key=value… | -]", Tool: "mcpx_call", Destructive: true, Open: true,
	Summary: "call one tool",
	Description: "Arguments are one JSON object, key=value pairs, or - for a JSON object on standard input.\n" +
		"key=value passes a string, which becomes a number, a boolean, an array or an object where\n" +
		"the tool's schema asks for one. key:=JSON passes that JSON exactly.\n" +
		"\n" +
		"Prints the result: text as it is, anything else as JSON. An error of the tool is printed\n" +
		"on standard error, and the exit code is 1.",
	Example: "mcpx call demo.echo message=hi\n" +
		"mcpx call demo.echo '{\"message\":\"hi\"}'\n" +
		"mcpx call github.search_issues q=\"is:open label:bug\" perPage=5 'labels:=[\"a\",\"b\"]'\n" +
		"jq -n '{message: \"hi\"}' | mcpx call demo.echo -",
}, Service.Call, func(in *CallInput) *Peer { return &in.Peer })

// answers takes the answers to what a request that is under way has asked.
var answers = special[AnswerInput, AnswerOutput](Meta{
	Name: "answer", Route: "POST /v1/call/{id}/answers",
	Summary: "answer a question of a request that is under way",
	Description: "A request whose Accept is text/event-stream is answered with events: open, whose id\n" +
		"stands in this path; notify; ask, whose number the answer has; withdrawn; and result or\n" +
		"error, which is the last.",
	Example: `POST /v1/call/ID/answers {"ask": 1, "result": {"action": "accept", "content": {}}}`,
}, func(h *handler) http.HandlerFunc { return h.answer })

// CallBatch makes several calls.
var CallBatch = define(Meta{
	Name: "batch", Route: "POST /v1/batch", Command: "batch", Args: "[FILE|-]", Destructive: true, Open: true,
	Summary: "make several calls, read as lines of JSON",
	Description: "Reads a call a line from FILE or standard input:\n" +
		"\n" +
		`  {"tool": "NS.TOOL", "arguments": {…}}` + "\n" +
		"\n" +
		"and prints what became of each, a line of JSON each, in their order: the result, or the\n" +
		"error. One that fails does not keep the others from being made, unless --stop is given.\n" +
		"The exit code is 1 if one has failed.",
	Example: "mcpx batch calls.jsonl\njq -c '.[] | {tool: \"demo.echo\", arguments: .}' list.json | mcpx batch --concurrent 8 -",
}, Service.Batch, func(in *BatchInput) *Peer { return &in.Peer })

// RunScript runs a script. A command runs it in its own process, which holds its files and
// terminal, unless the daemon is elsewhere.
var RunScript = runs(define(Meta{
	Name: "exec", Route: "POST /v1/exec", Command: "exec", Args: "CODE|- [args…]", Tool: "mcpx_exec", Destructive: true, Open: true,
	Summary: "run code given on the command line",
	Description: "Runs TypeScript or JavaScript that finds every tool as tools.NS.TOOL(arguments). What the\n" +
		"code returns, or its last expression if it printed nothing, is printed: a string as it is,\n" +
		"anything else as JSON. - reads the code from standard input.\n" +
		"\n" +
		"Further arguments are in process.argv, from the third on; those that begin with a dash\n" +
		"stand behind --. The command may be left out before text that is plainly code.\n" +
		"\n" +
		"A script may call every tool and nothing else of the machine, unless flags or the setting\n" +
		"script.permissions say otherwise. The profiles are none, tools, read (also the working\n" +
		"directory), net (also public hosts), readnet, project (also writes here), all.",
	Example: "mcpx exec 'return (await tools.demo.echo({ message: \"hello\" }))'\n" +
		"mcpx exec 'process.argv.slice(2)' -- a --flag\n" +
		"mcpx exec --allow-read=. 'import { readFileSync } from \"node:fs\"; readFileSync(\"go.mod\", \"utf8\")'\n" +
		"echo 'return 1 + 1' | mcpx exec --timeout 5s -\n" +
		"mcpx 'console.log(await tools.demo.state())'",
}, Service.Exec, func(in *ExecInput) *Peer { return &in.Peer }))

// ListArtifacts lists what is kept of runs.
var ListArtifacts = define(Meta{
	Name: "artifacts_list", Route: "GET /v1/artifacts", Command: "artifact list", ReadOnly: true,
	Summary: "list the artifacts that scripts have kept",
	Description: "An artifact is a file that a script, a call or \"artifact put\" has kept beyond its end. Each\n" +
		"is removed when it is as old as artifacts.ttl says (24 hours).",
	Example: "mcpx artifact list\nmcpx artifact list --json | jq -r '.artifacts[].id'",
}, Service.ArtifactsList)

// GetArtifact gives the bytes of an artifact.
var GetArtifact = serves(define(Meta{
	Name: "artifact_get", Route: "GET /v1/artifacts/{id}", Command: "artifact get", Args: "ID", ReadOnly: true,
	Summary: "print an artifact, or write it to a file",
	Description: "Prints its bytes as they are; a terminal is spared those that are not text. Over HTTP the\n" +
		"answer is the bytes, as an attachment: parts of it can be asked for (Range), and nothing is\n" +
		"sent again that the caller has (If-None-Match).",
	Example: "mcpx artifact get ID > report.csv\nmcpx artifact get -o report.csv ID",
}, Service.ArtifactGet))

// PutArtifact keeps data.
var PutArtifact = define(Meta{
	Name: "artifact_put", Route: "POST /v1/artifacts", Command: "artifact put", Args: "FILE|-", Open: true,
	Summary: "keep a file, or standard input, as an artifact, and print its id",
	Example: "mcpx artifact put report.csv\nmcpx ls --json | mcpx artifact put --name servers.json -",
}, Service.ArtifactPut)

// DeleteArtifact forgets an artifact.
var DeleteArtifact = define(Meta{
	Name: "artifact_delete", Route: "DELETE /v1/artifacts/{id}", Command: "artifact delete", Args: "ID", Destructive: true,
	Summary: "delete an artifact",
	Example: "mcpx artifact delete ID",
}, Service.ArtifactDelete)

// ListTasks lists the tasks.
var ListTasks = define(Meta{
	Name: "tasks_list", Route: "GET /v1/tasks", Command: "task list", Tool: "mcpx_task_list", ReadOnly: true,
	Summary: "list the calls and runs that go on by themselves",
	Description: "\"call --task\", \"exec --task\" and \"run --task\" begin one: they print its id and end, and the\n" +
		"work goes on in the daemon. Those that have ended are kept as long as tasks.ttl says.",
	Example: "mcpx task list",
}, Service.TasksList)

// GetTask says how a task stands.
var GetTask = define(Meta{
	Name: "task_get", Route: "GET /v1/tasks/{id}", Command: "task get", Args: "ID", Tool: "mcpx_task_get", ReadOnly: true,
	Summary:     "say how a task stands",
	Description: "Prints its state, and how far it is. ID is what --task printed; \"task list\" has it, too.",
	Example:     "mcpx task get ID",
}, Service.TaskGet)

// GetTaskResult gives what came of a task.
var GetTaskResult = define(Meta{
	Name: "task_result", Route: "GET /v1/tasks/{id}/result", Command: "task result", Args: "ID", Tool: "mcpx_task_result", ReadOnly: true,
	Summary: "print what came of a task",
	Description: "Prints what the command would have printed. Of one that has not ended that is an error,\n" +
		"unless --wait is given.",
	Example: "mcpx task result --wait ID",
}, Service.TaskResult)

// CancelTask ends a task.
var CancelTask = define(Meta{
	Name: "task_cancel", Route: "POST /v1/tasks/{id}/cancel", Command: "task cancel", Args: "ID", Tool: "mcpx_task_cancel", Destructive: true,
	Summary:     "end the work of a task",
	Description: "What its work has done by then stays done.",
	Example:     "mcpx task cancel ID",
}, Service.TaskCancel)

// ListResources lists what servers have to read.
var ListResources = define(Meta{
	Name: "resources", Route: "GET /v1/resources", Command: "resources", Args: "[NS]", ReadOnly: true, Open: true,
	Summary: "list the resources of servers: files and other data that they give to read",
	Description: "Lists the resources of one server, or of all, with their addresses. A server that has\n" +
		"none is left out.",
	Example: "mcpx resources\nmcpx resources files --json | jq -r '.resources[].uri'",
}, Service.Resources)

// ListResourceTemplates lists the patterns of addresses.
var ListResourceTemplates = define(Meta{
	Name: "resource_templates", Route: "GET /v1/resources/templates", Command: "resources templates", Args: "[NS]", ReadOnly: true, Open: true,
	Summary: "list the patterns of addresses that servers can read",
	Description: "A pattern has places to fill in, as in file:///{path}. What comes of that is an address for\n" +
		"\"resources read\".",
	Example: "mcpx resources templates",
}, Service.ResourceTemplates)

// ReadOneResource reads one resource.
var ReadOneResource = define(Meta{
	Name: "resource_read", Route: "POST /v1/resources/read", Command: "resources read", Args: "URI", ReadOnly: true, Open: true,
	Summary: "print a resource, or write it to a file",
	Description: "Prints its text. Bytes are written to the file that -o names; a terminal is spared them.\n" +
		"With --json they are in base64.",
	Example: "mcpx resources read file:///etc/hosts\nmcpx resources read --ns camera -o picture.png camera://1/now",
}, Service.ReadResource, func(in *ReadResourceInput) *Peer { return &in.Peer })

// ListPrompts lists the prompts of servers.
var ListPrompts = define(Meta{
	Name: "prompts", Route: "GET /v1/prompts", Command: "prompts", Args: "[NS]", ReadOnly: true, Open: true,
	Summary:     "list the prompts of servers: texts for a model, made to be filled in",
	Description: "Lists the prompts of one server, or of all, with their arguments.",
	Example:     "mcpx prompts\nmcpx prompts demo",
}, Service.Prompts)

// FillPrompt fills in a prompt.
var FillPrompt = define(Meta{
	Name: "prompt_get", Route: "POST /v1/prompts/get", Command: "prompts get", Args: "NS.PROMPT [JSON | key=value… | -]", ReadOnly: true, Open: true,
	Summary: "print a prompt with its arguments filled in",
	Description: "Arguments are given as \"call\" takes them; all of them are strings. Prints the text, or, of\n" +
		"several messages, each below the role that speaks it.",
	Example: "mcpx prompts get demo.review language=go",
}, Service.GetPrompt, func(in *GetPromptInput) *Peer { return &in.Peer })

// CompleteArgument proposes values of an argument.
var CompleteArgument = define(Meta{
	Name: "complete", Route: "POST /v1/complete", ReadOnly: true, Open: true,
	Summary: "propose values for an argument of a prompt or a variable of a template",
	Example: `POST /v1/complete {"server": "demo", "prompt": "review", "argument": "language", "value": "g"}`,
}, Service.Complete)

// ShowConfig says which files and servers are in force.
var ShowConfig = define(Meta{
	Name: "config", Route: "GET /v1/config", Command: "config", Args: "[trust|untrust [FOLDER]]", ReadOnly: true,
	Summary: "show the configuration in force, or vouch for a project's",
	Description: "Lists the configuration files, nearest first, and the servers that they name; without any\n" +
		"file, the places where one is looked for. Starts nothing. The exit code is 2 if a file is\n" +
		"broken.\n" +
		"\n" +
		"A file that is found in a project names servers, and may make limits and permissions\n" +
		"tighter than yours, but not looser. \"config trust\" vouches for the files that are found\n" +
		"here, or in FOLDER, as they are now: until one of them changes they count as your own.\n" +
		"\"config untrust\" takes that back.",
	Example: "mcpx config\nmcpx config --config other.json\nmcpx config --schema > mcpx.schema.json\nmcpx config trust",
}, Service.Config)

// Diagnose tries every server and the machine.
var Diagnose = define(Meta{
	Name: "diagnose", Route: "POST /v1/diagnose", Command: "doctor", ReadOnly: true, Open: true,
	Summary: "try every server and say what is wrong",
	Description: "Reads every configuration file, starts every server in a process of this command, looks at\n" +
		"the daemon, the state directory, the repository, logins and settings, and prints a line for\n" +
		"each finding, with what to do about it. With -v it also says what it saw: programs and where\n" +
		"they were looked for, times, protocol versions, what servers wrote to standard error. The\n" +
		"exit code is 1 if one of them failed.",
	Example: "mcpx doctor\nmcpx doctor -v\nmcpx doctor --json | jq '.findings[] | select(.state != \"ok\")'",
}, Service.Doctor)

// Refresh reads the configuration again and asks the servers again.
var Refresh = define(Meta{
	Name: "refresh", Route: "POST /v1/refresh", Command: "refresh", Args: "[NS]", Open: true,
	Summary: "read the configuration again and ask the servers again for their tools",
	Description: "Servers whose entry has not changed keep running. The exit code is 1 if one of them cannot\n" +
		"be asked.",
	Example: "mcpx refresh\nmcpx refresh github",
}, Service.Refresh)

// ListServers lists the entries in force.
var ListServers = define(Meta{
	Name: "servers_list", Route: "GET /v1/servers", Command: "servers list", ReadOnly: true,
	Summary: "list the servers that the configuration names",
	Description: "Lists each with its command or address, and the file and line that say so. Starts nothing;\n" +
		"\"mcpx ls\" lists what servers offer, \"mcpx doctor\" tries them.",
	Example: "mcpx servers list",
}, Service.ServersList)

// AddServer writes an entry.
var AddServer = define(Meta{
	Name: "servers_add", Route: "POST /v1/servers", Command: "servers add", Args: "NAME [-- COMMAND ARGS…]", Destructive: true,
	Summary: "write a server into a configuration file",
	Description: "The server is a program with its arguments behind --, or runs elsewhere, at --url. It is\n" +
		"written into .mcpx.json of the project, into your own file with --user, or into FILE. The\n" +
		"project's file is the nearest one upward from here; if there is none it is made, at the top\n" +
		"of the repository or here. What stands there already stays as it is, comments too; an entry\n" +
		"of the same name only gives way with --replace. The server is started once, to see what it\n" +
		"offers.",
	Example: "mcpx servers add files -- npx -y @modelcontextprotocol/server-filesystem .\n" +
		"mcpx servers add --env 'TOKEN=${GITHUB_TOKEN}' github -- github-mcp-server stdio\n" +
		"mcpx servers add --url https://example.com/mcp --header 'Authorization=Bearer ${TOKEN}' --user remote",
}, Service.ServersAdd)

// RemoveServer takes an entry out.
var RemoveServer = define(Meta{
	Name: "servers_remove", Route: "DELETE /v1/servers", Command: "servers remove", Args: "NAME", Destructive: true,
	Summary:     "take a server out of its configuration file",
	Description: "Without --project, --user and --file the entry that is in force goes, wherever it is.",
	Example:     "mcpx servers remove files\nmcpx servers remove --user remote",
}, Service.ServersRemove)

// ListSettings lists the settings in force.
var ListSettings = define(Meta{
	Name: "settings_list", Route: "GET /v1/settings", Command: "settings list", ReadOnly: true,
	Summary: "list the settings in force, and where each comes from",
	Description: "Lists those that a file, a variable, a flag or \"settings set\" has changed; with --all every\n" +
		"one. \"mcpx docs configuration\" describes them.",
	Example: "mcpx settings list\nmcpx settings list --all --json | jq '.settings[] | select(.scope == \"daemon\")'",
}, Service.SettingsList)

// GetSetting explains one setting.
var GetSetting = define(Meta{
	Name: "settings_get", Route: "GET /v1/settings/get", Command: "settings get", Args: "PATH", ReadOnly: true,
	Summary:     "show the value of a setting, where it comes from, and what it displaces",
	Description: "Flags of settings may be given, to see what they would do.",
	Example:     "mcpx settings get pool.idleTimeout\nmcpx settings get exec.timeout --timeout 1h",
}, Service.SettingsGet)

// SetSetting gives a setting a value.
var SetSetting = define(Meta{
	Name: "settings_set", Route: "POST /v1/settings", Command: "settings set", Args: "PATH VALUE", Destructive: true,
	Summary: "give a setting a value, in the daemon that runs or in a file",
	Description: "In the daemon the value counts at once, for every command that asks it, over files,\n" +
		"variables and flags, until it is unset or the daemon ends. In a file it stays; comments and\n" +
		"order of the file do, too. What can only be tightened (limits.…, policy.…) is not loosened\n" +
		"beyond what a file says.",
	Example: "mcpx settings set pool.idleTimeout 10m\nmcpx settings set --persist user exec.timeout 20m",
}, Service.SettingsSet)

// UnsetSetting takes a value back.
var UnsetSetting = define(Meta{
	Name: "settings_unset", Route: "DELETE /v1/settings", Command: "settings unset", Args: "PATH", Destructive: true,
	Summary:     "take back the value of a setting that was set in the daemon or in a file",
	Description: "From then on the value counts that files, variables and flags give it, or its default.",
	Example:     "mcpx settings unset pool.idleTimeout\nmcpx settings unset --persist user exec.timeout",
}, Service.SettingsUnset)

// ListSessions lists the sessions.
var ListSessions = define(Meta{
	Name: "session_list", Route: "GET /v1/sessions", Command: "session list", ReadOnly: true,
	Summary: "list the sessions whose servers the daemon keeps",
	Description: "A session groups calls that share a server which remembers things, such as a browser, and\n" +
		"keeps others away from it. \"mcpx docs guide/sessions\" shows how.",
	Example: "mcpx session list",
}, Service.SessionList)

// ReleaseSession forgets a session.
var ReleaseSession = define(Meta{
	Name: "session_release", Route: "POST /v1/sessions/release", Command: "session release", Args: "NAME", Destructive: true,
	Summary:     "forget a session, and end the servers that were its own",
	Description: "\"mcpx session list\" has the names. Servers that all sessions share go on.",
	Example:     "mcpx session release review",
}, Service.SessionRelease)

// RestartSession ends the instances of a session.
var RestartSession = define(Meta{
	Name: "session_restart", Route: "POST /v1/sessions/restart", Command: "session restart", Args: "NAME", Destructive: true,
	Summary: "start the servers of a session anew",
	Description: "Those that are its own end at once, with what they remember, and start when they are next\n" +
		"called.",
	Example: "mcpx session restart review",
}, Service.SessionRestart)

// RestartDaemon puts a new daemon in the place of the one that runs.
var RestartDaemon = define(Meta{
	Name: "daemon_restart", Route: "POST /v1/daemon/restart", Command: "daemon restart", Destructive: true,
	Summary: "have the daemon begin again, with its settings read anew",
	Description: "Calls that are under way are given time to end. Every server is started anew when it is\n" +
		"next called. The daemon may keep its process id. mcpx restart is the same.",
	Example: "mcpx daemon restart",
}, Service.Restart)

// StopDaemon ends the daemon.
var StopDaemon = define(Meta{
	Name: "shutdown", Route: "POST /v1/daemon/shutdown", Command: "daemon stop", Destructive: true,
	Summary: "end the daemon and every server in it",
	Description: "Calls that are under way are given time to end. If no daemon runs that is said, and the\n" +
		"exit code is 0. mcpx stop is the same.",
	Example: "mcpx daemon stop",
}, Service.Shutdown)

// ListEvents follows what happens.
var ListEvents = follow[EventsInput, Event](Meta{
	Name: "events", Route: "GET /v1/events", Command: "daemon events", ReadOnly: true,
	Summary: "print what happens in the daemon, a line of JSON each, until it is interrupted",
	Description: "Over HTTP these are server-sent events, each with an id; Last-Event-ID, or the parameter\n" +
		"after, begins behind one. An event of the kind lost stands where events are missing: the\n" +
		"daemon remembers as many as events.history says. mcpx events is the same.",
	Example: "mcpx daemon events",
}, func(h *handler) http.HandlerFunc { return h.events })

// Protocol says what is spoken.
var Protocol = define(Meta{
	Name: "protocol", Route: "GET /v1/protocol", ReadOnly: true,
	Summary: "say which revisions of MCP are spoken, and with which server which",
	Example: "GET /v1/protocol",
}, protocol)

// OpenAPI describes the routes.
var OpenAPI = special[OpenAPIInput, OpenAPIOutput](Meta{
	Name: "openapi", Route: "GET /v1/openapi.json", ReadOnly: true,
	Summary: "describe these routes in OpenAPI 3.1",
	Example: "GET /v1/openapi.json",
}, func(h *handler) http.HandlerFunc { return h.openapi })
