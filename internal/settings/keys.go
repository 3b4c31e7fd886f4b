package settings

import "time"

// AuthStore says where logins are kept.
var AuthStore = choice([]string{"auto", "file", "keyring"}, "auto", Spec{
	Path: "auth.store", Scope: Daemon, Project: Nothing,
	Doc: "Where logins are kept: sealed with a key in the system's keyring, in a file of the user's alone, or auto: the first if there is a keyring.",
})

// AuthLoginTimeout bounds the wait for a person.
var AuthLoginTimeout = duration(5*time.Minute, Spec{
	Path: "auth.loginTimeout", Scope: Client, Project: Nothing,
	Doc: "How long a login waits for a person to agree in the browser.",
})

// CatalogBudget bounds an overview of all tools.
var CatalogBudget = integer(2000, Spec{
	Path: "catalog.budget", Scope: Call, Hot: true, Alias: "budget",
	Doc: "How many tokens an overview of the tools may take.",
})

// ServeOverview bounds the overview that clients of MCP read unasked.
var ServeOverview = integer(1200, Spec{
	Path: "serve.overview", Scope: Daemon, Project: Nothing,
	Doc: "How many tokens the overview in the description of mcpx_exec may take, which clients of MCP read before they ask; at most catalog.budget.",
})

// ElicitTTL bounds the wait for an answer of a client that comes back for its questions.
var ElicitTTL = duration(2*time.Minute, Spec{
	Path: "elicit.ttl", Scope: Daemon, Project: Nothing,
	Doc: "How long a call by a client of MCP's revision 2026-07-28, which is given questions as an answer and calls again, waits for that.",
})

// ExecMax bounds one script run whatever its questions.
var ExecMax = duration(30*time.Minute, Spec{
	Path: "exec.max", Scope: Call, Hot: true, Project: Tightens,
	Doc: "How long one script run may take in all, with the time in which questions wait for an answer; at least exec.timeout.",
})

// ExecTimeout bounds one script run.
var ExecTimeout = duration(10*time.Minute, Spec{
	Path: "exec.timeout", Scope: Call, Hot: true, Alias: "timeout", Project: Tightens,
	Doc: "How long one script run may take before it is ended.",
})

// ExecConcurrency bounds how many scripts the daemon runs at a time.
var ExecConcurrency = integer(8, Spec{
	Path: "exec.concurrency", Scope: Daemon, Project: Nothing,
	Doc: "How many scripts the daemon runs at a time; others wait for their turn.",
})

// ExecWhere says where scripts of a command run.
var ExecWhere = choice([]string{"auto", "local", "remote"}, "auto", Spec{
	Path: "exec.where", Scope: Client, Alias: "where", Project: Nothing,
	Doc: "Where a script runs: here (local), in the daemon (remote), or auto: here, unless daemon.endpoint names a daemon on another machine.",
})

// DaemonEndpoint is where the daemon is.
var DaemonEndpoint = text("", "endpoint", Spec{
	Path: "daemon.endpoint", Scope: Client, Project: Nothing,
	Doc: "Where the daemon is: unix:PATH, http://HOST:PORT, https://HOST, or ssh://HOST; empty is the one of this machine that commands start.",
})

// DaemonTokenFile holds the token for a daemon over HTTP.
var DaemonTokenFile = text("", "file", Spec{
	Path: "daemon.tokenFile", Scope: Client, Project: Nothing,
	Doc: "The file with the token that a daemon at an http or https daemon.endpoint asks for.",
})

// ScriptPermissions names the profile of runs that name none.
var ScriptPermissions = text("tools", "profile", Spec{
	Path: "script.permissions", Scope: Call, Hot: true, Alias: "permissions",
	Doc: "What a script may do: none, tools, read, net, readnet, project, all, or a profile of script.profiles.",
})

// ConfigTrust says what a project's files may do before the user has vouched for them.
var ConfigTrust = choice([]string{"require", "servers"}, "servers", Spec{
	Path: "config.trust", Scope: Client, Ceiling: true,
	Doc: "What a project's files may do before you trust them: name servers, or nothing (require).",
})

// PolicyWrite says whether tools that are not known to only read may be called.
var PolicyWrite = choice([]string{"deny", "ask", "allow"}, "ask", Spec{
	Path: "policy.write", Scope: Call, Hot: true, Ceiling: true,
	Doc: "Whether tools that may change something can be called: deny, ask you first, or allow.",
})

// PolicyToolChange says what a change of a tool's shape means for calls of it.
var PolicyToolChange = choice([]string{"refuse", "warn", "allow"}, "warn", Spec{
	Path: "policy.toolChange", Scope: Call, Hot: true, Ceiling: true,
	Doc: "What happens to calls of a tool that is not as it was when it was first seen: refuse, warn, or allow.",
})

// ElicitConfirmDestructive says whether calls that may destroy something are asked about
// also where writing is allowed.
var ElicitConfirmDestructive = confirm(false, Spec{
	Path: "elicit.confirmDestructive", Scope: Call, Hot: true, Ceiling: true,
	Doc: "Whether you are asked before calls that may destroy something also where policy.write allows them.",
})

// LimitsInFlight bounds the tool calls that one run has under way at a time.
var LimitsInFlight = integer(64, Spec{
	Path: "limits.inFlight", Scope: Call, Hot: true,
	Doc: "How many tool calls of one run may be under way at a time; the rest wait in order.",
})

// LimitsMemory bounds what the process of a script may hold.
var LimitsMemory = size(512<<20, Spec{
	Path: "limits.memory", Scope: Call, Hot: true,
	Doc: "How much memory one script may use.",
})

// LimitsCPU bounds the processor time of a script.
var LimitsCPU = duration(5*time.Minute, Spec{
	Path: "limits.cpu", Scope: Call, Hot: true,
	Doc: "How much processor time one script may use.",
})

// LimitsToolCalls bounds the tool calls of one run.
var LimitsToolCalls = integer(1000, Spec{
	Path: "limits.toolCalls", Scope: Call, Hot: true,
	Doc: "How many tools one run may call in all.",
})

// LimitsOutput bounds what a script writes.
var LimitsOutput = size(256<<20, Spec{
	Path: "limits.output", Scope: Call, Hot: true,
	Doc: "How much one run may print, log and emit in all.",
})

// LimitsSource bounds the text of a script.
var LimitsSource = size(4<<20, Spec{
	Path: "limits.source", Scope: Call, Hot: true,
	Doc: "How long the text of a script may be; files that it imports count as memory and time.",
})

// LimitsResult bounds one tool result.
var LimitsResult = size(64<<20, Spec{
	Path: "limits.result", Scope: Call, Hot: true,
	Doc: "How large one tool result may be.",
})

// DaemonLimitsTimeout bounds one run of a script in the daemon.
var DaemonLimitsTimeout = duration(2*time.Minute, Spec{
	Path: "daemon.limits.timeout", Scope: Daemon, Hot: true, Ceiling: true,
	Doc: "How long a script that the daemon runs may take, in the place of exec.timeout.",
})

// DaemonLimitsMemory bounds what the process of a script of the daemon may hold.
var DaemonLimitsMemory = size(128<<20, Spec{
	Path: "daemon.limits.memory", Scope: Daemon, Hot: true, Ceiling: true,
	Doc: "How much memory a script that the daemon runs may use, in the place of limits.memory.",
})

// DaemonLimitsCPU bounds the processor time of a script of the daemon.
var DaemonLimitsCPU = duration(30*time.Second, Spec{
	Path: "daemon.limits.cpu", Scope: Daemon, Hot: true, Ceiling: true,
	Doc: "How much processor time a script that the daemon runs may use, in the place of limits.cpu.",
})

// DaemonLimitsToolCalls bounds the tool calls of one run in the daemon.
var DaemonLimitsToolCalls = integer(500, Spec{
	Path: "daemon.limits.toolCalls", Scope: Daemon, Hot: true, Ceiling: true,
	Doc: "How many tools a script that the daemon runs may call in all, in the place of limits.toolCalls.",
})

// DaemonLimitsInFlight bounds the tool calls that one run in the daemon has under way.
var DaemonLimitsInFlight = integer(16, Spec{
	Path: "daemon.limits.inFlight", Scope: Daemon, Hot: true, Ceiling: true,
	Doc: "How many tool calls of a script that the daemon runs may be under way at a time, in the place of limits.inFlight.",
})

// DaemonLimitsOutput bounds what a script of the daemon writes.
var DaemonLimitsOutput = size(16<<20, Spec{
	Path: "daemon.limits.output", Scope: Daemon, Hot: true, Ceiling: true,
	Doc: "How much a script that the daemon runs may print, log and emit in all, in the place of limits.output.",
})

// LoggingMaxBytes bounds the log of the daemon.
var LoggingMaxBytes = size(16<<20, Spec{
	Path: "logging.maxBytes", Scope: Daemon, Hot: true, Project: Nothing,
	Doc: "How long the log of the daemon may become; then it is put aside, and another is begun.",
})

// LoggingKeep bounds the logs that were put aside.
var LoggingKeep = integer(8, Spec{
	Path: "logging.keep", Scope: Daemon, Hot: true, Project: Nothing,
	Doc: "How many logs of the daemon that were put aside are kept; the oldest goes.",
})

// PoolCallTimeout bounds the silence of one tool call.
var PoolCallTimeout = duration(120*time.Second, Spec{
	Path: "pool.callTimeout", Scope: Call, Hot: true,
	Doc: "How long a tool call may go without an answer; progress from the server starts the clock again.",
})

// PoolCallMax bounds one tool call whatever its progress.
var PoolCallMax = duration(30*time.Minute, Spec{
	Path: "pool.callMax", Scope: Call, Hot: true,
	Doc: "How long a tool call may take in all.",
})

// PoolStartTimeout bounds the start of a server.
var PoolStartTimeout = duration(60*time.Second, Spec{
	Path: "pool.startTimeout", Scope: Daemon, Hot: true,
	Doc: "How long a server may take from its start to its first answer.",
})

// PoolScope says with whom a server's processes are shared, where its entry does not.
var PoolScope = choice([]string{"call", "pid", "session", "cwd", "worktree", "repo", "global"}, "global", Spec{
	Path: "pool.scope", Scope: Daemon, Hot: true, Project: Nothing,
	Doc: "Which calls may share the process of a server: all (global), or those of one repo, worktree, cwd, session or pid, or none (call).",
})

// PoolSharing says whether calls use the process of a server at the same time, where its
// entry does not.
var PoolSharing = choice([]string{"exclusive", "shared"}, "shared", Spec{
	Path: "pool.sharing", Scope: Daemon, Hot: true, Project: Nothing,
	Doc: "Whether the calls of one scope use a server's process together (shared) or one after the other (exclusive).",
})

// PoolMax bounds the processes of one server in one scope.
var PoolMax = integer(4, Spec{
	Path: "pool.max", Scope: Daemon, Hot: true, Project: Tightens,
	Doc: "How many processes a shared server may have for one scope; another is started only when all are busy.",
})

// PoolBusy is when another process is started.
var PoolBusy = integer(64, Spec{
	Path: "pool.busy", Scope: Daemon, Hot: true, Project: Nothing,
	Doc: "How many calls a shared process has under way when it counts as busy.",
})

// PoolIdleTimeout is how long a process is kept that nobody uses.
var PoolIdleTimeout = duration(5*time.Minute, Spec{
	Path: "pool.idleTimeout", Scope: Daemon, Hot: true, Project: Tightens,
	Doc: "How long a server's process is kept after its last call.",
})

// DaemonLeaseTTL is how long a named session lives.
var DaemonLeaseTTL = duration(30*time.Minute, Spec{
	Path: "daemon.leaseTTL", Scope: Daemon, Hot: true, Project: Tightens,
	Doc: "How long a named session keeps its processes after its last call.",
})

// DaemonReapInterval is how often it is looked for what is not needed any more.
var DaemonReapInterval = duration(30*time.Second, Spec{
	Path: "daemon.reapInterval", Scope: Daemon, Project: Nothing,
	Doc: "How often idle processes and ended sessions are looked for.",
})

// SessionVariables names the variables that tell one agent from another.
var SessionVariables = text("CLAUDE_CODE_SESSION_ID CODEX_THREAD_ID CODEX_SESSION_ID OPENCODE_SESSION_ID GEMINI_SESSION_ID CURSOR_SESSION_ID", "list of variables", Spec{
	Path: "session.variables", Scope: Client, Project: Nothing,
	Doc: "The variables, between spaces, whose first with a value names the session if MCPX_SESSION_ID does not.",
})

// UpstreamProbeTimeout bounds the question that finds out which revision a server speaks.
var UpstreamProbeTimeout = duration(2*time.Second, Spec{
	Path: "upstream.probeTimeout", Scope: Daemon, Hot: true,
	Doc: "How long a server may take to answer server/discover before it is asked to initialize.",
})

// StdioMaxHeld bounds what long messages of servers take together.
var StdioMaxHeld = size(256<<20, Spec{
	Path: "stdio.maxHeld", Scope: Daemon,
	Doc: "How much memory the messages of servers that are longer than 1 MiB may take together while they are read and used; others wait, and fail if it takes too long.",
})

// StdioMaxLine bounds one line of a server's output.
var StdioMaxLine = size(64<<20, Spec{
	Path: "stdio.maxLine", Scope: Daemon, Hot: true, Project: Tightens,
	Doc: "How long one message of a server may be.",
})

// ArtifactsMaxBytes bounds one artifact.
var ArtifactsMaxBytes = size(64<<20, Spec{
	Path: "artifacts.maxBytes", Scope: Call, Hot: true, Project: Tightens,
	Doc: "How large one artifact may be.",
})

// ArtifactsQuota bounds all artifacts together.
var ArtifactsQuota = size(1<<30, Spec{
	Path: "artifacts.quota", Scope: Call, Hot: true, Project: Tightens,
	Doc: "How large all artifacts together may be.",
})

// ArtifactsTTL is how long an artifact is kept.
var ArtifactsTTL = duration(24*time.Hour, Spec{
	Path: "artifacts.ttl", Scope: Call, Hot: true, Project: Nothing,
	Doc: "How long an artifact is kept.",
})

// TasksTTL is how long the result of a task is kept.
var TasksTTL = duration(24*time.Hour, Spec{
	Path: "tasks.ttl", Scope: Daemon, Hot: true, Project: Nothing,
	Doc: "How long a task that has ended is kept with its result, if its caller does not say.",
})

// TasksAfter is how long a client of MCP that takes tasks waits for the answer of a call
// before it is given a task instead.
var TasksAfter = duration(2*time.Second, Spec{
	Path: "tasks.after", Scope: Daemon, Project: Nothing,
	Doc: "How long a client of MCP that takes tasks waits for the answer of a call before it is given a task instead.",
})

// TasksKeep bounds the tasks of clients of MCP that have ended and are kept.
var TasksKeep = integer(10_000, Spec{
	Path: "tasks.keep", Scope: Daemon, Hot: true, Project: Tightens,
	Doc: "How many tasks that clients of MCP have begun, and that have ended, are kept; the first to have ended are forgotten.",
})

// TasksMaxBytes bounds the results of those.
var TasksMaxBytes = size(1<<30, Spec{
	Path: "tasks.maxBytes", Scope: Daemon, Hot: true, Project: Tightens,
	Doc: "How large the results of those tasks may be together; the first to have ended are forgotten, but never the last.",
})

// TasksMax bounds the tasks that go on at the same time.
var TasksMax = integer(100, Spec{
	Path: "tasks.max", Scope: Daemon, Hot: true, Project: Tightens,
	Doc: "How many tasks may go on at the same time; another one is refused.",
})

// ArtifactsOutputMaxBytes bounds what a document holds of what a run has printed.
var ArtifactsOutputMaxBytes = size(8<<20, Spec{
	Path: "artifacts.outputMaxBytes", Scope: Call, Hot: true, Project: Tightens,
	Doc: "How much of standard output, and of standard error, a run gives as text in one document (--json, HTTP, MCP); what is longer becomes an artifact, and its beginning and end are given.",
})

// ArtifactsInlineMaxBytes bounds the artifacts that are given with an answer.
var ArtifactsInlineMaxBytes = size(1<<20, Spec{
	Path: "artifacts.inlineMaxBytes", Scope: Call, Hot: true, Project: Tightens,
	Doc: "How large an artifact may be that is given in the answer itself, to a caller that asks for that; a larger one is named.",
})

// ArtifactsInterceptImages says whether media become artifacts on their way out of a run.
var ArtifactsInterceptImages = boolean(true, Spec{
	Path: "artifacts.interceptImages", Scope: Call, Hot: true,
	Doc: "Whether images, sound and binary resources in what a script returns or emits become artifacts, for callers that take artifacts.",
})

// DaemonAutostart says whether a command starts the daemon if none runs.
var DaemonAutostart = boolean(true, Spec{
	Path: "daemon.autostart", Scope: Client, Project: Nothing,
	Doc: "Whether a command starts the daemon if none is running.",
})

// DaemonInline says where the servers of a command run.
var DaemonInline = choice([]string{"always", "auto", "never"}, "auto", Spec{
	Path: "daemon.inline", Scope: Client, Project: Nothing,
	Doc: "Whether the servers of a command end with it: always; never; or auto, in CI, as the first process of a container, and where the daemon cannot keep its files.",
})

// DaemonIdleExit bounds the life of a daemon that nobody asks anything.
var DaemonIdleExit = duration(4*time.Hour, Spec{
	Path: "daemon.idleExit", Scope: Daemon, Project: Nothing,
	Doc: "How long the daemon stays when nobody asks it anything.",
})

// DaemonWatchConfig says whether the daemon follows the configuration files.
var DaemonWatchConfig = boolean(true, Spec{
	Path: "daemon.watchConfig", Scope: Daemon, Hot: true, Project: Nothing,
	Doc: "Whether the daemon follows changes of the configuration files; otherwise they count from its next start, or from mcpx refresh.",
})

// DaemonAddress is where the daemon listens besides its socket, if it has a port.
var DaemonAddress = text("127.0.0.1", "address", Spec{
	Path: "daemon.address", Scope: Daemon, Project: Nothing,
	Doc: "The address that the daemon listens at if daemon.port is set.",
})

// DaemonPort is the TCP port of the daemon; 0 is none.
var DaemonPort = port(0, Spec{
	Path: "daemon.port", Scope: Daemon, Project: Nothing,
	Doc: "The TCP port that the daemon listens at besides its socket; 0 is none.",
})

// HTTPShutdownGrace bounds the end of a daemon that has been asked to end.
var HTTPShutdownGrace = duration(5*time.Second, Spec{
	Path: "http.shutdownGrace", Scope: Daemon, Project: Nothing,
	Doc: "How long requests under way may take when the daemon ends.",
})

// HTTPBodyLimit bounds the body of a request to the daemon.
var HTTPBodyLimit = size(1<<20, Spec{
	Path: "http.bodyLimit", Scope: Daemon, Hot: true, Project: Nothing,
	Doc: "How long the body of a request to the daemon may be, but for those that make calls.",
})

// HTTPCallBodyLimit bounds the body of a request that makes calls.
var HTTPCallBodyLimit = size(64<<20, Spec{
	Path: "http.callBodyLimit", Scope: Daemon, Hot: true, Project: Nothing,
	Doc: "How long the body of a request to the daemon may be that makes calls or answers questions.",
})

// HTTPSSEPing is how often a stream shows that it is there.
var HTTPSSEPing = duration(15*time.Second, Spec{
	Path: "http.ssePing", Scope: Daemon, Hot: true, Project: Nothing,
	Doc: "How often the daemon sends something on a stream on which nothing happens.",
})

// EventsHistory bounds what a follower of events can have missed.
var EventsHistory = integer(1000, Spec{
	Path: "events.history", Scope: Daemon, Project: Nothing,
	Doc: "How many events the daemon remembers for those who were away.",
})

// PathsConfig lists the configuration files, for flag and variable. In a file it is a list,
// which package config reads: it is decided before there are settings.
var PathsConfig = text("", "list of files", Spec{
	Path: "paths.config", Scope: Client, Project: Nothing,
	Doc: "Configuration files to read, as a list in a file and as in PATH otherwise; null in it stands for those that are searched for.",
})

// PlumbingStrictUnknownKeys refuses what only other hosts understand.
var PlumbingStrictUnknownKeys = boolean(false, Spec{
	Path: "plumbing.strictUnknownKeys", Scope: Daemon, Project: Nothing,
	Doc: "Whether a server whose entry has keys that mcpx does not know is refused, and a file that has such keys beside the servers.",
})
