// Package mcp is the Model Context Protocol as bytes: envelopes, revisions, names,
// error codes, and the few values that mcpx itself reads.
//
// Whatever else a message holds is passed on as it came. A decoder here takes what
// it can use and drops what it cannot; it fails only where nothing usable is left.
// Connections, sessions and processes are the business of mcp/client and mcp/server.
package mcp

import "encoding/json"

// Raw is JSON text. What comes out of this package is valid JSON and valid UTF-8.
type Raw = json.RawMessage

// Era is the family of revisions that a connection speaks.
type Era int

const (
	// Unknown means that nobody has asked the server yet.
	Unknown Era = iota
	// Legacy revisions open with initialize and keep state by connection.
	Legacy
	// Modern revisions are stateless: each request carries version and capabilities.
	Modern
)

// String returns "legacy", "modern" or "unknown".
func (e Era) String() string {
	switch e {
	case Legacy:
		return "legacy"
	case Modern:
		return "modern"
	case Unknown:
	}
	return "unknown"
}

// The revisions of the protocol.
const (
	Revision20241105 = "2024-11-05"
	Revision20250326 = "2025-03-26"
	Revision20250618 = "2025-06-18"
	Revision20251125 = "2025-11-25"
	Revision20260728 = "2026-07-28"
)

// LegacyRevisions returns the legacy revisions, newest first.
func LegacyRevisions() []string {
	return []string{Revision20251125, Revision20250618, Revision20250326, Revision20241105}
}

// ModernRevisions returns the modern revisions, newest first.
func ModernRevisions() []string { return []string{Revision20260728} }

// Methods of requests and notifications.
const (
	MethodInitialize  = "initialize"
	MethodDiscover    = "server/discover"
	MethodPing        = "ping"
	MethodToolsList   = "tools/list"
	MethodToolsCall   = "tools/call"
	MethodRootsList   = "roots/list"
	MethodSampling    = "sampling/createMessage"
	MethodElicitation = "elicitation/create"
	MethodPromptsGet  = "prompts/get"
	MethodRead        = "resources/read"
	MethodSetLevel    = "logging/setLevel"
	MethodSubscribe   = "resources/subscribe"
	MethodUnsubscribe = "resources/unsubscribe"
	MethodListen      = "subscriptions/listen"

	// Tasks: revision 2025-11-25 has all of these but tasks/update, the extension of the
	// modern one tasks/get, tasks/update and tasks/cancel.
	MethodTasksGet    = "tasks/get"
	MethodTasksList   = "tasks/list"
	MethodTasksResult = "tasks/result"
	MethodTasksCancel = "tasks/cancel"
	MethodTasksUpdate = "tasks/update"

	NotificationInitialized      = "notifications/initialized"
	NotificationCancelled        = "notifications/cancelled"
	NotificationProgress         = "notifications/progress"
	NotificationMessage          = "notifications/message"
	NotificationToolsListChanged = "notifications/tools/list_changed"

	NotificationPromptsListChanged   = "notifications/prompts/list_changed"
	NotificationResourcesListChanged = "notifications/resources/list_changed"
	NotificationResourcesUpdated     = "notifications/resources/updated"
	NotificationAcknowledged         = "notifications/subscriptions/acknowledged"
	NotificationTaskStatus           = "notifications/tasks/status" // 2025-11-25
	NotificationTask                 = "notifications/tasks"        // the extension
)

// Members of _meta that the modern revision gives a meaning.
const (
	MetaProtocolVersion    = "io.modelcontextprotocol/protocolVersion"
	MetaClientInfo         = "io.modelcontextprotocol/clientInfo"
	MetaClientCapabilities = "io.modelcontextprotocol/clientCapabilities"
	MetaServerInfo         = "io.modelcontextprotocol/serverInfo"
	MetaLogLevel           = "io.modelcontextprotocol/logLevel"
	MetaSubscriptionID     = "io.modelcontextprotocol/subscriptionId"
)

// MetaRelatedTask is the member of _meta that says which task a message of revision
// 2025-11-25 belongs to.
const MetaRelatedTask = "io.modelcontextprotocol/related-task"

// ExtensionTasks is the extension of the modern revision by which a call of a tool can be
// answered with a task.
const ExtensionTasks = "io.modelcontextprotocol/tasks"

// Values of resultType, which every modern result carries. Absent means complete.
const (
	ResultComplete      = "complete"
	ResultInputRequired = "input_required"
	ResultTask          = "task" // of ExtensionTasks
)

// Error codes, of JSON-RPC and of the protocol.
const (
	CodeParseError         = -32700
	CodeInvalidRequest     = -32600
	CodeMethodNotFound     = -32601
	CodeInvalidParams      = -32602
	CodeInternalError      = -32603
	CodeHeaderMismatch     = -32020 // over HTTP: the headers do not say what the message says
	CodeMissingCapability  = -32021 // data.requiredCapabilities is what the client has to declare
	CodeUnsupportedVersion = -32022 // data.supported lists the revisions that are
	CodeURLRequired        = -32042 // 2025-11-25: data.elicitations lists what a person has to open first
)
