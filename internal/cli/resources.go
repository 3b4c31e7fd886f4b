package cli

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	"mcpx/internal/api"
	"mcpx/internal/fault"

	"github.com/urfave/cli/v2"
)

// resources lists what can be read.
func (v *invocation) resources(c *cli.Context) error {
	ns, err := namespaceOf(c)
	if err != nil {
		return err
	}
	out, err := ask(v, c, api.ListResources, api.ResourcesInput{Namespace: ns})
	if err != nil {
		return err
	}
	v.incomplete(out.Unheard, out.Warnings)
	return v.answer(out, func() string {
		var l offers
		for _, r := range out.Resources {
			l.add(r.Namespace, r.URI, r.MIME, cmp.Or(r.Description, r.Title, r.Name))
		}
		return l.text("no resources", v.columns())
	})
}

// resourceTemplates lists the patterns of what can be read.
func (v *invocation) resourceTemplates(c *cli.Context) error {
	ns, err := namespaceOf(c)
	if err != nil {
		return err
	}
	out, err := ask(v, c, api.ListResourceTemplates, api.ResourcesInput{Namespace: ns})
	if err != nil {
		return err
	}
	v.incomplete(out.Unheard, out.Warnings)
	return v.answer(out, func() string {
		var l offers
		for _, r := range out.Templates {
			l.add(r.Namespace, r.URITemplate, r.MIME, cmp.Or(r.Description, r.Title, r.Name))
		}
		return l.text("no templates", v.columns())
	})
}

// readResource prints one resource, or writes it to a file.
func (v *invocation) readResource(c *cli.Context) error {
	if err := takes(c, 1, 1); err != nil {
		return err
	}
	if c.IsSet("ns") {
		if err := named(c, c.String("ns")); err != nil {
			return err
		}
	}
	in, err := input[api.ReadResourceInput](c)
	if err != nil {
		return err
	}
	var end func()
	in.URI = c.Args().First()
	in.Peer, end = v.peer()
	out, err := ask(v, c, api.ReadOneResource, in)
	end()
	if err != nil {
		return err
	}
	file := c.String("output")
	if file == "-" {
		file = ""
	}
	if file == "" && v.json {
		return v.document(out)
	}
	data, binary, err := joined(out)
	if err != nil {
		return err
	}
	switch {
	case file != "":
		if err := replaceFile(c.Context, v.path(file), data); err != nil {
			return fault.Usagef("writing %s: %w", file, err).Hintf("%s", v.wayToWrite(file, err))
		}
		return v.answer(struct {
			*api.ReadResourceOutput
			File string `json:"file"`
		}{out, file}, func() string { return "" })
	case binary && v.p.Terminal.Stdout:
		return fault.Usagef("%s is not text: %d bytes%s", out.URI, len(data), ofType(out.Contents[0].MIME)).
			Hintf("write it to a file with -o FILE; --json prints it in base64")
	case binary:
		_, err := v.stdout.Write(data)
		return err
	}
	return v.line(string(data))
}

func ofType(mime string) string {
	if mime == "" {
		return ""
	}
	return " of " + word(mime)
}

// joined is the one stream of bytes that a resource is. Several parts are one stream if
// all are text: then a line of its own begins each.
func joined(out *api.ReadResourceOutput) (data []byte, binary bool, err error) {
	for i, part := range out.Contents {
		switch {
		case part.Binary && len(out.Contents) > 1:
			return nil, false, fault.Usagef("%s has %d parts, and not all are text", out.URI, len(out.Contents)).Hintf("--json prints each, bytes in base64")
		case part.Binary:
			return part.Blob, true, nil
		case i > 0 && len(data) > 0 && data[len(data)-1] != '\n':
			data = append(data, '\n')
		}
		data = append(data, part.Text...)
	}
	return data, false, nil
}

// prompts lists the prompts.
func (v *invocation) prompts(c *cli.Context) error {
	ns, err := namespaceOf(c)
	if err != nil {
		return err
	}
	out, err := ask(v, c, api.ListPrompts, api.PromptsInput{Namespace: ns})
	if err != nil {
		return err
	}
	v.incomplete(out.Unheard, out.Warnings)
	return v.answer(out, func() string { return promptsText(out.Prompts) })
}

func promptsText(prompts []api.Prompt) string {
	if len(prompts) == 0 {
		return "no prompts\n"
	}
	var p page
	for i, prompt := range prompts {
		if i > 0 {
			p.line("")
		}
		p.line("%s", word(prompt.Namespace+"."+prompt.Name))
		if text := cmp.Or(prompt.Description, prompt.Title); strings.TrimSpace(text) != "" {
			p.block("  ", text)
		}
		var rows [][2]string
		for _, a := range prompt.Arguments {
			need := "optional"
			if a.Required {
				need = "required"
			}
			rows = append(rows, [2]string{word(a.Name), strings.TrimSpace(need + "  " + word(oneLine(cmp.Or(a.Description, a.Title))))})
		}
		p.rows("    ", rows)
	}
	return p.String()
}

// getPrompt prints one prompt with its holes filled.
func (v *invocation) getPrompt(c *cli.Context) error {
	if err := takes(c, 1, c.NArg()); err != nil {
		return err
	}
	name := c.Args().First()
	if !strings.Contains(name, ".") || !isDotted(name) {
		return fault.Usagef("%s needs NS.PROMPT, and %q is not of that form", c.Command.Name, name).Hintf(`"mcpx prompts" lists the prompts`)
	}
	raw, err := v.arguments(c.Context, c.Args().Tail())
	if err != nil {
		return err
	}
	args, err := texts(raw)
	if err != nil {
		return err
	}
	b, err := v.open(c.Context)
	if err != nil {
		return err
	}
	server, prompt, err := splitTool(c.Context, b, name)
	if err != nil {
		return err
	}
	peer, end := v.peer()
	heard := v.waiting("waiting for "+word(server), boundedCall)
	out, err := b.GetPrompt(c.Context, api.GetPromptInput{Server: server, Prompt: prompt, Arguments: args, Peer: peer})
	heard()
	end()
	if err != nil {
		return err
	}
	return v.answer(out, func() string { return promptText(out) })
}

// texts reads the arguments of a prompt: text, all of them.
func texts(raw json.RawMessage) (map[string]string, error) {
	if raw == nil {
		return map[string]string{}, nil
	}
	var values map[string]json.RawMessage
	if err := json.Unmarshal(raw, &values); err != nil {
		return nil, fault.Usagef("the arguments are no JSON object: %w", err)
	}
	out := map[string]string{}
	for key, value := range values {
		var text string
		if string(value) == "null" || json.Unmarshal(value, &text) != nil {
			return nil, fault.Usagef("argument %q is %s, and a prompt takes text", key, kindOf(value[0])).Hintf("write %s=…", key)
		}
		out[key] = text
	}
	return out, nil
}

// promptText shows messages under the roles that speak them; one alone stands by itself.
func promptText(out *api.GetPromptOutput) string {
	var p page
	for i, m := range out.Messages {
		text := m.Text
		if text == "" {
			text = string(m.Content) // an image, a link: whole, as it came
		}
		if len(out.Messages) == 1 {
			p.block("", text)
			continue
		}
		if i > 0 {
			p.line("")
		}
		p.line("%s:", word(cmp.Or(m.Role, "?")))
		p.block("  ", text)
	}
	return p.String()
}

// namespaceOf is the namespace that a listing is about; "" is all.
func namespaceOf(c *cli.Context) (string, error) {
	if err := takes(c, 0, 1); err != nil {
		return "", err
	}
	return c.Args().First(), named(c, c.Args().Slice()...)
}

// incomplete says what a listing lacks, and why.
func (v *invocation) incomplete(unheard []api.Unheard, warnings []string) {
	for _, u := range unheard {
		v.say("%s could not be asked: %s", u.Namespace, errorText(u.Error))
	}
	for _, w := range warnings {
		v.say("%s", w)
	}
}

// offers gathers rows by namespace.
type offers struct {
	rows  [][2]string
	names []string // the namespace of each row
}

func (o *offers) add(ns, address, mime, about string) {
	o.names = append(o.names, ns)
	o.rows = append(o.rows, [2]string{word(address), strings.TrimSpace(fmt.Sprintf("%s  %s", word(mime), word(summary(about))))})
}

// text lays the rows out under their namespaces.
func (o *offers) text(none string, columns int) string {
	if len(o.rows) == 0 {
		return none + "\n"
	}
	p := page{columns: columns}
	for from := 0; from < len(o.rows); {
		to := from
		for to < len(o.rows) && o.names[to] == o.names[from] {
			to++
		}
		if from > 0 {
			p.line("")
		}
		p.line("%s", word(o.names[from]))
		p.rows("  ", o.rows[from:to])
		from = to
	}
	return p.String()
}
