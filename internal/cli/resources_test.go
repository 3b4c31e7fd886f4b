package cli

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mcpx/internal/api"
	"mcpx/internal/fault"
)

func (d *desk) Resources(context.Context, api.ResourcesInput) (*api.ResourcesOutput, error) {
	return &api.ResourcesOutput{
		Resources: []api.Resource{
			{Namespace: "docs", URI: "docs://a", MIME: "text/plain", Description: "The first.\nMore.", Definition: json.RawMessage(`{"uri":"docs://a"}`)},
			{Namespace: "docs", URI: "docs://b\x1b[2J", Name: "b", Definition: json.RawMessage(`{}`)},
			{Namespace: "git", URI: "git://head", Definition: json.RawMessage(`{}`)},
		},
		Unheard:  []api.Unheard{{Namespace: "down", Error: fault.Unavailablef("it is not there").Hintf("start it")}},
		Warnings: []string{"docs: resources/list holds an entry without uri; it is left out"},
	}, d.broken
}

func (d *desk) ResourceTemplates(_ context.Context, in api.ResourcesInput) (*api.ResourceTemplatesOutput, error) {
	out := &api.ResourceTemplatesOutput{Templates: []api.ResourceTemplate{}}
	if in.Namespace != "none" {
		out.Templates = append(out.Templates, api.ResourceTemplate{Namespace: "docs", URITemplate: "docs://{page}", Title: "Any page"})
	}
	return out, d.broken
}

func (d *desk) ReadResource(_ context.Context, in api.ReadResourceInput) (*api.ReadResourceOutput, error) {
	parts := map[string][]api.Content{
		"docs://text":  {{Text: "no line end"}},
		"docs://two":   {{Text: "one\n"}, {Text: "two"}, {Text: "three"}},
		"docs://image": {{MIME: "image/png", Blob: []byte("\x89PNG\x00"), Binary: true}},
		"docs://mixed": {{Text: "one"}, {Blob: []byte{1}, Binary: true}},
		"docs://none":  {},
	}
	return &api.ReadResourceOutput{Namespace: in.Namespace, URI: in.URI, Contents: parts[in.URI], Result: json.RawMessage(`{}`)}, d.broken
}

func (d *desk) Prompts(_ context.Context, in api.PromptsInput) (*api.PromptsOutput, error) {
	out := &api.PromptsOutput{Prompts: []api.Prompt{}}
	if in.Namespace != "none" {
		out.Prompts = append(out.Prompts,
			api.Prompt{Namespace: "docs", Name: "greet", Description: "Say hello.", Arguments: []api.PromptArgument{{Name: "who", Required: true, Description: "whom to greet"}, {Name: "how"}}},
			api.Prompt{Namespace: "docs", Name: "bare"})
	}
	return out, d.broken
}

func (d *desk) GetPrompt(_ context.Context, in api.GetPromptInput) (*api.GetPromptOutput, error) {
	out := &api.GetPromptOutput{Server: in.Server, Prompt: in.Prompt, Messages: []api.PromptMessage{
		{Role: "user", Text: "Greet " + in.Arguments["who"] + "."},
	}}
	if in.Prompt == "two" {
		out.Messages = append(out.Messages, api.PromptMessage{Role: "assistant", Content: json.RawMessage(`{"type":"image"}`)})
	}
	return out, d.broken
}

func (d *desk) Complete(context.Context, api.CompleteInput) (*api.CompleteOutput, error) {
	return &api.CompleteOutput{Values: []string{}}, d.broken
}

func TestListingsOfOffers(t *testing.T) {
	t.Parallel()
	const incomplete = "mcpx: down could not be asked: it is not there\n  start it\nmcpx: docs: resources/list holds an entry without uri; it is left out\n"
	drive(t, &desk{}, "resources").want(t, 0, "docs\n  docs://a      text/plain  The first.\n  docs://b\uFFFD[2J  b\n\ngit\n  git://head\n", incomplete)
	drive(t, &desk{}, "resources", "templates").want(t, 0, "docs\n  docs://{page}  Any page\n", "")
	drive(t, &desk{}, "resources", "templates", "none").want(t, 0, "no templates\n", "")
	drive(t, &desk{}, "prompts").want(t, 0, "docs.greet\n  Say hello.\n    who  required  whom to greet\n    how  optional\n\ndocs.bare\n", "")
	drive(t, &desk{}, "prompts", "none").want(t, 0, "no prompts\n", "")

	s := drive(t, &desk{}, "resources", "--json")
	var doc api.ResourcesOutput
	if err := json.Unmarshal(s.stdout.Bytes(), &doc); err != nil || len(doc.Resources) != 3 || string(doc.Resources[0].Definition) != `{"uri":"docs://a"}` || len(doc.Unheard) != 1 || doc.Unheard[0].Error.Message != "it is not there" {
		t.Errorf("resources --json: %v, %s", err, s.stdout.String())
	}
}

func TestReadingResources(t *testing.T) {
	t.Parallel()
	drive(t, &desk{}, "resources", "read", "docs://text").want(t, 0, "no line end\n", "")
	drive(t, &desk{}, "resources", "read", "--ns", "docs", "docs://two").want(t, 0, "one\ntwo\nthree\n", "")
	drive(t, &desk{}, "resources", "read", "docs://image").want(t, 0, "\x89PNG\x00", "")
	const notText = "docs://image is not text: 5 bytes of image/png"
	driveIn(t, &desk{}, Program{Dir: t.TempDir(), Terminal: Terminal{Stdout: true}}, "resources", "read", "docs://image").
		want(t, 2, "", "mcpx: "+notText+"\n  write it to a file with -o FILE; --json prints it in base64\n")
	drive(t, &desk{}, "resources", "read", "docs://mixed").
		want(t, 2, "", "mcpx: docs://mixed has 2 parts, and not all are text\n  --json prints each, bytes in base64\n")
	s := drive(t, &desk{}, "resources", "read", "docs://mixed", "--json")
	if want := `"contents":[{"text":"one"},{"blob":"AQ==","binary":true}]`; !strings.Contains(s.stdout.String(), want) || s.code != 0 {
		t.Errorf("--json: exit %d, %s, want %s in it", s.code, s.stdout.String(), want)
	}

	dir := t.TempDir()
	for _, tt := range []struct{ uri, want string }{{"docs://image", "\x89PNG\x00"}, {"docs://text", "no line end"}, {"docs://none", ""}} {
		driveIn(t, &desk{}, Program{Dir: dir}, "resources", "read", tt.uri, "-o", "out").want(t, 0, "", "")
		if got, err := os.ReadFile(filepath.Join(dir, "out")); err != nil || string(got) != tt.want {
			t.Errorf("%s was written as %q, %v, want %q", tt.uri, got, err, tt.want)
		}
	}
	s = driveIn(t, &desk{}, Program{Dir: dir}, "resources", "read", "docs://text", "-o", "no/such/dir")
	if s.code != 2 || s.stdout.String() != "" || !strings.Contains(s.stderr.String(), "writing no/such/dir") {
		t.Errorf("a file that cannot be written: exit %d, %q, %q", s.code, s.stdout.String(), s.stderr.String())
	}
	if s := drive(t, &desk{}, "resources", "read"); s.code != 2 {
		t.Errorf("nothing to read: exit %d", s.code)
	}
	if s := drive(t, &desk{broken: fault.NotFoundf("no server has a resource")}, "resources", "read", "x"); s.code != fault.NotFound.ExitCode() {
		t.Errorf("a resource that is none: exit %d", s.code)
	}
}

func TestFillingInPrompts(t *testing.T) {
	t.Parallel()
	drive(t, &desk{}, "prompts", "get", "docs.greet", "who=Ann").want(t, 0, "Greet Ann.\n", "")
	drive(t, &desk{}, "prompts", "get", "docs.greet", `{"who":"Bob"}`).want(t, 0, "Greet Bob.\n", "")
	drive(t, &desk{}, "prompts", "get", "docs.two", "who=Ann").want(t, 0, "user:\n  Greet Ann.\n\nassistant:\n  {\"type\":\"image\"}\n", "")
	for _, tt := range []struct{ args, message string }{
		{"docs", `needs NS.PROMPT, and "docs" is not of that form`},
		{"docs.greet n:=3", `argument "n" is a number, and a prompt takes text`},
		{"docs.greet n:=null", `argument "n" is null, and a prompt takes text`},
		{"docs.greet hello", `argument "hello" is neither JSON nor key=value`},
	} {
		s := drive(t, &desk{}, append([]string{"prompts", "get"}, strings.Fields(tt.args)...)...)
		if s.code != 2 || !strings.Contains(s.stderr.String(), tt.message) {
			t.Errorf("prompts get %s: exit %d, %q, want %q", tt.args, s.code, s.stderr.String(), tt.message)
		}
	}
	s := drive(t, &desk{}, "--json", "prompts", "get", "docs.greet", "who=Ann")
	if want := `"messages":[{"role":"user","text":"Greet Ann.","content":null}]`; !strings.Contains(s.stdout.String(), want) {
		t.Errorf("--json: %s, want %s in it", s.stdout.String(), want)
	}
}
