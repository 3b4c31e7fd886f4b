package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"unicode/utf8"

	"mcpx/internal/api"
	"mcpx/internal/fault"

	"github.com/urfave/cli/v2"
)

// call calls one tool.
func (v *invocation) call(c *cli.Context) error {
	if err := takes(c, 1, c.NArg()); err != nil {
		return err
	}
	name := c.Args().First()
	if second := c.Args().Get(1); plainWord(name) && plainWord(second) {
		words := []string{"mcpx", "call", name + "." + second}
		for _, w := range c.Args().Slice()[2:] {
			words = append(words, fault.ShellWord(w))
		}
		return fault.Usagef("call needs NS.TOOL, and %q is not of that form", name).Hintf(`did you mean "%s"?`, strings.Join(words, " "))
	}
	if !strings.Contains(name, ".") || !isDotted(name) {
		return notOfForm(c, "NS.TOOL", name)
	}
	args, err := v.arguments(c.Context, c.Args().Tail())
	if err != nil {
		return err
	}
	b, err := v.open(c.Context)
	if err != nil {
		return err
	}
	server, tool, err := splitTool(c.Context, b, name)
	if err != nil {
		return err
	}
	task, err := asTask(c)
	if err != nil {
		return err
	}
	peer, end := v.peer()
	heard := v.waiting("waiting for "+word(server), boundedCall)
	out, err := b.Call(c.Context, api.CallInput{Server: server, Tool: tool, Arguments: args, Consent: v.asker(), Peer: peer, Task: task})
	heard()
	end()
	if err != nil {
		return err
	}
	if out.Task != nil {
		return v.begun(out.Task)
	}
	for _, w := range out.Warnings {
		v.say("%s", w)
	}
	if out.IsError {
		return v.toolFailed(out)
	}
	switch {
	case v.json:
		return v.document(out)
	case out.IsText:
		return v.line(out.Text)
	}
	return v.value(out.Value)
}

// toolFailed prints what a tool said of its failure: the server's words first.
func (v *invocation) toolFailed(out *api.CallOutput) error {
	text := out.Text
	if text == "" {
		text = out.Server + "." + out.Tool + " answered with an error and no message"
	}
	if v.json {
		e := fault.New(fault.Tool, "%s", text).With("server", out.Server).With("tool", out.Tool)
		err := v.document(struct {
			*api.CallOutput
			Error *fault.Error `json:"error"`
		}{out, e})
		if err != nil {
			return err
		}
	}
	for _, d := range out.Diagnostics {
		text = strings.TrimRight(text, "\n") + "\n  " + out.Server + "." + out.Tool + ": " + d
	}
	v.quoted(text)
	return status(fault.Tool.ExitCode())
}

// isDotted reports whether name is names with dots between them; one name is too.
func isDotted(name string) bool {
	return name != "" && !strings.HasPrefix(name, ".") && !strings.HasSuffix(name, ".")
}

// notOfForm refuses a name that is none of a tool or namespace.
func notOfForm(c *cli.Context, form, name string) error {
	return fault.Usagef("%s needs %s, and %q is not of that form", c.Command.Name, form, name).
		Hintf(`"mcpx ls" lists the namespaces and their tools`)
}

// splitTool splits NS.TOOL. Both names may hold dots: then the longest server that is
// configured wins, and else the first dot parts them.
func splitTool(ctx context.Context, s api.Service, name string) (server, tool string, err error) {
	server, tool, _ = strings.Cut(name, ".")
	if !strings.Contains(tool, ".") {
		return server, tool, nil
	}
	out, err := s.Config(ctx, api.ConfigInput{})
	if err != nil {
		return "", "", err
	}
	for _, c := range out.Servers {
		if rest, ok := strings.CutPrefix(name, c.Name+"."); ok && rest != "" && len(c.Name) > len(server) {
			server, tool = c.Name, rest
		}
	}
	return server, tool, nil
}

// arguments makes a JSON object of what stands behind the tool's name; nothing if
// nothing does.
func (v *invocation) arguments(ctx context.Context, words []string) (json.RawMessage, error) {
	switch {
	case len(words) == 0:
		return nil, nil
	case len(words) == 1 && words[0] == "-":
		text, err := v.readStdin(ctx)
		if err != nil {
			return nil, err
		}
		text = bytes.TrimPrefix(text, []byte("\uFEFF"))
		if len(bytes.TrimSpace(text)) == 0 {
			return nil, fault.Usagef("standard input held no JSON").
				Hintf(`- reads the arguments from there: one JSON object, such as {"message": "hi"}`)
		}
		return object("stdin", text, `arguments are one JSON object, such as {"message": "hi"}`)
	case isJSON(words[0]) && len(words) == 1:
		return object("arguments", []byte(words[0]), `quote JSON for the shell: '{"key": "value"}'`)
	case isJSON(words[0]):
		return nil, fault.Usagef("unexpected argument %q after the JSON object", words[1]).
			Hintf("give one JSON object, or key=value pairs; quote the object for the shell")
	}
	return pairs(words)
}

// isJSON reports whether a word is meant as JSON rather than as key=value.
func isJSON(word string) bool {
	word = strings.TrimSpace(word)
	return word != "" && strings.ContainsRune("{[\"", rune(word[0])) || json.Valid([]byte(word))
}

// pairs makes an object of key=value, a string, and key:=JSON, in the order given.
func pairs(words []string) (json.RawMessage, error) {
	var b bytes.Buffer
	seen := map[string]bool{}
	for _, word := range words {
		key, value, ok := strings.Cut(word, "=")
		key, raw := strings.CutSuffix(key, ":")
		switch {
		case !ok:
			return nil, fault.Usagef("argument %q is neither JSON nor key=value", word).
				Hintf(`write message=hi, count:=3, or one object such as '{"message":"hi"}'`)
		case key == "":
			return nil, fault.Usagef("argument %q has no key before its =", word).
				Hintf("write the parameter's name there; mcpx types NS.TOOL lists the parameters")
		case seen[key]:
			return nil, fault.Usagef("argument %q is given twice", key).Hintf(`a list is written %s:='["a","b"]'`, key)
		}
		seen[key] = true
		encoded := []byte(value)
		if raw {
			if strings.TrimSpace(value) == "" {
				return nil, fault.Usagef("%s: there is no JSON behind :=", key).Hintf(`%s= passes an empty string, %s:=null passes null`, key, key)
			}
			if err := valid(key, encoded); err != nil {
				return nil, err.Hintf(`%s:= takes JSON; %s=%s passes text`, key, key, fault.ShellWord(value))
			}
		} else {
			encoded = quote(value)
		}
		if b.Len() > 0 {
			b.WriteByte(',')
		}
		b.Write(quote(key))
		b.WriteByte(':')
		b.Write(encoded)
	}
	return json.RawMessage("{" + b.String() + "}"), nil
}

// quote writes text as a JSON string, with < and > as they are.
func quote(text string) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.Encode(text) //nolint:errcheck,errchkjson // a string can be encoded
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// object checks that text is a JSON object and returns it as it is. Where names the
// text in errors; hint is the next step if it is not JSON.
func object(where string, text []byte, hint string) (json.RawMessage, error) {
	if err := valid(where, text); err != nil {
		return nil, err.Hintf("%s", hint)
	}
	text = bytes.TrimSpace(text)
	if text[0] != '{' {
		return nil, fault.Usagef("arguments are a JSON object, not %s", kindOf(text[0])).
			Hintf(`write an object such as '{"message":"hi"}', or key=value pairs`)
	}
	return text, nil
}

// kindOf names the JSON value that begins with c.
func kindOf(c byte) string {
	switch c {
	case '[':
		return "a list"
	case '"':
		return "a string"
	case 't', 'f':
		return "a boolean"
	case 'n':
		return "null"
	}
	return "a number"
}

// valid checks that text, which is not blank, is JSON. The error points at the place
// where it is not.
func valid(where string, text []byte) *fault.Error {
	var raw json.RawMessage
	err := json.Unmarshal(text, &raw)
	if err == nil {
		return nil
	}
	what, at := "the text ends too early", len(text)
	var syntax *json.SyntaxError
	// A decoder tells text that ends too early from a wrong last character.
	cutShort := json.NewDecoder(bytes.NewReader(text)).Decode(&raw)
	if !errors.Is(cutShort, io.ErrUnexpectedEOF) && errors.As(err, &syntax) {
		at = int(syntax.Offset) - 1
		what = explain(syntax.Error(), string(text[:max(0, min(at, len(text)))]), string(text[max(0, min(at, len(text))):]))
	}
	return fault.Usagef("%s: not JSON: %s", where, what).With("at", position(where, string(text), at))
}

// explain says in people's words what the JSON parser complains of, at the place between
// before and behind. The complaint is only looked at for what was expected there.
func explain(complaint, before, behind string) string {
	expected := func(words string) bool { return strings.Contains(complaint, words) }
	before = strings.TrimSpace(before)
	next, _ := utf8.DecodeRuneInString(behind)
	closes := next == '}' || next == ']'
	switch {
	case closes && strings.HasSuffix(before, ","):
		return "there is a comma too many"
	case closes && strings.HasSuffix(before, ":"), expected("beginning of value") && next == ',':
		return "a value is missing"
	case expected("object key string"):
		return "keys stand in double quotes"
	case expected("beginning of value"), expected("in literal"):
		return "a value is text in double quotes, a number, true, false, null, an object or a list"
	case expected("after object key:value pair"):
		return "behind a value stands a comma or }"
	case expected("after object key"):
		return "a colon stands between key and value"
	case expected("after array element"):
		return "behind a value stands a comma or ]"
	case expected("after top-level value"):
		return "something stands behind the end of the value"
	case expected("escape"):
		return `a backslash in text is written \\, and only \", \/, \b, \f, \n, \r, \t and \u0000 mean something else`
	case expected("string literal"):
		return `line breaks and other control characters in text are written \n, \t or \u001b`
	case expected("numeric literal"):
		return "a number is not complete"
	}
	return "the text is not understood from here on"
}

// position describes a place in a text by its offset in bytes.
func position(where, text string, at int) *fault.Position {
	before := text[:max(0, min(at, len(text)))]
	start := strings.LastIndexByte(before, '\n') + 1
	line, _, _ := strings.Cut(text[start:], "\n")
	column := 1
	for _, r := range before[start:] {
		column++
		if r > 0xFFFF {
			column++
		}
	}
	return &fault.Position{File: where, Line: strings.Count(before, "\n") + 1, Column: column, Text: strings.TrimSuffix(line, "\r")}
}
