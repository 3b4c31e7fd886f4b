package fault

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Position is a place in a user's source. Line and Column count from 1; Column
// counts UTF-16 code units, as source maps do. Text is the line itself.
type Position struct {
	File   string `json:"file"`
	Line   int    `json:"line"`
	Column int    `json:"column"`
	Text   string `json:"text,omitempty"`
}

// String returns FILE:LINE:COLUMN.
func (p Position) String() string { return fmt.Sprintf("%s:%d:%d", p.File, p.Line, p.Column) }

// Frame is one call of a stack, in user terms.
type Frame struct {
	Function string `json:"function,omitempty"`
	File     string `json:"file"`
	Line     int    `json:"line"`
	Column   int    `json:"column"`
}

// String returns FUNCTION (FILE:LINE:COLUMN), or the position alone.
func (f Frame) String() string {
	place := fmt.Sprintf("%s:%d:%d", f.File, f.Line, f.Column)
	if f.Function == "" {
		return place
	}
	return f.Function + " (" + place + ")"
}

// Report is an error of a script as data: a thrown value, a source that does not
// parse, or the reason why a run was ended.
type Report struct {
	Kind    Kind           `json:"kind"`
	Name    string         `json:"name"`    // the error's name; empty if no Error was thrown
	Message string         `json:"message"` // the error's message, or the thrown value as text
	Hint    string         `json:"hint,omitempty"`
	At      *Position      `json:"at,omitempty"` // the innermost place in the user's source
	Frames  []Frame        `json:"frames,omitempty"`
	Cause   *Report        `json:"cause,omitempty"`
	Errors  []*Report      `json:"errors,omitempty"` // of an AggregateError, or further ones of a source
	Details map[string]any `json:"details,omitempty"`
}

// ReportOf makes a report of an error that happened outside a script.
func ReportOf(err error) *Report {
	e := From(err)
	if e == nil {
		return nil
	}
	return &Report{Kind: e.Kind, Name: e.Kind.ErrorName(), Message: e.Message, Hint: e.Hint, Details: e.Details}
}

// Text renders the report for people: the message first, the position with the
// line and a caret, the stack in user terms, what else the script's error carries,
// then cause and members, indented; further errors of the source stand beside the first.
// It ends without a newline.
func (r *Report) Text() string {
	var b strings.Builder
	r.write(&b, "", 0)
	return strings.TrimRight(b.String(), "\n")
}

// Text is the detail of an error that is text, also where it is JSON still; empty if there
// is none.
func Text(details map[string]any, key string) (text string) {
	switch v := details[key].(type) {
	case string:
		return v
	case json.RawMessage:
		if json.Unmarshal(v, &text) != nil {
			return ""
		}
	}
	return text
}

// maxDetail is how much of a detail the text of a report shows.
const maxDetail = 500

// detailText is a detail as JSON, cut off if it is long.
func detailText(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return ""
	}
	if len(b) <= maxDetail {
		return string(b)
	}
	return strings.ToValidUTF8(string(b[:maxDetail]), "") + "…"
}

// maxDepth bounds causes of causes; a chain may be a cycle made on purpose.
const maxDepth = 8

func (r *Report) write(b *strings.Builder, indent string, depth int) {
	head := r.Message
	if r.Name != "" && r.Name != r.Kind.ErrorName() || r.Kind == Script {
		switch {
		case r.Name == "":
		case r.Message == "":
			head = r.Name
		default:
			head = r.Name + ": " + r.Message
		}
	}
	line := func(format string, args ...any) {
		text := fmt.Sprintf(format, args...)
		b.WriteString(indent + strings.ReplaceAll(text, "\n", "\n"+indent) + "\n")
	}
	line("%s", head)
	if server, tool := Text(r.Details, "server"), Text(r.Details, "tool"); r.Kind == Tool && server != "" && tool != "" {
		line("  from %s.%s", server, tool)
	}
	frames := r.Frames
	if r.At != nil {
		place := Frame{File: r.At.File, Line: r.At.Line, Column: r.At.Column}
		if len(frames) > 0 && frames[0].File == place.File && frames[0].Line == place.Line {
			place.Function = frames[0].Function
			frames = frames[1:]
		}
		line("  at %s", place)
		if text, caret := r.At.Excerpt(); text != "" {
			line("    %s\n    %s", text, caret)
		}
	}
	for _, f := range frames {
		line("  at %s", f)
	}
	if r.Kind == Script && r.At != nil {
		// What the script put on its error says more than the message, often.
		for _, key := range slices.Sorted(maps.Keys(r.Details)) {
			if text := detailText(r.Details[key]); text != "" {
				line("  %s: %s", key, text)
			}
		}
	}
	if r.Hint != "" {
		line("  %s", strings.ReplaceAll(r.Hint, "\n", "\n  "))
	}
	if depth >= maxDepth {
		return
	}
	for _, m := range r.Errors {
		if r.Kind == Usage {
			m.write(b, indent, depth+1) // of the source, as the first
			continue
		}
		line("  member:")
		m.write(b, indent+"    ", depth+1)
	}
	if r.Cause != nil {
		line("  caused by:")
		r.Cause.write(b, indent+"    ", depth+1)
	}
}

// excerptWidth is how much of a long (minified) line is shown around the caret.
const excerptWidth = 100

// Excerpt returns the part of the line around the column, and a second line whose
// caret stands under the column. Both are empty if the line is not known or blank.
func (p Position) Excerpt() (text, caret string) {
	if strings.TrimSpace(p.Text) == "" {
		return "", ""
	}
	runes := []rune(p.Text)
	col, units := 0, 1 // col: index in runes of the column that counts UTF-16 units
	for col < len(runes) && units < p.Column {
		units++
		if runes[col] > 0xFFFF {
			units++
		}
		col++
	}
	from := 0
	for from < len(runes) && from < col && (runes[from] == ' ' || runes[from] == '\t') {
		from++
	}
	if col-from > excerptWidth*3/4 {
		from = col - excerptWidth/2
	}
	to := min(len(runes), from+excerptWidth)
	shown := func(r rune) rune {
		if r < ' ' {
			return ' '
		}
		return r
	}
	return strings.TrimRight(strings.Map(shown, string(runes[from:to])), " "), strings.Repeat(" ", col-from) + "^"
}
