package gateway_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"mcpx/internal/api"
	"mcpx/internal/config"
	"mcpx/internal/fault"
	"mcpx/mcp/mcptest"

	"github.com/google/go-cmp/cmp"
)

// answers makes the answers of a server from pairs of method and result.
func answers(pairs ...string) map[string]json.RawMessage {
	out := map[string]json.RawMessage{}
	for i := 0; i < len(pairs); i += 2 {
		out[pairs[i]] = json.RawMessage(pairs[i+1])
	}
	return out
}

// library is a server with resources, templates, prompts and completion.
func library(discover mcptest.Discover) mcptest.Script {
	return mcptest.Script{
		Discover:     discover,
		Capabilities: json.RawMessage(`{"resources":{},"prompts":{},"completions":{}}`),
		Answers: answers(
			"resources/list", `{"resources":[{"uri":"lib://a","name":"a","mimeType":"text/plain","size":2,"odd":[1.0]},{"name":"no address"}],"nextCursor":"two"}`,
			"resources/list two", `{"resources":[{"uri":"lib://b","name":"b"},{"uri":"lib://a","name":"again"}],"nextCursor":"two"}`,
			"resources/templates/list", `{"resourceTemplates":[{"uriTemplate":"lib://shelf/{n}","name":"shelf"}]}`,
			"resources/read", `{"code":-32002,"message":"Resource not found"}`,
			"resources/read lib://a", `{"contents":[{"uri":"lib://a","mimeType":"text/plain","text":"hi"},{"uri":"lib://a","blob":"AAH_","mimeType":"image/png"}]}`,
			"resources/read lib://broken", `{"contents":[{"uri":"lib://broken","blob":"?"}]}`,
			"resources/read lib://shelf/7", `{"contents":[{"uri":"lib://shelf/7","text":"seven"}]}`,
			"prompts/list", `{"prompts":[{"name":"greet","description":"Say hello","arguments":[{"name":"who","required":true},{"name":"how"}]},{"name":"list"}]}`,
			"prompts/get", `{"code":-32602,"message":"no such prompt, or not so"}`,
			"prompts/get list", `{"description":"d","messages":[{"role":"user","content":{"type":"text","text":"one"}},{"role":"assistant","content":{"type":"resource","resource":{"uri":"x","text":"two"}}}]}`,
			"completion/complete", `{"completion":{"values":["ann","bob",3],"total":5,"hasMore":true}}`,
		),
	}
}

func TestOffersAreListedWhole(t *testing.T) {
	t.Parallel()
	for _, discover := range []mcptest.Discover{mcptest.DiscoverUnknown, mcptest.DiscoverModern} {
		t.Run("discover "+string(discover), func(t *testing.T) {
			t.Parallel()
			g := open(t, t.TempDir(), []*config.Server{
				entry("broken", mcptest.Script{Exit: 3}), entry("lib", library(discover)), entry("plain", mcptest.Script{}),
			})
			resources, err := g.Resources(t.Context(), api.ResourcesInput{})
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, r := range resources.Resources {
				got = append(got, r.Namespace+" "+r.URI+" "+r.Name+" "+r.MIME)
			}
			if want := []string{"lib lib://a a text/plain", "lib lib://b b "}; !slices.Equal(got, want) {
				t.Errorf("resources: %q, want %q", got, want)
			}
			if want := `{"uri":"lib://a","name":"a","mimeType":"text/plain","size":2,"odd":[1.0]}`; string(resources.Resources[0].Definition) != want || *resources.Resources[0].Size != 2 {
				t.Errorf("definition %s, want %s", resources.Resources[0].Definition, want)
			}
			if warnings := strings.Join(resources.Warnings, "\n"); !strings.Contains(warnings, "without uri") || !strings.Contains(warnings, "more than once") || !strings.Contains(warnings, `cursor "two" again`) {
				t.Errorf("warnings: %s", warnings)
			}
			if len(resources.Unheard) != 1 || resources.Unheard[0].Namespace != "broken" || resources.Unheard[0].Error.Kind != fault.Unavailable {
				t.Errorf("unheard: %+v", resources.Unheard)
			}
			templates, err := g.ResourceTemplates(t.Context(), api.ResourcesInput{Namespace: "lib"})
			if err != nil || len(templates.Templates) != 1 || templates.Templates[0].URITemplate != "lib://shelf/{n}" {
				t.Errorf("templates: %+v, %v", templates, err)
			}
			prompts, err := g.Prompts(t.Context(), api.PromptsInput{})
			if err != nil || len(prompts.Prompts) != 2 {
				t.Fatalf("prompts: %+v, %v", prompts, err)
			}
			if diff := cmp.Diff([]api.PromptArgument{{Name: "who", Required: true}, {Name: "how"}}, prompts.Prompts[0].Arguments); diff != "" {
				t.Errorf("arguments (-want +got):\n%s", diff)
			}
			none, err := g.Prompts(t.Context(), api.PromptsInput{Namespace: "plain"})
			if err != nil || none.Prompts == nil || len(none.Prompts) != 0 {
				t.Errorf("prompts of a server that has none: %+v, %v", none, err)
			}
			if _, err := g.Resources(t.Context(), api.ResourcesInput{Namespace: "broken"}); fault.KindOf(err) != fault.Unavailable {
				t.Errorf("resources of a broken server: %v", err)
			}
		})
	}
}

func TestOffersOfNobody(t *testing.T) {
	t.Parallel()
	g := open(t, t.TempDir(), []*config.Server{entry("broken", mcptest.Script{Exit: 3})})
	if _, err := g.Resources(t.Context(), api.ResourcesInput{}); fault.KindOf(err) != fault.Unavailable {
		t.Errorf("resources, with nobody to ask: %v", err)
	}
	if _, err := g.Prompts(t.Context(), api.PromptsInput{Namespace: "brokn"}); fault.KindOf(err) != fault.NotFound {
		t.Errorf("prompts of nobody: %v", err)
	}
	// One that declares nothing whatever is asked all the same, and may not know the method.
	bare := open(t, t.TempDir(), []*config.Server{entry("bare", mcptest.Script{Bare: true})})
	out, err := bare.Resources(t.Context(), api.ResourcesInput{})
	if err != nil || len(out.Resources) != 0 {
		t.Errorf("resources of a bare server: %+v, %v", out, err)
	}
}

func TestALongListOfResourcesEnds(t *testing.T) {
	t.Parallel()
	script := library("")
	script.Answers = answers()
	for i := range 1100 {
		key := "resources/list"
		if i > 0 {
			key += fmt.Sprintf(" %d", i)
		}
		script.Answers[key] = json.RawMessage(fmt.Sprintf(`{"resources":[{"uri":"x://%d"}],"nextCursor":"%d"}`, i, i+1))
	}
	script.Answers["resources/list 3"] = json.RawMessage(`{"resources":null,"nextCursor":"4"}`)
	g := one(t, script)
	out, err := g.Resources(t.Context(), api.ResourcesInput{})
	if err != nil || len(out.Resources) != 999 || !strings.Contains(strings.Join(out.Warnings, ""), "did not end after 1000 pages") {
		t.Errorf("%d resources, %v", len(out.Resources), err)
	}
	script.Answers = answers("resources/list", `{"resources":[{"uri":"x://1"}],"nextCursor":"2"}`, "resources/list 2", `{"code":-32603,"message":"gone"}`)
	out, err = one(t, script).Resources(t.Context(), api.ResourcesInput{})
	if err != nil || len(out.Resources) != 1 || !strings.Contains(strings.Join(out.Warnings, ""), "failed after 1 entries: gone") {
		t.Errorf("%+v, %v", out, err)
	}
}

func TestResourcesAreReadWhereTheyAre(t *testing.T) {
	t.Parallel()
	other := mcptest.Script{Capabilities: json.RawMessage(`{"resources":{}}`), Answers: answers(
		"resources/list", `{"resources":[{"uri":"lib://a"},{"uri":"other://1"}]}`,
		"resources/read", `{"code":-32602,"message":"never heard of it"}`,
		"resources/read other://1", `{"contents":[{"uri":"other://1","text":"one"}]}`,
		"resources/read hidden://1", `{"contents":[{"uri":"hidden://1","text":"unlisted"}]}`,
		"resources/read lib://a", `{"contents":[{"uri":"lib://a","text":"of the other"}]}`,
	)}
	g := open(t, t.TempDir(), []*config.Server{
		entry("broken", mcptest.Script{Exit: 3}), entry("lib", library("")), entry("other", other), entry("plain", mcptest.Script{}),
	})
	for _, tt := range []struct{ name, uri, ns, server, text string }{
		{"listed", "other://1", "", "other", "one"},
		{"listed twice: the first", "lib://a", "", "lib", "hi"},
		{"listed twice, and named", "lib://a", "other", "other", "of the other"},
		{"fits a template", "lib://shelf/7", "", "lib", "seven"},
		{"known to one, and listed by none", "hidden://1", "", "other", "unlisted"},
	} {
		out, err := g.ReadResource(t.Context(), api.ReadResourceInput{URI: tt.uri, Namespace: tt.ns})
		if err != nil || out.Namespace != tt.server || out.Contents[0].Text != tt.text {
			t.Errorf("%s: %+v, %v", tt.name, out, err)
		}
	}
	out, err := g.ReadResource(t.Context(), api.ReadResourceInput{URI: "lib://a", Namespace: "lib"})
	if err != nil || len(out.Contents) != 2 || !out.Contents[1].Binary || string(out.Contents[1].Blob) != "\x00\x01\xff" || !strings.Contains(string(out.Result), `"blob":"AAH_"`) {
		t.Errorf("a blob: %+v, %v", out, err)
	}
	for _, tt := range []struct {
		name, uri, ns string
		kind          fault.Kind
		message, hint string
	}{
		{"nowhere", "nope://1", "", fault.NotFound, `no server has a resource "nope://1"`, "broken could not be asked"},
		{"not there", "nope://1", "lib", fault.NotFound, "Resource not found", ""},
		{"of a server that has none", "lib://a", "plain", fault.NotFound, "plain offers no resources", "mcpx resources"},
		{"no base64", "lib://broken", "lib", fault.Tool, "not base64", ""},
		{"no address", "", "", fault.Usage, "no address", "mcpx resources"},
	} {
		_, err := g.ReadResource(t.Context(), api.ReadResourceInput{URI: tt.uri, Namespace: tt.ns})
		e := fault.From(err)
		if err == nil || e.Kind != tt.kind || !strings.Contains(e.Message, tt.message) || !strings.Contains(e.Hint, tt.hint) {
			t.Errorf("%s: %v (%v, hint %q), want %v %q", tt.name, err, e.Kind, e.Hint, tt.kind, tt.message)
		}
	}
}

// TestTheOnlyServerHasNoResources reads where there is no other server to look at.
func TestTheOnlyServerHasNoResources(t *testing.T) {
	t.Parallel()
	_, err := one(t, mcptest.Script{}).ReadResource(t.Context(), api.ReadResourceInput{URI: "nope://x"})
	if e := fault.From(err); err == nil || e.Kind != fault.NotFound || e.Message != "s offers no resources" {
		t.Errorf("%v", err)
	}
}

func TestPromptsAreFilledIn(t *testing.T) {
	t.Parallel()
	g := one(t, library(""))
	out, err := g.GetPrompt(t.Context(), api.GetPromptInput{Server: "s", Prompt: "list"})
	if err != nil || len(out.Messages) != 2 || out.Messages[0].Text != "one" || out.Messages[1].Text != "two" || out.Messages[1].Role != "assistant" || out.Description != "d" {
		t.Errorf("%+v, %v", out, err)
	}
	for _, tt := range []struct {
		name string
		in   api.GetPromptInput
		kind fault.Kind
		hint string
	}{
		{"an argument lacks", api.GetPromptInput{Prompt: "greet"}, fault.Tool, "s.greet needs who=…"},
		{"the server refuses", api.GetPromptInput{Prompt: "greet", Arguments: map[string]string{"who": "x"}}, fault.Tool, ""},
		{"a wrong name", api.GetPromptInput{Prompt: "gret"}, fault.NotFound, "did you mean greet?"},
		{"another name", api.GetPromptInput{Prompt: "zzzzzzzzzz"}, fault.NotFound, "mcpx prompts s lists its prompts"},
	} {
		tt.in.Server = "s"
		_, err := g.GetPrompt(t.Context(), tt.in)
		if e := fault.From(err); err == nil || e.Kind != tt.kind || e.Hint != tt.hint {
			t.Errorf("%s: %v (%v, hint %q), want %v, hint %q", tt.name, err, e.Kind, e.Hint, tt.kind, tt.hint)
		}
	}
}

func TestCompletion(t *testing.T) {
	t.Parallel()
	g := open(t, t.TempDir(), []*config.Server{entry("lib", library("")), entry("plain", mcptest.Script{})})
	out, err := g.Complete(t.Context(), api.CompleteInput{Server: "lib", Prompt: "greet", Argument: "who", Value: "a", Given: map[string]string{"how": "x"}})
	if err != nil || !slices.Equal(out.Values, []string{"ann", "bob"}) || out.Total == nil || *out.Total != 5 || !out.HasMore {
		t.Errorf("%+v, %v", out, err)
	}
	if out, err := g.Complete(t.Context(), api.CompleteInput{Server: "plain", Template: "x://{y}", Argument: "y"}); err != nil || len(out.Values) != 0 {
		t.Errorf("of a server that does not: %+v, %v", out, err)
	}
	for _, in := range []api.CompleteInput{{Argument: "x"}, {Prompt: "a", Template: "b", Argument: "x"}, {Prompt: "a"}} {
		in.Server = "lib"
		if _, err := g.Complete(t.Context(), in); fault.KindOf(err) != fault.Usage {
			t.Errorf("%+v: %v", in, err)
		}
	}
}
