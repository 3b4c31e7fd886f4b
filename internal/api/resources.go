package api

import (
	"context"
	"encoding/json"

	"mcpx/internal/fault"
)

// Offers answers for what servers offer besides tools. A server that declares none of a
// kind has none; one that cannot be asked does not hide the others.
type Offers interface {
	// Resources lists the resources of one namespace or of all.
	Resources(ctx context.Context, in ResourcesInput) (*ResourcesOutput, error)
	// ResourceTemplates lists the patterns of addresses of one namespace or of all.
	ResourceTemplates(ctx context.Context, in ResourcesInput) (*ResourceTemplatesOutput, error)
	// ReadResource reads one resource.
	ReadResource(ctx context.Context, in ReadResourceInput) (*ReadResourceOutput, error)
	// Prompts lists the prompts of one namespace or of all.
	Prompts(ctx context.Context, in PromptsInput) (*PromptsOutput, error)
	// GetPrompt fills in one prompt.
	GetPrompt(ctx context.Context, in GetPromptInput) (*GetPromptOutput, error)
	// Complete asks a server for values that an argument of a prompt or a variable of a
	// template may have.
	Complete(ctx context.Context, in CompleteInput) (*CompleteOutput, error)
}

// ResourcesInput asks for what Namespace has to read, or all servers if it is empty.
type ResourcesInput struct {
	Namespace string `json:"namespace,omitempty" doc:"of this server only"`
}

// ResourcesOutput lists resources, by namespace and then in the server's order.
type ResourcesOutput struct {
	Resources []Resource `json:"resources"`
	Unheard   []Unheard  `json:"unheard,omitempty"`
	Warnings  []string   `json:"warnings,omitempty"`
}

// Unheard is a server that could not be asked, and why.
type Unheard struct {
	Namespace string       `json:"namespace"`
	Error     *fault.Error `json:"error"`
}

// Resource is something to read, as its server describes it.
type Resource struct {
	Namespace   string `json:"namespace"`
	URI         string `json:"uri"`
	Name        string `json:"name,omitempty"`
	Title       string `json:"title,omitempty"`
	Description string `json:"description,omitempty"`
	MIME        string `json:"mimeType,omitempty"`
	Size        *int64 `json:"size,omitempty"` // in bytes, if the server says
	// Definition is the entry of resources/list, as the server sent it.
	Definition json.RawMessage `json:"definition"`
}

// ResourceTemplatesOutput lists templates, by namespace and then in the server's order.
type ResourceTemplatesOutput struct {
	Templates []ResourceTemplate `json:"templates"`
	Unheard   []Unheard          `json:"unheard,omitempty"`
	Warnings  []string           `json:"warnings,omitempty"`
}

// ResourceTemplate is a pattern of addresses (RFC 6570), as its server describes it.
type ResourceTemplate struct {
	Namespace   string `json:"namespace"`
	URITemplate string `json:"uriTemplate"`
	Name        string `json:"name,omitempty"`
	Title       string `json:"title,omitempty"`
	Description string `json:"description,omitempty"`
	MIME        string `json:"mimeType,omitempty"`
	// Definition is the entry of resources/templates/list, as the server sent it.
	Definition json.RawMessage `json:"definition"`
}

// ReadResourceInput names a resource by its address. Without a namespace the server that
// lists the address is asked; if none does, the one whose template begins like it; else
// each that has resources, in the order of their names, until one knows it.
type ReadResourceInput struct {
	URI       string `json:"uri" doc:"the resource's address"`
	Namespace string `json:"namespace,omitempty" flag:"ns" value:"NS" doc:"ask the server NS for it"`
	// Peer is told and asked what the server has to say and to ask meanwhile; nil is told
	// nothing and cannot be asked.
	Peer Peer `json:"-"`
}

// ReadResourceOutput is what stands in a resource.
type ReadResourceOutput struct {
	Namespace string    `json:"namespace"`
	URI       string    `json:"uri"`
	Contents  []Content `json:"contents"`
	// Result is the answer of the server, byte for byte.
	Result json.RawMessage `json:"result"`
}

// Content is one part of a resource: Text, or the bytes of Blob, which JSON has in base64.
type Content struct {
	URI    string `json:"uri,omitempty"`
	MIME   string `json:"mimeType,omitempty"`
	Text   string `json:"text,omitempty"`
	Blob   []byte `json:"blob,omitempty"`
	Binary bool   `json:"binary,omitempty"` // it is Blob that counts, even if empty
}

// PromptsInput asks for the prompts of Namespace, or of all servers if it is empty.
type PromptsInput struct {
	Namespace string `json:"namespace,omitempty" doc:"of this server only"`
}

// PromptsOutput lists prompts, by namespace and then in the server's order.
type PromptsOutput struct {
	Prompts  []Prompt  `json:"prompts"`
	Unheard  []Unheard `json:"unheard,omitempty"`
	Warnings []string  `json:"warnings,omitempty"`
}

// Prompt is a text with holes, as its server describes it.
type Prompt struct {
	Namespace   string           `json:"namespace"`
	Name        string           `json:"name"`
	Title       string           `json:"title,omitempty"`
	Description string           `json:"description,omitempty"`
	Arguments   []PromptArgument `json:"arguments,omitempty"`
	// Definition is the entry of prompts/list, as the server sent it.
	Definition json.RawMessage `json:"definition"`
}

// PromptArgument is one hole of a prompt.
type PromptArgument struct {
	Name        string `json:"name"`
	Title       string `json:"title,omitempty"`
	Description string `json:"description,omitempty"`
	Required    bool   `json:"required,omitempty"`
}

// GetPromptInput names a prompt and fills its holes, with text each.
type GetPromptInput struct {
	Server    string            `json:"server" doc:"the server, by its name or an alias"`
	Prompt    string            `json:"prompt" doc:"the prompt's name"`
	Arguments map[string]string `json:"arguments,omitempty" doc:"its arguments, text each"`
	// Peer is as in ReadResourceInput.
	Peer Peer `json:"-"`
}

// GetPromptOutput is a prompt with its holes filled.
type GetPromptOutput struct {
	Server      string          `json:"server"`
	Prompt      string          `json:"prompt"`
	Description string          `json:"description,omitempty"`
	Messages    []PromptMessage `json:"messages"`
	// Result is the answer of the server, byte for byte.
	Result json.RawMessage `json:"result"`
}

// PromptMessage is one message of a prompt. Text is what its content has of text; Content
// is the whole block, as the server sent it.
type PromptMessage struct {
	Role    string          `json:"role"`
	Text    string          `json:"text,omitempty"`
	Content json.RawMessage `json:"content"`
}

// CompleteInput asks what Argument may be, of Prompt or of Template, whichever is given,
// when Value is what has been typed of it and Given what the others are.
type CompleteInput struct {
	Server   string            `json:"server" doc:"the server, by its name or an alias"`
	Prompt   string            `json:"prompt,omitempty" doc:"the prompt whose argument it is"`
	Template string            `json:"template,omitempty" doc:"or the template whose variable it is"`
	Argument string            `json:"argument" doc:"the name of the argument or variable"`
	Value    string            `json:"value,omitempty" doc:"what has been typed of it"`
	Given    map[string]string `json:"given,omitempty" doc:"what the others are"`
}

// CompleteOutput lists values that the server proposes, best first.
type CompleteOutput struct {
	Values  []string `json:"values"`
	Total   *int     `json:"total,omitempty"` // how many there are, if the server says
	HasMore bool     `json:"hasMore,omitempty"`
	// Result is the answer of the server, byte for byte.
	Result json.RawMessage `json:"result"`
}
