package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"mcpx/internal/api"
)

const (
	// methodElicitation is the one question of servers that a person at a terminal answers.
	methodElicitation = "elicitation/create"
	methodProgress    = "notifications/progress"
	// showEvery is how often the progress of a call is shown at most.
	showEvery = 100 * time.Millisecond
	// maxLines and maxLineWidth bound what a question of a server takes of the screen.
	maxLines     = 20
	maxLineWidth = 300
	// maxTries is how often a value is asked for that is not one.
	maxTries = 10
)

// person is whoever sits at the terminal, for the servers that are called: it is shown
// how far they are, and asked what they ask.
type person struct {
	*board
	server string // that speaks; empty if it is not known
}

// board is what the calls of one command have in common.
type board struct {
	v    *invocation
	keys *keyboard          // nil if nobody can be asked
	show func(api.Progress) // nil if nobody watches
	form sync.Mutex         // held while a question is answered

	mu    sync.Mutex
	next  *api.Progress // to be shown
	busy  bool          // somebody is showing
	ended bool
	done  chan struct{} // closed with the command
	owned sync.WaitGroup
}

var _ api.Peer = person{}

// peer is who sits at the terminal; nil if nobody watches it. End takes the last line of
// progress away.
func (v *invocation) peer() (p api.Peer, end func()) {
	b := &board{v: v, keys: v.keyboard(), done: make(chan struct{})}
	if v.stderr.terminal {
		b.show = v.progress()
	}
	if b.keys == nil && b.show == nil {
		return nil, func() {}
	}
	return person{board: b}, b.end
}

func (b *board) end() {
	b.mu.Lock()
	b.ended = true
	close(b.done)
	b.mu.Unlock()
	b.owned.Wait()
	b.v.stderr.clear()
}

// For is the person as one server sees it.
func (p person) For(server string) api.Peer { return person{p.board, server} }

// Same is equal for all who stand for the person.
func (p person) Same() any { return p.board }

// TakesUnfinished is false: a person is asked.
func (p person) TakesUnfinished() bool { return false }

// Notify shows how far a call is, the last word only if they come fast.
func (p person) Notify(method string, params json.RawMessage) {
	if p.show == nil || method != methodProgress {
		return
	}
	var said struct {
		Progress float64  `json:"progress"`
		Total    *float64 `json:"total"`
		Message  string   `json:"message"`
	}
	if json.Unmarshal(params, &said) != nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.next = &api.Progress{Done: said.Progress, Total: said.Total, Message: said.Message}
	if !p.busy && !p.ended {
		p.busy = true
		p.owned.Go(p.showing)
	}
}

// showing shows what there is to show until there is nothing more.
func (b *board) showing() {
	pace := time.NewTicker(showEvery)
	defer pace.Stop()
	for {
		b.mu.Lock()
		next := b.next
		b.next = nil
		if next == nil || b.ended {
			b.busy = false
			b.mu.Unlock()
			return
		}
		b.mu.Unlock()
		b.show(*next)
		select {
		case <-pace.C:
		case <-b.done:
		}
	}
}

// Ask asks the person what a server asks.
func (p person) Ask(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
	if p.keys == nil || method != methodElicitation {
		return nil, api.Nobody(method)
	}
	var q struct {
		Message string          `json:"message"`
		URL     string          `json:"url"`
		Schema  json.RawMessage `json:"requestedSchema"`
	}
	if err := json.Unmarshal(params, &q); err != nil {
		return decline(), nil
	}
	p.form.Lock()
	defer p.form.Unlock()
	who := p.server
	if who == "" {
		who = "a server"
	}
	head := "mcpx: " + word(who) + " asks:\n" + indented(q.Message)
	if q.URL != "" {
		return p.confirm(ctx, head+"  it wants this address opened in a browser:\n"+indented(q.URL), "opened it?")
	}
	fields := fieldsOf(q.Schema)
	if len(fields) == 0 {
		return p.confirm(ctx, head, "accept?")
	}
	return p.fill(ctx, head, fields)
}

func decline() json.RawMessage { return json.RawMessage(`{"action":"decline"}`) }

// confirm asks for a yes. Anything else declines.
func (p person) confirm(ctx context.Context, head, question string) (json.RawMessage, error) {
	line, err := p.line(ctx, head+"mcpx: "+question+" y = yes, anything else = no: ")
	switch {
	case errors.Is(err, io.EOF):
		return decline(), nil
	case err != nil:
		return nil, err
	}
	if answer := strings.ToLower(strings.TrimSpace(line)); answer == "y" || answer == "yes" {
		return json.RawMessage(`{"action":"accept"}`), nil
	}
	return decline(), nil
}

// fill asks for each field of a form.
func (p person) fill(ctx context.Context, head string, fields []field) (json.RawMessage, error) {
	head += "mcpx: " + manner(fields) + "\n"
	var b bytes.Buffer
	for _, f := range fields {
		value, err := p.value(ctx, head, f)
		head = ""
		switch {
		case errors.Is(err, io.EOF):
			return decline(), nil
		case err != nil:
			return nil, err
		case value == nil:
			continue
		}
		if b.Len() > 0 {
			b.WriteByte(',')
		}
		b.Write(quote(f.name))
		b.WriteByte(':')
		b.Write(value)
	}
	return json.RawMessage(`{"action":"accept","content":{` + b.String() + `}}`), nil
}

// manner says how a form is filled in, as far as it matters for its fields.
func manner(fields []field) string {
	var ways []string
	if slices.ContainsFunc(fields, func(f field) bool { return f.Default != nil }) {
		ways = append(ways, "an empty line takes what stands behind =")
	}
	if slices.ContainsFunc(fields, func(f field) bool { return f.Default == nil && !f.required }) {
		ways = append(ways, "an empty line leaves out what may be left out")
	}
	return strings.Join(append(ways, "Ctrl-D declines"), ", ")
}

// value asks for the value of a field until it is one; nil leaves it out.
func (p person) value(ctx context.Context, head string, f field) (json.RawMessage, error) {
	text := head + f.about()
	for range maxTries {
		line, err := p.line(ctx, text+f.prompt())
		if err != nil {
			return nil, err
		}
		if strings.TrimSpace(line) == "" && (f.Default != nil || !f.required) {
			return f.Default, nil
		}
		value, complaint := f.parse(line)
		if complaint == "" {
			return value, nil
		}
		text = "mcpx: " + complaint + "\n"
	}
	return nil, io.EOF // whoever types there does not answer
}

// line shows a text, whose last line has no end, and reads a line.
func (p person) line(ctx context.Context, text string) (string, error) {
	e := p.v.stderr
	line, err := p.keys.ask(ctx, func() bool {
		e.clear()
		_, _ = io.WriteString(e, text) // who cannot read it does not answer
		e.flush()
		return true
	})
	e.endLine()
	if err != nil {
		_, _ = io.WriteString(e, "\n") // what was asked has no end yet
	}
	return line, err
}

// indented writes the words of a server so that no line of them looks like one of ours.
func indented(text string) string {
	var b strings.Builder
	for i, line := range strings.Split(strings.TrimRight(text, "\n"), "\n") {
		if i == maxLines {
			b.WriteString("  …\n")
			break
		}
		b.WriteString("  " + brief(word(line)) + "\n")
	}
	return b.String()
}

func brief(s string) string {
	if utf8.RuneCountInString(s) <= maxLineWidth {
		return s
	}
	return string([]rune(s)[:maxLineWidth]) + "…"
}

// field is one field of a form, as far as a person can fill it in.
type field struct {
	name     string
	required bool
	choices  []choice

	Type        string          `json:"type"`
	Title       string          `json:"title"`
	Description string          `json:"description"`
	Default     json.RawMessage `json:"default"`
	Format      string          `json:"format"`
	MinLength   *int            `json:"minLength"`
	MaxLength   *int            `json:"maxLength"`
	Minimum     *float64        `json:"minimum"`
	Maximum     *float64        `json:"maximum"`
	MinItems    *int            `json:"minItems"`
	MaxItems    *int            `json:"maxItems"`
}

// choice is a value that a field may have, with the words for it.
type choice struct{ value, title string }

// choicesOf are the values that a schema names: enum, with enumNames, or oneOf or anyOf
// with const and title.
type choicesOf struct {
	Enum  []any    `json:"enum"`
	Names []string `json:"enumNames"`
	OneOf []titled `json:"oneOf"`
	AnyOf []titled `json:"anyOf"`
}

type titled struct {
	Const any    `json:"const"`
	Title string `json:"title"`
}

func (c choicesOf) all() []choice {
	var out []choice
	for i, v := range c.Enum {
		title := ""
		if i < len(c.Names) {
			title = c.Names[i]
		}
		out = append(out, choice{typed(v), title})
	}
	for _, t := range slices.Concat(c.OneOf, c.AnyOf) {
		if t.Const != nil {
			out = append(out, choice{typed(t.Const), t.Title})
		}
	}
	return out
}

// typed is a value as it is typed.
func typed(v any) string {
	if n, ok := v.(float64); ok {
		return strconv.FormatFloat(n, 'f', -1, 64)
	}
	return fmt.Sprint(v)
}

// fieldsOf reads the fields of a form, in their order. What cannot be read is no field.
func fieldsOf(schema json.RawMessage) []field {
	var form struct {
		Properties json.RawMessage `json:"properties"`
		Required   []string        `json:"required"`
	}
	if json.Unmarshal(schema, &form) != nil {
		return nil
	}
	d := json.NewDecoder(bytes.NewReader(form.Properties))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil
	}
	var out []field
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return out
		}
		var raw json.RawMessage
		if d.Decode(&raw) != nil {
			return out
		}
		f := field{}
		var choices choicesOf
		var items struct {
			Items choicesOf `json:"items"`
		}
		_ = json.Unmarshal(raw, &f)       // what is of another type is left out
		_ = json.Unmarshal(raw, &choices) // likewise
		_ = json.Unmarshal(raw, &items)
		f.name, _ = key.(string)
		f.choices = choices.all()
		if f.Type == "array" {
			f.choices = items.Items.all()
		}
		f.required = slices.Contains(form.Required, f.name)
		if string(f.Default) == "null" {
			f.Default = nil
		}
		out = append(out, f)
	}
	return out
}

// about says what a field is, on lines of its own.
func (f field) about() string {
	kind := f.Type
	if kind == "" {
		kind = "text"
	}
	if f.Type == "array" {
		kind = "several, with commas between them"
	}
	if f.Format != "" {
		kind += ", " + f.Format
	}
	if !f.required {
		kind += ", may be left out"
	}
	head := word(f.name)
	if f.Title != "" && f.Title != f.name {
		head += " — " + word(f.Title)
	}
	text := "  " + brief(head) + " (" + word(kind) + ")\n"
	if f.Description != "" {
		text += "  " + indented(f.Description)
	}
	for i, c := range f.choices {
		if i == maxLines {
			text += "    …\n"
			break
		}
		line := word(c.value)
		if c.title != "" && c.title != c.value {
			line += " — " + word(c.title)
		}
		text += "    " + strconv.Itoa(i+1) + ") " + brief(line) + "\n"
	}
	return text
}

// prompt is where the value is typed.
func (f field) prompt() string {
	p := "  " + brief(word(f.name)) // its words, not ours
	if f.Default != nil {
		var text string
		if json.Unmarshal(f.Default, &text) != nil {
			text = string(f.Default)
		}
		p += " = " + brief(word(text))
	}
	return p + ": "
}

// parse reads what was typed; the complaint says why it is no value.
func (f field) parse(line string) (value json.RawMessage, complaint string) {
	trimmed := strings.TrimSpace(line)
	if f.Type == "array" {
		return f.parseList(trimmed)
	}
	if len(f.choices) > 0 {
		v, ok := f.choose(trimmed)
		if !ok {
			return nil, "that is none of the choices; type one of them, or its number"
		}
		if f.Type == "number" || f.Type == "integer" {
			return json.RawMessage(v), ""
		}
		return quote(v), ""
	}
	switch f.Type {
	case "boolean":
		switch strings.ToLower(trimmed) {
		case "y", "yes", "true":
			return json.RawMessage("true"), ""
		case "n", "no", "false":
			return json.RawMessage("false"), ""
		}
		return nil, "type y or n"
	case "number", "integer":
		return f.parseNumber(trimmed)
	}
	switch n := utf8.RuneCountInString(line); {
	case trimmed == "" && f.required:
		return nil, "it cannot be left out"
	case f.MinLength != nil && n < *f.MinLength:
		return nil, fmt.Sprintf("it is too short: at least %d characters", *f.MinLength)
	case f.MaxLength != nil && n > *f.MaxLength:
		return nil, fmt.Sprintf("it is too long: at most %d characters", *f.MaxLength)
	}
	return quote(line), ""
}

func (f field) parseNumber(text string) (value json.RawMessage, complaint string) {
	n, err := strconv.ParseFloat(text, 64)
	switch {
	case err != nil || math.IsInf(n, 0) || math.IsNaN(n):
		return nil, "that is not a number"
	case f.Type == "integer" && n != math.Trunc(n):
		return nil, "that is not a whole number"
	case f.Minimum != nil && n < *f.Minimum:
		return nil, fmt.Sprintf("it is too small: at least %v", *f.Minimum)
	case f.Maximum != nil && n > *f.Maximum:
		return nil, fmt.Sprintf("it is too large: at most %v", *f.Maximum)
	}
	if json.Valid([]byte(text)) {
		return json.RawMessage(text), "" // every digit of it
	}
	return json.RawMessage(strconv.FormatFloat(n, 'g', -1, 64)), ""
}

func (f field) parseList(text string) (value json.RawMessage, complaint string) {
	list := []string{}
	for one := range strings.SplitSeq(text, ",") {
		if one = strings.TrimSpace(one); one == "" {
			continue
		}
		if len(f.choices) > 0 {
			v, ok := f.choose(one)
			if !ok {
				return nil, brief(word(one)) + " is none of the choices"
			}
			one = v
		}
		if !slices.Contains(list, one) {
			list = append(list, one)
		}
	}
	switch {
	case f.MinItems != nil && len(list) < *f.MinItems:
		return nil, fmt.Sprintf("it is too few: at least %d", *f.MinItems)
	case f.MaxItems != nil && len(list) > *f.MaxItems:
		return nil, fmt.Sprintf("it is too many: at most %d", *f.MaxItems)
	}
	value, err := json.Marshal(list)
	if err != nil {
		return nil, "it cannot be sent"
	}
	return value, ""
}

// choose finds a choice by its value, its words or its number, in that order.
func (f field) choose(text string) (string, bool) {
	for _, by := range []func(c choice) bool{
		func(c choice) bool { return c.value == text },
		func(c choice) bool { return c.title != "" && c.title == text },
		func(c choice) bool {
			return strings.EqualFold(c.value, text) || strings.EqualFold(c.title, text) && text != ""
		},
	} {
		if i := slices.IndexFunc(f.choices, by); i >= 0 {
			return f.choices[i].value, true
		}
	}
	if n, err := strconv.Atoi(text); err == nil && n >= 1 && n <= len(f.choices) {
		return f.choices[n-1].value, true
	}
	return "", false
}
