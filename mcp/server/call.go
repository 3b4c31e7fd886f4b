package server

import (
	"context"
	"encoding/json"
	"fmt"

	"mcpx/internal/jsontext"
	"mcpx/mcp"
)

// Call is one call of a tool.
type Call struct {
	Caller
	Name      string
	Arguments mcp.Raw // an object
	Params    mcp.Raw // of the request, whole

	answers mcp.Raw // what the caller answered to questions, in the modern era
	asked   int
}

func newCall(c Caller, m *mcp.Message) (*Call, error) {
	call := &Call{Caller: c, Arguments: mcp.Raw("{}"), Params: m.Params}
	var arguments mcp.Raw
	for key, v := range mcp.Members(m.Params) { // once: the arguments may be long
		switch key {
		case "name":
			call.Name = textOf(v)
		case "arguments":
			arguments = v
		case "inputResponses":
			call.answers = v
		}
	}
	switch {
	case call.Name == "":
		return nil, mcp.Errorf(mcp.CodeInvalidParams, "tools/call needs the name of a tool")
	case arguments == nil || string(arguments) == "null":
	case arguments[0] != '{':
		return nil, mcp.Errorf(mcp.CodeInvalidParams, "the arguments of %s are not an object: %s", call.Name, arguments)
	default:
		call.Arguments = arguments
	}
	return call, nil
}

// Progress tells the caller how far the call is, if it asked to know. A total of 0
// means that nobody knows. What does not say more than what was said before is not sent.
func (c *Call) Progress(ctx context.Context, done, total float64, message string) error {
	if err := context.Cause(ctx); err != nil {
		return err
	}
	params := object{"progress": done}
	if total != 0 {
		params["total"] = total
	}
	if message != "" {
		params["message"] = message
	}
	c.Tell(mcp.NotificationProgress, encode(params))
	return nil
}

// Log sends the caller a log message, if it wants those of this level. Data is
// anything that encoding/json can encode.
func (c *Call) Log(ctx context.Context, level, logger string, data any) error {
	if !c.Logs(level) {
		return nil
	}
	b, err := json.Marshal(data)
	if err != nil {
		return fmt.Errorf("log message of %s: %w", c.Name, err)
	}
	return c.Notify(ctx, mcp.NotificationMessage, encode(object{"level": level, "logger": logger, "data": mcp.Raw(b)}))
}

// CanAsk reports whether the caller can be asked questions.
func (c *Call) CanAsk() bool {
	return mcp.Member(c.Capabilities(), "elicitation") != nil
}

// Answer is what became of a question.
type Answer struct {
	Action  string  `json:"action"` // accept, decline or cancel
	Content mcp.Raw `json:"content"`
}

// Question is the error of Ask when the answer has to come with another request.
type Question struct {
	key    string
	params mcp.Raw
}

// Error says that the call waits for an answer.
func (q *Question) Error() string { return "a question waits for an answer" }

func (q *Question) result() mcp.Raw {
	return encode(object{
		"resultType":    mcp.ResultInputRequired,
		"inputRequests": object{q.key: object{"method": mcp.MethodElicitation, "params": q.params}},
	})
}

// Ask asks whoever stands behind the caller to fill in a form; the schema is that of
// an object with members of simple types.
//
// A legacy caller is asked while the call is open. A modern one gets the question as
// the result of the call and repeats the call with the answer: then the error is a
// *Question, which the tool must return, and Ask has the answer when the tool is
// called again. A tool should ask before it does anything.
func (c *Call) Ask(ctx context.Context, message string, schema mcp.Raw) (*Answer, error) {
	params := object{"message": message, "requestedSchema": schema}
	var raw mcp.Raw
	if c.Era() == mcp.Modern {
		c.asked++
		key := fmt.Sprintf("question-%d", c.asked)
		params["mode"] = "form"
		if raw = mcp.Member(c.answers, key); raw == nil {
			return nil, &Question{key: key, params: encode(params)}
		}
	} else {
		var err error
		if raw, err = c.Request(ctx, mcp.MethodElicitation, encode(params)); err != nil {
			return nil, fmt.Errorf("asking the caller: %w", err)
		}
	}
	var a Answer
	if err := json.Unmarshal(raw, &a); err != nil {
		return nil, fmt.Errorf("the answer to the question: %w", err)
	}
	return &a, nil
}

// Text is a result of one text.
func Text(text string) mcp.Raw { return textResult(text, "}") }

// textResult is a result of one text and of what stands behind its content.
func textResult(text, end string) mcp.Raw {
	const begin, kind = `{"content":[{"text":`, `,"type":"text"}]`
	b := make(mcp.Raw, 0, len(begin)+len(text)+2+len(kind)+len(end))
	return append(append(jsontext.AppendQuoted(append(b, begin...), text), kind...), end...)
}

// Structured is a result with structured content, which is also its text.
func Structured(v any) mcp.Raw {
	b := encode(v)
	return encode(object{"content": []object{{"type": "text", "text": string(b)}}, "structuredContent": b})
}

// Image is a result of one image.
func Image(data []byte, mimeType string) mcp.Raw {
	return encode(object{"content": []object{{"type": "image", "data": data, "mimeType": mimeType}}})
}

// Failure is the result of a call that failed.
func Failure(text string) mcp.Raw { return textResult(text, `,"isError":true}`) }
