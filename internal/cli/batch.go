package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"strings"

	"mcpx/internal/api"
	"mcpx/internal/fault"

	"github.com/urfave/cli/v2"
)

// batch makes the calls that lines of JSON ask for.
func (v *invocation) batch(c *cli.Context) error {
	if err := takes(c, 0, 1); err != nil {
		return err
	}
	in, err := input[api.BatchInput](c)
	if err != nil {
		return err
	}
	where, text, err := v.lines(c)
	if err != nil {
		return err
	}
	lines, err := batchLines(where, text)
	if err != nil {
		return err
	}
	b, err := v.open(c.Context)
	if err != nil {
		return err
	}
	for _, l := range lines {
		call, err := l.call(c.Context, b)
		if err != nil {
			return err
		}
		in.Calls = append(in.Calls, call)
	}
	var end func()
	in.Consent = v.asker()
	in.Peer, end = v.peer()
	out, err := api.CallBatch.Do(c.Context, b, in)
	end()
	if err != nil {
		return err
	}
	if v.json {
		err = v.document(out)
	} else {
		for _, r := range out.Results {
			if err = v.jsonLine(r); err != nil {
				break
			}
		}
	}
	if err == nil && out.Failed > 0 {
		v.say("%d of %s failed", out.Failed, plural(int64(len(out.Results)), "call"))
		return status(fault.Tool.ExitCode())
	}
	return err
}

// lines reads the file of a batch, or standard input.
func (v *invocation) lines(c *cli.Context) (where string, text []byte, err error) {
	name := c.Args().First()
	if name == "" && c.NArg() == 0 || name == "-" {
		text, err = v.readStdin(c.Context)
		return "stdin", text, err
	}
	if err := named(c, name); err != nil {
		return "", nil, err
	}
	text, err = os.ReadFile(v.path(name))
	if err != nil {
		return "", nil, fault.NotFoundf("batch: reading %s: %w", name, plain(err)).Hintf("name a file of calls, or - for standard input")
	}
	return name, text, nil
}

// batchLine is one line of a batch. Server may stand in Tool, as NS.TOOL.
type batchLine struct {
	Server    string          `json:"server"`
	Tool      string          `json:"tool"`
	Arguments json.RawMessage `json:"arguments"`
}

// batchLines reads calls, a line of JSON each. Blank lines are none. An error names the
// first line that is not a call.
func batchLines(where string, text []byte) ([]batchLine, error) {
	var out []batchLine
	n := 0
	for raw := range bytes.Lines(bytes.TrimPrefix(text, []byte("\uFEFF"))) {
		n++
		raw = bytes.TrimSpace(raw)
		if len(raw) == 0 {
			continue
		}
		const form = `a line is a call: {"tool": "NS.TOOL", "arguments": {}}`
		if err := valid(where, raw); err != nil {
			if at, ok := err.Details["at"].(*fault.Position); ok {
				at.Line = n
			}
			return nil, err.Hintf(form)
		}
		var l batchLine
		d := json.NewDecoder(bytes.NewReader(raw))
		d.DisallowUnknownFields()
		if err := d.Decode(&l); err != nil {
			return nil, fault.Usagef("%s:%d: %s", where, n, strings.TrimPrefix(err.Error(), "json: ")).Hintf(form)
		}
		name := l.Tool
		if l.Server != "" {
			name = l.Server + "." + l.Tool
		}
		if l.Tool == "" || !strings.Contains(name, ".") || !isDotted(name) {
			return nil, fault.Usagef("%s:%d: the call names no tool", where, n).Hintf(form)
		}
		if args := bytes.TrimSpace(l.Arguments); len(args) > 0 && args[0] != '{' {
			return nil, fault.Usagef("%s:%d: arguments are a JSON object, not %s", where, n, kindOf(args[0])).Hintf(form)
		}
		out = append(out, l)
	}
	if len(out) == 0 {
		return nil, fault.Usagef("%s holds no calls", where).Hintf(`write a line for each: {"tool": "NS.TOOL", "arguments": {}}`)
	}
	return out, nil
}

func (l batchLine) call(ctx context.Context, s api.Service) (api.CallInput, error) {
	in := api.CallInput{Server: l.Server, Tool: l.Tool, Arguments: l.Arguments}
	if in.Server == "" {
		var err error
		if in.Server, in.Tool, err = splitTool(ctx, s, l.Tool); err != nil {
			return in, err
		}
	}
	return in, nil
}

// jsonLine prints a value as one line of JSON.
func (v *invocation) jsonLine(doc any) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(doc); err != nil {
		return fault.Internalf("writing the answer as JSON: %w", err)
	}
	_, err := v.stdout.Write(b.Bytes())
	return err
}
